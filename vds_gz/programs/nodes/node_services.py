"""The node's services: its own, the standard simulator services, and AMCL's, which Nav2's ``BasicNavigator`` needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from vds_gz.core.errors import FailureError, UnknownTypeError, VdsGzError
from vds_gz.core.geometry import Attitude, Pose, into_world, quaternion
from vds_gz.core.ros.graph import Graph, Message, Severity
from vds_gz.core.ros.messages.fields import set_stamp, yaw_of
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.initial_pose import FARTHEST, attitude_of
from vds_gz.programs.nodes.name_filter import occurs
from vds_gz.programs.nodes.simulation import Simulation

if TYPE_CHECKING:
    from vds_gz.core.sensing.amcl import Amcl


PACKAGE = "simulation_interfaces"
ENTITY = "vehicle"

#: Steps between two messages of an action's feedback.
FEEDBACK_STEPS = 1000


class RefusedError(VdsGzError, RuntimeError):
    """A request is refused, with a result code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class SimulationServices:
    """The services and the action that this simulator supports."""

    def __init__(self, graph: Graph, simulation: Simulation, frame: str) -> None:
        """Offer the services; ``frame`` is the frame of the world."""
        self._graph = graph
        self._simulation = simulation
        self._frame = frame
        self._result = graph.message(f"{PACKAGE}/msg/Result")
        self._state = graph.message(f"{PACKAGE}/msg/SimulationState")
        for name, kind, serve in (
            ("get_simulation_state", "GetSimulationState", self._get_state),
            ("set_simulation_state", "SetSimulationState", self._set_state),
            ("step_simulation", "StepSimulation", self._step),
            ("reset_simulation", "ResetSimulation", self._reset),
            ("get_entities", "GetEntities", self._get_entities),
            ("get_entity_state", "GetEntityState", self._get_entity_state),
            ("set_entity_state", "SetEntityState", self._set_entity_state),
        ):
            graph.service(f"~/{name}", f"{PACKAGE}/srv/{kind}", self._responding(serve))
        graph.service("~/get_simulator_features", f"{PACKAGE}/srv/GetSimulatorFeatures", self._get_features)
        self._has_action = graph.action("~/simulate_steps", f"{PACKAGE}/action/SimulateSteps", self._simulate_steps)

    def _get_features(self, request: Message, response: Message) -> None:
        known = response.features
        features = [
            known.ENTITY_STATE_GETTING,
            known.ENTITY_STATE_SETTING,
            known.SIMULATION_RESET,
            known.SIMULATION_RESET_STATE,
            known.SIMULATION_STATE_GETTING,
            known.SIMULATION_STATE_SETTING,
            known.SIMULATION_STATE_PAUSE,
        ]
        if self._simulation.clock.owns_time:
            features += [known.SIMULATION_RESET_TIME, known.STEP_SIMULATION_SINGLE, known.STEP_SIMULATION_MULTIPLE]
            if self._has_action:
                features.append(known.STEP_SIMULATION_ACTION)
        known.features = features
        known.custom_info = "vds_gz: one vehicle with realistic actuators"

    def _get_state(self, request: Message, response: Message) -> None:
        state = response.state
        state.state = state.STATE_PAUSED if self._simulation.paused else state.STATE_PLAYING

    def _set_state(self, request: Message, response: Message) -> None:
        state, known = request.state.state, self._state
        if state in (known.STATE_PLAYING, known.STATE_PAUSED):
            pause = state == known.STATE_PAUSED
            if pause == self._simulation.paused:
                raise RefusedError(response.ALREADY_IN_TARGET_STATE, "the simulation is in this state already")
            self._simulation.pause(pause)
        elif state == known.STATE_STOPPED:
            self._simulation.pause(True)
            self._simulation.reset(time=self._simulation.clock.owns_time, state=True)
        elif state == known.STATE_QUITTING:
            self._simulation.stop()
        else:
            right = "0 (stopped), 1 (playing), 2 (paused) or 3 (quitting)"
            raise RefusedError(response.INCORRECT_TRANSITION, f"state is {state}; it must be {right}")

    def _step(self, request: Message, response: Message) -> None:
        self._simulation.step(request.steps)

    def _simulate_steps(self, goal: Message, feedback: Message, result: Message) -> Iterator[None]:
        """Do the steps in portions, with feedback after each."""
        left = goal.steps
        try:
            while left:
                portion = min(left, FEEDBACK_STEPS)
                self._simulation.step(portion)
                left -= portion
                feedback.completed_steps, feedback.remaining_steps = goal.steps - left, left
                yield
            self._ok(result)
        except VdsGzError as error:
            self._fail(result, error)

    def _reset(self, request: Message, response: Message) -> None:
        scope = request.scope or request.SCOPE_ALL
        time = bool(scope & request.SCOPE_TIME)
        if time and not self._simulation.clock.owns_time:
            if request.scope == request.SCOPE_TIME:
                unsupported = self._result.RESULT_FEATURE_UNSUPPORTED
                reason = "the node does not give the time; to reset it, start the node with be_reference_clock: true"
                raise RefusedError(unsupported, reason)
            time = False
        self._simulation.reset(time=time, state=bool(scope & request.SCOPE_STATE))

    def _get_entities(self, request: Message, response: Message) -> None:
        response.entities = [ENTITY] if occurs(request.filters.filter, ENTITY) else []

    def _get_entity_state(self, request: Message, response: Message) -> None:
        self._check_entity(request.entity)
        plant, state = self._simulation.plant, response.state
        time = plant.vehicle.time
        motion, attitude = plant.motion(time), plant.attitude(time) or Attitude()
        set_stamp(state.header.stamp, time)
        state.header.frame_id = self._frame
        q_map_base = quaternion(attitude.roll, attitude.pitch, motion.heading)
        state.pose.position.x, state.pose.position.y, state.pose.position.z = motion.x, motion.y, attitude.z
        turn, linear, angular = state.pose.orientation, state.twist.linear, state.twist.angular
        turn.x, turn.y, turn.z, turn.w = q_map_base
        velocity_base = motion.v_x, motion.v_y, attitude.v_z
        rates_base = attitude.roll_rate, attitude.pitch_rate, motion.yaw_rate
        linear.x, linear.y, linear.z = into_world(q_map_base, velocity_base)
        angular.x, angular.y, angular.z = into_world(q_map_base, rates_base)

    def _set_entity_state(self, request: Message, response: Message) -> None:
        self._check_entity(request.entity)
        state = request.state
        heading = yaw_of(state.pose.orientation)
        position = state.pose.position
        frame = state.header.frame_id
        linear, angular = state.twist.linear, state.twist.angular
        if frame not in ("", self._frame):
            raise RefusedError(response.INVALID_POSE, f"frame_id is '{frame}'; it must be '{self._frame}'")
        if not math.isfinite(heading) or not all(
            abs(coordinate) <= FARTHEST for coordinate in (position.x, position.y, position.z)
        ):
            reason = f"the pose must be within +-{FARTHEST:g} m, with a quaternion of length 1"
            raise RefusedError(response.INVALID_POSE, reason)
        if any((linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)):
            raise FailureError("the twist is not zero; velocities come from the actuators and cannot be set")
        self._simulation.stand_still()
        self._simulation.set_pose(Pose(position.x, position.y, heading), attitude_of(state.pose))

    def _check_entity(self, entity: str) -> None:
        if entity != ENTITY:
            raise RefusedError(self._result.RESULT_NOT_FOUND, f"entity is '{entity}'; there is only '{ENTITY}'")

    def _responding(self, serve: Callable[[Message, Message], None]) -> Callable[[Message, Message], None]:
        """The callback of a service that fills in the result of its response."""

        def respond(request: Message, response: Message) -> None:
            try:
                serve(request, response)
                self._ok(response)
            except VdsGzError as error:
                self._fail(response, error)

        return respond

    def _ok(self, response: Message) -> None:
        response.result.result = self._result.RESULT_OK

    def _fail(self, response: Message, error: VdsGzError) -> None:
        failed = self._result.RESULT_OPERATION_FAILED
        response.result.result = error.code if isinstance(error, RefusedError) else failed
        response.result.error_message = str(error)


#: States of a managed node: https://design.ros2.org/articles/node_lifecycle.html
UNCONFIGURED, INACTIVE, ACTIVE, FINALIZED = 1, 2, 3, 4
LABELS = {UNCONFIGURED: "unconfigured", INACTIVE: "inactive", ACTIVE: "active", FINALIZED: "finalized"}

#: First and last state of each transition of ``lifecycle_msgs/Transition``.
TRANSITIONS = {
    1: (UNCONFIGURED, INACTIVE),
    2: (INACTIVE, UNCONFIGURED),
    3: (INACTIVE, ACTIVE),
    4: (ACTIVE, INACTIVE),
    5: (UNCONFIGURED, FINALIZED),
    6: (INACTIVE, FINALIZED),
    7: (ACTIVE, FINALIZED),
}


def offer(graph: Graph, simulation: Simulation, frame: str) -> None:
    """Offer all services that control a simulation; ``frame`` is the frame of the world."""
    amcl = simulation.state.amcl
    done = "" if simulation.plant.waits else "requested (a failure would appear in the log): "

    def reset(request: object, response: Message) -> None:
        _respond(response, lambda: simulation.reset(time=False, state=True), f"{done}the vehicle stands where it began")

    def pause(request: Message, response: Message) -> None:
        _respond(response, lambda: simulation.pause(request.data), done + ("paused" if request.data else "running"))

    graph.service(*topics.RESET, reset)
    graph.service(*topics.PAUSE, pause)
    try:
        SimulationServices(graph, simulation, frame)
    except UnknownTypeError:
        graph.log(Severity.DEBUG, f"package {PACKAGE} is not installed; its services are not offered")
    if amcl is not None:
        graph.service(*topics.REINITIALIZE_LOCALIZATION, lambda request, response: amcl.globalise())
        graph.service(*topics.NOMOTION_UPDATE, lambda request, response: amcl.request_update())
        if amcl.parameters.amcl.lifecycle != "none":
            LifeCycle(graph, amcl)


def _respond(response: Message, act: Callable[[], None], done: str) -> None:
    try:
        act()
        response.success, response.message = True, done
    except VdsGzError as error:
        response.success, response.message = False, str(error)


class LifeCycle:
    """The services of a managed node. There is no bond: a manager needs ``bond_timeout: 0.0``."""

    def __init__(self, graph: Graph, amcl: Amcl) -> None:
        self._amcl = amcl
        self._state = ACTIVE if amcl.active else UNCONFIGURED
        graph.service(*topics.AMCL_GET_STATE, self._get_state)
        graph.service(*topics.AMCL_CHANGE_STATE, self._change_state)

    def _get_state(self, request: object, response: Message) -> None:
        response.current_state.id, response.current_state.label = self._state, LABELS[self._state]

    def _change_state(self, request: Message, response: Message) -> None:
        begin, end = TRANSITIONS.get(int(request.transition.id), (None, self._state))
        response.success = begin == self._state
        if not response.success:
            return
        if end == ACTIVE:
            self._amcl.activate()
        elif begin == ACTIVE:
            self._amcl.deactivate()
        if end in (UNCONFIGURED, FINALIZED):
            self._amcl.forget()
        self._state = end
