"""Trailers against closed forms and published equations."""

import dataclasses
import math

import numpy as np
import pytest
from helpers.driving import IDEAL_DRIVE, MILLISECOND, SECOND, driven, ideal_bicycle, joints_of
from scipy.integrate import solve_ivp

from vds_gz.core.parameters.declaration import ParameterError
from vds_gz.core.parameters.trailer_parameters import TrailerParameters
from vds_gz.core.parameters.vehicles import (
    BicycleParameters,
    DifferentialParameters,
    FourWheelSteeringParameters,
    OmniParameters,
    SingleTrackParameters,
    SwerveParameters,
)
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.command import SteadyMotion, ackermann, twist
from vds_gz.core.vehicle.differential import DIFFERENTIAL
from vds_gz.core.vehicle.four_wheel_steering import FOUR_WHEEL_STEERING
from vds_gz.core.vehicle.omni import OMNI
from vds_gz.core.vehicle.single_track import SINGLE_TRACK
from vds_gz.core.vehicle.swerve import SWERVE
from vds_gz.core.vehicle.trailers import at_limit, axle_poses, limit_text, trailer_joints
from vds_gz.core.vehicle.vehicle import Vehicle


def trailers(hitch_offsets, drawbars, max_angle=0.0, **changes) -> TrailerParameters:
    count = len(drawbars)
    return TrailerParameters(
        hitch_offset=tuple(hitch_offsets),
        drawbar=tuple(drawbars),
        track=(0.8,) * count,
        tire_diameter=(0.4,) * count,
        max_angle=(max_angle,) * count,
        **changes,
    )


def tugger(*lists, **changes) -> Vehicle:
    """A differential vehicle that obeys at once, with trailers."""
    parameters = DifferentialParameters(drive_actuators=IDEAL_DRIVE, trailers=trailers(*lists, **changes))
    return Vehicle(DIFFERENTIAL, parameters, max_command_age=math.inf)


def drive(vehicle, command, seconds) -> Vehicle:
    vehicle.enter(command, vehicle.time)
    vehicle.advance(vehicle.time + round(seconds * SECOND))
    return vehicle


def angles(vehicle) -> list[float]:
    return [trailer.angle for trailer in vehicle.state.trailers]


def set_angles(vehicle, values) -> Vehicle:
    for trailer, value in zip(vehicle.state.trailers, values, strict=True):
        trailer.angle = value
    return vehicle


@pytest.mark.parametrize("speed", [0.7, -0.7])
@pytest.mark.parametrize("hitch_offset", [0.0, -0.6, 0.4])
def test_behind_a_straight_drive_the_half_angle_tangent_grows_or_decays_exponentially(hitch_offset, speed):
    # d(angle)/dt = -(v / drawbar) sin(angle), so tan(angle / 2) ~ exp(-v t / drawbar), wherever the hitch is.
    vehicle = set_angles(tugger([hitch_offset], [1.3]), [0.1])
    for _ in range(5):
        drive(vehicle, twist(speed, 0.0, 0.0), 0.5)
        seconds = vehicle.time / SECOND
        expected = 2.0 * math.atan(math.tan(0.05) * math.exp(-speed / 1.3 * seconds))
        assert angles(vehicle) == pytest.approx([expected], rel=1e-11)


@pytest.mark.parametrize("speed", [0.8, -0.8])
def test_chains_straighten_and_fold_with_the_exponent_of_each_drawbar(speed):
    # Linear in small angles: heading k follows heading k - 1 with the time constant drawbar / v.
    drawbars = [0.5, 0.9, 1.4]
    vehicle = set_angles(tugger([0.0] * 3, drawbars), [1e-7, -2e-7, 1.5e-7])
    headings = np.cumsum(angles(vehicle))
    system = np.diag([-speed / d for d in drawbars]) + np.diag([speed / d for d in drawbars[1:]], -1)
    values, vectors = np.linalg.eig(system)
    drive(vehicle, twist(speed, 0.0, 0.0), 1.5)
    expected = (vectors @ np.diag(np.exp(values * 1.5)) @ np.linalg.inv(vectors) @ headings).real
    assert np.cumsum(angles(vehicle)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "lists",
    [([0.0], [1.2]), ([-0.7], [1.2]), ([0.3], [1.2]), ([-0.4, -0.2, 0.0, -0.3, -0.1], [0.9, 1.2, 0.7, 1.0, 0.6])],
)
@pytest.mark.parametrize("yaw_rate", [0.25, -0.25])
def test_in_a_steady_circle_each_axle_points_to_the_centre(lists, yaw_rate):
    vehicle = drive(tugger(*lists), twist(1.0, 0.0, yaw_rate), 40.0)
    sign, radius, expected, radii = math.copysign(1.0, yaw_rate), 1.0 / abs(yaw_rate), [], []
    for hitch_offset, drawbar in zip(*lists, strict=True):
        hitch_radius = math.hypot(radius, hitch_offset)
        behind = math.sqrt(hitch_radius**2 - drawbar**2)
        expected.append(sign * (math.atan(hitch_offset / radius) - math.atan(drawbar / behind)))
        radius = behind
        radii.append(radius)
    assert angles(vehicle) == pytest.approx(expected, abs=1e-9)
    joints = joints_of(vehicle)
    for k, radius in enumerate(radii, 1):
        for side, y in (("left", 0.4), ("right", -0.4)):
            _, velocity = joints[f"trailer_{k}_wheel_{side}_joint"]
            rolling = abs(yaw_rate) * (radius - sign * y)
            assert velocity == pytest.approx(rolling / 0.2, rel=1e-9)
        assert joints[f"hitch_{k}_joint"] == pytest.approx((expected[k - 1], 0.0), abs=1e-9)


def general_n_trailer(_, headings, speed, yaw_rate, hitch_offsets, drawbars):
    """Rates of all headings; Altafini (2001), Lee et al. (2004): hitches are ``-hitch_offset`` behind the axle."""
    rates, v, rate = [yaw_rate], speed, yaw_rate
    for k, (hitch_offset, drawbar) in enumerate(zip(hitch_offsets, drawbars, strict=True)):
        difference, behind = headings[k] - headings[k + 1], -hitch_offset
        follows = (v * math.sin(difference) - behind * rate * math.cos(difference)) / drawbar
        v = v * math.cos(difference) + behind * rate * math.sin(difference)
        rate = follows
        rates.append(rate)
    return rates


def lavalle(_, headings, speed, yaw_rate, hitch_offsets, drawbars):
    """Rates of all headings; LaValle (2006), eq. 13.19: every trailer is hitched at the axle ahead."""
    assert not any(hitch_offsets)
    rates, product = [yaw_rate], 1.0
    for k, drawbar in enumerate(drawbars):
        difference = headings[k] - headings[k + 1]
        rates.append(speed / drawbar * product * math.sin(difference))
        product *= math.cos(difference)
    return rates


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("published", [general_n_trailer, lavalle])
@pytest.mark.parametrize("seed", range(3))
def test_random_drives_follow_published_equations(published, count, seed):
    random = np.random.default_rng(seed)
    offsets = random.uniform(-0.5, 0.3, count) if published is general_n_trailer else np.zeros(count)
    drawbars = random.uniform(0.6, 2.0, count)
    vehicle = set_angles(tugger(offsets, drawbars), random.uniform(-0.3, 0.3, count))
    headings = np.cumsum([0.0, *angles(vehicle)])
    for _ in range(12):
        speed, yaw_rate, seconds = random.uniform(-0.3, 1.0), random.uniform(-0.6, 0.6), random.integers(100, 400) / 1e3
        arguments = speed, yaw_rate, offsets, drawbars
        solved = solve_ivp(published, (0.0, seconds), headings, "DOP853", args=arguments, rtol=1e-13, atol=1e-13)
        headings = solved.y[:, -1]
        drive(vehicle, twist(speed, 0.0, yaw_rate), seconds)
        assert np.cumsum([vehicle.state.heading, *angles(vehicle)]) == pytest.approx(headings, abs=1e-9)


@pytest.mark.parametrize("steering", [0.3, -0.5])
def test_a_truck_follows_the_model_of_commonroad(steering):
    pytest.importorskip("vehiclemodels")
    from vehiclemodels.vehicle_dynamics_kst import vehicle_dynamics_kst
    from vehiclemodels.vehicle_parameters import setup_vehicle_parameters

    p = setup_vehicle_parameters(4)
    parameters = ideal_bicycle(wheel_base=p.a + p.b, trailers=trailers([0.0], [p.trailer.l_wb]))
    vehicle = driven(BICYCLE, parameters, ackermann(2.0, steering), 8.0)
    start = [0.0, 0.0, steering, 2.0, 0.0, 0.0]
    solved = solve_ivp(
        lambda _, x: vehicle_dynamics_kst(list(x), [0.0, 0.0], p), (0.0, 8.0), start, "DOP853", rtol=1e-12, atol=1e-12
    )
    assert [vehicle.state.heading, *angles(vehicle)] == pytest.approx(solved.y[4:, -1], abs=1e-9)
    assert abs(angles(vehicle)[0]) > 0.5


def test_a_trailer_of_an_omni_vehicle_follows_its_hitch_sideways():
    parameters = OmniParameters(drive_actuators=IDEAL_DRIVE, trailers=trailers([-0.5], [1.1]), roller_pattern="x")
    vehicle = driven(OMNI, parameters, twist(0.3, 0.5, 0.2), 3.0)

    def rate(_, headings):
        across = 0.5 - 0.5 * 0.2
        difference = headings[0] - headings[1]
        return [0.2, (0.3 * math.sin(difference) + across * math.cos(difference)) / 1.1]

    solved = solve_ivp(rate, (0.0, 3.0), [0.0, 0.0], "DOP853", rtol=1e-13, atol=1e-13)
    assert angles(vehicle)[0] == pytest.approx(solved.y[1, -1] - solved.y[0, -1], abs=1e-9)


@pytest.mark.parametrize(
    ("model", "parameters", "command"),
    [
        (BICYCLE, ideal_bicycle(), ackermann(1.0, 0.3)),
        (DIFFERENTIAL, DifferentialParameters(base_link_offset=0.3), twist(1.0, 0.0, 0.4)),
        (OMNI, OmniParameters(base_link_offset=0.3), twist(0.6, 0.3, 0.4)),
        (SINGLE_TRACK, SingleTrackParameters(), ackermann(1.5, 0.3)),
        (FOUR_WHEEL_STEERING, FourWheelSteeringParameters(rear_steering="crab"), ackermann(1.0, 0.3)),
        (SWERVE, SwerveParameters(base_link_offset=0.2), twist(0.6, 0.3, 0.4)),
    ],
)
def test_no_axle_slips_sideways(model, parameters, command):
    parameters = dataclasses.replace(parameters, trailers=trailers([-0.5, 0.1], [1.1, 0.8]))
    vehicle = driven(model, parameters, command, 1.5)

    def axles():
        motion = vehicle.motion()
        at = type(axle_poses(vehicle.coefficients, angles(vehicle))[0])(motion.x, motion.y, motion.heading)
        return [at.then(pose) for pose in axle_poses(vehicle.coefficients, angles(vehicle))]

    before = axles()
    vehicle.advance(vehicle.time + 1 * MILLISECOND)
    for old, new, trailer in zip(before, axles(), vehicle.state.trailers, strict=True):
        moved = new.seen_from(old)
        middle = 0.5 * moved.heading
        along = moved.x * math.cos(middle) + moved.y * math.sin(middle)
        across = moved.y * math.cos(middle) - moved.x * math.sin(middle)
        assert along == pytest.approx(1e-3 * trailer.speed, abs=2e-9)
        assert across == pytest.approx(0.0, abs=2e-9)
        assert along > 1e-4


@pytest.mark.parametrize(
    ("model", "parameters", "motion"),
    [
        (BICYCLE, BicycleParameters(), SteadyMotion(v_x=1.0, steering_angle=0.2)),
        (BICYCLE, BicycleParameters(reverse=True), SteadyMotion(v_x=-1.0, steering_angle=0.2)),
        (SINGLE_TRACK, SingleTrackParameters(), SteadyMotion(v_x=2.0, steering_angle=0.2)),
        (DIFFERENTIAL, DifferentialParameters(), SteadyMotion(v_x=-0.8, yaw_rate=0.3)),
        (OMNI, OmniParameters(base_link_offset=0.2), SteadyMotion(v_x=0.6, v_y=0.4, yaw_rate=-0.2)),
        (SWERVE, SwerveParameters(base_link_offset=0.2), SteadyMotion(v_x=0.6, v_y=0.4, yaw_rate=-0.2)),
        (FOUR_WHEEL_STEERING, FourWheelSteeringParameters(rear_ratio=0.0), SteadyMotion(v_x=1.0, steering_angle=0.2)),
    ],
)
def test_a_steady_start_stays_steady(model, parameters, motion):
    parameters = dataclasses.replace(parameters, trailers=trailers([-0.5, 0.2], [1.1, 0.8]))
    c = model.coefficients(parameters, 1e-3)
    s = model.at(c, motion)
    before = [trailer.angle for trailer in s.trailers]
    assert all(abs(angle) > 0.05 for angle in before)
    command = ackermann(motion.v_x, motion.steering_angle) if motion.steering_angle else twist(*motion[:3])
    model.set_references(c, s, command)
    for _ in range(200):
        model.step(c, s, command)
    assert [trailer.angle for trailer in s.trailers] == pytest.approx(before, abs=1e-8)
    assert [trailer.rate for trailer in s.trailers] == pytest.approx([0.0, 0.0], abs=1e-7)


def test_a_circle_too_small_for_a_trailer_has_its_axle_at_rest():
    parameters = DifferentialParameters(trailers=trailers([0.0], [3.0]))
    c = DIFFERENTIAL.coefficients(parameters, 1e-3)
    (trailer,) = DIFFERENTIAL.at(c, SteadyMotion(v_x=1.0, yaw_rate=0.5)).trailers
    assert (trailer.angle, trailer.speed) == pytest.approx((-math.pi / 2, 0.0))


LIMITED = ([-0.3, -0.2], [1.0, 1.0], 0.7)


@pytest.mark.parametrize("model", [DIFFERENTIAL, BICYCLE, SINGLE_TRACK, OMNI, SWERVE, FOUR_WHEEL_STEERING])
def test_a_vehicle_stops_where_a_hitch_reaches_its_limit_and_can_only_go_back(model):
    parameters = dataclasses.replace(model.parameters(), trailers=trailers(*LIMITED))
    vehicle = Vehicle(model, parameters, max_command_age=math.inf)
    set_angles(vehicle, [0.1, 0.0])
    back, ahead = (twist(speed, 0.0, 0.0) for speed in (-1.0, 1.0))
    drive(vehicle, back, 10.0)
    assert max(map(abs, angles(vehicle))) == pytest.approx(0.7, abs=1e-12)
    assert at_limit(vehicle.coefficients, vehicle.state)
    motion, joints = vehicle.motion(), joints_of(vehicle)
    assert (motion.v_x, motion.yaw_rate) == (0.0, 0.0)
    drive(vehicle, back, 3.0)
    assert dataclasses.astuple(vehicle.motion()) == pytest.approx(dataclasses.astuple(motion), abs=1e-9)
    for name, (position, velocity) in joints_of(vehicle).items():
        assert position == pytest.approx(joints[name][0], abs=1e-9)
        assert velocity == pytest.approx(0.0, abs=1e-9)
    drive(vehicle, ahead, 3.0)
    assert vehicle.motion().v_x == pytest.approx(1.0, abs=0.01)
    assert max(map(abs, angles(vehicle))) < 0.3
    assert not at_limit(vehicle.coefficients, vehicle.state)


def test_a_step_ends_where_the_limit_is_reached():
    vehicle = set_angles(tugger([0.0], [1.0], 0.7), [0.699])
    vehicle.coefficients.dt = 0.1
    model, c, s, command = DIFFERENTIAL, vehicle.coefficients, vehicle.state, twist(-1.0, 0.0, 0.0)
    model.set_references(c, s, command)
    model.step(c, s, command)
    (trailer,) = s.trailers
    seconds = 0.001 / math.sin(0.7)
    assert trailer.angle == pytest.approx(0.7, abs=1e-15)
    assert s.x == pytest.approx(-seconds, rel=0.05)
    assert trailer.roll_left == pytest.approx((-seconds * math.cos(0.7) - 0.4 * 0.001) / 0.2, rel=0.05)
    assert trailer.rate == pytest.approx(0.001 / 0.1, rel=1e-9)


def test_wheels_skid_at_a_limit_that_is_only_reported():
    vehicle = set_angles(tugger(*LIMITED, at_limit="report"), [0.1, 0.0])
    drive(vehicle, twist(-1.0, 0.0, 0.0), 10.0)
    assert vehicle.motion().v_x == -1.0
    assert at_limit(vehicle.coefficients, vehicle.state)
    limited = [trailer for trailer in vehicle.state.trailers if abs(trailer.angle) == 0.7]
    assert limited
    assert all(trailer.rate == 0.0 for trailer in limited)
    first, second = vehicle.state.trailers
    assert first.angle == 0.7
    # the first trailer moves with the body, and its wheels roll by the part of this motion along their direction
    assert (first.yaw_rate, first.speed) == pytest.approx((0.0, -math.cos(0.7)))
    # the second one is pulled by the first one's hitch, which moves sideways too
    across = math.sin(0.7)
    rolling = (across * math.cos(second.angle) + math.cos(0.7) * math.sin(second.angle)) / 1.0
    assert second.yaw_rate == pytest.approx(rolling if abs(second.angle) < 0.7 else 0.0, abs=1e-3)
    drive(vehicle, twist(1.0, 0.0, 0.0), 3.0)
    assert max(map(abs, angles(vehicle))) < 0.2


@pytest.mark.parametrize(
    ("at_limit", "stops", "skids"), [("stop", True, False), ("stop", False, True), ("report", True, True)]
)
def test_the_warning_says_what_the_vehicle_does_at_the_limit(at_limit, stops, skids):
    vehicle = set_angles(tugger(*LIMITED, at_limit=at_limit), [0.1, -0.7])
    text = limit_text(vehicle.coefficients, vehicle.state, stops=stops)
    assert text.startswith("trailer 2 at the maximum angle of the hitch")
    assert text.endswith(": wheels skid" if skids else ": motion that bends it further is blocked")
    assert not limit_text(vehicle.coefficients, tugger(*LIMITED).state)


def test_a_limit_below_the_present_angle_lets_the_vehicle_only_straighten():
    vehicle = set_angles(tugger([0.0], [1.0], 1.2), [0.9])
    vehicle.configure(dataclasses.replace(vehicle.parameters, trailers=trailers([0.0], [1.0], 0.5)))
    drive(vehicle, twist(-1.0, 0.0, 0.0), 1.0)
    assert angles(vehicle) == pytest.approx([0.9], abs=1e-9)
    drive(vehicle, twist(1.0, 0.0, 0.0), 2.0)
    assert angles(vehicle)[0] < 0.2


def test_an_obstacle_takes_back_a_part_of_a_step():
    vehicle = set_angles(tugger([-0.3], [1.0]), [0.4])
    drive(vehicle, twist(1.0, 0.0, 0.3), 0.1)
    (before,) = vehicle.state.trailers
    before = dataclasses.replace(before)
    vehicle.advance(vehicle.time + MILLISECOND)
    (trailer,) = vehicle.state.trailers
    assert trailer.angle != before.angle
    DIFFERENTIAL.stop(vehicle.coefficients, vehicle.state, 1e-3)
    assert trailer.angle == pytest.approx(before.angle, abs=1e-15)
    assert (trailer.roll_left, trailer.roll_right) == pytest.approx((before.roll_left, before.roll_right), abs=1e-15)
    assert (trailer.rate, trailer.speed, trailer.yaw_rate) == (0.0, 0.0, 0.0)


def test_standing_still_keeps_the_hitches_where_they_are():
    vehicle = drive(set_angles(tugger([-0.3], [1.0]), [0.4]), twist(1.0, 0.0, 0.3), 0.5)
    angle = angles(vehicle)
    vehicle.stand_still(vehicle.time)
    assert angles(vehicle) == angle
    assert vehicle.state.trailers[0].rate == 0.0
    vehicle.reset()
    assert angles(vehicle) == [0.0]


def test_joints_of_trailers_follow_those_of_the_vehicle():
    parameters = DifferentialParameters(trailers=trailers([0.0, 0.0], [1.0, 1.0]))
    names = [(joint.name, joint.kind) for joint in DIFFERENTIAL.joints(parameters)]
    assert names[2:] == [(joint.name, joint.kind) for joint in trailer_joints(parameters)]
    assert names[2:5] == [
        ("hitch_1_joint", "hitch"),
        ("trailer_1_wheel_left_joint", "wheel"),
        ("trailer_1_wheel_right_joint", "wheel"),
    ]
    c = DIFFERENTIAL.coefficients(parameters, 1e-3)
    assert len(DIFFERENTIAL.joint_states(c, DIFFERENTIAL.at_rest(c)).positions) == len(names) == 8


def test_lists_of_different_lengths_and_long_trains_are_refused():
    with pytest.raises(ParameterError, match=r"different lengths \(hitch_offset: 1, drawbar: 2, .*each trailer"):
        TrailerParameters(hitch_offset=(0.0,), drawbar=(1.0, 1.0))
    with pytest.raises(ParameterError, match=r"'drawbar' is .*; it must be a list of at most 5 finite numbers"):
        TrailerParameters(drawbar=(1.0,) * 6)
    with pytest.raises(ParameterError, match=r"'drawbar' is .*at least 0.01"):
        TrailerParameters(drawbar=(0.0,))
