"""What the page shows of a vehicle's commands."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest

from vds_gz.core.description.footprint import Outline, OutlineWheel
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.commands import command_type
from vds_gz.programs.web.telemetry import COLUMNS, Telemetry

COMMAND = command_type("ackermann").topic


@pytest.mark.parametrize(("speed", "angle"), [(1.0, math.inf), (1.0, -math.inf), (math.inf, 0.1), (math.nan, 0.1)])
def test_a_command_that_the_vehicle_refuses_is_not_shown(probe, speed, angle):
    """An infinite steering angle has no tangent."""
    telemetry = Telemetry(probe.graph, "/sim_node", lambda: None)
    probe.hold(topics.GROUND_TRUTH, lambda message: None, telemetry.frame, "the vehicle's motion")

    def shown() -> float:
        frame = telemetry.frame()
        assert frame is not None
        return float(struct.unpack_from(f"<{len(COLUMNS)}d", frame.data)[COLUMNS.index("reference_v_x")])

    def fill(message: Any) -> None:
        message.drive.speed, message.drive.steering_angle = speed, angle

    for _ in range(5):
        probe.send(COMMAND, fill)
        probe.serve(0.02)
    assert math.isnan(shown())
    angle, speed = 0.1, 2.0
    probe.hold(COMMAND, fill, lambda: shown() == 2.0, "a command that can be")


@pytest.mark.parametrize(("rear_hinge", "velocity"), [("", (1.0, 0.0, math.tan(0.3) / 2.0)), ("rear_hinge", None)])
def test_a_steering_angle_shows_the_velocity_of_a_bicycle_but_none_sideways_if_all_wheels_steer(
    probe, rear_hinge, velocity
):
    telemetry = Telemetry(probe.graph, "/sim_node", lambda: None)
    wheels = (("front", 2.0, "front_hinge"), ("rear", 0.0, rear_hinge))
    telemetry.outline = Outline((), tuple(OutlineWheel(x, 0.0, 0.2, 0.1, name, hinge) for name, x, hinge in wheels))
    probe.hold(topics.GROUND_TRUTH, lambda message: None, telemetry.frame, "the vehicle's motion")

    def shown() -> tuple[float, ...]:
        first = COLUMNS.index("reference_v_x")
        frame = telemetry.frame()
        assert frame is not None
        return struct.unpack_from("<3d", frame.data, 8 * first)

    def fill(message: Any) -> None:
        message.drive.speed, message.drive.steering_angle = 1.0, 0.3

    probe.hold(COMMAND, fill, lambda: shown()[0] == 1.0, "the command")
    assert shown() == pytest.approx(velocity or (1.0, math.nan, math.nan), nan_ok=True)
