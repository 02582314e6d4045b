"""Trailers behind any vehicle: carts of a tugger, the semi-trailer of a truck, chains of up to five.

Each trailer has one axle, whose wheels do not slip, and hangs at a hitch on the body ahead of it: the vehicle, or the
trailer before. It has no mass and no actuator; it follows the velocity of its hitch. With the hitch ``h`` ahead of the
reference point or axle of the body before, which moves with ``v_x, v_y, yaw_rate``, the drawbar ``d`` and the hitch
angle ``a``, the heading of the trailer minus that of the body before:

    across         = v_y + h * yaw_rate                          velocity of the hitch along the body's +y
    speed          = v_x * cos(a) + across * sin(a)              velocity of the trailer's axle along its own +x
    trailer's rate = (across * cos(a) - v_x * sin(a)) / d        yaw rate of the trailer
    da/dt          = trailer's rate - yaw_rate

Sources: C. Altafini, Some properties of the general n-trailer, Int. J. Control 74 (2001); J.-H. Lee, W. Chung, M. Kim,
J.-B. Song, A passive multiple trailer system with off-axle hitching, Int. J. Control, Automation and Systems 2 (2004);
S. LaValle, Planning Algorithms (2006), section 13.1.2.4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from vds_gz.core.geometry import Pose
from vds_gz.core.parameters.trailer_parameters import TrailerParameters
from vds_gz.core.vehicle.actuators import or_infinite
from vds_gz.core.vehicle.trigonometry import direction, sine_cosine
from vds_gz.core.vehicle.vehicle_model import Joint, JointStates, MeasuredMotion, MotionState, Report

#: A hitch counts as at its limit within this angle [rad].
AT_LIMIT = 1e-9


@dataclass(slots=True)
class TrailerCoefficients:
    """Geometry of a trailer [m], and the limit of its hitch."""

    hitch_offset: float  # from the reference point or axle of the body ahead to the hitch, along +x
    drawbar: float  # from the hitch to the axle
    half_track: float
    wheel_radius: float
    max_angle: float  # maximum hitch angle [rad]; infinite if the trailer turns all the way round
    skids: bool  # at this angle the trailer's wheels skid, else the vehicle stops


@dataclass(slots=True)
class TrailerState:
    """Motion of a trailer.

    ``angle`` [rad] is that of the hitch, the heading of the trailer minus that of the body ahead. ``rate`` [rad/s],
    ``speed`` of the axle [m/s] and ``yaw_rate`` [rad/s] are means over the last step. ``roll_left`` and ``roll_right``
    are the rotations of the wheels [rad].
    """

    angle: float = 0.0
    rate: float = 0.0
    speed: float = 0.0
    yaw_rate: float = 0.0
    roll_left: float = 0.0
    roll_right: float = 0.0


class Pulling(Protocol):
    """Coefficients of a vehicle with trailers."""

    dt: float
    base_link_offset: float
    trailers: list[TrailerCoefficients]


class Pulled(MotionState, Protocol):
    """State of a vehicle with trailers."""

    trailers: list[TrailerState]


class WithTrailers(Protocol):
    """Parameters of a vehicle with trailers."""

    @property
    def trailers(self) -> TrailerParameters: ...  # noqa: D102


def trailer_coefficients(p: WithTrailers) -> list[TrailerCoefficients]:
    """Coefficients of all trailers."""
    t, skids = p.trailers, p.trailers.at_limit == "report"
    rows = zip(t.hitch_offset, t.drawbar, t.track, t.tire_diameter, t.max_angle, strict=True)
    return [
        TrailerCoefficients(hitch_offset, drawbar, track / 2.0, diameter / 2.0, or_infinite(max_angle), skids)
        for hitch_offset, drawbar, track, diameter, max_angle in rows
    ]


def trailers_at_rest(c: Pulling) -> list[TrailerState]:
    """All trailers in line behind the vehicle."""
    return [TrailerState() for _ in c.trailers]


def set_steady(c: Pulling, s: Pulled) -> None:
    """Set all trailers of a new state to the steady motion behind its vehicle.

    In a steady circle the axle of each trailer points to the centre of the turn. A trailer too long for the circle has
    no steady motion; its hitch gets the angle at which its axle stands still, or its limit.
    """
    v_x, v_y, yaw_rate = s.v_x, s.v_y, s.yaw_rate
    for t, trailer in zip(c.trailers, s.trailers, strict=True):
        across, turning = v_y + t.hitch_offset * yaw_rate, t.drawbar * yaw_rate
        speed = math.sqrt(max(across * across + v_x * v_x - turning * turning, 0.0))
        speed = -speed if v_x < 0.0 else speed
        angle = direction(across, v_x) - direction(turning, speed) if v_x or across else 0.0
        angle = math.remainder(angle, math.tau)
        trailer.angle = max(-t.max_angle, min(angle, t.max_angle))
        trailer.speed, trailer.yaw_rate = speed, yaw_rate
        v_x, v_y = speed, 0.0


def pull(c: Pulling, s: Pulled, v_x: float, v_y: float, yaw_rate: float) -> float:
    """Move all trailers by one step of the vehicle, by the classical fourth-order method.

    Each stage of a trailer needs only the same stage of the body ahead, so one loop over the trailers integrates them
    all together.

    Args:
        c, s: Coefficients and state of the vehicle.
        v_x, v_y, yaw_rate: Velocity of its reference point, constant during the step [m/s, m/s, rad/s].

    Returns:
        The time before the end of the step at which a hitch reached its limit [s]; 0 if none did, or if wheels skid.
        The trailers move only up to this time, and so must the vehicle.
    """
    x1 = x2 = x3 = x4 = v_x
    y1 = y2 = y3 = y4 = v_y
    turn1 = turn2 = turn3 = turn4 = yaw_rate
    rest = 0.0
    for k in range(len(c.trailers)):
        t = c.trailers[k]
        trailer = s.trailers[k]
        angle = trailer.angle
        x1, y1, turn, rate1 = towed(t, angle, x1, y1, turn1)
        turn1 = turn
        x2, y2, turn, rate2 = towed(t, angle + 0.5 * c.dt * rate1, x2, y2, turn2)
        turn2 = turn
        x3, y3, turn, rate3 = towed(t, angle + 0.5 * c.dt * rate2, x3, y3, turn3)
        turn3 = turn
        x4, y4, turn, rate4 = towed(t, angle + c.dt * rate3, x4, y4, turn4)
        turn4 = turn
        rate = (rate1 + 2.0 * (rate2 + rate3) + rate4) / 6.0
        excess = max(abs(angle + c.dt * rate) - max(t.max_angle, abs(angle)), 0.0)
        if excess > 0.0:
            if t.skids:
                rate -= math.copysign(excess / c.dt, rate)
            else:
                rest = max(rest, min(excess / abs(rate), c.dt))
        trailer.rate = rate
        trailer.speed = (x1 + 2.0 * (x2 + x3) + x4) / 6.0
        trailer.yaw_rate = (turn1 + 2.0 * (turn2 + turn3) + turn4) / 6.0
    advance(c, s, c.dt - rest)
    if rest > 0.0:
        part = 1.0 - rest / c.dt
        for k in range(len(c.trailers)):
            trailer = s.trailers[k]
            trailer.rate *= part
            trailer.speed *= part
            trailer.yaw_rate *= part
    return rest


def towed(
    t: TrailerCoefficients, angle: float, v_x: float, v_y: float, yaw_rate: float
) -> tuple[float, float, float, float]:
    """Velocity of a trailer's axle in its own axes [m/s, m/s, rad/s], and the rate of its hitch [rad/s].

    At its limit the hitch does not turn further; if wheels may skid, the trailer turns with the body ahead, whose
    velocity is given [m/s, m/s, rad/s].
    """
    sine, cosine = sine_cosine(angle)
    across = v_y + t.hitch_offset * yaw_rate
    turn = (across * cosine - v_x * sine) / t.drawbar
    rate = turn - yaw_rate
    if t.skids and abs(angle) >= t.max_angle and rate * angle > 0.0:
        return v_x * cosine + across * sine, t.drawbar * rate, yaw_rate, 0.0
    return v_x * cosine + across * sine, 0.0, turn, rate


def advance(c: Pulling, s: Pulled, dt: float) -> None:
    """Turn hitches and wheels for ``dt`` seconds at their present rates."""
    for k in range(len(c.trailers)):
        t = c.trailers[k]
        trailer = s.trailers[k]
        trailer.angle += trailer.rate * dt
        roll = dt / t.wheel_radius
        difference = t.half_track * trailer.yaw_rate
        trailer.roll_left += (trailer.speed - difference) * roll
        trailer.roll_right += (trailer.speed + difference) * roll


def stop_trailers(c: Pulling, s: Pulled, rest: float) -> None:
    """Stop all trailers ``rest`` seconds before the end of a step."""
    advance(c, s, -rest)
    for trailer in s.trailers:
        trailer.rate = trailer.speed = trailer.yaw_rate = 0.0


def trailer_joints(p: WithTrailers) -> tuple[Joint, ...]:
    """The hitch and the wheels of each trailer, left before right."""
    numbers = range(1, p.trailers.count + 1)
    return tuple(
        joint
        for k in numbers
        for joint in (
            Joint(f"hitch_{k}_joint", "hitch"),
            Joint(f"trailer_{k}_wheel_left_joint", "wheel", passive=True),
            Joint(f"trailer_{k}_wheel_right_joint", "wheel", passive=True),
        )
    )


def with_trailers(c: Pulling, s: Pulled, vehicle: JointStates) -> JointStates:
    """The joint states of a vehicle, followed by those of its trailers."""
    if not c.trailers:
        return vehicle
    positions, velocities = [*vehicle.positions], [*vehicle.velocities]
    for t, trailer in zip(c.trailers, s.trailers, strict=True):
        difference = t.half_track * trailer.yaw_rate
        positions += (trailer.angle, trailer.roll_left, trailer.roll_right)
        left, right = trailer.speed - difference, trailer.speed + difference
        velocities += (trailer.rate, left / t.wheel_radius, right / t.wheel_radius)
    return JointStates(positions, velocities)


def axle_poses(c: Pulling, angles: Sequence[float]) -> list[Pose]:
    """Poses of the trailers' axles in ``base_link`` [m, m, rad] at some hitch angles [rad]."""
    poses, ahead = [], Pose(-c.base_link_offset)
    for t, angle in zip(c.trailers, angles, strict=True):
        ahead = ahead.then(Pose(t.hitch_offset)).then(Pose(0.0, 0.0, angle)).then(Pose(-t.drawbar))
        poses.append(ahead)
    return poses


def limit_text(c: Any, s: Any, *, stops: bool = True) -> str:
    """A sentence on the hitches at their limits; empty without any, and for vehicles without trailers.

    ``stops`` tells whether the plant stops the vehicle there if ``at_limit`` is ``stop``.
    """
    limited = at_limit(c, s) if getattr(c, "trailers", None) else []
    if not limited:
        return ""
    names = " and ".join(f"trailer {k}" for k in limited)
    effect = "motion that bends it further is blocked" if stops and not c.trailers[0].skids else "wheels skid"
    return f"{names} at the maximum angle of the hitch (trailers.max_angle): {effect}"


def at_limit(c: Pulling, s: Pulled) -> list[int]:
    """The trailers whose hitches are at their limits, numbered from 1."""
    pairs = zip(c.trailers, s.trailers, strict=True)
    return [k for k, (t, trailer) in enumerate(pairs, 1) if abs(trailer.angle) >= t.max_angle - AT_LIMIT]


def _first_at_limit(c: Pulling, s: Pulled, measured: MeasuredMotion) -> Sequence[int]:
    return (next(iter(at_limit(c, s)), 0),)


def _has_trailers(p: WithTrailers) -> bool:
    return p.trailers.count > 0


#: The first trailer whose hitch is at its limit, 0 for none.
HITCH_AT_LIMIT = Report(
    "hitch_at_limit", "std_msgs/msg/UInt8", ("data",), _first_at_limit, stamp="", published=_has_trailers
)
