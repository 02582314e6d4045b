"""``./dev release``: what it refuses, and that its source archives do not depend on when they are built."""

from __future__ import annotations

import os
import re
import tarfile
from pathlib import Path

import pytest
from helpers.tools import tool

release = tool("release")


def checkout(root: Path, address: str, changelog: str) -> Path:
    (root / "package.xml").write_text(f'<package><maintainer email="{address}">us</maintainer></package>')
    (root / "CHANGELOG.rst").write_text(changelog)
    return root


def archive(path: Path, time: int, names: tuple[str, ...]) -> Path:
    """A source archive of files with their own times, as setuptools makes it."""
    path.parent.mkdir()
    with tarfile.open(path, "w:gz") as packed:
        for name in names:
            file = path.parent / name
            file.write_text(f"text of {name}")
            os.utime(file, (time, time + 0.5))
            packed.add(file, f"vds_gz-1.0.0/{name}")
    return path


def test_a_tagged_commit_without_changes_is_a_release():
    assert not list(release.unfit("1.0.0", "1.0.0", ""))


@pytest.mark.parametrize(
    ("tag", "changes", "words"),
    [
        ("", "", "the tag of this commit is ''; it must be 1.0.0"),
        ("1.0.0", " M setup.cfg", "not committed.*\n M setup"),
    ],
)
def test_another_commit_is_refused(tag, changes, words):
    (fault,) = release.unfit("1.0.0", tag, changes)
    assert re.search(words, fault)


def test_a_checkout_with_an_address_and_a_dated_heading_is_ready(tmp_path):
    root = checkout(
        tmp_path, "us@example.org", "Changelog\n=========\n\n1.0.0 (2027-01-31)\n------------------\n* New\n"
    )
    assert not list(release.faults(root, "1.0.0"))


@pytest.mark.parametrize(
    ("address", "heading", "words"),
    [
        ("us@example.invalid", "1.0.0 (2027-01-31)", "address in package.xml is 'us@example.invalid'"),
        ("", "1.0.0 (2027-01-31)", "address in package.xml is ''"),
        ("us@example.org", "Forthcoming", "no heading for 1.0.0"),
        ("us@example.org", "1.0.0", "no heading for 1.0.0"),
        ("us@example.org", "1x0.0 (2027-01-31)", "no heading for 1.0.0"),
    ],
)
def test_a_checkout_that_is_not_ready_is_refused(tmp_path, address, heading, words):
    (fault,) = release.faults(checkout(tmp_path, address, f"{heading}\n{'-' * len(heading)}\n"), "1.0.0")
    assert words in fault


def test_source_archives_have_the_same_bytes_whenever_and_in_whatever_order_they_were_built(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    first = archive(tmp_path / "first" / "vds_gz-1.0.0.tar.gz", 1_700_000_000, ("a.py", "b.py"))
    second = archive(tmp_path / "second" / "vds_gz-1.0.0.tar.gz", 1_700_000_600, ("b.py", "a.py"))
    assert release.different([first], [second]) == ["vds_gz-1.0.0.tar.gz"]
    release.repack(first)
    release.repack(second)
    assert not release.different([first], [second])
    with tarfile.open(second) as packed:
        assert [(file.name, file.mtime, file.uname) for file in packed] == [
            ("vds_gz-1.0.0/a.py", 1_800_000_000, ""),
            ("vds_gz-1.0.0/b.py", 1_800_000_000, ""),
        ]
        assert packed.extractfile("vds_gz-1.0.0/b.py").read() == b"text of b.py"


def test_a_file_of_one_build_alone_is_a_difference(tmp_path):
    (tmp_path / "a.whl").write_text("wheel")
    assert release.different([tmp_path / "a.whl"], []) == ["a.whl"]
    assert release.different([], [tmp_path / "a.whl"]) == ["a.whl"]


def test_a_command_that_fails_ends_the_release_with_its_output():
    with pytest.raises(SystemExit, match=r"(?s)broken.*this failed: sh -c echo broken; exit 3"):
        release.run("sh", "-c", "echo broken; exit 3", quiet=True)
