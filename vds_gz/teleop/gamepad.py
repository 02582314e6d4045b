"""Gamepads, read through SDL (pygame-ce), with no window and no ROS.

Axes and buttons are numbered and signed as the nodes of package ``joy`` do: left, up and a trigger let go are +1.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

#: SDL must want no window, hear the joystick although it has none, and leave the signals alone.
ENVIRONMENT = {
    "SDL_VIDEODRIVER": "dummy",
    "SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS": "1",
    "SDL_NO_SIGNAL_HANDLERS": "1",
    "PYGAME_HIDE_SUPPORT_PROMPT": "1",
}

#: Ends of an axis, as SDL gives it.
END = 32767

#: Axes and buttons that SDL's standard layout has.
STANDARD_AXES, STANDARD_BUTTONS = 6, 21


@dataclass(frozen=True, slots=True)
class Device:
    """A joystick that is connected.

    Attributes:
        number: Which of several.
        name: What its maker calls it.
        guid: SDL's mark of its model.
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
    value = max(-1.0, raw / END)
    beyond = abs(value) - deadzone
    if beyond <= 0.0:
        return 0.0
    return (beyond if value < 0.0 else -beyond) / (1.0 - deadzone)


class PlainPad:
    """A joystick in its own numbering, as ``joy_node`` reads it."""

    def __init__(self, joystick: Any, deadzone: float) -> None:
        """Take an open ``pygame.joystick.Joystick``."""
        self._joystick = joystick
        self._deadzone = deadzone
        self.name: str = joystick.get_name()
        self.instance: int = joystick.get_instance_id()

    def read(self) -> tuple[list[float], list[int]]:
        """The axes, then two for each hat; and the buttons."""
        joystick = self._joystick
        # pygame divides SDL's numbers by 32768.
        axes = [position(round(joystick.get_axis(i) * 32768), self._deadzone) for i in range(joystick.get_numaxes())]
        for i in range(joystick.get_numhats()):
            right, up = joystick.get_hat(i)
            axes += [float(-right), float(up)]
        return axes, [int(joystick.get_button(i)) for i in range(joystick.get_numbuttons())]

    def close(self) -> None:
        """Let go of it."""
        self._joystick.quit()


class StandardPad:
    """A gamepad in the layout that is the same for all SDL knows, as ``game_controller_node`` reads it."""

    def __init__(self, controller: Any, deadzone: float) -> None:
        """Take an open ``pygame._sdl2.controller.Controller``."""
        self._controller = controller
        self._deadzone = deadzone
        self.name: str = controller.name
        self.instance: int = controller.as_joystick().get_instance_id()

    def read(self) -> tuple[list[float], list[int]]:
        """Left stick, right stick, triggers; and the buttons."""
        read = self._controller
        axes = [position(read.get_axis(i), self._deadzone) for i in range(STANDARD_AXES)]
        return axes, [int(read.get_button(i)) for i in range(STANDARD_BUTTONS)]

    def close(self) -> None:
        """Let go of it."""
        self._controller.quit()


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
            ModuleNotFoundError: pygame-ce is not installed.
        """
        for variable, value in ENVIRONMENT.items():
            os.environ.setdefault(variable, value)
        self._pygame = pygame = import_module("pygame")
        self._controller = import_module("pygame._sdl2.controller")
        self._number, self._name, self._standard, self._deadzone = number, name, standard, deadzone
        self.pad: Pad | None = None
        self.problem = ""
        pygame.display.init()
        pygame.joystick.init()
        self._controller.init()
        self._model = ""
        self._open(self._chosen())

    def poll(self) -> None:
        """Take what has come from the devices, among it their coming and going."""
        pygame = self._pygame
        for event in pygame.event.get():
            if event.type == pygame.JOYDEVICEREMOVED and self.pad and event.instance_id == self.pad.instance:
                self.problem = f"'{self.pad.name}' was unplugged"
                self.pad.close()
                self.pad = None
            elif event.type == pygame.JOYDEVICEADDED and self.pad is None:
                self._open(self._returned(event.device_index) if self._model else self._chosen())

    def devices(self) -> list[Device]:
        """What is connected."""
        return [self._device(number) for number in range(self._pygame.joystick.get_count())]

    def close(self) -> None:
        """Let go of everything."""
        self._controller.quit()
        self._pygame.joystick.quit()
        self._pygame.display.quit()

    def _device(self, number: int) -> Device:
        joystick = self._pygame.joystick.Joystick(number)
        return Device(
            number,
            joystick.get_name(),
            joystick.get_guid(),
            joystick.get_numaxes() + 2 * joystick.get_numhats(),
            joystick.get_numbuttons(),
            bool(self._controller.is_controller(number)),
        )

    def _chosen(self) -> Device | None:
        """The one that was asked for, if it is there."""
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
            self.pad = StandardPad(self._controller.Controller(device.number), self._deadzone)
        else:
            self.pad = PlainPad(self._pygame.joystick.Joystick(device.number), self._deadzone)
        self._model = device.guid
