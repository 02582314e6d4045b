"""Measures of a run, by name: with a command log, and with a controller on a path."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.errors import ArgumentError, RecordingError
from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import Command
from vds_gz.core.vehicle.make_vehicle import vehicle_settings
from vds_gz.core.vehicle.vehicle import NANOSECONDS, AnyVehicle
from vds_gz.programs.commandlog.command_log import CommandLog
from vds_gz.tools.fleet.fleet import Fleet
from vds_gz.tools.fleet.layout import BaseLinks, base_links
from vds_gz.tools.study.progress import ignore

#: Time of a run after the last command [s].
TAIL = 1.0

#: A response has settled within this part of its peak.
SETTLED = 0.05


class Measure(NamedTuple):
    """A measure of a run: its name, such as ``path.rms``, its unit, and its meaning for people."""

    name: str
    unit: str
    meaning: str


_PLACE = "m", "base_link's distance from the nominal vehicle's at the same time"

#: Quantities that differ from the nominal vehicle's: unit and meaning.
DIFFERENCES = {
    "path": _PLACE,
    "heading": ("rad", "heading less the nominal vehicle's"),
    "speed": ("m/s", "longitudinal velocity of base_link less the nominal vehicle's"),
    "lateral": ("m/s", "lateral velocity of base_link less the nominal vehicle's"),
    "yaw_rate": ("rad/s", "yaw rate less the nominal vehicle's"),
}

#: Measures of a vehicle with a command log, compared with the nominal vehicle with the same log.
OPEN_LOOP_MEASURES = (
    *(
        Measure(f"{name}.{measure}", unit, f"{words} {meaning}")
        for name, (unit, meaning) in DIFFERENCES.items()
        for measure, words in (("rms", "rms of"), ("peak", "peak magnitude of"))
    ),
    Measure("path.end", _PLACE[0], f"{_PLACE[1]}, at the end"),
    Measure(
        "settle",
        "s",
        "from the last change of the command until longitudinal velocity and yaw rate stay where they end, to 5 % of "
        "their peaks in the run",
    ),
)

#: Measures of a controller on a path; errors are those of the vehicle's reference point at the start of periods.
CLOSED_LOOP_MEASURES = (
    Measure("path.rms", "m", "rms of the lateral error"),
    Measure("path.peak", "m", "peak magnitude of the lateral error"),
    Measure("heading.rms", "rad", "rms of the heading error"),
    Measure("heading.peak", "rad", "peak magnitude of the heading error"),
    Measure("speed.rms", "m/s", "rms of the difference from the reference speed"),
    Measure("speed.peak", "m/s", "peak magnitude of the difference from the reference speed"),
    Measure("distance", "m", "distance along the path that the vehicle reached"),
    Measure("finished", "s", "time when it reached the end; infinite if it did not"),
    Measure("left", "s", "time when its lateral error exceeded the bound; infinite if it did not"),
    Measure("delay_margin", "s", "the additional dead time up to which it stays within the bound"),
)


def check_measures(names: Iterable[str], known: Iterable[Measure]) -> None:
    """Refuse an unknown measure."""
    by_name = [measure.name for measure in known]
    for name in names:
        if name not in by_name:
            nearest = difflib.get_close_matches(name, by_name, n=1, cutoff=0.0)[0]
            raise ArgumentError(f"unknown measure '{name}'; there are {', '.join(by_name)}; nearest is '{nearest}'")


def run_open_loop(
    log: CommandLog,
    nominal: NodeParameters,
    vehicles: Sequence[ParameterGroup],
    names: Sequence[str],
    advance: Callable[[float], object] = ignore,
) -> dict[str, Array]:
    """Run a command log with each vehicle, from rest with base_link at the origin; return an array for each measure.

    Commands act and time out as in a replay. The measures of a vehicle do not depend on the other vehicles. They
    compare it with the nominal one, whose model, step rate, sampling rate and time-out apply to all.
    ``advance`` gets further parts of the work, 1 in all.
    """
    check_measures(names, OPEN_LOOP_MEASURES)
    model = models()[nominal.model]
    if log.type.kind not in model.accepts:
        raise RecordingError(f"the model '{model.name}' does not take commands of the kind '{log.type.name}'")
    # The nominal vehicle is run as the last one of all vehicles.
    squares, peak, end = ({name: np.zeros(len(vehicles)) for name in DIFFERENCES} for _ in range(3))
    changed = last_change(log)
    after: list[tuple[float, Array]] = []
    peaks = np.zeros((2, len(vehicles) + 1))
    samples, count = 0, _samples(log, nominal.pub_rate)
    for time, motion in _Driven(nominal, [*vehicles, nominal.vehicle]).motions(log, nominal.pub_rate):
        samples += 1
        advance(1.0 / count)
        for name, difference in _differences(motion):
            squares[name] += difference * difference
            end[name] = np.abs(difference)
            np.maximum(peak[name], end[name], out=peak[name])
        if "settle" in names:
            response = np.stack((motion.v_x, motion.yaw_rate))
            np.maximum(peaks, np.abs(response), out=peaks)
            if time >= changed:
                after.append((time, response))
    numbers = {f"{name}.rms": np.sqrt(total / samples) for name, total in squares.items()}
    numbers |= {f"{name}.peak": value for name, value in peak.items()}
    numbers["path.end"] = end["path"]
    if "settle" in names:
        numbers["settle"] = _settling_times(changed, after, peaks)[:-1]
    return {name: numbers[name] for name in names}


def last_change(log: CommandLog) -> float:
    """Time of the last command that differs from the one before [s]; of the first one if all are equal."""
    changes = [k for k in range(1, len(log.times)) if log.commands[k] != log.commands[k - 1]]
    return log.times[changes[-1]] if changes else log.times[0]


def _differences(motion: BaseLinks) -> Iterator[tuple[str, Array]]:
    """Differences of all other vehicles from the last one, by quantity."""
    x, y, heading, v_x, v_y, yaw_rate = (values[:-1] - values[-1] for values in motion)
    yield "path", np.sqrt(x * x + y * y)
    yield from {"heading": heading, "speed": v_x, "lateral": v_y, "yaw_rate": yaw_rate}.items()


def _samples(log: CommandLog, rate: float) -> int:
    """Number of samples of a run."""
    return int((log.duration + TAIL) * rate) + 1


class _Driven(AnyVehicle):
    """Vehicles that all receive the nominal one's commands and share its time."""

    def __init__(self, nominal: NodeParameters, parameters: Sequence[ParameterGroup]) -> None:
        super().__init__(models()[nominal.model], nominal.vehicle, **vehicle_settings(nominal))
        self._fleet = Fleet(self.model, parameters, step_rate=nominal.step_rate)
        self._offsets = np.array(
            [self.model.coefficients(group, self.coefficients.dt).base_link_offset for group in parameters]
        )

    def motions(self, log: CommandLog, rate: float) -> Iterator[tuple[float, BaseLinks]]:
        """Times [s] and motions of all vehicles, one sample per period from the first command on.

        Every base_link begins at the origin.
        """
        for time, command in zip(log.times, log.commands, strict=True):
            self.enter(log.type.as_sent(command).command(), round(time * NANOSECONDS))
        for k in range(_samples(log, rate)):
            instant = round(k * NANOSECONDS / rate)
            self.advance(instant)
            motion = base_links(self._fleet.states, self._offsets)
            yield instant / NANOSECONDS, motion._replace(x=motion.x - self._offsets)

    def _do(self, command: Command, steps: int) -> None:
        self._fleet.commands[:] = command
        self._fleet.advance(steps)


def _settling_times(changed: float, after: list[tuple[float, Array]], peaks: Array) -> Array:
    """Time from the last change [s] until all responses stay within their bands.

    It is the first sample after the last one outside. ``after`` has times [s] and responses since the change.
    """
    settled = np.zeros(peaks.shape[1])
    final = after[-1][1]
    for (_, response), (time, _) in zip(after, [*after[1:], after[-1]], strict=True):
        outside = np.abs(response - final) > SETTLED * peaks
        settled[outside.any(axis=0)] = time - changed
    return settled
