"""Test with every supported Python, with older packages and without optional ones: ``./dev matrix``.

Each row has its own environment in ``.venv/matrix``. A row whose Python is not on this machine is not run, and said.
"""

from __future__ import annotations

import argparse
import configparser
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = ROOT / ".venv" / "matrix"

PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")

#: The platform whose wheels are looked up, as uv names it.
ARM64 = "aarch64-manylinux_2_28"

#: Platforms that have no wheel of Cyclone DDS, with a Python: where setup.cfg does not ask for it.
NO_CYCLONEDDS = (*((python, ARM64) for python in PYTHONS), ("3.14", "x86_64-manylinux_2_28"))

#: Exit code where every row that was run passed, and others were not run.
INCOMPLETE = 3

PASSED, FAILED, NOT_RUN = "passed", "FAILED", "not run"


@dataclass(frozen=True)
class Row:
    """A Python, and what differs from its newest packages."""

    python: str
    install: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


ROWS = {
    **{python: Row(python) for python in PYTHONS},
    "numpy-1.26": Row("3.12", install=("numpy==1.26.*",)),  # Ubuntu 24.04's
    "no-numba": Row("3.12", without=("numba", "llvmlite")),
    "no-scipy": Row("3.12", without=("scipy",)),
}
WHEELS = "arm64"


def main() -> int:
    """Run the rows; 0 if all passed, 1 if one failed, 3 if none failed and one was not run."""
    parser = argparse.ArgumentParser(
        prog="./dev matrix",
        description=__doc__,
        epilog="Exit codes: 0 all rows passed, 1 a row failed, 2 wrong use, 3 none failed but not all were run. "
        "Interpreters are those on the PATH, of pyenv and of uv.",
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join([*ROWS, WHEELS])}; all without one")
    parser.add_argument("--pytest", default="", metavar="ARGUMENTS", help="for pytest, such as 'test/vehicle -x'")
    arguments = parser.parse_args()
    for name in arguments.rows:
        if name not in (*ROWS, WHEELS):
            parser.error(f"there is no row '{name}'; it must be of {', '.join([*ROWS, WHEELS])}")
    results: dict[str, tuple[str, str]] = {}
    for name in arguments.rows or (*ROWS, WHEELS):
        print(f"== {name}", flush=True)
        results[name] = wheels() if name == WHEELS else run(name, ROWS[name], arguments.pytest.split())
    print("== all rows")
    for name, (outcome, what) in results.items():
        print(f"{name:10}  {outcome:7}  {what}")
    outcomes = {outcome for outcome, _ in results.values()}
    return 1 if FAILED in outcomes else INCOMPLETE if NOT_RUN in outcomes else 0


def run(name: str, row: Row, tests: list[str]) -> tuple[str, str]:
    """Make the environment of a row and run the tests in it; the outcome, and the last line of the tests."""
    python = interpreter(row.python)
    if python is None:
        return NOT_RUN, f"there is no Python {row.python} on this machine"
    environment = {
        **os.environ,
        "PYTHON": python,
        "DEV_VENV": str(ENVIRONMENTS / name),
        "OPENBLAS_NUM_THREADS": "1",
    }

    def execute(*command: str) -> tuple[int, str]:
        """The exit code of a command in the environment, and the last line that it printed."""
        last = ""
        with subprocess.Popen(
            [str(ROOT / "dev"), "exec", *command],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                print(line, end="", flush=True)
                last = line.strip() or last
        return process.returncode, last.strip("= ")

    pip = ("python", "-m", "pip")
    # With all the rest, so that pip takes versions of it that agree.
    install = (*pip, "install", "--quiet", "--no-compile", *row.install, "--editable", ".[test]")
    changes = [install] if row.install else []
    changes += [(*pip, "uninstall", "--quiet", "--yes", *row.without)] if row.without else []
    for change in changes:
        code, last = execute(*change)
        if code != 0:
            return FAILED, last
    started = time.monotonic()
    processes = 2 * (os.cpu_count() or 1)
    options = ("-q", "-n", str(processes), "--dist", "loadscope", "--no-loadscope-reorder")
    code, last = execute("python", "-m", "pytest", *options, *tests)
    return PASSED if code == 0 else FAILED, f"{last} ({time.monotonic() - started:.0f} s)"


def interpreter(version: str) -> str | None:
    """The path of a Python of this version on this machine."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    candidates = [
        shutil.which(f"python{version}"),
        *sorted(map(str, (pyenv / "versions").glob(f"{version}.*/bin/python"))),
    ]
    if shutil.which("uv"):
        found = subprocess.run(["uv", "python", "find", version], capture_output=True, text=True, check=False)
        candidates.append(found.stdout.strip())
    return next((path for path in candidates if path and _version(path) == version), None)


def _version(python: str) -> str:
    """The version of an interpreter; empty if it does not start, as a shim of pyenv."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=False).stdout.strip()


def wheels() -> tuple[str, str]:
    """Resolve the extra ``all`` for ARM64 from wheels alone, and see where Cyclone DDS still has none."""
    folder = ENVIRONMENTS / WHEELS
    uv = folder / "bin" / "uv"
    if not uv.is_file():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "uv"], check=True)

    def resolve(requirements: str, python: str, platform: str) -> tuple[bool, str]:
        """Whether there are wheels of all these packages, and uv's list or error."""
        with tempfile.NamedTemporaryFile("w", suffix=".in") as file:
            file.write(requirements)
            file.flush()
            target = ("--python-version", python, "--python-platform", platform, "--only-binary", ":all:")
            command = [str(uv), "pip", "compile", "--quiet", "--no-annotate", "--no-header", *target, file.name]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode == 0, done.stdout + done.stderr

    missing = []
    for python in PYTHONS:
        complete, text = resolve("\n".join(requirements("all")), python, ARM64)
        print(f"Python {python}:", f"{len(text.splitlines())} wheels" if complete else text, flush=True)
        missing += [] if complete else [python]
    if missing:
        return FAILED, f"for Python {', '.join(missing)} a package has no wheel"
    for python, platform in NO_CYCLONEDDS:
        complete, text = resolve("cyclonedds>=11,<12", python, platform)
        if complete:
            return FAILED, f"cyclonedds has a wheel for {platform}, Python {python}: ask for it in setup.cfg, '[dds]'"
        if "cyclonedds" not in text:
            return FAILED, text.strip().splitlines()[-1]
    print("cyclonedds: no wheel; the node over rclpy needs none (docs/status.md#without-a-wheel-of-cyclone-dds)")
    return PASSED, f"wheels for Python {', '.join(PYTHONS)}, except of cyclonedds"


def requirements(extra: str) -> Iterator[str]:
    """What an extra installs, with the package's own requirements."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    yield from filter(None, setup["options"]["install_requires"].splitlines())
    for line in filter(None, setup["options.extras_require"][extra].splitlines()):
        own = re.fullmatch(r"vds_gz\[(.*)\]", line)
        for name in own[1].split(",") if own else ():
            yield from requirements(name)
        if not own:
            yield line


if __name__ == "__main__":
    sys.exit(main())
