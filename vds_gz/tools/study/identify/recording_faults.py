"""Likely faults of a recording, found before the fit: signs, units, other vehicles, swapped columns.

Two series of one motion are proportional at the right lag. The factor shows a wrong unit (57.3: degrees), its sign a
mirrored axis, and a missing correlation that the series are not of the same motion.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from vds_gz.tools.study.reading.joint_names import place_of, topic_of
from vds_gz.tools.study.recording import (
    JOINTS,
    POSES,
    QUANTITIES,
    UNITS,
    MeasuredChannel,
    Recording,
    Series,
    SignalError,
)
from vds_gz.tools.study.series_alignment import FEWEST_SAMPLES, NOT_TOGETHER, Relation, common_grid, relation
from vds_gz.tools.study.signals import derivative, held

#: Maximum lags of the search [s]: of a measurement behind its command, which is dead time and lag together; of one
#: topic before or behind another, by their clocks and filters; and of a measurement that leads its command.
AFTER_COMMAND, APART, LEAD = 2.0, 0.5, 1.0

#: Series with a larger correlation are of one motion, four fifths of whose variance is common: their gain shows a unit.
TOGETHER = 0.9

#: A lead is clear if its correlation exceeds that of all lags of the other sign by this; a slow ramp has no peak.
CLEARER = 0.02

#: A measurement with a smaller correlation with its command, half of the variance, has the opposite sign.
AGAINST = -0.7

#: Speeds of wheels that are equal to v_x are in m/s, unless the known radius is above this and may be 1 m.
LARGE_RADIUS = 0.6

#: Maximum steering angle [rad]; minimum and maximum radius of a wheel [m].
MAXIMUM_ANGLE, SMALLEST, LARGEST = math.pi, 0.015, 1.5

#: Derivatives are differences over this time [s], so that the scatter of poses counts little.
DIFFERENCE = 0.4

#: Wrong units, with the factors by which they make numbers too large.
_SPEEDS = {"km/h": 3.6, "cm/s": 100.0, "mm/s": 1000.0}
_ANGLES = {"degrees": 180.0 / math.pi}
_UNITS = {"v_x": _SPEEDS, "v_y": _SPEEDS, "x": {"cm": 100.0, "mm": 1000.0}}
_TURNS = {"revolutions per minute": 30.0 / math.pi, "degrees per second": 180.0 / math.pi}


def checked(recording: Recording, wheel_radius: float = 0.0) -> Recording:
    """The recording without channels that contradict the main measurements, with findings on likely faults.

    ``wheel_radius`` is the known one [m]; 0: unknown.
    """
    findings = list(recording.findings)
    leads: dict[str, float] = {}
    for quantity in QUANTITIES:
        if quantity in recording.commanded and quantity in recording.measured:
            findings += _against_command(recording, quantity)
            leads[quantity] = _lead(quantity, recording.commanded[quantity], recording.measured[quantity])
    _check_leads(leads)
    causes = _contradicting_wheels(recording, wheel_radius)
    causes |= {
        channel.name: cause for channel in recording.further if (cause := _against_main(recording, channel, findings))
    }
    findings += [f"{cause}; left out" for cause in dict.fromkeys(causes.values())]
    poses = {channel.source for channel in recording.further if channel.name in causes and channel.quantity in POSES}
    consistent = [
        channel
        for channel in recording.further
        if channel.name not in causes and not (channel.quantity in POSES and channel.source in poses)
    ]
    for origin, by_quantity in (("commanded", recording.commanded), ("measured", recording.measured)):
        if "steering" in by_quantity and len(by_quantity["steering"].value):
            largest = float(np.percentile(np.abs(by_quantity["steering"].value), 99.0))
            if largest > MAXIMUM_ANGLE:
                reached = f"the steering angle {origin} reaches {largest:.3g} rad"
                findings.append(f"{reached}: is it in degrees, or of the steering wheel?")
    return replace(recording, further=consistent, findings=findings)


def turning_against_steering(recording: Recording) -> str:
    """A finding that the vehicle turns against its steering, as with a steered rear axle; empty otherwise.

    The steering angle is the commanded one if it was not measured. Angles beyond a quarter turn are not used: they are
    in another unit, or those of a driver's steering wheel.
    """
    by_command = "steering" not in recording.measured
    steering = (recording.commanded if by_command else recording.measured).get("steering")
    v_x, yaw_rate = (recording.measured.get(name) for name in ("v_x", "yaw_rate"))
    if not (steering and v_x and yaw_rate and len(steering.time) and len(v_x.time)):
        return ""
    if np.percentile(np.abs(steering.value), 99.0) > 0.5 * math.pi:
        return ""
    slope = np.sin(steering.value) * np.cos(steering.value)
    if by_command:
        slope = held(steering.time, slope, v_x.time)
        min_lag, max_lag, threshold, angle = 0.0, AFTER_COMMAND, AGAINST, "commanded steering angle"
    else:
        slope = np.interp(v_x.time, steering.time, slope)
        min_lag, max_lag, threshold, angle = -APART, APART, -TOGETHER, "steering angle"
    match = relation(Series(v_x.time, v_x.value * slope), yaw_rate, min_lag, max_lag, held=by_command)
    if match is None or match.correlation >= threshold:
        return ""
    return (
        f"the vehicle turns against its steering (correlation of the yaw rate with that from speed and {angle} "
        f"{match.correlation:.2f})"
    )


def _against_command(recording: Recording, quantity: str) -> Iterator[str]:
    """Faults by the gain from command to measurement."""
    match = relation(recording.commanded[quantity], recording.measured[quantity], 0.0, AFTER_COMMAND, held=True)
    if match is None:
        return
    words = f"{quantity} measured ({recording.sources.get(quantity, quantity)}) is {match.gain:.4g} times the command"
    if match.correlation < AGAINST:
        raise SignalError(
            f"{words} (correlation {match.correlation:.2f}); both must have the same sign. Is the axis mirrored? "
            "x is forward, y to the left, and angles are positive to the left"
        )
    if match.correlation < TOGETHER:
        return
    for unit, factor in _UNITS.get(quantity, _ANGLES).items():
        for times, series in ((factor, "measurement"), (1.0 / factor, "command")):
            if match.is_factor(times):
                if factor > 10.0:
                    raise SignalError(f"{words}: is the {series} in {unit}? It must be in {UNITS[quantity]}")
                yield f"{words}: is the {series} in {unit}?"


def _lead(quantity: str, command: Series, measured: Series) -> float:
    """The lead of a measurement before its commands [s]; measurements that are too few during these are refused."""
    if not len(command.time) or not len(measured.time):
        raise SignalError(
            f"{quantity} has {len(command.time)} commands and {len(measured.time)} measurements; at least 1 and "
            f"{FEWEST_SAMPLES} are needed"
        )
    mask = (measured.time >= command.time[0]) & (measured.time <= command.time[-1] + AFTER_COMMAND)
    if mask.sum() < FEWEST_SAMPLES:
        raise SignalError(
            f"{quantity} has {int(mask.sum())} measurements during the commands ({command.time[0]:.2f} to "
            f"{command.time[-1]:.2f} s; measured from {measured.time[0]:.2f} to {measured.time[-1]:.2f} s); at least "
            f"{FEWEST_SAMPLES} are needed. Are the clocks the same?"
        )
    return _lead_time(command, Series(measured.time[mask], measured.value[mask]))


def _check_leads(leads: Mapping[str, float]) -> None:
    """Refuse measurements that lead their commands, by the leads of all quantities [s].

    If one clearly follows, clocks and columns are right: others may lead by chance, or where a person turns the robot.
    """
    quantity = max(leads, key=lambda name: leads[name], default="")
    if quantity and leads[quantity] > 0.0 and min(leads.values()) >= 0.0:
        raise SignalError(
            f"the measured {quantity} leads the command by {leads[quantity]:.2f} s; it must follow the command. Are "
            "the columns or topics swapped, or the clocks different?"
        )


def _lead_time(command: Series, measured: Series) -> float:
    """The time by which measurements clearly lead the commands [s], negative if they clearly follow; else 0.

    Unlike in :func:`relation`, commands are not smoothed by a lag, which a measurement may lead by up to its time
    constant.
    """
    grid = common_grid(command, measured, -LEAD, LEAD, held=True)
    if grid is None:
        return 0.0
    shifts, correlations = grid.shifts, grid.fit().correlation
    best = int(np.argmax(correlations))
    others = correlations[shifts >= 0.0] if shifts[best] < 0.0 else correlations[shifts <= 0.0]
    is_clear = correlations[best] > max(*others, NOT_TOGETHER - CLEARER) + CLEARER
    return -float(shifts[best]) if 0 < best < len(shifts) - 1 and is_clear else 0.0


def _against_main(recording: Recording, channel: MeasuredChannel, findings: list[str]) -> str:
    """The reason why a further channel contradicts the measured motion; empty if it does not. May add a finding."""
    reference, series, main = _comparable(recording, channel)
    match = relation(reference, series, -APART, APART) if reference and series else None
    if match is None:
        return ""
    if match.correlation < -TOGETHER:
        return f"{channel.name} goes against {main} (correlation {match.correlation:.2f}): is the axis mirrored?"
    if match.contradicts:
        return f"{channel.name} contradicts {main} (correlation {match.correlation:.2f}): is it of another vehicle?"
    if match.correlation < TOGETHER:
        return ""
    for unit, factor in _UNITS.get(channel.quantity, _ANGLES).items():
        for times in (factor, 1.0 / factor) if factor > 10.0 else (factor,):
            if match.is_factor(times):
                return f"{channel.name} is {match.gain:.4g} times {main}: is one of them in {unit}?"
    if not channel.hinge and not match.agrees:  # an inner hinge turns further than the mean
        findings.append(f"{channel.name} is {match.ratio:.4g} times {main}: one of them is not calibrated")
    return ""


def _comparable(recording: Recording, channel: MeasuredChannel) -> tuple[Series | None, Series | None, str]:
    """A main measurement, the same quantity from a channel, and the name of the former."""
    quantity, measured = channel.quantity, recording.measured
    if quantity in QUANTITIES:
        return measured.get(quantity), channel.series, f"{quantity} ({recording.sources.get(quantity, quantity)})"
    if quantity == "heading":
        return measured.get("yaw_rate"), _rate(channel.series), "the yaw rate when differentiated"
    if quantity == "x":
        poses = {pose.quantity: pose.series for pose in recording.further if pose.source == channel.source}
        return measured.get("v_x"), _speed_of(poses), "v_x when differentiated"
    if channel.hinge:
        return measured.get("steering"), channel.series, "the steering angle"
    return None, None, ""


def _speed_of(poses: Mapping[str, Series]) -> Series | None:
    """Longitudinal speed by a pose [m/s]."""
    if not set(POSES) <= poses.keys() or len({len(poses[name].time) for name in POSES}) > 1:
        return None
    x, y, heading = (poses[name] for name in POSES)
    v_x, v_y = _rate(x), _rate(y)
    at = np.interp(v_x.time, heading.time, heading.value) if len(v_x.time) else v_x.time
    return Series(v_x.time, v_x.value * np.cos(at) + v_y.value * np.sin(at))


def _rate(series: Series) -> Series:
    return Series(*derivative(series.time, series.value, DIFFERENCE))


def _contradicting_wheels(recording: Recording, wheel_radius: float) -> dict[str, str]:
    """Reasons why wheel channels contradict the vehicle's motion, by their names.

    The mean of a left and a right wheel of one axle follows the speed, and their difference the yaw rate.
    """
    causes: dict[str, str] = {}
    axles: dict[tuple[str, str, str], dict[str, MeasuredChannel]] = {}
    for wheel in recording.further:
        place = place_of(wheel.joint) if wheel.quantity in JOINTS else None
        if place is not None and place.side and not place.hinge:
            axles.setdefault((topic_of(wheel), wheel.quantity, place.axle), {}).setdefault(place.side, wheel)
    for wheels in axles.values():
        if len(wheels) < 2:
            continue
        left, right = wheels["left"], wheels["right"]
        a, b = (wheel.series if wheel.quantity == "joint_velocity" else _rate(wheel.series) for wheel in (left, right))
        if min(len(a.time), len(b.time)) < 2:
            continue
        of_left = np.interp(b.time, a.time, a.value)
        mean, difference = Series(b.time, 0.5 * (b.value + of_left)), Series(b.time, b.value - of_left)
        if cause := _contradicting_pair(recording, wheel_radius, left.name, right.name, mean, difference):
            causes |= {left.name: cause, right.name: cause}
    return causes


def _contradicting_pair(
    recording: Recording, wheel_radius: float, left: str, right: str, mean: Series, difference: Series
) -> str:
    """The reason why a left and a right wheel contradict the vehicle's motion; empty if they do not."""
    pair, drives = f"{left} and {right}", _relation_to_motion(recording, "v_x", mean)
    if drives is not None and drives.correlation < -TOGETHER:
        return f"{pair} turn backwards when the vehicle drives forward (correlation {drives.correlation:.2f})"
    mismatch = _relation_to_motion(recording, "v_x", difference)
    following = abs(drives.correlation) if drives is not None else 0.0  # in straight motion the mean is constant
    if mismatch is not None and abs(mismatch.correlation) > max(TOGETHER, following):
        return (
            f"{left if mismatch.correlation > 0.0 else right} turns backwards when the vehicle drives forward "
            f"(correlation of the speed with the difference of both sides {abs(mismatch.correlation):.2f}): is its "
            "axis mirrored?"
        )
    if drives is not None:
        if drives.contradicts:
            return f"{pair} contradict v_x (correlation {drives.correlation:.2f}): are they of another vehicle?"
        radius = 1.0 / drives.gain
        if drives.correlation > TOGETHER and not SMALLEST <= radius <= LARGEST:
            likely = [unit for unit, factor in _TURNS.items() if SMALLEST <= radius * factor <= LARGEST]
            question = f": are they in {' or '.join(likely)}? They must be in rad/s" if likely else ""
            return f"by {pair} the wheels' radius is {radius:.3g} m{question}"
        if drives.correlation > TOGETHER and drives.is_factor(1.0) and wheel_radius < LARGE_RADIUS:
            return f"{pair} are {drives.gain:.3g} times v_x: they are in m/s, and must be in rad/s"
    turns = _relation_to_motion(recording, "yaw_rate", difference)
    if turns is None or turns.correlation > -TOGETHER:
        return ""
    return (
        f"{right} is slower than {left} in left turns (correlation of their difference with the yaw rate "
        f"{turns.correlation:.2f}): are left and right swapped?"
    )


def _relation_to_motion(recording: Recording, quantity: str, series: Series) -> Relation | None:
    """The relation of a series to a measured velocity, or to the commanded one if that was not measured."""
    if quantity in recording.measured:
        return relation(recording.measured[quantity], series, -APART, APART)
    if quantity in recording.commanded:
        return relation(recording.commanded[quantity], series, 0.0, AFTER_COMMAND, held=True)
    return None
