"""Every parameter that may change while the node runs has an effect then, on what the node publishes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product

import pytest
from helpers.guest import needs_autoware, of_guest
from helpers.live_node import LiveNode, live_node

from vds_gz.core.parameters.declaration import Description, ParameterError, Value, describe
from vds_gz.core.ros.graph import QoS
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import ackermann, twist
from vds_gz.programs.interface import topics

#: Settings with which the parameters of a model have an effect, where the model has them.
BASE = {
    "slow_share": 0.3,
    "map_references": (-5.0, 5.0),
    "map_responses": (-5.0, 5.0),
    "enable_road_slope_simulation": True,
    "road_pitch": 0.1,
}
#: A trailer whose hitch soon reaches its limit.
TRAILER = {
    "hitch_offset": (-0.2,),
    "drawbar": (0.3,),
    "track": (0.5,),
    "tire_diameter": (0.2,),
    "max_angle": (0.02,),
    "at_limit": "report",
}
NODE = {
    "pub_rate": 20.0,
    "be_reference_clock": True,
    "simulate_localization": True,
    "measurement_noise.add_measurement_noise": True,
}

#: What each model does in a run: forward in a curve, standing with a steering command, backwards; then commands end.
DRIVES = {
    "twist": [twist(1.5, 0.2, 0.6), twist(0.01, 0.0, 0.2), twist(0.0, 0.0, 0.0), twist(-0.8, 0.0, 0.3)],
    "ackermann": [ackermann(1.5, 0.5), ackermann(3.0, -0.5), ackermann(0.0, 0.4), ackermann(-0.8, 0.2)],
    "control": [
        control(*numbers)
        for control in of_guest("vds_gz.autoware.vehicle.command_kinds:control")
        for numbers in ((6.0, 2.0, 0.5), (6.0, 2.0, -0.5), (0.0, -3.0, 0.0), (0.0, 0.0, 0.1))
    ],
    "pedals": [
        pedals(*numbers)
        for pedals in of_guest("vds_gz.autoware.vehicle.command_kinds:pedals")
        for numbers in ((0.8, 0.0, 0.5), (0.8, 0.0, -0.5), (0.0, 0.8, 0.0), (0.0, 0.0, 0.1))
    ],
}


def kinds_of(live: LiveNode) -> list[str]:
    accepts = live.simulation.plant.vehicle.model.accepts
    return [name for name in DRIVES if name in {kind.name for kind in accepts}]


def run(live: LiveNode, kind: str) -> dict[str, list[bytes]]:
    """What is published in a run with one kind of command, from the same beginning."""
    live.simulation.reset(time=True, state=True)
    live.received.clear()
    for command in DRIVES[kind]:
        live.command(command)
        live.step(0.35)
    live.step(0.8)
    return dict(live.received)


def others(described: Description) -> Iterator[Value]:
    """Further values within the bounds of a parameter, far ones first."""
    now = described.default
    candidates: list[Value] = [choice for choice in described.choices if choice != now]
    if isinstance(now, bool):
        candidates = [not now]
    elif isinstance(now, float):
        candidates = [0.3 * now, 3.0 * now, now + 0.05, now + 0.5, now - 0.05, now - 0.5, now + 5.0, 0.02, 0.3]
    elif isinstance(now, tuple):
        candidates = [tuple(0.5 * number for number in now)]
    for candidate in candidates:
        try:
            value = described.check(candidate)
        except ParameterError:
            continue
        if value != now:
            yield value


def without_effect(live: LiveNode, wanted: Callable[[str], bool]) -> list[str]:
    """The live parameters with a wanted name that change nothing."""
    live.turn_until(lambda: len(live.received) > 6 and all(live.received.values()))
    live.simulation.pause(True)
    kinds = kinds_of(live)
    run(live, kinds[0])  # from now on all topics have found their subscribers
    before = {kind: run(live, kind) for kind in kinds}
    assert run(live, kinds[0]) == before[kinds[0]], "equal runs are equal"
    described = [one for one in describe(live.node.live.now) if not one.read_only and wanted(one.name)]
    idle = [one.name for one in described if not any(acts(live, one, before))]
    assert run(live, kinds[0]) == before[kinds[0]], "what was set back is as it was"
    return idle


def acts(live: LiveNode, described: Description, before: dict[str, dict[str, list[bytes]]]) -> Iterator[bool]:
    """Whether other values of a parameter change what is published in the runs."""
    for kind, value in product(before, others(described)):
        with suppress(ParameterError):
            live.set({described.name: value})
            after = run(live, kind)
            live.set({described.name: described.default})
            yield after != before[kind]


def settings(model: str) -> dict[str, Value]:
    group = f"model_params.{model}"
    values: dict[str, Value] = {"model": model}
    for one in describe(models()[model].parameters()):
        parent, _, name = one.name.rpartition(".")
        if (value := TRAILER.get(name) if parent == "trailers" else BASE.get(name)) is not None:
            values[f"{group}.{one.name}"] = value
    return values


#: The others have mostly the parameters of these.
MAIN = ("bicycle", "delay_steer_vel")


@pytest.mark.parametrize(
    "model", [pytest.param(name, marks=[] if name in MAIN else [pytest.mark.slow]) for name in models()]
)
def test_every_live_parameter_of_a_model_has_an_effect(domain, model):
    with live_node(raw=True, **NODE, **settings(model)) as live:
        assert without_effect(live, lambda name: name.startswith(f"model_params.{model}.")) == []


@needs_autoware
def test_every_live_parameter_of_the_node_has_an_effect(domain):
    """For those that this run cannot see, see the next tests."""
    with live_node(raw=True, **NODE, **settings("delay_steer_vel")) as live:
        idle = without_effect(live, lambda name: not name.startswith("model_params."))
        assert idle == ["speed_factor", "localization.amcl.initialpose"]


def test_the_speed_factor_changes_the_pace(domain):
    with live_node(**NODE) as live:
        live.set({"speed_factor": 4.0})
        assert live.simulation.clock.speed == 4.0


def test_another_effect_of_initialpose_can_be_chosen(domain):
    with live_node(**NODE, **{"localization.style": "amcl"}) as live:
        poses = live.graph.publisher("/initialpose", topics.INITIALPOSE.type, QoS())
        message = live.graph.message(topics.INITIALPOSE.type)
        message.header.frame_id, message.pose.pose.position.x = "map", 3.0
        for effect, moved in (("amcl", 0.0), ("vehicle", 3.0)):
            live.set({"localization.amcl.initialpose": effect})
            poses.publish(message)
            live.graph.wait(0.1)
            assert live.simulation.plant.motion(0).x == moved
