"""One vehicle from many recordings: single results, pooled results, and messages on recordings that fail."""

import csv
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from helpers.guest import needs_autoware

import vds_gz
from vds_gz.cli import main
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.parameters.node import NEVER_OLD
from vds_gz.core.parameters.yaml_reader import read_intervals
from vds_gz.tools.study.identify.estimates import Estimate
from vds_gz.tools.study.identify.exports import NOT_MET, WIDEST
from vds_gz.tools.study.identify.many import JOURNAL, Result, Source, identify_many, pool, pool_results, read_results
from vds_gz.tools.study.identify.problem.command_hold import MAX_AGE
from vds_gz.tools.study.report.recordings import pooled_findings, pooled_rows

DEAD_TIME, CONSTANT = 0.2, 0.3


def write_recording(path, seed, dead_time=DEAD_TIME, duration=10.0, speed=1.0):
    """A table of a first-order axis with noise, commanded steps."""
    random = np.random.default_rng(seed)
    time = np.arange(0.0, duration, 0.02)
    command = speed * np.repeat(random.uniform(-1.0, 1.0, len(time) // 50 + 1), 50)[: len(time)]
    fine = np.arange(0.0, duration, 0.001)
    late = np.floor((fine - dead_time) / 0.02 + 1e-6).astype(int)
    sent = command[np.clip(late, 0, None)] * (late >= 0)
    value, values = 0.0, []
    for one in sent:
        values.append(value)
        value += (one - value) * 0.001 / CONSTANT
    measured = np.interp(time, fine, values) + random.normal(0.0, 0.01, len(time))
    rows = [f"{t!r},{c!r},{m!r}" for t, c, m in zip(time.tolist(), command.tolist(), measured.tolist(), strict=True)]
    path.write_text("\n".join(["time,v_x_command,v_x_measured", *rows]) + "\n")


@pytest.fixture(scope="module")
def identified(tmp_path_factory):
    """A folder with three recordings of one vehicle, and their results in ``out``."""
    folder = tmp_path_factory.mktemp("identified")
    for seed in range(3):
        write_recording(folder / f"run{seed}.csv", seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["identify", "--many", "run*.csv", "-o", "out"]) == 0
    return folder


@pytest.fixture
def folder(tmp_path, monkeypatch, identified):
    """A copy of it, in which calls may resume."""
    shutil.copytree(identified, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows_of(folder):
    with (folder / "recordings.csv").open() as file:
        return list(csv.DictReader(file))


def test_recordings_are_pooled_and_bad_ones_named(folder, capsys):
    (folder / "run_bad.csv").write_text("time,v_x_command\n0.0,1.0\n")
    write_recording(folder / "run_still.csv", 5, speed=0.0)
    swapped = (folder / "run0.csv").read_text().replace("v_x_command,v_x_measured", "v_x_measured,v_x_command")
    (folder / "run_swapped.csv").write_text(swapped)
    assert main(["identify", "--many", "run*.csv", "-o", "out", "--resume"]) == 1
    told = capsys.readouterr()
    assert "run_bad.csv" in told.err
    assert "run_still.csv: nothing was excited" in told.err
    assert "run_swapped.csv: the measured v_x leads the command by 0." in told.err
    page = (folder / "out" / "report.html").read_text()
    for name in ("run_bad.csv", "run_still.csv", "run_swapped.csv"):
        assert told.err.count(name) == page.count(name) == 1
    rows = rows_of(folder / "out")
    assert [row["file"] for row in rows] == [f"run{end}.csv" for end in ("0", "1", "2", "_bad", "_still", "_swapped")]
    assert [row["status"] == "done" for row in rows] == [True] * 3 + [False] * 3
    for row in rows[:3]:
        low, high = float(row["v_x.dead_time.low"]), float(row["v_x.dead_time.high"])
        assert low < float(row["v_x.dead_time"]) < high
    interval = read_intervals(folder / "out" / "parameters.yaml", "/sim_node")
    found = interval["model_params.differential.drive_actuators.dead_time"]
    assert found.value == pytest.approx(DEAD_TIME, abs=0.01)
    assert found.high - found.low < max(
        float(r["v_x.dead_time.high"]) - float(r["v_x.dead_time.low"]) for r in rows[:3]
    )
    assert "pooled.png" in os.listdir(folder / "out")


def test_recordings_of_another_model_are_not_pooled_and_a_finding_names_them():
    name = "drive_actuators.dead_time"

    def shown(log, model, value):
        return Result(log, "", model, {name: Estimate(value, value - 0.01, value + 0.01)})

    vehicle = pool_results([shown("a", "differential", 0.2), shown("b", "omni", 0.9), shown("c", "differential", 0.2)])
    assert vehicle.model == "differential"
    assert (vehicle.numbers[name].count, vehicle.numbers[name].estimate.value) == (2, pytest.approx(0.2))
    assert list(pooled_findings(vehicle)) == [
        "b shows the model 'omni', most recordings 'differential'; its numbers are not pooled"
    ]


def test_parameters_without_estimates_have_the_value_of_most_recordings():
    group = "model_params.differential.drive_actuators"
    dead_time, limit, lag = (f"{group}.{name}" for name in ("dead_time", "max_velocity", "time_constant"))

    def result(log, reached, *lines):
        numbers = {"drive_actuators.dead_time": Estimate(0.2, 0.1, 0.3)}
        return Result(log, "", "differential", numbers, {}, {}, {"drive_actuators.max_velocity": reached}, lines)

    unlimited = [Override(limit, 0.0, f"{NOT_MET}; {reached:g} was reached") for reached in (1.0, 2.0)]
    every = [
        result("a", 1.0, Override(dead_time, 0.2), unlimited[0]),
        result("b", 2.0, Override(dead_time, 0.2), unlimited[1], Override(lag, 0.0)),
        result("c", 1.5, Override(dead_time, 0.2), Override(limit, 1.5, "best fit to the recording")),
    ]
    lines = {line.name: line for line in pool_results(every).overrides}
    assert lines[dead_time].value == pytest.approx(0.2)
    assert lines[limit] == Override(limit, 0.0, f"{NOT_MET}; 2 was reached")
    assert lag not in lines, "most recordings keep the given value"


@pytest.mark.parametrize(
    ("reached", "unmeasured", "origin"),
    [
        ((1.0, 2.0), (), "; 2 was reached"),
        ((1.0, 2.0), (1,), "; 1 was reached"),
        ((1.0, 2.0), (0, 1), "; 2 was commanded"),
        ((None, None), (0, 1), ", nor measured"),
    ],
)
@pytest.mark.parametrize(("limit", "words"), [(0.0, NOT_MET), (1.57, WIDEST)])
def test_a_limit_that_was_not_met_says_what_was_measured_or_else_commanded(reached, unmeasured, origin, limit, words):
    name = "steering_actuator.max_position"
    line = Override(f"model_params.bicycle.{name}", limit, f"{words}; 0.1 was reached")
    every = [
        Result(
            f"{k}",
            "",
            "bicycle",
            {},
            {},
            {},
            {} if most is None else {name: most},
            (line,),
            (name,) * (k in unmeasured),
        )
        for k, most in enumerate(reached)
    ]
    assert pool_results(every).overrides == (line._replace(origin=f"{words}{origin}"),)


@pytest.mark.parametrize(("unmeasured", "limit"), [((), 1.57), (("steering_actuator.max_position",), 0.3)])
def test_a_pooled_limit_was_not_met_if_an_angle_exceeds_it_but_not_a_command(unmeasured, limit):
    name = "steering_actuator.max_position"
    full, line = f"model_params.bicycle.{name}", Override(f"model_params.bicycle.{name}", 1.57, f"{WIDEST}; 0.4")
    met = Result("a", "", "bicycle", {name: Estimate(0.3, 0.29, 0.31)}, {}, {}, {}, (Override(full, 0.3),))
    exceeded = Result("b", "", "bicycle", {name: None}, {}, {}, {name: 0.4}, (line,), unmeasured)
    assert [found.value for found in pool_results([met, exceeded]).overrides] == [limit]


def test_time_outs_are_pooled_and_contradictions_named():
    def result(log, timeout, moved_on, *lines):
        numbers = {MAX_AGE: timeout and Estimate(timeout, timeout - 0.05, timeout + 0.05)}
        return Result(log, "", "differential", numbers, {}, {}, {MAX_AGE: moved_on}, lines)

    holds = Override(MAX_AGE, NEVER_OLD, "holds its last command: moved on for 3 s without another")
    shorter, longer = (result(f"{value}", value, 0.3, Override(MAX_AGE, value)) for value in (0.48, 0.52))
    unknown, holding = result("unknown", None, 0.4), result("holding", None, 3.0, holds)
    vehicle = pool_results([shorter, unknown, longer])
    [line], [row] = vehicle.overrides, pooled_rows(vehicle)
    assert (line.name, line.value) == (MAX_AGE, pytest.approx(0.5))
    assert line.origin == "stops seen: 0.43 to 0.58", "it is not a 95 % interval"
    assert row == ("commands", "time-out", "0.5 s", line.origin, "2", "0.028 s", ""), "ranges predict no scatter"

    vehicle = pool_results([shorter, holding, longer])
    assert (vehicle.overrides, list(pooled_rows(vehicle))) == ((), [])
    assert list(pooled_findings(vehicle)) == [
        "holding: the vehicle moved on for 3 s without a command, but by others it stops 0.5 s after its last command; "
        "the parameter file has no time-out"
    ]

    vehicle = pool_results([unknown, unknown, holding])
    [line], [row] = vehicle.overrides, pooled_rows(vehicle)
    assert line == holds
    assert row[:4] == ("commands", "time-out", "none", holds.origin)

    unmet = Override(MAX_AGE, NEVER_OLD, "unlimited: not met; longer than 1.6 s")
    vehicle = pool_results([result("shorter", None, 1.9, unmet), holding])
    assert vehicle.overrides == (holds,), "what is certain counts"
    vehicle = pool_results([result("shorter", None, 1.9, unmet), unknown])
    [line], [row] = vehicle.overrides, pooled_rows(vehicle)
    assert line == unmet
    assert row[:4] == ("commands", "time-out", "not met", unmet.origin)


def test_a_result_is_read_as_it_was_written_and_broken_lines_are_skipped(tmp_path):
    numbers = {"drive_actuators.dead_time": Estimate(0.2, 0.19, 0.21), "drive_actuators.max_velocity": None}
    lines = (Override("model_params.differential.track", 0.5, "as given"),)
    result = Result("a", "", "differential", numbers, {"v_x gain": Estimate(1.0, 0.9, 1.1)}, {}, {"x": 1.0}, lines)
    file = tmp_path / JOURNAL
    earlier = '{"key": "old", "log": "a", "steers": false, "failure": "", "axes": []}\n'
    file.write_text(result.line("one") + '{"key": "half\n' + earlier + Result("b", "no").line("two"))
    assert list(read_results(file)) == [("one", result), ("two", Result("b", "no"))]


def test_a_recording_of_another_vehicle_is_named(folder, capsys):
    write_recording(folder / "run_other.csv", 7, dead_time=0.35)
    assert main(["identify", "--many", "run*.csv", "-o", "out", "--resume"]) == 0
    assert "finding: drive dead time scatters" in (told := capsys.readouterr().out)
    assert "most in run_other.csv" in told
    pooled = json.loads((folder / "out" / "report.json").read_text())["pooled"]
    assert pooled["v_x.dead_time"]["spread"] == pytest.approx(0.075, abs=0.02)
    assert pooled["v_x.time_constant"]["scatter"] < 3.0


@pytest.mark.slow
def test_workers_give_the_same_bytes(folder):
    pytest.importorskip("distributed")
    assert main(["identify", "--many", "run*.csv", "-o", "two", "--workers", "2"]) == 0
    for name in ("recordings.csv", "parameters.yaml", "report.json"):
        assert (folder / "out" / name).read_bytes() == (folder / "two" / name).read_bytes()


@pytest.mark.slow
def test_results_before_a_kill_are_kept(folder):
    command = [sys.executable, "-m", "vds_gz.cli", "identify", "--many", "run*.csv", "-o", "killed"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    journal = folder / "killed" / JOURNAL
    deadline = time.monotonic() + 120.0
    while time.monotonic() < deadline and not (journal.is_file() and journal.read_text().count("\n") >= 1):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = journal.read_text().splitlines(keepends=True)
    assert 1 <= len(done) < 3
    with journal.open("a") as file:
        file.write('{"key": "half')
    begun = [line for line in done if line.endswith("\n")]
    assert main(["identify", "--many", "run*.csv", "-o", "killed", "--resume"]) == 0
    assert journal.read_text().splitlines(keepends=True)[: len(begun)] == begun
    assert (folder / "killed" / "recordings.csv").read_bytes() == (folder / "out" / "recordings.csv").read_bytes()


@pytest.mark.slow
def test_a_changed_recording_is_identified_again(folder):
    write_recording(folder / "run1.csv", 1, dead_time=0.3)
    assert main(["identify", "--many", "run*.csv", "-o", "out", "--resume"]) == 0
    found = [float(row["v_x.dead_time"]) for row in rows_of(folder / "out")]
    assert found == pytest.approx([0.2, 0.3, 0.2], abs=0.02)


@pytest.mark.slow
def test_results_of_other_versions_and_failures_are_identified_again(folder, monkeypatch):
    (folder / "run2.csv").write_text("time,v_x_command\n0.0,1.0\n")
    tried: list[str] = []
    monkeypatch.setattr(vds_gz, "__version__", vds_gz.__version__)

    def go_on() -> list[str]:
        tried.clear()
        identify_many(
            ["run0.csv", "run2.csv"], Source(), folder, resume=True, advance=lambda n, name="": tried.append(name)
        )
        return [name for name in tried if name]

    assert go_on() == ["run0.csv", "run2.csv"]
    assert go_on() == ["run2.csv"]
    monkeypatch.setattr(vds_gz, "__version__", "0.0.7")
    assert go_on() == ["run0.csv", "run2.csv"]


def test_one_recording_has_no_scatter_and_its_report_is_json(folder):
    assert main(["identify", "--many", "run0.csv", "-o", "out", "--resume"]) == 0
    pooled = json.loads((folder / "out" / "report.json").read_text(), parse_constant=pytest.fail)["pooled"]
    assert pooled["v_x.dead_time"]["scatter"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run0.csv", "--resume"], "--resume and --workers go with --many"),
        (["--many", "none*.csv"], "'none*.csv' names no recording"),
        pytest.param(
            ["--many", "run*.csv", "--model", "pedals"], "--model pedals does not go with --many", marks=needs_autoware
        ),
        (["run0.csv", "--many", "run*.csv"], "LOG 'run0.csv' does not go with --many"),
        (["--many", "run*.csv", "--fit", "wheelbase"], "'wheelbase' cannot be fitted; it must be one of"),
        (["--many", "run*.csv", "--fit", "wheel_base", "--preset", "indoor_robot"], "base_link_offset, track, tire"),
        ([], "LOG is missing"),
        (["run0.csv", "--fit", "wheelbase"], "'wheelbase' cannot be fitted; it must be one of"),
        pytest.param(
            ["run0.csv", "run1.csv", "--model", "pedals"],
            "--model pedals takes one LOG; there are 2",
            marks=needs_autoware,
        ),
    ],
)
def test_wrong_use_is_refused(folder, capsys, words, message):
    assert main(["identify", *words]) == 2
    assert message in capsys.readouterr().err


def test_invalid_workers_are_refused(folder, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["identify", "--many", "run*.csv", "--workers", "no"])
    assert "workers are 'no'; they must be auto" in capsys.readouterr().err


def test_recordings_of_one_vehicle_are_pooled_by_their_weights():
    found = pool({"a": Estimate(1.0, 0.9, 1.1), "b": Estimate(1.03, 0.98, 1.08)})
    assert found.estimate.value == pytest.approx((1.0 / 0.01 + 1.03 / 0.0025) / (1.0 / 0.01 + 1.0 / 0.0025))
    assert found.estimate.high - found.estimate.value == pytest.approx(1.0 / math.sqrt(1.0 / 0.01 + 1.0 / 0.0025))
    assert found.spread == 0.0
    assert found.count == 2


def test_the_spread_of_different_vehicles_is_estimated():
    random = np.random.default_rng(1)
    told = {str(k): Estimate(x, x - 0.002, x + 0.002) for k, x in enumerate(random.normal(0.2, 0.05, 400))}
    found = pool(told)
    assert found.spread == pytest.approx(0.05, rel=0.1)
    assert found.estimate.value == pytest.approx(0.2, abs=0.01)
    assert found.scatter == pytest.approx(0.05 / 0.00102, rel=0.1)
    assert found.differs
    alone = pool({"a": Estimate(1.0, 0.9, 1.1)})
    assert math.isnan(alone.scatter)
    assert not alone.differs


@pytest.mark.parametrize("count", [2, 10])
def test_chance_is_not_reported_as_a_difference(count):
    """The standard deviations are those of the intervals; 1 of 1000 cases may be reported."""
    random = np.random.default_rng(count)
    taken = 0
    for values in random.normal(0.2, 0.01, (2000, count)):
        told = {str(k): Estimate(x, x - 0.0196, x + 0.0196) for k, x in enumerate(values)}
        taken += pool(told).differs
    assert taken <= 8


def test_several_recordings_are_one_fit(folder, capsys):
    assert main(["identify", "run0.csv", "run1.csv", "-o", "both"]) == 0
    told = capsys.readouterr().out
    assert re.findall(r"^residual +(v_x \(\d\)) ", told, re.MULTILINE) == ["v_x (1)", "v_x (2)"]
    report = json.loads((folder / "both" / "report.json").read_text())
    both = report["numbers"]["drive_actuators.dead_time"]
    assert report["log"] == "run0.csv, run1.csv"
    assert both["low"] < DEAD_TIME < both["high"]
    assert (folder / "both" / "identified_2.png").is_file()


def test_a_limit_that_another_recording_exceeds_is_unlimited():
    name = "drive_actuators.max_velocity"
    limit = Estimate(0.3, 0.29, 0.31)
    shown = Result(
        "slow", "", "differential", {name: limit}, overrides=(limit.override(f"model_params.differential.{name}"),)
    )
    unmet = Override(f"model_params.differential.{name}", 0.0, f"{NOT_MET}; 0.8 was reached")
    faster = Result("fast", "", "differential", {name: None}, reached={name: 0.8}, overrides=(unmet,))
    slower = Result("like", "", "differential", {name: None}, reached={name: 0.3}, overrides=(unmet,))
    assert pool_results([shown, faster]).overrides == (unmet,)
    assert pool_results([shown, slower]).overrides[0].value == 0.3
