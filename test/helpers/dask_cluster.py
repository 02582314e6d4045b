"""A Dask scheduler and workers in processes of their own, and what they are given to do."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: A worker whose package says that it is another one.
OTHER_VERSION = "import vds_gz; vds_gz.__version__ = '0.0.7'; from distributed.cli.dask_worker import main; main()"


def environment(**more: str) -> dict[str, str]:
    """That of this process, in which this package and these helpers are found."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "test"), os.environ.get("PYTHONPATH", "")])
    return os.environ | {"PYTHONPATH": paths} | more


class Cluster:
    """A scheduler at an address, and workers that come to it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
        self._start("-m", "distributed.cli.dask_scheduler", *options)
        self._file = file

    @property
    def address(self) -> str:
        # It is there before all of it is.
        until(lambda: self._file.is_file() and self._file.read_text().rstrip().endswith("}"))
        return str(json.loads(self._file.read_text())["address"])

    def worker(self, name: str, code: str | None = None, count: int = 1) -> None:
        """Start workers, which are started again when they die."""
        program = ["-c", code] if code else ["-m", "distributed.cli.dask_worker"]
        options = ["--nthreads", "1", "--no-dashboard", "--name", name, "--local-directory", str(self._folder)]
        options += ["--no-nanny"] if code else ["--nworkers", str(count)]
        self._start(*program, self.address, *options)

    def close(self) -> None:
        for process in reversed(self._processes):  # a worker ends as soon as whoever watches it has
            process.kill()
            process.wait()

    def _start(self, *arguments: str) -> None:
        few = {
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
            "DASK_DISTRIBUTED__SCHEDULER__WORKER_SATURATION": "1.0",
            "NUMBA_NUM_THREADS": "1",
            # Workers are processes of their own all the same, which share what they import.
            "DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD": "forkserver",
        }
        with (self._folder / "log").open("ab") as log:
            self._processes.append(
                subprocess.Popen([sys.executable, *arguments], env=environment(**few), stdout=log, stderr=log)
            )


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A scheduler without workers; all end with the block."""
    one = Cluster(folder)
    try:
        yield one
    finally:
        one.close()


def until(condition: object, patience: float = 20.0) -> None:
    """Wait for it."""
    assert callable(condition)
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, f"waited {patience} s in vain"
        time.sleep(0.01)


def square(number: int) -> int:
    return number * number


def leave_a_mark(folder: str, number: int) -> int:
    """A square; whoever finds a file with the number's name takes it away and dies, and all leave a mark."""
    with contextlib.suppress(FileNotFoundError):
        (Path(folder) / f"die-{number}").unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    with (Path(folder) / "marks").open("a") as marks:
        marks.write(f"{number}\n")
    return number * number


def never_three(number: int) -> int:
    """A square, but 3 kills whoever does it."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number
