"""A setup uses the measurements that the model predicts; unusable recordings are refused with a message."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from helpers.guest import needs_autoware

from vds_gz.core.configuration import load_parameters
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.actuator_parameters import ActuatorStages, DriveParameters, SteeringParameters
from vds_gz.core.parameters.declaration import ParameterGroup, group, real
from vds_gz.core.parameters.vehicles import BicycleParameters
from vds_gz.core.parameters.yaml_reader import Interval
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.catalogue import models
from vds_gz.tools.study.identify.build import problem_of
from vds_gz.tools.study.identify.candidates import candidates_of
from vds_gz.tools.study.identify.identification import identify
from vds_gz.tools.study.identify.observed_limits import reach_of
from vds_gz.tools.study.identify.problem.parameters import actuations, terms_of, where
from vds_gz.tools.study.identify.problem.problem_setup import counting
from vds_gz.tools.study.identify.problem.segments import segments_of
from vds_gz.tools.study.identify.problem.unknowns import set_up
from vds_gz.tools.study.identify.terms import STAGES
from vds_gz.tools.study.recording import MeasuredChannel, Recording, Series, SignalError

TIME = 0.02 * np.arange(200)
WAVE = Series(TIME, np.sin(TIME))


def counted(*further, **measured):
    signals = Recording({}, measured, further=list(further), sources=dict.fromkeys(measured, "joints"))
    return [one.name for one in counting(signals, BICYCLE, BicycleParameters())]


def joint(name, quantity="joint_position"):
    return MeasuredChannel(name, quantity, "joints", WAVE, name)


def pose(quantity, values=WAVE.value, times=TIME):
    return MeasuredChannel(quantity, quantity, "odom", Series(times, values))


@dataclass(frozen=True, slots=True)
class RoverParameters(ParameterGroup):
    rack: SteeringParameters = group(SteeringParameters)
    motor: DriveParameters = group(DriveParameters)


def test_actuators_are_known_by_the_types_of_their_groups():
    found = actuations(RoverParameters())
    assert list(found) == ["drive", "steering"]
    assert found["drive"]["dead_time"] == "motor.dead_time"
    assert found["steering"]["value"] == "rack.max_position"


@needs_autoware
def test_models_without_hub_motors_have_no_wheels_as_actuators():
    autoware = models()["delay_steer_vel"].parameters()
    assert actuations(autoware, wheels=True) == actuations(autoware)


def test_each_stage_of_the_table_is_one_of_the_drive_or_of_the_steering():
    assert {stage for actuator in actuations(BicycleParameters()).values() for stage in actuator.names} == set(STAGES)


@dataclass(frozen=True, slots=True)
class LoaderParameters(ParameterGroup):
    top_speed: float = real(2.0, "m/s", "maximum speed", positive=True)
    motor_lag: float = real(0.1, "s", "lag of the motor", positive=True)

    def identified_actuators(self, lag="time_constant"):
        return {"drive": ActuatorStages({"value": "top_speed", lag: "motor_lag"}, {"value": 50.0})}


def test_parameters_of_other_names_are_known_by_the_stages_that_their_group_returns():
    drive = actuations(LoaderParameters())["drive"]
    assert list(drive.names.items()) == [("time_constant", "motor_lag"), ("value", "top_speed")]
    assert [(term.name, term.unlimited) for term in terms_of(drive)] == [("motor_lag", 0.0), ("top_speed", 50.0)]


class MisnamedParameters(LoaderParameters):
    __slots__ = ()

    def identified_actuators(self):
        return super().identified_actuators("lag")


def test_a_stage_that_no_actuator_has_is_refused():
    with pytest.raises(ArgumentError, match="'lag' is not a stage of an actuator; it must be one of dead_time, "):
        actuations(MisnamedParameters())


def test_hinges_are_used_instead_of_their_mean_if_the_model_has_them():
    left, right = joint("steering_left"), joint("steering_right")
    assert counted(left, right, steering=WAVE) == ["steering_left", "steering_right"]
    assert counted(joint("front_steer_left"), joint("front_steer_right"), steering=WAVE) == ["steering"]
    assert "steering" in counted(joint("steered_wheel_left_joint"), steering=WAVE)


def test_a_pose_is_used_only_if_it_is_complete():
    straight = [pose("x"), pose("y", np.zeros(200)), pose("heading", np.zeros(200))]
    assert counted(*straight, v_x=WAVE) == ["v_x", "odom v_x"]
    assert counted(pose("x"), pose("y"), v_x=WAVE) == ["v_x"]
    assert counted(pose("x"), pose("y"), pose("heading", WAVE.value[:-1], TIME[:-1]), v_x=WAVE) == ["v_x"]


BROKEN = Series(TIME, np.where(TIME[7] == TIME, np.nan, WAVE.value))
NOT_FINITE = "1 of 200 samples of v_x are NaN or infinite, the first is number 8"
NO_LATER = "150 of 200 samples of v_x are no later than the sample before, the first"


@pytest.mark.parametrize(
    ("signals", "said"),
    [
        (Recording({"v_x": WAVE}, {"v_x": BROKEN}), NOT_FINITE),
        (Recording({"v_x": BROKEN}), NOT_FINITE),
        (Recording({"v_x": WAVE}, {"v_x": Series(np.repeat(TIME[::4], 4), WAVE.value)}), NO_LATER),
        ([], "0 recordings; needed is at least 1"),
    ],
)
def test_unusable_recordings_are_refused(signals, said):
    with pytest.raises(SignalError, match=said):
        identify(signals)


def turning(**priors):
    commands = {"v_x": WAVE, "yaw_rate": Series(TIME, np.cos(TIME))}
    intervals = {name: Interval(*one) for name, one in priors.items()}
    signals = Recording(commands, {"yaw_rate": WAVE})
    return set_up([signals], vehicle=None, wheel_base=None, fit=("base_link_offset",), priors=intervals)


def test_a_track_replaces_the_gain_of_the_speed_if_only_turning_is_measured():
    names = [term.name for term in turning().family.terms]
    assert "track" in names
    assert "v_x gain" not in names


def test_priors_may_be_zero_or_negative():
    setup = turning(**{"base_link_offset": (-0.1, -0.2, 0.0), "drive_actuators.dead_time": (0.001, 0.0, 0.002)})
    space = problem_of(setup, segments_of(setup.recordings, setup.channels, 1e-3), {})
    names = [term.name for term in setup.family.terms]
    offset, dead_time = names.index("base_link_offset"), names.index("drive_actuators.dead_time")
    assert space.mean[[offset, dead_time]].tolist() == [-0.1, 0.001]
    assert space.sigma[offset] == pytest.approx(0.1 / 1.96)
    assert np.isfinite(space.sigma[dead_time])


@pytest.mark.parametrize(
    ("lowest", "offset"), [(0.15, ""), (0.02, "steering_actuator.offset"), (-0.4, "steering_actuator.offset")]
)
def test_an_actuator_has_an_offset_only_if_commands_come_near_zero(lowest, offset):
    steering = np.linspace(0.4, lowest, len(TIME))
    steering[0] = 0.0  # before the vehicle drives
    speed = np.where(TIME > 0.0, 1.0, 0.0)
    commanded = {"v_x": Series(TIME, speed), "steering": Series(TIME, steering)}
    signals = Recording(commanded, {"v_x": Series(TIME, speed), "yaw_rate": WAVE})
    setup = set_up([signals], vehicle=None, wheel_base=0.3, fit=(), priors={})
    assert setup.actuators["steering"]["offset"] == offset
    assert setup.actuators["drive"]["offset"] == "drive_actuator.offset"


@pytest.mark.parametrize(
    ("speeds", "falls"),
    [
        ([0.0, 0.5, 1.0, 1.0], False),
        ([0.0, 1.0, 0.95, 1.0], False),
        ([0.0, 1.0, 0.5, 0.5], True),
        ([1.0, -1.0, 1.0, -1.0], True),
    ],
)
def test_a_deceleration_limit_needs_a_lower_speed_or_the_opposite_direction(speeds, falls):
    commands = Series(TIME, np.repeat(speeds, 50))
    rounding = Series(TIME, 1e-17 * (np.arange(len(TIME)) % 2))
    recording = Recording({"v_x": commands, "yaw_rate": rounding}, {"v_x": WAVE})
    setup = set_up([recording], vehicle=None, wheel_base=None, fit=(), priors={})
    assert bool(setup.actuators["drive"]["fall"]) == falls


def test_an_actuator_may_have_a_deceleration_limit_and_no_acceleration_limit():
    recording = Recording({"v_x": WAVE, "yaw_rate": WAVE}, {"v_x": WAVE, "yaw_rate": WAVE})
    setup = set_up([recording], vehicle=None, wheel_base=None, fit=(), priors={})
    drive = where(setup.actuators["drive"], lambda kind: kind is not STAGES["rise"])
    setup = replace(setup, actuators={**setup.actuators, "drive": drive})
    tried = {candidate.name for candidate in candidates_of(setup, reach_of(setup))}
    assert {"drive_actuators.max_deceleration", "drive as a whole"} <= tried
    assert "drive_actuators.max_acceleration" not in tried


@pytest.mark.parametrize(("moving", "count"), [(("v_x", "yaw_rate"), 1), (("v_x",), 0)])
def test_a_drive_is_behind_limits_of_velocities_only_if_several_are_commanded(moving, count):
    recording = Recording(dict.fromkeys(moving, WAVE), {"v_x": WAVE, "yaw_rate": WAVE})
    setup = set_up([recording], vehicle=None, wheel_base=None, fit=(), priors={})
    behind = [trial for trial in candidates_of(setup, reach_of(setup)) if "before it" in trial.name]
    assert len(behind) == count
    for candidate in behind:
        names = {setup.family.terms[k].name for k in candidate.terms}
        assert names == {
            *(f"drive_actuators.{stage}" for stage in ("dead_time", "time_constant", "gain")),
            *(f"max_{axis}_acceleration" for axis in ("linear", "angular")),
        }


@pytest.mark.parametrize(("moves", "lag"), [(False, ""), (True, "steering_actuator.time_constant")])
def test_a_steering_that_turns_only_at_standstill_has_no_lag_among_the_unknowns(moves, lag):
    drives = TIME >= 2.0
    speed = Series(TIME, np.where(drives, 1.0, 0.0))
    steering = Series(TIME, np.select([TIME < 1.0, (TIME < 3.0) | (not moves)], [0.0, 0.3], 0.1))
    signals = Recording({"v_x": speed, "steering": steering}, {"v_x": speed, "yaw_rate": WAVE})
    setup = set_up([signals], vehicle=None, wheel_base=0.3, fit=(), priors={})
    assert setup.actuators["steering"]["time_constant"] == lag


@pytest.mark.parametrize(
    ("commanded", "measured", "late"),
    [
        (("v_x", "steering"), ("v_x", "yaw_rate"), []),  # each is the only sensor of its actuator
        (("v_x", "steering"), ("v_x", "yaw_rate", "steering"), ["yaw_rate latency", "steering latency"]),
        (("v_x", "yaw_rate"), ("v_x", "yaw_rate"), ["v_x latency", "yaw_rate latency"]),  # the wheels turn the vehicle
    ],
)
def test_a_sensor_has_a_latency_only_beside_another_of_its_actuator(commanded, measured, late):
    signals = Recording(dict.fromkeys(commanded, WAVE), dict.fromkeys(measured, WAVE), steers="steering" in commanded)
    setup = set_up([signals], vehicle=None, wheel_base=None, fit=(), priors={})
    assert [term.name for term in setup.family.terms if term.name.endswith("latency")] == late


def test_a_hinge_is_a_sensor_of_the_steering():
    signals = Recording(
        dict.fromkeys(("v_x", "steering"), WAVE),
        dict.fromkeys(("v_x", "yaw_rate"), WAVE),
        further=[joint("steering_left"), joint("steering_right")],
        steers=True,
    )
    car = load_parameters("ackermann_car")
    setup = set_up([signals], vehicle=car, wheel_base=None, fit=(), priors={})
    late = [term.name for term in setup.family.terms if term.name.endswith("latency")]
    assert late == ["yaw_rate latency", "joints latency"]
