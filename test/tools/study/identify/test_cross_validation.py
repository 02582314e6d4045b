"""A term is judged by the quantity that it explains best, and by what others lose for certain."""

import numpy as np
import pytest

from vds_gz.tools.study.identify.cross_validation import better

#: Squares of blocks (rows) and quantities (columns): speed and yaw rate.
BEFORE = np.tile([40.0, 30.0], (6, 1))
#: The yaw rate is explained better in all blocks.
YAW_GAIN = np.column_stack((np.zeros(6), np.full(6, 3.0)))


def with_losses(*losses):
    """The squares with the term, which the speed pays for by these losses."""
    return BEFORE - YAW_GAIN + np.column_stack((losses, np.zeros(6)))


def test_losses_within_their_scatter_do_not_keep_a_term_out():
    assert better(BEFORE, with_losses(8.0, -6.0, 7.0, -5.0, 4.0, -2.0)) == pytest.approx(
        better(BEFORE, BEFORE - YAW_GAIN)
    )


def test_losses_in_all_blocks_keep_a_term_out():
    assert better(BEFORE, BEFORE - YAW_GAIN) > 0.0
    assert better(BEFORE, with_losses(*np.full(6, 5.0))) < 0.0
