"""Identical runs differ by nothing at all, and a later one is found to be as much later as it is."""

import json

import pytest
import yaml

from vds_gz.cli import main

SLOW = {"dead_time": 0.22}


def parameter_file(folder, name, **drive):
    actuators = {"dead_time": 0.2, "time_constant": 0.3, "max_velocity": 2.0, "max_acceleration": 1.5}
    content = {
        "model": "bicycle",
        "model_params": {
            "bicycle": {"drive_actuator": {**actuators, **drive}, "steering_actuator": {"dead_time": 0.1}}
        },
    }
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump({"sim_node": {"ros__parameters": content}}))
    return str(path)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["profile", "steps", "--speed", "2.5", "--steering", "0.4", "--duration", "9", "-o", "log.csv"]) == 0
    return tmp_path


def report(folder):
    return json.loads((folder / "compare" / "report.json").read_text())


def test_identical_models_differ_by_exactly_nothing(folder, capsys):
    a, b = parameter_file(folder, "a"), parameter_file(folder, "b")
    assert main(["compare", a, b, "--log", "log.csv"]) == 0
    assert "The runs are identical." in capsys.readouterr().out
    for one in report(folder)["differences"]:
        assert (one["rms"], one["peak"], one["delay"], one["rms_aligned"]) in ((0, 0, 0, 0), (0, 0, None, None))
    assert set(report(folder)["path"].values()) == {0.0}


def test_a_recording_against_its_own_model_differs_by_nothing(folder, capsys):
    a = parameter_file(folder, "a")
    assert main(["replay", "log.csv", "--params", a, "-o", "run.mcap"]) == 0
    assert main(["compare", "run.mcap", a]) == 0
    worst = max(one["peak"] for one in report(folder)["differences"])
    assert worst < 1e-12
    assert main(["compare", "run.mcap", "run.mcap"]) == 0
    assert "The runs are identical." in capsys.readouterr().out


def test_twenty_milliseconds_more_are_named(folder, capsys):
    a, b = parameter_file(folder, "a"), parameter_file(folder, "b", **SLOW)
    assert main(["compare", a, b, "--log", "log.csv"]) == 0
    said = capsys.readouterr().out
    assert "drive 20.0 ms later" in said
    assert "+20.0 ms" in said
    drive = next(one for one in report(folder)["differences"] if one["name"] == "drive")
    assert drive["delay"] == pytest.approx(0.02, abs=2e-4)
    html = (folder / "compare" / "report.html").read_text()
    assert "data:image/png;base64" in html
    assert "http" not in html.replace("http-equiv", "")


def test_tables_of_different_rates_are_compared(folder):
    a, b = parameter_file(folder, "a"), parameter_file(folder, "b", dead_time=0.207)
    assert main(["replay", "log.csv", "--params", a, "-o", "a.csv"]) == 0
    assert main(["replay", "log.csv", "--params", b, "--rate", "130", "-o", "b.csv"]) == 0
    assert main(["compare", "a.csv", "b.csv"]) == 0
    speed = report(folder)["differences"][0]
    assert speed["delay"] == pytest.approx(0.007, abs=1e-3)


def test_a_tolerance_file_is_a_gate(folder, capsys):
    a, b = parameter_file(folder, "a"), parameter_file(folder, "b", **SLOW)
    (folder / "bounds.yaml").write_text("drive: {rms: 1.0, delay: 0.01}\npath: {peak: 100}\n")
    assert main(["compare", a, b, "--log", "log.csv", "--tolerance", "bounds.yaml"]) == 1
    error = capsys.readouterr().err
    assert "drive delay is 0.02" in error
    assert "must be at most 0.01" in error
    assert error.count("\n") == 1
    assert main(["compare", a, a, "--log", "log.csv", "--tolerance", "bounds.yaml"]) == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it must hold quantities"),
        ("sped: {rms: 1}", "unknown quantity 'sped'"),
        ("speed: {rns: 1}", "nearest is 'rms'"),
        ("speed: {rms: fast}", "must be a number of at least 0"),
    ],
)
def test_wrong_tolerance_files_are_refused(folder, capsys, text, said):
    (folder / "bounds.yaml").write_text(text)
    a = parameter_file(folder, "a")
    assert main(["compare", a, a, "--log", "log.csv", "--tolerance", "bounds.yaml"]) == 2
    assert said in capsys.readouterr().err


def test_wrong_runs_are_refused(folder, capsys):
    a = parameter_file(folder, "a")
    assert main(["compare", "nothing.mcap", a]) == 2
    assert "'nothing.mcap' is no file" in capsys.readouterr().err
    (folder / "empty.csv").write_text("")
    (folder / "swapped.csv").write_text("time,x\n0,1\n")
    (folder / "broken.mcap").write_bytes(b"\x89MCAP0\r\n")
    for name, said in (("empty.csv", "the file is empty"), ("swapped.csv", "no column 'y'"), ("broken.mcap", "broken")):
        assert main(["compare", name, name]) == 2
        error = capsys.readouterr().err
        assert said in error
        assert error.count("\n") == 1
