"""Commands and measurements from bags of any vehicle.

One topic gives the main velocities and one the main steering angle, by its given name or by name and type; all other
measurements of the motion are further channels. A channel with the values of another one at the same times is a copy
and left out: nodes publish one measurement on several topics, and counting it twice would make intervals too narrow.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.errors import MAPPING, PATH, UnknownTypeError, takes
from vds_gz.programs.bags.reader import may_be_bag, open_bag
from vds_gz.programs.commandlog.command_topic import (
    NOT_MEASURED,
    Counts,
    choose_command,
    choose_topic,
    last_part,
    nothing_recognised,
)
from vds_gz.programs.interface.commands import CommandType, command_types, gear_type, whole_types
from vds_gz.tools.study.reading.cleaning import (
    clean,
    joined,
    measured_times,
    new_positions,
    report_pieces,
    unwrapped,
)
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
from vds_gz.tools.study.reading.signal_table import read_csv
from vds_gz.tools.study.recording import POSES, MeasuredChannel, Recording, SignalError, is_hinge

#: Preferred topics, by the last parts of their names; the first that exists is used.
PREFERRED_SPEEDS = ("twist_actual", "odom", "velocity_status", "odometry")
PREFERRED_STEERINGS = ("actuator_states", "steering_status", "joint_states")


def _choose_topics(
    path: Path,
    counts: Counts,
    readers: Collection[str],
    command: str | None,
    velocity: str | None,
    steering: str | None,
) -> dict[str, str]:
    """Topics with their roles, either named or recognised by name and type; ``readers`` are the types of commands.

    They are in the order of precedence. Topics of further measurements have an empty role.
    """
    commands = choose_command(path, counts, readers, command)
    used = {commands, *never_measured(counts)}
    measured = {name: topic for name, topic in counts.items() if name not in used and topic[0] in MEASUREMENTS}
    speeds = choose_topic(
        path, counts, VELOCITY_TYPES, "velocities", "--velocity", velocity, PREFERRED_SPEEDS, measured
    )
    angles = choose_topic(
        path, counts, STEERING_TYPES, "steering angles", "--steering", steering, PREFERRED_STEERINGS, measured
    )
    if not measured:
        raise SignalError(nothing_recognised(path, "velocities", "--velocity", counts))
    geared = {kind.topic.type for kind in whole_types() if kind.geared}
    setter = gear_type()
    gears = [name for name, (kind, _) in counts.items() if setter and kind == setter.topic.type]
    near = [name for name in gears if name.rpartition("/")[0] == commands.rpartition("/")[0]] or gears
    gear = min(near, default="") if counts[commands][0] in geared else ""
    roles = {commands: "command"}
    others = ((topic, "") for topic in sorted(measured))
    for topic, role in ((gear, "gear"), (speeds, "velocity"), (angles, "steering"), *others):
        if topic:
            roles.setdefault(topic, role)
    return roles


def never_measured(counts: Counts) -> set[str]:
    """Topics with commands or references, whose type may also be one of measurements."""
    ours = {kind.topic.name for kind in command_types()}
    return {name for name in counts if last_part(name) in ours or NOT_MEASURED.search(last_part(name))}


#: Topic of actuators' states. Actuators are not joints, so only their steering angle is used.
_ACTUATORS = "actuator_states"

#: Values that differ by less than this part of their range are equal.
_SAME = 1e-6


def read_bag(
    path: Path,
    *,
    command: str | None = None,
    velocity: str | None = None,
    steering: str | None = None,
    pedals: bool = False,
) -> Recording:
    """The signals in a bag, from named or recognised topics; with ``pedals``, the commands are those of pedals."""
    readers = command_readers(pedals=pedals)
    try:
        with open_bag(path) as bag:
            counts = bag.by_name()
            roles = _choose_topics(path, counts, readers, command, velocity, steering)
            inputs: dict[str, Mapping[str, QuantityReader]] = {
                "command": readers,
                "gear": {setter.topic.type: partial(_gear, setter)} if (setter := gear_type()) else {},
            }
            readers_of = {}
            for topic, role in roles.items():
                kind, _ = counts[topic]
                readers_of[topic, kind] = inputs.get(role, MEASUREMENTS)[kind]
            findings: list[str] = []
            topics = read_columns(bag, readers_of, findings)
            findings += bag.findings
    except UnknownTypeError as error:
        raise SignalError(f"'{path}': {error}") from None
    roles = {topic: _role(role, topics.get(topic)) for topic, role in roles.items()}
    recording = _recording(roles, topics)
    named = {role: topic for topic, role in roles.items()}
    words = {"command": "commands", "velocity": "velocities", "steering": "steering"}
    main = ", ".join(f"{what} '{named[role]}'" for role, what in words.items() if role in named)
    further = sorted({channel.source for channel in recording.further if not roles[channel.source]})
    also = f", also measured {', '.join(map(repr, further))}" if further else ""
    recording.findings[:0] = [f"topics: {main}{also}", *findings]
    return recording


def _role(role: str, column: TopicData | None) -> str:
    """The role of a topic; joints of which none steers are no steering, but further measurements."""
    keys = [key for key, _ in column.known()] if column else []
    steers = any(key.quantity == "steering" or is_hinge(key.joint) for key in keys)
    return "" if role == "steering" and keys and not steers else role


def _gear(setter: CommandType, message: object) -> dict[Key, float]:
    return {Key("gear"): float(setter.decode(message).command().gear)}


def _recording(roles: Mapping[str, str], topics: Mapping[str, TopicData]) -> Recording:
    recording = Recording()
    begin = min((column.logged[0] for column in topics.values()), default=0)
    measurements = {
        role or f"'{topic}'": topics[topic].seconds(begin)
        for topic, role in roles.items()
        if topic in topics and role not in ("command", "gear")
    }
    times = measured_times(measurements, recording.findings)
    for topic, role in roles.items():
        if (column := topics.get(topic)) is None:
            continue
        if role in ("command", "gear"):
            commands_from(recording, column, column.seconds(begin)[0])
        else:
            measurements_from(recording, topic, role, column, times[role or f"'{topic}'"])
    recording.steers = "steering" in recording.commanded
    report_pieces(recording)
    return recording


def commands_from(recording: Recording, column: TopicData, time: Array) -> None:
    """Take a topic's numbers at these times [s] as commands."""
    for key, numbers in column.known():
        series = clean(time, numbers, f"command {key.quantity}", recording.findings, key.quantity, commanded=True)
        recording.commanded[key.quantity] = joined(recording.commanded.get(key.quantity), series)


def measurements_from(recording: Recording, topic: str, role: str, column: TopicData, time: Array) -> None:
    """Take a topic's numbers at these times [s] as main measurements or further channels."""
    known = list(column.known())
    hinges = sum(is_hinge(key.joint) for key, _ in known)
    main = {"velocity": ("v_x", "v_y", "yaw_rate"), "steering": ("steering",)}.get(role, ())
    pose = {key.quantity: numbers for key, numbers in known if key.quantity in POSES}
    new = new_positions(time, pose["x"], pose["y"]) if pose.keys() >= {"x", "y"} else np.ones(len(time), bool)
    if not new.all():
        every = float(np.median(np.diff(time[new])))
        recording.findings.append(
            f"positions on '{topic}' are new every {every:.2g} s only; those between are left out"
        )
    for (quantity, joint), numbers in known:
        if joint and (last_part(topic) == _ACTUATORS or (role == "steering" and hinges == 1 and is_hinge(joint))):
            continue  # the only hinge is the steering
        if quantity == "steering" and hinges and quantity not in main:
            continue  # the mean of hinges that are channels too
        used = new if quantity in POSES else np.ones(len(time), bool)
        name = f"{role or topic} {joint or quantity}"
        series = clean(time[used], numbers[used], name, recording.findings, quantity)
        if quantity in main:
            recording.measured[quantity] = series
            recording.sources[quantity] = topic
        else:
            name = f"{topic.lstrip('/')} {joint or quantity}"
            channel = unwrapped(MeasuredChannel(name, quantity, topic, series, joint))
            if not any(_is_copy(channel, earlier) for earlier in recording.channels):
                recording.further.append(channel)


def _is_copy(channel: MeasuredChannel, earlier: MeasuredChannel) -> bool:
    """Whether a channel has the values of an earlier one at its times."""
    if (channel.quantity, channel.joint) != (earlier.quantity, earlier.joint):
        return False
    times = channel.series.time, earlier.series.time
    _, here, there = np.intersect1d(*times, assume_unique=True, return_indices=True)
    if len(here) < max(0.9 * min(map(len, times)), 1):
        return False
    a, b = channel.series.value[here], earlier.series.value[there]
    return float(np.max(np.abs(a - b))) <= _SAME * max(float(np.ptp(b)), _SAME)


@takes(path=PATH, columns=MAPPING.or_none)
def read_signals(path: str | Path, columns: Mapping[str, str] | None = None) -> Recording:
    """Commands and measurements from a bag or a CSV file, for ``identify``.

    Args:
        path: A bag (rosbag2 folder, .mcap, .db3, .bag), whose topics are found by type and name, or a CSV file with a
            column ``time`` [s], commands such as ``v_x_command`` [m/s] or ``steering_command`` [rad], and measurements
            such as ``v_x_measured``, ``steering_measured``, ``x``, ``y``, ``heading``, ``imu_yaw_rate`` [rad/s] or
            ``<joint>_velocity`` [rad/s].
        columns: Custom names of a CSV file's columns, by quantity: ``{"v_x": "cmd:odom_v"}``.

    Raises:
        RecordingError: The file cannot be used, or holds no commands with measurements.
    """
    path = Path(path)
    if may_be_bag(path):
        return read_bag(path)
    return read_csv(path, columns)
