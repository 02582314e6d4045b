"""A custom controller, called with the observations of all vehicles."""

from __future__ import annotations

import numpy as np

from vds_gz.errors import FailureError
from vds_gz.fleet.controllers import Callback
from vds_gz.fleet.layout import Flags, Reals
from vds_gz.vehicle.command import ACKERMANN, MAXIMUM, CommandKind

#: Names and units of the two columns of commands.
_COLUMNS = {True: (("steering angle", "rad"), ("speed", "m/s")), False: (("v_x", "m/s"), ("yaw rate", "rad/s"))}


class ControllerError(FailureError):
    """A custom controller failed. The message names it, the vehicle and the time.

    Attributes:
        vehicle: The vehicle with the wrong command; None if it concerns all.
        time: Time in the run [s].
    """

    def __init__(self, message: str, time: float, vehicle: int | None = None) -> None:
        super().__init__(message)
        self.time, self.vehicle = time, vehicle


class CallbackController:
    """A function, and the check of its results."""

    def __init__(self, name: str, function: Callback, kind: CommandKind) -> None:
        """Take a function for vehicles that take commands of a kind."""
        self.name, self._function = name, function
        self._columns = _COLUMNS[kind == ACKERMANN]

    def commands(self, observations: Reals, running: Flags, time: float) -> Reals:
        """The function's commands, of shape (vehicles, 2).

        Args:
            observations: Of shape (vehicles, numbers); the function gets a copy.
            running: Vehicles whose run has not ended; commands of others are ignored.
            time: Time in the run [s].

        Raises:
            ControllerError: The function raises, or returns something else, excessive numbers, or NaN.
        """
        where = f"controller '{self.name}', {len(observations)} vehicles at {time:.6g} s"
        try:
            result = self._function(observations.copy())
        except Exception as error:
            raise ControllerError(f"{where}: it raised {type(error).__name__}: {error}", time) from error
        wanted = f"it must return commands of shape ({len(observations)}, 2): " + " and ".join(
            f"{name} [{unit}]" for name, unit in self._columns
        )
        try:
            commands = np.asarray(result, np.float64)
        except (TypeError, ValueError):
            raise ControllerError(f"{where}: it returned {type(result).__name__}; {wanted}", time) from None
        if commands.shape != (len(observations), 2):
            raise ControllerError(f"{where}: it returned the shape {commands.shape}; {wanted}", time)
        wrong = ~(abs(commands) <= MAXIMUM) & running[:, np.newaxis]
        if wrong.any():
            vehicle, column = np.argwhere(wrong)[0].tolist()
            name, unit = self._columns[column]
            raise ControllerError(
                f"controller '{self.name}', vehicle {vehicle} at {time:.6g} s: the {name} is "
                f"{commands[vehicle, column]:g}; it must be a number within +-{MAXIMUM:g} [{unit}]",
                time,
                vehicle,
            )
        return commands
