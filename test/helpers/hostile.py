"""What strangers send and hand over: odd numbers and texts, messages full of them, bytes and texts that were changed.

Everything is drawn from a seeded generator, so that a seed tells what happened.
"""

from __future__ import annotations

import math
import os
import random
from typing import Any

import numpy as np

from vds_gz.core.ros.messages.fields import Field
from vds_gz.core.ros.messages.portable import MessageTypes

#: How many messages a test sends to each program, and how many files of each kind it changes. The weekly job sets more.
MESSAGES = int(os.environ.get("VDS_GZ_HOSTILE_MESSAGES", "2000"))
FILES = int(os.environ.get("VDS_GZ_HOSTILE_FILES", "30"))

INFINITE = (math.nan, math.inf, -math.inf)
REALS = (*INFINITE, 0.0, -0.0, 1.0, -1.0, 0.5, 1e-308, 5e-324, 1e-6, 1e6, 1e9, 1e39, 1.7e308, -1.7e308)
WHOLE = (0, 1, -1, 2, 3, 7, 8, 127, 128, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, -(2**31), 2**63 - 1)
TEXTS = ("", "x", "map", "base_link", "vehicle", "drive", "steering", "é\u2028", "\x00", "/", "//", "1abc", "a" * 300)
#: Texts that change the meaning of a file where they are put.
TOKENS = (
    *(
        "",
        "0",
        "-1",
        "1e999",
        "1e-308",
        ".nan",
        ".inf",
        "nan",
        "inf",
        "true",
        "null",
        "~",
        "1_000",
        "010",
        "2026-13-45",
    ),
    *("''", "[]", "{}", "[[]]", "&a *a", "*a", "<<: [1]", "? [1]", "!!set {a}", "!!binary x", "!!float", "!!int ''"),
    *(
        "2026-13-45",
        "- - -",
        ": :",
        "\t",
        "\x00",
        "\ufeff",
        "\u2028",
        "é",
        '"',
        "'",
        ",",
        "#",
        "<",
        "&#0;",
        "&a;",
        "/",
        "../..",
    ),
    *("9" * 5000, "0x" + "f" * 5000, "a" * 5000),
)


def real(draw: random.Random) -> float:
    """A number of any size, mostly an odd one."""
    return draw.choice(
        (*REALS, draw.gauss(0.0, 1.0), 10.0 ** draw.uniform(-320, 308), -(10.0 ** draw.uniform(-320, 308)))
    )


def fill(draw: random.Random, types: MessageTypes, message: Any, kind: str, chance: float) -> Any:
    """Put odd values into the fields of a message, each with a chance."""
    for field in types.fields(kind):
        if draw.random() < chance:
            setattr(message, field.name, _value(draw, types, field, chance))
        elif "/" in field.type and field.length is None:
            fill(draw, types, getattr(message, field.name), field.type, chance)
    return message


def _value(draw: random.Random, types: MessageTypes, field: Field, chance: float) -> Any:
    if field.length is None:
        return _item(draw, types, field.type, chance)
    count = field.length or draw.choice((0, 1, 2, 3, 4, 7, 40))
    items = [_item(draw, types, field.type, chance) for _ in range(count)]
    return items if "/" in field.type or field.type == "string" else np.array(items, _dtype(field.type))


def _item(draw: random.Random, types: MessageTypes, kind: str, chance: float) -> Any:
    if "/" in kind:
        return fill(draw, types, types.new(kind), kind, 0.5 * chance)
    if kind == "string":
        return draw.choice(TEXTS)
    if kind == "bool":
        return draw.random() < 0.5
    if kind.startswith("float"):
        with np.errstate(over="ignore"):
            return _dtype(kind).type(real(draw)).item()
    bounds = np.iinfo("int8" if kind == "byte" else _dtype(kind))
    number = draw.choice((*WHOLE, draw.getrandbits(64)))
    return min(max(number, 0 if kind == "byte" else int(bounds.min)), int(bounds.max))


def _dtype(kind: str) -> Any:
    return np.dtype({"byte": "uint8", "char": "uint8", "bool": "bool"}.get(kind, kind))


def message_bytes(draw: random.Random, types: MessageTypes, kind: str, header: bytes = b"") -> bytearray:
    """A message of a type: odd values in some fields or all, some of its bytes changed, or nothing but bytes."""
    way = draw.random()
    if way < 0.02:
        return padded(draw.randbytes(draw.choice((4, 8, 16, 64, 300))))
    data = types.codec(kind).encode(fill(draw, types, types.new(kind), kind, draw.choice((0.05, 0.3, 1.0))), header)
    return padded(changed(draw, bytes(data))) if way < 0.2 else data


def padded(data: bytes) -> bytearray:
    """Bytes as CDR has them: at least a header, and a multiple of four."""
    return bytearray(data + b"\x00" * (-len(data) % 4 or 4 * (not data)))


def changed(draw: random.Random, data: bytes) -> bytes:
    """Bytes of which some were changed, left out, put in, repeated or exchanged."""
    new = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4, 16))):
        size = draw.choice((1, 1, 2, 4, 8, 64))
        at, of = draw.randrange(len(new) + 1), draw.randrange(len(new) + 1)
        way = draw.randrange(6)
        if way == 0 and at < len(new):
            new[at] ^= 1 << draw.randrange(8)
        elif way == 1:
            new[at : at + size] = draw.choice((b"\x00", b"\xff", b"\x7f", b"\x80")) * size
        elif way == 2:
            del new[at : at + size]
        elif way == 3:
            new[at:at] = draw.randbytes(size)
        elif way == 4:
            new[at : at + size] = new[of : of + size]
        elif draw.random() < 0.2:
            del new[at:]
    return bytes(new)


def rewritten(draw: random.Random, text: str) -> bytes:
    """A text of which some words, lines or bytes were changed."""
    for _ in range(draw.choice((1, 1, 2, 4))):
        way = draw.randrange(4)
        lines = text.split("\n")
        line, other = draw.randrange(len(lines)), draw.randrange(len(lines))
        if way == 0:
            words = lines[line].replace(",", " , ").replace(":", " : ").split(" ")
            words[draw.randrange(len(words))] = draw.choice(TOKENS)
            lines[line] = " ".join(words).replace(" , ", ",").replace(" : ", ":")
        elif way == 1:
            lines[line] = lines[other]
        elif way == 2:
            del lines[line]
        else:
            lines.insert(line, draw.choice(TOKENS))
        text = "\n".join(lines)
    data = text.encode("utf-8", "surrogatepass")
    return changed(draw, data) if draw.random() < 0.2 else data
