"""The maximum velocities and accelerations of a vehicle, from driving it with commands beyond all of its limits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.vehicle.command import Command, twist
from vds_gz.core.vehicle.vehicle import Vehicle, motion_of
from vds_gz.core.vehicle.vehicle_model import AnyModel
from vds_gz.tools.study.identify.problem.parameters import actuations, value_of
from vds_gz.tools.study.identify.results import Reached

#: Steps per second of the drive [Hz], and its maximum duration [s].
STEP_RATE, LONGEST = 100.0, 40.0

#: A velocity that changes by more than this part of its maximum in one step jumps: no rate is limited.
JUMP = 0.2

#: A velocity has settled if it changes by less than this part within this time [s], but not before ``LEAST`` [s], and
#: not before it changed by ``BEGUN`` of its first value: a limited command beyond the wheels' speed falls first.
SETTLED, WITHIN, LEAST, BEGUN = 1e-3, 1.0, 3.0, 0.05

#: Commands are this multiple of the observed maximum, and twice this multiple. What grows by more than ``GROWS`` from
#: one to the other has no limit. A car that skids at such speeds shows the limits of its acceleration at commands up to
#: the observed maximum: ``WITHIN_OBSERVED`` and twice this multiple.
BEYOND, WITHIN_OBSERVED, GROWS = 10.0, 0.5, 1.02


def reachable(
    model: AnyModel, parameters: ParameterGroup, quantity: str, observed: float, speed: float = 0.0
) -> Reached:
    """The maxima of a velocity of base_link that a vehicle reaches in both directions; infinite where it has no limit.

    Args:
        model: Its model, which must take twists.
        parameters: Its parameters.
        quantity: ``v_x``, ``v_y`` or ``yaw_rate``.
        observed: The velocity observed at most [m/s, rad/s], of which the commands are a multiple.
        speed: The commanded speed of a vehicle that must drive in order to turn [m/s].
    """

    def maxima(multiple: float) -> Reached:
        command = multiple * max(observed, 1e-3)
        ways = []
        for sign in (1.0, -1.0) if _has_offset(parameters) else (1.0,):
            tops = sign * command, 2.0 * sign * command
            first, second = (_driven(model, parameters, quantity, top, speed) for top in tops)
            ways.append([b if b <= GROWS * a else math.inf for a, b in zip(first, second, strict=True)])
        return Reached(*map(min, zip(*ways, strict=True)))

    fast = maxima(BEYOND)
    if quantity != "v_x" or math.isfinite(fast.rise + fast.fall):
        return fast
    slow = maxima(WITHIN_OBSERVED)
    return fast._replace(rise=min(fast.rise, slow.rise or math.inf), fall=min(fast.fall, slow.fall or math.inf))


def _has_offset(parameters: ParameterGroup) -> bool:
    """Whether an actuator has an offset, with which the vehicle is slower in one direction."""
    return any(
        value_of(parameters, actuator["offset"]) for actuator in actuations(parameters).values() if actuator["offset"]
    )


def _driven(model: AnyModel, parameters: ParameterGroup, quantity: str, command: float, speed: float) -> Reached:
    """The maxima of a velocity when it is commanded at standstill, and 0 once it has settled."""
    vehicle = Vehicle(model, parameters, step_rate=STEP_RATE, max_command_age=math.inf)
    place = ("v_x", "v_y", "yaw_rate").index(quantity)
    if speed:
        list(_velocities(vehicle, twist(speed, 0.0, 0.0), place=0))
    goal = [speed, 0.0, 0.0]
    goal[place] = command
    sign = math.copysign(1.0, command)
    up = sign * np.array(list(_velocities(vehicle, twist(*goal), place)))
    goal[place] = 0.0
    down = sign * np.array(list(_velocities(vehicle, twist(*goal), place)))
    top = float(np.max(np.abs(up)))
    settled = len(up) < LONGEST * STEP_RATE
    return Reached(_fastest(up, top), _fastest(-down, top) or math.inf, top if settled else math.inf)


def _velocities(vehicle: Vehicle[Any, Any, Any], command: Command, place: int) -> Iterator[float]:
    """A velocity before a command, and after each step with it until it has settled."""
    vehicle.enter(command, vehicle.time)
    window = round(WITHIN * STEP_RATE)
    values, begun = [_velocity(vehicle, place)], False
    yield values[-1]
    while len(values) < LONGEST * STEP_RATE:
        vehicle.advance(vehicle.time_of(vehicle.steps + 1))
        values.append(_velocity(vehicle, place))
        yield values[-1]
        begun = begun or abs(values[-1] - values[0]) > BEGUN * abs(values[0])
        if begun and len(values) > LEAST * STEP_RATE:
            change = abs(values[-1] - values[-window])
            if change <= SETTLED * max(map(abs, values[-window:])) or max(map(abs, values[-window:])) < 1e-6:
                return


def _velocity(vehicle: Vehicle[Any, Any, Any], place: int) -> float:
    motion = motion_of(vehicle.coefficients, vehicle.state)
    return (motion.v_x, motion.v_y, motion.yaw_rate)[place]


def _fastest(values: Array, top: float) -> float:
    """The largest rate of change; infinite if the values jump."""
    change = float(np.max(np.diff(values), initial=0.0))
    return change * STEP_RATE if change < JUMP * top else math.inf
