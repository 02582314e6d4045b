"""How two runs differ: by how much, by how much later, and what was measured of each."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from vds_gz.errors import VdsGzError
from vds_gz.geometry.se2 import Pose
from vds_gz.study.identify.actuator_response import ActuatorResponse, measure
from vds_gz.study.recording import Actuator, Array, Motion, Recording

#: Longest delay between two runs that is looked for [s].
LONGEST_DELAY = 1.0

#: A delay this near to the longest one is the end of the search, and no minimum [s].
AT_THE_END = 1e-5

#: A signal that moves less than this has no delay, in its own unit.
STILL = 1e-6

#: Distances to a path are taken from this many of its points at most.
PATH_POINTS = 2000


class ComparisonError(VdsGzError, ValueError):
    """Two runs cannot be compared."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One quantity of both runs at the same times [s], counted from the first command."""

    name: str
    unit: str
    time: Array
    a: Array
    b: Array


@dataclass(frozen=True, slots=True)
class Difference:
    """How one quantity differs.

    Attributes:
        rms, peak: Of B minus A, in the quantity's unit.
        peak_time: When the peak was [s].
        delay: How much later B is than A [s]; None where nothing tells, see :func:`delay`.
        rms_aligned: What is left when the delay is taken out; None without one.
    """

    name: str
    unit: str
    rms: float
    peak: float
    peak_time: float
    delay: float | None
    rms_aligned: float | None


@dataclass(frozen=True, slots=True)
class PathDifference:
    """How the paths differ [m]: at the same time (rms, peak, end), and B's maximum distance from A's path."""

    rms: float
    peak: float
    end: float
    beside: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of one actuator in both runs."""

    name: str
    kind: str
    a: ActuatorResponse
    b: ActuatorResponse


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that there is to say about two runs. ``path_a`` and ``path_b`` are points [m] from the same pose on."""

    signals: tuple[Signal, ...]
    differences: tuple[Difference, ...]
    path: PathDifference
    path_a: Array
    path_b: Array
    measured: tuple[Measured, ...]

    def numbers(self) -> dict[str, dict[str, float | None]]:
        """Every number that a tolerance may bound, by quantity and measure."""
        found: dict[str, dict[str, float | None]] = {
            one.name: {"rms": one.rms, "peak": one.peak, "delay": None if one.delay is None else abs(one.delay)}
            for one in self.differences
        }
        path = self.path
        found["path"] = {"rms": path.rms, "peak": path.peak, "end": path.end, "beside": path.beside}
        for one in self.measured:
            for name in ("dead_time", "time_constant"):
                a, b = getattr(one.a, name), getattr(one.b, name)
                found[one.name][name] = None if a is None or b is None else abs(b - a)
        return found


def compare(a: Recording, b: Recording, *, together: bool = False) -> Comparison:
    """Compare two runs, from the first command on where both have commands, else from the first sample.

    Args:
        a, b: The runs.
        together: They took place at the same time, so that they are aligned by their clocks.

    Raises:
        ComparisonError: They have less than two samples in common.
    """
    begins = _same_time(a, b) if together else _begins(a, b)
    signals = tuple(_signals(a, b, *begins))
    path_a, path_b = _path(a.motion, begins[0], signals[0].time), _path(b.motion, begins[1], signals[0].time)
    return Comparison(
        signals,
        tuple(map(_difference, signals)),
        _path_difference(path_a, path_b),
        path_a,
        path_b,
        tuple(_measured(a, b)),
    )


def delay(time: Array, a: Array, b: Array) -> tuple[float | None, float | None]:
    """How much later ``b`` is than ``a`` [s], and the rms of what then still differs; None where nothing tells.

    It is looked for up to ``LONGEST_DELAY``, and a quarter of the run. Nothing tells where one that long would fit
    best, where a signal stands still, or where there are fewer than ten samples.

    Args:
        time: Of the samples, which may have equal stamps [s].
        a, b: One signal of both runs, in one unit.
    """
    longest = min(LONGEST_DELAY, 0.25 * float(time[-1] - time[0]))
    inside = (time >= time[0] + longest) & (time <= time[-1] - longest)
    if np.ptp(a) < STILL or np.ptp(b) < STILL or len(time) < 10 or longest <= 0.0 or not inside.any():
        return None, None
    steps = np.diff(time)
    interval = float(np.median(steps[steps > 0.0]))

    def error(shift: float) -> float:
        shifted = np.interp(time[inside] - shift, time, a)
        return float(np.mean((b[inside] - shifted) ** 2))

    count = int(longest / interval) + 1  # both ends take part, whatever a step is
    shifts = np.clip(interval * np.arange(-count, count + 1), -longest, longest)
    coarse = min(shifts.tolist(), key=lambda shift: (error(shift), abs(shift)))
    bounds = max(coarse - interval, -longest), min(coarse + interval, longest)
    fine = minimize_scalar(error, (), bounds, method="bounded", options={"xatol": 1e-7})
    best = float(fine.x) if fine.fun < error(coarse) else coarse
    if longest - abs(best) < AT_THE_END:
        return None, None  # the minimum lies beyond, if there is one: the runs went different ways
    return best, math.sqrt(error(best))


def _same_time(a: Recording, b: Recording) -> tuple[float, float]:
    """The first moment of which both tell, each in its own time [s]."""
    apart = (b.start - a.start) * 1e-9
    if -b.motion.time[-1] < apart < a.motion.time[-1]:
        return max(apart, 0.0), max(-apart, 0.0)
    raise ComparisonError(
        f"their stamps are {abs(apart):.1f} s apart, so they do not go by the same clock; use_sim_time must be the same"
    )


def _begins(a: Recording, b: Recording) -> tuple[float, float]:
    """Where both runs begin, each in its own time [s]."""
    if len(a.commands.time) and len(b.commands.time):
        return float(a.commands.time[0]), float(b.commands.time[0])
    return float(a.motion.time[0]), float(b.motion.time[0])


def _signals(a: Recording, b: Recording, begin_a: float, begin_b: float) -> Iterator[Signal]:
    of_a, of_b = a.motion, b.motion
    for name, unit, field in (("speed", "m/s", "v_x"), ("lateral", "m/s", "v_y"), ("yaw_rate", "rad/s", "yaw_rate")):
        signal = _signal(
            name, unit, of_a.time - begin_a, getattr(of_a, field), of_b.time - begin_b, getattr(of_b, field)
        )
        if name != "lateral" or np.any(signal.a) or np.any(signal.b):
            yield signal
    for one, other in _pairs(a, b):
        unit = "rad" if one.kind == "steering" else "m/s"
        yield _signal(one.name, unit, one.time - begin_a, one.response, other.time - begin_b, other.response)


def _signal(name: str, unit: str, time_a: Array, a: Array, time_b: Array, b: Array) -> Signal:
    """Both at the times of the first, where both are known."""
    common = (time_a >= max(time_b[0], 0.0)) & (time_a <= time_b[-1])
    time = time_a[common]
    if len(time) < 2:
        raise ComparisonError(
            f"the runs have no time in common; A lasts {time_a[-1] - time_a[0]:.1f} s, B {time_b[-1] - time_b[0]:.1f} s"
        )
    return Signal(name, unit, time, a[common], np.interp(time, time_b, b))


def _pairs(a: Recording, b: Recording) -> Iterator[tuple[Actuator, Actuator]]:
    """Actuators that both have."""
    others = {one.name: one for one in b.actuators}
    return ((one, others[one.name]) for one in a.actuators if one.name in others)


def _speed(run: Recording) -> Actuator:
    """The whole vehicle as a drive: the speed commanded and the speed driven, where nothing is known of actuators."""
    commands, time = run.commands, run.motion.time
    latest = np.searchsorted(commands.time, time, side="right") - 1
    commanded = np.where(latest >= 0, commands.speed[latest], 0.0)
    return Actuator("speed", "drive", time, np.nan_to_num(commanded), run.motion.v_x)


def _difference(signal: Signal) -> Difference:
    difference = signal.b - signal.a
    worst = int(np.argmax(np.abs(difference)))
    later, left = delay(signal.time, signal.a, signal.b)
    rms = math.sqrt(float(np.mean(difference**2)))
    return Difference(
        signal.name, signal.unit, rms, abs(float(difference[worst])), float(signal.time[worst]), later, left
    )


def _path(motion: Motion, begin: float, time: Array) -> Array:
    """Points of a path [m] at these times, from where and how the vehicle stood at the first of them."""
    x, y, heading = (np.interp(time, motion.time - begin, values) for values in (motion.x, motion.y, motion.heading))
    return np.column_stack(Pose(float(x[0]), float(y[0]), float(heading[0])).inverse().apply(x, y))


def _path_difference(a: Array, b: Array) -> PathDifference:
    apart = np.hypot(*(b - a).T)
    stride = max(1, len(b) // PATH_POINTS)
    beside = max(_distance(point, a[::stride]) for point in b[::stride])
    return PathDifference(math.sqrt(float(np.mean(apart**2))), float(np.max(apart)), float(apart[-1]), beside)


def _distance(point: Array, path: Array) -> float:
    """From a point to the nearest place of a path [m]."""
    begins, ways = path[:-1], np.diff(path, axis=0)
    lengths = np.sum(ways**2, axis=1)
    part = np.divide(np.sum((point - begins) * ways, axis=1), lengths, out=np.zeros(len(ways)), where=lengths > 0.0)
    nearest = begins + np.clip(part, 0.0, 1.0)[:, None] * ways
    return float(np.min(np.hypot(*(point - nearest).T)))


def _measured(a: Recording, b: Recording) -> Iterator[Measured]:
    pairs = list(_pairs(a, b))
    if not pairs and len(a.commands.time) and len(b.commands.time):
        pairs = [(_speed(a), _speed(b))]
    for one, other in pairs:
        responses = (measure(actuator, run.commands.time) for run, actuator in ((a, one), (b, other)))
        yield Measured(one.name, one.kind, *responses)
