"""Lateness of commands, by references that follow them after known times."""

import numpy as np
import pytest

from vds_gz.tools.study.compare.lateness import lateness
from vds_gz.tools.study.recording import ActuatorSeries, Recording

#: A change every 0.3 s; each third value is one of before.
CAME = 1.0 + 0.3 * np.arange(300)
VALUES = np.where(np.arange(300) % 3 == 0, 1.0, 2.0 + np.arange(300) % 7)


def run(acted):
    """A run in which the values act at these times, sampled every 10 ms."""
    time = 0.01 * np.arange(9500)
    reference = np.concatenate([[0.0], VALUES])[np.searchsorted(acted, time - 1e-9)]
    actuators = (ActuatorSeries("drive", "drive", time, reference, reference),)
    return Recording(actuators=actuators, command_times=CAME)


def test_changes_correspond_in_their_order():
    late = 0.1 + 0.1 * np.sin(0.05 * CAME)
    result = lateness(run(CAME + late), run(CAME), 0.0)
    assert result is not None
    assert result.time == pytest.approx(CAME)
    assert result.late == pytest.approx(late, abs=0.011)
