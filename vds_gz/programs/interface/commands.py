"""The table of command types, and the topics from which a vehicle takes them. Invalid messages are refused.

The table is the only place that knows the messages of commands.

To add a command type, add an entry to :data:`OWN`, or let an installed package offer one under the entry point group
``vds_gz.commands``. Vehicles then take it, and it can be read from tables and bags, replayed, recorded and sent.
"""

# ruff: noqa: D102  # Values documents the methods of its kinds
from __future__ import annotations

import math
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple, Protocol

from vds_gz.core.errors import ArgumentError, UnknownTypeError
from vds_gz.core.ros.graph import Graph, Message, Severity, Subscription, Topic
from vds_gz.core.ros.messages.fields import set_stamp, stamp_ns
from vds_gz.core.share import extensions, offered
from vds_gz.core.vehicle import command as vehicle_command
from vds_gz.core.vehicle.command import (
    ACKERMANN,
    FOUR_WHEEL,
    SPEED,
    STEERING,
    TWIST,
    Command,
    CommandKind,
    gear_fault,
    measure_fault,
)
from vds_gz.core.vehicle.vehicle import NANOSECONDS
from vds_gz.programs.interface import topics

#: Minimum time between log messages on refusals of one topic [s].
LOG_AGAIN = 5.0

#: Entry point group under which an installed package offers a :class:`CommandType`.
ENTRY_POINTS = "vds_gz.commands"


class Values(Protocol):
    """The numbers of a command: a named tuple whose fields are also the columns of a table."""

    #: Names and defaults of fields; for mypy their type differs between named tuples.
    _fields: Any
    _field_defaults: Any

    def __init__(self, *values: float, **named: float) -> None: ...

    def __iter__(self) -> Iterator[float]: ...

    def command(self) -> Command:
        """The command for a vehicle model."""


class Velocity(NamedTuple):
    """A velocity of base_link [m/s, m/s, rad/s]."""

    v_x: float
    v_y: float
    yaw_rate: float

    def command(self) -> Command:
        return Command(TWIST, *self)


class Ackermann(NamedTuple):
    """Speed [m/s] and steering angle [rad]; rate [rad/s] and acceleration [m/s^2] of 0 are as fast as possible."""

    speed: float
    steering_angle: float
    steering_angle_velocity: float = 0.0
    acceleration: float = 0.0

    def command(self) -> Command:
        """The command for a vehicle model, where an acceleration is a magnitude; in some messages it is signed."""
        speed, angle, rate, acceleration = self
        return vehicle_command.ackermann(speed, angle, rate, abs(acceleration))


class FourWheelSteering(NamedTuple):
    """Speed [m/s], steering angles of both axles [rad]; rates and acceleration of 0 are as fast as possible."""

    speed: float
    front_steering_angle: float
    rear_steering_angle: float
    front_steering_angle_velocity: float = 0.0
    rear_steering_angle_velocity: float = 0.0
    acceleration: float = 0.0

    def command(self) -> Command:
        speed, front, rear, front_rate, rear_rate, acceleration = self
        return vehicle_command.four_wheel_steering(speed, front, rear, front_rate, rear_rate, abs(acceleration))


class Speed(NamedTuple):
    """The speed of an Ackermann command [m/s]."""

    speed: float

    def command(self) -> Command:
        return Command(SPEED, v_x=self.speed)


class SteeringAngle(NamedTuple):
    """The steering angle of an Ackermann command [rad]."""

    steering_angle: float

    def command(self) -> Command:
        return Command(STEERING, steering_angle=self.steering_angle)


class Gear(NamedTuple):
    """A gear for all commands that follow, by its code in autoware_vehicle_msgs/GearCommand."""

    gear: int

    def command(self) -> Command:
        return vehicle_command.gear(int(self.gear))


@dataclass(frozen=True)
class CommandType:
    """A type of command and the layout of its messages.

    Attributes:
        name: Its name for users.
        kind: The kind of its commands, which a model must accept.
        topic: Its topic, with the type of its messages.
        values: Its numbers, which are also the columns of a table. A table of several types with the same columns is
            read as the first of them.
        fields: The path of each number in a message, such as ``drive.speed``.
        words: Its content in words, for messages to users.
        stamp: The path of the message's time; empty without one.
        single: Messages carry the numbers in single precision.
        variant: The value of ``actuation_messages`` that selects this one of several types of one topic, else empty.
    """

    name: str
    kind: CommandKind
    topic: Topic
    values: type[Values]
    fields: tuple[str, ...]
    words: str
    stamp: str = ""
    single: bool = False
    variant: str = ""

    def __post_init__(self) -> None:
        """Check that there is one field for each number.

        Raises:
            ArgumentError: The counts differ.
        """
        if len(self.fields) != len(self.columns):
            raise ArgumentError(
                f"command type '{self.name}' has the fields {', '.join(self.fields)}; there must be one for each of "
                f"{', '.join(self.columns)}"
            )

    def check_fields(self, message: object) -> None:
        """Refuse fields that its messages lack.

        Raises:
            ArgumentError: This message lacks a field.
        """
        for path in filter(None, (*self.fields, self.stamp)):
            try:
                attrgetter(path)(message)
            except AttributeError:
                raise ArgumentError(f"command type '{self.name}': a {self.topic.type} has no field '{path}'") from None

    @property
    def geared(self) -> bool:
        """Whether it needs a gear, which has its own topic; without commands the vehicle brakes."""
        return self.kind.geared

    @property
    def whole(self) -> bool:
        """Whether it commands a vehicle without other types, so that a log can consist of it."""
        return self.kind.part == "whole"

    @property
    def with_gears(self) -> bool:
        """Whether it is for vehicles with gears, which only some models have."""
        return self.geared or self.kind.part == "gear"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a table besides ``time`` and, if it is geared, ``gear``."""
        return tuple(self.values._fields)

    @property
    def required(self) -> tuple[str, ...]:
        """The required columns."""
        return tuple(name for name in self.columns if name not in self.values._field_defaults)

    @property
    def part(self) -> str:
        """The type in words, with its entry point."""
        place = next((e for e in extensions(ENTRY_POINTS) if offered(e, CommandType).name == self.name), None)
        return f"command type '{self.name}'" + (
            f" (entry point '{place.name}' of {place.group}, {place.value})" if place else ""
        )

    def decode(self, message: object) -> Values:
        """The numbers in a message."""
        return self.values(*self.numbers(message))

    def encode(self, message: object, values: Values, time: int) -> None:
        """Write numbers and, where there is one, the stamp [ns] into a message."""
        for path, value in zip(self.fields, values, strict=True):
            parent, _, name = path.rpartition(".")
            setattr(attrgetter(parent)(message) if parent else message, name, value)
        if self._stamp is not None:
            set_stamp(self._stamp(message), time)

    def as_sent(self, values: Values) -> Values:
        """The numbers rounded as in a message; commands of another type, such as a gear, are unchanged."""
        return self.values(*array("f", values)) if self.single and isinstance(values, self.values) else values

    def fault(self, message: object) -> str:
        """Which number of a message no command may have, by the name of its field; empty if each is within bounds."""
        check = gear_fault if self.kind.part == "gear" else measure_fault
        return next(filter(None, map(check, self.fields, self.numbers(message))), "")

    def stamp_of(self, message: object) -> int:
        """The time of a message [ns]; 0 if it has none or it is not set."""
        return 0 if self._stamp is None else stamp_ns(self._stamp(message))

    @cached_property
    def numbers(self) -> Callable[[object], Iterable[float]]:
        """Reads the numbers of a message."""
        read: Callable[[object], Any] = attrgetter(*self.fields)
        return read if len(self.fields) > 1 else lambda message: (read(message),)

    @cached_property
    def _stamp(self) -> Callable[[object], Message] | None:
        return attrgetter(self.stamp) if self.stamp else None


_TWIST = ("linear.x", "linear.y", "angular.z")
OWN = (
    CommandType("twist", TWIST, topics.TWIST_REFERENCE, Velocity, _TWIST, "velocities"),
    CommandType(
        "twist_stamped",
        TWIST,
        topics.TWIST_STAMPED_REFERENCE,
        Velocity,
        tuple(f"twist.{field}" for field in _TWIST),
        "velocities",
        "header.stamp",
    ),
    CommandType(
        "ackermann",
        ACKERMANN,
        topics.ACKERMANN_CMD,
        Ackermann,
        tuple(f"drive.{field}" for field in Ackermann._fields),
        "speeds and steering angles",
        "header.stamp",
        single=True,
    ),
    CommandType(
        "four_wheel_steering",
        FOUR_WHEEL,
        topics.FOUR_WHEEL_STEERING_CMD,
        FourWheelSteering,
        tuple(f"data.{field}" for field in FourWheelSteering._fields),
        "speeds and steering angles of both axles",
        "header.stamp",
        single=True,
    ),
    CommandType(
        "four_wheel_steering_unstamped",
        FOUR_WHEEL,
        topics.CMD_FOUR_WHEEL_STEERING,
        FourWheelSteering,
        FourWheelSteering._fields,
        "speeds and steering angles of both axles",
        single=True,
    ),
    CommandType("velocity", SPEED, topics.VELOCITY, Speed, ("data",), "speeds"),
    CommandType("steering_angle", STEERING, topics.STEERING_ANGLE, SteeringAngle, ("data",), "steering angles"),
)


def command_types() -> tuple[CommandType, ...]:
    """All command types."""
    types = list(OWN)
    for entry in extensions(ENTRY_POINTS):
        new = offered(entry, CommandType)
        if any(new.name == known.name or _is_taken(new, known) for known in types):
            raise ArgumentError(
                f"entry point '{entry.name}' of {ENTRY_POINTS}: there is a command type '{new.name}' or a topic "
                f"'{new.topic.name}' already"
            )
        types.append(new)
    return tuple(types)


def _is_taken(new: CommandType, known: CommandType) -> bool:
    """Whether a known type has a type's topic, and is not its variant."""
    are_variants = bool(new.variant and known.variant and new.variant != known.variant)
    return new.topic.name == known.topic.name and not are_variants


def gear_type() -> CommandType | None:
    """The type of commands that set a gear; None if no vehicle has gears."""
    return next((kind for kind in command_types() if kind.kind.part == "gear"), None)


def whole_types() -> tuple[CommandType, ...]:
    """The types of which a command log can consist."""
    return tuple(kind for kind in command_types() if kind.whole)


def command_type(name: str) -> CommandType:
    """The command type of this name."""
    return {kind.name: kind for kind in command_types()}[name]


def vehicle_topics() -> tuple[Topic, ...]:
    """All topics of commands and outputs that vehicles of any model have."""
    return (*(kind.topic for kind in command_types() if not kind.with_gears), *topics.VEHICLE)


class Refusals:
    """Counts refused messages by topic, and logs them at a limited rate."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._logged: dict[str, float] = {}
        self.counts: Counter[str] = Counter()

    def add(self, topic: str, reason: str) -> None:
        """Count a refused message on ``topic``."""
        self.counts[topic] += 1
        now = time.monotonic()
        if now - self._logged.get(topic, -math.inf) >= LOG_AGAIN:
            self._logged[topic] = now
            self._graph.log(Severity.WARN, f"message on '{topic}' refused ({self.counts[topic]} so far): {reason}")


class CommandInputs:
    """The topics of the commands that a vehicle model accepts.

    ``now`` gives the simulated time at a reading of the monotonic clock; ``enter`` takes a command, its arrival and its
    stamp [ns], None without one. A type whose message package is not installed is left out. ``failed`` takes exceptions
    of command types of other packages: the type in words, a module of its package, and the exception.

    Attributes:
        max_age: Maximum age of a stamp and of a command in force [ns].
        last_arrival: Arrival of the last accepted command in simulated time [ns]; None before the first.
        arrived: The same by ``time.monotonic_ns``; before the first command, the time of construction.
        refusals: The refused messages.
        subscriptions: The subscriptions to the topics.
    """

    def __init__(
        self,
        graph: Graph,
        accepts: frozenset[int],
        now: Callable[[int], int | None],
        enter: Callable[[Command, int, int | None], None],
        max_age: float = 1.0,
        messages: str = "tier4",
        failed: Callable[[str, str, Exception, str], None] | None = None,
    ) -> None:
        self.set_max_age(max_age)
        self.last_arrival: int | None = None
        self.arrived = time.monotonic_ns()
        self.refusals = Refusals(graph)
        self._now = now
        self._enter = enter
        self._failed = failed
        self.subscriptions: list[Subscription] = []
        for command_type in command_types():
            if command_type.kind in accepts and command_type.variant in ("", messages):
                topic, receive = command_type.topic, self._receiver(command_type)
                try:
                    command_type.check_fields(graph.message(topic.type))
                    self.subscriptions.append(graph.subscribe(topic.name, topic.type, topic.qos, receive))
                except UnknownTypeError as error:
                    graph.log(Severity.INFO, f"no topic '{topic.name}': {error}")

    def set_max_age(self, seconds: float) -> None:
        """Use another maximum age [s]."""
        self.max_age = round(seconds * NANOSECONDS)

    def forget(self) -> None:
        """Forget the last command's arrival, after a jump of time."""
        self.last_arrival = None

    def _receiver(self, command_type: CommandType) -> Callable[[object, int], None]:
        topic, values, numbers = command_type.topic.name, command_type.values, command_type.numbers

        def receive(message: object, arrival: int) -> None:
            now = self._now(arrival)
            if now is None:
                self.refusals.add(topic, "the time is not known yet: nothing has been received from /clock or Gazebo")
                return
            stamp = command_type.stamp_of(message) if command_type.stamp else 0
            if stamp and abs(now - stamp) > self.max_age:
                self.refusals.add(topic, self._stamp_fault(now - stamp))
                return
            try:
                command = values(*numbers(message)).command()
            except ArgumentError as error:
                self.refusals.add(topic, command_type.fault(message) or str(error))
                return
            except Exception as error:  # any exception of another package's type
                if self._failed is None:
                    raise
                self.refusals.counts[topic] += 1
                self._failed(command_type.part, values.__module__, error, "the message is dropped")
                return
            try:
                self._enter(command, now, stamp or None)
            except ArgumentError as error:
                self.refusals.add(topic, command_type.fault(message) or str(error))
                return
            self.last_arrival, self.arrived = now, arrival

        return receive

    def _stamp_fault(self, age: int) -> str:
        when = "old" if age > 0 else "in the future"
        limit = f"it must be at most {self.max_age * 1e-9:g} s. Do both nodes have the same use_sim_time?"
        return f"its stamp is {abs(age) * 1e-9:.3f} s {when}; {limit}"
