"""Our IMU and satellite receiver against Gazebo's, with the same parameters in the same place."""

from __future__ import annotations

import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from helpers.allan import allan_deviation
from helpers.simulation import NEEDS_GAZEBO, records

from vds_gz.core.description.sdf import sdf
from vds_gz.core.geometry import Transform, angles, inverse, product, quaternion
from vds_gz.core.parameters.sensor_parameters import SensorParameters
from vds_gz.core.parameters.vehicles import BicycleParameters
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.sensing.sensors.gnss import Gnss, GnssModel
from vds_gz.core.sensing.sensors.imu import REFERENCE_FRAMES, Imu, ImuModel
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.world.geodesy import GRAVITY
from vds_gz.core.world.load_world import load_world

pytestmark = NEEDS_GAZEBO

WORLD = """<sdf version='1.9'><world name='w'>
<physics name='step' type='ignored'><max_step_size>0.001</max_step_size><real_time_factor>0</real_time_factor></physics>
<plugin filename='gz-sim-physics-system' name='gz::sim::systems::Physics'/>
<plugin filename='gz-sim-imu-system' name='gz::sim::systems::Imu'/>
<plugin filename='gz-sim-navsat-system' name='gz::sim::systems::NavSat'/>
<spherical_coordinates><surface_model>EARTH_WGS84</surface_model><latitude_deg>48.8566</latitude_deg>
<longitude_deg>2.35</longitude_deg><elevation>35</elevation><heading_deg>30</heading_deg></spherical_coordinates>
<model name='arm'><pose>{pose}</pose>
<joint name='fixed' type='fixed'><parent>world</parent><child>post</child></joint>
<link name='post'/>
<joint name='turn' type='revolute'><parent>post</parent><child>body</child><axis><xyz>0 0 1</xyz></axis></joint>
<link name='body'>{sensor}</link>
<plugin filename='gz-sim-joint-controller-system' name='gz::sim::systems::JointController'>
<joint_name>turn</joint_name><initial_velocity>{speed}</initial_velocity></plugin>
</model></world></sdf>"""
RATE = 500.0


def in_sdf(sensor: SensorParameters) -> str:
    """The ``<sensor>`` of a vehicle in Gazebo, with the pose of its link."""
    vehicle = ElementTree.fromstring(sdf(models()["bicycle"], BicycleParameters(), sensors={"probe": sensor}))
    (element,) = vehicle.iterfind(".//sensor[@name='probe']")
    for pose in element.findall("pose"):
        element.remove(pose)
    element.insert(0, ElementTree.fromstring(f"<pose>{' '.join(map(str, (*sensor.xyz, *sensor.rpy)))}</pose>"))
    return ElementTree.tostring(element, encoding="unicode")


def gazebos(
    folder: Path, sensor: SensorParameters, steps: int, pose: str = "0 0 0 0 0 0", speed: float = 0.0
) -> np.ndarray:
    """Measurements of Gazebo's sensor on an arm at a pose that turns with a speed [rad/s]."""
    file = folder / "world.sdf"
    file.write_text(WORLD.format(pose=pose, sensor=in_sdf(sensor), speed=speed))
    topic = ElementTree.fromstring(in_sdf(sensor)).findtext("topic")
    if isinstance(sensor, Imu):
        kind, fields = ["imu", "IMU"], [*(f"{part}.{axis}" for part in PARTS for axis in "xyz"), *TURNED]
    else:
        kind, fields = ["navsat", "NavSat"], ["latitude_deg", "longitude_deg", "altitude"]
    job = {"world": str(file), "steps": steps, "topic": "/" + topic.lstrip("/"), "type": kind, "fields": fields}
    return np.array(records("model_listen.py", job))


PARTS = ("angular_velocity", "linear_acceleration")
TURNED = [f"orientation.{part}" for part in "xyzw"]


def test_the_specific_force_on_a_turning_arm_is_gazebos(tmp_path):
    imu = Imu(
        rate=100.0,
        xyz=(0.8, -0.3, 0.2),
        rpy=(0.4, -0.2, 1.1),
        angular_velocity_white_noise=0.0,
        linear_acceleration_white_noise=0.0,
    )
    result = gazebos(tmp_path, imu, 2000, speed=2.0)[100:].mean(axis=0)
    ours = ImuModel(imu, "probe", 0).measure(BodyState(0, Transform(), angular_velocity=(0.0, 0.0, 2.0)), GRAVITY)
    assert result[:3] == pytest.approx(ours.angular_velocity, abs=1e-3)
    assert result[3:6] == pytest.approx(ours.linear_acceleration, abs=0.02)


@pytest.mark.parametrize("frame", ["ENU", "NED", "NWU", "start"])
def test_the_orientation_is_gazebos(tmp_path, frame: str):
    imu = Imu(rate=100.0, rpy=(0.4, -0.2, 1.1), measure_orientation=True, orientation_reference_frame=frame)
    theirs = tuple(gazebos(tmp_path, imu, 1000, "0 0 0 0 0 0.7", speed=2.0)[-1, 6:])
    mount, east = quaternion(*imu.rpy), math.radians(30.0)
    reference = product(quaternion(0.0, 0.0, 0.7), mount)
    if frame != "start":
        reference = product(quaternion(0.0, 0.0, east), REFERENCE_FRAMES[frame])
    heading = angles(product(product(reference, theirs), inverse(mount)))[2]
    assert heading == pytest.approx(2.7, abs=0.05)
    model = ImuModel(imu, "probe", 0)
    for place in (0.7, heading):
        state = BodyState(0, Transform(orientation=quaternion(0.0, 0.0, place)))
        # Gazebo's unit turns by the world's heading the other way round than its satellite receiver.
        ours = model.measure(state, GRAVITY, -east)
    assert abs(np.dot(ours.orientation, theirs)) == pytest.approx(1.0, abs=1e-9)


def test_mean_spread_and_allan_deviation_are_gazebos(tmp_path):
    """The gyroscope's noise is mainly a walk, the accelerometer's is white, at the averaging times compared."""
    imu = Imu(
        rate=RATE,
        gyroscope_noise_density=1e-4,
        gyroscope_random_walk=1.0,
        accelerometer_noise_density=2e-3,
        rpy=(0.3, 0.2, 0.1),
    )
    theirs = gazebos(tmp_path, imu, 40_000)
    model = ImuModel(imu, "probe", 0)
    readings = [model.measure(BodyState(k * 2_000_000, Transform()), GRAVITY) for k in range(len(theirs))]
    ours = np.array([(*reading.angular_velocity, *reading.linear_acceleration) for reading in readings])
    assert len(theirs) == pytest.approx(40.0 * RATE, abs=2)
    for result in (theirs, ours):
        walk = [allan_deviation(result[:, :3], count, RATE) for count in (10, 20)]
        white = [allan_deviation(result[:, 3:6], count, RATE) for count in (1, 4)]
        assert walk == pytest.approx([math.sqrt(count / RATE / 3.0) for count in (10, 20)], rel=0.05)
        assert white == pytest.approx([2e-3 / math.sqrt(count / RATE) for count in (1, 4)], rel=0.05)
    assert theirs[:, 3:6].mean(axis=0) == pytest.approx(ours[:, 3:6].mean(axis=0), abs=0.005)
    assert theirs[:, 3:6].std(axis=0) == pytest.approx(ours[:, 3:6].std(axis=0), rel=0.05)


def test_a_place_on_earth_is_gazebos(tmp_path):
    gnss = Gnss(rate=10.0, xyz=(0.4, 0.2, 0.3), horizontal_std_noise=0.0, vertical_std_noise=0.0)
    result = gazebos(tmp_path, gnss, 1000, "3000 -500 20 0 0 0.7")[-1]
    origin = load_world(tmp_path / "world.sdf").origin
    state = BodyState(0, Transform((3000.0, -500.0, 20.0), quaternion(0.0, 0.0, 0.7)))
    ours = GnssModel(gnss, "probe", 0).measure(state, origin).position
    assert result[:2] == pytest.approx(ours[:2], abs=1e-9)
    assert result[2] == pytest.approx(ours[2], abs=1e-4)


def test_the_noise_of_a_place_on_earth_is_gazebos(tmp_path):
    gnss = Gnss(rate=200.0, horizontal_std_noise=1.5, vertical_std_noise=2.5)
    theirs = gazebos(tmp_path, gnss, 40_000)
    origin, model = load_world(tmp_path / "world.sdf").origin, GnssModel(gnss, "probe", 0)
    ours = np.array([model.measure(BodyState(k, Transform()), origin).position for k in range(len(theirs))])
    assert len(theirs) == pytest.approx(8000, abs=2)
    assert theirs.std(axis=0) == pytest.approx(ours.std(axis=0), rel=0.05)
    assert theirs.mean(axis=0) == pytest.approx(ours.mean(axis=0), abs=0.2)
    spread = theirs.std(axis=0) / math.sqrt(len(theirs))
    assert np.abs((theirs - ours).mean(axis=0) / spread).max() < 6.0
