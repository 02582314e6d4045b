"""The result of a fit: parameters with intervals, channels beside the model, and axes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.parameters.actuator_parameters import ActuatorStages, StaticMapParameters
from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.vehicle.command import TWIST
from vds_gz.tools.study.identify.estimates import CONSISTENT, USEFUL, USEFUL_TIME, WIDTH, Estimate
from vds_gz.tools.study.identify.estimation import Fit
from vds_gz.tools.study.identify.fit_findings import findings_of
from vds_gz.tools.study.identify.observed_limits import observed_maxima
from vds_gz.tools.study.identify.problem.observed import geometry_of, steers
from vds_gz.tools.study.identify.problem.parameters import actuator_of, drive_of, value_of, with_numbers
from vds_gz.tools.study.identify.problem.problem_setup import FIELDS, Setup, requested_by
from vds_gz.tools.study.identify.problem.segment_model import Experiment
from vds_gz.tools.study.identify.results import (
    LIMITS,
    NAMES,
    OUTLIER,
    Axis,
    Channel,
    NamedEstimates,
    VehicleFit,
)
from vds_gz.tools.study.identify.robust import ROBUST
from vds_gz.tools.study.identify.single_level import equivalents
from vds_gz.tools.study.identify.term_kind import Term
from vds_gz.tools.study.identify.terms import EFFECTIVE_TRACK, MAP, STAGES
from vds_gz.tools.study.identify.trials import costs_of
from vds_gz.tools.study.recording import QUANTITIES
from vds_gz.tools.study.signals import in_force, noise

#: An identified map is continued to this multiple of its last reference, by the smallest of the mean slopes from these
#: parts of this reference to it.
CONTINUED, RISES = 2.0, (0.5, 0.9)

#: A limit above this multiple of the observed maximum counts as not met.
NEVER_MET = 10.0

#: A given limit does not hold if the observed maximum is above this multiple of it.
EXCEEDED = 1.1

#: At lower speeds a yaw rate does not determine a steering angle [m/s].
SLOW = 0.05


def vehicle_fit(fit: Fit) -> VehicleFit:
    """The result of a fit."""
    setup, by_name = fit.setup, estimates(fit)
    terms = setup.family.terms
    numbers = {term.name: by_name[term.name] for term in terms if term.is_parameter} | dict.fromkeys(fit.left_out)
    calibrations = {term.name: by_name[term.name] for term in terms if not term.is_parameter}
    equivalent = list(equivalents(fit, numbers))
    known = dict(numbers)  # findings on single terms do not repeat those on equivalent ones
    numbers |= {name: None for group in equivalent for name in group.names}
    channels = tuple(_channels(fit))
    unmet = {term.name for term in terms if term.kind.is_limit and numbers[term.name] is None}
    unmet &= _of_excited(setup) | _exceeded(fit)
    reaches = {name: reach for name, reach in fit.reach.items() if name in unmet}
    return VehicleFit(
        setup.family.model.name,
        _parameters(fit),
        numbers,
        calibrations,
        _with_observed_maxima(
            setup, channels, {name: reach.most for name, reach in reaches.items() if not math.isnan(reach.most)}
        ),
        channels,
        (*(group.finding for group in equivalent), *findings_of(fit, channels, known)),
        tuple(axes_of(setup, setup.family.vehicle(fit.solution.point), numbers, calibrations, channels)),
        unmeasured=frozenset(name for name, reach in reaches.items() if not reach.measured),
    )


def _with_observed_maxima(setup: Setup, channels: Sequence[Channel], most: Mapping[str, float]) -> dict[str, float]:
    """The maxima by the names of limits, with those of the vehicle that the channels show.

    If wheel speeds turn the vehicle, at least one wheel is as fast as the vehicle and accelerates as fast. A driven
    wheel that steers is at least as fast as the vehicle. Its acceleration does not follow, because steering also
    changes the vehicle's speed.
    """
    shown, parameters = dict(most), setup.family.parameters
    turning = setup.family.model.geometry(parameters).yaw_arm
    steered = getattr(parameters, "drive_on_steered_wheel", False)
    for actuator in setup.actuators.values():
        quantity = actuator.limited_velocity or ("v_x" if actuator.drives else "")
        exact = actuator.limited_velocity or not (turning or steered)
        for stage, maximum in observed_maxima(channels, quantity)._asdict().items():
            name = actuator[stage]
            if name not in shown or (steered and actuator.drives and stage != "value"):
                continue
            if maximum > shown[name] or (maximum > 0.0 and exact):
                shown[name] = maximum
    return shown


def no_motion(setup: Setup) -> VehicleFit:
    """The result of recordings without motion: channels that are modelled by their means, and no numbers."""
    terms, parameters = setup.family.terms, setup.family.parameters
    channels = []
    for recording, measured in enumerate(setup.channels):
        for channel in measured:
            time, value = channel.series.time, channel.series.value
            spread, mean = float(np.std(value)), np.full(len(value), np.mean(value))
            commanded = _commanded(setup, recording, channel.quantity, time, parameters)
            named = channel.name, channel.quantity, channel.unit, channel.source, recording
            channels.append(Channel(*named, spread, spread, 0, 0.0, time, value, mean, commanded, np.ones(len(value))))
    numbers = dict.fromkeys(term.name for term in terms if term.is_parameter)
    calibrations = dict.fromkeys(term.name for term in terms if not term.is_parameter)
    findings = ("nothing moved by more than noise, or no command changed: no number is determined",)
    axes = tuple(axes_of(setup, parameters, numbers, calibrations, channels))
    return VehicleFit(setup.family.model.name, parameters, numbers, calibrations, {}, tuple(channels), findings, axes)


def estimates(fit: Fit) -> NamedEstimates:
    """Estimates of the terms by name; None for those not needed or with too wide intervals."""
    by_name: NamedEstimates = {}
    excited = _of_excited(fit.setup)
    for k, term in enumerate(fit.setup.family.terms):
        if fit.solution.free[k]:
            by_name[term.name] = _estimate(fit, k) if math.isfinite(fit.intervals.low[k]) else None
        else:
            by_name[term.name] = _none_of(fit, k) if term.kind.harmless and term.name in excited else None
    for k, term in enumerate(fit.setup.family.terms):
        if term.fallback and not fit.solution.free[k]:
            by_name[term.name] = by_name[term.fallback]  # the limit towards zero is that away from it
    return by_name


def _of_excited(setup: Setup) -> set[str]:
    """The parameters of the actuators with excitation; others keep the given values."""
    return {name for actuator in setup.excited for name in setup.actuators[actuator].names.values()}


def _exceeded(fit: Fit) -> set[str]:
    """Given limits of actuators without excitation that the recordings exceed."""
    given, excited = fit.setup.family.parameters, _of_excited(fit.setup)
    return {
        term.name
        for term in fit.setup.family.terms
        if term.kind.is_limit and term.name not in excited and (reach := fit.reach.get(term.name)) and reach.measured
        if 0.0 < value_of(given, term.name) < reach.most / EXCEEDED
    }


def _none_of(fit: Fit, k: int) -> Estimate | None:
    """A dead time or a lag that is not needed: the neutral one, up to the longest that is consistent with the data."""
    term, solution = fit.setup.family.terms[k], fit.solution
    points = np.tile(solution.point, (len(term.kind.harmless) + 1, 1))
    points[1:, k] = term.neutral + np.array(term.kind.harmless)
    costs = costs_of(fit.problem, points, solution.starts, solution.noise)
    harmful = np.append(costs[1:] - costs[0] >= CONSISTENT, True)
    high = points[max(int(np.argmax(harmful)), 1), k]
    return Estimate(term.neutral, term.neutral, float(high)) if harmful[:-1].any() else None


def _estimate(fit: Fit, k: int) -> Estimate | None:
    """An estimate; None if its interval is too wide.

    The interval of a dead time covers all times with the same number of steps, and the rounding of commands between
    steps.
    """
    term = fit.setup.family.terms[k]
    points = fit.solution.point, fit.intervals.low, fit.intervals.high
    value, low, high = (term.value(float(point[k])) for point in points)
    if term.kind.resolution is not None:
        on_grid = all(experiment.segment.on_grid for experiment in fit.problem.experiments)
        rounded = 0.0 if on_grid else WIDTH * term.kind.resolution
        shorter, longer = (max(steps / fit.setup.step_rate, rounded) for steps in term.rounding)
        low = max(value - math.hypot(value - low, shorter), term.lowest)
        high = value + math.hypot(high - value, longer)
    estimate = Estimate(value, low, high)
    return estimate if is_useful(term, estimate) else None


def is_useful(term: Term, estimate: Estimate) -> bool:
    """Whether the interval of an estimate is narrow enough for a value."""
    narrow = term.kind.useful * term.scale if term.kind.resolution is None else USEFUL_TIME
    allowed = max(USEFUL * abs(estimate.value), narrow)
    return max(estimate.value - estimate.low, estimate.high - estimate.value) <= allowed


def _parameters(fit: Fit) -> ParameterGroup:
    """The vehicle with its fitted values; limits that were not met are unlimited, and unneeded terms have no effect.

    An actuator without excitation keeps the given values, but for limits that the recording exceeds; without commands
    that slow it down, it keeps a given deceleration limit. Geometry that the data do not determine is kept too.
    """
    setup, point = fit.setup, fit.solution.point
    without_effect = {group[0] for group in fit.intervals.confounded if len(group) == 1}
    base, terms = setup.family.parameters, {term.name: term for term in setup.family.terms}
    values = {}
    for k, term in enumerate(setup.family.terms):
        if not (term.is_parameter and fit.solution.free[k]):
            continue
        unmet = term.kind.is_limit and term.value(point[k]) > NEVER_MET * fit.reach[term.name].tried
        if not unmet and not (term.kind.of_vehicle and k in without_effect):
            values[term.name] = term.parameter(float(point[k]))
    for name in setup.excited:
        for stage, parameter in setup.actuators[name].names.items():
            if parameter in values:
                continue
            term, before = terms[parameter], value_of(base, parameter)
            stop = setup.actuators[name].steers and stage == "value" and before > fit.reach[parameter].tried
            values[parameter] = before if stop else term.unlimited if term.kind.is_limit else term.neutral
    values |= {name: terms[name].unlimited for name in _exceeded(fit)}
    for term in setup.family.terms:  # 0: no understeer, and the track turns the vehicle
        if term.kind.of_vehicle and not term.kind.always:
            values.setdefault(term.name, 0.0)
    parameters = with_numbers(base, values)
    # The order of the terms matters: a continued map affects the decision on the next one.
    for group in dict.fromkeys(term.name.partition(".")[0] for term in setup.family.terms if term.kind is MAP):
        continued: dict[str, object] = {group: _continued(getattr(parameters, group))}
        longer = dataclasses.replace(parameters, **continued)
        if _cost(fit, longer) - _cost(fit, parameters) < CONSISTENT:
            parameters = longer
    return dataclasses.replace(parameters)  # this checks the values


def _continued(actuator: StaticMapParameters) -> StaticMapParameters:
    """An actuator whose map has one more point, by the smaller slope of its upper half and its end; 0 if it saturates.

    Beyond its last point a map is constant, a limit that no command has shown. Rare commands lie beyond it too, so they
    may contradict the continuation.
    """
    references, responses = np.array(actuator.map_references), np.array(actuator.map_responses)
    last = references[-1]
    slope = min(
        (responses[-1] - np.interp(part * last, references, responses)) / ((1.0 - part) * last) for part in RISES
    )
    response = responses[-1] + max(slope, 0.0) * (CONTINUED - 1.0) * last
    return dataclasses.replace(
        actuator,
        map_references=(*actuator.map_references, float(CONTINUED * last)),
        map_responses=(*actuator.map_responses, float(response)),
    )


def _cost(fit: Fit, parameters: ParameterGroup) -> float:
    """The robust squares of the fit with other known parameters; the fit's terms replace theirs."""
    family = dataclasses.replace(fit.setup.family, parameters=parameters)
    experiments = tuple(Experiment(family, experiment.segment) for experiment in fit.problem.experiments)
    problem = dataclasses.replace(fit.problem, experiments=experiments)
    return float(costs_of(problem, fit.solution.point[np.newaxis], fit.solution.starts, fit.solution.noise)[0])


def _channels(fit: Fit) -> Iterator[Channel]:
    """The channels that were fitted, beside the model."""
    problem, solution = fit.problem, fit.solution
    parameters = fit.setup.family.vehicle(solution.point)
    index = np.concatenate([experiment.channel for experiment in problem.experiments])
    times = np.concatenate([experiment.time for experiment in problem.experiments])
    recordings = [recording for recording, channels in enumerate(fit.setup.channels) for _ in channels]
    for k, (recording, channel) in enumerate(zip(recordings, fit.setup.all_channels, strict=True)):
        samples = index == k
        if not samples.any():
            continue
        time, measured, residuals = times[samples], problem.measured[samples], solution.residuals[samples]
        scale = float(solution.noise.scale[problem.kinds[k]])
        inside = np.abs(residuals) < OUTLIER * scale
        left = residuals[inside]
        power = float(left @ left)
        yield Channel(
            channel.name,
            channel.quantity,
            channel.unit,
            channel.source,
            recording,
            min(scale, max(_noise_of(measured), float(problem.floors[problem.kinds[k]]))),
            float(np.std(left)) if inside.any() else math.nan,
            int((~inside).sum()),
            float(left[1:] @ left[:-1]) / power if power > 0.0 else 0.0,
            time,
            measured,
            measured + residuals,
            _commanded(fit.setup, recording, channel.quantity, time, parameters),
            1.0 / np.sqrt(1.0 + (residuals / (ROBUST * scale)) ** 2),
        )


def _noise_of(measured: Array) -> float:
    """The noise of a channel from one sample to the next; of repeated values only one sample counts."""
    repeats = np.bincount(np.diff(np.flatnonzero(np.diff(measured))), minlength=2)
    return noise(measured[:: max(int(np.argmax(repeats)), 1)])


def _commanded(setup: Setup, recording: int, quantity: str, time: Array, parameters: ParameterGroup) -> Array | None:
    """The command of a quantity at some times; None without commands.

    Twists command a steering angle [rad]; at standstill the last one, or 0 if the steering is centred.
    """
    commands = setup.recordings[recording].commands
    at = in_force(commands.time, time)
    if quantity in requested_by(setup.kind):
        return np.asarray(commands.records[FIELDS[quantity]][at], float)
    if quantity != "steering" or setup.kind != TWIST:
        return None
    v_x, yaw_rate = commands.records["v_x"], commands.records["yaw_rate"]
    wheel_base = float(geometry_of([parameters]).signed_wheelbase[0])
    angles = np.arctan2(wheel_base * yaw_rate * np.sign(v_x), np.abs(v_x))
    moving = np.abs(v_x) > SLOW
    if setup.centred:
        return np.where(moving, angles, 0.0)[at]
    last = np.maximum.accumulate(np.where(moving, np.arange(len(angles)), -1))
    return np.where(last >= 0, angles[last], 0.0)[at]


def axes_of(
    setup: Setup,
    vehicle: ParameterGroup,
    numbers: NamedEstimates,
    calibrations: NamedEstimates,
    channels: Sequence[Channel],
) -> Iterator[Axis]:
    """The numbers of each commanded quantity, with the first channel that measures it."""
    main = {channel.quantity: channel for channel in reversed(channels)}
    for quantity in QUANTITIES:
        channel = main.get(quantity)
        if channel is None or channel.commanded is None or (quantity == "v_y" and np.ptp(channel.commanded) == 0.0):
            continue
        estimated = dict.fromkeys(NAMES) | _numbers_of(setup, vehicle, quantity, numbers)
        estimated["gain"] = estimated["gain"] or calibrations.get(f"{quantity} gain")
        offset = (number for name, number in calibrations.items() if name.startswith(f"{channel.name} offset"))
        estimated["offset"] = next(offset, None) or estimated["offset"]
        yield Axis(
            quantity,
            channel.unit,
            estimated,
            observed_maxima(channels, quantity),
            channel.residual,
            channel.outliers,
            setup.centred if quantity == "steering" else None,
        )


def _numbers_of(setup: Setup, vehicle: ParameterGroup, quantity: str, numbers: NamedEstimates) -> NamedEstimates:
    """The numbers of the actuator that a quantity follows, with limits of the whole body where these are lower.

    All limits are those of the motion; limits of the body act on commands, before the gain.

    A yaw rate of a steered vehicle has no limits; that of a vehicle that turns by its wheels has those of the wheels.
    """

    def numbers_of(actuator: ActuatorStages) -> NamedEstimates:
        return {stage: numbers.get(name) for stage, name in actuator.names.items() if STAGES[stage].of_axis}

    followed = actuator_of(quantity, setup.actuators, steered=steers(setup.family.model, vehicle))
    effective = getattr(vehicle, EFFECTIVE_TRACK.name, 0.0)
    turning = value_of(vehicle, "track") / effective if effective else 1.0  # yaw rate per that of the wheels
    estimated = numbers_of(followed)
    if quantity == "steering":
        estimated["fall"] = estimated.get("rise")
    elif quantity == "yaw_rate":
        arm = setup.family.model.geometry(vehicle).yaw_arm / turning
        for name in LIMITS:
            limit = estimated.get(name)
            estimated[name] = limit.times(1.0 / arm) if limit and arm else None
        estimated["offset"] = None
    gain_name = drive_of(setup.actuators)["gain"]
    gain = value_of(vehicle, gain_name) if gain_name else 1.0
    for actuator in setup.actuators.values():
        limits = numbers_of(actuator) if actuator.limited_velocity == quantity else {}
        for number, limit in (limits | {"fall": limits.get("rise")}).items():
            present = estimated.get(number)
            if limit is not None:
                reached_limit = limit.times(gain * (turning if quantity == "yaw_rate" else 1.0))
                if present is None or reached_limit.value < present.value:
                    estimated[number] = reached_limit
    return estimated
