"""The prediction of the last part of recordings by a fit to the first part, beside simpler models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vds_gz.core.arrays import Array, Flags
from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.parameters.yaml_reader import Interval
from vds_gz.tools.study.identify.build import coarse_segments, problem_of
from vds_gz.tools.study.identify.cross_validation import blocks_of
from vds_gz.tools.study.identify.estimation import LARGEST_NOISE, Fit
from vds_gz.tools.study.identify.observed_limits import attained_gain, reach_of
from vds_gz.tools.study.identify.problem.problem_setup import Setup
from vds_gz.tools.study.identify.problem.segment_model import Experiment
from vds_gz.tools.study.identify.problem.segments import Segment, chosen, segments_of
from vds_gz.tools.study.identify.problem.vehicle_family import VehicleFamily
from vds_gz.tools.study.identify.residual_noise import first_noise
from vds_gz.tools.study.identify.results import Channel, Prediction
from vds_gz.tools.study.identify.selection import without_needless
from vds_gz.tools.study.identify.static_maps import map_priors
from vds_gz.tools.study.identify.supported_terms import StageCallback, asked, converged
from vds_gz.tools.study.identify.term_kind import mask_of, neutral_point
from vds_gz.tools.study.identify.terms import MAP
from vds_gz.tools.study.identify.vehicle_fit import evaluate, solve
from vds_gz.tools.study.recording import QUANTITIES, Recording, Series, SignalError


def predictions(
    fit: Fit, parameters: ParameterGroup, part: float, advance: StageCallback = lambda words: None
) -> tuple[Prediction, ...]:
    """Errors of predictions of the last part of each recording; empty if the first part is too short for a fit.

    The terms are those of the fit of all data less those that the first part does not need; they are fitted to the
    first part only. Vehicles run as parameter files do, so without the terms that are not parameters, such as latencies
    of sensors. ``parameters`` are those that are written.
    """
    setup, solution = fit.setup, fit.solution
    segments = coarse_segments(setup)
    borders = [_border(segments, recording, part) for recording in range(len(setup.recordings))]
    first_part = replace(
        setup,
        recordings=tuple(map(_until, setup.recordings, borders)),
        channels=tuple(
            tuple(chosen(channel, channel.series.time <= border) for channel in channels)
            for channels, border in zip(setup.channels, borders, strict=True)
        ),
    )
    try:
        first_segments = coarse_segments(first_part)
    except SignalError:
        return ()
    advance("held out")
    first_part = replace(first_part, priors={**first_part.priors, **_priors_of_maps(first_part)})
    reach = reach_of(first_part)
    first_problem = replace(problem_of(first_part, first_segments, reach), largest_noise=LARGEST_NOISE)
    fitted = converged(first_problem, solution)
    learned = without_needless(first_problem, fitted, blocks_of(first_problem), asked(setup)).point
    lags = mask_of(setup.family.terms, lambda kind: kind.is_delay)
    static_terms = asked(setup) & ~mask_of(setup.family.terms, lambda kind: kind is MAP)
    command = np.where(static_terms, learned, neutral_point(setup.family.terms))
    simple = solve(
        first_problem, np.where(lags, learned, command), lags | static_terms, first_noise(first_problem)
    ).point
    problem = problem_of(setup, segments, reach_of(setup))
    starts, no_terms = [experiment.start for experiment in problem.experiments], np.zeros_like(lags)
    in_file = np.array([term.is_parameter for term in setup.family.terms])
    points = (np.where(in_file, point, neutral_point(setup.family.terms)) for point in (learned, simple, command))
    residuals = [evaluate(problem, point, starts, no_terms)[0] for point in points]
    experiments = _running(setup, parameters)
    file_residuals = _residuals(experiments)
    scores = []
    for quantity in QUANTITIES:
        held_out_mask, seconds = _held_out_samples(problem.experiments, setup, quantity, borders)
        if held_out_mask.any():
            rms, lag, plain = (_rms(values[held_out_mask]) for values in residuals)
            file_rms = _rms(file_residuals[_held_out_samples(experiments, setup, quantity, borders)[0]])
            scores.append(Prediction(quantity, rms, lag, plain, seconds, file_rms))
    return tuple(scores)


def file_error(setup: Setup, parameters: ParameterGroup, channels: Sequence[Channel]) -> float:
    """Sum of the channels' mean square errors of a vehicle over all recordings, each in units of its noise.

    Errors of several vehicles are comparable if the noise is that of the same channels.
    """
    experiments = _running(setup, parameters)
    residuals, index = _residuals(experiments), np.concatenate([experiment.channel for experiment in experiments])
    noise = [max(channel.noise, 1e-9) for channel in channels]
    return sum((_rms(residuals[index == k]) / scale) ** 2 for k, scale in enumerate(noise) if (index == k).any())


def _running(setup: Setup, parameters: ParameterGroup) -> list[Experiment]:
    """All recordings with the vehicle of a parameter file, in its own steps and with all samples."""
    family = VehicleFamily(setup.family.model, parameters, ())
    return [Experiment(family, part) for part in segments_of(setup.recordings, setup.channels, 1.0 / setup.step_rate)]


def _residuals(experiments: Sequence[Experiment]) -> Array:
    """Predicted minus measured values of all samples."""
    point = np.empty((1, 0))
    return np.concatenate(
        [
            experiment.simulate(point, experiment.start[np.newaxis])[:, 0] - experiment.measured
            for experiment in experiments
        ]
    )


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _priors_of_maps(first_part: Setup) -> dict[str, Interval]:
    """Priors of the points of maps from the first part alone, because those of all data depend on the part held out."""
    priors: dict[str, Interval] = {}
    for quantity in ("v_x", "steering"):
        points = [term for term in first_part.family.terms if term.kind is MAP and term.target == quantity]
        gain = attained_gain(first_part, quantity) or 1.0
        if points:
            priors |= map_priors([term.name for term in points], gain * np.array([term.neutral for term in points]))
    return priors


def _border(segments: Sequence[Segment], recording: int, part: float) -> float:
    """The start of the part held out [s]: the last part of the time from the first to the last segment."""
    spans = [(segment.origin, segment.duration) for segment in segments if segment.recording == recording]
    if not spans:
        return math.inf
    begin_all, end_all = min(begin for begin, _ in spans), max(begin + duration for begin, duration in spans)
    return end_all - part * (end_all - begin_all)


def _held_out_samples(
    experiments: Sequence[Experiment], setup: Setup, quantity: str, borders: list[float]
) -> tuple[Flags, float]:
    """Samples of the first channel of a quantity after the border, and how long that lasts [s]."""
    first_channels: dict[int, int] = {}
    index = 0
    for recording, channels in enumerate(setup.channels):
        for channel in channels:
            if channel.quantity == quantity:
                first_channels.setdefault(recording, index)
            index += 1
    masks, seconds = [], 0.0
    for experiment in experiments:
        recording = experiment.segment.recording
        mask = (experiment.channel == first_channels.get(recording, -1)) & (experiment.time > borders[recording])
        masks.append(mask)
        seconds += float(np.ptp(experiment.time[mask])) if mask.any() else 0.0
    return np.concatenate(masks), seconds


def _until(recording: Recording, border: float) -> Recording:
    commanded = {
        name: Series(series.time[series.time <= border], series.value[series.time <= border])
        for name, series in recording.commanded.items()
    }
    return replace(recording, commanded=commanded)
