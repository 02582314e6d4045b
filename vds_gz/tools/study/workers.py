"""Independent tasks, done in this process, by processes of this machine, or on a Dask cluster.

A task must be a function of its argument alone, so that its result does not depend on where and how often it is done.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import resource_tracker
from threading import Thread
from typing import Any, Generic, TypeAlias, TypeVar

import vds_gz
from vds_gz.core.errors import ArgumentError, FailureError, VdsGzError
from vds_gz.core.optional_packages import can_compile

T = TypeVar("T")
R = TypeVar("R")

#: Workers of tasks: None for this process, a number of processes on this machine, or a Dask scheduler's address.
Workers: TypeAlias = "int | str | None"

#: Packages that decide the bits of a result, besides this one.
PACKAGES = ("numba", "numpy", "scipy")

#: A scheduler must respond within this [s].
PATIENCE = 5.0


def workers_of(text: str) -> Workers:
    """Parse workers: ``auto``, a number, or an address.

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
        "of a Dask scheduler, such as tcp://host:8786"
    )


def do_tasks(
    function: Callable[[T], R],
    tasks: Sequence[T],
    workers: Workers = None,
    *,
    notify: Callable[[str], object] = lambda words: None,
) -> Generator[tuple[T, R | FailureError], None, None]:
    """Do tasks; yields each with its result, in the order in which they finish.

    An error of this package, or the death of all workers that a cluster tries, is the result of its task alone; the
    other tasks continue. Close the iterator (``contextlib.closing``) to end before all are done.

    Args:
        function: Does a task; pickled with each task for other processes.
        tasks: Its arguments.
        workers: See :data:`Workers`.
        notify: Called with messages for the user, such as that there is no worker yet.

    Raises:
        ArgumentError: No scheduler responds.
        FailureError: A process of this machine died, the scheduler went away, or a worker has other versions.
    """
    if workers is None:
        yield from ((task, _attempt(function, task)) for task in tasks)
    elif isinstance(workers, int):
        yield from _in_processes(function, tasks, workers)
    else:
        yield from _on_cluster(function, tasks, workers, notify)


def _attempt(function: Callable[[T], R], task: T) -> R | FailureError:
    """Do a task; an error of this package is its result, any other error is a defect and is raised."""
    try:
        return function(task)
    except VdsGzError as error:
        return FailureError(str(error))


def _use_one_thread() -> None:
    if can_compile():
        from vds_gz.core.compiling import use_one_thread

        use_one_thread()


def _in_processes(function: Callable[[T], R], tasks: Sequence[T], count: int) -> Iterator[tuple[T, R | FailureError]]:
    before = set(multiprocessing.active_children())
    executor = ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), _begin)
    try:
        with _interrupts_held():
            futures = {executor.submit(_attempt, function, task): task for task in tasks}
        for future in as_completed(futures):
            yield futures.pop(future), future.result()
    except BrokenProcessPool:
        raise FailureError("a worker process died (was it killed, or is the memory full?)") from None
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()


def _begin() -> None:
    """Prepare a worker process, which must not outlive the process that distributes the tasks."""
    Thread(target=_end_with_parent, daemon=True).start()
    _use_one_thread()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Delay Ctrl-C. Processes that start meanwhile never receive it: this process ends them."""
    resource_tracker.ensure_running()  # starting it later would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _on_cluster(
    function: Callable[[T], R], tasks: Sequence[T], address: str, notify: Callable[[str], object]
) -> Iterator[tuple[T, R | FailureError]]:
    import distributed

    with _client(address) as client:
        if not client.scheduler_info()["workers"]:
            notify(f"no worker is at {address} yet; waiting for one")
        futures = client.map(partial(_on_worker, function, versions()), tasks, pure=False)
        pending = dict(zip((future.key for future in futures), tasks, strict=True))
        completed = distributed.as_completed(futures, client.loop, with_results=True, raise_errors=False)
        del futures  # Dask forgets a result that is not referenced
        for future, result in completed:
            task = pending.pop(future.key)
            future.release()  # else the task would be done again if its worker died now
            match result:
                case _Done(value):
                    yield task, value
                case distributed.CancelledError():
                    raise FailureError(f"the Dask scheduler at {address} went away")
                case _, distributed.KilledWorker() as error, _:
                    yield task, FailureError(f"{error.allowed_failures + 1} workers died while they did it")
                case _, error, _:
                    raise error
                case _:
                    raise FailureError(f"a worker at {address} runs other code of vds_gz; restart it")


@dataclass(frozen=True)
class _Done(Generic[R]):
    """A result, distinguished from an error by its type: its future may already be pending again."""

    value: R


def _on_worker(function: Callable[[T], R], required: dict[str, str], task: T) -> _Done[R | FailureError]:
    from distributed import get_worker

    if wrong := differences(versions(), required):
        raise FailureError(f"worker '{get_worker().name}' {wrong}")
    _use_one_thread()
    return _Done(_attempt(function, task))


@contextmanager
def _client(address: str) -> Iterator[Any]:
    from distributed import Client

    # Errors are reported here, once; asyncio logs errors of Dask's tasks that Dask does not look at.
    for name in ("asyncio", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        # Not the default client: Dask looks for that in two threads when the scheduler goes away, and may fail.
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except TypeError as error:  # raised by Dask without certificates
        raise ArgumentError(
            f"workers are '{address}', but Dask has no certificates for TLS ({error}); its configuration must have "
            "distributed.comm.tls"
        ) from None
    except (OSError, ValueError) as error:
        raise ArgumentError(
            f"no Dask scheduler responds at '{address}' ({error}); is `dask scheduler` there?"
        ) from None
    with client:
        yield client


def versions() -> dict[str, str]:
    """The versions in this process of the packages that decide the bits of a result, by name."""
    return {"vds_gz": vds_gz.__version__} | {name: _version(name) for name in PACKAGES}


def differences(present: dict[str, str], wanted: dict[str, str]) -> str:
    """The versions in which a process differs from the wanted ones, in words; empty without a difference."""
    wrong = [name for name in wanted if present.get(name) != wanted[name]]
    return " and ".join(f"has {name} {present.get(name)} and must have {wanted[name]}" for name in wrong)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
