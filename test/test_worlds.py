"""The worlds: they are what their maker makes, need nothing else, and have what a vehicle needs."""

import math
import xml.etree.ElementTree as ElementTree

import pytest
from helpers.tools import tool

from vds_gz.core.share import share

make = tool("make_worlds")

WORLDS = sorted(file.stem for file in share("worlds").glob("*.sdf"))


@pytest.fixture(params=WORLDS)
def world(request):
    root = ElementTree.parse(share("worlds", f"{request.param}.sdf")).getroot()
    (result,) = root.findall("world")
    assert result.get("name") == request.param
    return result


def test_each_has_a_maker():
    assert sorted(make.WORLDS) == WORLDS


@pytest.mark.parametrize("name", WORLDS)
def test_the_file_is_what_the_script_makes(name):
    assert share("worlds", f"{name}.sdf").read_text() == make.text(make.WORLDS[name]())


def test_it_needs_no_other_file(world):
    for tag in ("include", "uri", "mesh", "heightmap", "script"):
        assert not list(world.iter(tag))


def test_steps_of_a_millisecond_in_real_time(world):
    assert world.findtext("physics/max_step_size") == "0.001"
    assert world.findtext("physics/real_time_factor") == "1.0"


def test_systems(world):
    names = [plugin.get("name").rpartition(":")[2] for plugin in world.findall("plugin")]
    assert sorted(names) == ["Contact", "Imu", "NavSat", "Physics", "SceneBroadcaster", "Sensors", "UserCommands"]


def test_nothing_moves_and_names_differ(world):
    models = world.findall("model")
    assert all(model.findtext("static") == "true" for model in models)
    for things in (models, *(model.findall("link/*[@name]") for model in models)):
        names = [thing.get("name") for thing in things]
        assert len(names) == len(set(names))


def test_the_ground_grips_more_than_any_tyre(world):
    for collision in world.iter("collision"):
        assert float(collision.findtext("surface/friction/ode/mu")) >= 1000
        assert float(collision.findtext("surface/friction/ode/mu2")) >= 1000


def test_free_at_the_origin(world):
    """What is solid stays 4 m away, but for the ground."""
    for model in world.findall("model"):
        for collision in model.iter("collision") if model.get("name") != "ground" else ():
            x, y, *_ = (float(part) for part in collision.findtext("pose").split())
            size = collision.findtext("geometry/box/size")
            reach = [float(part) / 2 for part in size.split()[:2]] if size else [1.0, 1.0]
            gap = math.hypot(max(abs(x) - reach[0], 0), max(abs(y) - reach[1], 0))
            assert gap > 4, model.get("name")


def test_outdoors_has_a_place_on_earth_and_slopes():
    root = ElementTree.parse(share("worlds", "outdoor.sdf")).getroot()
    earth = root.find("world/spherical_coordinates")
    assert earth.findtext("surface_model") == "EARTH_WGS84"
    assert float(earth.findtext("latitude_deg")) == pytest.approx(48.8566)
    poses = [pose.text.split() for pose in root.iterfind(".//model[@name='hill']/link/collision/pose")]
    assert [round(math.degrees(float(pose[4]))) for pose in poses] == [-6, 0, 12]


def test_slabs_of_the_hill_meet_without_a_step():
    """Each top begins where the one before ends, the first and the last on the ground."""
    ends = []
    for part in make.hill():
        length, thick = float(part.shape.split(">")[2].split()[0]), 1.0
        x, _, z, _, pitch = part.pose
        top = (x + thick / 2 * math.sin(pitch), z + thick / 2 * math.cos(pitch))
        half = (length / 2 * math.cos(pitch), -length / 2 * math.sin(pitch))
        ends += [(top[0] - half[0], top[1] - half[1]), (top[0] + half[0], top[1] + half[1])]
    assert ends[0] == pytest.approx((10, 0), abs=1e-4)
    assert ends[1] == pytest.approx(ends[2], abs=1e-4)
    assert ends[3] == pytest.approx(ends[4], abs=1e-4)
    assert ends[5][1] == pytest.approx(0, abs=1e-4)
