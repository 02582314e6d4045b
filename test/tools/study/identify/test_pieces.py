"""Recordings are cut where commands are unknown, and no sample is lost or counted twice."""

import numpy as np
import pytest

from vds_gz.tools.study.identify.problem.segments import LONGEST_SEGMENT, segments_of
from vds_gz.tools.study.recording import Recording, Series

DT = 1e-3


def signals(commanded, measured):
    return Recording({"v_x": Series(commanded, 1.0 * np.arange(len(commanded)))}, {"v_x": Series(measured, measured)})


def cut(one):
    return segments_of([one], [one.channels], DT)


def times(pieces):
    return np.concatenate([channel.series.time for piece in pieces for _, channel in piece.channels])


def test_a_command_acts_from_the_first_step_at_or_after_it():
    commanded = np.concatenate([[0.0, 0.0202, 0.0405, 0.061], 0.08 + 0.02 * np.arange(20)])
    [piece] = cut(signals(commanded, 0.01 * np.arange(1, 40)))
    assert piece.begins[:5].tolist() == [0, 21, 41, 61, 80]


def test_steps_are_at_the_samples():
    [piece] = cut(signals(0.3e-3 + 0.02 * np.arange(100), 0.4e-3 + 0.02 * np.arange(1, 100)))
    assert piece.origin == pytest.approx(0.4e-3)
    _, channel = piece.channels[0]
    assert (piece.positions(channel.series.time) == 20.0 * np.arange(1, 100)).all()


def test_jittering_samples_are_between_steps():
    time = 0.02 * np.arange(1, 100) + 1e-3 * np.random.default_rng(1).uniform(0.0, 1.0, 99)
    [piece] = cut(signals(0.02 * np.arange(100), time))
    assert piece.positions(time) == pytest.approx(time / DT, abs=0.021)


def test_a_cut_recording_begins_with_the_commands_before_the_cut():
    commanded = 0.02 * np.arange(15000)
    pieces = cut(signals(commanded, commanded))
    assert len(pieces) == np.ceil(300.0 / LONGEST_SEGMENT)
    assert (times(pieces) == commanded[1:]).all()
    for piece in pieces[1:]:
        assert piece.origin < min(channel.series.time[0] for _, channel in piece.channels) - 10.0


def test_a_segment_ends_where_periodic_commands_pause():
    commanded = np.concatenate([0.02 * np.arange(200), 10.0 + 0.02 * np.arange(200)])
    found = times(cut(signals(commanded, 0.02 * np.arange(1, 800))))
    assert not ((found > 4.2) & (found < 10.0)).any()
    assert ((found > 10.0) & (found < 13.9)).sum() > 190


def test_rare_commands_hold():
    commanded = 2.0 * np.arange(10)
    found = times(cut(signals(commanded, 0.02 * np.arange(1, 1100))))
    assert found[-1] == pytest.approx(20.0)
