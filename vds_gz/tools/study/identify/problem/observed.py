"""Readings of sensors as functions of a vehicle's simulated state: twist of base_link, steering, wheels, hinges.

A sensor needs some numbers of the state at the times of its samples, and the geometry to convert them to its readings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vds_gz.core.arrays import Array
from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.vehicle.command import Command, SteadyMotion
from vds_gz.core.vehicle.differential import DIFFERENTIAL, DifferentialCoefficients, DifferentialState
from vds_gz.core.vehicle.differential import actuate as drive
from vds_gz.core.vehicle.vehicle_model import AnyModel, extended
from vds_gz.tools.study.recording import COMMANDED, POSES

#: Length of a step where any will do [s].
ANY_STEP = 1e-3

#: Roller directions of an omni vehicle's wheels in the order of its joints.
_ROLLERS = {"front_left": 1.0, "rear_left": -1.0, "rear_right": 1.0, "front_right": -1.0}


@dataclass(frozen=True, slots=True)
class Geometry:
    """The geometry that converts states to sensor readings, with an entry for each vehicle [m].

    The signed wheelbase is from the fixed to the steered axle, 0 without steering. Rollers are +1 for the pattern O, -1
    for X. Gains are diameters of the wheels of a side, as parts of the configured one.
    """

    base_link_offset: Array
    wheel_radius: Array
    signed_wheelbase: Array
    half_track_steered: Array
    half_track_front: Array
    half_track_rear: Array
    rollers: Array
    left_gain: Array
    right_gain: Array


def geometry_of(
    vehicles: Sequence[ParameterGroup], left_gain: ArrayLike = 1.0, right_gain: ArrayLike = 1.0
) -> Geometry:
    """The geometry of vehicles of one model; a wheel gain is one number, or one for each vehicle."""
    rows = [
        (
            getattr(vehicle, "base_link_offset", 0.0),
            0.5 * getattr(vehicle, "tire_diameter", 1.0),
            getattr(vehicle, "wheel_base", 0.0) * (-1.0 if getattr(vehicle, "reverse", False) else 1.0),
            *(0.5 * getattr(vehicle, f"track_{axle}", 0.0) for axle in ("steered", "front", "rear")),
            -1.0 if getattr(vehicle, "roller_pattern", "o") == "x" else 1.0,
        )
        for vehicle in vehicles
    ]
    return Geometry(*np.array(rows).T, *(np.broadcast_to(gain, len(rows)) for gain in (left_gain, right_gain)))


#: A sensor's reading as a function of the needed numbers of the state, each of shape (samples, vehicles).
ReadingFunction = Callable[[Sequence[Array], Geometry], Array]


class Observed(NamedTuple):
    """A quantity that a sensor may read: the needed numbers of the state, by dotted names, and the reading."""

    numbers: tuple[str, ...]
    read: ReadingFunction


def _first(numbers: Sequence[Array], geometry: Geometry) -> Array:
    return numbers[0]


def _lateral(numbers: Sequence[Array], geometry: Geometry) -> Array:
    """Lateral velocity of base_link [m/s], from that of the reference point and the yaw rate."""
    v_y, yaw_rate = numbers
    return v_y + geometry.base_link_offset * yaw_rate


def _wheel(side: str, *, speed: bool, roller: float = 0.0) -> ReadingFunction:
    """Angular velocity of a wheel [rad/s] from its rolling speed [m/s], or its angle from that of a nominal wheel."""

    def read(numbers: Sequence[Array], geometry: Geometry) -> Array:
        if roller:
            return numbers[0] * (roller * geometry.rollers / geometry.wheel_radius if speed else 1.0)
        gain = {"left": geometry.left_gain, "right": geometry.right_gain}.get(side, np.ones(1))
        return numbers[0] / (geometry.wheel_radius * gain if speed else gain)

    return read


def _hinge(side: float) -> ReadingFunction:
    """Angle of the left (+1) or the right hinge [rad] by Ackermann's rule, on the branch near the steering angle."""

    def read(numbers: Sequence[Array], geometry: Geometry) -> Array:
        angle = numbers[0]
        sine, cosine = np.sin(angle), np.cos(angle)
        shift = side * geometry.half_track_steered / geometry.signed_wheelbase
        longitudinal, lateral = 1.0 - shift * sine * cosine, shift * sine * sine
        backwards = np.where(longitudinal < 0.0, -1.0, 1.0)
        turned: Array = angle + np.arctan2(backwards * lateral, backwards * longitudinal)
        return turned

    return read


def _hinge_of_two_axles(side: float, axle: str) -> ReadingFunction:
    """Angle of the left (+1) or the right hinge [rad] of the front or the rear axle, if both are steered.

    By Ackermann's rule, as in :func:`~vds_gz.core.vehicle.four_wheel_steering.wheel_angle`, from the angles of the
    middle wheels of its own, of the front and of the rear axle.
    """

    def read(numbers: Sequence[Array], geometry: Geometry) -> Array:
        angle, front, rear = numbers
        sine, cosine = np.sin(angle), np.cos(angle)
        half_track: Array = getattr(geometry, f"half_track_{axle}")
        shift = side * half_track * (np.tan(front) - np.tan(rear)) / geometry.signed_wheelbase
        along, across = 1.0 - shift * cosine * cosine, shift * sine * cosine
        backwards = np.where(along < 0.0, -1.0, 1.0)
        turned: Array = angle + np.arctan2(backwards * across, backwards * along)
        return turned

    return read


# A mean over a short time is read as a change. The first half of the rows are the beginnings, the second half the ends.


def _moved(numbers: Sequence[Array], geometry: Geometry) -> Array:
    """Displacements of base_link between two rows of poses, seen from between them: forward + 1j left."""
    x, y, heading = numbers
    place = x + 1j * y + geometry.base_link_offset * np.exp(1j * heading)
    half = len(x) // 2
    middle = 0.5 * (heading[:half] + heading[half:])
    moved: Array = (place[half:] - place[:half]) * np.exp(-1j * middle)
    return moved


def _change(reader: ReadingFunction) -> ReadingFunction:
    """The change of a reading from the first half of the rows to the second."""

    def read(numbers: Sequence[Array], geometry: Geometry) -> Array:
        values = reader(numbers, geometry)
        half = len(values) // 2
        return values[half:] - values[:half]

    return read


MEANS = {
    "mean_v_x": Observed(POSES, lambda numbers, geometry: np.ascontiguousarray(_moved(numbers, geometry).real)),
    "mean_v_y": Observed(POSES, lambda numbers, geometry: np.ascontiguousarray(_moved(numbers, geometry).imag)),
    "mean_yaw_rate": Observed(POSES, _change(lambda numbers, geometry: numbers[2])),
}


def observed(model: AnyModel, parameters: ParameterGroup, quantity: str, joint: str = "") -> Observed | None:
    """How a sensor's reading follows from a model; None if it does not.

    ``joint`` is the name of the joint of a ``joint_velocity`` or ``joint_position``.
    """
    match quantity:
        case "v_x" | "yaw_rate":
            return Observed((quantity,), _first)
        case "v_y":
            return Observed(("v_y", "yaw_rate"), _lateral)
        case "steering":
            one_axle = steers(model, parameters) and not _steers_rear_axle(model)
            number = _steering_angle(model, parameters) if one_axle else ""
            return Observed((number,), _first) if number else None
        case "joint_velocity" | "joint_position":
            return _joint(model, parameters, joint, speed=quantity == "joint_velocity")
        case "mean_joint_velocity":
            angle = _joint(model, parameters, joint, speed=False)
            return angle and Observed(angle.numbers, _change(angle.read))
        case _:
            return MEANS.get(quantity)


def steers(model: AnyModel, parameters: ParameterGroup) -> bool:
    """Whether the angles of a vehicle's steerings turn it, and not the speeds of its wheels."""
    steerings = any(actuator.kind == "steering" for actuator in model.actuators_of(parameters))
    return steerings and not model.geometry(parameters).yaw_arm


def _steers_rear_axle(model: AnyModel) -> bool:
    """Whether some command has an angle of its own for the rear axle."""
    return any("rear_steering_angle" in kind.references for kind in model.accepts)


def _steering_angle(model: AnyModel, parameters: ParameterGroup) -> str:
    """The state's number with the angle of the middle steered wheel; empty if the model does not say it."""
    if hasattr(model.at_rest(model.coefficients(parameters, ANY_STEP)), "steering"):
        return "steering.angle"
    hinges = [joint.numbers[0] for joint in model.joints(parameters) if joint.kind == "steering" and joint.numbers]
    return hinges[0] if len(hinges) == 1 else ""


def _joint(model: AnyModel, parameters: ParameterGroup, joint: str, *, speed: bool) -> Observed | None:
    known = {known.name: known for known in model.joints(parameters) if known.command is not None}.get(joint)
    if known is None:
        return None
    side = 1.0 if joint.endswith("_left") else -1.0 if joint.endswith("_right") else 0.0
    if known.numbers:
        if known.kind == "wheel":
            return Observed((known.numbers[1 if speed else 0],), _wheel("", speed=speed))
        if speed:
            return None
        if len(known.numbers) == 1:
            return Observed(known.numbers, _first)
        own, front, _ = known.numbers
        return Observed(known.numbers, _hinge_of_two_axles(side, "front" if own == front else "rear"))
    if known.kind == "steering":
        parallel = getattr(parameters, "parallel_steering", False)
        return None if speed else Observed(("steering.angle",), _first if parallel or not side else _hinge(side))
    wheel = joint.removesuffix("_joint")
    drive = wheel.removeprefix("wheel_")
    state = model.at_rest(model.coefficients(parameters, ANY_STEP))
    if hasattr(state, f"roll_{drive}"):
        holonomic = model.geometry(parameters).holonomic
        if holonomic and drive not in _ROLLERS:
            return None
        roller = _ROLLERS[drive] if holonomic else 0.0
        return Observed((f"{drive}.velocity" if speed else f"roll_{drive}",), _wheel("", speed=speed, roller=roller))
    axle = "steered" if wheel.startswith("steered") else "fixed"
    side_name = next((name for name in ("left", "right") if wheel.endswith(f"_{name}")), "")
    number = f"{'speed' if speed else 'roll'}_{axle}_{side_name or 'left'}"
    return Observed((number,), _wheel(side_name, speed=speed)) if hasattr(state, number) else None


def start_names(model: AnyModel, parameters: ParameterGroup) -> tuple[str, ...]:
    """The unknown quantities of a vehicle's steady motion at the start of a segment."""
    if steers(model, parameters):
        return ("v_x", "steering", "rear_steering") if _steers_rear_axle(model) else ("v_x", "steering")
    if any(actuator.kind == "steering" for actuator in model.actuators_of(parameters)):
        return ()  # at rest: at standstill, velocities do not show where the modules point
    return ("v_x", "v_y", "yaw_rate") if model.geometry(parameters).holonomic else ("v_x", "yaw_rate")


def start_states(model: AnyModel, names: Sequence[str], coefficients: Sequence[Any], start: Array) -> list[Any]:
    """States of vehicles in steady motion; ``start`` has a row of the named quantities for each."""
    fields = [COMMANDED[name] for name in names]
    motions = (SteadyMotion(**dict(zip(fields, row, strict=True))) for row in start.tolist())
    return [model.at(c, motion) for c, motion in zip(coefficients, motions, strict=True)]


# A wheel whose diameter is not the configured one turns as its drive does, but rolls further or less far, which neither
# joint nor drive shows (J. Borenstein and L. Feng, Measurement and correction of systematic odometry errors in mobile
# robots, 1996).


@dataclass(frozen=True, slots=True)
class SidedParameters:
    """A vehicle, and the distance that its wheels roll per nominal metre."""

    vehicle: ParameterGroup
    left_gain: float
    right_gain: float


@dataclass(slots=True)
class SidedCoefficients(DifferentialCoefficients):
    """Coefficients of the vehicle, and the wheel gains."""

    left_gain: float
    right_gain: float


def _actuate(c: SidedCoefficients, s: DifferentialState, u: Command) -> None:
    """Advance both drives by one step, and set the reference point's velocity, which follows from both wheels."""
    drive(c, s, u)
    left = c.left_gain * s.left.velocity
    right = c.right_gain * s.right.velocity
    s.v_x = 0.5 * (left + right)
    s.yaw_rate = (right - left) / c.turning_track


def _at(c: SidedCoefficients, motion: SteadyMotion) -> DifferentialState:
    """A vehicle in steady state at the origin."""
    half = 0.5 * c.turning_track * motion.yaw_rate
    left, right = (motion.v_x - half) / c.left_gain, (motion.v_x + half) / c.right_gain
    s = DIFFERENTIAL.at(c, SteadyMotion(v_x=0.5 * (left + right), yaw_rate=(right - left) / c.turning_track))
    s.v_x, s.yaw_rate = motion.v_x, motion.yaw_rate
    return s


@cache
def sided_model(model: AnyModel) -> AnyModel:
    """A model that moves as the differential drive does, with wheel gains; for joints and geometry, use ``model``."""

    def coefficients(p: SidedParameters, dt: float) -> SidedCoefficients:
        plain = model.coefficients(p.vehicle, dt)
        return extended(plain, SidedCoefficients, left_gain=p.left_gain, right_gain=p.right_gain)

    return replace(model, parameters=SidedParameters, coefficients=coefficients, at=_at, actuating=(_actuate,))
