"""Differences between two runs: magnitudes, delays and measured parameters of actuators; bounds on them."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.errors import ArgumentError, VdsGzError
from vds_gz.core.geometry import Pose
from vds_gz.core.parameters.yaml_entries import read_entries
from vds_gz.core.vehicle.catalogue import actuator_kind
from vds_gz.tools.study.compare.alignment import Alignment, align
from vds_gz.tools.study.compare.response_delay import Delay, delay
from vds_gz.tools.study.identify.actuator_response import ActuatorResponse, measure
from vds_gz.tools.study.recording import ActuatorSeries, MotionSeries, Recording

#: A delay is given if removing it reduces the rms at least to this part.
LOWERED = 0.95

#: Approximate maximum number of a path's points for distances.
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
    """The difference of one quantity."""

    name: str
    unit: str
    # rms, peak: of B minus A, in the quantity's unit
    rms: float
    peak: float
    peak_time: float  # time of the peak [s]
    # delay of B after A [s]; None if it is uncertain, see :mod:`vds_gz.tools.study.compare.response_delay`
    delay: float | None
    rms_aligned: float | None  # rms without the delay; None without one
    delay_error: float | None = None  # standard error of the delay [s]; None without one
    gain: float | None = None  # gain from A to B; None if A is constant or there are too few samples
    residual: float = 0.0  # rms of the residual of B after gain, constant and, if there is one, delay
    lowered: float = 0.0  # relative reduction of the residual by the delay


@dataclass(frozen=True, slots=True)
class PathDifference:
    """Differences of the paths [m]: at equal times (rms, peak, end), and B's maximum distance from A's path."""

    rms: float
    peak: float
    end: float
    beside: float


@dataclass(frozen=True, slots=True)
class Measured:
    """Measured parameters of one actuator in both runs."""

    name: str
    kind: str
    a: ActuatorResponse
    b: ActuatorResponse
    # Resolution of the difference of dead times [s]. If the times of commands are unknown, a reference may have changed
    # anywhere between two samples.
    resolution: float = 0.0

    def uncertainty(self, parameter: str) -> float:
        """Half of the 95 % interval of the difference of a parameter of both, by the response's attribute."""
        own = math.hypot(*(response.uncertainty.get(parameter, 0.0) for response in (self.a, self.b)))
        return max(own, self.resolution) if parameter == "dead_time" else own


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of two runs."""

    # signals, differences: the quantities of both, and their differences
    signals: tuple[Signal, ...]
    differences: tuple[Difference, ...]
    path: PathDifference | None  # difference of the paths; None if a pose is missing
    # path_a, path_b: their points [m] from the same pose on
    path_a: Array
    path_b: Array
    measured: tuple[Measured, ...]  # measured parameters of actuators that both have
    doubt: str = ""  # the reason why no delay can be given; empty if the runs are aligned
    not_compared: Mapping[str, str] = field(default_factory=dict)  # quantities that are not compared, with the reason

    def numbers(self) -> dict[str, dict[str, float | None]]:
        """Every number that a tolerance may bound, by quantity and measure."""
        numbers: dict[str, dict[str, float | None]] = {
            difference.name: {
                "rms": difference.rms,
                "peak": difference.peak,
                "delay": None if difference.delay is None else abs(difference.delay),
            }
            for difference in self.differences
        }
        numbers |= {name: dict.fromkeys(("rms", "peak", "delay")) for name in self.not_compared}
        numbers["path"] = {name: getattr(self.path, name, None) for name in ("rms", "peak", "end", "beside")}
        for actuator in self.measured:
            for name in ("dead_time", "time_constant"):
                a, b = getattr(actuator.a, name), getattr(actuator.b, name)
                numbers.setdefault(actuator.name, {})[name] = None if a is None or b is None else abs(b - a)
        return numbers


def compare(a: Recording, b: Recording, *, together: bool = False) -> Comparison:
    """Compare two runs, aligned by their commands, or by their clocks if they took place together."""
    aligned = Alignment(*_same_time(a, b)) if together else align(a, b)
    not_compared: dict[str, str] = {}
    compared = tuple(_signals(a, b, aligned, not_compared))
    if not compared:
        raise ComparisonError("; ".join(not_compared.values()) or "the runs have no measurement in common")
    signals, differences = zip(*compared, strict=True)
    time = signals[0].time
    path_a, path_b = _path(a.motion, aligned.a, time), _path(b.motion, aligned.b, time)
    return Comparison(
        signals,
        differences,
        _path_difference(path_a, path_b) if len(path_a) and len(path_b) else None,
        path_a,
        path_b,
        tuple(_measured(a, b, aligned)),
        aligned.doubt,
        not_compared,
    )


def _same_time(a: Recording, b: Recording) -> tuple[float, float]:
    """The start of the time that both runs cover, in the time of each [s]."""
    offset = (b.start - a.start) * 1e-9
    if -b.motion.time[-1] < offset < a.motion.time[-1]:
        return max(offset, 0.0), max(-offset, 0.0)
    raise ComparisonError(
        f"the stamps of the runs are {abs(offset):.1f} s apart, so their clocks differ; use_sim_time must be the same"
    )


def _signals(
    a: Recording, b: Recording, aligned: Alignment, not_compared: dict[str, str]
) -> Iterator[tuple[Signal, Difference]]:
    """Quantities of both runs at the times of A, and their differences; adds the others to ``not_compared``."""
    of_a, of_b = _series(a, aligned.a), _series(b, aligned.b)
    for name in (name for name in of_a if name in of_b):
        try:
            signal = _signal(name, *of_a[name], *of_b[name])
        except ComparisonError as error:
            not_compared[name] = str(error)
            continue
        if name != "lateral" or np.any(signal.a) or np.any(signal.b):
            lag = delay(*_common(*of_a[name], signal), *_common(*of_b[name], signal), certain=not aligned.doubt)
            yield signal, _difference(signal, lag)


def _common(time: Array, values: Array, signal: Signal) -> tuple[Array, Array]:
    """The samples in the time that both runs cover."""
    mask = (time >= signal.time[0]) & (time <= signal.time[-1])
    return time[mask], values[mask]


def _series(run: Recording, begin: float) -> dict[str, tuple[Array, Array]]:
    """Times since the beginning [s] and values of measured quantities."""
    motion = run.motion
    fields = (("speed", motion.v_x), ("lateral", motion.v_y), ("yaw_rate", motion.yaw_rate))
    series = {name: (motion.time, values) for name, values in fields}
    series |= {actuator.name: (actuator.time, actuator.response) for actuator in run.actuators}
    if run.steering is not None:
        series["steering"] = run.steering.time, run.steering.value
    finite = {name: (time, values, np.isfinite(values)) for name, (time, values) in series.items()}
    return {name: (time[mask] - begin, values[mask]) for name, (time, values, mask) in finite.items() if mask.sum() > 1}


def _signal(name: str, time_a: Array, a: Array, time_b: Array, b: Array) -> Signal:
    """Both signals at the times of the first, where both are known."""
    common = (time_a >= max(time_b[0], 0.0)) & (time_a <= time_b[-1])
    time = time_a[common]
    if len(time) < 2:
        raise ComparisonError(
            f"the runs have fewer than 2 times of {name} in common; A has it from {time_a[0]:.1f} to "
            f"{time_a[-1]:.1f} s after the first command, B from {time_b[0]:.1f} to {time_b[-1]:.1f} s"
        )
    unit = {"yaw_rate": "rad/s"}.get(name, "rad" if actuator_kind(name) == "steering" else "m/s")
    return Signal(name, unit, time, a[common], np.interp(time, time_b, b))


def _difference(signal: Signal, lag: Delay) -> Difference:
    difference = signal.b - signal.a
    peak = int(np.argmax(np.abs(difference)))
    rms, shift = _rms(difference), lag.delay
    rms_aligned = None if shift is None else _rms(_residual(signal, shift, 1.0))
    if rms_aligned is not None and shift and rms_aligned > LOWERED * rms:
        shift = rms_aligned = None
    residual = _residual(signal, shift or 0.0, 0.0 if lag.gain is None else lag.gain)
    return Difference(
        signal.name,
        signal.unit,
        rms,
        abs(float(difference[peak])),
        float(signal.time[peak]),
        shift,
        rms_aligned,
        None if shift is None else lag.standard_error,
        lag.gain,
        float(np.std(residual)),
        0.0 if shift is None else lag.lowered,
    )


def _residual(signal: Signal, shift: float, gain: float) -> Array:
    """The residual of B after removing a delay [s] and a gain from A."""
    time = signal.time
    mask = (time >= time[0] + shift) & (time <= time[-1] + shift)
    residual: Array = signal.b[mask] - gain * np.interp(time[mask] - shift, time, signal.a)
    return residual


def _rms(values: Array) -> float:
    return math.sqrt(float(np.mean(values**2)))


def _path(motion: MotionSeries, begin: float, time: Array) -> Array:
    """Points of a path [m] at these times, in the frame of the pose at the first of them; none without poses."""
    finite = np.isfinite(motion.x) & np.isfinite(motion.y) & np.isfinite(motion.heading)
    if finite.sum() < 2:
        return np.empty((0, 2))
    x, y, heading = (
        np.interp(time, motion.time[finite] - begin, values[finite]) for values in (motion.x, motion.y, motion.heading)
    )
    return np.column_stack(Pose(float(x[0]), float(y[0]), float(heading[0])).inverse().apply(x, y))


def _path_difference(a: Array, b: Array) -> PathDifference:
    distances = np.hypot(*(b - a).T)
    stride = max(1, len(b) // PATH_POINTS)
    beside = max(_distance(point, a[::stride]) for point in b[::stride])
    return PathDifference(
        math.sqrt(float(np.mean(distances**2))), float(np.max(distances)), float(distances[-1]), beside
    )


def _distance(point: Array, path: Array) -> float:
    """Distance from a point to the nearest point of a path [m]."""
    begins, ways = path[:-1], np.diff(path, axis=0)
    lengths = np.sum(ways**2, axis=1)
    part = np.divide(np.sum((point - begins) * ways, axis=1), lengths, out=np.zeros(len(ways)), where=lengths > 0.0)
    nearest = begins + np.clip(part, 0.0, 1.0)[:, None] * ways
    return float(np.min(np.hypot(*(point - nearest).T)))


def _measured(a: Recording, b: Recording, aligned: Alignment) -> Iterator[Measured]:
    """Measured parameters of the actuators of both runs.

    A table of ``replay`` has no times of commands; it takes those of the other run.
    """
    times_a, times_b = a.command_times, b.command_times
    if a.made_by_replay:
        times_a = times_b - aligned.b + aligned.a
    elif b.made_by_replay:
        times_b = times_a - aligned.a + aligned.b
    actuators_b = {actuator.name: actuator for actuator in b.actuators}
    for actuator in a.actuators:
        if (counterpart := actuators_b.get(actuator.name)) is not None:
            resolution = _resolution(actuator, times_a) + _resolution(counterpart, times_b)
            measured = measure(actuator, times_a), measure(counterpart, times_b)
            yield Measured(actuator.name, actuator.kind, *measured, resolution)


def _resolution(actuator: ActuatorSeries, commands: Array) -> float:
    """Half of the time between samples [s] if the times of commands are unknown."""
    return 0.5 * float(np.median(np.diff(actuator.time))) if len(commands) < 2 and len(actuator.time) > 1 else 0.0


DifferenceNumbers = Mapping[str, Mapping[str, float | None]]

#: Older names of quantities.
ALIASES = {"sideways": "lateral"}


@dataclass(frozen=True, slots=True)
class Bound:
    """The maximum that a measure of a quantity may have."""

    quantity: str
    measure: str
    limit: float
    value: float | None

    @property
    def broken(self) -> bool:
        """Whether the value is greater than the bound, unknown or NaN."""
        return self.value is None or not self.value <= self.limit

    def __str__(self) -> str:
        value = "unknown" if self.value is None else f"{self.value:.6g}"
        return f"{self.quantity} {self.measure} is {value}; it must be at most {self.limit:g}"


def load_bounds(path: str | Path) -> dict[str, dict[str, float]]:
    """The bounds in a file, by quantity and measure."""
    quantities = read_entries(path, "tolerance file", ArgumentError).mapping(
        "quantities with bounds, e.g. 'speed: {rms: 0.05, delay: 0.01}'"
    )
    return {
        quantity: {
            kind: limit.number("a number of at least 0", lambda value: value >= 0.0)
            for kind, limit in measures.mapping("bounds, e.g. '{rms: 0.05}'").items()
        }
        for quantity, measures in quantities.items()
    }


def check_bounds(path: str | Path, numbers: DifferenceNumbers) -> list[Bound]:
    """The bounds of a file with the values of a comparison."""
    bounds = []
    for name, measures in load_bounds(path).items():
        quantity = ALIASES.get(name, name)
        _check_name(path, "quantity", quantity, numbers)
        for kind, limit in measures.items():
            _check_name(path, f"measure of {quantity}", kind, numbers[quantity])
            bounds.append(Bound(quantity, kind, limit, numbers[quantity][kind]))
    return bounds


def _check_name(path: str | Path, kind: str, name: str, names: Mapping[str, object]) -> None:
    if name not in names:
        nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.0)[0]
        raise ArgumentError(f"{path}: unknown {kind} '{name}'; there are {', '.join(names)}; nearest is '{nearest}'")
