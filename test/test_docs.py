"""What the documents say of the code is so."""

from __future__ import annotations

import argparse
import itertools
import os
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from dataclasses import fields
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from helpers.launch_files import launch_arguments
from helpers.outputs import check_output, sessions
from helpers.reference import reference_tables
from helpers.sensors import GROUPS
from helpers.tools import tool

import vds_gz
from vds_gz.cli.check import reference_page
from vds_gz.cli.subcommands import main, subcommands
from vds_gz.core.configuration import NODE_NAME, default_parameters, load_parameters, parameters_of, preset_names
from vds_gz.core.errors import VdsGzError
from vds_gz.core.parameters.controller_parameters import LqrParameters, PurePursuitParameters, StanleyParameters
from vds_gz.core.parameters.declaration import describe
from vds_gz.core.parameters.teleop import JoystickParameters, KeyParameters
from vds_gz.core.ros.arguments import parse
from vds_gz.core.vehicle import actuators
from vds_gz.core.world.load_world import load_world
from vds_gz.core.world.surroundings import read_obstacles
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.model_reports import model_topics

ROOT = Path(__file__).resolve().parents[1]
PAGES = sessions.PAGES
DOCS = ROOT / "docs"
COMPILED = ("delay_margin.md", "fleets.md", "train.md")
NEEDS_NUMBA = pytest.mark.skipif(find_spec("numba") is None, reason="needs numba")
OWN_FOLDERS = "bench|config|docker|docs|examples|launch|models|test|tools|vds_gz|worlds"


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


PAGES_AND_HELP = [*((page, text(page)) for page in PAGES), (Path("help"), sessions.help_page())]


def commands() -> list[object]:
    """Every command of this package on any page or in a help text, with its words."""
    return [
        pytest.param(
            example.words,
            id=f"{page.name}:{example.line}",
            marks=[NEEDS_NUMBA] if example.text.startswith("vds-gz sweep") else [],
        )
        for page, content in PAGES_AND_HELP
        for example in (*sessions.shown(content), *sessions.inline(content))
        if sessions.OURS.match(example.text)
    ]


# ---------------------------------------------------------------------- command lines


class AcceptedError(Exception):
    """A program's own parser has taken its command line."""


@pytest.fixture
def only_parse(monkeypatch):
    """Every program ends as soon as its parser has taken the command line."""
    known = argparse.ArgumentParser.parse_known_args

    def parse_known_args(self, args=None, namespace=None):
        _, rest = known(self, args, namespace)
        if rest and rest[0] != "--ros-args":
            self.error(f"unrecognized arguments: {shlex.join(rest)}")
        raise AcceptedError

    monkeypatch.setattr(argparse.ArgumentParser, "parse_known_args", parse_known_args)


def check_program(name: str, words: list[str]) -> None:
    """The command line of a program of ``vds-gz`` is one that its parser takes."""
    ros = words[words.index("--ros-args") :] if "--ros-args" in words else []
    if name == "node" and "--help" not in words:
        check_vehicle_of_node(words[: len(words) - len(ros)])
    elif words:  # else it is only named
        with pytest.raises((AcceptedError, SystemExit)) as ended:
            subcommands()[name].load()(words)
        assert ended.type is AcceptedError or ended.value.code == 0
    if "--preset" in words:
        assert words[words.index("--preset") + 1] in preset_names()
    check_ros_arguments(name, ros)


def check_vehicle_of_node(words: list[str]) -> None:
    """A preset, a file of this package, or a file of one's own in the reader's folder."""
    for word in words:
        assert word in preset_names() or (ROOT / word).exists() or ("/" not in word and word.endswith(".yaml"))
    assert len(words) <= 1


def check_ros_arguments(name: str, ros: list[str]) -> None:
    """Remaps and parameters are such as the program takes; a parameter file is one's own or there."""
    for flag, file in itertools.pairwise(ros):
        if flag == "--params-file" and not (ROOT / file).exists():
            assert "/" not in file, f"{file} is not there"
            ros = [one for one in ros if one not in (flag, file)]
    values = parse(ros, NODE_NAME).overrides
    if name in ("node", "run", "gazebo"):
        parameters_of(values)
    elif name in TELEOP:
        names = {parameter.name for group in TELEOP[name] for parameter in describe(group())}
        assert {value.name for value in values} <= names


TELEOP = {
    "joystick_teleop": (JoystickParameters,),
    "keys": (KeyParameters,),
}


def check_launch(file: str, arguments: list[str]) -> None:
    """A launch file declares these arguments and allows these values."""
    declared = launch_arguments()[file]
    for name, _, value in (argument.partition(":=") for argument in arguments):
        assert name in declared
        choices = declared[name]["choices"]
        assert choices is None or value in choices, f"{name} may be {choices}"


def check_dev(words: list[str]) -> None:
    """``./dev`` knows the command."""
    assert re.search(rf"^(?:\w+ \| )*{words[0]}(?: \| [\w-]+)*\)$", text(ROOT / "dev"), re.MULTILINE)
    if words[0] in ("run", "tool"):
        name, *rest = words if words[0] == "run" else words[1:]
        check_program(name, rest)
    if words[0] == "bench" and words[1:]:
        assert (ROOT / "bench" / f"{words[1]}.py").is_file()


def check_command(words: list[str]) -> None:
    """A command line is one that its program takes."""
    match words:
        case ["./dev", *rest]:
            check_dev(rest)
        case ["vds-gz", *rest] | ["ros2", "run", "vds_gz", "vds-gz", *rest]:
            assert rest[0] in subcommands()
            check_program(rest[0], rest[1:])
        case ["ros2", "run", "vds_gz", "sim_node", *rest]:
            check_program("node", rest)
        case ["ros2", "run", "vds_gz", "joystick_teleop", *rest]:
            check_ros_arguments("joystick_teleop", rest)
        case ["ros2", "launch", *rest]:
            arguments = [word for word in rest if not word.startswith("--")]
            assert arguments[0] == "vds_gz"
            check_launch(arguments[1], arguments[2:])
        case _:
            pytest.fail(f"{shlex.join(words)} is not a program of this package")


@pytest.fixture
def examples_installed(tmp_path, monkeypatch):
    """The package of the examples, with the entry points that it declares."""
    declared = text(ROOT / "examples" / "pyproject.toml")
    groups = re.findall(r'^\[project.entry-points."(.*)"\]\n((?:.+\n)+)', declared, re.MULTILINE)
    info = tmp_path / "site" / "examples-1.0.dist-info"
    info.mkdir(parents=True)
    points = "\n".join(f"[{group}]\n{members.replace(chr(34), '')}" for group, members in groups)
    (info / "entry_points.txt").write_text(points, encoding="utf-8")
    monkeypatch.syspath_prepend(str(info.parent))
    monkeypatch.syspath_prepend(str(ROOT / "examples"))


@pytest.mark.usefixtures("only_parse", "examples_installed")
@pytest.mark.parametrize("words", commands())
def test_a_command_line_is_one_that_its_program_takes(words):
    check_command(words)


def test_there_are_many_command_lines():
    assert len(commands()) > 80


@pytest.mark.usefixtures("only_parse")
@pytest.mark.parametrize(
    "line",
    [
        "vds-gz run autoware_car",
        "vds-gz run --preset autoware",
        "vds-gz drive --rate 2",
        "vds-gz replays x.csv",
        "vds-gz node --ros-args -p modle:=omni",
        "vds-gz gazebo --wrold hall",
        "ros2 run vds_gz joystick_teleop --ros-args -p device:=1",
        "vds-gz node --ros-args --params-file config/car.yaml",
        "ros2 launch vds_gz kinematic.launch.py presett:=forklift",
        "ros2 launch vds_gz kinematic.launch.py preset:=autoware",
        "ros2 run vds_gz node",
        "./dev fly",
        "./dev bench nothing",
    ],
)
def test_a_wrong_command_line_would_be_found(line):
    """Among them what docs/autoware.md once said."""
    with pytest.raises((AssertionError, KeyError, VdsGzError, pytest.fail.Exception)):
        check_command(shlex.split(line))


# ---------------------------------------------------------------------- what commands print


def check_session(page: Path, without: str = "nothing") -> None:
    """Run the commands of a page one after the other, and compare what they print."""
    commands = [example for example in sessions.repeatable(text(page)) if not re.search(without, example.text)]
    assert commands
    for one in commands:
        check_output(one.prints, sessions.printed(one))


def test_only_the_numbers_of_a_shortened_output_are_updated():
    page = "    $ vds-gz identify x.csv\n    ...\n    lag   0.1 s   0.09 to 0.11\n    limit 2 m/s\n"
    printed = ["lag    0.25 s   0.2 to 0.3", "limit  not excited", "more   1 s"]
    fresh = sessions.replaced(page, {"vds-gz identify x.csv": printed})
    assert fresh == page.replace("lag   0.1 s   0.09 to 0.11", "lag    0.25 s   0.2 to 0.3")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with the files of the tutorial."""
    shutil.copytree(ROOT / "docs" / "study", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@NEEDS_NUMBA
@pytest.mark.usefixtures("folder")
def test_the_page_on_recording_shows_what_its_commands_print():
    """Those that are done at once."""
    check_session(DOCS / "record.md", without="optimal")


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_the_pages_from_recording_to_comparison_show_what_their_commands_print():
    for page in sessions.STUDY:
        check_session(page)


@pytest.mark.slow
def test_the_tutorial_of_dead_time_shows_what_its_commands_print(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "docs" / "delay_margin", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    check_session(ROOT / "docs" / "delay_margin.md")


@pytest.fixture
def real_robot(tmp_path, monkeypatch):
    """A folder with the recording of a real robot."""
    shutil.copytree(ROOT / "examples" / "data", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("real_robot")
def test_the_tutorial_of_a_real_robot_shows_its_recording():
    check_session(DOCS / "tutorials" / "your_robot.md", without="identif|commands|model")


@pytest.mark.slow
@pytest.mark.usefixtures("real_robot")
def test_the_tutorial_of_a_real_robot_shows_what_its_commands_print():
    check_session(DOCS / "tutorials" / "your_robot.md")


def test_the_files_for_robot_localization_agree():
    folder = DOCS / "robot_localization"
    car = load_parameters(folder / "car.yaml", {"world": str(folder / "field.sdf")})
    ekf = yaml.safe_load((folder / "ekf.yaml").read_text(encoding="utf-8"))
    latitude, longitude, heading = ekf["navsat_transform"]["ros__parameters"]["datum"]
    origin = load_world(car.world).origin
    assert (origin.latitude, origin.longitude, origin.heading_deg) == (latitude, longitude, heading)
    assert car.localization.external
    frames = ekf["ekf_filter_node"]["ros__parameters"]
    assert (frames["map_frame"], frames["odom_frame"]) == (car.map_frame, car.odom_frame)


@pytest.mark.slow
def test_the_page_of_sweeps_shows_what_its_command_prints(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "config" / "sweeps", tmp_path / "config" / "sweeps")
    monkeypatch.chdir(tmp_path)
    check_session(ROOT / "docs" / "sweep.md")


WALKER = "<sdf version='1.9'><world name='w'>\n<actor name='walker'/></world></sdf>\n"


def commands_alone() -> list[object]:
    """Every command that runs alone, but for that of the README, whose file is wrong on purpose."""
    result = {
        (example.text, example.prints): (page, example)
        for page, content in PAGES_AND_HELP
        for example in sessions.alone(content)
    }
    shown = [(page, one) for page, one in result.values() if one.text != "vds-gz check my_robot.yaml"]
    return [pytest.param(example, id=f"{page.name}:{example.line}") for page, example in shown]


@pytest.mark.parametrize("one", commands_alone())
def test_a_command_that_runs_alone_does_and_prints_what_is_shown(one, folder, monkeypatch):
    shutil.copytree(ROOT / "examples" / "data", folder, dirs_exist_ok=True)
    (folder / "car.yaml").rename(folder / "my_car.yaml")  # that of who reads the page
    (folder / "walker.sdf").write_text(WALKER, encoding="utf-8")
    with open(os.devnull, encoding="utf-8") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        code, printed = sessions.ran(one.words)
    if one.prints:
        check_output(one.prints, printed)
    else:
        assert code == 0, printed


def test_there_are_commands_that_run_alone():
    assert len(commands_alone()) > 15


@pytest.mark.slow
def test_the_page_of_fleets_shows_what_its_example_prints():
    pytest.importorskip("numba")
    (example,) = [one for one in sessions.shown(text(DOCS / "fleets.md")) if one.text.startswith("python examples/")]
    done = subprocess.run([sys.executable, *example.words[1:]], cwd=ROOT, capture_output=True, text=True, check=True)
    check_output(example.prints, done.stdout.splitlines())


@pytest.mark.usefixtures("examples_installed")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_shows_are_accepted(page, tmp_path, capsys):
    """Whole parameter files, lists of sensors, moving obstacles; and the plan of a sweep is that of the package."""
    for first, lines in sessions.blocks(text(page)):
        file = tmp_path / f"line_{first}.yaml"
        file.write_text("\n".join(lines), encoding="utf-8")
        head = lines[1:] if lines[0].startswith("# ") and not lines[0].startswith("# config/") else lines
        match "".join(head[:1]).split():
            case ["sim_node:"]:
                assert main(["check", str(file)]) == 0, capsys.readouterr().err
            case ["sensors:"]:
                indented = "".join(f"    {line}\n" for line in lines)
                file.write_text(f"sim_node:\n  ros__parameters:\n{indented}", encoding="utf-8")
                assert main(["check", str(file)]) == 0, capsys.readouterr().err
            case ["obstacles:"]:
                assert read_obstacles(file)
            case ["#", name] if name.startswith("config/"):
                assert yaml.safe_load("\n".join(lines)) == yaml.safe_load(text(ROOT / name))


def test_the_readme_shows_how_a_mistake_is_told(folder):
    (file,) = re.findall(r"```yaml\n(.*?)```", text(ROOT / "README.md"), re.DOTALL)
    (folder / "my_robot.yaml").write_text(file, encoding="utf-8")
    assert main(["check", "my_robot.yaml"]) == 0
    (folder / "my_robot.yaml").write_text(file.replace("wheel_base", "wheelbase"), encoding="utf-8")
    check_session(ROOT / "README.md")


# ---------------------------------------------------------------------- names


def parameter_names() -> set[str]:
    """Every name of a parameter, and every end of one that begins after a dot."""
    groups = [default_parameters(), *(group() for one in TELEOP.values() for group in one)]
    groups += [group() for group in GROUPS.values()]
    groups += [PurePursuitParameters(), StanleyParameters(), LqrParameters()]
    whole = {name for group in groups for parameter in describe(group) for name in (parameter.name, *parameter.aliases)}
    return {name[start:] for name in whole for start in (0, *(i + 1 for i, c in enumerate(name) if c == "."))}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_parameters_in_tables_are_there(page):
    known = parameter_names()
    for table in re.findall(r"^\| parameter \|.*\n\|.*\n((?:\|.*\n)+)", text(page), re.MULTILINE):
        named = [name for row in table.splitlines() for name in re.findall(r"`([a-z][\w.]+)`", row.split("|")[1])]
        assert [name for name in named if name not in known] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_and_modules_are_there(page):
    named = re.findall(rf"(?<![\w/.>)])(?:{OWN_FOLDERS})/[\w./*-]*\w", text(page))
    environments = {"vds_gz/PathTracking-v0", "vds_gz/Parking-v0"}
    assert [name for name in named if name not in environments and not list(ROOT.glob(name))] == []
    entry_points = {"vds_gz.models", "vds_gz.commands", "vds_gz.sensors", "vds_gz.messages", "vds_gz.plants"}
    more = ("parameter_files", "measurements", "exports", "subcommands", "identifications", "profiles")
    entry_points |= {f"vds_gz.{group}" for group in more}
    modules = set(re.findall(r"\bvds_gz(?:\.\w+)+", text(page))) - entry_points
    for module in sorted(modules):
        try:
            assert pkgutil.resolve_name(module)
        except ModuleNotFoundError as error:  # it needs what is not here
            if str(error.name).startswith("vds_gz"):
                raise
        except AttributeError:
            with pytest.raises(ModuleNotFoundError, match=r"^(?!No module named 'vds_gz)"):  # it needs what is not here
                import_module(module)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text(page), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
    return set(plain)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_nothing_is_still_to_be_filled_in(page):
    assert re.findall(r"@@.*|TODO|FIXME|TBD", text(page)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", text(page)):
        if "://" not in link:
            there = page.parent / link if link else page
            assert there.exists(), link
            assert not anchor or anchor in anchors(there), f"{link}#{anchor}"


def test_the_table_of_topics_has_every_topic_with_its_type():
    rows = re.findall(r"^\| `([\w/]+)`[^|]*\| (.*?) \|", text(ROOT / "docs" / "topics.md"), re.MULTILINE)
    shown = {(name, kind) for name, kinds in rows for kind in re.findall(r"`(\w+/\w+)`", kinds)}
    known = [value for value in vars(topics).values() if isinstance(value, topics.Topic)] + [*model_topics()]
    declared = {(topic.name, topic.type.replace("/msg/", "/")) for topic in known}
    assert shown == declared


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[NEEDS_NUMBA] if page.name in COMPILED else []) for page in PAGES],
    ids=lambda page: page.name,
)
def test_whole_programs_in_python_run(page, capsys):
    """Those that begin with an import, and what they print is shown below them; the others are excerpts."""
    programs = r"^```python\n((?:from|import) .*?)^```\n((?:\n|    [^\n]*\n)*)"
    for program, shown in re.findall(programs, text(page), re.DOTALL | re.MULTILINE):
        exec(program, {})
        if printed := capsys.readouterr().out:
            assert textwrap.dedent(shown).strip() == printed.strip()


def test_what_the_page_on_extending_shows_is_quoted_from_files_that_tests_run():
    files = [text(path) for pattern in ("*.py", "*.toml", "*.yaml") for path in (ROOT / "examples").glob(pattern)]
    files += [text(ROOT / path) for path in ("test/test_extension.py", "vds_gz/core/vehicle/swerve.py")]
    blocks = re.findall(r"^( *)```\w+\n(.*?)^\1```", text(DOCS / "extending.md"), re.DOTALL | re.MULTILINE)
    assert blocks
    for _, block in blocks:
        excerpt = textwrap.dedent(block)
        forms = excerpt, textwrap.indent(excerpt, "    ")  # the second one from within a function
        assert any(form in file for form in forms for file in files), f"in no file that tests run:\n{excerpt}"


def test_the_stages_of_an_actuator_are_those_of_its_code():
    stages = str(actuators.__doc__).split("\n\n")[2]
    assert stages.count("\n") == 8
    assert f"\n\n{stages}\n\n" in text(DOCS / "model.md")


def test_the_page_of_the_interface_names_all_that_is_public():
    named = set(re.findall(r"`(\w+)`", text(ROOT / "docs" / "api.md")))
    assert set(vds_gz.__all__) <= named


# ---------------------------------------------------------------------- what is made


def test_the_parameter_reference_is_up_to_date():
    assert text(ROOT / "docs" / "parameters.md") == reference_page(), "run ./dev docs"


@NEEDS_NUMBA
@pytest.mark.skipif(sys.version_info >= (3, 13), reason="since Python 3.13 argparse prints options in another way")
def test_the_page_of_commands_is_what_they_print(monkeypatch):
    make = tool("make", "docs")
    monkeypatch.setenv("COLUMNS", make.COLUMNS)
    assert text(ROOT / "docs" / "commands.md") == make.commands_page(), "run ./dev docs"


def test_every_page_is_in_the_contents_of_the_site():
    listed = re.findall(
        r"^([\w/]+)$", "\n".join(re.findall(r"```{toctree}\n(.*?)```", text(DOCS / "index.md"), re.DOTALL)), re.M
    )
    pages = [page.relative_to(DOCS).with_suffix("").as_posix() for page in DOCS.rglob("*.md")]
    assert sorted(["index", *listed]) == sorted(pages)


def test_every_benchmark_stands_on_its_page_with_the_date_of_its_figures():
    machines = re.split(r"^- ", text(DOCS / "benchmarks.md").partition("\n## ")[0], flags=re.M)[1:]
    assert all(re.search(r"\(20\d\d-\d\d-\d\d\)", machine) for machine in machines)
    names = re.findall(r"`(\w+)\.py`", "".join(machines))
    assert sorted(names) == sorted(program.stem for program in (ROOT / "bench").glob("*.py"))


IMPORT_ALL = """
import runpy, sys
for program in sys.argv[1:]:
    try:
        runpy.run_path(program, run_name="imported")
    except ModuleNotFoundError as error:  # what is not installed here, such as rclpy
        if error.name.partition(".")[0] in ("vds_gz", "helpers"):
            raise
"""


def test_benchmarks_find_what_they_import():
    programs = sorted(map(str, (ROOT / "bench").rglob("*.py")))
    command = [sys.executable, "-c", IMPORT_ALL, *programs]
    done = subprocess.run(command, cwd=ROOT / "bench", capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def test_the_parameter_reference_has_every_sensor_and_all_its_parameters():
    _, _, sensors = reference_page().partition("\n## Sensors\n")
    tables = reference_tables(sensors, "###")
    names = {kind.removeprefix("type: "): {"type", *rows} for kind, rows in tables.items()}
    assert names == {kind: {field.name for field in fields(group)} for kind, group in GROUPS.items()}, "run ./dev docs"
