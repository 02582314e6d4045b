"""The node inside a real Gazebo: in step with the physics and repeatable."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import pytest
from helpers.gazebo import PATIENCE, preset, vehicle

from vds_gz.cli.gazebo import environment, in_step
from vds_gz.core.plant.gazebo.gazebo_server import Server, Spawn, populated
from vds_gz.core.share import share
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import twist
from vds_gz.core.vehicle.make_vehicle import make_vehicle

pytestmark = pytest.mark.gazebo

STEPS = 4000

LOG = """time,v_x,v_y,yaw_rate
0.0,0.0,0.0,0.0
0.5,1.0,0.0,0.2
1.2,1.0,0.0,-0.3
1.7,-0.5,0.0,-0.1
"""


def start(folder: Path, arguments: list[str], steps: int = 0) -> Server:
    """A server whose node records commands and states of the joints at every step in ``joints.csv``."""
    parameters = preset("ackermann_car")
    (folder / "drive.csv").write_text(LOG)
    text = in_step(
        vehicle(parameters).sdf, arguments, commands=str(folder / "drive.csv"), record=str(folder / "joints.csv")
    )
    _, world = populated(share("worlds", "empty.sdf"), [Spawn(text)], 0.0)
    return Server(world, steps=steps, environment=environment())


def run(folder: Path, arguments: list[str]) -> list[dict[str, str]]:
    """Commands and states of the joints in a run."""
    server = start(folder, arguments, STEPS)
    try:
        server.process.wait(timeout=3 * PATIENCE)
    finally:
        server.stop()
    with open(folder / "joints.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def arguments() -> list[str]:
    return ["--ros-args", "--params-file", str(share("config", "ackermann_car.yaml")), "-p", "backend:=gazebo"]


def test_two_runs_are_the_same_and_no_step_is_lost(tmp_path, partition, domain, arguments):
    rows = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        rows.append(run(tmp_path / name, arguments))
    assert len(rows[0]) == STEPS
    told = [name for name in rows[0][0] if name.endswith(" told")]
    was = [name.replace(" told", " was") for name in told]
    assert [[row[name] for name in told] for row in rows[0]] == [[row[name] for name in told] for row in rows[1]]

    # The joints reach the command of a step at its end.
    numbers = [[[float(row[name]) for name in names] for row in rows[0]] for names in (told, was)]
    assert max(abs(value) for row in numbers[0] for value in row) > 3.0
    for before, after in zip(numbers[0][10:], numbers[1][11:], strict=False):
        assert after == pytest.approx(before, abs=1e-6)

    # Commands are those of a vehicle without Gazebo, at the same step.
    parameters = preset("ackermann_car")
    model = models()[parameters.model]
    alone = make_vehicle(parameters)
    begin = int(rows[0][0]["time [ns]"])
    alone.skip_to(begin)
    for line in LOG.splitlines()[1:]:
        time, *numbers_of = map(float, line.split(","))
        alone.enter(twist(*numbers_of), begin + round(time * 1e9))
    joints = model.joints(parameters.vehicle)
    for row in rows[0]:
        alone.advance(int(row["time [ns]"]) + 1_000_000)
        states = model.joint_states(alone.coefficients, alone.state)
        for i, joint in enumerate(joints):
            expected = states.velocities[i] if joint.kind == "wheel" else states.positions[i]
            assert float(row[f"{joint.name} told"]) == expected


def test_the_vehicle_exists_in_the_first_step(tmp_path, partition, domain, arguments):
    """The server runs without a limit of steps, so it may load its world in the background."""
    server, record = start(tmp_path, arguments), tmp_path / "joints.csv"
    end = time.monotonic() + PATIENCE
    while (not record.exists() or record.read_text().count("\n") < 2) and time.monotonic() < end:
        time.sleep(0.05)
    server.stop()
    assert record.read_text().splitlines()[1].startswith("0,")


def test_an_error_is_reported_and_the_world_continues(tmp_path, partition, domain, capfd):
    run_text = in_step(vehicle(preset("vds_defaults")).sdf, ["--ros-args", "-p", "gazebo.joint_names:=steering_left=x"])
    server = Server(
        populated(share("worlds", "empty.sdf"), [Spawn(run_text)], 0.0)[1], steps=50, environment=environment()
    )
    assert server.process.wait(timeout=3 * PATIENCE) == 0
    server.stop()
    said = capfd.readouterr().err
    assert "has no joint x" in said
    assert "gazebo.joint_names" in said
