"""Nav2 driving a simulated vehicle through a known hall.

Nav2's servers run without a sensor and without AMCL: sim_node gives map -> odom -> base_link and the odometry, exact
or, with simulate_localization:=true, as noisy as a real localization; the costmaps hold the map.
"""

from __future__ import annotations

import os

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from vds_gz.interface import topics
from vds_gz.launching.actions import require
from vds_gz.launching.arguments import BOOLEANS, boolean, given
from vds_gz.launching.vehicle import Vehicle, on_simulation_time
from vds_gz.share import share

#: The parameter file of the vehicle, for each file of parameters for Nav2.
VEHICLES = {"differential": "indoor_robot", "ackermann": "scaled_car"}

#: Arguments that set the parameter of the same name.
PARAMETERS = ("be_reference_clock", "speed_factor", "simulate_localization")

#: Package and program of Nav2's nodes; a node has the name of its program. In the order in which they are brought up.
SERVERS = (
    ("nav2_map_server", "map_server"),
    ("nav2_planner", "planner_server"),
    ("nav2_controller", "controller_server"),
    ("nav2_behaviors", "behavior_server"),
    ("nav2_bt_navigator", "bt_navigator"),
)
MANAGER = ("nav2_lifecycle_manager", "lifecycle_manager")

#: Where the planners, controllers and critics of our parameter files come from.
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
            "simulate_localization",
            default_value="",
            choices=[*BOOLEANS, ""],
            description="Let the odometry drift and the pose in the map be noisy. Empty, here and below: as in the "
            "vehicle's parameter file.",
        ),
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
            "autostart", default_value="true", choices=[*BOOLEANS], description="Bring Nav2's servers up at once."
        ),
        DeclareLaunchArgument("rviz", default_value="false", choices=[*BOOLEANS], description="Start RViz."),
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=start)])


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Everything that the arguments select."""
    servers = [package for package, _ in (*SERVERS, MANAGER)]
    require("nav2.launch.py", *servers, *PLUGINS, part_of="navigation2")
    arguments = dict(context.launch_configurations)
    arguments["be_reference_clock"] = arguments["reference_clock"]
    kind = arguments["vehicle"]
    stamped = arguments["cmd_vel"] == "twist_stamped"
    command = topics.TWIST_STAMPED_REFERENCE if stamped else topics.TWIST_REFERENCE
    vehicle = Vehicle(
        params_file=arguments["params_file"] or str(share("config", f"{VEHICLES[kind]}.yaml")),
        overrides=given(arguments, PARAMETERS),
        remaps=[(command.name, "cmd_vel")],
    )
    actions = vehicle.actions()
    if boolean(arguments["rviz"], "rviz"):
        actions.append(vehicle.rviz())
    return [*actions, *nav2(arguments, vehicle, stamped)]


def nav2(arguments: dict[str, str], vehicle: Vehicle, stamped: bool) -> list[Node]:
    """Nav2's nodes.

    Args:
        arguments: The launch arguments.
        vehicle: What they drive.
        stamped: They send TwistStamped, else Twist.
    """
    simulation_time = {"use_sim_time": on_simulation_time(vehicle.parameters())}
    file = arguments["nav2_params_file"] or str(share("config", "nav2", f"{arguments['vehicle']}.yaml"))
    parameters = [
        ParameterFile(file, allow_substs=True),
        {"enable_stamped_cmd_vel": stamped, "yaml_filename": arguments["map"]},
        simulation_time,
    ]
    servers = [
        Node(package=package, executable=program, name=program, parameters=parameters, output="screen")
        for package, program in SERVERS
    ]
    managed = {
        "node_names": [program for _, program in SERVERS],
        "autostart": boolean(arguments["autostart"], "autostart"),
    }
    package, program = MANAGER
    manager = Node(package=package, executable=program, parameters=[managed, simulation_time], output="screen")
    return [*servers, manager]
