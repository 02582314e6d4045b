"""A recording of a vehicle as arrays in SI units: its commands, its measurements, its actuators, what it touched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.errors import RecordingError
from vds_gz.core.vehicle.command import DRIVE, FIELDS, Command
from vds_gz.core.vehicle.schedule import COMMAND, Records, fields_of
from vds_gz.core.vehicle.vehicle_model import ActuatorKind
from vds_gz.programs.commandlog.csv_table import kind_of
from vds_gz.tools.study.signals import derivative, held

#: Main quantities: velocities of base_link [m/s, m/s, rad/s], and the steering angle [rad].
QUANTITIES = ("v_x", "v_y", "yaw_rate", "steering")

#: Commands in the units of the model: positions of accelerator and brake, angle of the steering wheel [rad].
ACTUATIONS = ("accel", "brake", "wheel")

#: Signals from which pedals and a mechanical steering are identified.
ACTUATION_QUANTITIES = (*ACTUATIONS, "v_x", "steering")

#: Pose of base_link: position [m], and unwrapped heading [rad].
POSES = ("x", "y", "heading")

#: Quantities of a joint with a name: rolling speed or steering rate [rad/s], and unwrapped angle [rad].
JOINTS = ("joint_velocity", "joint_position")

UNITS = MappingProxyType(
    {"v_x": "m/s", "v_y": "m/s", "yaw_rate": "rad/s", "steering": "rad", "x": "m", "y": "m", "heading": "rad"}
    | {"joint_velocity": "rad/s", "joint_position": "rad"}
)

#: Commanded quantities with their fields in a command's record. A limit of 0 means no limit, as in messages.
COMMANDED = MappingProxyType({declared.quantity: name for name, declared in FIELDS.items() if declared.quantity})
LIMITS = tuple(declared.quantity for declared in FIELDS.values() if declared.limit)

#: A time without commands and samples is a gap if it exceeds this [s], and this many times the usual interval.
LONGEST_GAP, GAP_INTERVALS = 1.0, 20.0


def is_hinge(joint: str) -> bool:
    """Whether a joint steers, by its name: a robot's bag contains nothing else about its joints."""
    return "steer" in joint and "wheel" not in joint


class SignalError(RecordingError):
    """A file lacks needed signals. The message says what was found and what is needed."""


#: Contacts with the same thing within this time are one touch [s].
AGAIN = 0.5


@dataclass(frozen=True, slots=True)
class Touch:
    """A contact of a vehicle with a thing: first and last sample [s], and the first position on the map [m]."""

    thing: str
    begin: float
    end: float
    x: float
    y: float

    def __str__(self) -> str:
        place = f"touched {self.thing} at {self.begin:.2f} s, at ({self.x:.2f}, {self.y:.2f}) m"
        return f"{place}, for {self.end - self.begin:.2f} s" if self.end > self.begin else place


class TouchLog:
    """Collects all touches of a run, sample by sample."""

    def __init__(self) -> None:
        self._touches: list[Touch] = []
        self._last: dict[str, int] = {}

    def note(self, time: float, points: Iterable[tuple[str, float, float]]) -> None:
        """Take a sample: its time [s], and for each contact name and position (x, y) [m].

        The thing is the name up to ``::``.
        """
        for name, x, y in points:
            thing = name.partition("::")[0]
            i = self._last.get(thing)
            if i is not None and time - self._touches[i].end <= AGAIN:
                self._touches[i] = replace(self._touches[i], end=time)
            else:
                self._last[thing] = len(self._touches)
                self._touches.append(Touch(thing, time, time, x, y))

    @property
    def touches(self) -> tuple[Touch, ...]:
        """The touches in the order of their beginnings."""
        return tuple(self._touches)


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
    """One measured quantity of one source."""

    name: str  # its unique name: the quantity for the main one, else source and quantity
    quantity: str  # one of :data:`QUANTITIES`, :data:`POSES` and :data:`JOINTS`
    source: str  # The topic or the column. Quantities of one pose share it.
    series: Series  # times [s] and values, in the unit of :data:`UNITS`
    joint: str = ""  # the joint's name; empty for other quantities
    # for means over a short time, half of its length [s] for each sample; None for instantaneous values
    half: Array | None = None

    @property
    def unit(self) -> str:
        """Unit of its values."""
        return UNITS[self.quantity]

    @property
    def hinge(self) -> bool:
        """Whether it is the angle of a steering hinge."""
        return self.quantity == "joint_position" and is_hinge(self.joint)


@dataclass(frozen=True, slots=True)
class ActuatorSeries:
    """Reference and response of an actuator: speeds [m/s] of a drive, angles [rad] of a steering actuator."""

    name: str
    kind: ActuatorKind
    time: Array
    reference: Array
    response: Array


@dataclass(frozen=True, slots=True)
class MotionSeries:
    """Pose and velocity of base_link at the times of the samples [s, m, m, rad, m/s, m/s, rad/s].

    Quantities that were not measured are NaN.
    """

    time: Array
    x: Array
    y: Array
    heading: Array
    v_x: Array
    v_y: Array
    yaw_rate: Array


@dataclass(frozen=True, slots=True)
class CommandSeries:
    """The received commands: the numbers in force at the times of all commands; NaN before the first of its kind."""

    time: Array
    speed: Array
    v_y: Array
    yaw_rate: Array
    steering_angle: Array


@dataclass
class Recording:
    """A recorded drive, from a bag, a table or a simulation.

    Attributes:
        commanded: By the names of :data:`COMMANDED`.
        measured: The main measurements of :data:`QUANTITIES`.
        steers: Whether a steering angle is commanded.
        findings: Findings of the reader, for people.
        sources: Topic or column of the main measurements, by quantity.
        further: All other measurements. A ``steering`` from a topic of joints is the mean of its hinges; if there are
            several, they are here too: use only one of both.
        actuators: References and responses of actuators.
        made_by_replay: Whether it is a table of ``vds-gz replay``, which has no commands; its first sample is at the
            first command.
        counts: Messages by topic.
        start: The vehicle's time of its first sample [ns]; 0 for a table.
        command_topics: The topics of the commands.
        command_times: Times of all commands [s].
        touches: The vehicle's touches, from its topic ``contacts``.
        hold_time: Time for which the vehicle is known to follow its last command, if no other arrives [s].
    """

    commanded: dict[str, Series] = field(default_factory=dict)
    measured: dict[str, Series] = field(default_factory=dict)
    steers: bool = False
    findings: list[str] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    further: list[MeasuredChannel] = field(default_factory=list)
    actuators: tuple[ActuatorSeries, ...] = ()
    made_by_replay: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    start: int = 0
    command_topics: tuple[str, ...] = ()
    command_times: Array = field(default_factory=lambda: np.empty(0))
    touches: tuple[Touch, ...] = ()
    hold_time: float = 0.0

    @property
    def commands(self) -> Commands:
        """All commands as complete records: a number that a command leaves open is the last commanded one."""
        return commands_of(self.commanded)

    @property
    def references(self) -> CommandSeries:
        """The commands as quantities of the motion."""
        commanded = {} if self.made_by_replay else self.commanded
        time = self.command_times
        return CommandSeries(time, *(_held(commanded.get(name), time) for name in QUANTITIES))

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
        return pieces(
            [series.time for series in (*self.commanded.values(), *(channel.series for channel in self.channels))]
        )

    @cached_property
    def motion(self) -> MotionSeries:
        """Pose and velocity at the times of the main measurement."""
        return _motion(self._best)

    @property
    def steering(self) -> Series | None:
        """The measured steering angle; None if an actuator reports it, or with fewer than 2 samples."""
        angle = self._best.get("steering")
        reported = any(actuator.kind == "steering" for actuator in self.actuators)
        return None if angle is None or len(angle.time) < 2 or reported else angle

    @property
    def _best(self) -> dict[str, Series]:
        """The samples of each quantity: the main ones, or else those of the first source that has some."""
        best: dict[str, Series] = {}
        for channel in self.channels:
            if channel.quantity in (*POSES, *QUANTITIES) and len(channel.series.time):
                best.setdefault(channel.quantity, channel.series)
        return best


def commands_of(commanded: Mapping[str, Series]) -> Commands:
    """Commands by their numbers, which may come at different times; each number holds until its next.

    Numbers that were not commanded yet are as in ``Command()``. The kind is that of :func:`kind_of`.
    """
    known = {name: series for name, series in commanded.items() if name in COMMANDED and len(series.time)}
    time = np.unique(np.concatenate([np.empty(0), *(series.time for series in known.values())]))
    records: Records = np.full(len(time), np.array(fields_of(Command(kind_of(known), gear=DRIVE)), COMMAND))
    for name, series in known.items():
        values = _held(series, time)
        there = time >= series.time[0]
        values = np.where(values > 0.0, values, np.inf) if name in LIMITS else values
        records[COMMANDED[name]][there] = values[there]
    return Commands(time, records)


def _held(series: Series | None, time: Array) -> Array:
    """The commands in force at these times; NaN before the first and where nothing was commanded."""
    if series is None or not len(series.time):
        return np.full(len(time), np.nan)
    return np.where(time >= series.time[0], held(series.time, series.value, time), np.nan)


def pieces(times: list[Array]) -> list[tuple[float, float]]:
    """First and last time [s] of each part without a gap in all of these times together."""
    time = np.unique(np.concatenate([np.empty(0), *times]))
    if not len(time):
        return []
    gaps = np.flatnonzero(np.diff(time) > longest_gap(time)) + 1
    return [(float(part[0]), float(part[-1])) for part in np.split(time, gaps)]


def longest_gap(time: Array) -> float:
    """The longest time between two samples that is not a gap [s]."""
    return max(LONGEST_GAP, GAP_INTERVALS * float(np.median(np.diff(time)))) if len(time) > 1 else LONGEST_GAP


#: Velocities of a pose are differences over this time [s].
DIFFERENCE = 0.2


def _motion(best: Mapping[str, Series]) -> MotionSeries:
    """All quantities at the times of the main measurement; NaN if not measured."""
    known = {name: series for name, series in best.items() if len(series.time) > 1}
    if not known.keys() >= {"v_x", "v_y", "yaw_rate"}:
        known = _velocities(known) | known
    base = next((known[name] for name in ("v_x", "yaw_rate", "steering") if name in known), None)
    if base is None:
        raise RecordingError(
            "there are fewer than 2 samples of each velocity and of the steering angle; at least 2 of one of them, or "
            "more samples of a pose, are needed"
        )
    return MotionSeries(base.time, *(_at(known.get(name), base.time) for name in (*POSES, "v_x", "v_y", "yaw_rate")))


def _at(series: Series | None, time: Array) -> Array:
    if series is None:
        return np.full(len(time), np.nan)
    if np.array_equal(series.time, time):
        return series.value
    return np.interp(time, series.time, series.value, left=np.nan, right=np.nan)


def _velocities(series: Mapping[str, Series]) -> dict[str, Series]:
    """Velocities of base_link by differences of its pose around each time."""
    if not series.keys() >= set(POSES):
        return {}
    time = series["x"].time
    poses = np.stack([_at(series[name], time) for name in POSES])
    known = np.isfinite(poses).all(axis=0)
    time, poses = time[known], poses[:, known]
    (middle, d_x), (_, d_y), (_, turned) = (derivative(time, values, DIFFERENCE) for values in poses)
    if len(middle) < 2:
        return {}
    angle = np.interp(middle, time, poses[2])
    cos, sin = np.cos(angle), np.sin(angle)
    velocities = {"v_x": d_x * cos + d_y * sin, "v_y": d_y * cos - d_x * sin, "yaw_rate": turned}
    return {name: Series(middle, values) for name, values in velocities.items()}
