"""What is looked for in recordings: a model that takes such commands, its unknowns, and the measurements that count."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vds_gz.errors import ArgumentError
from vds_gz.parameters.declaration import ParameterGroup
from vds_gz.parameters.intervals import Interval
from vds_gz.parameters.node import NodeParameters
from vds_gz.study.identify.estimates import Array, noise
from vds_gz.study.identify.problem.increments import with_increments
from vds_gz.study.identify.problem.observed import observed
from vds_gz.study.identify.problem.parameters import (
    EFFECTIVE_TRACK,
    GAINS,
    WHEEL_LIMIT,
    Actuation,
    Kind,
    Term,
    actuations,
    coordinates,
    other_parameters,
    value_of,
)
from vds_gz.study.identify.problem.segments import FEWEST
from vds_gz.study.identify.problem.simulation import VehicleFamily
from vds_gz.study.signals import QUANTITIES, MeasuredChannel, SignalError, Signals
from vds_gz.vehicle.catalogue import models
from vds_gz.vehicle.command import ACKERMANN, CONTROL, TWIST, CommandKind
from vds_gz.vehicle.model import AnyModel

#: What is commanded by each kind of commands: quantities.
COMMANDED_BY: Mapping[CommandKind, tuple[str, ...]] = {
    TWIST: ("v_x", "v_y", "yaw_rate"),
    ACKERMANN: ("v_x", "steering"),
    CONTROL: ("v_x", "steering"),
}

#: Fields of commands and of calibrations.
FIELDS = {"v_x": "v_x", "v_y": "v_y", "yaw_rate": "yaw_rate", "steering": "steering_angle"}

#: What stands for all of these: the vehicle's geometry and the tyres.
ALL = "all"
GEOMETRY = ("wheel_base", "track", "track_fixed", "track_steered", "base_link_offset", "tire_diameter")

#: Geometry by which wheels turn and hinges stand as they do.
OF_JOINTS = ("tire_diameter", "track_fixed", "track_steered")

#: No sensor reads later than this [s].
LONGEST_LATENCY = 0.5

#: No steering wheel turns further [rad].
HAND_WHEEL = 50.0

#: Steps per second where no vehicle says so [Hz].
STEP_RATE = 1000.0

#: What ranges over fewer standard deviations than this is nothing but noise.
RANGE = 5.0

#: What is fitted by a name that is no parameter's.
STEERING_OFFSET = "steering_offset"
WHEEL_GAINS = "wheel_gains"

#: The gain of each side, by the field of :class:`~vds_gz.study.identify.problem.observed.Geometry`.
WHEELS = {"left_gain": "left wheel gain", "right_gain": "right wheel gain"}

#: Models of which a recording may be where no vehicle is given.
RECOGNIZED = ("bicycle", "differential", "omni")


@dataclass(frozen=True)
class Setup:
    """What is looked for.

    Attributes:
        family: The vehicles that it may be.
        actuators: Of the model: ``drive``, ``steering``.
        recordings: What was commanded, the commands being those that the model takes.
        channels: Of each recording, what of the measurements counts.
        begin: A point to begin at; limits are none.
        priors: What is known beforehand of some unknowns.
        step_rate: Of the model [Hz].
        given: A vehicle was given.
        centred: The steering goes to the middle when the commanded speed is 0; None if nothing tells.
        remarks: What anybody who reads the numbers must know of what was looked for.
        variant: The same of which variant of the vehicle it is.
    """

    family: VehicleFamily
    actuators: Mapping[str, Actuation]
    recordings: tuple[Signals, ...]
    channels: tuple[tuple[MeasuredChannel, ...], ...]
    begin: Array
    priors: Mapping[str, Interval]
    step_rate: float
    given: bool
    centred: bool | None = None
    remarks: tuple[str, ...] = ()
    variant: tuple[str, ...] = ()

    @property
    def excited(self) -> list[str]:
        """Actuators that were commanded to do something, or that others need."""
        names = {"steering": ("steering", "yaw_rate"), "turn": ("yaw_rate",), "body": ("v_x",)}
        return [
            name
            for name in self.actuators
            if any(_varies(self.recordings, one) for one in names.get(name, ("v_x", "v_y", "yaw_rate")))
            or (name == "drive" and self.kind == CONTROL)
        ]

    @property
    def kind(self) -> CommandKind:
        """Of the commands."""
        return kind_of(self.recordings[0])


def kind_of(signals: Signals) -> CommandKind:
    """What the commands of a recording are."""
    return CommandKind(int(signals.commands.records["kind"][0]))


def model_name(signals: Signals) -> str:
    """The vehicle model that takes the commands of a recording."""
    if signals.steers or "steering" in signals.commanded or "steering" in signals.measured:
        return "bicycle"
    lateral = signals.commanded.get("v_y")
    moves = lateral is not None and "v_y" in signals.measured and np.ptp(lateral.value) > 0.0
    return "omni" if moves else "differential"


def check_names(names: Collection[str], vehicle: NodeParameters | None) -> None:
    """Refuse names that cannot be fitted.

    Args:
        names: What is to be found.
        vehicle: What it is to be found of; None: of any that is recognized.

    Raises:
        ArgumentError: One is none of the vehicle.
    """
    if vehicle is not None:
        _check_names(names, [(models()[vehicle.model], vehicle.vehicle)])
    else:
        _check_names(names, [(one, one.parameters()) for one in (models()[name] for name in RECOGNIZED)])


def _check_names(names: Collection[str], vehicles: Sequence[tuple[AnyModel, ParameterGroup]]) -> None:
    """Refuse names that none of some vehicles has; those of actuators are found anyway."""
    taken = [one.name for _, group in vehicles for every in actuations(group).values() for one in every.terms()]
    others = dict.fromkeys(name for _, group in vehicles for name in other_parameters(group, taken))
    sides = [WHEEL_GAINS] if any(has_sides(*one) for one in vehicles) else []
    known = [*others, STEERING_OFFSET, *sides, ALL]
    for name in names:
        if name not in (*known, *taken):
            raise ArgumentError(f"'{name}' cannot be fitted; it must be one of {', '.join(known)}")
    if {"tire_diameter", WHEEL_GAINS} <= set(names):
        raise ArgumentError(
            f"'tire_diameter' and '{WHEEL_GAINS}' cannot be fitted together: a wheel's diameter is the tire_diameter "
            "times its gain, and no recording tells the two apart; leave one of them out"
        )


def has_sides(model: AnyModel, parameters: ParameterGroup) -> bool:
    """Its wheels stand in pairs, of which the left and the right one may differ."""
    wheels = (one.name for one in model.joints(parameters) if one.kind == "wheel")
    return not model.geometry(parameters).holonomic and any(name.endswith("_left_joint") for name in wheels)


def set_up(
    signals: Sequence[Signals],
    *,
    vehicle: NodeParameters | None,
    wheel_base: float | None,
    fit: Collection[str],
    priors: Mapping[str, Interval],
) -> Setup:
    """Prepare the identification of a vehicle.

    Args:
        signals: Recordings of it.
        vehicle: What is known of it.
        wheel_base: Of a vehicle that steers, where no vehicle is given [m].
        fit: Further parameters to be found, by their names; ``all``: the geometry.
        priors: Known intervals of parameters, by dotted names.

    Raises:
        SignalError: Nothing was measured that the model gives.
        ArgumentError: A name in ``fit`` is none of the vehicle, or a wheel base was given of one that does not steer.
    """
    model = models()[vehicle.model if vehicle is not None else model_name(signals[0])]
    parameters: ParameterGroup = vehicle.vehicle if vehicle is not None else _plain(model, wheel_base)
    _check_names(fit, [(model, parameters)])
    recordings = tuple(_for_model(one, model) for one in signals)
    _check_kinds(recordings)
    unknown = set() if vehicle is not None else set(OF_JOINTS) - set(_names(fit))
    recordings = tuple(_without_unknown_geometry(one, model, parameters, unknown, fit) for one in recordings)
    lateral = any(name in fit for name in ("base_link_offset", ALL))
    channels = tuple(tuple(counting(one, model, parameters, lateral=lateral)) for one in recordings)
    if not any(channels):
        raise SignalError(
            f"nothing was both commanded ({', '.join(signals[0].commanded) or 'nothing'}) and measured "
            f"({', '.join(one.name for one in signals[0].channels) or 'nothing'}); needed is one of "
            f"{', '.join(QUANTITIES)} in both"
        )
    parameters, said = _turning_far(recordings, parameters)
    wheels = WHEEL_LIMIT in fit or getattr(parameters, WHEEL_LIMIT, 0.0) > 0.0
    actuators = actuations(parameters, wheels=wheels)
    if said:
        steering = actuators["steering"]
        actuators["steering"] = replace(steering, unlimited=(*steering.unlimited[:2], HAND_WHEEL))
    unknowns = [one for actuator in actuators.values() for one in actuator.terms()]
    free = _assumed(recordings, model, parameters, channels, given=vehicle is not None, wheel_base=wheel_base)
    unknowns += _chosen(parameters, [one.name for one in unknowns], [*free, *_names(fit)])
    names = [one.name for one in unknowns]
    confounded = _confounded(recordings, model, parameters, channels, names) if WHEEL_GAINS in fit else []
    if confounded and not _wheels_measured(channels):
        taken = {actuators["drive"].gain, actuators["drive"].offset}
        actuators["drive"] = replace(actuators["drive"], gain="", offset="")
        unknowns = [one for one in unknowns if one.name not in taken]
    if any(name.endswith(".gain") for name in names):
        if WHEEL_GAINS in fit:  # the speed has the drive's gain; the controller's track may differ from the vehicle's
            gains = _gains(recordings, model, channels, names, confounded)
            unknowns += [gain for gain in gains if gain.name == "yaw_rate gain"]
        else:
            unknowns += _turning(recordings, model, parameters, channels, names, confounded)
    else:
        unknowns += _gains(recordings, model, channels, names, confounded)
    if WHEEL_GAINS in fit:
        gain = Term("", Kind.WHEEL_GAIN, *GAINS, scale=0.2, neutral=1.0)
        unknowns += [replace(gain, name=name, target=side) for side, name in WHEELS.items()]
    unknowns += _offsets(channels)
    unknowns += _latencies(channels)
    family = VehicleFamily(model, parameters, tuple(unknowns))
    begin = coordinates(unknowns, {one.name: _first_value(one, parameters) for one in unknowns})
    rate = vehicle.step_rate if vehicle is not None else STEP_RATE
    return Setup(
        family,
        actuators,
        recordings,
        channels,
        begin,
        priors,
        rate,
        vehicle is not None,
        remarks=(*said, *(_remarks(model, parameters, channels, confounded) if WHEEL_GAINS in fit else ())),
    )


def _turning_far(recordings: Sequence[Signals], parameters: ParameterGroup) -> tuple[ParameterGroup, tuple[str, ...]]:
    """The vehicle, driven on its steered wheel where angles beyond a quarter turn were commanded, and why.

    Only such a vehicle turns that far. Such angles are those of a steering wheel most likely.
    """
    angles = [one.commands.records["steering_angle"] for one in recordings]
    top = max(float(np.max(np.abs(angle))) for angle in angles)
    name = "drive_on_steered_wheel"
    if top <= math.pi or getattr(parameters, name, True) or not hasattr(parameters, "steering_actuator"):
        return parameters, ()
    changed: dict[str, Any] = {name: True}
    said = (
        f"steering: {top:.3g} rad were commanded, as of a steering wheel in the hands; taken as a vehicle that is "
        "driven on its steered wheel, since only such a one turns further than a quarter turn. Its motion means nothing"
    )
    return dataclasses.replace(parameters, **changed), (said,)  # type: ignore[type-var]


def check_numbers(signals: Signals) -> None:
    """Refuse a recording in which there is nothing to work on.

    Raises:
        SignalError: Nothing was commanded, or a number is not finite.
    """
    for name, series in (*signals.commanded.items(), *((one.name, one.series) for one in signals.channels)):
        wrong = ~(np.isfinite(series.time) & np.isfinite(series.value))
        if wrong.any():
            raise SignalError(
                f"{int(wrong.sum())} of {len(wrong)} samples of {name} are no finite numbers, the first is number "
                f"{int(np.argmax(wrong)) + 1}; leave these out"
            )
    if not len(signals.commands.time):
        raise SignalError(
            f"nothing was both commanded ({', '.join(signals.commanded) or 'nothing'}) and measured "
            f"({', '.join(signals.measured) or 'nothing'}); needed is one of {', '.join(QUANTITIES)} in both"
        )


def _check_kinds(recordings: Sequence[Signals]) -> None:
    """Refuse recordings that were commanded differently."""
    kinds = [kind_of(one).name.lower() for one in recordings]
    for k, kind in enumerate(kinds):
        if kind != kinds[0]:
            raise SignalError(
                f"the commands of recording 1 are of the kind '{kinds[0]}', those of recording {k + 1} '{kind}'; in "
                "one fit they must be of one kind"
            )


def _plain(model: AnyModel, wheel_base: float | None) -> ParameterGroup:
    """A vehicle of which nothing is known but maybe its wheel base.

    Raises:
        ArgumentError: It does not steer.
    """
    parameters: ParameterGroup = model.parameters()
    if wheel_base is None:
        return parameters
    if model.name != "bicycle":
        raise ArgumentError(
            f"the wheel base was given as {wheel_base:g} m, but no steering was commanded or measured, so that the "
            f"recording is taken for one of the model '{model.name}'; leave the wheel base out, or give the parameters "
            "of a vehicle that steers"
        )
    return dataclasses.replace(parameters, wheel_base=wheel_base)  # type: ignore[type-var]


def _for_model(signals: Signals, model: AnyModel) -> Signals:
    """The recording with commands that the model takes: of a Control, speed and angle may do, or velocities."""
    if kind_of(signals) in model.accepts:
        return signals
    if kind_of(signals) == CONTROL:
        kept = {name: one for name, one in signals.commanded.items() if name in QUANTITIES}
        plain = replace(signals, commanded=kept)
        if kept and kind_of(plain) in model.accepts:
            return plain
    raise SignalError(
        f"the commands are of the kind '{kind_of(signals).name.lower()}', which the vehicle model '{model.name}' does "
        f"not take; it takes {', '.join(sorted(one.name.lower() for one in model.accepts))}"
    )


def _without_unknown_geometry(
    signals: Signals,
    model: AnyModel,
    parameters: ParameterGroup,
    unknown: Collection[str],
    fit: Collection[str],
) -> Signals:
    """The recording without wheels and hinges whose geometry no one gave; a note names them.

    Where nothing else was measured they stay.
    """
    needed = {
        one.name: needs
        for one in signals.further
        if observed(model, parameters, one.quantity, one.joint) is not None
        and (needs := _geometry_of(one, model) & set(unknown))
    }
    further = [one for one in signals.further if one.name not in needed]
    if not needed or not (signals.measured or further):
        return signals
    names = sorted(set().union(*needed.values()))
    found = "" if WHEEL_GAINS in fit else f", or have them found (--fit {','.join(names)})"
    note = (
        f"{', '.join(needed)}: left out, as they need the vehicle's {', '.join(names)}; give a parameter file that has "
        f"them (--params){found}"
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
    signals: Signals, model: AnyModel, parameters: ParameterGroup, *, lateral: bool = False
) -> list[MeasuredChannel]:
    """What of the measurements counts: what the model gives and what changes, if anything does.

    Of hinges their mean does not count too. With ``lateral``, a lateral velocity that is always 0 is informative.
    """
    lateral = lateral or model.geometry(parameters).holonomic
    used = [
        one
        for one in with_increments(signals.channels, lateral=lateral)
        if observed(model, parameters, one.quantity, one.joint) and len(one.series.value) >= FEWEST
    ]
    hinges = {one.source for one in used if one.hinge}
    used = [one for one in used if not (one.quantity == "steering" and one.source in hinges)]
    changing = [one for one in used if np.ptp(one.series.value) > 0.0 or (lateral and one.quantity == "v_y")]
    return changing or used


def nothing_moves(setup: Setup) -> bool:
    """No command changes, or no measurement by more than noise."""
    channels = [one for every in setup.channels for one in every]
    moves = any(
        float(np.ptp(np.percentile(one.series.value, (1.0, 99.0)))) >= RANGE * noise(one.series.value) + 1e-9
        for one in channels
    )
    numbers = ("v_x", "v_y", "yaw_rate", "steering_angle", "target_acceleration")
    commanded = any(np.ptp(one.commands.records[name]) > 1e-9 for one in setup.recordings for name in numbers)
    return not (moves and commanded)


# ---------------------------------------------------------------------- unknowns


def _assumed(
    recordings: Sequence[Signals],
    model: AnyModel,
    parameters: ParameterGroup,
    channels: Sequence[Sequence[MeasuredChannel]],
    *,
    given: bool,
    wheel_base: float | None,
) -> list[str]:
    """Geometry that is looked for without being named, where no vehicle was given."""
    if given:
        return []
    measured = {one.quantity for every in channels for one in every}
    turning = {"yaw_rate", "heading"} & measured
    if model.name == "bicycle":
        by_angles = kind_of(recordings[0]) == TWIST and "steering" in measured
        return ["wheel_base"] if wheel_base is None and (turning or by_angles) else []
    several = all(_varies(recordings, name) for name in ("v_x", "yaw_rate"))
    return ["track"] if turning and several and hasattr(parameters, "track") else []


def _names(fit: Collection[str]) -> list[str]:
    """What is to be found, each by itself; the gains of both sides stand for the diameter of all wheels."""
    names = [one for name in fit for one in (GEOMETRY if name == ALL else (name,))]
    return [name for name in names if name != "tire_diameter" or WHEEL_GAINS not in fit]


def _chosen(parameters: ParameterGroup, taken: Sequence[str], names: Sequence[str]) -> list[Term]:
    """Unknowns of parameters that were named."""
    others = other_parameters(parameters, taken)
    found: dict[str, Term] = {}
    for name in names:
        if name in others:
            found[name] = others[name]
    if "track" in found and getattr(parameters, "roller_pattern", "") == "o":
        found["track"] = replace(found["track"], highest=value_of(parameters, "wheel_base") - 2e-3)
    return list(found.values())


def _turning(
    recordings: Sequence[Signals],
    model: AnyModel,
    parameters: ParameterGroup,
    channels: Sequence[Sequence[MeasuredChannel]],
    names: Sequence[str],
    confounded: Collection[str],
) -> list[Term]:
    """The track with which wheels turn a vehicle, where its yaw rate was commanded and measured beside its speed."""
    name = EFFECTIVE_TRACK
    measured = {one.quantity for every in channels for one in every}
    if not hasattr(parameters, name) or confounded or not _varies(recordings, "yaw_rate"):
        return []
    if not {"v_x", "yaw_rate"} <= measured or name in names:
        return []
    track = value_of(parameters, "track")
    return [Term(name, Kind.PARAMETER, GAINS[0] * track, GAINS[1] * track, scale=0.2 * track)]


def _varies(recordings: Sequence[Signals], quantity: str) -> bool:
    return any(np.ptp(one.commands.records[FIELDS[quantity]]) > 0.0 for one in recordings)


def _gains(
    recordings: Sequence[Signals],
    model: AnyModel,
    channels: Sequence[Sequence[MeasuredChannel]],
    names: Sequence[str],
    confounded: Collection[str],
) -> list[Term]:
    """A gain of each commanded quantity that changes, but of those that others do not let be told.

    Where no steering angle is measured and the wheel base is unknown, that is what remains of the steering's gain; and
    an unknown track that of the speed's, where nothing but turning is measured.
    """
    steering_seen = any(one.quantity == "steering" or one.hinge for every in channels for one in every)
    turning_only = all(one.quantity in ("v_y", "yaw_rate") for every in channels for one in every)
    found = []
    for quantity in COMMANDED_BY.get(kind_of(recordings[0]), ()):
        inseparable = quantity in ("steering", "yaw_rate") and "wheel_base" in names and not steering_seen
        inseparable |= quantity == "v_x" and "track" in names and turning_only
        inseparable |= quantity in confounded
        if _varies(recordings, quantity) and not inseparable and (quantity != "v_y" or model.name == "omni"):
            gain = Term(f"{quantity} gain", Kind.COMMAND_GAIN, *GAINS, scale=0.2, neutral=1.0)
            found.append(replace(gain, target=FIELDS[quantity]))
    return found


def _wheels_measured(channels: Sequence[Sequence[MeasuredChannel]]) -> bool:
    """Some wheel's speed or angle was."""
    return any(one.joint and not one.hinge for every in channels for one in every)


def _confounded(
    recordings: Sequence[Signals],
    model: AnyModel,
    parameters: ParameterGroup,
    channels: Sequence[Sequence[MeasuredChannel]],
    names: Sequence[str],
) -> list[str]:
    """Commanded quantities whose gains cannot be told from those of the wheels that turn a vehicle.

    Where no wheel was measured, only what a command comes to on the ground is known; speed and yaw rate together still
    tell the ratio of both commands' gains. With wheels, either of the two tells the wheels' gains, but not a track too.
    """
    if not model.geometry(parameters).yaw_arm:
        return []
    commanded = [quantity for quantity in ("v_x", "yaw_rate") if _varies(recordings, quantity)]
    measured = {one.quantity for every in channels for one in every}
    both = bool({"v_x", "x"} & measured and {"yaw_rate", "heading"} & measured) and len(commanded) == 2
    if _wheels_measured(channels):
        return ["yaw_rate"] if "track" in names and not both else []
    return ["v_x"] if both else commanded


def _remarks(
    model: AnyModel,
    parameters: ParameterGroup,
    channels: Sequence[Sequence[MeasuredChannel]],
    confounded: Sequence[str],
) -> Iterator[str]:
    """What the gains of wheels mean by what was measured."""
    names = " and ".join(WHEELS.values())
    taken = f"{' and '.join(f'{quantity} gain' for quantity in confounded)}: taken as 1"
    if _wheels_measured(channels):
        if confounded:
            yield f"{taken}; to tell it from the track and the wheels' gains takes a speed and a yaw rate, or poses"
    elif model.geometry(parameters).yaw_arm:
        yield (
            f"{taken}; without the speed of a wheel, commands that are too large and wheels that are too large do the "
            f"same: {names} are what commands come to on the ground"
        )
    else:
        yield f"{names} show in the speeds of a left and a right wheel only, of which there is none"


def _offsets(channels: Sequence[Sequence[MeasuredChannel]]) -> list[Term]:
    """What each sensor reads too much; poses lie where they lie."""
    several = len(channels) > 1
    found = []
    each = ((recording, one) for recording, every in enumerate(channels) for one in every)
    for k, (recording, one) in enumerate(each):
        if one.quantity == "joint_velocity":
            continue
        scale = 0.1 * float(np.ptp(np.percentile(one.series.value, (1.0, 99.0)))) + 1e-6
        label = f"{one.name} offset" + (f" of recording {recording + 1}" if several else "")
        found.append(Term(label, Kind.SENSOR_OFFSET, channel=k, scale=scale))
    return found


def _latencies(channels: Sequence[Sequence[MeasuredChannel]]) -> list[Term]:
    """How much later each source reads than the others; one that all share is part of the dead times."""
    sources: dict[str, tuple[int, ...]] = {}
    for k, one in enumerate(one for every in channels for one in every):
        sources[one.source] = (*sources.get(one.source, ()), k)
    if len(sources) < 2:
        return []
    return [
        Term(f"{source.strip('/')} latency", Kind.LATENCY, 0.0, LONGEST_LATENCY, channels=of, scale=0.02)
        for source, of in sources.items()
    ]


def _first_value(unknown: Term, parameters: ParameterGroup) -> float:
    """Where the search begins."""
    if unknown.kind is Kind.LIMIT:
        return np.inf
    if unknown.is_parameter:
        return value_of(parameters, unknown.name)
    return 1.0 if unknown.kind in (Kind.COMMAND_GAIN, Kind.GAIN, Kind.WHEEL_GAIN) else 0.0
