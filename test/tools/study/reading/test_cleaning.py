"""Stamps of clocks with an offset, a drift or another unit."""

import numpy as np
import pytest

from vds_gz.tools.study.reading.cleaning import SAME_CLOCK, measured_time


@pytest.fixture
def random():
    return np.random.default_rng(4)


def test_only_stamps_of_another_clock_are_shifted(random):
    stamps = 0.02 * np.arange(500)
    transport = 0.002 + random.exponential(0.01, 500)
    findings = []
    moved = measured_time(stamps + 1000.0 + transport, stamps, "velocity", findings)
    assert moved - stamps - 1000.0 == pytest.approx(0.002, abs=0.001)
    assert "off by -1000.0" in findings[0], "behind the recorder's clock"
    kept = measured_time(stamps + SAME_CLOCK / 10.0, stamps, "velocity", findings)
    assert (kept == stamps).all()
    kept = measured_time(stamps + transport, stamps, "velocity", findings)
    assert (kept == stamps).all(), "transport is no drift"
    assert len(findings) == 1


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
