"""The setup of an identification: unknowns of a vehicle, commands for its model, measurements that it predicts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from vds_gz.core.arrays import Array, Flags
from vds_gz.core.parameters.actuator_parameters import ActuatorStages
from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.parameters.yaml_reader import Interval
from vds_gz.core.vehicle.command import KINDS, CommandKind
from vds_gz.core.vehicle.vehicle_model import AnyModel
from vds_gz.tools.study.identify.problem.horizon_means import with_increments
from vds_gz.tools.study.identify.problem.observed import observed, steers
from vds_gz.tools.study.identify.problem.references import ReferenceRange, joined, reference_ranges
from vds_gz.tools.study.identify.problem.segments import FEWEST_SAMPLES
from vds_gz.tools.study.identify.problem.vehicle_family import VehicleFamily
from vds_gz.tools.study.reading.interval_means import interval_means
from vds_gz.tools.study.reading.joint_names import with_joints_of
from vds_gz.tools.study.recording import (
    COMMANDED,
    QUANTITIES,
    Commands,
    MeasuredChannel,
    Recording,
    SignalError,
)
from vds_gz.tools.study.signals import in_force, median_and_error, noise

#: Fields of commands and of calibrations, by quantity.
FIELDS = {quantity: COMMANDED[quantity] for quantity in QUANTITIES}

#: Geometry on which the motion of wheels and hinges depends.
OF_JOINTS = ("tire_diameter", "track_fixed", "track_steered")

#: A measurement whose range is less than this multiple of its noise is only noise.
NOISE_RANGE = 5.0

#: Commands below this part of their maximum are near 0.
NEAR_ZERO = 0.1

#: A vehicle stands at the latest after this time of commands of zero [s], which this number of samples shows, if their
#: median is below this part of its largest speed, or of its standard error.
SETTLED, STANDING_SAMPLES, STANDING, STANDING_ERRORS = 2.0, 5, 0.01, 3.0

#: Maximum angle of a steering wheel [rad].
HAND_WHEEL = 50.0

#: Default number of steps per second [Hz].
STEP_RATE = 1000.0

Channels = tuple[tuple[MeasuredChannel, ...], ...]


@dataclass(frozen=True)
class Setup:
    """The setup of an identification.

    Attributes:
        family: The possible vehicles, with their unknowns.
        actuators: The model's actuators, as :func:`~vds_gz.tools.study.identify.problem.parameters.actuations` names
            them.
        recordings: The recordings, with commands that the model takes.
        channels: The measurements that are fitted, for each recording.
        begin: The start of the search, without limits.
        priors: Prior knowledge of some unknowns.
        step_rate: Steps per second of the model [Hz].
        given: Whether a vehicle was given.
        centred: Whether the steering goes to the middle when the commanded speed is 0; None if unknown.
        findings: On the unknowns.
        variant: Findings on the variant of the vehicle, and on the order of its lags.
    """

    family: VehicleFamily
    actuators: Mapping[str, ActuatorStages]
    recordings: tuple[Recording, ...]
    channels: Channels
    begin: Array
    priors: Mapping[str, Interval]
    step_rate: float
    given: bool
    centred: bool | None = None
    findings: tuple[str, ...] = ()
    variant: tuple[str, ...] = ()

    @property
    def excited(self) -> list[str]:
        """Actuators whose commands change; with commands of the kind Control always the drive."""
        return [name for name in self.actuators if self._is_excited(name)]

    def _is_excited(self, name: str) -> bool:
        if name in self.steering_references:
            return self.steering_references[name].varies
        actuator = self.actuators[name]
        return any(map(self.varies, actuator.follows)) or (self.takes_acceleration and not actuator.steers)

    @cached_property
    def steering_references(self) -> dict[str, ReferenceRange]:
        """The references of the steerings of a vehicle that can move laterally, which several commands may move."""
        model, parameters = self.family.model, self.family.parameters
        steerings = [name for name, actuator in self.actuators.items() if actuator.steers]
        if not (steerings and model.geometry(parameters).holonomic):
            return {}
        ranges = reference_ranges(model, parameters, [recording.commands.records for recording in self.recordings])
        kinds = {actuator.name: actuator.kind for actuator in model.actuators_of(parameters)}
        alone = len(steerings) == 1  # all steerings have its parameters
        return {
            name: joined(
                known
                for actuator, known in ranges.items()
                if kinds[actuator] == "steering" and (alone or actuator.startswith(name))
            )
            for name in steerings
        }

    @property
    def all_channels(self) -> list[MeasuredChannel]:
        """The channels of all recordings; terms refer to them by index."""
        return [channel for channels in self.channels for channel in channels]

    @property
    def takes_acceleration(self) -> bool:
        """Whether the commands have an acceleration of the drive."""
        return "target_acceleration" in self.kind.fields

    @property
    def kind(self) -> CommandKind:
        """The kind of the commands."""
        return kind_of(self.recordings[0])

    @cached_property
    def measured(self) -> set[str]:
        """Quantities that were measured."""
        return {channel.quantity for channel in self.all_channels}

    @property
    def wheels_measured(self) -> bool:
        """Whether the speed or the angle of some wheel was measured."""
        return any(channel.joint and not channel.hinge for channel in self.all_channels)

    @property
    def steering_measured(self) -> bool:
        """Whether the steering angle or that of a hinge was measured."""
        return any(channel.quantity == "steering" or channel.hinge for channel in self.all_channels)

    def varies(self, quantity: str) -> bool:
        """Whether the command of a quantity changes."""
        return self._changes(FIELDS[quantity], 0.0)

    @property
    def moves(self) -> bool:
        """Whether some command changes, and some measurement by more than noise."""
        values = [channel.series.value for channel in self.all_channels]
        ranges = [float(np.ptp(np.percentile(value, (1.0, 99.0)))) for value in values]
        moves = any(spread >= NOISE_RANGE * noise(value) + 1e-9 for spread, value in zip(ranges, values, strict=True))
        fields = (*FIELDS.values(), COMMANDED["rear_steering"], "target_acceleration")
        return moves and any(self._changes(field, 1e-9) for field in fields)

    def reaches_zero(self, quantity: str) -> bool:
        """Whether the commands of a quantity, those of :meth:`_driven`, come near 0 or change their sign."""
        values = self._driven(FIELDS[quantity])
        tolerance = NEAR_ZERO * float(np.max(np.abs(values)))
        return bool(np.min(values) <= tolerance and np.max(values) >= -tolerance)

    @property
    def stands(self) -> bool:
        """Whether the vehicle was seen not to drive at a speed command of zero, by its speed or that of its wheels.

        Turning in place counts as standing still if the speed is measured. The samples without turns in place, or all
        samples, must stand.
        """
        return any(
            _is_standing(channel, _settled_at_zero(recording.commands, channel.series.time, turning=turning))
            for recording, channels in zip(self.recordings, self.channels, strict=True)
            for channel in channels
            if channel.quantity in ("v_x", "joint_velocity")
            for turning in ((False, True) if channel.quantity == "v_x" else (False,))
        )

    @property
    def slows_down(self) -> bool:
        """Whether some command asks for a lower speed than one before, or for the opposite direction."""
        steered = steers(self.family.model, self.family.parameters)
        fields = ("v_x",) if steered else ("v_x", "v_y", "yaw_rate")
        for commanded in (recording.commands.records[field] for recording in self.recordings for field in fields):
            tolerance = max(NEAR_ZERO * np.max(np.abs(commanded)), 1e-9)
            for speed in (np.maximum(commanded, 0.0), np.maximum(-commanded, 0.0)):
                if np.max(np.maximum.accumulate(speed) - speed) > tolerance:
                    return True
        return False

    @property
    def turns_steering(self) -> bool:
        """Whether some change of the steering's commands shows in a measurement.

        Without a measured steering angle, only the motion shows it, so the vehicle must drive.
        """
        if self.steering_measured:
            return True
        return any(np.ptp(self._driven(FIELDS[quantity])) > 0.0 for quantity in ("steering", "yaw_rate"))

    def _driven(self, field: str) -> Array:
        """All commands of the speed; of another field, those at a commanded speed other than 0, if there are any."""
        records = np.concatenate([recording.commands.records for recording in self.recordings])
        driven = records["v_x"] != 0.0
        return np.asarray(records[field] if field == "v_x" or not driven.any() else records[field][driven])

    def _changes(self, field: str, tolerance: float) -> bool:
        return any(np.ptp(recording.commands.records[field]) > tolerance for recording in self.recordings)


def _settled_at_zero(commands: Commands, time: Array, *, turning: bool) -> Flags:
    """Whether no motion, or one in place only, was commanded at each time, and for :data:`SETTLED` before it."""
    fields = ("v_x", "v_y", "target_acceleration", *(() if turning else ("yaw_rate",)))
    moves = np.any([commands.records[field] != 0.0 for field in fields], axis=0)
    last = np.maximum.accumulate(np.where(moves, np.arange(len(moves)), -1))
    ends = np.where(last + 1 < len(moves), commands.time[np.minimum(last + 1, len(moves) - 1)], np.inf)
    at = in_force(commands.time, time)
    return np.asarray((time >= commands.time[0]) & ~moves[at] & (time >= ends[at] + SETTLED))


def _is_standing(channel: MeasuredChannel, settled: Flags) -> bool:
    """Whether a speed is 0 in these samples, within its noise or a small part of its largest value."""
    values = channel.series.value[settled]
    if len(values) < STANDING_SAMPLES:
        return False
    (middle, error), top = median_and_error(values), float(np.percentile(np.abs(channel.series.value), 99.0))
    return abs(middle) <= max(STANDING * top, STANDING_ERRORS * error)


def requested_by(kind: CommandKind) -> list[str]:
    """The quantities of the motion that commands of a kind request."""
    return [quantity for quantity, field in FIELDS.items() if field in kind.references]


def kind_of(recording: Recording) -> CommandKind:
    """The kind of a recording's commands."""
    return KINDS[int(recording.commands.records["kind"][0])]


def check_numbers(recording: Recording) -> None:
    """Refuse a recording without commands, with numbers that are not finite, or with times that do not advance."""
    measured = [(channel.name, channel.series) for channel in recording.channels]
    for name, series in (*recording.commanded.items(), *measured):
        invalid = ~(np.isfinite(series.time) & np.isfinite(series.value))
        if invalid.any():
            raise SignalError(
                f"{int(invalid.sum())} of {len(invalid)} samples of {name} are NaN or infinite, the first is number "
                f"{int(np.argmax(invalid)) + 1}; leave these out"
            )
    for name, series in measured:
        stuck = np.diff(series.time) <= 0.0
        if 2 * stuck.sum() >= len(stuck) > 0:
            raise SignalError(
                f"{int(stuck.sum())} of {len(series.time)} samples of {name} are no later than the sample before, the "
                f"first at {series.time[int(np.argmax(stuck)) + 1]:.9g} s; each sample needs a later time"
            )
    if not len(recording.commands.time):
        raise _nothing_in_both(recording, recording.measured)


def _nothing_in_both(recording: Recording, measured: Collection[str]) -> SignalError:
    return SignalError(
        f"nothing was both commanded ({', '.join(recording.commanded) or 'nothing'}) and measured "
        f"({', '.join(measured) or 'nothing'}); needed is one of {', '.join(QUANTITIES)} in both"
    )


def offered(
    signals: Sequence[Recording], model: AnyModel, parameters: ParameterGroup, fit: Collection[str], *, given: bool
) -> tuple[tuple[Recording, ...], Channels]:
    """The recordings with commands that the model takes, and the measurements to fit of each.

    Without ``given``, the parameters are the model's defaults, so the geometry of wheels and hinges is unknown.
    """
    recordings = [with_joints_of(_for_model(recording, model), model, parameters) for recording in signals]
    kinds = [kind_of(recording).name for recording in recordings]
    for k, kind in enumerate(kinds, start=1):
        if kind != kinds[0]:
            raise SignalError(
                f"the commands of recording 1 are of the kind '{kinds[0]}', those of recording {k} '{kind}'; in one "
                "fit they must be of one kind"
            )
    unknown = set() if given else set(OF_JOINTS) - set(fit)
    remedy = "" if "wheel_gains" in fit else ", or identify them (--fit {})"
    recordings = [_without_unknown_geometry(recording, model, parameters, unknown, remedy) for recording in recordings]
    recordings = [_with_means_named(recording) for recording in recordings]
    lateral = "base_link_offset" in fit
    channels = tuple(tuple(counting(recording, model, parameters, lateral=lateral)) for recording in recordings)
    if not any(channels):
        raise _nothing_in_both(signals[0], [channel.name for channel in signals[0].channels])
    return tuple(recordings), channels


def _with_means_named(recording: Recording) -> Recording:
    """The recording with a finding on velocities that are differences over uneven intervals."""
    if not (means := interval_means(recording.channels)):
        return recording
    finding = (
        f"{', '.join(channel.name for channel in means)}: high after short intervals and low after long ones, so they "
        "are differences over these; their means over longer times are used"
    )
    return replace(recording, findings=[*recording.findings, finding])


def _for_model(recording: Recording, model: AnyModel) -> Recording:
    """The recording with commands that the model takes; a Control may be reduced to speed and angle, or velocities."""
    if kind_of(recording) in model.accepts:
        return recording
    if kind_of(recording).references:
        motion_commands = {name: series for name, series in recording.commanded.items() if name in QUANTITIES}
        plain = replace(recording, commanded=motion_commands)
        if motion_commands and kind_of(plain) in model.accepts:
            return plain
    raise SignalError(
        f"the commands are of the kind '{kind_of(recording).name}', which the vehicle model '{model.name}' does "
        f"not take; it takes {', '.join(sorted(kind.name for kind in model.accepts))}"
    )


def _without_unknown_geometry(
    recording: Recording, model: AnyModel, parameters: ParameterGroup, unknown: Collection[str], remedy: str
) -> Recording:
    """The recording without wheels and hinges whose geometry is unknown; a finding names them.

    If nothing else was measured, they stay.
    """
    needed = {
        channel.name: geometry
        for channel in recording.further
        if observed(model, parameters, channel.quantity, channel.joint) is not None
        and (geometry := _geometry_of(channel, parameters) & set(unknown))
    }
    further = [channel for channel in recording.further if channel.name not in needed]
    if not needed or not (recording.measured or further):
        return recording
    lacking = sorted(set().union(*needed.values()))
    finding = (
        f"{', '.join(needed)}: left out, as they need the vehicle's {', '.join(lacking)}; give a parameter file that "
        f"has them (--params){remedy.format(','.join(lacking))}"
    )
    return replace(recording, further=further, findings=[*recording.findings, finding])


def _geometry_of(channel: MeasuredChannel, parameters: ParameterGroup) -> set[str]:
    """The members of :data:`OF_JOINTS` on which a channel depends."""
    if channel.hinge:
        return {"track_steered"} if channel.joint.endswith(("_left", "_right")) else set()
    if not channel.joint:
        return set()
    track = "track_steered" if channel.joint.startswith("steered") else "track_fixed"
    return {"tire_diameter", track} if hasattr(parameters, track) else {"tire_diameter"}


def counting(
    recording: Recording, model: AnyModel, parameters: ParameterGroup, *, lateral: bool = False
) -> list[MeasuredChannel]:
    """The measurements to fit: those that the model predicts and that change; all that it predicts if none changes.

    Hinges replace their mean. With ``lateral``, a lateral velocity that is always 0 is fitted too.
    """
    lateral = lateral or model.geometry(parameters).holonomic
    used = [
        channel
        for channel in with_increments(recording.channels, lateral=lateral)
        if observed(model, parameters, channel.quantity, channel.joint) and len(channel.series.value) >= FEWEST_SAMPLES
    ]
    hinges = {channel.source for channel in used if channel.hinge}
    used = [channel for channel in used if not (channel.quantity == "steering" and channel.source in hinges)]
    changing = [
        channel for channel in used if np.ptp(channel.series.value) > 0.0 or (lateral and channel.quantity == "v_y")
    ]
    return changing or used
