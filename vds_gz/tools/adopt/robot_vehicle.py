"""The vehicle of ours that drives like a robot, by the kinematics of its drive."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from vds_gz.tools.adopt import geometry_check as geometry
from vds_gz.tools.adopt.adopted_vehicle import AdoptedVehicle, Parts, neutral, offset, steering, twice
from vds_gz.tools.adopt.all_wheel_steering import four_wheel_steering, swerve
from vds_gz.tools.adopt.geometry_check import GeometryCheck, RobotWheel
from vds_gz.tools.adopt.robot_drive import CORNERS, Figure, RobotDrive
from vds_gz.tools.adopt.structure import Structure, StructureJoint


def vehicle(drive: RobotDrive, structure: Structure) -> AdoptedVehicle:
    """The vehicle that drives like the robot.

    Raises:
        ArgumentError: A joint is missing or stands where it cannot, or a figure is missing.
    """
    drive.check()
    hinges: list[StructureJoint] = []
    driven: list[StructureJoint] = []
    for place, joints in drive.joints.items():
        (hinges if place.startswith("steering") else driven).extend(map(structure.joint, joints))
    steered_ahead = hinges if drive.kind == "ackermann" else []
    yaw = geometry.front(driven, steered_ahead) if drive.joints_only else geometry.heading(driven)
    structure = structure.turned(yaw)
    build = {
        "differential": _differential,
        "ackermann": _ackermann,
        "four_wheel_steering": four_wheel_steering,
        "swerve": swerve,
        "mecanum": _mecanum,
    }
    adopted = build[drive.kind](drive, structure)
    adopted.findings = [*drive.findings, *adopted.findings]
    if yaw:
        adopted.yaw = yaw
        adopted.findings.append(
            f"the wheels roll at {math.degrees(yaw):.3g} degrees from +x of the model: odometry has +x along their "
            "way, as that of the robot's own drive"
        )
    _wheel_limit(drive, structure, adopted)
    moved = [
        name for ours in adopted.parts.joints if ours in adopted.parts.driven for name in adopted.parts.joints[ours]
    ]
    if stuck := [name for name in moved if structure.joints[name].stuck]:
        adopted.findings.append(
            f"a limit of effort or velocity of {', '.join(stuck)} is 0, with which Gazebo moves no joint; raise it"
        )
    if drive.joints_only:
        _reverse(adopted, structure)
    else:
        adopted.findings += geometry.directions(structure, adopted.parts.joints)
    return adopted


def _reverse(adopted: AdoptedVehicle, structure: Structure) -> None:
    """Turn joints the other way round whose axes are reversed: a node of the robot's own did that before."""
    parts = adopted.parts
    for ours, names in parts.joints.items():
        direction = geometry.UP if ours.startswith("steering") else geometry.LEFT
        signs = {float(structure.joints[name].axis @ direction) < 0.0 for name in names}
        if len(signs) > 1:
            structure.joints[names[0]].tag.fail(
                f"joints {', '.join(names)} are at the same side, and their axes point to different ones; the node "
                "turns them alike"
            )
        if signs == {True}:
            parts.reversed.add(ours)
            adopted.findings.append(
                f"the axis of {', '.join(names)} is reversed, so the node turns it the other way round"
            )


def _differential(drive: RobotDrive, structure: Structure) -> AdoptedVehicle:
    left, right = (geometry.wheels(structure, drive.joints[side]) for side in ("left", "right"))
    parts = Parts(
        {"wheel_left_joint": drive.names("left"), "wheel_right_joint": drive.names("right")},
        {"wheel_left_joint", "wheel_right_joint"},
        [*left, *right],
    )
    adopted = AdoptedVehicle("differential", parts)
    track = adopted.take("track", drive, "track", geometry.separation(left, right))
    radius = adopted.take("wheel radius", drive, "wheel_radius", geometry.radius([*left, *right]))
    middle = 0.5 * (geometry.middle(left) + geometry.middle(right))
    adopted.values = {
        "base_link_offset": offset(middle, "driven wheels"),
        "track": track,
        "tire_diameter": twice(radius),
    }
    adopted.values |= drive.limits
    adopted.values |= neutral("drive_actuators", drive)
    if len(left) > 1 or len(right) > 1:
        adopted.findings.append(
            f"skid steer: {len(left)} and {len(right)} wheels a side turn alike; in turns they slide, as Gazebo's "
            "friction lets them"
        )
    return adopted


def _mecanum(drive: RobotDrive, structure: Structure) -> AdoptedVehicle:
    corners = {corner: geometry.wheels(structure, drive.joints[corner]) for corner in CORNERS}
    joints = {f"wheel_{corner}_joint": drive.names(corner) for corner in CORNERS}
    everything = [wheel for group in corners.values() for wheel in group]
    adopted = AdoptedVehicle("omni", Parts(joints, set(joints), everything))
    left, right = corners["front_left"] + corners["rear_left"], corners["front_right"] + corners["rear_right"]
    front, rear = corners["front_left"] + corners["front_right"], corners["rear_left"] + corners["rear_right"]
    base = abs(float(geometry.middle(front)[0] - geometry.middle(rear)[0]))
    track_measured = geometry.separation(left, right)
    if "half_sum" in drive.figures:  # the controller knows only (wheel_base + track) / 2
        half = drive.figures["half_sum"]
        adopted.checks.append(GeometryCheck("(wheel base + track)/2", "m", half, 0.5 * (base + track_measured)))
        wheel_base, track = _split(half, base, track_measured)
    else:
        wheel_base = adopted.take("wheel base", drive, "wheel_base", base)
        track = adopted.take("track", drive, "track", track_measured)
    radius = adopted.take("wheel radius", drive, "wheel_radius", geometry.radius(everything))
    adopted.flags["roller_pattern"] = "x"
    adopted.values = {
        "base_link_offset": offset(0.5 * (geometry.middle(front) + geometry.middle(rear)), "wheels"),
        "wheel_base": wheel_base,
        "track": track,
        "tire_diameter": twice(radius),
    }
    adopted.values |= drive.limits
    adopted.values |= neutral("drive_actuators", drive)
    if float((geometry.middle(front) - geometry.middle(rear))[0]) < 0.0:
        adopted.findings.append(
            "the front wheels stand at the rear: the robot turns the wrong way, also with its own plugin"
        )
    return adopted


def _split(half: Figure, base: float, track: float) -> tuple[Figure, Figure]:
    """Wheel base and track whose sum is twice a figure, in the ratio that the joints have."""
    whole = base + track
    share = base / whole if whole > 0.0 else 0.5
    origin = f"{half.origin}, in the ratio of the joints' poses"
    return Figure(2.0 * half.value * share, origin), Figure(2.0 * half.value * (1.0 - share), origin)


def _ackermann(drive: RobotDrive, structure: Structure) -> AdoptedVehicle:
    hinges = {
        place: [structure.joint(named) for named in drive.joints.get(place, ())]
        for place in ("steering_left", "steering", "steering_right")
    }
    single = bool(hinges["steering"])
    driven = [structure.joint(named) for place in ("left", "right", "wheel") for named in drive.joints.get(place, ())]
    steered = {place: _steered(structure, group, drive) for place, group in hinges.items() if group}
    names = {joint.name for group in steered.values() for joint in group}
    fixed = [joint for joint in driven if joint.name not in names] or _passive(structure, names, hinges)
    if not fixed:
        drive.tag.fail(
            f"{drive.what} drives wheels on hinges only, and the model has no other wheel: no joint with a horizontal "
            "axis and a sphere or cylinder as collision. Three to eight wheels, each on a hinge of its own, become a "
            "vehicle of the model 'swerve'"
        )
    fixed_wheels = [geometry.wheel(structure, joint) for joint in fixed]
    steered_wheels = {place: [geometry.wheel(structure, joint) for joint in group] for place, group in steered.items()}
    everything = [*fixed_wheels, *(wheel for group in steered_wheels.values() for wheel in group)]
    adopted = AdoptedVehicle("bicycle", Parts(wheels=everything))
    sides = _sides(drive, fixed_wheels)
    _assign(adopted.parts, hinges, steered, fixed_wheels, sides, {joint.name for joint in driven})

    all_hinges = [hinge for group in hinges.values() for hinge in group]
    front, rear = np.mean([hinge.position for hinge in all_hinges], axis=0), geometry.middle(fixed_wheels)
    base = adopted.take("wheel base", drive, "wheel_base", abs(float(front[0] - rear[0])))
    track = Figure(0.0, "one wheel or one hinge")
    if sides[0] and sides[1]:
        track = adopted.take("track", drive, "track", geometry.separation(*sides))
    kingpin = Figure(0.0, "one hinge")
    if not single:
        apart = abs(float((hinges["steering_left"][0].position - hinges["steering_right"][0].position)[1]))
        kingpin = adopted.take("distance of the hinges", drive, "kingpin_width", apart)
    radius = adopted.take("wheel radius", drive, "wheel_radius", geometry.radius(everything))
    limit = _steering_limit(drive, adopted, all_hinges, base.value, kingpin.value)
    adopted.values = {
        "base_link_offset": offset(rear, "fixed axle"),
        "wheel_base": base,
        "track_fixed": track,
        "track_steered": kingpin,
        "tire_diameter": twice(radius),
    }
    adopted.values |= {name: figure for name, figure in drive.limits.items() if name.startswith("drive_actuator.")}
    adopted.values |= neutral("drive_actuator", drive)
    adopted.values |= steering(limit, all_hinges)
    if drive.drives_steered:
        adopted.flags["drive_on_steered_wheel"] = True
    elif not drive.joints_only and names.intersection(joint.name for joint in driven):
        adopted.findings.append(
            "driven wheels on hinges: the plugin turns them as fast as those of a fixed axle, ours as fast as they roll"
        )
    if front[0] < rear[0]:
        adopted.findings.append(
            "the hinges stand behind the other axle: the robot turns the wrong way, also with its own drive"
        )
    return adopted


def _steered(structure: Structure, hinges: Sequence[StructureJoint], drive: RobotDrive) -> list[StructureJoint]:
    """The wheels that hinges steer, the driven ones first."""
    driven = {named.joint for joints in drive.joints.values() for named in joints}
    found: list[StructureJoint] = []
    for hinge in hinges:
        below = geometry.steered_below(structure, hinge)
        if not below:
            hinge.tag.fail(
                f"hinge '{hinge.name}' of {drive.what} steers no wheel: no joint below it turns about a horizontal "
                "axis; the node needs a wheel joint on each hinge"
            )
        found += sorted(below, key=lambda joint: joint.name not in driven)
    return found


def _passive(structure: Structure, steered: set[str], hinges: dict[str, list[StructureJoint]]) -> list[StructureJoint]:
    """Wheels that nothing drives and nothing steers, of the axle that is farthest from the hinges."""
    taken = [*steered, *(hinge.name for group in hinges.values() for hinge in group)]
    free = geometry.rolling(structure, taken)
    if not free:
        return []
    front = np.mean([hinge.position[0] for group in hinges.values() for hinge in group])
    farthest = max(abs(joint.position[0] - front) for joint in free)
    return [joint for joint in free if abs(joint.position[0] - front) > farthest - 0.01]


def _sides(drive: RobotDrive, wheels: Sequence[RobotWheel]) -> tuple[list[RobotWheel], list[RobotWheel]]:
    """The left and the right wheels of an axle, as the drive names them or else as they stand; a single one is on
    neither side."""
    left, right = ([wheel for wheel in wheels if wheel.joint.name in drive.names(side)] for side in ("left", "right"))
    if left and right:
        return left, right
    if len(wheels) == 1:
        return [], []
    centre = geometry.middle(wheels)[1]
    return [wheel for wheel in wheels if wheel.centre[1] > centre], [
        wheel for wheel in wheels if wheel.centre[1] <= centre
    ]


def _assign(
    parts: Parts,
    hinges: dict[str, list[StructureJoint]],
    steered: dict[str, list[StructureJoint]],
    fixed: Sequence[RobotWheel],
    sides: tuple[list[RobotWheel], list[RobotWheel]],
    driven: set[str],
) -> None:
    """Give the joints the names of the bicycle's: hinges, fixed wheels, steered wheels."""
    for place, group in hinges.items():
        if group:
            parts.joints[place] = [hinge.name for hinge in group]
            parts.driven.add(place)
    groups = (
        {"fixed_wheel_left_joint": sides[0], "fixed_wheel_right_joint": sides[1]}
        if sides[0]
        else {"fixed_wheel_joint": [*fixed]}
    )
    roles = {ours: [wheel.joint for wheel in group] for ours, group in groups.items()}
    for place, joints in steered.items():
        roles[f"steered_wheel{place.removeprefix('steering')}_joint"] = joints
    for ours, joints in roles.items():
        moved = [joint.name for joint in joints if joint.name in driven]
        parts.joints[ours] = moved or [joints[0].name]
        if moved:
            parts.driven.add(ours)


def _steering_limit(
    drive: RobotDrive, adopted: AdoptedVehicle, hinges: Sequence[StructureJoint], wheel_base: float, kingpin: float
) -> Figure:
    """The limit of the middle wheel's angle: the plugin's, else the stops of the hinges."""
    stop, given = geometry.stop_of(hinges), drive.figures.get("steering_limit")
    if given is None and stop is None:
        return Figure(0.0, "no stops") if drive.drives_steered else Figure(math.radians(80.0), "no stops of the hinges")
    reached = None if stop is None else geometry.middle_angle(min(stop, math.radians(89.0)), wheel_base, kingpin)
    limit = given or Figure(reached or 0.0, "middle angle at which the inner hinge stops")
    adopted.checks.append(GeometryCheck("steering limit (middle)", "rad", given, None if given else reached))
    inner = geometry.inner_angle(limit.value, wheel_base, kingpin)
    if stop is not None and inner > stop * (1.0 + geometry.SAME):
        adopted.findings.append(
            f"at the steering limit the inner wheel needs {inner:.4g} rad, and its hinge stops at {stop:.4g} rad"
        )
    return limit


def _wheel_limit(drive: RobotDrive, structure: Structure, adopted: AdoptedVehicle) -> None:
    """Take the velocity limits of the wheels' joints, which Gazebo enforces, if they are the lowest."""
    name = next(name for name in adopted.values if name.endswith(".max_velocity") and name.startswith("drive"))
    names = [name for ours in adopted.parts.driven for name in adopted.parts.joints[ours] if "wheel" in ours]
    rates = [structure.joints[joint].velocity for joint in names]
    slowest = min(rates, default=math.inf)
    if not math.isfinite(slowest):
        return
    speed = slowest * adopted.values["tire_diameter"].value / 2.0
    if not 0.0 < adopted.values[name].value <= speed:
        adopted.values[name] = Figure(
            speed, f"velocity limit of the wheels' joints, {slowest:g} rad/s, by their radius"
        )
