"""Files that users name are bounded: no reader blocks, or reads more than it must."""

from __future__ import annotations

import argparse
import gzip
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from helpers.guest import of_guest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.cli.profile import noise_option
from vds_gz.cli.shared_options import number, positive
from vds_gz.core import files
from vds_gz.core.description.urdf_reader import numbers
from vds_gz.core.errors import VdsGzError
from vds_gz.core.parameters.yaml_entries import read_entries
from vds_gz.core.parameters.yaml_reader import read_parameter_file
from vds_gz.core.sensing.sensors.gnss import fix_regions
from vds_gz.core.world.load_world import load_world
from vds_gz.programs.commandlog.command_log import read
from vds_gz.programs.launching.actions import number as launch_number
from vds_gz.programs.launching.actions import whole_number
from vds_gz.tools.fleet.path import read_path
from vds_gz.tools.study.reading.bag import read_signals

READ_MAP = of_guest("vds_gz.autoware.parameters.map_files:read_map")

#: Every reader of files, by the suffix of what it reads.
READERS: dict[str, list[Callable[[str], object]]] = {
    ".yaml": [
        lambda file: read_parameter_file(file, "/sim_node"),
        lambda file: read_entries(file, "plan", VdsGzError),
        load_world,
    ],
    ".csv": [read, read_signals, read_path, *READ_MAP],
    ".csv.gz": [read, read_signals],
    ".mcap": [read, read_signals],
    ".db3": [read, read_signals],
    ".bag": [read, read_signals],
    ".sdf": [load_world],
}
CASES = [(suffix, reader) for suffix, readers in READERS.items() for reader in readers]
every_reader = pytest.mark.parametrize(("suffix", "reader"), CASES, ids=[suffix for suffix, _ in CASES])


@every_reader
@pytest.mark.parametrize("kind", ["endless", "pipe", "folder"])
def test_what_is_no_regular_file_is_refused(tmp_path: Path, suffix: str, reader, kind: str):
    path = tmp_path / f"a{suffix}"
    if kind == "endless":
        path.symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(VdsGzError):
        reader(str(path))


@every_reader
@given(data=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path_factory, suffix: str, reader, data: bytes):
    path = tmp_path_factory.mktemp("any") / f"a{suffix}"
    path.write_bytes(gzip.compress(data) if suffix.endswith(".gz") and data[:1] != b"\0" else data)
    with suppress(VdsGzError):
        reader(str(path))


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_a_table_of_one_endless_line_is_refused(tmp_path: Path, suffix: str):
    path, data = tmp_path / f"a{suffix}", bytes(files.LONGEST_LINE + 1)
    path.write_bytes(gzip.compress(data) if suffix.endswith(".gz") else data)
    with pytest.raises(VdsGzError, match="line 1 has more than"):
        read(str(path))


def test_a_small_file_does_not_expand_to_a_large_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files, "LARGEST_TEXT", 1000)
    path, text = tmp_path / "a.csv.gz", "time,speed,steering_angle\n" + "0,1,0\n" * 20_000
    path.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(
        VdsGzError, match="cannot be read as a table of text: it expands to more than 100 times its size"
    ):
        read(str(path))
    path.with_suffix("").write_text(text)
    assert len(read(str(path.with_suffix(""))).times) == 20_000


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path):
    path = tmp_path / "a.yaml"
    with path.open("wb") as file:
        file.truncate(files.LARGEST_YAML + 1)
    with pytest.raises(VdsGzError, match="at most 1000000 are read"):
        read_parameter_file(str(path), "/sim_node")


@pytest.mark.parametrize(("separator", "word"), [(";", "semicolons"), ("\t", "tabs")])
def test_another_separator_is_named(tmp_path: Path, separator: str, word: str):
    path = tmp_path / "a.csv"
    path.write_text("time,speed,steering_angle\n0,1,0\n".replace(",", separator))
    with pytest.raises(VdsGzError, match=f"separated by {word}; they must be separated by commas"):
        read(str(path))


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (read, "time,speed,steering_angle\n0,1_000,0\n"),
        (read, "time,speed,steering_angle\n1_0,1,0\n"),
        (read_path, "x,y\n0,0\n1_0,0\n"),
        *((read_map, "default,0,1_0\n0,0,1\n1,0,1\n") for read_map in READ_MAP),
    ],
)
def test_numbers_with_underscores_are_refused(tmp_path: Path, reader, text: str):
    """Python reads 1_000 as 1000."""
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(VdsGzError, match=r"1_0"):
        reader(str(path))


@pytest.mark.parametrize(
    "read_text",
    [
        number,
        positive,
        noise_option,
        lambda text: noise_option(f"v_x={text}"),
        lambda text: launch_number(text, "rate"),
        lambda text: whole_number(text, "port"),
        numbers,
        lambda text: fix_regions(f"fix 0 0 {text} 5"),
    ],
)
def test_numbers_with_underscores_are_refused_in_options_and_texts(read_text):
    refused = (VdsGzError, argparse.ArgumentTypeError)
    with pytest.raises(refused, match="1_0"):
        read_text("1_0")


def test_numbers_with_underscores_are_refused_in_worlds(tmp_path: Path):
    path = tmp_path / "a.sdf"
    path.write_text(
        "<sdf version='1.9'><world name='w'><model name='m'><pose>1_0 0 0 0 0 0</pose></model></world></sdf>"
    )
    with pytest.raises(VdsGzError, match="<pose> is '1_0 0 0 0 0 0'; it must be 6 numbers"):
        load_world(path)


@pytest.mark.parametrize("name", ["time", "a"])
def test_many_columns_are_compared_in_one_pass(tmp_path: Path, name: str):
    path = tmp_path / "a.csv"
    path.write_text(f"{name}," + ",".join(f"c{k}" for k in range(100_000)) + ",c7\n")
    with pytest.raises(VdsGzError, match="column 'c7' is there twice"):
        read(str(path))
