"""The tables of plants and of links to Gazebo."""

from pathlib import Path

from vds_gz.core.parameters.declaration import describe
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.plant.gazebo.links.link_types import LINKS
from vds_gz.programs.nodes.plant_selection import PLANTS


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
