"""Identical runs do not differ, and the delay of a later run is found."""

import json
import math
import re
import shutil
import struct
from dataclasses import replace

import numpy as np
import pytest
import yaml
from helpers.bag_files import messages_of, topics_of, write_bag
from rosbags.rosbag2 import StoragePlugin, Writer

from vds_gz import read_commands
from vds_gz.cli import main
from vds_gz.core.configuration import load_parameters
from vds_gz.core.errors import ArgumentError, RecordingError
from vds_gz.core.plant.gazebo.links.bindings import bindings_fault
from vds_gz.core.ros.messages.portable import MessageTypes
from vds_gz.programs.commandlog.command_log import write_csv
from vds_gz.programs.commandlog.profiles import limits_of, make
from vds_gz.tools.study.compare.differences import (
    Bound,
    Comparison,
    Difference,
    Measured,
    PathDifference,
    check_bounds,
    compare,
)
from vds_gz.tools.study.compare.response_delay import delay
from vds_gz.tools.study.compare.sources import simulate
from vds_gz.tools.study.identify.actuator_response import ActuatorResponse
from vds_gz.tools.study.reading.recorded_run import read
from vds_gz.tools.study.report.comparison import verdict

BOUNDS = "drive: {rms: 1.0, delay: 0.01}\npath: {peak: 100}\n"


def parameter_file(folder, name, **drive):
    actuators = {"dead_time": 0.2, "time_constant": 0.3, "max_velocity": 2.0, "max_acceleration": 1.5}
    content = {
        "model": "bicycle",
        "model_params": {
            "bicycle": {"drive_actuator": {**actuators, **drive}, "steering_actuator": {"dead_time": 0.1}}
        },
    }
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump({"sim_node": {"ros__parameters": content}}))
    return str(path)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["profile", "steps", "--speed", "2.5", "--steering", "0.4", "--duration", "6", "-o", "log.csv"]) == 0
    return tmp_path


def report(folder):
    return json.loads((folder / "compare" / "report.json").read_text())


def test_a_recording_does_not_differ_from_its_own_model(folder, capsys):
    a = parameter_file(folder, "a")
    (folder / "bounds.yaml").write_text(BOUNDS)
    assert main(["replay", "log.csv", "--params", a, "-o", "run.mcap"]) == 0
    assert main(["compare", "run.mcap", a, "--tolerance", "bounds.yaml"]) == 0
    assert "commands acted up to" not in capsys.readouterr().out
    assert max(one["peak"] for one in report(folder)["differences"]) < 1e-12
    run = read(folder / "run.mcap")
    same = compare(run, run)
    assert verdict(same) == "The runs are identical."
    for one in same.differences:
        assert (one.rms, one.peak, one.delay, one.rms_aligned) in ((0, 0, 0, 0), (0, 0, None, None))


@pytest.mark.parametrize("order", [("a.csv", "a.yaml"), pytest.param(("a.yaml", "a.csv"), marks=pytest.mark.slow)])
def test_a_table_of_a_replay_has_the_dead_times_of_its_own_model(folder, order):
    """Its samples are 20 ms apart, and it lacks the times of its commands."""
    a = parameter_file(folder, "a")
    assert main(["replay", "log.csv", "--params", a, "-o", "a.csv"]) == 0
    assert main(["compare", *order, "--log", "log.csv"]) == 0
    for one in report(folder)["measured"]:
        assert one["a"]["dead_time"] == pytest.approx(one["b"]["dead_time"], abs=1e-6), one["name"]


def test_tables_of_replays_resolve_dead_times_to_their_samples(folder, capsys):
    a = parameter_file(folder, "a")
    for name, rate in (("a.csv", "50"), ("b.csv", "20")):
        assert main(["replay", "log.csv", "--params", a, "--rate", rate, "-o", name]) == 0
    capsys.readouterr()
    assert main(["compare", "a.csv", "b.csv"]) == 0
    said = capsys.readouterr().out
    assert "B against A" not in said
    assert said.count(" ms +-35") == 2
    assert [one["resolution"] for one in report(folder)["measured"]] == pytest.approx([0.035, 0.035])


@pytest.mark.slow
def test_commands_that_acted_late_are_named_and_given_to_the_model_when_they_acted(folder, capsys):
    """As in a run on a busy machine: each command came in time, and acted up to 0.4 s later."""
    a = parameter_file(folder, "a")
    log = read_commands("log.csv")
    came = np.array(log.times)
    acted = np.maximum.accumulate(came + 0.2 * (1.0 - np.cos(1.3 * came)))
    write_csv(replace(log, times=tuple(acted.tolist())), folder / "acted.csv")
    assert main(["replay", "acted.csv", "--params", a, "-o", "acted.mcap"]) == 0
    messages = messages_of(folder / "acted.mcap")
    first = next(time for topic, time, _ in messages if topic == "/ackermann_cmd")
    times = iter((first + np.rint(came * 1e9).astype(int)).tolist())
    in_time = [(name, next(times) if name == "/ackermann_cmd" else at, message) for name, at, message in messages]
    types = {name: topic.type for name, topic in topics_of(folder / "acted.mcap").items()}
    write_bag(folder / "bag", "mcap", types, sorted(in_time, key=lambda entry: entry[1]))
    capsys.readouterr()
    assert main(["compare", "bag", a]) == 0
    said = capsys.readouterr().out
    most = float(re.search(r"finding: A: commands acted up to ([0-9.]+) s after", said)[1])
    assert most == pytest.approx(0.4, abs=0.03), "known to a sampling interval"
    for one in report(folder)["differences"]:
        assert abs(one["delay"] or 0.0) < 5e-3, one["name"]
    assert report(folder)["path"]["peak"] < 0.05


def test_a_difference_of_20_ms_is_named_and_breaks_a_tolerance(folder, capsys):
    a, b = parameter_file(folder, "a"), parameter_file(folder, "b", dead_time=0.22)
    (folder / "bounds.yaml").write_text(BOUNDS)
    assert main(["compare", a, b, "--log", "log.csv", "--tolerance", "bounds.yaml"]) == 1
    said, error = capsys.readouterr()
    assert "drive 20.0 ms later" in said
    assert "+20.0 ms" in said
    assert "drive delay is 0.02" in error
    assert "must be at most 0.01" in error
    assert error.count("\n") == 1
    drive = next(one for one in report(folder)["differences"] if one["name"] == "drive")
    assert drive["delay"] == pytest.approx(0.02, abs=2e-4)
    html = (folder / "compare" / "report.html").read_text()
    assert "data:image/png;base64" in html
    assert "://" not in html  # no external content; shorter words may occur in a picture's base64


@pytest.mark.parametrize(
    "time",
    [
        np.repeat(0.02 * np.arange(100), 3),
        np.concatenate([0.02 * np.arange(10), 9.8 + 0.02 * np.arange(10)]),
        np.zeros(20),
    ],
    ids=["stamps thrice", "nothing in the middle", "no time at all"],
)
def test_a_delay_is_finite_or_none_for_any_samples(time):
    later = delay(time, np.sin(time) + 0.1 * np.arange(len(time)), time, np.sin(time - 0.05))
    assert later.delay is None or abs(later.delay) <= 1.0


def rough(time, seed=0):
    """A signal with a turn every 0.4 s, at any times."""
    grid = np.arange(-20.0, 40.0, 0.4)
    return np.interp(time, grid, np.random.default_rng(seed).standard_normal(len(grid)))


def test_equal_stamps_do_not_hide_a_delay():
    time = np.repeat(0.02 * np.arange(400), 3)
    assert delay(time, rough(time), time, rough(time - 0.06)).delay == pytest.approx(0.06, abs=1e-3)


@pytest.mark.parametrize("interval", [0.02, 0.03], ids=["fine", "a step is no whole part"])
@pytest.mark.parametrize("later", [-1.01, -0.99, 0.0, 0.4, 0.995, 1.01, 1.3])
def test_a_delay_is_found_up_to_the_maximum(interval, later):
    time = np.arange(0.0, 20.0, interval)
    result = delay(time, rough(time), time, rough(time - later)).delay
    assert result == (None if abs(later) > 1.0 else pytest.approx(later, abs=2e-3))


@pytest.mark.parametrize(("later", "found"), [(0.4, 0.4), (-0.4, -0.4), (0.6, None)])
def test_a_delay_is_searched_up_to_a_quarter_of_the_run(later, found):
    time = 0.02 * np.arange(101)
    assert delay(time, rough(time), time, rough(time - later)).delay == pytest.approx(found, abs=3e-3)


def test_a_delay_is_found_with_stamps_in_bursts():
    """Most intervals are 0.1 ms, so a search in such steps would have 20,000 shifts."""
    time = (0.02 * np.arange(400)[:, np.newaxis] + 1e-4 * np.arange(4)).ravel()
    later = delay(time, rough(time), time, rough(time - 0.06))
    assert later.delay == pytest.approx(0.06, abs=1e-3)
    assert later.standard_error > 2e-5


def test_a_delay_is_found_with_a_gain_and_a_constant():
    time = 0.02 * np.arange(1000)
    later = delay(time, rough(time), time, 0.8 * rough(time - 0.12) + 0.3)
    assert later.delay == pytest.approx(0.12, abs=1e-3)
    assert later.gain == pytest.approx(0.8, rel=0.01)
    assert later.lowered > 0.9


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (lambda t: rough(t), lambda t: rough(t, 1)),
        (lambda t: rough(t), lambda t: rough(t - 0.1) + 8.0 * rough(3.0 * t % 20.0, 2)),
        (lambda t: np.sin(20.0 * t), lambda t: np.sin(20.0 * (t - 0.1))),
        (lambda t: t, lambda t: 2.0 * t - 0.3),
        (lambda t: rough(t), lambda t: 0.0 * t),
    ],
    ids=["nothing in common", "hardly lowers the rms", "repeats", "a ramp", "stands still"],
)
def test_an_uncertain_delay_is_not_given(a, b):
    time = 0.02 * np.arange(1000)
    later = delay(time, a(time), time, b(time))
    assert later.delay in (None, 0.0)


def difference(later):
    return Difference("speed", "m/s", 0.1, 0.2, 1.0, later, 0.0)


def measured(dead_time):
    return ActuatorResponse(dead_time, None, None, None, None, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("later", "dead_times", "said"),
    [
        ((None, None), (0.2, 0.2), "No delay is given: no delay reduces the difference clearly."),
        ((None, None), (0.2, None), "No delay is given: no delay reduces the difference clearly."),
        ((None, None), (0.2, 0.25), "B against A: dead time of drive +50.0 ms."),
        ((None, 4e-4), (0.2, 0.2), "Neither run is later than the other by half a millisecond."),
        ((None, -0.03), (0.2, 0.19), "B against A: speed 30.0 ms earlier, dead time of drive -10.0 ms."),
        ((0.02, None), (0.2, 0.2), "B against A: speed 20.0 ms later."),
    ],
)
def test_the_verdict_names_delays(later, dead_times, said):
    drive = Measured("drive", "drive", *map(measured, dead_times))
    path = PathDifference(0.1, 0.1, 0.1, 0.1)
    result = Comparison((), tuple(map(difference, later)), path, np.zeros((2, 2)), np.zeros((2, 2)), (drive,))
    assert verdict(result) == said


def test_nan_breaks_every_bound():
    assert Bound("drive", "rms", 0.1, math.nan).broken
    assert Bound("drive", "rms", 0.1, None).broken
    assert not Bound("drive", "rms", 0.1, 0.1).broken


def test_a_tolerance_file_may_have_an_older_name_of_a_quantity(tmp_path):
    (tmp_path / "bounds.yaml").write_text("sideways: {rms: 0.05}\n")
    (bound,) = check_bounds(tmp_path / "bounds.yaml", {"lateral": {"rms": 0.06}})
    assert str(bound) == "lateral rms is 0.06; it must be at most 0.05"
    assert bound.broken


def test_a_tolerance_on_an_unknown_value_is_broken(folder):
    """An actuator with one sample in both runs has no difference, and its dead time is unknown."""
    cells = "".join(f"{0.1 * k},{k % 7},{k % 5},{'1,1' if k == 3 else ','}\n" for k in range(60))
    (folder / "a.csv").write_text("time,v_x_command,v_x,left_reference,left_actual\n" + cells)
    (folder / "bounds.yaml").write_text("left: {dead_time: 0.1}\n")
    run = read(folder / "a.csv")
    (bound,) = check_bounds(folder / "bounds.yaml", compare(run, run).numbers())
    assert bound.broken
    assert str(bound) == "left dead_time is unknown; it must be at most 0.1"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is empty"),
        ("{}", "must hold quantities"),
        ("speed: {rms: 1.0e+999}", "is '1.0e+999'; it must be a number of at least 0"),
        ("speed: {rms: 1" + 400 * "0" + "}", "it must be a number of at least 0"),
        ("? 0x" + 4000 * "f" + "\n: {rms: 1}", "unknown quantity"),
        ("speed: 1", "must hold bounds"),
        ("sped: {rms: 1}", "unknown quantity 'sped'"),
        ("speed: {rns: 1}", "nearest is 'rms'"),
        ("speed: {rms: fast}", "must be a number of at least 0"),
        ("speed: " + "[" * 5000 + "]" * 5000, ""),
        ("speed: [", "not valid YAML"),
        ("\x07", "not valid YAML"),
    ],
)
def test_wrong_tolerance_files_are_refused(tmp_path, text, said):
    (tmp_path / "bounds.yaml").write_text(text)
    with pytest.raises(ArgumentError, match=r"bounds\.yaml") as refused:
        check_bounds(tmp_path / "bounds.yaml", {"speed": {"rms": 0.1, "delay": None}})
    assert said in str(refused.value)


def test_a_wrong_tolerance_file_is_refused_before_anything_runs(folder, capsys):
    (folder / "bounds.yaml").write_text("speed: {rms: fast}")
    a = parameter_file(folder, "a")
    assert main(["compare", a, a, "--log", "log.csv", "--tolerance", "bounds.yaml"]) == 2
    assert "must be a number of at least 0" in capsys.readouterr().err
    assert not (folder / "compare").exists()


def test_wrong_runs_are_refused(folder, capsys):
    a = parameter_file(folder, "a")
    for name in ("nothing.mcap", "gazebo:nothing.yaml", "kinematic:no_preset"):
        assert main(["compare", name, a]) == 2
        assert f"vds-gz compare: '{name}' " in capsys.readouterr().err
    assert main(["compare", a, "live:/no way"]) == 2
    assert "no way" in capsys.readouterr().err


def table(columns, *rows):
    return "".join(",".join(map(str, row)) + "\n" for row in (columns.split(","), *rows))


def test_a_signal_without_common_times_is_named_and_the_others_are_compared(folder, capsys):
    columns = "time,v_x_command,v_x_measured,steering_measured"
    for name, begin in (("a", 0), ("b", 30)):
        angles = ["" if not begin <= k < begin + 10 else 0.1 for k in range(40)]
        rows = [(0.1 * k, 1.0, min(0.1 * k, 1.0), angle) for k, angle in enumerate(angles)]
        (folder / f"{name}.csv").write_text(table(columns, *rows))
    (folder / "bounds.yaml").write_text("speed: {rms: 0.1}\nsteering: {rms: 0.1}\n")
    assert main(["compare", "a.csv", "b.csv", "--tolerance", "bounds.yaml"]) == 1
    said = capsys.readouterr()
    assert "finding: steering is not compared: the runs have fewer than 2 times of steering in common" in said.out
    assert "A has it from 0.0 to 0.9 s after the first command, B from 3.0 to 3.9 s" in said.out
    assert said.err.count("out of tolerance") == 1
    assert [one["name"] for one in report(folder)["differences"]] == ["speed"]
    assert "Measured parameters" not in (folder / "compare" / "report.html").read_text(), "there are no actuators"


def test_runs_without_any_common_time_are_refused(folder, capsys):
    for name, begin in (("a", 0), ("b", 30)):
        rows = [(0.1 * k, 1.0, 0.5 if begin <= k < begin + 10 else "") for k in range(40)]
        (folder / f"{name}.csv").write_text(table("time,v_x_command,v_x_measured", *rows))
    assert main(["compare", "a.csv", "b.csv"]) == 2
    assert "'a.csv' and 'b.csv': the runs have fewer than 2 times of speed in common" in capsys.readouterr().err


def test_the_reason_for_a_missing_delay_is_given(folder, capsys):
    (folder / "replayed.csv").write_text(TABLE + ROW.format(0) + ROW.format(1) + ROW.format(2))
    for name, command in (("speed", "v_x"), ("angle", "steering")):
        rows = [(0.5 * k, k % 2, 1.0) for k in range(5)]
        (folder / f"{name}.csv").write_text(table(f"time,{command}_command,v_x_measured", *rows))
    assert main(["compare", "replayed.csv", "speed.csv"]) == 0
    assert "no delay is given: a table of vds-gz replay, as A, has no commands" in capsys.readouterr().out
    assert main(["compare", "speed.csv", "angle.csv"]) == 0
    assert "no delay is given: no quantity was commanded in both runs" in capsys.readouterr().out


TABLE = "time,x,y,heading,v_x,v_y,yaw_rate,drive_reference,drive_actual\n"
ROW = "{},0,0,0,1,0,0,1,1\n"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.csv", "", "the file is empty; needed are time and"),
        ("names.csv", TABLE, "rows with numbers must follow"),
        ("headless.csv", ROW.format(0) + ROW.format(1), "the first row has numbers"),
        ("other.csv", "time,note\n0,1\n", "no column with measurements; it has time,note"),
        ("short.csv", TABLE + ROW.format(0), "fewer than 2 samples"),
        ("word.csv", TABLE + ROW.format(0) + ROW.format("soon"), "line 3, column 'time': 'soon' must be"),
        ("ragged.csv", TABLE + ROW.format(0) + "1,2\n", "line 3: there are 2 values for 9 columns"),
        ("swapped.csv", TABLE + ROW.format(1) + ROW.format(0), "line 3: 'time' is 0 s, 1 s less"),
        ("binary.csv", "\xff\xfe\x00", "cannot be read as a table of text"),
        ("begun.mcap", "\x89MCAP0\r\n", "'begun.mcap' cannot be read"),
        ("empty.mcap", "", "'empty.mcap' cannot be read"),
        ("text.mcap", "no recording", "'text.mcap' cannot be read"),
        ("text.db3", "no recording", "'text.db3' cannot be read"),
    ],
)
def test_bad_files_are_explained_in_one_line(folder, capsys, name, content, said):
    (folder / name).write_text(content, encoding="latin-1")
    assert main(["compare", name, name]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("stamp", [0, 7])
def test_odometry_without_stamps_has_the_recorder_s_times(tmp_path, stamp):
    types, kind = MessageTypes(), "nav_msgs/msg/Odometry"
    message = types.new(kind)
    message.header.stamp.sec = stamp
    with Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        odom = writer.add_connection("/odom", kind, msgdef="", rihs01=types.hash(kind))
        for k in range(30):
            writer.write(odom, k * 20_000_000, bytes(types.codec(kind).encode(message)))
    if not stamp:
        assert read(tmp_path / "bag").motion.time == pytest.approx(0.02 * np.arange(30))
        return
    with pytest.raises(RecordingError, match=r"'/odom': all 30 messages are stamped 7 s; stamps must advance"):
        read(tmp_path / "bag")


def chunks(data):
    """Where the chunks of an MCAP file begin."""
    at = 8
    while at < len(data) - 8:
        opcode, length = struct.unpack_from("<BQ", data, at)
        if opcode == 6:
            yield at
        at += 9 + length


@pytest.mark.slow
def test_a_truncated_recording_is_read_up_to_its_end(folder, capsys):
    a = parameter_file(folder, "a")
    assert main(["profile", "slalom", "--speed", "2", "--steering", "0.3", "--duration", "60", "-o", "long.csv"]) == 0
    assert main(["replay", "long.csv", "--params", a, "-o", "run.mcap"]) == 0
    data = (folder / "run.mcap").read_bytes()
    (folder / "cut.mcap").write_bytes(data[: int(0.6 * len(data))])
    assert main(["compare", "cut.mcap", a]) == 0
    assert "finding: A: 'cut.mcap' is cut short" in capsys.readouterr().out
    assert all(one["peak"] < 1e-12 for one in report(folder)["differences"])
    _, second, *_ = chunks(data)
    (folder / "cut.mcap").write_bytes(data[: second + 20])  # latched messages are in the first chunk
    assert main(["compare", "cut.mcap", a]) == 2
    error = capsys.readouterr().err
    assert "no messages on 'ground_truth' or 'odom'" in error
    assert "its end is missing" in error


def test_gaps_are_noted(folder, capsys):
    rows = [(0.02 * k, 1.0, 1.0) for k in range(200)]
    (folder / "a.csv").write_text(table("time,v_x_command,v_x_measured", *rows))
    (folder / "gap.csv").write_text(table("time,v_x_command,v_x_measured", *rows[:50], *rows[150:]))
    assert main(["compare", "a.csv", "gap.csv"]) == 0
    assert "finding: B: gap.csv: there are no samples from 0.98 s to 3.00 s" in capsys.readouterr().out
    assert sum("no samples" in finding for finding in report(folder)["findings"]) == 1


# ---------------------------------------------------------------------- vehicles that run


@pytest.mark.graph
def test_running_vehicles_are_compared_with_each_other_and_with_a_model(folder, run, capsys):
    cars = [parameter_file(folder, "a"), parameter_file(folder, "b", dead_time=0.5)]
    for car, place in zip(cars, ("/robot", "/model"), strict=True):
        text = (folder / car).read_text().replace("sim_node:", "/**:")
        (folder / car).write_text(text)
        node = ["--ros-args", "--params-file", car, "-r", f"__ns:={place}", "-r", "ackermann_cmd:=/ackermann_cmd"]
        run("vds_gz.programs.nodes.sim_node", *node)
    run("vds_gz.cli.drive", "log.csv", "--loop")
    assert main(["compare", "live:/robot", "live:/model", "--duration", "5"]) == 0
    measured = {one["name"]: one for one in report(folder)["measured"]}["drive"]
    # A busy machine may deliver a command to one vehicle later than to the other.
    assert measured["b"]["dead_time"] - measured["a"]["dead_time"] == pytest.approx(0.3, abs=0.1)
    # Both have one clock, so they agree at all times, whenever the recording began.
    assert {one["name"]: one["rms"] for one in report(folder)["differences"]}["steering"] < 0.2
    recorded = str(folder / "compare" / "live.mcap")
    assert main(["compare", recorded, cars[0]]) == 2
    assert f"choose one of '{recorded}:/model', '{recorded}:/robot'" in capsys.readouterr().err
    assert len(read(recorded, "/robot").motion.time) > 100


def test_a_missing_vehicle_is_named(folder, domain, monkeypatch, capsys):
    monkeypatch.setattr("vds_gz.tools.study.compare.live.PATIENCE", 0.5)
    assert main(["compare", "live:/nobody", parameter_file(folder, "a")]) == 1
    assert "nothing came from the vehicle in namespace '/nobody'" in capsys.readouterr().err


@pytest.mark.gazebo
def test_gazebo_and_kinematics_are_alike(folder, domain):
    why = "gz is not in the PATH" if shutil.which("gz") is None else bindings_fault()
    if why:
        pytest.skip(f"no Gazebo here: {why}")
    assert main(["compare", "gazebo:ackermann_car", "kinematic:ackermann_car", "--log", "log.csv"]) == 0
    content = report(folder)
    assert {one["name"] for one in content["measured"]} == {"drive", "steering"}
    for one in content["measured"]:
        assert one["a"]["dead_time"] == pytest.approx(one["b"]["dead_time"], abs=0.01)
    speed = {one["name"]: one for one in content["differences"]}["speed"]
    assert speed["rms"] < 0.1
    assert abs(speed["delay"] or 0.0) < 0.02
    assert (folder / "compare" / "a" / "recording.mcap").stat().st_size > 10_000


def test_a_simulated_log_has_the_commanded_angles_of_both_axles():
    parameters = load_parameters("four_wheel_steering_robot")
    log = make("steps", limits_of(parameters), ackermann=True, both_axles=True, duration=5.0)
    commands = simulate(log, parameters).commands
    _, front, rear, *_ = np.array(log.commands).T
    assert commands.records["steering_angle"].tolist() == front.tolist()
    assert commands.records["rear_steering_angle"].tolist() == rear.tolist()
