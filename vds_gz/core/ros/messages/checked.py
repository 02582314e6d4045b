"""The fields of a message in the types of its definition: sequences are converted, wrong values refused by name."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rosbags.interfaces import Nodetype

from vds_gz.core.errors import ArgumentError
from vds_gz.core.ros.graph import Message
from vds_gz.core.ros.messages.fields import FORMATS

#: Longest value in a message to users [characters].
_SHOWN = 60


class FieldChecks:
    """Checks of messages by their definitions; ``definitions`` are those of rosbags, by type."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        #: The fields of a type that are arrays or sequences, or messages with such fields.
        self._with_arrays = cache(self._find_arrays)

    def convert_numbers(self, message: Message, name: str, path: str = "") -> None:
        """Turn the numbers in arrays and sequences into numpy arrays of their fields' types.

        Raises:
            ArgumentError: They do not fit; the message names the field.
        """
        for field, (node, detail) in self._with_arrays(name):
            value, place = getattr(message, field), f"{path}{field}"
            if node == Nodetype.NAME:
                self._into(value, detail, place)
            elif (item := detail[0])[0] == Nodetype.NAME:
                for index, part in enumerate(_listed(value, place, item[1])):
                    self._into(part, item[1], f"{place}[{index}]")
            elif item[1][0] in ("string", "wstring"):
                _listed(value, place, "strings")
            else:
                dtype = _dtype(item[1][0])
                length = detail[1] if node == Nodetype.ARRAY else None
                if type(value) is not np.ndarray or value.dtype != dtype or value.ndim != 1:
                    setattr(message, field, _numbers(value, dtype, place))
                if length is not None and len(getattr(message, field)) != length:
                    found = len(getattr(message, field))
                    raise ArgumentError(f"field '{place}' has {found} numbers; it must have {length}")

    def fault(self, message: Message, name: str, path: str = "") -> str:
        """Which field has a value that its type cannot hold, and what it must be; empty if none is found."""
        for field, (node, detail) in self._definitions[name][1]:
            value, place = getattr(message, field), f"{path}{field}"
            if node == Nodetype.BASE and (wrong := _unfit(value, detail[0])):
                return f"field '{place}' is {_shown(value)}; it must be {wrong}"
            parts = [(place, value, node, detail)]
            if node in (Nodetype.ARRAY, Nodetype.SEQUENCE):
                if not isinstance(value, (list, tuple, np.ndarray)):
                    return f"field '{place}' is {_shown(value)}; it must be a list"
                parts = [(f"{place}[{index}]", part, *detail[0]) for index, part in enumerate(value)]
            for inside, part, kind, inner in parts:
                if kind == Nodetype.NAME:
                    if getattr(part, "__msgtype__", None) != inner:
                        return f"field '{inside}' is {_shown(part)}; it must be a {inner}"
                    if wrong := self.fault(part, inner, f"{inside}."):
                        return wrong
                elif kind == Nodetype.BASE and (wrong := _unfit(part, inner[0])):
                    return f"field '{inside}' is {_shown(part)}; it must be {wrong}"
        return ""

    def _into(self, part: Any, name: str, place: str) -> None:
        if getattr(part, "__msgtype__", None) != name:
            raise ArgumentError(f"field '{place}' is {_shown(part)}; it must be a {name}")
        self.convert_numbers(part, name, f"{place}.")

    def _find_arrays(self, name: str) -> list[tuple[str, Any]]:
        return [(field, kind) for field, kind in self._definitions[name][1] if self._holds_arrays(kind)]

    def _holds_arrays(self, kind: Any) -> bool:
        node, detail = kind
        if node in (Nodetype.ARRAY, Nodetype.SEQUENCE):
            return True
        return node == Nodetype.NAME and bool(self._with_arrays(detail))


def _dtype(kind: str) -> np.dtype[Any]:
    return np.dtype("uint8" if kind == "byte" else kind)


def _numbers(value: Any, dtype: np.dtype[Any], place: str) -> NDArray[Any]:
    """Any sequence of numbers as an array of a type that holds them; only floats may lose digits."""
    try:
        raw = np.frombuffer(value, np.uint8) if isinstance(value, (bytes, bytearray)) else np.asarray(value)
        if raw.ndim != 1 or (raw.size and raw.dtype.kind not in "biuf"):
            raise ValueError
        with np.errstate(all="ignore"):
            converted = raw.astype(dtype)
        if dtype.kind != "f" and not np.array_equal(converted, raw):
            raise ValueError
        if dtype.kind == "f" and not np.array_equal(np.isfinite(converted), np.isfinite(raw)):
            raise ValueError
    except (ValueError, TypeError, OverflowError):
        raise ArgumentError(
            f"field '{place}' is {_shown(value)}; it must be a sequence of numbers of type {dtype.name}"
        ) from None
    return converted


def _listed(value: Any, place: str, name: str) -> Any:
    if not isinstance(value, (list, tuple, np.ndarray)):
        raise ArgumentError(f"field '{place}' is {_shown(value)}; it must be a list of {name}")
    return value


def _unfit(value: object, kind: str) -> str:
    """What a value must be to fit a plain type; empty if it does."""
    if kind in ("string", "wstring"):
        return "" if isinstance(value, str) else "a string"
    try:
        struct.pack(FORMATS[kind], value)
    except (struct.error, OverflowError, TypeError):
        return f"a number of type {kind}"
    return ""


def _shown(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
