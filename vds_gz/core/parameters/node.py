"""Parameters of the node: rates, time, frames, localization, and the vehicle that it simulates."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from vds_gz.core.parameters.actuator_parameters import MAX_DEAD_TIME
from vds_gz.core.parameters.declaration import ParameterError, ParameterGroup, choice, flag, group, integer, real, text
from vds_gz.core.parameters.relay import RelayParameters
from vds_gz.core.parameters.sensor_parameters import SensorParameters

#: The plants of this package, the default first, and ``auto``; vds_gz/programs/nodes/plant_selection.py makes them.
BACKENDS = ("kinematic", "gazebo", "relay", "auto")

#: The links to Gazebo, and ``auto``; vds_gz/core/plant/gazebo/links/link_types.py makes them.
LINKS = ("auto", "transport", "bridge", "ros2_control", "system")


@dataclass(frozen=True, slots=True)
class GazeboParameters(ParameterGroup):
    """The vehicle in Gazebo, and how to reach it. Empty names stand for defaults of Gazebo or of the model."""

    link: str = choice(
        "auto", LINKS, "the link to the joints; auto: transport if Gazebo's Python bindings are installed, else bridge"
    )
    partition: str = text("", "Gazebo's partition; empty: that of the environment variable GZ_PARTITION")
    world: str = text("", "name of the world; empty: the only one")
    model: str = text("vehicle", "name of the vehicle's model in the world")
    command_rate: float = real(
        500.0, "Hz", "joint commands per second of simulated time", positive=True, maximum=10_000.0
    )
    lead: float = real(
        0.001,
        "s",
        "how far the actuators run ahead of Gazebo's clock, to hide the link's latency",
        minimum=0.0,
        maximum=0.1,
    )
    joint_names: str = text(
        "", "names of joints that differ in Gazebo: `ours=theirs, ours=-theirs`; minus: its axis is reversed"
    )
    actuators_topic: str = text("", "joint commands; empty: /model/<model>/actuators")
    joint_states_topic: str = text("", "joint states; empty: /model/<model>/joint_state")
    odometry_topic: str = text("", "exact pose of the model; empty: /model/<model>/odometry")
    clock_topic: str = text("/clock", "Gazebo's time in ROS, for the links bridge and ros2_control")
    velocity_commands_topic: str = text(
        "forward_velocity_controller/commands", "commands of the wheel joints for the link ros2_control [rad/s]"
    )
    position_commands_topic: str = text(
        "forward_position_controller/commands", "commands of the steering joints for the link ros2_control [rad]"
    )

    heading: float = real(
        0.0,
        "rad",
        "from +x of the model to the direction in which it drives, as the <rpy_offset> of its odometry",
        minimum=-math.pi,
        maximum=math.pi,
    )
    controlled_joints: str = text(
        "",
        "our joints in the order of the forward controllers' joints, for the link ros2_control; one that moves several "
        "of theirs is there once for each; empty: all",
    )

    def check_together(self) -> None:
        """Refuse invalid joint names, and a model without a name."""
        joint_map(self.joint_names)
        if not self.model:
            raise ParameterError("parameter 'model' is empty; it must be the name of a model in the world")


def joint_map(names: str) -> dict[str, str]:
    """Gazebo's names of joints by ours, from a text such as ``steering_left=servo_1, steering_right=-servo_2``.

    A minus before a name means that the joint's axis is reversed.
    """
    pairs: dict[str, str] = {}
    for pair in filter(None, (piece.strip() for piece in names.split(","))):
        ours, equals, theirs = (piece.strip() for piece in pair.partition("="))
        name = theirs.removeprefix("-")
        if not (ours and equals and name) or name.startswith("-"):
            raise ParameterError(
                f"parameter 'joint_names' has '{pair}'; it must be pairs ours=theirs, or ours=-theirs, with commas"
            )
        if ours in pairs or name in (other.removeprefix("-") for other in pairs.values()):
            raise ParameterError(f"parameter 'joint_names' has '{pair}'; each name may occur in one pair only")
        pairs[ours] = theirs
    return pairs


def joint_list(names: str) -> list[str]:
    """Our joints in a text such as ``wheel_left_joint, wheel_right_joint``."""
    return list(filter(None, (name.strip() for name in names.split(","))))


@dataclass(frozen=True, slots=True)
class AmclParameters(ParameterGroup):
    """Updates, errors and services of AMCL's stand-in."""

    update_min_d: float = real(0.25, "m", "translation along x or y of the odometry that causes an update", minimum=0.0)
    update_min_a: float = real(0.2, "rad", "rotation that causes an update", minimum=0.0)
    transform_tolerance: float = real(1.0, "s", "time by which map -> odom is stamped into the future", minimum=0.0)
    set_initial_pose: bool = flag(True, "AMCL starts at the true pose; else it waits for initialpose")
    scan_rate: float = real(
        10.0, "Hz", "scans per second, at most pub_rate of which count", minimum=1e-3, maximum=1000.0
    )
    position_std: float = real(0.03, "m", "standard deviation of the position along each axis", minimum=0.0)
    heading_std: float = real(0.013, "rad", "standard deviation of the heading", minimum=0.0, maximum=math.pi)
    correlation_distance: float = real(
        1.0, "m", "distance over which an error, and the spread of an initial pose, decays by 1/e", positive=True
    )
    jump_rate: float = real(0.0, "Hz", "jumps per second, at updates", minimum=0.0)
    jump_size: float = real(0.5, "m", "length of a jump, in a random direction", minimum=0.0)
    latency: float = real(0.0, "s", "delay from a scan to its result", minimum=0.0, maximum=10.0)
    initialpose: str = choice(
        "both",
        ("both", "amcl", "vehicle"),
        "effect of initialpose: amcl: it sets AMCL's belief, also that of an external AMCL; vehicle: it moves the "
        "vehicle, which AMCL does not notice; both: it does both",
        live=True,
    )
    lifecycle: str = choice(
        "none",
        ("none", "active", "managed"),
        "services amcl/get_state and amcl/change_state; active: from the start; managed: once a lifecycle manager has "
        "configured and activated it",
    )


@dataclass(frozen=True, slots=True)
class LocalizationParameters(ParameterGroup):
    """Noise of a simulated localization. Variances describe the continuous style and the odometry."""

    odom_walk_velocity_translation: float = real(
        0.0025, "m^2/m", "drift of the odometry's position per metre driven", minimum=0.0, live=True
    )
    odom_walk_velocity_rotation: float = real(
        0.0076, "rad^2/m", "drift of the odometry's heading per metre driven", minimum=0.0, live=True
    )
    map_sample_noise_translation: float = real(
        0.000025, "m^2 s", "noise density of the position measured in the map", minimum=0.0, live=True
    )
    map_sample_noise_rotation: float = real(
        3.1e-6, "rad^2 s", "noise density of the heading measured in the map", minimum=0.0, live=True
    )
    seed: int = integer(0, "seed of the noise; equal seeds give equal runs", minimum=0)
    style: str = choice(
        "continuous",
        ("continuous", "amcl", "external"),
        "continuous: a measurement at each instant; amcl: held between updates, as by Nav2's AMCL; external: map -> "
        "odom comes from another node, also if simulate_localization is false",
    )
    amcl: AmclParameters = group(AmclParameters)

    @property
    def external(self) -> bool:
        """Whether another node localizes the vehicle."""
        return self.style == "external"


@dataclass(frozen=True, slots=True)
class MeasurementNoiseParameters(ParameterGroup):
    """Noise of measurements, as in Autoware's simulator."""

    add_measurement_noise: bool = flag(False, "pose, speed and tyre angle are noisy")
    pos_noise_stddev: float = real(0.01, "m", "standard deviation of x and of y", minimum=0.0, live=True)
    vel_noise_stddev: float = real(0.01, "m/s", "standard deviation of the speed", minimum=0.0, live=True)
    rpy_noise_stddev: float = real(1e-4, "rad", "standard deviation of the heading", minimum=0.0, live=True)
    steer_noise_stddev: float = real(1e-4, "rad", "standard deviation of the tyre angle", minimum=0.0, live=True)
    seed: int = integer(0, "seed of the noise; equal seeds give equal runs", minimum=0)


#: Age of commands that stands for "never" [s].
NEVER_OLD = 1e6


@dataclass(frozen=True, slots=True)
class NodeParameters(ParameterGroup):
    """Parameters of the simulation node."""

    step_rate: float = real(1000.0, "Hz", "steps of the model per second", minimum=0.1, maximum=100_000.0)
    pub_rate: float = real(
        50.0, "Hz", "messages per second on topics except clock and sensors", minimum=0.1, maximum=10_000.0, live=True
    )
    twist_reference_max_oldness: float = real(
        1.0, "s", "age at which zero replaces a command", positive=True, live=True, aliases=("command_timeout",)
    )
    dead_time_jitter: float = real(
        0.0,
        "s",
        "maximum random delay of a command, as on a radio link; the order is kept",
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
    simulate_localization: bool = flag(False, "odometry drifts and the map pose is noisy; else both are exact")
    publish_tf: bool = flag(True, "publish the transforms on /tf and /tf_static; false: another node does")
    map_frame: str = text("map", "frame of the exact pose")
    odom_frame: str = text("odom", "frame of the odometry")
    base_frame: str = text(
        "base_link",
        "frame of the vehicle, child of odom_frame; the documentation calls it base_link",
    )
    frame_prefix: str = text("", "prefix of the names of all frames")
    backend: str = choice(
        BACKENDS[0],
        BACKENDS,
        "what moves the vehicle; relay: another simulator or a robot, to which the response goes on as a command; "
        "auto: Gazebo if its bindings are installed and a server answers within 1 s, else kinematics; or a plant "
        "of an installed package",
        extensible=True,
    )
    gazebo: GazeboParameters = group(GazeboParameters)
    relay: RelayParameters = group(RelayParameters)
    plant_params: dict[str, ParameterGroup] = field(default_factory=dict)
    model: str = text("bicycle", "the vehicle model")
    model_params: dict[str, ParameterGroup] = field(default_factory=dict)
    sensors: dict[str, SensorParameters] = field(default_factory=dict)
    localization: LocalizationParameters = group(LocalizationParameters)
    measurement_noise: MeasurementNoiseParameters = group(MeasurementNoiseParameters)
    world: str = text("", "the world around the vehicle: an SDF file, a map's YAML file, or a name in worlds/")
    collisions: str = choice(
        "stop",
        ("stop", "report", "off"),
        "at contact with the world, without Gazebo: stop the vehicle, only publish the contact, or neither",
    )
    moving_obstacles: str = text("", "YAML file of boxes that move on paths through the world")
    other_vehicles: str = text(
        "auto", "namespaces of vehicles to see and meet, separated by spaces; auto: all that are found; empty: none"
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
        """Refuse values that contradict each other."""
        if self.use_sim_time and self.be_reference_clock:
            raise ParameterError(
                "parameters 'use_sim_time' and 'be_reference_clock' are both true; a node follows a clock or gives it"
            )
        if self.moving_obstacles and not self.world:
            raise ParameterError(
                f"parameter 'moving_obstacles' is '{self.moving_obstacles}' and 'world' is empty; obstacles move "
                "through a world: set world:=empty for a world without anything else"
            )
        if self.base_frame in ("", self.odom_frame, self.map_frame):
            raise ParameterError(
                f"parameter 'base_frame' is '{self.base_frame}'; it must be a name that differs from odom_frame, "
                f"'{self.odom_frame}', and map_frame, '{self.map_frame}'"
            )
        vehicle_frames = {self.base_frame, self.odom_frame, self.map_frame}
        for name in self.sensors:
            for frame in vehicle_frames & {name, f"{name}_optical_frame"}:
                raise ParameterError(
                    f"sensor '{name}' has a frame '{frame}', which is also base_frame, odom_frame or map_frame of the "
                    "vehicle; give the sensor another name"
                )
        for name in ("pub_rate", "clock_rate"):
            if (rate := getattr(self, name)) > self.step_rate:
                raise ParameterError(
                    f"parameter '{name}' is {rate:g}; it must be at most step_rate, {self.step_rate:g} [Hz]"
                )

    @property
    def initialpose_moves_vehicle(self) -> bool:
        """Whether an initial pose moves the vehicle, and not only the belief."""
        simulates_amcl = self.simulate_localization and self.localization.style == "amcl"
        has_belief = simulates_amcl or self.localization.external
        return not has_belief or self.localization.amcl.initialpose != "amcl"

    @property
    def fixed_odom(self) -> bool:
        """Whether the odometry's frame is fixed in the map."""
        return not (self.simulate_localization or self.localization.external)

    @property
    def vehicle(self) -> ParameterGroup:
        """The parameter group of the vehicle model in use."""
        return self.model_params[self.model]
