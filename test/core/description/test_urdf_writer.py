"""The robot descriptions: names, places, axes, limits and inertias, read back from the URDF."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, replace

import numpy as np
import pytest
from helpers.robots import BICYCLES, OFFSET, VEHICLES, Robot, drawn, numbers, origin

from vds_gz.core.description.urdf_reader import DescriptionError
from vds_gz.core.description.urdf_writer import urdf
from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
from vds_gz.core.parameters.declaration import group, real
from vds_gz.core.parameters.vehicles import (
    BicycleParameters,
    DifferentialParameters,
    FourWheelSteeringParameters,
    OmniParameters,
    SingleTrackParameters,
    SwerveParameters,
)
from vds_gz.core.share import share
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import SteadyMotion
from vds_gz.core.vehicle.swerve import SWERVE, module_names


@pytest.fixture(params=VEHICLES, ids=lambda vehicle: str(vehicle[0]))
def vehicle(request):
    model, parameters = request.param
    return model, parameters, drawn(model, parameters)


# Names


def sides(track: float) -> list[str]:
    return ["_left", "_right"] if track else [""]


@pytest.mark.parametrize("parameters", BICYCLES)
def test_joints_of_a_bicycle(parameters):
    steered, fixed = sides(parameters.track_steered), sides(parameters.track_fixed)
    assert drawn("bicycle", parameters).movable() == {
        *(f"steering{side}" for side in steered),
        *(f"steered_wheel{side}_joint" for side in steered),
        *(f"fixed_wheel{side}_joint" for side in fixed),
    }


def test_joints_of_the_others():
    differential = drawn("differential", DifferentialParameters())
    omni = drawn("omni", OmniParameters())
    assert differential.movable() == {"wheel_left_joint", "wheel_right_joint"}
    assert omni.movable() == {
        "wheel_front_left_joint",
        "wheel_rear_left_joint",
        "wheel_rear_right_joint",
        "wheel_front_right_joint",
    }


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ((0.3, -0.3, -0.3, 0.3), (0.25, 0.25, -0.25, -0.25)),
        ((2.0, 1.0, 1.2, 2.0), (-1.0, 1.0, -1.0, 1.5)),  # corners around another middle
        ((0.3, 0.0, -0.3, 0.0), (0.0, 0.3, 0.0, -0.3)),
        ((0.4, -0.3, 0.0), (0.0, 0.2, -0.3)),
        ((0.1, 0.2, 0.3, -0.1, -0.2, -0.3, 0.0, 0.5), (0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.7, 0.8)),
    ],
)
def test_joints_of_a_swerve_vehicle_are_at_their_modules(x, y):
    parameters = SwerveParameters(module_x=x, module_y=y, base_link_offset=OFFSET)
    robot = drawn("swerve", parameters)
    assert robot.movable() == {joint.name for joint in SWERVE.joints(parameters)}
    for name, *place in zip(module_names(parameters), x, y, strict=True):
        assert robot.place(f"wheel_{name}") == pytest.approx([place[0] - OFFSET, place[1], 0.1])


def test_joints_are_those_of_the_vehicle_model(vehicle):
    model, parameters, robot = vehicle
    assert robot.movable() == {joint.name for joint in models()[model].joints(parameters)}
    for joint in models()[model].joints(parameters):
        axis = numbers(robot.joints[joint.name].find("axis").get("xyz"))
        assert axis.tolist() == ([0, 0, 1] if joint.kind == "steering" else [0, 1, 0])


def test_names_are_unique_among_links_and_joints_together(vehicle):
    _, _, robot = vehicle
    names = [element.get("name") for element in robot.root if element.tag in ("link", "joint")]
    assert len(names) == len(set(names))


def test_links_form_one_tree_below_base_link(vehicle):
    _, _, robot = vehicle
    children = [joint.find("child").get("link") for joint in robot.joints.values()]
    parents = {joint.find("parent").get("link") for joint in robot.joints.values()}
    assert sorted([*children, "base_link"]) == sorted(robot.links)
    assert parents <= set(robot.links)


def test_base_footprint_is_base_link(vehicle):
    """Nav2's default parameters name it."""
    _, _, robot = vehicle
    joint = robot.joints["base_footprint_mount"]
    assert (joint.get("type"), joint.find("parent").get("link")) == ("fixed", "base_link")
    assert joint.find("origin") is None


def test_a_link_above_base_link_is_refused(tmp_path):
    drawing = tmp_path / "own.urdf.xacro"
    joint = '<joint name="up" type="fixed"><parent link="base_footprint"/><child link="base_link"/></joint>'
    drawing.write_text(f'<robot name="own"><link name="base_footprint"/><link name="base_link"/>{joint}</robot>')
    with pytest.raises(DescriptionError, match=r"link 'base_link' of .* is the child of a joint; it must be"):
        urdf("omni", OmniParameters(), drawing)


def test_a_wheel_is_named_as_its_joint(vehicle):
    _, _, robot = vehicle
    for name in robot.movable():
        child = robot.joints[name].find("child").get("link")
        assert child == (f"{name}_knuckle" if name.startswith("steering") else name.removesuffix("_joint"))


# Places and axes


@pytest.mark.parametrize("parameters", BICYCLES)
def test_places_of_a_bicycle(parameters):
    robot = drawn("bicycle", parameters)
    radius = parameters.tire_diameter / 2
    front = -OFFSET + (-1 if parameters.reverse else 1) * parameters.wheel_base
    assert robot.place("fixed_axle") == pytest.approx([-OFFSET, 0, radius])
    for axle, x, track in (("fixed", -OFFSET, parameters.track_fixed), ("steered", front, parameters.track_steered)):
        for side, y in zip(sides(track), (track / 2, -track / 2), strict=False):
            assert robot.place(f"{axle}_wheel{side}") == pytest.approx([x, y, radius])


SIDES = {"left": (0.0, 0.2), "right": (0.0, -0.2)}
CORNERS = {"front_left": (0.3, 0.2), "rear_left": (-0.3, 0.2), "rear_right": (-0.3, -0.2), "front_right": (0.3, -0.2)}


@pytest.mark.parametrize(
    ("model", "parameters", "middle", "wheels"),
    [
        (
            "differential",
            DifferentialParameters(OFFSET, track=0.4),
            "fixed_axle",
            {"left": (0.0, 0.2), "right": (0.0, -0.2)},
        ),
        ("omni", OmniParameters(OFFSET, wheel_base=0.6, track=0.4), "wheel_center", CORNERS),
        (
            "four_wheel_steering",
            FourWheelSteeringParameters(OFFSET, wheel_base=0.6, track_front=0.4, track_rear=0.5),
            "rear_axle",
            {
                **{"front_left": (0.6, 0.2), "front_right": (0.6, -0.2)},
                **{"rear_left": (0.0, 0.25), "rear_right": (0.0, -0.25)},
            },
        ),
    ],
)
def test_places_of_a_robot(model, parameters, middle, wheels):
    robot = drawn(model, parameters)
    radius = parameters.tire_diameter / 2
    assert robot.place(middle) == pytest.approx([-OFFSET, 0, radius])
    for name, (x, y) in wheels.items():
        assert robot.place(f"wheel_{name}") == pytest.approx([x - OFFSET, y, radius])


def test_wheels_and_caster_stand_on_the_ground_and_the_body_above(vehicle):
    _, _, robot = vehicle
    for name, link in robot.links.items():
        for collision in link.findall("collision"):
            height = (robot.pose(name) @ origin(collision))[2, 3]
            sphere, box = collision.find("geometry/sphere"), collision.find("geometry/box")
            if sphere is not None:
                assert height == pytest.approx(float(sphere.get("radius")))
            else:
                assert height > numbers(box.get("size"))[2] / 2


@pytest.mark.parametrize("parameters", BICYCLES)
def test_a_steered_wheel_turns_about_the_vertical_and_rolls_forwards(parameters):
    robot = drawn("bicycle", parameters)
    for side in sides(parameters.track_steered):
        angle, roll = 0.4, 0.1
        pose = robot.pose(f"steered_wheel{side}", **{f"steering{side}": angle, f"steered_wheel{side}_joint": roll})
        axle, top = pose[:3, 1], pose[:3, 2]
        assert axle == pytest.approx([-math.sin(angle), math.cos(angle), 0])
        assert top == pytest.approx(
            [math.sin(roll) * math.cos(angle), math.sin(roll) * math.sin(angle), math.cos(roll)]
        )


def test_wheels_roll_forwards_and_have_a_mark(vehicle):
    _, _, robot = vehicle
    for name in robot.movable():
        if not name.startswith("steering"):
            wheel = name.removesuffix("_joint")
            assert robot.pose(wheel, **{name: 0.1})[0, 2] == pytest.approx(math.sin(0.1))
            marks = [visual for visual in robot.links[wheel].findall("visual") if origin(visual)[2, 3] > 0]
            assert marks, f"{wheel} has no mark that shows its rotation"


@pytest.mark.parametrize(("pattern", "sign"), [("x", 1), ("o", -1)])
def test_rollers_on_top_form_the_pattern(pattern, sign):
    robot = drawn("omni", OmniParameters(roller_pattern=pattern))
    for wheel in ("front_left", "rear_left", "rear_right", "front_right"):
        x, y = robot.place(f"wheel_{wheel}")[:2]
        rollers = [visual for visual in robot.links[f"wheel_{wheel}"].findall("visual") if is_cylinder(visual)]
        along = origin(max(rollers, key=lambda visual: origin(visual)[2, 3]))[:3, 2]
        # Towards the middle of the vehicle in an X, and across that direction in an O.
        assert abs(along[2]) < 1e-9
        assert along[0] * along[1] * np.sign(x * y) == pytest.approx(0.5 * sign)


def is_cylinder(visual: ElementTree.Element) -> bool:
    return visual.find("geometry/cylinder") is not None


# Limits


@pytest.mark.parametrize("limit", [0.3, math.pi / 6, 1.2])
def test_a_single_steered_wheel_has_the_limits_of_the_actuator(limit):
    steering = SteeringParameters(max_position=limit, max_velocity=1.5)
    robot = drawn("bicycle", BicycleParameters(track_steered=0.0, steering_actuator=steering))
    assert robot.joints["steering"].get("type") == "revolute"
    assert robot.limit("steering", "upper") == pytest.approx(limit)
    assert robot.limit("steering", "lower") == pytest.approx(-limit)
    assert robot.limit("steering", "velocity") == pytest.approx(1.5)


@pytest.mark.parametrize("limit", [0.3, math.pi / 6, 1.2])
def test_two_steered_wheels_have_the_limits_of_the_inner_wheel_by_ackermanns_rule(limit):
    parameters = BicycleParameters(steering_actuator=SteeringParameters(max_position=limit, max_velocity=1.5))
    robot = drawn("bicycle", parameters)
    shift = parameters.track_steered / 2 / parameters.wheel_base

    def inner(angle):
        return np.arctan2(1.0, 1 / np.tan(angle) - shift)

    angles = np.linspace(1e-4, limit, 2000)
    fastest = 1.5 * np.max(np.diff(inner(angles)) / np.diff(angles))
    for joint in ("steering_left", "steering_right"):
        assert robot.limit(joint, "upper") == pytest.approx(inner(limit))
        assert robot.limit(joint, "lower") == pytest.approx(-inner(limit))
        assert fastest <= robot.limit(joint, "velocity") < 1.5 * 1.5


@pytest.mark.parametrize("parallel", [False, True])
def test_hinges_of_both_axles_reach_their_angles_at_both_stops_in_counter_phase(parallel):
    front, rear = SteeringParameters(max_position=0.5), SteeringParameters(max_position=0.3)
    p = FourWheelSteeringParameters(
        parallel_steering=parallel, front_steering_actuator=front, rear_steering_actuator=rear
    )
    model = models()["four_wheel_steering"]
    c = model.coefficients(p, 1e-3)
    s = model.at(c, SteadyMotion(1.0, steering_angle=0.5, rear_steering_angle=-0.3))
    robot = drawn("four_wheel_steering", p)
    for joint, angle in zip(model.joints(p), model.joint_states(c, s).positions, strict=True):
        if joint.name in ("steering_front_left", "steering_rear_left"):  # on the inner side
            assert robot.limit(joint.name, "upper") == pytest.approx(abs(angle))
            assert robot.limit(joint.name, "lower") == pytest.approx(-abs(angle))


def test_hinges_around_a_turning_centre_between_the_wheels_have_no_stops():
    wide = FourWheelSteeringParameters(
        track_front=8.0, track_rear=0.0, rear_steering_actuator=SteeringParameters(max_position=0.3)
    )
    robot = drawn("four_wheel_steering", wide)
    assert robot.joints["steering_front_left"].get("type") == "continuous"
    assert robot.limit("steering_rear", "upper") == pytest.approx(0.3)


def test_parallel_steering_keeps_the_limits_of_the_actuator():
    robot = drawn("bicycle", BicycleParameters(parallel_steering=True))
    assert robot.limit("steering_left", "upper") == pytest.approx(math.pi / 6)
    assert robot.limit("steering_left", "velocity") == pytest.approx(2.0)


def test_steering_without_end_stops_is_continuous():
    steering = SteeringParameters(max_position=0.0, max_velocity=0.0)
    parameters = BicycleParameters(drive_on_steered_wheel=True, steering_actuator=steering)
    robot = drawn("bicycle", parameters)
    assert robot.joints["steering_left"].get("type") == "continuous"
    assert robot.limit("steering_left", "velocity") > 1000


# Contacts


def test_every_link_with_a_collision_says_its_friction_and_gazebo_s_is_the_same(vehicle):
    """Wheels of rollers say it to Gazebo alone, because no other form has a direction."""
    _, _, robot = vehicle
    said = {extension.get("reference"): extension for extension in robot.root.findall("gazebo")}
    for name, link in robot.links.items():
        contact = link.find("contact")
        if link.find("collision") is None or (
            name in said and said[name].findtext("mu2") != said[name].findtext("mu1")
        ):
            assert contact is None
            continue
        values = [float(item.get("value")) for item in contact]
        assert [item.tag for item in contact] == ["lateral_friction", "rolling_friction", "spinning_friction"]
        assert values[1:] == [0.0, 0.0]
        assert values[0] == (float(said[name].findtext("mu1")) if name in said else 1.0)


def test_casters_are_smooth_and_tyres_grip_as_their_parameter_says():
    def friction(robot, link):
        return float(robot.links[link].find("contact/lateral_friction").get("value"))

    robot = drawn("differential", DifferentialParameters())
    assert (friction(robot, "caster"), friction(robot, "wheel_left")) == (0.0, 100.0)
    assert friction(drawn("single_track", SingleTrackParameters(friction=0.7)), "fixed_wheel_left") == 0.7


# Masses


def test_inertias_are_those_of_real_bodies(vehicle):
    _, _, robot = vehicle
    for link in robot.links.values():
        inertial = link.find("inertial")
        if inertial is None:
            continue
        value = {key: float(number) for key, number in inertial.find("inertia").items()}
        tensor = [[value["i" + "".join(sorted(row + column))] for column in "xyz"] for row in "xyz"]
        moments = np.linalg.eigvalsh(tensor)
        assert float(inertial.find("mass").get("value")) > 0
        assert moments[0] > 0
        assert moments[0] + moments[1] >= moments[2] * (1 - 1e-9)


def test_every_link_with_a_shape_has_a_mass_and_the_root_has_none(vehicle):
    _, _, robot = vehicle
    assert robot.links["base_link"].find("inertial") is None
    for link in robot.links.values():
        if link.find("visual") is not None:
            assert link.find("inertial") is not None


def test_a_differential_rests_on_its_caster():
    robot = drawn("differential", DifferentialParameters())
    centre = (robot.pose("chassis") @ origin(robot.links["chassis"].find("inertial")))[0, 3]
    assert robot.place("caster")[0] < centre < robot.place("fixed_axle")[0]


def test_mass_is_proportional_to_volume():
    def mass(parameters):
        robot = drawn("bicycle", parameters)
        return sum(float(element.get("value")) for element in robot.root.iter("mass"))

    large = BicycleParameters()
    small = replace(large, wheel_base=0.16, track_fixed=0.12, track_steered=0.12, tire_diameter=0.05)
    assert mass(large) == pytest.approx(1000 * mass(small))


# Files


@dataclass(frozen=True)
class SledParameters:
    length: float = real(1.5, "m", "length of the runners")
    drive: DriveParameters = group(DriveParameters)


SLED = """<robot name="sled" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <link name="base_link"/><link name="runner"/>
  <joint name="runner_mount" type="fixed">
    <origin xyz="{origin}"/><parent link="base_link"/><child link="runner"/>
  </joint>
</robot>"""


def test_a_model_of_another_package(tmp_path):
    file = tmp_path / "sled.xacro"
    file.write_text(SLED.format(origin="$(arg length) $(arg drive_max_velocity) 0"))
    assert Robot(urdf("sled", SledParameters(), file)).place("runner") == [1.5, 2.0, 0.0]


def test_unknown_model_names_the_known_ones():
    with pytest.raises(DescriptionError, match=r"'bicycel'; set its xacro .* one of bicycle, differential, .*omni"):
        urdf("bicycel", BicycleParameters())


def test_missing_file(tmp_path):
    with pytest.raises(DescriptionError, match=r"nothing\.xacro"):
        urdf("sled", SledParameters(), tmp_path / "nothing.xacro")


@pytest.mark.parametrize("text", [SLED.format(origin="$(arg width) 0 0"), "<robot", SLED.format(origin="${1 / 0}")])
def test_errors_name_the_file(tmp_path, text):
    file = tmp_path / "bad.xacro"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"bad\.xacro"):
        urdf("sled", SledParameters(), file)


def test_the_urdf_does_not_depend_on_the_directory(monkeypatch, tmp_path):
    here = urdf("bicycle", BicycleParameters())
    monkeypatch.chdir(tmp_path)
    assert urdf("bicycle", BicycleParameters()) == here


def test_the_urdf_has_no_path_of_this_machine():
    assert str(share()) not in urdf("bicycle", BicycleParameters())
