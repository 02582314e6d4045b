"""An ideal and a realistic robot beside each other, driven by the same commands.

Both take commands from the same topics, such as /twist_reference, so the recorded drive that is started here, a
joystick or `ros2 topic pub` drives both. Each has its own frames, in a common map.
"""

from __future__ import annotations

from launch.actions import DeclareLaunchArgument, OpaqueFunction

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from vds_gz.core.share import share
from vds_gz.programs.launching.actions import BOOLEANS, boolean, drive, given, number, require, rviz
from vds_gz.programs.launching.vehicle_launch import LaunchedVehicle, common_commands, on_simulation_time

#: Arguments that set the parameter of the same name.
PARAMETERS = ("use_sim_time",)


def generate_launch_description() -> LaunchDescription:
    """The arguments, and what they start."""
    arguments = [
        DeclareLaunchArgument(
            "ideal",
            default_value=str(share("config", "side_by_side", "ideal.yaml")),
            description="Parameter file of the robot on the right, in the namespace /ideal.",
        ),
        DeclareLaunchArgument(
            "realistic",
            default_value=str(share("config", "side_by_side", "realistic.yaml")),
            description="Parameter file of the robot on the left, in the namespace /realistic.",
        ),
        DeclareLaunchArgument("spacing", default_value="3.0", description="Distance between their starts [m]."),
        DeclareLaunchArgument(
            "drive",
            default_value=str(share("config", "drives", "hall.csv")),
            description="A command log to send, as `vds-gz drive` takes it, or none.",
        ),
        DeclareLaunchArgument("loop", default_value="false", choices=[*BOOLEANS], description="Repeat the drive."),
        DeclareLaunchArgument("use_sim_time", default_value="false", choices=[*BOOLEANS], description="Follow /clock."),
        DeclareLaunchArgument("rviz", default_value="false", choices=[*BOOLEANS], description="Start RViz."),
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=start)])


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Everything that the arguments select."""
    arguments = context.launch_configurations
    require("the common map of both robots", "tf2_ros")
    side = number(arguments["spacing"], "spacing") / 2.0
    actions = []
    for name, y in (("ideal", -side), ("realistic", side)):
        vehicle = LaunchedVehicle(
            params_file=arguments[name],
            namespace=name,
            overrides={"frame_prefix": f"{name}/", **given(arguments, PARAMETERS)},
            remaps=common_commands(),
        )
        actions += [*vehicle.actions(), vehicle.common_map(y)]
    simulation_time = on_simulation_time(vehicle.parameters())
    if arguments["drive"] != "none":
        actions.append(drive(arguments["drive"], simulation_time, loop=boolean(arguments["loop"], "loop")))
    if boolean(arguments["rviz"], "rviz"):
        actions.append(rviz("side_by_side.rviz", simulation_time))
    return actions
