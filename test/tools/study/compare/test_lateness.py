"""Lateness of commands, by references that follow them after known times."""

from dataclasses import replace

import numpy as np
import pytest

from vds_gz.core.configuration import load_parameters
from vds_gz.programs.commandlog.command_log import read
from vds_gz.tools.study.compare.lateness import by_command, lateness
from vds_gz.tools.study.compare.sources import simulate
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


def test_references_that_follow_the_vehicle_too_say_nothing_about_commands():
    """Commands 0 to 10 ms late, of drives that wait for their steerings: their references change between commands."""
    parameters, log = load_parameters("swerve_robot"), read("omni")
    log = replace(log, times=log.times[:200], commands=log.commands[:200])
    model = simulate(log, parameters)
    jitter = np.random.default_rng(1).uniform(0.0, 0.01, len(log.times))
    late = simulate(replace(log, times=tuple((np.array(log.times) + jitter).tolist())), parameters)
    recorded = replace(late, command_times=model.command_times)
    assert lateness(recorded, model, 0.0) is not None  # changes that only look alike
    assert lateness(recorded, by_command(model, parameters), 0.0) is None
