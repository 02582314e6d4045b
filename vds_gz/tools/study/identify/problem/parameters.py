"""Parameters of a vehicle model: those of its actuators by stage, and all others as terms."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.actuator_parameters import STEERED_BY, ActuatorStages, DriveParameters, SteeringParameters
from vds_gz.core.parameters.declaration import LARGEST, ParameterError, ParameterGroup, describe
from vds_gz.tools.study.identify.term_kind import Effect, Term, TermKind
from vds_gz.tools.study.identify.terms import EFFECTIVE_TRACK, NEAREST, REQUESTED, STAGES, UNDERSTEER

#: With the drive on the fixed axle the steering cannot turn by 90 degrees [rad].
LARGEST_ANGLE = 1.57


def terms_of(actuator: ActuatorStages) -> Iterator[Term]:
    """The parameters of an actuator as unknowns."""
    for stage, name in actuator.names.items():
        kind = STAGES[stage]
        changes: dict[str, Any] = {"needs": actuator[kind.needs], "fallback": actuator[kind.fallback]}
        if kind.is_limit:
            changes["unlimited"] = actuator.unlimited.get(stage, 0.0)
        elif kind.effect is Effect.DEAD_TIME and actuator.nearest:
            changes["rounding"] = NEAREST
        elif kind.is_delay and kind.effect is Effect.PARAMETER and actuator.shortest:
            changes |= {"lowest": actuator.shortest, "neutral": actuator.shortest}
        yield kind.term(name, **changes)


def where(actuator: ActuatorStages, has: Callable[[TermKind], bool]) -> ActuatorStages:
    """The same actuator with those stages that have a property."""
    return replace(actuator, names={stage: name for stage, name in actuator.names.items() if has(STAGES[stage])})


def actuations(parameters: ParameterGroup, *, wheels: bool = False) -> dict[str, ActuatorStages]:
    """The actuators of a model by name: ``drive``, ``steering``, and those that it names; ``wheels``: hub motors too.

    The first group of each type is used, whatever its name, unless the model names it.
    """
    named: Mapping[str, ActuatorStages] = getattr(parameters, "identified_actuators", dict)()
    known = {stages.group for stages in named.values()}
    actuators = {}
    for axis, kind in (("drive", DriveParameters), ("steering", SteeringParameters)):
        group = _group_of(parameters, kind)
        if group and group not in known:
            actuators[axis] = _of_group(parameters, ActuatorStages(group=group))
    for axis, stages in named.items():
        if wheels or not stages.each_wheel:
            actuators[axis] = _of_group(parameters, stages) if stages.group else _in_order(stages)
    return actuators


def _group_of(parameters: ParameterGroup, kind: type[ParameterGroup]) -> str:
    """The name of the first group of a kind; empty without one."""
    names = (field.name for field in dataclasses.fields(parameters))
    return next((name for name in names if isinstance(getattr(parameters, name), kind)), "")


def _of_group(parameters: ParameterGroup, stages: ActuatorStages) -> ActuatorStages:
    """The actuator with the stages that its group of parameters has.

    A steering without a limit turns round, where the vehicle allows that.
    """
    actuator = getattr(parameters, stages.group)
    names = {stage: actuator.STAGES.get(stage, stage) for stage in STAGES}
    names = {stage: f"{stages.group}.{name}" for stage, name in names.items() if hasattr(actuator, name)}
    if not isinstance(actuator, SteeringParameters):
        return replace(stages, names=names)
    stages = replace(stages, names=names, follows=STEERED_BY)
    endless: dict[str, object] = {stages.group: replace(actuator, max_position=0.0)}
    try:
        dataclasses.replace(parameters, **endless)
    except ParameterError:
        return replace(stages, unlimited={"value": LARGEST_ANGLE})
    return replace(stages, unlimited={"value": 0.0})


def drive_of(actuators: Mapping[str, ActuatorStages]) -> ActuatorStages:
    """The drive of a vehicle; one without parameters if it has none."""
    return next((actuator for actuator in actuators.values() if actuator.drives), ActuatorStages())


def actuator_of(quantity: str, actuators: Mapping[str, ActuatorStages], *, steered: bool) -> ActuatorStages:
    """The actuator that a quantity follows; the yaw rate of a vehicle that steers follows its first steering."""
    steerings = [actuator for actuator in actuators.values() if steered and actuator.steers]
    angles = {"steering": steerings[:1], "yaw_rate": steerings[:1], "v_y": steerings[-1:]}.get(quantity, [])
    return angles[0] if angles else drive_of(actuators)


def _in_order(actuator: ActuatorStages) -> ActuatorStages:
    """The stages of an actuator, in the order of the table."""
    for stage in actuator.names:
        if stage not in STAGES:
            raise ArgumentError(f"'{stage}' is not a stage of an actuator; it must be one of {', '.join(STAGES)}")
    return replace(actuator, names={stage: name for stage in STAGES if (name := actuator[stage])})


def other_parameters(parameters: ParameterGroup, taken: Sequence[str]) -> dict[str, Term]:
    """All other real parameters of a vehicle, by their names."""
    terms = {}
    for parameter in describe(parameters):
        if parameter.type == "double" and parameter.name not in (*taken, EFFECTIVE_TRACK.name, UNDERSTEER.name):
            # A bound of LARGEST is none. A positive parameter stays away from 0.
            low = max(parameter.minimum, 1e-3) if parameter.minimum > 0.0 else parameter.minimum
            low = -math.inf if low <= -LARGEST else low
            high = math.inf if parameter.maximum >= LARGEST else parameter.maximum
            value = value_of(parameters, parameter.name)
            scale = 0.2 * max(abs(value), 0.1)
            terms[parameter.name] = REQUESTED.term(parameter.name, lowest=low, highest=high, scale=scale, neutral=value)
    return terms


def with_numbers(parameters: ParameterGroup, numbers: Mapping[str, float]) -> ParameterGroup:
    """The same parameters with other numbers, by dotted names of at most two parts; ``name[k]`` is an entry of a list.

    The numbers are not checked, because that takes longer than the simulation of a vehicle.
    """
    changed = _copied(parameters)
    copied: set[str] = set()
    for name, value in numbers.items():
        group, dot, member = name.rpartition(".")
        if dot and group not in copied:
            object.__setattr__(changed, group, _copied(getattr(changed, group)))
            copied.add(group)
        owner = getattr(changed, group) if dot else changed
        member, point, index = member.removesuffix("]").partition("[")
        if point:
            values = list(getattr(owner, member))
            values[int(index)] = float(value)
            object.__setattr__(owner, member, tuple(values))
        else:
            object.__setattr__(owner, member, float(value))
    return changed


def _copied(group: ParameterGroup) -> ParameterGroup:
    """A copy with the same fields; ``copy.copy`` takes five times as long."""
    twin: ParameterGroup = object.__new__(type(group))
    for name in group.__dataclass_fields__:
        object.__setattr__(twin, name, getattr(group, name))
    return twin


def value_of(parameters: ParameterGroup, name: str) -> float:
    """A parameter by its dotted name."""
    return float(attrgetter(name)(parameters))
