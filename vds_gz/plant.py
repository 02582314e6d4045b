"""The toolbox for custom plants: a :class:`Plant` moves the vehicle, and a :class:`PlantType` offers it to the node.

``examples/mujoco_plant.py`` and docs/extending.md show how they fit together. ``__all__`` is public.
"""

from vds_gz.core.geometry import Attitude, Pose, angles, into_body, into_world, quaternion
from vds_gz.core.parameters.declaration import ParameterGroup, choice, flag, integer, real, text
from vds_gz.core.plant.base import BodyVelocity, Level, LinkError, Plant, Status, body_state
from vds_gz.core.plant.plant_setup import plant_setup
from vds_gz.core.plant.plant_types import PlantSetup, PlantType
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.vehicle.vehicle import Motion
from vds_gz.core.vehicle.vehicle_model import Joint, JointStates
from vds_gz.core.world.packing import Thing
from vds_gz.core.world.shapes import Box, Capsule, Cylinder, Ellipsoid, HalfSpace, Mesh

__all__ = [
    # A plant, what it is made of, and the record that offers it
    "Plant",
    "PlantSetup",
    "plant_setup",
    "PlantType",
    # Its parameters: each with default, unit, bounds and meaning
    "ParameterGroup",
    "real",
    "integer",
    "flag",
    "choice",
    "text",
    # The state of body and joints, and rotations: unit quaternions (x, y, z, w)
    "Motion",
    "Pose",
    "Attitude",
    "BodyState",
    "BodyVelocity",
    "body_state",
    "Joint",
    "JointStates",
    "angles",
    "quaternion",
    "into_body",
    "into_world",
    # The world: `setup.scene.collisions.things`, each with a shape
    "Thing",
    "Box",
    "Cylinder",
    "Capsule",
    "Ellipsoid",
    "HalfSpace",
    "Mesh",
    # Its health
    "Status",
    "Level",
    "LinkError",
]
