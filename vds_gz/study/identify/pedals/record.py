"""A recording on even times: which cells of the map act when, and what they add to the speed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.ndimage import uniform_filter1d
from scipy.signal import lfilter

from vds_gz.study.identify.estimates import Array, noise
from vds_gz.study.identify.pedals.grid import Grid, shares_of
from vds_gz.study.identify.pedals.held import HeldPedal
from vds_gz.study.identify.pedals.pieces import INTERVAL, STANDING, Pieces, pieces_of
from vds_gz.study.identify.pedals.speeds import Bins, SpeedNoise, binned, median_speed, noise_of
from vds_gz.study.signals import Series, SignalError

#: Pedals and speeds must overlap by this [s].
LEAST_TIME = 2.0

#: Speeds are smoothed over this time before maps are read at them [s].
SMOOTHING = 0.3


@dataclass(frozen=True)
class Record:
    """A recording with what is known of its speed so far.

    Attributes:
        accel, brake, speed: As commanded and measured.
        grid: Of the maps.
        coasts: With no pedal the car does what its row says; else it keeps its speed.
        time: Even times.
        driven: The speed at them, at which the maps are read.
        noise: Of the measured speed.
        bins: The measured speed.
    """

    accel: Series
    brake: Series
    speed: Series
    grid: Grid
    coasts: bool
    time: Array
    driven: Array
    noise: SpeedNoise
    bins: Bins

    @cached_property
    def held(self) -> tuple[HeldPedal, HeldPedal]:
        """Accelerator and brake."""
        none = self.grid.none
        return (
            HeldPedal(self.accel, self.grid.pedals[none:]),
            HeldPedal(self.brake, -self.grid.pedals[: none + 1][::-1]),
        )

    @cached_property
    def smooth(self) -> Array:
        """The speed at which the maps are read."""
        return np.asarray(uniform_filter1d(self.driven, _WIDTH, mode="nearest"))

    @cached_property
    def at_speed(self) -> Array:
        """How much each column counts at each time."""
        return shares_of(np.clip(self.smooth, 0.0, self.grid.speeds[-1]), self.grid.speeds)

    @cached_property
    def pieces(self) -> Pieces:
        """Where the car drives."""
        level = max(noise(self.bins.value), 1e-3 * float(np.ptp(self.driven)))
        return pieces_of(self.smooth > STANDING + 2.0 * level / math.sqrt(_WIDTH))

    def shares(self, times: Array) -> tuple[Array, Array]:
        """In every interval of time: the mean share of each row, and the part in which the brake acts."""
        (accel, accel_part), (brake, brake_part) = (
            pedal.mean(self.time - delay, INTERVAL) for pedal, delay in zip(self.held, times[::2], strict=True)
        )
        brake = brake * (1.0 - accel_part)[:, None]
        rows = np.column_stack((brake[:, :0:-1], accel))
        none = self.grid.none
        rows[:, none] += brake[:, 0]
        if self.coasts:
            rows[:, none] += (1.0 - accel_part) * (1.0 - brake_part)
        return rows, brake_part * (1.0 - accel_part)

    def motions(self, times: Array) -> tuple[Array, Array, Array]:
        """What each cell's unit of acceleration adds to the speed since the piece's begin, at the even times.

        Returns:
            That, (times, cells); what a unit of acceleration at the begin of a drive adds, (times,); and how much of
            each cell was acting, (times, cells).
        """
        rows, braking = self.shares(times)
        presence = (rows[:, :, None] * self.at_speed[:, None, :]).reshape(len(self.time), -1)
        lag = np.maximum(np.where(braking > 0.5, times[3], times[1]), 1e-3)
        kept = np.exp(-INTERVAL / lag)
        # With a constant target: the acceleration's distance from it decays, and the speed gains the area below.
        area = lag * (1.0 - kept)
        gained = presence * INTERVAL + (_lagged(presence, kept) - presence) * area[:, None]
        passed = _sums(INTERVAL / lag)
        begin, launched = self.pieces.begin, self.pieces.launched
        launch = _sums(launched * np.exp(passed[begin] - passed) * area)
        speeds = _sums(gained)
        return speeds - speeds[begin], launch - launch[begin], presence


def record_of(accel: Series, brake: Series, speed: Series, grid: Grid, *, coasts: bool) -> Record:
    """A recording of whose speed nothing is known but what was measured.

    Raises:
        SignalError: Pedals and speeds hardly overlap.
    """
    first, last = min(accel.time[0], brake.time[0]), max(accel.time[-1], brake.time[-1])
    time = np.arange(max(speed.time[0], first), speed.time[-1], INTERVAL)
    if len(time) * INTERVAL < LEAST_TIME or last <= speed.time[0]:
        raise SignalError(
            f"pedals were commanded from {first:.2f} to {last:.2f} s, speeds were measured from {speed.time[0]:.2f} to "
            f"{speed.time[-1]:.2f} s; they must overlap by {LEAST_TIME:g} s at least. Are the clocks the same?"
        )
    median = median_speed(speed, SMOOTHING)
    residuals = speed.value - median
    found = noise_of(residuals, float(np.ptp(median)), approach=True)
    driven = np.interp(time, speed.time, median)
    bins = binned(speed, found.weights(residuals)[0])
    return Record(accel, brake, speed, grid, coasts, time, driven, found, bins)


def with_model(record: Record, modelled: Array) -> Record:
    """The recording with the speed of a model, and with the noise that this leaves.

    Args:
        record: As it was.
        modelled: At the even times.
    """
    residuals = record.speed.value - np.interp(record.speed.time, record.time, modelled)
    driving = record.pieces.at(record.time, record.speed.time) >= 0
    found = noise_of(residuals[driving], float(np.ptp(record.driven)))
    bins = binned(record.speed, found.weights(residuals)[0])
    return replace(record, driven=modelled, noise=found, bins=bins)


#: Even times that are smoothed over.
_WIDTH = max(1, round(SMOOTHING / INTERVAL))


def _lagged(target: Array, kept: Array) -> Array:
    """A first-order lag from 0 behind targets (times, cells), of which so much (times,) is kept from time to time."""
    lagged = np.zeros_like(target)
    changes = [0, *(np.flatnonzero(np.diff(kept)) + 1), len(kept) - 1]
    for start, end in pairwise(changes):
        if start < end:
            one, state = kept[start], kept[start] * lagged[start : start + 1]
            lagged[start + 1 : end + 1] = lfilter([1.0 - one], [1.0, -one], target[start:end], axis=0, zi=state)[0]
    return lagged


def _sums(rows: Array) -> Array:
    """The sum of what was before each time."""
    return np.concatenate((np.zeros_like(rows[:1]), np.cumsum(rows[:-1], axis=0)))
