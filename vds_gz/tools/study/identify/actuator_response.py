"""The response of an actuator, from its recorded references and states: its parameters with their uncertainty."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec

import numpy as np
from numpy.typing import ArrayLike

from vds_gz.core.arrays import Array
from vds_gz.tools.study.identify.estimates import CERTAIN, Estimate
from vds_gz.tools.study.identify.results import Reached
from vds_gz.tools.study.recording import ActuatorSeries, Series

#: Packages that a fit needs and that are not installed. Maxima do not need them.
MISSING = [package for package in ("numba", "scipy") if find_spec(package) is None]
CAN_FIT = not MISSING
if CAN_FIT:  # imported here, so that errors show before anything is recorded
    from vds_gz.tools.study.identify.actuator import fit_actuator

#: Maximum length of the part of a recording that is used, in which the reference moves most [s].
LONGEST = 60.0

#: Commands more than this before that part have no effect in it [s].
LEAD = 10.0

#: Upper bound of dead times [s]; no response of another actuator can be mistaken for this one's.
LONGEST_DEAD_TIME = 6.0

#: Residuals are unexplained beyond noise plus this part of the response's range, as simulated states have no noise.
NEGLIGIBLE = 0.0025

#: Minimum number of samples.
FEWEST = 20

#: A command shows in a sample if it comes at least this part of the sampling interval before it.
COMMAND_LEAD = 0.05

#: References must exceed a limit of the value by this part to show it. Smaller excesses look like errors of the
#: commands' times.
BARELY = 0.01

#: A limit above this multiple of the observed maximum was not met.
UNREACHED = 1.005


@dataclass(frozen=True, slots=True)
class ActuatorResponse:
    """Measured parameters of an actuator; None if the recording does not show them, or without :data:`CAN_FIT`.

    Attributes:
        dead_time: From a new reference to the first movement [s].
        time_constant: Of the first-order lag [s].
        max_rise, max_fall: Limit of the rate of change away from and towards zero, if one was met.
        max_value: Limit of the value, if references exceeded it by more than :data:`BARELY`.
        reached_rise, reached_fall, reached_value: The maximum observed magnitudes, whether limits or not.
        gain, offset, dead_band: The steady-state response, as the parameters of an actuator; None if they have no
            effect.
        uncertainty: Half of the 95 % interval of each parameter that is not None, by the names of these attributes.
    """

    dead_time: float | None
    time_constant: float | None
    max_rise: float | None
    max_fall: float | None
    max_value: float | None
    reached_rise: float
    reached_fall: float
    reached_value: float
    gain: float | None = None
    offset: float | None = None
    dead_band: float | None = None
    uncertainty: Mapping[str, float] = field(default_factory=dict)


#: Parameters of :class:`ActuatorResponse`, with their names on an axis.
PARAMETERS = {"dead_time": "dead_time", "time_constant": "time_constant"}
PARAMETERS |= {"max_rise": "rise", "max_fall": "fall", "max_value": "value"}
PARAMETERS |= {"gain": "gain", "offset": "offset", "dead_band": "dead_band"}

#: Those of the steady-state response, with the values that have no effect.
STATIC = {"gain": 1.0, "offset": 0.0, "dead_band": 0.0}


def unknown() -> str:
    """Why a parameter is missing, in words."""
    return "not determined" if CAN_FIT else f"needs {' and '.join(MISSING)}"


def measure(actuator: ActuatorSeries, commands: ArrayLike = ()) -> ActuatorResponse:
    """Measure an actuator from references and states at the same times.

    A reference changes at the time of the last command [s] in its sampling interval, or in the middle of an interval
    without one. Nothing is measured if the response is not that of an actuator with these parameters.
    """
    angle = actuator.kind == "steering"
    time, reference, response = actuator.time, actuator.reference, actuator.response
    if angle:
        response = np.unwrap(response)
        if np.max(np.abs(response), initial=0.0) > math.pi / 2.0:  # no stops
            reference = np.unwrap(reference)
    reached = _maxima(time, response, angle=angle)
    change_times, values, timing = _references(time, reference, np.asarray(commands, float))
    part = _most_moved(time, reference)
    begin, end = (time[part][0], time[part][-1]) if len(time) else (0.0, 0.0)
    selected = (change_times >= change_times[change_times <= begin - LEAD].max(initial=-math.inf)) & (
        change_times <= end
    )
    moves = len(np.unique(values[selected])) > 1 and np.ptp(response[part]) > 0.0
    numbers: dict[str, Estimate] = {}
    if CAN_FIT and moves and len(time[part]) >= FEWEST:
        references = Series(np.maximum(change_times[selected], begin - LEAD), values[selected])
        run = references, Series(time[part], response[part])
        rates = np.diff(response[part]) / np.maximum(np.diff(time[part]), 1e-9)
        allowed = NEGLIGIBLE * float(np.ptp(response[part])) + timing * float(np.sqrt(np.mean(rates**2)))
        fit = fit_actuator([run], angle=angle, allowed=allowed, longest=LONGEST_DEAD_TIME)
        if fit.explained:
            estimates = {name: fit.numbers.get(number) for name, number in PARAMETERS.items()}
            numbers = {
                name: number for name, number in estimates.items() if number and _is_shown(name, number, reached)
            }
    if "max_value" in numbers:
        gain, offset, _ = (numbers[name].value if name in numbers else neutral for name, neutral in STATIC.items())
        if numbers["max_value"].value > (1.0 - BARELY) * np.max(np.abs(gain * values[selected] + offset)):
            del numbers["max_value"]
    value = {name: number.value for name, number in numbers.items()}
    return ActuatorResponse(
        value.get("dead_time"),
        value.get("time_constant"),
        value.get("max_rise"),
        value.get("max_fall"),
        value.get("max_value"),
        *reached,
        value.get("gain"),
        value.get("offset"),
        value.get("dead_band"),
        {name: 0.5 * (number.high - number.low) for name, number in numbers.items()},
    )


def _is_shown(name: str, number: Estimate, reached: Reached) -> bool:
    """Whether a recording shows a parameter: limits are certain and reached, steady-state terms have an effect."""
    if name in STATIC:
        return not number.low <= STATIC[name] <= number.high
    if name.startswith("max_"):
        attained: float = getattr(reached, PARAMETERS[name])
        half = 0.5 * (number.high - number.low)
        return half <= CERTAIN * number.value and number.value <= UNREACHED * attained
    return True


def _references(time: Array, reference: Array, commands: Array) -> tuple[Array, Array, float]:
    """Times and values of the reference's changes, and the standard deviation of the times' errors [s].

    The first value begins long before the first sample.
    """
    if len(np.unique(reference)) < 2:
        return time[:1], reference[:1], 0.0
    jumps = np.flatnonzero(np.diff(reference) != 0.0) + 1
    begin, end = time[jumps - 1], time[jumps]
    # A command acts from the next step of the vehicle, so one just before a sample shows in the next.
    lead = COMMAND_LEAD * float(np.median(np.diff(time))) if len(time) > 1 else 0.0
    last_command = np.append(commands, -math.inf)[np.searchsorted(commands, end - lead, side="right") - 1]
    from_command = last_command > begin - lead
    moments = np.where(from_command, np.maximum(last_command, begin), 0.5 * (begin + end))
    timing = math.sqrt(
        float(np.mean(np.where(from_command, 0.0, end - begin) ** 2)) / 12.0
    )  # uniform between two samples
    return np.concatenate(([time[0] - 1e3], moments)), np.concatenate((reference[:1], reference[jumps])), timing


def _most_moved(time: Array, reference: Array) -> slice:
    """The part of at most :data:`LONGEST` seconds in which the reference moves most."""
    if not len(time):
        return slice(0, 0)
    travel = np.concatenate(([0.0], np.cumsum(np.abs(np.diff(reference)))))
    ends = np.searchsorted(time, time + LONGEST, side="right")
    begin = int(np.argmax(travel[ends - 1] - travel))
    return slice(begin, int(ends[begin]))


def _maxima(time: Array, response: Array, *, angle: bool) -> Reached:
    """The maxima of samples without noise. Of samples with equal stamps the last one counts.

    Rates are away from zero or towards it; crossings of zero are left out.
    """
    is_last = np.diff(time, append=math.inf) > 0.0
    time, response = time[is_last], response[is_last]
    earlier, later = response[:-2], response[2:]
    rates = np.abs(later - earlier) / (time[2:] - time[:-2])
    same_side, rising = later * earlier >= 0.0, np.abs(later) >= np.abs(earlier)
    rise, fall = (float(np.max(rates[same_side & side], initial=0.0)) for side in (rising, ~rising))
    if angle:
        rise = fall = max(rise, fall)
    return Reached(rise, fall, float(np.max(np.abs(response), initial=0.0)))
