"""The recorder: what was sent is in the file, for every reader, also if it was killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rosbags.highlevel import AnyReader

from vds_gz.ros import topics
from vds_gz.ros.arguments import parse
from vds_gz.ros.open_graph import open_graph
from vds_gz.study.record import Recorder, definition
from vds_gz.study.recording import RecordingError, messages, read

#: Records to the file given until it is killed.
RECORD = """
import sys
from vds_gz.ros import topics
from vds_gz.ros.arguments import parse
from vds_gz.ros.open_graph import open_graph
from vds_gz.study.record import Recorder
graph = open_graph(parse([], "recorder"), "recorder")
recorder = Recorder(graph, sys.argv[1], [topics.TWIST_ACTUAL, topics.ROBOT_DESCRIPTION])
print("ready", flush=True)
while True:
    graph.wait(0.05)
    recorder.tick()
"""


@pytest.fixture
def graph(domain):
    graph = open_graph(parse([], "talker"), "talker")
    yield graph
    graph.close()


def wait_until(graph, condition, what, patience=15.0):
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, f"{what} did not come about within {patience} s"
        graph.wait(0.02)


def talk(graph, publisher, count):
    """Twists whose v_x is their number."""
    message = graph.message(topics.TWIST_ACTUAL.type)
    for number in range(count):
        message.twist.linear.x = float(number)
        publisher.publish(message)
        graph.wait(0.005)


def announce(graph, topic):
    return graph.publisher(topic.name, topic.type, topic.qos)


def test_what_was_sent_is_recorded(graph, domain, tmp_path):
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
    talk(graph, twists, 300)
    wait_until(listener, lambda: recorder.counts[topics.TWIST_ACTUAL.name] == 300, "300 messages")
    wait_until(listener, lambda: recorder.counts[topics.ROBOT_DESCRIPTION.name] == 1, "the robot description")
    recorder.close()
    listener.close()

    assert len(heard) == 301
    with AnyReader([path]) as reader:
        numbers = {connection.topic: connection.msgcount for connection in reader.connections}
        assert numbers == {"/twist_actual": 300, "/robot_description": 1, "/ackermann_cmd": 0}
        received = {"/twist_actual": [], "/robot_description": []}
        last = 0
        for connection, log_time, data in reader.messages():
            received[connection.topic].append(reader.deserialize(data, connection.msgtype))
            assert log_time >= last
            last = log_time
        assert abs(last - time.time_ns()) < 60e9
        qos = {connection.topic: connection.ext.offered_qos_profiles[0] for connection in reader.connections}
    assert [message.twist.linear.x for message in received["/twist_actual"]] == list(range(300))
    assert received["/robot_description"][0].data == "<robot/>"
    assert qos["/robot_description"].durability.name == "TRANSIENT_LOCAL"
    assert qos["/twist_actual"].durability.name == "VOLATILE"


def test_a_killed_recorder_leaves_a_readable_file(graph, domain, tmp_path):
    path = tmp_path / "recording.mcap"
    recorder = subprocess.Popen([sys.executable, "-c", RECORD, str(path)], stdout=subprocess.PIPE, env=os.environ)
    try:
        assert recorder.stdout is not None
        assert recorder.stdout.readline() == b"ready\n"
        twists = announce(graph, topics.TWIST_ACTUAL)
        wait_until(graph, twists.subscription_count, "the recorder's subscription")
        talk(graph, twists, 200)
        time.sleep(1.5)
    finally:
        recorder.kill()
        recorder.wait()
    assert recorder.returncode == -signal.SIGKILL
    found = [message.twist.linear.x for topic, _, _, message in messages(path) if topic == "/twist_actual"]
    assert found == list(range(200))


@pytest.mark.parametrize("content", [b"", b"nothing like it", b"\x89MCAP0\r\n"])
def test_what_is_no_recording(tmp_path, content):
    path = tmp_path / "recording.mcap"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=r"recording\.mcap"):
        read(path)


def test_definitions_are_complete():
    assert "MSG: ackermann_msgs/AckermannDrive\n" in definition(topics.ACKERMANN_CMD.type)
    for topic in vars(topics).values():
        if isinstance(topic, topics.Topic):
            assert definition(topic.type)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        Recorder(None, Path(tmp_path / "no" / "recording.mcap"), [])  # type: ignore[arg-type]
