"""How far a signal went: maximum rates and maximum value, without the noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from vds_gz.study.identify.axes import Reached
from vds_gz.study.identify.estimates import Array, noise
from vds_gz.study.identify.fit import without_spikes
from vds_gz.study.identify.problem.parameters import Kind
from vds_gz.study.identify.problem.setup import FIELDS, Setup

#: How quickly something is taken to change of which only the command is known [s].
QUICKLY = 0.5

#: Samples in a mean, and how many of its standard deviations its maximum may be too large by.
SMOOTHED, ABOVE = 5, 2.5

#: An actuator is at least so much as fast as the vehicle: a steered driven wheel changes its speed by turning too.
RATE = 0.4

#: Where the track or the wheels' gains are unknown, no limit is below this part of the speed.
UNSURELY = 0.5

#: The fastest wheel is at least so much as fast as measured speeds and yaw rates together say.
SURELY = 0.93

#: The greatest command, times the gain, attains at least this part of what was measured.
ATTAINED = 0.97


class Reach(NamedTuple):
    """How far the vehicle went: no limit is below ``least``; about where it would be, if it was met, is ``tried``."""

    least: float
    tried: float


def reached(time: Array, measured: Array, *, angle: bool) -> Reached:
    """Maximum rates and maximum value, without the noise.

    Args:
        time, measured: Samples; times in s.
        angle: One rate holds for both directions.
    """
    if len(time) < 20:
        return Reached(0.0, 0.0, 0.0)
    smooth = np.convolve(without_spikes(measured), np.full(SMOOTHED, 1.0 / SMOOTHED), mode="valid")
    rates = (smooth[4:] - smooth[:-4]) / np.maximum(time[6:-2] - time[2:-6], 1e-9)
    value = smooth[2:-2]
    rise, fall = (
        float(np.percentile(np.abs(rates[side]), 98.0)) if side.sum() > 5 else 0.0
        for side in (rates * value >= 0.0, rates * value < 0.0)
    )
    if angle:
        rise = fall = max(rise, fall)
    return Reached(rise, fall, float(np.percentile(np.abs(smooth), 97.0)))


def sustained(measured: Array) -> float:
    """The greatest magnitude that some samples in a row have."""
    if len(measured) < SMOOTHED:
        return 0.0
    return float(np.max(np.min(np.lib.stride_tricks.sliding_window_view(np.abs(measured), SMOOTHED), axis=1)))


def least_reached(time: Array, measured: Array, *, angle: bool) -> Reached:
    """The same, less what noise may add."""
    top = reached(time, measured, angle=angle)
    if len(time) < 20:
        return top
    error = ABOVE * noise(measured) / math.sqrt(SMOOTHED)
    late = error * math.sqrt(2.0) / max(4.0 * float(np.median(np.diff(time))), 1e-9)
    return Reached(max(RATE * top.rise - late, 0.0), max(RATE * top.fall - late, 0.0), max(top.value - error, 0.0))


def reach_of(setup: Setup) -> dict[str, Reach]:
    """How far the actuators of a vehicle went, by the names of their limits; how much was commanded, by dead bands."""
    found: dict[str, Reach] = {}
    geometry = setup.family.model.geometry(setup.family.parameters)
    arm = geometry.yaw_arm
    terms = setup.family.terms
    uncertain = any(term.name == "track" or term.kind is Kind.WHEEL_GAIN for term in terms)
    for name, actuation in setup.actuators.items():
        if name == "steering":
            needs: Mapping[str, float] = {"steering": 1.0}
        elif name == "turn":
            needs = {"yaw_rate": 1.0}
        elif name == "body" or not arm:
            needs = {"v_x": 1.0}
        else:
            needs = {"v_x": 1.0, "v_y": 1.0, "yaw_rate": arm}
        for number in ("rise", "fall", "value"):
            if limit := getattr(actuation, number):
                tops = [(factor, *_reach(setup, quantity, number)) for quantity, factor in needs.items()]
                # Wheels turn as fast as the vehicle drives at least; how fast each changes follows from nothing simple.
                sure = 1.0 if len(needs) == 1 or number == "value" else 0.0
                top = sum(factor * top for factor, _, top in tops)
                if len(needs) > 1 and uncertain:
                    sure, top = UNSURELY * sure, tops[0][2]
                elif len(needs) > 1 and number == "value":
                    together = _together(setup, needs)
                    if not geometry.holonomic:
                        tops[0] = tops[0][0], max(tops[0][1], SURELY * together), tops[0][2]
                    top = together or top
                found[limit] = Reach(sure * tops[0][1], top)
        command = "steering" if name == "steering" else "v_x"
        top = _commanded(setup, command)
        if actuation.gain and actuation.value and list(needs) == [command] and top > 0.0:
            highest = [
                sustained(one.series.value) for every in setup.channels for one in every if one.quantity == command
            ]
            found[actuation.gain] = Reach(min(max(highest, default=0.0) / top, 1.0) * ATTAINED, 1.0)
        for band in (actuation.dead_band, actuation.backlash):
            if band:
                found[band] = Reach(0.0, top)
    return found


def _reach(setup: Setup, quantity: str, number: str) -> tuple[float, float]:
    """Of a quantity, as it was measured or else as it was commanded."""
    angle = quantity == "steering"
    series = [one.series for every in setup.channels for one in every if one.quantity == quantity]
    if series:
        return (
            max(getattr(least_reached(one.time, one.value, angle=angle), number) for one in series),
            max(getattr(reached(one.time, one.value, angle=angle), number) for one in series),
        )
    top = _commanded(setup, quantity)
    return 0.0, top if number == "value" else top / QUICKLY


def _together(setup: Setup, needs: Mapping[str, float]) -> float:
    """How fast the fastest wheel went, of quantities that add up."""
    tops = []
    for every in setup.channels:
        series = {one.quantity: one.series for one in reversed(every) if one.quantity in needs}
        if "v_x" in series and "yaw_rate" in series:
            time = series["v_x"].time
            parts = (needs[name] * np.abs(np.interp(time, one.time, one.value)) for name, one in series.items())
            tops.append(float(np.percentile(sum(parts), 98.0)))
    return max(tops, default=0.0)


def _commanded(setup: Setup, quantity: str) -> float:
    return max(float(np.max(np.abs(one.commands.records[FIELDS[quantity]]))) for one in setup.recordings)
