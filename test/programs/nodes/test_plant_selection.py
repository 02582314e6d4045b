"""The tables of plants and of links to Gazebo, and what is said about large worlds."""

from pathlib import Path

import numpy as np

from vds_gz.core.parameters.declaration import describe
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.plant.gazebo.links.link_types import LINKS
from vds_gz.core.world.packing import Thing
from vds_gz.core.world.ray_caster import RayCaster
from vds_gz.core.world.scene import Scene
from vds_gz.core.world.shapes import Mesh
from vds_gz.programs.nodes.plant_selection import PLANTS, delay_without_numba


def choices(name: str) -> set[str]:
    return {*next(parameter for parameter in describe(NodeParameters()) if parameter.name == name).choices}


def test_the_parameter_backend_names_every_plant():
    assert choices("backend") == {*PLANTS, "auto"}, "vds_gz/core/parameters/node.py has the choices of 'backend'"


def test_the_parameter_link_names_every_link():
    assert choices("gazebo.link") == {*LINKS, "auto"}, "vds_gz/core/parameters/node.py has the choices of 'gazebo.link'"


def test_the_page_on_gazebo_has_a_row_for_every_link():
    page = (Path(__file__).parents[3] / "docs" / "gazebo.md").read_text(encoding="utf-8")
    _, _, rows = page.partition("\n| `gazebo.link` ")
    assert [row.split("`")[1] for row in rows.split("\n\n")[0].splitlines()[2:]] == [*LINKS]


def test_the_user_is_told_of_a_world_that_python_takes_long_to_prepare():
    def scene(triangles, compiled):
        vertices = np.random.default_rng(0).normal(size=(3 * triangles, 3))
        mesh = Mesh(vertices, np.arange(3 * triangles).reshape(-1, 3))
        caster = RayCaster([Thing("mesh", mesh, np.eye(4))], compiled=compiled)
        return Scene("large", caster, caster)

    assert "10000 visual and 10000 collision shapes" in delay_without_numba(scene(10_000, compiled=False))
    assert "takes up to 6 s" in delay_without_numba(scene(10_000, compiled=False))
    assert not delay_without_numba(scene(1000, compiled=False))
    assert not delay_without_numba(scene(10_000, compiled=True))
