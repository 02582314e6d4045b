"""The table of command types: it fits the messages, and a further type needs only an entry in it."""

import dataclasses
import math
import os
import shutil
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
from helpers.bag_files import write_bag
from helpers.guest import HERE

import vds_gz
from vds_gz.cli import main
from vds_gz.core.errors import ArgumentError, UnknownTypeError
from vds_gz.core.parameters.teleop import OUTPUTS
from vds_gz.core.ros.messages.message_types import open_types
from vds_gz.core.vehicle.command import GEAR, SteadyMotion, reference_of
from vds_gz.programs.commandlog.command_log import CommandLog, read, write_csv
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.commands import Velocity, command_type, command_types, vehicle_topics, whole_types
from vds_gz.programs.teleop.driver_commands import COMBINED
from vds_gz.tools.study.reading import recorded_run

TYPES = open_types()
EVERY = command_types()


def message_of(kind):
    try:
        return TYPES.new(kind.topic.type)
    except UnknownTypeError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.name)
def test_values_written_into_a_message_are_read_from_its_bytes(kind):
    message, codec = message_of(kind), TYPES.codec(kind.topic.type)
    values = kind.values(*((2,) if kind.kind == GEAR else (0.1 * (k + 1) for k in range(len(kind.fields)))))
    kind.encode(message, values, 12_000_000_034)
    received = codec.decode(bytearray(codec.encode(message)))
    assert kind.decode(received) == kind.as_sent(values)
    assert (kind.as_sent(values) == values) is not kind.single
    assert kind.stamp_of(received) == (12_000_000_034 if kind.stamp else 0)
    assert bool(kind.stamp) == (hasattr(message, "header") or hasattr(message, "stamp"))


def test_names_are_unique_and_so_are_topics_but_for_the_variants_of_a_type():
    assert len({command.name for command in EVERY}) == len(EVERY)
    taken = [
        (command.topic.name, variant)
        for command in EVERY
        for variant in ([command.variant] if command.variant else ["a", "b"])
    ]
    assert len(set(taken)) == len(taken)


def test_joystick_and_keys_send_what_a_command_type_takes_of_a_motion():
    demand = SteadyMotion(1.0, 0.5, 0.3, 0.2)
    for output in OUTPUTS:
        for name in COMBINED.get(output, (output,)):
            sent_as = command_type(name)
            numbers = {field: getattr(demand, field) for field in sent_as.kind.references}
            sent = reference_of(sent_as.values(*numbers.values()).command())
            assert {field: value for field, value in sent._asdict().items() if math.isfinite(value)} == numbers


def test_the_reference_of_a_command_is_what_its_columns_say():
    def reference(name, *numbers):
        return reference_of(command_type(name).values(*numbers).command())

    assert reference("ackermann", 1.5, 0.2)[::3] == (1.5, 0.2)
    assert reference("twist", 1.0, 0.5, 0.2)[:3] == (1.0, 0.5, 0.2)
    if HERE:
        assert reference("control", 1.0, 0.5, 0.2)[::3] == (1.0, 0.2)
        assert all(map(math.isnan, reference("pedals", 1.0, 0.0, 0.2)))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"fields": ("linear.x", "linear.y", "angular.w")},
            "'twist': a geometry_msgs/msg/Twist has no field 'angular.w'",
        ),
        ({"stamp": "header.stamp"}, "'twist': a geometry_msgs/msg/Twist has no field 'header.stamp'"),
        ({"fields": ("linear.x",)}, "'twist' has the fields linear.x; .* one for each of v_x, v_y, yaw_rate"),
    ],
)
def test_fields_that_do_not_fit_are_named(wrong, said):
    with pytest.raises(ArgumentError, match=said):
        dataclasses.replace(command_type("twist"), **wrong).check_fields(TYPES.new("geometry_msgs/msg/Twist"))


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.name)
def test_a_number_that_no_vehicle_takes_is_named_as_in_its_message(kind):
    for path in kind.fields:
        message = message_of(kind)
        kind.encode(message, kind.values(*(0 for _ in kind.fields)), 0)
        assert kind.fault(message) == ""
        parent, _, name = path.rpartition(".")
        for bad in (99,) if kind.kind == GEAR else (math.nan, -math.inf, 1.1e6):
            setattr(attrgetter(parent)(message) if parent else message, name, bad)
            assert kind.fault(message).startswith(f"{path} is {bad}" if kind.kind == GEAR else f"{path} is {bad:g}; it")


# ---------------------------------------------------------------------- a type of another package

#: A radio control that sends speed and curvature.
RADIO = Path(vds_gz.__file__).parents[1] / "examples" / "own_command.py"

LINES = ["time,speed,curvature", *(f"{0.05 * k!r},{0.4 + 0.01 * k!r},{0.5 * math.sin(0.1 * k)!r}" for k in range(60))]


def install(folder, entry_points):
    """Install a package into the folder as pip does."""
    if not RADIO.is_file():
        pytest.skip("this is an installation, not a checkout")
    shutil.copy(RADIO, folder / "radio.py")
    info = folder / "radio-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: radio\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[vds_gz.commands]\n{entry_points}\n")


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder for packages, which this process and its children search; it is not the working directory."""
    folder = tmp_path / "site"
    folder.mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
    return folder


@pytest.fixture
def log(site):
    """A table of commands of the added type."""
    install(site, "curvature = radio:CURVATURE")
    path = site.parent / "work" / "log.csv"
    path.write_text("\n".join(LINES) + "\n")
    return path


def test_an_added_type_is_in_the_table_and_among_the_topics(log):
    curvature = command_type("curvature")
    assert command_types() == (*EVERY, curvature)
    assert curvature in whole_types()
    assert curvature.topic in vehicle_topics()


def test_an_added_type_is_read_from_a_table_and_written_to_one(log, tmp_path):
    result = read(log)
    assert (result.kind, len(result.times)) == ("curvature", 60)
    assert result.commands[10] == pytest.approx((0.5, 0.5 * math.sin(1.0)))
    write_csv(result, tmp_path / "again.csv")
    assert read(tmp_path / "again.csv") == result


def test_an_added_type_is_read_from_a_bag(log, tmp_path):
    curvature, table = command_type("curvature"), read(log)
    rows = []
    for time, values in zip(table.times, table.commands, strict=True):
        message = TYPES.new(curvature.topic.type)
        curvature.encode(message, values, 0)
        rows.append(("/curvature_cmd", round((100.0 + time) * 1e9), message))
    write_bag(tmp_path / "bag", "mcap", {"/curvature_cmd": curvature.topic.type}, rows)
    result = read(tmp_path / "bag")
    assert (result.kind, result.commands) == ("curvature", table.commands)


def test_an_added_type_is_replayed_as_its_velocities(log):
    original = read(log)
    twists = tuple(Velocity(command.speed, 0.0, command.speed * command.curvature) for command in original.commands)
    write_csv(CommandLog("twist", original.times, twists), "twists.csv")
    for name in ("log", "twists"):
        assert main(["replay", f"{name}.csv", "--preset", "indoor_robot", "-o", f"{name}.mcap"]) == 0
    run, same = recorded_run.read("log.mcap"), recorded_run.read("twists.mcap")
    assert np.array_equal(run.motion.yaw_rate, same.motion.yaw_rate)
    assert np.ptp(run.motion.yaw_rate) > 0.1
    assert np.array_equal(run.references.yaw_rate, same.references.yaw_rate)
    assert (run.command_topics, read("log.mcap").commands) == (("/curvature_cmd",), original.commands)


def test_an_added_type_drives_a_running_vehicle(log, start, run, probe):
    start("-p", "model:=differential")
    probe.listen(topics.TWIST_ACTUAL)
    driver = run("vds_gz.cli.drive", "log.csv", "--loop")

    def drives():
        seen = [message.twist for message in probe.received[topics.TWIST_ACTUAL.name]]
        return any(twist.linear.x > 0.7 for twist in seen) and any(twist.angular.z > 0.2 for twist in seen)

    probe.until(drives, "a drive")
    assert "60 commands, 3.0 s, to '/curvature_cmd'" in driver.output


def test_a_node_does_not_start_with_a_wrong_field(site):
    install(site, "radio = radio:CURVATURE")
    (site / "radio.py").write_text((site / "radio.py").read_text().replace("point.y", "point.k"))
    command = [sys.executable, "-m", "vds_gz.cli", "node", "--ros-args", "-p", "model:=differential"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "command type 'curvature': a geometry_msgs/msg/PointStamped has no field 'point.k'" in done.stderr


@pytest.mark.parametrize(
    ("offered", "said"),
    [
        ("odd = radio:Curvature", "entry point 'odd' of vds_gz.commands is .*; it must be a CommandType"),
        ("one = radio:CURVATURE\ntwo = radio:CURVATURE", "'two' .*: there is a command type 'curvature' .* already"),
    ],
)
def test_an_entry_point_of_another_type_or_with_a_taken_name_is_refused(site, offered, said):
    install(site, offered)
    with pytest.raises(ValueError, match=said):
        command_types()
