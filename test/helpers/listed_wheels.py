"""A model whose wheels and casters are lists of records, as many as its parameters have positions."""

from __future__ import annotations

from dataclasses import dataclass

from vds_gz.core.parameters.declaration import reals
from vds_gz.core.parameters.vehicles import DifferentialParameters
from vds_gz.core.vehicle import actuators
from vds_gz.core.vehicle.command import TWIST, Command, SteadyMotion
from vds_gz.core.vehicle.trigonometry import integrate_pose
from vds_gz.core.vehicle.vehicle_model import (
    Actuator,
    ActuatorState,
    Joint,
    JointStates,
    VehicleGeometry,
    VehicleLimits,
    VehicleModel,
    Wheel,
)


@dataclass(frozen=True, slots=True)
class ListedParameters(DifferentialParameters):
    """Driven wheels beside each other, and casters behind."""

    wheel_y: tuple[float, ...] = reals((0.6, 0.1, -0.5), "m", "lateral positions of the wheels", most=8)
    caster_x: tuple[float, ...] = reals((), "m", "positions of the casters along the vehicle", most=4)


@dataclass(slots=True)
class WheelCoefficients:
    y: float
    lever: float  # yaw rate per speed of this wheel [1/m]
    inner: bool
    drive: actuators.DriveCoefficients


@dataclass(slots=True)
class CasterCoefficients:
    x: float


@dataclass(slots=True)
class ListedCoefficients:
    wheels: list[WheelCoefficients]
    casters: list[CasterCoefficients]
    dt: float
    base_link_offset: float


@dataclass(slots=True)
class WheelState:
    drive: actuators.DriveState
    reference: float = 0.0
    roll: float = 0.0
    turns: int = 0


@dataclass(slots=True)
class CasterState:
    path: list[float]  # what it rolled along the vehicle, and across it
    sideways: bool = False


@dataclass(slots=True)
class ListedState:
    wheels: list[WheelState]
    casters: list[CasterState]
    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0
    v_x: float = 0.0
    v_y: float = 0.0
    yaw_rate: float = 0.0


def coefficients(p: ListedParameters, dt: float) -> ListedCoefficients:
    middle = sum(p.wheel_y) / len(p.wheel_y)
    spread = sum((y - middle) ** 2 for y in p.wheel_y)
    drive = actuators.drive_coefficients(p.drive_actuators, dt)
    wheels = [WheelCoefficients(y, -(y - middle) / spread, abs(y) < 0.2, drive) for y in p.wheel_y]
    return ListedCoefficients(wheels, [CasterCoefficients(x) for x in p.caster_x], dt, p.base_link_offset)


def at_rest(c: ListedCoefficients) -> ListedState:
    wheels = [WheelState(actuators.drive_at_rest(wheel.drive)) for wheel in c.wheels]
    return ListedState(wheels, [CasterState([0.0, 0.0]) for _ in c.casters])


def at(c: ListedCoefficients, motion: SteadyMotion) -> ListedState:
    s = at_rest(c)
    for wheel, state in zip(c.wheels, s.wheels, strict=True):
        state.drive = actuators.drive_at(wheel.drive, motion.v_x - wheel.y * motion.yaw_rate)
        state.reference = actuators.newest_reference(wheel.drive, state.drive)
    set_velocity(c, s)
    return s


def set_references(c: ListedCoefficients, s: ListedState, u: Command) -> None:
    for k in range(len(c.wheels)):
        s.wheels[k].reference = u.v_x - c.wheels[k].y * u.yaw_rate


def follow(c: ListedCoefficients, s: ListedState, u: Command) -> None:
    for k in range(len(c.wheels)):
        follow_wheel(c, s, k, u.acceleration)
    set_velocity(c, s)


def follow_wheel(c: ListedCoefficients, s: ListedState, k: int, acceleration: float) -> None:
    wheel = s.wheels[k]
    actuators.step_drive(c.wheels[k].drive, wheel.drive, wheel.reference, acceleration)


def set_velocity(c: ListedCoefficients, s: ListedState) -> None:
    v_x = yaw_rate = 0.0
    for k in range(len(c.wheels)):
        wheel = s.wheels[k]
        v_x += wheel.drive.velocity / len(c.wheels)
        yaw_rate += c.wheels[k].lever * wheel.drive.velocity
    s.v_x = v_x - base_speed(c, yaw_rate)
    s.yaw_rate = yaw_rate


def base_speed(c: ListedCoefficients, yaw_rate: float) -> float:
    """What the middle of the wheels is faster than the reference point [m/s]."""
    middle = 0.0
    for k in range(len(c.wheels)):
        middle += c.wheels[k].y
    return -middle / len(c.wheels) * yaw_rate


def move(c: ListedCoefficients, s: ListedState, u: Command) -> None:
    for k in range(len(c.wheels)):
        roll_wheel(c.wheels[k], s.wheels[k], c.dt)
    for k in range(len(c.casters)):
        roll_caster(c.casters[k], s.casters[k], s, c.dt)
    integrate_pose(s, c.dt)


def roll_wheel(c: WheelCoefficients, s: WheelState, dt: float) -> None:
    s.roll += s.drive.velocity * dt
    if s.roll > 0.5 and c.inner:
        s.roll -= 0.5
        s.turns += 1


def roll_caster(c: CasterCoefficients, s: CasterState, body: ListedState, dt: float) -> None:
    across = body.v_y + c.x * body.yaw_rate
    s.path[0] += body.v_x * dt
    s.path[1] += across * dt
    s.sideways = abs(across) > abs(body.v_x)


def resize(c: ListedCoefficients, s: ListedState) -> None:
    for wheel, state in zip(c.wheels, s.wheels, strict=True):
        actuators.fit_lines(state.drive, wheel.drive.delay_steps)


def joint_states(c: ListedCoefficients, s: ListedState) -> JointStates:
    return JointStates([wheel.roll for wheel in s.wheels], [wheel.drive.velocity for wheel in s.wheels])


def actuator_states(c: ListedCoefficients, s: ListedState) -> tuple[ActuatorState, ...]:
    pairs = zip(c.wheels, s.wheels, strict=True)
    return tuple(actuators.drive_report(wheel.drive, state.drive) for wheel, state in pairs)


def joints(p: ListedParameters) -> tuple[Joint, ...]:
    return tuple(Joint(f"wheel_{k}_joint", "wheel") for k in range(len(p.wheel_y)))


def actuators_of(p: ListedParameters) -> tuple[Actuator, ...]:
    return tuple(Actuator(f"drive_{k}", "drive") for k in range(len(p.wheel_y)))


def limits(p: ListedParameters) -> VehicleLimits:
    return VehicleLimits(p.drive_actuators.max_velocity)


def geometry(p: ListedParameters) -> VehicleGeometry:
    wheels = tuple(Wheel(-p.base_link_offset, y) for y in p.wheel_y)
    return VehicleGeometry(wheels, p.tire_diameter, yaw_arm=max(map(abs, p.wheel_y)))


LISTED = VehicleModel(
    name="listed",
    parameters=ListedParameters,
    accepts=frozenset((TWIST,)),
    coefficients=coefficients,
    at_rest=at_rest,
    at=at,
    actuating=(follow,),
    moving=(move,),
    resize=resize,
    joints=joints,
    joint_states=joint_states,
    actuators=actuators_of,
    actuator_states=actuator_states,
    limits=limits,
    geometry=geometry,
    set_references=set_references,
)
