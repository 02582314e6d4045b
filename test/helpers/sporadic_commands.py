"""Recordings of an indoor robot that gets commands at any times, and stops after a time-out or never."""

import numpy as np

from vds_gz.core.configuration import load_parameters
from vds_gz.core.parameters.node import NEVER_OLD
from vds_gz.core.vehicle.command import twist
from vds_gz.core.vehicle.make_vehicle import make_vehicle
from vds_gz.tools.study.recording import Recording, Series

#: Interval between samples [s].
INTERVAL = 0.05


def robot(timeout=NEVER_OLD, **drive):
    numbers = {"dead_time": 0.2, "time_constant": 0.15} | drive
    values = {f"model_params.differential.drive_actuators.{name}": value for name, value in numbers.items()}
    return load_parameters("indoor_robot", {"twist_reference_max_oldness": timeout, **values})


def driven(parameters, commands, end, noise=0.01, seed=1):
    """The motion of a robot after commands (time, speed, yaw rate), with noise."""
    vehicle, waiting = make_vehicle(parameters), list(commands)
    times, rows = np.arange(0.0, end, INTERVAL), []
    for time in times:
        while waiting and waiting[0][0] <= time:
            at, speed, turn = waiting.pop(0)
            vehicle.advance(round(at * 1e9))
            vehicle.enter(twist(speed, 0.0, turn), round(at * 1e9))
        vehicle.advance(round(time * 1e9))
        rows.append((vehicle.state.v_x, vehicle.state.yaw_rate))
    measured = np.array(rows) + noise * np.random.default_rng(seed).standard_normal((len(rows), 2))
    at, speed, turn = np.array(commands).T
    return Recording(
        {"v_x": Series(at, speed), "yaw_rate": Series(at, turn)},
        {"v_x": Series(times, measured[:, 0]), "yaw_rate": Series(times, measured[:, 1])},
    )
