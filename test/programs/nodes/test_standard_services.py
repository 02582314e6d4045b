"""The standard simulator services, as a client of rclpy calls them on a node in its own process."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.ros

rclpy = pytest.importorskip("rclpy", reason="needs ROS 2 (rclpy)")
srv = pytest.importorskip("simulation_interfaces.srv", reason="the ROS package simulation_interfaces is not installed")

from helpers.processes import PATIENCE  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from simulation_interfaces.action import SimulateSteps  # noqa: E402
from simulation_interfaces.msg import Result, SimulationState  # noqa: E402

STEP = 1_000_000  # ns

REFERENCE = ("-p", "be_reference_clock:=true", "-p", "model:=differential")

#: Actuators that obey at once, so that what a step does is known exactly.
IDEAL = tuple(
    part
    for name in ("dead_time", "time_constant", "max_acceleration")
    for part in ("-p", f"model_params.differential.drive_actuators.{name}:=0.0")
)


class Client:
    """Calls services of the node and waits for their answers."""

    def __init__(self, domain: int) -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node("client", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)

    def close(self) -> None:
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()

    def done(self, future: Any) -> Any:
        self.executor.spin_until_future_complete(future, timeout_sec=PATIENCE)
        assert future.done(), "no answer"
        return future.result()

    def call(self, name: str, kind: str, **fields: Any) -> Any:
        client = self.node.create_client(getattr(srv, kind), f"/sim_node/{name}")
        assert client.wait_for_service(PATIENCE)
        answer = self.done(client.call_async(getattr(srv, kind).Request(**fields)))
        self.node.destroy_client(client)
        return answer

    def state(self) -> int:
        return int(self.call("get_simulation_state", "GetSimulationState").state.state)

    def set_state(self, state: int) -> int:
        wanted = SimulationState(state=state)
        return int(self.call("set_simulation_state", "SetSimulationState", state=wanted).result.result)

    def entity(self) -> Any:
        answer = self.call("get_entity_state", "GetEntityState", entity="vehicle")
        assert answer.result.result == Result.RESULT_OK
        return answer.state

    def now(self) -> int:
        stamp = self.entity().header.stamp
        return int(stamp.sec) * 10**9 + int(stamp.nanosec)

    def simulate_steps(self, steps: int) -> tuple[Any, list[tuple[int, int]]]:
        """The result, and completed and remaining steps of each feedback."""
        seen: list[tuple[int, int]] = []
        client = ActionClient(self.node, SimulateSteps, "/sim_node/simulate_steps")
        assert client.wait_for_server(PATIENCE)

        def note(message: Any) -> None:
            seen.append((message.feedback.completed_steps, message.feedback.remaining_steps))

        goal = self.done(client.send_goal_async(SimulateSteps.Goal(steps=steps), note))
        assert goal.accepted
        result = self.done(goal.get_result_async()).result.result
        client.destroy()
        return result, seen


@pytest.fixture
def client(domain: int) -> Iterator[Client]:
    client = Client(domain)
    yield client
    client.close()


@pytest.fixture
def paused(start: Callable[..., Any], client: Client) -> Client:
    """A client of a node that gives the time, and is paused."""
    start(*REFERENCE, *IDEAL)
    assert client.set_state(SimulationState.STATE_PAUSED) == Result.RESULT_OK
    return client


def test_the_state_is_read_and_set(start: Callable[..., Any], client: Client):
    node = start(*REFERENCE)
    assert client.state() == SimulationState.STATE_PLAYING
    assert client.set_state(SimulationState.STATE_PLAYING) == srv.SetSimulationState.Response.ALREADY_IN_TARGET_STATE
    assert client.set_state(SimulationState.STATE_PAUSED) == Result.RESULT_OK
    assert client.state() == SimulationState.STATE_PAUSED
    before = client.now()
    time.sleep(0.3)
    assert client.now() == before
    assert client.set_state(SimulationState.STATE_PLAYING) == Result.RESULT_OK
    end = time.monotonic() + PATIENCE
    while client.now() <= before:
        assert time.monotonic() < end, "time stands still"
    assert client.set_state(SimulationState.STATE_LOADING_WORLD) == srv.SetSimulationState.Response.INCORRECT_TRANSITION
    assert client.set_state(SimulationState.STATE_QUITTING) == Result.RESULT_OK
    assert node.process.wait(PATIENCE) == 0


def test_a_step_is_a_millisecond(paused: Client):
    before = paused.now()
    assert paused.call("step_simulation", "StepSimulation", steps=1).result.result == Result.RESULT_OK
    assert paused.now() == before + STEP
    assert paused.call("step_simulation", "StepSimulation", steps=137).result.result == Result.RESULT_OK
    assert paused.now() == before + 138 * STEP


def test_the_action_does_the_requested_number_of_steps(paused: Client, probe: Any):
    from vds_gz.programs.interface import topics

    before, begin = paused.now(), paused.entity().pose.position.x
    result, seen = paused.simulate_steps(10)
    assert result.result == Result.RESULT_OK
    assert seen == [(10, 0)]
    assert paused.now() == before + 10 * STEP

    def ahead(message: Any) -> None:
        message.linear.x = 1.0

    probe.until_known(topics.TWIST_REFERENCE)
    probe.send(topics.TWIST_REFERENCE, ahead)
    probe.until(lambda: probe.diagnosed("command age [s]") == "0.000", "the command")
    assert paused.entity().pose.position.x == begin
    result, seen = paused.simulate_steps(2500)
    assert [completed for completed, _ in seen] == [1000, 2000, 2500]
    assert all(completed + remaining == 2500 for completed, remaining in seen)
    assert paused.now() == before + 2510 * STEP
    # The command acts from the first step on and is too old after a second, which is 1000 steps.
    assert paused.entity().pose.position.x - begin == pytest.approx(1.0, abs=0.002)


def test_steps_need_a_pause(start: Callable[..., Any], client: Client):
    start(*REFERENCE)
    answer = client.call("step_simulation", "StepSimulation", steps=1).result
    assert answer.result == Result.RESULT_OPERATION_FAILED
    assert "and pause it" in answer.error_message
    assert client.simulate_steps(10)[0].result == Result.RESULT_OPERATION_FAILED


def test_the_vehicle_is_placed_and_reset(paused: Client):
    state = paused.entity()
    state.pose.position.x, state.pose.position.y = 3.0, -4.0
    state.pose.orientation.z, state.pose.orientation.w = math.sin(0.5), math.cos(0.5)
    answer = paused.call("set_entity_state", "SetEntityState", entity="vehicle", state=state)
    assert answer.result.result == Result.RESULT_OK
    there = paused.entity().pose
    assert (there.position.x, there.position.y) == pytest.approx((3.0, -4.0))
    assert 2.0 * math.atan2(there.orientation.z, there.orientation.w) == pytest.approx(1.0)

    paused.call("step_simulation", "StepSimulation", steps=500)
    scopes = srv.ResetSimulation.Request
    assert paused.call("reset_simulation", "ResetSimulation", scope=scopes.SCOPE_STATE).result.result == 1
    assert paused.entity().pose.position.x == 0.0
    assert paused.now() > 10**9
    assert paused.call("reset_simulation", "ResetSimulation", scope=scopes.SCOPE_TIME).result.result == 1
    assert paused.now() == 10**9  # where our own time begins


def test_wrong_requests_get_an_error_message(start: Callable[..., Any], client: Client):
    start("-p", "model:=differential")
    answer = client.call("get_entity_state", "GetEntityState", entity="tree").result
    assert (answer.result, "'tree'" in answer.error_message) == (Result.RESULT_NOT_FOUND, True)
    state = client.entity()
    state.twist.linear.x = 1.0
    answer = client.call("set_entity_state", "SetEntityState", entity="vehicle", state=state).result
    assert "velocities come from the actuators" in answer.error_message
    request = srv.ResetSimulation.Request
    answer = client.call("reset_simulation", "ResetSimulation", scope=request.SCOPE_TIME).result
    assert (answer.result, "be_reference_clock" in answer.error_message) == (Result.RESULT_FEATURE_UNSUPPORTED, True)
    features = client.call("get_simulator_features", "GetSimulatorFeatures").features.features
    assert srv.GetSimulatorFeatures.Response().features.STEP_SIMULATION_ACTION not in features
    assert list(client.call("get_entities", "GetEntities").entities) == ["vehicle"]
