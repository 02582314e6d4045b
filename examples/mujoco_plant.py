"""A plant of another package: MuJoCo moves the vehicle, with real contacts of its wheels.

    pip install 'mujoco>=3.17'
    python examples/mujoco_plant.py

The vehicle's actuators command the joints of the robot description, as in Gazebo: wheels have a velocity controller,
steering hinges a position controller. In a package of yours, an entry point of the group ``vds_gz.plants`` makes
``backend: mujoco`` known to the node, as ``examples/pyproject.toml`` does.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from xml.etree import ElementTree

import mujoco
import numpy as np

import vds_gz
from vds_gz import plant as plants


@dataclass(frozen=True, slots=True)
class MujocoParameters(plants.ParameterGroup):
    """The physics and the controllers of the joints."""

    time_step: float = plants.real(0.001, "s", "longest step of the physics", positive=True, maximum=0.01)
    lag: float = plants.real(
        0.002, "s", "time constant with which the joints' controllers follow the actuators", positive=True, maximum=1.0
    )


class MujocoPlant(plants.Plant):
    """A vehicle whose actuators command joints in MuJoCo."""

    name = "mujoco"
    flat = False

    def __init__(self, setup: plants.PlantSetup) -> None:
        """Build robot and world."""
        assert isinstance(setup.own, MujocoParameters)
        self.vehicle = vehicle = setup.vehicle
        self._steps = math.ceil(1.0 / (vehicle.step_rate * setup.own.time_step))
        self._joints = vehicle.model.joints(vehicle.parameters)
        self.place = f"MuJoCo {mujoco.__version__}, {f'world {setup.scene.name}' if setup.scene else 'a plane'}"
        spec = mujoco.MjSpec.from_string(setup.urdf)
        spec.option.timestep = 1.0 / (vehicle.step_rate * self._steps)
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.impratio = 10.0
        stiff = [2.0 * spec.option.timestep, 1.0]  # the stiffest contacts that are stable, in which tyres creep least
        robot = self._robot(spec, setup)
        world = _world(spec, setup.scene)
        for k, (shape, friction) in enumerate(robot):
            for thing, ground in world:  # the smaller friction counts, as in Gazebo; the robot does not touch itself
                mu = [min(friction, ground)] * 2 + [0.0] * 3  # along two axes; of spinning; of rolling about two axes
                spec.add_pair(name=f"{k} {thing}", geomname1=shape, geomname2=thing, friction=mu, solref=stiff)
        self._model = spec.compile()
        self._data = mujoco.MjData(self._model)
        self._positions = [self._model.joint(joint.name).qposadr[0] for joint in self._joints]
        self._velocities = [self._model.joint(joint.name).dofadr[0] for joint in self._joints]
        self._tune(setup.own.lag)
        self._before: tuple[int, plants.BodyVelocity] | None = None

    def _robot(self, spec: mujoco.MjSpec, setup: plants.PlantSetup) -> list[tuple[str, float]]:
        """Let the robot move freely, add its actuators, and give each collision shape a name and its friction."""
        spec.body("base_link").add_freejoint()
        for joint in self._joints:
            spec.joint(joint.name).limited = False  # the actuators have limits
            spec.add_actuator(
                trntype=mujoco.mjtTrn.mjTRN_JOINT, target=joint.name, biastype=mujoco.mjtBias.mjBIAS_AFFINE
            )
        frictions = {}
        for link in ElementTree.fromstring(setup.urdf).iter("link"):
            if (friction := link.find("contact/lateral_friction")) is not None:
                frictions[link.get("name")] = float(friction.get("value", ""))
        shapes = []
        for body in spec.bodies:
            for geom in body.geoms:
                if body.name not in frictions:
                    raise vds_gz.ParameterError(
                        f"link '{body.name}' of 'model' has a collision and no contact/lateral_friction; draw it, but "
                        "not for wheels with rollers, which pull in one direction only: they need another 'backend'"
                    )
                geom.name = f"robot {len(shapes)}"
                geom.contype = geom.conaffinity = 0  # the pairs alone touch
                shapes.append((geom.name, frictions[body.name]))
        return shapes

    def _tune(self, lag: float) -> None:
        """Gains with which the wheels move the whole robot, and hinges their links, with a time constant [s]."""
        model, vehicle = self._model, self.vehicle
        radius = 0.5 * vehicle.model.geometry(vehicle.parameters).tire_diameter
        wheels = sum(joint.command == "velocity" for joint in self._joints)
        for k, (joint, dof) in enumerate(zip(self._joints, self._velocities, strict=True)):
            if joint.command is None:  # the body's motion turns it
                stiffness, damping = 0.0, 0.0
            elif joint.command == "velocity":
                stiffness, damping = 0.0, (model.body_mass.sum() * radius**2 / wheels + model.dof_M0[dof]) / lag
            else:  # critically damped; the command has the velocity's part, so a moving reference is not followed late
                stiffness, damping = model.dof_M0[dof] / lag**2, 2.0 * model.dof_M0[dof] / lag
            model.actuator_gainprm[k, 0] = 1.0
            model.actuator_biasprm[k, :3] = 0.0, -stiffness, -damping
        self._stiffness, self._damping = -model.actuator_biasprm[:, 1], -model.actuator_biasprm[:, 2]

    def advance(self, time: int) -> None:
        """Advance actuators and physics, in steps of the vehicle."""
        vehicle = self.vehicle
        end = vehicle.steps_until(time)
        while vehicle.steps < end:
            if vehicle.steps == end - 1:
                self._before = vehicle.time_of(end), self._velocity()
            vehicle.advance(vehicle.time_of(vehicle.steps + 1))
            commanded = vehicle.model.joint_states(vehicle.coefficients, vehicle.state)
            self._data.ctrl = self._stiffness * commanded.positions + self._damping * commanded.velocities
            mujoco.mj_step(self._model, self._data, self._steps)

    def _orientation(self) -> tuple[float, float, float, float]:
        w, x, y, z = self._data.qpos[3:7].tolist()
        return x, y, z, w

    def _velocity(self) -> plants.BodyVelocity:
        """Velocity of base_link in its own axes; MuJoCo has the linear one in the world's, and the angular one here."""
        linear, angular = self._data.qvel[:3].tolist(), self._data.qvel[3:6].tolist()
        return plants.BodyVelocity(plants.into_body(self._orientation(), tuple(linear)), tuple(angular))

    def motion(self, time: int) -> plants.Motion:
        """Pose from above, and velocity."""
        (v_x, v_y, _), (_, _, yaw_rate) = self._velocity()
        x, y = self._data.qpos[:2].tolist()
        return plants.Motion(x, y, plants.angles(self._orientation())[2], v_x, v_y, yaw_rate)

    def attitude(self, time: int) -> plants.Attitude:
        """Height, roll and pitch."""
        (_, _, v_z), (roll_rate, pitch_rate, _) = self._velocity()
        roll, pitch, _ = plants.angles(self._orientation())
        return plants.Attitude(float(self._data.qpos[2]), roll, pitch, v_z, roll_rate, pitch_rate)

    def body(self, time: int) -> plants.BodyState:
        """The body in space; its acceleration is the mean of the last step."""
        end, velocity = self._before or (None, None)
        before = velocity if end == self.vehicle.time else None
        return plants.body_state(time, self.motion(time), self.attitude(time), before, 1.0 / self.vehicle.step_rate)

    def joint_states(self, time: int) -> plants.JointStates:
        """The joints as they are in MuJoCo."""
        return plants.JointStates(self._data.qpos[self._positions].tolist(), self._data.qvel[self._velocities].tolist())

    def set_pose(self, pose: plants.Pose, attitude: plants.Attitude | None = None) -> None:
        """Place base_link; it keeps its velocity in its own axes."""
        linear = plants.into_body(self._orientation(), tuple(self._data.qvel[:3].tolist()))
        attitude = attitude or plants.Attitude(float(self._data.qpos[2]))
        x, y, z, w = orientation = plants.quaternion(attitude.roll, attitude.pitch, pose.heading)
        self._data.qpos[:7] = pose.x, pose.y, attitude.z, w, x, y, z
        self._data.qvel[:3] = plants.into_world(orientation, linear)
        self._before = None

    def stand_still(self, time: int) -> None:
        """Stop the body and all joints; the steering is straight, as the actuators at rest."""
        self.vehicle.stand_still(time)
        self._data.qvel[:] = 0.0
        for joint, position in zip(self._joints, self._positions, strict=True):
            if joint.kind == "steering":
                self._data.qpos[position] = 0.0
        self._before = None

    def reset(self) -> plants.Pose:
        """Start again at the origin."""
        self.vehicle.reset()
        mujoco.mj_resetData(self._model, self._data)
        self._before = None
        return plants.Pose()

    def status(self) -> plants.Status:
        """An error after the physics became unstable, because MuJoCo then resets the robot."""
        unstable = sum(self._data.warning[kind].number for kind in _UNSTABLE)
        if unstable:
            text = f"MuJoCo was unstable {unstable} times and put the robot back to its start; lower 'time_step'"
            return plants.Status(plants.Level.ERROR, text)
        return plants.Status()


_UNSTABLE = (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL, mujoco.mjtWarning.mjWARN_BADQACC)


def _world(spec: mujoco.MjSpec, scene: vds_gz.Scene | None) -> list[tuple[str, float]]:
    """Add the world's collision shapes, or a plane; return their names and frictions."""
    if scene is None:
        spec.worldbody.add_geom(
            name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], contype=0, conaffinity=0
        )
        return [("ground", math.inf)]
    spec.option.gravity = scene.gravity
    shapes = []
    for k, thing in enumerate(scene.collisions.things):
        geom = spec.worldbody.add_geom(name=f"{k} {thing.name}", contype=0, conaffinity=0, pos=thing.pose[:3, 3])
        mujoco.mju_mat2Quat(geom.quat, np.ascontiguousarray(thing.pose[:3, :3]).ravel())
        match thing.shape:
            case plants.Box(size):
                geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, [0.5 * length for length in size]
            case plants.Cylinder(radius, length):
                geom.type, geom.size = mujoco.mjtGeom.mjGEOM_CYLINDER, [radius, 0.5 * length, 0]
            case plants.Capsule(radius, length):
                geom.type, geom.size = mujoco.mjtGeom.mjGEOM_CAPSULE, [radius, 0.5 * length, 0]
            case plants.Ellipsoid(radii):
                geom.type, geom.size = mujoco.mjtGeom.mjGEOM_ELLIPSOID, radii
            case plants.HalfSpace():
                geom.type, geom.size = mujoco.mjtGeom.mjGEOM_PLANE, [0, 0, 1]
            case _:
                raise vds_gz.ParameterError(
                    f"'{thing.name}' in 'world' is a mesh, of which MuJoCo takes the convex hull; use a world without, "
                    "or another 'backend'"
                )
        shapes.append((geom.name, thing.friction))
    return shapes


MUJOCO = plants.PlantType(MujocoPlant, MujocoParameters)


def main() -> None:
    """Drive several vehicles to both sides, beside the kinematics."""
    print("vehicle        command              MuJoCo               kinematics           apart    real time")
    for preset, speed, turn in (("indoor_robot", 0.4, 0.5), ("forklift", 0.8, 0.3), ("ackermann_car", 5.0, 0.4)):
        values = {"twist_reference_max_oldness": 1e3}  # s
        plant = MujocoPlant(plants.plant_setup(vds_gz.load_parameters(preset, values), MujocoParameters()))
        ideal = vds_gz.load_vehicle(preset, values)
        rates, seconds = [(speed, turn)], 0.0
        for k, side in enumerate((1, -1, 1, -1, 0)):
            for vehicle in (plant.vehicle, ideal):
                vehicle.enter(vds_gz.twist(speed, 0.0, side * turn), k * 4_000_000_000)
            start = time.process_time()
            plant.advance((k + 1) * 4_000_000_000)
            seconds += time.process_time() - start
            ideal.advance((k + 1) * 4_000_000_000)
            motions = plant.motion(plant.vehicle.time), ideal.motion()
            if k == 0:
                rates += [(motion.v_x, motion.yaw_rate) for motion in motions]
        columns = "  ".join(f"{v_x:.4f} m/s {yaw_rate:.4f}/s" for v_x, yaw_rate in rates)
        apart = math.dist(*((motion.x, motion.y) for motion in motions))
        print(f"{preset:13}  {columns}  {apart:.3f} m  {20.0 / seconds:.0f}x")


if __name__ == "__main__":
    main()
