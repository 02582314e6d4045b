"""Tasks are done once each, in this process or by workers that die, come late, or are of another version."""

from __future__ import annotations

import gc
from functools import partial

import pytest
from helpers.dask_cluster import OTHER_VERSION, cluster, leave_a_mark, leave_two_marks, never_three, square

from vds_gz.errors import ArgumentError, FailureError
from vds_gz.study.workers.outcome import Done, Failed
from vds_gz.study.workers.tasks import do_tasks, workers_of
from vds_gz.study.workers.versions import differences, versions

pytest.importorskip("distributed")
config = pytest.importorskip("dask.config")
LOCAL = pytest.importorskip("vds_gz.study.workers.cluster").LOCAL


def refuse_odd_ones(number: int) -> int:
    if number % 2:
        raise FailureError(f"{number} is odd")
    return number


def test_an_error_of_ours_fails_its_task_and_no_other():
    assert list(do_tasks(refuse_odd_ones, [1, 2])) == [Failed(1, "1 is odd"), Done(2, 2)]


def test_a_defect_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        list(do_tasks(lambda number: 1 // number, [0]))


@pytest.mark.parametrize("text", ["0", "-1", "many", "localhost:8786"])
def test_workers_that_are_none_are_refused(text):
    with pytest.raises(ArgumentError, match="tcp://host:8786"):
        workers_of(text)


def test_three_workers_that_are_killed_lose_nothing_and_no_task_is_done_twice(tmp_path):
    for number in (1, 4, 7):
        (tmp_path / f"die-{number}").touch()
    outcomes = list(do_tasks(partial(leave_a_mark, str(tmp_path)), range(12), 2))
    assert sorted(one.result for one in outcomes) == [number**2 for number in range(12)]
    assert not list(tmp_path.glob("die-*"))


def test_workers_that_die_before_their_first_task_are_replaced_without_a_word(tmp_path, caplog):
    for number in (0, 1):
        (tmp_path / f"die-{number}").touch()
    warm_up = partial(leave_two_marks, str(tmp_path))
    outcomes = list(do_tasks(square, range(4), 2, warm_up=warm_up))
    assert sorted(one.result for one in outcomes) == [0, 1, 4, 9]
    assert not list(tmp_path.glob("die-*"))
    gc.collect()  # asyncio names an error that no one looked at when it forgets it
    assert not [record for record in caplog.records if record.name == "asyncio"]


def test_a_worker_that_starts_again_slowly_is_waited_for(tmp_path):
    """Dask by itself gives it up after 15 s, which a busy machine may need."""
    (tmp_path / "die-1").touch()
    with config.set({"distributed.deploy.lost-worker-timeout": "1 ms"}):
        outcomes = list(do_tasks(partial(leave_a_mark, str(tmp_path)), range(3), 1))
    assert sorted(one.result for one in outcomes) == [0, 1, 4]


def test_tasks_without_workers_do_not_wait_forever(tmp_path, monkeypatch):
    monkeypatch.setitem(LOCAL, "distributed.deploy.lost-worker-timeout", "1 ms")
    monkeypatch.setitem(LOCAL, "distributed.scheduler.no-workers-timeout", "2 s")
    (tmp_path / "die-1").touch()
    with pytest.raises(FailureError, match="all workers died, and none started again within 2 s"):
        list(do_tasks(partial(leave_a_mark, str(tmp_path)), range(3), 1))


def test_workers_that_die_as_they_start_are_one_message(tmp_path):
    preload = tmp_path / "dies.py"
    preload.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    with (
        config.set({"distributed.worker.preload": [str(preload)]}),
        pytest.raises(FailureError, match="2 workers cannot be started on this machine"),
    ):
        list(do_tasks(square, range(3), 2))


def test_a_task_that_kills_all_who_do_it_is_named_and_the_others_are_done(tmp_path):
    with cluster(tmp_path) as dask:
        dask.worker("one")
        outcomes = list(do_tasks(never_three, range(8), dask.address))
    assert [one for one in outcomes if isinstance(one, Failed)] == [Failed(3, "2 workers died while they did it")]
    assert sorted(one.task for one in outcomes if isinstance(one, Done)) == [0, 1, 2, 4, 5, 6, 7]


def test_a_worker_that_comes_late_does_what_waits_for_it(tmp_path):
    notes: list[str] = []

    def come(words: str) -> None:
        notes.append(words)
        dask.worker("late")

    with cluster(tmp_path) as dask:
        outcomes = list(do_tasks(square, range(5), dask.address, notify=come))
    assert sorted(one.result for one in outcomes) == [0, 1, 4, 9, 16]
    assert "no worker" in notes[0]


def test_a_worker_of_another_version_is_refused_by_its_name_also_when_it_comes_late(tmp_path):
    with cluster(tmp_path) as dask:
        late = do_tasks(square, [1], dask.address, notify=lambda words: dask.worker("stale", OTHER_VERSION))
        with pytest.raises(FailureError, match=r"worker 'stale' has vds_gz 0\.0\.7 and must have"):
            list(late)
        with pytest.raises(ArgumentError, match=r"worker 'stale' .* has vds_gz 0\.0\.7 and must have"):
            list(do_tasks(square, [1], dask.address))


def test_only_equal_versions_do_not_differ():
    assert not differences(versions(), versions())
    other = versions() | {"numpy": "1.0"}
    assert "has numpy 1.0 and must have" in differences(other, versions())
