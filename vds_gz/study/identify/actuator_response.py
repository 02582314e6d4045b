"""The response of an actuator, from its recorded references and states: dead time, time constant, limits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import ArrayLike

from vds_gz.study.identify.estimates import Estimate
from vds_gz.study.identify.results import Reached
from vds_gz.study.recording import ActuatorSeries, Array, Series

#: Packages that a fit needs and that are not installed. Maxima do not need them.
MISSING = [package for package in ("numba", "scipy") if find_spec(package) is None]
CAN_FIT = not MISSING
if CAN_FIT:  # imported here, so that errors show before anything is recorded
    from vds_gz.study.identify.actuator import fit_actuator

#: Maximum length of the part of a recording that is used, in which the reference moves most [s].
LONGEST = 60.0

#: Commands more than this before that part have no effect in it [s].
LEAD = 10.0

#: Minimum number of samples.
FEWEST = 20

#: A command shows in a sample if it comes at least this part of the sampling interval before it.
COMMAND_LEAD = 0.05

#: References must exceed a limit of the value by this part to show it. Smaller excesses look like errors of the
#: commands' times.
BARELY = 0.01


@dataclass(frozen=True, slots=True)
class ActuatorResponse:
    """Measured parameters of an actuator; None if the recording does not show them, or without :data:`CAN_FIT`.

    Attributes:
        dead_time: From a new reference to the first movement [s].
        time_constant: Of the first-order lag [s].
        max_rise, max_fall: Limit of the rate of change away from and towards zero, if one was met.
        max_value: Limit of the value, if references exceeded it by more than :data:`BARELY`.
        reached_rise, reached_fall, reached_value: The maximum observed magnitudes, whether limits or not.
    """

    dead_time: float | None
    time_constant: float | None
    max_rise: float | None
    max_fall: float | None
    max_value: float | None
    reached_rise: float
    reached_fall: float
    reached_value: float


def unknown() -> str:
    """Why a parameter is missing, in words."""
    return "not excited" if CAN_FIT else f"needs {' and '.join(MISSING)}"


def measure(actuator: ActuatorSeries, commands: ArrayLike = ()) -> ActuatorResponse:
    """Measure an actuator with a gain of 1 and no offset, from references and states at the same times.

    A reference changes at the time of the last command [s] in its sampling interval, or in the middle of an interval
    without one.
    """
    angle = actuator.kind == "steering"
    time, reference, response = actuator.time, actuator.reference, actuator.response
    if angle:
        response = np.unwrap(response)
        if np.max(np.abs(response), initial=0.0) > math.pi / 2.0:  # no stops
            reference = np.unwrap(reference)
    maxima = _maxima(time, response, angle=angle)
    at, values = _references(time, reference, np.asarray(commands, float))
    part = _most_moved(time, reference)
    begin, end = (time[part][0], time[part][-1]) if len(time) else (0.0, 0.0)
    near = (at >= at[at <= begin - LEAD].max(initial=-math.inf)) & (at <= end)
    numbers: dict[str, Estimate | None] = {}
    moves = len(np.unique(values[near])) > 1 and np.ptp(response[part]) > 0.0
    if CAN_FIT and moves and len(time[part]) >= FEWEST:
        references = Series(np.maximum(at[near], begin - LEAD), values[near])
        numbers = fit_actuator(references, Series(time[part], response[part]), angle=angle)
    dead_time, time_constant, rise, fall, value = (
        None if (number := numbers.get(name)) is None else number.value
        for name in ("dead_time", "time_constant", "rise", "fall", "value")
    )
    if value is not None and value > (1.0 - BARELY) * np.max(np.abs(values[near])):
        value = None
    return ActuatorResponse(dead_time, time_constant, rise, fall, value, *maxima)


def _references(time: Array, reference: Array, commands: Array) -> tuple[Array, Array]:
    """Times and values of the reference's changes; the first value begins long before the first sample."""
    if not len(time):
        return time, reference
    jumps = np.flatnonzero(np.diff(reference) != 0.0) + 1
    begin, end = time[jumps - 1], time[jumps]
    # A command acts from the next step of the vehicle, so one just before a sample shows in the next.
    late = COMMAND_LEAD * float(np.median(np.diff(time))) if len(time) > 1 else 0.0
    latest = np.append(commands, -math.inf)[np.searchsorted(commands, end - late, side="right") - 1]
    moments = np.where(latest > begin - late, np.maximum(latest, begin), 0.5 * (begin + end))
    return np.concatenate(([time[0] - 1e3], moments)), np.concatenate((reference[:1], reference[jumps]))


def _most_moved(time: Array, reference: Array) -> slice:
    """The part of at most :data:`LONGEST` seconds in which the reference moves most."""
    if not len(time):
        return slice(0, 0)
    moved = np.concatenate(([0.0], np.cumsum(np.abs(np.diff(reference)))))
    ends = np.searchsorted(time, time + LONGEST, side="right")
    begin = int(np.argmax(moved[ends - 1] - moved))
    return slice(begin, int(ends[begin]))


def _maxima(time: Array, response: Array, *, angle: bool) -> Reached:
    """The maxima of samples without noise. Of samples with equal stamps the last one counts.

    Rates are away from zero or towards it; crossings of zero are left out.
    """
    last = np.diff(time, append=math.inf) > 0.0
    time, response = time[last], response[last]
    before, after = response[:-2], response[2:]
    rates = np.abs(after - before) / (time[2:] - time[:-2])
    same_side, away = after * before >= 0.0, np.abs(after) >= np.abs(before)
    rise, fall = (float(np.max(rates[same_side & side], initial=0.0)) for side in (away, ~away))
    if angle:
        rise = fall = max(rise, fall)
    return Reached(rise, fall, float(np.max(np.abs(response), initial=0.0)))
