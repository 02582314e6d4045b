"""A run in a bag or a table: motion, actuators, commands and touches of a vehicle, for comparisons and pictures.

All times are the vehicle's, as in its stamps. Commands have times of the recorder's clock, which are converted by the
messages that have both times. So the offset of a clock, or a simulation that is not in real time, shifts commands and
measurements equally.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from vds_gz.core.arrays import Array, Integers
from vds_gz.core.errors import PATH, TEXT, RecordingError, UnknownTypeError, takes
from vds_gz.core.ros.graph import Message
from vds_gz.core.ros.messages.fields import stamp_ns
from vds_gz.core.vehicle.catalogue import actuator_kind
from vds_gz.programs.bags.reader import Bag, open_bag
from vds_gz.programs.commandlog.command_topic import (
    AmbiguousTopicError,
    Counts,
    TopicError,
    choose_command,
    last_part,
    listed,
)
from vds_gz.programs.commandlog.csv_table import is_table
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.commands import whole_types
from vds_gz.tools.study.reading.bag import (
    PREFERRED_SPEEDS,
    PREFERRED_STEERINGS,
    commands_from,
    measurements_from,
    never_measured,
)
from vds_gz.tools.study.reading.cleaning import GAP_FINDING, SAME_CLOCK, seconds, vehicle_time
from vds_gz.tools.study.reading.message_quantities import (
    MEASUREMENTS,
    STEERING_TYPES,
    VELOCITY_TYPES,
    Key,
    QuantityReader,
    TopicData,
    command_readers,
    read_columns,
)
from vds_gz.tools.study.reading.signal_table import read_run_csv
from vds_gz.tools.study.recording import ActuatorSeries, Recording, Touch, TouchLog

#: Topics from which the motion is taken, the best first: last parts of their names.
MOTIONS = (topics.GROUND_TRUTH.name, topics.ODOM.name)

_ACTUATOR_TOPICS = (topics.ACTUATOR_REFERENCES, topics.ACTUATOR_STATES)

#: Minimum length of a noted time without samples [s].
LONGEST_GAP = 0.5

#: If stamps go back by more, the clock went back [s]; by less, messages overtook each other.
CLOCK_BACK = 0.2


@takes(path=PATH, namespace=TEXT.or_none, topic=TEXT.or_none)
def read(path: str | Path, namespace: str | None = None, topic: str | None = None) -> Recording:
    """A run in a bag or a table: of a vehicle of this package, or of any other that ``identify`` takes.

    A truncated recording is read up to its end.

    Args:
        path: The bag or the table.
        namespace: The vehicle's namespace, if a bag has several vehicles.
        topic: The topic with the commands, if several topics of a bag may have them.

    Raises:
        RecordingError: The file cannot be read or contains no vehicle.
    """
    path = Path(path)
    where = str(path)
    try:
        if is_table(path):
            run = read_run_csv(path)
            run.command_times = run.commands.time
            if run.made_by_replay:
                run.command_times = np.array(
                    [min(series.time[0] for series in run.measured.values() if len(series.time))]
                )
        else:
            with open_bag(path) as bag:
                run, where = _read(path, bag, namespace, topic)
    except UnknownTypeError as error:
        raise RecordingError(f"recording '{path}': {error}") from None
    try:
        time = run.motion.time
    except RecordingError as error:
        raise RecordingError(f"{where}: {error}") from None
    if is_table(path):
        run.counts["samples"] = len(time)
    run.findings[:] = [
        finding for finding in run.findings if not GAP_FINDING.search(finding)
    ]  # there is one of the motion
    run.findings += [*_gaps(where, time), *map(str, run.touches)]
    return run


def _read(path: Path, bag: Bag, namespace: str | None, topic: str | None) -> tuple[Recording, str]:
    """The run in a bag, and its place in words."""
    counts = bag.by_name()
    prefix = f"/{(namespace or '').strip('/')}/".replace("//", "/")
    inside = counts if namespace is None else {name: entry for name, entry in counts.items() if name.startswith(prefix)}
    main = _motion_topic(path, bag, inside, namespace)
    place = main.rpartition("/")[0]
    commands = _command_topics(path, counts, inside, place, topic)
    ours = [f"{place}/{actuators.name}" for actuators in _ACTUATOR_TOPICS]
    steering = "" if set(ours) <= counts.keys() else _steering_topic(inside, main)
    every = command_readers(pedals=False) | command_readers(pedals=True)
    readers: dict[tuple[str, str], QuantityReader] = {(name, kind): every[kind] for name, kind in commands.items()}
    readers |= {(name, topics.ACTUATOR_STATES.type): _actuators_of for name in ours}
    readers |= {(name, topics.CLOCK.type): lambda message: {} for name in (f"{place}/clock", topics.CLOCK.name)}
    readers |= {(name, counts[name][0]): MEASUREMENTS[counts[name][0]] for name in (main, steering) if name}
    contacts: list[Message] = []
    readers[touched := f"{place}/{topics.CONTACTS.name}", topics.CONTACTS.type] = _keeper(contacts)
    findings: list[str] = []
    columns = read_columns(bag, readers, findings)
    if (count := len(columns[main].logged) if main in columns else 0) < 2:
        raise RecordingError(f"recording '{path}': number of messages on '{main}' is {count}; it must be at least 2")
    run = Recording(counts=Counter({name: count for name, (_, count) in counts.items()}), findings=findings)
    run.command_topics = tuple(commands)
    run.findings += bag.findings
    where = f"recording '{path}', topic '{main}'"
    role = "steering" if counts[main][0] in STEERING_TYPES else "velocity"
    first = _fill(run, columns, main, role, steering if steering in columns else "", where)
    references, states = map(columns.get, ours)
    if references is not None and states is not None:
        run.actuators = tuple(_actuators(references, states, run.start))
    arrived = columns[touched].logged if touched in columns else ()
    run.touches = _touches(zip(arrived, contacts, strict=True), first, run.start)
    return run, where


def _fill(run: Recording, columns: Mapping[str, TopicData], main: str, role: str, steering: str, where: str) -> int:
    """Take measurements and commands, at the vehicle's times; return the time of recording of the first sample [ns]."""
    column = columns[main]
    logged, stamps = column.times()
    if back := np.flatnonzero(np.diff(stamps) < -CLOCK_BACK * 1e9).tolist():
        run.findings.append(f"{where}: the vehicle's clock went back; samples before that are left out")
        column = column.since(back[-1] + 1)
        logged, stamps = column.times()
    run.start = begin = int(stamps.min())
    if stamps.max() == begin:
        raise RecordingError(
            f"{where}: all {len(stamps)} messages are stamped {begin * 1e-9:.9g} s; stamps must advance with the "
            "vehicle's time"
        )
    measurements_from(run, main, role, column, seconds(stamps, begin))
    order = np.argsort(stamps, kind="stable")
    clock = _clock(
        [column for name, column in columns.items() if last_part(name) == "clock"], logged[order], stamps[order]
    )
    if steering:
        arrived, stamped = columns[steering].times()
        if abs(_late(arrived, stamped) - _late(logged, stamps)) > SAME_CLOCK:
            stamped = vehicle_time(arrived, *clock)
        measurements_from(run, steering, "steering", columns[steering], seconds(stamped, begin))
    arrivals = [np.empty(0, np.int64)]
    for received in (columns[name] for name in run.command_topics if name in columns):
        arrivals.append(received.times()[0])
        commands_from(run, received, seconds(vehicle_time(arrivals[-1], *clock), begin))
    run.command_times = seconds(vehicle_time(np.sort(np.concatenate(arrivals)), *clock), begin)
    return int(logged[0])


def _late(logged: Integers, stamps: Integers) -> float:
    """Delay from messages' stamps to their recording [s]."""
    return float(np.median(logged - stamps)) * 1e-9


def _motion_topic(path: Path, bag: Bag, counts: Counts, namespace: str | None) -> str:
    """The topic with the vehicle's motion."""
    for last in MOTIONS:
        ours = [name for name, (kind, _) in counts.items() if kind == topics.ODOM.type and last_part(name) == last]
        if len(ours) > 1:
            places = ", ".join(f"'{path}:{name.rpartition('/')[0] or '/'}'" for name in sorted(ours))
            raise RecordingError(f"recording '{path}' has several vehicles; choose one of {places}")
        if ours:
            return ours[0]
    never = never_measured(counts)
    for message_type in (*VELOCITY_TYPES, *STEERING_TYPES):
        fitting = sorted(name for name, (kind, _) in counts.items() if kind == message_type and name not in never)
        if fitting:
            return next(_preferred(fitting, PREFERRED_SPEEDS), fitting[0])
    where = "" if namespace is None else f" in namespace '{namespace}'"
    end = ", and is cut short: its end is missing" if bag.cut_short else ""
    raise RecordingError(
        f"recording '{path}' has no messages on '{topics.GROUND_TRUTH.name}' or '{topics.ODOM.name}' "
        f"({topics.ODOM.type}){where}, or on another topic with the vehicle's motion; "
        f"it has {listed(bag.by_name())}{end}"
    )


def _command_topics(path: Path, counts: Counts, inside: Counts, place: str, topic: str | None) -> dict[str, str]:
    """Topics with the commands of the vehicle in a namespace, with their types; they may be outside all namespaces."""
    types = [kind.topic.type for kind in whole_types()]
    if topic is not None:
        name = choose_command(path, counts, types, topic, "--topic")
        return {name: counts[name][0]}
    for where in (place, ""):
        ours = {f"{where}/{kind.topic.name}": kind.topic.type for kind in whole_types()}
        if used := {name: kind for name, kind in ours.items() if counts.get(name, ("",))[0] == kind}:
            return used
    outside = {name: entry for name, entry in counts.items() if name.count("/") == 1}
    for searched in (counts,) if inside is counts else (inside, outside):
        try:
            name = choose_command(path, searched, types, None, "--topic")
        except AmbiguousTopicError:
            raise
        except TopicError:
            continue
        return {name: counts[name][0]}
    return {}


def _steering_topic(counts: Counts, main: str) -> str:
    """The topic with the steering angle: one with a usual name, or the only one; empty without."""
    never = {main, *never_measured(counts)}
    fitting = sorted(name for name, (kind, _) in counts.items() if kind in STEERING_TYPES and name not in never)
    return next(_preferred(fitting, PREFERRED_STEERINGS), fitting[0] if len(fitting) == 1 else "")


def _preferred(names: Sequence[str], preferred: Iterable[str]) -> Iterator[str]:
    """The topics with usual names, the most usual first."""
    return (name for last in preferred for name in names if last_part(name) == last)


def _keeper(messages: list[Message]) -> QuantityReader:
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
            points = (
                (contact.collision2.name, at.x, at.y) for contact in message.contacts for at in contact.positions[:1]
            )
            log.note((stamp_ns(message.header.stamp) - begin) * 1e-9, points)
    return log.touches


def _actuators_of(message: Message) -> dict[Key, float]:
    """Angles and speeds of actuators, by their names."""
    if not len(message.position) == len(message.velocity) == len(message.name):
        return {}
    angles = {Key("position", name): value for name, value in zip(message.name, message.position, strict=False)}
    return angles | {Key("velocity", name): value for name, value in zip(message.name, message.velocity, strict=False)}


def _clock(ticks: list[TopicData], logged: Integers, stamps: Integers) -> tuple[Integers, Integers]:
    """Times of recording and the vehicle's corresponding times [ns].

    They are those of ``/clock`` if the vehicle uses it, because it has less delay than the vehicle's own messages.
    """
    for column in ticks:
        arrived, ticked = column.times()
        inside = (ticked >= stamps[0]) & (ticked <= stamps[-1])
        if inside.sum() > len(stamps) // 2:
            return arrived[inside], ticked[inside]
    return logged, stamps


def _actuators(references: TopicData, states: TopicData, begin: int) -> Iterator[ActuatorSeries]:
    """Samples with a reference and a state of one stamp, since the clock last went back."""
    commanded = {stamp: i for i, stamp in enumerate(references.stamps)}
    latest = {stamp: i for i, stamp in enumerate(states.stamps)}
    stamps = np.array([stamp for stamp in latest if stamp in commanded], np.int64)
    back = np.flatnonzero(np.diff(stamps) < 0) + 1
    stamps = stamps[back[-1] :] if len(back) else stamps
    if not len(stamps):
        return
    rows, time = stamps.tolist(), seconds(stamps, begin)
    for name in dict.fromkeys(key.joint for key in states.numbers):
        kind = actuator_kind(name)
        key = Key("position" if kind == "steering" else "velocity", name)
        if key in references.numbers:
            reference = np.array([references.numbers[key][commanded[stamp]] for stamp in rows])
            response = np.array([states.numbers[key][latest[stamp]] for stamp in rows])
            known = np.isfinite(reference) & np.isfinite(response)
            yield ActuatorSeries(name, kind, time[known], reference[known], response[known])


def _gaps(where: str, time: Array) -> Iterator[str]:
    """A finding about the longest time without samples, if it is long."""
    steps = np.diff(time)
    longest = int(np.argmax(steps))
    if steps[longest] > max(LONGEST_GAP, 10.0 * float(np.median(steps))):
        yield (
            f"{where}: there are no samples from {time[longest]:.2f} s to {time[longest + 1]:.2f} s; values in between "
            "are interpolated"
        )
