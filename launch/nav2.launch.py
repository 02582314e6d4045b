"""Nav2 driving a simulated vehicle through a known hall, which it sees with a lidar.

sim_node gives the odometry, the scan, and map -> odom, which with localization:=amcl is left to Nav2's AMCL.
"""

from __future__ import annotations

import os

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from vds_gz.configuration import in_world
from vds_gz.errors import ArgumentError
from vds_gz.interface import topics
from vds_gz.launching.actions import (
    BOOLEANS,
    boolean,
    given,
    number,
    require,
    robot_state_publisher_argument,
)
from vds_gz.launching.vehicle import LaunchedVehicle, on_simulation_time
from vds_gz.parameters.node import NodeParameters
from vds_gz.sensing.sensor import SensorTypes
from vds_gz.share import share

#: The parameter file of the vehicle, for each file of parameters for Nav2.
VEHICLES = {"differential": "indoor_robot", "ackermann": "scaled_car"}

#: Arguments that set the parameter of the same name.
PARAMETERS = ("be_reference_clock", "speed_factor", "moving_obstacles")

#: The argument world where there is to be nothing to see.
NO_WORLD = "none"

#: What the argument localization sets.
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

#: Package and program of Nav2's nodes; a node has the name of its program. In the order in which they are brought up.
SERVERS = (
    ("nav2_map_server", "map_server"),
    ("nav2_amcl", "amcl"),
    ("nav2_planner", "planner_server"),
    ("nav2_controller", "controller_server"),
    ("nav2_behaviors", "behavior_server"),
    ("nav2_bt_navigator", "bt_navigator"),
)
MANAGER = ("nav2_lifecycle_manager", "lifecycle_manager")

#: Where the planners, controllers and critics of our parameter files come from; files of others may name others.
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
            "map", default_value=str(share("config", "nav2", "hall.yaml")), description="The map, as map_server has it."
        ),
        DeclareLaunchArgument(
            "cmd_vel",
            default_value="twist" if distribution in BEFORE_STAMPED else "twist_stamped",
            choices=["twist", "twist_stamped"],
            description="What goes from Nav2 to the vehicle on cmd_vel. The default is that of the ROS distribution.",
        ),
        DeclareLaunchArgument(
            "world",
            default_value="",
            description="What stands around the vehicle: a world of this package, an SDF file, a map; none: nothing. "
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
            "map is noisy; amcl_style: it is held and corrected as AMCL does it; amcl: the odometry drifts, and AMCL "
            "itself gives map -> odom. Empty, here and below: as in the vehicle's parameter file; where that says "
            "'external', nothing here gives map -> odom.",
        ),
        DeclareLaunchArgument("x", default_value="0.0", description="Where the vehicle starts in the map [m]."),
        DeclareLaunchArgument("y", default_value="0.0", description="Where the vehicle starts in the map [m]."),
        DeclareLaunchArgument("yaw", default_value="0.0", description="Its heading there [rad]."),
        DeclareLaunchArgument(
            "reference_clock",
            default_value="",
            choices=[*BOOLEANS, ""],
            description="The vehicle publishes /clock and Nav2 follows it.",
        ),
        DeclareLaunchArgument(
            "speed_factor",
            default_value="",
            description="As reference clock: simulated seconds per second. Before Lyrical Nav2's controllers keep to "
            "the rate of the wall clock, so that only 1 is right.",
        ),
        DeclareLaunchArgument(
            "servers",
            default_value="true",
            choices=[*BOOLEANS],
            description="Start Nav2's servers. false: only the vehicle, for a Nav2 that is started elsewhere.",
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
        stamped: It takes TwistStamped, else Twist.
    """
    file = arguments["params_file"] or str(share("config", f"{VEHICLES[arguments['vehicle']]}.yaml"))
    overrides = given({**arguments, "be_reference_clock": arguments["reference_clock"]}, PARAMETERS)
    overrides |= LOCALIZATION[arguments["localization"]]
    before = LaunchedVehicle(file, overrides=overrides).values()
    own = next((str(override.value) for override in reversed(before) if override.name == "world"), "")
    asked = "launch argument 'world'" if arguments["world"] else file if own else "launch argument 'map'"
    world = arguments["world"] or own or arguments["map"]
    if world == NO_WORLD:
        overrides["world"] = ""
    else:
        overrides |= {override.name: override.value for override in in_world(before, world, asked)}
    command = topics.TWIST_STAMPED_REFERENCE if stamped else topics.TWIST_REFERENCE
    return LaunchedVehicle(
        file,
        overrides=overrides,
        remaps=[(command.name, "cmd_vel"), ("lidar/scan", "scan")],
        pose=(number(arguments["x"], "x"), number(arguments["y"], "y"), number(arguments["yaw"], "yaw")),
    )


def wanted_servers(localization: str, simulated: NodeParameters) -> list[tuple[str, str]]:
    """Those of ``SERVERS`` that are started: AMCL only where the launch argument asks for it.

    Args:
        localization: The launch argument.
        simulated: The vehicle's parameters.

    Raises:
        ArgumentError: AMCL is asked for, and the vehicle has nothing that it could see with.
    """
    if localization != "amcl":
        return [server for server in SERVERS if server[1] != "amcl"]
    types = SensorTypes()
    scan = "sensor_msgs/msg/LaserScan"
    planar = [name for name, sensor in types.items() if scan in (stream.ros_type for stream in sensor.streams)]
    if not any(sensor.type in planar for sensor in simulated.sensors.values()):
        raise ArgumentError(
            f"launch argument 'localization' is 'amcl', which needs a lidar of type {' or '.join(planar)}, and the "
            f"sensors are: {', '.join(simulated.sensors) or 'none'}; list one in its file, or none at all, which gives "
            "it one in a world"
        )
    return [*SERVERS]


def nav2(arguments: dict[str, str], vehicle: LaunchedVehicle, stamped: bool) -> list[Node]:
    """Nav2's nodes.

    Args:
        arguments: The launch arguments.
        vehicle: What they drive.
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
