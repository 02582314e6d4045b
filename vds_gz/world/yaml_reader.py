"""YAML files of maps and moving obstacles: what is no YAML, or grows without end, is refused."""

from __future__ import annotations

from pathlib import Path

import yaml

from vds_gz.world.errors import WorldError

#: A file of more bytes than this is a mistake.
LARGEST = 1_000_000

#: Numbers in a file are smaller than this.
MOST = 1e9


def read_mapping(path: Path, what: str) -> dict[object, object]:
    """The names and values in a file.

    Args:
        path: The file.
        what: What it holds, for messages.

    Raises:
        WorldError: It cannot be read, is too large, or is no mapping.
    """
    try:
        size = path.stat().st_size
        text = path.read_text(encoding="utf-8") if size <= LARGEST else ""
    except OSError as error:
        raise WorldError(f"{what} '{path}' cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise WorldError(f"{what} '{path}' is no YAML: {error}") from None
    try:
        values = yaml.safe_load(text)
    except Exception as error:  # PyYAML's constructors raise whatever their arguments provoke
        raise WorldError(f"{what} '{path}' is no YAML: {' '.join(str(error).split())}") from None
    if size > LARGEST:
        raise WorldError(f"{what} '{path}' has {size} bytes; at most {LARGEST} are read")
    if not isinstance(values, dict):
        raise WorldError(f"{what} '{path}' is no mapping of names to values")
    return values


def number(place: str, key: str, value: object) -> float:
    """A value as a finite number.

    Args:
        place: Where it stands, for messages.
        key: Its name.
        value: What was read.

    Raises:
        WorldError: It is something else.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < MOST:
        raise WorldError(f"{place}: '{key}' is {shown(value)}; it must be a number, less than {MOST:g}")
    return float(value)


def shown(value: object) -> str:
    """A value for a message; a list may hold itself a thousand times."""
    if isinstance(value, int) and not abs(value) < MOST:
        return f"a whole number of {value.bit_length()} bits"
    plain = value is None or isinstance(value, str | int | float)
    return repr(value)[:100] if plain else f"a {type(value).__name__}"
