"""Build the release that is tagged, twice, and use it where nothing else is: ``./dev release``.

The wheel and the source archive are left in ``dist`` if both builds have the same bytes, twine accepts them, and the
programs of the wheel work outside the checkout.
"""

from __future__ import annotations

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: Programs with their arguments that use presets, worlds and models of the installation.
USES = (
    ("vds-gz", "--help"),
    ("vds-gz", "profile", "steps", "--preset", "forklift", "-o", "steps.csv"),
    ("vds-gz", "replay", "steps.csv", "--preset", "forklift", "-o", "run.csv"),
    ("vds-gz", "model", "forklift"),
    ("vds-gz", "world", "hall"),
)


def main() -> int:
    """Build and check the release; 0 if all is well, 1 if not."""
    tag = output("git", "describe", "--exact-match", "--tags")
    version = output(sys.executable, "setup.py", "--version").splitlines()[-1]
    if tag != version or output("git", "status", "--porcelain"):
        print(f"./dev release: the commit must be tagged {version}, with nothing changed; its tag is '{tag}'")
        return 1
    os.environ["SOURCE_DATE_EPOCH"] = output("git", "log", "-1", "--format=%ct")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        first, second = build(folder / "first"), build(folder / "second")
        different = [file.name for file in first if file.read_bytes() != (second[0].parent / file.name).read_bytes()]
        if different:
            print(f"./dev release: two builds differ: {', '.join(different)}")
            return 1
        run(sys.executable, "-m", "twine", "check", "--strict", *map(str, first))
        use(next(file for file in first if file.suffix == ".whl"), folder / "bare")
        for file in first:
            (ROOT / "dist").mkdir(exist_ok=True)
            print(shutil.copy(file, ROOT / "dist"))
    return 0


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
    """Give a source archive the times of the commit and no owner; setuptools gives it those of the build."""
    time = int(os.environ["SOURCE_DATE_EPOCH"])
    packed = io.BytesIO()
    with tarfile.open(archive) as old, tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new:
        for member in sorted(old.getmembers(), key=lambda member: member.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = time, 0, 0, "", ""
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    archive.write_bytes(gzip.compress(packed.getvalue(), mtime=time))


def use(wheel: Path, folder: Path) -> None:
    """Install the wheel with its own requirements into a new environment, and run its programs outside the checkout."""
    run(sys.executable, "-m", "venv", str(folder))
    run(str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
    for program, *arguments in USES:
        run(str(folder / "bin" / program), *arguments, folder=folder, quiet=True)


def run(*command: str, folder: Path = ROOT, quiet: bool = False) -> None:
    """Run a command; where it fails, so does this program, with what the command printed."""
    print("$", *command, flush=True)
    kind = subprocess.PIPE if quiet else None
    done = subprocess.run(command, cwd=folder, stdout=kind, stderr=subprocess.STDOUT if quiet else None, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout or ''}./dev release: this failed: {' '.join(command)}")


def output(*command: str) -> str:
    """What a command printed; empty if it failed."""
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
