"""Nav2 drives a simulated vehicle with a lidar through a hall of which it has a map.

sim_node publishes the odometry, the scan, and map -> odom; with localization:=amcl, Nav2's AMCL publishes the last.
"""

from __future__ import annotations

import os

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from vds_gz.core.configuration import in_world
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.sensing.sensor_types import SensorTypes
from vds_gz.core.share import share
from vds_gz.programs.interface import topics
from vds_gz.programs.launching.actions import (
    BOOLEANS,
    boolean,
    given,
    number,
    require,
    robot_state_publisher_argument,
)
from vds_gz.programs.launching.vehicle_launch import LaunchedVehicle, on_simulation_time

#: The vehicle's parameter file for each parameter file of Nav2.
VEHICLES = {"differential": "indoor_robot", "ackermann": "scaled_car"}

#: Arguments that set the parameter of the same name.
PARAMETERS = ("be_reference_clock", "speed_factor", "moving_obstacles")

#: Value of the argument world for no world.
NO_WORLD = "none"

#: Parameters that each value of the argument localization sets.
LOCALIZATION: dict[str, dict[str, bool | str]] = {
    "exact": {"simulate_localization": False, "localization.style": "continuous"},
    "noisy": {"simulate_localization": True, "localization.style": "continuous"},
    "amcl_style": {
        "simulate_localization": True,
        "localization.style": "amcl",
        "localization.amcl.lifecycle": "active",
    },
    "amcl": {"simulate_localization": True, "localization.style": "external"},
    "": {},
}

#: Package and program of Nav2's nodes, in the order of bringing them up; a node has the name of its program.
SERVERS = (
    ("nav2_map_server", "map_server"),
    ("nav2_amcl", "amcl"),
    ("nav2_planner", "planner_server"),
    ("nav2_controller", "controller_server"),
    ("nav2_behaviors", "behavior_server"),
    ("nav2_bt_navigator", "bt_navigator"),
)
MANAGER = ("nav2_lifecycle_manager", "lifecycle_manager")

#: Packages of the plugins that this package's parameter files name; other files may name others.
PLUGINS = (
    "nav2_costmap_2d",
    "nav2_mppi_controller",
    "nav2_navfn_planner",
    "nav2_regulated_pure_pursuit_controller",
    "nav2_smac_planner",
)

#: The releases whose Nav2 sends Twist; those since Kilted send TwistStamped.
BEFORE_STAMPED = ("humble", "iron", "jazzy")


def generate_launch_description() -> LaunchDescription:
    """The arguments, and what they start."""
    distribution = os.environ.get("ROS_DISTRO", "")
    arguments = [
        DeclareLaunchArgument(
            "vehicle",
            default_value="differential",
            choices=[*VEHICLES],
            description="; ".join(f"{name}: config/{file}.yaml" for name, file in VEHICLES.items()) + ".",
        ),
        DeclareLaunchArgument(
            "params_file", default_value="", description="A parameter file of your own for the vehicle."
        ),
        DeclareLaunchArgument(
            "nav2_params_file", default_value="", description="A parameter file of your own for Nav2."
        ),
        DeclareLaunchArgument(
            "map", default_value=str(share("config", "nav2", "map.yaml")), description="The map's YAML file."
        ),
        DeclareLaunchArgument(
            "cmd_vel",
            default_value="twist" if distribution in BEFORE_STAMPED else "twist_stamped",
            choices=["twist", "twist_stamped"],
            description="Type of Nav2's commands on cmd_vel. The default is that of the ROS distribution.",
        ),
        DeclareLaunchArgument(
            "world",
            default_value="",
            description="The world: one of this package, an SDF file or a map; none: no world. "
            "Empty: as in the vehicle's parameter file, else the map. A vehicle without sensors gets a lidar, on the "
            "topic scan.",
        ),
        DeclareLaunchArgument(
            "moving_obstacles", default_value="", description="A YAML file of boxes that move through the world."
        ),
        DeclareLaunchArgument(
            "localization",
            default_value="",
            choices=[*LOCALIZATION],
            description="exact: odometry and map -> odom are the truth; noisy: the odometry drifts, the pose in the "
            "map is noisy; amcl_style: that pose is held and corrected as by AMCL; amcl: the odometry drifts, and AMCL "
            "itself publishes map -> odom. Empty, here and below: as in the vehicle's parameter file; if that says "
            "'external', another program must publish map -> odom.",
        ),
        DeclareLaunchArgument("x", default_value="0.0", description="The vehicle's x in the map at the start [m]."),
        DeclareLaunchArgument("y", default_value="0.0", description="The vehicle's y in the map at the start [m]."),
        DeclareLaunchArgument("yaw", default_value="0.0", description="Its heading in the map at the start [rad]."),
        DeclareLaunchArgument(
            "reference_clock",
            default_value="",
            choices=[*BOOLEANS, ""],
            description="The vehicle publishes /clock and Nav2 follows it.",
        ),
        DeclareLaunchArgument(
            "speed_factor",
            default_value="",
            description="Simulated seconds per second of a reference clock. Before Lyrical, Nav2's controllers run at "
            "the rate of the wall clock, so it must be 1.",
        ),
        DeclareLaunchArgument(
            "servers",
            default_value="true",
            choices=[*BOOLEANS],
            description="Start Nav2's servers; false: start only the vehicle, for a Nav2 that runs elsewhere.",
        ),
        robot_state_publisher_argument(),
        DeclareLaunchArgument(
            "autostart", default_value="true", choices=[*BOOLEANS], description="Bring Nav2's servers up at once."
        ),
        DeclareLaunchArgument("rviz", default_value="false", choices=[*BOOLEANS], description="Start RViz."),
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=start)])


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Everything that the arguments select."""
    arguments = dict(context.launch_configurations)
    stamped = arguments["cmd_vel"] == "twist_stamped"
    vehicle = make_vehicle(arguments, stamped)
    actions = vehicle.actions(
        robot_state_publisher=boolean(arguments["robot_state_publisher"], "robot_state_publisher")
    )
    if boolean(arguments["rviz"], "rviz"):
        actions.append(vehicle.rviz())
    if boolean(arguments["servers"], "servers"):
        actions += nav2(arguments, vehicle, stamped)
    return actions


def make_vehicle(arguments: dict[str, str], stamped: bool) -> LaunchedVehicle:
    """The vehicle, in its world.

    Args:
        arguments: The launch arguments.
        stamped: The vehicle takes TwistStamped, else Twist.
    """
    file = arguments["params_file"] or str(share("config", f"{VEHICLES[arguments['vehicle']]}.yaml"))
    overrides = given({**arguments, "be_reference_clock": arguments["reference_clock"]}, PARAMETERS)
    overrides |= LOCALIZATION[arguments["localization"]]
    before = LaunchedVehicle(file, overrides=overrides).values()
    of_file = next((str(override.value) for override in reversed(before) if override.name == "world"), "")
    origin = "launch argument 'world'" if arguments["world"] else file if of_file else "launch argument 'map'"
    world = arguments["world"] or of_file or arguments["map"]
    if world == NO_WORLD:
        overrides["world"] = ""
    else:
        overrides |= {override.name: override.value for override in in_world(before, world, origin)}
    command = topics.TWIST_STAMPED_REFERENCE if stamped else topics.TWIST_REFERENCE
    return LaunchedVehicle(
        file,
        overrides=overrides,
        remaps=[(command.name, "cmd_vel"), ("lidar/scan", "scan")],
        pose=(number(arguments["x"], "x"), number(arguments["y"], "y"), number(arguments["yaw"], "yaw")),
    )


def wanted_servers(localization: str, simulated: NodeParameters) -> list[tuple[str, str]]:
    """The ``SERVERS`` to start: AMCL only if the launch argument selects it.

    Args:
        localization: The launch argument.
        simulated: The vehicle's parameters.

    Raises:
        ArgumentError: AMCL is selected, and the vehicle has no lidar with a LaserScan.
    """
    if localization != "amcl":
        return [server for server in SERVERS if server[1] != "amcl"]
    types = SensorTypes()
    scan = "sensor_msgs/msg/LaserScan"
    planar = [name for name, sensor in types.items() if scan in (stream.ros_type for stream in sensor.streams)]
    if not any(sensor.type in planar for sensor in simulated.sensors.values()):
        raise ArgumentError(
            f"launch argument 'localization' is 'amcl', which needs a lidar of type {' or '.join(planar)}, and the "
            f"sensors are: {', '.join(simulated.sensors) or 'none'}; list one in the vehicle's "
            "file, or no sensor at all: in a world, the vehicle then gets one"
        )
    return [*SERVERS]


def nav2(arguments: dict[str, str], vehicle: LaunchedVehicle, stamped: bool) -> list[Node]:
    """Nav2's nodes.

    Args:
        arguments: The launch arguments.
        vehicle: The vehicle that they drive.
        stamped: They send TwistStamped, else Twist.
    """
    simulated = vehicle.parameters()
    servers = wanted_servers(arguments["localization"], simulated)
    plugins = () if arguments["nav2_params_file"] else PLUGINS
    require("nav2.launch.py", *(package for package, _ in (*servers, MANAGER)), *plugins, part_of="navigation2")
    simulation_time = {"use_sim_time": on_simulation_time(simulated)}
    file = arguments["nav2_params_file"] or str(share("config", "nav2", f"{arguments['vehicle']}.yaml"))
    parameters = [
        ParameterFile(file, allow_substs=True),
        {"enable_stamped_cmd_vel": stamped, "yaml_filename": arguments["map"]},
        {"set_initial_pose": True, "initial_pose": dict(zip(("x", "y", "yaw"), vehicle.pose, strict=True))},
        simulation_time,
    ]
    managed = {
        "node_names": [program for _, program in servers],
        "autostart": boolean(arguments["autostart"], "autostart"),
    }
    nodes = [
        Node(package=package, executable=program, name=program, parameters=parameters, output="screen")
        for package, program in servers
    ]
    package, program = MANAGER
    return [*nodes, Node(package=package, executable=program, parameters=[managed, simulation_time], output="screen")]
