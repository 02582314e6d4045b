"""From a fit to what people read: numbers with intervals, channels beside the model, findings, and axes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vds_gz.parameters.declaration import ParameterGroup
from vds_gz.parameters.intervals import ends
from vds_gz.parameters.vehicles import DifferentialParameters, OmniParameters
from vds_gz.study.identify.axes import NAMES, Axis, AxisFit
from vds_gz.study.identify.estimates import (
    CERTAIN,
    CERTAIN_TIME,
    TIME_RESOLUTION,
    WIDTH,
    Array,
    Estimate,
    noise,
)
from vds_gz.study.identify.fitting.fitting import Fit
from vds_gz.study.identify.fitting.lag_order import lag_findings
from vds_gz.study.identify.fitting.reach import reached
from vds_gz.study.identify.fitting.selection import reached as reached_limits
from vds_gz.study.identify.fitting.standstill import commanded_steering
from vds_gz.study.identify.fitting.time_errors import BLOCK, time_blocks
from vds_gz.study.identify.fitting.variants import PLACES, better_place
from vds_gz.study.identify.forward.measurements import geometry_of, yaw_arm
from vds_gz.study.identify.forward.part import VehicleFamily, VehiclePart
from vds_gz.study.identify.forward.setup import COMMANDED_BY, FIELDS, WHEELS, Setup
from vds_gz.study.identify.forward.unknowns import UNLIMITED, Kind, Unknown, index_of, value_of, with_numbers
from vds_gz.study.identify.results import OUTLIER_WEIGHT, Channel, VehicleFit
from vds_gz.study.identify.signals import QUANTITIES, Series
from vds_gz.study.identify.solver.explanation import Explained, explain
from vds_gz.study.identify.solver.intervals import Intervals
from vds_gz.study.identify.solver.protocol import Problem
from vds_gz.vehicle.command import TWIST

#: Offsets are given if their intervals are not wider to either side than this part of the range of the measurement.
CERTAIN_OFFSET = 0.05

#: What a model leaves is more than noise if it is so many times the noise and this part of the range.
NOISY, NEGLIGIBLE = 1.5, 0.01

#: A combination of unknowns is not determined if its eigenvalue of the information is below this part of the maximum.
SEPARABLE = 1e-9

#: What takes part in it by this much at least is named.
TAKES_PART = 0.2

#: Where residuals are correlated more than this, the model lacks something.
LACKING = 2.0

#: From fewer blocks of time no one knows how far errors of whole blocks move what is found.
FEWEST_BLOCKS = 10


def vehicle_fit(fit: Fit, scores: Mapping[str, float]) -> VehicleFit:
    """What was found, for people.

    Args:
        fit: Of all data.
        scores: By channel, of the part that was held out.
    """
    return _Outcome(fit).vehicle_fit(scores)


def estimates(fit: Fit) -> dict[str, Estimate | None]:
    """The unknowns by their names; None where the data do not tell one certainly enough."""
    family, intervals, dt = fit.setup.family, fit.intervals, 1.0 / fit.setup.step_rate
    hidden = {name for names in inseparable(family, intervals) for name in names}
    on_grid = all(part.piece.on_grid for part in fit.problem.parts if isinstance(part, VehiclePart))
    found: dict[str, Estimate | None] = {}
    for k, one in enumerate(family.unknowns):
        determined = fit.free[k] and one.name not in hidden and intervals.determined[k].any()
        coordinates = (float(each[k]) for each in (intervals.solution.points[0], intervals.low, intervals.high))
        found[one.name] = _estimate(one, dt, *coordinates, on_grid=on_grid) if determined else None
    return found


def _estimate(unknown: Unknown, dt: float, *coordinates: float, on_grid: bool) -> Estimate | None:
    """An estimate of coordinates of value, low and high; None if it is not certain enough.

    Dead times that act alike, as they come to the same number of steps of ``dt`` seconds, are all in the interval; of
    commands that came between steps, which no one knows better than these, all that rounding makes of them.
    """
    value, low, high = map(unknown.value, coordinates)
    is_time = unknown.kind in (Kind.DEAD_TIME, Kind.TIME_CONSTANT, Kind.LATENCY)
    allowed = CERTAIN * abs(value)
    if is_time:
        rounded = 0.0 if on_grid or unknown.kind is Kind.TIME_CONSTANT else WIDTH * TIME_RESOLUTION
        shorter, longer = (max(steps * dt, rounded) for steps in unknown.rounding)
        low = max(value - math.hypot(value - low, shorter), unknown.lowest)
        high = value + math.hypot(high - value, longer)
        allowed = max(allowed, CERTAIN_TIME)
    elif unknown.kind is Kind.OFFSET:
        allowed = max(allowed, CERTAIN_OFFSET * 10.0 * unknown.scale)
    elif unknown.kind is Kind.COMMAND_OFFSET:
        allowed = max(allowed, unknown.scale)
    elif unknown.kind is Kind.PARAMETER:
        allowed = max(allowed, 0.1 * unknown.scale)
    return Estimate(value, low, high) if max(value - low, high - value) <= allowed else None


def inseparable(family: VehicleFamily, intervals: Intervals) -> list[tuple[str, ...]]:
    """Sets of unknowns of which the data tell only a combination."""
    information = intervals.solution.information[0]
    seen = np.flatnonzero(np.diag(information) > 0.0)
    if not len(seen):
        return []
    root = 1.0 / np.sqrt(np.diag(information)[seen])
    values, vectors = np.linalg.eigh(information[np.ix_(seen, seen)] * root[:, np.newaxis] * root)
    names = [family.unknowns[k].name for k in seen]
    return [
        tuple(name for name, part in zip(names, vector, strict=True) if abs(part) > TAKES_PART)
        for value, vector in zip(values, vectors.T, strict=True)
        if value < SEPARABLE * values[-1]
    ]


@dataclass(frozen=True)
class _Outcome:
    found: Fit

    @property
    def setup(self) -> Setup:
        return self.found.setup

    @property
    def problem(self) -> Problem:
        return self.found.problem

    @property
    def intervals(self) -> Intervals:
        return self.found.intervals

    def vehicle_fit(self, scores: Mapping[str, float]) -> VehicleFit:
        family = self.setup.family
        found = estimates(self.found)
        numbers = {one.name: found[one.name] for one in family.unknowns if one.is_parameter}
        calibrations = {one.name: found[one.name] for one in family.unknowns if not one.is_parameter}
        channels = tuple(self._channels())
        top = reached_limits(self.problem.parts, family, self.setup.actuators, self.intervals.solution)
        limits = [one.name for one in family.unknowns if one.kind is Kind.LIMIT]
        return VehicleFit(
            model=family.model.name,
            parameters=self._parameters(numbers, top),
            numbers=numbers,
            calibrations=calibrations,
            reached={name: top[name] for name in limits if numbers[name] is None and name in top},
            channels=channels,
            findings=(*self.setup.remarks, *self._diameters(calibrations), *self._findings(channels, numbers)),
            held_out=dict(scores),
            axes=tuple(self._axes(numbers, calibrations, channels)),
        )

    def _parameters(self, numbers: Mapping[str, Estimate | None], top: Mapping[str, float]) -> ParameterGroup:
        """The vehicle with what was found, be it roughly of limits that were met; those that were not are none."""
        found = {name: one.value for name, one in numbers.items() if one is not None}
        found = {one.name: value for one, value in self._rough_limits(numbers)} | found
        for one in self.setup.family.unknowns:
            if one.kind is Kind.LIMIT and one.name not in found and one.name in top:
                given = value_of(self.setup.family.parameters, one.name)
                stops = one.name == self.setup.actuators["steering"].value if self._steers else False
                found[one.name] = given if stops and given > top[one.name] else one.unlimited
        for actuation in self.setup.actuators.values():
            if actuation.fall and found.get(actuation.fall) == UNLIMITED and not found.get(actuation.rise):
                found[actuation.fall] = 0.0
        return dataclasses.replace(with_numbers(self.setup.family.parameters, found))  # type: ignore[type-var]

    def _rough_limits(self, numbers: Mapping[str, Estimate | None]) -> Iterator[tuple[Unknown, float]]:
        """Limits that were met but are not certain enough to be given, with their values."""
        point = self.intervals.solution.points[0]
        for k in index_of(self.setup.family.unknowns, Kind.LIMIT):
            one = self.setup.family.unknowns[k]
            if self.found.free[k] and numbers[one.name] is None:
                yield one, one.parameter(float(point[k]))

    @property
    def _steers(self) -> bool:
        return "steering" in self.setup.actuators

    # ------------------------------------------------------------------ channels

    def _channels(self) -> Iterator[Channel]:
        explained = explain(self.problem, self.intervals.solution, 0)
        solution = self.intervals.solution
        index = 0
        for recording, every in enumerate(self.setup.channels):
            for one in every:
                samples = list(_samples(self.problem, explained, index))
                if samples:
                    time, measured, modelled, weight = (np.concatenate(part) for part in zip(*samples, strict=True))
                    left = (measured - modelled)[weight >= OUTLIER_WEIGHT]
                    yield Channel(
                        one.name,
                        one.quantity,
                        one.unit,
                        one.source,
                        recording,
                        float(solution.noise.scale[0, index]),
                        float(solution.noise.nu[0, index]),
                        float(np.std(left)) if len(left) else math.nan,
                        int((weight < OUTLIER_WEIGHT).sum()),
                        _correlation(left),
                        time,
                        measured,
                        modelled,
                        self._commanded(recording, one.quantity, time),
                        weight,
                    )
                index += 1

    def _commanded(self, recording: int, quantity: str, time: Array) -> Array | None:
        """What was commanded of a quantity at some times; None if it is not commanded."""
        commands = self.setup.recordings[recording].commands
        at = np.clip(np.searchsorted(commands.time, time, side="right") - 1, 0, None)
        if quantity in COMMANDED_BY.get(self.setup.kind, ()):
            return np.asarray(commands.records[FIELDS[quantity]][at], float)
        if quantity != "steering" or self.setup.kind != TWIST:
            return None
        v_x, yaw_rate = (Series(commands.time, commands.records[name]) for name in ("v_x", "yaw_rate"))
        vehicle = self.setup.family.vehicle(self.intervals.solution.points[0])
        wheel_base = float(geometry_of([vehicle]).signed_wheelbase[0])
        return commanded_steering(v_x, yaw_rate, wheel_base, centred=bool(self.setup.centred)).value[at]

    # ------------------------------------------------------------------ axes

    def _axes(
        self,
        numbers: Mapping[str, Estimate | None],
        calibrations: Mapping[str, Estimate | None],
        channels: Sequence[Channel],
    ) -> Iterator[Axis]:
        main = {one.quantity: one for one in reversed(channels) if one.recording == 0 or len(channels) == 1}
        main |= {one.quantity: one for one in reversed(channels) if one.quantity not in main}
        for quantity in QUANTITIES:
            channel = main.get(quantity)
            commanded = channel.commanded if channel is not None else None
            if channel is None or commanded is None or (quantity == "v_y" and np.ptp(commanded) == 0.0):
                continue
            found = dict.fromkeys(NAMES) | self._numbers_of(quantity, numbers)
            found |= {"gain": calibrations.get(f"{quantity} gain"), "offset": _offset(calibrations, channel)}
            fit = AxisFit(
                found,
                reached(channel.time, channel.measured, angle=quantity == "steering"),
                channel.residual,
                channel.outliers,
                channel.time,
                commanded,
                channel.measured,
                channel.modelled,
            )
            yield Axis(quantity, channel.unit, fit, self.setup.centred if quantity == "steering" else None)

    def _numbers_of(self, quantity: str, numbers: Mapping[str, Estimate | None]) -> dict[str, Estimate | None]:
        """The numbers of the actuator that a quantity follows.

        A yaw rate of a steered vehicle has no limits of its own; that of wheels at both sides has those of the wheels.
        """
        actuation = self.setup.actuators[
            "steering" if self._steers and quantity in ("steering", "yaw_rate") else "drive"
        ]
        found = {number: numbers.get(name) for number, name in actuation.named().items()}
        if quantity == "steering":
            found["fall"] = found.get("rise")
        elif quantity == "yaw_rate":
            arm = self._arm()
            for name in ("rise", "fall", "value"):
                one = found.get(name)
                found[name] = Estimate(one.value / arm, one.low / arm, one.high / arm) if one and arm else None
        return found

    def _arm(self) -> float:
        """Wheel speed of a unit of yaw rate, where the wheels turn the vehicle [m]; else 0."""
        family = self.setup.family
        parameters = family.vehicle(self.intervals.solution.points[0])
        if isinstance(parameters, DifferentialParameters):
            return 0.5 * parameters.track
        if isinstance(parameters, OmniParameters):
            return abs(yaw_arm(parameters))
        return 0.0

    # ------------------------------------------------------------------ findings

    def _findings(self, channels: Sequence[Channel], numbers: Mapping[str, Estimate | None]) -> Iterator[str]:
        for names in inseparable(self.setup.family, self.intervals):
            yield f"{' and '.join(names)} cannot be told apart by what was recorded; none of them is given"
        for k in index_of(self.setup.family.unknowns, Kind.GAIN):
            if not self.found.free[k]:
                yield (
                    f"{self.setup.family.unknowns[k].name}: taken as 1, as the recording does not determine it; what "
                    "acts alike, such as the diameter of wheels, has its part"
                )
        blocks = sum(len(np.unique(one)) for one in time_blocks(self.problem)) if self.problem.sizes else FEWEST_BLOCKS
        if blocks < FEWEST_BLOCKS:
            yield (
                f"commands come early or late by chance, and {BLOCK * blocks:g} s of driving hardly show how far that "
                f"moves the numbers: their intervals may be too narrow; needed are {BLOCK * FEWEST_BLOCKS:g} s"
            )
        for limit, value in self._rough_limits(numbers):
            yield f"{limit.name}: a limit of about {value:.2g} was met, which the recording determines only roughly"
        yield from self._of_variant()
        lags = {name: numbers.get(one.time_constant) for name, one in self.setup.actuators.items()}
        yield from lag_findings(self.found, [name for name, one in lags.items() if one is not None])
        delayed = [name for name, one in self.setup.actuators.items() if numbers.get(one.dead_time) is not None]
        if delayed:
            yield (
                f"a latency that all sensors of the {' or the '.join(delayed)} share is part of its dead time; no "
                "recording tells the two apart"
            )
        for one in channels:
            allowed = NOISY * noise(one.measured) + NEGLIGIBLE * float(np.ptp(one.measured))
            if one.residual > allowed:
                yield (
                    f"{one.name}: the model leaves {one.residual:.3g} {one.unit}, which is more than noise; the "
                    "vehicle is no such one, or something else acted on it"
                )
            if one.outliers:
                yield f"{one.name}: {one.outliers} samples are outliers and hardly count"

    def _diameters(self, calibrations: Mapping[str, Estimate | None]) -> Iterator[str]:
        """Of wheels whose gains were found, their diameters; of a vehicle whose wheels are known."""
        if not self.setup.given or not any(calibrations.get(name) for name in WHEELS.values()):
            return
        configured = value_of(self.setup.family.parameters, "tire_diameter")
        for name in WHEELS.values():
            if (one := calibrations[name]) is not None:
                value, low, high = (configured * each for each in (one.value, one.low, one.high))
                side = name.removesuffix(" gain")
                yield f"{side}: diameter {value:.5g} m ({ends(low, high)}), its gain times the given {configured:g} m"

    def _of_variant(self) -> Iterator[str]:
        parameters = self.setup.family.parameters
        if not self.setup.given and all(hasattr(parameters, name) for name in PLACES):
            flags = ", ".join(f"{name}: {str(getattr(parameters, name)).lower()}" for name in PLACES)
            yield f"of the variants of the bicycle, {flags} explains most"
        elif self.setup.given and float(np.max(self.problem.correlation)) > LACKING:
            better = better_place(self.setup, self.found.telling, self.intervals.solution.points)
            if better is not None:
                flags = ", ".join(f"{name}: {str(value).lower()}" for name, value in better.items())
                yield f"{flags} would explain the recording far better than the vehicle that was given"


def _samples(problem: Problem, explained: Sequence[Explained], channel: int) -> Iterator[tuple[Array, ...]]:
    """Times, measured and modelled values and weights of a channel, part by part."""
    for part, one in zip(problem.parts, explained, strict=True):
        assert isinstance(part, VehiclePart)
        samples = part.channel == channel
        if samples.any():
            yield part.time[samples], part.measured[samples], one.predicted[samples], one.weights[samples]


def _correlation(left: Array) -> float:
    """Of successive residuals."""
    power = float(left @ left)
    return float(left[1:] @ left[:-1]) / power if power > 0.0 else 0.0


def _offset(calibrations: Mapping[str, Estimate | None], channel: Channel) -> Estimate | None:
    named = (one for name, one in calibrations.items() if name.startswith(f"{channel.name} offset"))
    return next(named, None)
