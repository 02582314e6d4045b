"""Points of a sweep do not depend on the others of their batch."""

from __future__ import annotations

import numpy as np
import pytest

from vds_gz.tools.study.sweep.sweep_runs import Samples, Space, UniformVariation

qmc = pytest.importorskip("scipy.stats.qmc")

VARIED = {
    "a": UniformVariation(1.0, 3.0),
    "b": (5.0, 6.0, 7.0),
    "c": UniformVariation(-1.0, 0.0),
    "d": (1.0, 2.0),
}


@pytest.mark.parametrize("sobol", [True, False])
def test_points_are_the_same_alone_and_together(sobol):
    space = Space(VARIED, Samples(sobol, 10, seed=7))
    together = space.values(0, len(space))
    assert len(space) == 60
    for first, end in [(0, 1), (3, 4), (9, 11), (17, 42), (59, 60)]:
        part = space.values(first, end)
        assert all(np.array_equal(part[name], together[name][first:end]) for name in VARIED)


def test_every_point_of_the_grid_has_the_same_samples():
    values = Space(VARIED, Samples(False, 4, seed=7)).values(0, 24)
    assert np.array_equal(values["a"], np.tile(values["a"][:4], 6))
    assert list(zip(values["b"][::4], values["d"][::4], strict=True)) == [
        (5.0, 1.0),
        (5.0, 2.0),
        (6.0, 1.0),
        (6.0, 2.0),
        (7.0, 1.0),
        (7.0, 2.0),
    ]


def test_samples_are_those_of_sobols_sequence_and_of_philox():
    sequence = qmc.Sobol(2, seed=np.random.default_rng(3)).random(8)
    result = Space({"a": UniformVariation(0.0, 1.0), "c": UniformVariation(0.0, 2.0)}, Samples(True, 8, seed=3)).values(
        0, 8
    )
    assert np.array_equal(result["a"], sequence[:, 0])
    assert np.array_equal(result["c"], 2.0 * sequence[:, 1])
    random = Space({"a": UniformVariation(0.0, 1.0)}, Samples(False, 8, seed=3)).values(5, 6)["a"]
    assert random == np.random.Generator(np.random.Philox(key=(3, 5))).random(1)


@pytest.mark.parametrize("sobol", [True, False])
def test_samples_lie_within_and_differ_by_seed(sobol):
    values = [Space(VARIED, Samples(sobol, 64, seed)).values(0, 64) for seed in (1, 2)]
    assert all(((value["a"] >= 1.0) & (value["a"] <= 3.0)).all() for value in values)
    assert not np.array_equal(values[0]["a"], values[1]["a"])
