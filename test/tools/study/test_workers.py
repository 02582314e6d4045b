"""Tasks are done once each, in this process or by workers that die, come late, or have another version."""

from __future__ import annotations

import multiprocessing
import time
from functools import partial

import pytest
from helpers.dask_cluster import OTHER_VERSION, cluster, leave_a_mark, never_three, square

from vds_gz.core.errors import ArgumentError, FailureError
from vds_gz.tools.study.workers import differences, do_tasks, versions, workers_of

pytest.importorskip("distributed")


def refuse_odd_ones(number: int) -> int:
    if number % 2:
        raise FailureError(f"{number} is odd")
    return number


def test_an_error_of_this_package_fails_only_its_task():
    (_, error), two = do_tasks(refuse_odd_ones, [1, 2])
    assert isinstance(error, FailureError)
    assert str(error) == "1 is odd"
    assert two == (2, 2)


def test_a_defect_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        list(do_tasks(lambda number: 1 // number, [0]))


@pytest.mark.parametrize("text", ["0", "-1", "many", "localhost:8786"])
def test_invalid_workers_are_refused(text):
    with pytest.raises(ArgumentError, match="tcp://host:8786"):
        workers_of(text)


def test_processes_do_all_tasks():
    assert sorted(do_tasks(square, range(12), 2)) == [(k, k**2) for k in range(12)]


def test_a_task_that_kills_its_process_is_one_message_and_no_process_remains():
    with pytest.raises(FailureError, match="a worker process died"):
        list(do_tasks(never_three, range(12), 2))
    end = time.monotonic() + 10.0
    while multiprocessing.active_children():
        assert time.monotonic() < end


def test_killed_workers_of_a_cluster_lose_no_task(tmp_path):
    for number in (1, 4):
        (tmp_path / f"die-{number}").touch()
    with cluster(tmp_path / "dask") as dask:
        dask.worker("several", count=2)
        outcomes = list(do_tasks(partial(leave_a_mark, str(tmp_path)), range(8), dask.address))
    assert sorted(outcomes) == [(k, k**2) for k in range(8)]
    assert not list(tmp_path.glob("die-*"))


def test_a_task_that_kills_all_its_workers_is_named_and_the_others_finish(tmp_path):
    with cluster(tmp_path) as dask:
        dask.worker("one")
        results = dict(do_tasks(never_three, range(8), dask.address))
    assert str(results.pop(3)) == "2 workers died while they did it"
    assert results == {k: k**2 for k in (0, 1, 2, 4, 5, 6, 7)}


def test_a_late_worker_does_waiting_tasks(tmp_path):
    findings: list[str] = []

    def come(words: str) -> None:
        findings.append(words)
        dask.worker("late")

    with cluster(tmp_path) as dask:
        outcomes = list(do_tasks(square, range(5), dask.address, notify=come))
    assert sorted(outcomes) == [(k, k**2) for k in range(5)]
    assert "no worker" in findings[0]


def test_a_worker_of_another_version_is_refused_by_name_even_if_late(tmp_path):
    with cluster(tmp_path) as dask:
        late = do_tasks(square, [1], dask.address, notify=lambda words: dask.worker("stale", OTHER_VERSION))
        with pytest.raises(FailureError, match=r"worker 'stale' has vds_gz 0\.0\.7 and must have"):
            list(late)
        with pytest.raises(FailureError, match=r"worker 'stale' has vds_gz 0\.0\.7 and must have"):
            list(do_tasks(square, [1], dask.address))


def test_only_equal_versions_do_not_differ():
    assert not differences(versions(), versions())
    other = versions() | {"numpy": "1.0"}
    assert "has numpy 1.0 and must have" in differences(other, versions())
