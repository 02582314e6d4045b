"""A piece of a recording as the solver works on it: what its sensors would have read of vehicles with given numbers.

All points and all their derivatives are vehicles that are simulated side by side. A dead time that is no whole number
of steps lies between two vehicles: ``y = y(n) + f (y(n + 1) - y(n))``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vds_gz.fleet.sampled import Calibrations, Readings, sampled
from vds_gz.parameters.declaration import ParameterGroup
from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.forward.measurements import (
    Geometry,
    Observed,
    geometry_of,
    observed,
    start_names,
    start_states,
)
from vds_gz.study.identify.forward.pieces import Piece
from vds_gz.study.identify.forward.poses import Windows, pose_groups
from vds_gz.study.identify.forward.sides import SIDED, sided
from vds_gz.study.identify.forward.unknowns import NO_LIMIT, Kind, Unknown, index_of, with_numbers
from vds_gz.study.identify.signals import POSES, MeasuredChannel
from vds_gz.study.identify.solver.protocol import Evaluation, Indices, Mask, Space
from vds_gz.vehicle.differential import DIFFERENTIAL
from vds_gz.vehicle.model import AnyModel

#: A difference quotient's step, as a part of an unknown's scale; that of a time constant near 0 [s].
DIFFERENCE, SHORT_LAG = 1e-5, 5e-4

#: Own unknowns of a start lie within so many of its scale.
START_SIGMA = 3.0


@dataclass(frozen=True)
class VehicleFamily:
    """All vehicles that are looked among.

    Attributes:
        model: The vehicle model.
        parameters: What is known of the vehicle; the unknowns replace their own.
        unknowns: What is looked for, in the order of a point's coordinates.
        latencies: About how late sensors read, by the indices of their channels [s]; from there on latencies that are
            looked for act as straight lines.
        hold: What was measured is the state of a simulator, which holds for steps of this length [s]; 0: it changes
            between steps too.
    """

    model: AnyModel
    parameters: ParameterGroup
    unknowns: tuple[Unknown, ...]
    latencies: Mapping[int, float] = field(default_factory=dict)
    hold: float = 0.0

    def vehicle(self, point: Array) -> ParameterGroup:
        """The parameters at a point."""
        numbers = {
            one.name: one.parameter(float(x)) for one, x in zip(self.unknowns, point, strict=True) if one.is_parameter
        }
        return with_numbers(self.parameters, numbers)

    def calibrations(self, points: Array) -> Calibrations:
        """What becomes of commands, one vehicle a point."""
        chosen = {
            one.target: points[:, k]
            for k, one in enumerate(self.unknowns)
            if one.kind in (Kind.GAIN, Kind.COMMAND_OFFSET)
        }
        return Calibrations(**chosen)

    def driven(self, points: Array, start: Array, piece: Piece, readings: Readings) -> tuple[Array, Geometry]:
        """Readings of vehicles that follow the commands of a piece, (readings, vehicles), and their geometry.

        Args:
            points: One vehicle a point.
            start: What each does first, by :func:`~vds_gz.study.identify.forward.measurements.start_names`.
            piece: What is commanded.
            readings: What is read.
        """
        vehicles: list[Any] = [self.vehicle(one) for one in points]
        gains = {one.target: points[:, k] for k, one in enumerate(self.unknowns) if one.kind is Kind.WHEEL_GAIN}
        geometry = geometry_of(vehicles, **gains)
        model = self.model
        if gains and model is DIFFERENTIAL:
            model, vehicles = SIDED, list(sided(vehicles, geometry))
        values = sampled(
            model,
            vehicles,
            piece.commands,
            piece.begins,
            readings,
            step_rate=1.0 / piece.dt,
            calibrations=self.calibrations(points),
            starts=start_states(model, vehicles, piece.dt, start),
        )
        return values, geometry


@dataclass(frozen=True)
class _Sensor:
    """A sensor's samples: where they stand among those of the piece, and where its numbers stand among the readings.

    Those a step ``earlier`` too, if its latency is looked for.
    """

    index: int
    samples: slice
    readings: tuple[slice, ...]
    read: Observed
    earlier: tuple[slice, ...] = ()


@dataclass
class _Lanes:
    """Vehicles to simulate: of each the point that it belongs to, its coordinates, start and whole steps of dead times;
    then which unknown it differs in and by how much."""

    point: list[int] = field(default_factory=list)
    coordinates: list[Array] = field(default_factory=list)
    start: list[Array] = field(default_factory=list)

    def add(self, point: int, coordinates: Array, start: Array) -> int:
        """One more; its index."""
        self.point.append(point)
        self.coordinates.append(coordinates)
        self.start.append(start)
        return len(self.point) - 1


class VehiclePart:
    """A piece of a recording with its forward model; see :class:`~vds_gz.study.identify.solver.protocol.Part`.

    Own unknowns are what the vehicle did when the piece begins, in steady state, and where each window of poses lies.
    """

    def __init__(self, family: VehicleFamily, piece: Piece) -> None:
        self.family = family
        self.piece = piece
        self._terms = _Terms()
        self._sensors: list[_Sensor] = []
        measured: list[Array] = []
        channel: list[int] = []
        time: list[Array] = []
        plain = [(index, one) for index, one in piece.channels if one.quantity not in POSES]
        for index, one in plain:
            read = observed(family.model, family.parameters, one.quantity, one.joint)
            assert read is not None, one.quantity
            begin = sum(map(len, measured))
            samples = slice(begin, begin + len(one.series.time))
            at = self._positions(index, one)
            readings = tuple(self._terms.add(at, number) for number in read.numbers)
            earlier: tuple[slice, ...] = ()
            if index in family.latencies:
                earlier = tuple(self._terms.add(np.maximum(at - 1.0, 1.0), number) for number in read.numbers)
            self._sensors.append(_Sensor(index, samples, readings, read, earlier))
            measured.append(one.series.value)
            time.append(one.series.time)
            channel += [index] * len(one.series.time)
        self._names = start_names(family.model)
        guess, scale = self._start_guess(plain)
        self._windows: list[Windows] = []
        own = len(guess)
        for group in pose_groups(piece.channels):
            at = self._positions(*group[0])
            readings = tuple(self._terms.add(at, number) for number in POSES)
            windows = Windows.of(group, readings, sum(map(len, measured)), own)
            self._windows.append(windows)
            own += windows.own
            measured.append(windows.measured)
            time.append(np.tile(group[0][1].series.time, 3))
            channel += windows.channel
        self._readings = self._terms.readings()
        self.measured = np.concatenate([np.empty(0), *measured])
        self.time = np.concatenate([np.empty(0), *time])
        self.channel = np.array(channel, np.intp)
        self.own_begin = np.concatenate([guess, *(one.begin for one in self._windows)])
        sigma = np.concatenate([START_SIGMA * scale, *(np.full(one.own, np.inf) for one in self._windows)])
        self.own = Space.of(
            np.concatenate([scale, *(one.scale for one in self._windows)]), mean=self.own_begin, sigma=sigma
        )
        self.own_columns = self._columns() if self._windows else None

    def _positions(self, index: int, channel: MeasuredChannel) -> Array:
        """When a channel's samples were taken, in steps, about its latency before they were read."""
        latency = self.family.latencies.get(index, 0.0)
        at = self.piece.positions(channel.series.time - latency, self.family.hold)
        return np.maximum(at, 1.0) if latency else at

    def _start_guess(self, channels: Sequence[tuple[int, MeasuredChannel]]) -> tuple[Array, Array]:
        """What the vehicle did first, by its sensors or else by its first command, and how far off that may be."""
        first = self.piece.commands[0]
        field_of = {"steering": "steering_angle"}
        begin, scale = [], []
        for name in self._names:
            seen = [one.series.value for _, one in channels if one.quantity == name and len(one.series.value)]
            commanded = np.abs(self.piece.commands[field_of.get(name, name)])
            begin.append(float(np.median(seen[0][:3])) if seen else float(first[field_of.get(name, name)]))
            largest = max([float(np.max(commanded)), *(float(np.percentile(np.abs(one), 95.0)) for one in seen)])
            scale.append(max(0.3 * largest, 1e-3))
        return np.array(begin), np.array(scale)

    def _columns(self) -> Indices:
        """Own unknowns on which each sample depends: the start's, and those of its window."""
        starts = len(self._names)
        columns = np.zeros((len(self.measured), starts + 3), np.intp)
        columns[:, :starts] = np.arange(starts)
        for one in self._windows:
            columns[one.samples, starts:] = one.columns
        return columns

    @property
    def duration(self) -> float:
        """[s]."""
        return self.piece.duration

    @property
    def starts(self) -> int:
        """How many of the own unknowns are the vehicle's start."""
        return len(self._names)

    def evaluate(self, shared: Array, own: Array, wanted: Mask | None) -> Evaluation:
        """Predict what would have been measured; see the protocol."""
        lanes, plan = self._lanes(shared, own, wanted)
        readings, geometry = self._simulate(lanes)
        values = self._read(readings, geometry, np.array(lanes.point), own)
        points = len(shared)
        predicted = np.empty((points, len(self.measured)))
        derivatives = None if wanted is None else np.zeros((points, len(self.measured), shared.shape[1]))
        starts = len(self._names)
        of_own = None if wanted is None else np.zeros((points, len(self.measured), starts + 3 * bool(self._windows)))
        for s, of_point in enumerate(plan):
            base = values[:, of_point.base]
            y = base.copy()
            for column, lane, fraction in of_point.dead_times:
                slope = values[:, lane] - base
                y += fraction * slope
                if derivatives is not None:
                    derivatives[s, :, column] = slope / self.piece.dt
            for column, lane, step in of_point.columns:
                assert derivatives is not None
                derivatives[s, :, column] = (values[:, lane] - base) / step
            for column, lane, step in of_point.starts:
                assert of_own is not None
                of_own[s, :, column] = (values[:, lane] - base) / step
            for windows in self._windows if of_own is not None else ():
                assert of_own is not None
                local = windows.local(readings[:, [of_point.base]], geometry, of_point.base)
                of_own[s, windows.samples, starts:] = windows.derivatives(local, own[s])
            predicted[s] = y
        self._add_latencies(shared, [one.base for one in plan], readings, geometry, predicted, derivatives)
        for k in index_of(self.family.unknowns, Kind.OFFSET):
            samples = self.channel == self.family.unknowns[k].channel
            predicted[:, samples] += shared[:, k, np.newaxis]
            if derivatives is not None:
                derivatives[:, samples, k] = 1.0
        return Evaluation(predicted, derivatives, of_own)

    def _add_latencies(
        self,
        shared: Array,
        bases: Sequence[int],
        readings: Array,
        geometry: Geometry,
        predicted: Array,
        derivatives: Array | None,
    ) -> None:
        """Shift what sensors read by how much later they are than about."""
        for k in index_of(self.family.unknowns, Kind.LATENCY):
            one = self.family.unknowns[k]
            for sensor in self._sensors:
                if sensor.index in one.channels:
                    now, before = (
                        sensor.read.read([readings[rows] for rows in where], geometry)[:, bases].T
                        for where in (sensor.readings, sensor.earlier)
                    )
                    slope = (before - now) / self.piece.dt
                    later = shared[:, k] - self.family.latencies[sensor.index]
                    predicted[:, sensor.samples] += later[:, np.newaxis] * slope
                    if derivatives is not None:
                        derivatives[:, sensor.samples, k] = slope

    def _lanes(self, shared: Array, own: Array, wanted: Mask | None) -> tuple[_Lanes, list[_OfPoint]]:
        """The vehicles that are to be simulated, and what they are to each point."""
        unknowns, dt = self.family.unknowns, self.piece.dt
        dead = index_of(unknowns, Kind.DEAD_TIME)
        moving = [k for k, one in enumerate(unknowns) if one.moves_vehicle and one.kind is not Kind.DEAD_TIME]
        lanes, plan = _Lanes(), []
        for s, point in enumerate(shared):
            whole = point.copy()
            steps = np.floor(point[dead] / dt + 1e-7)
            whole[dead] = steps * dt
            start = own[s, : len(self._names)]
            of_point = _OfPoint(lanes.add(s, whole, start))
            for k, fraction in zip(dead, point[dead] / dt - steps, strict=True):
                if abs(fraction) > 1e-9 or (wanted is not None and wanted[s, k]):
                    later = whole.copy()
                    later[k] += dt
                    of_point.dead_times.append((int(k), lanes.add(s, later, start), float(fraction)))
            for k in moving if wanted is not None else ():
                if wanted is not None and wanted[s, k] and not _none(unknowns[k], point[k]):
                    step = _difference(unknowns[k], float(point[k]))
                    changed = whole.copy()
                    changed[k] += step
                    of_point.columns.append((k, lanes.add(s, changed, start), step))
            for k in range(len(start)) if wanted is not None else ():
                step = DIFFERENCE * float(self.own.scale[k])
                moved = start.copy()
                moved[k] += step
                of_point.starts.append((k, lanes.add(s, whole, moved), step))
            plan.append(of_point)
        return lanes, plan

    def _simulate(self, lanes: _Lanes) -> tuple[Array, Geometry]:
        """All readings of all vehicles, and the vehicles' geometry."""
        return self.family.driven(np.array(lanes.coordinates), np.array(lanes.start), self.piece, self._readings)

    def _read(self, readings: Array, geometry: Geometry, point: NDArray[np.intp], own: Array) -> Array:
        """What all sensors of all vehicles read, (samples, vehicles)."""
        values = np.empty((len(self.measured), readings.shape[1]))
        for one in self._sensors:
            values[one.samples] = one.read.read([readings[rows] for rows in one.readings], geometry)
        for windows in self._windows:
            local = windows.local(readings, geometry)
            values[windows.samples] = windows.placed(local, own[point])
        return values


@dataclass
class _OfPoint:
    """Vehicles of one point: its own; that with one more step of each dead time, with the fraction between the two;
    those that differ in another unknown, or in the start, with the difference."""

    base: int
    dead_times: list[tuple[int, int, float]] = field(default_factory=list)
    columns: list[tuple[int, int, float]] = field(default_factory=list)
    starts: list[tuple[int, int, float]] = field(default_factory=list)


class _Terms:
    """Readings as they are put together."""

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
        """All of them, in the order of time."""
        steps = np.concatenate(self._steps)
        order = np.argsort(steps, kind="stable")
        number, reading = (np.concatenate(one)[order] for one in (self._number, self._reading))
        weights = np.concatenate(self._weights)[order]
        return Readings(steps[order], tuple(self._numbers), number, reading, weights, self._count)


def _none(unknown: Unknown, coordinate: float) -> bool:
    """A limit that is none has no derivative."""
    return unknown.kind is Kind.LIMIT and unknown.value(coordinate) >= NO_LIMIT


def _difference(unknown: Unknown, coordinate: float) -> float:
    """The step of a difference quotient, to the side where there is room."""
    step = DIFFERENCE * unknown.scale
    if unknown.kind is Kind.TIME_CONSTANT and coordinate - unknown.lowest < 2.0 * SHORT_LAG:
        step = SHORT_LAG
    return step if coordinate + step <= unknown.bounds[1] else -step
