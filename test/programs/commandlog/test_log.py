"""Command logs: they are read as they were written, and every defect has one clear message."""

import gzip
from pathlib import Path

import pytest
from helpers.bag_files import SUFFIXES, write_bag
from helpers.guest import needs_autoware
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.errors import RecordingError
from vds_gz.core.ros.messages.message_types import open_types
from vds_gz.core.share import share
from vds_gz.programs.commandlog.command_log import CommandLog, drive_names, read, write_csv
from vds_gz.programs.interface.commands import Ackermann, Velocity

ACKERMANN = "ackermann_msgs/msg/AckermannDriveStamped"
TWIST = "geometry_msgs/msg/Twist"
TWIST_STAMPED = "geometry_msgs/msg/TwistStamped"

finite = st.floats(allow_nan=False, allow_infinity=False)
times = st.lists(st.floats(0.0, 1e5), min_size=1, max_size=20).map(sorted)


@st.composite
def logs(draw):
    moments = draw(times)
    begin = moments[0]
    kind, command, width = draw(st.sampled_from([("twist", Velocity, 3), ("ackermann", Ackermann, 4)]))
    values = draw(st.lists(st.tuples(*[finite] * width), min_size=len(moments), max_size=len(moments)))
    return CommandLog(kind, tuple(time - begin for time in moments), tuple(command(*row) for row in values))


@given(log=logs())
def test_csv_written_is_csv_read(log, tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.csv"
    write_csv(log, path)
    assert read(path) == log


def csv(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_are_known_by_name(tmp_path):
    log = read(csv(tmp_path, '# hello\n\n"yaw_rate", time ,v_y,v_x\n0.3,5,0.2,0.1\n  # half way\n0.6,5.5,0.5,0.4\n'))
    assert log == CommandLog("twist", (0.0, 0.5), (Velocity(0.1, 0.2, 0.3), Velocity(0.4, 0.5, 0.6)))
    assert log.duration == 0.5


def test_optional_columns_may_be_left_out(tmp_path):
    assert read(csv(tmp_path, "time,speed,steering_angle\n0,1,0.1\n")).commands == (Ackermann(1.0, 0.1, 0.0, 0.0),)
    log = read(csv(tmp_path, "time,speed,acceleration,steering_angle\n0,1,2,0.1\n"))
    assert log.commands == (Ackermann(1.0, 0.1, 0.0, 2.0),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ["is empty", "time,v_x,v_y,yaw_rate"]),
        ("# only a comment\n", ["is empty"]),
        ("time,speed,steering_angle\n", ["only the names"]),
        ("0,1,2\n", ["line 1", "must have the names of the columns"]),
        ("time,speed\n0,1\n", ["line 1", "no column 'steering_angle'"]),
        ("speed,steering_angle\n1,2\n", ["no column 'time'"]),
        ("time,v_x,yaw_rate\n0,1,2\n", ["no column 'v_y'"]),
        ("time\n0\n", ["no column 'v_x'"]),
        ("# c\ntime,speed,steering\n0,1,2\n", ["line 2", "column 3 is 'steering'", "steering_angle"]),
        ("time,v_x,v_y,yaw_rate,speed\n0,1,2,3,4\n", ["'speed' does not go with 'v_x'"]),
        ("time,speed,steering_angle,time\n0,1,2,3\n", ["'time' is there twice"]),
        ("time,speed,steering_angle\n0,1,0\n1,2\n", ["line 3", "2 values for 3 columns"]),
        ("time,speed,steering_angle\n0,1,left\n", ["line 2", "'steering_angle'", "'left' must be a number"]),
        ("time,x,drive_reference,v_x\n0,0,,0\n", ["rows with commands must follow"]),
        ("time,v_x_command\n0,1\n2e6,1\n", ["line 3", "2e+06 s after the first row", "100000 s. Is it in ms"]),
        ("time,v_x_command\n1e300,1\n", ["line 2", "'time' is 1e+300", "at most 1e+11"]),
        ("time,v_x_command\n,1\n", ["line 2", "'time' is empty"]),
        pytest.param(
            "time,accel_cmd,brake_cmd,gear\n0,0,0,1.5\n",
            ["line 2", "1.5 must be a whole number"],
            marks=needs_autoware,
        ),
        ("time,speed,steering_angle\n0,nan,0\n", ["line 2", "'speed' is nan", "finite"]),
        ("time,speed,steering_angle\n0,1,-inf\n", ["line 2", "'steering_angle' is -inf"]),
        (
            "time,speed,steering_angle\n0,1,0\n\n2,1,0\n1,1,0\n",
            ["line 5", "'time' is 1 s, 1 s less", "must not decrease"],
        ),
        # Speed and time swapped: a speed comes back to zero, a time does not.
        ("speed,time,steering_angle\n0,0,0\n1,2,0\n2,0,0\n", ["line 4", "another column in its place"]),
    ],
)
def test_a_defect_of_a_csv_file_is_named(tmp_path, text, said):
    path = csv(tmp_path, text)
    with pytest.raises(RecordingError) as error:
        read(path)
    for part in [str(path), *said]:
        assert part in str(error.value)


@pytest.mark.parametrize(
    ("text", "kind", "times", "commands"),
    [
        (
            "time,v_x_command,yaw_rate_command,x\n3,,,1\n4,1,0.5,\n4.5,,,2\n5,2,,\n",
            "twist",
            (0.0, 1.0),
            ((1.0, 0.0, 0.5), (2.0, 0.0, 0.5)),
        ),
        (
            "time,v_x,steering_command,speed_command,acceleration_limit\n0,9,0.1,,\n1,9,,2,3\n",
            "ackermann",
            (0.0, 1.0),
            ((0.0, 0.1, 0.0, 0.0), (2.0, 0.1, 0.0, 3.0)),
        ),
        pytest.param(
            "time,steering_command,v_x_command,acceleration_command,gear,v_x\n0,0.1,1,2,2,9\n1,,,,20,9\n2,,3,,20,9\n",
            "control",
            (0.0, 0.0, 1.0, 2.0),
            ((2,), (1.0, 2.0, 0.1), (20,), (3.0, 2.0, 0.1)),
            marks=needs_autoware,
        ),
        pytest.param(
            "time,throttle,brake_cmd,wheel,v_x\n0,0.5,0,0.1,7\n",
            "pedals",
            (0.0,),
            ((0.5, 0.0, 0.1),),
            marks=needs_autoware,
        ),
        pytest.param(
            "time,accel,brake,steering_command,v_x\n0,0.5,0,0.1,7\n",
            "pedals",
            (0.0,),
            ((0.5, 0.0, 0.1),),
            marks=needs_autoware,
        ),
        ("time,v_x_command,steering_command,wheel\n0,1,0.1,2\n", "ackermann", (0.0,), ((1.0, 0.1, 0.0, 0.0),)),
        ("time,speed,steering_angle\n0,1,\n1,,0.2\n", "ackermann", (0.0, 1.0), ((1, 0, 0, 0), (1, 0.2, 0, 0))),
        (
            "time,speed_command,steering_command,rear_steering_command,x\n0,1,0.1,-0.2,\n1,,,0.2,5\n",
            "four_wheel_steering",
            (0.0, 1.0),
            ((1.0, 0.1, -0.2, 0.0, 0.0, 0.0), (1.0, 0.1, 0.2, 0.0, 0.0, 0.0)),
        ),
        (
            "time,speed,front_steering_angle,rear_steering_angle,acceleration\n0,1,0.1,-0.2,3\n",
            "four_wheel_steering",
            (0.0,),
            ((1.0, 0.1, -0.2, 0.0, 0.0, 3.0),),
        ),
    ],
)
def test_the_commands_of_a_recording_hold_until_they_change(tmp_path, text, kind, times, commands):
    log = read(csv(tmp_path, text))
    assert (log.kind, log.times) == (kind, times)
    assert tuple(map(tuple, log.commands)) == commands


@pytest.mark.parametrize(
    ("columns", "unused"),
    [
        ("v_x_command,yaw_rate_command,gear_command,acceleration_command,v_x", "acceleration_command, gear_command"),
        ("v_x_command,steering_command,v_y_command,wheel", "v_y_command, wheel"),
        pytest.param(
            "v_x_command,acceleration_command,gear_command,steering_command,steering", "", marks=needs_autoware
        ),
        pytest.param("accel,brake,steering_command,v_x", "", marks=needs_autoware),
        ("speed,steering_angle,acceleration", ""),
    ],
)
def test_commands_that_are_left_out_are_named(tmp_path, columns, unused):
    findings = read(csv(tmp_path, f"time,{columns}\n0{',1' * len(columns.split(','))}\n")).findings
    assert [finding.partition(", without ")[2] for finding in findings] == ([unused] if unused else [])


def test_a_compressed_table_is_read(tmp_path):
    path = tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress(b"time,v_x_command\n0,1\n1,2\n"))
    assert read(path).commands == (Velocity(1.0, 0.0, 0.0), Velocity(2.0, 0.0, 0.0))


def test_what_is_no_log_is_refused(tmp_path):
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"time,v_x_command\n0,1\n1,2\n")[:-12])
    (tmp_path / "log.csv").write_bytes(b"\xff\xfe\x00\x80")
    (tmp_path / "drive.csv").write_text("time,speed,steering_angle\n0,1,0\n")
    for name, topic, said in (
        ("cut.csv.gz", None, "cannot be read as a table of text"),
        ("log.csv", None, "cannot be read as a table of text"),
        ("nowhere.csv", None, r"nowhere\.csv' does not exist"),
        ("drive.csv", "/cmd", "has no topics"),
        (".", None, "cannot be read"),
    ):
        with pytest.raises(RecordingError, match=said):
            read(tmp_path / name, topic)


@pytest.mark.parametrize("name", drive_names())
def test_the_logs_of_the_package(name, tmp_path, monkeypatch):
    """They are known by their names in every folder; a file of that name comes first."""
    monkeypatch.chdir(tmp_path)
    log = read(name)
    assert log == read(share("config", "drives", f"{name}.csv"))
    assert log.duration == 20.0
    assert len(log.times) == 401
    assert all(abs(command[0]) <= 2.0 for command in log.commands)
    assert any(command[0] < -0.2 for command in log.commands), "it reverses"
    assert not any((*log.commands[0], *log.commands[-1])), "it begins and ends at rest"
    if log.kind == "ackermann":
        assert all(abs(command.steering_angle) <= 0.5 for command in log.commands)
    Path(name).write_text("time,speed,steering_angle\n0,1,0\n1,0,0\n")
    assert read(name).duration == 1.0


# ---------------------------------------------------------------------- bags

Messages = list[tuple[str, str, float, tuple[float, float, float]]]


def bag(folder: Path, messages: Messages, plugin: str = "mcap", empty: tuple[tuple[str, str], ...] = ()) -> Path:
    """A rosbag2 folder of (topic, type, time [s], values)."""
    types, path = open_types(), folder / f"bag_{plugin}"
    topics = dict([*((topic, kind) for topic, kind, _, _ in messages), *empty])
    rows = [
        (topic, round((1000.0 + time) * 1e9), filled(types.new(kind), kind, values))
        for topic, kind, time, values in messages
    ]
    write_bag(path, plugin, topics, rows)
    return path


def filled(message, kind, values):
    if kind == ACKERMANN:
        message.drive.speed, message.drive.steering_angle, message.drive.acceleration = values
    elif kind in (TWIST, TWIST_STAMPED):
        twist = message if kind == TWIST else message.twist
        twist.linear.x, twist.linear.y, twist.angular.z = values
    return message


DRIVE: Messages = [("/car/cmd", ACKERMANN, 0.0, (0.5, 0.25, 2.0)), ("/car/cmd", ACKERMANN, 0.5, (1.0, 0.0, 0.0))]
OTHERS_DRIVE: Messages = [("/truck/cmd", ACKERMANN, 0.1, (2.0, 0.0, 0.0))]
WALK: Messages = [("/cmd_vel", TWIST, 0.0, (0.5, 0.1, 0.2)), ("/cmd_vel", TWIST, 0.25, (0.0, 0.0, 0.0))]
OTHER: Messages = [("/clock", "rosgraph_msgs/msg/Clock", 0.1, (0.0, 0.0, 0.0))]
ACTUAL: Messages = [("/twist_actual", TWIST_STAMPED, 0.2, (1.0, 0.0, 0.0))]


@pytest.mark.parametrize("plugin", ["mcap", "sqlite3"])
@pytest.mark.parametrize("whole_folder", [True, False])
def test_a_bag_is_read(tmp_path, plugin, whole_folder):
    path = bag(tmp_path, [*OTHER, *ACTUAL, *DRIVE], plugin, empty=(("/cmd_vel", TWIST),))
    log = read(path if whole_folder else next(path.glob(f"*{SUFFIXES[plugin]}")))
    assert log == CommandLog("ackermann", (0.0, 0.5), (Ackermann(0.5, 0.25, 0.0, 2.0), Ackermann(1.0, 0.0)))


def test_velocities_are_read_from_a_bag(tmp_path):
    assert read(bag(tmp_path, WALK)) == CommandLog("twist", (0.0, 0.25), (Velocity(0.5, 0.1, 0.2), Velocity(0, 0, 0)))
    assert read(bag(tmp_path, ACTUAL, "sqlite3"), "/twist_actual").kind == "twist_stamped"


def test_one_of_several_topics_is_chosen(tmp_path):
    path = bag(tmp_path, [*DRIVE, *WALK, *OTHERS_DRIVE])
    assert read(path).kind == "twist", "cmd_vel is a usual name"
    assert read(path, "cmd_vel").kind == "twist"
    assert read(path, "/car/cmd").kind == "ackermann"


def test_several_topics_without_a_usual_name_are_listed(tmp_path):
    with pytest.raises(RecordingError) as error:
        read(bag(tmp_path, [*DRIVE, *OTHERS_DRIVE]))
    for part in ("several topics", f"/car/cmd ({ACKERMANN}, 2)", f"/truck/cmd ({ACKERMANN}, 1)", "--topic"):
        assert part in str(error.value)


def test_a_bag_without_commands_is_refused(tmp_path):
    path = bag(tmp_path, [*OTHER, *ACTUAL], empty=(("/cmd_vel", TWIST),))
    for topic, said in (
        (None, r"no topic with commands was recognised.*/clock \(rosgraph_msgs/msg/Clock, 1\)"),
        ("nothing", "no messages on '/nothing'"),
        ("/clock", "'/clock' is rosgraph_msgs/msg/Clock; commands must be"),
        ("/cmd_vel", "no messages on '/cmd_vel'"),
    ):
        with pytest.raises(RecordingError, match=said):
            read(path, topic)


def test_nan_in_a_bag_is_refused(tmp_path):
    path = bag(tmp_path, [*WALK, ("/cmd_vel", TWIST, 1.0, (0.0, float("nan"), 0.0))])
    with pytest.raises(RecordingError, match="'/cmd_vel', message 3: 'v_y' is nan"):
        read(path)


def long_bag(tmp_path, plugin):
    rows = [(*DRIVE[1][:2], 1 + i, (float(i), 0.1, 0.2)) for i in range(20000)]
    return next(bag(tmp_path, rows, plugin).glob("bag*"))


@pytest.mark.parametrize("part", [0.0, 0.3, 0.9])
def test_a_database_cut_short_is_refused(tmp_path, part):
    file = long_bag(tmp_path, "sqlite3")
    data = file.read_bytes()
    file.write_bytes(data[: int(part * len(data))])
    with pytest.raises(RecordingError, match=r"cannot be read.*complete"):
        read(file)


def test_an_mcap_file_cut_short_is_read_as_far_as_it_goes(tmp_path):
    file = long_bag(tmp_path, "mcap")
    whole, data = read(file), file.read_bytes()
    assert not whole.findings
    file.write_bytes(data[: int(0.7 * len(data))])
    rest = read(file)
    assert 1000 < len(rest.times) < len(whole.times)
    assert rest.commands == whole.commands[: len(rest.commands)]
    assert "is cut short" in rest.findings[0]
    for content in (b"", data[:20], data[:2000], b"no bag at all"):
        file.write_bytes(content)
        with pytest.raises(RecordingError, match=r"cannot be read.*complete"):
            read(file)
