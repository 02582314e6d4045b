"""A replay as a recording: all topics of the node, as the node would send them.

What the messages look like is learnt from the node's own outputs, which are given numbers that can be found again.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from vds_gz.bags.definitions import definition
from vds_gz.bags.mcap_row_writer import Rows, RowWriter, Template, learn
from vds_gz.bags.recorder import about
from vds_gz.description.urdf import urdf
from vds_gz.geometry.se2 import Pose
from vds_gz.interface import topics
from vds_gz.interface.commands import GEAR_COMMAND, CommandType, Gear, command_types
from vds_gz.interface.conversions import EXACT, set_stamp
from vds_gz.interface.outputs import Frames, Outputs, Snapshot
from vds_gz.parameters.node import NodeParameters
from vds_gz.ros.graph import QoS
from vds_gz.ros.messages.factory import open_types
from vds_gz.study.offline.replay import BEGIN, Block, Replay, Sample
from vds_gz.study.progress import Advance
from vds_gz.vehicle.autoware.reports import has_actuation_status
from vds_gz.vehicle.model import ActuatorStates, JointStates
from vds_gz.vehicle.vehicle import Motion

#: A time that stands for none, to be found in bytes [ns].
MARK = 1_511_514_099_513_354_567


def write_mcap(replay: Replay, path: Path, parameters: NodeParameters, advance: Advance) -> int:
    """Write a replay as a recording with all topics of the node; how many samples it has.

    Args:
        replay: The replay.
        path: The file.
        parameters: What the node is told.
        advance: Is told how many samples were written.
    """
    count = 0
    with RowWriter(path) as writer:
        latched, outputs = _announced(writer, replay, parameters)
        inputs = _inputs(writer, _listened(replay.command_type, parameters))
        writer.write([(latched, np.array([BEGIN]), np.empty((1, 0)))])
        for block in replay.blocks():
            parts = _given(block, inputs)
            if block.samples:
                times = np.array([sample.time for sample in block.samples], np.int64)
                values = np.fromiter(chain.from_iterable(map(_numbers, block.samples)), float)
                parts.append((outputs, times, values.reshape(len(times), -1)))
            writer.write(parts)
            count += len(block.samples)
            advance(len(block.samples))
    return count


# ---------------------------------------------------------------------- what goes in


def _listened(given: CommandType, parameters: NodeParameters) -> CommandType:
    """Of the types on a topic, the one that the vehicle listens to."""
    fitting = (one for one in command_types() if one.variant in ("", parameters.actuation_messages))
    return next(one for one in fitting if one.topic.name == given.topic.name)


def _inputs(writer: RowWriter, command: CommandType) -> tuple[Rows, Rows | None]:
    """The channel of the commands, and that of their gears."""
    topic = command.topic
    message = open_types().new(topic.type)
    marks = [math.pi * (k + 1.0) for k in range(len(command.fields))]
    command.encode(message, command.values(*marks), MARK)
    template = learn(_encoded(topic, message), MARK, marks, "<f4" if command.single else "<f8")
    commands = Rows([(_channel(writer, topic), template)])
    if not command.geared:
        return commands, None
    return commands, Rows([(_channel(writer, GEAR_COMMAND.topic), _byte(GEAR_COMMAND.topic, "command", 0))])


def _given(block: Block, inputs: tuple[Rows, Rows | None]) -> list[tuple[Rows, Any, Any]]:
    """The commands of a block, and its gears before them."""
    commands, gears = inputs
    parts: list[tuple[Rows, Any, Any]] = []
    times, given = np.array(block.command_times, np.int64), list(block.commands)
    if gears is not None:
        shifts = np.array([isinstance(one, Gear) for one in given], bool)
        if shifts.any():
            parts.append((gears, times[shifts], np.array([one for one in given if isinstance(one, Gear)], float)))
        times, given = times[~shifts], [one for one in given if not isinstance(one, Gear)]
    if given:
        parts.append((commands, times, np.array(given, float)))
    return parts


# ---------------------------------------------------------------------- what comes out


def _announced(writer: RowWriter, replay: Replay, parameters: NodeParameters) -> tuple[Rows, Rows]:
    """Channels of the node's topics: those that are sent once, and those of every sample."""
    model = replay.model
    graph: Any = Listener()
    joints = [joint.name for joint in model.joints(parameters.vehicle)]
    fixed = not parameters.simulate_localization
    outputs = Outputs(graph, Frames.of(parameters), joints, model.actuators, fixed)
    outputs.publish_latched(BEGIN, urdf(model.name, parameters.vehicle, model.xacro, parameters.sensors))
    latched = graph.taken()
    sample = _marked(len(joints), len(model.actuators), fixed)
    motion = sample.motion
    truth = Pose(motion.x, motion.y, motion.heading)
    assert sample.joints is not None
    assert isinstance(sample.odom, Pose)
    outputs.publish(
        Snapshot(
            MARK,
            motion,
            replace(motion, v_x=sample.odom_speed),
            truth,
            sample.odom,
            sample.odom_variance,
            sample.map_to_odom,
            sample.joints,
            sample.actuators,
        )
    )
    numbers = _numbers(sample)
    every = [(_channel(writer, topic), learn(data, MARK, numbers)) for topic, data in graph.taken()]
    if replay.reports:
        every += _reports(writer, parameters, has_actuation_status(replay.vehicle.coefficients), len(numbers))
    once = [(_channel(writer, topic), Template(data, (), ())) for topic, data in latched]
    return Rows(once), Rows(every)


def _marked(joints: int, actuators: int, fixed: bool) -> Sample:
    """A sample of which every number is another."""
    marks = (math.pi * 2.0**-20 * (7 + k) for k in range(1000))

    def some(count: int) -> list[float]:
        return [next(marks) for _ in range(count)]

    motion, odom, variance, map_to_odom = Motion(*some(6)), Pose(*some(3)), some(2), Pose(*some(3))
    return Sample(
        MARK,
        motion,
        odom,
        (variance[0], variance[1]),
        next(marks),
        None if fixed else map_to_odom,
        JointStates(some(joints), some(joints)),
        ActuatorStates(*(some(actuators) for _ in range(4))),
        None,
    )


def _numbers(sample: Sample) -> tuple[float, ...]:
    """All numbers that stand in the messages of one instant."""
    motion, odom, map_to_odom = sample.motion, sample.odom, sample.map_to_odom
    joints, actuators, report = sample.joints, sample.actuators, sample.report
    assert joints is not None
    pose = _pose(motion.x, motion.y, motion.heading)
    told = () if report is None else (*report[:4], *(report.pedals or ()))
    return (
        motion.v_x,
        motion.v_y,
        motion.yaw_rate,
        *pose,
        *(pose if odom is motion else _pose(odom.x, odom.y, odom.heading)),
        *(EXACT + variance for variance in sample.odom_variance),
        *(() if map_to_odom is None else _pose(map_to_odom.x, map_to_odom.y, map_to_odom.heading)),
        sample.odom_speed,
        *joints.positions,
        *joints.velocities,
        *actuators.reference_positions,
        *actuators.reference_velocities,
        *actuators.positions,
        *actuators.velocities,
        *told,
    )


def _pose(x: float, y: float, heading: float) -> tuple[float, float, float, float]:
    return x, y, math.sin(0.5 * heading), math.cos(0.5 * heading)


def _reports(
    writer: RowWriter, parameters: NodeParameters, with_pedals: bool, first: int
) -> list[tuple[int, Template]]:
    """Channels of the reports of one of Autoware's vehicles, whose numbers stand from the first column on."""
    types = open_types()
    marks = [math.pi * (k + 1.0) for k in range(7)]
    velocity, steering = types.new(topics.VELOCITY_STATUS.type), types.new(topics.STEERING_STATUS.type)
    velocity.header.frame_id = Frames.of(parameters).base_link
    velocity.longitudinal_velocity, steering.steering_tire_angle, velocity.heading_rate = marks[:3]
    filled = [(topics.VELOCITY_STATUS, velocity, "<f4")]
    if parameters.vehicle.enable_pub_steer:
        filled.append((topics.STEERING_STATUS, steering, "<f4"))
    if with_pedals:
        topic = topics.ACTUATION_STATUS[parameters.actuation_messages]
        message = types.new(topic.type)
        told, end = (message.status, "status") if hasattr(message, "status") else (message.actuation_report, "report")
        for name, mark in zip(("accel", "brake", "steer"), marks[4:], strict=True):
            setattr(told, f"{name}_{end}", mark)
        filled.append((topic, message, "<f8"))
    found = [(_channel(writer, topics.GEAR_STATUS), _byte(topics.GEAR_STATUS, "report", first + 3))]
    for topic, message, kind in filled:
        set_stamp(message.header.stamp if hasattr(message, "header") else message.stamp, MARK)
        template = learn(_encoded(topic, message), MARK, marks, kind)
        numbers = tuple((place, kind, first + column) for place, kind, column in template.numbers)
        found.append((_channel(writer, topic), Template(template.data, template.stamps, numbers)))
    return found


def _byte(topic: topics.Topic, field: str, column: int) -> Template:
    """A template of a message with a stamp and one byte, which is found by changing it."""
    message = open_types().new(topic.type)
    set_stamp(message.stamp, MARK)
    data = _encoded(topic, message)
    setattr(message, field, 255)
    place = next(i for i, (one, other) in enumerate(zip(data, _encoded(topic, message), strict=True)) if one != other)
    return Template(data, learn(data, MARK, ()).stamps, ((place, "u1", column),))


def _encoded(topic: topics.Topic, message: Any) -> bytes:
    return bytes(open_types().codec(topic.type).encode(message))


def _channel(writer: RowWriter, topic: topics.Topic) -> int:
    name = "/" + topic.name.lstrip("/")
    return writer.channel(name, topic.type, definition(topic.type), about(topic, open_types()))


class Listener:
    """Stands in for the graph where nobody is: it keeps what is published."""

    def __init__(self) -> None:
        self._types = open_types()
        self._taken: list[tuple[topics.Topic, bytes]] = []

    def taken(self) -> list[tuple[topics.Topic, bytes]]:
        """What was published since the last call."""
        taken, self._taken = self._taken, []
        return taken

    def message(self, type_name: str) -> Any:
        """A new message."""
        return self._types.new(type_name)

    def numbers(self, count: int) -> Any:
        """So many zeros."""
        return self._types.array("float64", (0.0,) * count)

    def serialize(self, message: Any, type_name: str) -> bytes:
        """A message as CDR with its header."""
        return bytes(self._types.codec(type_name).encode(message))

    def publisher(self, name: str, type_name: str, qos: QoS) -> Publisher:
        """Announce a topic."""
        topic = topics.Topic(name, type_name, qos)
        return Publisher(lambda data: self._taken.append((topic, data)), lambda m: self.serialize(m, type_name))


class Publisher:
    """Everybody listens to it."""

    def __init__(self, take: Any, serialize: Any) -> None:
        self._take = take
        self._serialize = serialize

    def subscription_count(self) -> int:
        """We listen."""
        return 1

    def publish(self, message: Any) -> None:
        """Keep a message."""
        self._take(self._serialize(message))

    def publish_raw(self, data: bytearray) -> None:
        """Keep a serialized message."""
        self._take(bytes(data))
