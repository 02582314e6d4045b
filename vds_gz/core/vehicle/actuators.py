"""The two actuators: drive and steering.

Stages in order, from reference ``r`` to response ``y``, with the parameters of the actuator:

    dead time    r1(t) = r(t - dead_time)
    dead band    r2 = 0 if abs(r1) < dead_band, else r1
    static map   r3 = map(r2) through map_references and map_responses, linear between points, constant beyond the ends
    gain         r4 = gain * r3 + offset
    saturation   r5 = min(max(r4, -r_max), r_max), with r_max the drive's max_velocity or the steering's max_position
    slow share   r6 = (1 - slow_share) * r5 + slow_share * z, slow_time_constant * z' = r5 - z; drive only
    lag          time_constant * y' = r6 - y
    rate limit   abs(y') is limited, by max_acceleration and max_deceleration (drive) or by max_velocity (steering)
    backlash     the wheel stays within backlash / 2 of y, and moves only at an end of this play; steering only

docs/model.md shows these lines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
from vds_gz.core.vehicle.static_map import StaticMap, mapped, static_map, unmapped
from vds_gz.core.vehicle.trigonometry import exponential
from vds_gz.core.vehicle.vehicle_model import ActuatorState


@dataclass(slots=True)
class DriveCoefficients:
    """A drive's parameters, prepared for a fixed step length."""

    delay_steps: int  # dead time in whole steps
    dead_band: float  # references of smaller magnitude count as 0 [m/s]
    gain: float  # response per reference
    map: StaticMap
    offset: float  # added to every response [m/s]; -0.0 if unset: x + -0.0 == x for every x
    max_velocity: float  # saturation [m/s]
    max_reference: float  # largest reference without saturation, ignoring the offset [m/s]; infinite with a map
    slow_share: float  # share of a response that comes slowly
    slow_decay: float  # fraction of the slow share's deviation that remains after one step
    decay: float  # fraction of a deviation that remains after one step
    max_rise: float  # maximum change in one step away from standstill [m/s]
    max_fall: float  # maximum change in one step towards standstill [m/s]
    dt: float  # length of a step [s]


@dataclass(slots=True)
class DriveState:
    """Velocity of a drive [m/s], and the references that have not acted yet.

    ``slow`` [m/s] follows the target with the time constant of the slow share.
    ``references`` [m/s] and ``rates`` [m/s^2] are rings of ``delay_steps + 1`` entries; ``head`` is the oldest.
    """

    velocity: float
    slow: float
    head: int
    references: list[float]
    rates: list[float]

    def stop(self) -> None:
        """Stop at once, as wheels at an obstacle do; references in the dead time still act."""
        self.velocity = 0.0


@dataclass(slots=True)
class SteeringCoefficients:
    """A steering actuator's parameters, prepared for a fixed step length."""

    delay_steps: int  # dead time in whole steps
    dead_band: float  # references of smaller magnitude count as 0 [rad]
    gain: float  # response per reference
    map: StaticMap
    offset: float  # added to every response [rad]; -0.0 if unset: x + -0.0 == x for every x
    half_backlash: float  # half of the play between actuator and wheel [rad]
    max_position: float  # saturation [rad]; infinite if the steering turns all the way round
    decay: float  # fraction of a deviation that remains after one step
    max_change: float  # maximum change in one step [rad]
    dt: float  # length of a step [s]
    step_rate: float  # steps per second [Hz]
    turns_round: bool  # the steering turns all the way round


@dataclass(slots=True)
class SteeringState:
    """Angle of a steering, and the references that have not acted yet.

    ``angle`` [rad] and ``rate`` [rad/s] are the wheel's. ``slack`` [rad] is the wheel's angle minus the actuator's, at
    most half of the backlash.
    ``references`` [rad] and ``rates`` [rad/s] are rings of ``delay_steps + 1`` entries; ``head`` is the oldest.
    """

    angle: float
    rate: float
    slack: float
    head: int
    references: list[float]
    rates: list[float]


def delay_steps(dead_time: float, dt: float) -> int:
    """A dead time in whole steps, rounded up (both in s)."""
    return math.ceil(dead_time / dt - 1e-6)


def drive_coefficients(p: DriveParameters, dt: float) -> DriveCoefficients:
    """Coefficients for steps of ``dt`` seconds."""
    rise = or_infinite(p.max_acceleration) * dt
    max_velocity = or_infinite(p.max_velocity)
    return DriveCoefficients(
        delay_steps=delay_steps(p.dead_time, dt),
        dead_band=p.dead_band,
        gain=p.gain,
        map=static_map(p),
        offset=p.offset or -0.0,
        max_velocity=max_velocity,
        max_reference=math.inf if p.map_references else max_velocity / p.gain,
        slow_share=p.slow_share,
        slow_decay=_decay(p.slow_time_constant, dt),
        decay=_decay(p.time_constant, dt),
        max_rise=rise,
        max_fall=p.max_deceleration * dt if p.max_deceleration > 0.0 else rise,
        dt=dt,
    )


def steering_coefficients(p: SteeringParameters, dt: float) -> SteeringCoefficients:
    """Coefficients for steps of ``dt`` seconds."""
    return SteeringCoefficients(
        delay_steps=delay_steps(p.dead_time, dt),
        dead_band=p.dead_band,
        gain=p.gain,
        map=static_map(p),
        offset=p.offset or -0.0,
        half_backlash=p.backlash / 2.0,
        max_position=or_infinite(p.max_position),
        decay=_decay(p.time_constant, dt),
        max_change=or_infinite(p.max_velocity) * dt,
        dt=dt,
        step_rate=1.0 / dt,
        turns_round=or_infinite(p.max_position) == math.inf,
    )


def drive_at_rest(c: DriveCoefficients) -> DriveState:
    """A drive that stands still and never got a reference."""
    return DriveState(0.0, 0.0, 0, [0.0] * (c.delay_steps + 1), [math.inf] * (c.delay_steps + 1))


def steering_at_rest(c: SteeringCoefficients) -> SteeringState:
    """A steering actuator that points ahead and never got a reference."""
    return SteeringState(0.0, 0.0, 0.0, 0, [0.0] * (c.delay_steps + 1), [math.inf] * (c.delay_steps + 1))


def drive_at(c: DriveCoefficients, velocity: float) -> DriveState:
    """A drive in steady state at a velocity [m/s], with the reference for it throughout the dead time."""
    s = drive_at_rest(c)
    s.velocity = velocity
    s.slow = velocity
    s.references = [steady_reference(c, velocity)] * len(s.references)
    return s


def steering_at(c: SteeringCoefficients, angle: float) -> SteeringState:
    """A steering in steady state at an angle [rad], with the reference for it throughout the dead time."""
    s = steering_at_rest(c)
    s.angle = angle
    s.references = [steady_reference(c, angle)] * len(s.references)
    return s


def steady_reference(c: DriveCoefficients | SteeringCoefficients, response: float) -> float:
    """The reference that gives a response in steady state, ignoring dead band and saturation."""
    reference = (response - c.offset) / c.gain
    return unmapped(c.map, reference) if c.map.used else reference


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


def static_response(c: DriveCoefficients | SteeringCoefficients, reference: float) -> float:
    """Steady-state response to a reference, before saturation."""
    if abs(reference) < c.dead_band:
        reference = 0.0
    if c.map.used:
        reference = mapped(c.map, reference)
    return c.gain * reference + c.offset


def step_drive(c: DriveCoefficients, s: DriveState, reference: float, rate: float) -> None:
    """Advance a drive by one step.

    Args:
        c, s: Coefficients and state; the state changes in place.
        reference: Reference now [m/s].
        rate: Maximum acceleration that this reference allows [m/s^2], infinite for the actuator's own.
    """
    delayed, max_rate = through_dead_time(c, s, reference, rate)
    target = static_response(c, delayed)
    if target > c.max_velocity:
        target = c.max_velocity
    elif target < -c.max_velocity:
        target = -c.max_velocity
    s.slow = target - c.slow_decay * (target - s.slow)  # also without a share, so that setting one causes no jump
    if c.slow_share > 0.0:
        target -= c.slow_share * (target - s.slow)

    velocity = s.velocity
    target -= c.decay * (target - velocity)

    limit = max_rate * c.dt
    rise = limit if limit < c.max_rise else c.max_rise
    fall = limit if limit < c.max_fall else c.max_fall
    speed = abs(velocity)
    braked = speed - fall if speed >= fall else (speed / fall - 1.0) * rise
    if velocity >= 0.0:
        highest = speed + rise
        lowest = braked
    else:
        highest = -braked
        lowest = -speed - rise
    s.velocity = highest if target > highest else lowest if target < lowest else target


def step_steering(c: SteeringCoefficients, s: SteeringState, reference: float, rate: float) -> None:
    """Advance a steering actuator by one step.

    A steering without stops turns the short way round; one with stops cannot pass through them and never wraps. The
    wheel stays where it is while the actuator crosses the backlash.

    Args:
        c, s: Coefficients and state; the state changes in place.
        reference: Reference now [rad].
        rate: Maximum steering rate that this reference allows [rad/s], infinite for the actuator's own.
    """
    delayed, max_rate = through_dead_time(c, s, reference, rate)
    target = static_response(c, delayed)
    before = s.angle
    position = before - s.slack
    if target > c.max_position:
        target = c.max_position
    elif target < -c.max_position:
        target = -c.max_position
    if c.turns_round:
        target = position + wrap(target - position)

    target -= c.decay * (target - position)

    limit = max_rate * c.dt
    change = limit if limit < c.max_change else c.max_change
    if target > position + change:
        target = position + change
    elif target < position - change:
        target = position - change

    lowest = target - c.half_backlash
    highest = target + c.half_backlash
    angle = lowest if before <= lowest else highest if before >= highest else before
    s.angle = angle
    s.slack = angle - target
    s.rate = (angle - before) * c.step_rate


def newest_reference(c: DriveCoefficients | SteeringCoefficients, s: DriveState | SteeringState) -> float:
    """The newest reference, before the dead time."""
    return float(s.references[s.head - 1 if s.head > 0 else c.delay_steps])


def drive_report(c: DriveCoefficients, s: DriveState) -> ActuatorState:
    """Reference and response of a drive."""
    return ActuatorState(0.0, newest_reference(c, s), 0.0, s.velocity)


def steering_report(c: SteeringCoefficients, s: SteeringState) -> ActuatorState:
    """Reference and response of a steering."""
    return ActuatorState(newest_reference(c, s), 0.0, s.angle, s.rate)


def oldest_first(line: list[float], head: int) -> list[float]:
    """The entries of a delay line, a ring whose oldest entry is at ``head``."""
    return [*line[head:], *line[:head]]


def resized_line(line: list[float], head: int, steps: int) -> list[float]:
    """The newest ``steps + 1`` entries of a delay line, oldest first.

    A longer line repeats the oldest entry, so that its output does not jump.
    """
    entries = oldest_first(line, head)
    length = steps + 1
    return [entries[0]] * (length - len(entries)) + entries[-length:]


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


def travel(c: SteeringCoefficients, angle: float, target: float) -> float:
    """Angle that a steering actuator turns from one angle to another [rad]; without stops, the shorter way round."""
    gap = target - angle
    return abs(wrap(gap)) if c.turns_round else abs(gap)


def or_infinite(limit: float) -> float:
    """A limit, infinite if it is 0 (unlimited)."""
    return limit if limit > 0.0 else math.inf


def _decay(time_constant: float, dt: float) -> float:
    return exponential(-dt / time_constant) if time_constant > 0.0 else 0.0
