"""Wrong and hostile meshes are refused with a reason, or read."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.worlds import geometry, looking, refusal, world
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.errors import WorldError

trimesh = pytest.importorskip("trimesh")
pytest.importorskip("collada")


def test_files_that_a_mesh_names_are_read_only_beside_it(tmp_path):
    """A glTF names its buffer, which is not read from elsewhere."""
    files = trimesh.exchange.gltf.export_gltf(trimesh.Scene(trimesh.creation.box((2.0, 2.0, 2.0))))
    folder = tmp_path / "meshes"
    folder.mkdir()
    buffers = [name for name in files if name.endswith(".bin")]
    for parent in (tmp_path, folder):
        for buffer in buffers:
            (parent / buffer).write_bytes(files[buffer])
    mesh = geometry("<mesh><uri>meshes/a.gltf</uri></mesh>")
    for name in (f"../{buffers[0]}", str(tmp_path / buffers[0]), "gone.bin"):
        (folder / "a.gltf").write_bytes(files["model.gltf"].replace(buffers[0].encode(), name.encode()))
        with pytest.raises(WorldError, match=r"a.gltf' cannot be read: .*there is no"):
            world(tmp_path, mesh)
    (folder / "a.gltf").write_bytes(files["model.gltf"])
    assert looking(world(tmp_path, mesh), (0.1, 0.2, 10.0), (0.0, 0.0, -1.0)) == pytest.approx(9.0)


@pytest.mark.parametrize(("away", "scale"), [("1e13", "1 1 1"), ("1e9", "1e9 1 1")])
def test_corners_too_far_away_are_refused(tmp_path, away, scale):
    (tmp_path / "a.off").write_text(f"OFF\n3 1 0\n0 0 0\n{away} 0 0\n0 1 0\n3 0 1 2\n")
    with pytest.raises(WorldError, match=r"world.sdf, line 4: .*has corners that are 1e\+12 m away, or not finite"):
        world(tmp_path, geometry(f"<mesh><uri>a.off</uri><scale>{scale}</scale></mesh>"))


def test_triangles_without_corners_are_refused(tmp_path):
    """trimesh does not check the indices of a binary glTF."""
    data = bytearray(trimesh.creation.icosahedron().export(file_type="glb"))
    indices = data.index(np.asarray(trimesh.creation.icosahedron().faces, np.uint32).tobytes())
    data[indices] = 99
    (tmp_path / "a.glb").write_bytes(data)
    with pytest.raises(WorldError, match=r"world.sdf, line 4: mesh '.*a.glb' has triangles whose corners are missing"):
        world(tmp_path, geometry("<mesh><uri>a.glb</uri></mesh>"))


@pytest.mark.parametrize("kind", ["stl", "tiff"])
def test_libraries_print_nothing_about_damaged_files(tmp_path, caplog, recwarn, kind):
    if kind == "stl":
        text = trimesh.creation.box((2.0, 2.0, 2.0)).export(file_type="stl_ascii")
        (tmp_path / "a.stl").write_text(text.replace("facet normal", "facet normal x", 1))
        body = "<mesh><uri>a.stl</uri></mesh>"
    else:
        image = pytest.importorskip("PIL.Image").new("L", (64, 64))
        image.save(tmp_path / "whole.tiff", tiffinfo={270: "described " * 20})
        (tmp_path / "a.tiff").write_bytes((tmp_path / "whole.tiff").read_bytes()[:200])
        body = "<heightmap><uri>a.tiff</uri><size>1 1 1</size></heightmap>"
    file = tmp_path / "world.sdf"
    file.write_text(f"<sdf version='1.9'><world name='w'>{geometry(body)}</world></sdf>")
    refusal(file)
    assert not caplog.records
    assert not recwarn.list


KINDS = ["stl", "obj", "ply", "off", "glb", "dae"]
MESHES = {kind: trimesh.creation.icosahedron().export(file_type=kind) for kind in KINDS}


@given(st.sampled_from(KINDS), st.data())
def test_a_mesh_that_was_changed_anywhere_is_read_or_refused(tmp_path_factory, kind, data):
    folder = tmp_path_factory.mktemp("mutated")
    content = MESHES[kind]
    text = bytearray(content.encode() if isinstance(content, str) else content)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text) - 1))
        text[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    (folder / f"a.{kind}").write_bytes(text)
    file = folder / "world.sdf"
    mesh = geometry(f"<mesh><uri>a.{kind}</uri></mesh>")
    file.write_text(f"<sdf version='1.9'><world name='w'>{mesh}</world></sdf>")
    refused = refusal(file)
    assert refused is None or str(file) in refused
