"""A sweep that resumes after a failure has the table of an undisturbed one to the byte; no run is done twice."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
from helpers.dask_cluster import cluster, until
from helpers.sweeps import ORDERS, PLAN, start, write_plan

from vds_gz.cli.sweep import main
from vds_gz.core.errors import ArgumentError
from vds_gz.tools.study.progress import ignore
from vds_gz.tools.study.sweep.plan_file import read_sweep
from vds_gz.tools.study.sweep.sweep_folder import begin, collect, do_runs

pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")
pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

#: Code that limits batches to 4 runs.
SMALL = "import vds_gz.tools.study.sweep.sweep_runs as sweep; sweep.LARGEST = 4"


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    return write_plan(tmp_path_factory.mktemp("plan"))


@pytest.fixture(scope="module")
def undisturbed(plan, tmp_path_factory):
    return done(plan, tmp_path_factory.mktemp("undisturbed") / "out")


@pytest.fixture
def orders(tmp_path, monkeypatch):
    folder = tmp_path / "orders"
    folder.mkdir()
    monkeypatch.setenv(ORDERS, str(folder))
    return folder


def done(plan, out, workers=None, *, resume=False):
    """The bytes of the table when all runs are done."""
    assert not do_runs(out, read_sweep(plan), workers, ignore, resume=resume)
    return (out / "runs.csv").read_bytes()


def rows(out):
    return len((out / "runs.csv").read_text().splitlines()) - 1 if (out / "runs.csv").exists() else 0


@pytest.mark.parametrize("size", [pytest.param(1, marks=pytest.mark.slow), 5])
def test_results_do_not_depend_on_the_size_of_batches(plan, undisturbed, tmp_path, monkeypatch, size):
    monkeypatch.setattr("vds_gz.tools.study.sweep.sweep_runs.LARGEST", size)
    assert done(plan, tmp_path / "out") == undisturbed


def test_a_killed_process_is_one_message_and_finished_runs_are_kept(plan, undisturbed, orders, tmp_path, capsys):
    out = tmp_path / "out"
    (orders / "die at 0.3").touch()
    assert main([str(plan), "-o", str(out), "--workers", "2"]) == 1
    said = capsys.readouterr().err
    assert "vds-gz sweep: a worker process died" in said
    assert said.endswith("finished runs are kept; --resume continues from there\n")
    (orders / "die at 0.3").unlink()
    assert done(plan, out, 2, resume=True) == undisturbed


@pytest.mark.slow
def test_runs_that_kill_all_workers_are_named_and_the_others_finish(plan, undisturbed, orders, tmp_path, capsys):
    (orders / "die at 0.3").touch()
    out = tmp_path / "out"
    with cluster(tmp_path / "dask") as dask:
        dask.worker("one")
        assert main([str(plan), "-o", str(out), "--workers", dask.address]) == 1
        assert "vds-gz sweep: runs 12 to 12: 2 workers died while they did it" in capsys.readouterr().err
        assert collect(out)["run"].tolist() == [*range(12), *range(16, 32)]
        (orders / "die at 0.3").unlink()
        (orders / "die-once").touch()  # a run that dies twice may be given up
        assert done(plan, out, dask.address, resume=True) == undisturbed
        assert not list(orders.glob("die-*"))


def test_a_killed_client_resumes(plan, undisturbed, orders, tmp_path):
    (orders / "slow").touch()
    out = tmp_path / "out"
    process = start(plan, out, code=SMALL)
    until(lambda: rows(out) >= 8, patience=60.0)
    process.kill()
    process.wait()
    assert 8 <= rows(out) < 32
    (orders / "slow").unlink()
    content = (out / "runs.csv").read_bytes()
    for half in (content, content[:-5]):  # killed between two rows, and in the middle of one
        (out / "runs.csv").write_bytes(half)
        assert done(plan, out, resume=True) == undisturbed


@pytest.mark.slow
def test_a_killed_scheduler_is_one_message_and_finished_runs_are_kept(plan, undisturbed, orders, tmp_path):
    (orders / "slow").touch()
    out = tmp_path / "out"
    with cluster(tmp_path / "dask") as dask:
        dask.worker("one")
        process = start(plan, out, "--workers", dask.address)
        until(lambda: rows(out), patience=60.0)
        address = dask.address
    _, said = process.communicate()
    assert process.returncode == 1
    kept = "finished runs are kept; --resume continues from there"
    assert said.splitlines()[-1] == f"vds-gz sweep: the Dask scheduler at {address} went away; {kept}"
    assert "Traceback" not in said
    (orders / "slow").unlink()
    assert done(plan, out, resume=True) == undisturbed


def worker_begins(process, out):
    """Whether the helper of multiprocessing and the first worker have started."""
    return len(psutil.Process(process.pid).children(recursive=True)) >= 2


def run_is_done(process, out):
    return rows(out)


@pytest.mark.parametrize("when", [pytest.param(worker_begins, marks=pytest.mark.slow), run_is_done])
def test_ctrl_c_ends_workers_silently_and_finished_runs_are_kept(plan, undisturbed, orders, tmp_path, when):
    (orders / "slow").touch()
    out = tmp_path / "out"
    process = start(plan, out, "--workers", "1", code=SMALL)
    until(lambda: when(process, out), patience=60.0)
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate() == ("", "")
    assert process.returncode == 130
    (orders / "slow").unlink()
    assert done(plan, out, resume=True) == undisturbed


#: No file may grow beyond this, as on a disk that is full. Of bytecode, Python 3.11 would keep the part that fits, and
#: later processes could not import it.
FULL_DISK = f"""
import resource, sys
sys.dont_write_bytecode = True
{SMALL}
resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))
"""


def test_a_full_disk_is_one_message_and_finished_runs_are_kept(plan, undisturbed, tmp_path):
    out = tmp_path / "out"
    process = start(plan, out, code=FULL_DISK)
    _, said = process.communicate()
    assert process.returncode == 1
    assert said == (
        f"vds-gz sweep: '{out}/runs.csv' cannot be written: File too large; finished runs are kept; --resume "
        "continues from there\n"
    )
    assert 0 < rows(out) < 32
    assert done(plan, out, resume=True) == undisturbed


# ---------------------------------------------------------------------- wrong use


@pytest.mark.parametrize(
    ("function", "words"),
    [("raising", "raised KeyError: 'nothing'"), ("returning_nan", "nan")],
)
def test_a_failing_controller_fails_only_its_own_runs(tmp_path, capsys, monkeypatch, function, words):
    monkeypatch.setattr("vds_gz.tools.study.sweep.sweep_runs.LARGEST", 4)
    plan = write_plan(tmp_path, PLAN.replace(":controller", f":{function}"))
    assert main([str(plan), "-o", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert words in said
    assert said.count("runs") <= 6


def test_an_existing_sweep_is_not_overwritten_and_a_different_one_is_not_continued(plan, tmp_path, capsys):
    out = str(tmp_path / "out")
    assert main([str(plan), "-o", out, "--resume"]) == 2
    assert "there is no sweep in" in capsys.readouterr().err
    assert main([str(plan), "-o", out]) == 0
    assert main([str(plan), "-o", out]) == 2
    assert "continue it with --resume" in capsys.readouterr().err
    other = write_plan(tmp_path, PLAN.replace("seed: 3", "seed: 4"))
    assert main([str(other), "-o", out, "--resume"]) == 2
    assert "is another one" in capsys.readouterr().err
    (tmp_path / "out" / "plan.json").unlink()
    assert main([str(plan), "-o", out]) == 2
    assert "there is a sweep in" in capsys.readouterr().err


def test_a_broken_expectation_is_printed_with_exit_code_1(tmp_path, capsys):
    plan = write_plan(tmp_path, PLAN + "expect: {path.peak: {p50: 0.1, max: 9.0}}\n")
    assert main([str(plan), "-o", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "path.peak" in said
    assert "p50" in said
    assert "max" not in said


def test_a_run_that_does_not_finish_has_infinite_times(tmp_path, capsys):
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


def test_a_wrong_address_leaves_existing_files_unchanged(plan, undisturbed, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    assert main([str(plan), "-o", str(out), "--workers", "tcp://127.0.0.1:9"]) == 2
    assert [file.name for file in out.iterdir()] == ["notes.txt"]
    begin(out, read_sweep(plan))
    assert main([str(plan), "-o", str(out), "--resume", "--workers", "tcp://127.0.0.1:9"]) == 2
    assert done(plan, out, resume=True) == undisturbed


@pytest.mark.parametrize(
    "damaged", [b"", b"no numbers\n", b"run,path.rms\n0,1\none,done\n", b"run,path.rms\n0," + b"1" * 140_000]
)
def test_a_damaged_table_is_named(plan, tmp_path, damaged):
    (tmp_path / "runs.csv").write_bytes(damaged)
    with pytest.raises(ArgumentError, match=r"runs.csv' is no table of runs"):
        collect(tmp_path, "path.rms")


def test_a_second_sweep_in_a_folder_in_use_is_refused(plan, undisturbed, orders, tmp_path, capsys):
    (orders / "slow").touch()
    out = tmp_path / "out"
    process = start(plan, out, code=SMALL)
    until(lambda: rows(out), patience=60.0)
    os.kill(process.pid, signal.SIGSTOP)
    try:
        assert main([str(plan), "-o", str(out), "--resume"]) == 2
        assert "another process works on the sweep in" in capsys.readouterr().err
    finally:
        process.kill()
        process.communicate()
    assert done(plan, out, resume=True) == undisturbed
