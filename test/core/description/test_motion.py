"""Vehicles in Gazebo stand still, and move as their wheels and steering command."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import pytest
from helpers.simulation import NEEDS_GAZEBO, drive

from vds_gz.core.configuration import load_parameters, preset_names
from vds_gz.core.description.sdf import sdf
from vds_gz.core.parameters.vehicles import BicycleParameters, DifferentialParameters, OmniParameters
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import Command

pytestmark = NEEDS_GAZEBO

PRESETS = {name: load_parameters(name) for name in preset_names()}

#: The motion of cars on tyres does not follow from their joints, because tyres slip. In Gazebo they slip differently.
VEHICLES = {
    **{name: (preset.model, preset.vehicle) for name, preset in PRESETS.items() if preset.model != "single_track"},
    **{f"omni_{pattern}": ("omni", OmniParameters(roller_pattern=pattern)) for pattern in "ox"},
    "differential": ("differential", DifferentialParameters()),
    **{
        f"bicycle_{fixed:g}_{steered:g}": ("bicycle", BicycleParameters(track_fixed=fixed, track_steered=steered))
        for fixed in (0.0, 1.1)
        for steered in (0.0, 1.1)
    },
}

IDLE, SETTLING, DRIVING = 10_000, 1_000, 4_000
EVERY = 50


@dataclass(frozen=True)
class Motion:
    """A steady motion of base_link [m/s, rad/s], and the states of the joints."""

    v_x: float
    v_y: float
    yaw_rate: float
    joints: dict[str, list[float]]

    @property
    def radius(self) -> float:
        return math.hypot(self.v_x, self.v_y) / self.yaw_rate


def steady(name: str, parameters: object, v_x: float, yaw_rate: float) -> Motion:
    """The steady motion of the kinematic vehicle."""
    model = models()[name]
    c = model.coefficients(parameters, 0.001)
    s = model.at_rest(c)
    command = Command(v_x=v_x, yaw_rate=yaw_rate)
    model.set_references(c, s, command)
    for _ in range(20_000):
        model.step(c, s, command)
    joints, states = model.joints(parameters), model.joint_states(c, s)
    steering = [angle for joint, angle in zip(joints, states.positions, strict=True) if joint.command == "position"]
    wheels = [speed for joint, speed in zip(joints, states.velocities, strict=True) if joint.command == "velocity"]
    return Motion(
        s.v_x, s.v_y + c.base_link_offset * s.yaw_rate, s.yaw_rate, {"velocity": wheels, "position": steering}
    )


def measured(samples: list[list[float]]) -> tuple[float, float, float]:
    """Mean velocity of base_link in its own axes and yaw rate, from poses; exact if the motion is steady."""
    sums = [0.0, 0.0, 0.0]
    for before, after in itertools.pairwise(samples):
        turn = math.remainder(after[6] - before[6], 2 * math.pi)
        heading = before[6] + turn / 2
        # An arc is longer than its chord.
        arc = (turn / 2) / math.sin(turn / 2) if abs(turn) > 1e-9 else 1.0
        dx, dy = after[1] - before[1], after[2] - before[2]
        sums[0] += arc * (dx * math.cos(heading) + dy * math.sin(heading))
        sums[1] += arc * (dy * math.cos(heading) - dx * math.sin(heading))
        sums[2] += turn
    duration = samples[-1][0] - samples[0][0]
    return sums[0] / duration, sums[1] / duration, sums[2] / duration


def part(samples: list[list[float]], start: int, steps: int) -> list[list[float]]:
    """The samples from a step on, for a number of steps."""
    return [sample for sample in samples if start * 1e-3 <= sample[0] + 1e-9 <= (start + steps) * 1e-3]


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_a_vehicle_stands_still_and_moves_as_its_joints_command(vehicle, tmp_path):
    name, parameters = VEHICLES[vehicle]
    drives = getattr(parameters, "drive_actuator", None) or getattr(parameters, "drive_actuators", None)
    speed = 0.5 * drives.max_velocity if drives else 3.0
    wheels = models()[name].geometry(parameters).wheels
    spans = [max(places) - min(places) for places in zip(*((wheel.x, wheel.y) for wheel in wheels), strict=True)]
    length = spans[0] or spans[1]
    # A lateral acceleration of at most 4 m/s^2, which grip can hold.
    curve = min(speed / (3 * length), 4.0 / speed)
    motions = [steady(name, parameters, speed, turn) for turn in (0.0, curve, -curve)]

    phases = [{"steps": IDLE}, *({"steps": SETTLING + DRIVING, **motion.joints} for motion in motions)]
    samples = drive(tmp_path, sdf(models()[name], parameters), phases, EVERY)

    idle = part(samples, 0, IDLE)
    assert max(math.dist(sample[1:4], (0, 0, 0)) for sample in idle) < 1e-4
    assert max(abs(angle) for sample in idle for angle in sample[4:7]) < 1e-3
    for index, motion in enumerate(motions):
        start = IDLE + index * (SETTLING + DRIVING) + SETTLING
        v_x, v_y, yaw_rate = measured(part(samples, start, DRIVING))
        assert v_x == pytest.approx(motion.v_x, rel=0.005)
        assert yaw_rate == pytest.approx(motion.yaw_rate, rel=0.01, abs=1e-4)
        if motion.yaw_rate:
            assert math.hypot(v_x, v_y) / yaw_rate == pytest.approx(motion.radius, rel=0.01)
    assert max(abs(angle) for sample in samples for angle in sample[4:6]) < 0.05


@pytest.mark.parametrize("preset", ["ackermann_car", "deepracer", "indoor_robot"])
def test_a_vehicle_drives_over_the_hill_and_stands_on_it(preset, tmp_path):
    parameters = load_parameters(preset)
    model = models()[parameters.model]
    motion = steady(parameters.model, parameters.vehicle, 3.0, 0.0)
    stop = {key: [0.0] * len(values) for key, values in motion.joints.items()}
    to_slope, over = round(20.0 / motion.v_x * 1000), round(33.0 / motion.v_x * 1000)
    phases = [
        {"steps": to_slope, **motion.joints},
        {"steps": 5000, **stop},
        {"steps": over, **motion.joints},
    ]
    samples = drive(tmp_path, sdf(model, parameters.vehicle), phases, EVERY, "outdoor")
    stood = part(samples, to_slope + 1000, 4000)
    assert math.degrees(stood[0][5]) == pytest.approx(-6.0, abs=0.1)
    assert math.dist(stood[0][1:4], stood[-1][1:4]) < 1e-3
    assert max(sample[3] for sample in samples) == pytest.approx(20 * math.sin(math.radians(6)), abs=0.06)
    assert max(abs(sample[2]) for sample in samples) < 0.01
    assert samples[-1][3] == pytest.approx(0.0, abs=0.01)
