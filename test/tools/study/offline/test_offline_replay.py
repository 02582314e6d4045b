"""A replay equals the live node to the last bit, in any output format."""

import csv
import dataclasses
import math
from collections import deque

import numpy as np
import pytest
from helpers.bag_files import raw_messages as messages

from vds_gz.cli import main
from vds_gz.core.configuration import load_parameters
from vds_gz.core.description.urdf_writer import urdf
from vds_gz.core.errors import RecordingError
from vds_gz.core.parameters.node import LocalizationParameters, NodeParameters
from vds_gz.core.parameters.vehicles import BicycleParameters, OmniParameters
from vds_gz.core.plant.in_world import plant_in_world
from vds_gz.core.ros.messages.message_types import open_types
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.vehicle import Vehicle
from vds_gz.core.world.load_world import load_world
from vds_gz.core.world.surroundings import Surroundings
from vds_gz.programs.commandlog import command_log
from vds_gz.programs.commandlog.command_log import CommandLog, write_csv
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.commands import Ackermann, Velocity
from vds_gz.tools.study.offline.offline_replay import BEGIN, Replay
from vds_gz.tools.study.offline.replay_bag import write_mcap
from vds_gz.tools.study.reading import recorded_run
from vds_gz.tools.study.report.run_figure import summarize

BICYCLE = NodeParameters(model="bicycle", model_params={"bicycle": BicycleParameters()})
OMNI = NodeParameters(model="omni", model_params={"omni": OmniParameters()}, simulate_localization=True)


def log_file(folder, kind="ackermann", seconds=12.0):
    """Commands at odd times, with a gap in which the last one times out."""
    times = [0.0313 * k for k in range(round(seconds / 0.0313)) if not 5.0 < 0.0313 * k < 7.0]
    if kind == "ackermann":
        commands = [Ackermann(1.0 + math.sin(t), 0.4 * math.cos(t), 0.7, 1.1) for t in times]
    else:
        commands = [Velocity(math.sin(t), 0.3 * math.cos(t), 0.2 * math.sin(2.0 * t)) for t in times]
    path = folder / f"{kind}.csv"
    write_csv(CommandLog(kind, tuple(times), tuple(commands)), path)
    return path


def samples(path, parameters, **options):
    return [
        sample for block in Replay(command_log.stream(path), parameters, **options).blocks() for sample in block.samples
    ]


@pytest.mark.parametrize(
    ("kind", "parameters"), [("ackermann", BICYCLE), pytest.param("twist", OMNI, marks=pytest.mark.slow)]
)
def test_compiled_and_interpreted_replays_are_equal(tmp_path, kind, parameters):
    path = log_file(tmp_path, kind)
    interpreted = samples(path, parameters, compiled=False)
    compiled = samples(path, parameters)
    assert len(compiled) > 600
    assert [sample.motion for sample in compiled] == [sample.motion for sample in interpreted]
    assert [tuple(sample.joints.positions) for sample in compiled] == [
        tuple(sample.joints.positions) for sample in interpreted
    ]
    assert [sample.estimate for sample in compiled] == [sample.estimate for sample in interpreted]


def test_a_replay_is_the_node_s_vehicle_with_the_same_command_times(tmp_path):
    log = command_log.read(log_file(tmp_path))
    vehicle = Vehicle(models()["bicycle"], BICYCLE.vehicle, start=BEGIN)
    entries = list(zip(log.times, log.commands, strict=True))
    for sample in samples(tmp_path / "ackermann.csv", BICYCLE):
        while entries and BEGIN + round(entries[0][0] * 1e9) <= sample.time:
            time, command = entries.pop(0)
            moment = BEGIN + round(time * 1e9)
            vehicle.advance(moment)
            single = Ackermann(*np.float32(command).tolist())
            vehicle.enter(single.command(), moment)
        vehicle.advance(sample.time)
        assert sample.motion == vehicle.motion()


def test_a_recording_is_reproducible_and_readable(tmp_path):
    path = str(log_file(tmp_path))
    first, second = tmp_path / "first.mcap", tmp_path / "second.mcap"
    for output in (first, second):
        assert main(["replay", path, "--preset", "ackermann_car", "-o", str(output)]) == 0
    assert first.read_bytes() == second.read_bytes()
    run = recorded_run.read(first)
    assert run.counts["/ackermann_cmd"] == len(command_log.read(path).times)
    assert run.counts["/odom"] == run.counts["/joint_states"] == run.counts["/tf"] == len(run.motion.time)
    assert {actuator.name for actuator in run.actuators} == {"drive", "steering"}
    log = command_log.read(first)
    assert log.kind == "ackermann"
    assert log.times == pytest.approx(command_log.read(path).times, abs=1e-9)


def test_a_replay_of_a_replay_is_equal(tmp_path):
    path, first, second = str(log_file(tmp_path)), str(tmp_path / "1.mcap"), str(tmp_path / "2.csv")
    direct = str(tmp_path / "direct.csv")
    assert main(["replay", path, "--preset", "ackermann_car", "-o", first]) == 0
    assert main(["replay", first, "--preset", "ackermann_car", "-o", second]) == 0
    assert main(["replay", path, "--preset", "ackermann_car", "-o", direct]) == 0
    with open(second) as one, open(direct) as other:
        assert list(csv.reader(one)) == list(csv.reader(other))


def test_the_table_has_the_numbers_of_the_samples(tmp_path):
    path, output = log_file(tmp_path), tmp_path / "table.csv"
    assert main(["replay", str(path), "--preset", "ackermann_car", "--rate", "10", "-o", str(output)]) == 0
    rows = list(csv.DictReader(output.open()))
    assert float(rows[1]["time"]) == pytest.approx(0.1)
    assert {"x", "v_x", "drive_reference", "steering_actual"} <= rows[0].keys()


# ---------------------------------------------------------------------- in a world


def crash(folder):
    """A parameter file, and a log that drives into a wall, pushes on, and drives back."""
    wall = "<box><size>1 20 2</size></box>"
    link = f"<link name='link'><collision name='c'><geometry>{wall}</geometry></collision></link>"
    model = f"<model name='wall'><static>true</static><pose>6 0 1 0 0 0.1</pose>{link}</model>"
    ground = "<collision name='c'><geometry><plane><normal>0 0 1</normal></plane></geometry></collision>"
    plane = f"<model name='ground'><static>true</static><link name='link'>{ground}</link></model>"
    (folder / "wall.sdf").write_text(f"<sdf version='1.10'><world name='w'>{plane}{model}</world></sdf>")
    (folder / "car.yaml").write_text(
        f"/**: {{ros__parameters: {{model: bicycle, world: {folder / 'wall.sdf'}, step_rate: 500.0}}}}"
    )
    times = [0.05 * k for k in range(140)]
    commands = [Ackermann(2.0 if t < 4.0 else -2.0, 0.3 * math.sin(t), 0.0, 0.0) for t in times]
    write_csv(CommandLog("ackermann", tuple(times), tuple(commands)), folder / "log.csv")
    return folder / "car.yaml", folder / "log.csv"


@pytest.mark.parametrize("period", [7_000_000, 20_000_000])
def test_a_crash_is_that_of_the_node_to_the_last_bit(tmp_path, period):
    """The plant of the node is advanced to any instants, with the same commands at the same times."""
    file, path = crash(tmp_path)
    parameters, log = load_parameters(file), command_log.read(path)
    description = urdf("bicycle", parameters.vehicle)
    surroundings = Surroundings(load_world(parameters.world).interpreted())
    plant = plant_in_world(parameters, description, surroundings, start=BEGIN, felt=True)
    commands = deque(zip(log.times, log.commands, strict=True))
    replayed = {sample.time: sample.motion for sample in samples(path, parameters)}
    now, compared = BEGIN, 0
    while now < BEGIN + 7_000_000_000:
        while commands and BEGIN + round(commands[0][0] * 1e9) <= now + period:
            moment, command = commands.popleft()
            plant.vehicle.enter(log.type.as_sent(command).command(), BEGIN + round(moment * 1e9))
        now += period
        plant.advance(now)
        if now in replayed:
            assert plant.motion(now) == replayed[now]
            compared += 1
    assert compared >= 50


def test_a_recorded_crash_is_reproduced_and_printed(tmp_path, capsys):
    """From table to recording, and from the recording again; comparing it with its model finds no difference."""
    file, path = crash(tmp_path)
    first, second = tmp_path / "first.mcap", tmp_path / "second.mcap"
    for log, output in ((path, first), (first, second)):
        assert main(["replay", str(log), "--params", str(file), "-o", str(output)]) == 0
    run, again = recorded_run.read(first), recorded_run.read(second)
    for name in ("x", "y", "heading", "v_x", "yaw_rate"):
        assert np.array_equal(getattr(run.motion, name), getattr(again.motion, name))
    (touch,) = run.touches
    assert touch.thing == "wall"
    assert touch.begin == pytest.approx(2.2, abs=0.5)
    assert 5.3 < touch.x < 5.7
    standing = (run.motion.time > touch.begin) & (run.motion.time < touch.end)
    assert not run.motion.v_x[standing].any()
    assert touch.end == pytest.approx(4.2, abs=0.2)
    assert all(row.reached is None or row.reached < 2.5 for row in summarize(run, load_parameters(file).vehicle))
    assert f"touched wall at {touch.begin:.2f} s" in capsys.readouterr().out
    assert main(["compare", str(first), str(file), "-o", str(tmp_path / "compare")]) == 0
    said = capsys.readouterr().out
    assert "The runs are identical." in said
    assert f"finding: B: {touch}" in said


def test_a_replay_climbs_the_hill_of_its_world(tmp_path):
    (tmp_path / "log.csv").write_text("time,speed,steering_angle\n" + "".join(f"{0.5 * k},3,0\n" for k in range(20)))
    (tmp_path / "car.yaml").write_text("/**: {ros__parameters: {model: bicycle, world: outdoor}}")
    output = tmp_path / "out.mcap"
    arguments = ["replay", str(tmp_path / "log.csv"), "--params", str(tmp_path / "car.yaml"), "-o", str(output)]
    assert main(arguments) == 0
    codec = open_types().codec(topics.ODOM.type)
    poses = [codec.decode(bytearray(data)).pose.pose for data in messages(output)["/ground_truth"]]
    last = poses[-1]
    assert last.position.x > 15.0
    assert last.position.z == pytest.approx(math.tan(math.radians(6.0)) * (last.position.x - 10.0), abs=0.01)
    assert last.orientation.y == pytest.approx(-math.sin(math.radians(3.0)), abs=1e-3)


@pytest.mark.parametrize("drifts", [False, True])
@pytest.mark.parametrize("style", ["continuous", "external"])
def test_a_recording_has_no_map_to_odom_if_another_node_localizes(tmp_path, style, drifts):
    localization = LocalizationParameters(style=style)
    parameters = dataclasses.replace(BICYCLE, simulate_localization=drifts, localization=localization)
    replay = Replay(command_log.stream(log_file(tmp_path, seconds=1.0)), parameters, compiled=False)
    write_mcap(replay, tmp_path / "out.mcap", parameters, lambda amount: None)
    codec, result = open_types().codec(topics.TF.type), messages(tmp_path / "out.mcap")
    children = {
        transform.child_frame_id
        for topic in ("/tf", "/tf_static")
        for data in result.get(topic, ())
        for transform in codec.decode(bytearray(data)).transforms
    }
    assert children == ({"base_link"} if style == "external" else {"odom", "base_link"})


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        ("", [], "the file is empty"),
        ("time,speed,steering_angle\n0,1,nan\n", [], "'steering_angle' is nan"),
        ("time,speed,steering_angle\n0,1e9,0\n", [], "must be a finite number within"),
        ("time,speed,steering_angle\n1,1,0\n0,1,0\n", [], "time must not decrease"),
        ("time,speed,steering_angle\n0,1,0\n", ["-o", "x.txt"], "must end in .mcap or .csv"),
        ("time,speed,steering_angle\n0,1,0\n", ["--preset", "indoor_robot"], "does not take commands"),
    ],
)
def test_errors_are_one_line(tmp_path, monkeypatch, capsys, text, arguments, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(text)
    preset = [] if "--preset" in arguments else ["--preset", "ackermann_car"]
    assert main(["replay", "log.csv", *preset, *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["log.csv"]


def test_a_model_refuses_commands_that_it_does_not_take(tmp_path):
    with pytest.raises(RecordingError, match="does not take"):
        Replay(command_log.stream(log_file(tmp_path)), OMNI)
