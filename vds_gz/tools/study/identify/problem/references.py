"""The references of a vehicle's actuators that follow from a recording's commands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.vehicle.command import Command
from vds_gz.core.vehicle.schedule import Records
from vds_gz.core.vehicle.vehicle_model import AnyModel

#: Number of evenly chosen commands of a recording from which the ranges are taken, and time that each holds [s].
ENOUGH_COMMANDS, HELD = 500, 0.02


class ReferenceRange(NamedTuple):
    """Lowest and highest reference of an actuator, in its unit."""

    lowest: float
    highest: float

    @property
    def magnitude(self) -> float:
        """The largest magnitude."""
        return max(-self.lowest, self.highest)

    @property
    def varies(self) -> bool:
        """Whether the reference changes."""
        return self.highest > self.lowest


def joined(ranges: Iterable[ReferenceRange]) -> ReferenceRange:
    """The range of several actuators."""
    lowest, highest = zip(*ranges, strict=True)
    return ReferenceRange(min(lowest), max(highest))


def reference_ranges(
    model: AnyModel, parameters: ParameterGroup, commands: Sequence[Records]
) -> dict[str, ReferenceRange]:
    """The range of each actuator's references by its name, over all recordings."""
    c = model.coefficients(parameters, HELD)
    rows = []
    for records in commands:
        s = model.at_rest(c)
        for record in _representative(records):
            u = Command(**dict(zip(records.dtype.names or (), record.tolist(), strict=True)))
            model.set_references(c, s, u)
            model.step(c, s, u)
            rows.append([state.reference_position + state.reference_velocity for state in model.actuator_states(c, s)])
    references = np.array(rows)
    names = [actuator.name for actuator in model.actuators_of(parameters)]
    ends = zip(references.min(axis=0).tolist(), references.max(axis=0).tolist(), strict=True)
    return {name: ReferenceRange(*both) for name, both in zip(names, ends, strict=True)}


def _representative(records: Records) -> Records:
    """Some commands in their order: evenly chosen ones, and the lowest and the highest value of each number.

    The extremes show an actuator that moves only once in a long recording.
    """
    even = np.arange(0, len(records), 1 + len(records) // ENOUGH_COMMANDS)
    ends = [end(records[name]) for name in records.dtype.names or () for end in (np.argmin, np.argmax)]
    chosen: Records = records[np.union1d(even, ends).astype(np.intp)]
    return chosen
