"""A gamepad that SDL believes in: its virtual joystick.

As a program, ``python virtual_pad.py MODULE ARGUMENT...`` runs a module with such a gamepad plugged in. Its standard
input moves the gamepad: ``axis 3 -32768``, ``button 9 1``, ``unplug``, ``plug``.
"""

from __future__ import annotations

import sys
import threading
from importlib import import_module
from typing import Any

import sdl2

AXES, BUTTONS, HATS = 6, 15, 1
GAME_CONTROLLER = 1


class VirtualPad:
    """One gamepad; SDL must have been started."""

    def __init__(self, axes: int = AXES, kind: int = GAME_CONTROLLER) -> None:
        self._axes, self._kind = axes, kind
        self._handle: Any = None
        self.plug()

    def plug(self) -> None:
        number = sdl2.SDL_JoystickAttachVirtual(self._kind, self._axes, BUTTONS, HATS)
        assert number >= 0
        self._handle = sdl2.SDL_JoystickOpen(number)

    def unplug(self) -> None:
        if self._handle is not None:
            number = next(
                i
                for i in range(sdl2.SDL_NumJoysticks())
                if sdl2.SDL_JoystickGetDeviceInstanceID(i) == sdl2.SDL_JoystickInstanceID(self._handle)
            )
            sdl2.SDL_JoystickDetachVirtual(number)
            sdl2.SDL_JoystickClose(self._handle)
            self._handle = None

    def axis(self, number: int, value: int) -> None:
        sdl2.SDL_JoystickSetVirtualAxis(self._handle, number, value)

    def button(self, number: int, pressed: int) -> None:
        sdl2.SDL_JoystickSetVirtualButton(self._handle, number, pressed)

    def hat(self, number: int, value: int) -> None:
        sdl2.SDL_JoystickSetVirtualHat(self._handle, number, value)


def obey() -> None:
    """Move the gamepad as the lines of standard input say."""
    pad = VirtualPad()
    for line in sys.stdin:
        what, *values = line.split()
        getattr(pad, what)(*map(int, values))


if __name__ == "__main__":
    from vds_gz.teleop import gamepad

    class Plugged(gamepad.Gamepads):
        """Gamepads, with ours among them as soon as SDL has started."""

        def __init__(self, *arguments: object, **named: object) -> None:
            super().__init__(*arguments, **named)  # type: ignore[arg-type]
            threading.Thread(target=obey, daemon=True).start()

    program = import_module(sys.argv[1])
    program.Gamepads = Plugged  # type: ignore[attr-defined]
    sys.exit(program.main(sys.argv[2:]))
