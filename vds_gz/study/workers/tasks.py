"""Tasks that know nothing of each other, done in this process or by Dask's workers, here or on other machines.

Dask plans, watches its workers, and gives what one left undone to another; nothing here does. A task must be a function
of its argument alone, so that its result is the same wherever and however often it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import TypeAlias, TypeVar

from vds_gz.errors import ArgumentError
from vds_gz.study.workers.outcome import Done, Failed, attempt

T = TypeVar("T")
R = TypeVar("R")

#: Who does tasks: None is this process, a number so many processes of this machine, a text a Dask scheduler's address.
Workers: TypeAlias = "int | str | None"


def workers_of(text: str) -> Workers:
    """Who is meant by ``auto``, a number, or an address.

    Raises:
        ArgumentError: It is none of these.

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
    """Do tasks; they come in the order in which they are done, each once.

    An error of ours fails its task, and so does a task that kills every worker that does it; the others go on. Close
    the iterator (``contextlib.closing``) to end before all are done.

    Args:
        function: What is done. It goes to each worker once, pickled, so it may hold data that all tasks use.
        tasks: Its arguments, small ones: each is sent.
        workers: Who does it.
        warm_up: Called on each worker before its tasks; to compile.
        notify: Called with what a user may want to read, as that there is no worker yet.

    Raises:
        ArgumentError: No scheduler responds, or a worker has other versions than this process.
        FailureError: The scheduler went away, or a worker came later that has other versions.
    """
    if workers is None:
        yield from (attempt(function, task) for task in tasks)
    else:
        from vds_gz.study.workers.cluster import Work, distribute

        yield from distribute(Work(function, warm_up), list(tasks), workers, notify)
