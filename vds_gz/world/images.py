"""Images of maps and heights: PGM by hand, as every map server writes it, other formats by Pillow."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vds_gz.world.errors import WorldError
from vds_gz.world.resources import is_file
from vds_gz.world.shapes import Array

#: More pixels than this are a mistake.
MOST = 200_000_000

#: Formats that are read; others are not maps, and some start programs.
FORMATS = ("PNG", "JPEG", "BMP", "GIF", "PPM", "TIFF", "TGA", "WEBP")

_SPACE = rb"(?:\s|#[^\n]*\n)+"
_HEADER = re.compile(rb"P([25])" + 3 * (_SPACE + rb"(\d{1,9})") + rb"\s")


@dataclass(frozen=True, eq=False, slots=True)
class Image:
    """An image, row 0 at its upper edge.

    Attributes:
        brightness: 0 is black and 1 is white, of shape (rows, columns).
        opacity: 0 is transparent and 1 is opaque, of the same shape.
    """

    brightness: Array
    opacity: Array


def read_image(path: Path, place: str) -> Image:
    """An image file; ``place`` is where it was named, for messages.

    Raises:
        WorldError: It cannot be read.
    """
    if not is_file(path):
        raise WorldError(f"{place}: there is no image '{path}'")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise WorldError(f"{place}: image '{path}' cannot be read: {error.strerror or error}") from None
    header = _HEADER.match(data)
    return _pgm(header, data, path, place) if header else _other(path, place)


def _pgm(header: re.Match[bytes], data: bytes, path: Path, place: str) -> Image:
    kind, width, height, depth = (int(text) for text in header.groups())
    if not 0 < width * height <= MOST or not 0 < depth < 65536:
        raise WorldError(f"{place}: image '{path}' has {width} x {height} pixels of {depth}; at most {MOST} of 65535")
    body = data[header.end() :]
    if kind == 5:
        pixels = np.frombuffer(body[: len(body) // 2 * 2] if depth > 255 else body, ">u2" if depth > 255 else "u1")
    else:
        words = body.split()
        sound = all(word.isdigit() and len(word) <= 5 for word in words)
        pixels = np.array([int(word) for word in words] if sound else [])
    if len(pixels) < width * height:
        raise WorldError(f"{place}: image '{path}' is cut short: {len(pixels)} of {width * height} pixels")
    brightness = np.minimum(pixels[: width * height].reshape(height, width) / depth, 1.0)
    return Image(brightness, np.ones_like(brightness))


def _other(path: Path, place: str) -> Image:
    try:
        import PIL.Image
    except ModuleNotFoundError:
        raise WorldError(
            f"{place}: image '{path}' is no PGM; others need: pip install '.[world]' in a checkout"
        ) from None
    try:
        with PIL.Image.open(path, formats=FORMATS) as image:
            size, deep = image.width * image.height, image.mode.startswith(("I", "F"))
            if size <= MOST and deep:
                pixels = np.asarray(image, float) / 65535.0
                opacity = np.ones_like(pixels)
            elif size <= MOST:
                pixels = np.asarray(image.convert("L"), float) / 255.0
                opacity = np.asarray(image.convert("RGBA").getchannel("A"), float) / 255.0
    except Exception as error:  # readers of foreign formats raise whatever they meet
        raise WorldError(f"{place}: image '{path}' cannot be read: {error}") from None
    if size > MOST:
        raise WorldError(f"{place}: image '{path}' has {size} pixels; at most {MOST} are read")
    return Image(np.clip(pixels, 0.0, 1.0), opacity)
