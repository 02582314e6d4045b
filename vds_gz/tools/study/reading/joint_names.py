"""Finds a vehicle's joints by the names that other robots give them, such as ``left_wheel`` or ``fl_wheel_joint``.

A name says the side, the axle, and whether the joint is a hinge. Both wheels of one side of a skid-steering robot are
the one wheel of that side of a differential drive.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.vehicle.vehicle_model import AnyModel
from vds_gz.tools.study.recording import MeasuredChannel, Recording, Series, is_hinge

#: Words in names, by what they mean. Robots write them alone or joined (``fl``, ``lr``).
_SIDES = {"left": "left", "l": "left", "right": "right", "r": "right"}
_AXLES = {"front": "front", "rear": "rear", "back": "rear"}
_CORNERS = {
    corner: (axle, side)
    for first, axle in (("f", "front"), ("r", "rear"), ("b", "rear"))
    for second, side in (("l", "left"), ("r", "right"))
    for corner in (first + second, second + first)
}

#: A joint is a wheel if its name has a part like this, or nothing beside a place and a word that any joint may have.
_WHEEL = re.compile(r"wheel|whl|tire|tyre")
_ANY_JOINT = {"joint", "motor", "drive", "link"}

#: Wheels that the vehicle does not drive.
_PASSIVE = {"caster", "castor", "swivel", "trailer", "hitch"}

#: Words of a name: also ``leftWheel``.
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

#: The most names that a finding lists.
MOST_NAMES = 8


class JointPlace(NamedTuple):
    """Where a joint is: axle and side, empty if the name does not say it; and whether it is a hinge."""

    axle: str
    side: str
    hinge: bool


def place_of(name: str) -> JointPlace | None:
    """The place that a joint's name says; None if it is not the name of a wheel or a hinge, or says two places."""
    words = [word.lower() for word in _WORD.findall(name)]
    places = [_CORNERS.get(word, (_AXLES.get(word, ""), _SIDES.get(word, ""))) for word in words]
    axles = {axle for axle, _ in places if axle}
    sides = {side for _, side in places if side}
    others = {word for word, place in zip(words, places, strict=True) if place == ("", "")}
    hinge = is_hinge(name)
    is_wheel = any(map(_WHEEL.search, words)) or (bool(sides) and others <= _ANY_JOINT)
    if others & _PASSIVE or not (hinge or is_wheel) or max(len(axles), len(sides)) > 1:
        return None
    return JointPlace("".join(axles), "".join(sides), hinge)


def joints_by_name(names: Sequence[str], model: AnyModel, parameters: ParameterGroup) -> dict[str, str]:
    """The vehicle's joint that each of these names means; those that mean none, or may mean several, are missing."""
    joints = model.joints(parameters)
    own = {joint.name for joint in joints}
    in_front = model.geometry(parameters).signed_wheel_base > 0.0
    axles = {"steered": "front" if in_front else "rear", "fixed": "rear" if in_front else "front"}
    places = {}
    for joint in joints:
        place = place_of(joint.name)
        if joint.command is not None and place is not None:
            word = "steered" if place.hinge else joint.name.partition("_")[0]
            places[joint.name] = place if place.axle else place._replace(axle=axles.get(word, ""))
    known = {name: name for name in names if name in own}
    for name in names:
        place = place_of(name)
        if name in own or place is None or place == JointPlace("", "", hinge=False):  # of a driver's steering wheel
            continue
        meant = [joint for joint, other in places.items() if _fits(place, other)]
        if len(meant) == 1:
            known[name] = meant[0]
    return known


def _fits(named: JointPlace, joint: JointPlace) -> bool:
    """Whether a name may mean a joint; an axle that one of them does not say fits any."""
    axles_fit = not named.axle or not joint.axle or named.axle == joint.axle
    return axles_fit and (named.side, named.hinge) == (joint.side, joint.hinge)


def with_joints_of(recording: Recording, model: AnyModel, parameters: ParameterGroup) -> Recording:
    """The recording with the vehicle's own names of its joints; joints that are not the vehicle's are left out.

    Findings name both. If several joints of one source are one joint of the vehicle, as the wheels of one side of a
    skid-steering robot, their mean replaces them.
    """
    names = list(dict.fromkeys(channel.joint for channel in recording.further if channel.joint))
    known = joints_by_name(names, model, parameters)
    if all(known.get(name) == name for name in names):
        return recording
    findings = list(recording.findings)
    if renamed := [f"{name} as {joint}" for name, joint in known.items() if name != joint]:
        findings.append(f"joints are taken by side and axle: {_first_of(renamed)}")
    # The mean of other hinges is the steering angle.
    if unknown := [name for name in names if name not in known and not is_hinge(name)]:
        own = [joint.name for joint in model.joints(parameters) if joint.command is not None]
        findings.append(
            f"joints {_first_of(unknown)}: left out, as their names do not tell which joints of the vehicle they are; "
            f"names that do are {_first_of(own)}, or such as front_left_wheel and left_wheel_joint"
        )
    further = [channel for channel in recording.further if not channel.joint]
    groups: dict[tuple[str, str, str], list[MeasuredChannel]] = {}
    for channel in recording.further:
        if channel.joint in known:
            groups.setdefault((topic_of(channel), channel.quantity, known[channel.joint]), []).append(channel)
    for (_, _, joint), channels in groups.items():
        further += _as_one(channels, joint)
    return replace(recording, further=further, findings=findings)


def topic_of(channel: MeasuredChannel) -> str:
    """The topic of a channel; the columns of a table are of one source."""
    return channel.source if channel.source.startswith("/") else ""


def _as_one(channels: Sequence[MeasuredChannel], joint: str) -> list[MeasuredChannel]:
    """Channels of one joint: their mean if they were measured at the same times."""
    first = channels[0]
    if len(channels) == 1 or any(not np.array_equal(first.series.time, other.series.time) for other in channels[1:]):
        return [replace(channel, joint=joint) for channel in channels]
    mean = np.mean([channel.series.value for channel in channels], axis=0)
    name = first.name.replace(first.joint, joint)
    return [replace(first, name=name, joint=joint, series=Series(first.series.time, mean))]


def _first_of(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - MOST_NAMES
    return f"{', '.join(names[:MOST_NAMES])}{f' and {more} more' if more > 0 else ''}"
