"""The parameters of a mechanical steering from logs: what the steering wheel was commanded, and how the tires turned.

The parameters are those that leave the least squares: a rough search among many (:mod:`mechanism_search`), then least
squares over pieces of the log (:mod:`mechanism_squares`), then intervals (:mod:`mechanism_profile`).

Torques have no scale in such a log: inertia, damping, stiffness, friction, dead zone and the torque's limit may all be
multiplied by the same number. So what is not looked for keeps the value that it is given, above all the limit of the
torque and the power steering's polynomial.

A parameter that the log does not tell is put back to the value that it is given, and the others are found anew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vds_gz.parameters.autoware import ActuationCmdMechanicalParameters
from vds_gz.study.identify.estimates import CERTAIN, WIDTH, Estimate
from vds_gz.study.identify.mechanism_log import MechanismLog, with_values
from vds_gz.study.identify.mechanism_profile import FRICTION, linear, profile
from vds_gz.study.identify.mechanism_search import excited, search
from vds_gz.study.identify.mechanism_squares import fit_squares
from vds_gz.study.identify.signals import Series
from vds_gz.study.progress import Advance, ignore

Array = NDArray[np.float64]

#: What is looked for unless others are named.
DEAD_ZONE = "dead_zone_threshold"
FREE = ("kp", "ki", "kd", "inertia", "damping", "stiffness", FRICTION, DEAD_ZONE)

#: The first search is done with no more steps a second [Hz].
ROUGH_RATE = 200.0


@dataclass(frozen=True, slots=True)
class MechanismFit:
    """What was found of a steering.

    Attributes:
        numbers: By parameter, as far as they were looked for; None where the log does not tell.
        offset: What the sensor of the angle reads too much [rad].
        parameters: The vehicle with what was found.
        residual: Standard deviation of the angles from the model [rad].
        left_out, pieces: Of so many pieces of the log, so many fit much worse than the others and were left out.
        time, commanded, measured, modelled: For pictures; commands as tire angles [rad] at the gear's ratio; the model
            is nan in pieces that were left out.
    """

    numbers: dict[str, Estimate | None]
    offset: Estimate
    parameters: ActuationCmdMechanicalParameters
    residual: float
    left_out: int
    pieces: int
    time: Array
    commanded: Array
    measured: Array
    modelled: Array


def fit_mechanism(
    wheel: Series,
    speed: Series | None,
    angle: Series,
    given: ActuationCmdMechanicalParameters,
    *,
    free: Sequence[str] = FREE,
    step_rate: float = 1000.0,
    advance: Advance = ignore,
) -> MechanismFit:
    """Find parameters of a mechanical steering.

    Args:
        wheel: Angle of the steering wheel as commanded [rad]; each holds until the next.
        speed: Speed as measured [m/s]; None: the car stood.
        angle: Tire angle as measured [rad].
        given: The vehicle; what is not looked for keeps its values, and the search begins at the others.
        free: Names in ``mechanical_params`` to look for.
        step_rate: Steps of the model per second [Hz].
        advance: Called with the part of the work, 1 in all, that was done.

    Raises:
        SignalError: The log is too short, or nothing was commanded.
    """
    rough = MechanismLog(wheel, speed, angle, given, min(step_rate, ROUGH_RATE))
    shown = excited(rough, given, (*free, DEAD_ZONE))
    vehicle = given
    if DEAD_ZONE not in shown:
        # A small dead zone acts by chance: it stops a steering that turns round while its torque is that small in a
        # step, and a change of any parameter by 1e-4 makes it another step. Nothing could be found between such jumps.
        vehicle = with_values(given, {DEAD_ZONE: 0.0})
        rough = MechanismLog(wheel, speed, angle, vehicle, min(step_rate, ROUGH_RATE))
    start = search(rough, vehicle, [name for name in free if name in shown], advance)
    log = MechanismLog(wheel, speed, angle, vehicle, step_rate)
    best = fit_squares(log, vehicle, start)
    while best.free:
        spread = best.deviations()[:-1]
        worst = int(np.argmax(spread))
        if spread[worst] * WIDTH <= math.log1p(CERTAIN):
            break
        kept = {name: value for name, value in best.values().items() if name != best.free[worst]}
        best = fit_squares(log, vehicle, kept, best)
    advance(0.1)
    found = profile(log, vehicle, best) if FRICTION in best.free else linear(best)
    advance(0.1)
    half = WIDTH * float(best.deviations()[-1])
    return MechanismFit(
        dict.fromkeys(free) | found,
        Estimate(best.offset(), best.offset() - half, best.offset() + half),
        with_values(given, {name: one.value for name, one in found.items()}),
        best.deviation,
        int(np.sum(~best.good)),
        log.pieces,
        log.angle.time,
        log.commanded(vehicle),
        log.angle.value,
        np.where(best.good[log.owner], best.modelled, math.nan),
    )
