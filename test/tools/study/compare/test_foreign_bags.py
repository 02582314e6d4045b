"""Bags of other robots: a delay between two of them is right, or it is not given."""

import pytest
from helpers.foreign_bags import random_pair

from vds_gz.tools.study.compare.differences import compare
from vds_gz.tools.study.reading.recorded_run import read


def found_delays(tmp_path, drive, a, b):
    runs = [read(robot.write(tmp_path / name, drive)) for name, robot in (("a", a), ("b", b))]
    return {difference.name: difference.delay for difference in compare(*runs).differences}


def check(tmp_path, seed):
    drive, a, b = random_pair(seed)
    delays = found_delays(tmp_path, drive, a, b)
    later = b.dead_time - a.dead_time
    for name, delay in delays.items():
        assert delay is None or abs(delay - later) <= 0.005, (seed, name, delay, later, a, b)
    return sum(delay is not None for delay in delays.values())


def test_a_delay_between_two_bags_is_right_or_not_given(tmp_path):
    given = [check(tmp_path / str(seed), seed) for seed in range(6)]
    assert any(given), "no delay is given for any pair"


@pytest.mark.slow
def test_delays_of_a_hundred_pairs_of_bags(tmp_path):
    given = [check(tmp_path / str(seed), seed) for seed in range(100, 200)]
    assert sum(map(bool, given)) >= 12, "hardly any delay is given"
