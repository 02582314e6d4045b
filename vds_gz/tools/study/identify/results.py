"""The result of an identification: the vehicle's parameters, its sensors, and how well both explain the recording."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from vds_gz.core.arrays import Array
from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.tools.study.identify.estimates import Estimate
from vds_gz.tools.study.identify.problem.command_hold import CommandHold
from vds_gz.tools.study.identify.robust import ROBUST
from vds_gz.tools.study.identify.terms import STAGES

#: Number of standard deviations beyond which a sample is an outlier, and the weight at this distance.
OUTLIER = 5.0
OUTLIER_WEIGHT = (1.0 + (OUTLIER / ROBUST) ** 2) ** -0.5

#: The parameters of an axis; TIMES and LIMITS are some of them.
NAMES = tuple(name for name, kind in STAGES.items() if kind.of_axis)
TIMES = tuple(name for name in NAMES if STAGES[name].is_delay)
LIMITS = tuple(name for name in NAMES if STAGES[name].is_limit)

NamedEstimates = dict[str, Estimate | None]


class Reached(NamedTuple):
    """Maximum rates away from zero and towards it, and maximum value."""

    rise: float
    fall: float
    value: float


@dataclass(frozen=True, slots=True)
class Axis:
    """One commanded quantity and its identified parameters.

    Attributes:
        quantity, unit: The quantity, and the unit of its value.
        numbers: By the names of :data:`NAMES`; ``rise`` and ``fall`` limit the change away from and towards zero.
        reached: The maxima of the recording, for limits that were not met.
        residual: Standard deviation of the measurement from the model, without outliers.
        outliers: Number of samples more than five standard deviations from the model.
        centred: Whether a steering goes to 0 when the commanded speed is 0; None if the recording does not show it.
    """

    quantity: str
    unit: str
    numbers: NamedEstimates
    reached: Reached
    residual: float = 0.0
    outliers: int = 0
    centred: bool | None = None

    def unit_of(self, name: str) -> str:
        """Unit of one of its numbers."""
        return STAGES[name].unit(self.unit)

    def label(self, name: str) -> str:
        """The label of one of its numbers."""
        return STAGES[name].label_of(angle=self.quantity == "steering")


@dataclass(frozen=True, slots=True)
class Channel:
    """One measured quantity of one recording, beside the model.

    Attributes:
        name: Its name, unique in its recording.
        quantity, unit: The measured quantity: a velocity of base_link, the steering angle, or a joint's speed or angle.
        source: The topic or the column.
        recording: Index of the recording.
        noise: Standard deviation of the noise from sample to sample, in the unit; at most that of the residuals.
        residual: Standard deviation of the residuals, without outliers.
        outliers: Number of samples more than five standard deviations from the model.
        correlation: Correlation of successive residuals, -1 to 1.
        time: Times of the samples [s].
        measured, modelled: Values at these times.
        commanded: The commanded values of the same quantity; None without commands.
        weight: Weight of each sample, 0 to 1.
    """

    name: str
    quantity: str
    unit: str
    source: str
    recording: int
    noise: float
    residual: float
    outliers: int
    correlation: float
    time: Array
    measured: Array
    modelled: Array
    commanded: Array | None
    weight: Array


@dataclass(frozen=True, slots=True)
class Prediction:
    """How well a vehicle fitted to the first part of the recordings predicts one quantity in the rest.

    Errors are root mean squares in the unit of the quantity: of the vehicle, of dead times and lags alone, and of the
    unchanged command; the duration is that of the rest [s]. ``written`` is the error of the vehicle that is written,
    which was fitted to all data.
    """

    quantity: str
    rms: float
    lag: float
    command: float
    duration: float
    written: float | None = None


@dataclass(frozen=True)
class VehicleFit:
    """The identified vehicle; iterates over its axes.

    Attributes:
        model: Name of the vehicle model.
        parameters: Its parameter group: the given or default values, with the identified ones.
        numbers: By name below ``model_params.<model>.``, such as ``drive_actuator.dead_time``; None if the recording
            does not determine it, or a limit was not met.
        calibrations: Terms that are not parameters of the vehicle, by name: ``v_x gain``, ``steering offset``,
            ``imu latency``, ``left wheel gain`` ...
        reached: The maximum of the recording for each limit without an estimate, by name as in ``numbers``.
        unmeasured: Names of such limits that nothing measured: ``reached`` has the maximum of the commands, or nothing.
        channels: The measurements beside the model.
        findings: Sentences on the result, the worst first; then on the recordings and what was left out of them, with
            the number of each if there are several.
        axes: The numbers by commanded quantity.
        predictions: How well a fit to the first part predicts the rest; empty if nothing was held out.
        command_hold: How long the vehicle follows its last command.
    """

    model: str
    parameters: ParameterGroup
    numbers: NamedEstimates
    calibrations: NamedEstimates
    reached: dict[str, float]
    channels: tuple[Channel, ...]
    findings: tuple[str, ...]
    axes: tuple[Axis, ...]
    predictions: tuple[Prediction, ...] = ()
    command_hold: CommandHold = field(default_factory=CommandHold)
    unmeasured: frozenset[str] = frozenset()

    def title(self, channel: Channel) -> str:
        """The name of a channel, with the number of its recording if there are several."""
        several = any(known.recording for known in self.channels)
        return f"{channel.name} ({channel.recording + 1})" if several else channel.name

    def __iter__(self) -> Iterator[Axis]:
        """The axes."""
        return iter(self.axes)
