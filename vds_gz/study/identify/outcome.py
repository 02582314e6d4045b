"""From a fit to what people read: numbers with intervals, channels beside the model, findings, and axes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from vds_gz.parameters.declaration import ParameterGroup
from vds_gz.parameters.intervals import ends
from vds_gz.study.identify.axes import NAMES, Axis, AxisFit, Reached
from vds_gz.study.identify.estimates import (
    CERTAIN,
    CERTAIN_TIME,
    TIME_RESOLUTION,
    WIDTH,
    Array,
    Estimate,
    noise,
)
from vds_gz.study.identify.estimation import Fit
from vds_gz.study.identify.fit import ROBUST
from vds_gz.study.identify.problem.observed import geometry_of
from vds_gz.study.identify.problem.parameters import Kind, Term, value_of, with_numbers
from vds_gz.study.identify.problem.setup import COMMANDED_BY, FIELDS, WHEELS, Setup
from vds_gz.study.identify.reach import reached
from vds_gz.study.identify.results import Channel, Prediction, VehicleFit
from vds_gz.study.identify.selection import costs_of
from vds_gz.study.identify.standstill import commanded_steering
from vds_gz.study.signals import QUANTITIES, Series
from vds_gz.vehicle.command import TWIST

#: Offsets are given if their intervals are not wider to either side than this part of the range of the measurement.
CERTAIN_OFFSET = 0.05

#: What a model leaves is more than noise if it is so many times the noise and this part of the range.
NOISY, NEGLIGIBLE = 1.5, 0.01

#: A sample is an outlier if it is so many standard deviations off.
OUTLIER = 5.0

#: Times that are tried where none is needed [s], and by how much one may raise the squares.
SHORTEST = {
    Kind.DEAD_TIME: 1e-3 * np.arange(1.0, 26.0),
    Kind.TIME_CONSTANT: 1e-3 * np.array([0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 14.0, 20.0, 28.0]),
}
HARMLESS = 3.84

#: A simpler explanation that predicts this part better than what was learned is worth a finding.
WORSE = 0.97


def vehicle_fit(fit: Fit, predictions: Sequence[Prediction]) -> VehicleFit:
    """What was found, for people."""
    found = estimates(fit)
    terms = fit.setup.family.terms
    numbers = {term.name: found[term.name] for term in terms if term.is_parameter}
    calibrations = {term.name: found[term.name] for term in terms if not term.is_parameter}
    channels = tuple(_channels(fit))
    limits = [term.name for term in terms if term.kind is Kind.LIMIT]
    return VehicleFit(
        model=fit.setup.family.model.name,
        parameters=_parameters(fit),
        numbers=numbers,
        calibrations=calibrations,
        reached={name: fit.reach[name].tried for name in limits if numbers[name] is None and name in fit.reach},
        channels=channels,
        findings=tuple(_findings(fit, channels, numbers, calibrations, predictions)),
        axes=tuple(_axes(fit, numbers, calibrations, channels)),
        predictions=tuple(predictions),
    )


def nothing_found(setup: Setup) -> VehicleFit:
    """Result of a recording without motion: what was recorded, and no numbers. Each channel's model is its mean."""
    terms = setup.family.terms
    channels = []
    for recording, every in enumerate(setup.channels):
        for channel in every:
            time, value = channel.series.time, channel.series.value
            spread, mean = float(np.std(value)), np.full(len(value), np.mean(value))
            commanded = _commanded(setup, recording, channel.quantity, time, setup.family.parameters)
            named = channel.name, channel.quantity, channel.unit, channel.source, recording
            channels.append(Channel(*named, spread, spread, 0, 0.0, time, value, mean, commanded, np.ones(len(value))))
    axes = (
        Axis(
            channel.quantity,
            channel.unit,
            AxisFit(
                dict.fromkeys(NAMES),
                Reached(0.0, 0.0, float(np.max(np.abs(channel.measured), initial=0.0))),
                *(channel.residual, 0, channel.time, channel.commanded, channel.measured, channel.modelled),
            ),
        )
        for channel in channels
        if channel.commanded is not None and channel.quantity in QUANTITIES
    )
    return VehicleFit(
        model=setup.family.model.name,
        parameters=setup.family.parameters,
        numbers=dict.fromkeys(term.name for term in terms if term.is_parameter),
        calibrations=dict.fromkeys(term.name for term in terms if not term.is_parameter),
        reached={},
        channels=tuple(channels),
        findings=("nothing moved by more than noise, or no command changed: no number is determined",),
        axes=tuple(axes),
    )


# ---------------------------------------------------------------------- numbers


def estimates(fit: Fit) -> dict[str, Estimate | None]:
    """The terms by their names; None where they were not needed or the data do not tell one certainly enough."""
    on_grid = all(one.segment.on_grid for one in fit.problem.experiments)
    found: dict[str, Estimate | None] = {}
    excited = {name for one in fit.setup.excited for name in fit.setup.actuators[one].named().values()}
    for k, term in enumerate(fit.setup.family.terms):
        coordinates = fit.solution.point[k], fit.intervals.low[k], fit.intervals.high[k]
        known = fit.solution.free[k] and math.isfinite(coordinates[1])
        if not fit.solution.free[k] and term.kind in SHORTEST and term.name in excited:
            found[term.name] = _none_of(fit, k)
            continue
        found[term.name] = _estimate(term, fit, *map(float, coordinates), on_grid=on_grid) if known else None
    return found | dict(_tied(fit, found))


def _tied(fit: Fit, found: Mapping[str, Estimate | None]) -> Iterator[tuple[str, Estimate | None]]:
    """Limits towards zero that are those away from it."""
    for actuation in fit.setup.actuators.values():
        if actuation.fall and not fit.solution.free[fit.setup.family.index(actuation.fall)]:
            yield actuation.fall, found[actuation.rise]


def _none_of(fit: Fit, k: int) -> Estimate | None:
    """A dead time or a lag that is not needed: up to where it would do no harm."""
    term, solution = fit.setup.family.terms[k], fit.solution
    points = np.tile(solution.point, (len(SHORTEST[term.kind]) + 1, 1))
    points[1:, k] = term.neutral + np.array(SHORTEST[term.kind])
    costs = costs_of(fit.problem, points, solution.starts, solution.noise)
    harmless = np.flatnonzero(costs[1:] - costs[0] < HARMLESS)
    high = points[harmless[-1] + 1, k] if len(harmless) else points[1, k]
    return Estimate(term.neutral, term.neutral, float(high)) if high <= CERTAIN_TIME else None


def _estimate(term: Term, fit: Fit, *coordinates: float, on_grid: bool) -> Estimate | None:
    """An estimate of coordinates of value, low and high; None if it is not certain enough.

    Dead times that act alike, as they come to the same number of steps, are all in the interval; of commands that came
    between steps, which no one knows better than these, all that rounding makes of them.
    """
    value, low, high = map(term.value, coordinates)
    dt = 1.0 / fit.setup.step_rate
    is_time = term.kind in (Kind.DEAD_TIME, Kind.TIME_CONSTANT, Kind.LATENCY)
    allowed = CERTAIN * abs(value)
    if is_time:
        rounded = 0.0 if on_grid or term.kind is Kind.TIME_CONSTANT else WIDTH * TIME_RESOLUTION
        shorter, longer = (max(steps * dt, rounded) for steps in term.rounding)
        low = max(value - math.hypot(value - low, shorter), term.lowest)
        high = value + math.hypot(high - value, longer)
        allowed = max(allowed, CERTAIN_TIME)
    elif term.kind is Kind.SENSOR_OFFSET:
        allowed = max(allowed, CERTAIN_OFFSET * 10.0 * term.scale)
    elif term.kind in (Kind.OFFSET, Kind.DEAD_BAND, Kind.BACKLASH):
        allowed = max(allowed, term.scale)
    elif term.kind is Kind.PARAMETER:
        allowed = max(allowed, 0.1 * term.scale)
    return Estimate(value, low, high) if max(value - low, high - value) <= allowed else None


def _parameters(fit: Fit) -> ParameterGroup:
    """The vehicle with what was found; limits that were not met are none, and what was not needed does nothing.

    An actuator that was not excited stays as it was given.
    """
    family, given = fit.setup.family, fit.setup.family.parameters
    found: dict[str, float] = {}
    excited = set(fit.setup.excited)
    for name, actuation in fit.setup.actuators.items():
        for parameter in actuation.named().values():
            k = family.index(parameter)
            term = family.terms[k]
            if fit.solution.free[k]:
                found[parameter] = term.parameter(float(fit.solution.point[k]))
            elif term.kind is not Kind.LIMIT:
                if name in excited:
                    found[parameter] = term.neutral
            elif name in excited:
                before = value_of(given, parameter)
                stops = name == "steering" and parameter == actuation.value
                keeps = stops and before > fit.reach[parameter].tried
                found[parameter] = before if keeps else term.unlimited
    for k, term in enumerate(family.terms):
        if term.is_parameter and term.name not in found and fit.solution.free[k]:
            found[term.name] = term.parameter(float(fit.solution.point[k]))
    return dataclasses.replace(with_numbers(given, found))  # type: ignore[type-var]


# ---------------------------------------------------------------------- channels


def _channels(fit: Fit) -> Iterator[Channel]:
    problem, solution = fit.problem, fit.solution
    sections = np.cumsum([0, *(len(one.measured) for one in problem.experiments)])
    parameters = fit.setup.family.vehicle(solution.point)
    index = 0
    for recording, every in enumerate(fit.setup.channels):
        for channel in every:
            masks = [one.channel == index for one in problem.experiments]
            parts = [
                (one.time[mask], one.measured[mask], solution.residuals[begin:end][mask])
                for one, mask, begin, end in zip(problem.experiments, masks, sections, sections[1:], strict=False)
                if mask.any()
            ]
            if parts:
                time, measured, left = (np.concatenate(part) for part in zip(*parts, strict=True))
                scale = float(solution.noise.scale[problem.kinds[index]])
                weight = 1.0 / np.sqrt(1.0 + (left / (ROBUST * scale)) ** 2)
                inside = np.abs(left) < OUTLIER * scale
                yield Channel(
                    channel.name,
                    channel.quantity,
                    channel.unit,
                    channel.source,
                    recording,
                    scale,
                    float(np.std(left[inside])) if inside.any() else math.nan,
                    int((~inside).sum()),
                    _correlation(left[inside]),
                    time,
                    measured,
                    measured + left,
                    _commanded(fit.setup, recording, channel.quantity, time, parameters),
                    weight,
                )
            index += 1


def _commanded(setup: Setup, recording: int, quantity: str, time: Array, parameters: ParameterGroup) -> Array | None:
    """What was commanded of a quantity at some times; None if it is not commanded."""
    commands = setup.recordings[recording].commands
    at = np.clip(np.searchsorted(commands.time, time, side="right") - 1, 0, None)
    if quantity in COMMANDED_BY.get(setup.kind, ()):
        return np.asarray(commands.records[FIELDS[quantity]][at], float)
    if quantity != "steering" or setup.kind != TWIST:
        return None
    v_x, yaw_rate = (Series(commands.time, commands.records[name]) for name in ("v_x", "yaw_rate"))
    wheel_base = float(geometry_of([parameters]).signed_wheelbase[0])
    return commanded_steering(v_x, yaw_rate, wheel_base, centred=bool(setup.centred)).value[at]


def _correlation(left: Array) -> float:
    """Of successive residuals."""
    power = float(left @ left)
    return float(left[1:] @ left[:-1]) / power if power > 0.0 else 0.0


# ---------------------------------------------------------------------- axes


def _axes(
    fit: Fit,
    numbers: Mapping[str, Estimate | None],
    calibrations: Mapping[str, Estimate | None],
    channels: Sequence[Channel],
) -> Iterator[Axis]:
    main = {one.quantity: one for one in reversed(channels)}
    main |= {one.quantity: one for one in reversed(channels) if one.recording == 0}
    for quantity in QUANTITIES:
        channel = main.get(quantity)
        commanded = channel.commanded if channel is not None else None
        if channel is None or commanded is None or (quantity == "v_y" and np.ptp(commanded) == 0.0):
            continue
        found = dict.fromkeys(NAMES) | _numbers_of(fit, quantity, numbers)
        found["gain"] = found["gain"] or calibrations.get(f"{quantity} gain")
        offset = (one for name, one in calibrations.items() if name.startswith(f"{channel.name} offset"))
        found["offset"] = next(offset, None) or found["offset"]
        axis = AxisFit(
            found,
            reached(channel.time, channel.measured, angle=quantity == "steering"),
            channel.residual,
            channel.outliers,
            channel.time,
            commanded,
            channel.measured,
            channel.modelled,
        )
        yield Axis(quantity, channel.unit, axis, fit.setup.centred if quantity == "steering" else None)


def _numbers_of(fit: Fit, quantity: str, numbers: Mapping[str, Estimate | None]) -> dict[str, Estimate | None]:
    """The numbers of the actuator that a quantity follows.

    A yaw rate of a steered vehicle has no limits of its own; that of wheels at both sides has those of the wheels.
    """
    steers = "steering" in fit.setup.actuators
    actuation = fit.setup.actuators["steering" if steers and quantity in ("steering", "yaw_rate") else "drive"]
    found = {number: numbers.get(name) for number, name in actuation.named().items() if number in NAMES}
    if quantity == "steering":
        found["fall"] = found.get("rise")
    elif quantity == "yaw_rate":
        family = fit.setup.family
        arm = family.model.geometry(family.vehicle(fit.solution.point)).yaw_arm
        for name in ("rise", "fall", "value"):
            one = found.get(name)
            found[name] = Estimate(one.value / arm, one.low / arm, one.high / arm) if one and arm else None
        found["offset"] = None
    return found


# ---------------------------------------------------------------------- findings


def _findings(
    fit: Fit,
    channels: Sequence[Channel],
    numbers: Mapping[str, Estimate | None],
    calibrations: Mapping[str, Estimate | None],
    predictions: Sequence[Prediction],
) -> Iterator[str]:
    """At most a handful of sentences, the worst first."""
    for prediction in predictions:
        best = min(prediction.command, prediction.lag)
        if best < WORSE * prediction.rms:
            simpler = "the command as it is" if prediction.command <= prediction.lag else "dead times and lags alone"
            yield (
                f"{prediction.quantity}: {simpler} predicts the part held out better ({best:.3g} against "
                f"{prediction.rms:.3g}); the vehicle changed, or the recording is too short"
            )
    terms = fit.setup.family.terms
    for group in fit.intervals.confounded:
        names = " and ".join(terms[k].name for k in group)
        yield f"{names} cannot be told apart by what was recorded; none of them is given"
    yield from fit.setup.remarks
    yield from _diameters(fit, calibrations)
    yield from fit.setup.variant
    for k in np.flatnonzero(fit.solution.free):
        term = terms[k]
        if term.kind is Kind.LIMIT and numbers[term.name] is None:
            value = term.parameter(float(fit.solution.point[k]))
            yield f"{term.name}: a limit of about {value:.2g} was met, which the recording determines only roughly"
    for one in channels:
        allowed = NOISY * noise(one.measured) + NEGLIGIBLE * float(np.ptp(one.measured))
        if one.residual > allowed:
            yield (
                f"{one.name}: the model leaves {one.residual:.3g} {one.unit}, which is more than noise; the model "
                "structure does not fit, or there was a disturbance"
            )


def _diameters(fit: Fit, calibrations: Mapping[str, Estimate | None]) -> Iterator[str]:
    """Of wheels whose gains were found, their diameters; of a vehicle whose wheels are known."""
    if not fit.setup.given or not any(calibrations.get(name) for name in WHEELS.values()):
        return
    configured = value_of(fit.setup.family.parameters, "tire_diameter")
    for name in WHEELS.values():
        if (one := calibrations[name]) is not None:
            value, low, high = (configured * each for each in (one.value, one.low, one.high))
            side = name.removesuffix(" gain")
            yield f"{side}: diameter {value:.5g} m ({ends(low, high)}), its gain times the given {configured:g} m"
