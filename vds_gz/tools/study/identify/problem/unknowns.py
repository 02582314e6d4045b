"""Builds a setup from recordings: the model, and terms of geometry, gains, wheels and sensors."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.actuator_parameters import ActuatorStages
from vds_gz.core.parameters.declaration import ParameterError, ParameterGroup
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.yaml_reader import Interval
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import TWIST
from vds_gz.core.vehicle.vehicle_model import AnyModel
from vds_gz.tools.study.identify.problem.observed import steers
from vds_gz.tools.study.identify.problem.parameters import (
    actuations,
    other_parameters,
    terms_of,
    value_of,
    where,
)
from vds_gz.tools.study.identify.problem.problem_setup import (
    FIELDS,
    HAND_WHEEL,
    STEP_RATE,
    Setup,
    offered,
    requested_by,
)
from vds_gz.tools.study.identify.problem.vehicle_family import VehicleFamily
from vds_gz.tools.study.identify.term_kind import Excitation, Term
from vds_gz.tools.study.identify.terms import (
    COMMAND_GAIN,
    EFFECTIVE_TRACK,
    GAINS,
    LATENCY,
    SENSOR_OFFSET,
    UNDERSTEER,
    WHEEL_GAIN,
)
from vds_gz.tools.study.recording import Recording

#: Possible models if no vehicle is given.
RECOGNIZED = ("bicycle", "differential", "omni")

#: The name that stands for the whole geometry, and its parameters.
ALL = "all"
GEOMETRY = ("wheel_base", "track", "track_fixed", "track_steered", "base_link_offset", "tire_diameter")

#: The name that stands for the gains of both sides' wheels, which are no parameters.
WHEEL_GAINS = "wheel_gains"

#: The gain of each side, by the field of :class:`~vds_gz.tools.study.identify.problem.observed.Geometry`.
WHEELS = {"left_gain": "left wheel gain", "right_gain": "right wheel gain"}


def set_up(
    signals: Sequence[Recording],
    *,
    vehicle: NodeParameters | None,
    wheel_base: float | None,
    fit: Collection[str],
    priors: Mapping[str, Interval],
) -> Setup:
    """Prepare the identification of a vehicle. The arguments are those of ``identify``."""
    given = vehicle is not None
    model = models()[vehicle.model if vehicle is not None else _model_name(signals[0])]
    parameters: ParameterGroup = vehicle.vehicle if vehicle is not None else _plain(model, wheel_base)
    check_fit(fit, [(model, parameters)])
    names = [name for group in fit for name in (GEOMETRY if group == ALL else (group,))]
    if WHEEL_GAINS in fit:  # the gains of both sides include the diameter of all wheels
        names = [name for name in names if name != "tire_diameter"]
    recordings, channels = offered(signals, model, parameters, names, given=given)
    parameters, far = _turning_far(recordings, parameters)
    actuators = {}
    for name, actuator in actuations(parameters, wheels=True).items():
        limit = actuator["value"]
        if not actuator.each_wheel or limit in fit or value_of(parameters, limit) > 0.0:
            unlimited = {**actuator.unlimited, "value": HAND_WHEEL} if far and actuator.steers else actuator.unlimited
            actuators[name] = replace(actuator, unlimited=unlimited)
    step_rate = vehicle.step_rate if vehicle is not None else STEP_RATE
    family = VehicleFamily(model, parameters, ())
    setup = Setup(family, actuators, recordings, channels, np.empty(0), priors, step_rate, given)
    assumed = [] if given else _assumed_geometry(setup, wheel_base=wheel_base is not None)
    actuators, terms, findings = _unknowns(setup, [*assumed, *names])
    begin = np.array([term.coordinate(_first_value(term, parameters)) for term in terms])
    setup = replace(setup, actuators=actuators, begin=begin, findings=(*far, *findings))
    return replace(setup, family=VehicleFamily(model, _without_maps(setup), tuple(terms)))


def _model_name(signals: Recording) -> str:
    """The vehicle model that takes the commands of a recording."""
    if signals.steers or "steering" in signals.commanded or "steering" in signals.measured:
        return "bicycle"
    lateral = signals.commanded.get("v_y")
    moves = lateral is not None and "v_y" in signals.measured and np.ptp(lateral.value) > 0.0
    return "omni" if moves else "differential"


def _plain(model: AnyModel, wheel_base: float | None) -> ParameterGroup:
    """A vehicle without known parameters, or only with a known wheel base."""
    parameters: ParameterGroup = model.parameters()
    if wheel_base is None:
        return parameters
    if not steers(model, parameters):
        raise ArgumentError(
            f"the wheel base was given as {wheel_base:g} m, but no steering was commanded or measured, so the vehicle "
            f"model is '{model.name}'; leave the wheel base out, or give the parameters of a vehicle that steers"
        )
    return dataclasses.replace(parameters, wheel_base=wheel_base)


def _turning_far(recordings: Sequence[Recording], parameters: ParameterGroup) -> tuple[ParameterGroup, tuple[str, ...]]:
    """The vehicle, driven on its steered wheel if angles beyond half a turn were commanded, and a finding on this.

    Only such a vehicle's wheel turns that far. The angles are most likely those of a steering wheel.
    """
    top = max(float(np.max(np.abs(signals.commands.records["steering_angle"]))) for signals in recordings)
    name = "drive_on_steered_wheel"
    steered = any(actuator.steers for actuator in actuations(parameters).values())
    if top <= math.pi or getattr(parameters, name, True) or not steered:
        return parameters, ()
    changed: dict[str, object] = {name: True}
    finding = (
        f"steering: {top:.3g} rad were commanded, probably angles of a driver's steering wheel; the vehicle is assumed "
        "to be driven on its steered wheel, as others steer by at most a quarter turn. Its motion is not meaningful"
    )
    return dataclasses.replace(parameters, **changed), (finding,)


def _without_maps(setup: Setup) -> ParameterGroup:
    """The vehicle without the static maps of actuators that are identified again."""
    parameters = setup.family.parameters
    groups = {setup.actuators[name].group for name in setup.excited}
    plain: dict[str, object] = {
        group: dataclasses.replace(getattr(parameters, group), map_references=(), map_responses=())
        for group in groups
        if group and getattr(parameters, group).map_references
    }
    return dataclasses.replace(parameters, **plain)


def _first_value(term: Term, parameters: ParameterGroup) -> float:
    """The value of a term at the start of the search, without limits."""
    if term.kind.is_limit:
        return math.inf
    value = value_of(parameters, term.name) if term.is_parameter else term.neutral
    return term.neutral if term.kind.unset and value == 0.0 else value


def check_names(names: Collection[str], vehicle: NodeParameters | None) -> None:
    """Refuse names that cannot be fitted; without a vehicle, those of none of the possible models."""
    if vehicle is not None:
        check_fit(names, [(models()[vehicle.model], vehicle.vehicle)])
    else:
        check_fit(names, [(model, model.parameters()) for model in (models()[name] for name in RECOGNIZED)])


def check_fit(fit: Collection[str], vehicles: Sequence[tuple[AnyModel, ParameterGroup]]) -> None:
    """Refuse names that none of the vehicles has; parameters of actuators may be named, but are fitted anyway."""
    actuators = [actuator for _, parameters in vehicles for actuator in actuations(parameters).values()]
    taken = [name for actuator in actuators for name in actuator.names.values()]
    others = dict.fromkeys(name for _, parameters in vehicles for name in other_parameters(parameters, taken))
    sides = [WHEEL_GAINS] if any(_has_sides(*vehicle) for vehicle in vehicles) else []
    known = [*others, *sides, ALL]
    for name in fit:
        if name not in (*known, *taken):
            raise ArgumentError(f"'{name}' cannot be fitted; it must be one of {', '.join(known)}")
    if {"tire_diameter", WHEEL_GAINS} <= set(fit):
        raise ArgumentError(
            f"'tire_diameter' and '{WHEEL_GAINS}' cannot be fitted together: a wheel's diameter is the tire_diameter "
            "times its gain, and no recording distinguishes the two; leave one of them out"
        )


def _has_sides(model: AnyModel, parameters: ParameterGroup) -> bool:
    """Whether a vehicle has pairs of left and right wheels, whose gains may differ."""
    wheels = (joint.name for joint in model.joints(parameters) if joint.command == "velocity")
    return not model.geometry(parameters).holonomic and any(name.endswith("_left_joint") for name in wheels)


def _unknowns(setup: Setup, names: Collection[str]) -> tuple[dict[str, ActuatorStages], list[Term], tuple[str, ...]]:
    """The actuators without parameters that the recordings cannot determine, all terms, and findings."""
    excitations = {name: _excitation(setup, name) for name in setup.actuators}
    actuators = {name: where(actuator, excitations[name].shows) for name, actuator in setup.actuators.items()}
    taken = [name for actuator in actuators.values() for name in actuator.names.values()]
    geometry = _geometry(setup.family.parameters, taken, names)
    known = [*taken, *(term.name for term in geometry)]
    sides = WHEEL_GAINS in names
    confounded = _confounded(setup, known) if sides else []
    has_gain = any(actuator["gain"] for actuator in actuators.values())
    for name, actuator in actuators.items() if sides else ():
        if actuator.drives:
            scale = not confounded or setup.wheels_measured
            actuators[name] = where(actuator, excitations[name]._replace(scale=scale, slow=False).shows)
    terms = [term for actuator in actuators.values() for term in terms_of(actuator)] + geometry
    gains = _command_gains(setup, known, confounded)
    if has_gain:
        # The drive's gain is that of the speed. Beside wheel gains, a controller's track may not be the vehicle's.
        gains = [gain for gain in gains if gain.name == "yaw_rate gain"] if sides else _effective_track(setup, known)
    terms += gains
    if sides:
        terms += [WHEEL_GAIN.term(name, target=side) for side, name in WHEELS.items()]
    if setup.varies("v_x") and "yaw_rate" in setup.measured and _may_understeer(setup.family.parameters):
        terms.append(UNDERSTEER.term(UNDERSTEER.name))
    terms += [*_offsets(setup), *_latencies(setup)]
    return actuators, terms, tuple(_findings(setup, confounded)) if sides else ()


def _excitation(setup: Setup, name: str) -> Excitation:
    """What the recordings show of an actuator."""
    actuator = setup.actuators[name]
    if actuator.drives:
        slows_down = setup.takes_acceleration or setup.slows_down
        return Excitation(near_zero=setup.reaches_zero("v_x"), slows_down=slows_down, stands=setup.stands)
    if name in setup.steering_references:
        references = setup.steering_references[name]
        return Excitation(near_zero=references.lowest <= 0.0 <= references.highest, moves=references.varies)
    if actuator.steers:
        turning = "steering" if setup.varies("steering") else "yaw_rate"
        return Excitation(near_zero=setup.reaches_zero(turning), moves=setup.turns_steering)
    return Excitation()


def _may_understeer(parameters: ParameterGroup) -> bool:
    """Whether a vehicle has an understeer gradient; one with tyres that slip has none."""
    if not hasattr(parameters, UNDERSTEER.name):
        return False
    gradient: dict[str, object] = {UNDERSTEER.name: UNDERSTEER.scale}
    try:
        dataclasses.replace(parameters, **gradient)
    except ParameterError:
        return False
    return True


def _assumed_geometry(setup: Setup, *, wheel_base: bool) -> list[str]:
    """Geometry that is fitted without a request if no vehicle was given; the wheel base may be known."""
    turning = bool({"yaw_rate", "heading"} & setup.measured)
    if steers(setup.family.model, setup.family.parameters):
        by_angles = setup.kind == TWIST and "steering" in setup.measured
        return ["wheel_base"] if not wheel_base and (turning or by_angles) else []
    both = setup.varies("v_x") and setup.varies("yaw_rate")
    return ["track"] if turning and both and hasattr(setup.family.parameters, "track") else []


def _geometry(parameters: ParameterGroup, taken: Sequence[str], names: Collection[str]) -> list[Term]:
    """Terms of the named parameters."""
    others = other_parameters(parameters, taken)
    terms = {name: others[name] for name in names if name in others}
    if "track" in terms and getattr(parameters, "roller_pattern", "") == "o":
        terms["track"] = replace(terms["track"], highest=value_of(parameters, "wheel_base") - 2e-3)
    return list(terms.values())


def _effective_track(setup: Setup, names: Collection[str]) -> list[Term]:
    """The track with which wheels turn a vehicle, if yaw rates were commanded, and measured with speeds."""
    if not hasattr(setup.family.parameters, EFFECTIVE_TRACK.name) or not setup.varies("yaw_rate"):
        return []
    if not {"v_x", "yaw_rate"} <= setup.measured:
        return []
    track = value_of(setup.family.parameters, "track")
    # If the track itself is fitted, 0 means its value.
    neutral = 0.0 if "track" in names else track
    lowest, highest = GAINS[0] * track, GAINS[1] * track
    name = EFFECTIVE_TRACK.name
    return [EFFECTIVE_TRACK.term(name, lowest=lowest, highest=highest, scale=0.2 * track, neutral=neutral)]


def _command_gains(setup: Setup, names: Collection[str], confounded: Collection[str]) -> list[Term]:
    """A gain of each commanded quantity that changes, unless another term has the same effect.

    If no steering angle is measured and the wheel base is unknown, the wheel base has the effect of the steering's
    gain; if only turning is measured, an unknown track has that of the speed's gain.
    """
    inseparable = set(confounded)
    if "wheel_base" in names and not setup.steering_measured:
        inseparable |= {"steering", "yaw_rate"}
    if "track" in names and setup.measured <= {"v_y", "yaw_rate"}:
        inseparable.add("v_x")
    if not setup.family.model.geometry(setup.family.parameters).holonomic:
        inseparable.add("v_y")
    return [
        COMMAND_GAIN.term(f"{quantity} {COMMAND_GAIN.name}", target=FIELDS[quantity])
        for quantity in requested_by(setup.kind)
        if setup.varies(quantity) and quantity not in inseparable
    ]


def _confounded(setup: Setup, names: Collection[str]) -> list[str]:
    """Commanded quantities whose gains have the same effect as those of the wheels that turn a vehicle.

    Without measured wheels, only the motion on the ground is known; speed and yaw rate together still determine the
    ratio of both commands' gains. With measured wheels, either of the two determines their gains; a track needs both.
    """
    if not setup.family.model.geometry(setup.family.parameters).yaw_arm:
        return []
    commanded = [quantity for quantity in ("v_x", "yaw_rate") if setup.varies(quantity)]
    measured = setup.measured
    both = bool({"v_x", "x"} & measured and {"yaw_rate", "heading"} & measured) and len(commanded) == 2
    if setup.wheels_measured:
        return ["yaw_rate"] if "track" in names and not both else []
    return ["v_x"] if both else commanded


def _findings(setup: Setup, confounded: Sequence[str]) -> Iterator[str]:
    """Findings on the identifiability of wheel gains."""
    names = " and ".join(WHEELS.values())
    taken = f"{' and '.join(f'{quantity} gain' for quantity in confounded)}: taken as 1"
    if setup.wheels_measured:
        if confounded:
            yield f"{taken}; a speed and a yaw rate, or poses, would distinguish it from the track and the wheel gains"
    elif setup.family.model.geometry(setup.family.parameters).yaw_arm:
        yield (
            f"{taken}; without measured wheel speeds, gains of the commands have the effect of those of the wheels, so "
            f"{names} include them"
        )
    else:
        yield f"{names} need measured speeds of a left and a right wheel; the recording has none"


def _offsets(setup: Setup) -> Iterator[Term]:
    """Offsets of sensors; speeds of wheels have none."""
    recordings = [k for k, channels in enumerate(setup.channels) for _ in channels]
    for k, (recording, channel) in enumerate(zip(recordings, setup.all_channels, strict=True)):
        if channel.quantity != "joint_velocity":
            scale = 0.1 * float(np.ptp(np.percentile(channel.series.value, (1.0, 99.0)))) + 1e-6
            number = f" of recording {recording + 1}" if len(setup.channels) > 1 else ""
            yield SENSOR_OFFSET.term(f"{channel.name} {SENSOR_OFFSET.name}{number}", channel=k, scale=scale)


def _latencies(setup: Setup) -> list[Term]:
    """Latencies of each source of an actuator that several sources measure.

    A common latency is part of the dead times, as is that of the only source of an actuator.
    """
    sources: dict[str, list[int]] = {}
    by_actuator: dict[bool, set[str]] = {}
    steered = any(actuator.steers for actuator in setup.actuators.values())
    for k, channel in enumerate(setup.all_channels):
        of_steering = steered and (channel.hinge or channel.quantity in ("steering", "yaw_rate"))
        by_actuator.setdefault(of_steering, set()).add(channel.source)
        sources.setdefault(channel.source, []).append(k)
    beside_others = set().union(*(group for group in by_actuator.values() if len(group) > 1))
    return [
        LATENCY.term(f"{source.strip('/')} {LATENCY.name}", channels=tuple(indices))
        for source, indices in sources.items()
        if source in beside_others
    ]
