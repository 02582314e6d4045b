"""What most likely went wrong with a recording, seen before any model is fitted: signs, units, other vehicles.

Two series of one motion are proportional at the right lag. The factor tells a unit that is wrong (57.3 is degrees), its
sign a mirrored axis, and a correlation that is missing that they are not of one motion at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from vds_gz.study.identify.causes.relations import (
    AFTER_COMMAND,
    APART,
    FEWEST_SAMPLES,
    NOT_TOGETHER,
    TOGETHER,
    rate,
    relation,
)
from vds_gz.study.identify.causes.wheels import wrong_wheels
from vds_gz.study.recording import POSES, QUANTITIES, UNITS, MeasuredChannel, Recording, Series, SignalError

#: A factor is that of a unit if it is as near as this, and two measurements agree if theirs is as near to 1.
NEAR, AGREEING = 0.12, 0.2

#: No steering angle is larger [rad].
MAXIMUM_ANGLE = math.pi

#: How many times as large numbers are in other units than they should be in.
_SPEEDS = MappingProxyType({"km/h": 3.6, "cm/s": 100.0, "mm/s": 1000.0})
_ANGLES = MappingProxyType({"degrees": 180.0 / math.pi})
_LENGTHS = MappingProxyType({"cm": 100.0, "mm": 1000.0})
_UNITS = MappingProxyType({"v_x": _SPEEDS, "v_y": _SPEEDS, "x": _LENGTHS})

#: How far ahead of the commands measurements are looked for, and in which steps [s].
LEAD, LEAD_STEP = 1.0, 0.02

#: With a lower correlation two courses have nothing to do with each other.
ALIKE = 0.3


def checked(signals: Recording) -> Recording:
    """The same without further channels that contradict the main measurements, with notes on likely causes of trouble.

    Raises:
        SignalError: The main measurements contradict the commands, or do not belong to their times, so that nothing
            can be fitted.
    """
    notes = list(signals.notes)
    for quantity in QUANTITIES:
        if quantity in signals.commanded and quantity in signals.measured:
            notes += _against_command(signals, quantity)
            _check_times(quantity, signals.commanded[quantity], signals.measured[quantity])
    wrong = wrong_wheels(signals)
    wrong |= {channel.name: cause for channel in signals.further if (cause := _against_main(signals, channel, notes))}
    notes += [f"{cause}; left out" for cause in dict.fromkeys(wrong.values())]
    poses = {channel.source for channel in signals.further if channel.name in wrong and channel.quantity in POSES}
    kept = [
        channel
        for channel in signals.further
        if channel.name not in wrong and not (channel.quantity in POSES and channel.source in poses)
    ]
    return replace(signals, further=kept, notes=[*notes, *_angles_too_large(signals)])


def _against_command(signals: Recording, quantity: str) -> Iterator[str]:
    """What the gain from command to measurement says."""
    match = relation(signals.commanded[quantity], signals.measured[quantity], 0.0, AFTER_COMMAND, held=True)
    if match is None:
        return
    words = f"{quantity} measured ({signals.sources.get(quantity, quantity)}) is {match.gain:.4g} times the command"
    if match.correlation < -TOGETHER:
        raise SignalError(
            f"{words} (correlation {match.correlation:.2f}), which must go the same way. Is the axis mirrored? "
            "x is forward, y to the left, and angles are positive to the left"
        )
    if match.correlation < TOGETHER:
        return
    for unit, factor in _UNITS.get(quantity, _ANGLES).items():
        for times, which in ((factor, "measurement"), (1.0 / factor, "command")):
            if _near(match.gain, times):
                if factor > 10.0:
                    raise SignalError(f"{words}: is the {which} in {unit}? It must be in {UNITS[quantity]}")
                yield f"{words}: is the {which} in {unit}?"


def _against_main(signals: Recording, channel: MeasuredChannel, notes: list[str]) -> str:
    """Why a further channel cannot be of the motion that was measured; empty if it can, maybe with a note."""
    reference, series, what = _comparable(signals, channel)
    match = relation(reference, series, -APART, APART) if reference and series else None
    if match is None:
        return ""
    if match.correlation < -TOGETHER:
        return f"{channel.name} goes against {what} (correlation {match.correlation:.2f}): is the axis mirrored?"
    if abs(match.correlation) < NOT_TOGETHER:
        return f"{channel.name} contradicts {what} (correlation {match.correlation:.2f}): is it of another vehicle?"
    if match.correlation < TOGETHER:
        return ""
    for unit, factor in _UNITS.get(channel.quantity, _ANGLES).items():
        for times in (factor, 1.0 / factor) if factor > 10.0 else (factor,):
            if _near(match.gain, times):
                return f"{channel.name} is {match.gain:.4g} times {what}: is one of them in {unit}?"
    if not channel.hinge and not _near(match.gain, 1.0, AGREEING):  # the inner wheel turns further
        notes.append(f"{channel.name} is {match.gain:.4g} times {what}: one of them is not calibrated")
    return ""


def _comparable(signals: Recording, channel: MeasuredChannel) -> tuple[Series | None, Series | None, str]:
    """A main measurement, and what a channel says of the same; and what the first is."""
    quantity, measured = channel.quantity, signals.measured
    if quantity in QUANTITIES:
        return measured.get(quantity), channel.series, f"{quantity} ({signals.sources.get(quantity, quantity)})"
    if quantity == "heading":
        return measured.get("yaw_rate"), rate(channel.series), "the yaw rate when differentiated"
    if quantity == "x":
        poses = {pose.quantity: pose.series for pose in signals.further if pose.source == channel.source}
        return measured.get("v_x"), _speed_of(poses), "v_x when differentiated"
    if channel.hinge:
        return measured.get("steering"), channel.series, "the steering angle"
    return None, None, ""


def _speed_of(poses: Mapping[str, Series]) -> Series | None:
    """Longitudinal speed by a pose [m/s]."""
    if not all(name in poses for name in POSES):
        return None
    x, y, heading = (poses[name] for name in POSES)
    if not len(x.time) == len(y.time) == len(heading.time):
        return None
    v_x, v_y = rate(x), rate(y)
    at = np.interp(v_x.time, heading.time, heading.value) if len(v_x.time) else v_x.time
    return Series(v_x.time, v_x.value * np.cos(at) + v_y.value * np.sin(at))


def _angles_too_large(signals: Recording) -> Iterator[str]:
    for what, by_quantity in (("commanded", signals.commanded), ("measured", signals.measured)):
        if "steering" in by_quantity and len(by_quantity["steering"].value):
            largest = float(np.percentile(np.abs(by_quantity["steering"].value), 99.0))
            if largest > MAXIMUM_ANGLE:
                yield f"the steering angle {what} reaches {largest:.3g} rad: is it in degrees?"


def turning_against_steering(signals: Recording) -> str:
    """That the vehicle turns against its steering, as one does whose rear axle steers; empty if nothing shows that."""
    if not all(len(one.time) for one in signals.measured.values()) or not (
        {"v_x", "yaw_rate", "steering"} <= signals.measured.keys()
    ):
        return ""
    v_x, yaw_rate, steering = (signals.measured[name] for name in ("v_x", "yaw_rate", "steering"))
    slope = np.interp(v_x.time, steering.time, np.sin(steering.value) * np.cos(steering.value))
    match = relation(Series(v_x.time, v_x.value * slope), yaw_rate, -APART, APART)
    if match is None or match.correlation > -TOGETHER:
        return ""
    return (
        "the vehicle turns against its steering (correlation of the yaw rate with that by speed and steering angle "
        f"{match.correlation:.2f})"
    )


def _near(value: float, factor: float, part: float = NEAR) -> bool:
    return value > 0.0 and abs(math.log(value / factor)) < part


def _check_times(quantity: str, command: Series, measured: Series) -> None:
    """Refuse measurements that cannot be what came of commands, by their times.

    Raises:
        SignalError: There are too few in the time of the commands, or they come before these.
    """
    if not len(command.time) or not len(measured.time):
        raise SignalError(
            f"of {quantity} there are {len(command.time)} commands and {len(measured.time)} measurements; needed are "
            f"1 and {FEWEST_SAMPLES}"
        )
    inside = (measured.time >= command.time[0]) & (measured.time <= command.time[-1] + AFTER_COMMAND)
    if inside.sum() < FEWEST_SAMPLES:
        raise SignalError(
            f"of {quantity} there are {int(inside.sum())} measurements in the time of the commands "
            f"({command.time[0]:.2f} to {command.time[-1]:.2f} s; measured from {measured.time[0]:.2f} to "
            f"{measured.time[-1]:.2f} s); needed are {FEWEST_SAMPLES}. Are the clocks the same?"
        )
    ahead = _ahead(command, Series(measured.time[inside], measured.value[inside]))
    if ahead > 0.0:
        raise SignalError(
            f"of {quantity} what was measured comes {ahead:.2f} s before what was commanded; it must come after. Are "
            "the columns or topics swapped, or the clocks different?"
        )


def _ahead(command: Series, measured: Series) -> float:
    """By how much the measurements clearly lead the commands [s]; 0 if they do not."""
    grid = np.arange(measured.time[0], measured.time[-1], LEAD_STEP)
    reach = round(LEAD / LEAD_STEP)
    if len(grid) < 4 * reach:
        return 0.0
    at = np.clip(np.searchsorted(command.time, grid, side="right") - 1, 0, None)
    commanded, did = command.value[at], np.interp(grid, measured.time, measured.value)
    if np.ptp(commanded) < 1e-9 or np.ptp(did) < 1e-9:
        return 0.0
    middle = did[reach:-reach]
    lags = range(-reach, reach + 1)
    with np.errstate(invalid="ignore", divide="ignore"):  # parts in which nothing changes are alike to nothing
        alike = [float(np.corrcoef(commanded[reach - lag : len(grid) - reach - lag], middle)[0, 1]) for lag in lags]
    if not np.isfinite(alike).any():
        return 0.0
    best = int(np.nanargmax(alike)) - reach
    clearly = alike[best + reach] > max(float(np.nanmax([-1.0, *alike[reach:]])) + 0.02, ALIKE)
    return -best * LEAD_STEP if best < 0 and clearly else 0.0
