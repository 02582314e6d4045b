"""How the robot behind a relay follows its commands, measured from its odometry."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.plant.base import Level
from vds_gz.core.plant.relay.subtraction import Dynamics, RobotDynamics
from vds_gz.core.ros.graph import Graph, Message, QoS
from vds_gz.core.ros.messages.fields import stamp_ns
from vds_gz.core.vehicle.command import SteadyMotion
from vds_gz.core.vehicle.vehicle import NANOSECONDS

WINDOW = 12.0  # length of the recent past that is compared [s]
INTERVAL = 0.02  # of its samples [s]
LONGEST_DEAD_TIME = 1.0  # [s]
TIME_CONSTANTS = (0.0, 0.02, 0.04, 0.07, 0.11, 0.17, 0.26, 0.4, 0.65, 1.0)  # tried first [s]

#: Standard deviation of a command that moves the robot enough [m/s, rad/s].
EXCITATION = 0.05

#: Fraction of the robot's motion that a dead time, a lag and a gain must explain.
EXPLAINED = 0.98

#: Odometry stamped farther than this from its arrival is of another clock [ns].
OTHER_CLOCK = NANOSECONDS

FASTEST = 1e3  # no robot is faster [m/s, rad/s]
SILENCE = NANOSECONDS  # without odometry for this long, nothing is known of the robot [ns]
STANDS = 0.01  # a robot stands below this speed [m/s] and yaw rate [rad/s]

#: Differences between what is subtracted and what is measured that are too large: time [s], its fraction, and gain.
TOLERANCE, RELATIVE, GAIN = 0.02, 0.1, 0.05


class Response(NamedTuple):
    """Dead time [s], time constant of a lag of first order [s] and gain."""

    dead_time: float
    time_constant: float
    gain: float

    def __str__(self) -> str:
        return f"dead time {self.dead_time:.3f} s, lag {self.time_constant:.3f} s, gain {self.gain:.3f}"


class ResponseMonitor:
    """Compares a robot's odometry with what was sent to it."""

    def __init__(self, graph: Graph, topic: str, robot: RobotDynamics) -> None:
        """Listen to the odometry; ``robot`` is what is subtracted."""
        self._now = 0
        self._sent: deque[tuple[int, float, float]] = deque()
        self._seen: deque[tuple[int, float, float, float]] = deque()
        self._expected = {"speed": robot.drive, "yaw rate": robot.steering}
        self._responses: dict[str, Response | None] = dict.fromkeys(self._expected)
        qos = QoS(reliable=False)  # matches every publisher
        self.topic = graph.subscribe(topic, "nav_msgs/msg/Odometry", qos, self._on_odometry).topic

    def _on_odometry(self, message: Message, arrival: int) -> None:
        twist = message.twist.twist
        speed, yaw_rate, sideways = float(twist.linear.x), float(twist.angular.z), float(twist.linear.y)
        if not all(abs(value) <= FASTEST for value in (speed, yaw_rate, sideways)):  # NaN is not
            return
        stamp = stamp_ns(message.header.stamp)
        time = stamp if abs(stamp - self._now) < OTHER_CLOCK else self._now
        if self._seen and time <= self._seen[-1][0]:
            if self._seen[-1][0] - time < OTHER_CLOCK:
                return
            self._seen.clear()  # time jumped back
        self._seen.append((time, speed, yaw_rate, sideways))

    @property
    def moves(self) -> bool:
        """Whether the robot is known to move."""
        if not self._seen or self._now - self._seen[-1][0] > SILENCE:
            return False
        return max(map(abs, self._seen[-1][1:])) > STANDS

    def sent(self, now: int, drive: SteadyMotion) -> None:
        """Note what was sent at the present [ns]."""
        self._now = now
        if self._sent and now <= self._sent[-1][0]:
            self._sent.clear()
        self._sent.append((now, drive.v_x, drive.yaw_rate))
        begin = now - round(WINDOW * NANOSECONDS)
        for series in (self._sent, self._seen):
            while series and series[0][0] < begin:
                series.popleft()

    def verdict(self) -> tuple[Level, str]:
        """Measure again; return a warning with its remedy, if the robot does not follow as it should."""
        if not self._seen or self._now - self._seen[-1][0] > SILENCE:
            return Level.WARN, f"no odometry arrives on {self.topic} (parameter 'relay.odometry')"
        for column, name in enumerate(self._expected, 1):
            response = self._measured(column)
            self._responses[name] = response or self._responses[name]
        for name, response in self._responses.items():
            if response is not None and (fault := _fault(name, response, self._expected[name])):
                return Level.WARN, fault
        return Level.OK, ""

    def values(self) -> list[tuple[str, str]]:
        """What was measured, for a report."""
        return [
            (f"robot's {name} follows with", "not known yet" if response is None else str(response))
            for name, response in self._responses.items()
        ]

    def _measured(self, column: int) -> Response | None:
        if len(self._sent) < 2 or len(self._seen) < 2:
            return None
        sent, seen = ([[row[i] for row in series] for i in (0, column)] for series in (self._sent, self._seen))
        begin, end = sent[0][0], min(seen[0][-1], sent[0][-1])
        times = np.arange(begin, end, round(INTERVAL * NANOSECONDS))
        held = np.searchsorted(sent[0], times, side="right") - 1
        return fit(np.asarray(sent[1])[held], np.interp(times, seen[0], seen[1]))


def _fault(name: str, response: Response, expected: Dynamics) -> str:
    total, right = response.dead_time + response.time_constant, expected.dead_time + expected.time_constant
    if abs(total - right) > max(TOLERANCE, RELATIVE * right):
        return (
            f"the robot's {name} follows with {response}; subtracted are dead time {expected.dead_time:.3f} s and lag "
            f"{expected.time_constant:.3f} s: set relay.dead_time and relay.time_constant to what was measured, or "
            "relay.simulator to a file that identify has written for the robot"
        )
    if abs(response.gain - 1.0) > GAIN:
        return f"the robot's {name} reaches {response.gain:.2f} times what is commanded; it should reach it"
    return ""


def fit(commands: Sequence[float] | Array, responses: Sequence[float] | Array) -> Response | None:
    """The dead time, the lag of first order and the gain by which responses follow commands best.

    Args:
        commands: Samples every :data:`INTERVAL`.
        responses: As many samples.

    Returns:
        The response with the smallest sum of squared residuals; None if the commands vary too little, or if it explains
        too little.
    """
    u, y = np.asarray(commands, dtype=float), np.asarray(responses, dtype=float)
    longest = round(LONGEST_DEAD_TIME / INTERVAL)
    if len(u) < 3 * longest or np.std(u) < EXCITATION or not np.std(y) > 0.0:
        return None
    y = y[longest:]
    tried = {constant: _best_delay(_lagged(u, constant), y, longest) for constant in TIME_CONSTANTS}
    for _ in range(4):  # halve the intervals around the best one
        constants = sorted(tried)
        k = min(range(len(constants)), key=lambda k: tried[constants[k]][0])
        near = constants[max(k - 1, 0)], constants[min(k + 1, len(constants) - 1)]
        for constant in {0.5 * (constants[k] + other) for other in near} - set(tried):
            tried[constant] = _best_delay(_lagged(u, constant), y, longest)
    constant = min(tried, key=lambda constant: tried[constant][0])
    residual, delay, gain = tried[constant]
    if residual > (1.0 - EXPLAINED) * float(np.sum((y - y.mean()) ** 2)):
        return None
    return Response(delay * INTERVAL, constant, gain)


def _lagged(u: Array, constant: float) -> Array:
    """Samples behind a lag of first order, with commands that are held from sample to sample."""
    if constant == 0.0:
        return u
    step, state, states = 1.0 - math.exp(-INTERVAL / constant), float(u[0]), []
    for value in u.tolist():
        states.append(state)
        state += step * (value - state)
    return np.array(states)


def _best_delay(x: Array, y: Array, longest: int) -> tuple[float, float, float]:
    """Sum of squared residuals, delay in samples and gain of the best delay."""
    windows = np.lib.stride_tricks.sliding_window_view(x, len(y))[longest::-1][: longest + 1]
    power, product = np.einsum("ij,ij->i", windows, windows), windows @ y
    gains = np.divide(product, power, out=np.zeros_like(power), where=power > 0.0)
    residuals = float(y @ y) - gains * product
    k = int(np.argmin(residuals))
    if not 0 < k < longest:
        return float(residuals[k]), float(k), float(gains[k])
    # The parabola through the three residuals around the smallest.
    a, b, c = residuals[k - 1 : k + 2]
    shift = 0.5 * (a - c) / (a - 2.0 * b + c) if a - 2.0 * b + c > 0.0 else 0.0
    return float(max(b - 0.25 * (a - c) * shift, 0.0)), k + float(shift), float(gains[k])
