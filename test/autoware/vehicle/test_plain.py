"""The models against a plain implementation of their description: any parameters, gears, steps, and placing."""

from __future__ import annotations

import dataclasses
import random

import pytest
from helpers.autoware_plain import Plain

from vds_gz.autoware.parameters.car_parameters import MechanicalParameters
from vds_gz.autoware.vehicle.command_kinds import DIRECT, PEDALS
from vds_gz.autoware.vehicle.models import AUTOWARE_MODELS
from vds_gz.autoware.vehicle.state import put
from vds_gz.core.vehicle.command import Command

GEARS = (0, 1, 2, 2, 2, 2, 7, 19, 20, 20, 21, 22, 23, 24)


def odd_parameters(model, chance: random.Random):
    """Parameters that differ from the defaults; some contradict each other."""
    values = {}
    for item in dataclasses.fields(model.parameters):
        default = item.default
        if item.name == "compatibility":
            values[item.name] = "autoware"
        elif item.name.endswith("time_delay"):
            values[item.name] = chance.choice((0.0, 0.0123, 0.05, 0.1, 0.31))
        elif item.name in ("steer_dead_band", "steer_bias"):
            values[item.name] = chance.choice((0.0, 0.01, 0.03))
        elif item.name in ("road_pitch", "base_link_offset"):
            continue
        elif item.name.startswith("convert_"):
            values[item.name] = chance.random() < 0.8
        elif isinstance(default, float):
            values[item.name] = default * chance.uniform(0.3, 1.5)
    if "mechanical_params" in model.parameters.__dataclass_fields__:
        fields = dataclasses.fields(MechanicalParameters)
        mechanical = {parameter.name: parameter.default * chance.uniform(0.7, 1.4) for parameter in fields}
        mechanical["torque_delay_time"] = chance.choice((0.0, 0.0007, 0.05, 0.1))
        mechanical["dead_zone_threshold"] = chance.choice((0.007, 0.3))
        values["mechanical_params"] = MechanicalParameters(**mechanical)
    return model.parameters(**values)


def odd_inputs(chance: random.Random, wheel: float):
    """Pedals or an acceleration, brake, steering, gear, slope."""
    steer = chance.choice((0.0, 0.001, 0.05, -0.3, 0.6, -2.0)) * wheel
    slope = chance.choice((0.0, 0.0, 0.7, -1.5, 10.0))
    return chance.choice((0.0, 0.3, 1.0, 2.0, -3.0, 40.0)), chance.choice((0.0, 0.0, 0.4, 2.0)), steer, slope


@pytest.mark.parametrize("model", AUTOWARE_MODELS, ids=lambda model: model.name)
@pytest.mark.parametrize("seed", range(4))
def test_agrees(model, seed):
    chance = random.Random(seed)
    p = odd_parameters(model, chance)
    dt = chance.choice((0.001, 1 / 30, 0.025))
    c = model.coefficients(p, dt)
    s = model.at_rest(c)
    plain = Plain(model.name, p, dt)
    pedals = PEDALS in model.accepts
    wheel = {"actuation_cmd_steer_map": 20.0, "actuation_cmd_vgr": 15.7, "actuation_cmd_mechanical": 15.7}
    for step in range(500):
        if step % 20 == 0:
            first, brake, steer, slope = odd_inputs(chance, wheel.get(model.name, 1.0))
            gear = chance.choice(GEARS)
        if step == 301 and not model.name.startswith("ideal"):
            put(c, s, 1.0, 2.0, 3.0, 4.0, 0.1, 0.5)
            plain.put(1.0, 2.0, 3.0, 4.0, 0.1, 0.5)
        if pedals:
            u = Command(PEDALS, accel_pedal=first, brake_pedal=brake, steering_command=steer, gear=gear, slope=slope)
        else:
            u = Command(DIRECT, v_x=first, target_acceleration=first, steering_angle=steer, gear=gear, slope=slope)
        model.step(c, s, u)
        plain.update(first, brake, steer, gear, slope)
        ours = [s.x, s.y, s.heading, s.v_x, s.steering.angle, s.acceleration, s.drive_acceleration]
        theirs = [*plain.s[:5], plain.acceleration, plain.s[6]]
        m = s.steering.mechanism
        ours += [m.rate, m.in_dead_zone, m.integral, m.error]
        theirs += [plain.om, plain.dz, plain.integral, plain.e0]
        assert ours == pytest.approx(theirs, rel=1e-11, abs=1e-11), step
        if model.name.endswith("mechanical"):
            assert m.count == len(plain.q)
