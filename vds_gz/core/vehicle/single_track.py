"""A car whose tyres slip: the dynamic single-track model behind the actuators of a bicycle.

Actuators, commands, joints and geometry are those of :mod:`vds_gz.core.vehicle.bicycle`. The actuators give
the steering angle and the target speed of the driven wheel; tyre forces move the vehicle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.geometry import GRAVITY
from vds_gz.core.parameters.vehicles import SingleTrackParameters
from vds_gz.core.vehicle.bicycle import BICYCLE, BicycleCoefficients, BicycleState, follow, roll_wheels, set_velocities
from vds_gz.core.vehicle.command import Command, SteadyMotion
from vds_gz.core.vehicle.tires import (
    Forces,
    PlanarVelocity,
    TireShape,
    accelerations,
    derivatives,
    friction_ellipse,
    kutta_step,
    linear_accelerations,
    resistance,
    tire_shape,
    two_derivative_step,
)
from vds_gz.core.vehicle.trailers import pull, set_steady, stop_trailers
from vds_gz.core.vehicle.trigonometry import sine_cosine
from vds_gz.core.vehicle.vehicle_model import AnyModel, VehicleModel, extended, stop_drives

#: Time constant with which slip decays where kinematic and dynamic motion have the same weight [s].
SLIP_DECAY_TIME = 0.02

#: Rolling resistance fades out below this speed [m/s].
ROLLING_FADE_SPEED = 0.05

#: Minimum friction coefficient of a road; the parameter of the tyres has the same minimum.
MIN_FRICTION = 0.01

#: Friction of a road that does not limit the tyres.
UNLIMITED_FRICTION = 1e3

#: Minimum weight on the road per mass, for roads as steep as a wall [m/s^2].
MIN_LOAD = 0.01

#: Brakes hold a vehicle whose target speed is below this [m/s].
STANDSTILL_SPEED = 1e-3

#: Maximum of the tyres' largest eigenvalue times the step length; the integrator is stable below 2.51.
STABLE_EIGENVALUE = 2.0


@dataclass(slots=True)
class SingleTrackCoefficients(BicycleCoefficients):
    """Coefficients of a bicycle, its body and its tyres. Forces are divided by the mass, loads by the weight."""

    cg_x: float  # from the fixed axle to the centre of gravity along +x, negative with the steered axle behind [m]
    steered_lever: float  # from the centre of gravity to the steered axle along +x [m]
    inertia_per_mass: float  # yaw inertia divided by mass [m^2]
    mass_per_inertia: float  # mass divided by yaw inertia [1/m^2]
    yaw_force_square: float  # square of the forces of both axles for a yaw acceleration of 1 rad/s^2 [m^2]
    load_steered: float  # share of the weight on the steered axle at rest
    load_transfer: float  # share of the weight that a driving force of 1 m/s^2 takes from the steered axle [s^2/m]
    friction: float  # friction coefficient of the tyres
    stiffness_factor_fixed: float  # fixed axle's slope B of the magic formula, times the friction coefficient [1/rad]
    stiffness_factor_steered: float  # the same of the steered axle [1/rad]
    stiffness_fixed: float  # fixed axle's lateral force per slip angle and load [1/rad]
    stiffness_steered: float  # the same of the steered axle [1/rad]
    shape: TireShape  # C of the magic formula
    curvature_factor: float  # E of the magic formula
    is_curved: bool  # E is not 0
    small_angles: bool  # linear equations
    drives_along_wheel: bool  # the driving force turns with the steered wheel; with small angles it does not
    least_speed: float  # slower wheels have the slip angle of this speed, which keeps the integrator stable [m/s]
    drag: float  # air drag per speed squared [1/m]
    rolling: float  # rolling resistance [m/s^2]
    rolling_rate: float  # share of the rolling resistance per speed, near standstill [s/m]
    drive_share: float  # share of the weight on the driven axle at rest
    drive_load_transfer: float  # what a driving force of 1 m/s^2 adds to this share [s^2/m]
    lift_off_forwards: float  # force along +x that lifts an axle off the ground [m/s^2]
    lift_off_backwards: float  # force along -x that lifts an axle off the ground [m/s^2]
    brakes_on_all_wheels: bool  # as the parameter
    drive_gives_acceleration: bool  # as the parameter
    kinematic_square: float  # speed squared below which no wheel slips [m^2/s^2]
    blend_rate: float  # weight that tyre forces gain per speed squared above it [s^2/m^2]
    blending: float  # step length divided by the time constant of the blending
    step_rate: float  # steps per second [Hz]


@dataclass(slots=True)
class Body:
    """The body, which the tyres move: the velocity of the centre of gravity [m/s, m/s, rad/s].

    ``load`` is the deceleration of the driven wheel in the last step, except by resistances and slopes [m/s^2]; the
    drive compensates it. ``sine`` and ``cosine`` are those of the steering angle at the end of that step.
    """

    v_x: float = 0.0
    v_y: float = 0.0
    yaw_rate: float = 0.0
    load: float = 0.0
    sine: float = 0.0
    cosine: float = 1.0


@dataclass(slots=True)
class SingleTrackState(BicycleState):
    """State of a bicycle, its body, and the road: acceleration by gravity along +x and +y [m/s^2], and friction.

    The smaller friction coefficient of tyres and road counts, as in Gazebo.

    After a step, velocities and wheel speeds are those of the body. If Gazebo moves the vehicle, they are those of a
    bicycle whose wheels do not slip.
    """

    body: Body = field(default_factory=Body)
    road_slope: float = 0.0
    road_bank: float = 0.0
    road_friction: float = UNLIMITED_FRICTION


def coefficients(p: SingleTrackParameters, dt: float) -> SingleTrackCoefficients:
    """Coefficients for steps of ``dt`` seconds."""
    direction = -1.0 if p.reverse else 1.0
    cg_x, steered_lever = direction * p.cg_distance, direction * (p.wheel_base - p.cg_distance)
    inertia_per_mass = p.yaw_inertia / p.mass
    load_steered = p.cg_distance / p.wheel_base
    load_transfer = direction * p.cg_height / (GRAVITY * p.wheel_base)
    max_stiffness = GRAVITY * max(
        p.cornering_stiffness_fixed * (1.0 + cg_x * cg_x / inertia_per_mass),
        p.cornering_stiffness_steered * (1.0 + steered_lever * steered_lever / inertia_per_mass),
    )
    least_speed = max_stiffness * dt / STABLE_EIGENVALUE
    blend_speed = max(p.blend_speed, 2.0 * least_speed)
    rolling = p.rolling_resistance * GRAVITY
    lift_off_forwards, lift_off_backwards = _lift_off_forces(load_steered, load_transfer)
    return extended(
        BICYCLE.coefficients(p, dt),
        SingleTrackCoefficients,
        cg_x=cg_x,
        steered_lever=steered_lever,
        inertia_per_mass=inertia_per_mass,
        mass_per_inertia=1.0 / inertia_per_mass,
        yaw_force_square=4.0 * (inertia_per_mass / p.wheel_base) ** 2,
        load_steered=load_steered,
        load_transfer=load_transfer,
        friction=p.friction,
        stiffness_factor_fixed=p.cornering_stiffness_fixed / p.tire_shape,
        stiffness_factor_steered=p.cornering_stiffness_steered / p.tire_shape,
        stiffness_fixed=p.cornering_stiffness_fixed,
        stiffness_steered=p.cornering_stiffness_steered,
        shape=tire_shape(p.tire_shape),
        curvature_factor=p.tire_curvature,
        is_curved=p.tire_curvature != 0.0,
        small_angles=p.small_angles,
        drives_along_wheel=p.drive_on_steered_wheel and not p.small_angles,
        least_speed=least_speed,
        drag=p.drag / p.mass,
        rolling=rolling,
        rolling_rate=1.0 / max(ROLLING_FADE_SPEED, 2.0 * rolling * dt),
        drive_share=load_steered if p.drive_on_steered_wheel else 1.0 - load_steered,
        drive_load_transfer=-load_transfer if p.drive_on_steered_wheel else load_transfer,
        lift_off_forwards=lift_off_forwards,
        lift_off_backwards=lift_off_backwards,
        brakes_on_all_wheels=p.brakes_on_all_wheels,
        drive_gives_acceleration=p.drive_gives_acceleration,
        kinematic_square=0.25 * blend_speed * blend_speed,
        blend_rate=1.0 / (0.75 * blend_speed * blend_speed),
        blending=dt / SLIP_DECAY_TIME,
        step_rate=1.0 / dt,
    )


def _lift_off_forces(load_steered: float, load_transfer: float) -> tuple[float, float]:
    """Largest driving forces along +x and -x with both axles on the ground [m/s^2]."""
    if load_transfer == 0.0:
        return math.inf, math.inf
    force_steered, force_fixed = load_steered / abs(load_transfer), (1.0 - load_steered) / abs(load_transfer)
    return (force_steered, force_fixed) if load_transfer > 0.0 else (force_fixed, force_steered)


def axle_grip(grip: float, share: float, transfer: float) -> float:
    """Largest force of an axle with both axles on the ground [m/s^2].

    ``share`` is its share of the weight at rest, less than 1; each m/s^2 of the force adds ``transfer`` [s^2/m].
    """
    remainder = 1.0 - grip * transfer
    return grip * share / remainder if remainder > share else (1.0 - share) / transfer


def at_rest(c: SingleTrackCoefficients) -> SingleTrackState:
    """A vehicle that stands at the origin."""
    return extended(BICYCLE.at_rest(c), SingleTrackState)


def at(c: SingleTrackCoefficients, motion: SteadyMotion) -> SingleTrackState:
    """A vehicle in steady state at the origin; without slip if its tyres cannot hold the curve.

    Newton's method finds lateral velocity, yaw rate and driving force.
    """
    s = extended(BICYCLE.at(c, motion), SingleTrackState)
    s.body.v_x = s.v_x
    sine, cosine = sine_cosine(s.steering.angle)
    along, across = (cosine, sine) if c.drives_along_wheel else (1.0, 0.0)
    unknowns = np.array([c.cg_x * s.yaw_rate, s.yaw_rate, 0.0])
    for _ in range(20):
        residual = _residual(c, s, unknowns, along)
        if abs(residual).max() < 1e-10:
            break
        differences = np.eye(3) * 1e-6
        columns = [_residual(c, s, unknowns + difference, along) - residual for difference in differences]
        jacobian = np.array(columns).T / 1e-6
        unknowns = unknowns - np.linalg.lstsq(jacobian, residual, rcond=None)[0]
    else:
        unknowns = np.array([c.cg_x * s.yaw_rate, s.yaw_rate, 0.0])
    s.body.v_y, s.body.yaw_rate, drive_force = unknowns.tolist()
    inverse_mass = 1.0 + across * across * c.steered_lever * c.steered_lever * c.mass_per_inertia
    s.body.sine, s.body.cosine = sine, cosine
    s.body.load = drive_force * inverse_mass + along * resistance(c, s.v_x)
    set_speeds(c, s, sine, cosine)
    set_steady(c, s)
    return s


def _residual(c: SingleTrackCoefficients, s: SingleTrackState, unknowns: Array, along: float) -> Array:
    """The accelerations for the unknowns lateral velocity, yaw rate and driving force; 0 in steady state."""
    v_y, yaw_rate, drive_force = unknowns.tolist()
    shared = c.four_wheel_drive or (c.brakes_on_all_wheels and drive_force * along * s.v_x < 0.0)
    f = forces(c, s, friction_on(c, s), weight_on(s), drive_force, shared, along)
    if c.small_angles:
        return np.array(linear_accelerations(c, f, s.steering.angle, s.body.v_x, v_y, yaw_rate))
    return np.array(accelerations(c, f, *sine_cosine(s.steering.angle), (s.body.v_x, v_y, yaw_rate))[0])


def step_body(c: SingleTrackCoefficients, s: SingleTrackState, u: Command) -> None:
    """Apply drive and tyre forces for one step, and move the reference point.

    Forces at the beginning use the wheel's direction from the last step. They do not depend on the new direction, so a
    processor computes both in parallel.
    """
    body = s.body
    v_x, v_y, yaw_rate = v = body.v_x, body.v_y, body.yaw_rate
    along, across = (body.cosine, body.sine) if c.drives_along_wheel else (1.0, 0.0)
    inverse_mass = 1.0 + across * across * c.steered_lever * c.steered_lever * c.mass_per_inertia
    passive = along * (s.road_slope + resistance(c, v_x)) + across * s.road_bank
    rolling = along * v_x + across * (v_y + c.steered_lever * yaw_rate)
    target = s.drive.velocity
    if c.limits_wheels:
        set_velocities(c, s, u)
        target = along * s.v_x + across * c.signed_wheelbase * s.yaw_rate

    friction, weight = friction_on(c, s), weight_on(s)
    grip = friction * weight
    drive_force, shared = driving_force(c, body, grip, rolling, target, passive, inverse_mass, along)
    f = forces(c, s, friction, weight, drive_force, shared, along)
    if c.small_angles:
        new, mean = kutta_step(c, f, s.steering.angle, s.steering.rate, v)
        sine, cosine = sine_cosine(s.steering.angle)
    else:
        a, jerk = derivatives(c, f, body.sine, body.cosine, s.steering.rate, v)
        sine, cosine = sine_cosine(s.steering.angle)
        new, mean = two_derivative_step(c, f, sine, cosine, v, a, jerk)
    body.sine, body.cosine = sine, cosine
    free = v_x + c.dt * (s.road_slope + yaw_rate * v_y), v_y + c.dt * (s.road_bank - yaw_rate * v_x), yaw_rate
    stands = s.road_slope * s.road_slope + s.road_bank * s.road_bank <= grip * grip
    max_change = math.inf if stands else grip * c.dt
    body.v_x, body.v_y, body.yaw_rate, kinematic = blend_without_slip(c, new, free, max_change, sine, cosine)

    along, across = (cosine, sine) if c.drives_along_wheel else (1.0, 0.0)
    new_rolling = along * body.v_x + across * (body.v_y + c.steered_lever * body.yaw_rate)
    body.load = drive_force * inverse_mass + passive - (new_rolling - rolling) * c.step_rate
    if c.drive_gives_acceleration:
        s.drive.velocity = new_rolling
    dynamic = 1.0 - kinematic
    mean_x = dynamic * mean[0] + kinematic * (0.5 * (v_x + body.v_x))
    mean_y = dynamic * mean[1] + kinematic * (0.5 * (v_y + body.v_y))
    mean_yaw = dynamic * mean[2] + kinematic * (0.5 * (yaw_rate + body.yaw_rate))
    rest = move(c, s, mean_x, mean_y - c.cg_x * mean_yaw, mean_yaw)
    if rest > 0.0:
        s.drive.velocity = 0.0
        body.v_x = body.v_y = body.yaw_rate = body.load = 0.0
    set_speeds(c, s, sine, cosine)


def step_wheels(c: SingleTrackCoefficients, s: SingleTrackState, u: Command) -> None:
    """Roll all wheels for one step."""
    roll_wheels(c, s, c.dt)


def driving_force(
    c: SingleTrackCoefficients,
    body: Body,
    grip: float,
    rolling: float,
    target: float,
    passive: float,
    inverse_mass: float,
    along: float,
) -> tuple[float, bool]:
    """The force that gives the driven wheel its speed [m/s^2], within its limits, and whether all wheels share it.

    Friction limits the force, and the lift of an axle; with small angles, only the lift.

    ``rolling`` and ``target`` are the present and the target speed of the driven wheel [m/s]. ``passive`` is the
    acceleration by slopes and resistances along the wheel [m/s^2], ``inverse_mass`` the acceleration of its contact per
    force, and ``along`` the cosine between the wheel and +x.
    """
    disturbance = 0.0 if c.drive_gives_acceleration else passive - body.load
    drive_force = (target - rolling) * c.step_rate - disturbance
    if c.drives_along_wheel:
        drive_force /= inverse_mass
    braking = drive_force * rolling < 0.0 or abs(target) < STANDSTILL_SPEED
    shared = c.four_wheel_drive or (braking and c.brakes_on_all_wheels)
    # as variables, because lanes cannot choose between addresses
    lift_off_forwards, lift_off_backwards = c.lift_off_forwards, c.lift_off_backwards
    forward_limit = lift_off_forwards if along > 0.0 else lift_off_backwards
    backward_limit = lift_off_backwards if along > 0.0 else lift_off_forwards
    if c.small_angles:
        upper, lower = forward_limit, backward_limit
    elif shared:
        upper, lower = min(grip, forward_limit), min(grip, backward_limit)
    else:
        transfer = c.drive_load_transfer * along
        upper = lower = axle_grip(grip, c.drive_share, transfer if drive_force > 0.0 else -transfer)
    limited = upper if drive_force > upper else -lower if drive_force < -lower else drive_force
    return limited, shared


def blend_without_slip(
    c: SingleTrackCoefficients, v: PlanarVelocity, free: PlanarVelocity, max_change: float, sine: float, cosine: float
) -> tuple[float, float, float, float]:
    """The velocity ``v``, blended near standstill with the nearest velocity without slip, and the weight of the latter.

    "Nearest" means the least kinetic energy of the difference, so blending adds no energy. ``free`` is the velocity
    without tyre forces. Tyre forces and blending change it by at most ``max_change`` [m/s], in the norm of the forces,
    so a vehicle slides on a road that is too steep. On other roads, ``max_change`` is infinite.
    """
    v_x, v_y, yaw_rate = v
    weight = (v_x * v_x + v_y * v_y + c.inertia_per_mass * yaw_rate * yaw_rate - c.kinematic_square) * c.blend_rate
    if weight >= 1.0:
        return v_x, v_y, yaw_rate, 0.0
    weight = 0.0 if weight < 0.0 else weight
    kinematic = (1.0 - weight) * c.blending
    kinematic = kinematic / (weight + kinematic)
    forward, sideways, turn = c.signed_wheelbase * cosine, c.cg_x * sine, sine
    dot = forward * v_x + sideways * v_y + c.inertia_per_mass * turn * yaw_rate
    speed = dot / (forward * forward + sideways * sideways + c.inertia_per_mass * turn * turn)
    gap_x, gap_y, gap_yaw = speed * forward - v_x, speed * sideways - v_y, speed * turn - yaw_rate
    tire_x, tire_y, tire_yaw = v_x - free[0], v_y - free[1], yaw_rate - free[2]
    dot = gap_x * tire_x + gap_y * tire_y + c.yaw_force_square * gap_yaw * tire_yaw
    square = gap_x * gap_x + gap_y * gap_y + c.yaw_force_square * gap_yaw * gap_yaw
    margin = max_change * max_change - (tire_x * tire_x + tire_y * tire_y + c.yaw_force_square * tire_yaw * tire_yaw)
    if square > 0.0 and kinematic * (kinematic * square + 2.0 * dot) > margin:
        discriminant = dot * dot + square * margin
        limit = (math.sqrt(discriminant if discriminant > 0.0 else 0.0) - dot) / square
        kinematic = limit if 0.0 < limit < kinematic else 0.0
    return v_x + kinematic * gap_x, v_y + kinematic * gap_y, yaw_rate + kinematic * gap_yaw, kinematic


def friction_on(c: SingleTrackCoefficients, s: SingleTrackState) -> float:
    """Friction coefficient between tyres and road."""
    tires, road = c.friction, s.road_friction
    return tires if tires < road else road if road > MIN_FRICTION else MIN_FRICTION


def weight_on(s: SingleTrackState) -> float:
    """The weight on the road per mass [m/s^2]."""
    square = GRAVITY * GRAVITY - s.road_slope * s.road_slope - s.road_bank * s.road_bank
    return math.sqrt(square if square > MIN_LOAD * MIN_LOAD else MIN_LOAD * MIN_LOAD)


def forces(
    c: SingleTrackCoefficients,
    s: SingleTrackState,
    friction: float,
    weight: float,
    drive_force: float,
    shared: bool,
    along: float,
) -> Forces:
    """The forces of a step.

    ``drive_force`` acts along the driven wheels [m/s^2], whose cosine to +x is ``along``; if ``shared``, all wheels
    share it by their loads. ``weight`` is the load of all wheels [m/s^2].
    """
    load_steered = c.load_steered - drive_force * along * c.load_transfer
    load_steered = 1.0 if load_steered > 1.0 else 0.0 if load_steered < 0.0 else load_steered
    load_fixed = 1.0 - load_steered
    undivided = 1.0 if c.drive_on_steered_wheel else 0.0
    share = load_steered if shared else undivided
    drive_force_steered = share * drive_force
    drive_force_fixed = (drive_force - drive_force_steered) * along
    grip, inverse_friction = friction * weight, 1.0 / friction
    if c.small_angles:
        grip_fixed = c.stiffness_fixed * weight * load_fixed
        grip_steered = c.stiffness_steered * weight * load_steered
    else:
        grip_fixed = friction_ellipse(grip * load_fixed, drive_force_fixed)
        grip_steered = friction_ellipse(grip * load_steered, drive_force_steered)
    return Forces(
        drive_force_fixed,
        drive_force_steered,
        grip_fixed,
        grip_steered,
        c.stiffness_factor_fixed * inverse_friction,
        c.stiffness_factor_steered * inverse_friction,
        s.road_slope,
        s.road_bank,
    )


def move(c: SingleTrackCoefficients, s: SingleTrackState, v_x: float, v_y: float, yaw_rate: float) -> float:
    """Move the reference point for one step with its mean velocity, and pull the trailers; see :func:`pull`."""
    rest = pull(c, s, v_x, v_y, yaw_rate)
    dt = c.dt - rest
    turn = yaw_rate * dt
    sine, cosine = sine_cosine(s.heading + 0.5 * turn)
    s.x += (v_x * cosine - v_y * sine) * dt
    s.y += (v_x * sine + v_y * cosine) * dt
    s.heading += turn
    return rest


def set_speeds(c: SingleTrackCoefficients, s: SingleTrackState, sine: float, cosine: float) -> None:
    """Set the velocity of the reference point and the rolling speeds of the wheels from the motion of the body."""
    v_x, yaw_rate = s.body.v_x, s.body.yaw_rate
    s.v_x = v_x
    s.v_y = s.body.v_y - c.cg_x * yaw_rate
    s.yaw_rate = yaw_rate
    s.speed_fixed_left = v_x - yaw_rate * c.half_track_fixed
    s.speed_fixed_right = v_x + yaw_rate * c.half_track_fixed
    across = s.v_y + yaw_rate * c.signed_wheelbase
    s.speed_steered_left = rolling_speed(c, v_x, across, yaw_rate, c.half_track_steered, sine, cosine)
    s.speed_steered_right = rolling_speed(c, v_x, across, yaw_rate, -c.half_track_steered, sine, cosine)


def rolling_speed(
    c: SingleTrackCoefficients, v_x: float, v_y: float, yaw_rate: float, y: float, sine: float, cosine: float
) -> float:
    """Rolling speed of the steered wheel ``y`` metres to the left of the middle [m/s]."""
    if c.parallel_steering:
        return (v_x - yaw_rate * y) * cosine + v_y * sine
    forward = c.signed_wheelbase * cosine - y * sine
    sideways = c.signed_wheelbase * sine
    length = math.sqrt(forward * forward + sideways * sideways)
    # the sign of Ackermann's direction that is nearer to the middle wheel's
    length = math.copysign(length, forward * cosine + sideways * sine)
    return ((v_x - yaw_rate * y) * forward + v_y * sideways) / length


def stop(c: SingleTrackCoefficients, s: SingleTrackState, rest: float) -> None:
    """Stop body, drive and wheels ``rest`` seconds before the end of a step; the steering continues."""
    roll_wheels(c, s, -rest)
    stop_trailers(c, s, rest)
    stop_drives(c, s, rest)
    s.body.v_x = s.body.v_y = s.body.yaw_rate = s.body.load = 0.0
    set_speeds(c, s, *sine_cosine(s.steering.angle))


SINGLE_TRACK: VehicleModel[SingleTrackParameters, SingleTrackCoefficients, SingleTrackState] = replace(
    cast("AnyModel", BICYCLE),
    name="single_track",
    parameters=SingleTrackParameters,
    coefficients=coefficients,
    at_rest=at_rest,
    at=at,
    actuating=(follow,),
    wheels=set_velocities,
    moving=(step_body, step_wheels),
    stop=stop,
    feels_slopes=True,
)
