"""Exports of an identified vehicle: parameter files, Nav2, and programs that guests and other packages know."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType
from typing import NamedTuple

from vds_gz.core.parameters.declaration import Override, ParameterGroup, describe
from vds_gz.core.parameters.node import NEVER_OLD, NodeParameters
from vds_gz.core.share import additions
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import TWIST
from vds_gz.tools.study.identify.estimates import Estimate
from vds_gz.tools.study.identify.observed_limits import reached
from vds_gz.tools.study.identify.problem.command_hold import MAX_AGE
from vds_gz.tools.study.identify.problem.observed import steers
from vds_gz.tools.study.identify.problem.parameters import actuations, is_steering, value_of
from vds_gz.tools.study.identify.reachable_motion import reachable
from vds_gz.tools.study.identify.results import LIMITS, NAMES, NamedEstimates, Reached, VehicleFit
from vds_gz.tools.study.identify.term_kind import NO_LIMIT
from vds_gz.tools.study.identify.terms import STAGES

#: Entry point group under which an installed package offers an export.
ENTRY_POINTS = "vds_gz.exports"

#: The step of MPPI's own model by default: ``model_dt`` [s].
MPPI_STEP = 0.05

#: MPPI's acceleration limits, by quantity; that of a steering is that of the yaw rate.
MPPI_LIMITS = {"v_x": "ax_max", "v_y": "ay_max", "yaw_rate": "az_max", "steering": "az_max"}

#: Quantities of a velocity smoother, in its order.
SMOOTHED = ("v_x", "v_y", "yaw_rate")

#: Comments of parameters without an interval in a parameter file.
NOT_NEEDED = "improves no prediction"
NOT_MET, STANDSTILL, BEST = "unlimited: not met", "as observed at standstill", "best fit to the recording"


class Met(NamedTuple):
    """Whether each of the maxima of :class:`~vds_gz.tools.study.identify.results.Reached` is a limit of the vehicle."""

    rise: bool
    fall: bool
    value: bool


def overrides(fit: VehicleFit, given: NodeParameters | None = None) -> Iterator[Override]:
    """The identified parameters with their intervals or other comments, and others that differ from the given ones."""
    group = f"model_params.{fit.model}"
    base: ParameterGroup = given.vehicle if given else models()[fit.model].parameters()
    actuators = actuations(base)
    kept_limits = {actuation["value"] for name, actuation in actuators.items() if is_steering(name)}
    kept_limits |= {name for axis in ("body", "turn") if axis in actuators for name in actuators[axis].names.values()}
    for name, number in fit.numbers.items():
        if name.endswith("]"):  # a point of a map, which is written as a whole
            continue
        if number is not None:
            yield number.override(f"{group}.{name}")
            continue
        value = value_of(fit.parameters, name)
        changed, limited = value != value_of(base, name), 0.0 < value < NO_LIMIT
        if name in fit.reached:
            if changed or not (limited or name in kept_limits):
                comment = BEST if limited else f"{NOT_MET}; {fit.reached[name]:.3g} was reached"
                yield Override(f"{group}.{name}", value, comment)
        elif changed:
            yield Override(f"{group}.{name}", value, NOT_NEEDED if value in (0.0, 1.0) else BEST)
    for axis in fit.axes:
        if axis.centred is not None:
            yield Override(f"{group}.center_at_standstill", axis.centred, STANDSTILL)
    if fit.command_hold.timeout is not None:
        yield fit.command_hold.timeout.override(MAX_AGE)
    elif fit.command_hold.endless:
        yield Override(MAX_AGE, NEVER_OLD, f"holds its last command: {fit.command_hold.moved_on}")
    before = {parameter.name: parameter.default for parameter in describe(base)} | {"center_at_standstill": None}
    for parameter in describe(fit.parameters):
        default = parameter.default
        if parameter.name not in fit.numbers and before.get(parameter.name) not in (None, default):
            points = [float(f"{point:.4g}") for point in default] if isinstance(default, tuple) else default
            yield Override(f"{group}.{parameter.name}", points, BEST)


def nav2(fit: VehicleFit) -> Iterator[str]:
    """Lines for Nav2: the controller's delays and the smoother's limits."""
    numbers = estimates_by_quantity(fit)
    yield "# controller_server, FollowPath (MPPI)"
    for quantity, name in (("v_x", "vx"), ("v_y", "vy"), ("yaw_rate", "wz")):
        axis = numbers.get(quantity) or (numbers.get("steering") if quantity == "yaw_rate" else None)
        if axis is not None:
            yield f"model_delay_{name}: {number_or_unknown(axis['dead_time'])}"
    yield from _from_its_own_commands(numbers)
    yield "# velocity_smoother"
    if "yaw_rate" not in numbers:
        yield "# yaw rates (third numbers) were not commanded"
    limits = dict(zip(SMOOTHED, _limits(fit, numbers), strict=True))
    for name in sorted(LIMITS, key=lambda name: STAGES[name].turn):
        unmet = [quantity for quantity, (_, met) in limits.items() if not getattr(met, name)]
        note = f"  # observed, no limit was met: {', '.join(unmet)}" if unmet else ""
        for parameter, sign in STAGES[name].smoother:
            values = (sign * getattr(limit, name) + 0.0 for limit, _ in limits.values())
            yield f"{parameter}: [{', '.join(f'{value:.3f}' for value in values)}]{note}"


def _from_its_own_commands(numbers: Mapping[str, NamedEstimates]) -> Iterator[str]:
    """MPPI's ``open_loop``, if the lag requires it.

    Without it a command exceeds the measured speed v by ``ax_max * model_dt`` at most. Behind a first-order lag T the
    speed then rises at (command - v) / T, which is ``ax_max * model_dt / T``.
    """
    lags = {quantity: lag.value for quantity, axis in numbers.items() if (lag := axis["time_constant"]) is not None}
    slowest = max(lags, key=lags.__getitem__, default="")
    if slowest and MPPI_STEP < lags[slowest] < math.inf:
        part = f"{MPPI_STEP / lags[slowest]:.2f} of {MPPI_LIMITS[slowest]}"
        yield f"open_loop: true  # else the lag leaves {part} (model_dt {MPPI_STEP:g} s; Nav2 1.3.13 on)"


def estimates_by_quantity(fit: VehicleFit) -> dict[str, NamedEstimates]:
    """The parameters of each axis, by quantity; if it was not measured, those of its actuator."""
    numbers: dict[str, NamedEstimates] = {}
    for axis, quantity in (("drive", "v_x"), ("steering", "steering")):
        if (actuation := actuations(fit.parameters).get(axis)) is not None:
            numbers[quantity] = dict.fromkeys(NAMES)
            numbers[quantity] |= {stage: fit.numbers.get(name) for stage, name in actuation.names.items()}
    return numbers | {axis.quantity: axis.numbers for axis in fit.axes}


def _limits(fit: VehicleFit, numbers: Mapping[str, NamedEstimates]) -> Iterator[tuple[Reached, Met]]:
    """The maxima of the velocities in :data:`SMOOTHED` that the written vehicle reaches, and which of them are limits.

    Where it has no limit, they are the maxima observed. The yaw rate of a vehicle that steers has the lower of both.
    """
    model = models()[fit.model]
    speed = 0.0
    for quantity in SMOOTHED:
        maxima = [
            reached(channel.time, channel.measured, angle=False)
            for channel in fit.channels
            if channel.quantity == quantity
        ]
        observed = Reached(*map(max, zip(*maxima, strict=True))) if maxima else Reached(0.0, 0.0, 0.0)
        if quantity not in numbers and quantity != "yaw_rate":
            yield Reached(0.0, 0.0, 0.0), Met(True, True, True)
            continue
        limit = Reached(math.inf, math.inf, math.inf)
        if TWIST in model.accepts:
            limit = reachable(model, fit.parameters, quantity, observed.value, speed)
        elif quantity in numbers:
            known = (numbers[quantity][name] for name in Reached._fields)
            limit = Reached(*(math.inf if number is None else number.value for number in known))
        turns_by_driving = quantity == "yaw_rate" and steers(model, fit.parameters)
        lower = Met(
            *(
                least < most or (math.isfinite(least) and not turns_by_driving)
                for least, most in zip(limit, observed, strict=True)
            )
        )
        result = Reached(*(a if met else b for a, b, met in zip(limit, observed, lower, strict=True)))
        if quantity == "v_x" and steers(model, fit.parameters):
            speed = result.value
        yield result, lower


def number_or_unknown(number: Estimate | None) -> str:
    """The value of an estimate, or that there is none, as in a parameter file."""
    return "# not determined" if number is None or not math.isfinite(number.value) else f"{number.value:.4f}"


def exports() -> dict[str, Callable[[VehicleFit], Iterable[str]]]:
    """The exports to other programs, by name: functions of a fit that give lines of their parameter files.

    Raises:
        ArgumentError: An entry point has a name that is taken, or is no function.
    """
    return {"nav2": nav2, **additions(FunctionType, ENTRY_POINTS, ("nav2",))}
