"""A page's messages, in JSON; invalid ones are refused with a reason."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import NoReturn

from vds_gz.errors import VdsGzError
from vds_gz.teleop.outputs import DriveCommand

#: The longest message that a page may send [bytes].
MAX_LENGTH = 16 * 1024

#: Limit of speeds [m/s] and yaw rates [rad/s].
MAX_SPEED = 1e3

#: Limit of a page's clock [s].
MAX_TIME = 1e12

#: Optional fields of messages, by kind.
_OPTIONAL = {"drive": {"time"}}

_DRIVE_LIMITS = {"v_x": MAX_SPEED, "v_y": MAX_SPEED, "yaw_rate": MAX_SPEED, "steering_angle": math.pi}


class MessageError(VdsGzError, ValueError):
    """A message was refused, with the reason and what would be right."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The page has drawn a frame and is ready for another."""


@dataclass(frozen=True, slots=True)
class DriveMessage:
    """A command, and its time by the page's own clock [s]; None if the page does not send it."""

    drive: DriveCommand
    time: float | None = None


@dataclass(frozen=True, slots=True)
class SetParameter:
    """A request to change a parameter; ``number`` is returned with the response."""

    number: int
    name: str
    value: bool | int | float | str | tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Pause:
    """A request to hold the vehicle, or to release it."""

    number: int
    paused: bool


@dataclass(frozen=True, slots=True)
class Reset:
    """A request to put the vehicle where it began."""

    number: int


Message = Seen | DriveMessage | SetParameter | Pause | Reset


def read(text: str) -> Message:
    """Parse a message."""
    try:
        fields = json.loads(text, parse_constant=_no_number)
    except MessageError:
        raise
    except (ValueError, RecursionError):
        raise MessageError("the message is not JSON") from None
    if not isinstance(fields, dict):
        raise MessageError(f"the message is {_shown(fields)}; it must be an object with a 'kind'")
    kind = fields.pop("kind", None)
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        raise MessageError(f"kind is {_shown(kind)}; it must be one of {', '.join(_READERS)}")
    expected, make = reader
    if fields.keys() - _OPTIONAL.get(kind, set()) != set(expected):
        wanted = ", ".join(sorted(expected)) or "nothing"
        raise MessageError(f"'{kind}' has {', '.join(sorted(fields)) or 'nothing'} beside it; it must have {wanted}")
    return make(fields)


def _drive(fields: Mapping[str, object]) -> DriveMessage:
    drive = DriveCommand(**{name: _within(name, fields[name], limit) for name, limit in _DRIVE_LIMITS.items()})
    return DriveMessage(drive, _within("time", fields["time"], MAX_TIME) if "time" in fields else None)


def _set(fields: Mapping[str, object]) -> SetParameter:
    name = fields["name"]
    if not isinstance(name, str):
        raise MessageError(f"name is {_shown(name)}; it must be the name of a parameter")
    return SetParameter(_number(fields["number"]), name, _value(fields["value"]))


def _pause(fields: Mapping[str, object]) -> Pause:
    if not isinstance(fields["paused"], bool):
        raise MessageError(f"paused is {_shown(fields['paused'])}; it must be true or false")
    return Pause(_number(fields["number"]), fields["paused"])


_READERS: dict[str, tuple[Collection[str], Callable[[Mapping[str, object]], Message]]] = {
    "seen": ((), lambda fields: Seen()),
    "drive": (_DRIVE_LIMITS, _drive),
    "set": (("number", "name", "value"), _set),
    "pause": (("number", "paused"), _pause),
    "reset": (("number",), lambda fields: Reset(_number(fields["number"]))),
}


def _value(value: object) -> bool | int | float | str | tuple[float, ...]:
    if isinstance(value, list):
        return tuple(float(_finite("value", item)) for item in value)
    if isinstance(value, (bool, str)):
        if isinstance(value, str) and not _is_text(value):
            raise MessageError("value cannot be sent in a message: it contains half a character or a zero")
        return value
    return _finite("value", value)


def _is_text(value: str) -> bool:
    try:
        return b"\0" not in value.encode()
    except UnicodeEncodeError:
        return False


def _within(name: str, value: object, limit: float) -> float:
    number = float(_finite(name, value))
    if abs(number) > limit:
        raise MessageError(f"{name} is {number:g}; it must be within +-{limit:g}")
    return number


def _finite(name: str, value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise MessageError(f"{name} is {_shown(value)}; it must be a number")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise MessageError(f"{name} has more digits than 64 bits hold")
    if not math.isfinite(value):
        raise MessageError(f"{name} is {value}; it must be finite")
    return value


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise MessageError(f"number is {_shown(value)}; it must be a whole number, 0 or more")
    return value


def _no_number(constant: str) -> NoReturn:
    raise MessageError(f"the message holds {constant}; numbers must be finite")


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
