"""A run is read from any bag or table that identify takes, with the times of the vehicle."""

import gzip

import numpy as np
import pytest

from vds_gz.cli import main
from vds_gz.study.compare.alignment import align
from vds_gz.study.reading.run import read
from vds_gz.study.recording import RecordingError


def rows(time, *columns):
    return "".join(",".join(map(repr, map(float, row))) + "\n" for row in zip(time, *columns, strict=True))


def test_the_table_of_identify_goes_through_compare_and_replay(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    time = 0.02 * np.arange(1500)
    speed = np.interp(time, np.arange(31.0), np.random.default_rng(0).uniform(0.0, 1.0, 31)).round(3)
    late = np.interp(time - 0.2, time, speed)
    head = "time,v_x_command,yaw_rate_command,v_x_measured\n"
    (tmp_path / "a.csv").write_text(head + rows(time, speed, 0.0 * time, speed))
    cells = "".join(f"{t + 5.0},{v},0,\n{t + 5.001},,,{m}\n" for t, v, m in zip(time, speed, late, strict=True))
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress((head + cells).encode()))
    assert main(["compare", "a.csv", "b.csv.gz"]) == 0
    said = capsys.readouterr().out
    assert "B against A: speed 20" in said
    assert "NaN" not in said, "an empty cell is no remark"
    assert main(["replay", "b.csv.gz", "--preset", "indoor_robot", "-o", "model.csv"]) == 0
    assert main(["compare", "b.csv.gz", "indoor_robot"]) == 0


@pytest.mark.parametrize(("begin", "end"), [(0.0, 30.0), (7.0, 30.0), (0.0, 21.0), (4.0, 26.0)])
def test_runs_are_aligned_by_what_was_commanded_wherever_they_begin(tmp_path, begin, end):
    time = 0.05 * np.arange(600)
    speed = np.repeat(np.random.default_rng(1).uniform(0.0, 1.0, 30), 20)
    part = (time >= begin) & (time < end)
    head = "time,v_x_command,v_x_measured\n"
    for name, at, chosen in (("a", time, time >= 0.0), ("b", time + 100.0, part)):
        (tmp_path / f"{name}.csv").write_text(head + rows(at[chosen], speed[chosen], speed[chosen]))
    found = align(read(tmp_path / "a.csv"), read(tmp_path / "b.csv"))
    assert not found.doubt
    a, b = (read(tmp_path / f"{name}.csv").motion.time[0] for name in "ab")
    assert (found.b - found.a) == pytest.approx(100.0, abs=1e-6)
    assert (a, b) == (0.0, 100.0 + begin)


@pytest.mark.parametrize("seed", range(3))
def test_other_commands_are_no_alignment(tmp_path, seed):
    time = 0.05 * np.arange(600)
    for name, k in (("a", 0), ("b", 1)):
        speed = np.repeat(np.random.default_rng(2 * seed + k).uniform(0.0, 1.0, 30), 20)
        (tmp_path / f"{name}.csv").write_text("time,v_x_command,v_x\n" + rows(time, speed, speed))
    assert "different" in align(read(tmp_path / "a.csv"), read(tmp_path / "b.csv")).doubt


def test_velocities_come_from_a_pose_where_nothing_else_was_measured(tmp_path):
    time = 0.02 * np.arange(500)
    heading = 0.5 * time
    head = "time,v_x_command,x,y,heading\n"
    (tmp_path / "a.csv").write_text(
        head + rows(time, 0.0 * time, 2.0 * np.sin(heading), -2.0 * np.cos(heading), heading)
    )
    motion = read(tmp_path / "a.csv").motion
    assert motion.v_x == pytest.approx(np.ones(len(motion.time)), abs=1e-3)
    assert motion.yaw_rate == pytest.approx(0.5 * np.ones(len(motion.time)), abs=1e-9)


def test_what_tells_nothing_of_a_vehicle_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("time,v_x_command\n0,1\n1,2\n")
    with pytest.raises(RecordingError, match="no column with measurements"):
        read(tmp_path / "a.csv")
