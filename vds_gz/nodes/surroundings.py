"""What stands and moves around the vehicle of a node: a scene, obstacles on paths, other vehicles."""

from __future__ import annotations

from vds_gz.nodes.other_vehicles import OtherVehicles
from vds_gz.parameters.node import NodeParameters
from vds_gz.ros.graph import Graph
from vds_gz.world.moving import MovingObstacles
from vds_gz.world.scene import Scene
from vds_gz.world.surroundings import Movers, Surroundings


def surroundings_of(
    graph: Graph, parameters: NodeParameters, still: Scene, obstacles: MovingObstacles | None
) -> Surroundings:
    """What is around a vehicle that the node itself moves, and whose sensors it simulates.

    Args:
        graph: Where other vehicles are.
        parameters: Of the node.
        still: The world.
        obstacles: What moves on paths through it.
    """
    movers: list[Movers] = [] if obstacles is None else [obstacles]
    if not parameters.other_vehicles.strip():
        return Surroundings(still, movers)
    others = OtherVehicles(graph, parameters.other_vehicles)
    return Surroundings(still, [*movers, others], others.look)
