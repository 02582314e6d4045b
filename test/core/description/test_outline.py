"""Outlines of robots from above, and descriptions that are refused."""

from __future__ import annotations

import math
import re

import pytest

from vds_gz.core.description.footprint import OutlineWheel, outline_of
from vds_gz.core.description.urdf_reader import DescriptionError
from vds_gz.core.description.urdf_writer import urdf
from vds_gz.core.parameters.vehicles import BicycleParameters, OmniParameters
from vds_gz.core.vehicle.catalogue import models


@pytest.mark.parametrize("model", models().values(), ids=lambda model: model.name)
def test_the_outline_of_a_model_has_all_its_joints(model):
    parameters = model.parameters()
    outline = outline_of(urdf(model.name, parameters, model.xacro, {}))
    rolling = {joint.name for joint in model.joints(parameters) if joint.kind == "wheel"}
    steering = {joint.name for joint in model.joints(parameters) if joint.kind == "steering"}
    assert {wheel.rolls for wheel in outline.wheels} == rolling
    assert {wheel.steers for wheel in outline.wheels} - {""} == steering
    assert outline.steers == bool(steering)
    assert outline.boxes


def test_places_of_wheels_are_those_of_the_parameters():
    parameters = BicycleParameters(
        base_link_offset=0.25, wheel_base=2.5, track_fixed=1.5, track_steered=1.25, tire_diameter=0.75
    )
    outline = outline_of(urdf("bicycle", parameters))
    places = sorted((round(wheel.x, 9), round(wheel.y, 9), bool(wheel.steers)) for wheel in outline.wheels)
    assert places == [(-0.25, -0.75, False), (-0.25, 0.75, False), (2.25, -0.625, True), (2.25, 0.625, True)]
    assert {wheel.radius for wheel in outline.wheels} == {0.375}
    assert outline.wheel_base == pytest.approx(2.5)


def test_rear_steering_has_a_negative_wheel_base_and_no_steering_has_none():
    rear = outline_of(urdf("bicycle", BicycleParameters(wheel_base=2.0, reverse=True)))
    assert rear.wheel_base == pytest.approx(-2.0)
    assert math.isnan(outline_of(urdf("omni", OmniParameters())).wheel_base)


def test_rotations_and_translations_of_links_are_chained():
    wheel = "<link name='w'><visual><geometry><cylinder radius='0.3' length='0.1'/></geometry></visual></link>"
    outline = outline_of(
        f"""<robot name='r'><link name='base_link'/><link name='arm'/>{wheel}
        <joint name='mount' type='fixed'><parent link='base_link'/><child link='arm'/>
          <origin xyz='1 2 0' rpy='0 0 {math.pi / 2}'/></joint>
        <joint name='roll' type='continuous'><parent link='arm'/><child link='w'/>
          <origin xyz='0.5 0 0'/><axis xyz='0 1 0'/></joint></robot>"""
    )
    (result,) = outline.wheels
    assert (result.x, result.y) == (pytest.approx(1.0), pytest.approx(2.5))
    assert result == OutlineWheel(result.x, result.y, 0.3, 0.1, "roll", "")


def test_a_wheel_may_roll_about_the_z_axis_of_a_tilted_joint():
    outline = outline_of(
        """<robot name='r'><link name='base_link'/><link name='w'/>
        <joint name='roll' type='continuous'><parent link='base_link'/><child link='w'/>
          <origin xyz='0 0.1 0' rpy='-1.5708 0 0'/><axis xyz='0 0 1'/></joint></robot>"""
    )
    assert [(wheel.rolls, wheel.steers) for wheel in outline.wheels] == [("roll", "")]
    assert not outline.steers


LINKS = "<link name='a'/><link name='b'/>"


def fixed(name: str, parent: str, child: str) -> str:
    return f"<joint name='{name}' type='fixed'><parent link='{parent}'/><child link='{child}'/></joint>"


@pytest.mark.parametrize(
    ("inside", "reason"),
    [
        (LINKS, "the robot has 2 links that are no joint's child; it must have one root"),
        (LINKS + fixed("j", "a", "c"), "joint 'j' joins link 'c', which does not exist"),
        (LINKS + fixed("j", "a", "b") + fixed("k", "a", "b"), "link 'b' is the child of joints 'j' and 'k'"),
        ("<link name='r'/>" + LINKS + fixed("j", "a", "b") + fixed("k", "b", "a"), "link 'a' is not joined to"),
        (LINKS + "<joint name='j'/>", "<joint> 'j' has no attribute 'type'"),
        (LINKS + "<joint name='j' type='fixed'/>", "<joint> 'j' has no <parent link=...>"),
        (LINKS + "<joint name='j' type='fixed'><origin xyz='1 x 2'/></joint>", "has no <parent"),
    ],
)
def test_links_that_form_no_tree_are_refused_with_the_reason(inside, reason):
    with pytest.raises(DescriptionError, match=re.escape(reason)):
        outline_of(f"<robot name='r'>{inside}</robot>")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no XML",
        "<robot/>",
        "<robot><link name='a'/><joint name='j' type='fixed'><child link='a'/></joint></robot>",
        "<robot><link name='a'/><joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint></robot>",
        "<robot><link name='a'><visual><geometry><box size='1 nan 1'/></geometry></visual></link></robot>",
        "<robot><link name='a'><visual><geometry><box size='1'/></geometry></visual></link></robot>",
    ],
)
def test_invalid_descriptions_are_refused(text):
    with pytest.raises(DescriptionError):
        outline_of(text)
