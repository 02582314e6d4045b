"""The parameters of a mechanical steering from logs: what the steering wheel was told, and how the tires turned.

The steering is :mod:`vds_gz.vehicle.autoware.mechanism`, compiled and driven through the log with the speeds that were
measured; the parameters are those that leave the least squares. Dry friction lets a steering stick and slip, so that
after a while a small change of a parameter may mean any angle. So the log is cut into short pieces, each from an angle,
a rate and a controller's integral of its own, which are found with the rest (multiple shooting: H. G. Bock, 1981).

Torques have no scale in such a log: inertia, damping, stiffness, friction, dead zone and the torque's limit may all be
multiplied by the same number. So what is not asked for keeps the value that it is given, above all the limit of the
torque and the power steering's polynomial.

A parameter that the log does not tell is put back to the value that it is given, and the others are found anew.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import differential_evolution, least_squares

from vds_gz.parameters.autoware import ActuationCmdMechanicalParameters
from vds_gz.study.identify.axis_fit import CERTAIN, WIDTH, Number, clinging, noise
from vds_gz.study.identify.signals import Series, SignalError
from vds_gz.study.progress import Advance
from vds_gz.vehicle.autoware.arithmetic import limited
from vds_gz.vehicle.autoware.mechanism import limit_command, restart, step_mechanism
from vds_gz.vehicle.autoware.models import mechanism
from vds_gz.vehicle.autoware.steering import geared_angle, steering_at_rest

Array = NDArray[np.float64]

#: What is looked for unless others are named.
DEAD_ZONE = "dead_zone_threshold"
FRICTION = "friction"
FREE = ("kp", "ki", "kd", "inertia", "damping", "stiffness", FRICTION, DEAD_ZONE)

#: A parameter that is 0 begins here when it is looked for, as a part of a unit.
FIRST = 1e-3

#: The first search is done with no more steps a second [Hz], with so many sets of parameters for each parameter, so
#: often renewed, within this factor, as a logarithm, of the first values.
ROUGH_RATE, POPULATION, GENERATIONS, WIDEST = 200.0, 8, 30, 1.6

#: Length of a piece of the log [s]; its first rate comes from so many samples.
PIECE, NEIGHBOURS = 2.0, 11

#: The controller's integral is known from piece to piece to so many times what noise alone would bend it.
LOOSE = 3.0

#: A piece fits worse than most if it leaves so many times what the middle one does; less than this part of them may.
WORSE, MOST, ROUNDS = 1.3, 0.6, 4

#: The squares are followed over the friction by such factors, so many to either side at most.
PROFILE_STEP, PROFILE_STEPS = 1.4, 3

#: Residuals beyond so many times the noise count less.
WILD = 3.0

#: For derivatives parameters are changed by this part, angles [rad], rates [rad/s] and integrals [rad s] by so much.
#: Dry friction and dead zone make steps, which less would not see or overrate.
STEP, ANGLE_STEP, RATE_STEP, INTEGRAL_STEP = 0.01, 1e-4, 1e-3, 1e-2

#: A parameter is expected within this factor, as a logarithm, of what it is given: that holds what acts little.
EXPECTED = 1.5

#: The search ends when it has tried so many sets of parameters; one that begins at a similar fit, so many.
TRIALS, FEW_TRIALS = 12, 4


@dataclass(frozen=True, slots=True)
class MechanismFit:
    """What was found of a steering.

    Attributes:
        numbers: By parameter, as far as they were looked for; None where the log does not tell.
        offset: What the sensor of the angle reads too much [rad].
        parameters: The vehicle with what was found.
        residual: Standard deviation of the angles from the model [rad].
        left_out, pieces: Of so many pieces of the log, so many fit much worse than the others and were left out.
        time, commanded, measured, modelled: For pictures; commands as tire angles [rad] at the gear's ratio; the model
            is nan in pieces that were left out.
    """

    numbers: dict[str, Number | None]
    offset: Number
    parameters: ActuationCmdMechanicalParameters
    residual: float
    left_out: int
    pieces: int
    time: Array
    commanded: Array
    measured: Array
    modelled: Array


def fit_mechanism(
    wheel: Series,
    speed: Series | None,
    angle: Series,
    given: ActuationCmdMechanicalParameters,
    *,
    free: Sequence[str] = FREE,
    step_rate: float = 1000.0,
    advance: Advance = lambda amount: None,
) -> MechanismFit:
    """Find parameters of a mechanical steering.

    Args:
        wheel: Angle of the steering wheel as commanded [rad]; each holds until the next.
        speed: Speed as measured [m/s]; None: the car stood.
        angle: Tire angle as measured [rad].
        given: The vehicle; what is not looked for keeps its values, and the search begins at the others.
        free: Names in ``mechanical_params`` to look for.
        step_rate: Steps of the model per second [Hz].
        advance: Is told how much of the work, 1 in all, is done.

    Raises:
        SignalError: The log is too short, or nothing was commanded.
    """
    rough = _Record(wheel, speed, angle, given, min(step_rate, ROUGH_RATE))
    shown = rough.excited((*free, DEAD_ZONE))
    if DEAD_ZONE not in shown:
        rough = _Record(wheel, speed, angle, _without_dead_zone(given), min(step_rate, ROUGH_RATE))
    start = rough.search(_at(given, [name for name in free if name in shown]), advance)
    record = _Record(wheel, speed, angle, rough.given, step_rate)
    best = record.fit(start)
    while best.free:
        spread = best.deviations()[:-1]
        worst = int(np.argmax(spread))
        if spread[worst] * WIDTH <= math.log1p(CERTAIN):
            break
        best = record.fit({name: value for name, value in best.values().items() if name != best.free[worst]}, best)
    advance(0.1)
    told = record.profile(best) if FRICTION in best.free else _linear(best)
    advance(0.1)
    return record.result(best, told, free, given)


def _linear(fit: _Fit) -> dict[str, Number]:
    """The parameters with intervals by the derivatives."""
    factors = np.exp(WIDTH * fit.deviations()[:-1]).tolist()
    rows = zip(fit.values().items(), factors, strict=True)
    return {name: Number(value, value / factor, value * factor) for (name, value), factor in rows}


def _without_dead_zone(given: ActuationCmdMechanicalParameters) -> ActuationCmdMechanicalParameters:
    """The vehicle as it is taken for where its dead zone does not show.

    A small dead zone acts by chance: it stops a steering that turns round while its torque is that small in a step, and
    a change of any parameter by 1e-4 makes it another step. Nothing could be found between such jumps.
    """
    return _with(given, {DEAD_ZONE: 0.0})


def _with(given: ActuationCmdMechanicalParameters, values: dict[str, float]) -> ActuationCmdMechanicalParameters:
    """The vehicle with other values in its steering."""
    return dataclasses.replace(given, mechanical_params=dataclasses.replace(given.mechanical_params, **values))


def _number(middle: float, half: float) -> Number:
    """A number by its logarithm and half the interval of that."""
    return Number(math.exp(middle), math.exp(middle - half), math.exp(middle + half))


def _at(given: ActuationCmdMechanicalParameters, names: Sequence[str]) -> dict[str, float]:
    """Where the search begins."""
    return {name: getattr(given.mechanical_params, name) or FIRST for name in names}


def turn(
    c: Any, m: Any, wheel: Any, speed: Any, limit: float, dt: float, begins: Any, starts: Any, answer: Any
) -> None:
    """Write the tire angle before every step into ``answer``, piece by piece.

    Args:
        c, m: Coefficients of the steering, and the mechanism's state, which changes.
        wheel, speed: Of every step: steering wheel [rad], speed [m/s].
        limit: End stops of the tires [rad].
        dt: Length of a step [s].
        begins: First step of every piece, and the number of steps.
        starts: Of every piece the angle [rad], the rate [rad/s] and the controller's integral [rad s] at its begin.
        answer: As long as ``wheel``.
    """
    for j in range(len(starts)):
        restart(c.mechanism, m)
        angle = starts[j, 0]
        m.rate = starts[j, 1]
        m.integral = starts[j, 2]
        m.previous = geared_angle(c, wheel[begins[j]], speed[begins[j]], angle)
        m.error = m.previous - angle
        for k in range(begins[j], begins[j + 1]):
            answer[k] = angle
            target = geared_angle(c, wheel[k], speed[k], angle)
            angle = limited(step_mechanism(c.mechanism, m, target, speed[k], angle, dt), limit)


@dataclass(frozen=True, slots=True)
class _Fit:
    """The free parameters' logarithms, the offset, and the begin of every piece, in this order.

    Attributes:
        free: Names of the parameters.
        found: These numbers.
        residuals, jacobian: What they leave of the samples [rad], and its derivatives.
        modelled: What the sensor would have read at all samples [rad].
        good: Pieces that do not fit worse than the others; only their samples are among the residuals.
        least: The noise is not less [rad].
    """

    free: tuple[str, ...]
    found: Array
    residuals: Array
    jacobian: Array
    modelled: Array
    good: NDArray[np.bool_]
    least: float

    @property
    def squares(self) -> float:
        return float(self.residuals @ self.residuals)

    @property
    def deviation(self) -> float:
        """Standard deviation of what is left [rad]."""
        return math.sqrt(self.squares / max(len(self.residuals) - len(self.found) + 3 * int(np.sum(~self.good)), 1))

    def values(self) -> dict[str, float]:
        """The parameters."""
        return dict(zip(self.free, np.exp(self.found[: len(self.free)]).tolist(), strict=True))

    def deviations(self) -> Array:
        """Standard deviations of the logarithms, and of the offset [rad]; infinite where nothing depends on one."""
        size = np.sqrt(np.sum(self.jacobian**2, axis=0))
        seen = size > 1e-9
        together = self.jacobian[:, seen] / size[seen]
        inverse = np.linalg.pinv(together.T @ together, rcond=1e-12)
        spread = np.full(len(size), np.inf)
        noisy = max(self.deviation, self.least) * clinging(self.residuals)
        spread[seen] = noisy * np.sqrt(np.diag(inverse)) / size[seen]
        return spread[: len(self.free) + 1]


class _Record:
    """A log on the steps of the model."""

    def __init__(
        self,
        wheel: Series,
        speed: Series | None,
        angle: Series,
        given: ActuationCmdMechanicalParameters,
        step_rate: float,
    ) -> None:
        inside = (angle.time >= wheel.time[0]) & (angle.time <= wheel.time[-1] + 2.0)
        if inside.sum() < 100 or np.ptp(wheel.value) < 1e-6:
            raise SignalError(
                f"there are {int(inside.sum())} steering angles in the time of {len(wheel.time)} commands between "
                f"{float(np.min(wheel.value)):g} and {float(np.max(wheel.value)):g} rad; needed are 100, and commands "
                "that change"
            )
        self.given, self.dt = given, 1.0 / step_rate
        self.angle = Series(angle.time[inside], angle.value[inside])
        begin = self.angle.time[0]
        self.time = begin + self.dt * np.arange(math.ceil((self.angle.time[-1] - begin) / self.dt) + 1)
        at = np.searchsorted(wheel.time, self.time - given.steer_time_delay + 1e-9, side="right") - 1
        self.wheel = np.where(at >= 0, wheel.value[np.clip(at, 0, None)], 0.0)
        self.speed = np.zeros_like(self.time) if speed is None else np.interp(self.time, speed.time, speed.value)
        self.least = max(0.2 * noise(self.angle.value), 1e-5 * float(np.ptp(self.angle.value)))
        pieces = max(1, round(len(self.time) * self.dt / PIECE))
        self.begins = self._quiet(np.linspace(0, len(self.time), pieces + 1).astype(np.int64))
        # What was measured where a piece ends belongs to neither.
        self.owner = np.searchsorted(self.time[self.begins[1:-1]], self.angle.time, side="right")
        self._guess_starts()

    def _guess_starts(self) -> None:
        """Angle, rate and the controller's integral at the begin of every piece, by what was measured around it."""
        c = mechanism(self.given, self.dt)
        even = np.interp(self.time, self.angle.time, self.angle.value)
        m = steering_at_rest(c).mechanism
        m.previous = geared_angle(c, self.wheel[0], self.speed[0], even[0])
        rows = zip(self.wheel, self.speed, even, strict=True)
        target = np.array([limit_command(c.mechanism, m, geared_angle(c, *row), self.dt) for row in rows])
        integral = np.concatenate(([0.0], np.cumsum(target - even)[:-1])) * self.dt
        level = max(noise(self.angle.value), self.least)
        self.starts = []
        for place in self.begins[:-1]:
            time = self.time[place]
            near = np.argsort(np.abs(self.angle.time - time))[:NEIGHBOURS]
            away = self.angle.time[near] - time
            rate, angle = np.polyfit(away, self.angle.value[near], 1)
            # What is not seen to move rests, and friction holds it.
            rests = abs(rate) < 3.0 * level / math.sqrt(float(np.sum((away - away.mean()) ** 2)))
            first = (np.mean(self.angle.value[near]), 0.0) if rests else (angle, rate)
            self.starts += [float(first[0]), float(first[1]), float(integral[place])]

    def _quiet(self, nominal: NDArray[np.int64]) -> NDArray[np.int64]:
        """Begins of pieces near these, where the command has not changed for as long as may be."""
        steps = np.arange(len(self.wheel))
        changed = np.concatenate(([0], np.where(np.diff(self.wheel) != 0.0, steps[1:], 0)))
        quiet = steps - np.maximum.accumulate(changed)
        reach = round(PIECE / 4.0 / self.dt)
        moved = [place - reach + int(np.argmax(quiet[place - reach : place + reach])) for place in nominal[1:-1]]
        return np.array([0, *moved, len(self.wheel)], np.int64)

    def simulate(self, values: dict[str, float], offset: float, starts: Array) -> Array:
        """What the sensor would have read.

        Args:
            values: Parameters of the mechanism.
            offset: What it reads too much [rad].
            starts: Angle [rad], rate [rad/s] and integral [rad s] at the begin of every piece, one after the other.
        """
        from vds_gz.vehicle.compiled import compiled, records

        c = mechanism(_with(self.given, values), self.dt)
        coefficients, state = (records([one]).view(np.ndarray) for one in (c, steering_at_rest(c).mechanism))
        begin = np.empty((len(self.begins) - 1, 3))
        begin[:] = starts.reshape(-1, 3)
        begin[:, 0] -= offset
        # The controller saw the angles without the offset.
        begin[:, 2] += offset * self.dt * self.begins[:-1]
        answer = np.empty(len(self.time))
        fixed = self.wheel, self.speed, self.given.steer_lim, self.dt, self.begins
        compiled(turn)(coefficients[0], state[0], *fixed, begin, answer)
        return np.interp(self.angle.time, self.time, answer) + offset

    def excited(self, names: Sequence[str]) -> list[str]:
        """Those of which a change shows, in more than single pieces where a steering that stuck slips instead."""
        level = max(noise(self.angle.value), self.least)
        start = np.array(self.starts)
        middle = self.simulate({}, 0.0, start)
        found = []
        for name, value in _at(self.given, names).items():
            change = (self.simulate({name: value * math.e**0.5}, 0.0, start) - middle) / 0.5
            power = np.bincount(self.owner, change**2)
            seen = math.sqrt(float(np.median(power)) * len(power))
            if seen > 0.0 and WIDTH * level / seen <= CERTAIN:
                found.append(name)
        return found

    def search(self, start: dict[str, float], advance: Advance) -> dict[str, float]:
        """The best of many, by differential evolution: dry friction makes many local minima.

        (R. Storn, K. Price, J. Global Optimization 11, 1997.)
        """
        if not start:
            return start
        level = WILD * max(noise(self.angle.value), self.least)
        begins = np.array(self.starts)

        def cost(x: Array) -> float:
            values = dict(zip(start, np.exp(x).tolist(), strict=True))
            left = (self.simulate(values, 0.0, begins) - self.angle.value) / level
            return float(np.sum(np.log1p(np.where(np.isfinite(left), left, 1e3) ** 2)))

        middle = np.log(list(start.values()))
        found = differential_evolution(
            cost,
            list(zip(middle - WIDEST, middle + WIDEST, strict=True)),
            x0=middle,
            popsize=POPULATION,
            maxiter=GENERATIONS,
            polish=False,
            tol=1e-3,
            seed=0,
            callback=lambda *_, **__: advance(0.8 / GENERATIONS),
        )
        return dict(zip(start, np.exp(found.x).tolist(), strict=True))

    def profile(self, best: _Fit) -> dict[str, Number]:
        """The parameters with intervals by what is left when the friction is held at other values.

        Friction that changes lets the steering stick at other times: the squares have kinks, which derivatives do not
        see, and damping stands in for friction. So a parabola is laid through the squares; the interval is where it has
        risen by what chance would, and by how they scatter about it (profile likelihood: D. J. Venzon,
        S. H. Moolgavkar, J. R. Stat. Soc. C 37, 1988).
        """
        values, given = best.values(), self.given
        rises = (WIDTH * max(best.deviation, best.least) * clinging(best.residuals)) ** 2
        ratios, found = [1.0], [best]
        for factor in (PROFILE_STEP, 1.0 / PROFILE_STEP):
            fit, ratio = best, 1.0
            for _ in range(PROFILE_STEPS):
                ratio *= factor
                self.given = _with(given, {FRICTION: values[FRICTION] * ratio})
                fit = self.fit({name: value for name, value in fit.values().items() if name != FRICTION}, fit)
                ratios.append(ratio)
                found.append(fit)
                if fit.squares > best.squares + 3.0 * rises:
                    break
        self.given = given
        squares = np.array([fit.squares for fit in found])
        bend, slope, level = (float(one) for one in np.polyfit(ratios, squares, 2))
        if bend <= 0.0:
            return _linear(best)
        scatter = float(np.std(squares - np.polyval((bend, slope, level), ratios)))
        middle = min(max(-0.5 * slope / bend, min(ratios)), max(ratios))
        half = math.sqrt((rises + 2.0 * scatter) / bend)
        low, high = max(middle - half, 0.0), middle + half
        told = {FRICTION: Number(*(values[FRICTION] * ratio for ratio in (middle, low, high)))}
        for name, number in _linear(best).items():
            if name != FRICTION:
                # What the others do while the friction changes, and what is uncertain of them besides.
                logs = [math.log(fit.values()[name]) for fit in found]
                tilt, at = (float(one) for one in np.polyfit(ratios, logs, 1))
                own = math.log(number.high / number.value)
                told[name] = _number(at + tilt * middle, math.hypot(own, tilt * half))
        return {name: told[name] for name in best.free}

    def fit(self, start: dict[str, float], before: _Fit | None = None) -> _Fit:
        """Least squares over the logarithms of some parameters, and the offset.

        Args:
            start: Where to begin.
            before: A fit that was much like this one: pieces begin as there, and those that it left out stay so.
        """
        free = tuple(start)
        count = len(free)
        expected = np.log([getattr(self.given.mechanical_params, name) or FIRST for name in free])

        def left(x: Array) -> Array:
            values = dict(zip(free, np.exp(np.clip(x[:count], -30.0, 30.0)).tolist(), strict=True))
            residuals = self.simulate(values, float(x[count]), x[count + 1 :]) - self.angle.value
            return np.where(np.isfinite(residuals), residuals, 10.0)

        prior = np.vstack((np.eye(count, count + 1 + len(self.starts)) * self.least / EXPECTED, self._linked(count)))
        known = prior @ np.concatenate((expected, [0.0], self.starts))

        good = np.ones(len(self.begins) - 1, bool) if before is None else before.good

        def objective(x: Array) -> Array:
            return np.concatenate((left(x) * good[self.owner], prior @ x - known))

        def derivatives(x: Array) -> Array:
            return np.vstack((self._jacobian(left, x, count) * good[self.owner, None], prior))

        rest = np.array([0.0, *self.starts]) if before is None else before.found[len(before.free) :]
        begin = np.concatenate((np.log(list(start.values())), rest))
        scale = np.concatenate((np.full(count, 0.3), [0.01], np.tile([0.01, 0.1, 0.1], len(self.begins) - 1)))
        # Where a steering that stuck is taken for one that slipped, a piece fits badly and must not bend others.
        options = {"x_scale": scale, "max_nfev": TRIALS if before is None else FEW_TRIALS, "xtol": 1e-6, "ftol": 1e-8}
        options |= {"loss": "cauchy", "f_scale": WILD * max(self.least * 5.0, 1e-5)}
        for _ in range(ROUNDS):
            begin = least_squares(objective, begin, derivatives, **options).x
            residuals = left(begin)
            fitting = good & self._fitting(residuals)
            if before is not None or (good == fitting).all():
                break
            good = fitting
        jacobian = np.vstack((self._jacobian(left, begin, count)[good[self.owner]], self._linked(count)))
        modelled = residuals + self.angle.value
        return _Fit(free, begin, residuals[good[self.owner]], jacobian, modelled, good, self.least)

    def _linked(self, count: int) -> Array:
        """What the controller's integral gains from one piece to the next was measured; by how much noise may bend it.

        Rows of a matrix for the vector of all that is found, in units of the residuals.
        """
        pieces = len(self.begins) - 1
        rows = np.zeros((pieces - 1, count + 1 + 3 * pieces))
        places, at = np.arange(pieces - 1), count + 3 + 3 * np.arange(pieces)
        interval = float(np.median(np.diff(self.angle.time)))
        rows[places, at[1:]] = 1.0 / (LOOSE * math.sqrt(PIECE * interval))
        rows[places, at[:-1]] = -rows[places, at[1:]]
        return rows

    def _fitting(self, residuals: Array) -> NDArray[np.bool_]:
        """Pieces that fit as well as most; where many do not, those that do not fit much worse."""
        counts = np.maximum(np.bincount(self.owner), 1)
        sizes = np.sqrt(np.bincount(self.owner, residuals**2) / counts)
        middle = float(np.median(sizes))
        good = sizes <= max(WORSE * middle, self.least)
        return np.asarray(good if good.mean() >= MOST else sizes <= max(WILD * middle, self.least))

    def _jacobian(self, left: Any, x: Array, count: int) -> Array:
        """Derivatives of the samples, by differences to both sides.

        Pieces know nothing of each other, so one difference serves the begins of all of them.
        """
        pieces = len(self.begins) - 1
        jacobian = np.zeros((len(self.angle.time), len(x)))
        for place in range(count + 1):
            change = np.zeros(len(x))
            change[place] = STEP if place < count else ANGLE_STEP
            near, far = (
                (left(x + factor * change) - left(x - factor * change)) / (2.0 * factor * change[place])
                for factor in (1.0, 2.0)
            )
            # Where these differ, a steering that stuck slips instead: that is no derivative.
            smooth = np.abs(near - far) <= 0.3 * (np.abs(near) + np.abs(far))
            jacobian[:, place] = np.where(smooth, near, 0.0)
        for which, step in enumerate((ANGLE_STEP, RATE_STEP, INTEGRAL_STEP)):
            change = np.zeros(len(x))
            change[count + 1 + which :: 3] = step
            column = (left(x + change) - left(x - change)) / (2.0 * step)
            jacobian[np.arange(len(column)), count + 1 + which + 3 * np.minimum(self.owner, pieces - 1)] = column
        return jacobian

    def result(
        self, fit: _Fit, told: dict[str, Number], asked: Sequence[str], given: ActuationCmdMechanicalParameters
    ) -> MechanismFit:
        """Everything for the best fit; what was not found is as given."""
        numbers: dict[str, Number | None] = dict.fromkeys(asked) | told
        offset, half = float(fit.found[len(fit.free)]), WIDTH * float(fit.deviations()[-1])
        c = mechanism(self.given, self.dt)
        wheel = np.interp(self.angle.time, self.time, self.wheel)
        speed = np.interp(self.angle.time, self.time, self.speed)
        commanded = [geared_angle(c, *row) for row in zip(wheel, speed, self.angle.value, strict=True)]
        return MechanismFit(
            numbers,
            Number(offset, offset - half, offset + half),
            _with(given, {name: number.value for name, number in told.items()}),
            fit.deviation,
            int(np.sum(~fit.good)),
            len(self.begins) - 1,
            self.angle.time,
            np.array(commanded),
            self.angle.value,
            np.where(fit.good[self.owner], fit.modelled, math.nan),
        )
