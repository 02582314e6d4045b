"""launch/side_by_side.launch.py on the real graph."""

from __future__ import annotations

import pytest

launch_pytest = pytest.importorskip("launch_pytest", reason="needs ROS 2 (launch_pytest)")
pytest.importorskip("rclpy", reason="needs ROS 2 (rclpy)")

from geometry_msgs.msg import Twist, TwistStamped  # noqa: E402
from helpers.launches import launching  # noqa: E402

pytestmark = pytest.mark.ros

ROBOTS = ("ideal", "realistic")


@launch_pytest.fixture
def driven_by_us(domain, exits):
    return launching("side_by_side", exits, drive="none", spacing="4.0")


@pytest.mark.launch(fixture=driven_by_us)
def test_one_command_moves_both_and_the_realistic_one_lags(driven_by_us, ears, exits):
    listener = ears()
    for robot, y in zip(ROBOTS, (-2.0, 2.0), strict=True):
        assert listener.transform("map", f"{robot}/wheel_left").translation.y == pytest.approx(y + 0.25)
        listener.hear(TwistStamped, f"/{robot}/twist_actual")

    def speeds() -> list[float]:
        return [listener.received[f"/{robot}/twist_actual"][-1].twist.linear.x for robot in ROBOTS]

    command = Twist()
    command.linear.x = 0.5
    # Dead time and lag: when the ideal robot is at its speed, the realistic one is not.
    lagging = lambda: speeds()[0] == pytest.approx(0.5) and speeds()[1] < 0.4  # noqa: E731
    listener.say(command, "/twist_reference", lagging, "the ideal robot at its speed before the other")
    listener.say(command, "/twist_reference", lambda: speeds() == pytest.approx([0.5, 0.5], abs=0.01), "both at speed")
    yield
    exits.assert_clean("sim_node", "robot_state_publisher", "static_transform_publisher")


@launch_pytest.fixture
def driven_by_log(domain, exits, tmp_path):
    log = tmp_path / "turn.csv"
    rows = [f"{0.05 * i},0.3,0.0,0.5\n" for i in range(40)]
    log.write_text("time,v_x,v_y,yaw_rate\n" + "".join(rows), encoding="utf-8")
    return launching("side_by_side", exits, drive=str(log))


@pytest.mark.launch(fixture=driven_by_log)
def test_a_recorded_drive_moves_both(driven_by_log, ears, exits):
    listener = ears()
    listener.until(lambda: exits.codes["vds-gz"], "the end of the drive")
    ends = [listener.transform(f"{robot}/map", f"{robot}/base_link").translation for robot in ROBOTS]
    assert all(end.x > 0.2 for end in ends)
    yield
    exits.assert_clean("sim_node", "robot_state_publisher", "static_transform_publisher", "vds-gz")
