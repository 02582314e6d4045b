"""The terms that may be looked for beside those of the actuators: geometry, gains of commands and wheels, sensors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from vds_gz.errors import ArgumentError
from vds_gz.parameters.declaration import ParameterGroup
from vds_gz.parameters.vehicles import MAX_UNDERSTEER
from vds_gz.study.identify.problem.parameters import (
    EFFECTIVE_TRACK,
    GAINS,
    UNDERSTEER,
    Actuation,
    Kind,
    Term,
    actuations,
    other_parameters,
    value_of,
)
from vds_gz.study.identify.problem.recorded import COMMANDED_BY, FIELDS, Recorded
from vds_gz.vehicle.command import TWIST
from vds_gz.vehicle.model import AnyModel

#: The name that stands for the geometry as a whole.
ALL = "all"
GEOMETRY = ("wheel_base", "track", "track_fixed", "track_steered", "base_link_offset", "tire_diameter")

#: What is fitted by a name that is no parameter's.
WHEEL_GAINS = "wheel_gains"

#: The gain of each side, by the field of :class:`~vds_gz.study.identify.problem.observed.Geometry`.
WHEELS = {"left_gain": "left wheel gain", "right_gain": "right wheel gain"}

#: No sensor reads later than this [s].
LONGEST_LATENCY = 0.5


def geometry_names(fit: Collection[str]) -> list[str]:
    """What is to be found, each by itself; the gains of both sides stand for the diameter of all wheels."""
    names = [name for group in fit for name in (GEOMETRY if group == ALL else (group,))]
    return [name for name in names if name != "tire_diameter" or WHEEL_GAINS not in fit]


def check_fit(fit: Collection[str], vehicles: Sequence[tuple[AnyModel, ParameterGroup]]) -> None:
    """Refuse names that none of some vehicles has; those of actuators are found anyway."""
    actuators = [actuation for _, parameters in vehicles for actuation in actuations(parameters).values()]
    taken = [term.name for actuation in actuators for term in actuation.terms()]
    others = dict.fromkeys(name for _, parameters in vehicles for name in other_parameters(parameters, taken))
    sides = [WHEEL_GAINS] if any(_has_sides(*vehicle) for vehicle in vehicles) else []
    known = [*others, *sides, ALL]
    for name in fit:
        if name not in (*known, *taken):
            raise ArgumentError(f"'{name}' cannot be fitted; it must be one of {', '.join(known)}")
    if {"tire_diameter", WHEEL_GAINS} <= set(fit):
        raise ArgumentError(
            f"'tire_diameter' and '{WHEEL_GAINS}' cannot be fitted together: a wheel's diameter is the tire_diameter "
            "times its gain, and no recording tells the two apart; leave one of them out"
        )


def _has_sides(model: AnyModel, parameters: ParameterGroup) -> bool:
    """Its wheels stand in pairs, of which the left and the right one may differ."""
    wheels = (joint.name for joint in model.joints(parameters) if joint.kind == "wheel")
    return not model.geometry(parameters).holonomic and any(name.endswith("_left_joint") for name in wheels)


def unknowns(
    recorded: Recorded, actuators: Mapping[str, Actuation], names: Collection[str]
) -> tuple[dict[str, Actuation], list[Term], tuple[str, ...]]:
    """The actuators, all terms, and remarks on what these mean.

    Args:
        recorded: What was commanded and measured.
        actuators: Of the vehicle; gains that nothing distinguishes from those of the wheels are taken from them.
        names: Of further parameters to be found, and :data:`WHEEL_GAINS`.
    """
    actuators = dict(actuators)
    terms = [term for actuation in actuators.values() for term in actuation.terms()]
    terms += _geometry(recorded.parameters, [term.name for term in terms], names)
    known = [term.name for term in terms]
    sides = WHEEL_GAINS in names
    confounded = _confounded(recorded, known) if sides else []
    if sides and "drive" in actuators:  # over a recording, what comes slowly looks like a wheel's gain
        actuators["drive"] = replace(actuators["drive"], slow_share="", slow_time_constant="")
        terms = [term for term in terms if term.kind is not Kind.SLOW]
    if confounded and not recorded.wheels_measured:
        drive = actuators["drive"]
        actuators["drive"] = replace(drive, gain="", offset="")
        terms = [term for term in terms if term.name not in (drive.gain, drive.offset)]
    gains = _command_gains(recorded, known, confounded)
    if any(name.endswith(".gain") for name in known):
        # The speed has the drive's gain; beside wheels' gains, the controller's track may differ from the vehicle's.
        gains = [gain for gain in gains if gain.name == "yaw_rate gain"] if sides else _effective_track(recorded, known)
    terms += gains
    if sides:
        gain = Term("", Kind.WHEEL_GAIN, *GAINS, scale=0.2, neutral=1.0)
        terms += [replace(gain, name=name, target=side) for side, name in WHEELS.items()]
    if recorded.model.name == "bicycle" and recorded.varies("v_x") and "yaw_rate" in recorded.measured:
        terms.append(Term(UNDERSTEER, Kind.PARAMETER, 0.0, MAX_UNDERSTEER, scale=0.01))
    terms += [*_offsets(recorded), *_latencies(recorded)]
    return actuators, terms, tuple(_remarks(recorded, confounded)) if sides else ()


def assumed_geometry(recorded: Recorded, *, wheel_base: bool) -> list[str]:
    """Geometry that is looked for without being named, where no vehicle was given.

    Args:
        recorded: What was commanded and measured.
        wheel_base: The wheel base is known.
    """
    turning = bool({"yaw_rate", "heading"} & recorded.measured)
    if recorded.model.name == "bicycle":
        by_angles = recorded.kind == TWIST and "steering" in recorded.measured
        return ["wheel_base"] if not wheel_base and (turning or by_angles) else []
    both = recorded.varies("v_x") and recorded.varies("yaw_rate")
    return ["track"] if turning and both and hasattr(recorded.parameters, "track") else []


def _geometry(parameters: ParameterGroup, taken: Sequence[str], names: Collection[str]) -> list[Term]:
    """Terms of parameters that were named."""
    others = other_parameters(parameters, taken)
    terms = {name: others[name] for name in names if name in others}
    if "track" in terms and getattr(parameters, "roller_pattern", "") == "o":
        terms["track"] = replace(terms["track"], highest=value_of(parameters, "wheel_base") - 2e-3)
    return list(terms.values())


def _effective_track(recorded: Recorded, names: Collection[str]) -> list[Term]:
    """The track with which wheels turn a vehicle, where its yaw rate was commanded and measured beside its speed."""
    if not hasattr(recorded.parameters, EFFECTIVE_TRACK) or not recorded.varies("yaw_rate"):
        return []
    if not {"v_x", "yaw_rate"} <= recorded.measured:
        return []
    track = value_of(recorded.parameters, "track")
    # Where the track itself is looked for, 0 stands for whatever it is.
    neutral = 0.0 if "track" in names else track
    bounds = GAINS[0] * track, GAINS[1] * track
    return [Term(EFFECTIVE_TRACK, Kind.PARAMETER, *bounds, scale=0.2 * track, neutral=neutral)]


def _command_gains(recorded: Recorded, names: Collection[str], confounded: Collection[str]) -> list[Term]:
    """A gain of each commanded quantity that changes, unless another term has the same effect.

    Where no steering angle is measured and the wheel base is unknown, that is what remains of the steering's gain; and
    an unknown track that of the speed's, where nothing but turning is measured.
    """
    steering_seen = any(channel.quantity == "steering" or channel.hinge for channel in recorded.all_channels)
    inseparable = set(confounded)
    if "wheel_base" in names and not steering_seen:
        inseparable |= {"steering", "yaw_rate"}
    if "track" in names and recorded.measured <= {"v_y", "yaw_rate"}:
        inseparable.add("v_x")
    if recorded.model.name != "omni":
        inseparable.add("v_y")
    return [
        Term(f"{quantity} gain", Kind.COMMAND_GAIN, *GAINS, target=FIELDS[quantity], scale=0.2, neutral=1.0)
        for quantity in COMMANDED_BY.get(recorded.kind, ())
        if recorded.varies(quantity) and quantity not in inseparable
    ]


def _confounded(recorded: Recorded, names: Collection[str]) -> list[str]:
    """Commanded quantities whose gains have the same effect as those of the wheels that turn a vehicle.

    Where no wheel was measured, only the motion on the ground is known; speed and yaw rate together still determine the
    ratio of both commands' gains. With wheels, either of the two determines the wheels' gains, but not a track too.
    """
    if not recorded.model.geometry(recorded.parameters).yaw_arm:
        return []
    commanded = [quantity for quantity in ("v_x", "yaw_rate") if recorded.varies(quantity)]
    measured = recorded.measured
    both = bool({"v_x", "x"} & measured and {"yaw_rate", "heading"} & measured) and len(commanded) == 2
    if recorded.wheels_measured:
        return ["yaw_rate"] if "track" in names and not both else []
    return ["v_x"] if both else commanded


def _remarks(recorded: Recorded, confounded: Sequence[str]) -> Iterator[str]:
    """What the gains of wheels mean by what was measured."""
    names = " and ".join(WHEELS.values())
    taken = f"{' and '.join(f'{quantity} gain' for quantity in confounded)}: taken as 1"
    if recorded.wheels_measured:
        if confounded:
            yield f"{taken}; to tell it from the track and the wheels' gains takes a speed and a yaw rate, or poses"
    elif recorded.model.geometry(recorded.parameters).yaw_arm:
        yield (
            f"{taken}; without the speed of a wheel, commands that are too large and wheels that are too large do the "
            f"same: {names} are what commands come to on the ground"
        )
    else:
        yield f"{names} show in the speeds of a left and a right wheel only, of which there is none"


def _offsets(recorded: Recorded) -> Iterator[Term]:
    """What each sensor reads too much; wheels' speeds have no offset."""
    recordings = [k for k, channels in enumerate(recorded.channels) for _ in channels]
    for k, (recording, channel) in enumerate(zip(recordings, recorded.all_channels, strict=True)):
        if channel.quantity != "joint_velocity":
            scale = 0.1 * float(np.ptp(np.percentile(channel.series.value, (1.0, 99.0)))) + 1e-6
            number = f" of recording {recording + 1}" if len(recorded.channels) > 1 else ""
            yield Term(f"{channel.name} offset{number}", Kind.SENSOR_OFFSET, channel=k, scale=scale)


def _latencies(recorded: Recorded) -> list[Term]:
    """How much later each source reads than the others; one that all share is part of the dead times."""
    sources: dict[str, list[int]] = {}
    for k, channel in enumerate(recorded.all_channels):
        sources.setdefault(channel.source, []).append(k)
    if len(sources) < 2:
        return []
    return [
        Term(f"{source.strip('/')} latency", Kind.LATENCY, 0.0, LONGEST_LATENCY, channels=tuple(own), scale=0.02)
        for source, own in sources.items()
    ]
