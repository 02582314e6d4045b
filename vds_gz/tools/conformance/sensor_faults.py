"""The faults of a type of sensor: its parameters, its topics, and some measurements, without a graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from vds_gz.core.configuration import default_parameters
from vds_gz.core.errors import UnknownTypeError
from vds_gz.core.geometry import Transform, quaternion
from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.ros.arguments import is_topic
from vds_gz.core.ros.graph import Graph, Message, QoS
from vds_gz.core.ros.messages.fields import stamp_ns
from vds_gz.core.ros.messages.message_types import open_types
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.sensing.sensor import SensorOutput, SensorSetup, SensorType
from vds_gz.core.share import in_words, raised_at
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.vehicle_model import JointStates
from vds_gz.core.world.load_world import load_world
from vds_gz.core.world.scene import Scene
from vds_gz.tools.conformance.groups import declaration_faults

#: Times of the measurements [ns]; the last one is after a reset of time.
SECOND = 1_000_000_000
SAMPLES = 5

NAME = "checked"


@dataclass
class _CapturedTopic:
    """A topic without a graph, which keeps what is sent."""

    topic: str
    type_name: str
    listeners: int
    sent: list[bytes] = field(default_factory=list)

    def publish(self, message: Message) -> None:
        self.publish_raw(open_types().codec(self.type_name).encode(message))

    def publish_raw(self, data: bytes | bytearray) -> None:
        self.sent.append(bytes(data))

    def subscription_count(self) -> int:
        return self.listeners


class _SensorGraph:
    """The part of a graph that sensors use."""

    def __init__(self, listeners: int = 1) -> None:
        self.topics: dict[str, _CapturedTopic] = {}
        self._listeners = listeners
        self.message = open_types().new

    def serialize(self, message: Message, type_name: str) -> bytes | bytearray:
        return open_types().codec(type_name).encode(message)

    def numbers(self, count: int, kind: str = "float64") -> Any:
        return open_types().array(kind, [0] * count)

    def publisher(self, topic: str, type_name: str, qos: QoS) -> _CapturedTopic:
        self.topics[topic] = _CapturedTopic(topic, type_name, self._listeners)
        return self.topics[topic]


def sensor_faults(kind: SensorType) -> list[str]:
    """The faults of a type of sensor, each with what is right."""
    faults = [*declaration_faults(cast(ParameterGroup, kind.parameters())), *_stream_faults(kind)]
    if not faults:
        module = kind.make.__module__
        try:
            faults += _measuring_faults(kind)
        except Exception as error:  # any exception of the type's own code
            place = raised_at(error, module)
            faults.append(f"raises {in_words(error)} ({place}); the node would go on without the sensor")
    return faults


def _stream_faults(kind: SensorType) -> Iterator[str]:
    """Topics that cannot be."""
    if not kind.streams:
        yield "streams is empty; a sensor has at least one topic"
    names = [stream.ros for stream in kind.streams]
    for stream in kind.streams:
        where = f"stream '{stream.ros}'"
        if not is_topic(f"/{stream.topic(NAME)}", stream.ros_type):
            yield f"{where} of type '{stream.ros_type}' must have names such as 'range' and 'sensor_msgs/msg/Range'"
        elif names.count(stream.ros) > 1:
            yield f"{where} occurs {names.count(stream.ros)} times; each topic needs its own name"
        else:
            try:
                open_types().new(stream.ros_type)
            except UnknownTypeError as error:
                yield f"{where}: {error}"


def _measuring_faults(kind: SensorType) -> Iterator[str]:
    """What is wrong with a sensor that measures."""
    bench, setup, output = _made(kind)
    for name, fits, right in (
        ("rate", lambda value: 0.0 < value < math.inf, "a finite number of measurements per second above 0 [Hz]"),
        ("rays", lambda value: value >= 0, "the number of rays of a measurement, 0 or more"),
        ("span", lambda value: value >= 0 and isinstance(value, int), "a time before the present [ns], 0 or more"),
    ):
        value = getattr(output, name, None)
        if not isinstance(value, (int, float)) or not cast(Callable[[Any], bool], fits)(value):
            yield f"output.{name} is {value!r}; it must be {right}"
            return
    if output.rate != kind.parameters().rate:
        yield f"output.rate is {output.rate:g}; it must be the parameter 'rate', {kind.parameters().rate:g} Hz"
    announced = {setup.topic(stream).name: stream for stream in kind.streams}
    if bench.topics.keys() != announced.keys():
        yield f"it announces {_listed(bench.topics)}; it must be its streams, {_listed(announced)} (setup.publisher)"
        return
    if not output.subscribed:
        yield "output.subscribed is false although all topics have subscribers"
    for scene in (None, load_world("hall")):
        yield from _message_faults(kind, scene)
    first, second = (_sent(kind, load_world("hall")) for _ in range(2))
    if first != second:
        yield (
            "two equal runs give different measurements; take random numbers from SampleNoise, or from a generator "
            "with setup.seed and setup.name"
        )
    unheard, _, silent = _made(kind, listeners=0)
    if silent.subscribed:
        yield "output.subscribed is true although no topic has a subscriber"
    _run(silent, kind, None)
    if any(topic.sent for topic in unheard.topics.values()):
        yield "it publishes on topics without subscribers; such work is wasted"


def _message_faults(kind: SensorType, scene: Scene | None) -> Iterator[str]:
    """Messages that are missing, or have another time or frame than the measurement."""
    bench, setup, output = _made(kind)
    times = _run(output, kind, scene)
    where = "in a world" if scene else "without a world"
    for stream in kind.streams:
        messages = bench.topics[setup.topic(stream).name].sent
        if not messages and scene is not None:
            yield f"nothing is published on '{stream.ros}' {where}, in {len(times)} measurements"
        for data in messages:
            message = open_types().codec(stream.ros_type).decode(bytearray(data))
            if not hasattr(message, "header"):
                break
            stamp, frame = stamp_ns(message.header.stamp), message.header.frame_id
            if not any(time - output.span <= stamp <= time for time in times):
                yield (
                    f"a message on '{stream.ros}' is stamped {stamp} ns; it must be the time of a measurement, or at "
                    f"most output.span, {output.span} ns, before it"
                )
                break
            if frame not in ("", setup.frame(stream)):
                yield f"frame_id on '{stream.ros}' is '{frame}'; it must be '{setup.frame(stream)}' (setup.message)"
                break


def _made(kind: SensorType, listeners: int = 1) -> tuple[_SensorGraph, SensorSetup, SensorOutput]:
    bench = _SensorGraph(listeners)
    model = models()[default_parameters().model]
    joints = model.joints(model.parameters())
    setup = SensorSetup(cast(Graph, bench), NAME, kind, kind.parameters(), joints, "robot_", 7)
    return bench, setup, kind.make(setup)


def _sent(kind: SensorType, scene: Scene | None) -> dict[str, list[bytes]]:
    bench, _, output = _made(kind)
    _run(output, kind, scene)
    return {name: topic.sent for name, topic in bench.topics.items()}


def _run(output: SensorOutput, kind: SensorType, scene: Scene | None) -> list[int]:
    """Measure on a vehicle that turns, and once more after a reset of time; return the times [ns]."""
    step = round(SECOND / output.rate)
    times = [SECOND + number * step for number in range(SAMPLES)]
    for time in (*times, SECOND):
        history = range(time - output.span - step, time, max(step // 2, output.span // 20, 1)) if output.span else ()
        output.measure([_state(moment) for moment in (*history, time)], scene)
    return times


def _state(time: int) -> BodyState:
    """A body that drives a circle, with wheels that turn."""
    angle = 0.3 * (time * 1e-9 - 1.0)
    pose = Transform((2.0 * math.sin(angle), 2.0 - 2.0 * math.cos(angle), 0.0), quaternion(0.0, 0.0, angle))
    velocity = (0.6 * math.cos(angle), 0.6 * math.sin(angle), 0.0)
    joints = models()[default_parameters().model].joints(models()[default_parameters().model].parameters())
    return BodyState(
        time,
        pose,
        velocity,
        (0.0, 0.0, 0.3),
        (-0.18 * math.sin(angle), 0.18 * math.cos(angle), 0.0),
        joints=JointStates([angle] * len(joints), [0.3] * len(joints)),
    )


def _listed(names: Sequence[str] | Any) -> str:
    return ", ".join(map(repr, names)) or "nothing"
