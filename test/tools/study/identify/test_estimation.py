"""Weights, bounds, starts and intervals of a fit are consistent, and so are a problem and its solution."""

from dataclasses import replace

import numpy as np
import pytest

from vds_gz.core.configuration import load_parameters
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.vehicles import BicycleParameters, DifferentialParameters
from vds_gz.tools.study.identify.build import problem_of
from vds_gz.tools.study.identify.cross_validation import blocks_of
from vds_gz.tools.study.identify.estimation import fit_all
from vds_gz.tools.study.identify.intervals import intervals_of
from vds_gz.tools.study.identify.observed_limits import reach_of
from vds_gz.tools.study.identify.problem.problem_setup import HAND_WHEEL
from vds_gz.tools.study.identify.problem.segments import segments_of
from vds_gz.tools.study.identify.problem.unknowns import check_names, set_up
from vds_gz.tools.study.identify.residual_noise import Noise
from vds_gz.tools.study.identify.robust import ROBUST
from vds_gz.tools.study.identify.selection import without_needless
from vds_gz.tools.study.identify.supported_terms import Fitted, converged, supported
from vds_gz.tools.study.identify.term_kind import neutral_point
from vds_gz.tools.study.identify.variants import reduction, with_flags
from vds_gz.tools.study.identify.vehicle_fit import evaluate, residual_limits, solve
from vds_gz.tools.study.recording import MeasuredChannel, Recording, Series

LAG = 0.3
LEVELS = Series(np.arange(8.0), np.array([1.0, 0.2, 0.8, -0.5, 0.6, 1.0, -1.0, 0.3]))
TIME = 0.02 * np.arange(1, 400)


def response(begin=0.0):
    """The exact response of a lag without a dead time."""
    held = np.searchsorted(LEVELS.time, TIME, side="right") - 1
    ends = [begin]
    for level in LEVELS.value:
        ends.append(level + (ends[-1] - level) * np.exp(-1.0 / LAG))
    level = LEVELS.value[held]
    return level + (np.array(ends)[held] - level) * np.exp(-(TIME - LEVELS.time[held]) / LAG)


def setup_of(*sources, noise=0.0, vehicle=None, fit=(), **commands):
    """A setup of equal measurements of the speed from some sources."""
    values = response() + noise * np.random.default_rng(1).standard_normal(len(TIME))
    channels = [MeasuredChannel(name, "v_x", name, Series(TIME, values)) for name in sources]
    signals = Recording({"v_x": LEVELS, **commands}, {"v_x": Series(TIME, values)}, further=channels)
    return set_up([signals], vehicle=vehicle, wheel_base=None, fit=fit, priors={})


def problem(setup, dt=0.005):
    return problem_of(setup, segments_of(setup.recordings, setup.channels, dt), reach_of(setup))


def white_noise(scale, count):
    return Noise(np.full(count, scale), np.ones(count), np.ones(count))


def lag_fit(data, setup, upper=np.inf):
    """The fit of the lag alone."""
    index = setup.family.index("drive_actuators.time_constant")
    free = np.arange(len(data.lower)) == index
    data = replace(data, upper=np.where(free, np.minimum(data.upper, upper), data.upper))
    noise = white_noise(0.01, len(data.floors))
    return index, solve(data, np.where(free, 0.1, neutral_point(setup.family.terms)), free, noise, tolerance=1e-9)


def test_a_value_next_to_a_bound_is_moved_to_it():
    setup = setup_of()
    index, solution = lag_fit(problem(setup), setup, upper=0.2)
    assert solution.point[index] == 0.2
    index, solution = lag_fit(problem(setup), setup)
    assert solution.point[index] == pytest.approx(LAG, abs=1e-3)


@pytest.mark.parametrize("stage", ["dead_time", "time_constant"])
def test_delays_far_below_a_step_are_zero(stage):
    setup = setup_of()
    index = setup.family.index(f"drive_actuators.{stage}")
    point = neutral_point(setup.family.terms)
    if stage == "dead_time":
        values = np.interp(TIME - 1e-4, TIME, response())
        point[setup.family.index("drive_actuators.time_constant")] = LAG
    else:
        values = LEVELS.value[np.searchsorted(LEVELS.time, TIME - 1e-9, side="right") - 1]
        point[index] = 1e-4
    data = problem(replace(setup, channels=((MeasuredChannel("v_x", "v_x", "", Series(TIME, values)),),)))
    solution = solve(data, point, np.arange(len(point)) == index, white_noise(0.01, 1), tolerance=1e-13)
    assert solution.point[index] == 0.0


def test_without_unknowns_the_point_stays():
    """All segments of a long recording begin with a lead, so no start is fitted."""
    setup = setup_of()
    data = problem(setup)
    data = replace(data, fresh=(False,) * len(data.fresh))
    nothing, noise = np.zeros(len(data.lower), bool), white_noise(1.0, len(data.floors))
    solution = solve(data, neutral_point(setup.family.terms), nothing, noise)
    assert (solution.point == neutral_point(setup.family.terms)).all()
    assert solution.cost > 0.0


def test_derivatives_are_without_the_part_that_starts_explain():
    setup = setup_of(noise=0.01)
    data = problem(setup)
    index, solution = lag_fit(data, setup)
    _, by_terms, by_starts = evaluate(data, solution.point, solution.starts, solution.free)
    together = np.column_stack([by_terms[:, index], by_starts[0]])
    together = np.vstack([together, np.eye(3)[1:] * 0.01 / (3.0 * data.experiments[0].start_scale[:, np.newaxis])])
    variance = np.linalg.inv(together.T @ together)[0, 0]
    own = solution.jacobian[:, index]
    assert 1.0 / (own @ own) == pytest.approx(variance, rel=1e-3)


def test_an_undetermined_start_has_no_effect():
    setup = setup_of()
    late = [
        replace(segment, channels=tuple((k, _late(c)) for k, c in segment.channels)) for segment in _segments(setup)
    ]
    index, solution = lag_fit(problem_of(setup, late, reach_of(setup)), setup)
    assert np.isfinite(solution.jacobian).all()
    assert solution.point[index] == pytest.approx(LAG, abs=1e-3)


def _segments(setup):
    return segments_of(setup.recordings, setup.channels, 0.005)


def _late(channel):
    kept = channel.series.time > 7.0
    return replace(channel, series=Series(channel.series.time[kept], channel.series.value[kept]))


def test_intervals_use_the_weights_and_the_loss_of_the_fit():
    """A common factor of all weights changes no interval."""
    setup = setup_of(noise=0.01)
    data = problem(setup)
    index, solution = lag_fit(data, setup)
    ends = [
        intervals_of(data, replace(solution, noise=replace(solution.noise, correlation=np.array([times])))).high[index]
        for times in (1.0, 2.0)
    ]
    assert ends[0] == pytest.approx(ends[1], rel=1e-9)


def test_a_channel_without_samples_changes_no_interval():
    setup = setup_of()
    data = problem(setup)
    index, solution = lag_fit(data, setup)
    drift = 0.01 * np.sin(data.experiments[0].time / 0.3)
    solution = replace(solution, residuals=drift)
    empty = replace(data, floors=np.ones(2), quantities=np.zeros(2, int))
    noise = white_noise(0.01, 2)
    expected = intervals_of(data, solution).high[index]
    assert intervals_of(empty, replace(solution, noise=noise)).high[index] == pytest.approx(expected, rel=1e-9)


def test_a_latency_below_a_step_is_removed():
    setup = setup_of("one", "two")
    data = problem(setup)
    _, solution = lag_fit(data, setup)
    late = setup.family.index("one latency")
    fitted = converged(data, replace(solution, free=solution.free | (np.arange(len(solution.free)) == late)))
    assert not fitted.free[late]
    assert fitted.point[late] == 0.0
    residuals, _, _ = evaluate(data, fitted.point, fitted.starts, np.zeros_like(fitted.free))
    assert fitted.residuals == pytest.approx(residuals, abs=1e-12)


def test_the_selected_terms_come_with_the_problem_that_they_solve():
    setup = setup_of()
    fitted = supported(setup, reach_of(setup))
    assert fitted.fine
    residuals, _, _ = evaluate(
        fitted.problem, fitted.solution.point, fitted.solution.starts, np.zeros_like(fitted.solution.free)
    )
    assert fitted.solution.residuals == pytest.approx(residuals, abs=1e-9)


@pytest.mark.parametrize(("step", "nearly"), [(0.0, True), (0.1, False)])
def test_quantisation_is_noise_if_nothing_is_left_to_explain(step, nearly):
    setup = setup_of("odometer")
    values = np.round(response() / step) * step if step else response()
    channels = ((MeasuredChannel("v_x", "v_x", "odometer", Series(TIME, values)),),)
    data = problem(replace(setup, channels=channels))
    fitted = Fitted(data, converged(data, lag_fit(data, setup)[1]))
    assert fitted.exact
    assert fitted.nearly_exact == nearly


def test_an_effective_track_equal_to_the_track_has_no_effect():
    robot = load_parameters("indoor_robot")
    turns = Series(LEVELS.time, LEVELS.value[::-1].copy())
    track = replace(robot.vehicle, effective_track=0.0)
    vehicle = replace(robot, model_params=dict(robot.model_params) | {"differential": track})
    channel = MeasuredChannel("imu", "yaw_rate", "imu", Series(TIME, np.cos(TIME)))
    signals = Recording({"v_x": LEVELS, "yaw_rate": turns}, {"v_x": Series(TIME, response())}, further=[channel])
    setup = set_up([signals], vehicle=vehicle, wheel_base=None, fit=(), priors={})
    k = setup.family.index("effective_track")
    assert setup.family.terms[k].neutral == setup.begin[k] == track.track
    data = problem(setup)
    free = np.arange(len(data.lower)) == k
    _, jacobian, _ = evaluate(
        data, neutral_point(setup.family.terms), [experiment.start for experiment in data.experiments], free
    )
    assert 0.0 < np.abs(jacobian[:, k]).max() < 10.0 / track.track


def test_other_flags_keep_the_unknowns_of_actuators():
    far = Recording(
        {"v_x": LEVELS, "steering": Series(LEVELS.time, 8.0 * LEVELS.value)},
        {"steering": Series(TIME, 8.0 * response())},
        steers=True,
    )
    car = replace(load_parameters("ackermann_car"), model="bicycle")
    setup = set_up([far], vehicle=car, wheel_base=None, fit=(), priors={})
    assert setup.actuators["steering"].unlimited["value"] == HAND_WHEEL
    centred = with_flags(setup, {"center_at_standstill": not car.vehicle.center_at_standstill})
    assert centred.actuators["steering"].unlimited["value"] == HAND_WHEEL
    assert isinstance(centred.family.parameters, BicycleParameters)
    gains = setup_of(fit=("wheel_gains",))
    assert gains.actuators["drive"]["gain"] == ""
    assert isinstance(gains.family.parameters, DifferentialParameters)
    assert with_flags(gains, {}).actuators["drive"]["gain"] == ""


def test_steering_a_driven_wheel_does_not_bound_the_acceleration_limit():
    angle = np.sin(3.0 * TIME)
    speeds, angles = {"v_x": Series(TIME, 2.0 * np.cos(angle))}, {"steering": Series(TIME, angle)}
    straight = {"v_x": Series(TIME, 2.0 * np.sin(TIME)), "steering": Series(TIME, 0.01 * angle)}
    commands = {"v_x": LEVELS, "steering": LEVELS}
    reaches = []
    for measured, least in ((speeds | angles, 0.0), (speeds, 0.0), (straight, 0.8)):
        signals = Recording(commands, measured, steers=True)
        setup = set_up([signals], vehicle=load_parameters("forklift"), wheel_base=None, fit=(), priors={})
        assert setup.family.parameters.drive_on_steered_wheel
        reaches.append(reach_of(setup))
        assert reaches[-1]["drive_actuator.max_acceleration"].least == pytest.approx(least, abs=0.05)
    assert reaches[0]["steering_actuator.max_velocity"].least > 1.0


def test_a_name_that_cannot_be_fitted_is_refused():
    with pytest.raises(ArgumentError, match="'steering_offset' cannot be fitted"):
        check_names(["steering_offset"], load_parameters("ackermann_car"))


def test_likelihoods_count_the_independent_samples_of_the_less_correlated_fit():
    """Equal squares are equally likely, whether or not the residuals are correlated."""
    data = problem(setup_of("v_x"))
    white = 0.1 * np.random.default_rng(1).standard_normal(len(data.measured))
    for before, after in ((white, np.sort(white)), (np.sort(white), white)):
        gain, independent = reduction(data, before, after)
        assert gain == pytest.approx(0.0, abs=1.0)
        assert independent > 0.5 * len(white)
    assert reduction(data, np.sort(white), 0.5 * white)[0] == pytest.approx(2.0 * np.log(2.0) * len(white), rel=0.1)


def test_the_robust_limit_of_a_nearly_constant_channel_is_the_usual_one():
    yaw_rate = np.where(np.arange(len(TIME)) == 100, 0.3, 0.0)
    signals = Recording(
        {"v_x": LEVELS, "yaw_rate": LEVELS}, {"v_x": Series(TIME, response()), "yaw_rate": Series(TIME, yaw_rate)}
    )
    data = problem(set_up([signals], vehicle=None, wheel_base=None, fit=(), priors={}))
    white, correlated = white_noise(0.1, 2), Noise(np.full(2, 0.1), np.full(2, 4.0), np.full(2, 4.0))
    assert data.spread[0] > data.floors[0]
    assert data.spread[1] == 0.0
    assert residual_limits(data, correlated).tolist() == [0.5 * ROBUST, 0.5 * ROBUST]
    few = replace(data, largest_noise=0.01)
    lower, usual = residual_limits(few, correlated)
    assert lower == pytest.approx(0.1 * data.spread[0] * 0.5 * ROBUST)
    assert usual == 0.5 * ROBUST
    assert residual_limits(few, white).tolist() == [ROBUST, ROBUST]
    mixed = Noise(np.full(2, 0.1), np.array([4.0, 1.0]), np.ones(2))  # the first channel's residuals are transients
    assert residual_limits(few, mixed) == pytest.approx([0.1 * data.spread[0] * ROBUST, ROBUST])


@pytest.mark.parametrize(("rise", "evaluations"), [(0.2, 1), (1.6, 30)])
def test_split_limits_are_merged_if_one_is_enough(rise, evaluations):
    """From a wrong limit of accelerations the fit with the right one is far, but the limit of decelerations has it.

    Limits that are equal are joined although both are certain.
    """
    levels, limit = np.repeat(LEVELS.value, 50), 1.5
    speed = [0.0]
    for level in levels:
        speed.append(speed[-1] + np.clip(level - speed[-1], -0.02 * limit, 0.02 * limit))
    times = 0.02 * np.arange(len(levels))
    setup = set_up(
        [Recording({"v_x": Series(times, levels)}, {"v_x": Series(times, np.array(speed[:-1]))})],
        vehicle=None,
        wheel_base=None,
        fit=(),
        priors={},
    )
    limits = [setup.family.index(f"drive_actuators.max_{name}eleration") for name in ("acc", "dec")]
    data, point, free = problem(setup), neutral_point(setup.family.terms), np.zeros(len(setup.family.terms), bool)
    point[limits], free[limits] = np.log([rise, limit]), True
    noise = white_noise(0.01, len(data.floors))
    parted = solve(data, point, free, noise, evaluations=evaluations)
    joined = without_needless(data, parted, blocks_of(data), np.zeros_like(free))
    assert joined.free[limits].tolist() == [True, False]
    assert np.exp(joined.point[limits[0]]) == pytest.approx(limit, rel=0.05)


def test_a_lag_is_fitted_together_with_a_dead_time():
    fit = fit_all(setup_of("v_x", noise=0.1))
    dead, lag = (fit.setup.family.index(f"drive_actuators.{name}") for name in ("dead_time", "time_constant"))
    assert fit.solution.free[[dead, lag]].all()
    assert fit.intervals.low[dead] <= 0.0 < fit.intervals.high[dead] < 0.1
    assert fit.intervals.low[lag] < LAG < fit.intervals.high[lag]
