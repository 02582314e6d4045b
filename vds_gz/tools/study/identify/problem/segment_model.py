"""A segment of a recording with its forward model: the readings of sensors for given parameters.

All points and all finite differences are vehicles that are simulated side by side. A dead time between whole numbers of
steps is interpolated between two vehicles: ``y = y(n) + f (y(n + 1) - y(n))``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from vds_gz.core.arrays import Array, Flags
from vds_gz.tools.fleet.sampled import Readings
from vds_gz.tools.study.identify.problem.observed import Geometry, Observed, observed
from vds_gz.tools.study.identify.problem.segments import Segment
from vds_gz.tools.study.identify.problem.vehicle_family import VehicleFamily
from vds_gz.tools.study.identify.term_kind import Effect, Term, acting_as
from vds_gz.tools.study.recording import COMMANDED, MeasuredChannel

#: A difference quotient's step for a start, as a part of its scale.
DIFFERENCE = 1e-5


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
            latency = {channel: float(point[k]) for k in late for channel in self.family.terms[k].channels}
            wanted: list[tuple[Array, str]] = []
            ends = [0]
            for sensor in self._sensors:
                moving = sensor.channel in latency
                for earlier in (0.0, 1.0) if moving else (0.0,):
                    for time in sensor.instants():
                        at = self.segment.positions(time - latency.get(sensor.channel, 0.0), self.family.hold)
                        at = np.maximum(at - earlier, 1.0 if moving else 0.0)
                        wanted += [(at, number) for number in sensor.read.numbers]
                ends.append(len(wanted))
            borders = np.cumsum([0, *(len(at) for at, _ in wanted)]).tolist()
            rows = [slice(*ends_of_rows) for ends_of_rows in pairwise(borders)]
            self._planned = key, _readings(wanted), [rows[begin:end] for begin, end in pairwise(ends)]
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


def _readings(wanted: Sequence[tuple[Array, str]]) -> Readings:
    """Readings of numbers of the state at instants in steps, in the order of time.

    Between two steps they are on a straight line.
    """
    numbers = tuple(dict.fromkeys(number for _, number in wanted))
    number = np.repeat([numbers.index(name) for _, name in wanted], [len(at) for at, _ in wanted])
    instants = np.concatenate([at for at, _ in wanted])
    below = np.floor(instants).astype(np.int64)
    fraction = instants - below
    between = np.flatnonzero(fraction > 0.0)
    reading = np.concatenate([np.arange(len(instants)), between])
    steps = np.concatenate([below, below[between] + 1])
    weights = np.concatenate([1.0 - fraction, fraction[between]])
    order = np.argsort(steps, kind="stable")
    return Readings(steps[order], numbers, number[reading][order], reading[order], weights[order], len(instants))
