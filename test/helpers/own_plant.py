"""A plant of another package, on the public interface: the body slides exactly as the vehicle's wheels command."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from vds_gz import VdsGzError
from vds_gz.plant import (
    Attitude,
    BodyState,
    BodyVelocity,
    JointStates,
    Motion,
    ParameterGroup,
    Plant,
    PlantSetup,
    PlantType,
    Pose,
    body_state,
    real,
)


@dataclass(frozen=True, slots=True)
class SledParameters(ParameterGroup):
    """A road that shortens all ways."""

    grip: float = real(1.0, "-", "part of the commanded velocity that the road gives", positive=True, maximum=1.0)


class Sled(Plant):
    """A vehicle whose velocity is what its actuators command, times the grip."""

    name = "sled"

    def __init__(self, setup: PlantSetup) -> None:
        assert isinstance(setup.own, SledParameters)
        if setup.parameters.model == "omni":
            raise VdsGzError("a sled has no rollers")
        self.vehicle = setup.vehicle
        self.grip = setup.own.grip
        self.pose = Pose()
        self.angles = [0.0] * len(self.commanded.positions)
        self.before: tuple[int, Motion] | None = None

    @property
    def commanded(self) -> JointStates:
        return self.vehicle.model.joint_states(self.vehicle.coefficients, self.vehicle.state)

    def advance(self, time: int) -> None:
        vehicle = self.vehicle
        while vehicle.steps < vehicle.steps_until(time):
            self.before = vehicle.time_of(vehicle.steps + 1), self.motion(vehicle.time)
            vehicle.advance(vehicle.time_of(vehicle.steps + 1))
            self.step(1.0 / vehicle.step_rate)

    def step(self, dt: float) -> None:
        now, joints = self.motion(0), self.vehicle.model.joints(self.vehicle.parameters)
        sine, cosine = math.sin(now.heading), math.cos(now.heading)
        x = now.x + dt * (now.v_x * cosine - now.v_y * sine)
        y = now.y + dt * (now.v_x * sine + now.v_y * cosine)
        self.pose = Pose(x, y, now.heading + dt * now.yaw_rate)
        states = self.commanded
        for i, joint in enumerate(joints):
            rolled = self.angles[i] + dt * states.velocities[i]
            self.angles[i] = rolled if joint.kind == "wheel" else states.positions[i]

    def motion(self, time: int) -> Motion:
        commanded, grip = self.vehicle.motion(), self.grip
        velocity = (grip * commanded.v_x, grip * commanded.v_y, grip * commanded.yaw_rate)
        return Motion(self.pose.x, self.pose.y, self.pose.heading, *velocity)

    def body(self, time: int) -> BodyState:
        end, motion = self.before or (None, None)
        before = BodyVelocity.of(motion, None) if motion and end == self.vehicle.time else None
        return body_state(time, self.motion(time), None, before, 1.0 / self.vehicle.step_rate)

    def joint_states(self, time: int) -> JointStates:
        return JointStates(list(self.angles), self.commanded.velocities)

    def set_pose(self, pose: Pose, attitude: Attitude | None = None) -> None:
        self.pose = pose

    def stand_still(self, time: int) -> None:
        self.before = None
        self.vehicle.stand_still(time)

    def reset(self) -> Pose:
        self.stand_still(self.vehicle.time)
        self.vehicle.reset()
        self.pose, self.angles = Pose(), [0.0] * len(self.angles)
        return self.pose


SLED = PlantType(Sled, SledParameters)


class Fallen(Sled):
    """A plant that fails while it moves."""

    def step(self, dt: float) -> None:
        raise ValueError("the sled fell over")


FALLEN = PlantType(Fallen, SledParameters)


def install(folder: Path, entry_points: str = "sled = helpers.own_plant:SLED") -> None:
    """Put a package with these entry points into a folder, as pip does."""
    info = folder / "sleds-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sleds\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[vds_gz.plants]\n{entry_points}\n")
