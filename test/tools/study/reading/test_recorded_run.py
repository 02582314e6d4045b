"""A run is read from any bag or table that identify takes, with the vehicle's times."""

import gzip

import numpy as np
import pytest
from helpers.bag_files import write_bag

from vds_gz.cli import main
from vds_gz.core.errors import RecordingError, VdsGzError
from vds_gz.core.ros.messages.message_types import open_types
from vds_gz.tools.study.compare.alignment import align
from vds_gz.tools.study.reading.bag import read_signals
from vds_gz.tools.study.reading.recorded_run import read


def rows(time, *columns):
    return "".join(",".join(map(repr, map(float, row))) + "\n" for row in zip(time, *columns, strict=True))


def test_a_table_for_identify_is_read_by_compare_and_replay(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    time = 0.02 * np.arange(1500)
    speed = np.interp(time, np.arange(31.0), np.random.default_rng(0).uniform(0.0, 1.0, 31)).round(3)
    late = np.interp(time - 0.2, time, speed)
    head = "time,v_x_command,yaw_rate_command,v_x_measured\n"
    (tmp_path / "a.csv").write_text(head + rows(time, speed, 0.0 * time, speed))
    cells = "".join(f"{t + 5.0},{v},0,\n{t + 5.001},,,{m}\n" for t, v, m in zip(time, speed, late, strict=True))
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress((head + cells).encode()))
    assert main(["compare", "a.csv", "b.csv.gz"]) == 0
    said = capsys.readouterr().out
    assert "B against A: speed 20" in said
    assert "NaN" not in said, "an empty cell is no remark"
    assert main(["replay", "b.csv.gz", "--preset", "indoor_robot", "-o", "model.csv"]) == 0
    assert main(["compare", "b.csv.gz", "indoor_robot"]) == 0


@pytest.mark.parametrize(("begin", "end"), [(0.0, 30.0), (7.0, 30.0), (0.0, 21.0), (4.0, 26.0)])
def test_runs_are_aligned_by_their_commands_wherever_they_begin(tmp_path, begin, end):
    time = 0.05 * np.arange(600)
    speed = np.repeat(np.random.default_rng(1).uniform(0.0, 1.0, 30), 20)
    part = (time >= begin) & (time < end)
    head = "time,v_x_command,v_x_measured\n"
    for name, at, chosen in (("a", time, time >= 0.0), ("b", time + 100.0, part)):
        (tmp_path / f"{name}.csv").write_text(head + rows(at[chosen], speed[chosen], speed[chosen]))
    result = align(read(tmp_path / "a.csv"), read(tmp_path / "b.csv"))
    assert not result.doubt
    a, b = (read(tmp_path / f"{name}.csv").motion.time[0] for name in "ab")
    assert (result.b - result.a) == pytest.approx(100.0, abs=1e-6)
    assert (a, b) == (0.0, 100.0 + begin)


@pytest.mark.parametrize("seed", range(3))
def test_different_commands_are_not_aligned(tmp_path, seed):
    time = 0.05 * np.arange(600)
    for name, k in (("a", 0), ("b", 1)):
        speed = np.repeat(np.random.default_rng(2 * seed + k).uniform(0.0, 1.0, 30), 20)
        (tmp_path / f"{name}.csv").write_text("time,v_x_command,v_x\n" + rows(time, speed, speed))
    assert "differ" in align(read(tmp_path / "a.csv"), read(tmp_path / "b.csv")).doubt


def test_velocities_follow_from_a_pose_if_nothing_else_was_measured(tmp_path):
    time = 0.02 * np.arange(500)
    heading = 0.5 * time
    head = "time,v_x_command,x,y,heading\n"
    (tmp_path / "a.csv").write_text(
        head + rows(time, 0.0 * time, 2.0 * np.sin(heading), -2.0 * np.cos(heading), heading)
    )
    motion = read(tmp_path / "a.csv").motion
    assert motion.v_x == pytest.approx(np.ones(len(motion.time)), abs=1e-3)
    assert motion.yaw_rate == pytest.approx(0.5 * np.ones(len(motion.time)), abs=1e-9)


def test_a_table_without_measurements_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("time,v_x_command\n0,1\n1,2\n")
    with pytest.raises(RecordingError, match="no column with measurements"):
        read(tmp_path / "a.csv")


def test_a_pose_too_sparse_for_velocities_is_refused(tmp_path):
    time = np.arange(3.0)
    (tmp_path / "a.csv").write_text("time,v_x_command,x,y,heading\n" + rows(time, time, time, time, time))
    with pytest.raises(RecordingError, match=r"fewer than 2 samples of each velocity"):
        read(tmp_path / "a.csv")


def test_an_empty_column_hides_no_other_source_of_its_quantity(tmp_path):
    head = "time,v_x,v_y,yaw_rate,imu_yaw_rate,drive_reference,drive_actual\n"
    cells = "".join(f"{0.1 * k},1,,,{k},1,1\n" for k in range(5))
    (tmp_path / "a.csv").write_text(head + cells)
    run = read(tmp_path / "a.csv")
    assert run.motion.yaw_rate.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert run.command_times.tolist() == [0.0]


def test_a_column_of_commands_without_numbers_gives_no_references(tmp_path):
    (tmp_path / "a.csv").write_text("time,v_x_command,v_y_command,v_x_measured\n0,1,,0\n1,,,0.5\n2,3,,1\n")
    references = read(tmp_path / "a.csv").references
    assert references.speed.tolist() == [1.0, 3.0]
    assert np.isnan(references.v_y).all()
    assert len(references.v_y) == 2


def test_the_speed_of_a_table_is_that_of_base_link_and_not_of_a_wheel(tmp_path):
    """They differ if the drive is on the steered wheel."""
    drive = "time,speed,steering_angle\n0,1,0.8\n2,1,0.8\n"
    (tmp_path / "drive.csv").write_text(drive)
    table = tmp_path / "forklift.csv"
    assert main(["replay", str(tmp_path / "drive.csv"), "--preset", "forklift", "-o", str(table)]) == 0
    columns = np.genfromtxt(table, delimiter=",", names=True)
    assert np.max(np.abs(columns["v_x"] - columns["drive_actual"])) > 0.2
    assert read(table).motion.v_x.tolist() == columns["v_x"].tolist()


@pytest.mark.parametrize("folder", ["a", "several"])
def test_commands_outside_a_vehicle_s_namespace_are_found(tmp_path, folder):
    """Even if the vehicle has a measured topic whose type is one of commands."""
    types, messages = open_types(), []
    topics = {
        "/robot1/odom": "nav_msgs/msg/Odometry",
        "/robot1/twist_actual": "geometry_msgs/msg/TwistStamped",
        "/mux_cmd": "geometry_msgs/msg/TwistStamped",
    }
    for k in range(5):
        for topic, kind in topics.items():
            message = types.new(kind)
            message.header.stamp.sec = k
            messages.append((topic, k * 10**9, message))
    write_bag(tmp_path / folder, "mcap", topics, messages)
    assert read(tmp_path / folder, "/robot1").command_topics == ("/mux_cmd",)
    del topics["/mux_cmd"]
    write_bag(tmp_path / f"{folder} without", "mcap", topics, [one for one in messages if one[0] in topics])
    assert read(tmp_path / f"{folder} without").command_topics == ()


def test_samples_before_the_clock_went_back_are_left_out_with_a_note(tmp_path):
    """Only findings on gaps are replaced by that of the motion, whatever the name of the recording."""
    types, messages = open_types(), []
    topics = {"/odom": "nav_msgs/msg/Odometry", "/contacts": "ros_gz_interfaces/msg/Contacts"}
    for k in range(20):
        odometry = types.new(topics["/odom"])
        odometry.header.stamp.sec = 100 + k % 10
        messages.append(("/odom", k * 10**9, odometry))
        if k in (3, 15):
            contacts, contact = types.new(topics["/contacts"]), types.new("ros_gz_interfaces/msg/Contact")
            contacts.header.stamp = odometry.header.stamp
            contact.collision2.name, contact.positions = f"wall_{k}", [types.new("geometry_msgs/msg/Vector3")]
            contacts.contacts = [contact]
            messages.append(("/contacts", k * 10**9, contacts))
    write_bag(tmp_path / "gap", "mcap", topics, messages)
    run = read(tmp_path / "gap")
    assert run.motion.time.tolist() == list(range(10))
    assert [(touch.thing, touch.begin) for touch in run.touches] == [("wall_15", 5.0)]
    assert [finding for finding in run.findings if "the vehicle's clock went back" in finding]


def without_end(folder, topics):
    """An MCAP file with 30 messages on each topic, without its last bytes."""
    types = open_types()
    messages = []
    for k in range(30):
        for topic, kind in topics.items():
            message = types.new(kind)
            if topic == "/odom":
                message.header.stamp.sec = k
            messages.append((topic, k * 10**9, message))
    write_bag(folder / "bag", "mcap", topics, messages)
    [file] = (folder / "bag").glob("*.mcap")
    cut = folder / "cut.mcap"
    cut.write_bytes(file.read_bytes()[:-8])
    return cut


def test_a_recording_without_its_end_is_read_with_a_finding_that_it_is_cut_short(tmp_path):
    cut = without_end(tmp_path, {"/cmd_vel": "geometry_msgs/msg/Twist", "/odom": "nav_msgs/msg/Odometry"})
    finding = f"'{cut}' is cut short; it was read up to its last whole part"
    for reader in (read, read_signals):
        recording = reader(cut)
        assert len(recording.measured["v_x"].time) == 30
        assert finding in recording.findings


def test_an_error_about_missing_motion_says_if_the_recording_is_cut_short(tmp_path):
    cut = without_end(tmp_path, {"/cmd_vel": "geometry_msgs/msg/Twist"})
    with pytest.raises(RecordingError, match=r"has no messages on .*, and is cut short: its end is missing$"):
        read(cut)


@pytest.mark.parametrize("name", ["nowhere.csv", "nowhere.csv.gz"])
def test_a_missing_table_is_named_as_missing(tmp_path, name):
    with pytest.raises(VdsGzError, match=rf"{name}' does not exist \(looked in "):
        read(tmp_path / name)
