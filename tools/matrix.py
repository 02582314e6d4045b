"""Test with every supported Python, with older packages and without optional ones: ``./dev matrix``.

Each row has its own environment in ``.venv/matrix``. Rows whose Python is missing on this machine are reported as not
run.
"""

from __future__ import annotations

import argparse
import configparser
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = ROOT / ".venv" / "matrix"

PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")

#: The platform whose wheels are looked up, as uv names it.
ARM64 = "aarch64-manylinux_2_28"

#: Pythons and platforms without a wheel of Cyclone DDS, for which setup.cfg does not ask for it.
NO_CYCLONEDDS = (*((python, ARM64) for python in PYTHONS), ("3.14", "x86_64-manylinux_2_28"))

#: Exit code if no row failed and some were not run.
INCOMPLETE = 3

PASSED, FAILED, NOT_RUN = "passed", "FAILED", "not run"


@dataclass(frozen=True)
class Row:
    """A Python, packages in other versions than the newest, and packages that are removed."""

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
    """Run the rows and return the exit code."""
    chosen = options()
    results: dict[str, tuple[str, str]] = {}
    for name in chosen.rows or (*ROWS, WHEELS):
        print(f"== {name}", flush=True)
        results[name] = wheels() if name == WHEELS else run(name, ROWS[name], chosen.pytest)
    print("== all rows")
    for name, (outcome, what) in results.items():
        print(f"{name:10}  {outcome:7}  {what}")
    return exit_code([outcome for outcome, _ in results.values()])


def options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse a command line: ``rows`` and the arguments for ``pytest``."""
    names = (*ROWS, WHEELS)
    parser = argparse.ArgumentParser(
        prog="./dev matrix",
        description=__doc__,
        epilog="Exit codes: 0 all rows passed, 1 a row failed, 2 wrong use, 3 no row failed and some were not run. "
        "Interpreters are looked up on the PATH, in pyenv and in uv.",
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(names)}; default: all")
    parser.add_argument(
        "--pytest", type=shlex.split, default=[], metavar="ARGUMENTS", help="for pytest, such as 'test/vehicle -x'"
    )
    chosen = parser.parse_args(arguments)
    for name in chosen.rows:
        if name not in names:
            parser.error(f"there is no row '{name}'; it must be one of {', '.join(names)}")
    return chosen


def exit_code(outcomes: Collection[str]) -> int:
    """The exit code for the outcomes of rows."""
    return 1 if FAILED in outcomes else INCOMPLETE if NOT_RUN in outcomes else 0


def commands(row: Row, tests: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """What is run in the environment of a row: changes of its packages, then the tests."""
    pip = ("python", "-m", "pip")
    if row.install:  # with all the rest, so that pip takes versions of it that agree
        yield *pip, "install", "--quiet", "--no-compile", *row.install, "--editable", ".[test]"
    if row.without:
        yield *pip, "uninstall", "--quiet", "--yes", *row.without
    processes = 2 * (os.cpu_count() or 1)
    options = ("-q", "-n", str(processes), "--dist", "loadscope", "--no-loadscope-reorder")
    yield "python", "-m", "pytest", *options, *tests


def run(name: str, row: Row, tests: Sequence[str]) -> tuple[str, str]:
    """Make the environment of a row and run the tests in it; return the outcome and the last line of output."""
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
        """Run a command in the environment; return its exit code and the last line that it printed."""
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

    started, last = time.monotonic(), ""
    for command in commands(row, tests):
        code, last = execute(*command)
        if code != 0:
            return FAILED, last
    return PASSED, f"{last} ({time.monotonic() - started:.0f} s)"


def interpreter(version: str) -> str | None:
    """The path of a Python of this version on this machine; None without one."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    candidates = [
        shutil.which(f"python{version}"),
        *sorted(map(str, (pyenv / "versions").glob(f"{version}.*/bin/python"))),
    ]
    if shutil.which("uv"):
        uv = subprocess.run(["uv", "python", "find", version], capture_output=True, text=True, check=False)
        candidates.append(uv.stdout.strip())
    return next((path for path in candidates if path and _version(path) == version), None)


def _version(python: str) -> str:
    """The version of an interpreter; empty if it does not start, such as a shim of pyenv."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=False).stdout.strip()


def wheels() -> tuple[str, str]:
    """Resolve the extra ``all`` for ARM64 from wheels alone, and check where Cyclone DDS still has no wheel."""
    folder = ENVIRONMENTS / WHEELS
    uv = folder / "bin" / "uv"
    if not uv.is_file():
        pip = (str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "uv")
        for command in ((sys.executable, "-m", "venv", str(folder)), pip):
            if subprocess.run(command, check=False).returncode != 0:
                return FAILED, f"this failed: {shlex.join(command)}"

    def resolve(requirements: str, python: str, platform: str) -> tuple[bool, str]:
        """Whether all these packages have wheels, and uv's list or error."""
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
