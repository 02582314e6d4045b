"""Where to begin: many candidates for dead times, lags and limits, simulated side by side in long steps.

A Latin hypercube (M. McKay et al., Technometrics 21, 1979), then some rounds in which the best exchange the numbers of
their actuators: what a drive does and what a steering does can be judged nearly by themselves. Gains and offsets are
those of a straight line between prediction and measurement, so that nothing has to be looked for in these directions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter

from vds_gz.study.identify.estimates import Array, noise
from vds_gz.study.identify.forward.part import VehicleFamily, VehiclePart
from vds_gz.study.identify.forward.pieces import Piece
from vds_gz.study.identify.forward.unknowns import UNLIMITED, Actuation, Kind, Unknown
from vds_gz.study.identify.signals import POSES, MeasuredChannel, Series

#: Candidates of the first round and of each other one, for each number that is looked for; how many of the best
#: exchange numbers.
FIRST, NEXT, ROUNDS, PARENTS = 80, 40, 3, 40

#: Samples of a channel, and the longest step of the search [s].
SAMPLES, STEP = 400, 0.004

#: A dead time is looked for up to this [s], or longer if that fits best; a time constant in these bounds [s].
LONGEST_DEAD_TIME = 1.0
TIME_CONSTANTS = 0.004, 2.0

#: A limit is looked for around what came up, as a part of it, or is none with this probability.
AROUND, NO_LIMIT_RATE = (0.5, 1.6), 0.3

#: A piece that is longer than what is wanted by no more than this is not cut [s].
WHOLE = 15.0

#: Quantities that add up what actuators do.
INTEGRALS = (*POSES, "joint_position")

#: Samples that stick out of their neighbours by so many standard deviations do not count here.
OUTLIER = 12.0


@dataclass(frozen=True)
class Candidates:
    """Points, best first.

    Attributes:
        points: Coordinates, (candidates, unknowns).
        scores: Logarithm of what is left of all channels.
    """

    points: Array
    scores: Array

    def best(self, count: int) -> Candidates:
        """The best ones."""
        order = np.argsort(self.scores, kind="stable")[:count]
        return Candidates(self.points[order], self.scores[order])

    def and_these(self, others: Candidates) -> Candidates:
        """All of both."""
        return Candidates(np.concatenate([self.points, others.points]), np.concatenate([self.scores, others.scores]))


class Search:
    """The search in one piece of a recording."""

    def __init__(
        self,
        family: VehicleFamily,
        piece: Piece,
        actuators: Mapping[str, Actuation],
        reached: Mapping[str, float],
        *,
        seed: int = 0,
    ) -> None:
        """Prepare it.

        Args:
            family: What is looked for.
            piece: The piece that tells most.
            actuators: Of the model, whose numbers are exchanged together.
            reached: Of limits by their names, what came up.
            seed: Of the candidates.
        """
        self.family = family
        self._random = np.random.default_rng(seed)
        self._part = VehiclePart(family, thinned(piece))
        self._reached = reached
        names = [one.name for one in family.unknowns]
        self._groups = [
            np.array([names.index(name) for name in one.named().values() if name in names], np.intp)
            for one in actuators.values()
        ]
        self._looked_for = np.concatenate(self._groups) if self._groups else np.empty(0, np.intp)

    def run(self, begin: Array, count: int) -> Candidates:
        """The best candidates.

        Args:
            begin: A point, which gives what is not looked for.
            count: How many are wanted.
        """
        if not len(self._looked_for):
            return self.judged(begin[np.newaxis])
        longest = min(LONGEST_DEAD_TIME, 0.2 * self._part.duration)
        found = self.judged(self._hypercube(begin, longest))
        if self._at_edge(found.best(8).points, longest):
            found = found.and_these(self.judged(self._hypercube(begin, min(4.0 * longest, 0.4 * self._part.duration))))
        for k in range(ROUNDS):
            found = found.and_these(self.judged(self._children(found.best(PARENTS).points, 0.5**k)))
        return found.best(count)

    def _at_edge(self, points: Array, longest: float) -> bool:
        dead = [k for k in self._looked_for if self.family.unknowns[k].kind is Kind.DEAD_TIME]
        return bool((points[:, dead] > 0.85 * longest).any())

    def _hypercube(self, begin: Array, longest: float) -> Array:
        """The candidates of the first round."""
        count = FIRST * len(self._looked_for)
        points = np.tile(begin, (count, 1))
        for k in self._looked_for:
            places = (self._random.permutation(count) + self._random.uniform(size=count)) / count
            points[:, k] = self._spread(self.family.unknowns[k], places, longest)
        return points

    def _spread(self, unknown: Unknown, places: Array, longest: float) -> Array:
        """Coordinates of an unknown, evenly by probability."""
        if unknown.kind is Kind.DEAD_TIME:
            return self._whole(longest * places**1.5)
        if unknown.kind is Kind.TIME_CONSTANT:
            low, high = map(math.log, TIME_CONSTANTS)
            return np.maximum(np.exp(low + (high - low) * places), unknown.lowest)
        low, high = (math.log(part * max(self._reached[unknown.name], 1e-3)) for part in AROUND)
        some = (places - NO_LIMIT_RATE) / (1.0 - NO_LIMIT_RATE)
        return np.where(some < 0.0, math.log(UNLIMITED), low + (high - low) * some)

    def _children(self, parents: Array, spread: float) -> Array:
        """The next candidates: each actuator has the numbers of one of the best, a little changed."""
        count = NEXT * len(self._looked_for)
        children = parents[self._random.integers(len(parents), size=count)]
        for group in self._groups:
            children[:, group] = parents[self._random.integers(len(parents), size=count)][:, group]
            for k in group:
                unknown = self.family.unknowns[k]
                changed = self._random.normal(0.0, spread, count) * (self._random.uniform(size=count) < 0.7)
                if unknown.kind is Kind.DEAD_TIME:
                    children[:, k] = self._whole(np.maximum(children[:, k] + 0.06 * changed, 0.0))
                elif unknown.kind is Kind.TIME_CONSTANT:
                    children[:, k] = np.maximum(children[:, k] * np.exp(0.5 * changed), unknown.lowest)
                else:
                    limited = children[:, k] < math.log(UNLIMITED)
                    children[limited, k] = np.minimum(
                        children[limited, k] + 0.2 * changed[limited], math.log(UNLIMITED) - 1.0
                    )
        return children

    def _whole(self, dead_time: Array) -> Array:
        """Dead times in whole steps, which need no vehicle besides."""
        dt = self._part.piece.dt
        return np.asarray(np.rint(dead_time / dt) * dt)

    def judged(self, points: Array) -> Candidates:
        """Candidates with their scores, and with the gains and offsets that fit best."""
        own = np.tile(self._part.own_begin, (len(points), 1))
        predicted = self._part.evaluate(points, own, None).predicted
        scores = np.zeros(len(points))
        points = points.copy()
        for channel in np.unique(self._part.channel):
            samples = self._part.channel == channel
            slope, offset, left = _line(predicted[:, samples], self._part.measured[samples])
            scores += samples.sum() * np.log(left)
            self._take_over(points, int(channel), slope, offset)
        return Candidates(points, np.where(np.isfinite(scores), scores, np.inf))

    def _take_over(self, points: Array, channel: int, slope: Array, offset: Array) -> None:
        """Use a channel's gain and offset; its limits are of what the vehicle does then."""
        quantity = next(one.quantity for index, one in self._part.piece.channels if index == channel)
        target = {"steering": "steering_angle"}.get(quantity, quantity)
        usual = (slope > 0.5) & (slope < 2.0)
        for k, one in enumerate(self.family.unknowns):
            if one.kind is Kind.OFFSET and one.channel == channel:
                points[:, k] = np.where(usual, offset, 0.0)
            elif one.kind is Kind.GAIN and one.target == target:
                points[:, k] = np.where(usual, slope, 1.0)
            elif one.name == "wheel_base" and quantity == "yaw_rate":
                points[:, k] /= np.where((slope > 0.02) & (slope < 4.9), slope, 1.0)


def _line(predicted: Array, measured: Array) -> tuple[Array, Array, Array]:
    """Slope and offset of the measurement over each prediction, and the part of the range that is left."""
    x = predicted - predicted.mean(axis=1, keepdims=True)
    y = measured - measured.mean()
    power = np.einsum("nm,nm->n", x, x)
    total = float(y @ y) + 1e-300
    slope = np.clip(x @ y / np.maximum(power, 1e-12 * total), -5.0, 5.0)
    left = total - 2.0 * slope * (x @ y) + slope**2 * power
    # A gain far from 1 explains rarely what a vehicle does.
    left = left + 0.02 * total * np.log(np.clip(np.abs(slope), 0.05, 20.0)) ** 2 + total * (slope < 0.0)
    offset = measured.mean() - slope * predicted.mean(axis=1)
    return slope, offset, np.sqrt(np.maximum(left / total, 1e-8))


def thinned(piece: Piece) -> Piece:
    """A piece in longer steps, with fewer samples, and without those that stick out.

    Dead times are looked for in these steps, too. Poses and wheels' angles, which are integrals, are left out where
    anything else was measured; the poses of a source keep their common times.
    """
    factor = max(1, int(STEP / piece.dt + 1e-9))
    channels = []
    rates = [(index, one) for index, one in piece.channels if one.hinge or one.quantity not in INTEGRALS]
    for index, one in rates or piece.channels:
        time, value = one.series.time, one.series.value
        if one.quantity not in POSES:
            kept = ~outliers(value)
            time, value = time[kept], value[kept]
        every = max(1, len(time) // SAMPLES)
        channels.append((index, replace(one, series=Series(time[every // 2 :: every], value[every // 2 :: every]))))
    begins = -(-piece.begins // factor)
    return replace(piece, dt=piece.dt * factor, begins=begins, channels=tuple(channels))


def outliers(measured: Array) -> NDArray[np.bool_]:
    """Samples that stick out of their neighbours by far more than noise: no motion that goes on does."""
    if len(measured) < 20:
        return np.zeros(len(measured), bool)
    away = np.abs(measured - median_filter(measured, 5, mode="mirror"))
    spread = float(np.ptp(np.percentile(measured, (5, 95))))
    return np.asarray(away > OUTLIER * noise(measured) + 0.05 * spread)


def most_moving(pieces: Sequence[Piece], seconds: float) -> Piece:
    """Of all pieces the part of so many seconds in which the commands change most.

    It keeps what was commanded before, so that it begins as the piece does.
    """
    best: tuple[float, Piece, float, float] | None = None
    for piece in pieces:
        moved = np.zeros(len(piece.begins))
        for name in ("v_x", "v_y", "yaw_rate", "steering_angle", "target_acceleration"):
            change = np.abs(np.diff(piece.commands[name], prepend=piece.commands[name][0]))
            moved += change / max(float(change.max()), 1e-12) if change.any() else 0.0
        total = np.concatenate([[0.0], np.cumsum(moved)])
        at = piece.begins * piece.dt
        ends = np.searchsorted(at, at + seconds, side="right")
        gain = total[ends] - total[np.arange(len(at))]
        whole = piece.duration <= seconds + WHOLE
        k = 0 if whole else int(np.argmax(gain))
        if best is None or gain[k] > best[0]:
            best = float(gain[k]), piece, float(at[k]), math.inf if whole else float(at[k]) + seconds
    assert best is not None
    _, piece, begin, end = best
    return within(piece, begin, end)


def within(piece: Piece, begin: float, end: float) -> Piece:
    """The part of a piece from one time since its origin to another [s], with the commands of some time before it."""
    if begin <= 0.0 and end >= piece.duration:
        return piece
    first = max(int(np.searchsorted(piece.begins * piece.dt, max(begin - 10.0, 0.0), side="right")) - 1, 0)
    last = max(int(np.searchsorted(piece.begins * piece.dt, end, side="right")), first + 1)
    shift = int(piece.begins[first])
    begin, end = piece.origin + begin, piece.origin + end
    channels = []
    for index, one in piece.channels:
        inside = _inside(one, max(begin, piece.origin + (shift + 1) * piece.dt), end)
        if len(inside.series.time):
            channels.append((index, inside))
    return replace(
        piece,
        origin=piece.origin + shift * piece.dt,
        commands=piece.commands[first:last],
        begins=piece.begins[first:last] - shift,
        channels=tuple(channels),
    )


def _inside(channel: MeasuredChannel, begin: float, end: float) -> MeasuredChannel:
    time = channel.series.time
    inside = (time >= begin) & (time <= end)
    return replace(channel, series=Series(time[inside], channel.series.value[inside]))
