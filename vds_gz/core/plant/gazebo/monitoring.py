"""Monitoring of Gazebo: recent poses of the vehicle, lag of its joints and health of the link."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Sequence

from vds_gz.core.geometry import Attitude, Vector, angles, between, into_body, turned
from vds_gz.core.parameters.declaration import describe
from vds_gz.core.parameters.node import GazeboParameters
from vds_gz.core.plant.base import Level
from vds_gz.core.plant.gazebo.links.gazebo_link import Alive, GazeboLink, JointReadings, Placement, Seen, Tick
from vds_gz.core.vehicle.vehicle import Motion

KEPT = 400  # number of placements kept, far more than outputs need
ARRIVED = 0.05  # distance within which the vehicle is at the expected position [m]


class History:
    """Keeps recent placements. It computes velocities from differences of poses, exact in the middle of an interval."""

    def __init__(self) -> None:
        self._placements: deque[Placement] = deque(maxlen=KEPT)
        self._expected: Vector | None = None

    def add(self, placement: Placement) -> None:
        """Add a placement; one that is not newer replaces all earlier ones."""
        if self._placements and placement.time <= self._placements[-1].time:
            self._placements.clear()
        place = placement.T_map_base.position
        if self._expected is not None and math.dist(place[:2], self._expected[:2]) < ARRIVED:
            # The vehicle was placed here, which is not a motion.
            self._placements.clear()
            self._expected = None
        self._placements.append(placement)

    def expect(self, position: Vector) -> None:
        """Expect that base_link will be placed at a position in the map [m]."""
        self._expected = position

    def clear(self) -> None:
        """Remove all placements."""
        self._placements.clear()
        self._expected = None

    @property
    def last(self) -> Placement | None:
        """The newest placement."""
        return self._placements[-1] if self._placements else None

    def reaches(self, time: int) -> bool:
        """Whether there is a placement at this time [ns] or later."""
        return bool(self._placements) and self._placements[-1].time >= time

    @property
    def interval(self) -> int:
        """Time between the last two placements [ns]; 0 with fewer than two."""
        return self._placements[-1].time - self._placements[-2].time if len(self._placements) > 1 else 0

    def covers(self, time: int) -> bool:
        """Whether there is a placement before this time [ns], so that the velocity is known."""
        return bool(self._placements) and self._placements[0].time < time

    def motion(self, time: int) -> Motion:
        """Pose seen from above and velocity at a time [ns], between the two placements around it."""
        return self._between(time)[0]

    def attitude(self, time: int) -> Attitude:
        """Height and tilt, and their rates, at a time [ns]."""
        return self._between(time)[1]

    def _between(self, time: int) -> tuple[Motion, Attitude]:
        if not self._placements:
            return Motion(0.0, 0.0, 0.0, 0.0, 0.0, 0.0), Attitude()
        after = self._placements[-1]
        for before in list(self._placements)[-2::-1]:
            if before.time < time:
                return _between(before, after, time)
            after = before
        return _between(after, after, time)


def _between(before: Placement, after: Placement, time: int) -> tuple[Motion, Attitude]:
    """Pose and velocity of base_link at a time [ns] between two placements, or at the only one."""
    interval = (after.time - before.time) * 1e-9
    part = min(max((time - before.time) * 1e-9 / interval, 0.0), 1.0) if interval > 0.0 else 0.0
    begin, end = before.T_map_base, after.T_map_base
    x, y, z = (a + part * (b - a) for a, b in zip(begin.position, end.position, strict=True))
    roll, pitch, heading = angles(between(begin.orientation, end.orientation, part))
    if interval <= 0.0:
        return Motion(x, y, heading, 0.0, 0.0, 0.0), Attitude(z, roll, pitch)
    way_map: Vector = tuple(b - a for a, b in zip(begin.position, end.position, strict=True))  # type: ignore[assignment]
    q_map_base = between(begin.orientation, end.orientation, 0.5)
    v_x, v_y, v_z = (way / interval for way in into_body(q_map_base, way_map))
    roll_rate, pitch_rate, yaw_rate = (turn / interval for turn in turned(begin.orientation, end.orientation))
    return Motion(x, y, heading, v_x, v_y, yaw_rate), Attitude(z, roll, pitch, v_z, roll_rate, pitch_rate)


MEMORY = 5.0  # time constant of the weight of past samples [s]
SMALLEST = 0.010  # lags up to this are small [s], because sampling at usual rates causes them
SMALL = 0.1  # lags up to this part of the configured dead time and time constant are small

#: Ends of the names of parameters that are dead times or time constants.
_DYNAMICS = ("dead_time", "time_constant", "time_delay", "delay_time")

#: Words in the names of those that do not delay the whole response.
_NO_DELAY = ("torque", "slow_time_constant")


class LagEstimator:
    """Estimates the lag of some joints: dead time or time constant.

    A joint that follows ``w`` with a first-order lag has ``T x' = w - x``; one with the dead time ``T`` has the same to
    first order. So ``T`` is the slope of ``w - x`` over ``x'``, estimated by least squares over the recent past.
    """

    def __init__(self, excitation: float) -> None:
        self._excitation = excitation  # minimum integral of the squared rates for an estimate
        self.forget()

    def forget(self) -> None:
        """Restart, as after a jump."""
        self._last: tuple[Sequence[float], Sequence[float]] | None = None
        self._errors = 0.0
        self._squares = 0.0

    def add(self, interval: float, commanded: Sequence[float], measured: Sequence[float]) -> None:
        """Take the commands and the measured states of all joints, an interval [s] after the last call."""
        if self._last is not None and interval > 0.0:
            keep = math.exp(-interval / MEMORY)
            self._errors *= keep
            self._squares *= keep
            for w0, x0, w1, x1 in zip(*self._last, commanded, measured, strict=True):
                rate = (x1 - x0) / interval
                self._errors += 0.5 * ((w0 - x0) + (w1 - x1)) * rate * interval
                self._squares += rate * rate * interval
        self._last = (commanded, measured)

    def lag(self) -> float | None:
        """The lag [s], negative if the joints lead; None while they have not moved enough."""
        return self._errors / self._squares if self._squares > self._excitation else None


TURNING = 0.5  # minimum speed of a wheel that is commanded to turn [rad/s]
STALLED = 0.02  # wheels slower than this part of their commands stand
STALL = 2.0  # simulated time for which commanded wheels may stand, as during a dead time of the joints [s]


class StallDetector:
    """Detects wheels that stand although they are commanded to turn."""

    def __init__(self) -> None:
        self._duration = self._commanded = 0.0

    def add(self, interval: float, commanded: Sequence[float], measured: Sequence[float]) -> None:
        """Take the commanded and the measured speeds of all wheels [rad/s], an interval [s] after the last call."""
        self._commanded = max(map(abs, commanded), default=0.0)
        stands = max(map(abs, measured), default=0.0) <= STALLED * self._commanded
        self._duration = self._duration + interval if stands and self._commanded >= TURNING else 0.0

    def text(self) -> str:
        """What is wrong, with likely causes; empty while the wheels turn or are not commanded to."""
        if self._duration < STALL:
            return ""
        return (
            f"no wheel turns, although {self._commanded:.1f} rad/s have been commanded for {self._duration:.0f} s; "
            "does the world load a physics system, and does each wheel joint have a controller of its own?"
        )


def configured(parameters: object, steering: bool) -> float:
    """Dead time plus time constant of steering or drive [s], by the parameters; the smallest of several actuators."""
    by_group: dict[str, float] = {}
    for parameter in describe(parameters):
        name = parameter.name
        delays = name.endswith(_DYNAMICS) and not any(word in name for word in _NO_DELAY)
        if delays and ("steer" in name) == steering:
            group = name.rpartition(".")[0] or name.partition("_")[0]
            by_group[group] = by_group.get(group, 0.0) + float(parameter.default)  # type: ignore[arg-type]
    return min(by_group.values(), default=0.0)


def allowed(dynamics: float) -> float:
    """The maximum small lag [s] for a sum of dead time and time constant [s]."""
    return max(SMALL * dynamics, SMALLEST)


SILENCE = 1.0  # time without messages after which a source counts as absent [s]
RECENT = 10.0  # time for which a failed request is reported [s]

NEVER = float("-inf")


class LinkHealth:
    """The health of a link, by the times of the last messages of each kind on the monotonic clock [s].

    Attributes:
        paused: Whether Gazebo runs and is paused.
    """

    def __init__(self, parameters: GazeboParameters, link: GazeboLink, joints: Sequence[str]) -> None:
        self._parameters = parameters
        self._link = link
        self._joints = list(joints)
        self._received = self._ticked = self._placed = self._read = self._failed = NEVER
        self._failure = ""
        self._missing: list[str] = []
        self._others: list[str] = []
        self._present = False
        self.paused = False

    def add(self, seen: Seen, now: float) -> None:
        """Note an observation at a time [s]."""
        self._received = now
        self._present = True
        if isinstance(seen, (Tick, Alive)):
            self._ticked = now
        if isinstance(seen, Tick):
            self.paused = False
        elif isinstance(seen, Placement):
            self._placed = now
        elif isinstance(seen, JointReadings):
            self._read = now
            self._missing = [name for name in self._joints if name not in seen.positions]
            self._others = sorted(set(seen.positions) - set(self._joints))
        elif isinstance(seen, Alive):
            self.paused = seen.paused

    def failed(self, failure: str, now: float) -> None:
        """Note that a request failed, at a time [s]."""
        self._failure, self._failed = failure, now

    def lost(self, now: float) -> bool:
        """Whether Gazebo has stopped responding; True once per outage."""
        if not self._present or now - self._received < SILENCE:
            return False
        self._present = self.paused = False
        return True

    @property
    def joints_complete(self) -> bool:
        """Whether Gazebo reports all joints of the vehicle."""
        return self._read > NEVER and not self._missing

    def verdict(self, now: float) -> tuple[Level, str]:
        """The present health, with a remedy."""
        model, fault = f"model '{self._parameters.model}'", self._link.fault()
        if not self._present:
            return self._absent(now, fault)
        if self.paused:
            return Level.WARN, "Gazebo is paused"
        if now - self._placed > SILENCE:
            return Level.ERROR, (
                f"{self._world()} runs, but nothing reports where {model} is; is it spawned under this name, with an "
                "OdometryPublisher on the topic of gazebo.odometry_topic?" + (f" Also, {fault}" if fault else "")
            )
        if now - self._ticked > SILENCE:
            return Level.ERROR, f"Gazebo's clock does not arrive; likely cause: {self._link.clock_cause}"
        if now - self._read > SILENCE:
            return Level.ERROR, (
                f"nothing reports the joints of {model}; it needs a {self._link.joint_reporter}, on the topic of "
                "gazebo.joint_states_topic"
            )
        if self._missing:
            return Level.ERROR, (
                f"{model} has no joint {_list(self._missing)}; its other joints are {_list(self._others)}. "
                "Set gazebo.joint_names as ours=theirs"
            )
        if fault:
            return Level.ERROR, fault
        return (Level.WARN, self._failure) if now - self._failed < RECENT else (Level.OK, "")

    def _absent(self, now: float, fault: str) -> tuple[Level, str]:
        if self._received > NEVER:
            return (
                Level.ERROR,
                f"Gazebo stopped responding {now - self._received:.0f} s ago; the vehicle stands until it is back",
            )
        partition = self._parameters.partition or os.environ.get("GZ_PARTITION", "")
        where = f" in partition '{partition}'" if partition and self._link.in_partition else ""
        return Level.WARN, "waiting for Gazebo: " + (fault or f"{self._world()}{where} has not been found")

    def values(self) -> tuple[tuple[str, str], ...]:
        """Names and values for a report."""
        state = "absent" if not self._present else "paused" if self.paused else "running"
        return (("Gazebo", state), ("model in Gazebo", self._parameters.model))

    def _world(self) -> str:
        return f"world '{self._parameters.world}'" if self._parameters.world else "the world"


def _list(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) if names else "none"
