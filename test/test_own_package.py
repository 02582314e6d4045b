"""The package of ``examples/``, installed beside this one: its vehicle model and its sensor, in a node of their own."""

from __future__ import annotations

import importlib
import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from helpers.processes import Probe, Program

import vds_gz
from vds_gz.core.configuration import load_parameters
from vds_gz.core.errors import ArgumentError
from vds_gz.core.geometry import Transform
from vds_gz.core.ros.messages.fields import stamp_ns
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.sensing.sensor_types import SensorTypes
from vds_gz.core.sensing.sensors.shipped import SENSORS
from vds_gz.core.world.load_world import load_world
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.topics import Topic

EXAMPLES = Path(vds_gz.__file__).parents[1] / "examples"
pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="this is an installation, not a checkout")

ROBOT = EXAMPLES / "own_robot.yaml"
RANGE = Topic("back/range", "sensor_msgs/msg/Range")
WHEELS = Topic("wheels/wheel_angles", "sensor_msgs/msg/JointState")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package, put there by pip."""
    pytest.importorskip("pip")
    source, target = tmp_path_factory.mktemp("package") / "examples", tmp_path_factory.mktemp("site")
    shutil.copytree(EXAMPLES, source, ignore=shutil.ignore_patterns("notebooks", "__pycache__"))
    options = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check")
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture
def own_sensor(site: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module with the sensor, in this process and in programs that it starts."""
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", str(site))
    return importlib.import_module("own_sensor")


def test_a_node_has_the_model_and_the_sensor(
    own_sensor: ModuleType, start: Callable[..., Program], probe: Probe
) -> None:
    """The sensor's messages are what it measures there, to the bit; the model turns by half with a grip of 0.5."""
    node = start("--params-file", str(ROBOT))
    probe.listen(RANGE, WHEELS, topics.ODOM, topics.JOINT_STATES, topics.ROBOT_DESCRIPTION, topics.TF_STATIC)
    ranges = probe.received[RANGE.name]
    probe.until(lambda: len(ranges) >= 3 or node.process.poll() is not None, "measurements")
    assert node.process.poll() is None, node.output
    sonar = own_sensor.SonarModel(load_parameters(ROBOT).sensors["back"], "back", 4)
    scene = load_world("hall")
    for message in ranges[:3]:
        state = BodyState(stamp_ns(message.header.stamp), Transform())
        assert message.range == np.float32(sonar.measure(state, scene))
        assert (message.header.frame_id, message.field_of_view) == ("back", 0.5)
    assert 1.0 < ranges[0].range < 30.0

    (description,) = probe.received[topics.ROBOT_DESCRIPTION.name]
    assert '<link name="back"/>' in description.data
    assert "wheel_left_joint" in description.data
    (mounts,) = probe.received[topics.TF_STATIC.name]
    assert {transform.child_frame_id for transform in mounts.transforms} >= {"back"}
    joints = ["wheel_left_joint", "wheel_right_joint"]
    assert [list(probe.next(topic).name) for topic in (topics.JOINT_STATES, WHEELS)] == [joints, joints]

    def turn(message: object) -> None:
        message.angular.z = 0.8  # type: ignore[attr-defined]

    def turns() -> bool:
        rates = [message.twist.twist.angular.z for message in probe.received[topics.ODOM.name][-5:]]
        return all(math.isclose(rate, 0.4, rel_tol=1e-3) for rate in rates)

    probe.hold(topics.TWIST_REFERENCE, turn, turns, "half of the commanded yaw rate")
    assert node.stop() == 0, node.output


def test_its_parameters_are_checked_as_ours_are(own_sensor: ModuleType) -> None:
    assert [*SensorTypes()] == [*(record.name for record in SENSORS), "sonar"]
    values = {"sensors.front.type": "sonar", "sensors.front.cone": 4.0}
    with pytest.raises(vds_gz.ParameterError, match=r"'sensors.front.cone' is 4 .* at most 3.14159 \[rad\]"):
        load_parameters("forklift", values)
    values = {"sensors.front.type": "sonar", "sensors.front.min_range": 5.0}
    with pytest.raises(vds_gz.ParameterError, match="'min_range' is 5; it must be less than max_range, 4"):
        load_parameters("forklift", values)


@pytest.mark.parametrize(
    ("entry_point", "words"),
    [
        ("sonar = own_sensor:Sonar", "entry point 'sonar' of vds_gz.sensors is .*; it must be a SensorType"),
        ("asdic = own_sensor:SONAR", "entry point 'asdic' of vds_gz.sensors is a type of sensor 'sonar'"),
        ("imu = own_sensor:SONAR", "entry point 'imu' of vds_gz.sensors: a type of sensor 'imu' exists already"),
    ],
)
def test_an_entry_point_that_is_none_is_refused_by_name(
    entry_point: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "somebody-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: somebody\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[vds_gz.sensors]\n{entry_point}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(EXAMPLES))
    with pytest.raises(ArgumentError, match=words):
        SensorTypes()[entry_point.split()[0]]
