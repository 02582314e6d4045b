"""Our vehicle model with the robot's geometry, limits and names of joints."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.tools.adopt import geometry_check as geometry
from vds_gz.tools.adopt.geometry_check import GeometryCheck, RobotWheel
from vds_gz.tools.adopt.robot_drive import CORNERS, Figure, RobotDrive
from vds_gz.tools.adopt.structure import Structure, StructureJoint


@dataclass(slots=True)
class Parts:
    """The joints of the robot in the roles of ours.

    Attributes:
        joints: Names of the robot's joints by that of ours; the first one reports the state.
        driven: Names of ours that the robot drives; others roll freely.
        reversed: Names of ours whose joints of the robot turn the other way round.
        wheels: All wheels, for the height of the ground.
    """

    joints: dict[str, list[str]] = field(default_factory=dict)
    driven: set[str] = field(default_factory=set)
    wheels: list[RobotWheel] = field(default_factory=list)
    reversed: set[str] = field(default_factory=set)

    @property
    def ground(self) -> float | None:
        """Height of the ground in the model's frame when it stands on its wheels [m]; None if no collision does."""
        lowest = [float(wheel.centre[2]) - wheel.radius for wheel in self.wheels if wheel.radius is not None]
        return min(lowest, default=None)


@dataclass(slots=True)
class AdoptedVehicle:
    """A vehicle of ours in place of the robot's drive.

    Attributes:
        model: Name of our model.
        values: Its parameters, by their names below the model's.
        checks: Figures of the plugin beside those of the model.
        flags: Its parameters that are no numbers.
        findings: What differs.
        yaw: Direction in which it drives, from +x of the model about z [rad].
    """

    model: str
    parts: Parts
    values: dict[str, Figure] = field(default_factory=dict)
    flags: dict[str, bool | str] = field(default_factory=dict)
    checks: list[GeometryCheck] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    yaw: float = 0.0

    def take(self, name: str, drive: RobotDrive, figure: str, measured: float | None, unit: str = "m") -> Figure:
        """The plugin's figure, else the measured one; both are compared."""
        given = drive.figures.get(figure)
        self.checks.append(GeometryCheck(name, unit, given, measured))
        if given is not None:
            return given
        if measured is None or not measured > 0.0:
            drive.tag.fail(
                f"{drive.what} gives no {name}, and "
                + (
                    "no wheel has a sphere, cylinder or readable mesh as collision; add one"
                    if figure == "wheel_radius"
                    else "the joints coincide; move them apart"
                )
            )
        return Figure(measured, "collisions of the wheels" if figure == "wheel_radius" else "poses of the joints")


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
        "four_wheel_steering": _four_wheel_steering,
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
        "base_link_offset": _offset(middle, "driven wheels"),
        "track": track,
        "tire_diameter": _twice(radius),
    }
    adopted.values |= drive.limits
    adopted.values |= _neutral("drive_actuators", drive)
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
        "base_link_offset": _offset(0.5 * (geometry.middle(front) + geometry.middle(rear)), "wheels"),
        "wheel_base": wheel_base,
        "track": track,
        "tire_diameter": _twice(radius),
    }
    adopted.values |= drive.limits
    adopted.values |= _neutral("drive_actuators", drive)
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
            "axis and a sphere or cylinder as collision. Four wheels on four hinges with stops, on two axles, become a "
            "vehicle of the model 'four_wheel_steering'"
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
        "base_link_offset": _offset(rear, "fixed axle"),
        "wheel_base": base,
        "track_fixed": track,
        "track_steered": kingpin,
        "tire_diameter": _twice(radius),
    }
    adopted.values |= {name: figure for name, figure in drive.limits.items() if name.startswith("drive_actuator.")}
    adopted.values |= _neutral("drive_actuator", drive)
    adopted.values |= _steering(limit, all_hinges)
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


def _four_wheel_steering(drive: RobotDrive, structure: Structure) -> AdoptedVehicle:
    """Both axles steer; the wheels turn about their hinges, as the robot's own do only if they stand on them."""
    corners = ("front_left", "front_right", "rear_left", "rear_right")  # the order of the model's joints
    hinges = {corner: structure.joint(drive.joints[f"steering_{corner}"][0]) for corner in corners}
    wheels = {corner: geometry.wheel(structure, structure.joint(drive.joints[corner][0])) for corner in corners}
    joints = {f"steering_{corner}": [hinge.name] for corner, hinge in hinges.items()}
    joints |= {f"wheel_{corner}_joint": drive.names(corner) for corner in corners}
    adopted = AdoptedVehicle("four_wheel_steering", Parts(joints, set(joints), [*wheels.values()]))
    middles, tracks = {}, {}
    for axle in ("front", "rear"):
        left, right = hinges[f"{axle}_left"].position, hinges[f"{axle}_right"].position
        middles[axle] = 0.5 * (left + right)
        measured = abs(float((left - right)[1]))
        tracks[axle] = adopted.take(f"distance of the {axle} hinges", drive, f"{axle}_track", measured)
    base = adopted.take("wheel base", drive, "wheel_base", float((middles["front"] - middles["rear"])[0]))
    radii = sorted(wheel.radius for wheel in wheels.values() if wheel.radius is not None)
    common = statistics.median_low(radii) if radii else None
    if radii and radii[-1] - radii[0] > geometry.NEAR:
        adopted.findings.append(
            f"wheel radii are {radii[0]:.4g} to {radii[-1]:.4g} m; the median, {common:.4g}, counts"
        )
    radius = adopted.take("wheel radius", drive, "wheel_radius", common)
    adopted.values = {
        "base_link_offset": _offset(middles["rear"], "rear hinges"),
        "wheel_base": base,
        "track_front": tracks["front"],
        "track_rear": tracks["rear"],
        "tire_diameter": _twice(radius),
    }
    adopted.values |= _neutral("drive_actuator", drive)
    for axle in ("front", "rear"):
        pair = [hinges[f"{axle}_left"], hinges[f"{axle}_right"]]
        # In counter phase the turning centre is beside the middle of the wheel base.
        stop = min(geometry.stop_of(pair) or math.inf, math.radians(89.0))
        middle = geometry.middle_angle(stop, 0.5 * base.value, tracks[axle].value)
        limit = Figure(middle, "middle angle at which the inner hinge stops, with both axles in counter phase")
        adopted.values |= {f"{axle}_{name}": figure for name, figure in _steering(limit, pair).items()}
    adopted.findings.append(
        "each axle turns as a whole, by Ackermann's rule, so the robot does not turn in place; wheels that turn "
        "independently are modules of the model 'swerve'"
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


def _steering(limit: Figure, hinges: Sequence[StructureJoint]) -> dict[str, Figure]:
    """The steering actuator: neutral, with the limits of the hinges."""
    rate = min((hinge.velocity for hinge in hinges), default=math.inf)
    return {
        "steering_actuator.dead_time": Figure(0.0, "neutral: set yours"),
        "steering_actuator.time_constant": Figure(0.0, "neutral: set yours"),
        "steering_actuator.max_position": limit,
        "steering_actuator.max_velocity": Figure(rate, "velocity limit of the hinges")
        if math.isfinite(rate)
        else Figure(0.0, "unlimited"),
    }


def _neutral(group: str, drive: RobotDrive) -> dict[str, Figure]:
    """An actuator that changes nothing, with the limits that the drive has."""
    neutral = {
        f"{group}.dead_time": Figure(0.0, "neutral: set yours"),
        f"{group}.time_constant": Figure(0.0, "neutral: set yours"),
        f"{group}.max_velocity": Figure(0.0, "unlimited"),
        f"{group}.max_acceleration": Figure(0.0, "unlimited"),
    }
    return {name: drive.limits.get(name, figure) for name, figure in neutral.items()}


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


def _offset(reference: Array, what: str) -> Figure:
    """``base_link_offset``: from the reference point to the model's frame."""
    return Figure(
        float(np.round(-reference[0], 9)) + 0.0,
        f"x of the {what} in the model: {float(np.round(reference[0], 9)) + 0.0:.6g}",
    )


def _twice(radius: Figure) -> Figure:
    return radius._replace(value=2.0 * radius.value, origin=f"twice the wheel radius, {radius.origin}")
