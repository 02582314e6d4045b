"""What is looked for in recordings: a model that takes such commands, its unknowns, and the measurements that count."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vds_gz.errors import ArgumentError
from vds_gz.parameters.declaration import ParameterGroup
from vds_gz.parameters.node import NodeParameters
from vds_gz.parameters.yaml_reader import Interval
from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.problem.parameters import (
    EFFECTIVE_TRACK,
    WHEEL_LIMIT,
    Actuation,
    Kind,
    Term,
    actuations,
    coordinates,
    value_of,
)
from vds_gz.study.identify.problem.recorded import Recorded, recorded_of
from vds_gz.study.identify.problem.simulation import VehicleFamily
from vds_gz.study.identify.problem.unknowns import assumed_geometry, check_fit, geometry_names, unknowns
from vds_gz.study.recording import MeasuredChannel, Recording
from vds_gz.vehicle.catalogue import models
from vds_gz.vehicle.command import CONTROL, CommandKind
from vds_gz.vehicle.model import AnyModel

#: No steering wheel turns further [rad].
HAND_WHEEL = 50.0

#: Steps per second where no vehicle says so [Hz].
STEP_RATE = 1000.0

#: Models that a recording may show where no vehicle is given.
RECOGNIZED = ("bicycle", "differential", "omni")


@dataclass(frozen=True)
class Setup:
    """What is looked for.

    Attributes:
        family: The vehicles that it may be.
        actuators: Of the model: ``drive``, ``steering``.
        recordings: With commands that the model takes.
        channels: Of each recording, the measurements that count.
        begin: A point to begin at; limits are none.
        priors: What is known beforehand of some unknowns.
        step_rate: Of the model [Hz].
        given: A vehicle was given.
        centred: The steering goes to the middle when the commanded speed is 0; None if nothing tells.
        remarks: What users must know of what was looked for.
        variant: What was learned of the variant of the vehicle, for users.
    """

    family: VehicleFamily
    actuators: Mapping[str, Actuation]
    recordings: tuple[Recording, ...]
    channels: tuple[tuple[MeasuredChannel, ...], ...]
    begin: Array
    priors: Mapping[str, Interval]
    step_rate: float
    given: bool
    centred: bool | None = None
    remarks: tuple[str, ...] = ()
    variant: tuple[str, ...] = ()

    @property
    def recorded(self) -> Recorded:
        """What the recordings offer."""
        return Recorded(self.family.model, self.family.parameters, self.recordings, self.channels)

    @property
    def excited(self) -> list[str]:
        """Actuators that were commanded to do something, or that others need."""
        quantities = {"steering": ("steering", "yaw_rate"), "turn": ("yaw_rate",), "body": ("v_x",)}
        return [
            name
            for name in self.actuators
            if any(map(self.recorded.varies, quantities.get(name, ("v_x", "v_y", "yaw_rate"))))
            or (name == "drive" and self.kind == CONTROL)
        ]

    @property
    def all_channels(self) -> list[MeasuredChannel]:
        """The channels of all recordings; terms refer to them by index."""
        return self.recorded.all_channels

    @property
    def kind(self) -> CommandKind:
        """Of the commands."""
        return self.recorded.kind


def model_name(signals: Recording) -> str:
    """The vehicle model that takes the commands of a recording."""
    if signals.steers or "steering" in signals.commanded or "steering" in signals.measured:
        return "bicycle"
    lateral = signals.commanded.get("v_y")
    moves = lateral is not None and "v_y" in signals.measured and np.ptp(lateral.value) > 0.0
    return "omni" if moves else "differential"


def check_names(names: Collection[str], vehicle: NodeParameters | None) -> None:
    """Refuse names that cannot be fitted."""
    if vehicle is not None:
        check_fit(names, [(models()[vehicle.model], vehicle.vehicle)])
    else:
        check_fit(names, [(model, model.parameters()) for model in (models()[name] for name in RECOGNIZED)])


def set_up(
    signals: Sequence[Recording],
    *,
    vehicle: NodeParameters | None,
    wheel_base: float | None,
    fit: Collection[str],
    priors: Mapping[str, Interval],
) -> Setup:
    """Prepare the identification of a vehicle."""
    given = vehicle is not None
    model = models()[vehicle.model if vehicle is not None else model_name(signals[0])]
    parameters: ParameterGroup = vehicle.vehicle if vehicle is not None else _plain(model, wheel_base)
    check_fit(fit, [(model, parameters)])
    names = geometry_names(fit)
    recorded = recorded_of(signals, model, parameters, names, given=given)
    parameters, far = _turning_far(recorded)
    recorded = replace(recorded, parameters=parameters)
    wheels = WHEEL_LIMIT in fit or getattr(parameters, WHEEL_LIMIT, 0.0) > 0.0
    actuators = actuations(parameters, wheels=wheels)
    if far:
        steering = actuators["steering"]
        actuators["steering"] = replace(steering, unlimited=(*steering.unlimited[:2], HAND_WHEEL))
    assumed = [] if given else assumed_geometry(recorded, wheel_base=wheel_base is not None)
    actuators, terms, remarks = unknowns(recorded, actuators, [*assumed, *names])
    setup = Setup(
        VehicleFamily(model, parameters, tuple(terms)),
        actuators,
        recorded.recordings,
        recorded.channels,
        coordinates(terms, {term.name: _first_value(term, parameters) for term in terms}),
        priors,
        vehicle.step_rate if vehicle is not None else STEP_RATE,
        given,
        remarks=(*far, *remarks),
    )
    return replace(setup, family=replace(setup.family, parameters=_without_maps(setup)))


def _without_maps(setup: Setup) -> ParameterGroup:
    """The vehicle without the static maps of actuators that are identified again."""
    parameters = setup.family.parameters
    groups = {setup.actuators[name].gain.partition(".")[0] for name in setup.excited}
    plain: dict[str, Any] = {
        group: dataclasses.replace(getattr(parameters, group), map_references=(), map_responses=())
        for group in groups
        if group and getattr(parameters, group).map_references
    }
    return dataclasses.replace(parameters, **plain)


def _turning_far(recorded: Recorded) -> tuple[ParameterGroup, tuple[str, ...]]:
    """The vehicle, driven on its steered wheel where angles beyond half a turn were commanded, and why.

    Only such a vehicle turns that far. Such angles are most likely those of a steering wheel.
    """
    parameters = recorded.parameters
    angles = [signals.commands.records["steering_angle"] for signals in recorded.recordings]
    top = max(float(np.max(np.abs(angle))) for angle in angles)
    name = "drive_on_steered_wheel"
    if top <= math.pi or getattr(parameters, name, True) or not hasattr(parameters, "steering_actuator"):
        return parameters, ()
    changed: dict[str, Any] = {name: True}
    remark = (
        f"steering: {top:.3g} rad were commanded, as of a steering wheel in the hands; taken as a vehicle that is "
        "driven on its steered wheel, since only such a one turns further than a quarter turn. Its motion means nothing"
    )
    return dataclasses.replace(parameters, **changed), (remark,)


def _plain(model: AnyModel, wheel_base: float | None) -> ParameterGroup:
    """A vehicle of which nothing is known, or only its wheel base."""
    parameters: ParameterGroup = model.parameters()
    if wheel_base is None:
        return parameters
    if model.name != "bicycle":
        raise ArgumentError(
            f"the wheel base was given as {wheel_base:g} m, but no steering was commanded or measured, so that the "
            f"recording is taken for one of the model '{model.name}'; leave the wheel base out, or give the parameters "
            "of a vehicle that steers"
        )
    return dataclasses.replace(parameters, wheel_base=wheel_base)


def _first_value(term: Term, parameters: ParameterGroup) -> float:
    """Where the search begins."""
    if term.kind is Kind.LIMIT:
        return math.inf
    if term.name == EFFECTIVE_TRACK:
        return value_of(parameters, term.name) or term.neutral
    return value_of(parameters, term.name) if term.is_parameter else term.neutral
