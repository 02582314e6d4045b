"""Confidence intervals by the profile of the likelihood.

The profile of an unknown is the minimum deviance for each of its values, the others being found again; the interval
ends where it has risen by what chance would (D. J. Venzon, S. H. Moolgavkar, J. R. Stat. Soc. C 37, 1988). It needs no
quadratic likelihood, and has sides of different lengths where the data say more on one side.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from vds_gz.study.identify.solver.gauss_newton import solve
from vds_gz.study.identify.solver.intervals import Intervals, covariance, linear_intervals, rise
from vds_gz.study.identify.solver.normal_equations import EXCITED
from vds_gz.study.identify.solver.protocol import Array, Indices, Mask, Problem, Solution

#: An end is found when the root of the deviance's rise is this close to what it should be; what is left is
#: proportional.
CLOSE = 0.05

#: The deviances of a profile are found to this, a thousandth of an end's distance.
PRECISE = 0.01

#: So many values of each end are tried at most; the next one is at most this many times as far.
ROUNDS, FARTHER = 12, 4.0

#: Beyond so many times the root's rise at an end, the likelihood is no parabola any more: a limit that was met leaps.
STEEP = 4.0

#: An end is known to this part of its distance if the likelihood leaps there.
LEAP = 0.02

#: A solution is not the best one if a profile falls below it by this.
BETTER = 0.1

#: So often a profile begins again at most, from a better solution.
RESTARTS = 3


def profile_intervals(problem: Problem, solution: Solution, which: int, free: Mask) -> Intervals:
    """Intervals by the profile of the likelihood, all unknowns and both sides at once.

    Args:
        problem: The data.
        solution, which: The point that was found from one start.
        free: Unknowns that were free, (p,); the intervals of others have no length.
    """
    best = solution.of([which])
    for _ in range(RESTARTS):
        better = _Profile(problem, best, free).run()
        if isinstance(better, Intervals):
            return better
        best = solve(problem, better, free=free[None], warm=True)
    return linear_intervals(problem, best, 0, free)


class _Profile:
    """The ends of all intervals on their way; one end for each free unknown and side."""

    def __init__(self, problem: Problem, best: Solution, free: Mask) -> None:
        self.problem, self.best, self.free, self.space = problem, best, free, problem.space
        self.unknown = np.repeat(np.flatnonzero(free), 2)
        self.side = np.tile([-1.0, 1.0], int(free.sum()))
        self.start = best.points[0, self.unknown]
        self.bound = np.where(self.side < 0.0, self.space.lower[self.unknown], self.space.upper[self.unknown])
        self.limit = np.abs(self.bound - self.start)
        self.goal = math.sqrt(rise(problem, int(free.sum())))
        self.covariance = covariance(best.information[0])
        deviation = np.sqrt(np.diag(self.covariance)[self.unknown])
        scale = self.space.scale[self.unknown]
        self.distance = np.minimum(np.where(deviation < EXCITED * scale, self.goal * deviation, scale), self.limit)
        count = len(self.unknown)
        self.inside, self.outside = np.zeros((2, count)), np.full((2, count), np.inf)  # distance, root of the rise
        self.determined, self.done = np.zeros(count, bool), self.limit <= 0.0
        self.now, self.at = best.of([0] * count), np.zeros(count)  # the last solutions, and at which distances

    def run(self) -> Intervals | Solution:
        """The intervals; or a better solution than the best one, if one comes up."""
        self._look()
        for _ in range(ROUNDS):
            rows = np.flatnonzero(~self.done)
            if not len(rows):
                break
            found = self._solved(rows)
            if found.deviance[found.best] < self.best.deviance[0] - BETTER:
                return found.of([found.best])
            self._learn(rows, np.sqrt(np.maximum(found.deviance - self.best.deviance[0], 0.0)))
        passed = ~self.done & np.isfinite(self.outside[0])
        self.determined |= passed
        self.distance = np.where(passed, self.outside[0], self.distance)
        return self._intervals()

    def _intervals(self) -> Intervals:
        ends = np.tile(self.best.points[0], (2, 1))
        determined = np.tile(~self.free, (2, 1))
        place = (self.side > 0.0).astype(np.intp)
        values = ends[place, self.unknown] + self.side * self.distance
        ends[place, self.unknown] = np.where(self.determined, values, self.bound)
        determined[place, self.unknown] = self.determined
        return Intervals(ends[0], ends[1], determined.T, self.best)

    def _look(self) -> None:
        """Take the ends that the curvature gives where the deviance there is as it says, which needs no fit.

        It is never less than the profile's.
        """
        rows = np.flatnonzero(~self.done)
        if not len(rows):
            return
        points = self._places(rows)
        held = np.zeros(points.shape, bool)
        found = solve(self.problem, replace(self.now.of(rows), points=points), free=held, warm=True, iterations=1)
        z = np.sqrt(np.maximum(found.deviance - self.best.deviance[0], 0.0))
        right = rows[np.abs(z / self.goal - 1.0) < CLOSE]
        self.determined[right] = self.done[right] = True

    def _solved(self, rows: Indices) -> Solution:
        """The best of the others, with each unknown held at its distance."""
        free = np.repeat(self.free[None], len(rows), axis=0)
        free[np.arange(len(rows)), self.unknown[rows]] = False
        start = replace(self.now.of(rows), points=self._places(rows))
        found = solve(self.problem, start, free=free, warm=True, tolerance=PRECISE)
        good = np.flatnonzero(np.isfinite(found.deviance))
        self.now.put(rows[good], found.of(good))
        self.at[rows[good]] = self.distance[rows[good]]
        return found

    def _places(self, rows: Indices) -> Array:
        """Points at the distances of the ends, (rows, p)."""
        points = self.now.points[rows] + self._tangents(rows)
        values = self.start[rows] + self.side[rows] * self.distance[rows]
        points[np.arange(len(rows)), self.unknown[rows]] = np.where(
            self.distance[rows] < self.limit[rows], values, self.bound[rows]
        )
        return points

    def _tangents(self, rows: Indices) -> Array:
        """What the other unknowns change while one goes on, (rows, p): as they did last, or as the curvature says."""
        variance = np.diag(self.covariance)
        # What the data do not separate stays: it would go anywhere.
        separate = np.isfinite(variance) & (variance > 0.0)
        slopes = np.where(separate & separate[:, None], self.covariance / np.where(separate, variance, 1.0), 0.0)
        slopes = slopes.T[self.unknown[rows]] * self.side[rows, None]
        at = self.at[rows, None]
        slopes = np.where(at > 0.0, (self.now.points[rows] - self.best.points) / np.where(at > 0.0, at, 1.0), slopes)
        return np.asarray(slopes * (self.distance[rows, None] - at))

    def _learn(self, rows: Indices, root: Array) -> None:
        """Where to look next, from the roots of the rises at these distances."""
        for row, z in zip(rows, root, strict=True):
            distance = self.distance[row]
            if abs(z / self.goal - 1.0) < CLOSE:
                self.determined[row] = self.done[row] = True
                self.distance[row] = min(distance * self.goal / z, self.limit[row])
                continue
            (self.inside if z < self.goal else self.outside)[:, row] = distance, z
            if z < self.goal and distance >= self.limit[row]:
                self.done[row] = True
                continue
            near, far = self.inside[0, row], self.outside[0, row]
            # A likelihood that leaps has its end where it does. Beyond where anything could be excited, there is none.
            self.determined[row] = math.isfinite(far) and far - near < LEAP * far
            there_is_none = near > EXCITED * self.space.scale[self.unknown[row]]
            self.done[row] = self.determined[row] or there_is_none
            if not self.done[row]:
                self.distance[row] = min(self._between(row), self.limit[row])

    def _between(self, row: int) -> float:
        """A distance between the largest one inside and the smallest one outside, or beyond all."""
        inside, low = self.inside[:, row].tolist()
        outside, high = self.outside[:, row].tolist()
        ahead = inside * self.goal / max(low, 1e-9)  # if the root goes on as up to here
        if not math.isfinite(outside):
            return float(min(max(1.1 * ahead, 1.2 * inside), FARTHER * inside))
        if high < STEEP * self.goal:
            ahead = inside + (self.goal - low) / (high - low) * (outside - inside)
        elif not inside < ahead < outside:
            ahead = 0.5 * (inside + outside)
        margin = 0.1 * (outside - inside)
        return float(min(max(ahead, inside + margin), outside - margin))
