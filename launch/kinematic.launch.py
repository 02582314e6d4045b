"""A simulated vehicle without Gazebo: sim_node, robot_state_publisher and, on request, RViz."""

from __future__ import annotations

from launch.actions import DeclareLaunchArgument, OpaqueFunction

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from vds_gz.programs.launching.actions import BOOLEANS, boolean, chosen_file, given, number, vehicle_arguments
from vds_gz.programs.launching.vehicle_launch import LaunchedVehicle

#: Arguments that set the parameter of the same name.
PARAMETERS = (
    *("use_sim_time", "be_reference_clock", "speed_factor", "frame_prefix", "simulate_localization"),
    *("world", "collisions", "moving_obstacles", "other_vehicles"),
)

OPTIONAL_BOOLEAN = [*BOOLEANS, ""]


def generate_launch_description() -> LaunchDescription:
    """The arguments, and what they start."""
    arguments = [
        *vehicle_arguments(),
        DeclareLaunchArgument(
            "use_sim_time",
            default_value="",
            choices=OPTIONAL_BOOLEAN,
            description="Follow /clock. Empty, here and below: as in the parameter file.",
        ),
        DeclareLaunchArgument(
            "reference_clock",
            default_value="",
            choices=OPTIONAL_BOOLEAN,
            description="Publish /clock; the other nodes set use_sim_time.",
        ),
        DeclareLaunchArgument(
            "speed_factor",
            default_value="",
            description="Simulated seconds per second of a reference clock; 0: as fast as possible.",
        ),
        DeclareLaunchArgument(
            "simulate_localization",
            default_value="",
            choices=OPTIONAL_BOOLEAN,
            description="Let the odometry drift and the pose in the map be noisy.",
        ),
        DeclareLaunchArgument(
            "frame_prefix", default_value="", description="Prefix of the name of every frame, e.g. car1/."
        ),
        DeclareLaunchArgument(
            "world", default_value="", description="The world: one of this package, an SDF file or a map."
        ),
        DeclareLaunchArgument(
            "collisions",
            default_value="",
            choices=["stop", "report", "off", ""],
            description="What happens if the vehicle touches something in the world.",
        ),
        DeclareLaunchArgument(
            "moving_obstacles", default_value="", description="A YAML file of boxes that move through the world."
        ),
        DeclareLaunchArgument(
            "other_vehicles",
            default_value="",
            description="Namespaces of vehicles to see and meet; auto: all that are found.",
        ),
        DeclareLaunchArgument(
            "tf",
            default_value="/tf",
            description="Topic of the transforms, /tf_static likewise; tf (relative) puts them into the namespace.",
        ),
        DeclareLaunchArgument("x", default_value="0.0", description="The vehicle's x in the map at the start [m]."),
        DeclareLaunchArgument("y", default_value="0.0", description="The vehicle's y in the map at the start [m]."),
        DeclareLaunchArgument("yaw", default_value="0.0", description="Its heading in the map at the start [rad]."),
        DeclareLaunchArgument(
            "robot_description",
            default_value="auto",
            choices=["auto", "topic", "parameter"],
            description="How robot_state_publisher gets the robot description; auto: on the topic if it supports that.",
        ),
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=start)])


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Everything that the arguments select."""
    arguments = dict(context.launch_configurations)
    arguments["be_reference_clock"] = arguments["reference_clock"]
    vehicle = LaunchedVehicle(
        params_file=chosen_file(arguments),
        namespace=arguments["namespace"],
        overrides=given(arguments, PARAMETERS),
        tf=arguments["tf"],
        pose=(number(arguments["x"], "x"), number(arguments["y"], "y"), number(arguments["yaw"], "yaw")),
        log_level=arguments["log_level"],
    )
    actions = vehicle.actions(
        robot_state_publisher=boolean(arguments["robot_state_publisher"], "robot_state_publisher"),
        description=arguments["robot_description"],
    )
    if boolean(arguments["rviz"], "rviz"):
        actions.append(vehicle.rviz())
    return actions
