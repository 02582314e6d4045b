"""The recorder: every reader finds all messages in the file, also after the recorder was killed."""

import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from helpers.bag_files import messages_of, topics_of
from helpers.processes import need_messages

from vds_gz.cli import main
from vds_gz.core.errors import RecordingError
from vds_gz.core.ros.arguments import parse
from vds_gz.core.ros.graph import QoS
from vds_gz.core.ros.messages.message_types import definition, open_types
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.programs.bags.reader import BagError, open_bag
from vds_gz.programs.bags.recorder import LOOK_PERIOD, Recorder
from vds_gz.programs.interface import topics
from vds_gz.tools.study.reading.recorded_run import read

pytestmark = pytest.mark.graph

#: Records to a file until it is killed.
RECORD = """
import sys
from vds_gz.programs.interface import topics
from vds_gz.core.ros.arguments import parse
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.programs.bags.recorder import Recorder
graph = open_graph(parse([], "recorder"), "recorder")
recorder = Recorder(graph, sys.argv[1], [topics.TWIST_ACTUAL, topics.ROBOT_DESCRIPTION])
matched = False
while True:
    graph.wait(0.05)
    # A writer knows its reader before the reader knows the writer; messages sent in between may be lost.
    if not matched and recorder.subscriptions["/twist_actual"].publisher_count():
        print("matched", flush=True)
        matched = True
    recorder.tick()
"""


@pytest.fixture
def graph(domain):
    graph = open_graph(parse([], "talker"), "talker")
    yield graph
    graph.close()


def wait_until(graph, condition, what, patience=60.0):
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, f"waited {patience} s for {what}"
        graph.wait(0.02)


def kept(path, topic):
    """The number of messages of a topic in a file that is still being written."""
    try:
        with open_bag(path) as bag:
            return sum(1 for _ in bag.messages([connection for connection in bag.counts if connection.topic == topic]))
    except BagError:  # nothing has been written yet
        return 0


def talk(graph, publisher, count):
    """Send twists whose v_x is their number."""
    message = graph.message(topics.TWIST_ACTUAL.type)
    for number in range(count):
        message.twist.linear.x = float(number)
        publisher.publish(message)
        graph.wait(0.005)


def announce(graph, topic):
    return graph.publisher(topic.name, topic.type, topic.qos)


def test_all_messages_are_recorded(graph, domain, tmp_path):
    path = tmp_path / "recording.mcap"
    heard = []
    listener = open_graph(parse([], "recorder"), "recorder")
    wanted = [topics.TWIST_ACTUAL, topics.ROBOT_DESCRIPTION, topics.ACKERMANN_CMD]
    recorder = Recorder(
        listener,
        path,
        wanted,
        metadata={"vehicle": "a car"},
        listen=lambda topic, data, at: heard.append((topic, data)),
    )
    description = graph.message(topics.ROBOT_DESCRIPTION.type)
    description.data = "<robot/>"
    latched, twists = announce(graph, topics.ROBOT_DESCRIPTION), announce(graph, topics.TWIST_ACTUAL)
    latched.publish(description)
    wait_until(graph, twists.subscription_count, "the recorder's subscription")
    wait_until(graph, recorder.subscriptions["/twist_actual"].publisher_count, "the talker's publisher")
    talk(graph, twists, 300)
    wait_until(listener, lambda: recorder.counts["/twist_actual"] == 300, "300 messages")
    wait_until(listener, lambda: recorder.counts["/robot_description"] == 1, "the robot description")
    recorder.close()
    listener.close()

    assert len(heard) == 301
    recorded = topics_of(path)
    numbers = {name: item.count for name, item in recorded.items()}
    assert numbers == {"/twist_actual": 300, "/robot_description": 1, "/ackermann_cmd": 0}
    received = {"/twist_actual": [], "/robot_description": []}
    last = 0
    for name, log_time, message in messages_of(path):
        received[name].append(message)
        assert log_time >= last
        last = log_time
    assert abs(last - time.time_ns()) < 60e9
    assert [message.twist.linear.x for message in received["/twist_actual"]] == list(range(300))
    assert received["/robot_description"][0].data == "<robot/>"
    assert recorded["/robot_description"].durability == "TRANSIENT_LOCAL"
    assert recorded["/twist_actual"].durability == "VOLATILE"


def test_a_killed_recorder_leaves_a_readable_file(graph, domain, tmp_path):
    path = tmp_path / "recording.mcap"
    recorder = subprocess.Popen([sys.executable, "-c", RECORD, str(path)], stdout=subprocess.PIPE, env=os.environ)
    try:
        assert recorder.stdout is not None
        twists = announce(graph, topics.TWIST_ACTUAL)
        assert recorder.stdout.readline() == b"matched\n"
        wait_until(graph, twists.subscription_count, "the recorder's subscription")
        talk(graph, twists, 200)
        wait_until(graph, lambda: kept(path, "/twist_actual") == 200, "200 messages in the file")
    finally:
        recorder.kill()
        recorder.wait()
    assert recorder.returncode == -signal.SIGKILL
    codec = open_types().codec(topics.TWIST_ACTUAL.type)
    with open_bag(path) as bag:
        assert bag.cut_short
        twists = [connection for connection in bag.counts if connection.topic == "/twist_actual"]
        result = [codec.decode(bytearray(data)).twist.linear.x for _, _, data in bag.messages(twists)]
    assert result == list(range(200))


@pytest.mark.parametrize("content", [b"", b"nothing like it", b"\x89MCAP0\r\n"])
def test_a_file_that_is_not_a_recording_is_refused(tmp_path, content):
    path = tmp_path / "recording.mcap"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=r"recording\.mcap"):
        read(path)


def test_definitions_are_complete():
    assert "MSG: ackermann_msgs/AckermannDrive\n" in definition(topics.ACKERMANN_CMD.type)
    for topic in vars(topics).values():
        if isinstance(topic, topics.Topic):
            assert definition(topic.type)


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        Recorder(None, Path(tmp_path / "no" / "recording.mcap"), [])  # type: ignore[arg-type]


# ---------------------------------------------------------------------- vds-gz record


def said(program, text):
    return lambda: text in program.output


@pytest.fixture
def clock(graph):
    """A best-effort publisher of a topic that is recorded only once it is found."""
    return graph.publisher(topics.CLOCK_IN.name, topics.CLOCK_IN.type, topics.CLOCK_IN.qos)


@need_messages("autoware_vehicle_msgs")
def test_the_command_records_present_and_new_topics(graph, run, clock, tmp_path):
    path = tmp_path / "recording.mcap"
    twists = announce(graph, topics.TWIST_ACTUAL)
    program = run("vds_gz.cli", "record", "-o", str(path))
    wait_until(graph, twists.subscription_count, "the recorder's subscription")
    wait_until(graph, clock.subscription_count, "the recorder's subscription of the clock")
    late = announce(graph, topics.WORLD)
    wait_until(graph, late.subscription_count, "the recorder's subscription of what came late")
    talk(graph, twists, 40)
    late.publish(graph.message(topics.WORLD.type))
    clock.publish(graph.message(topics.CLOCK.type))
    sent = {"/twist_actual": 40, "/world": 1, "/clock": 1}
    wait_until(graph, lambda: all(kept(path, item) == count for item, count in sent.items()), "all in the file")
    assert program.stop() == 0
    assert "/twist_actual  40" in program.output
    recorded = topics_of(path)
    assert {name: recorded[name].count for name in sent} == sent
    assert recorded["/clock"].reliability == "BEST_EFFORT"


def test_named_topics_are_recorded_in_a_namespace(graph, run, tmp_path):
    path = tmp_path / "recording.mcap"
    mine = graph.publisher("/robot/anything", topics.STEERING_ANGLE.type, topics.STEERING_ANGLE.qos)
    other = graph.publisher("/robot/odom", topics.ODOM.type, topics.ODOM.qos)
    program = run("vds_gz.cli", "record", "--namespace", "robot", "-o", str(path), "anything", "missing")
    wait_until(graph, mine.subscription_count, "the recorder's subscription")

    def enough():
        for publisher, topic in ((mine, topics.STEERING_ANGLE), (other, topics.ODOM)):
            publisher.publish(graph.message(topic.type))
            graph.wait(0.05)
        return kept(path, "/robot/anything") > 10

    wait_until(graph, enough, "messages in the file")
    assert program.stop() == 1
    assert "nothing came on '/robot/missing'" in program.output
    recorded = topics_of(path)
    assert list(recorded) == ["/robot/anything"]
    assert recorded["/robot/anything"].count > 10


@pytest.mark.parametrize(
    ("option", "before", "after", "type_name"),
    [
        ("--all", "/odom", "/odom_of_robot", topics.ODOM.type),
        ("--sensors", "/lidar/scan", "/front/scan", "sensor_msgs/msg/LaserScan"),
    ],
)
def test_a_renamed_topic_is_recorded_once_and_not_under_its_old_name(
    graph, run, tmp_path, option, before, after, type_name
):
    path = tmp_path / "recording.mcap"
    old, new = (graph.publisher(name, type_name, topics.ODOM.qos) for name in (before, after))
    program = run("vds_gz.cli", "record", option, "-o", str(path), "--ros-args", "-r", f"{before}:={after}")
    wait_until(graph, new.subscription_count, "the recorder's subscription")
    late = announce(graph, topics.CLOCK_IN)
    wait_until(graph, late.subscription_count, "the recorder's subscription of another topic")
    sent, end = 0, time.monotonic() + 2.5 * LOOK_PERIOD
    while time.monotonic() < end:  # it looks for topics again and again
        old.publish(graph.message(type_name))
        new.publish(graph.message(type_name))
        sent += 1
        graph.wait(0.05)
    wait_until(graph, lambda: kept(path, after) >= sent, "messages in the file")
    assert program.stop() == 0
    counts = {name: recorded.count for name, recorded in topics_of(path).items() if name in (before, after)}
    assert counts == {after: sent}


SENSORS = {
    "/robot/lidar/scan": "sensor_msgs/msg/LaserScan",
    "/robot/top/points": "sensor_msgs/msg/PointCloud2",
    "/robot/eye/image_raw": "sensor_msgs/msg/Image",
    "/robot/world": "visualization_msgs/msg/MarkerArray",
    "/robot/scan": "sensor_msgs/msg/LaserScan",
    "/robot/trailer/lidar/scan": "sensor_msgs/msg/LaserScan",
    "/other/lidar/scan": "sensor_msgs/msg/LaserScan",
}


def test_sensors_of_a_vehicle_are_recorded_except_those_named(graph, run, tmp_path):
    """Large messages are recorded completely."""
    path = tmp_path / "recording.mcap"
    announced = {name: graph.publisher(name, kind, QoS(depth=10)) for name, kind in SENSORS.items()}
    program = run(
        *("vds_gz.cli", "record", "--namespace", "robot", "--sensors"),
        *("--except", "eye/image_raw", "-o", str(path)),
    )
    wait_until(graph, announced["/robot/top/points"].subscription_count, "the recorder's subscription")
    wait_until(graph, announced["/robot/lidar/scan"].subscription_count, "the recorder's subscription")
    cloud = graph.message(SENSORS["/robot/top/points"])
    cloud.data = graph.numbers(4_000_000, "uint8")
    cloud.height, cloud.width, cloud.point_step = 1, 125_000, 32
    for _ in range(5):
        for name, publisher in announced.items():
            publisher.publish(cloud if name == "/robot/top/points" else graph.message(SENSORS[name]))
        graph.wait(0.1)
    wanted = {"/robot/lidar/scan", "/robot/scan", "/robot/top/points", "/robot/world"}
    wait_until(graph, lambda: all(kept(path, topic) for topic in wanted), "messages in the file")
    wait_until(graph, lambda: kept(path, "/robot/top/points") == 5, "the clouds in the file")
    assert program.stop() == 0
    recorded = topics_of(path)
    counts = {name: item.count for name, item in recorded.items()}
    assert SENSORS.keys() & counts.keys() == wanted
    assert counts["/robot/top/points"] == 5
    clouds = [message for topic, _, message in messages_of(path) if topic == "/robot/top/points"]
    assert [len(message.data) for message in clouds] == [4_000_000] * 5
    assert path.stat().st_size < 1_000_000 or find_spec("zstandard") is None


def test_the_offer_of_several_publishers_is_what_all_of_them_offer(graph, domain):
    other = open_graph(parse([], "other"), "other")
    for node, qos in ((graph, topics.LATCHED), (other, topics.CLOCK_IN.qos)):
        node.publisher("said", "std_msgs/msg/String", qos)
    looking = open_graph(parse([], "looking"), "looking")
    wait_until(looking, lambda: "/said" in looking.offers(), "the topic")
    wait_until(looking, lambda: not looking.offers()["/said"].qos.reliable, "the second publisher")
    offer = looking.offers()["/said"]
    assert (offer.type, offer.qos.transient_local) == ("std_msgs/msg/String", False)
    looking.close()
    other.close()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "x.bag"], "must end in .mcap"),
        (["--all", "odom"], "leave it out"),
        (["--sensors", "odom"], "leave it out"),
        (["-o", "no/such/folder/x.mcap"], "cannot be written"),
        (["odom?"], "odom?"),
    ],
)
def test_wrong_use_of_the_command(tmp_path, monkeypatch, capsys, domain, arguments, said):
    monkeypatch.chdir(tmp_path)
    assert main(["record", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_definitions_of_installed_packages(tmp_path, monkeypatch):
    folder = tmp_path / "share" / "odd_msgs" / "msg"
    folder.mkdir(parents=True)
    (folder / "Outer.msg").write_text("Inner[] items\nstd_msgs/Header header\n")
    (folder / "Inner.msg").write_text("float64 value")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    assert definition("odd_msgs/msg/Inner") == "float64 value\n"
    assert definition("odd_msgs/msg/Outer") == ""  # std_msgs is not installed there
    assert definition("odder_msgs/msg/Outer") == ""


WITHOUT_MATPLOTLIB = """
import sys
sys.modules["matplotlib"] = None  # as if it were not installed
from vds_gz.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_recording_needs_no_matplotlib(domain, tmp_path):
    command = [sys.executable, "-c", WITHOUT_MATPLOTLIB, "record", "--duration", "0.5", "-o", "run.mcap"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60.0)
    assert "messages in 0.5 s" in done.stdout, done.stderr


@pytest.mark.ros
def test_a_topic_whose_package_is_not_installed_is_left_out(graph, tmp_path):
    unknown = topics.Topic("unknown", "not_installed_msgs/msg/Anything")
    recorder = Recorder(graph, tmp_path / "recording.mcap", [unknown, topics.TWIST_ACTUAL])
    recorder.close()
    assert list(recorder.subscriptions) == ["/twist_actual"]
    assert "install the package 'not_installed_msgs'" in recorder.left_out[unknown.type]
