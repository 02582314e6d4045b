"""Dead times and time constants as Gazebo's odometry shows them, beside those that were configured."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from helpers.parity import PERIOD, Manoeuvre, Sample
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.vehicle.command import Command
from vds_gz.tools.study.identify.identification import identify
from vds_gz.tools.study.recording import Recording, Series

#: Slower than this a yaw rate says nothing of the steering [m/s].
SLOW = 0.1

#: The part of the launch in which the vehicle moves and is told accelerations [s].
LAUNCHED = 1.0, 3.5


class Dynamics(NamedTuple):
    """Dead time and time constant [s]."""

    dead_time: float
    time_constant: float


class Answer(NamedTuple):
    """An actuator; ``found`` is None where neither number can be told, as of a jump.

    ``late``: how much later than that of the kinematics its answer to the first command was half done [s].
    """

    actuator: str
    configured: Dynamics
    found: Dynamics | None
    late: float

    def agrees(self) -> bool:
        """Whether both numbers are within one publish period, or 5 %."""
        period = PERIOD * 1e-9
        pairs = zip(self.found or Dynamics(0.0, 0.0), self.configured, strict=True)
        return abs(self.late) < 1.01 * period and all(abs(a - b) <= max(period, 0.05 * b) for a, b in pairs)


def answers(
    parameters: NodeParameters, manoeuvres: Sequence[Manoeuvre], driven: Mapping[str, list[Sample]]
) -> list[Answer]:
    """What was configured of each actuator and what its vehicle did in Gazebo.

    A drive is measured in the step or, where it is an acceleration, in the launch, where that changes its sign: some
    models of Autoware's begin to move in their own way. A steering is measured in the turn.
    """
    commands = {manoeuvre.name: manoeuvre.commands for manoeuvre in manoeuvres}
    p = parameters.vehicle
    if "launch" in commands and not parameters.model.endswith("_vel"):
        begin, end = LAUNCHED
        launch = [(time, command) for time, command in commands["launch"] if begin <= time <= end]
        samples = [sample for sample in driven["launch"] if begin <= sample.time <= end]
        asked = commanded(launch, lambda command: command.target_acceleration)
        result = [answer("drive", acceleration(p), asked, samples, accelerations)]
    else:
        asked = commanded(commands["step"], lambda command: command.v_x)
        result = [answer("drive", drive(p), asked, driven["step"], speeds)]
    if (lag := steering(p)) is not None:
        asked = commanded(commands["turn"], lambda command: command.steering_angle)
        lever = -p.wheel_base if getattr(p, "reverse", False) else p.wheel_base
        result.append(answer("steering", lag, asked, driven["turn"], partial(steering_angles, lever)))
    return result


def answer(
    actuator: str,
    configured: Dynamics,
    asked: tuple[Any, Any],
    samples: Sequence[Sample],
    series: Callable[[Any, Any, Any], tuple[Any, Any]],
) -> Answer:
    """``series`` makes times and values of the actuator of times, speeds and yaw rates."""
    times = np.array([sample.time for sample in samples])
    got, wanted = (
        series(times, *np.array([(motion.v_x, motion.yaw_rate) for motion in motions]).T)
        for motions in ([sample.gazebo for sample in samples], [sample.wanted for sample in samples])
    )
    quantity = "steering" if actuator == "steering" else "v_x"
    [axis] = identify(Recording({quantity: Series(*asked)}, {quantity: Series(*got)}, steers=quantity == "steering"))
    numbers = axis.numbers
    dead_time, time_constant = numbers["dead_time"], numbers["time_constant"]
    result = Dynamics(dead_time.value, time_constant.value) if dead_time and time_constant else None
    return Answer(actuator, configured, result, half_done(*asked, *got) - half_done(*asked, *wanted))


def half_done(command_times: Any, command: Any, times: Any, values: Any) -> float:
    """When half of the way to the first command of another value is done [s]."""
    jump = int(np.flatnonzero(np.diff(command))[0]) + 1
    half = 0.5 * (command[jump - 1] + command[jump])
    done = (times >= command_times[jump]) & ((values - half) * (command[jump] - half) > 0.0)
    return float(times[np.argmax(done)]) if done.any() else math.inf


def drive(p: Any) -> Dynamics:
    """Of a speed."""
    actuator = getattr(p, "drive_actuator", None) or getattr(p, "drive_actuators", None)
    if actuator is not None:
        return Dynamics(actuator.dead_time, actuator.time_constant)
    return Dynamics(getattr(p, "vel_time_delay", 0.0), getattr(p, "vel_time_constant", 0.0))


def acceleration(p: Any) -> Dynamics:
    """Of an acceleration, where a vehicle is driven by one."""
    name = "acc" if hasattr(p, "acc_time_delay") else "accel"
    return Dynamics(getattr(p, f"{name}_time_delay", 0.0), getattr(p, f"{name}_time_constant", 0.0))


def steering(p: Any) -> Dynamics | None:
    """Of a tyre angle; none where nothing steers, or something else than a lag does."""
    if hasattr(p, "steering_actuator"):
        return Dynamics(p.steering_actuator.dead_time, p.steering_actuator.time_constant)
    if not hasattr(p, "steer_time_delay") or hasattr(p, "mechanical_params") or hasattr(p, "steer_map"):
        return None
    return Dynamics(p.steer_time_delay, p.steer_time_constant)


def commanded(commands: Sequence[tuple[float, Command]], what: Callable[[Command], float]) -> tuple[Any, Any]:
    """Times and values of a quantity."""
    return np.array([time for time, _ in commands]), np.array([what(command) for _, command in commands])


def speeds(times: Any, speed: Any, yaw_rate: Any) -> tuple[Any, Any]:
    return times, speed


def accelerations(times: Any, speed: Any, yaw_rate: Any) -> tuple[Any, Any]:
    """Between the samples."""
    return 0.5 * (times[1:] + times[:-1]), np.diff(speed) / np.diff(times)


def steering_angles(lever: float, times: Any, speed: Any, yaw_rate: Any) -> tuple[Any, Any]:
    """While the vehicle moves, the angle that the middle of its steered axle has [rad]."""
    moving = np.abs(speed) > SLOW
    return times[moving], np.arctan(lever * yaw_rate[moving] / speed[moving])
