"""The most informative commands for a vehicle, and the confidence intervals to expect from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from vds_gz.commandlog.files import CommandLog
from vds_gz.commandlog.profiles import Limits, log_of, make
from vds_gz.errors import ArgumentError
from vds_gz.parameters.node import NodeParameters
from vds_gz.parameters.yaml_reader import Interval
from vds_gz.study.identify.design.search import Search
from vds_gz.study.identify.estimates import CERTAIN, TIME_RESOLUTION, WIDTH, Array
from vds_gz.study.identify.problem.observed import observed
from vds_gz.study.identify.problem.parameters import GAINS, LEAST_LIMIT, NO_LIMIT, Kind, Term, actuations, value_of
from vds_gz.study.identify.problem.recorded import FIELDS
from vds_gz.study.identify.problem.segments import Segment
from vds_gz.study.identify.problem.simulation import Experiment, Predicted, VehicleFamily, predictions_of
from vds_gz.study.progress import Advance, ignore
from vds_gz.study.recording import MeasuredChannel, Series
from vds_gz.vehicle.catalogue import models
from vds_gz.vehicle.command import ACKERMANN, TWIST
from vds_gz.vehicle.schedule import COMMAND, Records, command_records, fields_of

#: Number of candidate vehicles, including the prior vehicle.
VEHICLES = 4

#: Without a known interval, a parameter is known to this part of its value.
SPREAD = 0.3

#: Standard deviation of a parameter before the drive, as a part of its value.
BEFORE = 1.0

#: Shorter times count as this long where an interval is relative [s].
SHORT = 0.02

#: Simulation steps per second during the search [Hz].
COARSE = 200.0

#: Default standard deviation of a sensor, as a part of full scale.
NOISE = 0.02

#: Shortest and longest log [s], and the least number of commands per second.
SHORTEST_LOG, LONGEST_LOG, LEAST_RATE = 5.0, 3600.0, 1.0

#: The vehicle stands still at first, as with the other profiles [s].
STILL = 0.5

#: Quantities that sensors may measure.
MEASURABLE = "v_x", "v_y", "yaw_rate", "steering"


@dataclass(frozen=True, slots=True)
class Expectation:
    """The 95 % interval to expect of one parameter.

    Attributes:
        name: Below ``model_params.<model>.``, or of a gain.
        value: Of the prior vehicle.
        scale: What 100 % of it are, in its unit.
        resolution: Half the interval without any noise, in its unit.
        part: Half the interval due to noise, relative; None where the log does not determine the parameter.
        part_of_steps: The same of `profile steps` of the same length.
    """

    name: str
    value: float
    scale: float
    resolution: float
    part: float | None
    part_of_steps: float | None

    def half(self, part: float | None) -> float | None:
        """Half the interval that `identify` gives, in the parameter's unit, from the relative part due to noise."""
        return None if part is None else math.hypot(part * self.scale, self.resolution)


@dataclass(frozen=True)
class Design:
    """A log and the intervals to expect from it.

    Attributes:
        log: The commands.
        expectations: Of each parameter.
        noise: Assumed standard deviation of each sensor, by quantity, in its unit.
    """

    log: CommandLog
    expectations: tuple[Expectation, ...]
    noise: Mapping[str, float]

    @property
    def largest(self) -> tuple[float, float]:
        """The largest relative interval due to noise, of this log and of `profile steps`.

        Among the parameters that both determine; infinite where there are none.
        """
        parts = [(one.part, one.part_of_steps) for one in self.expectations if one.part and one.part_of_steps]
        own, of_steps = zip(*(parts or [(math.inf, math.inf)]), strict=True)
        return max(own), max(of_steps)


# ---------------------------------------------------------------------- candidate vehicles


def terms_of(prior: NodeParameters, commanded: Sequence[str]) -> dict[Term, float]:
    """What a log may determine: dynamics and limits of the actuators, and gains of the commands; with prior values.

    Raises:
        ArgumentError: The model has no actuators that can be identified.
    """
    found: dict[Term, float] = {}
    for actuation in actuations(prior.vehicle).values():
        for term in actuation.terms():
            value = value_of(prior.vehicle, term.name)
            if term.name == actuation.fall and not value:
                value = value_of(prior.vehicle, actuation.rise)  # as the model takes it
            limited = 0.0 < value < NO_LIMIT and value != term.unlimited
            if term.kind in (Kind.DEAD_TIME, Kind.TIME_CONSTANT) or (term.kind is Kind.LIMIT and limited):
                found[term] = value
    if not found:
        raise ArgumentError(f"vehicle model '{prior.model}' has no actuators whose parameters could be identified")
    gains = (Term(f"{name} gain", Kind.COMMAND_GAIN, *GAINS, target=FIELDS[name], scale=0.2) for name in commanded)
    return found | dict.fromkeys(gains, 1.0)


def candidates_of(terms: Mapping[Term, float], intervals: Mapping[str, Interval], count: int, seed: int) -> Array:
    """Coordinates of candidate vehicles, (count, terms): the prior vehicle, and others in a Latin hypercube.

    Args:
        terms: With the values of the prior vehicle.
        intervals: Known intervals, by the names of terms; others are +-30 %. Gains are 1.
        count: Number of vehicles.
        seed: Of the others.
    """
    ends = np.empty((len(terms), 2))
    for k, (term, value) in enumerate(terms.items()):
        known = intervals.get(term.name)
        ends[k] = (known.low, known.high) if known else ((1.0 - SPREAD) * value, (1.0 + SPREAD) * value)
        limits = (LEAST_LIMIT, term.unlimited or NO_LIMIT) if term.kind is Kind.LIMIT else term.bounds
        ends[k] = 1.0 if term.kind is Kind.COMMAND_GAIN else np.clip(ends[k], *limits)
    random = np.random.default_rng([seed, 1])
    strata = (np.array([random.permutation(count - 1) for _ in terms]).T + 0.5) / max(count - 1, 1)
    points = np.vstack([list(terms.values()), ends[:, 0] + strata * (ends[:, 1] - ends[:, 0])])
    return np.array([[term.coordinate(x) for term, x in zip(terms, point, strict=True)] for point in points.tolist()])


def scale_of(term: Term, value: float) -> float:
    """What 100 % of a value are, in its unit."""
    return max(abs(value), SHORT) if term.kind in (Kind.DEAD_TIME, Kind.TIME_CONSTANT) else abs(value)


@dataclass(frozen=True)
class Forecast:
    """What the sensors of candidate vehicles will tell.

    Attributes:
        prior: What is known of the vehicle.
        terms: What is to be identified.
        points: Coordinates of the candidates, (vehicles, terms).
        noise: Standard deviation of each sensor, by quantity, in its unit.
        rate: Samples per second [Hz].
        step_rate: Simulation steps per second [Hz].
    """

    prior: NodeParameters
    terms: tuple[Term, ...]
    points: Array
    noise: Mapping[str, float]
    rate: float
    step_rate: float

    @cached_property
    def _family(self) -> VehicleFamily:
        offsets = (Term(f"{name} offset", Kind.SENSOR_OFFSET, channel=k) for k, name in enumerate(self.noise))
        return VehicleFamily(models()[self.prior.model], self.prior.vehicle, (*self.terms, *offsets))

    def predict(self, records: Records, times: Array, duration: float) -> list[Predicted]:
        """What each vehicle's sensors read without noise, from rest; the samples of one sensor after another.

        The derivatives are by the terms and then by the offsets of the sensors.

        Args:
            records: Commands.
            times: When each of them begins to hold [s]; the first is 0.
            duration: Of the recording [s].
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

        The unknowns are the terms, relative to their values, and the offsets of the sensors.

        Args:
            records, times, duration: As of :meth:`predict`.
            windows: Number of windows.
            skipped: Number of samples at the beginning of each window that do not count.
        """
        found, noise = [], np.array(list(self.noise.values()))[:, np.newaxis, np.newaxis]
        for predicted, point in zip(self.predict(records, times, duration), self.points.tolist(), strict=True):
            # The coordinate of a limit is its logarithm.
            relative = (1.0 if t.kind is Kind.LIMIT else scale_of(t, x) for t, x in zip(self.terms, point, strict=True))
            scales = np.array([*relative, *np.ones(len(noise))])
            jacobian = predicted.by_terms.reshape(len(noise), -1, len(scales)) * scales / noise
            length = jacobian.shape[1] // windows
            rows = jacobian[:, : windows * length].reshape(-1, windows, length, len(scales))[:, :, skipped:]
            rows = rows.swapaxes(0, 1).reshape(windows, -1, len(scales))
            found.append(rows.swapaxes(1, 2) @ rows)
        return np.stack(found, axis=1)

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


# ---------------------------------------------------------------------- design


def design(
    prior: NodeParameters,
    limits: Limits,
    *,
    ackermann: bool,
    duration: float = 60.0,
    rate: float = 50.0,
    seed: int = 0,
    noise: float | Mapping[str, float] = NOISE,
    intervals: Mapping[str, Interval] | None = None,
    acceleration: float = math.inf,
    advance: Advance = ignore,
) -> Design:
    """Find the most informative log for a vehicle.

    Args:
        prior: What is known of the vehicle.
        limits: Maxima of the commands.
        ackermann: Speeds and steering angles are commanded, else velocities.
        duration: Of the log [s].
        rate: Commands, and samples of each sensor, per second [Hz].
        seed: Equal seeds give equal logs.
        noise: Standard deviation of the sensors: as a part of full scale, for all that the model has; or by quantity
            (:data:`MEASURABLE`) in its unit, for those that are named.
        intervals: Known intervals of parameters, by their names below ``model_params.<model>.``.
        acceleration: Maximum change of the commanded speeds [m/s^2], also to the standstill at the end.
        advance: Receives the fraction of the work done since its last call.

    Raises:
        ArgumentError: An argument is out of range, or the vehicle has nothing to identify.
    """
    _check(duration, rate, acceleration)
    maxima = {"v_x": limits.speed, "v_y": limits.lateral, "yaw_rate": limits.yaw_rate, "steering": limits.steering}
    commanded = ["v_x", "steering"] if ackermann else ["v_x", "yaw_rate"] + ["v_y"] * (limits.lateral > 0.0)
    terms = terms_of(prior, commanded)
    points = candidates_of(terms, intervals or {}, VEHICLES, seed)
    steps = make("steps", limits, ackermann=ackermann, duration=duration, rate=rate, seed=seed)
    candidates = Forecast(prior, (*terms,), points, {}, rate, min(COARSE, prior.step_rate))
    candidates = replace(candidates, noise=_noise_of(candidates, noise, steps))
    tops = np.array([maxima[name] for name in commanded])

    def information(levels: Array, windows: int, skipped: int) -> Array:
        changes = np.append(True, (np.diff(levels, axis=0) != 0.0).any(axis=1))
        columns = dict(zip((FIELDS[name] for name in commanded), (levels[changes] * tops).T, strict=True))
        records = command_records(kind=ACKERMANN if ackermann else TWIST, **columns)
        return candidates.information(records, np.flatnonzero(changes) / rate, len(levels) / rate, windows, skipped)

    still, random = round(STILL * rate), np.random.default_rng([seed, 2])
    count = round(duration * rate) - still
    slew = np.array([acceleration / (maxima[one] * rate) if one in ("v_x", "v_y") else math.inf for one in commanded])
    levels = Search(information, candidates.intervals, slew, rate, count, random, advance).best()
    drive, turn, side = np.pad(levels, ((still, 1), (0, 3 - len(commanded)))).T
    log = log_of(np.arange(len(drive)) / rate, drive, turn, side, limits, ackermann=ackermann)
    exact = replace(candidates, points=points[:1], step_rate=prior.step_rate)
    parts, of_steps = (exact.intervals(exact.information(*commands_of(one))[0])[0].tolist() for one in (log, steps))
    expectations = tuple(
        Expectation(
            term.name,
            value,
            scale_of(term, value),
            WIDTH * TIME_RESOLUTION if term.kind is Kind.DEAD_TIME else 0.0,
            part if part < CERTAIN else None,
            part_of_steps if part_of_steps < CERTAIN else None,
        )
        for (term, value), part, part_of_steps in zip(terms.items(), parts, of_steps, strict=True)
    )
    return Design(log, expectations, candidates.noise)


def _noise_of(candidates: Forecast, noise: float | Mapping[str, float], steps: CommandLog) -> dict[str, float]:
    """The noise of each sensor, in its unit; full scale is the peak of `profile steps`.

    Raises:
        ArgumentError: The model has no such sensor, no sensor is named, or a noise is out of range.
    """
    prior = candidates.prior
    model = models()[prior.model]
    sensors = [name for name in MEASURABLE if observed(model, prior.vehicle, name) is not None]
    by_name = noise if isinstance(noise, Mapping) else {"every sensor": noise}
    for name, value in by_name.items():
        if isinstance(noise, Mapping) and name not in sensors:
            raise ArgumentError(
                f"noise of '{name}': vehicle model '{model.name}' has no such sensor; it must be one of "
                f"{', '.join(sensors)}"
            )
        if not 0.0 < value < math.inf:
            raise ArgumentError(f"noise of {name} is {value:g}; it must be a finite number greater than 0")
    if isinstance(noise, Mapping):
        if not noise:
            raise ArgumentError(f"noise names no sensor; it must name some of {', '.join(sensors)}")
        return dict(noise)
    plain = replace(candidates, points=candidates.points[:1], noise=dict.fromkeys(sensors, 1.0))
    peaks = np.abs(plain.predict(*commands_of(steps))[0].values.reshape(len(sensors), -1)).max(axis=1)
    if not peaks.any():
        raise ArgumentError(
            f"within the given limits no command moves the vehicle model '{model.name}'; they must be wider"
        )
    return {name: noise * peak for name, peak in zip(sensors, peaks.tolist(), strict=True) if peak > 0.0}


def _check(duration: float, rate: float, acceleration: float) -> None:
    if not SHORTEST_LOG <= duration <= LONGEST_LOG:
        raise ArgumentError(
            f"duration is {duration:g}; an optimal log must be {SHORTEST_LOG:g} to {LONGEST_LOG:g} s long"
        )
    if not LEAST_RATE <= rate < math.inf:
        raise ArgumentError(f"rate is {rate:g}; an optimal log must have at least {LEAST_RATE:g} command per second")
    if not acceleration > 0.0:
        raise ArgumentError(f"acceleration is {acceleration:g}; it must be greater than 0 [m/s^2]")
