"""The single-track car beside CommonRoad's reference implementation, with the same equations and parameters.

ST (linear, small angles) is the whole model with ``small_angles``. STD (drift) has spinning wheels and tyres with
combined slip, which ``single_track`` lacks. With freely rolling wheels, its equations are those without
``small_angles``.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
from vds_gz.core.parameters.vehicles import SingleTrackParameters
from vds_gz.core.vehicle.command import ACKERMANN, Command, SteadyMotion
from vds_gz.core.vehicle.single_track import SINGLE_TRACK

pytest.importorskip("vehiclemodels")
from vehiclemodels.vehicle_dynamics_st import vehicle_dynamics_st
from vehiclemodels.vehicle_dynamics_std import vehicle_dynamics_std
from vehiclemodels.vehicle_parameters import setup_vehicle_parameters

DT = 1e-3
STEPS = 3500
#: Steps of the reference, which the classical Runge-Kutta method integrates, per step of ours.
FINER = 2

TIMES = np.arange(STEPS) * DT
#: Steering rate [rad/s] and acceleration [m/s^2] by time, of a car at 20 m/s; the rate is less at higher speeds.
MANOEUVRES = {
    "steering steps": (np.where(TIMES % 1.0 < 0.15, 0.4, 0.0) * np.where(TIMES // 1.0 % 2 < 1, 0.3, -0.3), 0.0 * TIMES),
    "braking in a curve": (np.where(TIMES < 0.2, 0.2, 0.0), np.where((TIMES > 1.0) & (TIMES < 3.0), -5.0, 0.0)),
    "sine and acceleration": (0.15 * np.cos(math.tau * 0.7 * TIMES), np.where(TIMES > 1.5, 2.0, -0.5)),
}


def like(p, **others) -> SingleTrackParameters:
    """A car with CommonRoad's parameters, whose drive and steering are those of ST."""
    return SingleTrackParameters(
        wheel_base=p.a + p.b,
        cg_distance=p.b,
        cg_height=p.h_s,
        mass=p.m,
        yaw_inertia=p.I_z,
        cornering_stiffness_fixed=-p.tire.p_ky1,
        cornering_stiffness_steered=-p.tire.p_ky1,
        friction=p.tire.p_dy1,
        tire_shape=p.tire.p_cy1,
        tire_curvature=p.tire.p_ey1,
        drive_gives_acceleration=True,
        drive_actuator=DriveParameters(dead_time=0.0, time_constant=0.0, max_velocity=0.0, max_acceleration=0.0),
        steering_actuator=SteeringParameters(dead_time=0.0, time_constant=0.0, max_velocity=0.0, max_position=1.0),
        **others,
    )


def driven(parameters, speed, rates, accelerations):
    """Position, angle, speed, heading, yaw rate and slip angle of the centre of gravity after each step."""
    c = SINGLE_TRACK.coefficients(parameters, DT)
    s = SINGLE_TRACK.at(c, SteadyMotion(speed))
    states = []
    for rate, acceleration in zip(rates.tolist(), accelerations.tolist(), strict=True):
        u = Command(ACKERMANN, v_x=math.copysign(1e3, acceleration), acceleration=abs(acceleration))
        u.steering_angle, u.steering_rate = math.copysign(1.0, rate), abs(rate)
        SINGLE_TRACK.set_references(c, s, u)
        SINGLE_TRACK.step(c, s, u)
        body = s.body
        states.append(
            (
                s.x + c.cg_x * (math.cos(s.heading) - 1.0),
                s.y + c.cg_x * math.sin(s.heading),
                s.steering.angle,
                math.hypot(body.v_x, body.v_y),
                s.heading,
                body.yaw_rate,
                math.atan2(body.v_y, body.v_x),
            )
        )
    return np.array(states)


def reference(derivative, p, speed, rates, accelerations):
    """The same quantities, from an implementation of the equations."""
    x = np.array([0.0, 0.0, 0.0, speed, 0.0, 0.0, 0.0])
    dt, states = DT / FINER, []
    for u in zip(rates.tolist(), accelerations.tolist(), strict=True):
        for _ in range(FINER):
            k1 = derivative(x, u, p)
            k2 = derivative(x + 0.5 * dt * k1, u, p)
            k3 = derivative(x + 0.5 * dt * k2, u, p)
            k4 = derivative(x + dt * k3, u, p)
            x = x + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        states.append(x)
    return np.array(states)


def st(x, u, p):
    """CommonRoad's ST."""
    return np.array(vehicle_dynamics_st(x.tolist(), list(u), p))


def std(x, u, p):
    """CommonRoad's STD with wheels that roll without longitudinal slip."""
    *_, angle, speed, _, yaw_rate, slip = x.tolist()
    fixed = speed * math.cos(slip)
    steered = fixed * math.cos(angle) + (speed * math.sin(slip) + p.a * yaw_rate) * math.sin(angle)
    return np.array(vehicle_dynamics_std([*x.tolist(), steered / p.R_w, fixed / p.R_w], list(u), p)[:7])


def largest_difference(ours, theirs) -> float:
    """The largest difference of all states, each divided by its largest value."""
    return float((abs(ours - theirs).max(axis=0) / abs(theirs).max(axis=0)).max())


@pytest.mark.parametrize("speed", [pytest.param(5.0, marks=pytest.mark.slow), 20.0])
@pytest.mark.parametrize("vehicle", [1, 2, 3])
@pytest.mark.parametrize("manoeuvre", MANOEUVRES)
def test_equals_st_within_1e_6(vehicle, manoeuvre, speed):
    p = setup_vehicle_parameters(vehicle_id=vehicle)
    rates, accelerations = MANOEUVRES[manoeuvre]
    accelerations = accelerations * min(1.0, speed / 20.0)
    ours = driven(like(p, small_angles=True), speed, rates, accelerations)
    theirs = reference(st, p, speed, rates, accelerations)
    assert largest_difference(ours, theirs) < 1e-6


@pytest.mark.parametrize(("vehicle", "rate"), [(1, 0.25), (2, 0.5), (3, 0.5)])
def test_equals_std_with_freely_rolling_wheels_within_1e_6_beyond_the_limit_of_grip(vehicle, rate):
    p = setup_vehicle_parameters(vehicle_id=vehicle)
    p.tire.p_hx1 = p.tire.p_vx1 = 0.0  # a rolling wheel has no longitudinal force
    rates = rate * np.cos(math.tau * 0.5 * TIMES)
    p.steering.v_max, p.steering.v_min = 1.0, -1.0
    ours = driven(like(p), 20.0, rates, 0.0 * rates)
    theirs = reference(std, p, 20.0, rates, 0.0 * rates)
    assert abs(ours[:, 3] * ours[:, 5]).max() > p.tire.p_dy1 * 9.81  # more than any tyre holds
    assert largest_difference(ours, theirs) < 1e-6
