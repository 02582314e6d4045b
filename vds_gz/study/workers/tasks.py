"""Independent tasks, done in this process or by Dask's workers on this or other machines.

Dask schedules tasks, watches its workers, and repeats the tasks of dead workers. A task must only depend on its
argument, so that its result is the same wherever and however often it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import TypeAlias, TypeVar

from vds_gz.errors import ArgumentError
from vds_gz.study.workers.outcome import Done, Failed, attempt

T = TypeVar("T")
R = TypeVar("R")

#: Workers of tasks: None for this process, a number of processes on this machine, or a Dask scheduler's address.
Workers: TypeAlias = "int | str | None"


def workers_of(text: str) -> Workers:
    """Parse workers: ``auto``, a number, or an address.

    Raises:
        ArgumentError: It is not one of these.

    >>> workers_of("auto"), workers_of("4"), workers_of("tcp://10.0.0.1:8786")
    (None, 4, 'tcp://10.0.0.1:8786')
    """
    if text == "auto":
        return None
    if text.isdecimal() and int(text) >= 1:
        return int(text)
    if "://" in text:
        return text
    raise ArgumentError(
        f"workers are '{text}'; they must be auto (this process), a number of processes of at least 1, or the address "
        "of a Dask scheduler, as tcp://host:8786"
    )


def do_tasks(
    function: Callable[[T], R],
    tasks: Iterable[T],
    workers: Workers = None,
    *,
    warm_up: Callable[[], object] | None = None,
    notify: Callable[[str], object] = lambda words: None,
) -> Generator[Done[T, R] | Failed[T], None, None]:
    """Do tasks; yields each once, in the order in which they finish.

    An error of this package fails its task, and so does the death of every worker that does it; other tasks continue.
    Close the iterator (``contextlib.closing``) to end early.

    Args:
        function: The function. It is sent to each worker once, pickled, so it may hold data that all tasks use.
        tasks: Its arguments, which should be small because each is sent.
        workers: The workers.
        warm_up: Called on each worker before its tasks, for example to compile.
        notify: Called with messages for the user, such as that there is no worker yet.

    Raises:
        ArgumentError: The scheduler does not respond, or a worker has other versions than this process.
        FailureError: The scheduler went away, or a later worker has other versions.
    """
    if workers is None:
        yield from (attempt(function, task) for task in tasks)
    else:
        from vds_gz.study.workers.cluster import Work, distribute

        yield from distribute(Work(function, warm_up), list(tasks), workers, notify)
