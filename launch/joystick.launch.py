"""Drive with a joystick: the driver of package `joy`, and joystick_teleop, which turns its messages into commands."""

from __future__ import annotations

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch_ros.actions import Node

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from vds_gz.core.share import PACKAGE, share
from vds_gz.programs.launching.actions import BOOLEANS, boolean, require, whole_number

#: Minimum rate of messages, also while nothing moves: without messages, the teleop reports a lost joystick [Hz].
REPEAT_RATE = 20.0


def generate_launch_description() -> LaunchDescription:
    """The arguments, and what they start."""
    arguments = [
        DeclareLaunchArgument(
            "controller",
            default_value="xbox",
            choices=sorted(file.stem for file in share("config", "joystick").glob("*.yaml")),
            description="The kind of joystick: a file of config/joystick with its axes and buttons.",
        ),
        DeclareLaunchArgument(
            "params_file", default_value="", description="A file of your own, instead of the controller's."
        ),
        DeclareLaunchArgument(
            "driver",
            default_value="joy_node",
            choices=["joy_node", "game_controller_node", "none"],
            description="The node of package joy that reads the joystick; none: something else publishes joy. "
            "game_controller_node numbers the axes of all game controllers alike; give it controller:=generic.",
        ),
        DeclareLaunchArgument("device_id", default_value="0", description="Number of the joystick, from 0."),
        DeclareLaunchArgument("namespace", default_value="", description="Namespace of the vehicle to drive."),
        DeclareLaunchArgument(
            "use_sim_time",
            default_value="",
            choices=[*BOOLEANS, ""],
            description="Follow /clock. Empty: commands are stamped by the vehicle's clock.",
        ),
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=start)])


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Everything that the arguments select."""
    arguments = context.launch_configurations
    text = arguments["use_sim_time"]
    simulation_time = [{"use_sim_time": boolean(text, "use_sim_time")}] if text else []
    teleop = Node(
        package=PACKAGE,
        executable="joystick_teleop",
        namespace=arguments["namespace"],
        parameters=[
            arguments["params_file"] or str(share("config", "joystick", f"{arguments['controller']}.yaml")),
            *simulation_time,
        ],
        output="screen",
    )
    if arguments["driver"] == "none":
        return [teleop]
    require(f"driver:={arguments['driver']}", "joy", instead="driver:=none and a publisher of joy, or the live page")
    driver = Node(
        package="joy",
        executable=arguments["driver"],
        namespace=arguments["namespace"],
        parameters=[
            {"device_id": whole_number(arguments["device_id"], "device_id"), "autorepeat_rate": REPEAT_RATE},
            *simulation_time,
        ],
        output="screen",
    )
    return [driver, teleop]
