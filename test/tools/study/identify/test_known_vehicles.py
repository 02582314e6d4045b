"""Random vehicles of every kind: parameters are exact without noise, and near the Cramer-Rao bound with it."""

import numpy as np
import pytest
from helpers.cramer_rao import bound
from helpers.identified_vehicles import Disturbance, clean, disturbed, full_scale, judged, presets, random_case

from vds_gz.tools.study.identify.identification import identify

DURATION = 20.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["four-wheel drive", "omni x"])
def test_without_noise_every_parameter_is_exact_and_in_its_interval(kind):
    case = random_case(kind, 1)
    signals = clean(case, 1, 10.0)
    fit = identify(signals, vehicle=case.known(), hold_out=0.0)
    rows = judged(fit, case, signals)
    assert {name: one for name, one in rows.items() if one.estimate is None} == {}
    assert {name: one for name, one in rows.items() if not one.error <= one.allowed} == {}
    assert {name: one for name, one in rows.items() if not one.holds} == {}
    assert {
        channel.name for channel in fit.channels if channel.residual > 1e-3 * np.max(np.abs(channel.measured))
    } == set()


def test_with_noise_errors_and_intervals_are_near_the_cramer_rao_bound():
    how, seed = Disturbance(), 2
    case = random_case("differential", seed)
    exact = clean(case, seed, DURATION)
    signals = disturbed(exact, np.random.default_rng(seed), how)
    rows = judged(identify(signals, vehicle=case.known(), hold_out=0.0), case, signals)
    channels = {name: (one.time, how.noise * full_scale(exact, name)) for name, one in signals.measured.items()}
    least = bound(case, case.log(seed, DURATION), list(rows), channels)
    ratios = {name: one.error / least[name] for name, one in rows.items()}
    assert {name: ratio for name, ratio in ratios.items() if not ratio < 3.5} == {}
    assert np.sqrt(np.mean(np.square(list(ratios.values())))) < 2.0
    for name, one in rows.items():
        half = 0.5 * (one.estimate.high - one.estimate.low)
        assert 1.8 * least[name] < half < 2.6 * least[name], name


def test_a_dead_time_that_samples_do_not_show_is_zero_within_its_interval():
    case = next(preset for preset in presets() if preset.name == "deepracer")
    fit = identify(clean(case, 4, 10.0), vehicle=case.known(), hold_out=0.0)
    for actuator in ("drive_actuator", "steering_actuator"):
        dead_time, lag = fit.numbers[f"{actuator}.dead_time"], fit.numbers[f"{actuator}.time_constant"]
        assert dead_time.value == lag.value == 0.0
        assert dead_time.high == pytest.approx(0.019, abs=1e-3), "commands and samples come every 20 ms"
        assert 0.0 < lag.high < 0.005
