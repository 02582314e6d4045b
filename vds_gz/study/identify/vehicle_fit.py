"""A vehicle from a recording: every axis measured, and a model's parameters made of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vds_gz.parameters.override import Override
from vds_gz.study.identify.axis_fit import LIMITS, TIMES, AxisFit, fit_axis, reached
from vds_gz.study.identify.estimates import Estimate, noise
from vds_gz.study.identify.signals import QUANTITIES, Series, SignalError, Signals

#: Below this speed a yaw rate says nothing of the steering [m/s].
SLOW = 0.05

#: How far ahead of the commands measurements are looked for, and in which steps [s].
LEAD, LEAD_STEP = 1.0, 0.02

#: What a model leaves is more than noise if it is so many times the noise and this part of the range.
NOISY, NEGLIGIBLE = 1.5, 0.01

#: At standstill the last angle must be so great [rad], in so many samples, to tell whether the steering kept it.
TELLING, TELLING_SAMPLES = 0.05, 20

#: Remarks in a parameter file on what has no interval.
NOT_MET, STANDSTILL = "unlimited: not met", "by what it did at standstill"

#: Words and units of the numbers, for a drive [m/s] and for an angle [rad].
LABELS = {
    "dead_time": "dead time",
    "time_constant": "time constant",
    "gain": "gain",
    "offset": "offset",
    "rise": "acceleration limit",
    "fall": "deceleration limit",
    "value": "limit",
}


#: A number is known roughly if its interval is wider to either side than this part of it; a time, if also wider than
#: this [s].
ROUGHLY = {"dead_time": 0.05, "time_constant": 0.05, "rise": 0.02, "fall": 0.02, "value": 0.02}
ROUGH_TIME = 0.005

#: What tells more of a number.
_QUICK = "more steps to and fro in quick succession tell more (`vds-gz profile steps`), or a longer recording"
MORE = {
    "dead_time": _QUICK,
    "time_constant": _QUICK,
    "rise": "more great steps away from zero tell more",
    "fall": "more great steps towards zero tell more",
    "value": "commands beyond the limit, held until it is reached, tell more",
}


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis with what was found of it.

    Attributes:
        quantity, unit: What it is, and the unit of its value.
        centred: Of a steering: it goes to 0 when the commanded speed is 0; None: the recording does not tell.
    """

    quantity: str
    unit: str
    fit: AxisFit
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

    def advice(self) -> Iterator[str]:
        """Of each number that the recording tells only roughly: how roughly, and what would tell more."""
        for name, number in self.fit.numbers.items():
            if number is None or name not in ROUGHLY or (self.quantity == "steering" and name == "fall"):
                continue
            half = 0.5 * (number.high - number.low)
            if half > max(ROUGHLY[name] * abs(number.value), ROUGH_TIME if name in TIMES else 0.0):
                yield (
                    f"{self.quantity} {self.label(name)} is known to +-{half:.2g} {self.unit_of(name)} "
                    f"({half / abs(number.value):.0%}) only; {MORE[name]}"
                )

    def label(self, name: str) -> str:
        """What one of its numbers is called."""
        return "rate limit" if self.quantity == "steering" and name == "rise" else LABELS[name]


def identify(signals: Signals, *, wheel_base: float | None = None) -> list[Axis]:
    """Measure every axis that was commanded and measured.

    Args:
        signals: What is known.
        wheel_base: Of a vehicle that steers but is commanded velocities [m]: gives the angles commanded.

    Raises:
        SignalError: There is no axis with both.
    """
    commanded = dict(signals.commanded)
    centred = None
    if "steering" in signals.measured and "steering" not in commanded and wheel_base and "yaw_rate" in commanded:
        commanded["steering"], centred = _steering_of_twists(signals, wheel_base)
    elif "steering" in signals.measured and "steering" in commanded and "v_x" in commanded:
        commanded["steering"], centred = _steering_at_standstill(signals)
    axes = []
    for quantity in QUANTITIES:
        if quantity not in commanded or quantity not in signals.measured:
            continue
        command, measured = _overlap(quantity, commanded[quantity], signals.measured[quantity])
        unit = {"yaw_rate": "rad/s", "steering": "rad"}.get(quantity, "m/s")
        angle = quantity == "steering"
        fit = fit_axis(command.time, command.value, measured.time, measured.value, angle=angle)
        if quantity != "v_y" or np.ptp(command.value) > 0.0:
            axes.append(Axis(quantity, unit, fit, centred if quantity == "steering" else None))
            allowed = NOISY * noise(measured.value) + NEGLIGIBLE * float(np.ptp(measured.value))
            if fit.residual > allowed:
                signals.notes.append(
                    f"{quantity}: the model leaves {fit.residual:.3g} {unit}, which is more than noise; the vehicle is "
                    "no such axis, or something else acted on it"
                )
    if not axes:
        raise SignalError(
            f"nothing was both commanded ({', '.join(signals.commanded) or 'nothing'}) and measured "
            f"({', '.join(signals.measured) or 'nothing'}); needed is one of {', '.join(QUANTITIES)} in both"
        )
    return axes


def _steering_of_twists(signals: Signals, wheel_base: float) -> tuple[Series, bool | None]:
    """The steering angles that velocities command, and whether they were 0 at standstill."""
    twists = signals.commanded["v_x"], signals.commanded["yaw_rate"]
    return _fitting(signals, *(commanded_steering(*twists, wheel_base, centred=centred) for centred in (False, True)))


def _steering_at_standstill(signals: Signals) -> tuple[Series, bool | None]:
    """The same of commands of speed and steering angle."""
    kept, speed = signals.commanded["steering"], signals.commanded["v_x"]
    commanded = speed.value[np.clip(np.searchsorted(speed.time, kept.time, side="right") - 1, 0, None)]
    return _fitting(signals, kept, Series(kept.time, np.where(commanded == 0.0, 0.0, kept.value)))


def _fitting(signals: Signals, kept: Series, centred: Series) -> tuple[Series, bool | None]:
    """Which of two courses of the steering angle was measured, and whether it is the second; None if nothing tells."""
    measured = signals.measured["steering"]
    at = np.clip(np.searchsorted(kept.time, measured.time, side="right") - 1, 0, None)
    tells = np.abs(kept.value - centred.value)[at] > TELLING
    if tells.sum() < TELLING_SAMPLES:
        return kept, None
    away = [float(np.mean(np.abs(course.value[at] - measured.value)[tells])) for course in (kept, centred)]
    if away[1] < away[0]:
        signals.notes.append("the steering is centred at standstill: center_at_standstill: true")
        return centred, True
    return kept, False


def commanded_steering(v_x: Series, yaw_rate: Series, wheel_base: float, *, centred: bool = False) -> Series:
    """The steering angle [rad] that a velocity commands; at standstill the last one, or 0 if ``centred``."""
    angles = np.arctan2(wheel_base * yaw_rate.value * np.sign(v_x.value), np.abs(v_x.value))
    moving = np.abs(v_x.value) > SLOW
    if centred:
        return Series(v_x.time, np.where(moving, angles, 0.0))
    last = np.maximum.accumulate(np.where(moving, np.arange(len(angles)), -1))
    return Series(v_x.time, np.where(last >= 0, angles[last], 0.0))


def _overlap(quantity: str, command: Series, measured: Series) -> tuple[Series, Series]:
    """Measurements from the first command on; before it nobody knows what was commanded."""
    if not len(command.time) or not len(measured.time):
        raise SignalError(f"of {quantity} there are {len(command.time)} commands and {len(measured.time)} measurements")
    inside = (measured.time >= command.time[0]) & (measured.time <= command.time[-1] + 2.0)
    if inside.sum() < 20:
        raise SignalError(
            f"of {quantity} there are {int(inside.sum())} measurements in the time of the commands "
            f"({command.time[0]:.2f} to {command.time[-1]:.2f} s; measured from {measured.time[0]:.2f} to "
            f"{measured.time[-1]:.2f} s); needed are 20. Are the clocks the same?"
        )
    ahead = _ahead(command, Series(measured.time[inside], measured.value[inside]))
    if ahead > 0.0:
        raise SignalError(
            f"of {quantity} what was measured comes {ahead:.2f} s before what was commanded; it must come after. Are "
            "the columns or topics swapped, or the clocks different?"
        )
    return command, Series(measured.time[inside], measured.value[inside])


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
    clearly = alike[best + reach] > np.nanmax([-1.0, *alike[reach:]]) + 0.02
    return -best * LEAD_STEP if best < 0 and clearly else 0.0


# ---------------------------------------------------------------------- to parameters


def model_of(signals: Signals, axes: list[Axis]) -> str:
    """The vehicle model that takes such commands."""
    if signals.steers or any(axis.quantity == "steering" for axis in axes):
        return "bicycle"
    return "omni" if any(axis.quantity == "v_y" for axis in axes) else "differential"


def overrides(model: str, axes: list[Axis]) -> Iterator[Override]:
    """Parameters of a model, as far as they were found."""
    drive = "drive_actuator" if model == "bicycle" else "drive_actuators"
    found = {axis.quantity: axis.fit for axis in axes}
    if "v_x" in found:
        yield from _group(model, drive, found["v_x"], angle=False)
    if "steering" in found and model == "bicycle":
        yield from _group(model, "steering_actuator", found["steering"], angle=True)
        for centred in (axis.centred for axis in axes if axis.centred is not None):
            yield Override(f"model_params.{model}.center_at_standstill", centred, STANDSTILL)


def _group(model: str, group: str, fit: AxisFit, *, angle: bool) -> Iterator[Override]:
    names = {"dead_time": "dead_time", "time_constant": "time_constant"}
    names |= (
        {"rise": "max_velocity", "value": "max_position"}
        if angle
        else {
            "rise": "max_acceleration",
            "fall": "max_deceleration",
            "value": "max_velocity",
        }
    )
    for name, parameter in names.items():
        number = fit.numbers[name]
        if number is not None:
            yield number.override(f"model_params.{model}.{group}.{parameter}")
        elif name in LIMITS and not (angle and name == "value"):
            remark = f"{NOT_MET}; {getattr(fit.reached, name):.3g} was reached"
            yield Override(f"model_params.{model}.{group}.{parameter}", 0.0, remark)


def nav2(axes: list[Axis], signals: Signals) -> Iterator[str]:
    """Lines of what Nav2 needs: the controller's delays and the smoother's limits."""
    fits = {axis.quantity: axis.fit for axis in axes}
    yield "# controller_server, FollowPath (MPPI)"
    for quantity, name in (("v_x", "vx"), ("v_y", "vy"), ("yaw_rate", "wz")):
        fit = fits.get(quantity) or (fits.get("steering") if quantity == "yaw_rate" else None)
        if fit is not None:
            yield f"model_delay_{name}: {_or_unknown(fit.numbers['dead_time'])}"
    yield "# velocity_smoother"
    if "yaw_rate" not in fits:
        yield "# yaw rates (third numbers) were not commanded; these are the maxima observed"
    for parameter, name, sign in (
        ("max_velocity", "value", 1.0),
        ("min_velocity", "value", -1.0),
        ("max_accel", "rise", 1.0),
        ("max_decel", "fall", -1.0),
    ):
        limits = (sign * _limit(fits, signals, quantity, name) for quantity in ("v_x", "v_y", "yaw_rate"))
        yield f"{parameter}: [{', '.join(f'{limit + 0.0:.3f}' for limit in limits)}]"


def _limit(fits: dict[str, AxisFit], signals: Signals, quantity: str, name: str) -> float:
    """A limit; where it is not known, the maximum that came up."""
    fit, measured = fits.get(quantity), signals.measured.get(quantity)
    number = fit.numbers[name] if fit is not None else None
    if number is not None:
        return number.value
    if (quantity not in fits and quantity != "yaw_rate") or measured is None:
        return 0.0
    return float(getattr(reached(measured.time, measured.value, angle=False), name))


def autoware(axes: list[Axis]) -> Iterator[str]:
    """Lines of parameters of Autoware's simple_planning_simulator."""
    fits = {axis.quantity: axis.fit for axis in axes}
    drive, steering = fits.get("v_x"), fits.get("steering")
    yield "# simple_planning_simulator, vehicle_model_type: DELAY_STEER_VEL"
    for fit, names in (
        (drive, {"vel_time_delay": "dead_time", "vel_time_constant": "time_constant", "vel_lim": "value"}),
        (drive, {"vel_rate_lim": "rise"}),
        (steering, {"steer_time_delay": "dead_time", "steer_time_constant": "time_constant", "steer_lim": "value"}),
        (steering, {"steer_rate_lim": "rise"}),
    ):
        for parameter, name in names.items() if fit is not None else ():
            assert fit is not None
            yield f"{parameter}: {_or_unknown(fit.numbers[name])}"


def _or_unknown(number: Estimate | None) -> str:
    return "# not excited" if number is None or not math.isfinite(number.value) else f"{number.value:.4f}"
