"""Localization that behaves like Nav2's AMCL, without particles.

AMCL updates ``map -> odom`` only at a scan after the odometry has moved far enough, and holds it between updates. So
the pose in the map drifts with the odometry and then steps. The error of an update is random, and correlated with the
previous one over the distance between them.
"""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vds_gz.core.geometry import Pose
from vds_gz.core.parameters.node import LocalizationParameters
from vds_gz.core.sensing.localization import DriftingOdometry, Odometry

Deviations = tuple[float, float, float]  # standard deviations of x, y [m] and heading [rad]

#: Default standard deviations of an initial pose: AMCL's ``initial_cov_*``.
INITIAL: Deviations = (0.5, 0.5, math.pi / 12.0)

GLOBAL: Deviations = (5.0, 5.0, math.pi / 2.0)  # standard deviations of particles that are spread over the map

#: If an initial pose is off by more than this many of its standard deviations, no particles are near the vehicle.
REACH = 3.0

#: Distance equivalent to a rotation: by default, AMCL updates after 0.25 m or 0.2 rad.
METRES_PER_RADIAN = 1.25

NANOSECONDS = 1_000_000_000


class Scan(NamedTuple):
    """The result of a scan."""

    time: int  # time of the scan [ns]
    T_map_odom: Pose  # the odometry's frame in the map
    T_map_base: Pose | None = None  # the estimated pose of the vehicle; None if the scan caused no update
    variances: tuple[float, float, float] = (0.0, 0.0, 0.0)  # of its x, y [m^2] and heading [rad^2]; without jumps


class Amcl(DriftingOdometry):
    """Drifting odometry, and localization in the map.

    Attributes:
        parameters: Parameters of localization and odometry; ``parameters.seed`` seeds the noise of both.
        T_map_odom: The frame ``odom`` in the map, of the last scan whose result is available.
        active: Whether scans are processed.
    """

    _last: tuple[int, Pose] | None
    _mistake: Pose
    _error: NDArray[np.float64]  # of x, y and heading, along the map's axes like the variances
    _spread: NDArray[np.float64]

    def __init__(self, parameters: LocalizationParameters, pose: Pose) -> None:
        self.parameters = parameters
        self.active = parameters.amcl.lifecycle != "managed"
        self.reset(pose)

    def reset(self, pose: Pose) -> None:
        """Restart, with the same noise."""
        driving, drawing = np.random.SeedSequence(self.parameters.seed).spawn(2)
        self._random = np.random.default_rng(drawing)
        self._odometry = Odometry(pose, np.random.default_rng(driving))
        self._T_map_base = pose
        self._scans: deque[Scan] = deque()
        self._scan: int | None = None
        self.T_map_odom = Pose()
        self.forget()
        if self.active:
            self._begin()

    def update(self, time: int, truth: Pose) -> list[Scan]:
        """Take the true pose of base_link in the map at a time [ns]; return the scans whose results are new."""
        p = self.parameters.amcl
        self._odometry.update(truth, self.parameters)
        self._T_map_base = truth
        if self._scans and time < self._scans[-1].time:
            self._scans.clear()  # time has jumped back
        if self._scans_at(time) and self.active and self._known:
            self._scans.append(self._estimate(time) if self._due() else Scan(time, self._newest_T_map_odom))
        ready = []
        latency = round(p.latency * NANOSECONDS)  # an integer, because floats near the system's time are 256 ns apart
        while self._scans and self._scans[0].time + latency <= time:
            ready.append(self._scans.popleft())
            self.T_map_odom = ready[-1].T_map_odom
        return ready

    def set_pose(self, pose: Pose) -> None:
        """Move the vehicle by hand, which neither odometry nor localization notices."""
        self._mistake = self._mistake.then(self._T_map_base).then(pose.inverse())
        self._odometry.set_pose(pose)
        self._T_map_base = pose

    def initialise(self, pose: Pose, deviations: Deviations) -> None:
        """Take an initial pose.

        If it is off by at most :data:`REACH` deviations along the map's axes and in heading, AMCL finds the vehicle;
        else it continues from the wrong place. Deviations that are not positive are replaced by the defaults.
        """
        spread = [std if std > 0.0 else default for std, default in zip(deviations, INITIAL, strict=True)]
        near = bool(np.all(np.abs(_difference(pose, self._T_map_base)) <= REACH * np.array(spread)))
        self._mistake = Pose() if near else pose.then(self._T_map_base.inverse())
        self._begin_at(spread, np.array(_difference(pose, self._T_map_base)) if near else np.zeros(3))

    def globalise(self) -> None:
        """Search the whole map, as after ``reinitialize_global_localization``."""
        self._mistake = Pose()
        self._begin_at(GLOBAL, np.array(GLOBAL) * self._random.standard_normal(3))

    def request_update(self) -> None:
        """Update with the next scan, also without motion; it counts as one after at least ``update_min_d``."""
        self._requested = True

    def activate(self) -> None:
        """Process scans from now on."""
        self.active = True
        self._begin()

    def deactivate(self) -> None:
        """Process no scans from now on."""
        self.active = False
        self._scans.clear()

    def forget(self) -> None:
        """Forget the vehicle's pose."""
        self._known = self._requested = False
        self._last, self._mistake = None, Pose()
        self._error = self._spread = np.zeros(3)
        self._newest_T_map_odom = self.T_map_odom

    def _begin(self) -> None:
        if self.parameters.amcl.set_initial_pose:
            self.initialise(self._T_map_base, INITIAL)

    def _begin_at(self, spread: list[float] | Deviations, error: NDArray[np.float64]) -> None:
        self._known, self._last = True, None
        self._spread = np.array(spread)
        self._error = error + self._deviations() * self._random.standard_normal(3)

    def _scans_at(self, time: int) -> bool:
        """Whether a period begins at this time [ns], or has begun since the last update."""
        period = round(NANOSECONDS / self.parameters.amcl.scan_rate)
        before, self._scan = self._scan, time // period
        return self._scan != ((time - 1) // period if before is None else before)

    def _deviations(self) -> NDArray[np.float64]:
        p = self.parameters.amcl
        return np.array((p.position_std, p.position_std, p.heading_std))

    def _due(self) -> bool:
        """Whether a scan causes an update."""
        if self._last is None or self._requested:
            return True
        p, moved = self.parameters.amcl, np.abs(_difference(self.T_odom_base, self._last[1]))
        return bool(moved[0] > p.update_min_d or moved[1] > p.update_min_d or moved[2] > p.update_min_a)

    def _estimate(self, time: int) -> Scan:
        """Draw the error of an update and hold the result."""
        p = self.parameters.amcl
        before, start = self._last or (time, self.T_odom_base)
        x, y, turn = _difference(self.T_odom_base, start)
        distance = math.hypot(x, y) + METRES_PER_RADIAN * abs(turn)
        if self._requested:
            distance = max(distance, p.update_min_d)
        keep = math.exp(-distance / p.correlation_distance)
        drawn = self._deviations() * self._random.standard_normal(3)
        self._error = keep * self._error + math.sqrt(1.0 - keep * keep) * drawn + self._jump((time - before) * 1e-9)
        self._spread = keep * self._spread
        believed, (x, y, turn) = self._mistake.then(self._T_map_base), self._error.tolist()
        T_map_base = Pose(believed.x + x, believed.y + y, believed.heading + turn)
        self._newest_T_map_odom = T_map_base.then(self.T_odom_base.inverse())
        self._last, self._requested = (time, self.T_odom_base), False
        x, y, turn = (self._deviations() ** 2 + self._spread**2).tolist()
        return Scan(time, self._newest_T_map_odom, T_map_base, (x, y, turn))

    def _jump(self, seconds: float) -> NDArray[np.float64]:
        p = self.parameters.amcl
        chance, direction = self._random.random(2)
        if chance >= -math.expm1(-p.jump_rate * seconds):
            return np.zeros(3)
        angle = math.tau * direction
        return np.array((p.jump_size * math.cos(angle), p.jump_size * math.sin(angle), 0.0))


def _difference(pose: Pose, other: Pose) -> tuple[float, float, float]:
    """Difference of two poses along the axes of their frame [m] and in heading [rad]."""
    return pose.x - other.x, pose.y - other.y, math.remainder(pose.heading - other.heading, math.tau)
