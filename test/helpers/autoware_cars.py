"""Cars of Autoware's models to test with, and ways to drive them."""

from __future__ import annotations

import pytest

from vds_gz.autoware.vehicle.command_kinds import DIRECT, PEDALS
from vds_gz.autoware.vehicle.models import AUTOWARE_MODELS
from vds_gz.core.vehicle.command import DRIVE, Command

MODELS = {model.name: model for model in AUTOWARE_MODELS}
WITH_PEDALS = [model for model in AUTOWARE_MODELS if PEDALS in model.accepts]
LAGGING = [model for model in AUTOWARE_MODELS if not model.name.startswith("ideal")]
GUARDED = [one for one in LAGGING if not one.name.endswith(("steer_vel", "steer_acc", "fall_guard"))]

REVERSE = 20
NEUTRAL = 1

#: What holds once a defect is mended, and does not hold in Autoware's own models.
MENDED = pytest.mark.parametrize(
    "compatibility",
    ["physical", pytest.param("autoware", marks=pytest.mark.xfail(strict=True, raises=AssertionError))],
)


class Car:
    """A model's coefficients and state, driven step by step."""

    def __init__(self, name: str, *, dt: float = 0.001, **parameters) -> None:
        self.model = MODELS[name]
        self.parameters = self.model.parameters(**parameters)
        self.c = self.model.coefficients(self.parameters, dt)
        self.s = self.model.at_rest(self.c)

    def drive(self, seconds: float, command: Command, each=None) -> Car:
        """Hold a command for a time; ``each`` is called with the car after every step."""
        for _ in range(round(seconds / self.c.dt)):
            self.model.step(self.c, self.s, command)
            if each is not None:
                each(self)
        return self

    def go(self, seconds: float, accel=0.0, brake=0.0, steer=0.0, gear=DRIVE, slope=0.0, each=None) -> Car:
        """Hold pedals, or the acceleration of a model without them, and the steering command."""
        if PEDALS in self.model.accepts:
            u = Command(PEDALS, accel_pedal=accel, brake_pedal=brake, steering_command=steer, gear=gear, slope=slope)
        else:
            u = Command(DIRECT, v_x=accel, target_acceleration=accel, steering_angle=steer, gear=gear, slope=slope)
        return self.drive(seconds, u, each)

    @property
    def v(self) -> float:
        return self.s.v_x

    @property
    def angle(self) -> float:
        return self.s.steering.angle
