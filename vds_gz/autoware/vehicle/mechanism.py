"""A mechanical steering: a PID controller commands a torque, power steering changes it, and an inertia responds.

    J w' = z(T) - D w - K angle - F sign(w),    angle' = w

The dead zone z subtracts its threshold from the torque T (G. Tao, P. V. Kokotovic, IEEE Trans. Automatic Control 39(1),
1994). A smaller torque has no effect, and a turning steering continues by its inertia. So angles depend continuously on
all parameters. In Autoware's simulator z(T) = T, and angle and rate do not change while a small torque opposes the
motion.

Autoware identified the model (ACTUATION_CMD_MECHANICAL) from a vehicle, so torques are in the unit of its parameters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from vds_gz.autoware.vehicle.delay import DelayLine, clear_line, delayed, empty_line, limited, outside, sign

#: Minimum step for a difference quotient [s]; in shorter steps, the controller's derivative part is 0.
SHORTEST_STEP = 1e-6


@dataclass(slots=True)
class MechanismCoefficients:
    """The parameters of a mechanical steering, ``a`` to ``h`` being those of the polynomial.

    ``torque_delay_steps`` is the torque's dead time in steps, ``stamps`` the room for the times of torques.
    """

    physical: bool = True
    kp: float = 0.0
    ki: float = 0.0
    kd: float = 0.0
    ff_gain: float = 0.0
    angle_limit: float = math.inf
    rate_limit: float = math.inf
    dead_zone_threshold: float = 0.0
    a: float = 0.0
    b: float = 0.0
    c: float = 0.0
    d: float = 0.0
    e: float = 0.0
    f: float = 0.0
    g: float = 0.0
    h: float = 0.0
    inertia: float = 1.0
    damping: float = 0.0
    stiffness: float = 0.0
    friction: float = 0.0
    torque_limit: float = math.inf
    torque_delay: float = 0.0
    torque_delay_steps: int = 0
    stamps: int = 1


@dataclass(slots=True)
class MechanismState:
    """State of mechanism and controller."""

    torques: DelayLine = field(default_factory=lambda: empty_line(0))  # dead time of the torque
    torque: float = 0.0  # output of torques
    rate: float = 0.0  # steering rate [rad/s]
    in_dead_zone: bool = False  # the torque is within the dead zone
    integral: float = 0.0  # integral of the controller's error [rad s]
    error: float = 0.0  # last error of the controller [rad]
    previous: float = 0.0  # start of the command's rate limit [rad]
    times: list[float] = field(default_factory=lambda: [0.0])  # ring of the times of waiting torques [s]
    first: int = 0  # index of the ring's first entry
    count: int = 0  # number of the ring's entries


def mechanism_at_rest(c: MechanismCoefficients) -> MechanismState:
    """A mechanism that stands still."""
    return MechanismState(empty_line(max(0, c.torque_delay_steps - 1)), times=[0.0] * c.stamps)


def restart(c: MechanismCoefficients, m: MechanismState) -> None:
    """Stop and clear the state; unless ``physical``, the last target of the command's rate limit stays."""
    m.rate = m.integral = m.error = m.torque = 0.0
    m.in_dead_zone = False
    m.first = m.count = 0
    clear_line(m.torques)
    if c.physical:
        m.previous = 0.0


def step_mechanism(
    c: MechanismCoefficients, m: MechanismState, target: float, v: float, angle: float, dt: float
) -> float:
    """Advance by one step, and return the new tyre angle [rad]."""
    command = limit_command(c, m, target, dt)
    now = stamp(c, m, dt)
    moves = c.physical or (m.count > 0 and now - m.times[m.first] >= c.torque_delay)
    speed = abs(v)
    friction = friction_torque(c, m, command, speed, angle, dt) if c.physical else 0.0
    turn1, push1, error1, torque1 = stage(c, m, command, speed, dt, moves, friction, angle, m.rate)
    turn2, push2, error2, torque2 = stage(
        c, m, command, speed, dt, moves, friction, angle + (turn1 * 0.5) * dt, m.rate + (push1 * 0.5) * dt
    )
    turn3, push3, error3, torque3 = stage(
        c, m, command, speed, dt, moves, friction, angle + (turn2 * 0.5) * dt, m.rate + (push2 * 0.5) * dt
    )
    turn4, push4, error4, torque4 = stage(
        c, m, command, speed, dt, moves, friction, angle + turn3 * dt, m.rate + push3 * dt
    )
    before, push = m.rate, mean(push1, push2, push3, push4)
    m.rate = limited(before + push * dt, c.rate_limit)
    m.error = mean(error1, error2, error3, error4)
    m.integral = m.integral + m.error * dt
    torque = mean(torque1, torque2, torque3, torque4)
    way = mean(turn1, turn2, turn3, turn4) * dt
    if c.physical and before * m.rate < 0.0:
        way = turn_round(c, m, before, push, friction, dt)
    note_dead_zone(c, m, torque)
    remember(c, m, torque, now)
    return limited(angle + way, c.angle_limit)


def mean(k1: float, k2: float, k3: float, k4: float) -> float:
    """The weighted mean of the derivatives of the Runge-Kutta method's four stages."""
    return (((k1 + 2.0 * k2) + 2.0 * k3) + k4) / 6.0


def limit_command(c: MechanismCoefficients, m: MechanismState, target: float, dt: float) -> float:
    """The angle that the controller follows [rad].

    Corrected (command rate): the limit starts from the last limited command; else from the last target, so it acts for
    one step only.
    """
    change = limited(limited(target, c.angle_limit) - m.previous, c.rate_limit * dt)
    command = limited(m.previous + change, c.angle_limit)
    m.previous = command if c.physical else target
    return command


def torque_of(
    c: MechanismCoefficients, m: MechanismState, command: float, speed: float, dt: float, angle: float
) -> float:
    """The torque that controller and power steering command at an angle [rad]."""
    error = command - angle
    change = 0.0 if dt < SHORTEST_STEP else (c.kd * (error - m.error)) / dt
    commanded = c.ff_gain * command + ((c.kp * error + c.ki * (m.integral + error * dt)) + change)
    return limited(power_steering(c, commanded, speed), c.torque_limit)


def acting(c: MechanismCoefficients, m: MechanismState, torque: float) -> float:
    """The torque that acts.

    Corrected (torque delay): the torque commanded one delay ago acts; else the present one, and the delay only holds
    the steering still once, at the start. Corrected (dead zone): the excess over the dead zone acts; else the whole
    torque, and in the zone nothing moves.
    """
    if not c.physical:
        return torque
    return outside(m.torque if c.torque_delay_steps > 0 else torque, c.dead_zone_threshold)


def stage(
    c: MechanismCoefficients,
    m: MechanismState,
    command: float,
    speed: float,
    dt: float,
    moves: bool,
    friction: float,
    angle: float,
    rate: float,
) -> tuple[float, float, float, float]:
    """Derivatives of angle and rate [rad/s, rad/s^2], the controller's error [rad], the commanded torque."""
    error = command - angle
    torque = torque_of(c, m, command, speed, dt, angle)
    if not moves or (not c.physical and dead_zone(c, rate, m.in_dead_zone, torque)):
        return 0.0, 0.0, error, torque
    held = friction if c.physical else c.friction * sign(rate)
    free = (acting(c, m, torque) - c.damping * rate) - c.stiffness * angle
    return rate, (free - held) / c.inertia, error, torque


def power_steering(c: MechanismCoefficients, commanded: float, speed: float) -> float:
    """The torque of the power steering for a commanded torque, at a speed [m/s]."""
    return (
        c.a * commanded * commanded * commanded
        + c.b * commanded * commanded
        + c.c * commanded
        + c.d * speed * speed * speed
        + c.e * speed * speed
        + c.f * speed
        + c.g * commanded * speed
        + c.h
    )


def friction_torque(
    c: MechanismCoefficients, m: MechanismState, command: float, speed: float, angle: float, dt: float
) -> float:
    """The torque of dry friction during a step.

    Corrected (friction at rest): at rest, friction balances torques up to its own size; else it pushes to the right.
    :func:`turn_round` handles reversals within a step.
    """
    if m.rate != 0.0:
        return c.friction * sign(m.rate)
    return limited(acting(c, m, torque_of(c, m, command, speed, dt, angle)) - c.stiffness * angle, c.friction)


def turn_round(
    c: MechanismCoefficients, m: MechanismState, before: float, push: float, friction: float, dt: float
) -> float:
    """Come to rest at a reversal within a step, then stay or continue; return the angle turned [rad].

    So the motion depends continuously on the time of the reversal.

    ``m.rate`` is the rate as if friction had kept its direction. ``push`` is the mean angular acceleration [rad/s^2]
    with ``friction`` against ``before``, the rate before the step [rad/s].
    """
    rest = m.rate / (m.rate - before) * dt
    free = push * c.inertia + friction
    m.rate = (free - limited(free, c.friction)) / c.inertia * rest
    return 0.5 * (before * (dt - rest) + m.rate * rest)


def dead_zone(c: MechanismCoefficients, rate: float, was_in: bool, torque: float) -> bool:
    """Whether the torque has no effect in Autoware's simulator.

    A torque below the threshold has no effect if it opposes the rate, or if the previous torque was in the dead zone
    (``was_in``). A rate of 0 counts as one to the left.
    """
    small = abs(torque) < c.dead_zone_threshold
    if sign(torque) != sign(rate) and small:
        return True
    return small if was_in else False


def note_dead_zone(c: MechanismCoefficients, m: MechanismState, torque: float) -> None:
    """Set whether the torque is in the dead zone."""
    if c.physical:
        m.in_dead_zone = abs(m.torque if c.torque_delay_steps > 0 else torque) < c.dead_zone_threshold
    else:
        m.in_dead_zone = dead_zone(c, m.rate, m.in_dead_zone, torque)


def stamp(c: MechanismCoefficients, m: MechanismState, dt: float) -> float:
    """End of the present step since the start [s], as the sum of step lengths."""
    if m.count == 0:
        return dt
    return m.times[(m.first + m.count - 1) % c.stamps] + dt


def remember(c: MechanismCoefficients, m: MechanismState, torque: float, now: float) -> None:
    """Enter a torque into the delay; drop the oldest if its delay is over."""
    m.torque = delayed(m.torques, max(0, c.torque_delay_steps - 1), torque)
    if c.physical:
        return
    waited = m.count > 0 and now - m.times[m.first] >= c.torque_delay
    m.times[(m.first + m.count) % c.stamps] = now
    m.count += 1
    if waited or m.count == c.stamps:
        m.first = (m.first + 1) % c.stamps
        m.count -= 1
