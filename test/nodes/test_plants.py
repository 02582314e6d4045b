"""The table of plants."""

from vds_gz.nodes.plants import PLANTS
from vds_gz.parameters.declaration import describe
from vds_gz.parameters.node import NodeParameters


def test_the_parameter_backend_names_every_plant():
    (backend,) = [parameter for parameter in describe(NodeParameters(model_params={})) if parameter.name == "backend"]
    assert set(backend.choices) == {*PLANTS, "auto"}, "vds_gz/parameters/node.py has the choices of 'backend'"
