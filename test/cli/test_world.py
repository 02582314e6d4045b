"""``vds-gz world``: what it says of a world, its exit codes and its picture."""

import pytest
from helpers.worlds import model

from vds_gz.cli.world import main


def test_a_world_of_this_package_is_described(capsys):
    assert main(["outdoor"]) == 0
    output = capsys.readouterr().out
    assert "outdoor: OK, world 'outdoor'" in output
    assert "models     ground, hill, bank, house, trees\n" in output
    assert "seen       6 boxes, 8 cylinders, 8 ellipsoids, 1 mesh of 2 triangles\n" in output
    assert "on Earth   48.8566" in output


def test_the_extent_is_that_of_the_shapes(tmp_path, capsys):
    file = tmp_path / "a.sdf"
    shape = "<geometry><ellipsoid><radii>200 200 2</radii></ellipsoid></geometry>"
    disc = model("m", f"<visual name='v'>{shape}</visual>", "0 0 0 0 0 0.1")
    file.write_text(f"<sdf version='1.9'><world name='w'>{disc}</world></sdf>")
    assert main([str(file)]) == 0
    assert "x -200.00 to 200.00 m, y -200.00 to 200.00 m, z -2.00 to 2.00 m" in capsys.readouterr().out


def test_the_extent_is_not_that_of_the_ground(capsys):
    """The hall is 30 m long and 20 m wide between its walls, which are 0.2 m thick with their middle 0.1 m outside."""
    assert main(["hall"]) == 0
    assert "extent     x -6.10 to 24.10 m, y -10.10 to 10.10 m" in capsys.readouterr().out


def test_a_world_that_is_refused_is_a_failed_check(tmp_path, capsys):
    file = tmp_path / "a.sdf"
    file.write_text("<sdf version='1.9'><world name='w'><actor name='a'/></world></sdf>")
    assert main([str(file)]) == 1
    assert f"{file}, line 1: <actor> in <world> is not known" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["nowhere"], ["hall", "--png", "/nowhere/a.png"]])
def test_missing_files_are_wrong_use(arguments, capsys):
    assert main(arguments) == 2
    assert "vds-gz world: " in capsys.readouterr().err


def test_it_is_drawn(tmp_path, capsys):
    image = pytest.importorskip("PIL.Image")
    assert main(["hall", "--png", str(tmp_path / "a.png")]) == 0
    assert "picture    " in capsys.readouterr().out
    with image.open(tmp_path / "a.png") as picture:
        colours = picture.convert("RGB").getcolors(1 << 24)
    red = sum(count for count, (r, g, b) in colours if r > 150 and g < 60 and b < 60)
    assert red > 2000  # the walls
