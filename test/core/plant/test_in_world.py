"""The kinematic vehicle on the ground and among the obstacles of a world: closed forms and properties."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from helpers.guest import needs_autoware
from hypothesis import given, settings
from hypothesis import strategies as st

from vds_gz.core.configuration import load_parameters
from vds_gz.core.description.footprint import footprint_of
from vds_gz.core.description.urdf_writer import urdf
from vds_gz.core.geometry import GRAVITY, Attitude, Pose, into_body, slope_acceleration
from vds_gz.core.plant.base import Level
from vds_gz.core.plant.in_world import WorldPlant
from vds_gz.core.plant.kinematic import KinematicPlant
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import SteadyMotion, ackermann, twist
from vds_gz.core.vehicle.make_vehicle import make_guarded_vehicle, make_vehicle
from vds_gz.core.world.geometry_reader import matrix, rotation_of_angles
from vds_gz.core.world.load_world import load_world, world_file
from vds_gz.core.world.obstacles import SKIN
from vds_gz.core.world.packing import Thing
from vds_gz.core.world.ray_caster import RayCaster
from vds_gz.core.world.scene import Scene
from vds_gz.core.world.shapes import Box, Capsule, Cylinder, HalfSpace, Mesh, sphere
from vds_gz.core.world.surroundings import Surroundings, read_obstacles

SECOND = 1_000_000_000
CAR = load_parameters("ackermann_car")
FAST = load_parameters(
    "ackermann_car",
    {
        f"model_params.bicycle.drive_actuator.{name}": 0.0
        for name in ("max_velocity", "max_acceleration", "dead_time", "time_constant")
    },
)
FRONT, SIDE = 2.975, 0.825
GROUND = Thing("ground", HalfSpace(), np.eye(4))


def at(x=0.0, y=0.0, z=0.0, roll=0.0, pitch=0.0, yaw=0.0):
    return matrix(rotation_of_angles(roll, pitch, yaw), np.array((x, y, z)))


def vehicle_of(parameters):
    model = models()[parameters.model]
    vehicle = make_guarded_vehicle(parameters)
    vehicle.max_command_age = 1e6
    return vehicle, footprint_of(urdf(model.name, parameters.vehicle, model.xacro), model.geometry(parameters.vehicle))


def plant_in(things, parameters=CAR, collisions="stop", ground=(GROUND,), movers=()):
    caster = RayCaster([*ground, *things], compiled=False)
    vehicle, footprint = vehicle_of(parameters)
    return WorldPlant(vehicle, footprint, Surroundings(Scene("test", caster, caster), movers), collisions)


def plant_beside(tmp_path, obstacle, parameters=FAST):
    """A plant beside a moving obstacle."""
    file = tmp_path / "obstacles.yaml"
    file.write_text(f"obstacles: [{obstacle}]", encoding="utf-8")
    return plant_in([], parameters, movers=[read_obstacles(file)])


def plant_outdoors(parameters=CAR):
    vehicle, footprint = vehicle_of(parameters)
    return WorldPlant(vehicle, footprint, Surroundings(load_world(world_file("outdoor")).interpreted()), "stop")


def drive(plant, command, seconds, period=20_000_000):
    plant.vehicle.enter(command, plant.vehicle.time)
    end = plant.vehicle.time + round(seconds * SECOND)
    while plant.vehicle.time < end:
        plant.advance(min(end, plant.vehicle.time + period))


# ---------------------------------------------------------------------- ground


def test_an_empty_flat_world_does_not_change_the_motion():
    parameters = load_parameters("ackermann_car")
    plain = KinematicPlant(make_vehicle(parameters))
    plain.vehicle.max_command_age = 1e6
    plant = plant_in([], parameters)
    for driven in (plain, plant):
        drive(driven, twist(3.0, 0.0, 0.4), 5.0)
        drive(driven, twist(-1.0, 0.0, 0.2), 3.0)
    assert plant.motion(0) == plain.motion(0)
    assert plant.attitude(0) == Attitude()
    assert plant.body(plant.vehicle.time) == plain.body(plain.vehicle.time)


@pytest.mark.parametrize("heading", [0.0, 1.0])
def test_distances_on_a_slope_are_along_it(heading):
    """The path on the map is the path along the slope, seen from above."""
    slope = 0.2
    plane = Thing("ramp", HalfSpace(), at(pitch=-slope))
    plant = plant_in([plane])
    plant.set_pose(Pose(50.0, 0.0, heading), Attitude(math.tan(slope) * 50.0, 0.0, 0.0))
    drive(plant, twist(2.0, 0.0, 0.0), 4.0)
    motion, attitude = plant.motion(0), plant.attitude(0)
    assert attitude.z == pytest.approx(math.tan(slope) * motion.x, abs=1e-9)
    length = math.dist((motion.x, motion.y, attitude.z), (50.0, 0.0, math.tan(slope) * 50.0))
    flat = KinematicPlant(make_vehicle(CAR))
    flat.vehicle.max_command_age = 1e6
    drive(flat, twist(2.0, 0.0, 0.0), 4.0)
    assert length == pytest.approx(flat.motion(0).x, abs=0.01)
    up = into_body(plant.body(plant.vehicle.time).pose.orientation, (-math.sin(slope), 0.0, math.cos(slope)))
    assert up == pytest.approx((0.0, 0.0, 1.0), abs=1e-9)
    assert motion.heading == pytest.approx(heading, abs=1e-9)


def test_a_car_on_tyres_stands_across_a_slope_and_drifts_down_it_when_it_drives():
    slope = 0.1
    plant = plant_in([Thing("ramp", HalfSpace(), at(pitch=-slope))], load_parameters("f1tenth"))
    plant.set_pose(Pose(50.0, 0.0, 0.5 * math.pi), Attitude(math.tan(slope) * 50.0, 0.0, 0.0))
    x = plant.motion(0).x
    plant.advance(SECOND)
    assert plant.motion(SECOND).x == pytest.approx(x, abs=1e-9)
    assert plant.vehicle.state.road_bank == pytest.approx(slope_acceleration(slope), rel=1e-6)
    plant.vehicle.enter(ackermann(5.0, 0.0), SECOND)
    plant.advance(3 * SECOND)
    assert plant.motion(3 * SECOND).x < x - 0.05


#: A car whose tyres slip, without delay or lag.
SLIPPING = load_parameters(
    "midsize_car",
    {
        f"model_params.single_track.{name}": 0.0
        for name in (
            *(f"drive_actuator.{name}" for name in ("max_velocity", "max_acceleration", "dead_time", "time_constant")),
            *(f"steering_actuator.{name}" for name in ("max_velocity", "dead_time", "time_constant")),
            *("drag", "rolling_resistance"),
        )
    },
)
ICE = replace(GROUND, name="ice", shape=Box((400.0, 200.0, 0.002)), friction=0.1)


def slipping_plant(*things):
    plant = plant_in(things, SLIPPING)
    plant.set_pose(Pose(-100.0))
    plant.vehicle.state = plant.vehicle.model.at(plant.vehicle.coefficients, SteadyMotion(10.0))
    plant.set_pose(Pose(-100.0))
    return plant


def test_on_ice_a_car_needs_the_braking_distance_of_its_friction():
    snow = replace(ICE, friction=0.3)
    plant = slipping_plant(snow)
    drive(plant, ackermann(10.0, 0.0), 0.1)
    motion = plant.motion(0)
    assert motion.v_x == pytest.approx(10.0, abs=1e-9)
    drive(plant, ackermann(0.0, 0.0), 3.6)
    assert plant.motion(0).v_x == 0.0
    distance = 10.0**2 / (2.0 * snow.friction * GRAVITY)
    assert plant.motion(0).x - motion.x == pytest.approx(distance, rel=1e-3)


def test_on_ice_a_circle_ends_at_friction_times_gravity():
    grip = ICE.friction * GRAVITY
    largest = 0.0
    plant = slipping_plant(ICE)
    for angle in np.linspace(0.0, 0.1, 20):
        drive(plant, ackermann(10.0, float(angle)), 0.2)
        largest = max(largest, plant.motion(0).v_x * plant.motion(0).yaw_rate)
    assert 0.9 * grip < largest < 1.1 * grip  # it also turns while it slides outwards
    assert largest < 10.0**2 * math.tan(0.1) / SLIPPING.vehicle.wheel_base / 3.0


@pytest.mark.parametrize("rough", [0.7, math.inf])
def test_a_car_with_some_wheels_on_ice_has_the_mean_friction_of_ground_and_tyres(rough):
    plant = slipping_plant(replace(ICE, pose=at(y=-100.0)), replace(ICE, pose=at(y=100.0), friction=rough))
    friction = 0.5 * (ICE.friction + min(rough, SLIPPING.vehicle.friction))
    assert plant.vehicle.state.road_friction == pytest.approx(friction)


def test_a_car_does_not_tilt_into_a_beam_and_can_drive_back():
    """A step up would tilt it into the beam."""
    step = replace(ICE, shape=Box((20.0, 20.0, 0.1)), pose=at(-80.0))
    height = slipping_plant()._body.upper[2]
    plant = slipping_plant(step, Thing("beam", Box((40.0, 4.0, 0.2)), at(-85.0, z=height + 0.12)))
    front = SLIPPING.vehicle.wheel_base
    drive(plant, ackermann(10.0, 0.0), 1.0)
    assert plant.motion(0).v_x == 0.0
    assert plant.motion(0).x + front == pytest.approx(-90.0, abs=0.03)
    assert plant.attitude(0) == Attitude()
    assert plant.vehicle.state.road_friction == SLIPPING.vehicle.friction
    drive(plant, ackermann(-2.0, 0.0), 1.0)
    assert plant.motion(0).x + front < -91.0


def test_ground_with_more_friction_than_the_tyres_does_not_change_the_motion():
    level = replace(ICE, pose=at(z=-0.001))
    plants = [slipping_plant(replace(level, friction=friction)) for friction in (math.inf, SLIPPING.vehicle.friction)]
    for plant in plants:
        drive(plant, ackermann(12.0, 0.2), 0.6)
        drive(plant, ackermann(0.0, -0.2), 0.3)
    assert plants[0].motion(0) == plants[1].motion(0)


def test_a_steady_turn_on_a_slope_is_a_circle():
    slope = 0.3
    plant = plant_in([Thing("ramp", HalfSpace(), at(pitch=-slope))])
    plant.set_pose(Pose(50.0, 0.0, 0.0), Attitude(math.tan(slope) * 50.0))
    drive(plant, twist(4.0, 0.0, 1.0), 3.0)  # until it turns steadily
    points = []
    for _ in range(32):
        drive(plant, twist(4.0, 0.0, 1.0), 0.196)
        points.append(plant.body(plant.vehicle.time).pose.position)
    points = np.array(points)
    middle = points.mean(axis=0)
    away = np.linalg.norm(points - middle, axis=1)
    motion = plant.motion(0)
    assert away == pytest.approx(np.full(32, away.mean()), abs=0.02)
    assert away.mean() == pytest.approx(motion.v_x / motion.yaw_rate, rel=0.03)


def test_the_pitch_changes_smoothly_onto_a_ramp():
    """The ramp begins in front of the vehicle."""
    slope = 0.1
    ramp = Thing("ramp", Box((100.0, 10.0, 2.0)), at(15.0, 0.0, -math.cos(slope), pitch=-slope))
    plant = plant_in([ramp])
    foot = plant.vehicle.time
    pitches, heights = [], []
    for _ in range(400):
        drive(plant, twist(5.0, 0.0, 0.0), 0.02)
        pitches.append(plant.attitude(foot).pitch)
        heights.append(plant.attitude(foot).z)
    assert min(pitches) == pytest.approx(-slope, abs=1e-6)
    assert pitches[0] == 0.0
    assert np.abs(np.diff(pitches)).max() < 0.01
    assert np.abs(np.diff(heights)).max() < 0.02
    assert plant.status().level == Level.OK


def test_three_wheels_stand_on_the_ground_below_each():
    """The left wheel of a forklift stands on a plate."""
    forklift = load_parameters("forklift")
    plant = plant_in([Thing("plate", Box((1.0, 0.5, 0.1)), at(0.0, 0.55, 0.0))], forklift)
    attitude = plant.attitude(0)
    assert attitude.roll == pytest.approx(math.atan(math.cos(attitude.pitch) * 0.05 / 1.1), rel=0.01)
    assert attitude.z == pytest.approx(0.025, abs=1e-3)


def test_wheels_climb_a_low_step_and_a_higher_one_stops_them():
    low, high = (Thing("kerb", Box((4.0, 20.0, 2.0 * height)), at(12.0)) for height in (0.1, 0.2))
    over, stopped = plant_in([low]), plant_in([high])
    for plant in (over, stopped):
        drive(plant, twist(3.0, 0.0, 0.0), 5.0)
    assert over.motion(0).x > 8.0
    assert stopped.motion(0).x == pytest.approx(10.0 - FRONT, abs=1e-3)
    assert [contact.thing.name for contact in stopped.contacts] == ["kerb"]


def test_the_vehicle_continues_with_a_warning_where_the_ground_ends():
    plant = plant_in([Thing("deck", Box((20.0, 20.0, 1.0)), at(z=4.5))], ground=())
    assert plant.attitude(0).z == 5.0  # on the deck above, because there is nothing below
    assert plant.status().level == Level.OK
    drive(plant, twist(5.0, 0.0, 0.0), 6.0)
    assert plant.motion(0).x > 12.0
    assert plant.attitude(0).z == 5.0
    assert plant.status().level == Level.WARN
    assert "no ground below the wheels" in plant.status().text


def test_the_vehicle_drives_with_a_warning_in_an_empty_world():
    plant = plant_in([], ground=())
    drive(plant, twist(2.0, 0.0, 0.0), 2.0)
    assert plant.motion(0).x > 1.0
    assert plant.attitude(0) == Attitude()
    assert "no ground below the wheels" in plant.status().text


@needs_autoware
def test_a_car_rolls_down_the_hill_of_the_world_outdoor():
    """The ramp rises by 6 degrees from x = 10 m. Gazebo has the same test."""
    from vds_gz.autoware.vehicle.command_kinds import control

    slope, foot = math.radians(6.0), 10.0
    plant = plant_outdoors(load_parameters("autoware_delay_car"))
    drive(plant, control(0.0, 0.0, 0.0, gear=2), 1.0)
    assert abs(plant.motion(0).v_x) < 1e-6  # on the plain
    plant.set_pose(Pose(20.0, 0.5, math.pi), Attitude(math.tan(slope) * 10.0, 0.0, slope))
    standing = plant.attitude(0)
    assert standing.z == pytest.approx(math.tan(slope) * 10.0, abs=1e-4)
    assert (standing.roll, standing.pitch) == pytest.approx((0.0, slope), abs=1e-5)
    before = plant.body(0).pose.position
    drive(plant, control(0.0, 0.0, 0.0, gear=2), 2.0)
    motion, attitude = plant.motion(0), plant.attitude(0)
    way = math.dist(before, (motion.x, motion.y, attitude.z))
    assert way > 1.0
    assert motion.v_x**2 / (2.0 * way) == pytest.approx(slope_acceleration(slope), rel=0.02)
    assert attitude.z == pytest.approx(math.tan(slope) * (motion.x - foot), abs=1e-4)


def test_motion_on_a_hill_does_not_depend_on_the_period_of_advances():
    ends = []
    for period in (1_000_000, 333_000_000):
        plant = plant_outdoors()
        plant.set_pose(Pose(8.0, 0.0, 0.0))
        drive(plant, twist(4.0, 0.0, 0.1), 1.5, period)
        ends.append((plant.motion(0), plant.attitude(0)))
    assert ends[0][1].pitch < -0.05
    assert ends[0] == ends[1]


# ---------------------------------------------------------------------- walls


@pytest.mark.parametrize("speed", [0.1, 300.0])
def test_a_wall_stops_the_car_at_its_face(speed):
    plant = plant_in([Thing("wall", Box((1.0, 20.0, 2.0)), at(3.3 + 0.5, 0.0, 1.0))], FAST)
    drive(plant, twist(speed, 0.0, 0.0), max(0.5, 0.4 / speed))
    motion = plant.motion(0)
    assert 0.4 * SKIN < 3.3 - FRONT - motion.x < 1.1 * SKIN
    assert (motion.v_x, motion.v_y, motion.yaw_rate) == (0.0, 0.0, 0.0)
    (contact,) = plant.contacts
    assert contact.thing.name == "wall"
    assert contact.normal == pytest.approx((-1.0, 0.0, 0.0), abs=1e-6)
    assert contact.point[0] == pytest.approx(3.3, abs=1e-6)
    assert contact.depth == 0.0
    assert not any(plant.joint_states(0).velocities)
    assert plant.joint_states(0).positions[-1] == pytest.approx(motion.x / 0.25, rel=1e-6)  # no wheel slipped
    assert "touches wall" in plant.status().text
    drive(plant, twist(-speed, 0.0, 0.0), 0.5)
    assert plant.motion(0).x < 3.3 - FRONT - 0.4 * speed
    assert plant.contacts == ()


#: Limit of the drives' acceleration [m/s^2].
GAIN = 1.5


def limited(model):
    """The defaults of a model with the acceleration limited to :data:`GAIN`."""
    limits = {"bicycle": "drive_actuator.max_acceleration", "differential": "drive_actuators.max_acceleration"}
    limits |= {"omni": limits["differential"], "single_track": limits["bicycle"]}
    groups = {"delay": "vel_rate_lim", "actuation": "vel_rate_lim"}
    name = limits.get(model) or groups[model.partition("_")[0]]
    return load_parameters("vds_defaults", {"model": model, f"model_params.{model}.{name}": GAIN})


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(name, marks=() if name in ("bicycle", "omni", "single_track") else pytest.mark.slow)
        for name in models()
        if not name.startswith("ideal")
    ],
)
def test_a_vehicle_that_is_released_accelerates_within_its_limits(model):
    """It presses against a wall and is placed elsewhere; its drives start at rest, so its IMU measures no shock."""
    plant = plant_in([Thing("wall", Box((1.0, 20.0, 2.0)), at(4.0, 0.0, 1.0))], limited(model))
    plant.set_pose(Pose(3.4 - plant._body.upper[0]))
    drive(plant, twist(0.8, 0.0, 0.0), 3.0)
    assert plant.contacts
    assert plant.motion(0).v_x == 0.0
    plant.set_pose(Pose(-50.0))
    joints = plant.joint_states(0).positions
    assert _felt(plant, 1.0) <= 1.001 * GAIN
    way = plant.motion(0).x + 50.0
    assert way > 0.2
    # The wheels have rolled as far as the vehicle moved.
    radius = 0.5 * plant.vehicle.parameters.tire_diameter
    assert plant.joint_states(0).positions[-1] - joints[-1] == pytest.approx(way / radius, abs=1e-3 / radius)


def test_a_vehicle_whose_obstacle_goes_accelerates_within_its_limits(tmp_path):
    cart = "{name: cart, box: [2, 1, 1], path: [[4, 0], [4, 0], [4, 20]], times: [0, 1.5, 1.6]}"
    plant = plant_beside(tmp_path, cart, limited("bicycle"))
    plant.set_pose(Pose(3.4 - plant._body.upper[0]))
    drive(plant, twist(0.8, 0.0, 0.0), 1.4)
    assert [contact.thing.name for contact in plant.contacts] == ["cart"]
    assert _felt(plant, 1.0) <= 1.001 * GAIN
    assert plant.motion(0).v_x > 0.5


def _felt(plant, seconds):
    """The maximum acceleration along x in some time [s], by the body and by changes of speed [m/s^2]."""
    speeds, felt = [plant.motion(0).v_x], []
    for _ in range(round(seconds * 1000)):
        plant.advance(plant.vehicle.time + 1_000_000)
        speeds.append(plant.motion(0).v_x)
        felt.append(abs(plant.body(plant.vehicle.time).acceleration[0]))
    return max(*felt, *np.abs(np.diff(speeds)) * 1000.0)


@pytest.mark.parametrize("period", [20_000_000, 333_000_000])
def test_a_thin_pole_stops_a_fast_car_at_any_period_of_advances(period):
    assert _pole_at(period).x == pytest.approx(100.0 - 0.005 - FRONT, abs=2e-4)
    assert _pole_at(period) == _pole_at(1_000_000)


@cache
def _pole_at(period):
    plant = plant_in([Thing("pole", Cylinder(0.005, 2.0), at(100.0, 0.3, 1.0))], FAST)
    drive(plant, twist(300.0, 0.0, 0.0), 1.0, period)
    return plant.motion(0)


def test_a_vehicle_drives_along_a_wall_and_turns_away_from_one_ahead():
    beside = Thing("wall", Box((100.0, 1.0, 2.0)), at(0.0, SIDE + 0.5 + 0.6 * SKIN, 1.0))
    plant = plant_in([beside], FAST)
    drive(plant, twist(5.0, 0.0, 0.0), 0.3)
    assert plant.motion(0).x == pytest.approx(1.5, abs=0.01)
    robot = load_parameters("indoor_robot")
    plant = plant_in([Thing("wall", Box((1.0, 20.0, 2.0)), at(0.22 + 0.5 + 0.6 * SKIN, 0.0, 1.0))], robot)
    plant.set_pose(Pose(0.0, 0.0, 0.0))
    drive(plant, twist(0.5, 0.0, 0.0), 0.5)
    assert plant.contacts
    drive(plant, twist(-0.5, 0.0, 0.0), 1.0)
    drive(plant, twist(0.0, 0.0, 1.0), 1.0)
    assert plant.motion(0).heading > 0.5


def test_report_passes_through_with_contacts_and_off_without():
    wall = Thing("wall", Box((0.5, 20.0, 2.0)), at(6.0, 0.0, 1.0))
    reported, off = plant_in([wall], FAST, "report"), plant_in([wall], FAST, "off")
    depths = []
    for _ in range(45):
        drive(reported, twist(10.0, 0.0, 0.0), 0.02)
        depths += [contact.depth for contact in reported.contacts]
    drive(off, twist(10.0, 0.0, 0.0), 0.9)
    assert reported.motion(0) == off.motion(0)
    assert off.contacts == ()
    assert max(depths) == pytest.approx(0.5 + 0.5 * (FRONT + 0.275) - 0.25, abs=0.3)
    assert reported.contacts == ()
    assert reported.status().level == Level.OK


def test_a_vehicle_placed_in_a_wall_can_drive_out_and_not_further_in():
    plant = plant_in([Thing("wall", Box((1.0, 20.0, 2.0)), at(FRONT + 0.4, 0.0, 1.0))], FAST)
    assert "0.100 m deep in wall" in plant.status().text
    drive(plant, twist(1.0, 0.0, 0.0), 0.5)
    assert plant.motion(0).x == pytest.approx(0.0, abs=1e-6)
    drive(plant, twist(-1.0, 0.0, 0.0), 0.5)
    assert plant.motion(0).x == pytest.approx(-0.5, abs=0.01)
    assert plant.status().level == Level.OK


SHAPES = [
    Box((1.0, 0.5, 2.0)),
    Cylinder(0.3, 2.0),
    Capsule(0.3, 1.0),
    sphere(0.6),
    Mesh(np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 2.0)]), np.array([(0, 1, 2)])),
]


def scene_of(random, count):
    things = []
    for k in range(count):
        place = random.uniform(4.0, 15.0) * np.array((math.cos(k), math.sin(k)))
        pose = at(*place, random.uniform(0.0, 1.5), *random.uniform(-1.0, 1.0, 2), random.uniform(-3.0, 3.0))
        things.append(Thing(str(k), SHAPES[random.integers(len(SHAPES))], pose))
    return things


@settings(max_examples=10)
@given(st.integers(0, 10_000))
def test_a_vehicle_never_enters_a_thing_and_stops_only_at_contacts(seed):
    """Random things and commands; the edges of the body stay outside of all things."""
    random = np.random.default_rng(seed)
    things = scene_of(random, 12)
    plant = plant_in(things, FAST)
    if plant.contacts:
        return
    corners = np.array([(x, y, z) for x in (-0.275, FRONT) for y in (-SIDE, SIDE) for z in (0.125, 0.5)])
    for _ in range(15):
        command = twist(random.uniform(-20.0, 20.0), 0.0, random.uniform(-2.0, 2.0))
        drive(plant, command, 0.1)
        pose = plant.body(0).pose
        edges = np.array([pose.apply(tuple(corner)) for corner in corners])
        _assert_outside(things, edges)
        motion = plant.motion(0)
        assert plant.contacts or math.hypot(motion.v_x, motion.yaw_rate) > 0.0


def _assert_outside(things, corners):
    """Rays along the twelve edges of the body hit no thing."""
    caster = RayCaster(things, compiled=False)
    pairs = [(i, j) for i in range(8) for j in range(i) if bin(i ^ j).count("1") == 1]
    origins = np.array([corners[i] for i, _ in pairs])
    ways = np.array([corners[j] for _, j in pairs]) - origins
    lengths = np.linalg.norm(ways, axis=1)
    ranges, _ = caster.cast(origins, ways / lengths[:, None])
    assert (ranges >= lengths).all()


def test_a_moving_obstacle_stops_the_vehicle_where_it_is(tmp_path):
    """A cart crosses the path: the car stops at it, and continues after it has left."""
    plant = plant_beside(tmp_path, "{name: cart, box: [2, 1, 1], path: [[8, 0], [8, 0], [8, 20]], times: [0, 2, 6]}")
    drive(plant, twist(5.0, 0.0, 0.0), 1.5)
    assert plant.motion(0).x == pytest.approx(8.0 - 0.5 - FRONT, abs=2e-4)  # the cart is headed to the left
    assert [contact.thing.name for contact in plant.contacts] == ["cart"]
    drive(plant, twist(5.0, 0.0, 0.0), 2.5)
    assert plant.motion(0).x > 10.0
    assert plant.contacts == ()


@pytest.mark.parametrize("turn_at", [3.01, 3.05])
def test_an_obstacle_that_turns_into_the_path_stops_the_vehicle(tmp_path, turn_at):
    """A long pole beside the path turns across it just before the car, which had room at its last check."""
    path, times = [[8, 2.9], [14, 2.9], [14, 50]], [0, turn_at, turn_at + 23.0]
    plant = plant_beside(tmp_path, f"{{name: pole, box: [6, 0.1, 1], path: {path}, times: {times}}}")
    plant.set_pose(Pose(13.85 - FRONT - 5.0 * turn_at, 0.0, 0.0))
    drive(plant, twist(5.0, 0.0, 0.0), turn_at + 0.4)
    assert plant.motion(0).x == pytest.approx(14.0 - 0.05 - FRONT, abs=2e-4)
