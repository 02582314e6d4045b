"""Parameters of the link to Gazebo."""

from __future__ import annotations

from dataclasses import dataclass

from vds_gz.parameters.declaration import ParameterError, ParameterGroup, choice, real, text

LINKS = ("auto", "transport", "bridge", "ros2_control", "system")


@dataclass(frozen=True, slots=True)
class GazeboParameters(ParameterGroup):
    """Where in Gazebo the vehicle is, and how to reach it. Empty names stand for Gazebo's or the model's own."""

    link: str = choice(
        "auto", LINKS, "the way to reach the joints; auto: transport where Gazebo's Python bindings are, else bridge"
    )
    partition: str = text("", "Gazebo's partition; empty: as the environment variable GZ_PARTITION says")
    world: str = text("", "name of the world; empty: the one there is")
    model: str = text("vehicle", "name of the vehicle's model in the world")
    command_rate: float = real(
        500.0, "Hz", "joint commands per second of simulated time", positive=True, maximum=10_000.0
    )
    lead: float = real(
        0.001,
        "s",
        "how far the actuators run ahead of Gazebo's clock; what a command needs until it moves a joint",
        minimum=0.0,
        maximum=0.1,
    )
    joint_names: str = text("", "names of joints that differ in Gazebo: `ours=theirs, ours=theirs`")
    actuators_topic: str = text("", "joint commands; empty: /model/<model>/actuators")
    joint_states_topic: str = text("", "joint states; empty: /model/<model>/joint_state")
    odometry_topic: str = text("", "true pose of the model; empty: /model/<model>/odometry")
    clock_topic: str = text("/clock", "Gazebo's time in ROS, for the links bridge and ros2_control")
    velocity_commands_topic: str = text(
        "forward_velocity_controller/commands", "wheel joints of the link ros2_control [rad/s]"
    )
    position_commands_topic: str = text(
        "forward_position_controller/commands", "steering joints of the link ros2_control [rad]"
    )

    def check_together(self) -> None:
        """Refuse what does not fit together."""
        joint_map(self.joint_names)
        if not self.model:
            raise ParameterError("parameter 'model' is empty; it must be the name of a model in the world")


def joint_map(names: str) -> dict[str, str]:
    """Gazebo's names of joints by ours, of a text such as ``steering_left=servo_1, steering_right=servo_2``.

    Raises:
        ParameterError: It cannot be read, or a name stands twice.
    """
    pairs: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in names.split(","))):
        ours, equals, theirs = (piece.strip() for piece in part.partition("="))
        if not (ours and equals and theirs):
            raise ParameterError(f"parameter 'joint_names' has '{part}'; it must be pairs ours=theirs, with commas")
        if ours in pairs or theirs in pairs.values():
            raise ParameterError(f"parameter 'joint_names' has '{part}'; one of its names stands there already")
        pairs[ours] = theirs
    return pairs
