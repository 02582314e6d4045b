"""The standard simulator services (package ``simulation_interfaces``), where that package is installed.

They stand under the node's own name, as those of other simulators do: ``/sim_node/step_simulation`` and so on. There is
one entity, the vehicle.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, Protocol

from vds_gz.geometry.attitude import Attitude
from vds_gz.geometry.se2 import Pose
from vds_gz.geometry.so3 import into_body, quaternion
from vds_gz.interface.conversions import set_stamp, yaw_of
from vds_gz.interface.inputs import FARTHEST, attitude_of
from vds_gz.ros.errors import UnknownTypeError
from vds_gz.ros.graph import Graph, Severity
from vds_gz.vehicle.vehicle import Motion

PACKAGE = "simulation_interfaces"
ENTITY = "vehicle"

#: Steps between two messages of an action's feedback.
FEEDBACK_STEPS = 1000


class Simulation(Protocol):
    """What the services ask of the node."""

    def stands(self) -> bool:
        """Whether the simulation is paused."""

    def pause(self, paused: bool) -> str:
        """Hold the vehicle, or let it go on; why not, if it cannot be done."""

    def reset(self, *, time: bool, state: bool) -> str:
        """Start anew: the time, the vehicle, or both; why not, if it cannot be done."""

    def stop(self) -> None:
        """End the node soon."""

    def step(self, count: int) -> str:
        """Do so many steps of a paused simulation; why not, if it cannot be done."""

    def owns_time(self) -> bool:
        """Whether the node itself gives the time."""

    def truth(self) -> tuple[int, Motion, Attitude | None]:
        """The present [ns], where base_link is and how it moves, and how it stands out of the plane."""

    def set_pose(self, pose: Pose, attitude: Attitude | None = None) -> None:
        """Put base_link there; level and as high as it stands where no attitude is given."""

    def stand_still(self) -> None:
        """Take all motion from the vehicle."""


class SimulationServices:
    """The services and the action, as far as this simulator can do what they ask."""

    def __init__(self, graph: Graph, simulation: Simulation, frame: str) -> None:
        """Offer them; ``frame`` is the frame of the world."""
        self._graph = graph
        self._simulation = simulation
        self._frame = frame
        self._result = graph.message(f"{PACKAGE}/msg/Result")
        self._state = graph.message(f"{PACKAGE}/msg/SimulationState")
        for name, kind, serve in (
            ("get_simulator_features", "GetSimulatorFeatures", self._get_features),
            ("get_simulation_state", "GetSimulationState", self._get_state),
            ("set_simulation_state", "SetSimulationState", self._set_state),
            ("step_simulation", "StepSimulation", self._step),
            ("reset_simulation", "ResetSimulation", self._reset),
            ("get_entities", "GetEntities", self._get_entities),
            ("get_entity_state", "GetEntityState", self._get_entity_state),
            ("set_entity_state", "SetEntityState", self._set_entity_state),
        ):
            graph.service(f"~/{name}", f"{PACKAGE}/srv/{kind}", serve)
        self._has_action = graph.action("~/simulate_steps", f"{PACKAGE}/action/SimulateSteps", self._simulate_steps)

    # ------------------------------------------------------------------ the simulation

    def _get_features(self, request: Any, response: Any) -> None:
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
        if self._simulation.owns_time():
            features += [known.SIMULATION_RESET_TIME, known.STEP_SIMULATION_SINGLE, known.STEP_SIMULATION_MULTIPLE]
            if self._has_action:
                features.append(known.STEP_SIMULATION_ACTION)
        known.features = features
        known.custom_info = "vds_gz: one vehicle with realistic actuators"

    def _get_state(self, request: Any, response: Any) -> None:
        state = response.state
        state.state = state.STATE_PAUSED if self._simulation.stands() else state.STATE_PLAYING
        self._ok(response)

    def _set_state(self, request: Any, response: Any) -> None:
        wanted, known = request.state.state, self._state
        if wanted in (known.STATE_PLAYING, known.STATE_PAUSED):
            pause = wanted == known.STATE_PAUSED
            if pause == self._simulation.stands():
                self._fail(response, response.ALREADY_IN_TARGET_STATE, "the simulation is in this state already")
                return
            wrong = self._simulation.pause(pause)
        elif wanted == known.STATE_STOPPED:
            wrong = self._simulation.pause(True)
            wrong = wrong or self._simulation.reset(time=self._simulation.owns_time(), state=True)
        elif wanted == known.STATE_QUITTING:
            wrong = ""
            self._simulation.stop()
        else:
            self._fail(response, response.INCORRECT_TRANSITION, f"state is {wanted}; it must be from 0 to 3")
            return
        self._answer(response, wrong)

    def _step(self, request: Any, response: Any) -> None:
        self._answer(response, self._simulation.step(request.steps))

    def _simulate_steps(self, goal: Any, feedback: Any, result: Any) -> Iterator[None]:
        """Do the steps in portions, with a feedback after each."""
        left = goal.steps
        wrong = ""
        while left and not wrong:
            portion = min(left, FEEDBACK_STEPS)
            wrong = self._simulation.step(portion)
            left -= portion
            feedback.completed_steps, feedback.remaining_steps = goal.steps - left, left
            yield
        self._answer(result, wrong)

    def _reset(self, request: Any, response: Any) -> None:
        scope = request.scope or request.SCOPE_ALL
        time = bool(scope & request.SCOPE_TIME)
        if time and not self._simulation.owns_time():
            if request.scope == request.SCOPE_TIME:
                unsupported = self._result.RESULT_FEATURE_UNSUPPORTED
                self._fail(response, unsupported, "the time is not ours to reset; start with be_reference_clock: true")
                return
            time = False
        wrong = self._simulation.reset(time=time, state=bool(scope & request.SCOPE_STATE))
        self._answer(response, wrong)

    # ------------------------------------------------------------------ the entity

    def _get_entities(self, request: Any, response: Any) -> None:
        try:
            matches = re.search(request.filters.filter, ENTITY) is not None
        except re.error as error:
            reason = f"filter '{request.filters.filter}' is no regular expression: {error}"
            self._fail(response, self._result.RESULT_OPERATION_FAILED, reason)
            return
        response.entities = [ENTITY] if matches else []
        self._ok(response)

    def _get_entity_state(self, request: Any, response: Any) -> None:
        if not self._known(request.entity, response):
            return
        time, motion, attitude = self._simulation.truth()
        state = response.state
        set_stamp(state.header.stamp, time)
        state.header.frame_id = self._frame
        lifted = attitude or Attitude()
        x, y, z, w = quaternion(lifted.roll, lifted.pitch, motion.heading)
        state.pose.position.x, state.pose.position.y, state.pose.position.z = motion.x, motion.y, lifted.z
        turn, linear, angular = state.pose.orientation, state.twist.linear, state.twist.angular
        turn.x, turn.y, turn.z, turn.w = x, y, z, w
        back = (-x, -y, -z, w)
        linear.x, linear.y, linear.z = into_body(back, (motion.v_x, motion.v_y, lifted.v_z))
        angular.x, angular.y, angular.z = into_body(back, (lifted.roll_rate, lifted.pitch_rate, motion.yaw_rate))
        self._ok(response)

    def _set_entity_state(self, request: Any, response: Any) -> None:
        if not self._known(request.entity, response):
            return
        state = request.state
        heading = yaw_of(state.pose.orientation)
        position = state.pose.position
        frame = state.header.frame_id
        linear, angular = state.twist.linear, state.twist.angular
        if frame not in ("", self._frame):
            self._fail(response, response.INVALID_POSE, f"frame_id is '{frame}'; it must be '{self._frame}'")
        elif not math.isfinite(heading) or not _near(position):
            self._fail(response, response.INVALID_POSE, "the pose must be finite, with a quaternion of length 1")
        elif any((linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)):
            reason = "the twist is not zero; velocities come from the actuators and cannot be set"
            self._fail(response, self._result.RESULT_OPERATION_FAILED, reason)
        else:
            self._simulation.stand_still()
            self._simulation.set_pose(Pose(position.x, position.y, heading), attitude_of(state.pose))
            self._ok(response)

    def _known(self, entity: str, response: Any) -> bool:
        if entity == ENTITY:
            return True
        self._fail(response, self._result.RESULT_NOT_FOUND, f"entity is '{entity}'; there is only '{ENTITY}'")
        return False

    # ------------------------------------------------------------------ answers

    def _answer(self, response: Any, wrong: str) -> None:
        if wrong:
            self._fail(response, self._result.RESULT_OPERATION_FAILED, wrong)
        else:
            self._ok(response)

    def _ok(self, response: Any) -> None:
        response.result.result = self._result.RESULT_OK

    def _fail(self, response: Any, code: int, reason: str) -> None:
        response.result.result = code
        response.result.error_message = reason


def _near(position: Any) -> bool:
    return all(abs(part) <= FARTHEST for part in (position.x, position.y, position.z))


def offer(graph: Graph, simulation: Simulation, frame: str) -> SimulationServices | None:
    """Offer the services, or say in the log (at debug level) that the package is not there."""
    try:
        return SimulationServices(graph, simulation, frame)
    except UnknownTypeError:
        graph.log(Severity.DEBUG, f"package {PACKAGE} is not installed; its services are not offered")
        return None
