"""Samples as messages; what is malformed is counted, and reported once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vds_gz.ros.errors import MalformedMessageError


class Decoder:
    """Decodes what arrives at one endpoint.

    Attributes:
        malformed: How many samples were no message of the type.
    """

    def __init__(self, where: str, decode: Callable[..., Any], warn: Callable[[str], None]) -> None:
        """Nothing has arrived yet.

        Args:
            where: The endpoint, for the report.
            decode: (data, ...) -> the message; raises MalformedMessageError.
            warn: Gets the report of the first malformed sample.
        """
        self.malformed = 0
        self._where = where
        self._decode = decode
        self._warn = warn

    def __call__(self, data: bytearray, *skip: int) -> Any | None:
        """The message, or None where there is none."""
        try:
            return self._decode(data, *skip)
        except MalformedMessageError as error:
            self.malformed += 1
            if self.malformed == 1:
                self._warn(f"{self._where}: {error}. Ignored, as any more like it will be")
            return None
