"""Message types as ROS installs them: the same interface as the types that come without ROS, over ROS's own encoder."""

import os
import re
import struct
import sys

import pytest

pytest.importorskip("rclpy", reason="needs ROS 2 (rclpy)")

from vds_gz.core.errors import MalformedMessageError, RecordingError, UnknownTypeError
from vds_gz.core.ros.messages.installed_types import InstalledTypes
from vds_gz.programs.bags.mcap import MESSAGE, Opcode
from vds_gz.programs.bags.mcap_writer import McapWriter
from vds_gz.programs.commandlog.command_log import read
from vds_gz.programs.interface import topics

pytestmark = pytest.mark.ros

TYPES = InstalledTypes()


def test_a_message_there_and_back():
    message = TYPES.new(topics.JOINT_STATES.type)
    message.name = ["drive", "steering"]
    message.position, message.header.stamp.sec = TYPES.array("float64", (1.5, -2.0)), 7
    codec = TYPES.codec(topics.JOINT_STATES.type)
    data = codec.encode(message)
    assert data[:4] == b"\0\1\0\0"
    # Fast DDS appends bytes of any value.
    assert struct.pack("<2d", 1.5, -2.0) + bytes(8) in data
    assert codec.decode(bytearray(data)) == message


@pytest.mark.parametrize("kind", ["float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"])
def test_numbers_are_as_wide_as_their_type(kind):
    bits = int(re.sub(r"\D", "", kind))
    assert 8 * TYPES.array(kind, (1, 2)).itemsize == bits


@pytest.mark.skipif(os.environ.get("ROS_DISTRO") == "humble", reason="Humble has no hashes of types")
def test_the_hash_is_that_of_the_type():
    # As `ros2 topic info -v` shows it on Jazzy.
    assert TYPES.hash("nav_msgs/msg/Odometry") == (
        "RIHS01_3cc97dc7fb7502f8714462c526d369e35b603cfc34d946e3f2eda2766dfec6e0"
    )


@pytest.mark.parametrize("data", [b"", b"\0\1", b"\0\0\0\0" + bytes(40), b"\0\1\0\0" + bytes(8)])
def test_bytes_that_are_not_a_message(data):
    with pytest.raises(MalformedMessageError, match="are not a nav_msgs/msg/Odometry"):
        TYPES.codec("nav_msgs/msg/Odometry").decode(bytearray(data))


def test_a_type_that_is_not_installed_is_named_with_its_package():
    with pytest.raises(UnknownTypeError, match="'odd_msgs/msg/Odd' is not known; install the package 'odd_msgs'"):
        TYPES.new("odd_msgs/msg/Odd")
    with pytest.raises(UnknownTypeError, match="'nav_msgs/msg/Odd' is not known; the installed package 'nav_msgs'"):
        TYPES.codec("nav_msgs/msg/Odd")
    with pytest.raises(UnknownTypeError, match="install the package 'odd_msgs'"):
        TYPES.hash("odd_msgs/msg/Odd")


def test_a_type_of_a_release_without_hashes(monkeypatch):
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")
    with pytest.raises(UnknownTypeError, match="type 'nav_msgs/msg/Odometry' has no hash; ROS 2 has"):
        TYPES.hash("nav_msgs/msg/Odometry")


def test_a_bag_of_a_type_that_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setattr("vds_gz.core.ros.messages.message_types.open_types", InstalledTypes)
    path = tmp_path / "log.mcap"
    writer = McapWriter(path)
    channel = writer.channel("/ackermann_cmd", topics.ACKERMANN_CMD.type, "", {"offered_qos_profiles": ""})
    head = MESSAGE.pack(Opcode.MESSAGE, 26, channel, 0, 1, 1)
    writer.chunk(head + b"\0\1\0\0", 1, 1, {channel: struct.pack("<QQ", 1, 0)})
    writer.close()
    monkeypatch.setitem(sys.modules, "ackermann_msgs.msg", None)
    with pytest.raises(RecordingError, match=r"'ackermann_msgs/msg/Ack.*' is not known; install the package 'ack"):
        read(path)
