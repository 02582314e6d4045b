"""A recorded run: motion and commands from a bag or a table of any vehicle.

All times are the vehicle's, as in its stamps. Commands have times of the recorder's clock, which are converted by the
messages that have both times. So the offset of a clock, or a simulation that is not in real time, shifts commands and
measurements equally.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from vds_gz.bags.connection import BagError
from vds_gz.bags.reader import Bag, open_bag
from vds_gz.commandlog.table import is_table
from vds_gz.errors import PATH, TEXT, UnknownTypeError, takes
from vds_gz.interface import topics
from vds_gz.interface.commands import CommandType, whole_types
from vds_gz.interface.conversions import stamp_ns
from vds_gz.ros.graph import Message
from vds_gz.study.reading.clocks import SAME_CLOCK, Times, vehicle_time
from vds_gz.study.reading.columns import Column, read_columns
from vds_gz.study.reading.messages import MEASUREMENTS, STEERING_TYPES, VELOCITY_TYPES, Key, Reader
from vds_gz.study.reading.table import read_run_csv
from vds_gz.study.reading.topics import (
    PREFERRED_SPEEDS,
    PREFERRED_STEERINGS,
    AmbiguousTopicError,
    Counts,
    choose_command,
    last_part,
    never_measured,
)
from vds_gz.study.recording import (
    ActuatorSeries,
    Array,
    CommandSeries,
    MotionSeries,
    Recording,
    RecordingError,
    Touch,
    TouchLog,
)
from vds_gz.study.signals import POSES, QUANTITIES, Series, SignalError, Signals
from vds_gz.vehicle.catalogue import actuator_kind

#: Topics from which the motion is taken, the best first: last parts of their names.
MOTIONS = (topics.GROUND_TRUTH.name, topics.ODOM.name)

_ACTUATOR_TOPICS = (topics.ACTUATOR_REFERENCES, topics.ACTUATOR_STATES)

#: Minimum length of a noted time without samples [s].
LONGEST_GAP = 0.5

#: If stamps go back by more, the clock went back [s]; by less, messages overtook each other.
CLOCK_BACK = 0.2

#: Velocities of a pose are differences over this time [s].
DIFFERENCE = 0.2

_COMMANDED = ("v_x", "v_y", "yaw_rate", "steering")


@takes(path=PATH, namespace=TEXT.or_none, topic=TEXT.or_none)
def read(path: str | Path, namespace: str | None = None, topic: str | None = None) -> Recording:
    """A run in a bag or a table: of a vehicle of this package, or of any other that ``identify`` takes.

    A truncated recording is read up to its end.

    Args:
        path: The bag or the table.
        namespace: The vehicle's, if a bag has several.
        topic: A bag's topic with the commands, if several could have them.

    Raises:
        RecordingError: The file cannot be read or contains no vehicle.
    """
    path = Path(path)
    if is_table(path):
        return of_signals(read_run_csv(path), str(path))
    try:
        with open_bag(path) as bag:
            return _read(path, bag, namespace, topic)
    except BagError as error:
        raise RecordingError(str(error)) from None
    except UnknownTypeError as error:
        raise RecordingError(f"recording '{path}': {error}") from None


def of_signals(signals: Signals, where: str) -> Recording:
    """A run from commands and measurements by one clock.

    Args:
        signals: The signals of a file.
        where: The file, for notes.

    Raises:
        RecordingError: Nothing was measured twice.
    """
    series = {name: one for name, one in signals.measured.items() if len(one.time)}
    for channel in signals.further:
        if channel.quantity in (*POSES, *QUANTITIES) and len(channel.series.time):
            series.setdefault(channel.quantity, channel.series)
    motion = _motion(series, where)
    commanded = {name: one for name, one in signals.commanded.items() if len(one.time)}
    if signals.made_by_replay:
        commands = _commands(np.array([min(one.time[0] for one in series.values())]), np.full((1, 4), np.nan))
    else:
        time = np.unique(np.concatenate([np.empty(0), *(one.time for one in commanded.values())]))
        commands = _commands(time, np.column_stack([_held(commanded.get(name), time) for name in _COMMANDED]))
    remarks = (note for note in signals.notes if "gap" not in note)  # there is one of the motion
    return Recording(
        motion,
        signals.actuators,
        commands,
        Counter({"samples": len(motion.time)}),
        notes=(*remarks, *_gaps(where, motion.time)),
        steering=_steering(series, signals.actuators),
    )


# ---------------------------------------------------------------------- bags


def _read(path: Path, bag: Bag, namespace: str | None, topic: str | None) -> Recording:
    totals = {name: count for (name, _), count in bag.counts().items() if count}
    counts = {name: (kind, count) for (name, kind), count in bag.counts().items() if count}
    inside = counts if namespace is None else _inside(counts, namespace)
    main = _motion_topic(path, bag, inside, namespace)
    place = main.rpartition("/")[0]
    commands = _command_topics(path, counts, inside, place, topic)
    ours = {f"{place}/{one.name}" for one in _ACTUATOR_TOPICS}
    steering = "" if ours <= counts.keys() else _steering_topic(inside, main)
    known: dict[str, tuple[str, Reader]] = {name: (one.topic.type, _reader(one)) for name, one in commands.items()}
    known |= dict.fromkeys(ours, (topics.ACTUATOR_STATES.type, _actuators_of))
    known |= dict.fromkeys((f"{place}/clock", topics.CLOCK.name), (topics.CLOCK.type, _nothing_more))
    known |= {name: (counts[name][0], MEASUREMENTS[counts[name][0]]) for name in (main, steering) if name}
    contacts: list[Message] = []
    known[touched := f"{place}/{topics.CONTACTS.name}"] = topics.CONTACTS.type, _keeper(contacts)
    wanted = [one for one in bag.connections if one.topic in known and known[one.topic][0] == one.msgtype]
    readers = {name: reader for name, (_, reader) in known.items()}
    columns = read_columns(path, bag.messages(wanted), readers)
    notes = (f"'{path}' is cut short; it was read up to its last whole part",) if bag.cut_short else ()
    if (count := len(columns[main].logged) if main in columns else 0) < 2:
        raise RecordingError(f"recording '{path}': number of messages on '{main}' is {count}; it must be at least 2")
    run = _recording(path, columns, main, steering, place, tuple(commands), Counter(totals), notes)
    arrived = columns[touched].logged if touched in columns else ()
    touches = _touches(zip(arrived, contacts, strict=True), columns[main].logged[0], run.start)
    return replace(run, notes=(*run.notes, *map(str, touches)), touches=touches)


def _inside(counts: Counts, namespace: str) -> Counts:
    place = f"/{namespace.strip('/')}/".replace("//", "/")
    return {name: one for name, one in counts.items() if name.startswith(place)}


def _motion_topic(path: Path, bag: Bag, counts: Counts, namespace: str | None) -> str:
    """The topic with the vehicle's motion."""
    odometry = [name for name, (kind, _) in counts.items() if kind == topics.ODOM.type]
    for last in MOTIONS:
        chosen = [name for name in odometry if last_part(name) == last]
        if len(chosen) > 1:
            places = ", ".join(f"'{path}:{name.rpartition('/')[0] or '/'}'" for name in sorted(chosen))
            raise RecordingError(f"recording '{path}' has several vehicles; choose one of {places}")
        if chosen:
            return chosen[0]
    never = set(never_measured(counts))
    for kind in (*VELOCITY_TYPES, *STEERING_TYPES):
        fitting = sorted(name for name, one in counts.items() if one[0] == kind and name not in never)
        preferred = [name for last in PREFERRED_SPEEDS for name in fitting if last_part(name) == last]
        if fitting:
            return (preferred or fitting)[0]
    where = "" if namespace is None else f" in namespace '{namespace}'"
    raise RecordingError(
        f"recording '{path}' has no messages on '{topics.GROUND_TRUTH.name}' or '{topics.ODOM.name}' "
        f"({topics.ODOM.type}){where}, or on another topic that tells how the vehicle moved; it has {bag.described()}"
    )


def _command_topics(
    path: Path, counts: Counts, inside: Counts, place: str, topic: str | None
) -> dict[str, CommandType]:
    """The topics with the commands of the vehicle in a namespace, which may also be outside all namespaces."""
    types = {one.topic.type: one for one in reversed(whole_types())}
    if topic is None:
        for where in (place, ""):
            ours = {f"{where}/{one.topic.name}": one for one in whole_types()}
            if used := {name: one for name, one in ours.items() if counts.get(name, ("",))[0] == one.topic.type}:
                return used
    outside = {name: one for name, one in counts.items() if name.count("/") == 1}
    for searched in (counts,) if topic is not None or inside is counts else (inside, outside):
        try:
            name = choose_command(path, searched, types, topic, "--topic")
        except AmbiguousTopicError:
            raise
        except SignalError:
            if topic is not None:
                raise
        else:
            return {name: types[counts[name][0]]}
    return {}


def _steering_topic(counts: Counts, main: str) -> str:
    """The topic with the steering angle: one with a usual name, or the only one; otherwise empty."""
    never = {main, *never_measured(counts)}
    fitting = sorted(name for name, (kind, _) in counts.items() if kind in STEERING_TYPES and name not in never)
    preferred = [name for last in PREFERRED_STEERINGS for name in fitting if last_part(name) == last]
    return next(iter(preferred), fitting[0] if len(fitting) == 1 else "")


def _reader(one: CommandType) -> Reader:
    keys = [Key(name) for name in _COMMANDED]
    return lambda message: dict(zip(keys, one.decode(message).reference(), strict=True))


def _keeper(messages: list[Message]) -> Reader:
    """A reader that keeps whole messages."""

    def keep(message: Message) -> dict[Key, float]:
        messages.append(message)
        return {}

    return keep


def _touches(contacts: Iterable[tuple[int, Message]], first: int, begin: int) -> tuple[Touch, ...]:
    """The touches in messages from a recorder's time on [ns]; times since ``begin`` [ns]."""
    log = TouchLog()
    for arrived, message in contacts:
        if arrived >= first:
            points = ((one.collision2.name, at.x, at.y) for one in message.contacts for at in one.positions[:1])
            log.note((stamp_ns(message.header.stamp) - begin) * 1e-9, points)
    return log.touches


def _nothing_more(message: object) -> dict[Key, float]:
    """A clock message only has its stamp."""
    return {}


def _actuators_of(message: Message) -> dict[Key, float]:
    """Angles and speeds of actuators, by their names."""
    if not len(message.position) == len(message.velocity) == len(message.name):
        return {}
    angles = {Key("position", name): value for name, value in zip(message.name, message.position, strict=False)}
    return angles | {Key("velocity", name): value for name, value in zip(message.name, message.velocity, strict=False)}


def _recording(
    path: Path,
    columns: Mapping[str, Column],
    main: str,
    steering: str,
    place: str,
    commands: tuple[str, ...],
    counts: Counter[str],
    notes: tuple[str, ...],
) -> Recording:
    where = f"recording '{path}', topic '{main}'"
    column = columns[main]
    logged, stamps = column.times()
    kept = slice(None)
    if back := np.flatnonzero(np.diff(stamps) < -CLOCK_BACK * 1e9).tolist():
        kept = slice(back[-1] + 1, None)
        notes = (*notes, f"{where}: the vehicle's clock went back; samples before that are left out")
    logged, stamps = logged[kept], stamps[kept]
    begin = int(stamps.min())
    if stamps.max() == begin:
        raise RecordingError(
            f"{where}: all {len(stamps)} messages are stamped {begin * 1e-9:.9g} s; stamps must advance with the "
            "vehicle's time"
        )
    remarks: list[str] = []
    time = (stamps - begin).astype(float) * 1e-9
    numbers = {key: values[kept] for key, values in column.known() if not key.joint}
    series = {
        key.quantity: _samples(time, values, f"{where}, {key.quantity}", remarks) for key, values in numbers.items()
    }
    if "heading" in series:
        series["heading"] = Series(series["heading"].time, np.unwrap(series["heading"].value))
    ticks = [one for name, one in columns.items() if last_part(name) == "clock"]
    order = np.argsort(stamps, kind="stable")
    clock = _clock(ticks, logged[order], stamps[order])
    commanded = _commanded([columns[name] for name in commands if name in columns], clock, begin)
    actuators = tuple(_actuators(*_actuator_columns(columns, place), begin))
    if steering in columns:
        arrived, stamped = columns[steering].times()
        if abs(_late(arrived, stamped) - _late(logged, stamps)) > SAME_CLOCK:
            stamped = vehicle_time(arrived, *clock)
        for key, angles in columns[steering].known():
            if key == Key("steering"):
                seconds = (stamped - begin).astype(float) * 1e-9
                series["steering"] = _samples(seconds, angles, f"{where}, steering", remarks)
    motion = _motion(series, where)
    return Recording(
        motion,
        actuators,
        commanded,
        counts,
        begin,
        (*notes, *remarks, *_gaps(where, motion.time)),
        commands,
        _steering(series, actuators),
    )


def _commanded(received: list[Column], clock: tuple[Times, Times], begin: int) -> CommandSeries:
    """The commands of all topics in the order in which they arrived, at the vehicle's times since ``begin`` [ns]."""
    arrived = np.concatenate([np.empty(0, np.int64), *(column.times()[0] for column in received)])
    values = np.concatenate([np.empty((0, 4)), *(column.table(map(Key, _COMMANDED)) for column in received)])
    order = np.argsort(arrived, kind="stable")
    return _commands((vehicle_time(arrived[order], *clock) - begin).astype(float) * 1e-9, values[order])


def _late(logged: Times, stamps: Times) -> float:
    """Delay from messages' stamps to their recording [s]."""
    return float(np.median(logged - stamps)) * 1e-9


def _samples(time: Array, values: Array, what: str, notes: list[str]) -> Series:
    """The finite samples in the order of time, including equal stamps."""
    finite = np.isfinite(values)
    if not finite.all():
        notes.append(f"{what}: {int((~finite).sum())} samples are NaN or infinite; they were left out")
    order = np.argsort(time[finite], kind="stable")
    return Series(time[finite][order], values[finite][order])


def _clock(ticks: list[Column], logged: Times, stamps: Times) -> tuple[Times, Times]:
    """Times of recording and the vehicle's corresponding times [ns].

    From ``/clock`` if the vehicle uses it, because it has less delay than the vehicle's own messages.
    """
    for column in ticks:
        arrived, ticked = column.times()
        inside = (ticked >= stamps[0]) & (ticked <= stamps[-1])
        if inside.sum() > len(stamps) // 2:
            return arrived[inside], ticked[inside]
    return logged, stamps


def _actuator_columns(columns: Mapping[str, Column], place: str) -> tuple[Column | None, Column | None]:
    references, states = (columns.get(f"{place}/{one.name}") for one in _ACTUATOR_TOPICS)
    return references, states


def _actuators(references: Column | None, states: Column | None, begin: int) -> Iterator[ActuatorSeries]:
    """Samples with both a reference and a state, by stamp, from the last time on that the clock went back."""
    if references is None or states is None:
        return
    rows = {stamp: i for i, stamp in enumerate(references.stamps)}
    latest = {stamp: i for i, stamp in enumerate(states.stamps)}
    pairs = [(stamp, rows[stamp], i) for stamp, i in latest.items() if stamp in rows]
    back = [i for i, (one, other) in enumerate(pairwise(pairs), start=1) if other[0] < one[0]]
    pairs = pairs[back[-1] :] if back else pairs
    if not pairs:
        return
    stamps, commanded, responded = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    time = (stamps - begin).astype(float) * 1e-9
    for name in dict.fromkeys(key.joint for key in states.numbers):
        kind = actuator_kind(name)
        key = Key("position" if kind == "steering" else "velocity", name)
        if key in references.numbers:
            reference, response = np.array(references.numbers[key])[commanded], np.array(states.numbers[key])[responded]
            there = np.isfinite(reference) & np.isfinite(response)
            yield ActuatorSeries(name, kind, time[there], reference[there], response[there])


# ---------------------------------------------------------------------- both


def _commands(time: Array, values: Array) -> CommandSeries:
    return CommandSeries(time, *values.T)


def _held(series: Series | None, time: Array) -> Array:
    """The commands in force at these times; NaN before the first and where nothing was commanded."""
    if series is None:
        return np.full(len(time), np.nan)
    at = np.searchsorted(series.time, time, side="right") - 1
    return np.where(at >= 0, series.value[at], np.nan)


def _steering(series: Mapping[str, Series], actuators: tuple[ActuatorSeries, ...]) -> tuple[Array, Array] | None:
    """The measured steering angle, if no actuator reports itself."""
    angle = series.get("steering")
    if angle is None or len(angle.time) < 2 or any(one.kind == "steering" for one in actuators):
        return None
    return angle.time, angle.value


def _motion(series: Mapping[str, Series], where: str) -> MotionSeries:
    """All quantities at the times of the main measurement; NaN if not measured."""
    known = {name: one for name, one in series.items() if len(one.time) > 1}
    known = _velocities(known) | known
    base = next((known[name] for name in ("v_x", "yaw_rate", "steering") if name in known), None)
    if base is None:
        raise RecordingError(
            f"{where}: there are fewer than 2 samples of each velocity and of the steering angle; needed are at least "
            "2 of one of them, or more samples of a pose"
        )
    return MotionSeries(base.time, *(_at(known.get(name), base.time) for name in (*POSES, "v_x", "v_y", "yaw_rate")))


def _at(series: Series | None, time: Array) -> Array:
    if series is None:
        return np.full(len(time), np.nan)
    if series.time is time or np.array_equal(series.time, time):
        return series.value
    return np.interp(time, series.time, series.value, left=np.nan, right=np.nan)


def _velocities(series: Mapping[str, Series]) -> dict[str, Series]:
    """Velocities of base_link by differences of its pose around each time."""
    if not all(name in series for name in POSES):
        return {}
    time = series["x"].time
    x, y, heading = (_at(series[name], time) for name in POSES)
    known = np.isfinite(y) & np.isfinite(heading)
    time, x, y, heading = time[known], x[known], y[known], heading[known]
    if len(time) < 2 or time[-1] - time[0] <= DIFFERENCE:
        return {}
    middle = time[(time >= time[0] + 0.5 * DIFFERENCE) & (time <= time[-1] - 0.5 * DIFFERENCE)]
    if len(middle) < 2:
        return {}
    d_x, d_y, turned = (
        (np.interp(middle + 0.5 * DIFFERENCE, time, one) - np.interp(middle - 0.5 * DIFFERENCE, time, one)) / DIFFERENCE
        for one in (x, y, heading)
    )
    angle = np.interp(middle, time, heading)
    cos, sin = np.cos(angle), np.sin(angle)
    v_x, v_y = d_x * cos + d_y * sin, d_y * cos - d_x * sin
    return {name: Series(middle, one) for name, one in (("v_x", v_x), ("v_y", v_y), ("yaw_rate", turned))}


def _gaps(where: str, time: Array) -> Iterator[str]:
    """A note about the longest time without samples, if it is long."""
    steps = np.diff(time)
    longest = int(np.argmax(steps))
    if steps[longest] > max(LONGEST_GAP, 10.0 * float(np.median(steps))):
        yield (
            f"{where}: there are no samples from {time[longest]:.2f} s to {time[longest + 1]:.2f} s; values in between "
            "are interpolated"
        )
