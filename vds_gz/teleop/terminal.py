"""A terminal that gives every key at once, without showing it, and is put back as it was whatever happens."""

from __future__ import annotations

import os
import re
import select
import termios

#: The terminal is gone, or its user said so with Ctrl-D.
END = "\x04"

_KEY = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]|[\s\S]")
#: The begin of a key whose rest has not come yet.
_BEGUN = re.compile(r"\x1b([\[O][0-9;]*)?\Z")


class Terminal:
    """Used with ``with``. Ctrl-C still interrupts; Ctrl-Z does nothing, since no one would stop the vehicle."""

    def __init__(self, descriptor: int) -> None:
        """Take an open terminal."""
        self._descriptor = descriptor
        self._begun = ""

    def __enter__(self) -> Terminal:
        self._before = termios.tcgetattr(self._descriptor)
        raw = termios.tcgetattr(self._descriptor)
        raw[0] &= ~(termios.IXON | termios.ICRNL)
        raw[3] &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN)
        raw[6][termios.VSUSP] = bytes([os.fpathconf(self._descriptor, "PC_VDISABLE")])
        raw[6][termios.VMIN], raw[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._descriptor, termios.TCSAFLUSH, raw)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            termios.tcsetattr(self._descriptor, termios.TCSAFLUSH, self._before)
        except termios.error:  # it is gone
            return

    def read(self) -> list[str]:
        """The keys that have come: characters, or what a special key sends."""
        if not select.select([self._descriptor], [], [], 0.0)[0]:
            return []
        try:
            data = os.read(self._descriptor, 1024)
        except OSError:
            data = b""
        if not data:
            return [END]
        text = self._begun + data.decode("utf-8", "ignore")
        begun = _BEGUN.search(text)
        self._begun = begun[0] if begun else ""
        return _KEY.findall(text[: len(text) - len(self._begun)])
