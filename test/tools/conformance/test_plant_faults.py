"""The check of plants: the kinematic one and those of other packages pass, and every lie is caught."""

from __future__ import annotations

import dataclasses
import math
import random
import re
import sys
import time
from collections import deque
from itertools import pairwise

import pytest
from helpers.own_plant import SLED, Sled, SledParameters, install

from vds_gz.cli.subcommands import main
from vds_gz.core.configuration import load_parameters
from vds_gz.core.plant.base import Level
from vds_gz.core.plant.kinematic import KinematicPlant
from vds_gz.core.vehicle.make_vehicle import make_vehicle
from vds_gz.plant import JointStates, LinkError, Motion, Plant, PlantType, Pose, Status
from vds_gz.tools.conformance import plant_faults as check
from vds_gz.tools.conformance.plant_bench import Bench, advance_by

SECOND = 1_000_000_000


def parameters(vehicle: str = "indoor_robot", **values: float):
    return load_parameters(vehicle, {"twist_reference_max_oldness": 1e3, **values})


def faults_of(plant: type[Plant], *checks: str) -> list[str]:
    values = {"step_rate": 200.0} if plant.gives_time else {}
    bench = Bench("sled", PlantType(plant, SledParameters), parameters(**values))
    return [fault for name in checks for fault in check.CHECKS[name](bench)]


def test_a_plant_on_the_public_interface_passes():
    """With other vehicles the command does, below."""
    assert check.plant_faults("sled", SLED, parameters("f1tenth")) == []


@pytest.mark.parametrize("vehicle", ["indoor_robot", pytest.param("ackermann_car", marks=pytest.mark.slow)])
def test_the_kinematic_plant_passes(vehicle):
    kinematic = PlantType(lambda setup: KinematicPlant(make_vehicle(setup.parameters)))
    assert check.plant_faults("kinematic", kinematic, parameters(vehicle)) == []


class Misnamed(Sled):
    name = "sledge"


class Sick(Sled):
    def status(self):
        return Status(Level.ERROR, "no snow")


class Unsure(Sled):
    knows_pose = None


class RateInWords(Sled):
    command_rate = "often"


class NeverSends(Sled):
    command_rate = 50.0


class SendsBadly(Sled):
    command_rate = 50.0

    def command(self, now):
        raise LinkError(f"no answer at {now - 1_700_000_000 * SECOND} ns")


class Tilting(Sled):
    flat = False


class NoNumber(Sled):
    def motion(self, time):
        motion = super().motion(time)
        return dataclasses.replace(motion, yaw_rate=math.nan) if motion.x > 0.5 else motion


class OneJoint(Sled):
    def joint_states(self, time):
        states = super().joint_states(time)
        return JointStates(states.positions[:1], states.velocities)


class Rolling(Sled):
    def motion(self, time):
        return dataclasses.replace(super().motion(time), v_x=0.3)


class TooFar(Sled):
    def advance(self, time):
        super().advance(time + 5_000_000)


class Backwards(Sled):
    def advance(self, time):
        super().advance(time)
        self.vehicle.skip_to(self.vehicle.time - SECOND // 100)


class MovesAtOldTimes(Sled):
    def advance(self, time):
        super().advance(time)
        self.pose = Pose(self.pose.x + 1e-6, self.pose.y, self.pose.heading)


class Noisy(Sled):
    def step(self, dt):
        super().step(dt * random.uniform(0.99, 1.01))


class OneLongStep(Sled):
    def advance(self, time):
        steps = self.vehicle.steps_until(time) - self.vehicle.steps
        self.vehicle.advance(time)
        self.step(steps / self.vehicle.step_rate)


class LooksCount(Sled):
    def motion(self, time):
        self.looks = getattr(self, "looks", 0) + 1
        return dataclasses.replace(super().motion(time), y=1e-6 * self.looks)


class WorldAxes(Sled):
    def motion(self, time):
        m = super().motion(time)
        sine, cosine = math.sin(m.heading), math.cos(m.heading)
        if not self.stepping:
            return dataclasses.replace(m, v_x=m.v_x * cosine - m.v_y * sine, v_y=m.v_x * sine + m.v_y * cosine)
        return m

    stepping = False

    def step(self, dt):
        self.stepping = True
        super().step(dt)
        self.stepping = False


class DegreesPerSecond(Sled):
    def step(self, dt):
        super().step(dt)
        turned = self.pose.heading - self.before[1].heading
        self.pose = Pose(self.pose.x, self.pose.y, self.before[1].heading + math.radians(turned))


class LazyWheels(Sled):
    def joint_states(self, time):
        return self.commanded


class WithoutActuators(Sled):
    """It drives at the command at once."""

    def motion(self, time):
        return Motion(self.pose.x, self.pose.y, self.pose.heading, self.vehicle.command.v_x, 0.0, 0.0)


class HalfSpeed(Sled):
    def __init__(self, setup):
        super().__init__(setup)
        self.grip = 0.5


class DrivesStraightOn(Sled):
    def motion(self, time):
        return dataclasses.replace(super().motion(time), yaw_rate=0.0)


class WithGravity(Sled):
    def body(self, time):
        state = super().body(time)
        return dataclasses.replace(state, acceleration=(*state.acceleration[:2], 9.81))


class LateBody(Sled):
    def body(self, time):
        return super().body(time - SECOND)


class BodyElsewhere(Sled):
    def body(self, time):
        state = super().body(time)
        return dataclasses.replace(state, pose=dataclasses.replace(state.pose, position=(0.0, 0.0, 0.0)))


class StaysThere(Sled):
    def set_pose(self, pose, attitude=None):
        pass


class SaysSo(Sled):
    """It reports the new heading and drives on in the old direction."""

    turned = 0.0

    def set_pose(self, pose, attitude=None):
        self.turned = pose.heading - self.pose.heading
        self.pose = Pose(pose.x, pose.y, self.pose.heading)

    def motion(self, time):
        motion = super().motion(time)
        return dataclasses.replace(motion, heading=motion.heading + (0.0 if self.stepping else self.turned))

    stepping = False

    def step(self, dt):
        self.stepping = True
        super().step(dt)
        self.stepping = False


class StopsWhenPut(Sled):
    def set_pose(self, pose, attitude=None):
        super().set_pose(pose)
        self.vehicle.stand_still(self.vehicle.time)


class DrivesOn(Sled):
    def stand_still(self, time):
        state = self.vehicle.state
        self.vehicle.stand_still(time)
        self.vehicle.state = state


class KeepsCommands(Sled):
    def stand_still(self, time):
        command = self.vehicle.command
        super().stand_still(time)
        self.vehicle.enter(command, time)


class KeepsTime(Sled):
    def stand_still(self, time):
        super().stand_still(self.vehicle.time)


class ResetsToNowhere(Sled):
    def reset(self):
        super().reset()


class ResetsInPlace(Sled):
    def reset(self):
        self.vehicle.reset()
        return self.pose


class KeepsWheels(Sled):
    def reset(self):
        angles = self.angles
        super().reset()
        self.angles = angles
        return self.pose


class ResetsTime(Sled):
    def reset(self):
        super().reset()
        self.vehicle.skip_to(0)
        return self.pose


class PausedAlways(Sled):
    paused = True


class PausesInWords(Sled):
    def pause(self, paused):
        return True


class NeverGoesOn(Sled):
    paused = False

    def pause(self, paused):
        self.paused = True
        return True

    def advance(self, time):
        if not self.paused:
            super().advance(time)


class OwnClock(Sled):
    clock = 0

    def advance(self, time):
        steps = (time - self.clock) // 1_000_000 if self.clock else 0
        self.clock = time
        self.vehicle.advance(time)
        for _ in range(steps):
            self.step(0.001)


@pytest.mark.parametrize(
    ("plant", "checked", "message"),
    [
        (Misnamed, "attributes", "name is 'sledge'; expected 'sled'"),
        (Sick, "attributes", r"status\(\) is 'no snow' in a free drive; expected Status\(\)"),
        (Unsure, "attributes", "knows_pose is None; expected true or false"),
        (RateInWords, "attributes", "command_rate is 'often'; expected a number of Hz, or 0 for never"),
        (NeverSends, "attributes", r"command_rate is 50 and command\(\) is not overridden; expected that it sends"),
        (Tilting, "numbers", r"attitude\(\) is None and flat is false; expected an Attitude"),
        (NoNumber, "numbers", r"motion\(\).\w+ is nan; expected a finite number"),
        (OneJoint, "numbers", r"has 1 positions; expected 2, of wheel_left_joint, wheel_right_joint"),
        (Rolling, "numbers", r"v_x is 0.3 at first; expected 0"),
        (TooFar, "time", r"vehicle.time is 0.0047 s from the time of advance\(\); expected all whole steps"),
        (Backwards, "time", "vehicle.time went back by|from the time of advance"),
        (MovesAtOldTimes, "time", r"advance\(\) to an earlier time changes something; expected nothing"),
        (Noisy, "repetition", "after equal drives; expected equal bits"),
        (OneLongStep, "repetition", r"after advance\(\) in pieces of 20 ms and at once; expected equal bits"),
        (LooksCount, "repetition", "expected equal bits"),
        (WorldAxes, "velocities", "changes by .* expected equal: velocities in base_link's own axes"),
        (DegreesPerSecond, "velocities", "heading changes by .* expected equal: .* rad/s"),
        (LazyWheels, "velocities", "'wheel_left_joint' moves by 0 rad .*; expected equal: .* count full turns"),
        (WithoutActuators, "actuators", "the body moves at 0.4 m/s while all joints of the actuators stand"),
        (HalfSpeed, "actuators", r"motion\(\).v_x is 0.2 m/s and the actuators command 0.4 m/s; expected that"),
        (DrivesStraightOn, "actuators", r"yaw_rate is 0 rad/s and the actuators command 0.\d+ rad/s; expected that"),
        (WithGravity, "body", r"body\(\).acceleration gives 1.94 m/s; expected equal: .* without gravity"),
        (LateBody, "body", r"body\(\).time is \d+; expected the time that was asked for"),
        (BodyElsewhere, "body", r"body\(\).pose is at \(0, 0, 0\) m; expected that of motion\(\)"),
        (StaysThere, "set_pose", r"after set_pose\(\) the vehicle is 3.* m and 1 rad away; expected the pose at once"),
        (SaysSo, "set_pose", "the vehicle drives toward 0 rad; expected that it drives straight on"),
        (StopsWhenPut, "set_pose", r"set_pose\(\) changes the velocity or the joints; expected the pose alone"),
        (DrivesOn, "stand_still", r"after stand_still\(\) the vehicle moves by .* m; expected that it stops in place"),
        (KeepsCommands, "stand_still", r"stand_still\(\) keeps the command; expected none"),
        (KeepsTime, "stand_still", r"vehicle.time is \d+ after stand_still\(\); expected the time given to it"),
        (ResetsToNowhere, "reset", r"reset\(\) returns None; expected the initial pose"),
        (ResetsInPlace, "reset", "from the first pose; expected the initial pose"),
        (KeepsWheels, "reset", r"a drive after reset\(\) differs from the first one"),
        (ResetsTime, "reset", r"reset\(\) changes vehicle.time by -1.7e\+09 s; expected the same"),
        (PausedAlways, "pause", r"pause\(True\) returns false and paused is true; expected false"),
        (PausesInWords, "pause", r"pause\(True\) returns true and the vehicle moves; expected that it is held"),
        (NeverGoesOn, "pause", r"after pause\(False\) the vehicle is still paused; expected that it drives on"),
        (OwnClock, "held", r"moves by [12]\.\d+ m in 0.1 s after vehicle.skip_to\(\); expected 0.0\d+ m: time is that"),
    ],
)  # fmt: skip
def test_a_plant_that_lies_is_caught_with_what_is_expected(plant, checked, message):
    assert re.search(message, "\n".join(faults_of(plant, checked)))


class Relayed(Sled):
    """A robot that knows its own pose, commanded 50 times a second."""

    knows_pose = False
    command_rate = 50.0

    def __init__(self, setup):
        super().__init__(setup)
        self.sent = []

    def command(self, now):
        assert now == self.vehicle.time
        self.sent.append(now)

    def motion(self, time):
        return self.vehicle.motion()

    body = Plant.body
    joint_states = Plant.joint_states

    def set_pose(self, pose, attitude=None):
        raise LinkError("the robot's pose is its own")

    def reset(self):
        self.set_pose(Pose())


def test_a_plant_that_does_not_know_the_pose_passes_without_one():
    assert check.plant_faults("sled", PlantType(Relayed, SledParameters), parameters()) == []


def test_a_plant_with_a_rate_is_told_to_command_at_it():
    with Bench("sled", PlantType(Relayed, SledParameters), parameters()).plant() as plant:
        advance_by(plant, 1.0, 0.0073)
        assert len(plant.sent) == 50
        assert {after - before for before, after in pairwise(plant.sent)} == {SECOND // 50}
    faults = check.plant_faults("sled", PlantType(SendsBadly, SledParameters), parameters())
    assert "numbers: no answer at 20000000 ns" in faults


class LateSled(Sled):
    """A plant that gives time, four times as fast as real time, with steps of 5 ms."""

    gives_time = True

    def __init__(self, setup):
        super().__init__(setup)
        self.began = time.monotonic()
        self.halted = None
        self.past = deque(maxlen=5000)  # what it was seen to do, by time

    def observe(self):
        now = 5 * SECOND + round(4.0 * (time.monotonic() - self.began) * SECOND)
        return self.halted or now

    def command(self, now):
        self.advance(now)

    def step(self, dt):
        super().step(dt)
        self.past.append((self.before[0], super().motion(0), super().joint_states(0), super().body(0)))

    def seen(self, time):
        return bool(self.past) and self.past[-1][0] >= time

    def at(self, time):
        return next((seen for seen in reversed(self.past) if seen[0] <= time), self.past[0])

    def motion(self, time):
        return self.at(time)[1] if time and self.past else super().motion(time)

    def joint_states(self, time):
        return self.at(time)[2] if self.past else super().joint_states(time)

    def body(self, time):
        return dataclasses.replace(self.at(time)[3], time=time)

    def pause(self, paused):
        self.halted = self.observe() if paused else None
        return True

    @property
    def paused(self):
        return self.halted is not None


class TurnsBack(LateSled):
    turns = 0

    def observe(self):
        self.turns += 1
        return super().observe() - 20_000_000 * (self.turns % 2)


class Forgets(LateSled):
    """It knows the time when it is asked first."""

    known = True

    def observe(self):
        known, self.known = self.known, False
        return super().observe() if known else None


class NeverSeen(LateSled):
    def seen(self, time):
        return False


class RunsOn(LateSled):
    def pause(self, paused):
        return True


def test_a_plant_that_gives_time_passes():
    assert faults_of(LateSled, *check.CHECKS) == []


def test_a_plant_that_gives_time_and_lies_is_caught(monkeypatch):
    assert "observe() went back; expected a time that never does" in faults_of(TurnsBack, "time")
    assert any("while paused; expected that time stands still" in fault for fault in faults_of(RunsOn, "pause"))
    faults = check.plant_faults("sled", PlantType(Forgets, SledParameters), parameters(step_rate=200.0))
    assert "numbers: observe() returned None after it had known the time" in faults
    monkeypatch.setattr("vds_gz.tools.conformance.plant_bench.PATIENCE", 0.2)
    faults = check.plant_faults("sled", PlantType(NeverSeen, SledParameters), parameters(step_rate=200.0))
    assert any("stayed false within 0.2 s" in fault for fault in faults)


class WithoutBody(Sled):
    body = Plant.body


class Breaks(Sled):
    def reset(self):
        return [][1]


def test_exceptions_and_missing_methods_are_named_with_their_place():
    (fault,) = check.plant_faults("sled", PlantType(WithoutBody, SledParameters), parameters())
    assert fault.startswith("body: a method of Plant is not overridden (")
    (fault,) = check.plant_faults("sled", PlantType(Breaks, SledParameters), parameters())
    assert fault.startswith("reset: raises IndexError: list index out of range (")
    assert "test_plant_faults.py, line" in fault


class Unreachable(Sled):
    def __init__(self, setup):
        raise LinkError("no simulator answers")


MISNAMED = PlantType(Misnamed, SledParameters)
UNREACHABLE = PlantType(Unreachable, SledParameters)


@pytest.mark.parametrize(
    ("words", "code", "out", "err"),
    [
        (["sled"], 0, "sled with indoor_robot: OK\nsled with ackermann_car: OK\n", ""),
        (["sled", "config/forklift.yaml"], 0, "sled with config/forklift.yaml: OK\n", ""),
        (["misnamed", "config/forklift.yaml"], 1, "", "misnamed with config/forklift.yaml: name is 'sledge'"),
        (["unreachable"], 1, "", "unreachable refuses indoor_robot: no simulator answers"),
        (["sleigh"], 2, "", "there is no plant 'sleigh' in an installed package; there are sled, misnamed, unreach"),
        (["gazebo"], 2, "", "'gazebo' is of this package; --plant tests plants of others: sled, misnamed, unreach"),
    ],
)  # fmt: skip
def test_the_command_has_exit_codes_and_names_what_is_wrong(words, code, out, err, tmp_path, monkeypatch, capsys):
    here = "test_plant_faults"
    install(
        tmp_path,
        f"sled = helpers.own_plant:SLED\nmisnamed = {here}:MISNAMED\nunreachable = {here}:UNREACHABLE",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, here, sys.modules[__name__])
    assert main(["check", "--plant", *words]) == code
    said = capsys.readouterr()
    assert said.out.endswith(out)
    assert err in said.err
