"""A recording of a mechanical steering on the steps of its model, and the simulation of many steerings through it.

The steering is :mod:`vds_gz.autoware.vehicle.mechanism`, compiled and driven with the commands and speeds of the
recording. The recording is cut into stretches, each with its own initial angle, rate and controller's integral
(multiple shooting: H. G. Bock, 1981), so that errors of the model do not accumulate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import uniform_filter1d

from vds_gz.autoware.parameters.car_parameters import ActuationCmdMechanicalParameters
from vds_gz.autoware.vehicle.delay import limited
from vds_gz.autoware.vehicle.mechanism import limit_command, restart, step_mechanism
from vds_gz.autoware.vehicle.models import mechanism
from vds_gz.autoware.vehicle.steering import geared_angle, steering_at_rest
from vds_gz.core.arrays import Array, Indices
from vds_gz.core.vehicle.schedule import Records
from vds_gz.tools.study.recording import Series, SignalError
from vds_gz.tools.study.signals import noise

#: Length of a stretch, and that for Autoware's own steering, which stops by chance in its dead zone: its angles are
#: random after that [s].
STRETCH, SHORT_STRETCH = 60.0, 2.0

#: Maximum number of stretches. Longer recordings have longer ones.
MOST_STRETCHES = 60

#: Number of samples for the initial rate of a stretch, and standard deviations of this rate and of the controller's
#: integral, as a multiple of those due to noise.
NEIGHBOURS, LOOSE = 11, 3.0

#: Minimum noise, as a part of the range of the angle.
RESOLUTION = 1e-4

#: Minimum number of samples of a recording, and time after the last command in which measurements are used [s].
LEAST_SAMPLES, LATE = 100, 2.0

#: Speeds are averaged over this time [s], which changes them by no more than this multiple of their noise.
SMOOTHING, NOISY = 0.3, 3.0


class Inputs(NamedTuple):
    """The inputs of a steering at every step: angle of the steering wheel [rad], speed [m/s].

    Stretches begin with the steps ``first``. Readings are taken in steps ``at``, which do not decrease, when a ``part``
    of the step is over. ``limit`` is that of the tyre angle [rad]; a step takes ``dt`` seconds.
    """

    wheel: Array
    speed: Array
    first: Indices
    at: Indices
    part: Array
    limit: float
    dt: float


def turn(c: Any, m: Any, inputs: Inputs, begins: Array, readings: Array, first: int, end: int) -> None:
    """Write the tyre angles [rad] of the steerings from ``first`` to ``end`` into ``readings``, (steerings, readings).

    ``c`` has the coefficients of each steering, ``m`` the states of their mechanisms, which change, and ``begins`` the
    initial angle [rad], rate [rad/s] and controller's integral [rad s], (steerings, stretches, 3).
    """
    for i in range(first, end):
        angle, done, stretch = 0.0, 0, 0
        for k in range(inputs.wheel.size):
            if stretch < inputs.first.size and inputs.first[stretch] == k:
                restart(c[i].mechanism, m[i])
                angle = begins[i, stretch, 0]
                m[i].rate = begins[i, stretch, 1]
                m[i].integral = begins[i, stretch, 2]
                m[i].previous = geared_angle(c[i], inputs.wheel[k], inputs.speed[k], angle)
                m[i].error = m[i].previous - angle
                stretch += 1
            before = angle
            target = geared_angle(c[i], inputs.wheel[k], inputs.speed[k], angle)
            turned = step_mechanism(c[i].mechanism, m[i], target, inputs.speed[k], angle, inputs.dt)
            angle = limited(turned, inputs.limit)
            while done < inputs.at.size and inputs.at[done] == k:
                readings[i, done] = before + (angle - before) * inputs.part[done]
                done += 1


def controller_integral(c: Any, m: Any, inputs: Inputs, angles: Array, integral: Array) -> None:
    """Write the controller's integral before every step [rad s] for measured angles [rad]."""
    total = 0.0
    m.previous = geared_angle(c, inputs.wheel[0], inputs.speed[0], angles[0])
    for k in range(inputs.wheel.size):
        integral[k] = total
        target = geared_angle(c, inputs.wheel[k], inputs.speed[k], angles[k])
        total += (limit_command(c.mechanism, m, target, inputs.dt) - angles[k]) * inputs.dt


class MechanismLog:
    """A recording on the steps of the model: tyre angles, their noise and its assumed minimum [rad].

    ``stretch`` is that of each measurement, and ``since`` has the start times of stretches in the recording [s].
    ``begins`` has guesses of the initial angle [rad], rate [rad/s] and controller's integral [rad s] of each stretch,
    (stretches, 3), and ``deviations`` their standard deviations, which are infinite for angles.
    """

    def __init__(
        self,
        wheel: Series,
        speed: Series | None,
        angle: Series,
        vehicle: ActuationCmdMechanicalParameters,
        step_rate: float,
    ) -> None:
        if not len(wheel.time) or (speed is not None and not len(speed.time)):
            raise SignalError("there are 0 commands of the steering wheel, or 0 speeds; at least 1 of each is needed")
        inside = (angle.time >= wheel.time[0]) & (angle.time <= wheel.time[-1] + LATE)
        if inside.sum() < LEAST_SAMPLES or np.ptp(wheel.value) < 1e-6:
            raise SignalError(
                f"there are {int(inside.sum())} steering angles during {len(wheel.time)} commands between "
                f"{float(np.min(wheel.value)):g} and {float(np.max(wheel.value)):g} rad; at least {LEAST_SAMPLES} are "
                "needed, and commands that change"
            )
        self.angle = Series(angle.time[inside], angle.value[inside])
        self.level = noise(self.angle.value)
        self.floor = max(RESOLUTION * float(np.ptp(self.angle.value)), 1e-9)
        dt, begin = 1.0 / step_rate, float(self.angle.time[0])
        time = begin + dt * np.arange(max(1, math.ceil((self.angle.time[-1] - begin) / dt - 1e-9)))
        at = np.searchsorted(wheel.time, time - vehicle.steer_time_delay + 1e-9, side="right") - 1
        held = np.where(at >= 0, wheel.value[np.clip(at, 0, None)], 0.0)
        driven = np.zeros_like(time) if speed is None else np.interp(time, speed.time, _smooth(speed))
        place = (self.angle.time - begin) / dt
        step = np.clip(np.floor(place + 1e-6), 0, len(time) - 1).astype(np.intp)
        first = _cuts(held, STRETCH if vehicle.physical else SHORT_STRETCH, dt)
        self._inputs = Inputs(held, driven, first, step, place - step, vehicle.steer_lim, dt)
        self.stretch = np.searchsorted(first, step, side="right") - 1
        self._steering = mechanism(vehicle, dt)
        self.since = first * dt
        starts = [self._start(begin + float(since)) for since in self.since]
        angles, rates, unsure = np.array(starts).T
        self.begins = np.column_stack((angles, rates, self._integral()[first]))
        drift = self.level * np.sqrt(self.since * float(np.median(np.diff(self.angle.time))))
        self.deviations = np.maximum(LOOSE * np.column_stack((np.full(len(first), np.inf), unsure, drift)), 1e-6)

    def simulate(self, parameters: Mapping[str, Array], begins: Array) -> Array:
        """Tyre angles at the times of the measurements, (steerings, measurements) [rad].

        Parameters are fields of the mechanism that differ from the vehicle's, (steerings,) each.
        """
        from vds_gz.core.compiling import compiled
        from vds_gz.tools.fleet.program import NO_EXCEPTIONS, share

        count = len(begins)
        c, m = (rows.repeat(count) for rows in self._records())
        for field, values in parameters.items():
            c["mechanism"][field] = values
        readings = np.empty((count, len(self.angle.time)))
        run = compiled(turn, c.dtype, m.dtype, inlined=True, nogil=True, error_model=NO_EXCEPTIONS)
        share(partial(run, c, m, self._inputs, begins, readings), count, count * len(self._inputs.wheel))
        return readings

    def commanded(self) -> Array:
        """Commanded tyre angles by the steering gear, at the times of the measurements [rad]."""
        inputs = self._inputs
        rows = zip(inputs.wheel[inputs.at], inputs.speed[inputs.at], self.angle.value, strict=True)
        return np.array([geared_angle(self._steering, *row) for row in rows])

    def _records(self) -> tuple[Records, Records]:
        """Coefficients of the vehicle's steering, and its mechanism's state at rest."""
        from vds_gz.core.vehicle.compiled import records

        at_rest = steering_at_rest(self._steering).mechanism
        return records([self._steering]).view(np.ndarray), records([at_rest]).view(np.ndarray)

    def _integral(self) -> Array:
        """The controller's integral before every step for the measured angles [rad s]."""
        from vds_gz.core.compiling import compiled

        c, m = self._records()
        steps, integral = np.arange(len(self._inputs.wheel)), np.empty(len(self._inputs.wheel))
        angles = np.interp(steps, self._inputs.at + self._inputs.part, self.angle.value)
        compiled(controller_integral, c.dtype, m.dtype)(c[0], m[0], self._inputs, angles, integral)
        return integral

    def _start(self, time: float) -> tuple[float, float, float]:
        """Angle [rad] and rate [rad/s] at a time by the measurements around it, and the rate's standard deviation."""
        near = np.argsort(np.abs(self.angle.time - time))[:NEIGHBOURS]
        away = self.angle.time[near] - time
        rate, angle = np.polyfit(away, self.angle.value[near], 1)
        unsure = self.level / math.sqrt(float(np.sum((away - away.mean()) ** 2)))
        # A steering that does not move significantly is at rest, and friction holds it.
        if abs(rate) < 3.0 * unsure:
            rate, angle = 0.0, np.mean(self.angle.value[near])
        return float(angle), float(rate), unsure


def _smooth(speed: Series) -> Array:
    """Smoothed speeds, because their noise would make the torque noisy; speeds without noise do not change."""
    interval = float(np.median(np.diff(speed.time))) if len(speed.time) > 1 else 0.0
    if interval == 0.0:
        return speed.value
    width = max(1, round(SMOOTHING / interval))
    change: Array = uniform_filter1d(speed.value, width, mode="nearest") - speed.value
    most = NOISY * noise(speed.value)
    return speed.value + np.clip(change, -most, most)


def _cuts(wheel: Array, length: float, dt: float) -> Indices:
    """First steps of stretches of about a length [s], each after the longest constant command."""
    steps = np.arange(len(wheel))
    count = int(np.clip(round(len(wheel) * dt / length), 1, MOST_STRETCHES))
    nominal = np.linspace(0, len(wheel), count + 1).astype(np.intp)
    changed = np.concatenate(([0], np.where(np.diff(wheel) != 0.0, steps[1:], 0)))
    constant, reach = steps - np.maximum.accumulate(changed), round(0.25 * len(wheel) / count)
    later = [place - reach + int(np.argmax(constant[place - reach : place + reach])) for place in nominal[1:-1]]
    return np.array([0, *later], np.intp)
