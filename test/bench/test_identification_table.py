"""bench/identification_table.py: lines and summaries of all recordings, and its exit code."""

from __future__ import annotations

import pytest
from helpers.tools import ROOT, tool

pytest.importorskip("numba")


@pytest.fixture
def table(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench")
    return tool("identification_table", "bench")


def test_a_line_marks_worse_predictions_and_quantities_that_do_not_follow(table):
    def line(*errors):
        return table.line(table.real.Row("car_1", "speed", 1.0, *errors, "a lag", 7.4))

    assert line(0.4, 0.2, 0.1) == "| car_1 | speed | 1.000 | 0.400 | 0.200 | 0.100 | 0.500 | 7 | a lag |"
    assert "| 1.500 WORSE |" in line(0.4, 0.2, 0.3)
    assert "| 1.500 - |" in line(1.4, 1.0, 1.5)


def test_trials_of_known_vehicles_are_counted_and_their_faults_follow(table):
    numbers = {
        "lag": {"true": 0.2, "allowed": 0.01, "found": [0.2, 0.1, 0.3], "least": 0.05},
        "dead_time": {"true": 0.1, "allowed": 0.01, "found": [0.2, 0.15, 0.25], "least": 0.05},
        "gain": {"true": 1.0, "allowed": 0.01, "found": None},
    }
    row = {"case": "car", "seed": 3, "seconds": 2.0, "numbers": numbers, "residuals": {}}
    summary, fault = table.of_known_vehicles("noisy", [row])
    assert summary.startswith(
        "noisy: 1 recordings, 2 of 3 numbers given, 1 of their intervals hold the truth, rms error 1.41"
    )
    assert fault == "  car, seed 3: dead_time 0.2 (0.15 to 0.25), true 0.1: left out"


def test_a_recording_that_fails_is_exit_code_1(table, tmp_path, capsys):
    (tmp_path / "car_1.csv").write_text("time,v_x_command,v_x_measured\n0,0,0\n1,0,0\n")
    (tmp_path / "car.yaml").write_text((ROOT / "examples" / "data" / "f1tenth.yaml").read_text())
    assert table.table(tmp_path, 1, ["car_1"]) == 1
    assert "car_1: RecordingError: recording 'car_1' needs commands that vary" in capsys.readouterr().err


def test_a_median_names_the_recordings_that_it_lacks(table):
    rows = [[table.real.Row(f"car_{k}", "speed", 1.0, 0.4, 0.2, 0.1 * k, "a lag", 7.4)] for k in (1, 3)]
    row = table.sensitivity_row("trials.PROMISING", 0.5, rows, ["car_1", "car_2", "car_3"])
    assert row == "| trials.PROMISING | 0.5 | 1.000 | 1.50 | 1 of 2 | car_2 |"
    assert table.sensitivity_row("unchanged", 1.0, [], ["car_1"]).endswith("| nan | nan | 0 of 0 | car_1 |")
