"""bench/real.py: the simple fit beside which identified vehicles are judged, and the page that it writes."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.tools import tool

pytest.importorskip("numba")
real = tool("real", "bench")

TIME = np.arange(0.0, 30.0, 0.05)


def course(gain: float, offset: float, lag: float, dead_time: float) -> real.Course:
    """Steps of 1 and 2 m/s every 3 s, and the closed form of the response."""
    begins = np.arange(0.0, 30.0, 3.0)
    commands = np.where(np.arange(10) % 2, 1.0, 2.0)
    response, value = np.zeros(len(TIME)), gain * commands[0]
    for begin, command in zip(begins + dead_time, commands, strict=True):
        since = np.maximum(TIME - begin, 0.0)
        response = np.where(begin <= TIME, gain * command + (value - gain * command) * np.exp(-since / lag), response)
        value = gain * command + (value - gain * command) * np.exp(-3.0 / lag)
    response = np.where(dead_time > TIME, gain * commands[0], response)
    return real.Course(begins, commands, TIME, response + offset, np.ones(len(TIME)))


def test_the_simple_fit_finds_a_first_order_response():
    response = course(gain=0.9, offset=0.05, lag=0.3, dead_time=0.2)
    numbers, dead_time = real.simple_fit([response])
    assert (*numbers[:3], dead_time) == pytest.approx((0.9, 0.05, 0.3, 0.2), abs=0.02)
    predicted = real.simple_prediction(response, numbers, dead_time)
    assert real.rms([predicted - response.measured]) < 0.01


def test_only_the_table_of_a_page_is_replaced():
    page = f"before\n\n{real.TITLE}\n| --- |\n| old |\n\nafter | it\n"
    assert real.replaced(page, [real.TITLE, "| new |"]) == f"before\n\n{real.TITLE}\n| new |\n\nafter | it\n"


@pytest.mark.parametrize(("files", "said"), [((), "there is none"), (("car.yaml", "old/car.yaml"), "there are ")])
def test_a_recording_needs_exactly_one_vehicle(tmp_path, monkeypatch, capsys, files, said):
    (tmp_path / "old").mkdir()
    (tmp_path / "car_1.csv").touch()
    for file in files:
        (tmp_path / file).touch()
    monkeypatch.setattr("sys.argv", ["real.py", str(tmp_path)])
    with pytest.raises(SystemExit) as end:
        real.main()
    assert end.value.code == 2
    assert f"recording 'car_1' needs exactly one 'car.yaml' in {tmp_path} or a folder in it; {said}" in (
        capsys.readouterr().err.replace("\n", " ")
    )


def row(command: float, simple: float, identified: float) -> real.Row:
    return real.Row("car_1", "speed", 1.0, command, simple, identified, "nothing", 0.0)


@pytest.mark.parametrize(
    ("errors", "ratio", "worse"),
    [
        ((0.4, 0.2, 0.3), 1.5, True),
        ((0.4, 0.2, 0.2), 1.0, False),
        ((0.0, 0.2, 0.0), 1.0, False),
        ((0.0, 0.2, 0.1), np.inf, True),
        ((0.2, 0.4, np.inf), np.inf, True),
        ((1.1, 1.0, 2.0), 2.0, False),
    ],
)
def test_the_ratio_to_the_better_other_prediction(errors, ratio, worse):
    judged = row(*errors)
    assert judged.ratio == pytest.approx(ratio)
    assert judged.worse == worse


def test_the_summary_counts_quantities_that_follow_their_commands():
    rows = [row(0.4, 0.2, 0.3), row(0.4, 0.2, 0.1), row(1.1, 1.0, 2.0)]
    assert real.summary(rows).endswith("median 1.000, worst 1.50, 1 of 2 above 1.05")
    assert real.summary(rows[2:]) == "no quantity follows its command"


def test_a_recording_without_varying_commands_is_refused(tmp_path):
    file, vehicle = tmp_path / "car_1.csv", real.ROOT / "examples" / "data" / "f1tenth.yaml"
    file.write_text("time,v_x_command,v_x_measured\n0,0,0\n1,0,0\n")
    with pytest.raises(real.RecordingError, match="recording 'car_1' needs commands that vary"):
        next(real.rows("car_1", [file], vehicle))
