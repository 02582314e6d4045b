"""The topic of a bag with the commands: the named one, one with a usual name, or the only one that could have them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from vds_gz.core.errors import RecordingError
from vds_gz.programs.interface.commands import whole_types

#: Parts of names of topics that are not measurements in spite of their types.
NOT_MEASURED = re.compile(r"cmd|command|reference|target|desired|setpoint|goal|plan|initialpose")

#: Parts of names of topics that are not commands in spite of their types.
_NOT_COMMANDED = re.compile(r"actual|state|status|measured|estimate|filtered|odom|feedback|truth|gps|imu")

#: Types and counts by topic, of topics with messages.
Counts = Mapping[str, tuple[str, int]]


class TopicError(RecordingError):
    """A bag has no topic for a role, or the named one has another role."""


class AmbiguousTopicError(TopicError):
    """Several topics could have the commands."""


def choose_command(
    path: Path, counts: Counts, readers: Collection[str], named: str | None = None, option: str = "--command"
) -> str:
    """The topic with the commands: the named one, one with a usual name, or the only one that could have them."""
    preferred = (*(command.topic.name for command in whole_types()), "cmd_vel")
    fitting = {
        name: topic_type
        for name, topic_type in counts.items()
        if topic_type[0] in readers and not _NOT_COMMANDED.search(last_part(name))
    }
    topic = choose_topic(path, counts, readers, "commands", option, named, preferred, None if named else fitting)
    commanding = [name for name in fitting if NOT_MEASURED.search(last_part(name))]
    if not topic and len(commanding) == 1:
        topic = commanding[0]
    if topic:
        return topic
    if fitting:
        raise AmbiguousTopicError(
            f"'{path}': several topics may have the commands: {listed(fitting)}; name one with {option} TOPIC"
        )
    raise TopicError(nothing_recognised(path, "commands", option, counts))


def choose_topic(
    path: Path,
    counts: Counts,
    known: Collection[str],
    what: str,
    option: str,
    named: str | None,
    preferred: tuple[str, ...],
    among: Counts | None = None,
) -> str:
    """The named topic, else the first with a preferred last part, else the only one of a known type; else empty.

    ``among`` are the topics to choose from if none is named, by default all.
    """
    if named is not None:
        name = "/" + named.lstrip("/")
        if name not in counts:
            raise TopicError(f"'{path}' has no messages on '{name}' ({option}); it has {listed(counts)}")
        if counts[name][0] not in known:
            raise TopicError(f"'{path}': '{name}' is {counts[name][0]}; {what} must be one of {', '.join(known)}")
        return name
    fitting = [name for name, (kind, _) in (counts if among is None else among).items() if kind in known]
    for last in preferred:
        for name in sorted(fitting):
            if last_part(name) == last:
                return name
    return fitting[0] if len(fitting) == 1 else ""


def nothing_recognised(path: Path, what: str, option: str, counts: Counts) -> str:
    """The message that no topic has a role."""
    return f"'{path}': no topic with {what} was recognised; name it with {option} TOPIC. It has {listed(counts)}"


def listed(counts: Counts) -> str:
    """Topics with their types and counts, in words."""
    return ", ".join(f"{name} ({kind}, {count})" for name, (kind, count) in sorted(counts.items())) or "no messages"


def last_part(topic: str) -> str:
    """The last part of a topic's name."""
    return topic.rpartition("/")[2]
