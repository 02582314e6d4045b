"""Exports of an identified vehicle: parameter files, Nav2, and programs that guests and other packages know."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType
from typing import NamedTuple

from vds_gz.core.parameters.actuator_parameters import ActuatorStages
from vds_gz.core.parameters.declaration import Override, ParameterGroup, describe
from vds_gz.core.parameters.node import NEVER_OLD, NodeParameters
from vds_gz.core.share import additions
from vds_gz.core.vehicle.actuators import drive_coefficients, steady_reference
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import TWIST
from vds_gz.tools.study.identify.observed_limits import observed_maxima
from vds_gz.tools.study.identify.problem.command_hold import MAX_AGE, CommandHold
from vds_gz.tools.study.identify.problem.observed import steers
from vds_gz.tools.study.identify.problem.parameters import actuations, actuator_of, value_of
from vds_gz.tools.study.identify.problem.problem_setup import HAND_WHEEL
from vds_gz.tools.study.identify.reachable_motion import reachable
from vds_gz.tools.study.identify.results import Reached, VehicleFit
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

#: Digits of maxima after the decimal point.
DIGITS = 3

#: A velocity whose observed maximum is below this part of a limit did not reach it; above this multiple, the identified
#: vehicle does not reach what was observed.
SHOWN, EXCEEDED = 0.9, 1.3

#: Comments of parameters without an interval in a parameter file.
NOT_NEEDED = "improves no prediction"
NOT_MET, STANDSTILL, BEST = "unlimited: not met", "as observed at standstill", "best fit to the recording"
WIDEST = "not met: the largest possible value"


def overrides(fit: VehicleFit, given: NodeParameters | None = None) -> Iterator[Override]:
    """The identified parameters with their intervals or other comments, and others that differ from the given ones."""
    group = f"model_params.{fit.model}"
    base: ParameterGroup = given.vehicle if given else models()[fit.model].parameters()
    actuators = actuations(base)
    kept_limits = {actuator["value"] for actuator in actuators.values() if actuator.steers}
    for actuator in actuators.values():
        kept_limits |= {*actuator.names.values()} if actuator.limited_velocity else set()
    for name, number in fit.numbers.items():
        if name.endswith("]"):  # a point of a map, which is written as a whole
            continue
        if number is not None:
            yield number.override(f"{group}.{name}")
            continue
        value = value_of(fit.parameters, name)
        changed, limited = value != value_of(base, name), is_limited(fit.parameters, name)
        if name in fit.reached or name in fit.unmeasured:
            if changed or not (limited or name in kept_limits):
                unmet = unmet_comment(value, fit.reached.get(name), measured=name not in fit.unmeasured)
                yield Override(f"{group}.{name}", value, BEST if limited else unmet)
        elif changed:
            yield Override(f"{group}.{name}", value, NOT_NEEDED if value in (0.0, 1.0) else BEST)
    for axis in fit.axes:
        if axis.centred is not None:
            yield Override(f"{group}.center_at_standstill", axis.centred, STANDSTILL)
    yield from _time_out(fit.command_hold, given or NodeParameters())
    before = {parameter.name: parameter.default for parameter in describe(base)} | {"center_at_standstill": None}
    for parameter in describe(fit.parameters):
        default = parameter.default
        if parameter.name not in fit.numbers and before.get(parameter.name) not in (None, default):
            points = [float(f"{point:.4g}") for point in default] if isinstance(default, tuple) else default
            yield Override(f"{group}.{parameter.name}", points, BEST)


def _time_out(hold: CommandHold, given: NodeParameters) -> Iterator[Override]:
    """The time-out of commands; as a limit that was not met, none if it is unknown but longer than the given one."""
    if hold.timeout is not None:
        yield Override(MAX_AGE, hold.timeout.value, hold.range_seen)
    elif hold.endless:
        yield Override(MAX_AGE, NEVER_OLD, f"holds its last command: {hold.moved_on}")
    elif hold.least_timeout and hold.least_timeout >= given.twist_reference_max_oldness:
        yield Override(MAX_AGE, NEVER_OLD, f"{NOT_MET}; longer than {hold.least_timeout:g} s")


def unmet_comment(value: object, most: float | None, *, measured: bool) -> str:
    """The comment of a limit that was not met.

    Args:
        value: The written limit: 0, or of a steering angle possibly the largest one of the model.
        most: The largest value that was measured, or else commanded; None: neither is known.
        measured: Whether ``most`` was measured.
    """
    comment = NOT_MET if value == 0.0 else WIDEST
    if most is None:
        return f"{comment}, nor measured"
    return f"{comment}; {most:.3g} was {'reached' if measured else 'commanded'}"


def nav2(fit: VehicleFit) -> Iterator[str]:
    """Lines for Nav2: the controller's delays and the smoother's limits."""
    yield "# controller_server, FollowPath (MPPI)"
    quantities = commanded_quantities(fit)
    for quantity, name in (("v_x", "vx"), ("v_y", "vy"), ("yaw_rate", "wz")):
        if quantity in quantities or (quantity == "yaw_rate" and "steering" in quantities):
            yield f"model_delay_{name}: {written_number(fit, quantity, 'dead_time')}"
    yield from _from_its_own_commands(fit)
    yield "# velocity_smoother"
    if "yaw_rate" not in quantities:
        yield "# yaw rates (third numbers) were not commanded"
    limits = velocity_limits(fit)
    for name in ("value", "rise", "fall"):
        note = "; ".join(_notes(limits, name))
        known = all(maxima[name].known for maxima in limits.values())
        for parameter, sign in STAGES[name].smoother:
            values = (
                f"{sign * maxima[name].value + 0.0:.{DIGITS}f}" if maxima[name].known else "?"
                for maxima in limits.values()
            )
            yield f"{'' if known else '# '}{parameter}: [{', '.join(values)}]{f'  # {note}' if note else ''}"


def _notes(limits: Mapping[str, Mapping[str, Maximum]], name: str) -> Iterator[str]:
    """Notes on maxima by name: which are no limits, and velocities that no recording reached, as in a turn in place."""
    unmet = [quantity for quantity, maxima in limits.items() if not maxima[name].met]
    unmeasured = [quantity for quantity in unmet if limits[quantity][name].observed is None]
    observed = [quantity for quantity in unmet if limits[quantity][name].known]
    if observed:
        yield f"observed, no limit was met: {', '.join(observed)}"
    if unmeasured:
        yield f"not measured: {', '.join(unmeasured)}"
    if unseen := [quantity for quantity in unmet if quantity not in (*observed, *unmeasured)]:
        yield f"not observed: {', '.join(unseen)}"
    for quantity, maxima in limits.items() if name == "value" else ():
        limit = maxima[name]
        if limit.met and not SHOWN * limit.value <= (limit.observed or 0.0) <= EXCEEDED * limit.value:
            shown = "not measured" if limit.observed is None else f"the recording reached {limit.observed:.3g}"
            yield f"{quantity} is calculated, {shown}"


def _from_its_own_commands(fit: VehicleFit) -> Iterator[str]:
    """MPPI's ``open_loop``, if the lag requires it.

    Without it a command exceeds the measured speed v by ``ax_max * model_dt`` at most. Behind a first-order lag T the
    speed then rises at (command - v) / T, which is ``ax_max * model_dt / T``.
    """
    lags = {
        quantity: number.value
        for quantity in commanded_quantities(fit)
        if (number := _written(fit, quantity, "time_constant")) is not None
    }
    slowest = max(lags, key=lags.__getitem__, default="")
    if slowest and lags[slowest] > MPPI_STEP:
        part = f"{MPPI_STEP / lags[slowest]:.2f} of {MPPI_LIMITS[slowest]}"
        yield f"open_loop: true  # else the lag leaves {part} (model_dt {MPPI_STEP:g} s; Nav2 1.3.13 on)"


def commanded_quantities(fit: VehicleFit) -> tuple[str, ...]:
    """The quantities that were commanded, and those of the vehicle's actuators."""
    actuators = actuations(fit.parameters).values()
    quantities = ["v_x"] if any(actuator.drives for actuator in actuators) else []
    quantities += ["steering"] if sum(actuator.steers for actuator in actuators) == 1 else []
    return tuple(dict.fromkeys((*quantities, *(axis.quantity for axis in fit.axes))))


class Written(NamedTuple):
    """A number of the parameter file, and whether it has an interval."""

    value: float
    known: bool


def _written(fit: VehicleFit, quantity: str, stage: str) -> Written | None:
    """A number of the actuator that a quantity follows, or of the stage that replaces it, as :func:`_parameter`."""
    actuator = _followed(fit, quantity)
    numbers = (_parameter(fit, actuator[name], name) for name in (stage, STAGES[stage].fallback) if actuator[name])
    return next(filter(None, numbers), None)


def _followed(fit: VehicleFit, quantity: str) -> ActuatorStages:
    return actuator_of(quantity, actuations(fit.parameters), steered=steers(models()[fit.model], fit.parameters))


def _parameter(fit: VehicleFit, name: str, stage: str) -> Written | None:
    """A number of the parameter file; None if it is a default without an estimate, or a limit without an effect."""
    if (number := fit.numbers.get(name)) is not None:
        return Written(number.value, known=True)
    value = value_of(fit.parameters, name)
    is_default = value == value_of(models()[fit.model].parameters(), name)
    no_limit = STAGES[stage].is_limit and not is_limited(fit.parameters, name)
    return None if is_default or no_limit else Written(value, known=False)


def written_number(fit: VehicleFit, quantity: str, stage: str) -> str:
    """A number of the parameter file as another program's parameter, or that the recording does not determine it."""
    number = _written(fit, quantity, stage)
    if number is None:
        unmet = STAGES[stage].is_limit and _followed(fit, quantity)[stage] in (*fit.reached, *fit.unmeasured)
        return "# no limit was met" if unmet else "# not determined"
    return f"{number.value:.4f}" + ("" if number.known else "  # without an interval")


class Maximum(NamedTuple):
    """A maximum of a velocity or its rate: a limit that the written vehicle reaches, or else what was observed."""

    value: float
    met: bool
    observed: float | None  # None if it was not measured

    @property
    def known(self) -> bool:
        """Whether there is a limit, or a motion that was observed."""
        return self.met or round(self.value, DIGITS) > 0.0


def velocity_limits(fit: VehicleFit) -> dict[str, dict[str, Maximum]]:
    """The maxima of the velocities in :data:`SMOOTHED`, by the names of limits.

    The yaw rate of a vehicle that steers has the lower one of its limit and of the maximum observed.
    """
    model, quantities = models()[fit.model], commanded_quantities(fit)
    steered = steers(model, fit.parameters)
    limits: dict[str, dict[str, Maximum]] = {}
    for quantity in SMOOTHED:
        if quantity not in quantities and quantity != "yaw_rate":
            limits[quantity] = dict.fromkeys(Reached._fields, Maximum(0.0, True, 0.0))
            continue
        observed = observed_maxima(fit.channels, quantity)
        lower_one = quantity == "yaw_rate" and steered
        if TWIST in model.accepts:
            speed = _speed_command(fit, limits["v_x"]["value"].value) if lower_one else 0.0
            most = reachable(model, fit.parameters, quantity, observed.value, speed)
        elif quantity == "v_x":
            written = (_written(fit, quantity, name) for name in Reached._fields)
            most = Reached(*(number.value if number else math.inf for number in written))
        else:
            most = Reached(math.inf, math.inf, math.inf)
        limits[quantity] = {}
        measured = any(channel.quantity == quantity for channel in fit.channels)
        for name, limit, top in zip(Reached._fields, most, observed, strict=True):
            met = limit < top or (math.isfinite(limit) and _has_limit(fit, quantity, name) and not lower_one)
            limits[quantity][name] = Maximum(limit if met else top, met, top if measured else None)
    return limits


def _speed_command(fit: VehicleFit, speed: float) -> float:
    """The command with which the drive reaches a speed in steady state, ignoring its dead band."""
    drive = _followed(fit, "v_x")
    if drive.group:
        return steady_reference(drive_coefficients(getattr(fit.parameters, drive.group), dt=1.0), speed)
    gain, offset = (value_of(fit.parameters, drive[name]) if drive[name] else None for name in ("gain", "offset"))
    return (speed - (offset or 0.0)) / (gain or 1.0)


def _has_limit(fit: VehicleFit, quantity: str, stage: str) -> bool:
    """Whether a limit of the file bounds a velocity or its acceleration; a lag alone, which bounds it too, is none."""
    limited = ("v_x", "v_y") if quantity == "v_y" else (quantity,)  # a limit of the speed is one of both
    acting = [_followed(fit, quantity)] + [
        actuator
        for actuator in actuations(fit.parameters, wheels=True).values()
        if actuator.limited_velocity in limited
        or actuator.each_wheel
        or (actuator.drives and quantity == "v_y")  # the drive also moves a vehicle sideways whose steerings turn
    ]
    return any(
        _parameter(fit, actuator[name], name)
        for actuator in acting
        for name in (stage, STAGES[stage].fallback)
        if actuator[name]
    )


def is_limited(parameters: ParameterGroup, name: str) -> bool:
    """Whether a limit has an effect: it is neither 0 nor the largest value, such as the largest angle of a steering."""
    unlimited = [
        value
        for actuator in actuations(parameters, wheels=True).values()
        for stage, parameter in actuator.names.items()
        if parameter == name
        for value in (actuator.unlimited.get(stage, 0.0), HAND_WHEEL if actuator.steers else 0.0)
    ]
    return 0.0 < (value := value_of(parameters, name)) < NO_LIMIT and value not in unlimited


def exports() -> dict[str, Callable[[VehicleFit], Iterable[str]]]:
    """The exports to other programs, by name: functions of a fit that give lines of their parameter files.

    Raises:
        ArgumentError: An entry point has a name that is taken, or is no function.
    """
    return {"nav2": nav2, **additions(FunctionType, ENTRY_POINTS, ("nav2",))}
