"""Sensors on trailers: their frames, and the states that they measure."""

import pytest

from vds_gz import load_vehicle, twist
from vds_gz.core.configuration import preset_file, read_vehicle_file
from vds_gz.core.parameters.declaration import Override, ParameterError
from vds_gz.core.plant.kinematic import KinematicPlant
from vds_gz.programs.nodes.preparation import prepare
from vds_gz.programs.nodes.simulated_sensors import Sensors

SECOND = 10**9


class Recorder:
    """A sensor that records the states that it measures."""

    rate, rays, span, subscribed = 10.0, 0, 0, False

    def __init__(self):
        self.states = []

    def measure(self, states, scene):
        self.states.append(states[-1])


def tugger(**values):
    overrides = read_vehicle_file(preset_file("tugger"), "/sim_node")
    return prepare([*overrides, *(Override(name.replace("__", "."), value) for name, value in values.items())])


@pytest.mark.parametrize("base", ["base_link", "base_footprint"])
def test_the_frame_of_a_sensor_is_fixed_to_that_of_its_parent(base):
    mounts = tugger(
        base_frame=base,
        sensors__eye__type="camera",
        sensors__eye__parent="trailer_3",
        sensors__motion__type="imu",
        sensors__motion__parent="trailer_1",
        sensors__lidar__type="rplidar_a2",
    ).mounts()
    parents = {joint.child: joint.parent for joint in mounts}
    assert {child: parents[child] for child in ("eye", "eye_optical_frame", "motion", "lidar")} == {
        "eye": "trailer_3",
        "eye_optical_frame": "eye",
        "motion": "trailer_1",
        "lidar": base,
    }


@pytest.mark.parametrize("parent", ["trailer_4", "trailer_0", "chassis"])
def test_a_parent_that_the_vehicle_does_not_have_is_refused(parent):
    with pytest.raises(
        ParameterError, match=rf"'sensors.gps.parent' is '{parent}'; .*base_link, trailer_1, .*trailer_3"
    ):
        tugger(sensors__gps__type="gnss", sensors__gps__parent=parent)


def test_each_sensor_measures_the_body_that_it_is_on():
    vehicle = load_vehicle("tugger")
    vehicle.enter(twist(1.0, 0.0, 0.3), 0)
    plant = KinematicPlant(vehicle)
    ahead, middle, last = Recorder(), Recorder(), Recorder()
    sensors = Sensors([ahead, middle, last], plant, lambda time: None, parents={middle: 2, last: 3})
    sensors.begin(0)
    while plant.vehicle.time < SECOND:
        plant.advance(int(sensors.next))
        sensors.serve(plant.vehicle.time, held=False)
    body = plant.body(plant.vehicle.time)
    trailers = plant.trailer_bodies(plant.vehicle.time, body)
    assert [ahead.states[-1], middle.states[-1], last.states[-1]] == [body, trailers[1], trailers[2]]
    assert last.states[-1].pose.position[0] < middle.states[-1].pose.position[0] - 1.0
