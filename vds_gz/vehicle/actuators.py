"""The two actuators, as a stopwatch sees them: dead time, saturation, first-order lag, rate limit, in this order."""

from __future__ import annotations

import math
from dataclasses import dataclass

from vds_gz.parameters.actuators import DriveParameters, SteeringParameters
from vds_gz.vehicle.exponential import exponential
from vds_gz.vehicle.model import ActuatorState


@dataclass(slots=True)
class DriveCoefficients:
    """A drive's parameters, ready for steps of one length.

    Attributes:
        delay_steps: Dead time in whole steps.
        max_velocity: Saturation [m/s].
        decay: What is left of a deviation after one step of the lag.
        max_rise, max_fall: Maximum change in one step away from and towards standstill [m/s].
        dt: Length of a step [s].
    """

    delay_steps: int
    max_velocity: float
    decay: float
    max_rise: float
    max_fall: float
    dt: float


@dataclass(slots=True)
class DriveState:
    """What a drive does [m/s], and what has been entered and not yet acted.

    ``references`` [m/s] and ``rates`` [m/s^2] are rings of ``delay_steps + 1`` entries; ``head`` is the oldest.
    """

    velocity: float
    head: int
    references: list[float]
    rates: list[float]


@dataclass(slots=True)
class SteeringCoefficients:
    """A steering actuator's parameters, ready for steps of one length.

    Attributes:
        delay_steps: Dead time in whole steps.
        max_position: Saturation [rad]; infinite if the unit turns all the way round.
        step_rate: Steps per second [Hz].
        turns_round: It turns all the way round.
        decay: What is left of a deviation after one step of the lag.
        max_change: Maximum change in one step [rad].
        dt: Length of a step [s].
    """

    delay_steps: int
    max_position: float
    decay: float
    max_change: float
    dt: float
    step_rate: float
    turns_round: bool


@dataclass(slots=True)
class SteeringState:
    """Where a steering actuator stands [rad], how fast it turns [rad/s], and what has not yet acted.

    ``references`` [rad] and ``rates`` [rad/s] are rings of ``delay_steps + 1`` entries; ``head`` is the oldest.
    """

    angle: float
    rate: float
    head: int
    references: list[float]
    rates: list[float]


def delay_steps(dead_time: float, dt: float) -> int:
    """Steps until a value entered now is the newest one that is at least ``dead_time`` old (both in s)."""
    return math.ceil(dead_time / dt - 1e-6)


def drive_coefficients(p: DriveParameters, dt: float) -> DriveCoefficients:
    """Coefficients for steps of ``dt`` seconds."""
    rise = or_infinite(p.max_acceleration) * dt
    fall = p.max_deceleration * dt if p.max_deceleration > 0.0 else rise
    return DriveCoefficients(
        delay_steps(p.dead_time, dt), or_infinite(p.max_velocity), _decay(p.time_constant, dt), rise, fall, dt
    )


def steering_coefficients(p: SteeringParameters, dt: float) -> SteeringCoefficients:
    """Coefficients for steps of ``dt`` seconds."""
    return SteeringCoefficients(
        delay_steps(p.dead_time, dt),
        or_infinite(p.max_position),
        _decay(p.time_constant, dt),
        or_infinite(p.max_velocity) * dt,
        dt,
        1.0 / dt,
        or_infinite(p.max_position) == math.inf,
    )


def drive_at_rest(c: DriveCoefficients) -> DriveState:
    """A drive that stands still and never got a reference."""
    return DriveState(0.0, 0, [0.0] * (c.delay_steps + 1), [math.inf] * (c.delay_steps + 1))


def steering_at_rest(c: SteeringCoefficients) -> SteeringState:
    """A steering actuator that points ahead and never got a reference."""
    return SteeringState(0.0, 0.0, 0, [0.0] * (c.delay_steps + 1), [math.inf] * (c.delay_steps + 1))


def through_dead_time(
    c: DriveCoefficients | SteeringCoefficients, s: DriveState | SteeringState, reference: float, rate: float
) -> tuple[float, float]:
    """Enter a reference and its rate limit, and return those that were entered ``delay_steps`` calls ago."""
    head = s.head
    s.references[head] = reference
    s.rates[head] = rate
    head = head + 1 if head < c.delay_steps else 0
    s.head = head
    return s.references[head], s.rates[head]


def step_drive(c: DriveCoefficients, s: DriveState, reference: float, rate: float) -> None:
    """Advance a drive by one step.

    Args:
        c, s: Coefficients and state; the state changes in place.
        reference: Reference now [m/s].
        rate: Maximum acceleration that this reference allows [m/s^2], infinite for the actuator's own.
    """
    target, allowed = through_dead_time(c, s, reference, rate)
    if target > c.max_velocity:
        target = c.max_velocity
    elif target < -c.max_velocity:
        target = -c.max_velocity

    velocity = s.velocity
    target -= c.decay * (target - velocity)

    limit = allowed * c.dt
    rise = limit if limit < c.max_rise else c.max_rise
    fall = limit if limit < c.max_fall else c.max_fall
    speed = abs(velocity)
    slower = speed - fall if speed >= fall else (speed / fall - 1.0) * rise
    if velocity >= 0.0:
        highest = speed + rise
        lowest = slower
    else:
        highest = -slower
        lowest = -speed - rise
    s.velocity = highest if target > highest else lowest if target < lowest else target


def step_steering(c: SteeringCoefficients, s: SteeringState, reference: float, rate: float) -> None:
    """Advance a steering actuator by one step.

    A unit without stops turns the short way round; one with stops cannot pass through them and never wraps.

    Args:
        c, s: Coefficients and state; the state changes in place.
        reference: Reference now [rad].
        rate: Maximum steering rate that this reference allows [rad/s], infinite for the actuator's own.
    """
    target, allowed = through_dead_time(c, s, reference, rate)
    angle = s.angle
    if target > c.max_position:
        target = c.max_position
    elif target < -c.max_position:
        target = -c.max_position
    if c.turns_round:
        target = angle + wrap(target - angle)

    target -= c.decay * (target - angle)

    limit = allowed * c.dt
    change = limit if limit < c.max_change else c.max_change
    if target > angle + change:
        target = angle + change
    elif target < angle - change:
        target = angle - change
    s.angle = target
    s.rate = (target - angle) * c.step_rate


def newest_reference(c: DriveCoefficients | SteeringCoefficients, s: DriveState | SteeringState) -> float:
    """The last reference that was entered, before its dead time."""
    return float(s.references[s.head - 1 if s.head > 0 else c.delay_steps])


def drive_report(c: DriveCoefficients, s: DriveState) -> ActuatorState:
    """Reference and response of a drive."""
    return ActuatorState(0.0, newest_reference(c, s), 0.0, s.velocity)


def steering_report(c: SteeringCoefficients, s: SteeringState) -> ActuatorState:
    """Reference and response of a steering."""
    return ActuatorState(newest_reference(c, s), 0.0, s.angle, s.rate)


def resized_line(line: list[float], head: int, steps: int) -> list[float]:
    """A delay line of another length that holds the newest of the same entries, oldest first.

    Args:
        line: The ring as it is, ``head`` being its oldest entry.
        head: Index of the oldest entry.
        steps: Dead time wanted, in steps. A longer line repeats the oldest entry, so that nothing jumps.
    """
    entries = [*line[head:], *line[:head]]
    wanted = steps + 1
    return [entries[0]] * (wanted - len(entries)) + entries[-wanted:]


def fit_lines(s: DriveState | SteeringState, steps: int) -> None:
    """Fit an actuator's delay lines to another dead time [steps] without a jump."""
    s.references = resized_line(s.references, s.head, steps)
    s.rates = resized_line(s.rates, s.head, steps)
    s.head = 0


def wrap(angle: float) -> float:
    """The same direction within [-pi, pi] [rad]."""
    if -math.pi <= angle <= math.pi:
        return angle
    return angle - 2.0 * math.pi * math.floor((angle + math.pi) / (2.0 * math.pi))


def or_infinite(limit: float) -> float:
    """A limit, of which 0 means none."""
    return limit if limit > 0.0 else math.inf


def _decay(time_constant: float, dt: float) -> float:
    return exponential(-dt / time_constant) if time_constant > 0.0 else 0.0
