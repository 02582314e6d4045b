"""The check of vehicle models: all shipped models pass, and the faults of others are named."""

from __future__ import annotations

import dataclasses
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import ParameterGroup, integer, real
from vds_gz.core.parameters.vehicles import DifferentialParameters
from vds_gz.core.vehicle.actuators import drive_at_rest, step_drive
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.differential import DIFFERENTIAL, DifferentialCoefficients, DifferentialState
from vds_gz.core.vehicle.differential import actuate as drive
from vds_gz.core.vehicle.vehicle_model import Joint, Report, VehicleGeometry, VehicleLimits, extended

pytest.importorskip("numba")
from vds_gz import modelling
from vds_gz.tools.conformance.declared import CHECKS, faults

sys.path.append(str(Path(__file__).parents[3] / "examples"))
from own_model import SKID_STEERED

#: The checks that do not compile: compiling takes most of the time.
QUICK = [name for name in CHECKS if name != "engines"]


def changed(**fields):
    return dataclasses.replace(DIFFERENTIAL, **fields)


def faults_of(model, *names: str) -> str:
    result = [fault for name in names for fault in CHECKS[name](model, np.random.default_rng(1))]
    return "\n".join(result)


@pytest.mark.parametrize("model", models().values(), ids=lambda model: model.name)
def test_shipped_models_pass(model):
    assert faults_of(model, *QUICK) == ""


@pytest.mark.slow
@pytest.mark.parametrize("model", models().values(), ids=lambda model: model.name)
def test_engines_of_shipped_models_agree(model):
    assert faults_of(model, "engines") == ""


def test_the_example_passes():
    modelling.check(SKID_STEERED)


def test_a_model_that_passes_turns_by_the_same_angle_in_every_engine():
    """A fleet used to run the parent's phases in the place of the model's own step."""
    from vds_gz.core.vehicle.command import twist
    from vds_gz.core.vehicle.compiled import CompiledVehicle
    from vds_gz.core.vehicle.vehicle import Vehicle
    from vds_gz.tools.fleet.fleet import Fleet

    headings = []
    for kind in (Vehicle, CompiledVehicle):
        vehicle = kind(SKID_STEERED, SKID_STEERED.parameters(), max_command_age=9.0)
        vehicle.enter(twist(0.0, 0.0, 1.0), 0)
        vehicle.advance(3_000_000_000)
        headings.append(vehicle.motion().heading)
    for lanes in (True, False):
        model = dataclasses.replace(SKID_STEERED, lanes=lanes)
        fleet = Fleet(model, [model.parameters()])
        fleet.commands[0] = twist(0.0, 0.0, 1.0)
        fleet.advance(3000)
        headings.append(fleet.state(0).heading)
    assert len(set(headings)) == 1
    assert headings[0] > 1.0


# ---------------------------------------------------------------------- phases


def test_a_custom_step_is_refused():
    with pytest.raises(TypeError, match="'step'"):
        changed(step=drive)


@pytest.mark.parametrize("phases", [(), drive, [drive], ("drive",), (len,)])
def test_phases_that_are_no_functions_are_refused_by_name(phases):
    with pytest.raises(ArgumentError, match=r"'differential': moving is .* must be a tuple of at least one"):
        changed(moving=phases)


# ---------------------------------------------------------------------- parameters


@dataclass(frozen=True, slots=True)
class Undescribed(DifferentialParameters):
    grip: float = 0.7


@dataclass(frozen=True, slots=True)
class Vague(DifferentialParameters):
    grip: float = real(0.7, "", "", minimum=-np.inf, maximum=np.inf)


@dataclass(frozen=True, slots=True)
class OneSided(DifferentialParameters):
    grip: float = real(0.7, "-", "friction of the tyres", maximum=np.inf)


@dataclass(frozen=True, slots=True)
class Wide(DifferentialParameters):
    """Numbers that one more or less does not change, or that a float cannot hold."""

    teeth: int = integer(12, "teeth of the gear")
    odometer: float = real(0.0, "m", "distance that was driven before", minimum=-1e17, maximum=1e17)


@dataclass(frozen=True, slots=True)
class Unbound(DifferentialParameters):
    def __post_init__(self) -> None:
        """Forget to check."""


@dataclass(frozen=True, slots=True)
class NoGroup:
    base_link_offset: float = 0.0
    track: float = 1.0
    tire_diameter: float = 0.5


@pytest.mark.parametrize(
    ("group", "messages"),
    [
        (Undescribed, ["'grip' of Undescribed has no unit, bounds and meaning; declare it with real()"]),
        (Vague, ["'grip' has no unit; give its SI unit", "'grip' has no bounds", "'grip' has no meaning"]),
        (OneSided, ["'grip' has no bounds; give a finite minimum and maximum"]),
        (Unbound, ["'track' takes values outside its bounds; leave __post_init__ to ParameterGroup"]),
        (NoGroup, ["NoGroup is not a ParameterGroup", "'track' of NoGroup has no unit"]),
    ],
)
def test_parameters_that_nothing_checks(group, messages):
    result = faults_of(changed(parameters=group), "parameters")
    assert all(message in result for message in messages), result


def test_wide_bounds_are_bounds():
    assert faults_of(changed(parameters=Wide), "parameters") == ""


def test_a_group_within_is_checked_too():
    @dataclass(frozen=True, slots=True)
    class Outer(ParameterGroup):
        inner: NoGroup = dataclasses.field(default_factory=NoGroup)

    assert "'inner.track' of NoGroup has no unit" in faults_of(changed(parameters=Outer), "parameters")


# ---------------------------------------------------------------------- description and drawing


def report(numbers=lambda c, s, measured: (measured.speed,), type="std_msgs/msg/Float64"):
    return Report("load", type, ("data",), numbers, stamp="data")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"accepts": frozenset()}, "it must have a kind of whole command"),
        ({"actuators": ("left", "right")}, "it must be a tuple of at least one Actuator, or a function"),
        ({"actuators": lambda p: DIFFERENTIAL.actuators_of(p)[:1]}, "actuator_states gives 2 states; it must be 1"),
        ({"limits": lambda p: VehicleLimits(-1.0)}, "must be VehicleLimits with a finite speed of at least 0"),
        ({"geometry": lambda p: VehicleGeometry((), 0.5)}, "must be VehicleGeometry with wheels"),
        (
            {"joints": lambda p: DIFFERENTIAL.joints(p)[:1]},
            "joint_states gives 2 positions for 1 joints; give one for each",
        ),
        ({"joints": lambda p: DIFFERENTIAL.joints(p)[:1] * 2}, "each name must be unique"),
        (
            {"geometry": lambda p: dataclasses.replace(DIFFERENTIAL.geometry(p), yaw_arm=0.0)},
            "gives a yaw arm of 0 for a vehicle that turns by its wheels' speeds",
        ),
        ({"reports": (report(lambda c, s, measured: ()),)}, "report 'load' gives 0 numbers for 1 fields"),
        ({"reports": (report(type="std_msgs/msg/Empty"),)}, "report 'load': a std_msgs/msg/Empty has no field 'data'"),
        ({"reports": (report(type="std_msgs/msg/Load"),)}, "report 'load': type 'std_msgs/msg/Load' is not known"),
        ({"measured_steering": lambda c, s: np.nan}, "measured_steering gives nan at rest; it must be a finite angle"),
    ],
)
def test_descriptions_that_do_not_fit(fields, message):
    assert message in faults_of(changed(**fields), "description")


def test_joints_that_are_not_those_of_the_drawing():
    result = faults_of(changed(joints=lambda p: (Joint("wheel_left_joint", "wheel"), Joint("hip", "wheel"))), "drawing")
    assert "joint 'hip' of joints() is not a moving joint of the drawing" in result
    assert "joint 'wheel_right_joint' moves in the drawing and is not in joints()" in result
    assert "set its xacro" in faults_of(changed(name="nobody"), "drawing")


# ---------------------------------------------------------------------- motion


def explode(c, s, u) -> None:
    s.roll_left = 2.0 * s.roll_left + 1e300


COUNT = [0.0]


def forget(c, s, u) -> None:
    COUNT[0] += 1.0
    s.roll_left += COUNT[0]


def accumulate(c, s, u) -> None:
    DIFFERENTIAL.set_references(c, s, u)
    s.roll_left += 1.0


def carry(c, s, u) -> None:
    s.x += s.v_x * c.dt


def test_steps_that_diverge_do_not_repeat_or_do_the_work_of_another_phase():
    assert "'roll_left' becomes inf" in faults_of(changed(moving=(*DIFFERENTIAL.moving, explode)), "motion")
    assert "'roll_left' differs between two runs" in faults_of(changed(moving=(*DIFFERENTIAL.moving, forget)), "motion")
    assert "how often set_references is called" in faults_of(changed(set_references=accumulate), "motion")
    assert "changes the pose" in faults_of(changed(actuating=(*DIFFERENTIAL.actuating, carry)), "motion")


# ---------------------------------------------------------------------- steady start and dead times


def at_without_lines(c, motion):
    s = DIFFERENTIAL.at(c, motion)
    s.left.references = [0.0] * len(s.left.references)
    return s


def test_a_steady_start_that_drifts_or_is_another_motion():
    result = faults_of(changed(at=at_without_lines), "steady start")
    assert "is not steady: " in result
    assert "fill every state of each actuator with its steady value" in result
    result = faults_of(changed(at=lambda c, motion: DIFFERENTIAL.at_rest(c)), "steady start")
    assert "gives 'v_x' 0; it must be 0.4" in result


def keep(c, s) -> None:
    """Fit nothing."""


def clear(c, s) -> None:
    s.left, s.right = drive_at_rest(c.drive), drive_at_rest(c.drive)


def empty(c, s) -> None:
    DIFFERENTIAL.resize(c, s)
    s.left.references = [0.0] * (len(s.left.references) - 1) + s.left.references[-1:]


def test_a_steady_turn_of_a_holonomic_vehicle_that_steers():
    """Its commands have no steering angles, so the check turns it by yaw rates."""
    swerve = models()["swerve"]
    straight = dataclasses.replace(swerve, at=lambda c, motion: swerve.at(c, motion._replace(yaw_rate=0.0)))
    assert "gives 'yaw_rate' 0; it must be 0.3" in faults_of(straight, "steady start")


def test_dead_times_that_are_resized_wrongly():
    assert "it must have 401 (see fit_lines)" in faults_of(changed(resize=keep), "dead times")
    assert "'left.velocity' jumps; change delay lines only" in faults_of(changed(resize=clear), "dead times")
    assert "in steady state actuator 'drive_left' jumps from" in faults_of(changed(resize=empty), "dead times")


# ---------------------------------------------------------------------- engines


def read_length(c, s, u) -> None:
    """In compiled code a list may be longer than the vehicle's."""
    s.roll_left += 0.001 * len(s.left.references)


@dataclass(slots=True)
class Charged(DifferentialState):
    charge: float = 0.0


def drain(c, s, u) -> None:
    s.charge -= abs(s.v_x) * c.dt


SETTINGS = SimpleNamespace(slip=0.9)


def read_settings(c, s, u) -> None:
    s.roll_left *= SETTINGS.slip


def test_engines_that_disagree_are_named():
    result = faults_of(changed(moving=(*DIFFERENTIAL.moving, read_length)), "engines")
    assert "the compiled vehicle gives 'roll_left'" in result
    assert "a fleet of structs gives 'roll_left'" in result
    assert re.search("a fleet in lanes raises .*, or set lanes=False", result)


def limited(c, s, u) -> None:
    """In lanes, limits that go through dead times are infinite where the command's are."""
    step_drive(c.drive, s.left, s.left_reference, 0.1)


@pytest.mark.slow
def test_a_fleet_in_lanes_that_disagrees_is_named():
    result = faults_of(changed(actuating=(limited,)), "engines")
    assert re.match("a fleet in lanes gives .* or set lanes=False", result)
    assert "\n" not in result


@pytest.mark.slow
def test_functions_that_cannot_be_compiled_are_named():
    result = faults_of(changed(moving=(*DIFFERENTIAL.moving, read_settings)), "engines")
    assert re.search(
        r"^the compiled vehicle raises ArgumentError \(.*test_check.py:\d+: compiled code cannot use a SimpleNamespace",
        result,
    )


@dataclass(slots=True)
class Larger(DifferentialCoefficients):
    capacity: float


def test_each_vehicle_of_a_fleet_in_lanes_begins_in_its_own_state_at_rest():
    """All vehicles used to begin in the state of the first one."""
    from vds_gz.tools.fleet.fleet import Fleet

    model = changed(
        coefficients=lambda p, dt: extended(DIFFERENTIAL.coefficients(p, dt), Larger, capacity=p.track),
        at_rest=lambda c: Charged(drive_at_rest(c.drive), drive_at_rest(c.drive), charge=c.capacity),
    )
    fleet = Fleet(model, [DifferentialParameters(track=track) for track in (1.0, 2.0, 3.0)])
    assert fleet.states.charge.tolist() == [1.0, 2.0, 3.0]
    fleet.states.charge = 0.0
    fleet.reset([0, 2], [DifferentialParameters(track=5.0), DifferentialParameters(track=6.0)])
    assert fleet.states.charge.tolist() == [5.0, 0.0, 6.0]


# ---------------------------------------------------------------------- together


def test_all_faults_are_named_at_once_also_those_that_raise():
    def no_coefficients(p, dt):
        raise KeyError("grip")

    broken = changed(parameters=Undescribed, coefficients=no_coefficients, name="nobody")
    result = faults(broken)
    assert len(result) >= 4
    assert any("'grip' of Undescribed" in fault for fault in result)
    assert any("there is no robot description of model 'nobody'" in fault for fault in result)
    assert any(fault == "motion: KeyError: 'grip'" for fault in result)
    with pytest.raises(ArgumentError, match="vehicle model 'nobody' fails the check:\n- parameter 'grip'"):
        modelling.check(broken)
