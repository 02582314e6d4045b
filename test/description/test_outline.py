"""How robots look from above."""

from __future__ import annotations

import math

import pytest

from vds_gz.description.outline import OutlineError, Wheel, outline_of
from vds_gz.description.urdf import urdf
from vds_gz.parameters.vehicles import BicycleParameters, OmniParameters
from vds_gz.vehicle.catalogue import models


@pytest.mark.parametrize("model", models().values(), ids=lambda model: model.name)
def test_every_joint_of_every_model_is_in_the_picture(model):
    parameters = model.parameters()
    outline = outline_of(urdf(model.name, parameters, model.xacro, {}))
    rolling = {joint.name for joint in model.joints(parameters) if joint.kind == "wheel"}
    steering = {joint.name for joint in model.joints(parameters) if joint.kind == "steering"}
    assert {wheel.rolls for wheel in outline.wheels} == rolling
    assert {wheel.steers for wheel in outline.wheels} - {""} == steering
    assert outline.steers == bool(steering)
    assert outline.boxes


def test_wheels_stand_where_the_parameters_say():
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


def test_links_turned_and_shifted_are_placed_so():
    wheel = "<link name='w'><visual><geometry><cylinder radius='0.3' length='0.1'/></geometry></visual></link>"
    outline = outline_of(
        f"""<robot name='r'><link name='base_link'/><link name='arm'/>{wheel}
        <joint name='mount' type='fixed'><parent link='base_link'/><child link='arm'/>
          <origin xyz='1 2 0' rpy='0 0 {math.pi / 2}'/></joint>
        <joint name='roll' type='continuous'><parent link='arm'/><child link='w'/>
          <origin xyz='0.5 0 0'/><axis xyz='0 1 0'/></joint></robot>"""
    )
    (found,) = outline.wheels
    assert (found.x, found.y) == (pytest.approx(1.0), pytest.approx(2.5))
    assert found == Wheel(found.x, found.y, 0.3, 0.1, "roll", "")


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
def test_what_cannot_be_drawn_is_said(text):
    with pytest.raises(OutlineError):
        outline_of(text)
