"""launch/compare.launch.py on the real graph: two vehicles, one drive, a report, and an exit code."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml

launch_pytest = pytest.importorskip("launch_pytest", reason="needs ROS 2 (launch_pytest)")
pytest.importorskip("rclpy", reason="needs ROS 2 (rclpy)")
for package in ("rosbag2_py", "scipy", "matplotlib"):
    pytest.importorskip(package, reason=f"needs the Python package {package}")

from vds_gz.core.share import share  # noqa: E402

pytestmark = pytest.mark.ros


@pytest.fixture
def launch(domain, tmp_path):
    """A function that launches two cars, B with more dead time by ``later`` [s], and returns the finished process."""

    def start(later: float, *arguments: str) -> subprocess.CompletedProcess[str]:
        for name, dead_time in (("a", 0.1), ("b", 0.1 + later)):
            drive = {"dead_time": dead_time, "time_constant": 0.15, "max_velocity": 2.0}
            car = {"model": "bicycle", "model_params": {"bicycle": {"drive_actuator": drive}}}
            (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump({"sim_node": {"ros__parameters": car}}))
        rows = [f"{0.05 * i},{1.5 * (i // 20 % 2)},0.2\n" for i in range(1, 100)]
        (tmp_path / "log.csv").write_text("time,speed,steering_angle\n" + "".join(rows))
        values = {name: tmp_path / f"{name}.yaml" for name in "ab"}
        values |= {"drive": tmp_path / "log.csv", "output": tmp_path / "compared"}
        file = share("launch", "compare.launch.py")
        command = ["ros2", "launch", str(file)]
        command += [f"{name}:={value}" for name, value in values.items()]
        return subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=60, check=False)

    return start


def report(tmp_path: Path) -> dict:
    assert "<html" in (tmp_path / "compared" / "report.html").read_text()
    return json.loads((tmp_path / "compared" / "report.json").read_text())


def test_the_later_vehicle_is_found(launch, tmp_path):
    done = launch(0.05)
    assert done.returncode == 0, done.stdout + done.stderr
    measured = {one["name"]: one for one in report(tmp_path)["measured"]}["drive"]
    assert measured["b"]["dead_time"] - measured["a"]["dead_time"] == pytest.approx(0.05, abs=0.015)
    assert "dead time of drive" in done.stdout


def test_a_broken_bound_ends_the_launch_with_1(launch, tmp_path):
    (tmp_path / "bounds.yaml").write_text("drive: {dead_time: 0.02}")
    done = launch(0.05, f"tolerance:={tmp_path / 'bounds.yaml'}")
    assert done.returncode == 1
    assert "out of tolerance: drive dead_time" in done.stdout + done.stderr
    assert "the comparison failed with exit code 1" in done.stdout + done.stderr
    assert report(tmp_path)["bounds"][0]["broken"]


def test_two_gazebos_are_refused(launch):
    done = launch(0.0, "plant_a:=gazebo", "plant_b:=gazebo")
    assert done.returncode == 1
    assert "one after the other" in done.stdout + done.stderr
