"""The table of all kinds of terms.

A further stage of an actuator needs its parameter, its effect in :mod:`vds_gz.core.vehicle.actuators`, and a row in
:data:`STAGES` under the name of the parameter.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from vds_gz.core.parameters.vehicles import MAX_UNDERSTEER
from vds_gz.tools.study.identify import trial_values
from vds_gz.tools.study.identify.estimates import TIME_RESOLUTION
from vds_gz.tools.study.identify.term_kind import TO_STAY, Effect, Excitation, TermKind
from vds_gz.tools.study.identify.trial_values import Trials

#: Dead times are rounded to steps, up or to the nearest: those up to this many steps shorter and longer are equal.
UP, NEAREST = (1.0, 0.0), (0.5, 0.5)

#: Bounds of gains.
GAINS = 0.1, 20.0

#: Required gain in prediction of a limit, because lags have a similar effect; of terms that few vehicles need; and of
#: slow shares, for which few blocks are long enough.
PROOF_OF_LIMIT, PROOF_OF_RARE, PROOF_OF_SLOW_SHARE = (1.0, 0.03), (2.0, 0.02), (1.5, 0.02)

#: The same of a limit that stays. One next to the largest values only smooths noise, and gains less.
LIMIT_TO_STAY = 0.5, 0.01


def _seconds(unit: str) -> str:
    return "s"


def _ratio(unit: str) -> str:
    return ""


def _rate(unit: str) -> str:
    return {"m/s": "m/s²", "rad/s": "rad/s²"}.get(unit, "rad/s")


def _moves(excitation: Excitation) -> bool:
    return excitation.moves


#: What kinds have in common: delays, limits, gains, bands in which nothing moves, and parameters outside actuators.
_DELAY = partial(
    TermKind,
    is_delay=True,
    lowest=0.0,
    ends="upper",
    excited=_moves,
    unit=_seconds,
    of_axis=True,
    to_record="record more quick steps back and forth (`vds-gz profile steps`)",
)
_LIMIT = partial(
    TermKind,
    is_limit=True,
    neutral=math.inf,
    reached="least",
    vague=1.0,
    smooth=False,
    trials=(Trials(trial_values.limits),),
    to_enter=PROOF_OF_LIMIT,
    to_stay=LIMIT_TO_STAY,
    of_axis=True,
    roughly="a limit of about {} was met",
)
_GAIN = partial(TermKind, lowest=GAINS[0], highest=GAINS[1], scale=0.2, neutral=1.0, vague=0.5, unit=_ratio)
_BAND = partial(
    TermKind,
    lowest=0.0,
    highest=1.0,
    scale=0.05,
    reached="command",
    smooth=False,
    trials=(Trials(trial_values.bands),),
    to_enter=PROOF_OF_RARE,
    useful=1.0,
)
_OUTSIDE = partial(TermKind, of_vehicle=True, useful=0.1, roughly="{} explains the recording best")

#: The stages of actuators by name. ``rise`` and ``fall`` limit the rate of change away from and towards zero, ``rise``
#: both without ``fall``. Vehicles with longer dead times and lags cannot be controlled. Of
#: equally good candidates the first in this table enters.
STAGES = {
    kind.name: kind
    for kind in (
        _DELAY(
            "dead_time",
            effect=Effect.DEAD_TIME,
            highest=2.0,
            scale=0.05,
            rounding=UP,
            trials=(Trials(trial_values.dead_times),),
            whole=lambda tried: (0.0, 0.08, 0.2, 0.4),
            resolution=TIME_RESOLUTION,
            harmless=tuple((1e-3 * np.arange(1.0, 26.0)).tolist()),
        ),
        _DELAY(
            "time_constant",
            highest=5.0,
            scale=0.1,
            short=5e-4,
            trials=(
                Trials(trial_values.lags),
                Trials(trial_values.delays, ("dead_time",), name="{} and dead time"),
            ),
            whole=lambda tried: (0.05, 0.2, 0.6),
            resolution=0.0,
            harmless=tuple((1e-3 * np.array([0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 14.0, 20.0, 28.0])).tolist()),
        ),
        _GAIN(
            "gain",
            is_gain=True,
            reached="least",
            excited=lambda excitation: excitation.scale,
            trials=(Trials(trial_values.gains),),
            when_vague=True,
            of_axis=True,
        ),
        TermKind(
            "offset",
            lowest=-1.0,
            highest=1.0,
            scale=0.05,
            excited=lambda excitation: excitation.near_zero and excitation.scale and not excitation.stands,
            trials=(Trials(trial_values.neutral),),
            to_enter=PROOF_OF_RARE,
            useful=1.0,
            of_axis=True,
        ),
        _BAND("dead_band", difference=0.1),  # commands within the step jump too
        _BAND("backlash", excited=_moves),
        TermKind(
            "slow_share",
            lowest=0.0,
            highest=0.9,
            scale=0.1,
            ends="upper",
            excited=lambda excitation: excitation.slow,
            trials=(Trials(trial_values.slow_shares, ("slow_time_constant",), beside=("gain",)),),
            to_enter=PROOF_OF_SLOW_SHARE,
            useful=1.0,
        ),
        TermKind(
            "slow_time_constant",
            lowest=0.5,
            highest=60.0,
            scale=2.0,
            neutral=5.0,
            needs="slow_share",
            settles=3.0,  # to 95 %; of a shorter recording the size of the slow share is an extrapolation
            ends="both",
            excited=lambda excitation: excitation.slow,
            useful=1.0,
            unit=_seconds,
        ),
        _LIMIT(
            "rise",
            excited=_moves,
            whole=trial_values.few_limits,
            label="acceleration limit",
            angle_label="rate limit",
            unit=_rate,
            to_record="record more large steps away from zero",
            smoother=(("max_accel", 1.0),),
        ),
        _LIMIT(
            "fall",
            fallback="rise",
            to_stay=TO_STAY,  # joined, two unequal limits would have one false value
            excited=lambda excitation: excitation.slows_down,
            trials=(Trials(trial_values.fall_limits),),
            label="deceleration limit",
            unit=_rate,
            to_record="record more large steps towards zero",
            smoother=(("max_decel", -1.0),),
        ),
        _LIMIT(
            "value",
            whole=trial_values.few_limits,
            label="limit",
            to_record="hold commands beyond the limit until it is reached",
            smoother=(("max_velocity", 1.0), ("min_velocity", -1.0)),
        ),
    )
}

#: A parameter that was requested.
REQUESTED = _OUTSIDE("parameter", always=True, ends="both")

#: Track with which wheels turn a vehicle, from commanded yaw rates.
EFFECTIVE_TRACK = _OUTSIDE(
    "effective_track",
    ends="both",
    unset=True,
    trials=(
        Trials(trial_values.tracks),
        Trials(trial_values.gains_and_tracks, ("gain",), name="gain and {}"),
    ),
)

#: Steering angle of cars beyond the geometric one per lateral acceleration.
UNDERSTEER = _OUTSIDE(
    "understeer_gradient",
    of_steering=True,
    lowest=0.0,
    highest=MAX_UNDERSTEER,
    scale=0.01,
    ends="upper",
    trials=(
        Trials(trial_values.understeers),
        Trials(trial_values.understeers, ("gain",), name="gain of steering and understeer"),
    ),
)

#: The response at one point of a static map.
MAP = TermKind("map", always=True, useful=1.0, far="")

#: A factor of a commanded quantity.
COMMAND_GAIN = _GAIN("gain", effect=Effect.COMMAND, is_gain=True, trials=(Trials(trial_values.gains),))

#: Distance that the wheels of a side roll per nominal metre.
WHEEL_GAIN = _GAIN("wheel gain", effect=Effect.WHEEL, always=True)

#: Offset of a sensor. Data with little noise outweigh its prior.
SENSOR_OFFSET = TermKind(
    "offset",
    effect=Effect.OFFSET,
    prior=0.1,
    trials=(Trials(trial_values.unchanged),),
    to_enter=PROOF_OF_RARE,
    useful=0.5,
    far="check the sensor's zero",
)

#: Latency of a sensor. A longer delay is more likely an actuator's dead time.
LATENCY = TermKind(
    "latency",
    effect=Effect.LATENCY,
    lowest=0.0,
    highest=0.5,
    scale=0.02,
    prior=1.0,
    trials=(Trials(trial_values.unchanged),),
    to_enter=PROOF_OF_RARE,
    resolution=TIME_RESOLUTION,
    unit=_seconds,
    far="the parameter file has no latencies",
)
