"""Work shared among threads: all of it is done, and none goes on when one part has failed."""

import time

import numba
import pytest

from vds_gz.tools.fleet.program import WORTH_A_THREAD, share

pytestmark = pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="this machine has one core")


@pytest.fixture(autouse=True)
def two_threads():
    before = numba.get_num_threads()
    numba.set_num_threads(2)
    yield
    numba.set_num_threads(before)


def test_every_item_is_done_once():
    done = []
    share(lambda first, end: done.extend(range(first, end)), 7, 7 * WORTH_A_THREAD)
    assert sorted(done) == list(range(7))


@pytest.mark.parametrize("failing", [0, 1])
def test_no_part_goes_on_after_a_failure(failing):
    ended = []

    def run(first, end):
        if first == failing:
            raise ValueError(f"part {first}")
        time.sleep(0.2)
        ended.append(first)

    with pytest.raises(ValueError, match=f"part {failing}"):
        share(run, 2, 2 * WORTH_A_THREAD)
    assert ended == [1 - failing]
