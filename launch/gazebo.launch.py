"""A vehicle in Gazebo: server, world, sim_node, robot_state_publisher and bridges; on request RViz and a joystick."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
    Shutdown,
)
from launch.event_handlers import OnShutdown
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import Node

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from vds_gz.cli.gazebo import environment, in_step, renders
from vds_gz.core.description import ros2_control
from vds_gz.core.description.gz_bridge import clock_bridge, vehicle_bridge
from vds_gz.core.description.sdf import sdf
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.plant.gazebo.gazebo_server import Spawn, gz_command, populated
from vds_gz.core.plant.gazebo.links.link_types import LINKS, automatic_link
from vds_gz.core.share import share
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.world.load_world import world_file
from vds_gz.programs.launching.actions import BOOLEANS, boolean, chosen_file, number, require, vehicle_arguments
from vds_gz.programs.launching.vehicle_launch import LaunchedVehicle
from vds_gz.tools.adopt.robot_folder import PARAMETERS, read_folder
from vds_gz.tools.adopt.start import adopted_world

#: Topic of Gazebo's clock behind a bridge, in the vehicle's namespace.
CLOCK = "gazebo_clock"

#: Arguments of the vehicle's pose, and their meaning.
POSE = {"x": "x [m]", "y": "y [m]", "z": "z [m]", "R": "roll [rad]", "P": "pitch [rad]", "Y": "yaw [rad]"}


def generate_launch_description() -> LaunchDescription:
    """The arguments, and what they start."""
    arguments = [
        *vehicle_arguments(),
        DeclareLaunchArgument(
            "robot",
            default_value="",
            description="A folder that vds-gz adopt has written, instead of a vehicle of ours.",
        ),
        DeclareLaunchArgument(
            "world", default_value="empty", description="A world of this package's worlds folder, or an SDF file."
        ),
        DeclareLaunchArgument("name", default_value="vehicle", description="Name of the vehicle's model in Gazebo."),
        *(
            DeclareLaunchArgument(axis, default_value="0.0", description=f"The vehicle's {meaning} at the start.")
            for axis, meaning in POSE.items()
        ),
        DeclareLaunchArgument(
            "link",
            default_value="auto",
            choices=["auto", *LINKS],
            description="Link to the joints; auto: transport if Gazebo's Python bindings are installed, else bridge.",
        ),
        DeclareLaunchArgument(
            "headless", default_value="false", choices=[*BOOLEANS], description="Gazebo without a window."
        ),
        DeclareLaunchArgument("paused", default_value="false", choices=[*BOOLEANS], description="Begin paused."),
        DeclareLaunchArgument(
            "sensors",
            default_value="true",
            choices=[*BOOLEANS],
            description="The sensors of the parameter file, and a bridge that brings their topics to ROS.",
        ),
        DeclareLaunchArgument(
            "joystick", default_value="false", choices=[*BOOLEANS], description="Drive with a joystick."
        ),
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=start)])


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Everything that the arguments select."""
    arguments = dict(context.launch_configurations)
    flags = {name: boolean(arguments[name], name) for name in ("sensors", "robot_state_publisher", "rviz", "joystick")}
    link = arguments["link"]
    if link == "auto":
        link, _ = automatic_link()
    if arguments["robot"]:
        return adopted(arguments, link, flags)
    file = world_file(arguments["world"])
    vehicle = described(arguments, link)
    parameters = vehicle.parameters()
    sensors = parameters.sensors if flags["sensors"] else {}
    text = sdf(models()[parameters.model], parameters.vehicle, arguments["name"], sensors)
    actions = []
    if LINKS[link].inside:
        text = in_step(text, command_line(vehicle))
    elif LINKS[link].controllers:
        require_controllers(link)
        text, *actions = controlled(text, parameters, arguments["namespace"])
    pose = [number(arguments[axis], axis) for axis in POSE]
    world, text = populated(file, [Spawn(text, (pose[0], pose[1], pose[2], pose[3], pose[4], pose[5]))])
    vehicle = replace(vehicle, overrides={**vehicle.overrides, "gazebo.world": world})
    actions += server(text, [file.parent], renders(parameters), arguments)
    everything = vehicle.actions(robot_state_publisher=flags["robot_state_publisher"])
    actions += everything[1:] if LINKS[link].inside else everything  # without the node
    actions += bridges(arguments["name"], sensors, parameters, link, arguments["namespace"])
    return actions + extras(vehicle, flags)


def extras(vehicle: LaunchedVehicle, flags: dict[str, bool]) -> list[LaunchDescriptionEntity]:
    """RViz and a joystick, if they are wanted."""
    actions: list[LaunchDescriptionEntity] = []
    if flags["rviz"]:
        actions.append(vehicle.rviz())
    if flags["joystick"]:
        include = PythonLaunchDescriptionSource(str(share("launch", "joystick.launch.py")))
        # Without this, the vehicle's file would be that of the joystick's controller too.
        actions.append(IncludeLaunchDescription(include, launch_arguments={"params_file": ""}.items()))
    return actions


def adopted(arguments: dict[str, str], link: str, flags: dict[str, bool]) -> list[LaunchDescriptionEntity]:
    """Everything for a robot that ``vds-gz adopt`` has written, under its own topics."""
    if arguments["params_file"]:
        raise ArgumentError("launch argument 'params_file' is for vehicles of ours; the robot has its own robot.yaml")
    folder, namespace = read_folder(Path(arguments["robot"])), arguments["namespace"]
    if LINKS[link].inside:
        raise ArgumentError(f"link:={link} is for vehicles of ours; an adopted robot has its controllers in its model")
    actions: list[LaunchDescriptionEntity] = []
    if LINKS[link].controllers:
        require_controllers(link)
        folder = folder.for_ros2_control()
        actions.append(spawner(folder.controllers(), namespace))
    x, y, z, roll, pitch, yaw = (number(arguments[axis], axis) for axis in POSE)
    wanted = None if arguments["world"] == "empty" else arguments["world"]
    world, text, file = adopted_world(folder, wanted, (x, y, z, roll, pitch, yaw))
    overrides = link_overrides(link, folder.start.name) | {"gazebo.world": world}
    vehicle = LaunchedVehicle(
        params_file=str(folder.file(PARAMETERS)),
        namespace=namespace,
        overrides=overrides,
        remaps=folder.remaps(),
        log_level=arguments["log_level"],
    )
    actions += server(text, [*map(Path, folder.start.resources), file.parent], folder.start.renders, arguments)
    actions.append(vehicle.node())
    joints = flags["robot_state_publisher"] and folder.description is not None
    if joints and folder.description is not None:
        actions.append(vehicle.own_state_publisher(folder.description))
    bridge = folder.bridge(world, link, sensors=flags["sensors"], joints=joints)
    actions += bridge_nodes(
        {"bridge": bridge} if bridge else {}, link, namespace, sensors=flags["sensors"], joints=joints
    )
    return actions + extras(vehicle, flags)


def link_overrides(link: str, model: str) -> dict[str, Any]:
    """Parameters of a node that publishes Gazebo's time on /clock at a rate that all nodes can follow."""
    return {
        "backend": "gazebo",
        "gazebo.link": link,
        "gazebo.model": model,
        "gazebo.clock_topic": CLOCK,
        "be_reference_clock": True,
        "use_sim_time": False,
    }


def described(arguments: dict[str, str], link: str) -> LaunchedVehicle:
    """The vehicle of ours that the arguments select."""
    return LaunchedVehicle(
        params_file=chosen_file(arguments),
        namespace=arguments["namespace"],
        overrides=link_overrides(link, arguments["name"]),
        log_level=arguments["log_level"],
    )


def require_controllers(link: str) -> None:
    """Refuse a link whose controllers are not installed."""
    require(f"link:={link}", *LINKS[link].controllers, instead="launch with link:=bridge")


def controlled(text: str, parameters: NodeParameters, namespace: str) -> tuple[Any, ...]:
    """The model with joints that ros2_control moves, and the actions that start its controllers."""
    joints = models()[parameters.model].joints(parameters.vehicle)
    folder = tempfile.TemporaryDirectory(prefix="vds_gz_")
    file = Path(folder.name, "controllers.yaml")
    file.write_text(ros2_control.controllers(joints), encoding="utf-8")
    return (
        ros2_control.with_plugin(text, str(file), namespace=namespace),
        RegisterEventHandler(OnShutdown(on_shutdown=lambda event, context: folder.cleanup())),
        spawner(ros2_control.names(joints), namespace),
    )


def spawner(names: list[str], namespace: str) -> Node:
    """The action that starts controllers."""
    return Node(
        package="controller_manager", executable="spawner", namespace=namespace, arguments=names, output="screen"
    )


def command_line(vehicle: LaunchedVehicle) -> list[str]:
    """Arguments of the node inside Gazebo."""
    values = [word for override in vehicle.values() for word in ("-p", f"{override.name}:={_yaml(override.value)}")]
    return ["--ros-args", *values, *(["-r", f"__ns:=/{vehicle.namespace.strip('/')}"] if vehicle.namespace else [])]


def _yaml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def server(
    text: str | Path, folders: list[Path], rendering: bool, arguments: dict[str, str]
) -> list[LaunchDescriptionEntity]:
    """The server of a world, an SDF text or a file, whose end ends the launch; its files are found in ``folders``."""
    folder = tempfile.TemporaryDirectory(prefix="vds_gz_")
    world = text if isinstance(text, Path) else Path(folder.name, "world.sdf")
    if isinstance(text, str):
        world.write_text(text, encoding="utf-8")
    variables = environment()
    paths = [*map(str, folders), variables.get("GZ_SIM_RESOURCE_PATH", "")]
    variables["GZ_SIM_RESOURCE_PATH"] = os.pathsep.join(filter(None, paths))
    command = gz_command(
        world,
        headless=boolean(arguments["headless"], "headless"),
        run=not boolean(arguments["paused"], "paused"),
        rendering=rendering,
    )
    return [
        RegisterEventHandler(OnShutdown(on_shutdown=lambda event, context: folder.cleanup())),
        ExecuteProcess(
            cmd=command, name="gazebo", env=variables, output="screen", on_exit=Shutdown(reason="Gazebo has ended")
        ),
    ]


def bridges(
    name: str, sensors: dict[str, Any], parameters: NodeParameters, link: str, namespace: str
) -> list[LaunchDescriptionEntity]:
    """The bridges that are needed: one for joints and sensors, and another one for the clock."""
    bridged = LINKS[link].bridged(name)
    needed = sensors or bridged
    files = {"bridge": vehicle_bridge(name, sensors, parameters.frame_prefix, link=bridged)} if needed else {}
    return bridge_nodes(files, link, namespace, sensors=bool(sensors))


def bridge_nodes(
    files: dict[str, str], link: str, namespace: str, *, sensors: bool, joints: bool = False
) -> list[LaunchDescriptionEntity]:
    """Bridges of these configurations, and that of the clock if the link needs it; for messages, what they bring."""
    bridged = LINKS[link].clock_over_ros
    if bridged:
        files["clock_bridge"] = clock_bridge(CLOCK)
    if files:
        instead = (
            "launch with sensors:=false"
            + (" robot_state_publisher:=false" if joints else "")
            + (" link:=transport" if bridged else "")
        )
        require(f"link:={link} with sensors:={str(sensors).lower()}", "ros_gz_bridge", instead=instead)
    folder = tempfile.TemporaryDirectory(prefix="vds_gz_")
    actions: list[LaunchDescriptionEntity] = [
        RegisterEventHandler(OnShutdown(on_shutdown=lambda event, context: folder.cleanup()))
    ]
    for node, text in files.items():
        path = Path(folder.name, f"{node}.yaml")
        path.write_text(text, encoding="utf-8")
        actions.append(
            Node(
                package="ros_gz_bridge",
                executable="parameter_bridge",
                name=node,
                namespace=namespace,
                parameters=[{"config_file": str(path)}],
                output="screen",
                on_exit=Shutdown(reason=f"{node} has ended"),
            )
        )
    return actions
