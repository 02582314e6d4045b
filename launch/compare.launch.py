"""Two vehicles in namespaces, /a and /b, driven by the same commands and compared.

Each is moved by its kinematics or in Gazebo; at most one may be in Gazebo. `vds-gz compare` records both and writes a
report. When it is done, everything ends; a broken bound of the tolerance file makes `ros2 launch` end with code 1.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from launch.actions import DeclareLaunchArgument, OpaqueFunction, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessExit, OnProcessIO
from launch_ros.actions import Node

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from vds_gz.core.configuration import preset_names
from vds_gz.core.errors import ArgumentError, FailureError
from vds_gz.core.share import PACKAGE, share
from vds_gz.programs.launching.vehicle_launch import LaunchedVehicle, common_commands

#: Output of `vds-gz compare` when it receives from both vehicles.
LISTENING = b"recording /a and /b"

#: Packages that read recordings; one is enough.
READERS = ("rosbag2_py", "rosbags")

#: Time recorded after the last command [s].
AFTER = 3.0


def generate_launch_description() -> LaunchDescription:
    """The arguments, and what they start."""
    plants = ["kinematic", "gazebo"]
    arguments = [
        DeclareLaunchArgument("a", default_value="ackermann_car", description="A vehicle: preset or parameter file."),
        DeclareLaunchArgument("b", default_value="ackermann_car", description="The other vehicle."),
        DeclareLaunchArgument("plant_a", default_value="kinematic", choices=plants, description="What moves A."),
        DeclareLaunchArgument("plant_b", default_value="kinematic", choices=plants, description="What moves B."),
        DeclareLaunchArgument(
            "drive",
            default_value=str(share("config", "drives", "parking_lot.csv")),
            description="The command log to send, as `vds-gz drive` takes it.",
        ),
        DeclareLaunchArgument("tolerance", default_value="", description="File of bounds that must hold."),
        DeclareLaunchArgument("output", default_value="compare", description="Folder for the report."),
        DeclareLaunchArgument("world", default_value="empty", description="Gazebo's world."),
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=start)])


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Everything that the arguments select."""
    arguments = context.launch_configurations
    _require_packages()
    from vds_gz.programs.commandlog.command_log import read

    duration = read(arguments["drive"]).duration + AFTER
    in_gazebo = [name for name in "ab" if arguments[f"plant_{name}"] == "gazebo"]
    if len(in_gazebo) == 2:
        raise ArgumentError(
            "plant_a and plant_b are both gazebo, but two servers do not share a clock; to run one after the other, "
            f"use `vds-gz compare gazebo:{arguments['a']} gazebo:{arguments['b']}`"
        )
    output = Path(arguments["output"])
    actions = []
    for name in "ab":
        vehicle = LaunchedVehicle(
            params_file=_file(arguments[name]),
            namespace=name,
            overrides={"frame_prefix": f"{name}/"} | _time(name, in_gazebo),
            remaps=common_commands(),
        )
        actions.append(_gazebo(vehicle, output / name, arguments["world"]) if name in in_gazebo else vehicle.node())
    tolerance = ["--tolerance", arguments["tolerance"]] if arguments["tolerance"] else []
    compare = _program("compare", "live:/a", "live:/b", "--duration", str(duration), "-o", str(output), *tolerance)
    drive = _program("drive", arguments["drive"], sim_time=bool(in_gazebo))
    return [
        *actions,
        compare,
        RegisterEventHandler(OnProcessIO(target_action=compare, on_stdout=_once_listening(drive))),
        RegisterEventHandler(OnProcessExit(target_action=compare, on_exit=_end)),
    ]


def _require_packages() -> None:
    """Refuse to start if the report could not be made."""
    missing = [name for name in ("scipy", "matplotlib") if find_spec(name) is None]
    if not any(map(find_spec, READERS)):
        missing.append(READERS[0])
    if missing:
        raise ArgumentError(
            f"compare.launch.py needs {', '.join(missing)}, of this package's dependencies: "
            "rosdep install --from-paths src --ignore-src"
        )


def _file(vehicle: str) -> str:
    """The parameter file of a preset, or the one that was named."""
    return str(share("config", f"{vehicle}.yaml")) if vehicle in preset_names() else vehicle


def _time(name: str, in_gazebo: list[str]) -> dict[str, Any]:
    """The parameters that set a vehicle's clock: if one is in Gazebo, both use its time."""
    if not in_gazebo:
        return {}
    return {"be_reference_clock": True} if name in in_gazebo else {"use_sim_time": True}


def _gazebo(vehicle: LaunchedVehicle, folder: Path, world: str) -> Any:
    """The action that starts a vehicle in its own Gazebo."""
    from vds_gz.tools.study.session import write_parameters

    vehicle.parameters()  # Errors are reported here, before anything starts.
    folder.mkdir(parents=True, exist_ok=True)
    file = write_parameters(vehicle.values(), folder)
    arguments = ["gazebo", "--headless", "--world", world, "--params", str(file)]
    return _program(*arguments, namespace=vehicle.namespace, remaps=vehicle.remaps)


def _program(*arguments: str, sim_time: bool = False, namespace: str = "", remaps: Any = ()) -> Any:
    """The action that starts a subcommand of vds-gz."""
    return Node(
        package=PACKAGE,
        executable="vds-gz",
        namespace=namespace,
        arguments=list(arguments),
        parameters=[{"use_sim_time": True}] if sim_time else [],
        remappings=remaps,
        output="screen",
    )


def _once_listening(drive: Any) -> Callable[[Any], Any]:
    """A handler that starts the drive when both vehicles are received."""
    started: list[bool] = []

    def on_output(event: Any) -> Any:
        if LISTENING in event.text and not started:
            started.append(True)
            return drive
        return None

    return on_output


def _end(event: Any, context: LaunchContext) -> Any:
    """End everything; the launch fails if the comparison did."""
    if event.returncode:
        raise FailureError(f"the comparison failed with exit code {event.returncode}; its last lines say why")
    return Shutdown(reason="the comparison is done")
