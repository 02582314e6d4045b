"""Of a recording the part is taken that was meant: what a fit must not have seen it has not seen."""

import numpy as np
import pytest

from vds_gz.study.identify.fitting.search import most_moving, thinned, within
from vds_gz.study.identify.forward.pieces import pieces_of
from vds_gz.study.identify.signals import POSES, MeasuredChannel, Series, Signals


def piece(duration):
    commanded = 0.02 * np.arange(round(duration * 50.0))
    speeds = np.where(commanded > 0.5 * duration, np.sin(commanded), 0.0)
    measured = Series(commanded[1:], np.zeros(len(commanded) - 1))
    signals = Signals({"v_x": Series(commanded, speeds)}, {"v_x": measured})
    [one] = pieces_of([signals], [signals.channels], 1e-3)
    return one


def times(one):
    return one.channels[0][1].series.time


@pytest.mark.parametrize("end", [10.0, 24.0, 29.5])
def test_of_a_piece_nothing_after_its_part_is_left(end):
    assert times(within(piece(30.0), 0.0, end))[-1] == pytest.approx(end, abs=0.03)


@pytest.mark.parametrize("duration", [40.0, 70.0])
def test_a_piece_that_is_hardly_longer_than_what_is_wanted_stays_whole(duration):
    whole = piece(duration)
    assert most_moving([whole], 60.0) is whole


def test_of_a_longer_piece_the_part_is_taken_in_which_commands_change():
    part = times(most_moving([piece(88.0)], 40.0))
    assert part[0] > 40.0
    assert part[-1] - part[0] == pytest.approx(40.0, abs=0.1)


def test_where_only_integrals_were_measured_these_are_searched_in():
    time = 0.02 * np.arange(1, 200)
    commands = {"v_x": Series(time - 0.02, np.ones(199))}
    poses = [MeasuredChannel(f"odom {one}", one, "odom", Series(time, time)) for one in POSES]
    [one] = pieces_of([Signals(commands, further=poses)], [poses], 1e-3)
    thin = [channel.quantity for _, channel in thinned(one).channels]
    assert thin == ["x", "y", "heading"]
    speed = MeasuredChannel("v_x", "v_x", "odom", Series(time, time))
    [one] = pieces_of([Signals(commands, {"v_x": speed.series}, further=poses)], [[*poses, speed]], 1e-3)
    assert [channel.quantity for _, channel in thinned(one).channels] == ["v_x"]
