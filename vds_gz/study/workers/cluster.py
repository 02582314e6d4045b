"""Tasks on Dask's workers."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from multiprocessing import resource_tracker
from typing import Generic, TypeVar
from uuid import uuid4

import dask
from distributed import (
    CancelledError,
    Client,
    KilledWorker,
    LocalCluster,
    Worker,
    WorkerPlugin,
    as_completed,
    get_worker,
)
from distributed.scheduler import NoWorkerError

from vds_gz.errors import ArgumentError, FailureError
from vds_gz.study.workers.outcome import Done, Failed, attempt
from vds_gz.study.workers.versions import differences, versions

T = TypeVar("T")
R = TypeVar("R")

#: Settings of a local cluster. A worker gets its tasks one by one, so that only the task during which it dies is
#: blamed. A worker that died has unlimited time to restart, as on a busy machine, but tasks without workers fail.
LOCAL = {
    "distributed.scheduler.allowed-failures": 20,
    "distributed.scheduler.worker-saturation": 1.0,
    "distributed.scheduler.no-workers-timeout": "5 minutes",
    "distributed.deploy.lost-worker-timeout": "1000 days",
}

#: A scheduler must respond within this [s].
PATIENCE = 5.0

#: A worker waits this long before its first task [s]. Dask checks every 0.05 s whether it has started, and does not
#: replace a worker that died before.
SEEN = 0.2


class VersionError(FailureError):
    """A worker has other versions than the client, so its results could differ."""


class Work(WorkerPlugin, Generic[T, R]):  # type: ignore[misc]  # Dask's classes have no types
    """Data that each worker gets once, including later workers.

    Attributes:
        name: Its key on a worker.
    """

    def __init__(self, function: Callable[[T], R], warm_up: Callable[[], object] | None) -> None:
        """Take the function of each task, and the function before the first."""
        self._function, self._warm_up, self._versions = function, warm_up, versions()
        self._started = False
        self.name = f"vds_gz-{uuid4().hex}"

    def setup(self, worker: Worker) -> None:
        """Prepare a worker for the tasks."""
        if self._warm_up is not None and not differences(versions(), self._versions):
            _use_one_thread()
            self._warm_up()

    def do(self, task: T, worker: str) -> Done[T, R] | Failed[T]:
        """A task on a worker.

        Raises:
            VersionError: The worker has other versions.
        """
        if wrong := differences(versions(), self._versions):
            raise VersionError(f"worker '{worker}' {wrong}")
        if not self._started:
            time.sleep(SEEN)
            self._started = True
        _use_one_thread()
        return attempt(self._function, task)


def distribute(
    work: Work[T, R], tasks: Sequence[T], workers: int | str, notify: Callable[[str], object]
) -> Iterator[Done[T, R] | Failed[T]]:
    """Do tasks on so many workers of this machine, or on those of a scheduler; as :func:`~.tasks.do_tasks`."""
    with _client(workers) as client:
        if not isinstance(workers, int):
            _check_workers(client, notify)
        _register(client, work)
        futures = client.map(_do, tasks, plugin=work.name, pure=False)
        pending = dict(zip((future.key for future in futures), tasks, strict=True))
        completed = as_completed(futures, with_results=True, raise_errors=False)
        del futures  # Dask forgets a result without a reference
        for future, result in completed:
            task = pending.pop(future.key)
            future.release()  # else it would be done again if its worker died now
            if isinstance(result, CancelledError):
                raise _went_away(client)
            yield result if isinstance(result, Done | Failed) else _failed(task, result[1])
        with suppress(OSError):  # a worker died
            client.unregister_worker_plugin(work.name)


def _register(client: Client, work: Work[T, R]) -> None:
    """Give each worker its data. One that dies meanwhile gets it when it restarts."""
    while True:
        try:
            client.register_plugin(work, name=work.name)
            return
        except OSError:  # the others may not have it yet
            if client.status != "running":
                raise _went_away(client) from None


def _went_away(client: Client) -> FailureError:
    return FailureError(f"the Dask scheduler at {client.scheduler.address} went away")


def _do(task: T, plugin: str) -> Done[T, object] | Failed[T]:
    """A task, on a worker."""
    worker = get_worker()
    work: Work[T, object] = worker.plugins[plugin]
    return work.do(task, worker.name)


def _failed(task: T, error: Exception) -> Failed[T]:
    if isinstance(error, KilledWorker):
        return Failed(task, f"{error.allowed_failures + 1} workers died while they did it")
    if isinstance(error, NoWorkerError):
        raise FailureError(f"all workers died, and none started again within {error.timeout:g} s")
    raise error


@contextmanager
def _client(workers: int | str) -> Iterator[Client]:
    """A client of a local cluster, or of an existing scheduler."""
    # Failures are reported once, by this package; asyncio would also report errors that Dask ignores.
    for name in ("asyncio", "distributed.client", "distributed.worker"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        if isinstance(workers, int):
            stack.enter_context(dask.config.set(LOCAL))
            one_thread = {"NUMBA_NUM_THREADS": "1"}
            with _interrupts_held():
                try:
                    cluster = LocalCluster(
                        n_workers=workers,
                        threads_per_worker=1,
                        dashboard_address="127.0.0.1:0",  # any port; Dask would warn about one in use
                        silence_logs=logging.CRITICAL,
                        env=one_thread,
                    )
                except RuntimeError as error:  # Dask's error if a worker died as it started
                    raise FailureError(f"{workers} workers cannot be started on this machine: {error}") from None
                stack.enter_context(cluster)
            yield stack.enter_context(Client(cluster))
            return
        try:
            client = Client(workers, timeout=PATIENCE)
        except TypeError as error:  # Dask's error without certificates
            raise ArgumentError(
                f"workers are '{workers}', but Dask has no certificates for TLS ({error}); its configuration must have "
                "distributed.comm.tls"
            ) from None
        except (OSError, ValueError) as error:
            raise ArgumentError(
                f"no Dask scheduler responds at '{workers}' ({error}); is `dask scheduler` there?"
            ) from None
        yield stack.enter_context(client)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Defer Ctrl-C. Threads and processes that start meanwhile never get it: their starter ends them."""
    resource_tracker.ensure_running()  # its start would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _check_workers(client: Client, notify: Callable[[str], object]) -> None:
    """Refuse workers of other versions, by their names."""
    workers = client.scheduler_info()["workers"]
    if not workers:
        notify(f"no worker is at {client.scheduler.address} yet; waiting for one")
    wanted = versions()
    for address, found in client.run(versions, on_error="return").items():
        wrong = differences(found, wanted) if isinstance(found, dict) else f"has no vds_gz ({found})"
        if wrong and not isinstance(found, OSError):  # Dask's error if it died
            name = workers.get(address, {}).get("name", address)
            raise ArgumentError(f"worker '{name}' ({address}) {wrong}")


def _use_one_thread() -> None:
    if find_spec("numba") is not None:
        from vds_gz.compiling.threads import use_one_thread

        use_one_thread()
