"""A segment of a recording with its forward model: the readings of sensors for given parameters.

All points and all finite differences are vehicles that are simulated side by side. A dead time between whole numbers of
steps is interpolated between two vehicles: ``y = y(n) + f (y(n + 1) - y(n))``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vds_gz.core.arrays import Array, Flags
from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.vehicle.differential import DIFFERENTIAL
from vds_gz.core.vehicle.vehicle_model import AnyModel
from vds_gz.tools.fleet.sampled import Calibrations, Readings, SampledDrive, Simulations
from vds_gz.tools.study.identify.problem.observed import (
    SIDED,
    Geometry,
    Observed,
    geometry_of,
    observed,
    sided,
    start_names,
    start_states,
)
from vds_gz.tools.study.identify.problem.parameters import with_numbers
from vds_gz.tools.study.identify.problem.segments import Segment
from vds_gz.tools.study.identify.term_kind import Effect, Term, acting_as
from vds_gz.tools.study.recording import COMMANDED, MeasuredChannel

#: A difference quotient's step for a start, as a part of its scale.
DIFFERENCE = 1e-5


@dataclass(frozen=True)
class VehicleFamily:
    """The family of possible vehicles.

    Attributes:
        model: The vehicle model.
        parameters: The known parameters; terms replace theirs.
        terms: The unknowns, in the order of a point's coordinates.
        hold: Measurements are states of a simulator, which hold for steps of this length [s]; 0: states change between
            steps too.
    """

    model: AnyModel
    parameters: ParameterGroup
    terms: tuple[Term, ...]
    hold: float = 0.0
    _made: dict[tuple[int, float], tuple[bytes, Simulations[Any, Any, Any], list[Any], Geometry]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def _simulations(self, points: Array, dt: float) -> tuple[Simulations[Any, Any, Any], list[Any], Geometry]:
        """The vehicles at some points, their coefficients and geometry; they are reused for as many other points."""
        number, place = (len(points), dt), points.tobytes()
        made = self._made.get(number)
        if made is None or made[0] != place:
            vehicles: list[Any] = [self.vehicle(point) for point in points]
            sides = {self.terms[k].target: points[:, k] for k in acting_as(self.terms, Effect.WHEEL)}
            geometry = geometry_of(vehicles, **sides)
            model = self.model
            if sides and model is DIFFERENTIAL:
                model, vehicles = SIDED, list(sided(vehicles, geometry))
            coefficients = [model.coefficients(vehicle, dt) for vehicle in vehicles]
            if made is None:
                simulations = Simulations(model, vehicles, 1.0 / dt)
            else:
                simulations = made[1]
                simulations.configure(vehicles)
            made = self._made[number] = place, simulations, coefficients, geometry
        return made[1:]

    def vehicle(self, point: Array) -> ParameterGroup:
        """The parameters at a point."""
        values = zip(self.terms, point.tolist(), strict=True)
        numbers = {term.name: term.parameter(x) for term, x in values if term.is_parameter}
        return with_numbers(self.parameters, numbers)

    @cached_property
    def start_names(self) -> tuple[str, ...]:
        """The unknown quantities of a vehicle's steady motion at the start of a segment."""
        return start_names(self.model, self.parameters)

    def index(self, name: str) -> int:
        """The index of a term."""
        return next(k for k, term in enumerate(self.terms) if term.name == name)

    def calibrations(self, points: Array) -> Calibrations:
        """Calibrations of commands, with a vehicle for each point."""
        chosen = {self.terms[k].target: points[:, k] for k in acting_as(self.terms, Effect.COMMAND)}
        return Calibrations(**chosen)

    def driven(self, points: Array, runs: Sequence[tuple[Segment, Array, Readings]]) -> tuple[list[Array], Geometry]:
        """Readings of vehicles, one for each point, that follow the commands of segments, and the vehicles' geometry.

        A run is a segment, the starts of its vehicles (vehicles, numbers), and its readings; all runs have equal steps.
        The result for each has the shape (readings, vehicles).
        """
        simulations, coefficients, geometry = self._simulations(points, runs[0][0].dt)
        drives = []
        for segment, start, readings in runs:
            states = start_states(simulations.model, self.start_names, coefficients, start) if start.any() else None
            drives.append(SampledDrive(segment.commands, segment.begins, readings, states))
        return simulations.read(drives, self.calibrations(points)), geometry


@dataclass(frozen=True)
class Predicted:
    """Predicted measurements, (N,), and their derivatives by the terms, (N, p), and by the start, (N, q)."""

    values: Array
    by_terms: Array
    by_start: Array


@dataclass(frozen=True)
class _Sensor:
    """A channel, the positions of its samples among those of the segment, and how it is read."""

    channel: int
    samples: slice
    source: MeasuredChannel
    read: Observed

    def instants(self) -> tuple[Array, ...]:
        """The times of readings [s]: one for each sample, or the start and the end of each mean."""
        time, half = self.source.series.time, self.source.half
        return (time,) if half is None else (time - half, time + half)


class _PointIndices(NamedTuple):
    """A point and its finite differences among the vehicles that are simulated: indices of these.

    Attributes:
        base: The point, dead times rounded down to steps.
        later: Differences in a dead time: the term, the vehicle with one more step, and the part of a step by which the
            point's dead time exceeds that of the base.
        columns: Differences in another term: the term, the vehicle, and the difference.
        beginnings: Differences in the start: the index of the number, and the vehicle.
    """

    base: int
    later: list[tuple[int, int, float]]
    columns: list[tuple[int, int, float]]
    beginnings: list[tuple[int, int]]


class Experiment:
    """A segment of a recording with its forward model.

    Attributes:
        measured, channel, time: Value, index of the channel and time [s] of each sample.
        start: Estimate of the initial steady motion.
        start_scale: Uncertainty of this estimate.
    """

    def __init__(self, family: VehicleFamily, segment: Segment) -> None:
        self.family, self.segment = family, segment
        self._sensors: list[_Sensor] = []
        end = 0
        for index, channel in segment.channels:
            samples = slice(end, end + len(channel.series.time))
            end = samples.stop
            quantity = f"mean_{channel.quantity}" if channel.half is not None else channel.quantity
            read = observed(family.model, family.parameters, quantity, channel.joint)
            assert read is not None, channel.quantity
            self._sensors.append(_Sensor(index, samples, channel, read))
        channels = [channel for _, channel in segment.channels]
        self.measured = np.concatenate([np.empty(0), *(channel.series.value for channel in channels)])
        self.time = np.concatenate([np.empty(0), *(channel.series.time for channel in channels)])
        counts = [len(channel.series.time) for channel in channels]
        self.channel = np.repeat(np.array([index for index, _ in segment.channels], np.intp), counts)
        self._offset = [
            (int(k), self.channel == family.terms[k].channel)
            for k in acting_as(family.terms, Effect.OFFSET)
            if family.terms[k].channel in self.channel
        ]
        self._names = family.start_names
        self.start, self.start_scale = self._first(channels)
        self._planned: tuple[bytes, Readings, list[list[slice]]] | None = None

    def _first(self, channels: Sequence[MeasuredChannel]) -> tuple[Array, Array]:
        """The initial motion, from the sensors or else from the first command, and its uncertainty."""
        first = self.segment.commands[0]
        begin, scale = [], []
        for name in self._names:
            seen = [channel.series for channel in channels if channel.quantity == name and len(channel.series.value)]
            seen.sort(key=lambda series: float(series.time[0]))
            commanded = np.abs(self.segment.commands[COMMANDED[name]])
            begin.append(float(np.median(seen[0].value[:3])) if seen else float(first[COMMANDED[name]]))
            tops = (float(np.percentile(np.abs(series.value), 95.0)) for series in seen)
            scale.append(max(0.3 * max(float(np.max(commanded)), *tops, 0.0), 1e-3))
        return np.array(begin), np.array(scale)

    def simulate(self, points: Array, starts: Array) -> Array:
        """Predicted measurements of many vehicles, (N, S); dead times are rounded to steps."""
        readings, where = self.plan(points[0])
        rounded = points.copy()
        dead = acting_as(self.family.terms, Effect.DEAD_TIME)
        rounded[:, dead] = np.rint(points[:, dead] / self.segment.dt) * self.segment.dt
        (values,), geometry = self.family.driven(rounded, [(self.segment, starts, readings)])
        return self._read(values, geometry, where, 0) + self._offsets(points)

    def starts(self, start: Array, places: Sequence[_PointIndices], vehicles: int) -> Array:
        """The initial motion of each vehicle, (vehicles, numbers)."""
        starts = np.tile(start, (vehicles, 1))
        for place in places:
            for j, vehicle in place.beginnings:
                starts[vehicle, j] += DIFFERENCE * self.start_scale[j]
        return starts

    def predictions(
        self,
        raw: Array,
        geometry: Geometry,
        points: Array,
        starts: Array,
        places: Sequence[_PointIndices],
        free: Flags,
    ) -> list[Predicted]:
        """Predicted measurements at points, with derivatives."""
        _, where = self.plan(points[0])
        values = self._read(raw, geometry, where, 0)
        late = acting_as(self.family.terms, Effect.LATENCY)
        earlier = self._read(raw, geometry, where, 1) if free[late].any() else values
        offsets = self._offsets(points)
        predictions = []
        for k, place in enumerate(places):
            now = values[:, place.base]
            predicted = now + offsets[:, k]
            by_terms = np.zeros((len(self.measured), len(self.family.terms)))
            by_start = np.zeros((len(self.measured), len(self._names)))
            for j, vehicle, fraction in place.later:
                slope = values[:, vehicle] - now
                predicted += fraction * slope
                by_terms[:, j] = slope / self.segment.dt
            for j, vehicle, step in place.columns:
                by_terms[:, j] = (values[:, vehicle] - now) / step
            for j, vehicle in place.beginnings:
                by_start[:, j] = (values[:, vehicle] - now) / (starts[vehicle, j] - starts[place.base, j])
            self._add_calibrations(by_terms, now, earlier[:, place.base], free)
            predictions.append(Predicted(predicted, by_terms, by_start))
        return predictions

    def plan(self, point: Array) -> tuple[Readings, list[list[slice]]]:
        """The readings of each sensor at its instants, and for those with a latency also a step earlier."""
        late = acting_as(self.family.terms, Effect.LATENCY)
        key = point[late].tobytes()
        if self._planned is None or self._planned[0] != key:
            latency = dict.fromkeys(range(len(self._sensors)), 0.0)
            moving: set[int] = set()
            for k in late:
                for s, sensor in enumerate(self._sensors):
                    if sensor.channel in self.family.terms[k].channels:
                        latency[s] = float(point[k])
                        moving.add(s)
            collected, where = _CollectedReadings(), []
            for s, sensor in enumerate(self._sensors):
                places = []
                for earlier in (0.0, 1.0) if s in moving else (0.0,):
                    for time in sensor.instants():
                        at = self.segment.positions(time - latency[s], self.family.hold) - earlier
                        at = np.maximum(at, 1.0) if s in moving else at
                        places += [collected.add(at, number) for number in sensor.read.numbers]
                where.append(places)
            self._planned = key, collected.readings(), where
        return self._planned[1], self._planned[2]

    def _read(self, raw: Array, geometry: Geometry, where: Sequence[Sequence[slice]], earlier: int) -> Array:
        """Readings of all sensors of all vehicles, (N, vehicles); with ``earlier`` 1 a step earlier, if planned."""
        values = np.empty((len(self.measured), raw.shape[1]))
        for sensor, places in zip(self._sensors, where, strict=True):
            count = len(sensor.read.numbers)
            size = count * len(sensor.instants())
            chosen = places[earlier * size : (earlier + 1) * size] or places[:size]
            parts = [[raw[rows] for rows in chosen[k : k + count]] for k in range(0, size, count)]
            if sensor.source.half is None:
                values[sensor.samples] = sensor.read.read(parts[0], geometry)
            else:
                both = [np.concatenate(pair) for pair in zip(*parts, strict=True)]
                values[sensor.samples] = sensor.read.read(both, geometry) / (2.0 * sensor.source.half[:, np.newaxis])
        return values

    def _offsets(self, points: Array) -> Array:
        """Offsets of sensors, (N, points)."""
        added = np.zeros((len(self.measured), len(points)))
        for k, samples in self._offset:
            added[samples] += points[:, k]
        return added

    def _add_calibrations(self, by_terms: Array, now: Array, earlier: Array, free: Flags) -> None:
        """Derivatives by offsets and latencies of sensors; ``earlier`` has readings a step earlier."""
        for k, samples in self._offset:
            by_terms[samples, k] = 1.0
        for k in acting_as(self.family.terms, Effect.LATENCY):
            if free[k]:
                late = np.isin(self.channel, self.family.terms[k].channels)
                by_terms[late, k] = (earlier - now)[late] / self.segment.dt


#: Maximum number of readings of experiments that are simulated side by side, to bound memory.
MOST_READINGS = 2_000_000


def predictions_of(
    experiments: Sequence[Experiment], points: Array, starts: Sequence[Array], free: Flags, *, free_start: bool
) -> Iterator[list[Predicted]]:
    """The predictions of each experiment at several points.

    The experiments have one family and equal steps, and the points equal latencies. Derivatives are by the free terms,
    and by the start if that is free too.
    """
    family, dt = experiments[0].family, experiments[0].segment.dt
    vehicles: list[Array] = []
    places = [_placed(family.terms, dt, vehicles, point, free, len(starts[0]) * free_start) for point in points]
    together = np.array(vehicles)
    for part in _batches(experiments, len(vehicles)):
        runs = [
            (experiment.segment, experiment.starts(start, places, len(vehicles)), experiment.plan(points[0])[0])
            for experiment, start in zip(experiments[part], starts[part], strict=True)
        ]
        values, geometry = family.driven(together, runs)
        for experiment, raw, (_, own_starts, _) in zip(experiments[part], values, runs, strict=True):
            yield experiment.predictions(raw, geometry, points, own_starts, places, free)


def _batches(experiments: Sequence[Experiment], vehicles: int) -> Iterator[slice]:
    """Experiments that are simulated side by side."""
    begin, readings = 0, 0
    for k, experiment in enumerate(experiments):
        readings += 2 * len(experiment.measured) * vehicles
        if readings > MOST_READINGS and k > begin:
            yield slice(begin, k)
            begin, readings = k, 2 * len(experiment.measured) * vehicles
    yield slice(begin, len(experiments))


def _placed(
    terms: Sequence[Term], dt: float, vehicles: list[Array], point: Array, free: Flags, starts: int
) -> _PointIndices:
    """Append a point and its finite differences, in free terms and in numbers of the start, to the vehicles."""
    whole, dead = point.copy(), acting_as(terms, Effect.DEAD_TIME)
    steps = np.floor(point[dead] / dt + 1e-7)
    whole[dead] = steps * dt

    def add(k: int | None = None, step: float = 0.0) -> int:
        vehicle = whole.copy()
        if k is not None:
            vehicle[k] += step
        vehicles.append(vehicle)
        return len(vehicles) - 1

    base = add()
    later = [
        (int(k), add(k, dt), float(fraction))
        for k, fraction in zip(dead, point[dead] / dt - steps, strict=True)
        if abs(fraction) > 1e-9 or free[k]
    ]
    columns = []
    for k, term in enumerate(terms):
        if free[k] and term.moves_vehicle and term.kind.effect is not Effect.DEAD_TIME and term.has_slope(point[k]):
            step = term.difference(float(point[k]))
            columns.append((k, add(k, step), step))
    return _PointIndices(base, later, columns, [(j, add()) for j in range(starts)])


class _CollectedReadings:
    """Readings of the numbers of a state, collected one after another."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._steps: list[NDArray[np.int64]] = []
        self._number: list[NDArray[np.int64]] = []
        self._reading: list[NDArray[np.int64]] = []
        self._weights: list[Array] = []
        self._count = 0

    def add(self, at: Array, number: str) -> slice:
        """Read a number at some instants, in steps; between two steps by a straight line."""
        index = self._numbers.setdefault(number, len(self._numbers))
        at = np.maximum(at, 0.0)
        below = np.floor(at).astype(np.int64)
        fraction = at - below
        reading = self._count + np.arange(len(at))
        between = fraction > 0.0
        for steps, readings, weights in (
            (below, reading, 1.0 - fraction),
            (below[between] + 1, reading[between], fraction[between]),
        ):
            self._steps.append(steps)
            self._number.append(np.full(len(steps), index, np.int64))
            self._reading.append(readings)
            self._weights.append(weights)
        rows = slice(self._count, self._count + len(at))
        self._count += len(at)
        return rows

    def readings(self) -> Readings:
        """All readings, in the order of time."""
        steps = np.concatenate(self._steps)
        order = np.argsort(steps, kind="stable")
        number, reading = (np.concatenate(parts)[order] for parts in (self._number, self._reading))
        weights = np.concatenate(self._weights)[order]
        return Readings(steps[order], tuple(self._numbers), number, reading, weights, self._count)
