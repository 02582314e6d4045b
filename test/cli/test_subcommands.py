"""The command line: every subcommand helps, refuses wrong use with one message, and says so by its exit code."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from helpers.guest import needs_autoware

import vds_gz
from vds_gz.cli.subcommands import main, subcommands
from vds_gz.core.configuration import preset_file, preset_names
from vds_gz.core.share import share

CAR = str(share("config", "ackermann_car.yaml"))
NEEDS_NUMBA = pytest.mark.skipif(find_spec("numba") is None, reason="sweep needs numba")
NEEDS_SCIPY = pytest.mark.skipif(find_spec("scipy") is None, reason="compare needs scipy")


def vds_gz_tool(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    """The tool in its own process."""
    return subprocess.run(
        [sys.executable, "-m", "vds_gz.cli", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
        check=False,
    )


def parameter_file(folder: Path, text: str) -> str:
    path = folder / "vehicle.yaml"
    path.write_text(text)
    return str(path)


def test_help_lists_the_commands(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    said = capsys.readouterr().out
    assert all(f"  {name} " in said and command.description in said for name, command in COMMANDS.items())


def test_the_list_of_commands_imports_none_of_them():
    code = (
        "import sys; from vds_gz.cli.subcommands import OWN, main\n"
        "try: main(['--help'])\n"
        "except SystemExit: print(sys.modules.keys() & {module for module, *_ in OWN.values()}, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "set()\n"


COMMANDS = subcommands()


def runnable(names):
    return [pytest.param(name, marks=NEEDS_NUMBA) if name == "sweep" else name for name in names]


@pytest.mark.parametrize("command", runnable(COMMANDS))
def test_every_command_helps(command, capsys):
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    assert f"usage: vds-gz {command}" in capsys.readouterr().out


def test_version(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"vds_gz {vds_gz.__version__}\n"


def test_little_is_imported_before_ctrl_c_ends_the_program_without_a_traceback():
    code = "import sys, vds_gz.cli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert {name for name in loaded if name.startswith("vds_gz")} == {"vds_gz", "vds_gz.cli"}
    assert not loaded & {"argparse", "inspect"}


@pytest.mark.parametrize(("given", "threads"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2")])
def test_blas_has_one_thread_unless_the_user_gives_a_number(given, threads):
    """Numpy reads the number when it is imported."""
    program = """
import os, sys
from vds_gz.cli import main
assert "numpy" not in sys.modules
assert main(["completion", "bash"]) == 0
assert "numpy" in sys.modules
print(os.environ["OPENBLAS_NUM_THREADS"])
"""
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"} | given
    printed = subprocess.check_output([sys.executable, "-c", program], text=True, env=environment)
    assert printed.splitlines()[-1] == threads


def test_no_command(capsys):
    assert main([]) == 2
    assert "commands:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "proposal"), [("identfy", "; did you mean 'identify'?"), ("chek", "; did you mean 'check'?"), ("xyz", "")]
)
def test_unknown_command(capsys, word, proposal):
    assert main([word]) == 2
    assert capsys.readouterr().err == f"vds-gz: there is no command '{word}'{proposal} (see vds-gz --help)\n"


# ---------------------------------------------------------------------- check, parameters


def test_check_tells_what_differs(capsys):
    assert main(["check", CAR]) == 0
    said = capsys.readouterr().out
    assert f"{CAR}: OK, model bicycle\n" in said
    assert "  model_params.bicycle.wheel_base: 2.7 m  (default 1.6)\n" in said
    assert "step_rate" not in said


def test_check_of_all_presets(capsys):
    files = [str(preset_file(name)) for name in preset_names()]
    assert main(["check", *files]) == 0
    assert capsys.readouterr().out.count(": OK, model ") == len(files)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sim_node:\n  ros__parameters:\n    steprate: 5.0\n", ["'steprate'", "line 3", "'step_rate'"]),
        ("sim_node:\n  ros__parameters:\n    step_rate: -5.0\n", ["'step_rate' is -5", "at least 0.1"]),
        ("sim_node:\n  ros__parameters:\n    model: [\n", ["not valid YAML"]),
        ("", ["it is empty"]),
        ("other:\n  ros__parameters:\n    model: omni\n", ["no section for node '/sim_node'"]),
        ("sim_node:\n  ros__parameters:\n    pub_rate: 2000.0\n", ["at most step_rate, 1000 [Hz] (file ", ", line 3)"]),
        (
            "sim_node:\n  ros__parameters:\n    model: omni\n    model: bicycle\n",
            ["line 4: 'model' is there twice; first in line 3"],
        ),
        ("sim_node: {ros__parameters: {model: omni, model: bicycle}}\n", ["'model' is there twice"]),
        (
            "sim_node:\n  ros__parameters:\n    gazebo.world: a\n    gazebo:\n      world: b\n",
            ["line 5: 'gazebo.world' is there twice; first in line 3"],
        ),
        (
            "/sim_node:\n  ros__parameters:\n    model: omni\nsim_node:\n  ros__parameters:\n    model: omni\n",
            ["line 6: section '/sim_node' is there twice; first in line 3"],
        ),
    ],
)
def test_check_of_a_wrong_file(tmp_path, capsys, text, said):
    file = parameter_file(tmp_path, text)
    assert main(["check", CAR, file]) == 1
    output = capsys.readouterr()
    assert f"{CAR}: OK" in output.out
    assert len(output.err.splitlines()) == 1
    for part in [file, *said]:
        assert part in output.err


ALL_WRONG = """sim_node:
  ros__parameters:
    model: differential
    worl: hall
    world: hal
    pub_rate: 2000.0
    moving_obstacles: nowhere.yaml
    random_seed: [1, 2.0]
    model_params:
      differential: {track: -1.0}
"""


def test_check_finds_all_errors_of_a_file_with_their_lines(tmp_path, capsys):
    file = parameter_file(tmp_path, ALL_WRONG)
    assert main(["check", file]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [re.findall(rf"{file}, line (\d+)", line) for line in lines] == [[str(n)] for n in (4, 5, 6, 7, 8, 10)]
    names = (
        "'worl'",
        "'world'",
        "'pub_rate'",
        "'moving_obstacles'",
        "'random_seed'",
        "'model_params.differential.track'",
    )
    assert all(name in line for name, line in zip(names, lines, strict=True))
    assert "there is no world 'hal'" in lines[1]


MAP = "actuation_cmd: {accel_map_path: nowhere.csv}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            "model: actuation_cmd\n    model_params: {" + MAP + "}",
            "map 'nowhere.csv' does not exist",
            marks=needs_autoware,
        ),
        ("model: omni\n    model_params: {bicycle: {wheel_base: 2.0}}", "is of the model 'bicycle'"),
        ("gazebo: {joint_names: left}", "it must be pairs ours=theirs"),
        ("gazebo: {controlled_joints: 'steering_left, wheel'}", "has 'wheel'; the joints are "),
        ("sensors: {gps: {type: gnss, regions: none}}", "regions"),
    ],
)
def test_what_check_refuses_the_node_refuses(tmp_path, capsys, text, said):
    file = parameter_file(tmp_path, f"sim_node:\n  ros__parameters:\n    {text}\n")
    assert main(["check", file]) == 1
    result = capsys.readouterr().err
    assert said in result
    assert f"{file}, line" in result
    assert main(["node", file]) == 2
    assert capsys.readouterr().err == f"sim_node: {result}"


def test_check_names_what_is_probably_a_mistake(tmp_path, capsys):
    text = """sim_node:
  ros__parameters:
    model: differential
    gazebo: {joint_names: steering=servo}
    model_params:
      omni: {track: 1.0}
      differential: {track: 0.3, tire_diameter: 0.1, drive_actuators: {dead_time: 30.0}}
    sensors: {lidar: {type: rplidar_a2}, imu: {type: imu}, front: {type: lidar2d, xyz: [0.05, 0.0, 0.1]}}
"""
    file = parameter_file(tmp_path, text)
    assert main(["check", file]) == 0
    findings = [line for line in capsys.readouterr().out.splitlines() if "finding: " in line]
    expected = [
        f"'model_params.omni' (file {file}, line 6) has no effect",
        f"'model_params.differential.drive_actuators.dead_time' (file {file}, line 7) is 30 s; is that ms?",
        "'gazebo.joint_names' names 'steering', which has no effect: the joints are ",
        "sensor 'lidar' is mounted at x 1.8, y 0 m, outside the vehicle",
    ]
    assert len(findings) == len(expected)
    for finding, text in zip(findings, expected, strict=True):
        assert text in finding


def test_a_joint_of_ours_may_move_two_of_gazebos(tmp_path, capsys):
    """As on each side of a robot with four driven wheels."""
    joints = "wheel_left_joint, wheel_left_joint, wheel_right_joint, wheel_right_joint"
    text = f"sim_node: {{ros__parameters: {{model: differential, gazebo: {{controlled_joints: '{joints}'}}}}}}"
    assert main(["check", parameter_file(tmp_path, text)]) == 0
    assert "finding: " not in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["check", "car.yaml"], ["profile", "prbs", "-o", "a.csv"]])
def test_a_deleted_working_directory_is_named(tmp_path, monkeypatch, capsys, arguments: list[str]):
    folder = tmp_path / "deleted"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert main(arguments) == 2
    said = "the working directory has been deleted; change to one that exists"
    assert capsys.readouterr().err == f"vds-gz {arguments[0]}: {said}\n"


def test_check_of_a_file_that_is_not_there(capsys):
    assert main(["check", CAR, "nowhere.yaml"]) == 2
    assert "'nowhere.yaml' does not exist" in capsys.readouterr().err


def test_parameters_are_those_of_all_models(capsys):
    assert main(["parameters"]) == 0
    said = capsys.readouterr().out
    for model in ("bicycle", "differential", "omni"):
        assert f"## `model_params.{model}`" in said


def test_check_needs_the_core_dependencies_only(tmp_path):
    # Imports of these fail.
    for name in ("cyclonedds", "rosbags", "matplotlib", "rich", "zstandard", "scipy", "numba", "rclpy"):
        (tmp_path / f"{name}.py").write_text(f"raise ModuleNotFoundError('no {name}', name='{name}')\n")
    path = os.pathsep.join([str(tmp_path), str(Path(vds_gz.__file__).parents[1])])
    done = vds_gz_tool("check", CAR, PYTHONPATH=path)
    assert (done.returncode, done.stderr) == (0, "")
    done = vds_gz_tool("run", "--forever", PYTHONPATH=path)
    assert done.returncode == 1
    assert "needs the Python package" in done.stderr
    assert "pip install '.[all]'" in done.stderr


# ---------------------------------------------------------------------- wrong use of run and drive


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "--preset", "tank"], ["no preset 'tank'", "ackermann_car", "forklift"]),
        (["run", "--params", "nowhere.yaml"], ["'nowhere.yaml' does not exist"]),
        (["run", "--log", "nowhere.csv"], ["'nowhere.csv' does not exist"]),
        (["run", "--ros-args", "-p", "step_rat:=3.0"], ["'step_rat'", "'step_rate'"]),
        (["run", "--ros-args", "-p"], ["'-p' is the last one"]),
        (["drive", "nowhere.csv"], ["'nowhere.csv' does not exist"]),
        pytest.param(["compare", "nowhere.csv", "forklift"], ["'nowhere.csv' does not exist"], marks=NEEDS_SCIPY),
        pytest.param(["compare", "forklift", "nowhere.yaml"], ["'nowhere.yaml' does not exist"], marks=NEEDS_SCIPY),
        pytest.param(["identify", "a.csv", "-o", CAR], ["must be a folder", CAR, "is a file"], marks=NEEDS_SCIPY),
        pytest.param(["compare", "forklift", "deepracer", "-o", CAR], ["must be a folder"], marks=NEEDS_SCIPY),
        (["drive", CAR], ["line 2", "the columns must be"]),
        (["drive", str(share("config", "drives", "hall.csv")), "--as", "ackermann"], ["velocities", "geometry"]),
        (["drive", str(share("config", "drives", "parking_lot.csv")), "--as", "twist"], ["speeds", "geometry"]),
    ],
)
def test_wrong_use(tmp_path, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    for part in said:
        assert part in error
    assert not list(tmp_path.iterdir()), "nothing half-started"


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--preset", "forklift", "--params", "a.yaml"],
        ["run", "--forever", "--log", "a.csv"],
        ["run", "--domain", "233"],
        ["drive"],
        ["drive", "a.csv", "--rate", "0"],
        ["check"],
    ],
)
def test_wrong_options(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert_one_line(capsys.readouterr(), arguments[0])


def assert_one_line(output, command):
    """Assert that a program printed one line of error with its name, and nothing else."""
    assert output.out == ""
    assert len(output.err.splitlines()) == 1
    assert output.err.startswith((f"vds-gz {command}: ", f"{command}: "))


#: All subcommands, and the program that is not one.
PROGRAMS = [*COMMANDS, "joystick_teleop"]


@pytest.mark.parametrize("command", runnable(PROGRAMS))
def test_every_program_refuses_an_unknown_option(command, capsys):
    with pytest.raises(SystemExit) as end:
        main([command, "--hlp"])
    assert end.value.code == 2
    output = capsys.readouterr()
    assert_one_line(output, command)
    assert "option '--hlp' is unknown; did you mean '--help'?" in output.err


#: Programs that take any number of words, with words for them.
WORDS = {"check": ["a.yaml"], "compare": ["a", "b"], "identify": ["a"], "record": ["a"]}


@pytest.mark.parametrize("command", runnable(name for name in PROGRAMS if name not in WORDS))
def test_every_program_refuses_a_word_that_is_left_over(command, capsys):
    with pytest.raises(SystemExit) as end:
        main([command, "first", "second", "third"])
    assert end.value.code == 2
    assert_one_line(capsys.readouterr(), command)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--params-file", "nowhere.yaml"],
        ["--ros-args", "--params-file", "nowhere.yaml"],
        ["--ros-args", "--frobnicate"],
    ],
)
@pytest.mark.parametrize("command", ["node", "joystick_teleop", "view", "drive", "record", "keys", "run", "gazebo"])
def test_every_node_refuses_a_file_that_is_not_there_and_options_of_ros_in_the_wrong_place(command, arguments, capsys):
    words = [command, *(["a.csv"] if command == "drive" else []), *arguments]
    try:
        code = main(words)
    except SystemExit as end:
        code = end.code
    assert code == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert arguments[-1] in said or "belongs to ROS and must follow --ros-args" in said


@pytest.mark.parametrize("command", ["view", "drive", "record"])
def test_a_program_without_parameters_refuses_them(command, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = [str(share("config", "drives", "hall.csv"))] if command == "drive" else []
    assert main([command, *log, "--ros-args", "-p", "rate:=2.0"]) == 2
    output = capsys.readouterr()
    assert_one_line(output, command)
    assert "unknown parameter 'rate' (-p)" in output.err


WITHOUT_SCIPY = "import sys; sys.modules['scipy'] = None; from vds_gz.cli import main\n"


@pytest.mark.parametrize("words", ["compare live:/ ackermann_car", "identify log.csv"])
def test_a_command_without_scipy_says_what_it_needs_and_begins_nothing(words, tmp_path):
    call = [sys.executable, "-c", WITHOUT_SCIPY + "sys.exit(main(sys.argv[1:]))", *words.split()]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"vds-gz {words.split()[0]}: needs the Python package 'scipy" in done.stderr
    assert "pip install '.[all]'" in done.stderr
    assert not list(tmp_path.iterdir())


@NEEDS_NUMBA
def test_the_help_of_every_command_needs_no_scipy():
    helped = WITHOUT_SCIPY + (
        "for command in sys.argv[1:]:\n"
        "    try: main([command, '--help'])\n"
        "    except SystemExit as end: print(command, end.code, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", helped, *COMMANDS], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == [f"{command} 0" for command in COMMANDS]


@NEEDS_NUMBA
def test_run_without_scipy_says_why_its_report_has_no_numbers():
    hidden = (
        "import importlib.util as u; find = u.find_spec;"
        "u.find_spec = lambda name: None if name == 'scipy' else find(name);"
        "from vds_gz.tools.study.identify.actuator_response import unknown; print(unknown())"
    )
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True, check=True)
    assert done.stdout == "needs scipy\n"
