"""The examples run as they stand, and what they print is true."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

import vds_gz

EXAMPLES = Path(vds_gz.__file__).parents[1] / "examples"
pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="this is an installation, not a checkout")


def printed(name: str, *arguments: str) -> str:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+\.\d+|-?\d+", text)]


def test_every_example_is_run_here_and_named_in_the_readme():
    programs = {path.name for path in EXAMPLES.glob("*.py")}
    assert programs == set(re.findall(r"printed\(\"(\w+\.py)", Path(__file__).read_text(encoding="utf-8")))
    assert all(f"`python examples/{name}`" in (EXAMPLES / "README.md").read_text(encoding="utf-8") for name in programs)


def test_a_repository_of_ones_own(tmp_path):
    """Its workflow checks and tests; the tests pass, and fail for a controller that oscillates."""
    here = shutil.copytree(EXAMPLES / "own_repository", tmp_path / "own")
    (job,) = yaml.safe_load((here / ".github/workflows/tests.yaml").read_text())["jobs"].values()
    install, check, test = (step["run"] for step in job["steps"] if "run" in step)
    assert install == "pip install ./vds_gz pytest"
    assert check.startswith("vds-gz ")

    def run(module: str, arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", module, *arguments.split()[1:]]
        return subprocess.run(command, cwd=here, capture_output=True, text=True, timeout=120, check=False)

    assert run("vds_gz.cli", check).stdout.startswith("my_car.yaml: OK")
    passed = run("pytest", f"{test} -p no:cacheprovider")
    assert (passed.returncode, "4 passed" in passed.stdout) == (0, True), passed.stdout
    controller = here / "controller.py"
    controller.write_text(controller.read_text().replace("GAINS = 0.25, 1.0", "GAINS = 2.5, 1.0"))
    assert "4 failed" in run("pytest", test).stdout


def test_step_response():
    """After the dead time of 0.2 s a lag of 0.4 s: 63.2 % are reached 0.4 s later."""
    begins, _, reaches = numbers(printed("step_response.py").splitlines()[-1])
    assert begins == pytest.approx(0.2, abs=0.011)
    assert reaches == pytest.approx(0.6, abs=0.011)


def test_step_response_of_another_vehicle():
    assert printed("step_response.py", "forklift").splitlines()[-1].startswith("forklift: first motion after")


@pytest.mark.slow
def test_fleet():
    """A car rolls v (dead time + v / (2 a)) and more: the lag only makes it longer, by v times the lag at most."""
    pytest.importorskip("numba")
    count, speed, median, worst, _ = numbers(printed("fleet.py", "200").splitlines()[-1])
    assert (count, speed) == (200.0, 2.0)
    assert 2.0 * (0.05 + 0.5) < median < worst < 2.0 * (0.4 + 0.5 + 0.6)


@pytest.mark.slow
def test_follow_path():
    """All follow well without a dead time, and the tightest one is the first to leave the path as it grows."""
    pytest.importorskip("numba")
    names, *lines = printed("follow_path.py").splitlines()
    assert names.split()[3:] == ["pure_pursuit", "stanley", "lqr"]
    table = [[float(cell) for cell in line.replace(" m", "").split()] for line in lines]
    assert all(error < 0.1 for row in table[:4] for error in row[1:])
    pure_pursuit, _, lqr = ([row[k] for row in table].index(math.inf) for k in (1, 2, 3))
    assert lqr < pure_pursuit
    assert table[-1][1:] == [math.inf] * 3


@pytest.mark.slow
def test_train_with_latency():
    """Both searches get better with every few iterations."""
    pytest.importorskip("gymnasium")
    pytest.importorskip("numba")
    lines = printed("train_with_latency.py", "6").splitlines()
    got = [numbers(line)[1] for line in lines if "the best tenth got" in line]
    assert len(got) == 12
    for search in (got[:6], got[6:]):
        assert search[-1] > 1.3 * search[0]
    assert sum("on cars with latency" in line for line in lines) == 2


@pytest.mark.slow
def test_identify_csv():
    """Every interval holds the number that the recording was made with, or misses it by little: they are 95 %."""
    pytest.importorskip("scipy")
    result = {line[5:25].strip(): numbers(line[27:])[:3] for line in printed("identify_csv.py").splitlines()}
    truth = {"dead time": 0.15, "time constant": 0.3, "acceleration limit": 1.2, "limit": 1.5}
    for name, value in truth.items():
        measured, low, high = result[name]
        assert measured == pytest.approx(value, rel=0.02), name
        assert abs(value - measured) < high - low, name


def test_own_model():
    last = printed("own_model.py").splitlines()[-1]
    turned, wanted = numbers(last)[:2]
    assert turned == pytest.approx(0.7 * wanted, rel=0.01)


def test_mujoco_plant():
    """In a steady curve contacts of wheels give the speed and the yaw rate of the kinematics."""
    pytest.importorskip("mujoco")
    for line in printed("mujoco_plant.py").splitlines()[1:]:
        speed, turn, *rates, apart, _ = numbers(line.split(maxsplit=1)[1])
        assert rates == pytest.approx([speed, turn, speed, turn], rel=2e-3), line
        assert apart < 0.01 * 20.0 * speed, line


def test_own_command():
    assert numbers(printed("own_command.py").splitlines()[-1]) == [2.0]


def test_own_sensor():
    """At x = -3 in the hall the wall behind, whose middle is at -6 and which is 0.2 m thick."""
    assert numbers(printed("own_sensor.py").splitlines()[-1]) == [pytest.approx(2.9, abs=1e-3)]


@pytest.mark.skipif(not (find_spec("cyclonedds") or find_spec("rclpy")), reason="needs a ROS 2 graph")
def test_drive_live_node(domain):
    distance, speed, took = numbers(printed("drive_live_node.py").splitlines()[-1])
    assert took > distance / speed


def test_scan_world():
    """At x = -3 in the hall the wall behind, whose middle is at -6 and which is 0.2 m thick, is the nearest thing."""
    lines = printed("scan_world.py", "hall", "-3", "-1").splitlines()
    assert any("#" in line for line in lines)
    met, nearest, *_ = numbers(lines[-1])
    assert met > 600
    assert nearest == pytest.approx(2.9, abs=1e-9)
