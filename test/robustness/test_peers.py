"""Peers that mean harm: no name, message or request ends a program, and the vehicle still drives afterwards.

``VDS_GZ_HOSTILE_MESSAGES`` says how many messages each program gets; the weekly job sends a million.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest
from helpers.dds import ROOT
from helpers.guest import HERE
from helpers.hostile import MESSAGES
from helpers.pages import Look, Served
from helpers.processes import Probe, Program

from vds_gz.core.configuration import default_parameters
from vds_gz.core.parameters.declaration import describe
from vds_gz.core.ros.messages.fields import set_stamp
from vds_gz.programs.interface import topics

SEED = 21
#: One with most kinds of commands.
LAST_MODEL = "actuation_cmd_vgr" if HERE else "single_track"
NODES = {
    "in_a_world": ("-p", "world:=hall", "-p", "sensors.lidar.type:=rplidar_a2", "-p", "simulate_localization:=true"),
    "follows_a_clock": ("-p", "use_sim_time:=true", "-p", "model:=omni"),
    "gives_the_time": ("-p", "be_reference_clock:=true", "-p", f"model:={LAST_MODEL}"),
}
MODELS = {"in_a_world": "bicycle", "follows_a_clock": "omni", "gives_the_time": LAST_MODEL}


class HostilePeer:
    """A peer in its own process that sends messages to programs of one kind."""

    def __init__(self, target: str) -> None:
        words = [sys.executable, "-m", "helpers.hostile_peer", str(SEED), str(MESSAGES), target]
        path = os.pathsep.join((str(ROOT), str(ROOT / "test")))
        self._process = subprocess.Popen(words, env={**os.environ, "PYTHONPATH": path})

    def send_all(self) -> None:
        """Wait until everything is sent."""
        assert self._process.wait() == 0


def call(probe: Probe, name: str, kind: str, fill: Callable[[Any], None]) -> Any:
    client, responses = probe.graph.client(f"/sim_node/{name}", kind), []
    probe.until(client.ready, f"service {name}")
    request = client.request()
    fill(request)
    client.call(request, responses.append)
    return probe.until(lambda: responses, f"the response of {name}")[0]


def as_before(probe: Probe, model: str) -> None:
    """Undo what the peer may have asked for: parameters, a pause, a place."""
    live = [one for one in describe(default_parameters()) if not one.read_only and one.type in ("double", "bool")]
    live = [one for one in live if not one.name.startswith("model_params.") or f".{model}." in one.name]

    def fill(request: Any) -> None:
        for one in live:
            parameter = probe.graph.message("rcl_interfaces/msg/Parameter")
            parameter.name, parameter.value.type = one.name, 3 if one.type == "double" else 1
            setattr(parameter.value, f"{one.type}_value", one.default)
            request.parameters.append(parameter)

    response = call(probe, "set_parameters_atomically", "rcl_interfaces/srv/SetParametersAtomically", fill)
    assert response.result.successful, response.result.reason
    assert call(probe, "pause", "std_srvs/srv/SetBool", lambda request: None).success
    assert call(probe, "reset", "std_srvs/srv/Trigger", lambda request: None).success


def still_drives(probe: Probe, follows_clock: bool) -> None:
    probe.listen(topics.TWIST_ACTUAL)
    clock, time = probe.graph.message(topics.CLOCK.type), 1_000_000_000
    ticks = probe.graph.publisher("/clock", topics.CLOCK.type, topics.CLOCK.qos) if follows_clock else None

    def moves() -> bool:
        nonlocal time
        if ticks is not None:
            time += 50_000_000
            set_stamp(clock.clock, time)
            ticks.publish(clock)
        received = probe.received[topics.TWIST_ACTUAL.name]
        return bool(received) and received[-1].twist.linear.x > 0.3

    def fill(message: Any) -> None:
        message.linear.x = 0.5

    probe.hold(topics.TWIST_REFERENCE, fill, moves, "a vehicle that drives")


def ends_well(program: Program) -> None:
    assert program.stop() == 0, program.output[-3000:]
    assert "Traceback" not in program.output, program.output[-3000:]


def lives(program: Program) -> None:
    assert "Traceback" not in program.output, program.output[-3000:]
    assert program.process.poll() is None, program.output[-3000:]


@pytest.mark.parametrize(
    "name",
    ["in_a_world", *(pytest.param(name, marks=pytest.mark.slow) for name in ("follows_a_clock", "gives_the_time"))],
)
def test_the_node_drives_after_hostile_peers(start, run, probe, tmp_path, name):
    node = start(*NODES[name])
    recorder = run("vds_gz.cli.record", "--all", "-o", str(tmp_path / "all.mcap"))
    HostilePeer("node").send_all()
    probe.serve(1.0)
    for program in (node, recorder):
        lives(program)
    as_before(probe, MODELS[name])
    still_drives(probe, name == "follows_a_clock")
    for program in (node, recorder):
        ends_well(program)


@pytest.mark.skipif(find_spec("rclpy") is not None, reason="rclpy takes the memory that a malformed message claims")
def test_the_page_and_teleop_live_through_hostile_peers(start, run, probe):
    node = start()
    view = run("vds_gz.cli", "view", "--port", "0")
    teleop = run("vds_gz.programs.nodes.joystick_teleop")
    served = Served(view)

    async def look() -> None:
        async with Look(served) as looker:
            for target in ("page", "teleop"):
                await asyncio.to_thread(HostilePeer(target).send_all)
            frames = len(looker.frames)
            await looker.until(lambda: len(looker.frames) > frames, "a frame after it all")
            assert not looker.refused

    asyncio.run(look())
    for program in (node, view, teleop):
        lives(program)
        ends_well(program)
