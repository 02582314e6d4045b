"""Parameters of the relay: the response goes on, as a command, to whatever moves the robot."""

from __future__ import annotations

from dataclasses import dataclass

from vds_gz.core.parameters.actuator_parameters import MAX_DEAD_TIME
from vds_gz.core.parameters.declaration import ParameterError, ParameterGroup, choice, real, text

OUTPUTS = ("twist", "twist_stamped", "ackermann", "steering_and_speed")


@dataclass(frozen=True, slots=True)
class RelayParameters(ParameterGroup):
    """The command that goes on to another simulator, or to a robot, and the dynamics that it has itself."""

    output: str = choice(
        "twist",
        OUTPUTS,
        "type of the command: Twist, TwistStamped, AckermannDriveStamped, or two Float64: steering angle [rad] and "
        "speed [m/s]",
    )
    topic: str = text("cmd_vel", "topic of the command, except with output steering_and_speed")
    steering_topic: str = text("robot/steering_angle", "topic of the steering angle, with output steering_and_speed")
    speed_topic: str = text("robot/velocity", "topic of the speed, with output steering_and_speed")
    frame: str = text("", "frame in the header of the command; empty: base_frame")
    rate: float = real(100.0, "Hz", "commands per second", minimum=1.0, maximum=1000.0)
    dead_time: float = real(
        0.0, "s", "the robot's own dead time, which is subtracted", minimum=0.0, maximum=MAX_DEAD_TIME
    )
    time_constant: float = real(
        0.0, "s", "the robot's own lag of first order, which is subtracted", minimum=0.0, maximum=10.0
    )
    simulator: str = text(
        "",
        "parameter file of the robot itself, as identify writes it from a recording without the relay; its dead times "
        "and lags take the place of dead_time and time_constant",
    )
    odometry: str = text("", "topic of the robot's odometry, by which the node measures how it follows; empty: none")

    def check_together(self) -> None:
        """Refuse topics without a name, and dynamics that are stated twice."""
        names = ("steering_topic", "speed_topic") if self.output == "steering_and_speed" else ("topic",)
        for name in names:
            if not getattr(self, name):
                raise ParameterError(f"parameter '{name}' is empty; it must be the topic on which the robot listens")
        if len(names) > 1 and self.steering_topic == self.speed_topic:
            raise ParameterError(
                f"parameters 'steering_topic' and 'speed_topic' are both '{self.speed_topic}'; they must differ"
            )
        if self.simulator and (self.dead_time or self.time_constant):
            raise ParameterError(
                f"parameter 'simulator' is '{self.simulator}' and has the robot's dead time and lag; leave 'dead_time' "
                "and 'time_constant' at 0"
            )
