"""Worlds from files: poses and frames, shapes, maps, place on Earth and friction."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from helpers.worlds import BALL, geometry, looking, model, places, world, write_map
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.errors import WorldError
from vds_gz.core.share import share
from vds_gz.core.world.geodesy import Origin
from vds_gz.core.world.load_world import load_world, rectangles

# ---------------------------------------------------------------------- poses and frames


def test_poses_of_model_link_and_visual_are_chained(tmp_path):
    inside = f"<pose>1 0 0 0 0 {math.pi / 2}</pose>" + BALL.format(pose="<pose>2 0 0 0 0 0</pose>")
    scene = world(tmp_path, model("m", inside, f"10 0 0 0 0 {math.pi / 2}"))
    assert places(scene) == {"m::l::v": [8.0, 1.0, 0.0]}


def test_degrees_and_quaternions(tmp_path):
    half = math.sqrt(0.5)
    turned = "<pose degrees='true'>0 0 0 0 0 90</pose>"
    quaternion = f"<pose rotation_format='quat_xyzw'>0 0 0 0 0 {half} {half}</pose>"
    for pose in (turned, quaternion):
        scene = world(
            tmp_path,
            f"<model name='m'>{pose}<link name='l'>{BALL.format(pose='<pose>3 0 0 0 0 0</pose>')}</link></model>",
        )
        assert places(scene) == {"m::l::v": [0.0, 3.0, 0.0]}


def test_frames_chain_across_models(tmp_path):
    frames = """
      <frame name='base'><pose>5 0 0 0 0 0</pose></frame>
      <model name='a'><pose relative_to='base'>1 0 0 0 0 0</pose><link name='l'/>
        <frame name='top' attached_to='l'><pose>0 0 2 0 0 0</pose></frame></model>
      <model name='b'><pose relative_to='a::top'>0 1 0 0 0 0</pose><link name='l'>%s</link></model>
    """
    assert places(world(tmp_path, frames % BALL.format(pose=""))) == {"b::l::v": [6.0, 1.0, 2.0]}


def test_a_model_can_be_placed_by_one_of_its_frames(tmp_path):
    inner = f"<frame name='foot'><pose>0 0 -1 0 0 0</pose></frame><link name='l'>{BALL.format(pose='')}</link>"
    scene = world(tmp_path, f"<model name='m' placement_frame='foot'><pose>3 0 0 0 0 0</pose>{inner}</model>")
    assert places(scene) == {"m::l::v": [3.0, 0.0, 1.0]}


def test_models_nest(tmp_path):
    inner = f"<model name='inner'><pose>0 2 0 0 0 0</pose><link name='l'>{BALL.format(pose='')}</link></model>"
    assert places(world(tmp_path, f"<model name='outer'><pose>1 0 0 0 0 0</pose>{inner}</model>")) == {
        "outer::inner::l::v": [1.0, 2.0, 0.0]
    }


def test_models_are_included_from_gazebos_resource_path(tmp_path):
    folder = tmp_path / "models" / "ball"
    folder.mkdir(parents=True)
    (folder / "model.config").write_text(
        "<model><sdf version='1.6'>old.sdf</sdf><sdf version='1.9'>new.sdf</sdf></model>"
    )
    (folder / "new.sdf").write_text(f"<sdf version='1.9'>{model('ball', BALL.format(pose=''), '0 0 1 0 0 0')}</sdf>")
    include = "<include><uri>model://ball</uri>{}</include>"
    environment = {"GZ_SIM_RESOURCE_PATH": str(tmp_path / "models")}
    assert places(world(tmp_path, include.format(""), environment)) == {"ball::l::v": [0.0, 0.0, 1.0]}
    named = include.format("<name>mine</name><pose>4 0 0 0 0 0</pose>")
    assert places(world(tmp_path, named, environment)) == {"mine::l::v": [4.0, 0.0, 0.0]}


def test_models_of_fuel_are_found_in_its_cache_in_the_highest_version(tmp_path):
    for version, height in ((2, 2), (10, 10)):
        folder = tmp_path / "fuel.example.org" / "somebody" / "models" / "a box" / str(version)
        folder.mkdir(parents=True)
        (folder / "model.sdf").write_text(
            f"<sdf version='1.9'>{model('ball', BALL.format(pose=''), f'0 0 {height} 0 0 0')}</sdf>"
        )
    include = "<include><uri>https://fuel.example.org/1.0/Somebody/models/A%20Box</uri></include>"
    assert places(world(tmp_path, include, {"GZ_FUEL_CACHE_PATH": str(tmp_path)}))["ball::l::v"] == [0.0, 0.0, 10.0]


def test_the_highest_version_of_a_model_is_taken(tmp_path):
    folder = tmp_path / "ball"
    folder.mkdir()
    (folder / "model.config").write_text("<m><sdf version='1.10'>a.sdf</sdf><sdf version='1.9'>b.sdf</sdf></m>")
    (folder / "a.sdf").write_text(f"<sdf version='1.10'>{model('new', BALL.format(pose=''))}</sdf>")
    assert list(places(world(tmp_path, "<include><uri>ball</uri></include>"))) == ["new::l::v"]


def test_thousands_of_frames_may_be_chained(tmp_path):
    count = 3000
    chain = "".join(
        f"<frame name='f{k}'><pose relative_to='{f'f{k - 1}' if k else 'world'}'>1 0 0 0 0 0</pose></frame>"
        for k in reversed(range(count))
    )
    ball = f"<model name='m'><pose relative_to='f{count - 1}'/><link name='l'>{BALL.format(pose='')}</link></model>"
    assert places(world(tmp_path, chain + ball)) == {"m::l::v": [float(count), 0.0, 0.0]}


def test_comments_may_contain_two_dashes_and_a_file_may_begin_with_space(tmp_path):
    """XML forbids both, but many worlds of Gazebo have them."""
    comment = "<!-- gz topic --pub\n --once <include> -->"
    assert list(places(world(tmp_path, comment + model("m", BALL.format(pose=""))))) == ["m::l::v"]
    file = tmp_path / "world.sdf"
    file.write_text("\n " + file.read_text())
    assert list(places(load_world(file))) == ["m::l::v"]


# ---------------------------------------------------------------------- shapes


@pytest.mark.parametrize(
    ("shape", "above"),
    [
        ("<box><size>2 2 2</size></box>", 1.0),
        ("<sphere><radius>1.5</radius></sphere>", 1.5),
        ("<cylinder><radius>1</radius><length>3</length></cylinder>", 1.5),
        ("<capsule><radius>1</radius><length>3</length></capsule>", 2.5),
        ("<ellipsoid><radii>1 1 4</radii></ellipsoid>", 4.0),
        ("<cone><radius>1</radius><length>3</length></cone>", 1.5 - 3.0 * math.hypot(0.02, 0.01)),
        ("<plane><normal>0 0 1</normal><size>5 5</size></plane>", 0.0),
        (
            "<polyline><point>-1 -1</point><point>1 -1</point><point>1 1</point><point>-1 1</point>"
            "<height>0.7</height></polyline>",
            0.7,
        ),
    ],
)
def test_the_top_of_every_shape(tmp_path, shape, above):
    assert looking(world(tmp_path, geometry(shape)), (0.02, 0.01, 10.0), (0.0, 0.0, -1.0)) == pytest.approx(
        10.0 - above, abs=0.01
    )


def test_a_plane_may_be_a_wall(tmp_path):
    plane = geometry("<plane><normal>1 0 0</normal><size>4 4</size></plane>")
    assert looking(world(tmp_path, plane), (3.0, 0.5, 0.5), (-1.0, 0.0, 0.0)) == pytest.approx(3.0)


@pytest.mark.parametrize("x", [0.0, 1e-7, 3e-6, 1e-3])
def test_the_normal_of_a_plane_may_point_almost_down(tmp_path, x):
    plane = geometry(f"<plane><normal>{x} 0 -1</normal><size>2e6 2e6</size></plane>")
    scene = world(tmp_path, plane)
    pose = scene.visuals.things[0].pose[:3, :3]
    np.testing.assert_allclose(pose @ pose.T, np.eye(3), atol=1e-12)
    assert looking(scene, (5e5, 0.0, 1e4), (0.0, 0.0, -1.0)) == pytest.approx(1e4 - 5e5 * x, abs=1e-6)


def test_a_mesh_is_scaled_and_centred(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((1.0, 1.0, 1.0)).apply_translation((0.0, 0.0, 0.5)).export(tmp_path / "block.stl")
    mesh = "<mesh><uri>block.stl</uri><scale>1 1 3</scale></mesh>"
    assert looking(world(tmp_path, geometry(mesh)), (0.1, 0.2, 10.0), (0.0, 0.0, -1.0)) == pytest.approx(7.0)


@pytest.mark.parametrize("kind", ["glb", "obj", "off", "ply", "stl"])
def test_meshes_without_a_unit_are_in_metres(tmp_path, kind: str):
    """Also glTF with a unit in its "extras", as trimesh writes it."""
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box((2.0, 2.0, 2.0))
    box.units = "millimeters"
    box.export(tmp_path / f"a.{kind}")
    scene = world(tmp_path, geometry(f"<mesh><uri>a.{kind}</uri></mesh>"))
    assert looking(scene, (0.1, 0.2, 10.0), (0.0, 0.0, -1.0)) == pytest.approx(9.0)


@pytest.mark.parametrize(
    "unit",
    [
        "",
        '<unit name="centimeter"/>',
        '<unit name="meter" meter="1"/>',
        '<unit meter="0.01"/>',
        '<unit meter="0.0254"/>',
    ],
)
def test_collada_names_its_unit(tmp_path, unit: str):
    """Gazebo scales by the unit and ignores <up_axis>."""
    metres = float(unit.split('meter="')[1].split('"')[0]) if "meter=" in unit else 1.0
    scene = world(tmp_path, collada(tmp_path, unit))
    assert looking(scene, (0.001, 0.002, 10.0), (0.0, 0.0, -1.0)) == pytest.approx(10.0 - metres)


@pytest.mark.parametrize("metres", ["0", "-1", "nan", "inf"])
def test_a_unit_that_is_no_length_is_refused(tmp_path, metres: str):
    with pytest.raises(WorldError, match=r"its unit is .* m; it must be positive"):
        world(tmp_path, collada(tmp_path, f'<unit meter="{metres}"/>'))


def collada(folder, unit: str) -> str:
    """Write a cube with sides of 2 units; return a model of it."""
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("collada")
    text = trimesh.exchange.dae.export_collada(trimesh.creation.box((2.0, 2.0, 2.0))).decode()
    text = re.sub(r"<unit[^>]*>|<up_axis>.*</up_axis>", "", text)
    (folder / "a.dae").write_text(text.replace("</asset>", f"{unit}<up_axis>X_UP</up_axis></asset>"))
    return geometry("<mesh><uri>a.dae</uri></mesh>")


def test_a_heightmap_rises_with_brightness(tmp_path):
    (tmp_path / "hill.pgm").write_bytes(b"P5\n3 3\n255\n" + bytes([0, 0, 0, 0, 255, 0, 0, 0, 0]))
    hill = "<heightmap><uri>hill.pgm</uri><size>2 2 5</size></heightmap>"
    scene = world(tmp_path, geometry(hill))
    assert looking(scene, (0.0, 0.0, 10.0), (0.0, 0.0, -1.0)) == pytest.approx(5.0)
    assert looking(scene, (0.5, 0.0, 10.0), (0.0, 0.0, -1.0)) == pytest.approx(7.5)


def test_lidars_see_visuals_and_bumpers_collisions(tmp_path):
    both = "<{0} name='{0}'><geometry><sphere><radius>{1}</radius></sphere></geometry></{0}>"
    scene = world(tmp_path, model("m", both.format("visual", 1) + both.format("collision", 2)))
    ray = np.array([(1.0, 0.0, 0.0)])
    assert scene.visuals.cast(np.array((-9.0, 0.0, 0.0)), ray)[0][0] == pytest.approx(8.0)
    assert scene.collisions.cast(np.array((-9.0, 0.0, 0.0)), ray)[0][0] == pytest.approx(7.0)


@pytest.mark.parametrize("name", ["empty", "hall", "outdoor", "parking_lot", "track"])
def test_all_shapes_of_the_shipped_worlds_are_read(name):
    path = share("worlds", f"{name}.sdf")
    scene = load_world(path)
    text = path.read_text(encoding="utf-8")
    assert len(scene.visuals.things) == text.count("<visual ")
    assert len(scene.collisions.things) == text.count("<collision ")


# ---------------------------------------------------------------------- maps


@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=6))
def test_rectangles_cover_the_occupied_cells_once(rows):
    cells = np.array(rows)
    covered = np.zeros(cells.shape, int)
    for left, low, width, depth in rectangles(cells).astype(int):
        covered[low : low + depth, left : left + width] += 1
    assert (covered == cells).all()


def test_the_walls_of_a_map_stand_where_its_dark_pixels_are(tmp_path):
    """The lower left pixel's corner is the origin; row 0 of the image is its upper edge."""
    file = write_map(tmp_path, [[254, 254, 254], [254, 254, 0]])
    assert looking(load_world(file), (0.2, 0.2, 1.0), (1.0, 0.0, 0.0)) == pytest.approx(0.8)
    assert looking(load_world(file), (0.2, 0.7, 1.0), (1.0, 0.0, 0.0)) == math.inf


def test_a_map_that_is_turned(tmp_path):
    file = write_map(tmp_path, [[254, 254, 254], [254, 254, 0]], origin=[1.0, 0.0, math.pi / 2])
    assert looking(load_world(file), (0.8, 0.2, 1.0), (0.0, 1.0, 0.0)) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("values", "solid"),
    [
        ({}, [0, 80]),
        ({"negate": 1}, [200, 255]),
        ({"mode": "scale"}, [0, 80]),
        ({"mode": "raw"}, [80]),
        ({"occupied_thresh": 0.9}, [0]),
    ],
)
def test_modes_and_thresholds_are_those_of_the_map_server(tmp_path, values, solid):
    for pixel in (0, 80, 200, 255):
        scene = load_world(write_map(tmp_path, [[pixel]], **values))
        assert bool(scene.visuals.things) == (pixel in solid), (pixel, values)


@pytest.mark.parametrize("mode", ["trinary", "scale"])
def test_transparent_pixels_are_unknown(tmp_path, mode):
    image = pytest.importorskip("PIL.Image")
    image.fromarray(np.array([[[0, 0, 0, 255], [0, 0, 0, 254]]], np.uint8)).save(tmp_path / "map.png")
    file = write_map(tmp_path, [[0]], image="map.png", mode=mode)
    assert len(load_world(file).visuals.things) == 1


# ---------------------------------------------------------------------- gravity and place on Earth

EARTH = (
    "<spherical_coordinates><surface_model>{model}</surface_model>"
    "<world_frame_orientation>{axes}</world_frame_orientation><latitude_deg>{latitude}</latitude_deg>"
    "<longitude_deg>2.35</longitude_deg><elevation>35.5</elevation><heading_deg>90</heading_deg></spherical_coordinates>"
)
PARIS = {"model": "EARTH_WGS84", "axes": "ENU", "latitude": "48.8566"}


def test_gravity_and_place_on_earth(tmp_path):
    scene = world(tmp_path, "<gravity>0 0.5 -1.62</gravity>" + EARTH.format(**PARIS))
    assert scene.gravity == (0.0, 0.5, -1.62)
    assert scene.origin == Origin(48.8566, 2.35, 35.5, 90.0)


def test_a_world_without_coordinates_has_the_defaults_of_sdf(tmp_path):
    scene = world(tmp_path, "")
    assert (scene.gravity, scene.origin) == ((0.0, 0.0, -9.8), Origin(0.0, 0.0, 0.0, 0.0))


def test_a_shipped_world_has_a_place_on_earth():
    scene = load_world(share("worlds", "outdoor.sdf"))
    assert (scene.origin.latitude, scene.origin.elevation) == (48.8566, 100.0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"model": "MOON_SCS"}, "line 4: <surface_model> is 'MOON_SCS'; it must be EARTH_WGS84"),
        ({"axes": "NED"}, "line 4: <world_frame_orientation> is 'NED'; it must be ENU"),
        ({"latitude": "91"}, "line 4: <latitude_deg> is 91; it must be from -90 to 90"),
        ({"latitude": "north"}, "line 4: <latitude_deg> is 'north'; it must be 1 number"),
    ],
)
def test_unsupported_coordinates_are_refused(tmp_path, changed, message):
    with pytest.raises(WorldError, match=message):
        world(tmp_path, EARTH.format(**PARIS | changed))


# ---------------------------------------------------------------------- friction


@pytest.mark.parametrize(
    ("surface", "friction"),
    [
        ("", 1.0),
        ("<surface><friction><ode><mu>0.2</mu><mu2>0.1</mu2></ode></friction></surface>", 0.1),
        ("<surface><friction><ode><mu>0.3</mu></ode></friction></surface>", 0.3),
        ("<surface><friction><ode><mu>50</mu><mu2>50</mu2></ode></friction></surface>", 50.0),
        ("<surface><contact/></surface>", 1.0),
    ],
)
def test_friction_is_that_of_the_collision_with_the_defaults_of_sdf(tmp_path, surface, friction):
    shape = "<geometry><box><size>1 1 1</size></box></geometry>"
    (thing,) = world(tmp_path, model("m", f"<collision name='c'>{shape}{surface}</collision>")).collisions.things
    assert thing.friction == friction


def test_negative_friction_is_refused(tmp_path):
    surface = "<surface><friction><ode><mu>-1</mu></ode></friction></surface>"
    shape = "<geometry><box><size>1 1 1</size></box></geometry>"
    with pytest.raises(WorldError, match=r"<mu> is -1; it must be at least 0"):
        world(tmp_path, model("m", f"<collision name='c'>{shape}{surface}</collision>"))
