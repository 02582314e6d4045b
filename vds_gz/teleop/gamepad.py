"""Gamepads, read through SDL 2 (https://wiki.libsdl.org/SDL2/), with no window and no ROS.

Axes and buttons are numbered and signed as the nodes of package ``joy`` do: left, up and a trigger let go are +1.
"""

from __future__ import annotations

import ctypes
import os
import warnings
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Protocol

from vds_gz.teleop.mapping import without_dead_zone

#: SDL must read the joystick although it has no window, and leave the signals alone.
ENVIRONMENT = {"SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS": "1", "SDL_NO_SIGNAL_HANDLERS": "1"}

#: Ends of an axis, as SDL gives it.
END = 32767

#: Axes and buttons that SDL's standard layout has.
STANDARD_AXES, STANDARD_BUTTONS = 6, 21


@dataclass(frozen=True, slots=True)
class Device:
    """A joystick that is connected.

    Attributes:
        number: Which of several.
        name: Its manufacturer's name for it.
        guid: SDL's identifier of its model.
        axes, buttons: How many it has; a hat counts as two axes.
        standard: SDL knows its layout.
    """

    number: int
    name: str
    guid: str
    axes: int
    buttons: int
    standard: bool


class Pad(Protocol):
    """An open gamepad."""

    name: str
    instance: int

    def read(self) -> tuple[list[float], list[int]]:
        """Positions of the axes [-1 to 1] and of the buttons [0 or 1] now."""

    def close(self) -> None:
        """Let go of it."""


def position(raw: int, deadzone: float) -> float:
    """An axis as ROS has it, -1 to 1, of SDL's, whose left and up are negative."""
    return without_dead_zone(-raw / END, deadzone)


class PlainPad:
    """A joystick in its own numbering, as ``joy_node`` reads it."""

    def __init__(self, sdl: ModuleType, number: int, deadzone: float) -> None:
        """Open one of those that are connected."""
        self._sdl = sdl
        self._joystick = sdl.SDL_JoystickOpen(number)
        self._deadzone = deadzone
        self.name = sdl.SDL_JoystickName(self._joystick).decode()
        self.instance: int = sdl.SDL_JoystickInstanceID(self._joystick)

    def read(self) -> tuple[list[float], list[int]]:
        """The axes, then two for each hat; and the buttons."""
        sdl, joystick = self._sdl, self._joystick
        axes = [
            position(sdl.SDL_JoystickGetAxis(joystick, i), self._deadzone)
            for i in range(sdl.SDL_JoystickNumAxes(joystick))
        ]
        for i in range(sdl.SDL_JoystickNumHats(joystick)):
            hat = sdl.SDL_JoystickGetHat(joystick, i)
            for plus, minus in ((sdl.SDL_HAT_LEFT, sdl.SDL_HAT_RIGHT), (sdl.SDL_HAT_UP, sdl.SDL_HAT_DOWN)):
                axes.append(float(bool(hat & plus) - bool(hat & minus)))
        buttons = range(sdl.SDL_JoystickNumButtons(joystick))
        return axes, [int(sdl.SDL_JoystickGetButton(joystick, i)) for i in buttons]

    def close(self) -> None:
        """Let go of it."""
        self._sdl.SDL_JoystickClose(self._joystick)


class StandardPad:
    """A gamepad in the layout that is the same for all SDL knows, as ``game_controller_node`` reads it."""

    def __init__(self, sdl: ModuleType, number: int, deadzone: float) -> None:
        """Open one of those that are connected."""
        self._sdl = sdl
        self._controller = sdl.SDL_GameControllerOpen(number)
        self._deadzone = deadzone
        self.name = sdl.SDL_GameControllerName(self._controller).decode()
        self.instance: int = sdl.SDL_JoystickInstanceID(sdl.SDL_GameControllerGetJoystick(self._controller))

    def read(self) -> tuple[list[float], list[int]]:
        """Left stick, right stick, triggers; and the buttons."""
        sdl, controller = self._sdl, self._controller
        axes = [position(sdl.SDL_GameControllerGetAxis(controller, i), self._deadzone) for i in range(STANDARD_AXES)]
        return axes, [int(sdl.SDL_GameControllerGetButton(controller, i)) for i in range(STANDARD_BUTTONS)]

    def close(self) -> None:
        """Let go of it."""
        self._sdl.SDL_GameControllerClose(self._controller)


class Gamepads:
    """All that are connected, and the one that was chosen, which may be unplugged and plugged in again.

    Attributes:
        pad: The chosen one while it is connected.
        problem: Why there is none, in words.
    """

    def __init__(self, number: int = 0, name: str = "", *, standard: bool = False, deadzone: float = 0.05) -> None:
        """Start SDL.

        Args:
            number: Which one to open.
            name: Open the first that has this in its name, whatever its number.
            standard: Number axes and buttons in SDL's standard layout.
            deadzone: Part of an axis around its middle that is 0.

        Raises:
            ModuleNotFoundError: PySDL2 is not installed.
        """
        self._sdl = _load()
        self._number, self._name, self._standard, self._deadzone = number, name, standard, deadzone
        self.pad: Pad | None = None
        self.problem = ""
        self._sdl.SDL_InitSubSystem(self._sdl.SDL_INIT_GAMECONTROLLER)
        self._model = ""
        self._open(self._chosen())

    def poll(self) -> None:
        """Take what has come from the devices, among it their coming and going."""
        sdl, event = self._sdl, self._sdl.SDL_Event()
        while sdl.SDL_PollEvent(ctypes.byref(event)):
            if event.type == sdl.SDL_JOYDEVICEREMOVED and self.pad and event.jdevice.which == self.pad.instance:
                self.problem = f"'{self.pad.name}' was unplugged"
                self.pad.close()
                self.pad = None
            elif event.type == sdl.SDL_JOYDEVICEADDED and self.pad is None:
                self._open(self._returned(event.jdevice.which) if self._model else self._chosen())

    def devices(self) -> list[Device]:
        """What is connected."""
        return [self._device(number) for number in range(self._sdl.SDL_NumJoysticks())]

    def close(self) -> None:
        """Let go of everything."""
        if self.pad is not None:
            self.pad.close()
            self.pad = None
        self._sdl.SDL_QuitSubSystem(self._sdl.SDL_INIT_GAMECONTROLLER)

    def _device(self, number: int) -> Device:
        sdl, guid = self._sdl, ctypes.create_string_buffer(33)
        joystick = sdl.SDL_JoystickOpen(number)  # how many axes it has is known of an open one only
        sdl.SDL_JoystickGetGUIDString(sdl.SDL_JoystickGetGUID(joystick), guid, len(guid))
        device = Device(
            number,
            sdl.SDL_JoystickName(joystick).decode(),
            guid.value.decode(),
            sdl.SDL_JoystickNumAxes(joystick) + 2 * sdl.SDL_JoystickNumHats(joystick),
            sdl.SDL_JoystickNumButtons(joystick),
            bool(sdl.SDL_IsGameController(number)),
        )
        sdl.SDL_JoystickClose(joystick)
        return device

    def _chosen(self) -> Device | None:
        """The one that the user chose, if it is there."""
        devices = self.devices()
        for one in devices:
            if self._name in one.name if self._name else one.number == self._number:
                return one
        wanted = f"has '{self._name}' in its name" if self._name else f"is number {self._number}"
        there = ", ".join(f"{one.number} '{one.name}'" for one in devices)
        self.problem = f"no joystick {wanted}; there are {there}" if devices else "no joystick is connected"
        return None

    def _returned(self, number: int) -> Device | None:
        """The one that was plugged in now, if it is the lost one: no other may take over from it."""
        device = self._device(number)
        return device if device.guid == self._model else None

    def _open(self, device: Device | None) -> None:
        if device is None:
            return
        if self._standard and not device.standard:
            self.problem = (
                f"SDL does not know the layout of '{device.name}', so it has no standard one; --watch "
                "shows its own numbers, and --drive FILE drives with a layout made of them"
            )
        elif self._standard:
            self.pad = StandardPad(self._sdl, device.number, self._deadzone)
        else:
            self.pad = PlainPad(self._sdl, device.number, self._deadzone)
        self._model = device.guid


def _load() -> ModuleType:
    """SDL, which reads its environment when it starts."""
    for variable, value in ENVIRONMENT.items():
        os.environ.setdefault(variable, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says which of several SDLs it takes
        return import_module("sdl2")
