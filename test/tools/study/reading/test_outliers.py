"""Wraps, wild values and drop-outs are left out with a note; motions of vehicles are not touched."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.tools.study.compare.sources import simulate
from vds_gz.tools.study.reading.cleaning import clean
from vds_gz.tools.study.reading.outliers import FASTEST
from vds_gz.tools.study.reading.signal_table import read_csv

TIME = 0.05 * np.arange(600)
DRIVEN = 0.2 * np.sin(0.5 * TIME) * (TIME > 5.0)


def cleaned(value, quantity="yaw_rate", *, time=TIME, commanded=False):
    """Times that are left, and findings."""
    findings = []
    series = clean(time, np.asarray(value, float), quantity, findings, quantity, commanded=commanded)
    return series.time, findings


def with_values(at, value):
    return np.where(np.isin(np.arange(len(TIME)), at), value, DRIVEN)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("at", [[100], [100, 103, 250], list(range(200, 320, 2))], ids=["one", "several", "many"])
def test_a_yaw_rate_of_a_turn_per_interval_is_a_wrap(sign: float, at: list[int]):
    time, [finding] = cleaned(with_values(at, sign * math.tau / 0.05 + 0.1))
    assert (time == np.delete(TIME, at)).all()
    assert (
        finding
        == f"{len(at)} of 600 samples of yaw_rate are a turn per interval, as where a heading wraps; they were left out"
    )


def test_a_slow_turn_after_a_gap_is_no_wrap():
    time = np.where(TIME > 15.0, TIME + 30.0, TIME)
    left, findings = cleaned(np.where(TIME > 15.0, DRIVEN, math.tau / 30.05), time=time)
    assert (left == time).all()
    assert "they were left out" not in "".join(findings)


def test_a_vehicle_that_spins_is_no_wrap():
    time = 0.5 * np.arange(120)
    assert len(cleaned(np.where(time > 10.0, 12.5, 0.0), time=time)[0]) == 120


@pytest.mark.parametrize("quantity", FASTEST)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_measurement_far_from_all_others_is_wild(quantity: str, count: int):
    at = np.arange(300, 300 + count)
    time, [finding] = cleaned(with_values(at, 30.0), quantity)
    assert (time == np.delete(TIME, at)).all()
    assert "such as 30" in finding


@pytest.mark.parametrize(("interval", "pulse"), [(0.1, [0.3, 0.7, 0.3]), (1.0, [0.8, 1.0, 0.8])])
def test_rare_short_drives_stay(interval: float, pulse: list[float]):
    """Taps of a joystick, and a drive of some seconds with a slow sensor."""
    value = np.zeros(600)
    for begin in (100, 250, 400, 500):
        value[begin : begin + 3] = pulse
    time = interval * np.arange(600)
    assert len(cleaned(value, "v_x", time=time)[0]) == 600
    assert len(cleaned(3.0 * value, "yaw_rate", time=time)[0]) == 600


def test_a_wild_command_is_short_and_far_beyond_all_others():
    assert len(cleaned(with_values([300, 301, 302], 94.0), commanded=True)[0]) == 597
    held = np.where(np.arange(600) > 302, TIME + 1.0, TIME)
    assert len(cleaned(with_values([300, 301, 302], 94.0), time=held, commanded=True)[0]) == 600, "held for 1 s"
    assert len(cleaned(with_values([300, 301, 302], 3.0), commanded=True)[0]) == 600, "a short pulse"


@given(
    levels=st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=12),
    samples=st.integers(4, 60),
    noise=st.floats(0.0, 0.3),
    quantity=st.sampled_from(list(FASTEST)),
    commanded=st.booleans(),
)
def test_steps_with_noise_stay(levels: list[float], samples: int, noise: float, quantity: str, commanded: bool):
    steps = np.repeat(levels, samples)
    values = steps + noise * np.random.default_rng(samples).standard_normal(len(steps))
    left, findings = cleaned(values, quantity, time=0.05 * np.arange(len(steps)), commanded=commanded)
    assert len(left) == len(steps)
    assert findings == []


@given(rate=st.floats(0.1, 20.0), period=st.floats(0.5, 10.0), size=st.floats(0.01, 10.0), noise=st.floats(0.0, 0.1))
def test_fast_and_slow_waves_stay(rate: float, period: float, size: float, noise: float):
    time = np.arange(0.0, 20.0, 0.1 / rate)[:2000]
    wave = size * np.sin(math.tau * time / (rate * period)) + noise * np.random.default_rng(1).standard_normal(
        len(time)
    )
    assert len(cleaned(wave, "v_x", time=time)[0]) == len(time)


@pytest.mark.parametrize("preset", ["indoor_robot", "f1tenth", "swerve_robot"])
def test_vehicles_in_quick_steps_with_noise_stay(preset: str):
    log = {"indoor_robot": "hall", "f1tenth": "parking_lot", "swerve_robot": "omni"}[preset]
    run = simulate(log, preset)
    for quantity, series in run.measured.items():
        noise = 0.02 * np.std(series.value) * np.random.default_rng(2).standard_normal(len(series.value))
        for value in (series.value, series.value + noise):
            left, findings = cleaned(value, quantity, time=series.time)
            assert len(left) == len(series.time)
            assert findings == []


@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_a_sensor_that_reads_zero_for_moments_drops_out(noise: float):
    speed = np.where((TIME > 3.0) & (TIME < 27.0), 1.0 + 0.2 * np.sin(0.5 * TIME) + noise * np.sin(9.0 * TIME), 0.0)
    lost = np.arange(600) % 5 < 2
    time, [finding] = cleaned(np.where(lost, 0.0, speed), "v_x")
    kept = np.isin(TIME, time)
    inside = (TIME > 3.6) & (TIME < 26.4)
    assert (kept[inside] == ~lost[inside]).all()
    assert kept[(TIME < 2.9) | (TIME > 27.1)].all(), "standstill stays"
    assert "drop-outs: the sensor falls to 0 for moments" in finding


def test_a_few_drop_outs_that_no_vehicle_could_drive_are_left_out():
    speed = np.where((TIME > 3.0) & (TIME < 27.0), 5.0, 0.0)
    lost = [100, 130, 131, 300, 420]
    time, [finding] = cleaned(np.where(np.isin(np.arange(600), lost), 0.0, speed), "v_x")
    assert (time == np.delete(TIME, lost)).all()
    assert finding.startswith("5 of 600 samples of v_x belong to drop-outs")
    for top in (1.5, 6.0):  # beside faster parts too
        level = np.where(TIME < 15.0, 5.0, top)
        assert (cleaned(np.where(np.isin(np.arange(600), [150, 400]), 0.0, level), "v_x")[0] != TIME[400]).all()
    slow = np.where(np.isin(np.arange(600), lost), 0.0, 0.1 * speed)
    assert len(cleaned(slow, "v_x")[0]) == 600


@pytest.mark.parametrize("jitter", [0.0, 0.01])
@pytest.mark.parametrize("rate", [0.03, 0.05, 0.08])
def test_a_slow_vehicle_with_a_coarse_encoder_does_not_drop_out(rate: float, jitter: float):
    time = TIME + jitter * np.random.default_rng(3).uniform(-1.0, 1.0, 600)
    counts = np.floor(rate * time / 0.005)
    speed = 0.005 * np.diff(counts, prepend=0.0) / np.diff(time, prepend=-0.05)
    assert np.mean(speed == 0.0) > 0.1
    assert len(cleaned(speed, "v_x", time=time)[0]) == 600


@pytest.mark.parametrize("part", [0.3, 0.5, 0.8])
def test_intervals_without_a_count_of_a_very_coarse_encoder_are_no_drop_outs(part: float):
    """Each count is 0.8 m/s for one interval, which no vehicle gains and loses so fast."""
    speed = 0.8 * np.diff(np.floor(part * np.arange(601)))
    assert np.mean(speed == 0.0) == pytest.approx(1.0 - part, abs=0.01)
    assert len(cleaned(speed, "v_x", time=0.02 * np.arange(600))[0]) == 600


def test_stops_of_half_a_second_and_changes_of_sign_stay():
    for value in (np.floor(TIME / 0.5) % 2.0, np.sign(np.sin(20.0 * TIME))):
        assert len(cleaned(value, "v_x")[0]) == 600


def test_a_table_with_spikes_says_how_many_samples_of_what_it_left_out(tmp_path):
    path = tmp_path / "log.csv"
    rows = zip(TIME, with_values([200], 94.0), with_values([300, 400], math.tau / 0.05), strict=True)
    path.write_text("time,yaw_rate_command,yaw_rate_measured\n" + "".join(f"{t},{c},{m}\n" for t, c, m in rows))
    recording = read_csv(path)
    assert recording.findings == [
        "1 of 600 samples of yaw_rate_command are single wild ones (such as 94); they were left out",
        "2 of 600 samples of yaw_rate_measured are a turn per interval, as where a heading wraps; they were left out",
    ]
    assert len(recording.commanded["yaw_rate"].time) == 599
