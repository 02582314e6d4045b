"""What a recording tells: the vehicle's motion, its actuators, the commands it got. As arrays, in SI units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vds_gz.bags.connection import BagError
from vds_gz.bags.reader import Bag, open_bag
from vds_gz.errors import PATH, TEXT, VdsGzError, takes
from vds_gz.interface import topics
from vds_gz.interface.commands import CommandType, whole_types
from vds_gz.interface.conversions import stamp_ns, yaw_of
from vds_gz.interface.messages import Contacts, JointState, Odometry
from vds_gz.ros.errors import MalformedMessageError, UnknownTypeError
from vds_gz.ros.messages.factory import open_types
from vds_gz.study.touches import Touch, TouchLog
from vds_gz.vehicle.catalogue import actuator_kind
from vds_gz.vehicle.model import ActuatorKind

Array = NDArray[np.float64]
Times = NDArray[np.int64]

#: Times [ns], which are whole, and values of one message.
Numbers = tuple[float, ...]

#: A time without samples that is worth a note [s].
LONGEST_GAP = 0.5


class RecordingError(VdsGzError, ValueError):
    """A file is no recording of a vehicle."""


@dataclass(frozen=True, slots=True)
class Motion:
    """True pose and velocity of base_link at the times of the samples [s, m, m, rad, m/s, m/s, rad/s]."""

    time: Array
    x: Array
    y: Array
    heading: Array
    v_x: Array
    v_y: Array
    yaw_rate: Array


@dataclass(frozen=True, slots=True)
class Actuator:
    """Reference and response of an actuator: speeds [m/s] of a drive, angles [rad] of a steering."""

    name: str
    kind: ActuatorKind
    time: Array
    reference: Array
    response: Array


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands that arrived. Where they were of the other kind, steering angle or yaw rate is NaN."""

    time: Array
    speed: Array
    v_y: Array
    yaw_rate: Array
    steering_angle: Array


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded run. All times are the vehicle's own [s], from its first sample.

    Attributes:
        counts: Messages by topic.
        start: The vehicle's time of its first sample [ns].
        notes: What was noticed on the way, for people.
        command_topics: Where the commands came from.
        touches: What the vehicle touched, by its topic ``contacts``.
    """

    motion: Motion
    actuators: tuple[Actuator, ...]
    commands: Commands
    counts: Counter[str]
    start: int = 0
    notes: tuple[str, ...] = ()
    command_topics: tuple[str, ...] = ()
    touches: tuple[Touch, ...] = ()


#: Odometry from which the motion is taken, the best first: last parts of the topics' names.
MOTIONS = (topics.GROUND_TRUTH.name, topics.ODOM.name)


@dataclass(slots=True)
class _Rows:
    """What was read of one vehicle."""

    motion: list[Numbers] = field(default_factory=list)
    reference: list[Numbers] = field(default_factory=list)
    state: list[Numbers] = field(default_factory=list)
    command: list[Numbers] = field(default_factory=list)
    clock: list[tuple[int, int]] = field(default_factory=list)
    contacts: list[tuple[int, Contacts]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    command_topics: tuple[str, ...] = ()


@takes(path=PATH, namespace=TEXT.or_none)
def read(path: str | Path, namespace: str | None = None) -> Recording:
    """A run in a bag: of a vehicle of this package, or of one that publishes its odometry.

    A recording that was cut short is read as far as it goes.

    Args:
        path: The bag.
        namespace: The vehicle's, where there are several.

    Raises:
        RecordingError: The file cannot be read, or no vehicle is in it.
    """
    path = Path(path)
    try:
        with open_bag(path) as bag:
            counts = {name: count for (name, _), count in bag.counts().items() if count}
            motion = _motion_topic(path, bag, namespace)
            place = motion.rpartition("/")[0]
            rows = _read(bag, motion, place)
            notes = (f"'{path}' is cut short; it was read up to its last whole part",) if bag.cut_short else ()
    except (BagError, MalformedMessageError) as error:
        raise RecordingError(str(error)) from None
    except UnknownTypeError as error:
        raise RecordingError(f"recording '{path}': {error}") from None
    if len(rows.motion) < 2:
        raise RecordingError(f"recording '{path}' has {len(rows.motion)} message on '{motion}'; it takes at least 2")
    return _recording(rows, Counter(counts), notes, f"recording '{path}', topic '{motion}'")


def _motion_topic(path: Path, bag: Bag, namespace: str | None) -> str:
    """The topic that tells how the vehicle moved."""
    found = [one.topic for one in bag.connections if one.msgtype == topics.ODOM.type and one.msgcount]
    if namespace is not None:
        found = [name for name in found if name.startswith(f"/{namespace.strip('/')}/".replace("//", "/"))]
    for last in MOTIONS:
        chosen = [name for name in found if name.rpartition("/")[2] == last]
        if len(chosen) > 1:
            places = ", ".join(f"'{path}:{name.rpartition('/')[0] or '/'}'" for name in sorted(chosen))
            raise RecordingError(f"recording '{path}' has several vehicles; choose one of {places}")
        if chosen:
            return chosen[0]
    if len(found) == 1:
        return found[0]
    where = "" if namespace is None else f" in namespace '{namespace}'"
    raise RecordingError(
        f"recording '{path}' has no messages on '{topics.GROUND_TRUTH.name}' or '{topics.ODOM.name}' "
        f"({topics.ODOM.type}){where}, which tell how the vehicle moved; it has {bag.described()}"
    )


def _read(bag: Bag, motion: str, place: str) -> _Rows:
    """All that matters of the vehicle in this namespace; commands may also come from outside all namespaces."""
    rows = _Rows()
    types = open_types()
    take: dict[str, Callable[[int, Any], None]] = {
        motion: lambda time, message: rows.motion.append((time, *_motion(message))),
        f"{place}/{topics.ACTUATOR_REFERENCES.name}": lambda time, message: _take_joints(rows, rows.reference, message),
        f"{place}/{topics.ACTUATOR_STATES.name}": lambda time, message: _take_joints(rows, rows.state, message),
        f"{place}/clock": lambda time, message: rows.clock.append((time, stamp_ns(message.clock))),
        topics.CLOCK.name: lambda time, message: rows.clock.append((time, stamp_ns(message.clock))),
    }
    kinds = {motion: topics.ODOM.type, topics.CLOCK.name: topics.CLOCK.type, f"{place}/clock": topics.CLOCK.type}
    kinds |= {f"{place}/{one.name}": one.type for one in (topics.ACTUATOR_REFERENCES, topics.ACTUATOR_STATES)}
    counts = bag.counts()
    contacts = f"{place}/{topics.CONTACTS.name}"
    if counts.get((contacts, topics.CONTACTS.type)):
        kinds[contacts] = topics.CONTACTS.type
        take[contacts] = lambda time, message: rows.contacts.append((time, message))
    for where in dict.fromkeys((place, "")):
        found = [(f"{where}/{one.topic.name}", one) for one in whole_types()]
        given = {name: one for name, one in found if counts.get((name, one.topic.type))}
        for name, one in given.items():
            kinds[name] = one.topic.type
            take[name] = _command_taker(rows, one)
        if given:
            rows.command_topics = tuple(given)
            break
    codecs = {name: types.codec(kind) for name, kind in kinds.items()}
    wanted = [one for one in bag.connections if kinds.get(one.topic) == one.msgtype]
    for connection, time, data in bag.messages(wanted):
        take[connection.topic](time, codecs[connection.topic].decode(bytearray(data)))
    return rows


def _command_taker(rows: _Rows, one: CommandType) -> Callable[[int, Any], None]:
    return lambda time, message: rows.command.append((time, *one.decode(message).reference()))


def _take_joints(rows: _Rows, taken: list[Numbers], message: JointState) -> None:
    """Keep the actuators' numbers; a message of other actuators than the first one's, or lengths, is left out."""
    names = list(message.name)
    rows.names = rows.names or names
    if names == rows.names and len(message.position) == len(message.velocity) == len(names):
        taken.append((stamp_ns(message.header.stamp), *message.position, *message.velocity))


def _recording(rows: _Rows, counts: Counter[str], notes: tuple[str, ...], where: str) -> Recording:
    back = [i for i, (one, other) in enumerate(pairwise(rows.motion), start=1) if other[1] < one[1]]
    if back:
        rows.motion = rows.motion[back[-1] :]
        notes = (*notes, f"{where}: the vehicle's clock went back; what was before is left out")
    # Integers first: nanoseconds since 1970 do not fit into a float.
    log_times = np.array([row[0] for row in rows.motion], dtype=np.int64)
    stamps = np.array([row[1] for row in rows.motion], dtype=np.int64)
    begin = int(stamps[0])
    if stamps[-1] == begin:
        raise RecordingError(
            f"{where}: all {len(stamps)} messages are stamped {begin * 1e-9:.9g} s; stamps must advance with the "
            "vehicle's time"
        )
    values = np.array([row[2:] for row in rows.motion], dtype=float)
    if not np.isfinite(values).all():
        line, column = np.argwhere(~np.isfinite(values))[0]
        name = ("x", "y", "heading", "v_x", "v_y", "yaw_rate")[column]
        raise RecordingError(f"{where}, message {line + 1}: {name} is {values[line, column]}; it must be finite")
    touches = _touches(rows.contacts, int(log_times[0]), begin)
    columns: list[Array] = list(values.T)
    x, y, heading, *velocity = columns
    turned: Array = np.unwrap(heading)
    clock = _clock(rows.clock, log_times, stamps)
    time = (stamps - begin).astype(float) * 1e-9
    return Recording(
        Motion(time, x, y, turned, *velocity),
        tuple(_actuators(rows.names, rows.reference, rows.state, begin)),
        _commands(rows.command, clock[:, 0], clock[:, 1], begin),
        counts,
        begin,
        (*notes, *gaps(where, time), *map(str, touches)),
        rows.command_topics,
        touches,
    )


def _clock(ticks: list[tuple[int, int]], log_times: Times, stamps: Times) -> Times:
    """The vehicle's time at times of the recorder: rows of both [ns].

    From ``/clock`` if the vehicle goes by it, which comes with less delay than what the vehicle says of itself.
    """
    clock = np.array(ticks, dtype=np.int64).reshape(-1, 2)
    clock = clock[(clock[:, 1] >= stamps[0]) & (clock[:, 1] <= stamps[-1])]
    return clock if len(clock) > len(stamps) // 2 else np.column_stack((log_times, stamps))


def gaps(where: str, time: Array) -> Iterator[str]:
    """Notes of the longest time without samples, if it is long."""
    steps = np.diff(time)
    longest = int(np.argmax(steps))
    if steps[longest] > max(LONGEST_GAP, 10.0 * float(np.median(steps))):
        yield (
            f"{where}: nothing from {time[longest]:.2f} s to {time[longest + 1]:.2f} s; what is said of that time is "
            "a straight line"
        )


def _motion(message: Odometry) -> Numbers:
    pose, twist = message.pose.pose, message.twist.twist
    position = pose.position
    stamp = stamp_ns(message.header.stamp)
    return (stamp, position.x, position.y, yaw_of(pose.orientation), twist.linear.x, twist.linear.y, twist.angular.z)


def _commands(rows: list[Numbers], log_times: Times, stamps: Times, begin: int) -> Commands:
    """Arrivals are known in the recorder's time; the vehicle's messages tell what time it was for the vehicle."""
    arrived = np.array([row[0] - int(log_times[0]) for row in rows], dtype=float)
    logged = (log_times - log_times[0]).astype(float)
    time = np.interp(arrived, logged, (stamps - begin) * 1e-9)
    # Before the first sample and after the last, both times pass alike.
    time += 1e-9 * (arrived - np.clip(arrived, logged[0], logged[-1]))
    values = np.array([row[1:] for row in rows], dtype=float).reshape(-1, 4).T
    return Commands(time, *values)


def _touches(contacts: list[tuple[int, Contacts]], first: int, begin: int) -> tuple[Touch, ...]:
    """What was touched, in messages that came from a time of the recorder on [ns]; times since ``begin`` [ns]."""
    log = TouchLog()
    for arrived, message in contacts:
        if arrived >= first:
            points = ((one.collision2.name, at.x, at.y) for one in message.contacts for at in one.positions[:1])
            log.note((stamp_ns(message.header.stamp) - begin) * 1e-9, points)
    return log.touches


def _actuators(names: list[str], references: list[Numbers], states: list[Numbers], begin: int) -> Iterator[Actuator]:
    """Samples that have both a reference and a state, by stamp; those after the last time that the clock went back."""
    commanded = {row[0]: row[1:] for row in references}
    found = {row[0]: row[1:] for row in states}
    pairs = [(stamp, commanded[stamp], values) for stamp, values in found.items() if stamp in commanded]
    back = [i for i, (one, other) in enumerate(pairwise(pairs), start=1) if other[0] < one[0]]
    pairs = pairs[back[-1] :] if back else pairs
    if not pairs:
        return
    time = np.array([stamp - begin for stamp, _, _ in pairs]) * 1e-9
    reference = np.array([values for _, values, _ in pairs], dtype=float)
    response = np.array([values for _, _, values in pairs], dtype=float)
    for i, name in enumerate(names):
        if actuator_kind(name) == "steering":
            yield Actuator(name, "steering", time, reference[:, i], response[:, i])
        else:
            j = len(names) + i
            yield Actuator(name, "drive", time, reference[:, j], response[:, j])
