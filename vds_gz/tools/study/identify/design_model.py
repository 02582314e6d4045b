"""Predicted measurements of candidate vehicles that follow a log, and their information on the parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.yaml_reader import Interval
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.schedule import COMMAND, Records, fields_of
from vds_gz.programs.commandlog.command_log import CommandLog
from vds_gz.tools.study.identify.estimates import WIDTH
from vds_gz.tools.study.identify.problem.parameters import actuations, terms_of, value_of
from vds_gz.tools.study.identify.problem.problem_setup import FIELDS
from vds_gz.tools.study.identify.problem.segment_model import Experiment, Predicted, predictions_of
from vds_gz.tools.study.identify.problem.segments import Segment
from vds_gz.tools.study.identify.problem.vehicle_family import VehicleFamily
from vds_gz.tools.study.identify.term_kind import LEAST_LIMIT, NO_LIMIT, Effect, Term
from vds_gz.tools.study.identify.terms import COMMAND_GAIN, SENSOR_OFFSET
from vds_gz.tools.study.recording import MeasuredChannel, Series

#: Default interval of a parameter of candidate vehicles, to each side, as a part of its value.
SPREAD = 0.3

#: Relative standard deviation of a parameter before the drive.
BEFORE = 1.0

#: Relative intervals of shorter times are relative to this [s].
SHORT = 0.02


def determined_terms(prior: NodeParameters, commanded: Sequence[str]) -> dict[Term, float]:
    """Terms that a log may determine (dynamics and limits of actuators, gains of commands), with prior values."""
    terms: dict[Term, float] = {}
    for actuation in actuations(prior.vehicle).values():
        for term in terms_of(actuation):
            value = value_of(prior.vehicle, term.name)
            if term.fallback and not value:
                value = value_of(prior.vehicle, term.fallback)  # as the model takes it
            limited = 0.0 < value < NO_LIMIT and value != term.unlimited
            if term.kind.is_delay or (term.kind.is_limit and limited):
                terms[term] = value
    if not terms:
        raise ArgumentError(f"vehicle model '{prior.model}' has no actuators whose parameters could be identified")
    gains = (COMMAND_GAIN.term(f"{name} gain", target=FIELDS[name]) for name in commanded)
    return terms | dict.fromkeys(gains, 1.0)


def candidates_of(terms: Mapping[Term, float], intervals: Mapping[str, Interval], count: int, seed: int) -> Array:
    """Coordinates of candidate vehicles, (count, terms): the prior vehicle, and others in a Latin hypercube.

    Terms lie within their known intervals, or else within +-30 %; gains are 1.
    """
    ends = np.empty((len(terms), 2))
    for k, (term, value) in enumerate(terms.items()):
        known = intervals.get(term.name)
        ends[k] = (known.low, known.high) if known else ((1.0 - SPREAD) * value, (1.0 + SPREAD) * value)
        limits = (LEAST_LIMIT, term.unlimited or NO_LIMIT) if term.kind.is_limit else term.bounds
        ends[k] = 1.0 if term.kind.effect is Effect.COMMAND else np.clip(ends[k], *limits)
    random = np.random.default_rng([seed, 1])
    strata = (np.array([random.permutation(count - 1) for _ in terms]).T + 0.5) / max(count - 1, 1)
    points = np.vstack([list(terms.values()), ends[:, 0] + strata * (ends[:, 1] - ends[:, 0])])
    return np.array([[term.coordinate(x) for term, x in zip(terms, point, strict=True)] for point in points.tolist()])


def scale_of(term: Term, value: float) -> float:
    """The scale of relative intervals of a value, in its unit."""
    return max(abs(value), SHORT) if term.kind.is_delay else abs(value)


@dataclass(frozen=True)
class Forecast:
    """Predicted measurements of candidate vehicles, at a rate [Hz].

    Points are coordinates of the candidates, (vehicles, terms); the noise is by quantity, in its unit.
    """

    prior: NodeParameters
    terms: tuple[Term, ...]
    points: Array
    noise: Mapping[str, float]
    rate: float
    step_rate: float

    @cached_property
    def _family(self) -> VehicleFamily:
        offsets = (SENSOR_OFFSET.term(f"{name} offset", channel=k) for k, name in enumerate(self.noise))
        return VehicleFamily(models()[self.prior.model], self.prior.vehicle, (*self.terms, *offsets))

    def predict(self, records: Records, times: Array, duration: float) -> list[Predicted]:
        """Readings of each vehicle's sensors without noise, from rest; the samples of one sensor after another.

        The first time [s] is 0. Derivatives are by the terms and then by the offsets of the sensors.
        """
        samples = np.arange(int(duration * self.rate + 1e-6)) / self.rate
        series = Series(samples, np.zeros(len(samples)))
        channels = tuple((k, MeasuredChannel(name, name, name, series)) for k, name in enumerate(self.noise))
        begins = np.ceil(times * self.step_rate - 1e-6).astype(np.int64)
        experiment = Experiment(self._family, Segment(0, 0.0, records, begins, channels, 1.0 / self.step_rate))
        points = np.hstack([self.points, np.zeros((len(self.points), len(self.noise)))])
        rest, free = np.zeros_like(experiment.start), np.ones(points.shape[1], bool)
        return next(predictions_of([experiment], points, [rest], free, free_start=False))

    def information(self, records: Records, times: Array, duration: float, windows: int = 1, skipped: int = 0) -> Array:
        """Fisher information of windows of equal length, of shape (windows, vehicles, unknowns, unknowns).

        The unknowns are the terms, relative to their values, and the offsets of the sensors. Samples at the beginning
        of each window are skipped.
        """
        by_vehicle, noise = [], np.array(list(self.noise.values()))[:, np.newaxis, np.newaxis]
        for predicted, point in zip(self.predict(records, times, duration), self.points.tolist(), strict=True):
            # The coordinate of a limit is its logarithm.
            relative = (1.0 if t.kind.is_limit else scale_of(t, x) for t, x in zip(self.terms, point, strict=True))
            scales = np.array([*relative, *np.ones(len(noise))])
            jacobian = predicted.by_terms.reshape(len(noise), -1, len(scales)) * scales / noise
            length = jacobian.shape[1] // windows
            rows = jacobian[:, : windows * length].reshape(-1, windows, length, len(scales))[:, :, skipped:]
            rows = rows.swapaxes(0, 1).reshape(windows, -1, len(scales))
            by_vehicle.append(rows.swapaxes(1, 2) @ rows)
        return np.stack(by_vehicle, axis=1)

    def intervals(self, information: Array) -> Array:
        """Half the relative 95 % intervals of the terms due to noise, by the Cramer-Rao bound; along the last axis."""
        covariance = np.linalg.inv(information + np.eye(information.shape[-1]) / BEFORE**2)
        deviations: Array = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
        return WIDTH * deviations[..., : len(self.terms)]


def commands_of(log: CommandLog) -> tuple[Records, Array, float]:
    """The commands of a log as records, their times and its duration [s]."""
    sent = log.type.as_sent
    records = np.array([fields_of(sent(command).command()) for command in log.commands], COMMAND)
    return records, np.array(log.times), log.duration
