"""Measurements and a model: residuals over time and their autocorrelation."""

from __future__ import annotations

import math
from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vds_gz.study.identify.results import OUTLIER_WEIGHT, Channel
from vds_gz.study.identify.words import is_noiseless
from vds_gz.study.recording import Array
from vds_gz.study.report.style import ACTUAL, BODY, COMMANDED, INK, STYLE, literal

#: Approximate number of points of a curve, and lags of an autocorrelation.
POINTS, LAGS = 6000, 30

#: 95 % of white noise's autocorrelations are within this many standard deviations.
WHITE = 1.96


def channels_figure(channels: Sequence[Channel], titles: Sequence[str]) -> Figure:
    """For each channel: command, measurement, model, residual, and its autocorrelation."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(12.0, 2.9 * len(channels) + 0.5), dpi=100, layout="constrained")
        heights = [part for _ in channels for part in (2.4, 1.0)]
        grid = figure.add_gridspec(2 * len(channels), 2, height_ratios=heights, width_ratios=(4.2, 1.0))
        first: Axes | None = None
        labels: dict[str, Artist] = {}
        for k, (channel, title) in enumerate(zip(channels, titles, strict=True)):
            panel = figure.add_subplot(grid[2 * k, 0], sharex=first)
            first = first or panel
            below = figure.add_subplot(grid[2 * k + 1, 0], sharex=first)
            beside = figure.add_subplot(grid[2 * k : 2 * k + 2, 1])
            _draw_signals(panel, channel, title)
            _draw_residuals(below, channel)
            _draw_autocorrelation(beside, channel)
            last = k == len(channels) - 1
            panel.tick_params(labelbottom=False)
            below.tick_params(labelbottom=last)
            if last:
                below.set_xlabel("time [s]")
            for one in (panel, below, beside):
                labels |= dict(zip(*reversed(one.get_legend_handles_labels()), strict=True))
        figure.legend(labels.values(), labels, loc="outside upper right", ncols=5)
        return figure


def _draw_signals(panel: Axes, channel: Channel, title: str) -> None:
    few = slice(None, None, max(1, len(channel.time) // POINTS))
    time = channel.time[few]
    if channel.commanded is not None:
        panel.step(time, channel.commanded[few], where="post", color=COMMANDED, linewidth=1.2, label="commanded")
    panel.plot(time, channel.measured[few], ".", color=ACTUAL, markersize=2.0, alpha=0.5, label="measured")
    panel.plot(time, channel.modelled[few], color=INK, linewidth=1.1, label="model")
    panel.set_title(literal(f"{title.replace('_', ' ')} [{channel.unit}]"))


def _draw_residuals(panel: Axes, channel: Channel) -> None:
    left = channel.measured - channel.modelled
    counted = channel.weight >= OUTLIER_WEIGHT
    few = np.flatnonzero(counted)[:: max(1, int(counted.sum()) // POINTS)]
    panel.plot(channel.time[few], left[few], ".", color=ACTUAL, markersize=1.5)
    high = max(1.15 * float(np.max(np.abs(left[counted]), initial=0.0)), 3.0 * channel.noise)
    if high > 0.0:
        panel.set_ylim(-high, high)
        outliers = np.clip(left[~counted], -0.9 * high, 0.9 * high)
        panel.plot(channel.time[~counted], outliers, "x", color=COMMANDED, markersize=3.0, label="outlier")
    panel.set_ylabel("left")


def _draw_autocorrelation(panel: Axes, channel: Channel) -> None:
    left = np.where(channel.weight >= OUTLIER_WEIGHT, channel.measured - channel.modelled, 0.0)
    panel.set_title("autocorrelation of what is left", fontweight="normal", fontsize=9.0)
    if is_noiseless(channel):
        panel.text(0.5, 0.5, "nothing is left", transform=panel.transAxes, ha="center")
        panel.set_axis_off()
        return
    found = autocorrelation(left, LAGS)
    band = WHITE / math.sqrt(max(len(left), 1))
    panel.axhspan(-band, band, color=BODY, alpha=0.5, linewidth=0.0, label="95 % of white noise")
    panel.vlines(np.arange(1, len(found)), 0.0, found[1:], color=ACTUAL, linewidth=2.0)
    panel.axhline(0.0, color=INK, linewidth=0.8)
    panel.set_ylim(-1.05 if found.min(initial=0.0) < -0.3 else -0.35, 1.05)
    panel.set_xlabel("lag [samples]")


def autocorrelation(values: Array, lags: int) -> Array:
    """Autocorrelation of values about 0, at lags from 0 on; zeros if all values are 0."""
    count = min(lags, len(values) - 1)
    power = float(values @ values)
    if count < 1 or power <= 0.0:
        return np.zeros(max(count, 0) + 1)
    return np.array([1.0, *(float(values[lag:] @ values[:-lag]) / power for lag in range(1, count + 1))])
