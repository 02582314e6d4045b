"""Trailers among the obstacles of a world."""

import numpy as np
import pytest

from vds_gz.core.configuration import load_parameters
from vds_gz.core.description.footprint import footprint_of
from vds_gz.core.description.urdf_writer import urdf
from vds_gz.core.geometry import Pose
from vds_gz.core.plant.base import Level
from vds_gz.core.plant.in_world import WorldPlant
from vds_gz.core.plant.kinematic import KinematicPlant
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import twist
from vds_gz.core.vehicle.make_vehicle import make_guarded_vehicle
from vds_gz.core.world.geometry_reader import matrix, rotation_of_angles
from vds_gz.core.world.packing import Thing
from vds_gz.core.world.ray_caster import RayCaster
from vds_gz.core.world.scene import Scene
from vds_gz.core.world.shapes import Box, Cylinder, HalfSpace
from vds_gz.core.world.surroundings import Surroundings

SECOND = 1_000_000_000
GROUND = Thing("ground", HalfSpace(), np.eye(4))


def at(x, y, z=0.5):
    return matrix(rotation_of_angles(0.0, 0.0, 0.0), np.array((x, y, z)))


def tugger(max_angle=1.4):
    lists = {"hitch_offset": [-1.2, 0.0], "drawbar": [1.2, 1.0], "track": [0.8, 0.8], "tire_diameter": [0.3, 0.3]}
    lists["max_angle"] = [max_angle] * 2
    values = {f"model_params.differential.trailers.{name}": value for name, value in lists.items()}
    return load_parameters("indoor_robot", values | {"model": "differential"})


def plant_in(things, parameters, collisions="stop"):
    caster = RayCaster([GROUND, *things], compiled=False)
    model = models()[parameters.model]
    vehicle = make_guarded_vehicle(parameters)
    vehicle.max_command_age = 1e6
    footprint = footprint_of(urdf(model.name, parameters.vehicle, model.xacro), model.geometry(parameters.vehicle))
    return WorldPlant(vehicle, footprint, Surroundings(Scene("test", caster, caster)), collisions), footprint


def drive(plant, command, seconds):
    plant.vehicle.enter(command, plant.vehicle.time)
    end = plant.vehicle.time + round(seconds * SECOND)
    while plant.vehicle.time < end:
        plant.advance(min(end, plant.vehicle.time + SECOND // 50))


def trailer_corners(plant, footprint):
    """Corners of the trailers' boxes in the world."""
    motion = plant.motion(0)
    pose, corners = Pose(motion.x, motion.y, motion.heading), []
    for trailer, state in zip(footprint.trailers, plant.vehicle.state.trailers, strict=True):
        pose = pose.then(Pose(*trailer.hitch[:2], state.angle))
        (back, right, _), (front, left, _) = trailer.box.lower, trailer.box.upper
        corners += [pose.apply(x, y) for x in (back, front) for y in (left, right)]
    return corners


def test_each_body_has_a_box_of_its_own():
    parameters = tugger()
    _, footprint = plant_in([], parameters)
    alone = load_parameters("indoor_robot", {"model": "differential"})
    _, before = plant_in([], alone)
    assert (footprint.lower, footprint.upper, footprint.contacts) == (before.lower, before.upper, before.contacts)
    first, second = footprint.trailers
    assert first.hitch[0] == pytest.approx(-1.2 - parameters.vehicle.base_link_offset)
    assert second.hitch[0] == pytest.approx(-1.2)
    # from the hitch to behind the wheels, and from tyre to tyre
    assert first.box.lower[0] < -1.2 - 0.15
    assert first.box.upper[0] == pytest.approx(0.0)
    assert first.box.upper[1] == pytest.approx(0.4 + 0.045)


def test_trailers_in_an_empty_world_follow_as_without_a_world():
    parameters = tugger()
    plant, _ = plant_in([], parameters)
    plain = KinematicPlant(make_guarded_vehicle(parameters))
    plain.vehicle.max_command_age = 1e6
    for driven in (plant, plain):
        drive(driven, twist(0.8, 0.0, 0.4), 4.0)
        drive(driven, twist(-0.3, 0.0, 0.2), 1.0)
    assert plant.motion(0) == plain.motion(0)
    assert [s.angle for s in plant.vehicle.state.trailers] == [s.angle for s in plain.vehicle.state.trailers]


def test_a_vehicle_that_reverses_stops_when_its_last_trailer_meets_a_wall():
    plant, footprint = plant_in([Thing("wall", Box((0.2, 10.0, 1.0)), at(-6.0, 0.0))], tugger())
    drive(plant, twist(-0.5, 0.0, 0.0), 20.0)
    assert min(x for x, _ in trailer_corners(plant, footprint)) == pytest.approx(-5.9, abs=2e-4)
    assert plant.motion(0).v_x == 0.0
    assert [contact.thing.name for contact in plant.contacts] == ["wall"]
    drive(plant, twist(0.5, 0.0, 0.0), 4.0)
    assert plant.motion(0).v_x > 0.4
    assert not plant.contacts


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_trailer_that_cuts_a_corner_meets_the_post_that_the_vehicle_passed(sign):
    # The vehicle turns with a radius of 1.43 m around (0, 1.43); the second trailer's axle has one of 1.02 m at last.
    post = Thing("post", Cylinder(0.05, 1.0), at(0.85, sign * 1.43))
    plant, footprint = plant_in([post], tugger())
    drive(plant, twist(0.5, 0.0, sign * 0.35), 12.0)
    assert [contact.thing.name for contact in plant.contacts] == ["post"]
    assert plant.motion(0).v_x == 0.0
    assert plant.contacts[0].depth == 0.0
    # the vehicle itself is clear of it
    motion = plant.motion(0)
    x, y = Pose(motion.x, motion.y, motion.heading).inverse().apply(0.85, sign * 1.43)
    assert not (footprint.lower[0] - 0.1 < x < footprint.upper[0] + 0.1 and abs(y) < footprint.upper[1] + 0.1)
    free, _ = plant_in([], tugger())
    drive(free, twist(0.5, 0.0, sign * 0.35), 12.0)
    assert free.motion(0).v_x > 0.4


def test_a_hitch_at_its_limit_is_a_warning():
    plant, _ = plant_in([], tugger(max_angle=0.5))
    assert plant.status().level == Level.OK
    plant.vehicle.state.trailers[0].angle = 0.1
    drive(plant, twist(-0.5, 0.0, 0.0), 15.0)
    status = plant.status()
    assert status.level == Level.WARN
    assert "maximum angle of the hitch" in status.text
    assert "motion that bends it further is blocked" in status.text


def test_where_the_vehicle_would_tilt_into_something_its_hitches_have_the_angles_of_that_place():
    """It is moved back to where it last looked down; straight ahead, tan(angle / 2) falls with exp(-way / drawbar)."""
    _, footprint = plant_in([], tugger())
    step = Thing("step", Box((2.0, 4.0, 0.04)), at(2.0, 0.0, 0.0))
    beam = Thing("beam", Box((8.0, 4.0, 0.2)), at(0.0, 0.0, footprint.upper[2] + 0.105))
    plant, _ = plant_in([step, beam], tugger())
    plant.vehicle.state.trailers[0].angle = 0.5
    drive(plant, twist(0.5, 0.0, 0.0), 4.0)
    way = plant.motion(0).x
    assert plant.motion(0).v_x == 0.0
    assert 0.5 < way < 1.1
    expected = 2.0 * np.arctan(np.tan(0.25) * np.exp(-way / 1.2))
    assert plant.vehicle.state.trailers[0].angle == pytest.approx(expected, abs=1e-6)
