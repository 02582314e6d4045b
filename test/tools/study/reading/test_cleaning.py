"""Stamps of clocks with an offset, a drift or another unit."""

import numpy as np
import pytest

from vds_gz.tools.study.reading.cleaning import SAME_CLOCK, clean, measured_times, report_pieces
from vds_gz.tools.study.recording import Recording


def measured_time(logged, stamps, name, findings):
    """Times of one topic by the recorder's clock."""
    return measured_times({name: (logged, stamps)}, findings)[name]


@pytest.fixture
def random():
    return np.random.default_rng(4)


def test_only_stamps_of_another_clock_are_shifted(random):
    stamps = 0.02 * np.arange(500)
    transport = 0.002 + random.exponential(0.01, 500)
    findings = []
    moved = measured_time(stamps + 1000.0 + transport, stamps, "velocity", findings)
    assert moved - stamps - 1000.0 == pytest.approx(0.002, abs=0.001)
    assert findings[0].startswith("the stamps of velocity are 16.7 min behind the recorder's clock")
    kept = measured_time(stamps + SAME_CLOCK / 10.0, stamps, "velocity", findings)
    assert (kept == stamps).all()
    kept = measured_time(stamps + transport, stamps, "velocity", findings)
    assert (kept == stamps).all(), "transport is no drift"
    assert len(findings) == 1


@pytest.mark.parametrize(
    ("lead", "words"),
    [
        (-40.25, "off by -40.250 s against the recorder's clock"),
        (7200.0, "2 h ahead of the recorder's clock"),
        (-5700748.424, "66 days behind the recorder's clock (the clocks have different origins)"),
        (-1.7e9, "53.9 years behind the recorder's clock (the clocks have different origins)"),
    ],
)
def test_an_offset_between_clocks_is_said_in_a_unit_for_people(lead, words):
    stamps, findings = 0.02 * np.arange(500), []
    measured_time(stamps - lead, stamps, "velocity", findings)
    assert findings == [f"the stamps of velocity are {words}; this was corrected"]


@pytest.mark.parametrize("offset", [0.0, -40.0])
def test_the_drift_of_a_clock_is_corrected(random, offset):
    stamps = 0.02 * np.arange(30_000)
    true = offset + stamps * (1.0 + 80e-6)
    findings = []
    result = measured_time(true + 0.001 + random.exponential(0.005, len(stamps)), stamps, "velocity", findings)
    assert result - true == pytest.approx(0.001, abs=0.002)
    assert "drift by -" in findings[0], "they advance too slowly"
    assert "-0.048 s in 600 s" in findings[0]


@pytest.mark.parametrize("factor", [1000.0, 0.5])
def test_stamps_that_do_not_count_seconds_of_this_clock_are_not_used(random, factor):
    logged = 0.02 * np.arange(1000)
    findings = []
    assert (measured_time(logged, factor * logged, "velocity", findings) == logged).all()
    assert f"run {factor:.4g} times as fast" in findings[0]


def test_times_of_recording_are_used_if_a_message_has_no_stamp():
    logged, findings = np.arange(3.0), []
    assert (measured_time(logged, [0.0, np.nan, 2.0], "velocity", findings) == logged).all()
    assert not findings


def test_topics_of_one_clock_get_one_correction(random):
    stamps = {"velocity": 0.02 * np.arange(3000), "'/imu'": 0.01 * np.arange(6000) + 0.003}
    topics = {name: (time + 40.0 + 0.001 + random.exponential(0.01, len(time)), time) for name, time in stamps.items()}
    topics["'/camera'"] = (0.05 * np.arange(1200) + 7.0, 0.05 * np.arange(1200))
    findings = []
    moved = measured_times(topics, findings)
    assert len({float((moved[name] - stamps[name]).round(9).max()) for name in stamps}) == 1
    assert len(findings) == 2
    assert "the stamps of velocity and '/imu' are off by -40.0" in findings[0]
    assert "the stamps of '/camera' are off by -7.0" in findings[1]


def test_a_step_of_the_transport_is_no_drift(random):
    """Over a bad network the messages of a robot come 0.26 s late at first, then 0.05 s."""
    stamps = 0.05 * np.arange(920)
    transport = np.where(stamps < 20.0, 0.26, 0.05) + random.exponential(0.002, len(stamps))
    findings = []
    assert (measured_time(stamps + transport, stamps, "velocity", findings) == stamps).all()
    assert not findings


def test_a_gap_is_reported_once():
    """Commands and measurements that stop together have one cause; a later gap of a sensor has another."""
    time = 0.1 * np.arange(1000)
    recording = Recording()
    for name, missing in (("v_x", (20.0, 24.0)), ("yaw_rate", (20.2, 25.0)), ("imu", (60.0, 62.5))):
        kept = (time <= missing[0]) | (time >= missing[1])
        clean(time[kept], time[kept], name, recording.findings)
    report_pieces(recording)
    assert recording.findings == ["v_x, yaw_rate have a gap of 5.00 s at 20.00 s", "imu has a gap of 2.50 s at 60.00 s"]


def test_gaps_are_in_the_order_of_their_first_findings():
    time = 0.1 * np.arange(1000)
    recording = Recording()
    for name, missing in (("v_x", 20.0), ("imu", 60.0), ("yaw_rate", 20.5)):
        kept = (time <= missing) | (time >= missing + 2.5)
        clean(time[kept], time[kept], name, recording.findings)
    report_pieces(recording)
    assert recording.findings == ["v_x, yaw_rate have a gap of 3.00 s at 20.00 s", "imu has a gap of 2.50 s at 60.00 s"]


def test_commands_that_pause_have_no_gap():
    time, findings = np.r_[0.1 * np.arange(50), 15.0 + 0.1 * np.arange(50)], []
    clean(time, time, "v_x_command", findings, "v_x", commanded=True)
    assert findings == []
