"""Trailers in a real Gazebo: passive joints, whose angles are compared with the kinematics."""

from __future__ import annotations

import math
import statistics
from typing import Any

import pytest
from helpers.gazebo import preset
from helpers.parity import AGAIN, Manoeuvre
from helpers.stepped import Stepped

from vds_gz.core.vehicle.command import Command, ackermann, twist

pytestmark = pytest.mark.gazebo

#: Maximum difference of a hitch angle, root mean square [rad].
LIMIT = 0.01

CARTS = {
    "hitch_offset": [-0.3, 0.0],
    "drawbar": [0.5, 0.4],
    "track": [0.4, 0.4],
    "tire_diameter": [0.2, 0.2],
    "max_angle": [1.4, 1.4],
}
TRAINS = {
    "tugger": (preset("tugger"), ackermann(1.0, 0.4), ackermann(-0.4, -0.1)),
    "truck": (preset("truck"), ackermann(3.0, 0.3), ackermann(-1.5, -0.1)),
    "differential": (
        preset("indoor_robot", **{f"model_params__differential__trailers__{name}": v for name, v in CARTS.items()}),
        twist(0.5, 0.0, 0.5),
        twist(-0.2, 0.0, -0.1),
    ),
}


class Train(Stepped):
    """A vehicle with trailers; ``angles`` are those of its hitches in Gazebo and by the kinematics [rad]."""

    angles: list[tuple[list[float], list[float]]]

    def _before_step(self, info: Any, ecm: Any) -> None:
        before = len(self._samples)
        super()._before_step(info, ecm)
        if len(self._samples) > before:
            pair = [[s.angle for s in v.state.trailers] for v in (self.plant.vehicle, self._reference)]
            self.angles.append((pair[0], pair[1]))


def held(command: Command, begin: float, end: float) -> list[tuple[float, Command]]:
    return [(begin + AGAIN * i, command) for i in range(round((end - begin) / AGAIN))]


@pytest.mark.parametrize("name", TRAINS)
def test_hitches_follow_the_kinematics_ahead_and_in_reverse(name: str, partition: str):
    parameters, ahead, back = TRAINS[name]
    train = Train(parameters)
    train.angles = []
    train.drive(Manoeuvre("towing", [*held(ahead, 0.2, 8.0), *held(back, 8.0, 10.0), (10.0, Command())], 11.0))
    for seen, wanted in zip(*(zip(*side, strict=True) for side in zip(*train.angles, strict=True)), strict=True):
        rms = math.sqrt(statistics.fmean((a - b) ** 2 for a, b in zip(seen, wanted, strict=True)))
        assert max(map(abs, wanted)) > 0.1
        assert rms < LIMIT, f"hitch angle up to {max(map(abs, wanted)):.2f} rad"
