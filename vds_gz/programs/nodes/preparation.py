"""Reads and checks everything that a node's parameters name, before the node joins the graph.

``vds-gz check`` uses it too, so it finds every error that the node would reject.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from vds_gz.core.configuration import parameters_of, parameters_of_file
from vds_gz.core.description.urdf_reader import BASE_LINK, Robot, UrdfJoint
from vds_gz.core.errors import WorldError
from vds_gz.core.parameters.conversion import MODEL_PARAMS, PLANT_PARAMS, of_other_models, of_other_plants
from vds_gz.core.parameters.declaration import Faults, Override, ParameterError, describe
from vds_gz.core.parameters.node import NodeParameters, joint_list, joint_map
from vds_gz.core.parameters.sensor_parameters import trailer_number
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.vehicle_model import AnyModel

if TYPE_CHECKING:
    from vds_gz.core.plant.relay.subtraction import RobotDynamics
    from vds_gz.core.world.scene import Scene
    from vds_gz.core.world.surroundings import MovingObstacles

T = TypeVar("T")

#: By a parameter's unit: the largest usual magnitude of a vehicle's parameter, and the unit in which larger numbers are
#: usual, with its factor.
LARGEST = {
    "m": (20.0, "mm", 1e-3),
    "s": (20.0, "ms", 1e-3),
    "rad": (15.0, "degrees", math.pi / 180.0),
}

#: A sensor that is farther outside a vehicle than this part of its longer side is probably misplaced.
OVERHANG = 0.1


#: Parameters without effect where another simulator has the vehicle's place; each is then as if it were not given.
PLACED = ("world", "moving_obstacles", "sensors", "simulate_localization")


@dataclass(frozen=True, slots=True)
class Preparation:
    """Everything that a node starts with.

    Attributes:
        parameters: The node's parameters.
        model: The vehicle model that they select.
        urdf: The robot's description.
        robot: What the robot behind a relay has itself; None without a relay.
        scene: The world; None if there is none.
        obstacles: The moving obstacles; None if no file is named.
        sources: Origins of the parameters: files, and ``-p``.
        unused: Parameters without effect, because they are of other models.
        findings: Warnings about what is allowed but probably a mistake.
    """

    parameters: NodeParameters
    model: AnyModel
    urdf: str
    robot: RobotDynamics | None
    scene: Scene | None = None
    obstacles: MovingObstacles | None = None
    sources: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()

    def mounts(self) -> list[UrdfJoint]:
        """The fixed joints of a vehicle with sensors; with another ``base_frame`` only those of the sensors."""
        sensors, base = self.parameters.sensors, self.parameters.base_frame
        if not sensors:
            return []
        joints = [joint for joint in Robot(self.urdf).joints if joint.kind == "fixed"]
        if base == BASE_LINK:
            return joints
        return [
            replace(joint, parent=base) if joint.parent == BASE_LINK else joint
            for joint in joints
            if joint.child in sensors or joint.parent in sensors
        ]


def prepare(overrides: Sequence[Override], faults: Faults | None = None) -> Preparation:
    """Read and check everything that parameters name."""
    faults = faults or Faults()
    scene, obstacles = _world(overrides, faults)
    findings: list[str] = []
    robot = None
    with faults.caught():
        parameters = parameters_of(overrides)
        if parameters.backend == "relay":
            from vds_gz.core.plant.relay.led_vehicle import make_led_vehicle
            from vds_gz.core.plant.relay.subtraction import RobotDynamics

            simulator = parameters.relay.simulator
            theirs = parameters_of_file(simulator) if simulator else None
            robot = RobotDynamics.of(parameters.relay, parameters.vehicle, theirs)
            make_led_vehicle(parameters, robot)  # refuses what the relay cannot do
            without = "has no effect: with backend relay, the robot or its simulator has its own"
            findings = [f"'{name}' {without}" for name in PLACED if getattr(parameters, name)]
            parameters = replace(parameters, **{name: type(getattr(parameters, name))() for name in PLACED})
            scene = obstacles = None
        model = models()[parameters.model]
        joints = [*_other_joints(overrides, parameters, model)]
        _check_parents(parameters, model)
        text = description(parameters, model)
    faults.refuse()
    sources = tuple(filter(None, dict.fromkeys(map(_source, overrides))))
    unused = tuple(_unused(overrides, parameters))
    findings += [*_other_units(overrides, parameters), *joints, *_outside(parameters, model, text)]
    return Preparation(parameters, model, text, robot, scene, obstacles, sources, unused, tuple(findings))


def _source(override: Override) -> str:
    """The origin of a value without its line; launch files write their values to temporary files."""
    source = override.origin.removeprefix("file ").partition(", line ")[0]
    return "launch arguments" if Path(source).name.startswith("launch_params_") else source


def description(parameters: NodeParameters, model: AnyModel) -> str:
    """The robot's URDF, with its hardware for ros2_control."""
    from vds_gz.core.description.urdf_writer import urdf

    text = urdf(model.name, parameters.vehicle, model.xacro, parameters.sensors)
    if parameters.backend not in ("gazebo", "auto"):
        return text
    from vds_gz.core.plant.gazebo.links.link_types import LINKS

    link = LINKS.get(parameters.gazebo.link)
    if link is None or not link.controllers:
        return text
    from vds_gz.core.description.ros2_control import with_hardware

    return with_hardware(text, model.joints(parameters.vehicle))


def _world(overrides: Sequence[Override], faults: Faults) -> tuple[Scene | None, MovingObstacles | None]:
    """The world and its moving obstacles; None where no file is named."""
    named = {override.name: override for override in overrides if override.name in ("world", "moving_obstacles")}
    if not any(override.value for override in named.values()):
        return None, None
    from vds_gz.core.world.load_world import load_world
    from vds_gz.core.world.surroundings import read_obstacles

    return _read(named.get("world"), load_world, faults), _read(named.get("moving_obstacles"), read_obstacles, faults)


def _read(last: Override | None, read: Callable[[str], T], faults: Faults) -> T | None:
    """The content of the file that a parameter names; None without a file or with a faulty one."""
    if last is None or not isinstance(last.value, str) or not last.value:  # another type is refused by its parameter
        return None
    try:
        return read(last.value)
    except WorldError as error:
        place = f" ({last.origin})" if last.origin else ""
        faults.messages.append(f"parameter '{last.name}'{place}: {error}")
        return None


def _unused(overrides: Sequence[Override], parameters: NodeParameters) -> Iterator[str]:
    """Findings about parameters of other models and plants than the chosen ones."""
    for group, others, chosen in (
        (MODEL_PARAMS, of_other_models(overrides, parameters.model), f"model is '{parameters.model}'"),
        (PLANT_PARAMS, of_other_plants(overrides, parameters.backend), f"backend is '{parameters.backend}'"),
    ):
        for name, override in others.items():
            place = f" ({override.origin})" if override.origin else ""
            yield f"'{group}.{name}'{place} has no effect: the {chosen}"


def _other_units(overrides: Sequence[Override], parameters: NodeParameters) -> Iterator[str]:
    """Findings about numbers of the vehicle that are usual in another unit, and not in the parameter's."""
    units = {description.name: description.unit for description in describe(parameters)}
    for override in overrides:
        largest, unit, factor = LARGEST.get(units.get(override.name, ""), (math.inf, "", 1.0))
        value = override.value
        if (
            override.name.startswith(MODEL_PARAMS)
            and isinstance(value, float | int)
            and largest < abs(value) < math.inf
        ):
            place = f" ({override.origin})" if override.origin else ""
            yield (
                f"'{override.name}'{place} is {value:g} {units[override.name]}; is that {unit}? {value:g} {unit} are "
                f"{value * factor:.4g} {units[override.name]}"
            )


def _other_joints(overrides: Sequence[Override], parameters: NodeParameters, model: AnyModel) -> Iterator[str]:
    """Refuse joints to be controlled that the model does not have; findings about other names of joints."""
    joints = [joint.name for joint in model.joints(parameters.vehicle)]
    commanded = [joint.name for joint in model.joints(parameters.vehicle) if joint.command is not None]
    for name in joint_list(parameters.gazebo.controlled_joints):
        if name not in commanded:
            origin = {override.name: override.origin for override in overrides}.get("gazebo.controlled_joints")
            place = f" ({origin})" if origin else ""
            raise ParameterError(
                f"parameter 'gazebo.controlled_joints'{place} has '{name}'; the joints are {', '.join(commanded)}"
            )

    for name in joint_map(parameters.gazebo.joint_names):
        if name not in joints:
            yield f"'gazebo.joint_names' names '{name}', which has no effect: the joints are {', '.join(joints)}"


def _check_parents(parameters: NodeParameters, model: AnyModel) -> None:
    """Refuse sensors on a link that is neither the vehicle nor one of its trailers."""
    hitches = [joint for joint in model.joints(parameters.vehicle) if joint.kind == "hitch"]
    known = [BASE_LINK, *(f"trailer_{k}" for k in range(1, len(hitches) + 1))]
    for name, sensor in parameters.sensors.items():
        parent = getattr(sensor, "parent", BASE_LINK)
        if parent not in known:
            raise ParameterError(
                f"parameter 'sensors.{name}.parent' is '{parent}'; it must be one of {', '.join(known)}"
            )


def _outside(parameters: NodeParameters, model: AnyModel, urdf: str) -> Iterator[str]:
    """Findings about sensors that are mounted outside the vehicle; those on trailers are not checked."""
    if not parameters.sensors:
        return
    from vds_gz.core.description.footprint import footprint_of

    footprint = footprint_of(urdf, model.geometry(parameters.vehicle))
    (back, right), (front, left) = footprint.lower[:2], footprint.upper[:2]
    margin = OVERHANG * max(front - back, left - right)
    for name, sensor in parameters.sensors.items():
        if not hasattr(sensor, "xyz") or trailer_number(sensor):  # a wheel encoder has no mount
            continue
        x, y, _ = sensor.xyz
        if not (back - margin <= x <= front + margin and right - margin <= y <= left + margin):
            yield (
                f"sensor '{name}' is mounted at x {x:g}, y {y:g} m, outside the vehicle, which reaches from "
                f"x {back:.2g} to {front:.2g} and from y {right:.2g} to {left:.2g} m; set 'sensors.{name}.xyz'"
            )
