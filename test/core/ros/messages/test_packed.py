"""Numbers and times that are written into a message's bytes are those that its decoder reads."""

from __future__ import annotations

import re
import struct
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.guest import HERE

from vds_gz.core.errors import ArgumentError, UnknownTypeError
from vds_gz.core.ros.messages.message_types import open_types
from vds_gz.core.ros.messages.packed import MessageLayout, PackedMessage

pytestmark = pytest.mark.graph

TYPES = open_types()
GRAPH = SimpleNamespace(serialize=lambda message, name: TYPES.codec(name).encode(message))

#: In this order: numbers and texts in turn; numbers alone; times between numbers; numbers after long arrays of zeros.
NAMES = [
    "nav_msgs/msg/Odometry",
    "geometry_msgs/msg/Twist",
    *(["autoware_control_msgs/msg/Control"] if HERE else []),
    "geometry_msgs/msg/PoseWithCovarianceStamped",
]


def at(message: object, path: str) -> object:
    for name in path.split("."):
        message = getattr(message, name)
    return message


@pytest.mark.parametrize("name", NAMES)
def test_numbers_and_times_are_written_and_the_rest_is_kept(name):
    try:
        message = TYPES.new(name)
    except UnknownTypeError as error:
        pytest.skip(str(error))
    if hasattr(message, "header"):
        message.header.frame_id = "odom"
    if (covariance := getattr(getattr(message, "pose", None), "covariance", None)) is not None:
        covariance[7] = 4.0
    layout = MessageLayout.of(name, message)
    stamps = [path.removesuffix(".sec") for path in layout.places if path.endswith(".sec")]
    numbers = [path for path, place in layout.places.items() if place.format in ("<d", "<f")]
    packed = PackedMessage(GRAPH, name, message, stamps, numbers)
    values = [1.5 * k - 7.0 for k in range(len(numbers))]
    for _ in range(2):
        packed.write(3_000_000_004, values)
    wrong = (text for array, place in layout.arrays.items() for text in (f"{array}[{place.length}]", f"{array}[0"))
    for path in ("no[0]", *wrong):
        with pytest.raises(ArgumentError, match=re.escape(f"the message has no number '{path}'")):
            layout.numbers([path])
    backwards = PackedMessage(GRAPH, name, message, stamps, numbers[::-1])
    assert backwards.write(3_000_000_004, values[::-1]) == packed.data
    decoded = TYPES.codec(name).decode(packed.data)
    assert [at(decoded, path) for path in numbers] == values
    assert {(at(decoded, f"{stamp}.sec"), at(decoded, f"{stamp}.nanosec")) for stamp in stamps} <= {(3, 4)}
    if covariance is not None:
        assert list(decoded.pose.covariance) == [0.0] * 7 + [4.0] + [0.0] * 28
    for wrong in (values[:-1], [*values, 1.0]):
        with pytest.raises(struct.error):
            packed.write(0, wrong)


def test_an_array_between_changing_numbers_is_not_handed_out():
    name = "nav_msgs/msg/Odometry"
    packed = PackedMessage(GRAPH, name, TYPES.new(name), [], ["pose.pose.orientation.w", "twist.twist.linear.x"])
    with pytest.raises(ValueError, match=r"'pose.covariance' lie between those that change"):
        packed.array("pose.covariance")
    packed.array("twist.covariance")[0] = 2.0
    packed.write(0, [1.0, 3.0])
    decoded = TYPES.codec(name).decode(packed.data)
    assert (decoded.pose.pose.orientation.w, decoded.twist.twist.linear.x, decoded.twist.covariance[0]) == (1, 3, 2)


def test_padding_before_an_empty_sequence_is_cut_off():
    name = "sensor_msgs/msg/JointState"
    message = TYPES.new(name)
    message.name = ["left", "wheel"]  # the last sequence, of no efforts, ends behind four of eight bytes
    message.position = message.velocity = np.zeros(2)
    plain = TYPES.codec(name).encode(message)
    assert len(plain) % 8 == 0

    def packed(padding: int) -> PackedMessage:
        graph = SimpleNamespace(serialize=lambda message, name: bytes(plain) + b"p" * padding)
        return PackedMessage(graph, name, message, ["header.stamp"], ["position[0]"])

    assert packed(4).data == plain
    with pytest.raises(ValueError, match="bytes must have"):
        packed(8)
