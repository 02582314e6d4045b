"""The result of an identification: the vehicle's parameters, its sensors, and how well both explain the recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from vds_gz.parameters.declaration import ParameterGroup
from vds_gz.study.identify.axes import Axis
from vds_gz.study.identify.estimates import Array, Estimate

#: A sample of which less than this part of its weight is left is an outlier.
OUTLIER_WEIGHT = 0.1

Numbers = dict[str, Estimate | None]


@dataclass(frozen=True, slots=True)
class Channel:
    """One measured quantity of one recording, beside the model.

    Attributes:
        name: What distinguishes it from the others of its recording.
        quantity, unit: What it measures: a quantity of base_link, ``steering``, a wheel's speed, a pose ...
        source: The topic or the column.
        recording: Index of the recording.
        noise: Standard deviation of what the model leaves, extreme samples clipped, in the unit.
        residual: Standard deviation of what the model leaves, without outliers.
        outliers: Samples that hardly count.
        correlation: Of successive residuals, -1 to 1.
        time: Of the samples [s].
        measured, modelled: At these times.
        commanded: The same quantity as it was commanded; None where it was not.
        weight: How much each sample counts, 0 to 1.
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
    """How well what was learned of the first part of the recordings predicts one quantity in the rest.

    Attributes:
        quantity: One of :data:`~vds_gz.study.recording.QUANTITIES`.
        rms: Root mean square of the errors, in its unit.
        lag: The same of dead times and lags alone.
        command: The same of the command as it is.
        duration: Of the rest [s].
    """

    quantity: str
    rms: float
    lag: float
    command: float
    duration: float


@dataclass(frozen=True)
class VehicleFit(Sequence[Axis]):
    """The identified vehicle; as a sequence, its axes.

    Attributes:
        model: Name of the vehicle model.
        parameters: Its parameter group: the given or default values, with the identified ones.
        numbers: By name below ``model_params.<model>.``, such as ``drive_actuator.dead_time``; None where the recording
            does not determine it, or a limit was not met.
        calibrations: What is no parameter of the vehicle, by its words: ``v_x gain``, ``steering offset``,
            ``imu latency``, ``left wheel gain`` ...
        reached: Of each limit that was not met, by name as in ``numbers``, the maximum of the recording.
        channels: The measurements beside the model.
        findings: Sentences for people.
        axes: The numbers by commanded quantity.
        notes: Remarks on the recordings, and what of them was left out; of several with the number of each.
        predictions: How well what was learned of the first part predicts the rest; empty where none was held out.
    """

    model: str
    parameters: ParameterGroup
    numbers: Numbers
    calibrations: Numbers
    reached: dict[str, float]
    channels: tuple[Channel, ...]
    findings: tuple[str, ...]
    axes: tuple[Axis, ...]
    notes: tuple[str, ...] = ()
    predictions: tuple[Prediction, ...] = ()

    def title(self, channel: Channel) -> str:
        """The name of a channel, among several recordings with the number of its own."""
        several = any(other.recording for other in self.channels)
        return f"{channel.name} ({channel.recording + 1})" if several else channel.name

    @overload
    def __getitem__(self, index: int) -> Axis: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Axis, ...]: ...

    def __getitem__(self, index: int | slice) -> Axis | tuple[Axis, ...]:
        """An axis, or some."""
        return self.axes[index]

    def __len__(self) -> int:
        """How many axes there are."""
        return len(self.axes)
