"""The simulated AMCL: its updates, its errors, initial poses, services, and moves that it does not notice."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.geometry import Pose
from vds_gz.core.parameters.node import AmclParameters, LocalizationParameters
from vds_gz.core.sensing.amcl import INITIAL, Amcl, Scan

PERIOD = 20_000_000
START = Pose(1.0, -2.0, 0.5)


def parameters(seed: int = 0, drift: float = 0.0, **amcl: object) -> LocalizationParameters:
    return LocalizationParameters(
        odom_walk_velocity_translation=drift,
        odom_walk_velocity_rotation=drift,
        seed=seed,
        amcl=AmclParameters(**amcl),
    )


SURE = {"position_std": 0.0, "heading_std": 0.0}


def drive(amcl: Amcl, steps: list[Pose], begin: Pose = START, first: int = 0) -> list[tuple[Pose, Pose, Scan]]:
    """Truth, odometry and scan at every scan of a drive with one step per period."""
    truth, seen = begin, []
    for k, step in enumerate(steps):
        truth = truth.then(step)
        for scan in amcl.update((first + k) * PERIOD, truth):
            seen.append((truth, amcl.T_odom_base, scan))
    return seen


def components(pose: Pose) -> np.ndarray:
    return np.array((pose.x, pose.y, math.remainder(pose.heading, math.tau)))


steps = st.lists(
    st.tuples(st.floats(-0.05, 0.05), st.floats(-0.05, 0.05)).map(lambda step: Pose(step[0], 0.0, step[1])),
    min_size=50,
    max_size=300,
)


@given(steps, st.floats(0.05, 0.5), st.floats(0.05, 0.5))
def test_it_updates_only_after_the_odometry_has_moved_far_enough(way, update_min_d, update_min_a):
    seen = drive(Amcl(parameters(3, 1e-3, update_min_d=update_min_d, update_min_a=update_min_a), START), way)
    assert seen[0][2].T_map_base is not None
    last = seen[0][1]
    for (_, _, before), (_, odom, scan) in pairwise(seen):
        turn = math.remainder(odom.heading - last.heading, math.tau)
        moved = abs(odom.x - last.x) > update_min_d or abs(odom.y - last.y) > update_min_d or abs(turn) > update_min_a
        assert (scan.T_map_base is not None) == moved
        assert (scan.T_map_odom != before.T_map_odom) == moved
        last = odom if moved else last


@given(steps)
def test_an_update_puts_the_vehicle_where_the_estimate_says(way):
    for _, odom, scan in drive(Amcl(parameters(1, 1e-2), START), way):
        if scan.T_map_base is not None:
            off = scan.T_map_odom.then(odom).seen_from(scan.T_map_base)
            assert components(off) == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)


def test_scans_come_at_their_rate_on_whole_periods():
    seen = drive(Amcl(parameters(scan_rate=10.0), START), [Pose()] * 50)
    assert [scan.time for *_, scan in seen] == [k * 100_000_000 for k in range(10)]
    seen = drive(Amcl(parameters(scan_rate=40.0), START), [Pose()] * 10)
    assert len(seen) == 8


def test_at_rest_it_updates_only_once():
    seen = drive(Amcl(parameters(), START), [Pose()] * 500)
    assert [scan.T_map_base is not None for *_, scan in seen] == [True] + [False] * 99
    assert len({scan.T_map_odom for *_, scan in seen}) == 1


def test_without_errors_it_is_right_after_each_update_and_drifts_with_the_odometry_between_them():
    seen = drive(Amcl(parameters(5, 0.01, **SURE), START), [Pose(0.01, 0.0, 0.001)] * 2000)
    off = [math.dist((a.x, a.y), (b.x, b.y)) for a, b in ((scan.T_map_odom.then(o), t) for t, o, scan in seen)]
    updated = [scan.T_map_base is not None for *_, scan in seen]
    assert 50 < sum(updated) < 90
    assert max(error for error, new in zip(off, updated, strict=True) if new) < 1e-9
    assert max(off) > 0.01


def errors(way: float, count: int = 4000, **amcl: object) -> np.ndarray:
    """Errors of updates in the axes of the true pose, one every ``way`` metres."""
    simulated = Amcl(parameters(7, update_min_d=way / 2.0, scan_rate=50.0, **amcl), Pose())
    seen = drive(simulated, [Pose(way, 0.0, 0.0)] * count, Pose())
    return np.array([components(scan.T_map_base.seen_from(truth)) for truth, _, scan in seen])


@pytest.mark.parametrize("way", [0.3, 1.0])
def test_errors_have_their_spread_and_are_correlated_over_the_distance(way):
    problems = errors(way, position_std=0.04, heading_std=0.01, correlation_distance=0.8)
    assert len(problems) == 4000
    keep = math.exp(-way / 0.8)
    # Four times the spread of the estimate, with the correlation of the samples.
    spread = 4.0 * math.sqrt((1.0 + keep**2) / (1.0 - keep**2) / 2.0 / len(problems))
    assert problems.std(axis=0) == pytest.approx([0.04, 0.04, 0.01], rel=spread)
    correlation = [np.corrcoef(channel[:-1], channel[1:])[0, 1] for channel in problems.T]
    assert correlation == pytest.approx([keep] * 3, abs=0.05)


def test_jumps_come_at_their_rate_and_have_their_size():
    problems = errors(0.3, **SURE, jump_rate=2.0, jump_size=0.7, correlation_distance=0.01)
    far = np.hypot(problems[:, 0], problems[:, 1])
    jumps = far > 0.35
    assert far[jumps] == pytest.approx(np.full(jumps.sum(), 0.7))
    assert jumps.mean() == pytest.approx(1.0 - math.exp(-2.0 * PERIOD * 1e-9), rel=0.3)
    angles = np.arctan2(problems[jumps, 1], problems[jumps, 0])
    assert np.hypot(np.cos(angles).mean(), np.sin(angles).mean()) < 0.3


def test_latency_does_not_change_the_results_of_scans():
    way = [Pose(0.02, 0.0, 0.002)] * 300
    late, prompt = (drive(Amcl(parameters(2, latency=latency), START), way) for latency in (0.3, 0.0))
    assert [scan for *_, scan in late] == [scan for *_, scan in prompt][: len(late)]
    assert 0 < len(prompt) - len(late) <= 4


def test_map_to_odom_holds_until_a_late_result_is_available():
    amcl = Amcl(parameters(2, latency=0.3, update_min_d=0.01), START)
    held, truth = Pose(), START
    for k in range(300):
        truth = truth.then(Pose(0.02, 0.0, 0.002))
        scans = amcl.update(k * PERIOD, truth)
        held = scans[-1].T_map_odom if scans else held
        assert amcl.T_map_odom == held


def test_equal_seeds_give_equal_runs_and_a_reset_repeats_the_first():
    way = [Pose(0.02, 0.0, 0.01)] * 300
    runs = [drive(Amcl(parameters(seed, 1e-3), START), way) for seed in (3, 3, 4)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
    amcl = Amcl(parameters(3, 1e-3), START)
    drive(amcl, way)
    amcl.reset(START)
    assert drive(amcl, way) == runs[0]


# ---------------------------------------------------------------------- initial poses, moves by hand, services


def test_it_publishes_nothing_until_an_initial_pose_comes():
    amcl = Amcl(parameters(set_initial_pose=False, **SURE), START)
    assert drive(amcl, [Pose(0.02, 0.0, 0.0)] * 100) == []
    here = START.then(Pose(2.0, 0.0, 0.0))
    amcl.initialise(here, (0.0, 0.0, 0.0))
    (_, _, first), *_ = drive(amcl, [Pose()] * 20, here, 100)
    assert first.T_map_base is not None
    assert components(first.T_map_base) == pytest.approx(components(here))
    assert first.variances == pytest.approx([deviation**2 for deviation in INITIAL])


def test_the_variance_of_an_initial_pose_is_used_and_decays_with_distance():
    amcl = Amcl(parameters(), START)
    amcl.initialise(START, (0.2, 0.3, 0.1))
    seen = drive(amcl, [Pose(0.02, 0.0, 0.0)] * 1000)
    variances = np.array([scan.variances for *_, scan in seen if scan.T_map_base])
    assert variances[0] == pytest.approx([0.2**2 + 0.03**2, 0.3**2 + 0.03**2, 0.1**2 + 0.013**2])
    assert np.all(np.diff(variances, axis=0) < 0.0)
    assert variances[-1] == pytest.approx([0.03**2, 0.03**2, 0.013**2], rel=1e-3)


def test_a_move_by_hand_is_noticed_only_after_an_initial_pose():
    amcl = Amcl(parameters(**SURE), START)
    drive(amcl, [Pose(0.02, 0.0, 0.0)] * 100)
    there = Pose(-30.0, 7.0, -2.0)
    odom = amcl.T_odom_base
    amcl.set_pose(there)
    assert amcl.T_odom_base == odom
    seen = drive(amcl, [Pose(0.02, 0.0, 0.0)] * 100, there, 100)
    believed = [scan.T_map_base for *_, scan in seen if scan.T_map_base][-1]
    truth = [truth for truth, _, scan in seen if scan.T_map_base][-1]
    moved = truth.seen_from(there)
    assert components(amcl.T_odom_base.seen_from(odom)) == pytest.approx([2.0, 0.0, 0.0])
    assert components(believed) == pytest.approx(components(START.then(Pose(2.0, 0.0, 0.0)).then(moved)))
    amcl.initialise(there.then(Pose(2.0, 0.0, 0.0)), (0.5, 0.5, 0.2))
    seen = drive(amcl, [Pose()] * 20, there.then(Pose(2.0, 0.0, 0.0)), 200)
    assert components(seen[0][2].T_map_base) == pytest.approx(components(there.then(Pose(2.0, 0.0, 0.0))))


@pytest.mark.parametrize(("off", "found"), [(1.4, True), (1.6, False)])
def test_an_initial_pose_finds_the_vehicle_within_three_deviations(off, found):
    amcl = Amcl(parameters(**SURE), Pose())
    amcl.initialise(Pose(off, 0.0, 0.0), (0.5, 0.5, 0.2))
    seen = drive(amcl, [Pose(0.02, 0.0, 0.0)] * 1000, Pose())
    last, truth = [(scan.T_map_base, truth) for truth, _, scan in seen if scan.T_map_base][-1]
    assert last.x - truth.x == pytest.approx(0.0 if found else off, abs=1e-6)


@pytest.mark.parametrize("heading", [0.0, math.pi / 2, math.pi])
def test_deviations_of_an_initial_pose_are_along_the_axes_of_the_map(heading):
    truth = Pose(4.0, -3.0, heading)
    amcl = Amcl(parameters(**SURE), truth)
    amcl.initialise(Pose(4.0, -2.1, heading), (0.1, 1.0, 0.2))
    seen = drive(amcl, [Pose(0.02, 0.0, 0.0)] * 1000, truth)
    last, end = [(scan.T_map_base, truth) for truth, _, scan in seen if scan.T_map_base][-1]
    assert (last.x, last.y) == pytest.approx((end.x, end.y), abs=1e-6)


def test_without_latency_a_scan_is_available_at_once_at_the_systems_time():
    """Floating-point numbers would delay it by up to 128 ns."""
    period = 33_333_333
    amcl = Amcl(parameters(scan_rate=30.0), START)
    assert [len(amcl.update((52_800_000_000 + k) * period, START)) for k in range(1000)] == [1] * 1000


def test_global_localization_begins_anywhere_and_finds_the_vehicle_on_the_way():
    amcl = Amcl(parameters(**SURE), START)
    amcl.set_pose(Pose(50.0, 0.0, 0.0))
    amcl.globalise()
    seen = drive(amcl, [Pose(0.02, 0.0, 0.0)] * 2000, Pose(50.0, 0.0, 0.0))
    estimates = [(components(s.T_map_base.seen_from(t)), s.variances) for t, _, s in seen if s.T_map_base]
    assert np.abs(estimates[0][0]).max() > 0.5
    assert estimates[0][1][0] == pytest.approx(25.0)
    assert np.abs(estimates[-1][0]).max() < 1e-3


def test_a_requested_update_needs_no_motion():
    amcl = Amcl(parameters(), START)
    drive(amcl, [Pose()] * 10)
    amcl.request_update()
    seen = drive(amcl, [Pose()] * 20, first=10)
    assert [scan.T_map_base is not None for *_, scan in seen] == [True, False, False, False]
    narrower = math.exp(-2.0 * 0.25)
    assert seen[0][2].variances[0] == pytest.approx(0.03**2 + INITIAL[0] ** 2 * narrower)


def test_it_takes_no_scans_while_inactive_and_is_at_the_true_pose_after_activation():
    amcl = Amcl(parameters(lifecycle="managed", **SURE), START)
    assert drive(amcl, [Pose(0.02, 0.0, 0.0)] * 50) == []
    amcl.activate()
    seen = drive(amcl, [Pose()] * 10, START.then(Pose(1.0, 0.0, 0.0)), 50)
    assert components(seen[0][2].T_map_base) == pytest.approx(components(START.then(Pose(1.0, 0.0, 0.0))))
    amcl.deactivate()
    assert drive(amcl, [Pose()] * 50, START.then(Pose(1.0, 0.0, 0.0)), 60) == []


def test_scans_continue_after_time_has_jumped_back():
    amcl = Amcl(parameters(latency=0.1, jump_rate=1.0), START)
    drive(amcl, [Pose(0.02, 0.0, 0.0)] * 200, first=10_000)
    seen = drive(amcl, [Pose(0.02, 0.0, 0.0)] * 200, START.then(Pose(4.0, 0.0, 0.0)))
    assert [scan.time for *_, scan in seen] == sorted(scan.time for *_, scan in seen)
    assert len(seen) > 30
