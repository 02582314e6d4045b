"""Offsets by a type's definition are where the encoder puts the numbers."""

import struct

import pytest

from vds_gz.core.errors import UnknownTypeError
from vds_gz.core.ros.messages.message_types import open_types
from vds_gz.core.ros.messages.packed import MessageLayout
from vds_gz.programs.interface.commands import vehicle_topics
from vds_gz.programs.interface.model_reports import model_topics

pytestmark = pytest.mark.graph

TYPES = open_types()
EVERY = sorted({topic.type for topic in (*vehicle_topics(), *model_topics())})


def filled(name, length=3):
    """A message whose texts and sequences have this length."""
    try:
        message = TYPES.new(name)
    except UnknownTypeError as error:
        pytest.skip(str(error))
    for field in TYPES.fields(name):
        if field.type == "string":
            text = "ä" * length
            setattr(message, field.name, text if field.length is None else [text] * length)
        elif "/" in field.type:
            value = (
                filled(field.type, length)
                if field.length is None
                else [filled(field.type, length) for _ in range(length)]
            )
            setattr(message, field.name, value)
        elif field.length == 0:
            setattr(message, field.name, TYPES.array(field.type, [0] * length))
    return message


def parts(message, path):
    """The message or sequence that holds the number at a path, and the number's name or index in it."""
    *holders, last = path.replace("[", ".[").split(".")
    for holder in holders:
        message = message[int(holder[1:-1])] if holder.startswith("[") else getattr(message, holder)
    return message, last


@pytest.mark.parametrize("length", [0, 1, 3, 4])
@pytest.mark.parametrize("name", EVERY)
def test_every_number_stands_where_the_layout_says(name, length):
    message, codec = filled(name, length), TYPES.codec(name)
    layout = MessageLayout.of(name, message)
    items = [f"{path}[{index}]" for path, array in layout.arrays.items() for index in range(array.length)]
    paths = [*layout.places, *items]
    places = layout.numbers(paths)
    for number, (path, place) in enumerate(zip(paths, places, strict=True)):
        holder, last = parts(message, path)
        value = number % 100 + 1 if place.format != "<?" else True
        value = float(value) if place.format in ("<f", "<d") else value
        if last.startswith("["):
            holder[int(last[1:-1])] = value
        else:
            # rclpy has a byte as bytes.
            setattr(holder, last, bytes([value]) if isinstance(getattr(holder, last), bytes) else value)
    data = bytes(codec.encode(message))
    assert layout.length <= len(data) < layout.length + 4
    for number, place in enumerate(places):
        expected = number % 100 + 1 if place.format != "<?" else True
        assert struct.unpack_from(place.format, data, place.offset) == (expected,)
