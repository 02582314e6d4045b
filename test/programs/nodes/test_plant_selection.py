"""The table of plants."""

from vds_gz.core.parameters.declaration import describe
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.programs.nodes.plant_selection import PLANTS


def test_the_parameter_backend_names_every_plant():
    (backend,) = [parameter for parameter in describe(NodeParameters(model_params={})) if parameter.name == "backend"]
    assert set(backend.choices) == {*PLANTS, "auto"}, "vds_gz/core/parameters/node.py has the choices of 'backend'"
