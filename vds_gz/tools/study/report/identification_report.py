"""Report on an identified vehicle: tables, pictures, and an HTML file with all of them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vds_gz.core.arrays import Array
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.parameters.yaml_reader import INTERVAL
from vds_gz.tools.study.identify.estimates import WIDTH
from vds_gz.tools.study.identify.exports import NOT_MET, exports
from vds_gz.tools.study.identify.labels import is_noiseless, named, noise_words, prediction_words, recordings_needed
from vds_gz.tools.study.identify.problem.command_hold import MAX_AGE
from vds_gz.tools.study.identify.results import LIMITS, OUTLIER_WEIGHT, TIMES, Channel, VehicleFit
from vds_gz.tools.study.recording import QUANTITIES
from vds_gz.tools.study.report.style import ACTUAL, BODY, COMMANDED, INK, STYLE, literal, show_usual
from vds_gz.tools.study.report.text import ReportPage

#: Approximate number of points of a curve, and lags of an autocorrelation.
POINTS, LAGS = 6000, 30


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
            for axes in (panel, below, beside):
                labels |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        figure.legend(labels.values(), labels, loc="outside upper right", ncols=5)
        return figure


def _draw_signals(panel: Axes, channel: Channel, title: str) -> None:
    few = slice(None, None, max(1, len(channel.time) // POINTS))
    time = channel.time[few]
    if channel.commanded is not None:
        panel.step(time, channel.commanded[few], where="post", color=COMMANDED, linewidth=1.2, label="commanded")
    panel.plot(time, channel.measured[few], ".", color=ACTUAL, markersize=2.0, alpha=0.5, label="measured")
    panel.plot(time, channel.modelled[few], color=INK, linewidth=1.1, label="model")
    show_usual(panel, channel.measured, channel.modelled)
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
    panel.set_ylabel("residual")


def _draw_autocorrelation(panel: Axes, channel: Channel) -> None:
    left = np.where(channel.weight >= OUTLIER_WEIGHT, channel.measured - channel.modelled, 0.0)
    panel.set_title("autocorrelation of residuals", fontweight="normal", fontsize=9.0)
    if is_noiseless(channel):
        panel.text(0.5, 0.5, "no residuals", transform=panel.transAxes, ha="center")
        panel.set_axis_off()
        return
    correlation = autocorrelation(left, LAGS)
    band = WIDTH / math.sqrt(max(len(left), 1))
    panel.axhspan(-band, band, color=BODY, alpha=0.5, linewidth=0.0, label="95 % of white noise")
    panel.vlines(np.arange(1, len(correlation)), 0.0, correlation[1:], color=ACTUAL, linewidth=2.0)
    panel.axhline(0.0, color=INK, linewidth=0.8)
    panel.set_ylim(-1.05 if correlation.min(initial=0.0) < -0.3 else -0.35, 1.05)
    panel.set_xlabel("lag [samples]")


def autocorrelation(values: Array, lags: int) -> Array:
    """Autocorrelation of values about 0, at lags from 0 on; zeros if all values are 0."""
    count = min(lags, len(values) - 1)
    power = float(values @ values)
    if count < 1 or power <= 0.0:
        return np.zeros(max(count, 0) + 1)
    return np.array([1.0, *(float(values[lag:] @ values[:-lag]) / power for lag in range(1, count + 1))])


HEAD = ("axis", "number", "value", f"interval ({INTERVAL})")

#: Maximum number of recordings of which the report has pictures.
PICTURED = 5

#: Fields of each channel in report.json.
STATISTICS = ("name", "quantity", "unit", "source", "recording", "noise", "residual", "outliers", "correlation")


def report_title(log: str) -> str:
    """Title of the report on a recording."""
    return f"Vehicle identified from {Path(log).name}"


def fit_rows(fit: VehicleFit, written: Sequence[Override]) -> Iterator[tuple[str, ...]]:
    """Rows under :data:`HEAD`: every line of the parameter file, what it lacks, calibrations, and residuals.

    ``written`` are the lines of :func:`~vds_gz.tools.study.identify.exports.overrides`.
    """
    lines = {line.name.removeprefix(f"model_params.{fit.model}."): line for line in written if line.name != MAX_AGE}
    estimates = fit.numbers | fit.calibrations
    names = dict.fromkeys(
        name for name in (*fit.numbers, *lines) if name in lines or estimates[name] or not name.endswith("]")
    )
    for word in named(fit.model, list(names), list(fit.calibrations)):
        number, line = estimates.get(word.name), lines.get(word.name)
        if number is not None:
            yield word.axis, word.label, word.estimate(number), number.interval
        elif line is not None and not line.origin.startswith(NOT_MET):
            yield word.axis, word.label, word.written(line.value), line.origin
        elif word.name in fit.reached:
            reached = word.with_unit(fit.reached[word.name], 3)
            commanded = word.name in fit.unmeasured
            yield word.axis, word.label, "not met", f"{reached} was commanded" if commanded else f"reached {reached}"
        elif word.name in fit.unmeasured:
            yield word.axis, word.label, "not met", "not measured"
        elif word.stage in (*LIMITS, *TIMES):
            yield word.axis, word.label, "not determined", ""
    hold = fit.command_hold
    if hold.timeout is not None:
        yield "commands", "time-out", f"{hold.timeout.shown:.4g} s", hold.range_seen
    elif hold.endless:
        yield "commands", "time-out", "none: the last one holds", hold.moved_on
    elif hold.least_timeout:
        yield "commands", "time-out", "not met", f"longer than {hold.least_timeout:g} s"
    for channel in fit.channels:
        yield "residual", fit.title(channel), f"{channel.residual:.3g} {channel.unit}", noise_words(channel)


def write_report(folder: Path, log: str, fit: VehicleFit, written: Sequence[Override]) -> None:
    """Write report.html, report.json, identified.png, and pictures of further recordings and channels.

    ``written`` are the lines of the parameter file, as for :func:`fit_rows`.
    """
    page = ReportPage(folder, report_title(log))
    for finding in (*map(prediction_words, fit.predictions), *fit.findings):
        page.text(finding)
    for name, (what, channels) in _pictures(fit).items():
        page.picture(name, channels_figure(channels, [fit.title(channel) for channel in channels]), what)
    page.table(HEAD, fit_rows(fit, written))
    for more in recordings_needed(fit.numbers, named(fit.model, list(fit.numbers))):
        page.text(f"Poorly determined: {more}.")
    for name, export in exports().items():
        if lines := list(export(fit)):
            page.heading(f"For {name.capitalize()}")
            page.table((), [(line,) for line in lines])
    page.write({"log": log, **_content(fit)})


def _pictures(fit: VehicleFit) -> dict[str, tuple[str, list[Channel]]]:
    """Channels of each picture, by names of files: one for the velocities and the steering angle, one for the others.

    Of many recordings the first one is pictured, and those that the model explains worst.
    """
    pictures: dict[str, tuple[str, list[Channel]]] = {}
    most: dict[str, float] = defaultdict(float)
    for channel in fit.channels:
        most[channel.name] = max(most[channel.name], channel.residual)
    misfit: dict[int, float] = defaultdict(float)
    for channel in fit.channels:
        part = channel.residual / most[channel.name] if most[channel.name] else 0.0
        misfit[channel.recording] = max(misfit[channel.recording], part)
    first, *later = sorted(misfit)
    for recording in (first, *sorted(sorted(later, key=misfit.__getitem__)[1 - PICTURED :])):
        there = [channel for channel in fit.channels if channel.recording == recording]
        main = [channel for channel in there if channel.name in QUANTITIES] or there
        others = [channel for channel in there if channel not in main]
        number = f"_{recording + 1}" if recording else ""
        what = "commanded, measured and modelled; the residuals and their autocorrelation"
        pictures[f"identified{number}.png"] = what, main
        if others:
            pictures[f"identified_further{number}.png"] = "further measurements and their models", others
    return pictures


def _content(fit: VehicleFit) -> dict[str, object]:
    """The content of report.json."""
    return {
        "axes": {
            axis.quantity: {
                "unit": axis.unit,
                "numbers": axis.numbers,
                "reached": axis.reached._asdict(),
                "residual": axis.residual,
                "left_out": axis.outliers,
            }
            for axis in fit.axes
        },
        **{name: list(export(fit)) for name, export in exports().items()},
        "model": fit.model,
        "numbers": fit.numbers,
        "calibrations": fit.calibrations,
        "reached": fit.reached,
        "channels": [{name: getattr(channel, name) for name in STATISTICS} for channel in fit.channels],
        "predictions": fit.predictions,
        "command_hold": fit.command_hold,
        "findings": fit.findings,
    }
