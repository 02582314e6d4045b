"""What the vehicle shows of itself at the publish rate: each instant as soon as it is known where the vehicle was."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from vds_gz.description.urdf_reader import Joint, Robot
from vds_gz.description.urdf_writer import BASE_LINK
from vds_gz.geometry.se2 import Pose
from vds_gz.interface.amcl import AmclOutput
from vds_gz.interface.contacts import ContactsOutput
from vds_gz.interface.outputs import Frames, Output, Outputs
from vds_gz.interface.reports import report_of, report_outputs
from vds_gz.interface.snapshot import Snapshot
from vds_gz.parameters.node import NodeParameters
from vds_gz.plant.base import Plant
from vds_gz.plant.in_world import WorldPlant
from vds_gz.ros.errors import UnknownTypeError
from vds_gz.ros.graph import Graph, Severity
from vds_gz.sensing.estimate import StateEstimator
from vds_gz.vehicle.autoware.reports import steering_report
from vds_gz.vehicle.command import CONTROL
from vds_gz.vehicle.model import ActuatorState
from vds_gz.vehicle.vehicle import Motion

#: Instants that may wait for what moves the vehicle; older ones are left out.
WAITING = 50


class Observations:
    """The topics of a vehicle's state.

    Attributes:
        amcl: What stands in for AMCL; none in another style of localization.
        left_out: Instants that were never sent, because what moves the vehicle never reported where it was then.
    """

    def __init__(self, graph: Graph, parameters: NodeParameters, plant: Plant) -> None:
        """Announce the topics."""
        self._parameters = parameters
        self._plant = plant
        self._awaiting: deque[tuple[int, tuple[ActuatorState, ...]]] = deque()
        self.left_out = 0
        vehicle, frames = plant.vehicle, Frames.of(parameters)
        self._measures = CONTROL in vehicle.model.accepts
        self._perception = StateEstimator(parameters, measures=self._measures)
        joints = [joint.name for joint in vehicle.model.joints(parameters.vehicle)]
        self.amcl = self._perception.amcl
        self._outputs = Outputs(
            graph,
            frames,
            joints,
            vehicle.model.actuators,
            parameters.fixed_odom,
            plant.flat,
            localized_elsewhere=self.amcl is not None or parameters.localization.external,
        )
        tolerance = parameters.localization.amcl.transform_tolerance
        self._amcl_output = AmclOutput(graph, frames, tolerance) if self.amcl is not None else None
        self._reports: list[Output] = []
        if self._measures:
            self._reports = report_outputs(graph, vehicle, frames.base, parameters.actuation_messages)
        self._contacts = _contacts_output(graph, frames.map, plant)

    def publish_latched(self, time: int, description: str) -> None:
        """Send what is said once, at a simulated time [ns]: the URDF, and where the sensors are mounted."""
        self._outputs.publish_latched(time, description, _mounts(self._parameters, description))

    def note(self, time: int) -> None:
        """Let the vehicle's present, at a simulated time [ns], be an instant that goes out."""
        vehicle = self._plant.vehicle
        self._awaiting.append((time, vehicle.model.actuator_states(vehicle.coefficients, vehicle.state)))

    def publish(self, paused: bool) -> None:
        """Send all instants for which it is known where the vehicle was; while it is paused, nothing moves."""
        while self._awaiting and self._plant.seen(self._awaiting[0][0]):
            self._publish(*self._awaiting.popleft(), paused)
        while len(self._awaiting) > WAITING:
            self._awaiting.popleft()
            self.left_out += 1

    def forget(self) -> None:
        """Time is another one: no instant waits any more."""
        self._awaiting.clear()

    def set_pose(self, pose: Pose) -> None:
        """The vehicle was lifted and put elsewhere."""
        self._perception.set_pose(pose)

    def reset(self, pose: Pose) -> None:
        """The vehicle restarts at that pose."""
        self._perception.reset(pose)

    def configure(self, parameters: NodeParameters) -> None:
        """Go on with other parameters."""
        self._parameters = parameters
        self._perception.configure(parameters)

    def _publish(self, time: int, actuators: tuple[ActuatorState, ...], paused: bool) -> None:
        plant, vehicle = self._plant, self._plant.vehicle
        motion = plant.motion(time)
        if paused:
            motion = Motion(motion.x, motion.y, motion.heading, 0.0, 0.0, 0.0)
        truth = Pose(motion.x, motion.y, motion.heading)
        c, s = vehicle.coefficients, vehicle.state
        steering = steering_report(c, s) if self._measures else 0.0
        seen = self._perception.update(time, truth, motion.v_x, steering, 1.0 / self._parameters.pub_rate)
        snapshot = Snapshot(
            time,
            motion,
            seen.odom,
            seen.odom_variance,
            seen.speed if self._measures else motion.v_x,
            seen.map_to_odom,
            plant.joint_states(time),
            actuators,
            report_of(c, s, seen.speed, seen.steering) if self._measures else None,
            plant.attitude(time),
        )
        for report in self._reports:
            report.publish(snapshot)
        if self._contacts is not None and isinstance(plant, WorldPlant):
            self._contacts.publish(time, plant.contacts)
        self._outputs.publish(snapshot)
        if self._amcl_output is not None:
            for scan in seen.scans:
                self._amcl_output.publish(scan)


def _mounts(parameters: NodeParameters, description: str) -> list[Joint]:
    """The fixed joints of a vehicle with sensors.

    With a ``base_frame`` of its own another description says where the vehicle's parts are, and these are only those of
    the sensors.
    """
    sensors, base = parameters.sensors, parameters.base_frame
    joints = [joint for joint in Robot(description).joints if joint.kind == "fixed"] if sensors else []
    if base == BASE_LINK:
        return joints
    return [
        replace(joint, parent=base) if joint.child in sensors else joint
        for joint in joints
        if joint.child in sensors or joint.parent in sensors
    ]


def _contacts_output(graph: Graph, frame: str, plant: Plant) -> ContactsOutput | None:
    """Where contacts go, of a vehicle that stands in a world of ours."""
    if not isinstance(plant, WorldPlant):
        return None
    try:
        return ContactsOutput(graph, frame, graph.namespace.strip("/") or plant.vehicle.model.name)
    except UnknownTypeError as error:
        graph.log(Severity.INFO, f"contacts are not published: {error}")
        return None
