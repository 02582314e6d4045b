"""A gamepad that SDL believes in: its virtual joystick, which pygame does not show, in the very SDL that pygame uses.

As a program, ``python virtual_pad.py MODULE ARGUMENT...`` runs a module with such a gamepad plugged in. Its standard
input moves the gamepad: ``axis 3 -32768``, ``button 9 1``, ``unplug``, ``plug``.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from importlib import import_module
from pathlib import Path

AXES, BUTTONS, HATS = 6, 15, 1
GAME_CONTROLLER = 1


def sdl() -> ctypes.CDLL:
    """The SDL that pygame has loaded."""
    import_module("pygame.joystick")
    with Path("/proc/self/maps").open(encoding="utf-8") as maps:
        paths = {line.split()[-1] for line in maps if "libSDL2-2" in line}
    library = ctypes.CDLL(paths.pop())
    library.SDL_JoystickOpen.restype = ctypes.c_void_p
    library.SDL_JoystickSetVirtualAxis.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int16]
    library.SDL_JoystickSetVirtualButton.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint8]
    library.SDL_JoystickSetVirtualHat.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint8]
    library.SDL_JoystickClose.argtypes = [ctypes.c_void_p]
    return library


class VirtualPad:
    """One gamepad; SDL must have been started."""

    def __init__(self, axes: int = AXES, kind: int = GAME_CONTROLLER) -> None:
        self._sdl = sdl()
        self._axes, self._kind = axes, kind
        self._handle: int | None = None
        self.plug()

    def plug(self) -> None:
        number = self._sdl.SDL_JoystickAttachVirtual(self._kind, self._axes, BUTTONS, HATS)
        assert number >= 0
        self._handle = self._sdl.SDL_JoystickOpen(number)

    def unplug(self) -> None:
        if self._handle is not None:
            number = next(
                i
                for i in range(self._sdl.SDL_NumJoysticks())
                if self._sdl.SDL_JoystickGetDeviceInstanceID(i)
                == self._sdl.SDL_JoystickInstanceID(ctypes.c_void_p(self._handle))
            )
            self._sdl.SDL_JoystickDetachVirtual(number)
            self._sdl.SDL_JoystickClose(self._handle)
            self._handle = None

    def axis(self, number: int, value: int) -> None:
        self._sdl.SDL_JoystickSetVirtualAxis(self._handle, number, value)

    def button(self, number: int, pressed: int) -> None:
        self._sdl.SDL_JoystickSetVirtualButton(self._handle, number, pressed)

    def hat(self, number: int, value: int) -> None:
        self._sdl.SDL_JoystickSetVirtualHat(self._handle, number, value)


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
