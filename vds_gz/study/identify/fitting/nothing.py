"""What identification gives of a recording in which nothing moves: what was recorded, and no numbers.

The model of each channel is its mean then: what that leaves is all noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from vds_gz.study.identify.axes import NAMES, Axis, AxisFit, Reached
from vds_gz.study.identify.estimates import Estimate
from vds_gz.study.identify.forward.setup import COMMANDED_BY, FIELDS, Setup
from vds_gz.study.identify.results import Channel, VehicleFit
from vds_gz.study.identify.signals import QUANTITIES


def nothing_found(setup: Setup) -> VehicleFit:
    """Nothing."""
    unknowns = setup.family.unknowns
    numbers: dict[str, Estimate | None] = dict.fromkeys(one.name for one in unknowns if one.is_parameter)
    calibrations: dict[str, Estimate | None] = dict.fromkeys(one.name for one in unknowns if not one.is_parameter)
    channels = tuple(_channels(setup))
    return VehicleFit(
        model=setup.family.model.name,
        parameters=setup.family.parameters,
        numbers=numbers,
        calibrations=calibrations,
        reached={},
        channels=channels,
        findings=("nothing moved by more than noise, or no command changed: no number is determined",),
        held_out={},
        axes=tuple(_axis(one) for one in channels if one.commanded is not None and one.quantity in QUANTITIES),
    )


def _channels(setup: Setup) -> Iterator[Channel]:
    for recording, every in enumerate(setup.channels):
        commands = setup.recordings[recording].commands
        for one in every:
            time, value = one.series.time, one.series.value
            at = np.clip(np.searchsorted(commands.time, time, side="right") - 1, 0, None)
            is_commanded = one.quantity in COMMANDED_BY.get(setup.kind, ())
            yield Channel(
                name=one.name,
                quantity=one.quantity,
                unit=one.unit,
                source=one.source,
                recording=recording,
                noise=float(np.std(value)),
                nu=math.inf,
                residual=float(np.std(value)),
                outliers=0,
                correlation=0.0,
                time=time,
                measured=value,
                modelled=np.full(len(value), np.mean(value)),
                commanded=np.asarray(commands.records[FIELDS[one.quantity]][at], float) if is_commanded else None,
                weight=np.ones(len(value)),
            )


def _axis(channel: Channel) -> Axis:
    assert channel.commanded is not None
    top = Reached(0.0, 0.0, float(np.max(np.abs(channel.measured), initial=0.0)))
    samples = channel.time, channel.commanded, channel.measured, channel.modelled
    return Axis(channel.quantity, channel.unit, AxisFit(dict.fromkeys(NAMES), top, channel.residual, 0, *samples))
