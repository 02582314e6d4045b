"""A gain that a recording does not determine is not given, whatever value the fit has."""

import numpy as np

from vds_gz.tools.study.identify.identification import identify
from vds_gz.tools.study.recording import Recording, Series


def limited(commanded, time, limit, rate):
    """A speed that approaches its command or its limit [m/s] with a limited acceleration [m/s^2]."""
    at = np.searchsorted(commanded.time, time, side="right") - 1
    wanted = np.clip(commanded.value[at], -limit, limit)
    response, now = np.empty_like(time), 0.0
    for k, one in enumerate(wanted):
        response[k] = now
        now += float(np.clip(one - now, -rate * 0.001, rate * 0.001))
    return response


def recorded(levels):
    commanded = Series(2.0 * np.arange(len(levels)), np.asarray(levels))
    time = 0.001 * np.arange(2000 * len(levels))
    measured = limited(commanded, time, 1.0, 2.0)[20::20]
    noise = 0.005 * np.random.default_rng(3).standard_normal(len(measured))
    return Recording({"v_x": commanded}, {"v_x": Series(time[20::20], measured + noise)})


def test_a_gain_beyond_the_limits_is_not_given():
    fit = identify(recorded([2.0, -1.5, 1.8, 0.0, -2.0, 1.6, 0.0, 1.7]), hold_out=0.0)
    assert fit.numbers["drive_actuators.gain"] is None
    assert fit.parameters.drive_actuators.gain == 1.0
    limit = fit.numbers["drive_actuators.max_velocity"]
    assert limit.low <= 1.0 <= limit.high


def test_a_gain_within_the_limits_is_given():
    signals = recorded([2.0, -0.5, 0.8, 0.0, -2.0, 0.6, 0.0, 1.7])
    commanded = signals.commanded["v_x"]
    signals.commanded["v_x"] = Series(commanded.time, commanded.value / 1.1)
    fit = identify(signals, hold_out=0.0)
    gain = fit.numbers["drive_actuators.gain"]
    assert gain.low <= 1.1 <= gain.high
    assert gain.high - gain.low < 0.02
