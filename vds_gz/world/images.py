"""Images of maps and heights: PGM by hand, as every map server writes it, other formats by Pillow."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vds_gz.world.errors import WorldError
from vds_gz.world.shapes import Array

#: More pixels than this are a mistake.
MOST = 200_000_000

_HEADER = re.compile(rb"P([25])(?:\s+#[^\n]*)*\s+(\d+)(?:\s+#[^\n]*)*\s+(\d+)(?:\s+#[^\n]*)*\s+(\d+)\s")


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
        pixels = np.array([int(word) for word in words]) if all(map(bytes.isdigit, words)) else np.empty(0)
    if len(pixels) < width * height:
        raise WorldError(f"{place}: image '{path}' is cut short: {len(pixels)} of {width * height} pixels")
    brightness = np.minimum(pixels[: width * height].reshape(height, width) / depth, 1.0)
    return Image(brightness, np.ones_like(brightness))


def _other(path: Path, place: str) -> Image:
    try:
        import PIL.Image
    except ModuleNotFoundError:
        raise WorldError(f"{place}: image '{path}' is no PGM; others need: pip install 'vds_gz[world]'") from None
    try:
        with PIL.Image.open(path) as image:
            if image.width * image.height > MOST:
                raise WorldError(f"{place}: image '{path}' has {image.width} x {image.height} pixels; at most {MOST}")
            if image.mode.startswith(("I", "F")):
                return _deep(np.asarray(image, float))
            pixels = np.asarray(image.convert("RGBA"), float) / 255.0
    except (OSError, ValueError, SyntaxError, PIL.Image.DecompressionBombError) as error:
        raise WorldError(f"{place}: image '{path}' cannot be read: {error}") from None
    return Image(pixels[:, :, :3].mean(axis=2), pixels[:, :, 3])


def _deep(pixels: Array) -> Image:
    """An image of 16 bits a pixel."""
    return Image(np.clip(pixels / 65535.0, 0.0, 1.0), np.ones_like(pixels))
