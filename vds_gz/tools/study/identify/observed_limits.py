"""The largest rates and values in a recording, without noise: limits cannot be below them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.tools.study.identify.problem.problem_setup import FIELDS, Setup
from vds_gz.tools.study.identify.problem.segments import FEWEST_SAMPLES
from vds_gz.tools.study.identify.results import Channel, Reached
from vds_gz.tools.study.identify.term_kind import Effect
from vds_gz.tools.study.identify.terms import STAGES
from vds_gz.tools.study.recording import Series
from vds_gz.tools.study.signals import noise, without_spikes

#: Assumed time of a change of a quantity without measurements [s].
COMMAND_RISE_TIME = 0.5

#: Samples in a mean, and by how many of its standard deviations its maximum may be too large.
SMOOTHED, ABOVE = 5, 2.5

#: Rates that a measurement and its model both show are means between samples at most this far apart [samples].
FARTHEST_APART = 8

#: A slower change is none, as a part of the maximum per second [1/s].
SLOWEST = 0.01

#: Limits of rates are at least this part of measured rates; at least the second one if no vehicle was given or its
#: steered wheel is driven, because steering may then change measured rates too.
RATE_PART, STEERED_RATE_PART = 0.8, 0.4

#: Rates that are reached for less time in all are bumps [s].
LASTING = 0.25

#: Limits of speeds are at least this part of the measured speeds where the track or the wheels' gains are unknown.
UNKNOWN_WHEELS_PART = 0.5

#: The limit of the fastest wheel is at least this part of its speed, which follows from measured speeds and yaw rates.
FASTEST_WHEEL_PART = 0.93

#: The largest command times the gain is at least this part of the measured maximum.
ATTAINED_PART = 0.97

#: The speed of a driven and steered wheel follows from the vehicle's if the cosine of its angle is above this.
LEAST_COSINE = 0.5

#: Steering angles follow from yaw rates if the speed is above this part of the highest.
MOVING_PART = 0.2


class Reach(NamedTuple):
    """A lower bound of a limit, the value at which a limit that was met would be, and the observed maximum.

    The latter is less the effect of noise, or that of the commands if nothing measured the quantity; nan for a rate,
    which commands do not show.
    """

    least: float
    tried: float
    most: float
    measured: bool = True


#: The reach of each limit, by the name of its term.
Reaches = Mapping[str, Reach]


def reached(time: Array, measured: Array, *, angle: bool) -> Reached:
    """Maximum rates and value, less the effect of noise.

    Of rates of smoothed samples the 98th percentile; of values the 97th one, or a larger sustained maximum.
    """
    levels = least_reached(time, measured, angle=angle, part=1.0, lasting=math.inf)
    return levels._replace(value=max(levels.value, sustained(without_spikes(measured))))


def observed_maxima(channels: Iterable[Channel], quantity: str) -> Reached:
    """The maxima of a quantity in all recordings, by its first channel in each; 0 if it was not measured.

    Others are bumps or noise: values last for :data:`SMOOTHED` samples or are shown by the model too. Rates are shown
    by the model at the same time, or by the model at any time and by many samples. Those of a steering are as
    :func:`reached`.
    """
    first: dict[int, Channel] = {}
    for channel in channels:
        if channel.quantity == quantity:
            first.setdefault(channel.recording, channel)
    maxima = (
        reached(channel.time, channel.measured, angle=True) if quantity == "steering" else _maxima(channel)
        for channel in first.values()
    )
    return Reached(*map(max, zip((0.0, 0.0, 0.0), *maxima, strict=True)))


def _maxima(channel: Channel) -> Reached:
    """The maximum rates and value of a channel. Rates are means between samples, less the effect of noise."""
    same_sign = channel.measured * channel.modelled > 0.0
    of_both = np.where(same_sign, np.minimum(np.abs(channel.measured), np.abs(channel.modelled)), 0.0)
    time, modelled, measured = channel.time, channel.modelled, without_spikes(channel.measured)
    noise_of_change = ABOVE * math.sqrt(2.0) * channel.noise
    by_both, by_model = np.zeros((2, 2))
    for apart in range(1, min(FARTHEST_APART, len(time) - 1) + 1):
        first, last = slice(None, -apart), slice(apart, None)
        duration = np.maximum(time[last] - time[first], apart * float(np.median(np.diff(time))))
        duration = np.maximum(duration, 1e-9)
        # Changes away from zero and, in reverse order, towards it. A change through zero counts up to zero only, over
        # the whole duration: the rates on both sides may differ, and when it was zero is unknown.
        for k, (inner, outer) in enumerate(((first, last), (last, first))):
            side = np.sign(modelled[outer])
            of_model, of_measurement = (
                side * series[outer] - np.maximum(side * series[inner], 0.0) for series in (modelled, measured)
            )
            by_model[k] = max(by_model[k], np.max(of_model / duration))
            both = np.minimum(of_model, of_measurement - noise_of_change)
            by_both[k] = max(by_both[k], np.max(both / duration))
    often = least_reached(time, measured, angle=False, part=1.0)[:2]
    value = max(float(np.max(of_both, initial=0.0)), sustained(measured))
    rates = np.maximum(by_both, np.minimum(by_model, often))
    rise, fall = np.where(rates > SLOWEST * value, rates, 0.0).tolist()
    return Reached(rise, fall, value)


def limit_levels(time: Array, measured: Array, *, angle: bool, lasting: float = math.inf) -> Reached:
    """Approximate levels of limits, which many samples reach: high percentiles of rates and of the value.

    An angle has one rate for both directions. In a long recording, rates that last for ``lasting`` seconds are enough.
    """
    if len(time) < FEWEST_SAMPLES:
        return Reached(0.0, 0.0, 0.0)
    smooth = np.convolve(without_spikes(measured), np.full(SMOOTHED, 1.0 / SMOOTHED), mode="valid")
    rates = (smooth[4:] - smooth[:-4]) / np.maximum(time[6:-2] - time[2:-6], 1e-9)
    value = smooth[2:-2]
    count = lasting / float(np.median(np.diff(time)))
    rise, fall = (
        float(np.quantile(np.abs(rates[side]), max(0.98, 1.0 - count / side.sum()))) if side.sum() > 5 else 0.0
        for side in (rates * value >= 0.0, rates * value < 0.0)
    )
    if angle:
        rise = fall = max(rise, fall)
    return Reached(rise, fall, float(np.percentile(np.abs(smooth), 97.0)))


def sustained(measured: Array) -> float:
    """The largest magnitude that :data:`SMOOTHED` samples in a row exceed."""
    if len(measured) < SMOOTHED:
        return 0.0
    return float(np.max(np.min(np.lib.stride_tricks.sliding_window_view(np.abs(measured), SMOOTHED), axis=1)))


def least_reached(
    time: Array, measured: Array, *, angle: bool, part: float = STEERED_RATE_PART, lasting: float = LASTING
) -> Reached:
    """Lower bounds of limits: their levels minus the effect of noise."""
    top = limit_levels(time, measured, angle=angle, lasting=lasting)
    if len(time) < FEWEST_SAMPLES:
        return top
    error = ABOVE * noise(measured) / math.sqrt(SMOOTHED)
    late = error * math.sqrt(2.0) / max(4.0 * float(np.median(np.diff(time))), 1e-9)
    return Reached(max(part * top.rise - late, 0.0), max(part * top.fall - late, 0.0), max(top.value - error, 0.0))


def reach_of(setup: Setup) -> dict[str, Reach]:
    """The reach of each limit and gain of the actuators by name; for dead bands and backlash, the commanded maximum."""
    reaches: dict[str, Reach] = {}
    arm = setup.family.model.geometry(setup.family.parameters).yaw_arm
    for name, actuation in setup.actuators.items():
        if name in setup.steering_references:
            reaches |= _steering_reaches(setup, name)
            continue
        # The quantities that add up to the actuator's value, with their factors.
        of_wheels = {"v_x": 1.0, "v_y": 1.0, "yaw_rate": arm} if arm else {"v_x": 1.0}
        alone = "steering" if actuation.steers else actuation.limited_velocity
        needs = {alone: 1.0} if alone else of_wheels
        command = "steering" if actuation.steers else "v_x"
        top = _commanded(setup, command)
        for stage, parameter in actuation.names.items():
            if STAGES[stage].is_limit:
                reaches[parameter] = _limit_reach(setup, needs, stage)
            elif STAGES[stage].reached == "command":
                reaches[parameter] = Reach(0.0, top, top)
            elif STAGES[stage].reached and actuation["value"] and list(needs) == [command] and top > 0.0:
                reaches[parameter] = Reach(min(attained_gain(setup, command), 1.0) * ATTAINED_PART, 1.0, 1.0)
    return reaches


def _steering_reaches(setup: Setup, name: str) -> Iterator[tuple[str, Reach]]:
    """The reach of a steering's limits and bands, from its references and the angles of its hinges.

    A hinge turns further than the middle wheel of its axle, or less, so it gives no lower bound.
    """
    model, parameters = setup.family.model, setup.family.parameters
    alone = len(setup.steering_references) == 1
    own = {
        joint.name
        for joint in model.joints(parameters)
        if joint.numbers and joint.kind == "steering" and (alone or joint.numbers[0].endswith(f"{name}.angle"))
    }
    hinges = [channel.series for channel in setup.all_channels if channel.hinge and channel.joint in own]
    tried, most = (
        max((levels(hinge.time, hinge.value, angle=True).rise for hinge in hinges), default=0.0)
        for levels in (limit_levels, reached)
    )
    top = setup.steering_references[name].magnitude
    for stage, parameter in setup.actuators[name].names.items():
        if STAGES[stage].is_limit or STAGES[stage].reached == "command":
            if stage != "rise":
                yield parameter, Reach(0.0, top, top, measured=False)
            elif hinges:
                yield parameter, Reach(0.0, tried, most)
            else:
                yield parameter, Reach(0.0, top / COMMAND_RISE_TIME, math.nan, measured=False)


def attained_gain(setup: Setup, quantity: str) -> float:
    """The largest measured value of a quantity as a multiple of the largest command; 0 without either."""
    top = _commanded(setup, quantity)
    highest = max((sustained(series.value) for series in _measured(setup, quantity)), default=0.0)
    return highest / top if top > 0.0 else 0.0


def _limit_reach(setup: Setup, needs: Mapping[str, float], number: str) -> Reach:
    """The reach of a limit of the sum of some quantities.

    The fastest wheel is at least as fast as the vehicle, but its rate of change does not follow from that.
    """
    first, *others = (_reach(setup, quantity, number) for quantity in needs)
    if not others:
        return first
    least = first.least if number == "value" else 0.0
    unknown_wheels = any(term.name == "track" or term.kind.effect is Effect.WHEEL for term in setup.family.terms)
    if unknown_wheels:
        least *= UNKNOWN_WHEELS_PART
    top = sum(factor * reach.tried for factor, reach in zip(needs.values(), [first, *others], strict=True))
    # The fastest wheel, 0 without measured speed and yaw rate: where a limit would be, and a lower bound of it.
    # Peaks of both velocities add up, so only what lasts for several samples is a bound.
    together = lasting = most = 0.0
    for measured in _with_speeds_and(setup, "yaw_rate"):
        time = measured["v_x"].time
        parts = (
            needs[name] * np.abs(np.interp(time, series.time, series.value))
            for name, series in measured.items()
            if name in needs
        )
        fastest = np.asarray(sum(parts))
        together = max(together, limit_levels(time, fastest, angle=False).value)
        lasting = max(lasting, sustained(fastest))
        most = max(most, *_of_wheels(needs, measured, number))
    if not any(reach.tried for reach in others):  # it only drives straight ahead
        return first._replace(least=least, tried=top)
    if number != "value":
        return Reach(least, top, most or math.nan, measured=most > 0.0)
    if together:
        holonomic = setup.family.model.geometry(setup.family.parameters).holonomic
        bounded = not holonomic and not unknown_wheels
        return Reach(max(least, FASTEST_WHEEL_PART * lasting) if bounded else least, together, most)
    return Reach(least, top, top, measured=all(reach.measured for reach in (first, *others)))


def _of_wheels(needs: Mapping[str, float], measured: Mapping[str, Series], number: str) -> Iterator[float]:
    """The maximum that an outer and an inner wheel reach, which point along the motion."""
    time, speed = measured["v_x"].time, measured["v_x"].value
    if "v_y" in needs and "v_y" in measured:
        speed = np.hypot(speed, np.interp(time, measured["v_y"].time, measured["v_y"].value))
    turning = needs["yaw_rate"] * np.interp(time, measured["yaw_rate"].time, measured["yaw_rate"].value)
    for wheel in (speed + turning, speed - turning):
        yield getattr(reached(time, wheel, angle=False), number)


def _reach(setup: Setup, quantity: str, number: str) -> Reach:
    """The reach of a quantity, from its measurements or else its commands."""
    angle = quantity == "steering"
    steered = bool(getattr(setup.family.parameters, "drive_on_steered_wheel", False))
    least = partial(least_reached, part=RATE_PART if setup.given and not steered else STEERED_RATE_PART)

    def largest(levels: Callable[..., Reached], measured: Iterable[Series]) -> float:
        values = (getattr(levels(series.time, series.value, angle=angle), number) for series in measured)
        return max(values, default=0.0)

    if measured := _measured(setup, quantity):
        wheel = list(_driven_wheel(setup)) if steered and quantity == "v_x" else []
        turned = steered and quantity == "v_x" and number != "value"  # steering changes the vehicle's speed too
        lower = largest(least, wheel if turned else measured)
        most = largest(reached, wheel if turned else [*wheel, *_main(setup, quantity)])
        known = bool(wheel) or not turned
        return Reach(lower, largest(limit_levels, measured), most if known else math.nan, measured=known)
    top = _commanded(setup, quantity)
    by_turning = angle and top == 0.0
    if by_turning:
        top = _angle_of_turning(setup)
    if number != "value":
        return Reach(0.0, top / COMMAND_RISE_TIME, math.nan, measured=False)
    return Reach(0.0, top, top or math.nan, measured=by_turning)


def _angle_of_turning(setup: Setup) -> float:
    """Approximate largest steering angle of a car commanded by twists, from measured speeds and yaw rates [rad]."""
    wheel_base = float(getattr(setup.family.parameters, "wheel_base", 0.0))
    angles = [0.0]
    for measured in _with_speeds_and(setup, "yaw_rate"):
        time, speed = measured["v_x"].time, np.abs(measured["v_x"].value)
        moves = speed > MOVING_PART * np.max(speed, initial=0.0)
        yaw_rate = np.interp(time[moves], measured["yaw_rate"].time, measured["yaw_rate"].value)
        if moves.any():
            angles.append(float(np.percentile(np.arctan(np.abs(yaw_rate) * wheel_base / speed[moves]), 97.0)))
    return max(angles)


def _driven_wheel(setup: Setup) -> Iterator[Series]:
    """The speed of a driven and steered wheel in each recording with measured speed and steering angle."""
    for measured in _with_speeds_and(setup, "steering"):
        time, speed = measured["v_x"].time, measured["v_x"].value
        cosine = np.cos(np.interp(time, measured["steering"].time, measured["steering"].value))
        near = cosine > LEAST_COSINE
        yield Series(time[near], speed[near] / cosine[near])


def _with_speeds_and(setup: Setup, quantity: str) -> Iterator[dict[str, Series]]:
    """The measurements of each recording with speeds and another quantity, by quantity."""
    for channels in setup.channels:
        measured = {channel.quantity: channel.series for channel in reversed(channels) if len(channel.series.time)}
        if {"v_x", quantity} <= measured.keys():
            yield measured


def _measured(setup: Setup, quantity: str) -> list[Series]:
    return [channel.series for channel in setup.all_channels if channel.quantity == quantity]


def _main(setup: Setup, quantity: str) -> Iterator[Series]:
    """The first measurement of a quantity in each recording; others, such as differences of poses, may be noisier."""
    for channels in setup.channels:
        yield from [channel.series for channel in channels if channel.quantity == quantity][:1]


def _commanded(setup: Setup, quantity: str) -> float:
    """The largest command of a quantity."""
    records = (signals.commands.records[FIELDS[quantity]] for signals in setup.recordings)
    return max(float(np.max(np.abs(values))) for values in records)
