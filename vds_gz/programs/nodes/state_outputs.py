"""Publishes the state of the vehicle. If the plant is another simulator, it publishes what the plant has observed."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from operator import methodcaller

from vds_gz.core.parameters.live_parameters import LiveParameters
from vds_gz.core.plant.base import Plant
from vds_gz.core.ros.graph import Graph
from vds_gz.core.vehicle.vehicle_model import ActuatorState, JointStates
from vds_gz.programs.interface.outputs import FrameNames, Outputs, Snapshot
from vds_gz.programs.nodes.optional_outputs import make_optional_outputs

#: Instants that may wait until the plant has observed them; older ones are dropped.
WAITING = 50

#: In place of the joint states while they have no subscribers.
NO_JOINTS = JointStates((), ())

#: The number of an output's subscribers.
_SUBSCRIBED = methodcaller("subscribed")


class StateOutputs:
    """The topics of the vehicle's state.

    Attributes:
        outputs: The topics that every vehicle has.
        optional: Those that only some vehicles have; None without any.
        amcl: The simulated AMCL; None in another style of localization.
        dropped: Number of instants that the plant did not observe.
    """

    def __init__(self, graph: Graph, live: LiveParameters, plant: Plant) -> None:
        parameters, model = live.now, plant.vehicle.model
        self._plant = plant
        self.optional = make_optional_outputs(graph, live, plant)
        self.amcl = self.optional.amcl if self.optional else None
        self.outputs = Outputs(
            graph,
            FrameNames.of(parameters),
            [joint.name for joint in model.joints(parameters.vehicle)],
            model.actuators_of(parameters.vehicle),
            parameters.fixed_odom,
            plant.flat,
            localized_elsewhere=self.amcl is not None or parameters.localization.external,
            publish_tf=parameters.publish_tf,
            knows_pose=plant.knows_pose,
        )
        self.dropped = 0
        self._waiting: deque[tuple[int, Sequence[ActuatorState]]] = deque()

    def publish(
        self, time: int, interval: float, *, stands: bool, actuators: Sequence[ActuatorState] | None = None
    ) -> None:
        """Publish the state at an instant [ns], an interval [s] after the last one.

        Args:
            time, interval: The instant, and the period of outputs.
            stands: The vehicle is held: all velocities are 0.
            actuators: States of the actuators at this instant; by default the present ones.
        """
        plant, outputs = self._plant, self.outputs
        subscribed = list(filter(_SUBSCRIBED, outputs.outputs))
        if actuators is None:
            needed = outputs.references in subscribed or outputs.states in subscribed
            actuators = self._actuators() if needed else ()
        motion = plant.motion(time)
        joints = plant.joint_states(time) if outputs.joints in subscribed else NO_JOINTS
        attitude = None if plant.flat else plant.attitude(time)
        if stands:
            motion, joints = motion.at_rest(), joints.at_rest()
            attitude = None if attitude is None else attitude.at_rest()
            actuators = [actuator.at_rest() for actuator in actuators]
        snapshot = Snapshot(time, motion, None, joints, actuators, (), attitude)
        if self.optional is not None:
            snapshot = self.optional.publish(snapshot, interval)
        for output in subscribed:
            output.send(output.write(time, output.values(snapshot)))

    def wait_for(self, time: int) -> None:
        """Publish an instant [ns] with the present actuators as soon as the plant has observed it."""
        self._waiting.append((time, self._actuators()))

    def publish_observed(self, interval: float, *, stands: bool) -> None:
        """Publish all waiting instants that the plant has observed."""
        while self._waiting and self._plant.seen(self._waiting[0][0]):
            time, actuators = self._waiting.popleft()
            self.publish(time, interval, stands=stands, actuators=actuators)
        while len(self._waiting) > WAITING:
            self._waiting.popleft()
            self.dropped += 1

    def forget(self) -> None:
        """Forget the instants that wait."""
        self._waiting.clear()

    def _actuators(self) -> Sequence[ActuatorState]:
        vehicle = self._plant.vehicle
        return vehicle.model.actuator_states(vehicle.coefficients, vehicle.state)
