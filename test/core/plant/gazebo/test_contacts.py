"""Contacts of a vehicle in a real Gazebo: with a wall, and none with the ground."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from helpers.gazebo import preset, vehicle
from helpers.processes import PATIENCE

from vds_gz.core.description import gz_topics as topics
from vds_gz.core.plant.gazebo.gazebo_server import Spawn
from vds_gz.core.plant.gazebo.links import bindings

pytestmark = pytest.mark.gazebo

WALL = """<sdf version="1.9"><model name="wall"><static>true</static><link name="link">
<collision name="face"><geometry><box><size>1 2 2</size></box></geometry></collision></link></model></sdf>"""


def touched(serve: Callable[..., Any], *walls: Spawn) -> list[Any]:
    """Contacts of a robot's body during its first 200 messages of joint states."""
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


def test_a_body_against_a_wall_has_a_contact(serve: Callable[..., Any]) -> None:
    messages = touched(serve, Spawn(WALL, (0.6, 0.0, 1.0, 0.0, 0.0, 0.0)))
    names = {(pair.collision1.name, pair.collision2.name) for message in messages for pair in message.contact}
    assert ("vehicle::base_link::chassis_collision_0", "wall::link::face") in names


def test_wheels_and_casters_on_the_ground_are_no_contact(serve: Callable[..., Any]) -> None:
    assert touched(serve) == []
