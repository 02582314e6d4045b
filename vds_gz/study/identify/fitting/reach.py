"""How far a signal went: maximum rates and maximum value, without the noise."""

from __future__ import annotations

import numpy as np

from vds_gz.study.identify.axes import Reached
from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.forward.setup import FIELDS, Setup

#: How quickly something is taken to change of which only the command is known [s].
QUICKLY = 0.5


def reached(time: Array, measured: Array, *, angle: bool) -> Reached:
    """Maximum rates and maximum value, without the noise.

    Args:
        time, measured: Samples; times in s.
        angle: One rate holds for both directions.
    """
    if len(time) < 20:
        return Reached(0.0, 0.0, 0.0)
    smooth = np.convolve(measured, np.full(5, 0.2), mode="valid")
    rates = (smooth[4:] - smooth[:-4]) / np.maximum(time[6:-2] - time[2:-6], 1e-9)
    value = smooth[2:-2]
    rise, fall = (
        float(np.percentile(np.abs(rates[side]), 98.0)) if side.sum() > 5 else 0.0
        for side in (rates * value >= 0.0, rates * value < 0.0)
    )
    if angle:
        rise = fall = max(rise, fall)
    return Reached(rise, fall, float(np.percentile(np.abs(smooth), 97.0)))


def measured_reach(setup: Setup) -> dict[str, float]:
    """About how far the actuators of a vehicle went, by the names of their limits."""
    found: dict[str, float] = {}
    for name, actuation in setup.actuators.items():
        top = _reach(setup, "steering", angle=True) if name == "steering" else _of_drives(setup)
        for number in ("rise", "fall", "value"):
            limit = getattr(actuation, number)
            if limit:
                found[limit] = getattr(top, number)
    return found


def _of_drives(setup: Setup) -> Reached:
    """Of drives: what the speed needs, and with wheels at both sides what turning needs too."""
    arm = setup.family.model.geometry(setup.family.parameters).yaw_arm
    needs = [(1.0, "v_x")]
    if arm:
        needs += [(1.0, "v_y"), (arm, "yaw_rate")]
    tops = [(factor, _reach(setup, quantity, angle=False)) for factor, quantity in needs]
    return Reached(*(sum(factor * top[k] for factor, top in tops) for k in range(3)))


def _reach(setup: Setup, quantity: str, *, angle: bool) -> Reached:
    """Of a quantity, as it was measured or else as it was commanded."""
    found = [
        reached(one.series.time, one.series.value, angle=angle)
        for every in setup.channels
        for one in every
        if one.quantity == quantity
    ]
    if found:
        return Reached(*(max(values) for values in zip(*found, strict=True)))
    top = max(float(np.max(np.abs(one.commands.records[FIELDS[quantity]]))) for one in setup.recordings)
    return Reached(top / QUICKLY, top / QUICKLY, top)
