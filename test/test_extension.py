"""A vehicle model from somebody else's package: found, configured, run and compiled like those that come with this one.

The package is a wheel loader of two parameters' worth: an own parameter group, an own second-order hydraulic steering
with dead time, and this package's drive.
"""

import math
import re
import sys

import pytest

from vds_gz.cli.subcommands import main
from vds_gz.core.configuration import parameters_of
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import Override, ParameterError, describe
from vds_gz.core.vehicle import catalogue
from vds_gz.core.vehicle.catalogue import actuator_kind
from vds_gz.core.vehicle.command import ACKERMANN, ackermann
from vds_gz.core.vehicle.vehicle import Vehicle
from vds_gz.core.vehicle.vehicle_model import VehicleModel
from vds_gz.programs.commandlog.profiles import limits_of

HYDRAULICS = '''
"""A hydraulic cylinder: dead time, then a spring, a mass and a damper."""

import math
from dataclasses import dataclass

from vds_gz.core.parameters.declaration import ParameterGroup, real
from vds_gz.core.vehicle.actuators import delay_steps


@dataclass(frozen=True, slots=True)
class HydraulicParameters(ParameterGroup):
    dead_time: float = real(0.1, "s", "time until the valve opens", minimum=0.0, maximum=2.0, live=True)
    frequency: float = real(8.0, "rad/s", "natural frequency of cylinder and frame", positive=True, live=True)
    damping: float = real(0.4, "-", "share of critical damping", minimum=0.0, live=True)


@dataclass(slots=True)
class HydraulicCoefficients:
    delay_steps: int
    stiffness: float
    friction: float
    dt: float


@dataclass(slots=True)
class HydraulicState:
    angle: float
    rate: float
    head: int
    references: list[float]


def coefficients(p, dt):
    return HydraulicCoefficients(
        delay_steps(p.dead_time, dt), p.frequency**2, 2.0 * p.damping * p.frequency, dt
    )


def at_rest(c):
    return HydraulicState(0.0, 0.0, 0, [0.0] * (c.delay_steps + 1))


def at(c, angle):
    return HydraulicState(angle, 0.0, 0, [angle] * (c.delay_steps + 1))


def acceleration(c, angle, rate, target):
    return c.stiffness * (target - angle) - c.friction * rate


def step_hydraulic(c, s, reference):
    s.references[s.head] = reference
    s.head = s.head + 1 if s.head < c.delay_steps else 0
    s.rate += acceleration(c, s.angle, s.rate, s.references[s.head]) * c.dt
    s.angle += s.rate * c.dt
'''

LOADER = '''
"""An articulated wheel loader."""

import math
from dataclasses import dataclass
from pathlib import Path

from heavy_machines import hydraulics
from heavy_machines.hydraulics import HydraulicParameters, HydraulicState, HydraulicCoefficients, step_hydraulic
from vds_gz.core.parameters.actuator_parameters import DriveParameters
from vds_gz.core.errors import ArgumentError
from vds_gz.modelling import integrate_pose
from vds_gz.core.parameters.declaration import ParameterError, ParameterGroup, group, real
from vds_gz.core.vehicle.actuators import (
    DriveCoefficients, DriveState, drive_at, drive_at_rest, drive_coefficients, drive_report, fit_lines,
    newest_reference, resized_line, step_drive,
)
from vds_gz.core.vehicle.command import ACKERMANN
from vds_gz.core.vehicle.vehicle_model import (
    Actuator, ActuatorState, Joint, JointStates, VehicleGeometry, VehicleLimits, VehicleModel, Wheel,
)


@dataclass(frozen=True, slots=True)
class LoaderParameters(ParameterGroup):
    base_link_offset: float = real(0.0, "m", "from the rear axle to base_link", minimum=-9.0, maximum=9.0)
    length: float = real(3.0, "m", "between the axles", positive=True)
    drive: DriveParameters = group(DriveParameters, max_velocity=10.0)
    cylinder: HydraulicParameters = group(HydraulicParameters)

    def check_together(self):
        if self.length < 1.0 and self.drive.max_velocity > 5.0:
            raise ParameterError("a short loader must be a slow one")


@dataclass(slots=True)
class LoaderCoefficients:
    dt: float
    base_link_offset: float
    length: float
    drive: DriveCoefficients
    cylinder: HydraulicCoefficients


@dataclass(slots=True)
class LoaderState:
    drive: DriveState
    cylinder: HydraulicState
    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0
    v_x: float = 0.0
    v_y: float = 0.0
    yaw_rate: float = 0.0


def coefficients(p, dt):
    return LoaderCoefficients(
        dt, p.base_link_offset, p.length, drive_coefficients(p.drive, dt), hydraulics.coefficients(p.cylinder, dt)
    )


def at_rest(c):
    return LoaderState(drive_at_rest(c.drive), hydraulics.at_rest(c.cylinder))


def at(c, motion):
    s = LoaderState(drive_at(c.drive, motion.v_x), hydraulics.at(c.cylinder, motion.steering_angle))
    set_velocity(c, s)
    return s


def actuate(c, s, u):
    step_drive(c.drive, s.drive, u.v_x, u.acceleration)
    step_hydraulic(c.cylinder, s.cylinder, u.steering_angle)
    set_velocity(c, s)


def set_velocity(c, s):
    s.v_x = s.drive.velocity
    s.yaw_rate = s.v_x * math.tan(s.cylinder.angle) / c.length


def move(c, s, u):
    integrate_pose(s, c.dt)


def resize(c, s):
    fit_lines(s.drive, c.drive.delay_steps)
    s.cylinder.references = resized_line(s.cylinder.references, s.cylinder.head, c.cylinder.delay_steps)
    s.cylinder.head = 0


def joints(p):
    return (Joint("articulation", "steering"),)


def joint_states(c, s):
    return JointStates((s.cylinder.angle,), (s.cylinder.rate,))


def actuator_states(c, s):
    cylinder = ActuatorState(newest_reference(c.cylinder, s.cylinder), 0.0, s.cylinder.angle, s.cylinder.rate)
    return drive_report(c.drive, s.drive), cylinder


def limits(p):
    return VehicleLimits(p.drive.max_velocity, 0.6)


def geometry(p):
    places = ((0.0, -0.9), (0.0, 0.9), (p.length, -0.9), (p.length, 0.9))
    return VehicleGeometry(tuple(Wheel(x, y, x > 0.0) for x, y in places), 1.2, p.length)


LOADER = VehicleModel(
    name="loader",
    parameters=LoaderParameters,
    accepts=frozenset((ACKERMANN,)),
    coefficients=coefficients,
    at_rest=at_rest,
    at=at,  # a state in steady state at a constant velocity
    actuating=(actuate,),
    moving=(move,),
    resize=resize,  # fits delay lines to a dead time that was changed while running
    joints=joints,
    joint_states=joint_states,
    actuators=(Actuator("drive", "drive"), Actuator("cylinder", "steering")),
    actuator_states=actuator_states,
    limits=limits,  # maximum speed and steering angle
    geometry=geometry,  # where the wheels stand
    xacro=Path(__file__).with_name("loader.urdf.xacro"),
)
'''

DRAWING = """<robot name="loader" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="length" default="3.0"/>
  <link name="base_link"/>
  <link name="front"/>
  <joint name="articulation" type="revolute">
    <parent link="base_link"/>
    <child link="front"/>
    <origin xyz="$(arg length) 0 0"/>
    <axis xyz="0 0 1"/>
    <limit lower="-0.6" upper="0.6" effort="1" velocity="1"/>
  </joint>
</robot>
"""


def install(folder, entry_points: str) -> None:
    """Put a package there the way pip does."""
    package = folder / "heavy_machines"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "hydraulics.py").write_text(HYDRAULICS)
    (package / "loader.py").write_text(LOADER)
    (package / "loader.urdf.xacro").write_text(DRAWING)
    info = folder / "heavy_machines-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: heavy-machines\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[vds_gz.models]\n{entry_points}\n")


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder to install into, searched for packages during the test."""
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.split(".")[0] == "heavy_machines"]:
        del sys.modules[name]


@pytest.fixture
def loader(site) -> VehicleModel:
    install(site, "loader = heavy_machines.loader:LOADER")
    return catalogue.models()["loader"]


def parameters(loader, **values):
    """The parameters of a loader, from a file that names it."""
    overrides = [Override("model", "loader")]
    overrides += [Override(f"model_params.loader.{name.replace('__', '.')}", value) for name, value in values.items()]
    return parameters_of(overrides).vehicle


def test_an_installed_package_brings_a_model_beside_our_own(loader):
    names = list(catalogue.models())
    assert (*catalogue.OWN, "loader") == (*names[: len(catalogue.OWN)], names[-1])
    assert repr(catalogue.models()) == f"Models({', '.join(names)})"
    assert loader.accepts == {ACKERMANN}


def test_its_parameters_are_loaded_checked_and_described_like_ours(loader):
    p = parameters(loader, length=4.5, cylinder__damping=0.7)
    assert (p.length, p.cylinder.damping, p.cylinder.frequency, p.drive.max_velocity) == (4.5, 0.7, 8.0, 10.0)
    with pytest.raises(
        ParameterError,
        match=r"'model_params.loader.cylinder.frequency' is 0; .* at least 1e-06, at most 1e\+06 \[rad/s\]",
    ):
        parameters(loader, cylinder__frequency=0.0)
    with pytest.raises(ParameterError, match=r"nearest valid name is 'model_params.loader.cylinder.damping'"):
        parameters(loader, cylinder__dampin=0.5)
    with pytest.raises(ParameterError, match=r"'length' is -1; .* at least 1e-06, at most 1e\+06 \[m\]"):
        loader.parameters(length=-1)
    with pytest.raises(ParameterError, match=r"^model_params.loader: a short loader must be a slow one"):
        parameters(loader, length=0.5)
    described = {parameter.name: parameter for parameter in describe(p, "model_params.loader")}
    assert described["model_params.loader.cylinder.frequency"].unit == "rad/s"


def test_its_own_actuator_swings_with_its_frequency_and_damping_after_its_dead_time(loader):
    p = parameters(loader, cylinder__dead_time=0.1, cylinder__damping=0.4)
    vehicle = Vehicle(loader, p, step_rate=10_000.0, max_command_age=1e6)
    vehicle.enter(ackermann(0.0, 0.2), 0)
    vehicle.advance(100_000_000)
    assert vehicle.state.cylinder.angle == 0.0
    damped = 8.0 * math.sqrt(1.0 - 0.4**2)
    peak = 0.1 + math.pi / damped
    vehicle.advance(round(peak * 1e9))
    overshoot = math.exp(-0.4 * 8.0 * math.pi / damped)
    assert vehicle.state.cylinder.angle == pytest.approx(0.2 * (1.0 + overshoot), rel=1e-3)
    vehicle.advance(5_000_000_000)
    assert vehicle.state.cylinder.angle == pytest.approx(0.2, rel=1e-3)


def test_its_limits_geometry_and_actuators_are_known_wherever_ours_are(loader):
    values = {"model": "loader", "model_params.loader.length": 3.5}
    node = parameters_of([Override(name, value) for name, value in values.items()])
    assert actuator_kind("cylinder") == "steering"
    limits = limits_of(node)
    assert (limits.speed, limits.steering, limits.wheel_base) == (10.0, 0.6, 3.5)


def test_it_passes_the_check_of_models(loader, capsys):
    pytest.importorskip("numba")
    assert main(["check", "--model", "loader"]) == 0
    assert capsys.readouterr().out == "loader: OK\n"


def test_a_model_that_is_not_there_is_named(capsys):
    assert main(["check", "--model", "loadr"]) == 2
    assert "there is no vehicle model 'loadr'; there are bicycle, differential, " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "record", "message"),
    [
        ("loader", "LoaderParameters", r"entry point 'loader' of vds_gz.models is .*; it must be a VehicleModel"),
        ("loader", "LODER", r"'loader' of vds_gz.models, heavy_machines.loader:LODER, raises Attr"),
        ("digger", "LOADER", r"entry point 'digger' of vds_gz.models is a model 'loader'; both must"),
        ("omni", "LOADER", r"entry point 'omni' of vds_gz.models: a model 'omni' exists already"),
    ],
)
def test_an_entry_point_that_is_no_new_model_is_refused_by_name(site, name, record, message):
    install(site, f"{name} = heavy_machines.loader:{record}")
    with pytest.raises(ArgumentError, match=message):
        catalogue.models()[name]


@pytest.mark.parametrize("words", [["check", "--model", "loader"], ["parameters"], ["new", "loader"]])
def test_a_wrong_entry_point_is_one_message_to_the_user(site, capsys, words):
    install(site, "loader = heavy_machines.loader:LoaderParameters")
    assert main(words) == 2
    assert re.fullmatch(r"vds-gz \w+: entry point 'loader' of vds_gz.models is .*\n", capsys.readouterr().err)


def test_a_wrong_entry_point_does_not_stop_what_does_not_use_it(site, capsys):
    install(site, "loader = heavy_machines.loader:LODER")
    assert main(["model", "forklift"]) == 0
    assert "heavy_machines" not in sys.modules
