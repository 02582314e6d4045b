"""What the page shows of a vehicle's commands."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest

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
