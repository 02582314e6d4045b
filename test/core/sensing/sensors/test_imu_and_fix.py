"""Messages of IMU and satellite receiver, received over the graph."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from helpers.processes import Probe

from vds_gz.core.geometry import Transform, quaternion
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.sensor_parameters import SensorParameters
from vds_gz.core.ros.messages.fields import EXACT as VARIANCE
from vds_gz.core.ros.messages.fields import stamp_ns
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.sensing.sensor import SensorOutput
from vds_gz.core.sensing.sensor_types import sensor_setups
from vds_gz.core.sensing.sensors.gnss import Gnss
from vds_gz.core.sensing.sensors.imu import Imu, ImuModel
from vds_gz.core.world.geodesy import GRAVITY, Origin
from vds_gz.core.world.ray_caster import RayCaster
from vds_gz.core.world.scene import Scene
from vds_gz.programs.interface import topics

pytestmark = pytest.mark.graph

IMU = topics.Topic("unit/data", "sensor_msgs/msg/Imu")
FIX = topics.Topic("gps/fix", "sensor_msgs/msg/NavSatFix")
EARTH = Scene("earth", RayCaster(()), RayCaster(()), (0.0, 0.0, -9.81), Origin(48.8566, 2.35, 100.0))
SECOND = 1_000_000_000
EXACT = {"horizontal_std_noise": 0.0, "vertical_std_noise": 0.0}


def state(second: int, x: float = 0.0) -> BodyState:
    return BodyState(second * SECOND, Transform((x, 0.0, 0.0), quaternion(0.0, 0.0, 0.1 * second)))


def output(probe: Probe, **sensors: SensorParameters) -> SensorOutput:
    (setup,) = sensor_setups(probe.graph, NodeParameters(sensors=sensors, frame_prefix="car/", random_seed=3))
    sensor = setup.type.make(setup)
    return sensor


def message(probe: Probe, topic: topics.Topic, sensor: SensorOutput, now: BodyState) -> Any:
    """The message of a measurement."""
    probe.listen(topic)
    received = probe.received[topic.name]
    before = len(received)

    def arrived() -> bool:
        sensor.measure([now], EARTH)
        return len(received) > before

    probe.until(arrived, topic.name)
    return received[-1]


def test_an_imu_without_orientation_says_so(probe: Probe):
    sensor = output(probe, unit=Imu(rate=100.0, linear_acceleration_white_noise=0.02))
    assert (sensor.rate, sensor.span) == (100.0, 0)
    seen = message(probe, IMU, sensor, state(7))
    assert seen.header.frame_id == "car/unit"
    assert stamp_ns(seen.header.stamp) == 7 * SECOND
    assert list(seen.orientation_covariance) == [-1.0] + [0.0] * 8
    assert list(seen.angular_velocity_covariance) == pytest.approx([4e-8, 0, 0, 0, 4e-8, 0, 0, 0, 4e-8])
    assert list(seen.linear_acceleration_covariance) == pytest.approx([4e-4, 0, 0, 0, 4e-4, 0, 0, 0, 4e-4])
    assert seen.linear_acceleration.z == pytest.approx(9.81, abs=0.2)
    assert 0.0 < abs(seen.angular_velocity.x) < 2e-3


def test_exact_measurements_have_a_known_covariance(probe: Probe):
    """A covariance of zeros would mean that it is unknown."""
    exact = Imu(measure_orientation=True, angular_velocity_white_noise=0.0, linear_acceleration_white_noise=0.0)
    seen = message(probe, IMU, output(probe, unit=exact), state(5))
    turned = seen.orientation
    assert (turned.x, turned.y, turned.z, turned.w) == pytest.approx(quaternion(0.0, 0.0, 0.5))
    for field in ("orientation", "angular_velocity", "linear_acceleration"):
        assert list(getattr(seen, f"{field}_covariance")) == [VARIANCE, 0, 0, 0, VARIANCE, 0, 0, 0, VARIANCE]
    seen = message(probe, FIX, output(probe, gps=Gnss(layout="driver", **EXACT)), state(0))
    assert list(seen.position_covariance) == [VARIANCE, 0, 0, 0, VARIANCE, 0, 0, 0, VARIANCE]


def test_samples_without_subscribers_do_not_change_later_ones(probe: Probe):
    """The bias keeps drifting: the fourth sample is the fourth one of a model without skipped samples."""
    parameters = Imu(angular_velocity_random_walk=0.1)
    sensor, model = output(probe, unit=parameters), ImuModel(parameters, "unit", 3)
    for k in range(3):
        sensor.measure([state(k)], EARTH)
        model.measure(state(k), EARTH.gravity)
    probe.listen(IMU)
    probe.until(lambda: probe.graph.publisher("unit/data", IMU.type, IMU.qos).subscription_count(), "a subscription")
    probe.serve(0.5)
    sensor.measure([state(3)], EARTH)
    probe.until(lambda: probe.received[IMU.name], "a message")
    turn = probe.received[IMU.name][0].angular_velocity
    assert (turn.x, turn.y, turn.z) == model.measure(state(3), EARTH.gravity).angular_velocity


def test_without_a_world_gravity_is_that_of_sdf(probe: Probe):
    sensor = output(probe, unit=replace(Imu(), linear_acceleration_white_noise=0.0))
    probe.listen(IMU)

    def arrived() -> bool:
        sensor.measure([BodyState(0, Transform())], None)
        return bool(probe.received[IMU.name])

    probe.until(arrived, "a message")
    assert probe.received[IMU.name][0].linear_acceleration.z == -GRAVITY[2] == 9.8


def test_a_fix_has_the_fields_of_gazebos_message(probe: Probe):
    sensor = output(probe, gps=Gnss(**EXACT))
    seen = message(probe, FIX, sensor, state(3))
    assert seen.header.frame_id == "car/gps"
    assert stamp_ns(seen.header.stamp) == 3 * SECOND
    assert (seen.latitude, seen.longitude, seen.altitude) == pytest.approx((48.8566, 2.35, 100.0), abs=1e-9)
    assert (seen.status.status, seen.status.service) == (0, 0)
    assert seen.position_covariance_type == 0
    assert list(seen.position_covariance) == [0.0] * 9


@pytest.mark.parametrize(("fix_type", "status"), [("fix", 0), ("float", 1), ("rtk", 2)])
def test_a_drivers_fix_has_its_covariance_and_status(probe: Probe, fix_type: str, status: int):
    parameters = Gnss(
        layout="driver",
        fix_type=fix_type,
        horizontal_std_noise=2.0,
        float_horizontal_std_noise=2.0,
        rtk_horizontal_std_noise=2.0,
        vertical_std_noise=3.0,
        float_vertical_std_noise=3.0,
        rtk_vertical_std_noise=3.0,
    )
    seen = message(probe, FIX, output(probe, gps=parameters), state(0))
    assert (seen.status.status, seen.status.service) == (status, 1)
    assert seen.position_covariance_type == 2
    assert list(seen.position_covariance) == [4.0, 0, 0, 0, 4.0, 0, 0, 0, 9.0]


@pytest.mark.parametrize("layout", ["gazebo", "driver"])
def test_without_coverage_there_is_no_fix(probe: Probe, layout: str):
    sensor = output(probe, gps=Gnss(layout=layout, regions="none 10 -1 20 1"))
    seen = message(probe, FIX, sensor, state(0, x=15.0))
    assert seen.status.status == -1
    assert all(math.isnan(number) for number in (seen.latitude, seen.longitude, seen.altitude))
    assert seen.position_covariance_type == 0
    assert list(seen.position_covariance) == [0.0] * 9

    def back() -> bool:
        sensor.measure([state(1)], EARTH)
        return bool(probe.received[FIX.name][-1].status.status == 0)

    probe.until(back, "a fix outside")
