"""Roles of a bag's topics: commands, velocities, steering angle, and further measurements."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from vds_gz.commandlog.topics import (
    NOT_MEASURED,
    Counts,
    TopicError,
    choose_command,
    choose_topic,
    last_part,
    nothing_recognised,
)
from vds_gz.interface.commands import GEAR_COMMAND, command_types, whole_types
from vds_gz.study.reading.messages import MEASUREMENTS, STEERING_TYPES, VELOCITY_TYPES

#: Last parts of names; the first that exists is used.
PREFERRED_SPEEDS = ("twist_actual", "odom", "velocity_status", "odometry")
PREFERRED_STEERINGS = ("actuator_states", "steering_status", "joint_states")


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
    """The topics that were named, or those recognised by name and type; ``readers`` are the types of commands."""
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
        raise TopicError(nothing_recognised(path, "velocities", "--velocity", counts))
    others = tuple(sorted(measured.keys() - {speeds, angles}))
    geared = {kind.topic.type for kind in whole_types() if kind.geared}
    gears = [name for name, (kind, _) in counts.items() if kind == GEAR_COMMAND.topic.type]
    near = [name for name in gears if name.rpartition("/")[0] == commands.rpartition("/")[0]] or gears
    gear = min(near, default="") if counts[commands][0] in geared else ""
    return Chosen(commands, speeds, angles, gear, others)


def never_measured(counts: Counts) -> set[str]:
    """Topics with commands or references, although their type is one of measurements."""
    ours = {kind.topic.name for kind in command_types()}
    return {name for name in counts if last_part(name) in ours or NOT_MEASURED.search(last_part(name))}
