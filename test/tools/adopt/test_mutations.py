"""Damaged robots are adopted or refused with one line; nothing else ever happens."""

import random
import re

import pytest
from helpers import robot_files as robots

from vds_gz.cli.adopt import main

YAML = robots.controllers(
    "base",
    "diff_drive_controller/DiffDriveController",
    """    left_wheel_names: [left_joint]
    right_wheel_names: [right_joint]
    wheel_separation: 0.4
    wheel_radius: 0.08
    linear.x.max_velocity: 1.0
    linear:
      x:
        min_velocity: -1.0""",
)

ORIGINALS = {
    "diff.sdf": robots.sdf(robots.diff_drive(robots.DIFF + "<max_linear_velocity>1</max_linear_velocity>")),
    "car.sdf": robots.sdf_car(robots.plugin(robots.GZ, "ackermann-steering", "AckermannSteering", robots.ACKERMANN)),
    "mecanum.sdf": robots.sdf(robots.plugin(robots.GZ, "mecanum-drive", "MecanumDrive", robots.MECANUM), robots.FOUR),
    "diff.urdf": robots.urdf(f"<gazebo>{robots.diff_drive()}</gazebo>"),
    "control.urdf": robots.urdf(robots.ros2_control("control.yaml")),
}

WORDS = (
    "",
    "nan",
    "inf",
    "-1",
    "0",
    "1e400",
    "1e-320",
    "left_joint",
    "chassis",
    "base_link",
    "x" * 2000,
    "ä€",
    "&#1;",
    "1 2 3",
)


def mutated(text, chance):
    """The text with something removed, doubled, exchanged or broken."""
    for _ in range(chance.choice((1, 1, 2, 5))):
        tags = list(re.finditer(r"<(\w+)[^<>]*?(?:/>|>[^<>]*</\1>)", text))
        values = list(re.finditer(r"(?<=>)[^<>\n]+(?=<)|(?<==\")[^\"\n]*(?=\")|(?<=: )\S+", text))
        spot = chance.choice(tags or values or [re.match("", text)])
        value = chance.choice(values or [spot])
        kind = chance.randrange(8)
        if kind == 0:
            text = text[: spot.start()] + text[spot.end() :]
        elif kind == 1:
            text = text[: spot.end()] + spot[0] + text[spot.end() :]
        elif kind == 2 and len(tags) > 1:
            other = chance.choice(tags)
            text = text[: spot.start()] + other[0] + text[spot.end() :]
        elif kind in (3, 4, 5):
            text = text[: value.start()] + chance.choice(WORDS) + text[value.end() :]
        elif kind == 6:
            cut = chance.randrange(len(text) + 1)
            text = text[:cut] + chance.choice(("<", ">", "\0", '"', "&", "-->", "]]>", "<a>", "\n")) + text[cut:]
        else:
            text = text[: chance.randrange(len(text) + 1)]
    return text


@pytest.mark.parametrize("part", range(8))
def test_mutated_robots_are_adopted_or_refused(tmp_path, monkeypatch, capsys, part):
    monkeypatch.chdir(tmp_path)
    chance, outcomes = random.Random(part), set()
    for number in range(60):
        name = chance.choice(list(ORIGINALS))
        yaml = mutated(YAML, chance) if name == "control.urdf" and number % 2 else YAML
        text = ORIGINALS[name] if yaml != YAML else mutated(ORIGINALS[name], chance)
        (tmp_path / "control.yaml").write_text(yaml, encoding="utf-8")
        (tmp_path / name).write_text(text, encoding="utf-8")
        code = main([name, "--output", "out", "--overwrite"])
        shown = capsys.readouterr()
        assert code in (0, 2), text
        outcomes.add(code)
        lines = shown.err.splitlines()
        assert len(lines) == (1 if code else 0), (text, shown.err)
        assert all(line.startswith("vds-gz adopt: ") and len(line) < 5000 for line in lines)
    assert outcomes == {0, 2}


BOMB = """<?xml version="1.0"?><!DOCTYPE sdf [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<sdf version="1.9"><model name="&b;"/></sdf>"""


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("robot.sdf", BOMB, "entit"),
        ("robot.sdf", "<sdf>" + "<model>" * 5000, "nested more than"),
        ("robot.sdf", "<sdf version='1.9'/>", "no <model>"),
        ("robot.sdf", "<html/>", "the root element is <html>"),
        ("robot.sdf", "no xml", "line 1: it is not well-formed"),
        ("robot.sdf", "<sdf><include><uri>robot.sdf</uri></include></sdf>", "no <model>"),
        ("robot.urdf", "<robot/>", "has no name"),
        ("robot.urdf", "<robot name='r'/>", "0 links"),
        (
            "robot.urdf",
            "<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='fixed'><parent link='a'/>"
            "<child link='b'/></joint><joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint></robot>",
            "0 links",
        ),
    ],
)
def test_hostile_files(tmp_path, monkeypatch, capsys, name, text, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert main([name]) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1


def test_models_that_include_each_other_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    again = robots.sdf(robots.diff_drive(), more="<include><uri>robot.sdf</uri></include>")
    (tmp_path / "robot.sdf").write_text(again, encoding="utf-8")
    assert main(["robot.sdf"]) == 2
    assert "nested more than" in capsys.readouterr().err


def test_no_file_a_folder_without_a_robot_a_large_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with (tmp_path / "large.sdf").open("wb") as file:
        file.truncate(1 << 30)
    for arguments, message in (
        (["none.sdf"], "there is no file"),
        (["."], "neither a model.config"),
        (["large.sdf"], "at most"),
        (["/dev/zero"], "not a regular file"),
    ):
        assert main(arguments) == 2
        assert message in capsys.readouterr().err


def test_very_many_links_are_refused_soon(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    chain = "".join(
        f"<link name='l{n}'/><joint name='j{n}' type='fixed'><parent link='{f'l{n - 1}' if n else 'base_link'}'/>"
        f"<child link='l{n}'/></joint>"
        for n in range(20_000)
    )
    (tmp_path / "robot.urdf").write_text(robots.urdf(f"<gazebo>{robots.diff_drive()}</gazebo>", more=chain))
    assert main(["robot.urdf"]) == 2
    assert "more than 3000 links" in capsys.readouterr().err
