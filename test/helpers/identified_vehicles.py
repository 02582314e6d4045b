"""Vehicles whose numbers are known, recordings of them, and how near to the truth an identification comes.

Recordings are the offline replay of `profile steps`; noise, lost samples and jitter are put in afterwards.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from helpers.guest import HERE
from vds_gz.core.configuration import load_parameters, preset_names
from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.vehicles import BicycleParameters, DifferentialParameters, OmniParameters
from vds_gz.core.vehicle.actuators import delay_steps
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import ACKERMANN
from vds_gz.programs.commandlog.command_log import CommandLog
from vds_gz.programs.commandlog.profiles import limits_of, make
from vds_gz.tools.study.compare.sources import simulate
from vds_gz.tools.study.identify.estimates import Estimate
from vds_gz.tools.study.recording import Recording, Series

#: Where a group has no such suffix, the number is none of an actuator.
AUTOWARE_NUMBERS = ("_time_delay", "_time_constant", "vel_lim", "vel_rate_lim", "steer_lim", "steer_rate_lim")

#: What an error may be on clean data: of dead times and of times that are 0 [s], as a part of limits and time constants
#: and of geometry, and of offsets as a part of the peak.
ALLOWED_TIME, ALLOWED_PART, ALLOWED_GEOMETRY, ALLOWED_OFFSET = 0.5e-3, 2e-3, 1e-3, 1e-3

#: How the numbers of an actuator begin that are fitted by default; others may have no effect.
USUAL = ("dead_time", "time_constant", "max_")

DT = 1e-3


@dataclass(frozen=True)
class Case:
    """A vehicle and how far commands go: maxima by the names of :func:`limits_of`."""

    name: str
    parameters: NodeParameters
    reach: Mapping[str, float]

    @property
    def vehicle(self) -> Any:
        """The vehicle's parameter group."""
        return self.parameters.vehicle

    @property
    def ackermann(self) -> bool:
        """It is commanded speeds and steering angles."""
        return ACKERMANN in models()[self.parameters.model].accepts

    def log(self, seed: int, duration: float = 60.0) -> CommandLog:
        """`profile steps`."""
        limits = limits_of(self.parameters, **self.reach)
        return make("steps", limits, ackermann=self.ackermann, duration=duration, seed=seed)

    def known(self) -> NodeParameters:
        """The parameters with other numbers of the actuators: what a ruler tells of the vehicle."""
        return with_vehicle(self.parameters, _forgotten(self.vehicle))


def with_vehicle(parameters: NodeParameters, vehicle: Any) -> NodeParameters:
    """The same node with another vehicle of the model."""
    return replace(parameters, model_params=dict(parameters.model_params) | {parameters.model: vehicle})


def _forgotten(group: Any) -> Any:
    """A group with numbers of actuators that are no vehicle's."""
    if isinstance(group, DriveParameters):
        return DriveParameters(
            dead_time=0.1, time_constant=0.1, max_velocity=0.0, max_acceleration=0.0, max_deceleration=0.0
        )
    if isinstance(group, SteeringParameters):
        return SteeringParameters(dead_time=0.1, time_constant=0.1, max_velocity=0.0, max_position=1.5)
    groups = {
        field.name: _forgotten(getattr(group, field.name))
        for field in dataclasses.fields(group)
        if isinstance(getattr(group, field.name), (DriveParameters, SteeringParameters))
    }
    defaults = type(group)()
    numbers = {name: getattr(defaults, name) for name in _autoware_numbers(group)}
    return replace(group, **groups, **numbers)


def _autoware_numbers(group: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(group) if field.name.endswith(AUTOWARE_NUMBERS)]


def truth(vehicle: Any, dt: float = DT) -> dict[str, float]:
    """Numbers of the actuators as they act in steps of ``dt`` seconds, by dotted names; infinite where no limit is."""
    result: dict[str, float] = {}
    for one in dataclasses.fields(vehicle):
        value = getattr(vehicle, one.name)
        if isinstance(value, (DriveParameters, SteeringParameters)):
            neutral = type(value)()
            numbers = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
            numbers = {
                name: number
                for name, number in numbers.items()
                if name.startswith(USUAL) or number != getattr(neutral, name)
            }
            numbers |= {name: number or math.inf for name, number in numbers.items() if name.startswith("max_")}
            numbers["dead_time"] = delay_steps(value.dead_time, dt) * dt
            if isinstance(value, DriveParameters) and not value.max_deceleration:
                numbers["max_deceleration"] = numbers["max_acceleration"]
            result |= {f"{one.name}.{name}": number for name, number in numbers.items()}
    for name in _autoware_numbers(vehicle):
        from vds_gz.autoware.vehicle.delay import steps_of
        from vds_gz.autoware.vehicle.models import time_constant

        value = getattr(vehicle, name)
        result[name] = (
            steps_of(value, dt) * dt
            if name.endswith("_delay")
            else time_constant(value)
            if name.endswith("_constant")
            else value
        )
    if getattr(vehicle, "max_wheel_velocity", 0.0):
        result["max_wheel_velocity"] = vehicle.max_wheel_velocity
    return result


def is_dead_time(name: str) -> bool:
    """Whether a number is one."""
    return name.endswith(("dead_time", "time_delay"))


def known_calibration(name: str) -> float | None:
    """The true value of what is no parameter of these vehicles; None of what is unknown."""
    return 1.0 if name.endswith(" gain") else 0.0 if name.endswith((" offset", " latency")) else None


def tolerance(name: str, true: float, peaks: Mapping[str, float], *, is_geometry: bool = False) -> float:
    """How far off an estimate from clean data may be.

    Args:
        name: Of the number.
        true: Its value.
        peaks: Maxima of what was measured, by quantity.
        is_geometry: It is a number of the geometry.
    """
    if is_dead_time(name) or name.endswith(" latency") or (true == 0.0 and name.endswith("time_constant")):
        return ALLOWED_TIME
    if name.endswith(" offset"):
        return ALLOWED_OFFSET * peaks.get(name.removesuffix(" offset"), 1.0)
    return (ALLOWED_GEOMETRY if is_geometry else ALLOWED_PART) * abs(true)


class Found(Protocol):
    """What :func:`~vds_gz.tools.study.identify.identification.identify` finds, as far as it is judged here."""

    @property
    def numbers(self) -> Mapping[str, Estimate | None]:
        """Parameters."""

    @property
    def calibrations(self) -> Mapping[str, Estimate | None]:
        """What is none."""


class Judged(NamedTuple):
    """An estimate beside the truth, and how far off it may be on clean data."""

    true: float
    allowed: float
    estimate: Estimate | None

    @property
    def error(self) -> float:
        """How far off it is; NaN where nothing was found."""
        return math.nan if self.estimate is None else abs(self.estimate.value - self.true)

    @property
    def holds(self) -> bool:
        """The interval has the true number in it."""
        return self.estimate is not None and self.estimate.low <= self.true <= self.estimate.high


def peaks(recording: Recording) -> dict[str, float]:
    """Maximum of what was measured, by quantity."""
    return {name: float(np.max(np.abs(item.value))) for name, item in recording.measured.items()}


def by_default(name: str) -> bool:
    """A number is fitted without being asked for."""
    group, _, last = name.rpartition(".")
    return not group or last.startswith(USUAL)


def judged(fit: Found, case: Case, recording: Recording, geometry: Sequence[str] = ()) -> dict[str, Judged]:
    """Every number that was found, or should have been: a limit that is none need not be."""
    true = truth(case.vehicle, 1.0 / case.parameters.step_rate)
    true |= {name: getattr(case.vehicle, name) for name in geometry}
    result, scales = {**fit.numbers, **fit.calibrations}, peaks(recording)
    rows = {}
    for name in {**true, **result}:
        value = true[name] if name in true else known_calibration(name)
        if isinstance(value, float) and (
            result.get(name) is not None or (name in true and math.isfinite(value) and by_default(name))
        ):
            allowed = tolerance(name, value, scales, is_geometry=name in geometry)
            rows[name] = Judged(value, allowed, result.get(name))
    return rows


def signals_of(log: CommandLog, run: Recording) -> Recording:
    """Commands and what was measured of them: the twist, and the steering angle of a vehicle that has one."""
    commands, motion = run.references, run.motion
    given = {
        "v_x": commands.speed,
        "v_y": commands.v_y,
        "yaw_rate": commands.yaw_rate,
        "steering": commands.steering_angle,
    }
    recording = Recording(steers=log.kind == "ackermann")
    for name, values in given.items():
        if np.isfinite(values).all() and (name != "v_y" or np.ptp(values) > 0.0):
            recording.commanded[name] = Series(commands.time, np.asarray(values, float))
    for name in ("v_x", "v_y", "yaw_rate"):
        recording.measured[name] = Series(motion.time, getattr(motion, name))
    for actuator in run.actuators:
        if actuator.kind == "steering":
            recording.measured["steering"] = Series(actuator.time, actuator.response)
    return recording


def clean(case: Case, seed: int, duration: float = 60.0) -> Recording:
    """A recording without noise."""
    log = case.log(seed, duration)
    return signals_of(log, simulate(log, case.parameters))


@dataclass(frozen=True)
class Disturbance:
    """Standard deviation of the noise, as a part of full scale; part of samples lost; jitter [s]."""

    noise: float = 0.02
    lost: float = 0.05
    jitter: float = 1e-3


def full_scale(recording: Recording, quantity: str) -> float:
    """Maximum of what was commanded of a quantity, or else of what was measured."""
    series = recording.commanded.get(quantity, recording.measured[quantity])
    return float(np.max(np.abs(series.value)))


def disturbed(recording: Recording, random: np.random.Generator, how: Disturbance = Disturbance()) -> Recording:
    """The same recording with noise, offsets, lost samples and jitter, each channel by itself."""
    measured = {}
    for name, series in recording.measured.items():
        scale = full_scale(recording, name)
        if scale == 0.0:
            continue
        kept = random.uniform(size=len(series.time)) >= how.lost
        time = series.time + how.jitter * random.standard_normal(len(series.time))
        value = series.value + how.noise * scale * random.standard_normal(len(series.time))
        order = np.argsort(time[kept], kind="stable")
        measured[name] = Series(time[kept][order], value[kept][order])
    return Recording(dict(recording.commanded), measured, recording.steers)


def _case(name: str, parameters: NodeParameters, **reach: float) -> Case:
    return Case(name, parameters, reach)


def presets() -> list[Case]:
    """Every preset whose actuators are identified, within its limits and beyond them."""
    result = []
    for name, within, beyond in (
        ("ackermann_car", {"speed": 2.0, "steering": 0.5}, {"speed": 6.0, "steering": 0.7}),
        ("forklift", {"speed": 2.0, "steering": 0.5}, {"speed": 6.0, "steering": 1.2}),
        ("indoor_robot", {"speed": 0.6, "yaw_rate": 1.0}, {"speed": 1.0, "yaw_rate": 1.0}),
        ("deepracer", {"speed": 2.0, "steering": 0.5}, {"speed": 5.0, "steering": 0.6}),
        ("scaled_car", {"speed": 1.5, "steering": 0.5}, {"speed": 2.5, "steering": 0.7}),
        ("autoware_delay_car", {"speed": 2.0, "steering": 0.5}, {"speed": 8.0, "steering": 0.7}),
    ):
        if name not in preset_names():
            continue
        parameters = load_parameters(name)
        result += [_case(name, parameters, **within), _case(f"{name} beyond", parameters, **beyond)]
    for model, reach in (
        ("bicycle", {"speed": 2.5, "steering": 0.5}),
        ("differential", {"speed": 0.6, "yaw_rate": 1.0}),
        ("omni", {"speed": 1.2, "lateral": 0.6, "yaw_rate": 0.6}),
    ):
        result.append(_case(f"vds_defaults {model}", load_parameters("vds_defaults", {"model": model}), **reach))
    return result


#: Bicycles by their flags, a rover with hub motors last.
BICYCLES: dict[str, dict[str, Any]] = {
    "bicycle fs rd": {},
    "bicycle fs fd": {"drive_on_steered_wheel": True},
    "bicycle rs fd": {"reverse": True},
    "bicycle rs rd": {"reverse": True, "drive_on_steered_wheel": True},
    "four-wheel drive": {"four_wheel_drive": True},
}

AUTOWARE_KINDS = (
    "delay_steer_vel",
    "delay_steer_acc",
    "delay_steer_acc_geared",
    "delay_steer_acc_geared_wo_fall_guard",
    "ideal_steer_vel",
    "ideal_steer_acc",
    "ideal_steer_acc_geared",
)

AUTOWARE = AUTOWARE_KINDS if HERE else ()

#: Names of all that :func:`random_case` makes.
KINDS = (*BICYCLES, "differential", "omni o", "omni x", *AUTOWARE)


def random_case(kind: str, seed: int) -> Case:
    """A random vehicle; commands ask for more than it can."""
    random = np.random.default_rng([seed, KINDS.index(kind)])
    if kind in BICYCLES:
        return _random_bicycle(kind, random)
    if kind in AUTOWARE:
        return _random_autoware(kind, random)
    if kind == "differential":
        vehicle = DifferentialParameters(track=random.uniform(0.3, 1.0), drive_actuators=_random_drive(random))
        reach = {"speed": 2.0, "yaw_rate": 1.0 / vehicle.track}
        return _case(kind, NodeParameters(model=kind, model_params={kind: vehicle}), **reach)
    pattern = kind.split()[1]
    base, track = random.uniform(1.2, 1.6), random.uniform(0.4, 0.8)
    vehicle = OmniParameters(
        wheel_base=base, track=track, roller_pattern=pattern, drive_actuators=_random_drive(random)
    )
    arm = 0.5 * (base + track if pattern == "x" else base - track)
    reach = {"speed": 1.2, "lateral": 0.6, "yaw_rate": 0.6 / arm}
    return _case(kind, NodeParameters(model="omni", model_params={"omni": vehicle}), **reach)


def _time(random: np.random.Generator, low: float, high: float) -> float:
    """A dead time, which is one of whole steps."""
    return round(random.uniform(low, high) / DT) * DT


def _random_drive(random: np.random.Generator) -> DriveParameters:
    return DriveParameters(
        dead_time=_time(random, 0.05, 0.4),
        time_constant=random.uniform(0.1, 0.5),
        max_velocity=random.uniform(1.2, 1.8),
        max_acceleration=random.uniform(0.8, 2.0),
        max_deceleration=random.uniform(0.8, 2.5),
    )


def _random_bicycle(kind: str, random: np.random.Generator) -> Case:
    steering = SteeringParameters(
        dead_time=_time(random, 0.03, 0.3),
        time_constant=random.uniform(0.05, 0.3),
        max_velocity=random.uniform(0.4, 1.0),
        max_position=random.uniform(0.3, 0.4),
    )
    vehicle = BicycleParameters(
        drive_actuator=_random_drive(random),
        steering_actuator=steering,
        wheel_base=random.uniform(0.6, 2.0),
        track_fixed=random.uniform(0.4, 1.2),
        track_steered=random.uniform(0.4, 1.2),
        **BICYCLES[kind],
    )
    if vehicle.four_wheel_drive:  # its hubs saturate in tight curves only, and its drive on straights
        faster = 0.5 * vehicle.track_fixed * math.tan(steering.max_position) / vehicle.wheel_base
        hub = (1.0 + 0.15 * faster) * vehicle.drive_actuator.max_velocity
        vehicle = replace(vehicle, max_wheel_velocity=hub)
    node = NodeParameters(model="bicycle", model_params={"bicycle": vehicle})
    return _case(kind, node, speed=2.0, steering=0.45)


def _random_autoware(kind: str, random: np.random.Generator) -> Case:
    group = models()[kind].parameters
    numbers = {
        "vel_lim": random.uniform(1.2, 1.8),
        "vel_rate_lim": random.uniform(0.8, 2.0),
        "steer_lim": random.uniform(0.3, 0.4),
        "steer_rate_lim": random.uniform(0.4, 1.0),
        "steer_time_delay": _time(random, 0.03, 0.3),
        "steer_time_constant": random.uniform(0.05, 0.3),
        "vel_time_delay": _time(random, 0.05, 0.4),
        "vel_time_constant": random.uniform(0.1, 0.5),
        "acc_time_delay": _time(random, 0.03, 0.15),
        "acc_time_constant": random.uniform(0.05, 0.2),
    }
    names = {field.name for field in dataclasses.fields(group)}
    vehicle = group(**{name: number for name, number in numbers.items() if name in names})
    return _case(kind, NodeParameters(model=kind, model_params={kind: vehicle}), speed=2.0, steering=0.45)
