"""What a log will determine of a vehicle, before anybody drives: Fisher's information of all unknown numbers together.

The derivatives are differences of the vehicle's own steps, all of them side by side in one call of compiled code. The
intervals that follow are those of an estimate that reaches Cramer and Rao's bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vds_gz.errors import ArgumentError
from vds_gz.fleet.sampled import Readings, sampled
from vds_gz.parameters.declaration import ParameterGroup
from vds_gz.parameters.intervals import Interval
from vds_gz.study.identify.estimates import WIDTH, Array
from vds_gz.study.identify.forward.measurements import geometry_of, observed
from vds_gz.study.identify.forward.part import VehicleFamily
from vds_gz.study.identify.forward.setup import FIELDS
from vds_gz.study.identify.forward.unknowns import (
    GAINS,
    LEAST_LIMIT,
    NO_LIMIT,
    Kind,
    Unknown,
    actuations,
    coordinates,
    value_of,
)
from vds_gz.vehicle.model import AnyModel
from vds_gz.vehicle.schedule import Records, Wholes

#: Default uncertainty of a number, as a part of its value.
SPREAD = 0.3

#: Shorter times count as this long [s] where an interval is a part of its number.
SHORT = 0.02

#: A difference quotient's step, as a part of the number; that while a log is searched: a response that hangs on a
#: thousandth, as where a drive creeps by the difference of two limits, is no information for one who knows a hundredth.
DIFFERENCE, SEARCHED_DIFFERENCE = 1e-3, 1e-2

#: What is known of every number beforehand, as a part of it; what is not known better is not found.
BEFORE = 1.0


@dataclass(frozen=True)
class Commands:
    """Commands that many vehicles follow.

    Attributes:
        records: Of :func:`~vds_gz.vehicle.schedule.command_records`.
        times: When each begins [s], from 0.
        duration: Until when the vehicles follow them [s].
    """

    records: Records
    times: Array
    duration: float


@dataclass(frozen=True)
class Numbers:
    """The unknown numbers of a vehicle, and vehicles that it may be.

    Attributes:
        family: The model with what is not looked for, and what is.
        values: Of the prior vehicle.
        points: Coordinates of vehicles that it may be, the prior vehicle first; shape (vehicles, numbers).
    """

    family: VehicleFamily
    values: Array
    points: Array

    @property
    def names(self) -> tuple[str, ...]:
        """Of the numbers."""
        return tuple(one.name for one in self.family.unknowns)

    @property
    def scales(self) -> Array:
        """What 100 % of each number of the prior vehicle are, in its unit."""
        return self._scales(self.values)

    @property
    def coordinate_scales(self) -> Array:
        """What 100 % of each number are on its coordinate, of all vehicles; that of a limit is its logarithm."""
        limits = [one.kind is Kind.LIMIT for one in self.family.unknowns]
        return np.where(limits, 1.0, self._scales(self.points))

    def _scales(self, numbers: Array) -> Array:
        return np.where(self.times, np.maximum(numbers, SHORT), np.abs(numbers))

    @property
    def times(self) -> NDArray[np.bool_]:
        """Which numbers are times."""
        return np.array([one.kind in (Kind.DEAD_TIME, Kind.TIME_CONSTANT) for one in self.family.unknowns])


def numbers_of(
    model: AnyModel,
    parameters: ParameterGroup,
    gains: Sequence[str],
    intervals: Mapping[str, Interval],
    *,
    vehicles: int,
    seed: int,
) -> Numbers:
    """The numbers of a vehicle's actuators that a log may determine, and the gains of what is commanded.

    Args:
        model, parameters: The prior vehicle.
        gains: Quantities that are commanded.
        intervals: What is known of some numbers, by their names below ``model_params.<model>.``; others are taken to be
            known to +-30 %.
        vehicles: How many vehicles there are, with the prior one.
        seed: Of the others, which lie in a Latin hypercube.

    Raises:
        ArgumentError: The model has no actuators whose numbers can be found.
    """
    unknowns, values = [], []
    for actuation in actuations(parameters).values():
        rise = value_of(parameters, actuation.rise) if actuation.rise else 0.0
        for unknown in actuation.unknowns():
            value = value_of(parameters, unknown.name)
            if unknown.name == actuation.fall and not value:
                value = rise  # as the model takes it
            if unknown.kind is not Kind.LIMIT or (0.0 < value < NO_LIMIT and value != unknown.unlimited):
                unknowns.append(unknown)
                values.append(value)
    if not unknowns:
        raise ArgumentError(f"vehicle model '{model.name}' has no actuators whose numbers could be found")
    found = len(unknowns)
    unknowns += [Unknown(f"{one} gain", Kind.GAIN, *GAINS, target=FIELDS[one], scale=0.2) for one in gains]
    prior = np.array(values + [1.0] * len(gains))
    low, high = (1.0 - SPREAD) * prior, (1.0 + SPREAD) * prior
    for k, one in enumerate(unknowns[:found]):
        if one.name in intervals:
            low[k], high[k] = intervals[one.name].low, intervals[one.name].high
        lowest, highest = (LEAST_LIMIT, one.unlimited or NO_LIMIT) if one.kind is Kind.LIMIT else one.bounds
        low[k], high[k] = max(low[k], lowest), min(high[k], highest)
    low[found:] = high[found:] = 1.0
    family = VehicleFamily(model, parameters, tuple(unknowns))
    random = np.random.default_rng([seed, 1])
    strata = (np.array([random.permutation(vehicles - 1) for _ in unknowns]).T + 0.5) / max(vehicles - 1, 1)
    points = [prior, *(low + part * (high - low) for part in strata)]
    by_name = (dict(zip((one.name for one in unknowns), point, strict=True)) for point in points)
    return Numbers(family, prior, np.array([coordinates(unknowns, one) for one in by_name]))


class Experiment:
    """Vehicles that may be, each with one beside it for every number, and sensors that read them.

    Attributes:
        numbers: What is unknown of the vehicles.
        noise: Standard deviation of what each sensor reads, by quantity, in its unit.
        rate: Samples per second [Hz].
        step_rate: Steps per second [Hz].
    """

    def __init__(
        self,
        numbers: Numbers,
        noise: Mapping[str, float],
        rate: float,
        step_rate: float,
        difference: float = DIFFERENCE,
    ) -> None:
        """Prepare the vehicles; the difference between those beside each other is a part of the number."""
        self.numbers, self.noise, self.rate, self.step_rate = numbers, dict(noise), rate, step_rate
        family, dt = numbers.family, 1.0 / step_rate
        read = {one: observed(family.model, family.parameters, one) for one in noise}
        self._read = {name: one for name, one in read.items() if one is not None}
        self._states = tuple(dict.fromkeys(number for one in self._read.values() for number in one.numbers))
        rows, steps = [], []
        for point in numbers.points:
            beside = np.array([_step(one, x, dt, difference) for one, x in zip(family.unknowns, point, strict=True)])
            rows += [point, *(point + np.diag(beside))]
            steps.append(beside)
        self._points = np.array(rows)
        self._vehicles = [family.vehicle(point) for point in rows]
        self._calibrations = family.calibrations(self._points)
        self._geometry = geometry_of(self._vehicles)
        self._factors = numbers.coordinate_scales / np.array(steps)

    def of_prior(self, step_rate: float) -> Experiment:
        """Of the prior vehicle alone, in other steps."""
        return Experiment(replace(self.numbers, points=self.numbers.points[:1]), self.noise, self.rate, step_rate)

    def responses(self, commands: Commands) -> Array:
        """What the sensors read without noise, of shape (samples, sensors, vehicles, 1 + numbers)."""
        samples = np.arange(int(commands.duration * self.rate + 1e-6)) / self.rate
        steps = np.rint(samples * self.step_rate).astype(np.int64)
        begins: Wholes = np.ceil(commands.times * self.step_rate - 1e-6).astype(np.int64)
        of_each = len(self._states)
        readings = Readings(
            steps=steps.repeat(of_each),
            numbers=self._states,
            number=np.tile(np.arange(of_each), len(steps)),
            reading=np.arange(len(steps) * of_each),
            weights=np.ones(len(steps) * of_each),
            count=len(steps) * of_each,
        )
        family = self.numbers.family
        numbers = sampled(
            family.model,
            self._vehicles,
            commands.records,
            begins,
            readings,
            step_rate=self.step_rate,
            calibrations=self._calibrations,
        ).reshape(len(steps), of_each, -1)
        by_name = dict(zip(self._states, numbers.transpose(1, 0, 2), strict=True))
        read = [one.read([by_name[name] for name in one.numbers], self._geometry) for one in self._read.values()]
        return np.stack(read, axis=1).reshape(len(steps), len(read), len(self.numbers.points), -1)

    def information(self, commands: Commands, windows: int = 1, skipped: int = 0) -> Array:
        """Fisher's information of windows of equal length, of shape (windows, vehicles, unknowns, unknowns).

        Numbers are in parts of themselves, and after them come the offsets of the sensors.

        Args:
            commands: What the vehicles follow.
            windows: How many there are.
            skipped: So many samples at the beginning of each count nothing.
        """
        y = self.responses(commands)
        sensors, numbers = y.shape[1], self._factors.shape[1]
        noise = np.array([self.noise[name] for name in self._read])
        jacobian = np.zeros((*y.shape[:3], numbers + sensors))
        jacobian[..., :numbers] = (y[..., 1:] - y[..., :1]) * self._factors / noise[:, np.newaxis, np.newaxis]
        for k in range(sensors):
            jacobian[:, k, :, numbers + k] = 1.0 / noise[k]
        length = len(y) // windows
        rows = jacobian[: windows * length].reshape(windows, length, *jacobian.shape[1:])[:, skipped:]
        rows = rows.transpose(0, 3, 1, 2, 4).reshape(windows, len(self.numbers.points), -1, numbers + sensors)
        return np.asarray(rows.swapaxes(-1, -2) @ rows)

    def intervals(self, information: Array) -> Array:
        """Expected half widths of the 95 % intervals by the noise, in parts of the numbers, along the last axis."""
        unknowns = information.shape[-1]
        covariance = np.linalg.inv(information + np.eye(unknowns) / BEFORE**2)
        deviations: Array = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
        return WIDTH * deviations[..., : self._factors.shape[1]]


def _step(unknown: Unknown, coordinate: float, dt: float, difference: float) -> float:
    """By how much the vehicle beside another one differs."""
    if unknown.kind is Kind.DEAD_TIME:
        return dt
    if unknown.kind is Kind.LIMIT:
        return difference
    return difference * max(abs(coordinate), SHORT)
