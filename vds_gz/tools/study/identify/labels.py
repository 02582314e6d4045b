"""Labels and units of a vehicle's parameters, and the recordings that poorly determined ones need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from vds_gz.core.parameters.declaration import describe
from vds_gz.core.vehicle.catalogue import models
from vds_gz.tools.study.identify.estimates import Estimate
from vds_gz.tools.study.identify.problem.command_hold import MAX_AGE
from vds_gz.tools.study.identify.problem.parameters import actuations
from vds_gz.tools.study.identify.results import Channel, Prediction
from vds_gz.tools.study.identify.terms import COMMAND_GAIN, LATENCY, SENSOR_OFFSET, STAGES
from vds_gz.tools.study.recording import UNITS

#: The groups of parameters outside actuators, of those of commands, and of terms that are not parameters.
VEHICLE, COMMANDS, CALIBRATION = "vehicle", "commands", "calibration"

#: A channel is noiseless if its residual is below this part of its noise, which is at least an assumed minimum.
NOISELESS = 0.5

#: A value below this part of its interval's width is shown as 0.
NOTHING = 1e-3

#: A parameter is poorly determined if half of its interval exceeds this part of its value; a time, if half of it also
#: exceeds ROUGH_TIME [s].
ROUGHLY, ROUGH_TIME = 0.1, 0.01

#: Units in words; that of a ratio, "-", is not written.
_SQUARED = str.maketrans({"^": None, "2": "²", "-": None})


@dataclass(frozen=True, slots=True)
class ParameterLabel:
    """A parameter for people: its dotted name or the words of a calibration, and its label.

    The axis is an actuator, :data:`VEHICLE`, :data:`COMMANDS` or :data:`CALIBRATION`. The stage of an actuator is one
    of :data:`~vds_gz.tools.study.identify.terms.STAGES`, else empty.
    """

    name: str
    axis: str
    label: str
    unit: str
    stage: str = ""

    def with_unit(self, value: float, digits: int = 4) -> str:
        """A value with its unit."""
        return f"{value:.{digits}g} {self.unit}".strip()

    def written(self, value: object) -> str:
        """A value of the parameter file, with its unit: a number, a flag, a choice, or a list of numbers."""
        if isinstance(value, (list, tuple)):
            return f"{', '.join(f'{number:.4g}' for number in value)} {self.unit}".strip()
        if isinstance(value, (bool, str)):
            return str(value).lower()
        return self.with_unit(float(str(value)))

    def estimate(self, number: Estimate) -> str:
        """The value of an estimate with its unit; 0 if it is negligible beside its interval."""
        return self.with_unit(number.shown if abs(number.value) > NOTHING * (number.high - number.low) else 0.0)


def named(model: str, numbers: Sequence[str], calibrations: Sequence[str] = ()) -> list[ParameterLabel]:
    """Labels for parameters of a vehicle model, and for calibrations."""
    parameters = models()[model].parameters()
    units = {parameter.name: parameter.unit.translate(_SQUARED) for parameter in describe(parameters)}
    actuators = actuations(parameters)
    places = {name: (axis, stage) for axis, actuator in actuators.items() for stage, name in actuator.names.items()}
    groups = {name.partition(".")[0]: (axis, "") for name, (axis, _) in places.items() if "." in name}
    words = []
    for name in numbers:
        if name == MAX_AGE:
            words.append(ParameterLabel(name, COMMANDS, "time-out", "s"))
            continue
        axis, stage = places.get(name) or groups.get(name.partition(".")[0], (VEHICLE, ""))
        short = name if axis == VEHICLE else name.rpartition(".")[2]
        label = (
            STAGES[stage].label_of(angle=actuators[axis].steers) if stage else short.replace(".", " ").replace("_", " ")
        )
        words.append(ParameterLabel(name, axis, label, units.get(name, ""), stage))
    return [*words, *(ParameterLabel(name, CALIBRATION, name, _calibration_unit(name)) for name in calibrations)]


def _calibration_unit(name: str) -> str:
    """Unit of a calibration by its name: s for a latency, none for a gain, that of the quantity for an offset."""
    for kind in (LATENCY, COMMAND_GAIN):  # the name of a wheel's gain ends like that of a command
        if name.endswith(f" {kind.name}"):
            return kind.unit("")
    quantity = name.partition(f" {SENSOR_OFFSET.name}")[0].rpartition(" ")[2]
    units = {"v_x": "m/s", "v_y": "m/s", "yaw_rate": "rad/s"}
    return next((unit for name, unit in units.items() if quantity.endswith(name)), "rad")


def recordings_needed(numbers: Mapping[str, Estimate | None], words: Sequence[ParameterLabel]) -> Iterator[str]:
    """The uncertainty of each poorly determined parameter of an actuator, and what to record."""
    for word in words:
        number = numbers.get(word.name)
        kind = STAGES.get(word.stage)
        if number is None or kind is None or not kind.to_record:
            continue
        half = 0.5 * (number.high - number.low)
        if half > max(ROUGHLY * abs(number.value), ROUGH_TIME if kind.is_delay else 0.0):
            share = f" ({half / abs(number.value):.0%})" if half < abs(number.value) else ""
            yield f"{word.axis} {word.label} is known only to +-{word.with_unit(half, 2)}{share}; {kind.to_record}"


def prediction_words(prediction: Prediction) -> str:
    """The prediction error of a quantity beside that of its command, and of a lag if this is better."""
    quantity, unit = prediction.quantity, UNITS[prediction.quantity]
    name = {"v_x": "speed", "v_y": "lateral speed", "yaw_rate": "yaw rate"}.get(quantity, quantity)
    lag = f", dead time and lag alone {prediction.lag:.3g}" if prediction.lag < prediction.command else ""
    written = "" if prediction.written is None else f"; parameters.yaml {prediction.written:.3g}"
    return (
        f"{name}: {prediction.rms:.3g} {unit} rms on {prediction.duration:.0f} s held out (command as is "
        f"{prediction.command:.3g}{lag}){written}"
    )


def noise_words(channel: Channel) -> str:
    """A channel's noise and outliers, in words."""
    if is_noiseless(channel):
        return f"no noise above {channel.noise:.1g} {channel.unit}"
    words = f"noise {channel.noise:.3g} {channel.unit}"
    if channel.outliers:
        words += f", {channel.outliers} outlier{'s' if channel.outliers > 1 else ''}"
    return words


def is_noiseless(channel: Channel) -> bool:
    """Whether the residual is well below the assumed minimum noise, without outliers."""
    return channel.residual < NOISELESS * channel.noise and not channel.outliers
