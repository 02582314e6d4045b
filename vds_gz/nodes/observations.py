"""Outputs at the publish rate: each is sent as soon as the vehicle's state at its time is known."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from vds_gz.description.urdf_reader import BASE_LINK, Robot, UrdfJoint
from vds_gz.geometry import Pose
from vds_gz.interface.outputs import FrameNames, Outputs, Snapshot
from vds_gz.nodes.preparation import Preparation
from vds_gz.parameters.node import NodeParameters
from vds_gz.plant.base import Plant
from vds_gz.ros.graph import Graph
from vds_gz.vehicle.command import CONTROL
from vds_gz.vehicle.model import ActuatorState, JointStates
from vds_gz.vehicle.vehicle import Motion

if TYPE_CHECKING:
    from vds_gz.interface.outputs import AmclOutput
    from vds_gz.interface.reports import Reports
    from vds_gz.interface.world_topics import ContactsOutput
    from vds_gz.sensing.amcl import Amcl
    from vds_gz.sensing.estimate import StateEstimator

#: Outputs that may wait until the plant has observed their time; older ones are dropped.
WAITING = 50

#: Stand for joints without subscribers.
NO_JOINTS = JointStates((), ())


class StateOutputs:
    """The topics of a vehicle's state.

    Attributes:
        amcl: The simulated AMCL; None in another style of localization.
        left_out: Number of outputs that were dropped because the plant did not observe their time.
    """

    def __init__(self, graph: Graph, parameters: NodeParameters, plant: Plant) -> None:
        """Announce the topics. Modules for localization, Autoware's vehicles and worlds are imported only when used."""
        self._graph = graph
        self._parameters = parameters
        self._plant = plant
        self._awaiting: deque[tuple[int, Sequence[ActuatorState]]] = deque()
        self.left_out = 0
        vehicle, frames = plant.vehicle, FrameNames.of(parameters)
        self.amcl: Amcl | None = None
        self._estimator: StateEstimator | None = None
        self._amcl_output: AmclOutput | None = None
        self._reports: Reports | None = None
        self._contacts: ContactsOutput | None = None
        measures = CONTROL in vehicle.model.accepts
        if parameters.simulate_localization or measures:
            from vds_gz.sensing.estimate import StateEstimator

            self._estimator = StateEstimator(parameters, measures=measures)
            self.amcl = self._estimator.amcl
        joints = [joint.name for joint in vehicle.model.joints(parameters.vehicle)]
        self._outputs = Outputs(
            graph,
            frames,
            joints,
            vehicle.model.actuators,
            parameters.fixed_odom,
            plant.flat,
            localized_elsewhere=self.amcl is not None or parameters.localization.external,
        )
        if self.amcl is not None:
            from vds_gz.interface.outputs import AmclOutput

            self._amcl_output = AmclOutput(graph, frames, parameters.localization.amcl.transform_tolerance)
        if measures:
            from vds_gz.interface.reports import Reports

            self._reports = Reports(graph, vehicle, frames.base, parameters.actuation_messages)
        if plant.contacts is not None:
            from vds_gz.interface.world_topics import contacts_output

            self._contacts = contacts_output(graph, frames.map, vehicle.model.name)

    def publish_latched(self, time: int, preparation: Preparation) -> None:
        """Send the latched messages at a simulated time [ns]: the URDF, the mounts of the sensors, and the world."""
        self._outputs.publish_latched(time, preparation.urdf, _mounts(self._parameters, preparation.urdf))
        if preparation.scene is not None:
            from vds_gz.interface.world_topics import publish_world

            publish_world(self._graph, FrameNames.of(self._parameters).map, preparation.scene.visuals.things)

    def publish(self, time: int, held: bool, actuators: Sequence[ActuatorState] = ()) -> None:
        """Send the outputs of an instant.

        Args:
            time: In simulated time [ns].
            held: The vehicle is paused, so nothing moves.
            actuators: States of all actuators then; by default their present states.
        """
        plant, outputs = self._plant, self._outputs
        if not actuators and (outputs.references.subscribed() or outputs.states.subscribed()):
            actuators = self._actuators()
        motion = plant.motion(time)
        if held:
            motion = Motion(motion.x, motion.y, motion.heading, 0.0, 0.0, 0.0)
        joints = plant.joint_states(time) if outputs.joints.subscribed() else NO_JOINTS
        attitude = None if plant.flat else plant.attitude(time)
        snapshot = Snapshot(time, motion, motion, (0.0, 0.0), motion.v_x, None, joints, actuators, None, attitude)
        if self._estimator is not None:
            snapshot = self._estimated(self._estimator, snapshot)
        if self._contacts is not None:
            self._contacts.publish(time, plant.contacts or ())
        for output in outputs.outputs:
            if output.subscribed():
                output.send(output.write(time, output.values(snapshot)))

    def note(self, time: int) -> None:
        """Let the present, at a simulated time [ns], be sent once the plant has observed that time."""
        self._awaiting.append((time, self._actuators()))

    def publish_seen(self, held: bool) -> None:
        """Send all waiting instants that the plant has observed; see :meth:`publish`."""
        while self._awaiting and self._plant.seen(self._awaiting[0][0]):
            time, actuators = self._awaiting.popleft()
            self.publish(time, held, actuators)
        while len(self._awaiting) > WAITING:
            self._awaiting.popleft()
            self.left_out += 1

    def forget(self) -> None:
        """Drop all waiting instants after a jump of time."""
        self._awaiting.clear()

    def set_pose(self, pose: Pose) -> None:
        """The vehicle was moved to another pose."""
        if self._estimator is not None:
            self._estimator.set_pose(pose)

    def reset(self, pose: Pose) -> None:
        """The vehicle was reset to a pose."""
        if self._estimator is not None:
            self._estimator.reset(pose)

    def configure(self, parameters: NodeParameters) -> None:
        """Take new parameters."""
        self._parameters = parameters
        if self._estimator is not None:
            self._estimator.configure(parameters)

    def _actuators(self) -> Sequence[ActuatorState]:
        vehicle = self._plant.vehicle
        return vehicle.model.actuator_states(vehicle.coefficients, vehicle.state)

    def _estimated(self, estimator: StateEstimator, snapshot: Snapshot) -> Snapshot:
        """The same instant by the vehicle's own estimate; also publishes AMCL's results and Autoware's reports."""
        motion, reports = snapshot.motion, self._reports
        truth = Pose(motion.x, motion.y, motion.heading)
        steering = reports.steering() if reports else 0.0
        seen = estimator.update(snapshot.time, truth, motion.v_x, steering, 1.0 / self._parameters.pub_rate)
        snapshot = snapshot._replace(odom=seen.odom, odom_variance=seen.odom_variance, map_to_odom=seen.map_to_odom)
        if self._amcl_output is not None:
            for scan in seen.scans:
                self._amcl_output.publish(scan)
        if reports is not None:
            reports.publish(snapshot, seen.speed, seen.steering)
            snapshot = snapshot._replace(odom_speed=seen.speed)
        return snapshot


def _mounts(parameters: NodeParameters, description: str) -> list[UrdfJoint]:
    """The fixed joints of a vehicle with sensors.

    With another ``base_frame``, another description defines the vehicle's parts, and only the sensors' joints are
    returned.
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
