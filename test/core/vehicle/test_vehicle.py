"""Stepping: the result depends on times and commands only."""

import dataclasses
import math

import pytest
from helpers.driving import (
    IDEAL_DRIVE,
    IDEAL_STEERING,
    MILLISECOND,
    SECOND,
    commands_for,
    driven,
    ideal_bicycle,
    joints_of,
    snapshot,
    vehicles,
)
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
from vds_gz.core.parameters.vehicles import BicycleParameters, DifferentialParameters, OmniParameters
from vds_gz.core.vehicle.bicycle import BICYCLE, BicycleState
from vds_gz.core.vehicle.command import MAXIMUM, SPEED, STEERING, Command, ackermann, twist
from vds_gz.core.vehicle.differential import DIFFERENTIAL
from vds_gz.core.vehicle.omni import OMNI
from vds_gz.core.vehicle.vehicle import Vehicle

MODELS = [
    (BICYCLE, BicycleParameters()),
    (
        BICYCLE,
        BicycleParameters(drive_on_steered_wheel=True, steering_actuator=SteeringParameters(max_position=0.0)),
    ),
    (DIFFERENTIAL, DifferentialParameters()),
    (OMNI, OmniParameters()),
]
every_model = pytest.mark.parametrize(("model", "parameters"), MODELS)
RATES = [1000.0, 300.0, 999.5, 50.0, 12345.678]

halves = st.one_of(
    st.builds(lambda v: Command(SPEED, v_x=v), st.floats(-3.0, 3.0)),
    st.builds(lambda a: Command(STEERING, steering_angle=a), st.floats(-1.0, 1.0)),
)


@pytest.fixture(params=["interpreted", "compiled"])
def kind(request) -> type[Vehicle]:
    """Both kinds of vehicle."""
    if request.param == "interpreted":
        return Vehicle
    return pytest.importorskip("vds_gz.core.vehicle.compiled", reason="numba is not installed").CompiledVehicle


# The result depends on when commands arrived and on nothing else


@given(vehicles, st.sampled_from(RATES), st.data())
def test_the_result_is_the_same_bits_however_time_is_cut(vehicle, rate, data):
    model, parameters = vehicle
    commands = commands_for(model)
    if model is BICYCLE:
        commands = st.one_of(commands, halves)
    end = 150 * MILLISECOND
    times = st.integers(0, end)
    arriving = sorted(data.draw(st.lists(st.tuples(times, commands), max_size=5)), key=lambda arrival: arrival[0])
    cuts = sorted(data.draw(st.lists(times, max_size=12)))

    once = Vehicle(model, parameters, step_rate=rate, max_command_age=0.05)
    for time, command in arriving:
        once.enter(command, time)
    once.advance(end)

    sliced = Vehicle(model, parameters, step_rate=rate, max_command_age=0.05)
    for cut in [*cuts, end]:
        while arriving and arriving[0][0] <= cut:
            time, command = arriving.pop(0)
            sliced.advance(time)
            sliced.enter(command, time)
        sliced.advance(cut)

    assert snapshot(sliced) == snapshot(once)
    assert sliced.time == once.time


def test_the_start_time_shifts_time_and_nothing_else(kind):
    at_zero = driven(BICYCLE, BicycleParameters(), twist(1.0, 0.0, 0.2), 1.0, kind=kind)
    start = 1_795_223_021_914_148_301
    late = kind(BICYCLE, BicycleParameters(), start=start, max_command_age=1e6)
    late.enter(twist(1.0, 0.0, 0.2), start)
    late.advance(start + SECOND)
    assert snapshot(late) == snapshot(at_zero)
    assert late.time == start + SECOND


# When a command acts


def ideal(kind: type[Vehicle], **options) -> Vehicle:
    return kind(BICYCLE, ideal_bicycle(), **options)


def test_a_command_acts_from_the_first_step_that_begins_when_it_has_arrived(kind):
    for arrived, stands_until in ((5 * MILLISECOND, 5), (5 * MILLISECOND + 1, 6), (5_999_999, 6), (0, 0)):
        vehicle = ideal(kind)
        vehicle.enter(twist(1.0, 0.0, 0.0), arrived)
        vehicle.advance(stands_until * MILLISECOND)
        assert vehicle.motion().v_x == 0.0
        vehicle.advance((stands_until + 1) * MILLISECOND)
        assert vehicle.motion().v_x == 1.0


def test_a_command_from_the_past_acts_from_the_next_step(kind):
    vehicle = ideal(kind)
    vehicle.advance(100 * MILLISECOND)
    vehicle.enter(twist(1.0, 0.0, 0.0), 20 * MILLISECOND)
    assert vehicle.motion().v_x == 0.0
    vehicle.advance(101 * MILLISECOND)
    assert vehicle.motion().v_x == 1.0
    assert vehicle.motion().x == pytest.approx(1e-3)


@pytest.mark.parametrize(
    ("now", "arrived", "stamp", "last"),
    [(0, 10, None, 260), (100, 20, None, 270), (0, 100, 0, 250), (0, 0, 10_000, 250)],
    ids=["since it arrived", "also from the past", "since its stamp", "not since one in the future"],
)
def test_a_command_is_replaced_by_zero_when_it_is_too_old(kind, now, arrived, stamp, last):
    """Times in milliseconds."""
    vehicle = ideal(kind, max_command_age=0.25)
    vehicle.advance(now * MILLISECOND)
    vehicle.enter(twist(1.0, 0.0, 0.3), arrived * MILLISECOND, None if stamp is None else stamp * MILLISECOND)
    vehicle.advance(last * MILLISECOND)
    assert vehicle.motion().v_x == 1.0
    vehicle.advance((last + 1) * MILLISECOND)
    assert (vehicle.motion().v_x, vehicle.state.steering.angle) == (0.0, 0.0)


@pytest.mark.parametrize("age", [1e9, 1e300])
def test_a_command_can_hold_for_ever(kind, age):
    vehicle = ideal(kind, max_command_age=age)
    vehicle.enter(twist(1.0, 0.0, 0.0), 0)
    vehicle.advance(5 * SECOND)
    assert vehicle.motion().v_x == 1.0


def test_the_present_command_can_be_read(kind):
    vehicle = ideal(kind)
    vehicle.enter(twist(1.0, 0.0, 0.3), 10 * MILLISECOND)
    assert vehicle.command == Command()
    vehicle.advance(10 * MILLISECOND)
    assert vehicle.command == twist(1.0, 0.0, 0.3)


# Time in whole steps


@pytest.mark.parametrize(("rate", "steps"), [(300.0, 3000), (999.5, 9995), (1000.0, 10_000), (7.0, 70), (0.3, 3)])
def test_ten_seconds_have_as_many_steps_as_the_rate_says(kind, rate, steps):
    vehicle = ideal(kind, step_rate=rate)
    assert vehicle.advance(10 * SECOND) == steps
    assert vehicle.time == 10 * SECOND
    assert vehicle.coefficients.dt == 1.0 / rate


@given(st.floats(1.0, 1e5), st.integers(0, 10**9), st.integers(-(10**18), 2 * 10**18))
def test_steps_and_times_belong_to_each_other(rate, steps, start):
    vehicle = ideal(Vehicle, step_rate=rate, start=start)
    time = vehicle.time_of(steps)
    assert vehicle.steps_until(time) == steps
    assert vehicle.steps_until(time - 1) == steps - 1


@given(st.floats(0.1, 1e5), st.integers(0, 10**15))
def test_a_time_lies_between_the_step_that_is_done_and_the_next_one(rate, time):
    vehicle = ideal(Vehicle, step_rate=rate)
    steps = vehicle.steps_until(time)
    assert vehicle.time_of(steps) <= time < vehicle.time_of(steps + 1)


def test_advancing_into_the_past_does_nothing(kind):
    vehicle = driven(BICYCLE, BicycleParameters(), twist(1.0, 0.0, 0.2), 1.0, kind=kind)
    before = snapshot(vehicle)
    assert vehicle.advance(500 * MILLISECOND) == 0
    assert vehicle.time == SECOND
    assert snapshot(vehicle) == before


def test_skipped_time_leaves_the_vehicle_as_it_is(kind):
    vehicle = driven(BICYCLE, BicycleParameters(), twist(1.0, 0.0, 0.2), 1.0, kind=kind)
    before = snapshot(vehicle)
    vehicle.skip_to(5 * SECOND)
    assert vehicle.time == 5 * SECOND
    assert snapshot(vehicle) == before
    assert vehicle.advance(5 * SECOND + 10 * MILLISECOND) == 10
    assert snapshot(vehicle) != before


def test_a_command_ages_while_time_is_skipped(kind):
    vehicle = ideal(kind, max_command_age=1.0)
    vehicle.enter(twist(1.0, 0.0, 0.0), 0)
    vehicle.advance(100 * MILLISECOND)
    vehicle.skip_to(3 * SECOND)
    vehicle.advance(3 * SECOND + MILLISECOND)
    assert vehicle.motion().v_x == 0.0


# Placing, restarting and configuring


def test_the_state_is_the_models_own_and_can_be_set(kind):
    vehicle = driven(BICYCLE, BicycleParameters(), twist(1.0, 0.0, 0.2), 1.0, kind=kind)
    state = vehicle.state
    assert type(state) is BicycleState
    assert type(state.x) is float
    assert type(state.drive.references) is list
    state.x, state.drive.velocity, state.steering.references[3] = 7.0, 0.5, 0.125
    vehicle.state = state
    assert vehicle.motion().x == 7.0
    assert snapshot(vehicle) == dataclasses.asdict(state)
    later = [state.x for state in vehicle.sample([vehicle.time + MILLISECOND, vehicle.time + 2 * MILLISECOND])]
    assert 7.0 < later[0] < later[1]
    assert vehicle.state.x == later[1]


def test_samples_are_the_states_that_single_advances_give(kind):
    times = [0, 5 * MILLISECOND, 5 * MILLISECOND, 300 * MILLISECOND, SECOND]
    sampling, advancing = (kind(BICYCLE, BicycleParameters()) for _ in range(2))
    for vehicle in (sampling, advancing):
        vehicle.enter(twist(1.0, 0.0, 0.2), 1)
    sampled = [dataclasses.asdict(state) for state in sampling.sample(times)]
    single = []
    for time in times:
        advancing.advance(time)
        single.append(snapshot(advancing))
    assert [state["x"] for state in sampled] == [state["x"] for state in single]
    references = [[list(state["drive"]["references"]) for state in states] for states in (sampled, single)]
    assert references[0] == references[1]
    assert snapshot(sampling) == snapshot(advancing)
    assert sampled[-1]["x"] > 0.0


@every_model
def test_a_reset_vehicle_is_like_a_new_one(kind, model, parameters):
    vehicle = driven(model, parameters, twist(1.0, 0.3, 0.5), 1.0, kind=kind)
    vehicle.enter(twist(2.0, 0.0, 0.0), 2 * SECOND)
    vehicle.reset(500)
    assert snapshot(vehicle) == snapshot(kind(model, parameters))
    assert vehicle.time == 500
    vehicle.advance(3 * SECOND)
    assert vehicle.motion().v_x == 0.0
    assert vehicle.command == Command()


def test_without_a_time_a_reset_keeps_the_present(kind):
    vehicle = driven(BICYCLE, BicycleParameters(), twist(1.0, 0.0, 0.2), 1.0, kind=kind)
    vehicle.reset()
    assert vehicle.time == SECOND


@every_model
def test_a_vehicle_made_to_stand_still_stays_where_it_is(kind, model, parameters):
    vehicle = driven(model, parameters, twist(1.0, 0.3, 0.5), 1.5, kind=kind)
    before = vehicle.motion()
    assert before.v_x != 0.0
    vehicle.stand_still(10 * MILLISECOND)
    after = vehicle.motion()
    assert (after.x, after.y, after.heading) == (before.x, before.y, before.heading)
    assert (after.v_x, after.v_y, after.yaw_rate) == (0.0, 0.0, 0.0)
    assert vehicle.time == 10 * MILLISECOND
    vehicle.advance(SECOND)
    assert vehicle.motion() == after


@every_model
@pytest.mark.parametrize("offset", [0.0, 0.7])
def test_a_placed_vehicle_stands_there_and_keeps_its_velocity(kind, model, parameters, offset):
    p = dataclasses.replace(parameters, base_link_offset=offset)
    vehicle = driven(model, p, twist(1.0, 0.0, 0.3), 1.0, kind=kind)
    before = vehicle.motion()
    vehicle.set_pose(10.0, -20.0, 2.0)
    after = vehicle.motion()
    assert (after.x, after.y, after.heading) == pytest.approx((10.0, -20.0, 2.0))
    assert (after.v_x, after.v_y, after.yaw_rate) == (before.v_x, before.v_y, before.yaw_rate)


def test_a_vehicle_that_gazebo_moves_only_moves_its_actuators(kind):
    moved = driven(BICYCLE, BicycleParameters(), twist(1.0, 0.0, 0.2), 1.0, moves=False, kind=kind)
    free = driven(BICYCLE, BicycleParameters(), twist(1.0, 0.0, 0.2), 1.0, kind=kind)
    assert (moved.motion().x, moved.motion().heading) == (0.0, 0.0)
    assert moved.motion().v_x == free.motion().v_x > 0.0
    assert joints_of(moved)["steering_left"] == joints_of(free)["steering_left"]
    assert joints_of(moved)["fixed_wheel_left_joint"][1] == joints_of(free)["fixed_wheel_left_joint"][1]


def with_dead_times(parameters, seconds):
    """The same parameters with other dead times."""
    return dataclasses.replace(
        parameters,
        **{
            field.name: dataclasses.replace(getattr(parameters, field.name), dead_time=seconds)
            for field in dataclasses.fields(parameters)
            if "actuator" in field.name
        },
    )


@every_model
@pytest.mark.parametrize(("before", "after"), [(0.1, 0.3), (0.3, 0.1), (0.2, 0.0), (0.0, 0.2), (0.05, 6.0)])
def test_nothing_jumps_when_the_dead_time_changes(model, parameters, before, after):
    vehicle = Vehicle(model, with_dead_times(parameters, before), max_command_age=1e6)
    vehicle.enter(twist(0.5, 0.0, 0.2), 0)
    vehicle.enter(twist(1.0, 0.0, -0.2), 900 * MILLISECOND)
    vehicle.advance(SECOND)
    motion, joints = vehicle.motion(), joints_of(vehicle)
    vehicle.configure(with_dead_times(parameters, after))
    assert vehicle.motion() == motion
    assert joints_of(vehicle) == joints
    for _ in range(500):
        last = vehicle.motion()
        vehicle.advance(vehicle.time + MILLISECOND)
        assert abs(vehicle.motion().v_x - last.v_x) < 0.01
        assert abs(vehicle.motion().yaw_rate - last.yaw_rate) < 0.05


@pytest.mark.parametrize(("before", "after"), [(0.1, 0.3), (0.3, 0.1), (0.0, 0.2), (0.2, 0.0)])
def test_a_new_dead_time_holds_for_later_commands(before, after):
    p = ideal_bicycle()
    vehicle = Vehicle(BICYCLE, with_dead_times(p, before), max_command_age=1e6)
    vehicle.enter(twist(1.0, 0.0, 0.0), 0)
    vehicle.advance(SECOND)
    vehicle.configure(with_dead_times(p, after))
    vehicle.enter(twist(2.0, 0.0, 0.0), SECOND)
    vehicle.advance(SECOND + round(after * SECOND))
    assert vehicle.motion().v_x == 1.0
    vehicle.advance(vehicle.time + MILLISECOND)
    assert vehicle.motion().v_x == 2.0


def test_a_longer_dead_time_does_not_repeat_earlier_commands():
    p = ideal_bicycle()
    vehicle = Vehicle(BICYCLE, with_dead_times(p, 0.1), max_command_age=1e6)
    for k, v in enumerate((1.0, 2.0, 3.0, 4.0)):
        vehicle.enter(twist(v, 0.0, 0.0), k * 50 * MILLISECOND)
    vehicle.advance(151 * MILLISECOND)
    seen = [vehicle.motion().v_x]
    vehicle.configure(with_dead_times(p, 0.2))
    while vehicle.time < 500 * MILLISECOND:
        vehicle.advance(vehicle.time + MILLISECOND)
        seen.append(vehicle.motion().v_x)
    assert seen == sorted(seen)
    assert seen[0] == 2.0
    assert seen[-1] == 4.0


@pytest.mark.parametrize("steered", [False, True])
def test_a_lowered_top_speed_slows_the_vehicle_down_and_does_not_stop_it_dead(steered):
    p = BicycleParameters(drive_on_steered_wheel=steered, drive_actuator=DriveParameters(max_velocity=2.0))
    vehicle = driven(BICYCLE, p, twist(2.0, 0.0, 0.0), 8.0)
    vehicle.configure(dataclasses.replace(p, drive_actuator=DriveParameters(max_velocity=1.0)))
    fastest_change = 0.0
    for _ in range(8000):
        last = vehicle.motion().v_x
        vehicle.advance(vehicle.time + MILLISECOND)
        fastest_change = max(fastest_change, abs(vehicle.motion().v_x - last))
    assert fastest_change <= 2.0 * 1e-3 + 1e-9
    assert vehicle.motion().v_x == pytest.approx(1.0)


# The state stays finite


@every_model
@pytest.mark.parametrize("value", [1e300, -1e300, math.inf, math.nan])
def test_a_command_out_of_bounds_is_refused_and_changes_nothing(kind, model, parameters, value):
    vehicle = driven(model, parameters, twist(1.0, 0.0, 0.2), 1.0, kind=kind)
    before = snapshot(vehicle)
    with pytest.raises(ValueError, match="v_x is"):
        vehicle.enter(twist(value, 0.0, 0.0), SECOND)
    with pytest.raises(ValueError, match="yaw_rate is"):
        vehicle.enter(twist(0.0, 0.0, value), SECOND)
    assert snapshot(vehicle) == before
    assert vehicle.command == twist(1.0, 0.0, 0.2)


@every_model
@pytest.mark.parametrize("limited", [True, False])
def test_the_maximum_commands_that_are_accepted_keep_everything_finite(model, parameters, limited):
    p = parameters
    if not limited:
        kind = "drive_actuator" if model is BICYCLE else "drive_actuators"
        p = dataclasses.replace(p, **{kind: IDEAL_DRIVE})
        if model is BICYCLE and p.drive_on_steered_wheel:
            p = dataclasses.replace(p, steering_actuator=IDEAL_STEERING)
    vehicle = Vehicle(model, p, max_command_age=1e6)
    great = [twist(a * MAXIMUM, b * MAXIMUM, c * MAXIMUM) for a in (1, -1) for b in (1, 0) for c in (1, -1, 0)]
    if model is BICYCLE:
        great += [ackermann(a * MAXIMUM, b) for a in (1, -1) for b in (MAXIMUM, -MAXIMUM, math.pi / 2, 0.3)]
    for command in great:
        vehicle.enter(command, vehicle.time)
        vehicle.advance(vehicle.time + 300 * MILLISECOND)
        assert all(map(math.isfinite, dataclasses.astuple(vehicle.motion())))
        for state in joints_of(vehicle).values():
            assert all(map(math.isfinite, state))


# Jitter of the dead time


IDEAL = dataclasses.replace(DifferentialParameters(), drive_actuators=IDEAL_DRIVE)


def commanded_speeds(seed: int, jitter=0.05) -> list[float]:
    """The speed in every millisecond, for commands that arrive every 10 ms and count up."""
    vehicle = Vehicle(DIFFERENTIAL, IDEAL, dead_time_jitter=jitter, seed=seed)
    for k in range(20):
        vehicle.enter(twist(float(k), 0.0, 0.0), k * 10 * MILLISECOND)
    speeds = []
    for k in range(300):
        vehicle.advance(k * MILLISECOND)
        speeds.append(vehicle.motion().v_x)
    return speeds


def test_jitter_delays_every_command_and_keeps_their_order():
    speeds = commanded_speeds(1)
    assert speeds == sorted(speeds)
    assert speeds[-1] == 19.0
    late = [k - 10 * round(speed) for k, speed in enumerate(speeds[:190]) if speed]
    assert 0 <= min(late) <= max(late) <= 50 + 10
    assert speeds != commanded_speeds(1, jitter=0.0)


def test_equal_seeds_give_equal_jitter_again_after_a_reset():
    assert commanded_speeds(3) == commanded_speeds(3) != commanded_speeds(4)
    vehicle = Vehicle(DIFFERENTIAL, DifferentialParameters(), dead_time_jitter=0.05, seed=3)
    poses = []
    for _ in range(2):
        vehicle.reset(0)
        vehicle.enter(twist(1.0, 0.0, 0.0), 0)
        vehicle.advance(600 * MILLISECOND)
        poses.append(vehicle.motion())
    assert poses[0] == poses[1]


@pytest.mark.parametrize("jitter", [0.0, 0.01, 5.0])
def test_a_smaller_jitter_also_holds_for_commands_that_wait(jitter):
    """So an old setting never delays a stop."""
    vehicle = Vehicle(DIFFERENTIAL, IDEAL, dead_time_jitter=60.0, max_command_age=math.inf, seed=1)
    for k in range(5):
        vehicle.enter(twist(1.0, 0.0, 0.0), k * MILLISECOND)
    vehicle.configure_commands(max_command_age=math.inf, dead_time_jitter=jitter)
    vehicle.enter(twist(0.0, 0.0, 0.0), 5 * MILLISECOND)
    vehicle.advance(round(jitter * 1000) * MILLISECOND + 7 * MILLISECOND)
    assert vehicle.motion().v_x == 0.0
    vehicle.enter(twist(2.0, 0.0, 0.0), vehicle.time)
    vehicle.advance(vehicle.time + round(jitter * 1000) * MILLISECOND + 2 * MILLISECOND)
    assert vehicle.motion().v_x == 2.0


@given(
    st.sampled_from([0.05, 0.2, math.inf]),
    st.integers(10, 200),
    st.integers(0, 300),
    st.sampled_from([[twist(1.0, 0.0, 0.0)], [Command(SPEED, v_x=1.0), Command(STEERING, steering_angle=0.1)]]),
)
def test_another_time_out_also_holds_for_commands_that_were_entered_before(before, after, changed, commands):
    """Those that have not timed out yet do so when they would have with the new one from the beginning, or at once."""
    vehicle = Vehicle(BICYCLE, ideal_bicycle(), max_command_age=before)
    for command in commands:
        vehicle.enter(command, 0)
    changed = min(changed, round(1000 * min(before, 0.3)) - 1)
    vehicle.advance(changed * MILLISECOND)
    vehicle.configure_commands(max_command_age=0.001 * after, dead_time_jitter=0.0)
    end = max(after, changed)
    vehicle.advance(end * MILLISECOND)
    assert vehicle.motion().v_x == 1.0
    vehicle.advance((end + 2) * MILLISECOND)
    assert vehicle.motion().v_x == 0.0
