"""Build the tagged release twice, compare, check and use it: ``./dev release``.

The wheel and the source archive are put into ``dist`` if both builds have the same bytes, twine accepts them, and the
programs of the wheel run in an empty environment outside the checkout.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import vds_gz

ROOT = Path(__file__).resolve().parents[1]

#: Commands that use the presets, worlds and models of an installation.
USES = (
    ("vds-gz", "--help"),
    ("vds-gz", "profile", "steps", "--preset", "forklift", "-o", "steps.csv"),
    ("vds-gz", "replay", "steps.csv", "--preset", "forklift", "-o", "run.csv"),
    ("vds-gz", "model", "forklift"),
    ("vds-gz", "world", "hall"),
)


def main() -> int:
    """Build and check the release; 0 if all is well, 1 if not."""
    tag, changes = output("git", "describe", "--exact-match", "--tags"), output("git", "status", "--porcelain")
    if found := [*faults(ROOT, vds_gz.__version__), *unfit(vds_gz.__version__, tag, changes)]:
        print(*(f"./dev release: {fault}" for fault in found), sep="\n", file=sys.stderr)
        return 1
    os.environ["SOURCE_DATE_EPOCH"] = output("git", "log", "-1", "--format=%ct")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        first, second = build(folder / "first"), build(folder / "second")
        if names := different(first, second):
            print(f"./dev release: the two builds differ: {', '.join(names)}", file=sys.stderr)
            return 1
        run(sys.executable, "-m", "twine", "check", "--strict", *map(str, first))
        use(next(file for file in first if file.suffix == ".whl"), folder / "bare")
        (ROOT / "dist").mkdir(exist_ok=True)
        for file in first:
            print(shutil.copy(file, ROOT / "dist"))
    return 0


def unfit(version: str, tag: str, changes: str) -> Iterator[str]:
    """Why a commit is not the release of a version, by its tag and by what ``git status`` lists."""
    if tag != version:
        yield f"the tag of this commit is '{tag}'; it must be {version}, the version in vds_gz/__init__.py"
    if changes:
        yield f"there are changes that are not committed; commit them or take them back:\n{changes}"


def faults(root: Path, version: str) -> Iterator[str]:
    """What a checkout lacks for a release: an address that works, and the version in the changelog."""
    maintainer = ElementTree.parse(root / "package.xml").find("maintainer")
    address = "" if maintainer is None else maintainer.get("email", "")
    if "@" not in address or address.endswith(".invalid"):
        yield f"the maintainers' address in package.xml is '{address}'; it must receive mail"
    heading = rf"^{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)\n-+$"
    if not re.search(heading, (root / "CHANGELOG.rst").read_text(encoding="utf-8"), re.MULTILINE):
        yield f"CHANGELOG.rst has no heading for {version}; it must be '{version} (YYYY-MM-DD)' above a line of '-'"


def different(first: list[Path], second: list[Path]) -> list[str]:
    """Names of the files of two builds that differ, or that only one of them has."""
    builds = [{file.name: file.read_bytes() for file in files} for files in (first, second)]
    return sorted({name for name, _ in builds[0].items() ^ builds[1].items()})


def build(folder: Path) -> list[Path]:
    """The wheel and the source archive, built from a clone of the tagged commit."""
    run("git", "clone", "--quiet", str(ROOT), str(folder / "source"))
    run(sys.executable, "-m", "build", "--outdir", str(folder / "dist"), str(folder / "source"), quiet=True)
    files = sorted((folder / "dist").iterdir())
    for file in files:
        if file.name.endswith(".tar.gz"):
            repack(file)
    return files


def repack(archive: Path) -> None:
    """Give the files of a source archive the time of the commit and no owner, in place of those of the build."""
    time = int(os.environ["SOURCE_DATE_EPOCH"])
    packed = io.BytesIO()
    with tarfile.open(archive) as old, tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new:
        for member in sorted(old.getmembers(), key=lambda member: member.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = time, 0, 0, "", ""
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    archive.write_bytes(gzip.compress(packed.getvalue(), mtime=time))


def use(wheel: Path, folder: Path) -> None:
    """Install the wheel and its requirements into a new environment, and run its programs outside the checkout."""
    run(sys.executable, "-m", "venv", str(folder))
    run(str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
    for program, *arguments in USES:
        run(str(folder / "bin" / program), *arguments, folder=folder, quiet=True)


def run(*command: str, folder: Path = ROOT, quiet: bool = False) -> None:
    """Run a command; exit with its output if it fails."""
    print("$", *command, flush=True)
    kind = subprocess.PIPE if quiet else None
    done = subprocess.run(command, cwd=folder, stdout=kind, stderr=subprocess.STDOUT if quiet else None, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout or ''}./dev release: this failed: {' '.join(command)}")


def output(*command: str) -> str:
    """The output of a command; empty if it failed."""
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
