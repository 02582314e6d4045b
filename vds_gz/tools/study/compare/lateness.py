"""Detects commands that acted late or were recorded late, as on a busy machine; in the vehicle's time.

The references of the actuators show when each command acted. A model that gets the same commands at their arrival times
has the same references earlier. Changes to equal values correspond, in their order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.vehicle.catalogue import models
from vds_gz.tools.study.compare.alignment import ALIKE, nearest_equal
from vds_gz.tools.study.recording import ActuatorSeries, Recording

#: Maximum lateness in the search [s].
LONGEST = 2.0

#: Minimum number of changes that correspond, and their minimum part of all changes of the model's references.
FEWEST, MOST_OF = 5, 0.5

#: Commands are late if one acted at least this long [s], and this many sampling intervals, before or after it came.
LATE, INTERVALS = 0.03, 2.0


@dataclass(frozen=True, slots=True)
class Lateness:
    """Latency of the commands in a recorded run.

    Attributes:
        time: Arrival times of the commands [s].
        late: Time until each of them acted [s], known to a sampling interval; negative if it was recorded late.
    """

    time: Array
    late: Array

    def acted(self, time: Array) -> Array:
        """Times at which commands acted, by their arrival times [s]; commands keep their order."""
        action_times: Array = np.maximum.accumulate(time + np.interp(time, self.time, self.late))
        return action_times

    def __str__(self) -> str:
        return (
            f"commands acted up to {max(np.max(self.late), 0.0):.2f} s after and {max(-np.min(self.late), 0.0):.2f} s "
            f"before they were recorded (median {np.median(self.late) + 0.0:.2f} s), in the vehicle's time"
        )


def by_command(run: Recording, parameters: NodeParameters) -> Recording:
    """A run with those actuators alone whose references follow from the commands."""
    actuators = models()[parameters.model].actuators_of(parameters.vehicle)
    names = {actuator.name for actuator in actuators if not actuator.feedback}
    return replace(run, actuators=tuple(series for series in run.actuators if series.name in names))


def lateness(recorded: Recording, model: Recording, begin: float) -> Lateness | None:
    """Latency of the commands, by a model that got them at arrival; None if they were in time or it is unknown.

    Time 0 of the model's run is ``begin`` in the recorded run [s].
    """
    models = {actuator.name: actuator for actuator in model.actuators}
    arrival_times, delays, changes, interval = [np.empty(0)], [np.empty(0)], 0, 0.0
    for actuator in recorded.actuators:
        if (counterpart := models.get(actuator.name)) is not None and min(
            len(actuator.time), len(counterpart.time)
        ) > 1:
            count, arrivals, action_times = _changes(actuator, counterpart, model.command_times, begin)
            changes += count
            arrival_times.append(arrivals)
            delays.append(action_times - arrivals)
            interval = max(interval, float(np.median(np.diff(actuator.time))))
    arrivals, delay = np.concatenate(arrival_times), np.concatenate(delays)
    if len(arrivals) < max(FEWEST, MOST_OF * changes) or np.max(np.abs(delay)) < max(LATE, INTERVALS * interval):
        return None
    order = np.argsort(arrivals, kind="stable")
    return Lateness(arrivals[order], delay[order])


def _changes(
    recorded: ActuatorSeries, model: ActuatorSeries, commands: Array, begin: float
) -> tuple[int, Array, Array]:
    """The number of changes of a model's reference, and when corresponding changes arrived and acted [s].

    A change arrives with the last command before the sample that shows it, and acts halfway between two samples.
    """
    tolerance = ALIKE * max(float(np.ptp(model.reference)), 1e-9)
    (model_times, model_values), (times, values) = (
        (actuator.time[at], actuator.reference[at])
        for actuator in (model, recorded)
        for at in [np.flatnonzero(np.abs(np.diff(actuator.reference)) > tolerance) + 1]
    )
    sent_times = commands[np.maximum(np.searchsorted(commands, model_times) - 1, 0)] + begin
    acted = times - 0.5 * float(np.median(np.diff(recorded.time)))
    arrivals, action_times, following = [], [], 0
    for time, value in zip(sent_times, model_values, strict=True):
        remaining = acted[following:], values[following:, np.newaxis]
        if (k := nearest_equal(time, value, *remaining, LONGEST, tolerance)) is not None:
            following += k + 1
            arrivals.append(time)
            action_times.append(acted[following - 1])
    return len(model_times), np.array(arrivals), np.array(action_times)
