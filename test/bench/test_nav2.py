"""bench/nav2.py: what it refuses before anything is started, also where there is no ROS, and what a vehicle refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"

#: A vehicle without actuators of this kind.
CAR = BENCH.parent / "config" / "autoware_car.yaml"

#: A model of somebody else's whose actuators have a dead time and no lag.
LATE = """
from dataclasses import dataclass, replace

from vds_gz.core.parameters.declaration import ParameterGroup, group, real
from vds_gz.core.vehicle.differential import DIFFERENTIAL


@dataclass(frozen=True, slots=True)
class Delay(ParameterGroup):
    dead_time: float = real(0.1, "s", "dead time", minimum=0.0)


@dataclass(frozen=True, slots=True)
class Parameters(ParameterGroup):
    drive_actuators: Delay = group(Delay)


LATE = replace(DIFFERENTIAL, name="late", parameters=Parameters)
"""


@pytest.fixture
def late(tmp_path, monkeypatch):
    """A parameter file of that model, whose package is installed."""
    (tmp_path / "late.py").write_text(LATE)
    info = tmp_path / "late-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: late\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[vds_gz.models]\nlate = late:LATE\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")])))
    file = tmp_path / "late.yaml"
    file.write_text("sim_node: {ros__parameters: {model: late}}\n")
    return file


def python(*arguments):
    """A process that finds no programs on the PATH, so that it cannot start Nav2 where that is."""
    environment = {**os.environ, "PATH": ""}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=BENCH, env=environment, capture_output=True, text=True, timeout=120, check=False)


def refused(*arguments):
    """The last line of what it says, while it has started nothing."""
    done = python("nav2.py", *arguments)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--dead-times", "0.1", "-0.1"), "'drive_actuators.dead_time' is -0.1 (--dead-times); it must be a finite"),
        (("--time-constant", "nan"), "'drive_actuators.time_constant' is nan (--time-constant); it must be a finite"),
        (("--vehicle", "ackermann", "--dead-times", "-1"), "'drive_actuator.dead_time' is -1 (--dead-times)"),
        (("--params-file", "nothing.yaml"), "'nothing.yaml' does not exist"),
        (
            ("--params-file", CAR, "--dead-times", "0.1"),
            f"--dead-times is 0.1, and no actuator of {CAR} has the parameter",
        ),
        (("--controllers", "Nothing"), "no controller 'Nothing'; they have FollowPath, PurePursuit"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_started(arguments, said):
    assert said in refused(*arguments)


@pytest.mark.skipif(find_spec("rclpy") is not None, reason="ROS 2 is here")
def test_where_there_is_no_ros_that_is_said():
    assert "ROS 2 and Nav2 are needed (No module named 'rclpy'); source their setup.bash" in refused()


def test_an_option_that_the_vehicle_has_no_parameter_for_is_named_with_those_that_there_are(late):
    """The dead time alone would have been set, and the lag left out without a word."""
    for others in ((), ("--dead-times", "0.2")):
        said = refused("--params-file", late, *others, "--time-constant", "0.3")
        assert said.endswith(
            f"error: --time-constant is 0.3, and no actuator of {late} has the parameter 'time_constant'; "
            "there are: drive_actuators.dead_time"
        )


def set_dead_time(value):
    program = f"""
from nodes.nav2_watcher import watching

with watching() as watcher:
    watcher.set_parameters({{"model_params.differential.drive_actuators.dead_time": {value}}})
"""
    done = python("-c", program)
    return done.returncode, done.stderr.splitlines()[-1:]


@pytest.fixture
def nav2_messages():
    pytest.importorskip("nav2_msgs", reason="needs Nav2's messages (nav2_msgs)")


@pytest.mark.ros
def test_the_vehicle_s_own_reason_is_said(nav2_messages, start):
    start("-p", "model:=differential")
    assert set_dead_time(0.1) == (0, [])
    code, (said,) = set_dead_time(-0.1)
    assert code == 1
    assert "sim_node did not take {'model_params.differential.drive_actuators.dead_time': -0.1}: " in said
    assert "Parameter model_params.differential.drive_actuators.dead_time" in said.partition("}: ")[2]


@pytest.mark.ros
@pytest.mark.slow
def test_a_vehicle_that_is_not_there_is_named_by_its_service(nav2_messages, domain):
    code, (said,) = set_dead_time(0.1)
    assert code == 1
    assert "no service " in said
    assert "sim_node/set_parameters_atomically in 10 s" in said
