"""The result of an identification: the vehicle's parameters, its sensors, and how well both explain the recording."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from vds_gz.parameters.declaration import ParameterGroup
from vds_gz.study.identify.estimates import Array, Estimate

#: A sample of which less than this part of its weight is left is an outlier.
OUTLIER_WEIGHT = 0.1

#: The numbers of an axis, of which some are times and some limits, and what they are called.
LABELS = {
    "dead_time": "dead time",
    "time_constant": "time constant",
    "gain": "gain",
    "offset": "offset",
    "rise": "acceleration limit",
    "fall": "deceleration limit",
    "value": "limit",
}
NAMES = tuple(LABELS)
TIMES, LIMITS = NAMES[:2], NAMES[4:]

Numbers = dict[str, Estimate | None]


class Reached(NamedTuple):
    """Maximum rates away from zero and towards it, and maximum value, without the noise."""

    rise: float
    fall: float
    value: float


@dataclass(frozen=True, slots=True)
class Axis:
    """One commanded quantity with what was found of it.

    Attributes:
        quantity, unit: What it is, and the unit of its value.
        numbers: By the names of :data:`NAMES`; ``rise`` and ``fall`` limit the change away from and towards zero.
        reached: The maxima of the recording, for limits that were not met.
        residual: Standard deviation of the measurement from the model, without outliers.
        outliers: Number of samples that hardly count.
        centred: Of a steering: it goes to 0 when the commanded speed is 0; None: the recording does not show it.
    """

    quantity: str
    unit: str
    numbers: Numbers
    reached: Reached
    residual: float = 0.0
    outliers: int = 0
    centred: bool | None = None

    def unit_of(self, name: str) -> str:
        """Unit of one of its numbers."""
        if name in TIMES:
            return "s"
        if name == "gain":
            return ""
        if name in ("rise", "fall"):
            return f"{self.unit}²" if self.unit == "m/s" else "rad/s²" if self.unit == "rad/s" else "rad/s"
        return self.unit

    def label(self, name: str) -> str:
        """What one of its numbers is called."""
        return "rate limit" if self.quantity == "steering" and name == "rise" else LABELS[name]


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

    Errors are root mean squares in the unit of the quantity: of what was learned, of dead times and lags alone, and of
    the command as it is; the duration is that of the rest [s].
    """

    quantity: str
    rms: float
    lag: float
    command: float
    duration: float


@dataclass(frozen=True)
class VehicleFit:
    """The identified vehicle; iterates over its axes.

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
        several = any(own.recording for own in self.channels)
        return f"{channel.name} ({channel.recording + 1})" if several else channel.name

    def __iter__(self) -> Iterator[Axis]:
        """The axes."""
        return iter(self.axes)
