"""Sobol indices against closed forms, quantiles, and the parameter that is worth measuring."""

import math

import numpy as np
import pytest

from vds_gz.tools.study.sweep.analysis import Runs, analyse, distribution, required_accuracy
from vds_gz.tools.study.sweep.sensitivity import sensitivity


def uniform(runs, seed=1, **ranges):
    random = np.random.default_rng(seed)
    return {name: random.uniform(*ends, runs) for name, ends in ranges.items()}


def test_indices_of_the_ishigami_function():
    """T. Ishigami and T. Homma (1990): sin a + 7 sin(b)^2 + 0.1 c^4 sin a, whose indices are known."""
    drawn = uniform(4096, a=(-math.pi, math.pi), b=(-math.pi, math.pi), c=(-math.pi, math.pi))
    a, b, c = drawn.values()
    indices = sensitivity(drawn, np.sin(a) + 7.0 * np.sin(b) ** 2 + 0.1 * c**4 * np.sin(a))
    assert indices.trusted
    assert indices.first == pytest.approx({"a": 0.3139, "b": 0.4424, "c": 0.0}, abs=0.02)
    assert indices.total == pytest.approx({"a": 0.5576, "b": 0.4424, "c": 0.2437}, abs=0.02)
    assert indices.ranked() == ["a", "b", "c"]


def test_a_sum_has_the_shares_of_its_variances_on_any_scale():
    drawn = uniform(400, seed=2, a=(0.0, 1e-3), b=(5.0, 5.003), c=(1.0, 1.0))
    indices = sensitivity(drawn, drawn["a"] + drawn["b"])
    assert indices.first == pytest.approx({"a": 0.1, "b": 0.9, "c": 0.0}, abs=0.02)
    assert indices.total == pytest.approx(indices.first, abs=0.02)
    assert indices.predicted > 0.999


def test_a_grid_of_few_values_is_enough():
    a, b = (values.ravel() for values in np.meshgrid([1.0, 2.0, 4.0], np.linspace(0.0, 1.0, 12)))
    indices = sensitivity({"a": a, "b": b}, 10.0 * b + 0.0 * a)
    assert indices.first == pytest.approx({"a": 0.0, "b": 1.0}, abs=1e-9)


@pytest.mark.parametrize("samples", [3, 20, 100])
def test_few_samples_at_many_points_of_a_grid_do_not_count_as_many(samples):
    """a has no effect; a polynomial of high degree would fit any effect in so few samples of a and b."""
    drawn = {name: np.tile(column, 100) for name, column in uniform(samples, a=(0.0, 1.0), b=(0.0, 1.0)).items()}
    drawn["c"] = np.repeat(np.arange(100.0), samples)
    indices = sensitivity(drawn, drawn["b"] + 0.01 * drawn["c"])
    assert indices.total["a"] < 0.02
    assert indices.trusted == (samples > 3)


def test_indices_of_noise_are_unreliable():
    drawn = uniform(500, a=(0.0, 1.0), b=(0.0, 1.0))
    noise = np.random.default_rng(3).normal(size=500)
    assert not sensitivity(drawn, noise).trusted


@pytest.mark.parametrize("values", [np.ones(100), np.full(100, np.nan)])
def test_constant_measures_have_no_indices(values):
    assert sensitivity(uniform(100, a=(0.0, 1.0)), values) is None
    assert sensitivity({"a": np.ones(100)}, np.arange(100.0)) is None


def test_runs_without_a_measure_are_left_out():
    drawn = uniform(600, a=(0.0, 1.0), b=(0.0, 1.0))
    values = drawn["a"] ** 2
    values[::7] = np.nan
    assert sensitivity(drawn, values).first["a"] == pytest.approx(1.0, abs=1e-3)


def test_quantiles_are_values_of_some_run():
    result = distribution("path.peak", np.array([*range(1, 101), math.nan, math.nan]))
    assert result.count == 100
    assert result.quantiles == {"p50": 50.0, "p95": 95.0, "p99": 99.0, "max": 100.0}
    broken = distribution("path.peak", np.array([1.0] * 96 + [math.inf] * 4)).quantiles
    assert (broken["p95"], broken["p99"]) == (1.0, math.inf)


def test_a_measure_that_no_run_has_is_not_printed_as_a_number():
    runs = Runs({}, {"path.peak": np.full(3, math.nan)}, expected={"path.peak": {"p95": 1.0}})
    analysis = analyse(runs)
    [check] = analysis.expectations
    assert check.broken
    assert str(check) == "path.peak's p95 is not measured in any run; it must be at most 1"
    pytest.importorskip("matplotlib")
    from vds_gz.tools.study.report.sweep_report import distribution_table

    assert distribution_table([(runs, analysis)])[1] == [("path.peak", "0", "-", "-", "-", "-")]


def test_the_smallest_margin_is_the_worst():
    result = distribution("delay_margin", np.arange(1.0, 101.0))
    assert result.quantiles == {"p50": 50.0, "p5": 5.0, "p1": 1.0, "min": 1.0}


def test_the_most_influential_parameter_is_to_be_measured():
    """The measure is about |a - 0.2|, so its p95 is at most 0.0475 if a is known to 50 ms."""
    drawn = uniform(5000, seed=4, a=(0.1, 0.3), b=(0.0, 1.0))
    values = np.abs(drawn["a"] - 0.2) + 1e-4 * drawn["b"]
    indices = sensitivity(drawn, values)
    nominal = {"a": 0.2, "b": 0.5}
    accuracy = required_accuracy(drawn, nominal, "path.peak", values, indices, bound=0.0475)
    assert (accuracy.parameter, accuracy.now) == ("a", pytest.approx(0.1, abs=1e-3))
    assert accuracy.within == pytest.approx(0.05, rel=0.1)
    assert accuracy.after <= 0.0475 < accuracy.before == pytest.approx(0.095, rel=0.05)
    sentence = accuracy.sentence({"a": "s", "path.peak": "m"})
    assert sentence.startswith("Measure a to +-4") or sentence.startswith("Measure a to +-50 ms")
    assert "(varied by +-100 ms): then path.peak's p95 is 0.0" in sentence
    assert sentence.endswith(" instead of 0.095 m (at most 0.0475 m required).")
    free = required_accuracy(drawn, nominal, "path.peak", values, indices)
    assert free.within == pytest.approx(0.01, rel=0.2)
    assert free.bound is None


def test_there_is_no_required_accuracy_without_a_gain():
    drawn = uniform(1000, a=(0.1, 0.3))
    values = 5.0 + 1e-3 * drawn["a"]
    assert required_accuracy(drawn, {"a": 0.2}, "path.peak", values, sensitivity(drawn, values)) is None
    assert required_accuracy(drawn, {}, "path.peak", drawn["a"], sensitivity(drawn, drawn["a"])) is None


def test_a_better_measurement_increases_a_margin():
    drawn = uniform(5000, seed=5, a=(0.1, 0.3))
    margins = 0.4 - np.abs(drawn["a"] - 0.2)
    accuracy = required_accuracy(drawn, {"a": 0.2}, "delay_margin", margins, sensitivity(drawn, margins), bound=0.35)
    assert accuracy.before == pytest.approx(0.305, abs=0.002)
    assert accuracy.after >= 0.35
    assert accuracy.within == pytest.approx(0.05 / 0.95, rel=0.1)
    assert "delay_margin's p5 is 351 ms instead of 305 ms (at least 350 ms required)." in accuracy.sentence(
        {"delay_margin": "s"}
    )
