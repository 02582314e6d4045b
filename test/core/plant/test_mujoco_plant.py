"""The example of a plant: our robot descriptions, driven by our actuators, on the contact physics of MuJoCo."""

from __future__ import annotations

import math
import sys
from functools import partial
from pathlib import Path

import pytest
from helpers.live_node import live_node
from helpers.own_plant import install

import vds_gz
from vds_gz import plant as plants
from vds_gz.cli.subcommands import main
from vds_gz.core.configuration import parameters_of
from vds_gz.core.parameters.declaration import Override

pytest.importorskip("mujoco")

sys.path.append(str(Path(__file__).parents[3] / "examples"))
import mujoco_plant
from mujoco_plant import MujocoParameters, MujocoPlant

SECOND = 1_000_000_000
DRIVE = "model_params.differential.drive_actuators"


def plant_of(preset: str = "indoor_robot", own: MujocoParameters | None = None, **values: object) -> MujocoPlant:
    """The plant of a preset; ``__`` in a name stands for a dot."""
    overrides = {name.replace("__", "."): value for name, value in values.items()}
    parameters = vds_gz.load_parameters(preset, {"twist_reference_max_oldness": 1e3, **overrides})
    return MujocoPlant(plants.plant_setup(parameters, own or MujocoParameters()))


def drive(plant: MujocoPlant, seconds: float, v_x: float, yaw_rate: float = 0.0) -> plants.Motion:
    """Drive at a velocity for some time."""
    plant.vehicle.enter(vds_gz.twist(v_x, 0.0, yaw_rate), plant.vehicle.time)
    plant.advance(plant.vehicle.time + round(seconds * SECOND))
    return plant.motion(plant.vehicle.time)


def test_the_example_is_one_file_of_at_most_250_lines():
    assert len(Path(mujoco_plant.__file__).read_text(encoding="utf-8").splitlines()) <= 250


@pytest.mark.parametrize(
    ("preset", "v_x", "yaw_rate"),
    [("indoor_robot", 0.4, 0.5), ("indoor_robot", -0.3, 0.8), ("forklift", 0.8, 0.3), ("ackermann_car", 5.0, 0.4),
     ("deepracer", 1.0, 0.5), ("scaled_car", 1.0, -0.3)],
)  # fmt: skip
def test_contacts_give_the_velocity_that_the_kinematics_give(preset, v_x, yaw_rate):
    """In a steady curve, with wheels that roll: within 1 mm/s and 0.3 % of it, and 1 mrad/s and 0.3 %."""
    plant, ideal = plant_of(preset), vds_gz.load_vehicle(preset, {"twist_reference_max_oldness": 1e3})
    ideal.enter(vds_gz.twist(v_x, 0.0, yaw_rate), 0)
    motion = drive(plant, 4.0, v_x, yaw_rate)
    ideal.advance(4 * SECOND)
    expected = ideal.motion()
    assert motion.v_x == pytest.approx(expected.v_x, rel=3e-3, abs=1e-3)
    assert motion.yaw_rate == pytest.approx(expected.yaw_rate, rel=3e-3, abs=1e-3)
    assert motion.v_y == pytest.approx(expected.v_y, abs=0.02)
    away = math.dist((motion.x, motion.y), (expected.x, expected.y))
    assert away < 0.01 * abs(v_x) * 4.0


def test_the_body_responds_after_the_dead_time_and_with_the_lag_of_the_actuators():
    plant = plant_of(**{f"{DRIVE}.dead_time": 0.2, f"{DRIVE}.time_constant": 0.3, f"{DRIVE}.max_acceleration": 1e3})
    plant.vehicle.enter(vds_gz.twist(0.4, 0.0, 0.0), 0)
    speeds = []
    for millisecond in range(1, 2001):
        plant.advance(millisecond * 1_000_000)
        speeds.append(plant.motion(0).v_x)
    assert max(map(abs, speeds[:199])) < 1e-3
    reached = next(k for k, speed in enumerate(speeds, 1) if speed > 0.4 * (1.0 - math.exp(-1.0)))
    assert reached == pytest.approx(500, abs=10)


def test_a_robot_with_slippery_tyres_slides_on():
    """At a friction of 0.2 it can brake at 0.2 g at most, and its wheels have stopped by then."""
    text = '<lateral_friction value="{}"/>'
    setup = plants.plant_setup(
        vds_gz.load_parameters("ackermann_car", {"twist_reference_max_oldness": 1e3}), MujocoParameters()
    )
    icy = setup.urdf.replace(text.format(100.0), text.format(0.2))
    assert icy != setup.urdf
    car = MujocoPlant(plants.PlantSetup(setup.parameters, setup.own, setup.vehicle, icy, None, setup.wake, setup.warn))
    v_x = drive(car, 12.0, 6.0).v_x
    assert v_x == pytest.approx(6.0, rel=0.01)
    state = car.vehicle.state  # the wheels stop at once
    car.vehicle.model.stop(car.vehicle.coefficients, state, 0.0)
    car.vehicle.state = state
    later = drive(car, 1.0, 0.0)
    assert later.v_x == pytest.approx(6.0 - 0.2 * 9.81, abs=0.1)
    assert car.joint_states(0).velocities[0] == pytest.approx(0.0, abs=0.1)


def test_a_wall_of_the_world_stops_the_car_and_the_ground_is_the_world_s():
    car = plant_of("ackermann_car", world="parking_lot")
    assert car.place == f"MuJoCo {mujoco_plant.mujoco.__version__}, world parking_lot"
    motion = drive(car, 10.0, 5.0)
    assert abs(motion.v_x) < 0.01
    assert motion.x == pytest.approx(24.93, abs=0.05)
    assert car.attitude(0).z == pytest.approx(0.0, abs=1e-3)


def test_a_body_that_is_put_into_the_air_falls_as_gravity_says():
    plant = plant_of()
    plant.set_pose(plants.Pose(1.0, 2.0, 3.0), plants.Attitude(z=1.0))
    plant.advance(200_000_000)
    assert plant.attitude(0).z == pytest.approx(1.0 - 0.5 * 9.81 * 0.2**2, abs=2e-3)
    assert plant.body(plant.vehicle.time).acceleration == pytest.approx((0.0, 0.0, -9.81), abs=1e-6)
    plant.advance(3 * SECOND)
    assert plant.attitude(0).z == pytest.approx(0.0, abs=1e-3)
    assert (plant.motion(0).x, plant.motion(0).y) == pytest.approx((1.0, 2.0), abs=0.05)


def test_a_lag_of_the_controllers_and_the_step_of_the_physics_are_parameters():
    coarse = plant_of(own=MujocoParameters(time_step=0.01, lag=0.1), step_rate=50.0, clock_rate=50.0)
    assert drive(coarse, 3.0, 0.4).v_x == pytest.approx(0.4, rel=0.01)
    fine, late = (plant_of(own=MujocoParameters(lag=lag)) for lag in (0.002, 0.2))
    assert drive(late, 0.4, 0.4).v_x < 0.7 * drive(fine, 0.4, 0.4).v_x


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"model": "omni"}, "link 'wheel_front_left' of 'model' has a collision and no contact/lateral_friction"),
        ({"model": "differential", "world": "hills.sdf"}, "'hills::link::collision' in 'world' is a mesh"),
    ],
)
def test_what_mujoco_cannot_do_is_refused(values, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hills.obj").write_text("v 0 0 0\nv 9 0 0\nv 0 9 1\nf 1 2 3\n")
    geometry = "<geometry><mesh><uri>hills.obj</uri></mesh></geometry>"
    (tmp_path / "hills.sdf").write_text(
        "<sdf version='1.9'><world name='hills'><model name='hills'><static>true</static><link name='link'>"
        f"<collision name='collision'>{geometry}</collision></link></model></world></sdf>"
    )
    setup = plants.plant_setup(parameters_of([Override(*value) for value in values.items()]), MujocoParameters())
    with pytest.raises(vds_gz.ParameterError, match=message):
        MujocoPlant(setup)


def test_it_passes_the_check_of_plants(tmp_path, monkeypatch, capsys):
    install(tmp_path, "mujoco = mujoco_plant:MUJOCO")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["check", "--plant", "mujoco"]) == 0
    assert capsys.readouterr().out == "mujoco with indoor_robot: OK\nmujoco with ackermann_car: OK\n"


def test_an_unstable_simulation_is_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log there
    plant = plant_of()
    plant._data.qvel[0] = 1e12
    plant.advance(SECOND // 100)
    status = plant.status()
    assert (status.level, "MuJoCo was unstable" in status.text) == (plants.Level.ERROR, True)


@pytest.mark.graph
def test_a_node_drives_it_with_sensors_in_a_world(domain, tmp_path, monkeypatch):
    """The IMU feels gravity and the wheels turn; base_link is in a frame in space."""
    install(tmp_path, "mujoco = mujoco_plant:MUJOCO")
    monkeypatch.syspath_prepend(str(tmp_path))
    with live_node(model="differential", backend="mujoco", world="hall", sensors__imu__type="imu") as live:
        truth, imu, joints = (live.received[topic] for topic in ("/ground_truth", "/imu/data", "/joint_states"))
        command = partial(live.command, vds_gz.twist(0.5, 0.0, 0.0))
        live.turn_until(lambda: imu and truth and truth[-1].twist.twist.linear.x > 0.45, command)
        assert imu[-1].linear_acceleration.z == pytest.approx(9.8, abs=0.3)
        assert truth[-1].pose.pose.position.x > 0.1
        speed = 0.5 * live.node.simulation.plant.vehicle.parameters.tire_diameter * joints[-1].velocity[0]
        assert speed == pytest.approx(truth[-1].twist.twist.linear.x, rel=0.05)
