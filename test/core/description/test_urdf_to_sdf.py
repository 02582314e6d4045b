"""Conversion of URDF to SDF: the same bodies, joints and shapes at the same places."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from helpers.robots import VEHICLES, drawn, numbers, origin, rotation

from vds_gz.core.description.urdf_to_sdf import STOP_MARGIN, model, pose_text
from vds_gz.core.description.urdf_writer import urdf
from vds_gz.core.geometry import Transform, quaternion


class Simulated:
    """An SDF model, and the poses of its links, joints and frames."""

    def __init__(self, root: ElementTree.Element) -> None:
        self.root = root
        self.links = {link.get("name"): link for link in root.findall("link")}
        self.joints = {joint.get("name"): joint for joint in root.findall("joint")}
        self.frames = {frame.get("name"): frame for frame in root.findall("frame")}

    def pose(self, name: str, **positions: float) -> np.ndarray:
        """Pose of a link, frame or joint in the model, with the joints at these positions."""
        element = {**self.links, **self.joints, **self.frames}[name]
        placed = element.find("pose")
        base = element.get("attached_to") or (placed.get("relative_to") if placed is not None else None)
        pose = self.pose(base, **positions) if base else np.eye(4)
        if placed is not None:
            pose = pose @ matrix(placed.text)
        if name in positions:
            pose[:3, :3] = pose[:3, :3] @ rotation(numbers(element.find("axis/xyz").text), positions[name])
        return pose


def matrix(text: str) -> np.ndarray:
    """A pose ``x y z roll pitch yaw`` as a 4x4 matrix."""
    x, y, z, roll, pitch, yaw = numbers(text)
    pose = np.eye(4)
    ahead, aside, up = np.eye(3)
    pose[:3, :3] = rotation(up, yaw) @ rotation(aside, pitch) @ rotation(ahead, roll)
    pose[:3, 3] = x, y, z
    return pose


@pytest.fixture(scope="module", params=VEHICLES, ids=lambda vehicle: str(vehicle[0]))
def both(request):
    """A vehicle as URDF and as SDF. Tests only read them."""
    name, parameters = request.param
    return drawn(name, parameters), Simulated(model(urdf(name, parameters), "vehicle"))


def test_every_link_is_at_the_same_place(both):
    robot, simulated = both
    random = np.random.default_rng(1)
    positions = {name: random.uniform(-0.4, 0.4) for name in robot.movable()}
    for name in robot.links:
        assert simulated.pose(name, **positions) == pytest.approx(robot.pose(name, **positions), abs=1e-9)


def test_moving_joints_are_the_same(both):
    robot, simulated = both
    assert set(simulated.joints) == robot.movable()
    for name, joint in simulated.joints.items():
        assert joint.get("type") == "revolute"
        assert joint.find("axis/xyz").text == robot.joints[name].find("axis").get("xyz")
        assert joint.find("child").text == robot.joints[name].find("child").get("link")


def test_stops_do_not_clip_and_rates_are_free(both):
    robot, simulated = both
    for name, joint in simulated.joints.items():
        lower, upper = (float(joint.find(f"axis/limit/{end}").text) for end in ("lower", "upper"))
        if robot.joints[name].get("type") == "continuous":
            assert (lower, upper) == (-np.inf, np.inf)
        else:
            assert lower == pytest.approx(robot.limit(name, "lower") - STOP_MARGIN)
            assert upper == pytest.approx(robot.limit(name, "upper") + STOP_MARGIN)
            # Gazebo ignores the stops of a joint that it moves by velocity if the effort is infinite.
            assert float(joint.find("axis/limit/effort").text) >= 1e6
        assert joint.find("axis/limit/velocity") is None


def about_root(pose: np.ndarray, mass: float, tensor: np.ndarray) -> np.ndarray:
    """Mass, first moments and inertia tensor about the root's origin as a 4x4 matrix, which can be summed."""
    arm = pose[:3, 3]
    result = np.zeros((4, 4))
    result[:3, :3] = pose[:3, :3] @ tensor @ pose[:3, :3].T + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    result[:3, 3] = mass * arm
    result[3, 3] = mass
    return result


def tensor_of(value) -> np.ndarray:
    return np.array([[value("i" + "".join(sorted(row + column))) for column in "xyz"] for row in "xyz"])


def test_masses_and_inertias_are_the_same(both):
    robot, simulated = both
    expected, result = np.zeros((4, 4)), np.zeros((4, 4))
    for name, link in robot.links.items():
        inertial = link.find("inertial")
        if inertial is not None:
            tensor = tensor_of(lambda key, source=inertial: float(source.find("inertia").get(key)))
            mass = float(inertial.find("mass").get("value"))
            expected += about_root(robot.pose(name) @ origin(inertial), mass, tensor)
    for name, link in simulated.links.items():
        inertial = link.find("inertial")
        tensor = tensor_of(lambda key, source=inertial: float(source.find(f"inertia/{key}").text))
        mass = float(inertial.find("mass").text)
        result += about_root(simulated.pose(name) @ matrix(inertial.find("pose").text), mass, tensor)
        moments = np.linalg.eigvalsh(tensor)
        assert moments[0] > 0
        assert moments[0] + moments[1] >= moments[2] * (1 - 1e-9)
    assert result == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_shapes_are_at_the_same_places(both):
    robot, simulated = both
    for kind in ("visual", "collision"):
        expected = [
            robot.pose(name) @ origin(entry) for name, link in robot.links.items() for entry in link.findall(kind)
        ]
        shapes = [(name, entry) for name, link in simulated.links.items() for entry in link.findall(kind)]
        result = {shape.get("name"): simulated.pose(name) @ matrix(shape.find("pose").text) for name, shape in shapes}
        assert len(result) == len(expected)
        for pose in expected:
            assert min(np.abs(pose - other).max() for other in result.values()) < 1e-9


def test_wheels_touch_in_one_point_and_casters_slide(both):
    _, simulated = both
    for link in simulated.links.values():
        for collision in link.findall("collision"):
            name, mu = collision.get("name"), collision.findtext("surface/friction/ode/mu")
            if "wheel" in name:
                assert collision.find("geometry/sphere") is not None
                assert float(mu) > 1
            elif "caster" in name or "support" in name:
                assert float(mu) == float(collision.findtext("surface/friction/ode/mu2")) == 0


@pytest.mark.parametrize("angles", [(0.3, -0.7, 2.0), (0, np.pi / 2, 0), (0.4, -np.pi / 2, 0), (np.pi / 2, 0, 0)])
def test_a_pose_as_text_is_the_same_pose(angles):
    pose = matrix("1 -2 3 " + " ".join(map(str, angles)))
    text = pose_text(Transform((1.0, -2.0, 3.0), quaternion(*angles)))
    assert matrix(text) == pytest.approx(pose, abs=1e-11)


# Elements <gazebo> of a URDF

ARM = """<robot name="arm">
  <link name="root">{heavy}</link>
  <link name="tool">{mass}<collision><geometry><box size="1 2 3"/></geometry></collision></link>
  <joint name="slide" type="prismatic">
    <parent link="root"/><child link="tool"/><limit lower="-1" upper="2" effort="5" velocity="1"/>
  </joint>
  {extension}
</robot>"""
HEAVY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def test_friction_and_plugins_are_copied():
    extension = """<gazebo reference="tool"><mu1>0.5</mu1><slip1>0.1</slip1></gazebo>
        <gazebo><plugin name="p" filename="f"/></gazebo>"""
    arm = model(ARM.format(heavy=HEAVY, mass=HEAVY, extension=extension), "arm")
    friction = arm.find("link[@name='tool']/collision/surface/friction/ode")
    assert [(item.tag, item.text) for item in friction] == [("mu", "0.5"), ("slip1", "0.1")]
    assert arm.find("plugin").get("filename") == "f"
    limit = arm.find("joint[@name='slide']/axis/limit")
    assert {item.tag: item.text for item in limit} == {"lower": "-1", "upper": "2", "effort": "5"}
    assert arm.findtext("joint[@name='slide']/axis/xyz") == "1 0 0"


def test_a_body_without_mass_is_refused():
    with pytest.raises(ValueError, match="link 'tool' and the links fixed to it have no mass"):
        model(ARM.format(heavy=HEAVY, mass="", extension=""), "arm")


def test_an_unknown_element_is_refused():
    with pytest.raises(ValueError, match="<gazebo reference='tool'> has <kp>; it may have mu1"):
        model(ARM.format(heavy=HEAVY, mass=HEAVY, extension='<gazebo reference="tool"><kp>1</kp></gazebo>'), "arm")
