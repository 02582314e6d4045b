"""The most informative log of a vehicle, and how well its numbers will be known then."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vds_gz.commandlog.log import CommandLog
from vds_gz.commandlog.profiles import Limits, log_of, make
from vds_gz.errors import ArgumentError
from vds_gz.parameters.intervals import Interval
from vds_gz.parameters.node import NodeParameters
from vds_gz.study.identify.design.information import SEARCHED_DIFFERENCE, Commands, Experiment, Numbers, numbers_of
from vds_gz.study.identify.design.search import Search, Space
from vds_gz.study.identify.estimates import CERTAIN, TIME_RESOLUTION, WIDTH
from vds_gz.study.identify.forward.measurements import observed
from vds_gz.study.identify.forward.setup import FIELDS
from vds_gz.study.progress import Advance, ignore
from vds_gz.vehicle.catalogue import models
from vds_gz.vehicle.command import ACKERMANN, TWIST
from vds_gz.vehicle.schedule import COMMAND, fields_of

#: Vehicles that it may be, the prior vehicle with them.
VEHICLES = 4

#: Steps per second while it is searched [Hz].
COARSE = 200.0

#: Default standard deviation of a sensor, as a part of its full scale.
NOISE = 0.02

#: Lengths that a log may have [s], and the least number of commands per second.
SHORTEST_LOG, LONGEST_LOG, LEAST_RATE = 5.0, 3600.0, 1.0

#: The vehicle stands at first, as with the other profiles [s].
STILL = 0.5

#: What sensors may measure.
MEASURABLE = "v_x", "v_y", "yaw_rate", "steering"


@dataclass(frozen=True, slots=True)
class Expectation:
    """How well a number will be known.

    Attributes:
        name: Below ``model_params.<model>.``, or of a gain.
        value: Of the prior vehicle.
        scale: What 100 % of it are, in its unit.
        resolution: Half the interval that it has without any noise, in its unit.
        part: Half the width of its 95 % interval by the noise, in parts of it; None where that is not found.
        part_of_steps: The same of `profile steps` of the same length.
    """

    name: str
    value: float
    scale: float
    resolution: float
    part: float | None
    part_of_steps: float | None

    @property
    def half(self) -> float | None:
        """Half the width of the interval that `identify` will give, in the number's unit."""
        return self._half(self.part)

    @property
    def half_of_steps(self) -> float | None:
        """The same of `profile steps`."""
        return self._half(self.part_of_steps)

    def _half(self, part: float | None) -> float | None:
        return None if part is None else math.hypot(part * self.scale, self.resolution)


@dataclass(frozen=True)
class Design:
    """A log and what it will determine.

    Attributes:
        log: The commands.
        expectations: Of each number.
        noise: Standard deviation that each sensor was taken to have, by quantity, in its unit.
    """

    log: CommandLog
    expectations: tuple[Expectation, ...]
    noise: Mapping[str, float]

    @property
    def largest(self) -> tuple[float, float]:
        """The largest interval by the noise, in parts of its number: of this log, and of `profile steps`.

        Of the numbers that both determine; infinite where there are none.
        """
        both = [one for one in self.expectations if one.part is not None and one.part_of_steps is not None]
        parts = [(one.part or 0.0, one.part_of_steps or 0.0) for one in both] or [(math.inf, math.inf)]
        own, of_steps = zip(*parts, strict=True)
        return max(own), max(of_steps)


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
    """Find the most informative log of a vehicle.

    Args:
        prior: What is known of the vehicle.
        limits: Maxima of the commands.
        ackermann: Speeds and steering angles are commanded, else velocities.
        duration: Of the log [s].
        rate: Commands, and samples of each sensor, per second [Hz].
        seed: Equal seeds give equal logs.
        noise: Standard deviation of the sensors: as a part of full scale, for all that there are; or by quantity
            (:data:`MEASURABLE`) in its unit, for those that are named.
        intervals: What is known of some numbers, by their names below ``model_params.<model>.``.
        acceleration: Maximum change of the commanded speeds [m/s^2], to the standstill at the end too.
        advance: Receives which further part of the work is done, 1 in all.

    Raises:
        ArgumentError: There is nothing that could be found, or an argument is wrong.
    """
    _check(duration, rate, acceleration)
    maxima = {"v_x": limits.speed, "v_y": limits.lateral, "yaw_rate": limits.yaw_rate, "steering": limits.steering}
    commanded = ["v_x", "steering"] if ackermann else ["v_x", "yaw_rate"] + ["v_y"] * (limits.lateral > 0.0)
    model, parameters = models()[prior.model], prior.vehicle
    numbers = numbers_of(model, parameters, commanded, intervals or {}, vehicles=VEHICLES, seed=seed)
    steps = make("steps", limits, ackermann=ackermann, duration=duration, rate=rate, seed=seed)
    step_rate = min(COARSE, prior.step_rate)
    sensors = _sensors(numbers, noise, steps, rate, step_rate)
    experiment = Experiment(numbers, sensors, rate, step_rate, SEARCHED_DIFFERENCE)
    space = Space(
        kind=ACKERMANN if ackermann else TWIST,
        fields=tuple(FIELDS[one] for one in commanded),
        maxima=np.array([maxima[one] for one in commanded]),
        rate=rate,
        slew=np.array(
            [acceleration / (maxima[one] * rate) if one in ("v_x", "v_y") else math.inf for one in commanded]
        ),
    )
    still = np.zeros((round(STILL * rate), len(commanded)))
    levels = Search(experiment, space, duration - len(still) / rate, np.random.default_rng([seed, 2]), advance).best()
    drive, turn, *side = np.vstack([still, levels, np.zeros(len(commanded))]).T
    lateral = side[0] if side else np.zeros(len(drive))
    log = log_of(np.arange(len(drive)) / rate, drive, turn, lateral, limits, ackermann=ackermann)
    exact = experiment.of_prior(prior.step_rate)
    parts, of_steps = (exact.intervals(exact.information(commands_of(one))[0])[0] for one in (log, steps))
    resolutions = np.where(numbers.times, WIDTH * TIME_RESOLUTION, 0.0)
    columns = np.stack([numbers.values, numbers.scales, resolutions, parts, of_steps], axis=1).tolist()
    expectations = tuple(
        Expectation(name, value, scale, resolution, _determined(part), _determined(by_steps))
        for name, (value, scale, resolution, part, by_steps) in zip(numbers.names, columns, strict=True)
    )
    return Design(log, expectations, experiment.noise)


def _determined(part: float) -> float | None:
    """Half an interval; None of a number that `identify` will not give."""
    return part if part < CERTAIN else None


def commands_of(log: CommandLog) -> Commands:
    """What a log commands."""
    sent = log.type.as_sent
    records = np.array([fields_of(sent(one).command()) for one in log.commands], COMMAND)
    return Commands(records, np.array(log.times), log.duration)


def _sensors(
    numbers: Numbers, noise: float | Mapping[str, float], steps: CommandLog, rate: float, step_rate: float
) -> dict[str, float]:
    """The noise of each sensor, in its unit.

    Raises:
        ArgumentError: There is no such sensor, or none at all, or a noise is none.
    """
    family = numbers.family
    there_are = [one for one in MEASURABLE if observed(family.model, family.parameters, one) is not None]
    if isinstance(noise, Mapping):
        for name, value in noise.items():
            if name not in there_are:
                raise ArgumentError(
                    f"noise of '{name}': vehicle model '{family.model.name}' has no such sensor; it must be one of "
                    f"{', '.join(there_are)}"
                )
            _check_noise(name, value)
        if not noise:
            raise ArgumentError(f"noise names no sensor; it must name some of {', '.join(there_are)}")
        return dict(noise)
    _check_noise("every sensor", noise)
    plain = Experiment(numbers, dict.fromkeys(there_are, 1.0), rate, step_rate).of_prior(step_rate)
    peaks = np.abs(plain.responses(commands_of(steps))[:, :, 0, 0]).max(axis=0)
    if not peaks.any():
        raise ArgumentError(
            f"with the limits given no command moves the vehicle model '{family.model.name}'; they must be wider"
        )
    return {name: noise * peak for name, peak in zip(there_are, peaks.tolist(), strict=True) if peak > 0.0}


def _check(duration: float, rate: float, acceleration: float) -> None:
    if not SHORTEST_LOG <= duration <= LONGEST_LOG:
        raise ArgumentError(
            f"duration is {duration:g}; an optimal log must be {SHORTEST_LOG:g} to {LONGEST_LOG:g} s long"
        )
    if not LEAST_RATE <= rate < math.inf:
        raise ArgumentError(f"rate is {rate:g}; an optimal log must have at least {LEAST_RATE:g} command per second")
    if not acceleration > 0.0:
        raise ArgumentError(f"acceleration is {acceleration:g}; it must be greater than 0 [m/s^2]")


def _check_noise(name: str, value: float) -> None:
    if not 0.0 < value < math.inf:
        raise ArgumentError(f"noise of {name} is {value:g}; it must be a finite number greater than 0")
