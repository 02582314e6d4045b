"""The command line: every subcommand helps, refuses wrong use with one message, and says so by its exit code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import vds_gz
from vds_gz.cli.program import COMMANDS, main
from vds_gz.share import share

CAR = str(share("config", "ackermann_car.yaml"))


def vds_gz_tool(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    """The tool in a process of its own."""
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
    assert all(f"  {name} " in said and what in said for name, (_, _, what) in COMMANDS.items())


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "node"])
def test_every_command_helps(command, capsys):
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    assert f"usage: vds-gz {command}" in capsys.readouterr().out


def test_the_node_helps_and_does_not_start(capsys):
    assert main(["node", "--help"]) == 0
    assert capsys.readouterr().out.startswith("usage: vds-gz node")


def test_version(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"vds_gz {vds_gz.__version__}\n"


def test_no_command(capsys):
    assert main([]) == 2
    assert "commands:" in capsys.readouterr().err


def test_unknown_command(capsys):
    with pytest.raises(SystemExit) as end:
        main(["fly"])
    assert end.value.code == 2
    assert "'fly'" in capsys.readouterr().err


# ---------------------------------------------------------------------- check, parameters


def test_check_tells_what_differs(capsys):
    assert main(["check", CAR]) == 0
    said = capsys.readouterr().out
    assert f"{CAR}: OK, model bicycle\n" in said
    assert "  model_params.bicycle.wheel_base: 2.7 m  (default 1.6)\n" in said
    assert "step_rate" not in said


def test_check_of_all_presets(capsys):
    files = [str(path) for path in share("config").glob("*.yaml") if "sim_node:" in path.read_text()]
    assert main(["check", *files]) == 0
    assert capsys.readouterr().out.count(": OK, model ") == len(files)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sim_node:\n  ros__parameters:\n    steprate: 5.0\n", ["'steprate'", "line 3", "'step_rate'"]),
        ("sim_node:\n  ros__parameters:\n    step_rate: -5.0\n", ["'step_rate' is -5", "greater than 0"]),
        ("sim_node:\n  ros__parameters:\n    model: [\n", ["not valid YAML"]),
        ("", ["nothing in it"]),
        ("other:\n  ros__parameters:\n    model: omni\n", ["no section for node '/sim_node'"]),
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


def test_check_of_a_file_that_is_not_there(capsys):
    assert main(["check", "nowhere.yaml"]) == 1
    assert "'nowhere.yaml' does not exist" in capsys.readouterr().err


def test_parameters_are_those_of_all_models(capsys):
    assert main(["parameters"]) == 0
    said = capsys.readouterr().out
    for model in ("bicycle", "differential", "omni"):
        assert f"## `model_params.{model}`" in said


def test_check_needs_the_core_dependencies_only(tmp_path):
    # What imports one of these fails.
    for name in ("cyclonedds", "rosbags", "matplotlib", "rich", "zstandard", "scipy", "numba", "rclpy"):
        (tmp_path / f"{name}.py").write_text(f"raise ModuleNotFoundError('no {name}', name='{name}')\n")
    path = os.pathsep.join([str(tmp_path), str(Path(vds_gz.__file__).parents[1])])
    done = vds_gz_tool("check", CAR, PYTHONPATH=path)
    assert (done.returncode, done.stderr) == (0, "")
    done = vds_gz_tool("run", "--forever", PYTHONPATH=path)
    assert done.returncode == 1
    assert "needs the Python package" in done.stderr
    assert "pip install 'vds_gz[all]'" in done.stderr


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
    assert "error" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["run", "compare", "identify"])
def test_a_command_without_scipy_says_what_it_needs_and_begins_nothing(command, tmp_path):
    hidden = "import sys; sys.modules['scipy'] = None; from vds_gz.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run([sys.executable, "-c", hidden, command], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"vds-gz {command}: needs the Python package 'scipy" in done.stderr
    assert "pip install 'vds_gz[all]'" in done.stderr
    assert not list(tmp_path.iterdir())
