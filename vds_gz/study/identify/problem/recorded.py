"""What recordings offer to an identification: commands that a model takes, and measurements that it gives."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from vds_gz.parameters.declaration import ParameterGroup
from vds_gz.study.identify.estimates import noise
from vds_gz.study.identify.problem.increments import with_increments
from vds_gz.study.identify.problem.observed import observed
from vds_gz.study.identify.problem.segments import FEWEST_SAMPLES
from vds_gz.study.recording import QUANTITIES, MeasuredChannel, Recording, SignalError
from vds_gz.vehicle.command import ACKERMANN, CONTROL, TWIST, CommandKind
from vds_gz.vehicle.model import AnyModel

#: Quantities that each kind of commands commands.
COMMANDED_BY: Mapping[CommandKind, tuple[str, ...]] = {
    TWIST: ("v_x", "v_y", "yaw_rate"),
    ACKERMANN: ("v_x", "steering"),
    CONTROL: ("v_x", "steering"),
}

#: Fields of commands and of calibrations, by quantity.
FIELDS = {"v_x": "v_x", "v_y": "v_y", "yaw_rate": "yaw_rate", "steering": "steering_angle"}

#: Geometry on which the motion of wheels and hinges depends.
OF_JOINTS = ("tire_diameter", "track_fixed", "track_steered")

#: A measurement that ranges over fewer standard deviations than this is nothing but noise.
NOISE_RANGE = 5.0


@dataclass(frozen=True)
class Recorded:
    """Recordings of a vehicle.

    Attributes:
        model, parameters: Of the vehicle, as far as it is known.
        recordings: With commands that the model takes.
        channels: Of each recording, the measurements that count.
    """

    model: AnyModel
    parameters: ParameterGroup
    recordings: tuple[Recording, ...]
    channels: tuple[tuple[MeasuredChannel, ...], ...]

    @property
    def all_channels(self) -> list[MeasuredChannel]:
        """The channels of all recordings; terms refer to them by index."""
        return [channel for channels in self.channels for channel in channels]

    @property
    def kind(self) -> CommandKind:
        """Of the commands."""
        return kind_of(self.recordings[0])

    @cached_property
    def measured(self) -> set[str]:
        """Quantities that were measured."""
        return {channel.quantity for channel in self.all_channels}

    @cached_property
    def wheels_measured(self) -> bool:
        """The speed or the angle of some wheel was measured."""
        return any(channel.joint and not channel.hinge for channel in self.all_channels)

    def varies(self, quantity: str) -> bool:
        """The command of a quantity changes."""
        return any(np.ptp(signals.commands.records[FIELDS[quantity]]) > 0.0 for signals in self.recordings)

    @property
    def moves(self) -> bool:
        """Some command changes, and some measurement by more than noise."""
        values = [channel.series.value for channel in self.all_channels]
        ranges = [float(np.ptp(np.percentile(value, (1.0, 99.0)))) for value in values]
        moves = any(spread >= NOISE_RANGE * noise(value) + 1e-9 for spread, value in zip(ranges, values, strict=True))
        fields = (*FIELDS.values(), "target_acceleration")
        return moves and any(
            np.ptp(signals.commands.records[field]) > 1e-9 for signals in self.recordings for field in fields
        )


def recorded_of(
    signals: Sequence[Recording], model: AnyModel, parameters: ParameterGroup, fit: Collection[str], *, given: bool
) -> Recorded:
    """What recordings offer.

    Without ``given`` the parameters are only the model's defaults.
    """
    recordings = tuple(_for_model(recording, model) for recording in signals)
    _check_kinds(recordings)
    unknown = set() if given else set(OF_JOINTS) - set(fit)
    hint = "" if "wheel_gains" in fit else ", or have them found (--fit {})"
    recordings = tuple(
        _without_unknown_geometry(recording, model, parameters, unknown, hint) for recording in recordings
    )
    lateral = "base_link_offset" in fit
    channels = tuple(tuple(counting(recording, model, parameters, lateral=lateral)) for recording in recordings)
    if not any(channels):
        raise SignalError(_nothing_in_both(signals[0], [channel.name for channel in signals[0].channels]))
    return Recorded(model, parameters, recordings, channels)


def kind_of(signals: Recording) -> CommandKind:
    """What the commands of a recording are."""
    return CommandKind(int(signals.commands.records["kind"][0]))


def check_numbers(signals: Recording) -> None:
    """Refuse a recording without commands, or with numbers that are not finite."""
    measured = ((channel.name, channel.series) for channel in signals.channels)
    for name, series in (*signals.commanded.items(), *measured):
        wrong = ~(np.isfinite(series.time) & np.isfinite(series.value))
        if wrong.any():
            raise SignalError(
                f"{int(wrong.sum())} of {len(wrong)} samples of {name} are NaN or infinite, the first is number "
                f"{int(np.argmax(wrong)) + 1}; leave these out"
            )
    if not len(signals.commands.time):
        raise SignalError(_nothing_in_both(signals, signals.measured))


def _nothing_in_both(signals: Recording, measured: Collection[str]) -> str:
    return (
        f"nothing was both commanded ({', '.join(signals.commanded) or 'nothing'}) and measured "
        f"({', '.join(measured) or 'nothing'}); needed is one of {', '.join(QUANTITIES)} in both"
    )


def _check_kinds(recordings: Sequence[Recording]) -> None:
    """Refuse recordings with different kinds of commands."""
    kinds = [kind_of(signals).name.lower() for signals in recordings]
    for k, kind in enumerate(kinds):
        if kind != kinds[0]:
            raise SignalError(
                f"the commands of recording 1 are of the kind '{kinds[0]}', those of recording {k + 1} '{kind}'; in "
                "one fit they must be of one kind"
            )


def _for_model(signals: Recording, model: AnyModel) -> Recording:
    """The recording with commands that the model takes: of a Control, speed and angle may do, or velocities."""
    if kind_of(signals) in model.accepts:
        return signals
    if kind_of(signals) == CONTROL:
        kept = {name: series for name, series in signals.commanded.items() if name in QUANTITIES}
        plain = replace(signals, commanded=kept)
        if kept and kind_of(plain) in model.accepts:
            return plain
    raise SignalError(
        f"the commands are of the kind '{kind_of(signals).name.lower()}', which the vehicle model '{model.name}' does "
        f"not take; it takes {', '.join(sorted(kind.name.lower() for kind in model.accepts))}"
    )


def _without_unknown_geometry(
    signals: Recording, model: AnyModel, parameters: ParameterGroup, unknown: Collection[str], hint: str
) -> Recording:
    """The recording without wheels and hinges whose geometry is unknown; a note names them.

    Where nothing else was measured they stay.
    """
    needed = {
        channel.name: geometry
        for channel in signals.further
        if observed(model, parameters, channel.quantity, channel.joint) is not None
        and (geometry := _geometry_of(channel, model) & set(unknown))
    }
    further = [channel for channel in signals.further if channel.name not in needed]
    if not needed or not (signals.measured or further):
        return signals
    lacking = sorted(set().union(*needed.values()))
    note = (
        f"{', '.join(needed)}: left out, as they need the vehicle's {', '.join(lacking)}; give a parameter file that "
        f"has them (--params){hint.format(','.join(lacking))}"
    )
    return replace(signals, further=further, notes=[*signals.notes, note])


def _geometry_of(channel: MeasuredChannel, model: AnyModel) -> set[str]:
    """What of :data:`OF_JOINTS` a channel depends on."""
    if channel.hinge:
        return {"track_steered"} if channel.joint.endswith(("_left", "_right")) else set()
    if not channel.joint:
        return set()
    track = "track_steered" if channel.joint.startswith("steered") else "track_fixed"
    return {"tire_diameter", track} if model.name == "bicycle" else {"tire_diameter"}


def counting(
    signals: Recording, model: AnyModel, parameters: ParameterGroup, *, lateral: bool = False
) -> list[MeasuredChannel]:
    """The measurements that count: those that the model gives and that change, if any does.

    The mean of hinges that count does not count too. With ``lateral``, a lateral velocity that is always 0 counts.
    """
    lateral = lateral or model.geometry(parameters).holonomic
    used = [
        channel
        for channel in with_increments(signals.channels, lateral=lateral)
        if observed(model, parameters, channel.quantity, channel.joint) and len(channel.series.value) >= FEWEST_SAMPLES
    ]
    hinges = {channel.source for channel in used if channel.hinge}
    used = [channel for channel in used if not (channel.quantity == "steering" and channel.source in hinges)]
    changing = [
        channel for channel in used if np.ptp(channel.series.value) > 0.0 or (lateral and channel.quantity == "v_y")
    ]
    return changing or used
