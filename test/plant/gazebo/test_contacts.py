"""A vehicle that leans against a wall in a real Gazebo says so; one that only stands on its wheels says nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from helpers.gazebo import preset, vehicle
from helpers.processes import PATIENCE

from vds_gz.description import gz_topics as topics
from vds_gz.plant.gazebo.links import bindings
from vds_gz.plant.gazebo.server import Spawn

pytestmark = pytest.mark.gazebo

WALL = """<sdf version="1.9"><model name="wall"><static>true</static><link name="link">
<collision name="face"><geometry><box><size>1 2 2</size></box></geometry></collision></link></model></sdf>"""


def touched(serve: Callable[..., Any], *walls: Spawn) -> list[Any]:
    """The contacts of a robot's body in its first moments, beside its joints' states, which show that it lives."""
    serve(vehicle(preset("indoor_robot")), *walls)
    node = bindings.transport().Node()
    contacts: list[Any] = []
    states: list[Any] = []
    node.subscribe(bindings.message("contacts", "Contacts"), topics.contacts("vehicle"), contacts.append)
    node.subscribe(bindings.message("model", "Model"), topics.joint_state("vehicle"), states.append)
    deadline = time.monotonic() + PATIENCE
    while (len(states) < 200 or (walls and not contacts)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for topic in (topics.contacts("vehicle"), topics.joint_state("vehicle")):
        node.unsubscribe(topic)
    assert len(states) >= 200
    return contacts


def test_a_body_that_leans_against_a_wall_feels_it(serve: Callable[..., Any]) -> None:
    messages = touched(serve, Spawn(WALL, (0.6, 0.0, 1.0, 0.0, 0.0, 0.0)))
    names = {(one.collision1.name, one.collision2.name) for message in messages for one in message.contact}
    assert ("vehicle::base_link::chassis_collision_0", "wall::link::face") in names


def test_wheels_and_casters_on_the_ground_are_no_contact(serve: Callable[..., Any]) -> None:
    assert touched(serve) == []
