"""Commands and measurements of any vehicle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from vds_gz.study.recording import ActuatorSeries, Array, RecordingError
from vds_gz.vehicle.command import ACKERMANN, CONTROL, DRIVE, PEDALS, TWIST, Command, CommandKind
from vds_gz.vehicle.schedule import COMMAND, Records, fields_of

#: Quantities: velocities of base_link [m/s, m/s, rad/s], and the steering angle [rad].
QUANTITIES = ("v_x", "v_y", "yaw_rate", "steering")

#: Commands of a car with pedals: positions of accelerator and brake, angle of the steering wheel [rad].
ACTUATIONS = ("accel", "brake", "wheel")

#: Pose of base_link: position [m], and unwrapped heading [rad].
POSES = ("x", "y", "heading")

#: Of a joint with a name: rolling speed or steering rate [rad/s], and unwrapped angle [rad].
JOINTS = ("joint_velocity", "joint_position")

UNITS = MappingProxyType(
    {"v_x": "m/s", "v_y": "m/s", "yaw_rate": "rad/s", "steering": "rad", "x": "m", "y": "m", "heading": "rad"}
    | {"joint_velocity": "rad/s", "joint_position": "rad"}
)

#: Commanded quantities, by the field of a command's record. A limit of 0 means no limit, as in messages.
COMMANDED = MappingProxyType(
    {
        "v_x": "v_x",
        "v_y": "v_y",
        "yaw_rate": "yaw_rate",
        "steering": "steering_angle",
        "acceleration": "target_acceleration",
        "steering_rate_limit": "steering_rate",
        "acceleration_limit": "acceleration",
        "gear": "gear",
        "accel": "accel_pedal",
        "brake": "brake_pedal",
        "wheel": "steering_command",
    }
)
LIMITS = ("steering_rate_limit", "acceleration_limit")

#: A time without commands and samples is a gap if it exceeds this [s], and so many times the usual interval.
LONGEST_GAP, GAP_INTERVALS = 1.0, 20.0


def is_hinge(joint: str) -> bool:
    """Whether a joint steers, by its name: a robot's bag contains nothing else about its joints."""
    return "steer" in joint and "wheel" not in joint


class SignalError(RecordingError):
    """A file lacks needed signals. The message says what was found and what is needed."""


@dataclass(frozen=True, slots=True)
class Series:
    """Values at times [s], in the order of time."""

    time: Array
    value: Array


@dataclass(frozen=True, slots=True)
class Commands:
    """Commands as records with their arrivals [s]; each holds until the next."""

    time: Array
    records: Records


@dataclass(frozen=True, slots=True)
class MeasuredChannel:
    """One measured quantity of one source.

    Attributes:
        name: Its unique name: the quantity for the main one, else source and quantity.
        quantity: One of :data:`QUANTITIES`, :data:`POSES` and :data:`JOINTS`.
        source: The topic or the column. Quantities of one pose share it.
        series: Times [s] and values, in the unit of :data:`UNITS`.
        joint: The joint's name; empty for other quantities.
        half: For means over a short time, half of its length [s] for each sample; None for instantaneous values.
    """

    name: str
    quantity: str
    source: str
    series: Series
    joint: str = ""
    half: Array | None = None

    @property
    def unit(self) -> str:
        """Unit of its values."""
        return UNITS[self.quantity]

    @property
    def hinge(self) -> bool:
        """Whether it is the angle of a steering hinge."""
        return self.quantity == "joint_position" and is_hinge(self.joint)


@dataclass(slots=True)
class Signals:
    """The signals of a file.

    Attributes:
        commanded: By the names of :data:`COMMANDED`.
        measured: The main measurements of :data:`QUANTITIES`.
        steers: Commands are of speed and steering angle.
        notes: Notes of the reader, for people.
        sources: Topic or column of the main measurements, by quantity.
        further: All other measurements. A ``steering`` from a topic of joints is the mean of its hinges; if there are
            several, they are here too: use only one of both.
        actuators: References and responses of actuators, in a table of ``vds-gz replay``.
        made_by_replay: The file is such a table: its first sample is at the first command, which it does not have.
    """

    commanded: dict[str, Series] = field(default_factory=dict)
    measured: dict[str, Series] = field(default_factory=dict)
    steers: bool = False
    notes: list[str] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    further: list[MeasuredChannel] = field(default_factory=list)
    actuators: tuple[ActuatorSeries, ...] = ()
    made_by_replay: bool = False

    @property
    def commands(self) -> Commands:
        """All commands as records: complete commands, with the numbers in force where one leaves them open."""
        return commands_of(self.commanded)

    @property
    def channels(self) -> list[MeasuredChannel]:
        """All measurements, the main ones first."""
        main = (
            MeasuredChannel(quantity, quantity, self.sources.get(quantity, quantity), series)
            for quantity, series in self.measured.items()
        )
        return [*main, *self.further]

    @property
    def pieces(self) -> list[tuple[float, float]]:
        """First and last time [s] of each part of the recording between gaps."""
        return pieces([one.time for one in (*self.commanded.values(), *(one.series for one in self.channels))])


def commands_of(commanded: Mapping[str, Series]) -> Commands:
    """Commands by their numbers, which may come at different times; each number holds until its next.

    Numbers that were not commanded yet are as in ``Command()``. The kind follows from the numbers: pedals; an
    acceleration or a gear, which only Autoware's Control has; a steering angle; else velocities.
    """
    series = {name: one for name, one in commanded.items() if name in COMMANDED and len(one.time)}
    time = np.unique(np.concatenate([np.empty(0), *(one.time for one in series.values())]))
    records: Records = np.full(len(time), np.array(fields_of(Command(_kind(series), gear=DRIVE)), COMMAND))
    for name, one in series.items():
        at = np.searchsorted(one.time, time, side="right") - 1
        known = at >= 0
        values = one.value[at[known]]
        records[COMMANDED[name]][known] = np.where(values > 0.0, values, np.inf) if name in LIMITS else values
    return Commands(time, records)


def _kind(series: Mapping[str, Series]) -> CommandKind:
    if any(name in series for name in ACTUATIONS):
        return PEDALS
    if "acceleration" in series or "gear" in series:
        return CONTROL
    return ACKERMANN if "steering" in series else TWIST


def pieces(times: list[Array]) -> list[tuple[float, float]]:
    """First and last time [s] of each part without a gap in all of these times together."""
    time = np.unique(np.concatenate([np.empty(0), *times]))
    if not len(time):
        return []
    steps = np.diff(time)
    usual = float(np.median(steps)) if len(steps) else 0.0
    gaps = np.flatnonzero(steps > max(LONGEST_GAP, GAP_INTERVALS * usual))
    edges = [0, *(gaps + 1).tolist(), len(time)]
    return [(float(time[begin]), float(time[end - 1])) for begin, end in pairwise(edges)]
