"""A page's messages, in JSON; invalid ones are refused with a reason."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn

from vds_gz.core.errors import VdsGzError

#: Returns the value of a field, by the field's name and content, or refuses it.
FieldCheck = Callable[[str, object], object]

#: Maximum length of a page's message [bytes].
MAX_LENGTH = 16 * 1024

#: Limit of speeds [m/s] and yaw rates [rad/s].
MAX_SPEED = 1e3

#: Limit of a page's clock [s].
MAX_TIME = 1e12


class MessageError(VdsGzError, ValueError):
    """A message was refused, with the reason and what would be right."""


class PageMessage(NamedTuple):
    """A message of a kind: one of :data:`FIELDS`, with its checked fields."""

    kind: str
    fields: dict[str, Any]


def read(text: str) -> PageMessage:
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
    known = FIELDS.get(kind) if isinstance(kind, str) else None
    if known is None:
        raise MessageError(f"kind is {_shown(kind)}; it must be one of {', '.join(FIELDS)}")
    if fields.keys() - OPTIONAL != known.keys() - OPTIONAL or fields.keys() - known.keys():
        required = ", ".join(sorted(known.keys() - OPTIONAL)) or "nothing"
        raise MessageError(f"'{kind}' has {', '.join(sorted(fields)) or 'nothing'} beside it; it must have {required}")
    return PageMessage(str(kind), {name: check(name, fields[name]) for name, check in known.items() if name in fields})


def _value(name: str, value: object) -> bool | int | float | str | tuple[float, ...]:
    if isinstance(value, list):
        return tuple(float(_finite(name, item)) for item in value)
    if isinstance(value, str) and re.search("[\0\ud800-\udfff]", value):
        raise MessageError(f"{name} cannot be sent: it contains half of a surrogate pair or a null character")
    return value if isinstance(value, bool | str) else _finite(name, value)


def _finite(name: str, value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise MessageError(f"{name} is {_shown(value)}; it must be a number")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise MessageError(f"{name} has more digits than 64 bits hold")
    if not math.isfinite(value):
        raise MessageError(f"{name} is {value}; it must be finite")
    return value


def _must(words: str, fits: Callable[[Any], bool]) -> FieldCheck:
    """A check that a value is of a kind, which words name in messages."""

    def check(name: str, value: object) -> object:
        if not fits(value):
            raise MessageError(f"{name} is {_shown(value)}; it must be {words}")
        return value

    return check


def _within(limit: float) -> FieldCheck:
    """A check of a number's magnitude."""
    fits = _must(f"within +-{limit:g}", lambda number: abs(number) <= limit)
    return lambda name, value: fits(name, float(_finite(name, value)))


def _no_number(constant: str) -> NoReturn:
    raise MessageError(f"the message holds {constant}; numbers must be finite")


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


_SPEED = _within(MAX_SPEED)
_NUMBER = _must("a whole number, 0 or more", lambda value: type(value) is int and 0 <= value < 2**53)

#: The fields of each kind of message, with their checks. The ``number`` of a request returns with the response.
FIELDS: Mapping[str, Mapping[str, FieldCheck]] = {
    # The page has drawn a frame and is ready for another.
    "seen": {},
    # A command, and its time by the page's own clock [s].
    "drive": {
        "v_x": _SPEED,
        "v_y": _SPEED,
        "yaw_rate": _SPEED,
        "steering_angle": _within(math.pi),
        "time": _within(MAX_TIME),
    },
    # Change a parameter; hold or release the vehicle; put it where it began.
    "set": {
        "number": _NUMBER,
        "name": _must("the name of a parameter", lambda value: isinstance(value, str)),
        "value": _value,
    },
    "pause": {"number": _NUMBER, "paused": _must("true or false", lambda value: isinstance(value, bool))},
    "reset": {"number": _NUMBER},
}

#: Fields that may be left out.
OPTIONAL = {"time"}
