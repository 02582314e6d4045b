"""States of trailers in space, for the sensors on them."""

import numpy as np
import pytest

from vds_gz.core.configuration import load_parameters
from vds_gz.core.geometry import angles, into_body
from vds_gz.core.plant.kinematic import KinematicPlant
from vds_gz.core.vehicle.command import ackermann, twist
from vds_gz.core.vehicle.make_vehicle import make_vehicle
from vds_gz.core.vehicle.trailers import axle_poses

STEP = 1_000_000

LISTS = {
    "hitch_offset": [-0.6, -0.2],
    "drawbar": [1.1, 0.9],
    "track": [0.8, 0.8],
    "tire_diameter": [0.3, 0.3],
    "max_angle": [1.4, 1.4],
}


@pytest.mark.parametrize(
    ("model", "command"), [("bicycle", ackermann(1.5, 0.35)), ("differential", twist(1.0, 0.0, 0.5))]
)
def test_velocities_and_accelerations_are_derivatives_of_the_poses(model, command):
    values = {f"model_params.{model}.trailers.{name}": numbers for name, numbers in LISTS.items()}
    plant = KinematicPlant(make_vehicle(load_parameters("vds_defaults", values | {"model": model})))
    plant.vehicle.enter(command, 0)
    plant.advance(700 * STEP)

    states = []
    for _ in range(5):
        plant.advance(plant.vehicle.time + STEP)
        body = plant.body(plant.vehicle.time)
        states.append(plant.trailer_bodies(plant.vehicle.time, body))
        poses = axle_poses(plant.vehicle.coefficients, [trailer.angle for trailer in plant.vehicle.state.trailers])
        for state, pose in zip(states[-1], poses, strict=True):
            assert state.pose.position[:2] == pytest.approx(body.pose.apply((pose.x, pose.y, 0.0))[:2], abs=1e-12)

    dt = 1e-3
    for k in range(2):
        before, now, after = (states[i][k] for i in (1, 2, 3))
        position, yaw = ([np.array(read(s)) for s in (before, now, after)] for read in (_position, _yaw))
        middle = states[2][k]
        # a state has the velocity of the step that ended at its pose
        assert middle.velocity == pytest.approx((position[1] - position[0]) / dt, abs=2e-3)
        assert middle.angular_velocity[2] == pytest.approx((yaw[1] - yaw[0]) / dt, abs=2e-3)
        assert abs(into_body(middle.pose.orientation, middle.velocity)[1]) < 2e-3
        velocity, rate = ([np.array(read(s)) for s in (before, now)] for read in (_velocity, _yaw_rate))
        assert middle.acceleration == pytest.approx((velocity[1] - velocity[0]) / dt, abs=0.02)
        assert middle.angular_acceleration[2] == pytest.approx((rate[1] - rate[0]) / dt, abs=0.02)
        assert np.linalg.norm(middle.acceleration) > 0.1


def _position(state):
    return state.pose.position


def _velocity(state):
    return state.velocity


def _yaw(state):
    return angles(state.pose.orientation)[2]


def _yaw_rate(state):
    return state.angular_velocity[2]
