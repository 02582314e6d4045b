"""The faults of a vehicle model, in its declarations and its motion."""

from __future__ import annotations

import math
from collections.abc import Iterator
from operator import attrgetter

import numpy as np

from vds_gz.core.description.urdf_reader import DescriptionError, Robot
from vds_gz.core.description.urdf_writer import urdf
from vds_gz.core.errors import UnknownTypeError
from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.ros.messages.message_types import open_types
from vds_gz.core.share import in_words
from vds_gz.core.vehicle.vehicle_model import Actuator, AnyModel, Joint, MeasuredMotion, VehicleGeometry, VehicleLimits
from vds_gz.tools.conformance.driven import DT, engine_faults, motion_faults, resize_faults, steady_faults
from vds_gz.tools.conformance.groups import declaration_faults
from vds_gz.tools.conformance.samples import random_parameters, whole_kinds

#: Types of joints that rotate, without and with limits.
_MOVING = ("continuous", "revolute")

_MOTION = ("x", "y", "heading", "v_x", "v_y", "yaw_rate")


def parameter_faults(model: AnyModel, random: np.random.Generator) -> Iterator[str]:
    """The faults of the model's parameter group."""
    yield from declaration_faults(model.parameters())


def description_faults(model: AnyModel, random: np.random.Generator) -> Iterator[str]:
    """Joints, actuators, limits and geometry that do not fit each other or the state."""
    if not whole_kinds(model):
        accepted = ", ".join(kind.name for kind in sorted(model.accepts)) or "empty"
        yield f"accepts is {accepted}; it must have a kind of whole command, such as TWIST or ACKERMANN"
    p = model.parameters()
    actuators = model.actuators_of(p)
    if not all(isinstance(actuator, Actuator) for actuator in actuators) or not actuators:
        yield f"actuators is {actuators!r}; it must be a tuple of at least one Actuator, or a function that gives one"
        return
    c = model.coefficients(p, DT)
    s = model.at_rest(c)
    for name in ("dt", "base_link_offset"):
        if not hasattr(c, name):
            yield f"coefficients have no '{name}'; every model's have it"
    for name in _MOTION:
        if not hasattr(s, name):
            yield f"the state has no '{name}'; every model's has it"
    if getattr(c, "dt", DT) != DT:
        yield f"coefficients.dt is {c.dt}; it must be the length of a step, here {DT} s"
    yield from _joint_faults(model, p, c, s)
    yield from _report_faults(model, c, s)
    reports, count = model.actuator_states(c, s), len(actuators)
    if len(reports) != count:
        yield f"actuator_states gives {len(reports)} states; it must be {count}, as many as there are actuators"
    limits = model.limits(p)
    if not isinstance(limits, VehicleLimits) or not 0.0 <= limits.speed < math.inf:
        yield f"limits gives {limits!r}; it must be VehicleLimits with a finite speed of at least 0 (0: unlimited)"
    geometry = model.geometry(p)
    if not isinstance(geometry, VehicleGeometry) or not geometry.wheels or not geometry.tire_diameter > 0.0:
        yield f"geometry gives {geometry!r}; it must be VehicleGeometry with wheels and a tyre diameter above 0"
        return
    steers = any(actuator.kind == "steering" for actuator in actuators)
    if steers and not geometry.wheel_base > 0.0:
        yield "geometry gives a wheel base of 0 for a vehicle that steers; it must be the distance between its axles"
    if not steers and not geometry.yaw_arm > 0.0:
        yield "geometry gives a yaw arm of 0 for a vehicle that turns by its wheels' speeds; see VehicleGeometry"


def _joint_faults(model: AnyModel, p: ParameterGroup, c: object, s: object) -> Iterator[str]:
    joints, states = model.joints(p), model.joint_states(c, s)
    if not all(isinstance(joint, Joint) for joint in joints):
        yield f"joints gives {joints!r}; it must be a tuple of Joint"
        return
    names = [joint.name for joint in joints]
    if len(set(names)) < len(names):
        yield f"joints gives the names {names}; each name must be unique"
    for what, numbers in (("positions", states.positions), ("velocities", states.velocities)):
        if len(numbers) != len(joints):
            yield f"joint_states gives {len(numbers)} {what} for {len(joints)} joints; give one for each"


def _report_faults(model: AnyModel, c: object, s: object) -> Iterator[str]:
    if model.measured_steering is not None and not math.isfinite(model.measured_steering(c, s)):
        yield f"measured_steering gives {model.measured_steering(c, s)!r} at rest; it must be a finite angle [rad]"
    for report in model.reports:
        numbers = report.numbers(c, s, MeasuredMotion(0.0, 0.0, 0.0))
        if len(numbers) != len(report.fields):
            counts = f"{len(numbers)} numbers for {len(report.fields)} fields"
            yield f"report '{report.topic}' gives {counts}; give one for each"
        try:
            message = open_types().new(report.type)
        except UnknownTypeError as error:
            yield f"report '{report.topic}': {error}"
            continue
        for path in filter(None, (*report.fields, report.stamp)):
            try:
                attrgetter(path)(message)
            except AttributeError:
                yield f"report '{report.topic}': a {report.type} has no field '{path}'"


def drawing_faults(model: AnyModel, random: np.random.Generator) -> Iterator[str]:
    """Joints that the drawing lacks, and moving joints of the drawing that the model does not know."""
    for p in (model.parameters(), random_parameters(model, random), random_parameters(model, random)):
        try:
            robot = Robot(urdf(model.name, p, model.xacro))
        except DescriptionError as error:
            yield f"drawing: {error}"
            return
        moving = {joint.name for joint in robot.joints if joint.kind in _MOVING}
        names = {joint.name for joint in model.joints(p)}
        for name in sorted(names - moving):
            yield f"joint '{name}' of joints() is not a moving joint of the drawing; draw it, or name it as there"
        for name in sorted(moving - names):
            yield f"joint '{name}' moves in the drawing and is not in joints(); add it, or draw it fixed"


#: The checks, by name. All run, although later ones mean little after earlier faults.
CHECKS = {
    "parameters": parameter_faults,
    "description": description_faults,
    "drawing": drawing_faults,
    "motion": motion_faults,
    "steady start": steady_faults,
    "dead times": resize_faults,
    "engines": engine_faults,
}


def faults(model: AnyModel, seed: int = 1) -> list[str]:
    """The faults of a model, each with a remedy; see :func:`vds_gz.modelling.check`."""
    messages: dict[str, None] = {}
    for name, check in CHECKS.items():
        try:
            for fault in check(model, np.random.default_rng(seed)):
                messages[fault] = None
        except Exception as error:  # any exception of the model's functions is a fault
            messages[f"{name}: {in_words(error)}"] = None
    return list(messages)
