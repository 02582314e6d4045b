"""A paused node: everything that it publishes stands still."""

from __future__ import annotations

import re

import pytest
from helpers.guest import of_guest
from helpers.live_node import live_node, numbers

from vds_gz.core.ros.graph import QoS
from vds_gz.core.ros.messages.fields import set_stamp, stamp_ns
from vds_gz.core.vehicle.command import Command, twist

#: Fields that hold velocities.
VELOCITY = re.compile(r"^[^[]*(twist\.(linear|angular)|velocity(?!_covariance)|_rate)")

QUIET_IMU = {
    "sensors__imu__type": "imu",
    "sensors__imu__rate": 50.0,
    "sensors__imu__angular_velocity_white_noise": 0.0,
    "sensors__imu__linear_acceleration_white_noise": 0.0,
    "sensors__imu__measure_orientation": True,
    "sensors__wheels__type": "wheel_encoder",
}
QUIET_LOCALIZATION = {
    "simulate_localization": True,
    **{f"localization__map_sample_noise_{name}": 0.0 for name in ("translation", "rotation")},
}
QUIET_CAR = {f"measurement_noise__{name}_noise_stddev": 0.0 for name in ("pos", "vel", "rpy", "steer")}


@pytest.mark.parametrize("clock", ["system", "followed"])
@pytest.mark.parametrize(
    ("parameters", "command"),
    [
        ({"model": "bicycle", "world": "outdoor"}, twist(1.0, 0.0, 0.3)),
        ({"model": "differential", **QUIET_LOCALIZATION}, twist(0.5, 0.0, 0.3)),
        ({"model": "omni", "world": "hall"}, twist(0.5, 0.3, 0.3)),
        *(
            ({"model": "delay_steer_vel", **QUIET_CAR}, control(2.0, 1.0, 0.1))
            for control in of_guest("vds_gz.autoware.vehicle.command_kinds:control")
        ),
        *(
            ({"model": "actuation_cmd_mechanical", **QUIET_CAR}, pedals(0.5, 0.0, 0.1))
            for pedals in of_guest("vds_gz.autoware.vehicle.command_kinds:pedals")
        ),
    ],
    ids=lambda value: value["model"] if isinstance(value, dict) else "",
)
def test_everything_that_is_published_stands_still_but_for_the_noise_of_measurements(
    domain, clock, parameters: dict, command: Command
):
    with live_node(**parameters, **QUIET_IMU, use_sim_time=clock == "followed", pub_rate=50.0) as live:
        simulation, received = live.simulation, live.received
        ticks = live.graph.publisher("/clock", "rosgraph_msgs/msg/Clock", QoS(1))
        tick, time = live.graph.message("rosgraph_msgs/msg/Clock"), 10**9

        def advance() -> None:
            nonlocal time
            if clock == "followed":
                time += 10_000_000
                set_stamp(tick.clock, time)
                ticks.publish(tick)
            if simulation.now is not None and not simulation.held:
                live.command(command)

        def moves() -> bool:
            return simulation.now is not None and abs(simulation.plant.motion(simulation.now).v_x) > 0.2

        live.turn_until(moves, advance)
        live.turn_until(lambda: received["/imu/data"], advance)
        live.turn_until(
            lambda: any(VELOCITY.search(place) and value for place, value in numbers(received["/odom"][-1])), advance
        )
        simulation.pause(True)
        for _ in range(10):
            live.graph.wait(0.0)  # what was sent before the pause
        periodic = [name for name in live.topics if len(received[name]) > 1 and name != "/clock"]
        received.clear()
        live.turn_until(lambda: all(len(received[name]) > 4 for name in periodic), advance)
        for name in periodic:
            first, last = received[name][1], received[name][-1]
            for (place, before), (_, value) in zip(numbers(first), numbers(last), strict=True):
                assert value == pytest.approx(before, rel=1e-12, abs=0.0), (name, place)  # rounded at each instant
                assert value == 0.0 or not VELOCITY.search(place), (name, place)
        simulation.pause(False)
        live.turn_until(moves, advance)


def test_a_reference_clock_goes_on_saying_its_time_and_nothing_else_comes(domain):
    with live_node(be_reference_clock=True, model="omni") as live:
        live.turn_until(lambda: len(live.received["/clock"]) > 5)
        live.simulation.pause(True)
        live.received.clear()
        live.turn_until(lambda: len(live.received["/clock"]) > 5)
        times = [stamp_ns(message.clock) for message in live.received["/clock"]]
        assert len(set(times[1:])) == 1
        live.received.clear()
        live.turn_until(lambda: len(live.received["/clock"]) > 2)
        assert set(live.received) == {"/clock"}
        live.command(twist(0.5, 0.0, 0.0))
        live.step(1.0)
        moved = live.received["/ground_truth"]
        live.turn_until(lambda: moved and moved[-1].twist.twist.linear.x > 0.1)
        live.received.clear()
        live.simulation.pause(False)
        live.turn_until(lambda: len(live.received["/clock"]) > 5)
        assert stamp_ns(live.received["/clock"][0].clock) >= times[-1] + 10**9
