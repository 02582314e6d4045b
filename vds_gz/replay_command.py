"""``vds-gz replay``: a command log through a model, offline, to a recording or a table."""

from __future__ import annotations

import argparse
import gc
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from vds_gz.nodes.outputs import Frames, Outputs, Snapshot
from vds_gz.parameters.description import ParameterError
from vds_gz.parameters.node import NodeParameters
from vds_gz.robot_description import urdf
from vds_gz.ros import topics
from vds_gz.ros.conversions import EXACT
from vds_gz.ros.errors import ArgumentError
from vds_gz.ros.graph import QoS
from vds_gz.ros.types import MessageTypes
from vds_gz.sensing.localization import Pose
from vds_gz.study import command_log
from vds_gz.study.command_log import CommandLogError, Kind
from vds_gz.study.mcap_rows import Rows, RowWriter, Template, learn
from vds_gz.study.record import definition, qos_profile
from vds_gz.study.replay import BEGIN, Replay, Sample, write_csv
from vds_gz.study.vehicle_options import add_vehicle_options, vehicle_of
from vds_gz.vehicle.model import ActuatorStates, JointStates, Model
from vds_gz.vehicle.vehicle import Motion

#: A time that stands for none, to be found in bytes [ns].
MARK = 1_511_514_099_513_354_567

COMMAND_TOPICS: dict[Kind, topics.Topic] = {
    "twist": topics.TWIST_REFERENCE,
    "twist_stamped": topics.TWIST_STAMPED_REFERENCE,
    "ackermann": topics.ACKERMANN_CMD,
}

DESCRIPTION = """
Send a command log through a vehicle's model, thousands of times faster than real time, and write what the vehicle does.

LOG is a CSV file or a bag, as for `vds-gz drive`, also a recording of `vds-gz run`. The result is what the live node
does when it gets the same commands at the same times, to the last bit. An .mcap file has all topics of the node and
opens in ros2 bag, Foxglove and PlotJuggler; a .csv file has one row a sample: time, pose, velocity, and what each
actuator was asked for and does.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Replay a log.

    Returns:
        0 when it is written, 2 if something is wrong with what was given.
    """
    options = _parser().parse_args(argv)
    output = Path(options.output or f"{Path(options.log).stem}_replay.mcap")
    partial = output.with_name(output.name + ".part")
    try:
        if output.suffix not in (".mcap", ".csv"):
            raise ArgumentError(f"output '{output}' must end in .mcap or .csv")
        parameters = vehicle_of(options)
        log = command_log.stream(options.log, options.topic)
        replay = Replay(log, parameters, rate=options.rate, tail=options.tail)
        if not replay.compiled:
            print("vds-gz replay: numba is not installed, so the model runs interpreted, some hundred times slower")
        compiling = perf_counter()
        replay.warm_up()
        gc.disable()  # nothing here goes in circles, and looking for circles takes a third of the time
        begin = perf_counter()
        count = (write_csv if output.suffix == ".csv" else write_mcap)(replay, partial, parameters)
        partial.replace(output)
    except (ArgumentError, ParameterError, CommandLogError, OSError) as error:
        partial.unlink(missing_ok=True)
        print(f"vds-gz replay: {error}", file=sys.stderr)
        return 2
    finally:
        gc.enable()
    took, simulated = perf_counter() - begin, count / (options.rate or parameters.pub_rate)
    print(
        f"{output}: {count} samples, {simulated:.1f} s in {took:.2f} s ({simulated / took:,.0f} x real time; "
        f"compiling took {begin - compiling:.1f} s before)"
    )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "vds-gz replay",
        description=DESCRIPTION,
        epilog="exit code: 0 written, 2 wrong use or input",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("log", metavar="LOG", help="commands: a CSV file or a bag")
    add_vehicle_options(parser)
    parser.add_argument("--topic", metavar="NAME", help="the topic of a bag, where several have commands")
    parser.add_argument("-o", "--output", metavar="FILE", help=".mcap or .csv file to write (LOG_replay.mcap)")
    parser.add_argument("--rate", type=_positive, metavar="HZ", help="samples per second (the vehicle's pub_rate)")
    parser.add_argument("--tail", type=_positive, default=1.0, metavar="S", help="go on after the last command (1)")
    return parser


def _positive(text: str) -> float:
    value = float(text)
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' must be a number greater than 0")
    return value


# ---------------------------------------------------------------------- to MCAP


def write_mcap(replay: Replay, path: Path, parameters: NodeParameters) -> int:
    """Write a replay as a recording with all topics of the node; how many samples it has."""
    count = 0
    with RowWriter(path) as writer:
        latched, outputs = _announced(writer, replay.model, parameters)
        commands = _commands(writer, replay.kind)
        writer.write([(latched, np.array([BEGIN]), np.empty((1, 0)))])
        for block in replay.blocks():
            times = np.array([sample.time for sample in block.samples], np.int64)
            values = np.array([_numbers(sample) for sample in block.samples])
            given = np.array(block.commands, float).reshape(-1, 4 if replay.kind == "ackermann" else 3)
            writer.write([(commands, np.array(block.command_times, np.int64), given), (outputs, times, values)])
            count += len(times)
    return count


def _announced(writer: RowWriter, model: Model, parameters: NodeParameters) -> tuple[Rows, Rows]:
    """Channels of the node's topics: those that are sent once, and those of every sample.

    What the messages look like is learnt from the node's own outputs, which are given a sample of marked numbers.
    """
    graph: Any = _Listener()
    joints = [joint.name for joint in model.joints(parameters.vehicle)]
    fixed = not parameters.simulate_localization
    outputs = Outputs(graph, Frames.of(parameters), joints, model.actuators, fixed)
    outputs.publish_latched(BEGIN, urdf(model.name, parameters.vehicle, model.xacro, parameters.sensors))
    latched = graph.taken()
    sample = _marked(len(joints), len(model.actuators), fixed)
    motion = sample.motion
    truth = Pose(motion.x, motion.y, motion.heading)
    outputs.publish(
        Snapshot(
            MARK,
            motion,
            motion,
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
        None if fixed else map_to_odom,
        JointStates(some(joints), some(joints)),
        ActuatorStates(*(some(actuators) for _ in range(4))),
    )


def _numbers(sample: Sample) -> tuple[float, ...]:
    """All numbers that stand in the messages of one instant."""
    motion, odom, map_to_odom = sample.motion, sample.odom, sample.map_to_odom
    actuators = sample.actuators
    return (
        motion.v_x,
        motion.v_y,
        motion.yaw_rate,
        *_pose(motion.x, motion.y, motion.heading),
        *_pose(odom.x, odom.y, odom.heading),
        *(EXACT + variance for variance in sample.odom_variance),
        *(() if map_to_odom is None else _pose(map_to_odom.x, map_to_odom.y, map_to_odom.heading)),
        *sample.joints.positions,
        *sample.joints.velocities,
        *actuators.reference_positions,
        *actuators.reference_velocities,
        *actuators.positions,
        *actuators.velocities,
    )


def _pose(x: float, y: float, heading: float) -> tuple[float, float, float, float]:
    return x, y, math.sin(0.5 * heading), math.cos(0.5 * heading)


def _commands(writer: RowWriter, kind: Kind) -> Rows:
    """The channel of the commands."""
    topic = COMMAND_TOPICS[kind]
    types = MessageTypes()
    message = types.new(topic.type)
    marks = [math.pi * (k + 1.0) for k in range(4)]
    if kind == "ackermann":
        drive = message.drive
        drive.speed, drive.steering_angle, drive.steering_angle_velocity, drive.acceleration = marks
    else:
        twist = message if kind == "twist" else message.twist
        twist.linear.x, twist.linear.y, twist.angular.z = marks[:3]
    if kind != "twist":
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(MARK, 1_000_000_000)
    data = bytes(types.codec(topic.type).encode(message))
    template = learn(data, MARK, marks, "<f4" if kind == "ackermann" else "<f8")
    return Rows([(_channel(writer, topic), template)])


def _channel(writer: RowWriter, topic: topics.Topic) -> int:
    name = "/" + topic.name.lstrip("/")
    about = {"offered_qos_profiles": qos_profile(topic.qos), "topic_type_hash": MessageTypes().hash(topic.type)}
    return writer.channel(name, topic.type, definition(topic.type), about)


class _Listener:
    """Stands in for the graph where nobody is: it keeps what is published."""

    def __init__(self) -> None:
        self._types = MessageTypes()
        self._taken: list[tuple[topics.Topic, bytes]] = []

    def taken(self) -> list[tuple[topics.Topic, bytes]]:
        """What was published since the last call."""
        taken, self._taken = self._taken, []
        return taken

    def message(self, type_name: str) -> Any:
        return self._types.new(type_name)

    def numbers(self, count: int) -> Any:
        return np.zeros(count)

    def serialize(self, message: Any, type_name: str) -> bytes:
        return bytes(self._types.codec(type_name).encode(message))

    def publisher(self, name: str, type_name: str, qos: QoS) -> _Publisher:
        topic = topics.Topic(name, type_name, qos)
        return _Publisher(lambda data: self._taken.append((topic, data)), lambda m: self.serialize(m, type_name))


class _Publisher:
    """Everybody listens to it."""

    def __init__(self, take: Any, serialize: Any) -> None:
        self._take = take
        self._serialize = serialize

    def subscription_count(self) -> int:
        return 1

    def publish(self, message: Any) -> None:
        self._take(self._serialize(message))

    def publish_raw(self, data: bytearray) -> None:
        self._take(bytes(data))


if __name__ == "__main__":
    sys.exit(main())
