"""Each velocity of a robot fitted as a single actuator, beside the fit of the whole vehicle.

The model limits speed and yaw rate before it splits them into wheel speeds, so before dead time and lag. A robot may
limit them behind its lag. Then the vehicle's dead time, lag and limits have values that no part of the robot has. An
actuator alone has its limit behind the lag. Where it explains a velocity better, the intervals include its values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from vds_gz.core.parameters.actuator_parameters import ActuatorStages
from vds_gz.core.vehicle.command import TWIST
from vds_gz.tools.study.identify.actuator import ActuatorFit, fit_actuator
from vds_gz.tools.study.identify.estimates import Estimate
from vds_gz.tools.study.identify.outcome import is_useful
from vds_gz.tools.study.identify.problem.parameters import drive_of, value_of
from vds_gz.tools.study.identify.problem.problem_setup import Setup
from vds_gz.tools.study.identify.results import Channel, NamedEstimates
from vds_gz.tools.study.identify.supported_terms import StageCallback
from vds_gz.tools.study.identify.term_kind import Effect
from vds_gz.tools.study.identify.terms import EFFECTIVE_TRACK, STAGES

#: The velocities that may be single actuators.
VELOCITIES = "v_x", "yaw_rate"

#: A vehicle's residuals are structured if successive ones have a larger correlation.
STRUCTURED = 0.15

#: An actuator alone is better, or as good, if its residual is below this part of the vehicle's.
BETTER, AS_GOOD = 0.97, 1.03


@dataclass(frozen=True, slots=True)
class SingleAxis:
    """A velocity that was fitted as an actuator alone."""

    quantity: str
    unit: str
    fit: ActuatorFit
    residual: float  # of the vehicle in the same recordings, as that of the fit

    @property
    def better(self) -> bool:
        """Whether the actuator alone explains it better than the vehicle does."""
        return self.fit.residual < BETTER * self.residual

    @property
    def as_good(self) -> bool:
        """Whether the actuator alone explains it about as well as the vehicle does, or better."""
        return self.fit.residual <= AS_GOOD * self.residual


def single_axes(setup: Setup, channels: Sequence[Channel], advance: StageCallback) -> list[SingleAxis]:
    """The velocities as single actuators, if these explain one of them better than the vehicle does."""
    steered = any(actuator.steers for actuator in setup.actuators.values())
    if steered or setup.kind != TWIST or not all(_limits_of(setup, quantity) for quantity in VELOCITIES):
        return []
    driven = {
        quantity: measured
        for quantity in VELOCITIES
        if setup.varies(quantity) and (measured := _driven_channels(setup, channels, quantity))
    }
    structured = [
        quantity
        for quantity, measured in driven.items()
        if max(channel.correlation for channel in measured) >= STRUCTURED
    ]
    axes: list[SingleAxis] = []
    for quantity in (*structured, *(quantity for quantity in driven if quantity not in structured)):
        if quantity in structured or axes:  # the structure of one shifts the values of the others
            advance(f"{quantity} alone")
            recordings = [setup.recordings[channel.recording] for channel in driven[quantity]]
            runs = [(recording.commanded[quantity], recording.measured[quantity]) for recording in recordings]
            fit = fit_actuator(runs, angle=False, allowed=0.0, thorough=False)
            residual = math.sqrt(math.fsum(channel.residual**2 for channel in driven[quantity]) / len(runs))
            axis = SingleAxis(quantity, driven[quantity][0].unit, fit, residual)
            if axis.better or (quantity not in structured and axis.as_good):
                axes.append(axis)
    return axes


def _driven_channels(setup: Setup, channels: Sequence[Channel], quantity: str) -> list[Channel]:
    """The main channels of a velocity in the recordings that command it."""
    return [
        channel
        for channel in channels
        if channel.name == quantity and quantity in setup.recordings[channel.recording].commanded
    ]


def with_single_axes(setup: Setup, axes: Sequence[SingleAxis], estimates: NamedEstimates) -> NamedEstimates:
    """The estimates of all terms by name, with intervals that include the values of single axes.

    An estimate whose interval becomes too wide is None.
    """
    terms = {term.name: term for term in setup.family.terms}
    latencies = {term.name: term for term in setup.family.terms if term.kind.effect is Effect.LATENCY}
    names = [channel.name for channel in setup.all_channels]
    widened = dict(estimates)

    def include(name: str, low: float, high: float) -> None:
        if (number := widened.get(name)) is not None:
            wider = Estimate(number.value, max(min(number.low, low), terms[name].lowest), max(number.high, high))
            widened[name] = wider

    alone = {axis.quantity: axis.fit.numbers for axis in axes}
    delays = {quantity: delay for quantity, numbers in alone.items() if (delay := numbers["dead_time"]) is not None}
    late = {
        name: (number.value, {names[k] for k in term.channels})
        for name, term in latencies.items()
        if (number := estimates[name]) is not None
    }
    for quantity, delay in delays.items():
        latency = sum(value for value, quantities in late.values() if quantity in quantities)
        include(drive_of(setup.actuators)["dead_time"], delay.low - latency, delay.high - latency)
    for name, (_, quantities) in late.items():
        for after, before in product(delays.keys() & quantities, delays.keys() - quantities):
            include(name, delays[after].low - delays[before].high, delays[after].high - delays[before].low)
    for quantity, numbers in alone.items():
        for parameter, name in _shared(setup, quantity, terms).items():
            if (known := numbers.get(parameter)) is not None:
                include(name, known.low, known.high)
    if len(alone) == len(VELOCITIES) and "track" not in terms:
        track = value_of(setup.family.parameters, "track")
        v_x, turn = (alone[quantity]["gain"] or Estimate(1.0, 1.0, 1.0) for quantity in VELOCITIES)
        include(EFFECTIVE_TRACK.name, track * v_x.low / turn.high, track * v_x.high / turn.low)
    return {
        name: number if number is None or number is estimates[name] or is_useful(terms[name], number) else None
        for name, number in widened.items()
    }


def _shared(setup: Setup, quantity: str, terms: Mapping[str, object]) -> dict[str, str]:
    """Terms of the vehicle that have a counterpart in a single axis, by the names of its numbers."""
    drive, [limits, *_] = drive_of(setup.actuators), _limits_of(setup, quantity)
    shared = {"time_constant": drive["time_constant"], "rise": limits["rise"], "value": limits["value"]}
    if quantity == "v_x" or EFFECTIVE_TRACK.name not in terms:
        shared["gain"] = drive["gain"]
    return {number: name for number, name in shared.items() if name in terms}


def _limits_of(setup: Setup, velocity: str) -> list[ActuatorStages]:
    """The limits of the body that act on a velocity."""
    return [actuator for actuator in setup.actuators.values() if actuator.limited_velocity == velocity]


def axis_words(axis: SingleAxis) -> str:
    """A finding on a velocity that an actuator alone explains better."""
    numbers = {name: axis.fit.numbers.get(name) for name in ("dead_time", "time_constant", "rise", "value")}
    known = [
        f"{STAGES[name].label_of(angle=False)} {number.value:.3g} {STAGES[name].unit(axis.unit).replace('²', '^2')}"
        for name, number in numbers.items()
        if number is not None
    ]
    values = f": {', '.join(known)}; intervals in the table, where given, include these values" if known else ""
    limited = numbers["rise"] or numbers["value"]
    alone = "limits behind the lag explain" if limited else "a separate actuator explains"
    before = "; the model has limits before the lag" if limited else ""
    return (
        f"{axis.quantity}: {alone} it better ({axis.fit.residual:.3g} against {axis.residual:.3g} {axis.unit})"
        f"{before}{values}"
    )
