"""The faults of a plant of another package, each with what is expected; see :class:`vds_gz.plant.Plant`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from time import sleep

from vds_gz.core.errors import VdsGzError
from vds_gz.core.geometry import Pose
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.plant.base import Level, Plant, Status
from vds_gz.core.plant.plant_types import PlantType
from vds_gz.core.share import in_words, raised_at
from vds_gz.core.vehicle.command import Command
from vds_gz.core.vehicle.vehicle import NANOSECONDS, Motion, Vehicle
from vds_gz.tools.conformance.groups import declaration_faults
from vds_gz.tools.conformance.plant_bench import (
    Bench,
    LateError,
    Sample,
    advance,
    advance_by,
    enter,
    sample,
)
from vds_gz.tools.conformance.plant_motion_faults import PLACE, REST, actuator_faults, body_faults, velocity_faults


def attribute_faults(bench: Bench) -> Iterator[str]:
    """Attributes of invalid types, and parameters without a declaration."""
    yield from declaration_faults(bench.kind.parameters())
    with bench.plant() as plant:
        if plant.name != bench.name:
            yield f"name is {plant.name!r}; expected '{bench.name}', the name of its entry point"
        for name in ("gives_time", "flat", "knows_pose", "simulates_sensors", "waits", "paused"):
            if not isinstance(value := getattr(plant, name), bool):
                yield f"{name} is {value!r}; expected true or false"
        for name in ("place", "clock_topic"):
            if not isinstance(value := getattr(plant, name), str):
                yield f"{name} is {value!r}; expected a text"
        rate = plant.command_rate
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0.0 <= rate < math.inf:
            yield f"command_rate is {rate!r}; expected a number of Hz, or 0 for never"
            return  # the bench cannot drive it
        if rate and type(plant).command is Plant.command:
            yield f"command_rate is {rate:g} and command() is not overridden; expected that it sends the commands"
        if not isinstance(plant.vehicle, Vehicle):
            yield f"vehicle is {plant.vehicle!r}; expected the Vehicle of the setup"
        enter(plant)
        advance_by(plant, 1.0)
        status = plant.status()
        if not isinstance(status, Status):
            yield f"status() returns {status!r}; expected a Status"
        elif status.level != Level.OK:
            yield f"status() is '{status.text}' in a free drive; expected Status() without a problem"


def number_faults(bench: Bench) -> Iterator[str]:
    """Samples that are incomplete or not finite."""
    with bench.plant() as plant:
        samples = [sample(plant), *_drive(plant)]
        joints = [joint.name for joint in plant.vehicle.model.joints(plant.vehicle.parameters)]
        for what in ("positions", "velocities"):
            counts = {len(getattr(item.joints, what)) for item in samples}
            if counts != {len(joints)}:
                yield f"joint_states() has {min(counts)} {what}; expected {len(joints)}, of {', '.join(joints)}"
        if not plant.flat and samples[-1].attitude is None:
            yield "attitude() is None and flat is false; expected an Attitude"
        for item in samples:
            if invalid := [(name, value) for name, value in item.numbers().items() if not math.isfinite(value)]:
                yield f"{invalid[0][0]} is {invalid[0][1]}; expected a finite number"
                return
        for name in ("v_x", "v_y", "yaw_rate"):
            if abs(speed := getattr(samples[0].motion, name)) > REST:
                yield f"motion().{name} is {speed:.3g} at first; expected 0, the vehicle starts at rest"


def time_faults(bench: Bench) -> Iterator[str]:
    """A time that goes back, or is not that to which the plant was advanced."""
    with bench.plant() as plant:
        vehicle, begin = plant.vehicle, plant.vehicle.time
        enter(plant)
        last = begin
        for k in range(1, 51):
            time = begin + k * 7_300_000
            advance(plant, time)
            if vehicle.time < last:
                yield f"vehicle.time went back by {(last - vehicle.time) * 1e-9:g} s; expected that it never does"
                return
            last = vehicle.time
            missing = vehicle.steps_until(time) - vehicle.steps
            if missing > 0 or (missing < 0 and not plant.gives_time):
                yield (
                    f"vehicle.time is {(vehicle.time - time) * 1e-9:g} s from the time of advance(); expected all "
                    "whole steps up to it: vehicle.advance(time)"
                )
                return
        before = sample(plant)
        plant.advance(last - NANOSECONDS // 2)
        if vehicle.time != last or (sample(plant) != before and not plant.gives_time):
            yield "advance() to an earlier time changes something; expected nothing"
        if plant.gives_time:
            times = [plant.observe() or 0 for _ in range(100)]
            if times != sorted(times):
                yield "observe() went back; expected a time that never does"


def repeat_faults(bench: Bench) -> Iterator[str]:
    """Differences between equal drives, advanced at once or in pieces."""
    ends = []
    with bench.plant() as plant:
        if plant.gives_time:  # real time differs
            return
    for period in (1.0, 1.0, 0.02, 0.0073):  # the last one is no multiple of a step
        with bench.plant() as plant:
            enter(plant)
            advance_by(plant, 1.0, period)
            enter(plant, 1.0)
            advance_by(plant, 1.0, period)
            ends.append(sample(plant).numbers())
    pieces = "advance() in pieces of {} ms and at once"
    for other, how in zip(ends[1:], ("equal drives", pieces.format(20), pieces.format(7.3)), strict=True):
        if name := next((name for name in other if other[name] != ends[0][name]), ""):
            yield f"{name} is {other[name]!r} and {ends[0][name]!r} after {how}; expected equal bits"
            return


def pose_faults(bench: Bench) -> Iterator[str]:
    """A vehicle that is not where it was put, or drives on as if it were elsewhere."""
    pose = Pose(3.0, -2.0, 1.0)
    with bench.plant() as plant:
        enter(plant)
        advance_by(plant, 1.0)
        before = sample(plant)
        plant.set_pose(pose)
        if plant.gives_time:
            advance_by(plant, 0.5)
        after = sample(plant)
        if not plant.gives_time:
            if off := _off(after.motion, pose):
                yield f"after set_pose() the vehicle is {off}; expected the pose at once"
                return
            if abs(after.motion.v_x - before.motion.v_x) > REST or after.joints != before.joints:
                yield "set_pose() changes the velocity or the joints; expected the pose alone"
        (last,) = advance_by(plant, 0.5)
        way = math.atan2(last.motion.y - after.motion.y, last.motion.x - after.motion.x)
        if abs(math.remainder(way - pose.heading, math.tau)) > 0.1:
            yield (
                f"after set_pose() with a heading of {pose.heading:g} rad the vehicle drives toward {way:.3g} rad; "
                "expected that it drives straight on"
            )


def stop_faults(bench: Bench) -> Iterator[str]:
    """A vehicle that does not stop in place, keeps its commands, or continues at another time."""
    with bench.plant() as plant:
        enter(plant, 1.0)
        advance_by(plant, 1.5)
        before = sample(plant).motion
        time = plant.vehicle.time - (0 if plant.gives_time else NANOSECONDS)
        plant.stand_still(time)
        if abs(plant.vehicle.time - time) > NANOSECONDS // 2:
            yield f"vehicle.time is {plant.vehicle.time} after stand_still(); expected the time given to it, {time} ns"
            return
        if _moves(plant.vehicle.command):
            yield "stand_still() keeps the command; expected none: vehicle.stand_still(time)"
        (last,) = advance_by(plant, 1.0)
        distance = math.dist((before.x, before.y), (last.motion.x, last.motion.y))
        allowed = abs(before.v_x) if plant.gives_time else PLACE
        if distance > allowed:
            yield f"after stand_still() the vehicle moves by {distance:.3g} m; expected that it stops in place"
        yield from _not_at_rest(last, "1 s after stand_still()")


def reset_faults(bench: Bench) -> Iterator[str]:
    """A vehicle that does not begin again as it began."""
    with bench.plant() as plant:
        first = sample(plant)
        drives = []
        for _ in range(2):
            enter(plant, 1.0)
            drives.append(advance_by(plant, 1.5)[0])
            time, pose = plant.vehicle.time, plant.reset()
            if not isinstance(pose, Pose):
                yield f"reset() returns {pose!r}; expected the initial pose"
                return
            if not plant.gives_time and plant.vehicle.time != time:
                yield f"reset() changes vehicle.time by {(plant.vehicle.time - time) * 1e-9:g} s; expected the same"
            if plant.gives_time:
                advance_by(plant, 1.0)
            now = sample(plant)
            for what, expected in (("returned", pose), ("first", first.motion)):
                if off := _off(now.motion, expected):
                    yield f"after reset() the vehicle is {off} from the {what} pose; expected the initial pose"
                    return
            yield from _not_at_rest(now, "after reset()")
        if not plant.gives_time and drives[0] != drives[1]:
            yield "a drive after reset() differs from the first one; expected that everything begins again"


def pause_faults(bench: Bench) -> Iterator[str]:
    """A plant that says it is paused and moves, or the reverse."""
    with bench.plant() as plant:
        enter(plant)
        advance_by(plant, 1.0)
        if not plant.pause(True):
            if plant.paused:
                yield "pause(True) returns false and paused is true; expected false, the node holds the vehicle"
            return
        before = sample(plant).motion
        if not plant.gives_time:
            if not plant.paused:
                yield "pause(True) returns true and paused is false; expected true"
            advance_by(plant, 0.5)
        elif (then := plant.observe()) and (now := _later(plant)) > then + NANOSECONDS // 10:
            yield f"observe() advances by {(now - then) * 1e-9:g} s while paused; expected that time stands still"
        if _off(sample(plant).motion, before):
            yield "pause(True) returns true and the vehicle moves; expected that it is held, or false"
        plant.pause(False)
        advance_by(plant, 0.5)
        if plant.paused or not _off(sample(plant).motion, before):
            yield "after pause(False) the vehicle is still paused; expected that it drives on"


def skip_faults(bench: Bench) -> Iterator[str]:
    """A plant with a clock of its own, which jumps after the node has held the vehicle."""
    with bench.plant() as plant:
        if plant.gives_time:
            return
        enter(plant)
        advance_by(plant, 1.0)
        before = sample(plant).motion
        plant.vehicle.skip_to(plant.vehicle.time + 5 * NANOSECONDS)
        (last,) = advance_by(plant, 0.1)
        distance = math.dist((before.x, before.y), (last.motion.x, last.motion.y))
        expected = 0.1 * abs(before.v_x)
        if abs(distance - expected) > 0.5 * expected + PLACE:
            yield (
                f"the vehicle moves by {distance:.3g} m in 0.1 s after vehicle.skip_to(); expected {expected:.3g} m: "
                "time is that of vehicle.time, and nothing moves when the node sets it"
            )


def _later(plant: Plant) -> int:
    """The time that a plant observes after half a second."""
    sleep(0.5)
    return plant.observe() or 0


def _drive(plant: Plant) -> list[Sample]:
    """Samples of a drive straight on, to both sides, and to a stop by a time-out."""
    samples = []
    for turn in (0.0, 1.0, -1.0):
        enter(plant, turn)
        samples += advance_by(plant, 1.0, 0.02)
    return samples


def _off(motion: Motion, pose: Pose | Motion) -> str:
    """How far a vehicle is from a pose, in words; empty if it is there."""
    offset = math.dist((motion.x, motion.y), (pose.x, pose.y))
    turned = abs(math.remainder(motion.heading - pose.heading, math.tau))
    return f"{offset:.3g} m and {turned:.3g} rad away" if max(offset, turned) > PLACE else ""


def _not_at_rest(item: Sample, when: str) -> Iterator[str]:
    for name, speed in item.numbers().items():
        if name.endswith(("v_x", "v_y", "yaw_rate")) and abs(speed) > REST:
            yield f"{name} is {speed:.3g} {when}; expected a vehicle at rest"
            return


def _moves(command: Command) -> bool:
    return bool(command.v_x or command.v_y or command.yaw_rate)


#: The checks, by what they look at.
CHECKS: dict[str, Callable[[Bench], Iterator[str]]] = {
    "attributes": attribute_faults,
    "numbers": number_faults,
    "time": time_faults,
    "repetition": repeat_faults,
    "velocities": velocity_faults,
    "actuators": actuator_faults,
    "body": body_faults,
    "set_pose": pose_faults,
    "stand_still": stop_faults,
    "reset": reset_faults,
    "pause": pause_faults,
    "held": skip_faults,
}


#: The checks that compare poses, and so need a plant that knows the pose.
POSE_CHECKS = ("velocities", "body", "set_pose", "reset", "pause", "held")


def plant_faults(name: str, kind: PlantType, parameters: NodeParameters) -> list[str]:
    """The faults of a plant with a vehicle of these parameters.

    Raises:
        VdsGzError: The plant refuses the vehicle, or what it needs does not answer.
    """
    bench = Bench(name, kind, parameters)
    with bench.plant() as plant:
        without = () if plant.knows_pose else POSE_CHECKS
    faults: dict[str, None] = {}
    for what, check in CHECKS.items():
        if what in without:
            continue
        try:
            faults |= dict.fromkeys(check(bench))
        except (VdsGzError, LateError) as error:
            faults[f"{what}: {error}"] = None
        except NotImplementedError as error:
            place = raised_at(error, kind.make.__module__)
            faults[f"{what}: a method of Plant is not overridden ({place}); expected one, see vds_gz.plant.Plant"] = (
                None
            )
        except Exception as error:  # any exception of the plant's own code
            place = raised_at(error, kind.make.__module__)
            faults[f"{what}: raises {in_words(error)} ({place})"] = None
    return list(faults)
