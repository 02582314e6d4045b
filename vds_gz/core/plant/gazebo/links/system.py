"""The link from inside Gazebo, which reads and sets joints and poses between two physics steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from vds_gz.core.geometry import Transform
from vds_gz.core.plant.base import LinkError
from vds_gz.core.plant.gazebo.links import bindings, world_services
from vds_gz.core.plant.gazebo.links.bindings import EntityComponentManager, UpdateInfo
from vds_gz.core.plant.gazebo.links.gazebo_link import Alive, GazeboLink, JointReadings, Placement, ReadingQueue, Tick
from vds_gz.core.vehicle.vehicle import NANOSECONDS
from vds_gz.core.vehicle.vehicle_model import Joint

NOTICE_STEPS = 100  # number of steps between two reports that Gazebo runs


class SystemLink(GazeboLink):
    """The link of a Gazebo system, which calls :meth:`look`, runs the node and calls :meth:`act` before each step.

    A command acts in the step for which it was computed, without latency.
    """

    name = "system"
    lag_cause = "a joint's effort or velocity limit, or another controller on the same joints"

    def __init__(self, joints: Sequence[Joint], names: Sequence[str]) -> None:
        self._names = list(names)
        self._wheels = [name for name, joint in zip(names, joints, strict=True) if joint.command == "velocity"]
        self._steering = [name for name, joint in zip(names, joints, strict=True) if joint.command == "position"]
        self._sim = bindings.sim()
        self._gazebo: Any = None
        self._joints: dict[str, Any] = {}
        self._where: dict[str, float] = {}
        self._speeds: dict[str, float] = {}
        self._velocities: Sequence[float] = [0.0] * len(self._wheels)
        self._positions: Sequence[float] | None = None
        self._T_map_model: Transform | None = None  # requested for the next step
        self._count = 0

    def attach(self, entity: int, ecm: EntityComponentManager) -> None:
        """Find the joints of a model and enable their states."""
        self._model = self._sim.Model(entity)
        self._world = self._sim.World(self._sim.world_entity(ecm)).name(ecm)
        self._body = self._sim.Link(self._model.canonical_link(ecm))
        present = {joint.name(ecm): joint for joint in map(self._sim.Joint, self._model.joints(ecm))}
        if missing := [name for name in self._names if name not in present]:
            raise LinkError(
                f"model '{self._model.name(ecm)}' has no joint {', '.join(missing)}; it has "
                f"{', '.join(sorted(present))}. Set gazebo.joint_names as ours=theirs"
            )
        self._joints = {name: present[name] for name in self._names}
        for joint in self._joints.values():
            joint.enable_position_check(ecm)
            joint.enable_velocity_check(ecm)

    # ------------------------------------------------------------------ between the steps

    def look(self, info: UpdateInfo, ecm: EntityComponentManager) -> None:
        """Report the state after the last step, and the time at which the next step ends."""
        end, length = _nanoseconds(info.sim_time), _nanoseconds(info.dt)
        self._count += 1
        if info.paused or self._count % NOTICE_STEPS == 1:
            self._inbox.append(Alive(info.paused))
        if info.paused:
            return
        time, pose = end - length, self._body.world_pose(ecm)
        if pose is not None:
            at, turn = pose.pos(), pose.rot()
            T_map_base = Transform((at.x(), at.y(), at.z()), (turn.x(), turn.y(), turn.z(), turn.w()))
            self._inbox.append(Placement(time, T_map_base))
        self._where, self._speeds = {}, {}
        for name, joint in self._joints.items():
            position, velocity = joint.position(ecm), joint.velocity(ecm)
            if position and velocity:
                self._where[name], self._speeds[name] = position[0], velocity[0]
        if self._where:
            self._inbox.append(JointReadings(time, self._where, self._speeds))
        self._inbox.append(Tick(end))

    def act(self, info: UpdateInfo, ecm: EntityComponentManager) -> None:
        """Set the joints, and a requested pose, for the next step."""
        if self._T_map_model is not None:
            T_map_model, self._T_map_model = self._T_map_model, None
            self._model.set_world_pose_cmd(ecm, _pose3d(T_map_model))
        length = info.dt.total_seconds()
        if info.paused or length <= 0.0:
            return
        for name, velocity in zip(self._wheels, self._velocities, strict=True):
            self._joints[name].set_velocity(ecm, [velocity])
        for name, target in zip(self._steering, self._positions or (), strict=False):
            if name in self._where:
                self._joints[name].set_velocity(ecm, [(target - self._where[name]) / length])

    @staticmethod
    def step_begins(info: UpdateInfo) -> int:
        """Start of the next step [ns]."""
        return _nanoseconds(info.sim_time) - _nanoseconds(info.dt)

    def columns(self) -> list[str]:
        """Names of the columns of :meth:`row`."""
        joints = [*self._wheels, *self._steering]
        return ["time [ns]", *(f"{name} told" for name in joints), *(f"{name} was" for name in joints)]

    def row(self, info: UpdateInfo) -> list[float]:
        """Start of the next step, the joints' commands for it and their states before it.

        They are velocities of wheels [rad/s] and positions of steering joints [rad].
        """
        commanded = [*self._velocities, *(self._positions or [math.nan] * len(self._steering))]
        was = [self._speeds.get(name, math.nan) for name in self._wheels]
        was += [self._where.get(name, math.nan) for name in self._steering]
        return [self.step_begins(info), *commanded, *was]

    def stand(self) -> None:
        """Stop the wheels until the next command."""
        self._velocities = [0.0] * len(self._wheels)

    # ------------------------------------------------------------------ the plant's side

    def start(self, inbox: ReadingQueue, wake: Callable[[], None]) -> None:
        """Set the inbox; ``wake`` is not used, because the node runs when Gazebo calls it."""
        self._inbox = inbox

    def send(self, velocities: Sequence[float], positions: Sequence[float]) -> None:
        """Set the joints' commands from the next step on."""
        self._velocities, self._positions = velocities, positions

    def set_pose(self, T_map_model: Transform) -> None:
        """Place the robot's model at a pose before the next step."""
        self._T_map_model = T_map_model

    def pause(self, paused: bool) -> None:
        """Pause or resume the world after the next step; its service is in this process and responds at once."""
        if self._gazebo is None:
            self._gazebo = bindings.node()
        bindings.call(self._gazebo, self._world, world_services.pause(paused))


def _pose3d(pose: Transform) -> Any:
    x, y, z, w = pose.orientation
    return bindings.math().Pose3d(*pose.position, w, x, y, z)


def _nanoseconds(duration: timedelta) -> int:
    """Nanoseconds of a duration of the bindings, which has a resolution of 1 us."""
    return round(duration / timedelta(microseconds=1)) * (NANOSECONDS // 1_000_000)
