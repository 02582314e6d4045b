"""Roles of a bag's topics: commands, velocities, steering angle, and further measurements."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from vds_gz.interface.commands import GEAR_COMMAND, command_types, whole_types
from vds_gz.study.reading.messages import MEASUREMENTS, STEERING_TYPES, VELOCITY_TYPES
from vds_gz.study.recording import SignalError

#: Last parts of names; the first that exists is used. For commands in the order of the table of commands.
PREFERRED_SPEEDS = ("twist_actual", "odom", "velocity_status", "odometry")
PREFERRED_STEERINGS = ("actuator_states", "steering_status", "joint_states")

#: Parts of names of topics that are not measurements in spite of their types.
_NOT_MEASURED = re.compile(r"cmd|command|reference|target|desired|setpoint|goal|plan")

#: Parts of names of topics that are not commands in spite of their types.
_NOT_COMMANDED = re.compile(r"actual|state|status|measured|estimate|filtered|odom|feedback|truth|gps|imu")

#: Types and counts by topic, of topics with messages.
Counts = Mapping[str, tuple[str, int]]


class AmbiguousTopicError(SignalError):
    """Several topics could have the commands."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Topics of a bag by role; empty if there is none."""

    command: str
    velocity: str
    steering: str
    gear: str
    others: tuple[str, ...]

    def all(self) -> set[str]:
        """All of them."""
        return {self.command, self.velocity, self.steering, self.gear, *self.others} - {""}


def choose_topics(
    path: Path,
    counts: Counts,
    readers: Collection[str],
    command: str | None,
    velocity: str | None,
    steering: str | None,
) -> Chosen:
    """The topics that were named, or those recognised by name and type.

    Args:
        path: The bag, for messages.
        counts: Its topics.
        readers: Types of commands.
        command, velocity, steering: The named topics.

    Raises:
        SignalError: There are no commands or no measurements, or a named topic has another role.
    """
    commands = choose_command(path, counts, readers, command)
    used = {commands, *never_measured(counts)}
    measured = {name: one for name, one in counts.items() if name not in used and one[0] in MEASUREMENTS}
    speeds = _choose(path, counts, VELOCITY_TYPES, "velocities", "--velocity", velocity, PREFERRED_SPEEDS, measured)
    angles = _choose(
        path, counts, STEERING_TYPES, "steering angles", "--steering", steering, PREFERRED_STEERINGS, measured
    )
    if not measured:
        raise SignalError(_nothing(path, "velocities", "--velocity", counts))
    others = tuple(sorted(measured.keys() - {speeds, angles}))
    geared = {one.topic.type for one in whole_types() if one.geared}
    gears = [name for name, (kind, _) in counts.items() if kind == GEAR_COMMAND.topic.type]
    near = [name for name in gears if _folder(name) == _folder(commands)] or gears
    gear = min(near, default="") if counts[commands][0] in geared else ""
    return Chosen(commands, speeds, angles, gear, others)


def choose_command(
    path: Path, counts: Counts, readers: Collection[str], named: str | None = None, option: str = "--command"
) -> str:
    """The topic with the commands: the named one, one with a usual name, or the only one that could have them.

    Args:
        path: The bag, for messages.
        counts: Its topics.
        readers: Types of commands.
        named: The named topic.
        option: The option that names it.

    Raises:
        AmbiguousTopicError: Several could have them, and none was named.
        SignalError: There is none.
    """
    preferred = (*(one.topic.name for one in whole_types()), "cmd_vel")
    fitting = {
        name: one for name, one in counts.items() if one[0] in readers and not _NOT_COMMANDED.search(last_part(name))
    }
    topic = _choose(path, counts, readers, "commands", option, named, preferred, None if named else fitting)
    commanding = [name for name in fitting if _NOT_MEASURED.search(last_part(name))]
    if not topic and len(commanding) == 1:
        topic = commanding[0]
    if topic:
        return topic
    if fitting:
        raise AmbiguousTopicError(
            f"'{path}': several topics may have the commands: {_listed(fitting)}; name one with {option} TOPIC"
        )
    raise SignalError(_nothing(path, "commands", option, counts))


def never_measured(counts: Counts) -> Iterator[str]:
    """Topics with commands or references, although their type is one of measurements."""
    ours = {one.topic.name for one in command_types()}
    for name in counts:
        last = last_part(name)
        if last in ours or _NOT_MEASURED.search(last):
            yield name


def _choose(
    path: Path,
    counts: Counts,
    known: Collection[str],
    what: str,
    option: str,
    named: str | None,
    preferred: tuple[str, ...],
    among: Counts | None = None,
) -> str:
    """The named topic, or the one that fits best; for measurements also the only one; otherwise empty."""
    if named is not None:
        name = "/" + named.lstrip("/")
        if name not in counts:
            raise SignalError(f"'{path}' has no messages on '{name}' ({option}); it has {_listed(counts)}")
        if counts[name][0] not in known:
            raise SignalError(f"'{path}': '{name}' is {counts[name][0]}; {what} must be {', '.join(known)}")
        return name
    fitting = [name for name, (kind, _) in (counts if among is None else among).items() if kind in known]
    for last in preferred:
        for name in sorted(fitting):
            if last_part(name) == last:
                return name
    return fitting[0] if len(fitting) == 1 else ""


def _nothing(path: Path, what: str, option: str, counts: Counts) -> str:
    return f"'{path}': no topic with {what} was recognised; name it with {option} TOPIC. It has {_listed(counts)}"


def _listed(counts: Counts) -> str:
    return ", ".join(f"{name} ({kind}, {count})" for name, (kind, count) in sorted(counts.items())) or "no messages"


def _folder(topic: str) -> str:
    return topic.rpartition("/")[0]


def last_part(topic: str) -> str:
    """The last part of a topic's name."""
    return topic.rpartition("/")[2]
