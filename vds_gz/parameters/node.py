"""Parameters of the node: rates, time, frames, localization, and the vehicle that it simulates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from vds_gz.parameters.actuators import MAX_DEAD_TIME
from vds_gz.parameters.declaration import ParameterError, ParameterGroup, choice, flag, group, integer, real, text
from vds_gz.parameters.gazebo import GazeboParameters
from vds_gz.parameters.localization import LocalizationParameters, MeasurementNoiseParameters


@dataclass(frozen=True, slots=True)
class NodeParameters(ParameterGroup):
    """Parameters of the simulation node."""

    step_rate: float = real(1000.0, "Hz", "steps of the model per second", minimum=0.1, maximum=100_000.0)
    pub_rate: float = real(
        50.0, "Hz", "messages per second on every topic but the clock", minimum=0.1, maximum=10_000.0, live=True
    )
    twist_reference_max_oldness: float = real(
        1.0, "s", "age at which a command is replaced by zero", positive=True, live=True, aliases=("command_timeout",)
    )
    dead_time_jitter: float = real(
        0.0,
        "s",
        "longest additional delay of a command, drawn for each, as on a radio link; order is kept",
        minimum=0.0,
        maximum=MAX_DEAD_TIME,
        live=True,
    )
    be_reference_clock: bool = flag(False, "publish /clock; the other nodes set use_sim_time")
    clock_rate: float = real(100.0, "Hz", "messages per second on /clock", minimum=0.1, maximum=10_000.0)
    speed_factor: float = real(
        1.0, "", "simulated seconds per second as reference clock; 0: as fast as possible", minimum=0.0, live=True
    )
    use_sim_time: bool = flag(False, "follow /clock instead of the system's time")
    simulate_localization: bool = flag(False, "odometry drifts and the map pose is noisy, else both are exact")
    map_frame: str = text("map", "frame of the exact pose")
    odom_frame: str = text("odom", "frame of the odometry")
    base_frame: str = text("base_link", "frame of the vehicle, child of odom_frame; base_link elsewhere means this one")
    frame_prefix: str = text("", "put before the names of all frames")
    backend: str = choice(
        "kinematic",
        ("kinematic", "gazebo", "auto"),
        "what moves the vehicle; auto: Gazebo if a server answers within a second, else its kinematics",
    )
    gazebo: GazeboParameters = group(GazeboParameters)
    model: str = text("bicycle", "the vehicle model")
    model_params: dict[str, Any] = field(default_factory=dict)
    sensors: dict[str, Any] = field(default_factory=dict)
    localization: LocalizationParameters = group(LocalizationParameters)
    measurement_noise: MeasurementNoiseParameters = group(MeasurementNoiseParameters)
    world: str = text("", "what stands around the vehicle: an SDF file, a map's YAML file, or a name in worlds/")
    collisions: str = choice(
        "stop",
        ("stop", "report", "off"),
        "where the vehicle touches the world, without Gazebo: stop it there, only publish the contact, or neither",
    )
    moving_obstacles: str = text("", "YAML file of boxes that move on paths through the world")
    other_vehicles: str = text(
        "auto", "namespaces of vehicles to see and meet, with spaces between; auto: all that are found; empty: none"
    )
    random_seed: int = integer(
        0, "seed of the sensors' noise and of dead_time_jitter; equal seeds give equal runs", minimum=0
    )
    actuation_messages: str = choice(
        "tier4",
        ("tier4", "autoware"),
        "package of the pedal messages: tier4_vehicle_msgs, or, in newer Autoware, autoware_vehicle_msgs",
    )

    def check_together(self) -> None:
        """Refuse what does not fit together."""
        if self.use_sim_time and self.be_reference_clock:
            raise ParameterError(
                "parameters 'use_sim_time' and 'be_reference_clock' are both true; a node follows a clock or gives it"
            )
        if self.moving_obstacles and not self.world:
            raise ParameterError(
                f"parameter 'moving_obstacles' is '{self.moving_obstacles}' and 'world' is empty; obstacles move "
                "through a world: set world:=empty where there is to be nothing else"
            )
        if self.base_frame in ("", self.odom_frame, self.map_frame):
            raise ParameterError(
                f"parameter 'base_frame' is '{self.base_frame}'; it must be a name, and another one than odom_frame, "
                f"'{self.odom_frame}', and map_frame, '{self.map_frame}'"
            )
        own = {self.base_frame, self.odom_frame, self.map_frame}
        for name in self.sensors:
            for frame in own & {name, f"{name}_optical_frame"}:
                raise ParameterError(
                    f"sensor '{name}' has a frame '{frame}', and so has the vehicle, by base_frame, odom_frame, "
                    "map_frame or their defaults; another name of the sensor would be right"
                )
        if self.pub_rate > self.step_rate:
            raise ParameterError(
                f"parameter 'pub_rate' is {self.pub_rate:g}; it must be at most step_rate, {self.step_rate:g} [Hz]"
            )
        if self.clock_rate > self.step_rate:
            raise ParameterError(
                f"parameter 'clock_rate' is {self.clock_rate:g}; it must be at most step_rate, {self.step_rate:g} [Hz]"
            )

    @property
    def imitates_amcl(self) -> bool:
        """The stand-in of AMCL localizes the vehicle."""
        return self.simulate_localization and self.localization.style == "amcl"

    @property
    def initialpose_moves_vehicle(self) -> bool:
        """An initial pose is where the vehicle is put, not only where it is held to be."""
        another = self.imitates_amcl or self.localization.external
        return not another or self.localization.amcl.initialpose != "amcl"

    @property
    def fixed_odom(self) -> bool:
        """The odometry's frame lies fixed in the map."""
        return not (self.simulate_localization or self.localization.external)

    @property
    def vehicle(self) -> Any:
        """The parameter group of the vehicle model in use."""
        return self.model_params[self.model]
