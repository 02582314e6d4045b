"""A log of a mechanical steering on the steps of its model, cut into pieces that begin anew.

The steering is :mod:`vds_gz.vehicle.autoware.mechanism`, compiled and driven through the log with the speeds that were
measured. Dry friction lets a steering stick and slip, so that after a while a small change of a parameter may mean any
angle. So the log is cut into short pieces, each from an angle, a rate and a controller's integral of its own (multiple
shooting: H. G. Bock, 1981).
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vds_gz.parameters.autoware import ActuationCmdMechanicalParameters
from vds_gz.study.identify.estimates import noise
from vds_gz.study.identify.signals import Series, SignalError
from vds_gz.vehicle.autoware.arithmetic import limited
from vds_gz.vehicle.autoware.mechanism import limit_command, restart, step_mechanism
from vds_gz.vehicle.autoware.models import mechanism
from vds_gz.vehicle.autoware.steering import geared_angle, steering_at_rest

Array = NDArray[np.float64]

#: Length of a piece of the log [s]; its first rate comes from so many samples.
PIECE, NEIGHBOURS = 2.0, 11

#: A log must have so many samples, and measurements count so long after the last command [s].
LEAST_SAMPLES, LATE = 100, 2.0


class Inputs(NamedTuple):
    """What acts on a steering at every step.

    Attributes:
        wheel, speed: Angle of the steering wheel [rad], speed [m/s].
        limit: End stops of the tires [rad].
        dt: Length of a step [s].
        begins: First step of every piece, and the number of steps.
    """

    wheel: Any
    speed: Any
    limit: float
    dt: float
    begins: Any


def turn(c: Any, m: Any, inputs: Inputs, starts: Any, response: Any) -> None:
    """Write the tire angle before every step into ``response``, piece by piece.

    Args:
        c, m: Coefficients of the steering, and the mechanism's state, which changes.
        inputs: Of every step.
        starts: Of every piece the angle [rad], the rate [rad/s] and the controller's integral [rad s] at its begin.
        response: As long as the inputs.
    """
    for j in range(len(starts)):
        restart(c.mechanism, m)
        begin = inputs.begins[j]
        angle = starts[j, 0]
        m.rate = starts[j, 1]
        m.integral = starts[j, 2]
        m.previous = geared_angle(c, inputs.wheel[begin], inputs.speed[begin], angle)
        m.error = m.previous - angle
        for k in range(begin, inputs.begins[j + 1]):
            response[k] = angle
            target = geared_angle(c, inputs.wheel[k], inputs.speed[k], angle)
            angle = limited(step_mechanism(c.mechanism, m, target, inputs.speed[k], angle, inputs.dt), inputs.limit)


def with_values(
    vehicle: ActuationCmdMechanicalParameters, values: dict[str, float]
) -> ActuationCmdMechanicalParameters:
    """The vehicle with other values in its steering."""
    return dataclasses.replace(vehicle, mechanical_params=dataclasses.replace(vehicle.mechanical_params, **values))


class MechanismLog:
    """A log on the steps of the model.

    Attributes:
        inputs: What acts on the steering.
        time: Of the steps [s].
        angle: Tire angles as measured [rad].
        level, least: The noise [rad], and what it is taken to be at least where there is hardly any.
        pieces: How many there are.
        owner: Of each measurement the number of its piece.
        starts: Guesses of angle [rad], rate [rad/s] and integral [rad s] at the begin of every piece, (pieces, 3).
    """

    def __init__(
        self,
        wheel: Series,
        speed: Series | None,
        angle: Series,
        vehicle: ActuationCmdMechanicalParameters,
        step_rate: float,
    ) -> None:
        """Arguments as of :func:`vds_gz.study.identify.mechanism_fit.fit_mechanism`."""
        inside = (angle.time >= wheel.time[0]) & (angle.time <= wheel.time[-1] + LATE)
        if inside.sum() < LEAST_SAMPLES or np.ptp(wheel.value) < 1e-6:
            raise SignalError(
                f"there are {int(inside.sum())} steering angles in the time of {len(wheel.time)} commands between "
                f"{float(np.min(wheel.value)):g} and {float(np.max(wheel.value)):g} rad; needed are {LEAST_SAMPLES}, "
                "and commands that change"
            )
        self.angle = Series(angle.time[inside], angle.value[inside])
        self.least = max(0.2 * noise(self.angle.value), 1e-5 * float(np.ptp(self.angle.value)))
        self.level = max(noise(self.angle.value), self.least)
        dt, begin = 1.0 / step_rate, self.angle.time[0]
        self.time = begin + dt * np.arange(math.ceil((self.angle.time[-1] - begin) / dt) + 1)
        at = np.searchsorted(wheel.time, self.time - vehicle.steer_time_delay + 1e-9, side="right") - 1
        held = np.where(at >= 0, wheel.value[np.clip(at, 0, None)], 0.0)
        driven = np.zeros_like(self.time) if speed is None else np.interp(self.time, speed.time, speed.value)
        self.pieces = max(1, round(len(self.time) * dt / PIECE))
        begins = _quiet(held, np.linspace(0, len(held), self.pieces + 1).astype(np.int64), round(PIECE / 4.0 / dt))
        self.inputs = Inputs(held, driven, vehicle.steer_lim, dt, begins)
        # What was measured where a piece ends belongs to neither.
        self.owner = np.searchsorted(self.time[begins[1:-1]], self.angle.time, side="right")
        self.starts = self._guessed_starts(vehicle)

    def _guessed_starts(self, vehicle: ActuationCmdMechanicalParameters) -> Array:
        """Angle, rate and the controller's integral at the begin of every piece, by what was measured around it."""
        c = mechanism(vehicle, self.inputs.dt)
        even = np.interp(self.time, self.angle.time, self.angle.value)
        m = steering_at_rest(c).mechanism
        m.previous = geared_angle(c, self.inputs.wheel[0], self.inputs.speed[0], even[0])
        rows = zip(self.inputs.wheel, self.inputs.speed, even, strict=True)
        target = np.array([limit_command(c.mechanism, m, geared_angle(c, *row), self.inputs.dt) for row in rows])
        integral = np.concatenate(([0.0], np.cumsum(target - even)[:-1])) * self.inputs.dt
        starts = []
        for place in self.inputs.begins[:-1]:
            time = self.time[place]
            near = np.argsort(np.abs(self.angle.time - time))[:NEIGHBOURS]
            away = self.angle.time[near] - time
            rate, angle = np.polyfit(away, self.angle.value[near], 1)
            # What is not seen to move rests, and friction holds it.
            if abs(rate) < 3.0 * self.level / math.sqrt(float(np.sum((away - away.mean()) ** 2))):
                rate, angle = 0.0, np.mean(self.angle.value[near])
            starts.append([angle, rate, integral[place]])
        return np.array(starts, float)

    def simulate(self, vehicle: ActuationCmdMechanicalParameters, offset: float, starts: Array) -> Array:
        """What the sensor would have read [rad].

        Args:
            vehicle: The vehicle.
            offset: What the sensor reads too much [rad].
            starts: Angle [rad], rate [rad/s] and integral [rad s] at the begin of every piece, one after the other.
        """
        from vds_gz.compiling.linking import compiled
        from vds_gz.vehicle.compiled import records

        c = mechanism(vehicle, self.inputs.dt)
        coefficients, state = (records([one]).view(np.ndarray) for one in (c, steering_at_rest(c).mechanism))
        begin = starts.reshape(-1, 3).copy()
        begin[:, 0] -= offset
        # The controller saw the angles without the offset.
        begin[:, 2] += offset * self.inputs.dt * self.inputs.begins[:-1]
        response = np.empty(len(self.time))
        compiled(turn)(coefficients[0], state[0], self.inputs, begin, response)
        return np.interp(self.angle.time, self.time, response) + offset

    def commanded(self, vehicle: ActuationCmdMechanicalParameters) -> Array:
        """Tire angles that the commands mean by the steering gear, at the times of the measurements [rad]."""
        c = mechanism(vehicle, self.inputs.dt)
        at = self.angle.time
        wheel, speed = (np.interp(at, self.time, values) for values in (self.inputs.wheel, self.inputs.speed))
        return np.array([geared_angle(c, *row) for row in zip(wheel, speed, self.angle.value, strict=True)])


def _quiet(wheel: Array, nominal: NDArray[np.int64], reach: int) -> NDArray[np.int64]:
    """Begins of pieces within reach of these, where the command has not changed for as long as may be."""
    steps = np.arange(len(wheel))
    changed = np.concatenate(([0], np.where(np.diff(wheel) != 0.0, steps[1:], 0)))
    quiet = steps - np.maximum.accumulate(changed)
    shifted = [place - reach + int(np.argmax(quiet[place - reach : place + reach])) for place in nominal[1:-1]]
    return np.array([0, *shifted, len(wheel)], np.int64)
