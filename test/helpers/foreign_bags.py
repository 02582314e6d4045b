"""Bags of other people's robots: foreign names and types of topics, other rates, clocks and offsets, noise.

The vehicle is a gain, a dead time and a lag of first order behind its commands, in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from helpers.bag_files import write_bag
from vds_gz.core.ros.messages.message_types import open_types

Array = NDArray[np.float64]

TWIST = "geometry_msgs/msg/Twist"
TWIST_STAMPED = "geometry_msgs/msg/TwistStamped"
ACKERMANN = "ackermann_msgs/msg/AckermannDriveStamped"
ODOMETRY = "nav_msgs/msg/Odometry"

COMMAND_TOPICS = {
    TWIST: ("/cmd_vel", "/husky_velocity_controller/cmd_vel_unstamped", "/mobile_base/commands/velocity", "/drive"),
    TWIST_STAMPED: ("/cmd_vel", "/diff_drive/reference", "/base_controller/cmd_vel"),
    ACKERMANN: ("/drive", "/vesc/low_level/ackermann_cmd_mux/output", "/rc/ackermann_command"),
}
MEASURED_TOPICS = {
    ODOMETRY: ("/odometry/filtered", "/pf/pose/odom", "/vesc/odom", "/base/state"),
    TWIST_STAMPED: ("/wheel_speeds/actual", "/vehicle/twist_estimate"),
}


@dataclass(frozen=True)
class Drive:
    """Commands of one drive: when they change [s], and to which speeds and turns."""

    times: Array
    speeds: Array
    turns: Array

    @staticmethod
    def random(rng: np.random.Generator, duration: float = 30.0) -> Drive:
        times = np.cumsum(rng.uniform(0.5, 2.0, int(duration)))
        times = np.concatenate(([0.0], times[times < duration]))
        return Drive(times, rng.uniform(0.0, 1.5, len(times)), rng.uniform(-0.6, 0.6, len(times)))

    def held(self, values: Array, time: Array) -> Array:
        at = np.searchsorted(self.times, time, side="right") - 1
        return np.where(at < 0, 0.0, values[at])


@dataclass(frozen=True)
class Robot:
    """How a robot responds, and how it is recorded.

    Attributes:
        dead_time, lag, gain: Of speed and turn [s].
        command, measured: Types of messages.
        topics: Names of the topics with the commands and the measurements.
        rates: Of commands and measurements [Hz].
        begin, end: Of the recording, in the drive's time [s].
        clock: The recorder's time of the drive's beginning [s].
        stamps: How far the robot's clock is ahead of the recorder's [s].
        transport: Least and largest time from stamp to recording [s].
        noise: Of both measurements, standard deviation [m/s, rad/s].
    """

    dead_time: float = 0.1
    lag: float = 0.15
    gain: float = 1.0
    command: str = TWIST
    measured: str = ODOMETRY
    topics: tuple[str, str] = ("/cmd_vel", "/odometry/filtered")
    rates: tuple[float, float] = (20.0, 40.0)
    begin: float = -1.0
    end: float = 31.0
    clock: float = 1.7e9
    stamps: float = 0.0
    transport: tuple[float, float] = (0.0005, 0.003)
    noise: tuple[float, float] = (0.02, 0.02)
    seed: int = field(default=0, compare=False)

    def response(self, drive: Drive, values: Array, time: Array) -> Array:
        """The lag's response to commands that hold, in closed form."""
        answer = np.zeros_like(time)
        before = np.concatenate(([0.0], values[:-1]))
        for begin, change in zip(drive.times + self.dead_time, values - before, strict=True):
            answer += self.gain * change * -np.expm1(-np.maximum(time - begin, 0.0) / self.lag)
        return answer

    def write(self, path: Path, drive: Drive, plugin: str = "mcap") -> Path:
        """Record a drive into a bag."""
        rng, types = np.random.default_rng(self.seed), open_types()
        rows: list[tuple[str, int, object]] = []
        sent = np.union1d(np.arange(self.begin, self.end, 1.0 / self.rates[0]), drive.times)
        sent = sent[(sent >= self.begin) & (sent <= self.end)]
        for time, speed, turn in zip(sent, drive.held(drive.speeds, sent), drive.held(drive.turns, sent), strict=True):
            message = types.new(self.command)
            if self.command == ACKERMANN:
                message.drive.speed, message.drive.steering_angle = float(speed), float(turn)
            else:
                twist = message if self.command == TWIST else message.twist
                twist.linear.x, twist.angular.z = float(speed), float(turn)
            rows.append((self.topics[0], self._recorded(time, rng, 0.001), message))
        taken = np.arange(self.begin, self.end, 1.0 / self.rates[1]) + rng.uniform(0.0, 0.3 / self.rates[1])
        v_x, turned = (self.response(drive, values, taken) for values in (drive.speeds, drive.turns))
        yaw_rate = turned if self.command != ACKERMANN else v_x * np.tan(turned) / 0.3
        for time, *motion in zip(taken, v_x, yaw_rate, strict=True):
            message = types.new(self.measured)
            twist = message.twist.twist if self.measured == ODOMETRY else message.twist
            twist.linear.x, twist.angular.z = (
                float(value + rng.normal(0.0, noise)) for value, noise in zip(motion, self.noise, strict=True)
            )
            stamp = round((self.clock + time + self.stamps) * 1e9)
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
            rows.append((self.topics[1], self._recorded(time, rng, *self.transport), message))
        kinds = {self.topics[0]: self.command, self.topics[1]: self.measured}
        write_bag(path, plugin, kinds, sorted(rows, key=lambda row: row[1]))
        return path

    def _recorded(self, time: float, rng: np.random.Generator, least: float, largest: float | None = None) -> int:
        return round((self.clock + time + rng.uniform(least, largest or least)) * 1e9)


def random_pair(seed: int) -> tuple[Drive, Robot, Robot]:
    """A drive, and two robots that differ in dead time and in how they are recorded; one may begin on the way."""
    rng = np.random.default_rng(seed)
    command = str(rng.choice(list(COMMAND_TOPICS)))
    base = Robot(command=command, dead_time=rng.uniform(0.05, 0.3), lag=rng.uniform(0.05, 0.4))
    robots = []
    for k in range(2):
        measured = str(rng.choice(list(MEASURED_TOPICS)))
        topics = str(rng.choice(COMMAND_TOPICS[command])), str(rng.choice(MEASURED_TOPICS[measured]))
        noise = float(rng.choice([0.0, 0.02, 0.1, 0.5]))
        robots.append(
            Robot(
                dead_time=base.dead_time + k * float(rng.choice([0.0, 0.02, 0.15, -0.04])),
                lag=base.lag,
                gain=base.gain + k * float(rng.choice([0.0, 0.1, -0.2])),
                command=command,
                measured=measured,
                topics=topics,
                rates=(float(rng.uniform(10.0, 50.0)), float(rng.uniform(15.0, 100.0))),
                begin=float(rng.choice([-2.0, -0.5, 6.0])),
                end=float(rng.choice([25.0, 32.0])),
                clock=float(rng.choice([0.0, 1.0, 1.7e9, 1.6e9])) + rng.uniform(5.0, 50.0),
                stamps=float(rng.choice([0.0, 0.2, -0.15, 3.0, -1000.0]) if k else 0.0),
                transport=(0.0005, float(rng.choice([0.002, 0.02]))),
                noise=(noise, noise),
                seed=int(rng.integers(1 << 30)),
            )
        )
    return Drive.random(rng), *robots
