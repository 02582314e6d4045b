"""Parameters of Autoware's vehicle models, under Autoware's names and with Autoware's defaults.

Geometry has the names of the other models. ``compatibility``, ``speed_gain``, ``steering_gain`` and ``road_pitch`` are
not Autoware's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from vds_gz.autoware.parameters.map_files import ActuationMap, own_map, read_map
from vds_gz.core.parameters.actuator_parameters import MAX_DEAD_TIME, STEERED_BY, ActuatorStages
from vds_gz.core.parameters.declaration import ParameterGroup, choice, flag, group, real, text
from vds_gz.core.parameters.vehicles import MAX_OFFSET

#: Maximum of a tyre angle's limit [rad], nearly 90 degrees.
MAX_STEER_LIM = 1.5

#: The shortest time constant [s].
SHORTEST_TIME_CONSTANT = 0.03

#: A limit that is not met, as no value means no limit [m/s, m/s^2, rad/s].
NOT_MET = 1e6


def _dead_time(default: float, doc: str) -> float:
    return real(default, "s", doc, minimum=0.0, maximum=MAX_DEAD_TIME, live=True)


def _time_constant(default: float, doc: str) -> float:
    return real(default, "s", f"{doc}; values below 0.03 act as 0.03", minimum=0.0, live=True)


def _coefficient(default: float, doc: str, unit: str = "-") -> float:
    return real(default, unit, doc, live=True)


def _map(doc: str) -> str:
    return text("", f"CSV file of {doc}: a path, also relative to the parameter file; empty: the one in config/maps")


@dataclass(frozen=True, slots=True)
class CarParameters(ParameterGroup):
    """The car of all these models: driven by the rear axle, steered by the front axle."""

    base_link_offset: float = real(
        0.0, "m", "from the middle of the rear axle to base_link, along +x", minimum=-MAX_OFFSET, maximum=MAX_OFFSET
    )
    wheel_base: float = real(2.74, "m", "distance between the axles", positive=True)
    track_fixed: float = real(1.63, "m", "between the rear wheels; 0: one wheel", minimum=0.0)
    track_steered: float = real(1.63, "m", "between the front wheels; 0: one wheel", minimum=0.0)
    tire_diameter: float = real(0.78, "m", "diameter of the wheels", positive=True)
    compatibility: str = choice(
        "physical",
        ("autoware", "physical"),
        "autoware: as Autoware's simulator; physical: without its unphysical behaviour",
    )
    speed_gain: float = real(
        2.0, "1/s", "gain of the speed controller, for commands without acceleration", positive=True, live=True
    )
    enable_road_slope_simulation: bool = flag(True, "slopes of commands, world, Gazebo and road_pitch act", live=True)
    road_pitch: float = real(0.0, "rad", "pitch of the road, nose down positive", minimum=-1.5, maximum=1.5, live=True)
    enable_pub_steer: bool = flag(True, "publish the tyre angle")

    def identified_actuators(self) -> Mapping[str, ActuatorStages]:
        """Drive and steering. The drive has the lag of the speed or of the acceleration, whichever there is."""
        names = {field.name for field in fields(self)}
        lag = next((prefix for prefix in ("vel", "acc", "accel") if f"{prefix}_time_delay" in names), "none")

        def actuator(lag: str, limit: str, largest: float, **changes: Any) -> ActuatorStages:
            stages = {"dead_time": f"{lag}_time_delay", "time_constant": f"{lag}_time_constant"}
            stages |= {"rise": f"{limit}_rate_lim", "value": f"{limit}_lim"}
            stages = {stage: name for stage, name in stages.items() if name in names}
            unlimited = {"rise": NOT_MET, "value": largest}
            return ActuatorStages(stages, unlimited, shortest=SHORTEST_TIME_CONSTANT, nearest=True, **changes)

        accelerates = "target_acceleration" if lag.startswith("acc") else ""
        return {
            "drive": actuator(lag, "vel", NOT_MET, command=accelerates),
            "steering": actuator("steer", "steer", MAX_STEER_LIM, follows=STEERED_BY),
        }

    @property
    def physical(self) -> bool:
        """Whether unphysical behaviour of Autoware's models is corrected."""
        return self.compatibility == "physical"


#: Meaning of parameters that every car has and this one does not use.
_NO_DRIVE = "without effect: the speed follows its command"


@dataclass(frozen=True, slots=True)
class IdealSteerVelParameters(CarParameters):
    """Speed and tyre angle follow their commands."""

    speed_gain: float = real(2.0, "1/s", _NO_DRIVE, positive=True)
    enable_road_slope_simulation: bool = flag(True, _NO_DRIVE)
    road_pitch: float = real(0.0, "rad", _NO_DRIVE, minimum=-1.5, maximum=1.5)


@dataclass(frozen=True, slots=True)
class LaggingSteeringParameters(CarParameters):
    """Limits of speed and steering, and a steering that lags."""

    vel_lim: float = real(50.0, "m/s", "maximum speed", positive=True, live=True)
    vel_rate_lim: float = real(7.0, "m/s^2", "maximum acceleration and deceleration", positive=True, live=True)
    steer_lim: float = real(1.0, "rad", "maximum tyre angle", positive=True, maximum=MAX_STEER_LIM, live=True)
    steer_rate_lim: float = real(5.0, "rad/s", "maximum steering rate", positive=True, live=True)
    steer_time_delay: float = _dead_time(0.24, "dead time of the steering")
    steer_time_constant: float = _time_constant(0.27, "lag of the steering")
    steer_bias: float = real(
        0.0, "rad", "offset of the steering's sensor", minimum=-math.pi, maximum=math.pi, live=True
    )


@dataclass(frozen=True, slots=True)
class DelaySteerVelParameters(LaggingSteeringParameters):
    """Speed and tyre angle lag."""

    speed_gain: float = real(2.0, "1/s", _NO_DRIVE, positive=True)
    enable_road_slope_simulation: bool = flag(True, _NO_DRIVE)
    road_pitch: float = real(0.0, "rad", _NO_DRIVE, minimum=-1.5, maximum=1.5)
    vel_time_delay: float = _dead_time(0.25, "dead time of the speed")
    vel_time_constant: float = _time_constant(0.5, "lag of the speed")
    steer_dead_band: float = real(
        0.0, "rad", "deviation from the command up to which the steering does not move", minimum=0.0, live=True
    )


@dataclass(frozen=True, slots=True)
class DelaySteerAccParameters(LaggingSteeringParameters):
    """Acceleration and tyre angle lag."""

    acc_time_delay: float = _dead_time(0.1, "dead time of the acceleration")
    acc_time_constant: float = _time_constant(0.1, "lag of the acceleration")
    steer_dead_band: float = real(
        0.0, "rad", "deviation from the command up to which the steering does not move", minimum=0.0, live=True
    )
    debug_acc_scaling_factor: float = _coefficient(1.0, "factor of the commanded acceleration")
    debug_steer_scaling_factor: float = _coefficient(1.0, "factor of the commanded tyre angle")


@dataclass(frozen=True, slots=True)
class DelaySteerMapAccGearedParameters(LaggingSteeringParameters):
    """Tyre angle and acceleration lag, the latter behind the output of a map; the gear allows one direction."""

    acc_time_delay: float = _dead_time(0.1, "dead time of the acceleration")
    acc_time_constant: float = _time_constant(0.1, "lag of the acceleration")
    acceleration_map_path: str = _map("the acceleration by speed (columns) and commanded acceleration (rows)")

    def check_together(self) -> None:
        """Read a map with a given path, so that faults are reported at once."""
        if self.acceleration_map_path:
            read_map(self.acceleration_map_path)

    @property
    def acceleration_map(self) -> ActuationMap:
        """Acceleration [m/s^2] by speed [m/s] and commanded acceleration [m/s^2]."""
        return _map_at(self.acceleration_map_path, "acceleration_map.csv")


@dataclass(frozen=True, slots=True)
class ActuationCmdParameters(LaggingSteeringParameters):
    """Pedals with maps; the steering command is a tyre angle."""

    accel_time_delay: float = _dead_time(0.1, "dead time of the accelerator")
    accel_time_constant: float = _time_constant(0.1, "lag of the acceleration")
    brake_time_delay: float = _dead_time(0.1, "dead time of the brake")
    brake_time_constant: float = _time_constant(0.1, "lag of the deceleration")
    convert_accel_cmd: bool = flag(True, "the accelerator goes through its map, else it is an acceleration [m/s^2]")
    convert_brake_cmd: bool = flag(True, "the brake goes through its map, else it does nothing")
    accel_map_path: str = _map("the acceleration by speed (columns) and accelerator (rows)")
    brake_map_path: str = _map("the acceleration by speed (columns) and brake pedal (rows)")

    def check_together(self) -> None:
        """Read maps that are used and have a path, so that faults are reported at once."""
        for path, used in (
            (self.accel_map_path, self.convert_accel_cmd),
            (self.brake_map_path, self.convert_brake_cmd),
        ):
            if path and used:
                read_map(path)

    @property
    def accel_map(self) -> ActuationMap:
        """Acceleration [m/s^2] by speed [m/s] and accelerator."""
        return _map_at(self.accel_map_path, "accel_map.csv")

    @property
    def brake_map(self) -> ActuationMap:
        """Acceleration [m/s^2] by speed [m/s] and brake pedal."""
        return _map_at(self.brake_map_path, "brake_map.csv")


@dataclass(frozen=True, slots=True)
class ActuationCmdSteerMapParameters(ActuationCmdParameters):
    """Pedals with maps; a map turns the steering command into a steering rate."""

    steer_time_constant: float = real(0.27, "s", "without effect: the map gives a rate", minimum=0.0)
    steer_map_path: str = _map("the steering rate by tyre angle (columns) and steering command (rows)")
    steering_gain: float = real(
        2.0, "1/s", "gain of the steering controller, for commands of a tyre angle", positive=True, live=True
    )

    def check_together(self) -> None:
        """Read maps that are used and have a path."""
        ActuationCmdParameters.check_together(self)
        if self.steer_map_path:
            read_map(self.steer_map_path)

    @property
    def steer_map(self) -> ActuationMap:
        """Steering rate [rad/s] by tyre angle [rad] and steering command."""
        return _map_at(self.steer_map_path, "steer_map.csv")


@dataclass(frozen=True, slots=True)
class ActuationCmdVgrParameters(ActuationCmdParameters):
    """Pedals with maps; the steering command is the steering wheel's angle, with a variable gear ratio."""

    vgr_coef_a: float = real(15.713, "-", "gear ratio at standstill, straight ahead", positive=True, live=True)
    vgr_coef_b: float = real(0.053, "s^2/m^2", "increase of the gear ratio per speed squared", minimum=0.0, live=True)
    vgr_coef_c: float = real(0.042, "1/rad", "decrease of the ratio per steering wheel angle", minimum=0.0, live=True)


@dataclass(frozen=True, slots=True)
class MechanicalParameters(ParameterGroup):
    """A steering's controller, power steering and mechanics; defaults are Autoware's, identified from a vehicle."""

    kp: float = _coefficient(386.9151820510161, "proportional gain of the controller", "1/rad")
    ki: float = _coefficient(5.460970982628869, "integral gain of the controller", "1/(rad s)")
    kd: float = _coefficient(0.03550834077602694, "derivative gain of the controller", "s/rad")
    ff_gain: float = _coefficient(0.03051963576179274, "feed-forward gain of the command", "1/rad")
    angle_limit: float = real(10.0, "rad", "maximum tyre angle", positive=True, live=True)
    rate_limit: float = real(3.0, "rad/s", "maximum rate of the command and of the tyres", positive=True, live=True)
    dead_zone_threshold: float = real(
        0.00708241866710033, "N m", "torque that has no effect; subtracted from a larger one", minimum=0.0, live=True
    )
    poly_a: float = _coefficient(0.15251276182076065, "power steering: coefficient of torque^3")
    poly_b: float = _coefficient(-0.17301900674117585, "power steering: coefficient of torque^2")
    poly_c: float = _coefficient(1.5896528355739639, "power steering: coefficient of torque")
    poly_d: float = _coefficient(0.002300899817071436, "power steering: coefficient of speed^3")
    poly_e: float = _coefficient(-0.0418928856764797, "power steering: coefficient of speed^2")
    poly_f: float = _coefficient(0.18449047960081838, "power steering: coefficient of speed")
    poly_g: float = _coefficient(-0.06320887302605509, "power steering: coefficient of torque times speed")
    poly_h: float = _coefficient(0.18696796150634806, "power steering: constant part")
    inertia: float = real(25.17844747941984, "kg m^2", "inertia of the steering at the tyres", positive=True, live=True)
    damping: float = real(117.00653795106054, "N m s/rad", "damping of the steering", minimum=0.0, live=True)
    stiffness: float = real(0.17526182368541224, "N m/rad", "stiffness that centres the tyres", minimum=0.0, live=True)
    friction: float = real(0.6596571248682918, "N m", "torque of dry friction", minimum=0.0, live=True)
    steering_torque_limit: float = real(30.0, "N m", "maximum torque of the power steering", positive=True, live=True)
    torque_delay_time: float = real(
        0.0007641271506616108, "s", "dead time of the torque", minimum=0.0, maximum=MAX_DEAD_TIME, live=True
    )


@dataclass(frozen=True, slots=True)
class ActuationCmdMechanicalParameters(ActuationCmdVgrParameters):
    """Pedals with maps; the steering command is the steering wheel's angle, and a mechanism turns the tyres."""

    steer_time_delay: float = _dead_time(0.0, "dead time of the steering")
    steer_time_constant: float = real(0.001, "s", "without effect: the mechanism lags", minimum=0.0)
    steer_rate_lim: float = real(5.0, "rad/s", "without effect: see mechanical_params.rate_limit", positive=True)
    mechanical_params: MechanicalParameters = group(MechanicalParameters)


def _map_at(path: str, name: str) -> ActuationMap:
    """The map of a file; without a path, the map of this package with a name."""
    return read_map(path) if path else own_map(name)
