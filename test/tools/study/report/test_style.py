"""Axes show where nearly all values are."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from vds_gz.tools.study.report.style import show_usual

WAVE = np.sin(0.1 * np.arange(1000))


@pytest.mark.parametrize(("spike", "limited"), [(130.0, True), (-130.0, True), (2.0, False), (0.0, False)])
def test_single_far_values_do_not_set_the_axis(spike: float, limited: bool):
    axis = Figure().subplots()
    signal = np.append(WAVE, spike)
    axis.plot(signal)
    show_usual(axis, signal, WAVE)
    low, high = axis.get_ylim()
    assert low <= WAVE.min() < WAVE.max() <= high
    assert (low <= spike <= high) != limited


def test_a_constant_has_its_axis():
    axis = Figure().subplots()
    axis.plot(np.zeros(10))
    before = axis.get_ylim()
    show_usual(axis, np.zeros(10))
    assert axis.get_ylim() == before
