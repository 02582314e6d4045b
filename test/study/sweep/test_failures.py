"""Whatever dies while a sweep is done: its table is that of an undisturbed one to the byte, nothing is done twice."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
from helpers.dask_cluster import cluster, until
from helpers.sweeps import ORDERS, PLAN, start, write_plan

from vds_gz.cli.sweep import main
from vds_gz.errors import FailureError
from vds_gz.study.progress import ignore
from vds_gz.study.sweep.folder import Folder, collect
from vds_gz.study.sweep.plan_file import read_sweep

pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")
pytest.importorskip("matplotlib")
pytest.importorskip("scipy")


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    return write_plan(tmp_path_factory.mktemp("plan"))


@pytest.fixture(scope="module")
def undisturbed(plan, tmp_path_factory):
    return done(plan, tmp_path_factory.mktemp("undisturbed") / "out", 32)


@pytest.fixture
def orders(tmp_path, monkeypatch):
    folder = tmp_path / "orders"
    folder.mkdir()
    monkeypatch.setenv(ORDERS, str(folder))
    return folder


def done(plan, out, size, workers=None):
    """The bytes of the table when all runs are done; with no size, of a sweep that was begun."""
    sweep = read_sweep(plan)
    folder = Folder.begin(out, sweep, size) if size else Folder.resume(out, sweep)
    before = {file: file.stat().st_mtime_ns for file in out.glob("shards/0*")}
    assert not folder.do(sweep, workers, ignore)
    assert all(file.stat().st_mtime_ns == time for file, time in before.items())
    assert not list(out.glob("shards/.*"))
    folder.write_csv()
    return (out / "runs.csv").read_bytes()


@pytest.mark.parametrize("size", [*(pytest.param(size, marks=pytest.mark.slow) for size in (1, 5)), 1000])
def test_the_size_of_shards_does_not_matter(plan, undisturbed, tmp_path, size):
    assert done(plan, tmp_path / "out", size) == undisturbed


@pytest.mark.slow
def test_three_killed_workers_do_not_matter(plan, undisturbed, orders, tmp_path):
    for k in range(3):
        (orders / f"die-{k}").touch()
    assert done(plan, tmp_path / "out", 2, workers=2) == undisturbed
    assert not list(orders.glob("die-*"))


@pytest.mark.slow
def test_a_shard_that_kills_all_workers_is_named_and_the_others_are_done(plan, undisturbed, orders, tmp_path, capsys):
    (orders / "die at 0.3").touch()
    out = tmp_path / "out"
    with cluster(tmp_path / "dask") as dask:
        dask.worker("one")
        assert main([str(plan), "-o", str(out), "--shard", "4", "--workers", dask.address]) == 1
        assert "vds-gz sweep: runs 12 to 15: 2 workers died while they did it" in capsys.readouterr().err
        assert collect(out)["run"].tolist() == [*range(12), *range(16, 32)]
        (orders / "die at 0.3").unlink()
        assert done(plan, out, None, dask.address) == undisturbed
        dask.worker("more", count=6)
        assert done(plan, tmp_path / "seven", 1, dask.address) == undisturbed


def test_a_client_that_is_killed_goes_on_from_there(plan, undisturbed, orders, tmp_path):
    (orders / "slow").touch()
    out = tmp_path / "out"
    process = start(plan, out, "--shard", "4")
    until(lambda: len(list(out.glob("shards/0*"))) >= 2, patience=60.0)
    process.kill()
    process.wait()
    assert 2 <= len(list(out.glob("shards/0*"))) < 8
    assert not (out / "runs.csv").exists()
    (orders / "slow").unlink()
    assert done(plan, out, None) == undisturbed


def test_a_scheduler_that_is_killed_is_one_message_and_what_was_done_is_kept(plan, undisturbed, orders, tmp_path):
    (orders / "slow").touch()
    out = tmp_path / "out"
    with cluster(tmp_path / "dask") as dask:
        dask.worker("one")
        process = start(plan, out, "--shard", "1", "--workers", dask.address)
        until(lambda: list(out.glob("shards/0*")), patience=60.0)
        address = dask.address
    _, said = process.communicate()
    assert process.returncode == 1
    kept = "finished runs are kept; --resume continues from there"
    assert said.splitlines()[-1] == f"vds-gz sweep: the Dask scheduler at {address} went away; {kept}"
    assert "Traceback" not in said
    (orders / "slow").unlink()
    assert done(plan, out, None) == undisturbed


def worker_begins(process, out):
    """Multiprocessing's own helper has begun, and then the first worker."""
    return len(psutil.Process(process.pid).children(recursive=True)) >= 2


def shard_is_done(process, out):
    return list(out.glob("shards/0*"))


@pytest.mark.parametrize("when", [pytest.param(worker_begins, marks=pytest.mark.slow), shard_is_done])
def test_ctrl_c_ends_workers_without_a_word_and_what_was_done_is_kept(plan, undisturbed, orders, tmp_path, when):
    (orders / "slow").touch()
    out = tmp_path / "out"
    process = start(plan, out, "--shard", "1", "--workers", "1")
    until(lambda: when(process, out), patience=60.0)
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate() == ("", "")
    assert process.returncode == 130
    (orders / "slow").unlink()
    assert done(plan, out, None) == undisturbed


#: The third time that something is brought to the disk, its writer dies before it is there.
DIES_WRITING = """
import os, signal
calls = iter(range(2))
os.fsync = lambda descriptor: next(calls, None) is None and os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_client_that_is_killed_in_the_middle_of_writing_leaves_no_half_of_a_shard(plan, undisturbed, tmp_path):
    out = tmp_path / "out"
    process = start(plan, out, "--shard", "4", code=DIES_WRITING)
    assert process.wait() == -9
    assert [file.name.startswith(".") for file in sorted((out / "shards").iterdir())] == [True, False]
    assert collect(out)["run"].tolist() == [0, 1, 2, 3]
    assert done(plan, out, None) == undisturbed


#: No file may grow beyond this, as on a disk that is full. Of bytecode, Python 3.11 would keep the part that fits, and
#: later processes could not import it.
FULL_DISK = """
import resource, sys
sys.dont_write_bytecode = True
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
"""


def test_a_full_disk_is_one_message_and_what_was_done_is_kept(plan, undisturbed, tmp_path):
    out = tmp_path / "out"
    process = start(plan, out, "--shard", "4", code=DIES_WRITING)
    assert process.wait() == -9
    process = start(plan, out, "--resume", code=FULL_DISK)
    _, said = process.communicate()
    assert process.returncode == 1
    assert said == (
        f"vds-gz sweep: '{out}/shards/000000004.npz' cannot be written: File too large; finished runs are kept; "
        "--resume continues from there\n"
    )
    assert collect(out)["run"].tolist() == [0, 1, 2, 3]
    assert not list(out.glob("shards/.*"))
    assert done(plan, out, None) == undisturbed


# ---------------------------------------------------------------------- wrong use


@pytest.mark.parametrize(
    ("function", "words"),
    [("raising", "raised KeyError: 'nothing'"), ("returning_nan", "nan")],
)
def test_a_controller_that_fails_fails_its_shard_and_no_other(tmp_path, capsys, function, words):
    plan = write_plan(tmp_path, PLAN.replace(":controller", f":{function}"))
    assert main([str(plan), "-o", str(tmp_path / "out"), "--shard", "4"]) == 1
    said = capsys.readouterr().err
    assert words in said
    assert said.count("runs") <= 6


def test_a_sweep_that_is_there_is_not_overwritten_and_another_one_is_not_continued(plan, tmp_path, capsys):
    out = str(tmp_path / "out")
    assert main([str(plan), "-o", out, "--resume"]) == 2
    assert "there is no sweep in" in capsys.readouterr().err
    assert main([str(plan), "-o", out]) == 0
    assert main([str(plan), "-o", out]) == 2
    assert "continue it with --resume" in capsys.readouterr().err
    other = write_plan(tmp_path, PLAN.replace("seed: 3", "seed: 4"))
    assert main([str(other), "-o", out, "--resume"]) == 2
    assert "is another one" in capsys.readouterr().err


def test_an_expectation_that_is_broken_is_a_table_and_exit_code_1(tmp_path, capsys):
    plan = write_plan(tmp_path, PLAN + "expect: {path.peak: {p50: 0.1, max: 9.0}}\n")
    assert main([str(plan), "-o", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "path.peak" in said
    assert "p50" in said
    assert "max" not in said


def test_a_run_that_never_ends_is_later_than_any_bound_and_never_leaves(tmp_path, capsys):
    plan = PLAN.replace("[path.rms, path.peak]", "[finished, left]").replace(
        "duration: 0.5", "duration: 0.5, bound: 0.45"
    )
    plan = write_plan(tmp_path, plan + "expect: {finished: {p50: 9.0}, left: {p50: 0.4}}\n")
    assert main([str(plan), "-o", str(tmp_path / "out")]) == 1
    runs = collect(tmp_path / "out", "finished", "left", "status")
    assert (runs["finished"] == np.inf).all()
    assert ((runs["left"] == np.inf) == (runs["status"] == "running")).all()
    assert sorted(set(runs["left"].tolist())) == [0.0, np.inf]
    said = capsys.readouterr().err
    assert "finished" in said
    assert "left" not in said


def test_what_does_not_go_with_a_sweep_that_was_begun_is_refused(plan, tmp_path, capsys):
    out = str(tmp_path / "out")
    assert main([str(plan), "-o", out]) == 0
    assert main([str(plan), "-o", out, "--resume", "--shard", "3"]) == 2
    assert "--shard does not go with --resume" in capsys.readouterr().err
    (tmp_path / "out" / "plan.json").unlink()
    assert main([str(plan), "-o", out]) == 2
    assert "there is a sweep in" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("workers", "reason"),
    [
        ("tcp://127.0.0.1:9", "no Dask scheduler responds"),
        ("tls://127.0.0.1:9", "its configuration must have distributed.comm.tls"),
    ],
)
def test_no_scheduler_and_no_certificates_are_exit_code_2(plan, tmp_path, capsys, workers, reason):
    out = tmp_path / "out"
    assert main([str(plan), "-o", str(out), "--workers", workers]) == 2
    assert reason in capsys.readouterr().err
    assert not out.exists()  # or the same command with the right address would be refused


def test_a_wrong_address_takes_nothing_from_what_was_there_before(plan, undisturbed, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    assert main([str(plan), "-o", str(out), "--workers", "tcp://127.0.0.1:9"]) == 2
    assert [file.name for file in out.iterdir()] == ["notes.txt"]
    Folder.begin(out, read_sweep(plan))
    assert main([str(plan), "-o", str(out), "--resume", "--workers", "tcp://127.0.0.1:9"]) == 2
    assert done(plan, out, None) == undisturbed


def test_a_shard_that_is_damaged_is_named_and_done_again_when_it_is_removed(plan, undisturbed, tmp_path):
    out = tmp_path / "out"
    assert done(plan, out, 5) == undisturbed
    shard = out / "shards/000000005.npz"
    content = shard.read_bytes()
    for damaged in (b"", b"no numbers", content[: len(content) // 2]):
        shard.write_bytes(damaged)
        with pytest.raises(FailureError, match=r"000000005.npz' is not a table of runs .*; remove it, and --resume"):
            collect(out)
    shard.unlink()
    assert done(plan, out, None) == undisturbed
