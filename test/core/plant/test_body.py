"""States of base_link as a body in space, against closed forms."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.configuration import load_parameters
from vds_gz.core.geometry import Attitude, Transform, into_body, quaternion
from vds_gz.core.plant.base import BodyVelocity, body_state
from vds_gz.core.plant.gazebo.links.gazebo_link import Placement
from vds_gz.core.plant.gazebo.monitoring import History
from vds_gz.core.plant.kinematic import KinematicPlant
from vds_gz.core.vehicle.command import twist
from vds_gz.core.vehicle.make_vehicle import make_vehicle
from vds_gz.core.vehicle.vehicle import Motion

SECOND = 1_000_000_000


def plant_of(preset="indoor_robot", **values):
    return KinematicPlant(make_vehicle(load_parameters(preset, values)))


def test_the_acceleration_of_a_constant_turn_points_to_its_middle():
    plant = plant_of()
    plant.vehicle.max_command_age = 100.0
    plant.vehicle.enter(twist(0.4, 0.0, 0.5), 0)
    plant.advance(20 * SECOND)
    body, motion = plant.body(plant.vehicle.time), plant.motion(0)
    assert (motion.v_x, motion.yaw_rate) == pytest.approx((0.4, 0.5), rel=1e-6)
    heading, offset_speed = motion.heading, motion.v_y
    toward = (0.4 * 0.5, -offset_speed * 0.5)
    assert into_body(body.pose.orientation, body.acceleration) == pytest.approx((toward[1], toward[0], 0.0), abs=1e-6)
    along = (0.4 * math.cos(heading), 0.4 * math.sin(heading), 0.0)
    assert body.velocity == pytest.approx(along, abs=1e-6 + abs(offset_speed))
    assert body.angular_velocity == pytest.approx((0.0, 0.0, 0.5), rel=1e-6)
    assert body.angular_acceleration == pytest.approx((0.0, 0.0, 0.0), abs=1e-6)
    assert body.pose.position == (motion.x, motion.y, 0.0)


@pytest.mark.parametrize("advance", [1_000_000, 7_000_000, 20_000_000])
def test_the_acceleration_of_a_ramp_of_speed_is_its_slope(advance):
    """It does not depend on the period of advances."""
    key = "model_params.bicycle.drive_actuator"
    car = plant_of("ackermann_car", **{f"{key}.max_acceleration": 2.0, f"{key}.dead_time": 0.0})
    car.vehicle.enter(twist(10.0, 0.0, 0.0), 0)
    for time in range(0, SECOND + 1, advance):
        car.advance(time)
    body = car.body(car.vehicle.time)
    assert body.acceleration == pytest.approx((2.0, 0.0, 0.0), abs=1e-9)


def test_after_standing_still_there_is_no_acceleration():
    car = plant_of("ackermann_car")
    car.vehicle.enter(twist(10.0, 0.0, 0.0), 0)
    car.advance(SECOND // 2)
    assert car.body(0).acceleration[0] > 0.1
    car.vehicle.stand_still(0)
    assert car.body(0).acceleration == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("end", [KinematicPlant.reset, lambda plant: plant.stand_still(plant.vehicle.time)])
def test_a_reset_is_no_acceleration(end):
    car = plant_of("ackermann_car")
    car.vehicle.enter(twist(10.0, 0.0, 0.0), 0)
    car.advance(SECOND // 2)
    end(car)
    assert car.body(car.vehicle.time).acceleration == (0.0, 0.0, 0.0)


@given(st.floats(-0.5, 0.5), st.floats(-math.pi, math.pi), st.floats(-3.0, 3.0), st.floats(-2.0, 2.0))
def test_on_a_slope_the_velocity_points_along_it(pitch, heading, speed, rate):
    motion, attitude = Motion(1.0, 2.0, heading, speed, 0.0, rate), Attitude(0.7, 0.0, pitch)
    body = body_state(5, motion, attitude, BodyVelocity.of(motion, attitude), 0.001)
    assert body.pose.position == (1.0, 2.0, 0.7)
    assert body.velocity[2] == pytest.approx(-speed * math.sin(pitch))
    assert math.hypot(*body.velocity) == pytest.approx(abs(speed))
    felt = into_body(quaternion(0.0, pitch, heading), body.acceleration)
    assert felt == pytest.approx((0.0, speed * rate, 0.0), abs=1e-9)


def test_a_body_that_spins_about_a_point_beside_it():
    """The acceleration of its origin is the sum of the Euler and the centripetal acceleration."""
    arm, rate, spin = 2.0, 3.0, 0.5
    before = BodyVelocity((0.0, arm * (rate - spin * 0.01), 0.0), (0.0, 0.0, rate - spin * 0.01))
    body = body_state(0, Motion(arm, 0.0, 0.0, 0.0, arm * rate, rate), None, before, 0.01)
    assert body.acceleration == pytest.approx((-arm * rate * rate, arm * spin, 0.0))
    assert body.angular_acceleration == pytest.approx((0.0, 0.0, spin))


def test_the_history_has_an_interval_and_covers_times_after_its_first_placement():
    history = History()
    assert (history.interval, history.covers(5)) == (0, False)
    history.add(Placement(5, Transform()))
    history.add(Placement(15, Transform()))
    assert history.interval == 10
    assert history.covers(6)
    assert not history.covers(5)
