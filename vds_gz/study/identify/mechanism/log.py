"""A log of a mechanical steering on the steps of its model, cut into stretches, which are parts for the solver.

The steering is :mod:`vds_gz.vehicle.autoware.mechanism`, compiled and driven through the log with the speeds that were
measured. Each stretch begins with an angle, a rate and its own controller's integral (multiple shooting: H. G.
Bock, 1981), so that what the model leaves out does not add up.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from vds_gz.study.identify.estimates import noise
from vds_gz.study.identify.mechanism.unknowns import Unknowns
from vds_gz.study.identify.signals import Series, SignalError
from vds_gz.study.identify.solver.protocol import Array, Evaluation, Indices, Mask, Problem, Space
from vds_gz.vehicle.autoware.arithmetic import limited
from vds_gz.vehicle.autoware.mechanism import limit_command, restart, step_mechanism
from vds_gz.vehicle.autoware.models import mechanism
from vds_gz.vehicle.autoware.steering import geared_angle, steering_at_rest

#: Length of a stretch [s]. Autoware's own steering stops by chance in its dead zone, after which angles may be any.
STRETCH, SHORT_STRETCH = 60.0, 2.0

#: The rate that a stretch begins with comes from so many samples.
NEIGHBOURS = 11

#: A log must have so many samples, and measurements count so long after the last command [s].
LEAST_SAMPLES, LATE = 100, 2.0

#: Scales of a stretch's own unknowns: angle [rad], rate [rad/s], integral [rad s].
OWN_SCALES = (0.01, 0.1, 0.1)

#: Rate and controller's integral at the begin of a stretch are known to so many times what noise makes of them.
LOOSE = 3.0

#: Speeds are averaged over this time [s], and changed by so many times their noise at most.
SMOOTHING, NOISY = 0.3, 3.0

#: Derivatives are differences over this part of an unknown's scale.
DIFFERENCE = 1e-3


class Inputs(NamedTuple):
    """What acts on a steering at every step, and when its angle is read.

    Attributes:
        wheel, speed: Angle of the steering wheel [rad], speed [m/s].
        at, part: Readings are taken in these steps, which do not decrease, when this part of the step is over.
        limit: End stops of the tires [rad].
        dt: Length of a step [s].
    """

    wheel: Array
    speed: Array
    at: Indices
    part: Array
    limit: float
    dt: float


def turn(c: Any, m: Any, inputs: Inputs, begins: Array, readings: Array, first: int, end: int) -> None:
    """Write the tire angles of some steerings, from ``first`` up to the one before ``end``, into ``readings``.

    Args:
        c, m: Coefficients of each steering, and each mechanism's state, which changes.
        inputs: Of every step.
        begins: Of each steering the angle [rad], the rate [rad/s] and the controller's integral [rad s] at the begin.
        readings: (steerings, readings) [rad].
    """
    for i in range(first, end):
        restart(c[i].mechanism, m[i])
        angle = begins[i, 0]
        m[i].rate = begins[i, 1]
        m[i].integral = begins[i, 2]
        m[i].previous = geared_angle(c[i], inputs.wheel[0], inputs.speed[0], angle)
        m[i].error = m[i].previous - angle
        done = 0
        for k in range(inputs.wheel.size):
            before = angle
            target = geared_angle(c[i], inputs.wheel[k], inputs.speed[k], angle)
            turned = step_mechanism(c[i].mechanism, m[i], target, inputs.speed[k], angle, inputs.dt)
            angle = limited(turned, inputs.limit)
            while done < inputs.at.size and inputs.at[done] == k:
                readings[i, done] = before + (angle - before) * inputs.part[done]
                done += 1


def controller_integral(c: Any, m: Any, inputs: Inputs, angles: Array, integral: Array) -> None:
    """Write the controller's integral before every step [rad s], had it seen these angles [rad]."""
    total = 0.0
    m.previous = geared_angle(c, inputs.wheel[0], inputs.speed[0], angles[0])
    for k in range(inputs.wheel.size):
        integral[k] = total
        target = geared_angle(c, inputs.wheel[k], inputs.speed[k], angles[k])
        total += (limit_command(c.mechanism, m, target, inputs.dt) - angles[k]) * inputs.dt


class Stretch:
    """A stretch of a log: a part for the solver. Its own unknowns are angle, rate and integral at its begin."""

    own_columns = None

    def __init__(
        self, unknowns: Unknowns, inputs: Inputs, measured: Array, since: float, begin: Array, deviations: Array
    ):
        """What happened.

        Args:
            unknowns: The shared ones.
            inputs: Of every step, and the instants of the measurements.
            measured: Tire angles [rad].
            since: Time from the log's begin to the stretch's [s].
            begin: Guess of angle [rad], rate [rad/s] and integral [rad s] at the begin.
            deviations: Of angle, rate and integral from their guess, as far as that is known.
        """
        self._unknowns, self._inputs, self._since = unknowns, inputs, since
        self.measured, self.own_begin = measured, begin
        self.channel = np.zeros(len(measured), np.intp)
        self.own = Space.of(OWN_SCALES, mean=begin, sigma=np.maximum(deviations, 1e-6))

    def evaluate(self, shared: Array, own: Array, wanted: Mask | None) -> Evaluation:
        """Predict the readings; derivatives are forward differences, in further steerings of the same call."""
        if wanted is None:
            return Evaluation(self._readings(shared, own))
        (count, p), q = shared.shape, own.shape[1]
        rows, columns = np.nonzero(wanted)
        which = np.concatenate((np.arange(count), rows, np.repeat(np.arange(count), q)))
        points, begins = shared[which], own[which]
        differ, own_differ = DIFFERENCE * self._unknowns.space.scale, DIFFERENCE * self.own.scale
        points[count + np.arange(len(rows)), columns] += differ[columns]
        begins[count + len(rows) :] += np.tile(np.diag(own_differ), (count, 1))
        readings = self._readings(points, begins)
        predicted, others = readings[:count], readings[count:]
        derivatives = np.zeros((count, len(self.measured), p))
        derivatives[rows, :, columns] = (others[: len(rows)] - predicted[rows]) / differ[columns, None]
        of_own = others[len(rows) :].reshape(count, q, -1) - predicted[:, None]
        return Evaluation(predicted, derivatives, (of_own / own_differ[:, None]).transpose(0, 2, 1))

    def _readings(self, points: Array, own: Array) -> Array:
        """At points of the shared unknowns, each with its own ones."""
        from vds_gz.compiling.linking import compiled
        from vds_gz.fleet.program import NO_EXCEPTIONS
        from vds_gz.fleet.threads import share
        from vds_gz.vehicle.compiled import records

        inputs, offset = self._inputs, self._unknowns.offset(points)
        c = self._unknowns.coefficients(points, inputs.dt)
        m = records([steering_at_rest(mechanism(self._unknowns.vehicle, inputs.dt)).mechanism]).repeat(len(points))
        begins = own.copy()
        begins[:, 0] -= offset
        # The controller saw the angles without the offset.
        begins[:, 2] += self._unknowns.integral(points) + offset * self._since
        readings = np.empty((len(points), len(self.measured)))
        run = compiled(turn, inlined=True, nogil=True, error_model=NO_EXCEPTIONS)
        run = partial(run, c.view(np.ndarray), m.view(np.ndarray), inputs, begins, readings)
        share(run, len(points), len(points) * len(inputs.wheel))
        return readings + offset[:, None]


class MechanismLog:
    """A log on the steps of the model.

    Attributes:
        angle: Tire angles as measured [rad].
        level: Their noise [rad].
        parts: Its stretches.
    """

    def __init__(
        self, wheel: Series, speed: Series | None, angle: Series, unknowns: Unknowns, step_rate: float
    ) -> None:
        """Arguments as of :func:`vds_gz.study.identify.mechanism.fit.fit_mechanism`."""
        if not len(wheel.time) or (speed is not None and not len(speed.time)):
            raise SignalError("there are 0 commands of the steering wheel, or 0 speeds; needed is at least 1 of each")
        inside = (angle.time >= wheel.time[0]) & (angle.time <= wheel.time[-1] + LATE)
        if inside.sum() < LEAST_SAMPLES or np.ptp(wheel.value) < 1e-6:
            raise SignalError(
                f"there are {int(inside.sum())} steering angles in the time of {len(wheel.time)} commands between "
                f"{float(np.min(wheel.value)):g} and {float(np.max(wheel.value)):g} rad; needed are {LEAST_SAMPLES}, "
                "and commands that change"
            )
        self.angle = Series(angle.time[inside], angle.value[inside])
        self.level = noise(self.angle.value)
        self._unknowns = unknowns
        vehicle, dt, begin = unknowns.vehicle, 1.0 / step_rate, float(self.angle.time[0])
        time = begin + dt * np.arange(max(1, math.ceil((self.angle.time[-1] - begin) / dt - 1e-9)))
        at = np.searchsorted(wheel.time, time - vehicle.steer_time_delay + 1e-9, side="right") - 1
        held = np.where(at >= 0, wheel.value[np.clip(at, 0, None)], 0.0)
        driven = np.zeros_like(time) if speed is None else np.interp(time, speed.time, _smooth(speed))
        place = (self.angle.time - begin) / dt
        step = np.clip(np.floor(place + 1e-6), 0, len(time) - 1).astype(np.intp)
        self._inputs = Inputs(held, driven, step, place - step, vehicle.steer_lim, dt)
        self.parts = self._stretches(STRETCH if vehicle.physical else SHORT_STRETCH)

    def problem(self) -> Problem:
        """For the solver."""
        floor = max(1e-5 * float(np.ptp(self.angle.value)), 1e-9)
        return Problem(self.parts, self._unknowns.space, np.array([floor]), np.ones(1))

    def commanded(self) -> Array:
        """Tire angles that the commands mean by the steering gear, at the times of the measurements [rad]."""
        c, inputs = mechanism(self._unknowns.vehicle, self._inputs.dt), self._inputs
        rows = zip(inputs.wheel[inputs.at], inputs.speed[inputs.at], self.angle.value, strict=True)
        return np.array([geared_angle(c, *row) for row in rows])

    def _stretches(self, length: float) -> list[Stretch]:
        whole, count = self._inputs, max(1, round(len(self._inputs.wheel) * self._inputs.dt / length))
        cuts = np.linspace(0, len(whole.wheel), count + 1).astype(np.intp)
        cuts = _quiet(whole.wheel, cuts, round(length / 4.0 / whole.dt))
        integral, parts = self._integral(), []
        interval = float(np.median(np.diff(self.angle.time)))
        for begin, end in pairwise(cuts.tolist()):
            here, steps = (whole.at >= begin) & (whole.at < end), slice(begin, end)
            inputs = Inputs(
                whole.wheel[steps], whole.speed[steps], whole.at[here] - begin, whole.part[here], whole.limit, whole.dt
            )
            since = begin * whole.dt
            angle, rate, unsure = self._begin(self.angle.time[0] + since)
            deviations = LOOSE * np.array([math.inf, unsure, self.level * math.sqrt(since * interval)])
            start = np.array([angle, rate, integral[begin]])
            parts.append(Stretch(self._unknowns, inputs, self.angle.value[here], since, start, deviations))
        return parts

    def _integral(self) -> Array:
        """The controller's integral before every step, by what was measured."""
        from vds_gz.compiling.linking import compiled
        from vds_gz.vehicle.compiled import records

        steering = mechanism(self._unknowns.vehicle, self._inputs.dt)
        c, m = (records([one]).view(np.ndarray) for one in (steering, steering_at_rest(steering).mechanism))
        steps, integral = np.arange(len(self._inputs.wheel)), np.empty(len(self._inputs.wheel))
        angles = np.interp(steps, self._inputs.at + self._inputs.part, self.angle.value)
        compiled(controller_integral)(c[0], m[0], self._inputs, angles, integral)
        return integral

    def _begin(self, time: float) -> tuple[float, float, float]:
        """Angle and rate at a time, by what was measured around it, and the rate's standard deviation."""
        near = np.argsort(np.abs(self.angle.time - time))[:NEIGHBOURS]
        away = self.angle.time[near] - time
        rate, angle = np.polyfit(away, self.angle.value[near], 1)
        unsure = self.level / math.sqrt(float(np.sum((away - away.mean()) ** 2)))
        # What is not seen to move rests, and friction holds it.
        if abs(rate) < 3.0 * unsure:
            rate, angle = 0.0, np.mean(self.angle.value[near])
        return float(angle), float(rate), unsure


def _smooth(speed: Series) -> Array:
    """Speeds without their noise, which would make the torque noisy; without noise as they are."""
    interval = float(np.median(np.diff(speed.time))) if len(speed.time) > 1 else 0.0
    if interval == 0.0:
        return speed.value
    width = max(1, round(SMOOTHING / interval))
    change: Array = uniform_filter1d(speed.value, width, mode="nearest") - speed.value
    most = NOISY * noise(speed.value)
    return speed.value + np.clip(change, -most, most)


def _quiet(wheel: Array, nominal: Indices, reach: int) -> NDArray[np.intp]:
    """Cuts within reach of these, where the command has not changed for as long as may be."""
    steps = np.arange(len(wheel))
    changed = np.concatenate(([0], np.where(np.diff(wheel) != 0.0, steps[1:], 0)))
    quiet = steps - np.maximum.accumulate(changed)
    shifted = [place - reach + int(np.argmax(quiet[place - reach : place + reach])) for place in nominal[1:-1]]
    return np.array([0, *shifted, len(wheel)], np.intp)
