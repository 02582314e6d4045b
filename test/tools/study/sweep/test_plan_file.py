"""Mistakes in the file of a sweep are reported with line, key, value and what would be right."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest

from vds_gz.cli.sweep import cases_of
from vds_gz.core.errors import VdsGzError
from vds_gz.core.parameters.yaml_reader import Interval
from vds_gz.core.share import share
from vds_gz.tools.study.progress import ignore
from vds_gz.tools.study.sweep.analysis import analyse
from vds_gz.tools.study.sweep.cases import vehicles_of
from vds_gz.tools.study.sweep.plan_file import descriptions, read_sweep
from vds_gz.tools.study.sweep.sweep_runs import Samples, UniformVariation

pytest.importorskip("numba")
from vds_gz.tools.study.sweep.sweep_folder import collect, do_runs

STEPS = "time,v_x,v_y,yaw_rate\n0,1,0,0\n1,0,0,0\n"

PLAN = """\
vehicle: [deepracer, forklift]
controller: [pure_pursuit, {stanley: {gain: 2.0}}]
path: straight.csv
vary:
  drive_actuator.dead_time: {uniform: [0.05, 0.4]}
  steering_actuator.time_constant: {interval: identified.yaml}
  additional_dead_time: {from: 0, to: 0.2, count: 3}
  start.lateral: [-0.1, 0.1]
samples: {sobol: 8, seed: 1}
measure: path.rms
expect: {path.rms: {p99: 0.5}}
"""

IDENTIFIED = """\
sim_node:
  ros__parameters:
    model: bicycle
    model_params:
      bicycle:
        steering_actuator:
          time_constant: 0.1  # 95 % if the model holds: 0.08 to 0.12
"""


@pytest.fixture
def read(tmp_path):
    (tmp_path / "straight.csv").write_text("x,y\n0,0\n20,0\n")
    (tmp_path / "doubled.csv").write_text("x,y\n0,0\n1,0\n1,0\n")
    (tmp_path / "steps.csv").write_text(STEPS)
    (tmp_path / "identified.yaml").write_text(IDENTIFIED)

    def read(text):
        (tmp_path / "sweep.yaml").write_text(text)
        return read_sweep(tmp_path / "sweep.yaml")

    return read


def test_a_batch_has_runs_of_one_case(read):
    sweep = read(PLAN)
    count, done = len(sweep.space), [3, len(sweep.space) + 5]
    pieces = sweep.batches(done, shared=False)
    assert len(sweep.cases) == 4
    assert all(piece[0] // count == piece[-1] // count for piece in pieces)
    assert sorted([*done, *(run for piece in pieces for run in piece)]) == list(range(len(sweep)))


@pytest.mark.parametrize(("duration", "together"), [(0.1, 2048), (500.0, 128), (1e6, 64)])
def test_batches_have_2048_short_runs_or_64_long_ones(read, duration, together):
    sweep = read(PLAN)
    space = dataclasses.replace(sweep.space, samples=Samples(count=1000))
    sweep = dataclasses.replace(sweep, space=space, driving=dataclasses.replace(sweep.driving, duration=duration))
    assert max(map(len, sweep.batches([], shared=False))) == together


@pytest.mark.parametrize("workers", [None, 1], ids=["here", "in a process"])
def test_a_controller_beside_the_file_is_found(read, tmp_path, monkeypatch, workers):
    monkeypatch.setattr(sys, "path", [*sys.path])
    name = f"controller_beside_{workers}"
    (tmp_path / f"{name}.py").write_text(
        "import numpy as np\ndef straight(observations):\n    return np.tile([0.0, 1.0], (len(observations), 1))\n"
    )
    plan = f"vehicle: deepracer\ncontroller: {name}:straight\npath: straight.csv\nmeasure: path.peak\n"
    sweep = read(f"{plan}driving: {{rate: 20, duration: 0.5}}\n")
    assert not do_runs(tmp_path / "out", sweep, workers, ignore)
    assert collect(tmp_path / "out")["path.peak"].tolist() == [0.0]


@pytest.mark.parametrize(
    "plan",
    [
        "controller: pure_pursuit\npath: straight.csv\ndriving: {rate: 20, duration: 20, bound: 0.5}\n"
        "measure: [path.peak, delay_margin]\n",
        "commands: steps.csv\nmeasure: [path.peak]\n",
    ],
    ids=["controller", "commands"],
)
def test_progress_within_a_piece_adds_up_to_its_runs(read, plan):
    sweep = read(f"vehicle: deepracer\n{plan}vary: {{drive_actuator.dead_time: [0.1, 0.2, 0.3]}}\n")
    parts = []
    sweep.run(range(3), parts.append)
    assert sum(parts) == pytest.approx(3.0)
    assert max(parts) < 1.0


def test_intervals_in_the_vehicle_s_file_are_read(read):
    """A report draws them among the varied values."""
    plan = """\
        vehicle: identified.yaml
        controller: pure_pursuit
        path: straight.csv
        vary: {steering_actuator.time_constant: [0.0, 0.1, 0.5], steering_actuator.dead_time: [0.1, 0.2]}
        measure: path.rms
    """
    assert read(plan).identified == {"steering_actuator.time_constant": Interval(0.1, 0.08, 0.12)}
    assert read(plan.replace("identified.yaml", "deepracer")).identified == {}


@pytest.mark.parametrize(
    ("grid", "values"),
    [
        ("{from: 0.4, to: 1.6, count: 7}", (0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6)),
        ("{from: -0.3, to: 0.3, count: 7}", (-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3)),
        ("{from: 0, to: 0.001, count: 4}", (0.0, 1e-3 / 3.0, 2e-3 / 3.0, 1e-3)),
    ],
)
def test_a_grid_has_decimal_numbers_without_rounding_errors(read, grid, values):
    sweep = read(PLAN.replace("[-0.1, 0.1]", grid))
    assert sweep.space.variations["start.lateral"] == values


def test_all_combinations_are_run(read):
    sweep = read(PLAN)
    assert len(sweep) == 2 * 2 * 3 * 2 * 8
    assert sweep.space.variations == {
        "drive_actuator.dead_time": UniformVariation(0.05, 0.4),
        "steering_actuator.time_constant": UniformVariation(0.08, 0.12),
        "additional_dead_time": (0.0, 0.1, 0.2),
        "start.lateral": (-0.1, 0.1),
    }
    assert [tuple(case.labels.values())[:2] for case in sweep.cases] == [
        ("deepracer", "pure_pursuit"),
        ("deepracer", "stanley"),
        ("forklift", "pure_pursuit"),
        ("forklift", "stanley"),
    ]
    assert sweep.cases[1].drive.gains == {"gain": 2.0}
    assert read(PLAN).digest == sweep.digest
    assert read(PLAN.replace("expect: {path.rms: {p99: 0.5}}", "")).digest == sweep.digest
    assert read(PLAN.replace("seed: 1", "seed: 2")).digest != sweep.digest


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (PLAN, "", "it is empty"),
        (PLAN, "vehicle: [a: {", r"line \d: not valid YAML"),
        (PLAN, "vehicle: " + "[" * 60 + "]" * 60, "lists and mappings are nested more than 50 deep"),
        (PLAN, "vehicle: " + "[" * 5000 + "]" * 5000, "not valid YAML|more than 50 deep"),
        ("vary:", "vari:", "line 4: 'vari' is not a key here; .* nearest is 'vary'"),
        ("[deepracer, forklift]", "[deepracer, deepracer]", "item 2 is 'deepracer' again"),
        ("[deepracer, forklift]", "deepracr", "line 1: 'vehicle' - 'deepracr' is no parameter file"),
        ("measure: path.rms\n", "", "'measure' is missing"),
        ("path.rms\n", "path.rmss\n", "line 10: 'measure' - unknown measure 'path.rmss'.*nearest is 'path.rms'"),
        ("path.rms\n", "[]\n", "'measure' is empty"),
        ("[-0.1, 0.1]", "[]", "line 8: 'vary' 'start.lateral' is empty"),
        ("[-0.1, 0.1]", "[-0.1, much]", "item 2 is 'much'; it must be a finite number"),
        ("[-0.1, 0.1]", "{uniform: [1.0, 0.5]}", r"is \[1.0, 0.5\]; it must be two numbers, the lower one first"),
        ("[-0.1, 0.1]", "{normal: [0, 1]}", "'normal' is not a key here"),
        ("drive_actuator.dead_time", "drive_actuator.deadtime", "nearest valid name is 'drive_actuator.dead_time'"),
        ("[0.05, 0.4]", "[-0.05, 0.4]", "line 5: .* is -0.05; it must be a finite number, at least 0"),
        (
            "time_constant: {int",
            "max_velocity: {int",
            "which has no interval of 'steering_actuator.max",
        ),
        ("interval: identified.yaml", "interval: none.yaml", "'none.yaml' does not exist"),
        ("samples: {sobol: 8, seed: 1}\n", "", "so 'samples' must say how often"),
        ("sobol: 8", "sobol: 0", "line 9: 'samples' 'sobol' is '0'; it must be a whole number of at least 1"),
        ("sobol: 8", "halton: 8", "'halton' is not a key here"),
        ("p99: 0.5", "p98: 0.5", "line 11: 'expect' - expect: 'path.rms' has no 'p98'"),
        ("expect: {path.rms", "expect: {path.peak", "'path.peak' is not measured"),
        ("stanley: {gain: 2.0}", "stanley: {gian: 2.0}", "'gian' is not a parameter of this controller; it has .*gain"),
        ("stanley: {gain: 2.0}", "stanley: {gain: -2.0}", "it must be a finite number, at least 0"),
        ("pure_pursuit", "pure_porsuit", "controller 'pure_porsuit' is unknown; there are pure_pursuit"),
        ("pure_pursuit", "nothing_at_all:f", "module 'nothing_at_all' cannot be imported"),
        ("straight.csv", "doubled.csv", "line 3: 'path' - .*doubled.csv, line 4"),
        ("path: straight.csv", "commands: steps.csv", "there must be either 'commands'"),
        ("measure: path.rms", "driving: {rate: 0}\nmeasure: path.rms", "'rate' is 0; it must be greater than 0"),
        ("measure: path.rms", "measure: delay_margin", "delay_margin, which needs a bound"),
        (
            "measure: path.rms",
            "driving: {rate: 30}\nmeasure: path.rms",
            "deepracer: rate is 30 Hz; the vehicles' 1000 steps per second must be a whole multiple of it",
        ),
        (
            "measure: path.rms",
            "driving: {duration: 0.001}\nmeasure: path.rms",
            "duration is 0.001 s; it must be at least a period, which is 0.02 s",
        ),
        (
            "{stanley: {gain: 2.0}}",
            "{pure_pursuit: {look_ahead: 2.0}}",
            "'controller' item 2 is 'pure_pursuit' again",
        ),
        ("forklift]", "forklift]\x07", "not valid YAML: control characters are not allowed"),
        (
            "count: 3",
            "count: 3000000000",
            "'count' is '3000000000'; it must be a whole number of at least 2 and at most 1000",
        ),
    ],
)
def test_mistakes_are_named(read, old, new, words):
    assert old in PLAN
    with pytest.raises(VdsGzError, match=words):
        read(PLAN.replace(old, new, 1) if new or old != PLAN else "")


@pytest.mark.parametrize("file", sorted(share("config", "sweeps").glob("*.yaml")), ids=lambda file: file.stem)
def test_sweeps_of_the_package_are_valid(file):
    assert len(read_sweep(file))


def test_samples_without_intervals_are_refused(read):
    with pytest.raises(VdsGzError, match="nothing is drawn from an interval"):
        read("vehicle: deepracer\ncommands: steps.csv\nsamples: {random: 5}\nmeasure: settle\n")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(VdsGzError, match=r"sweep '.*none.yaml' does not exist"):
        read_sweep(tmp_path / "none.yaml")


LISTS = """\
vehicle: tugger
commands: steps.csv
vary:
  model_params.bicycle.trailers.drawbar: [[1.0, 1.1, 1.2], [0.8, 0.9, 0.7]]
  trailers.hitch_offset[1]: {from: -1.0, to: 0.5, count: 2}
  trailers.track[0]: {uniform: [0.6, 0.8]}
samples: {random: 2}
measure: path.end
"""


def test_lists_and_their_numbers_are_varied(read):
    sweep = read(LISTS)
    drawbars = [f"model_params.bicycle.trailers.drawbar[{k}]" for k in range(3)]
    assert sweep.space.columns == (*drawbars, "trailers.hitch_offset[1]", "trailers.track[0]")
    case, values = sweep.drawn(range(len(sweep)))
    nominal = case.vehicle.vehicle.trailers
    trailers = [vehicle.trailers for vehicle in vehicles_of(case, values, len(sweep))]
    assert [trailer.drawbar for trailer in trailers] == [(1.0, 1.1, 1.2)] * 4 + [(0.8, 0.9, 0.7)] * 4
    assert [trailer.hitch_offset[1] for trailer in trailers] == [-1.0, -1.0, 0.5, 0.5] * 2
    assert {trailer.hitch_offset[0] for trailer in trailers} == {nominal.hitch_offset[0]}
    tracks = [trailer.track[0] for trailer in trailers]
    assert len(set(tracks)) == 2
    assert all(0.6 <= track <= 0.8 for track in tracks)
    described = dict(descriptions(sweep, case))
    assert [*described] == ["trailers.hitch_offset[1]", "trailers.track[0]"]
    assert described["trailers.hitch_offset[1]"].default == nominal.hitch_offset[1]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[1.0, 1.1, 1.2]", "1.0", r"item 1 has 1 item; it must have 3: .*trailers.drawbar\[0\]"),
        ("0.7]", "0.7, 1.0]", "item 2 has 4 items; it must have 3"),
        ("0.7]", "-5.0]", "it must be a list of at most 5 finite numbers, at least 0.01"),
        (
            "[[1.0, 1.1, 1.2], [0.8, 0.9, 0.7]]",
            "{from: 1, to: 2, count: 2}",
            "'from' is not a key here; there are grid",
        ),
        ("hitch_offset[1]", "hitch_offset[3]", "no such number; the nearest valid name is 'trailers.hitch_offset"),
        (
            "trailers.track[0]",
            "trailers.drawbar[0]",
            r"'trailers.drawbar' varies as a whole and as 'trailers.drawbar\[0",
        ),
        ("tugger", "deepracer", "is an empty list in the vehicle"),
        ("tugger", "[tugger, truck]", "has 1 and 3 numbers in different vehicles"),
    ],
)
def test_mistakes_in_lists_are_named(read, old, new, words):
    with pytest.raises(VdsGzError, match=words):
        read(LISTS.replace(old, new, 1))


def test_a_list_that_varies_as_a_whole_is_one_parameter_of_the_report(read, tmp_path):
    places = "[[0.381, 0.381, -0.381, -0.381], [0.2, 0.381, -0.381, -0.2], [0.25, 0.3, -0.3, -0.2]]"
    (tmp_path / "turn.csv").write_text("time,v_x,v_y,yaw_rate\n0,1,0,1\n1,0,0,0\n")
    sweep = read(
        f"vehicle: swerve_robot\ncommands: turn.csv\nvary: {{module_y: {places}, "
        "steering_actuators.time_constant: {uniform: [0.05, 0.3]}}\nsamples: {sobol: 32}\nmeasure: path.end\n"
    )
    assert not do_runs(tmp_path / "out", sweep, None, ignore, print)
    [runs] = cases_of(sweep, collect(tmp_path / "out", "run", *sweep.space.columns, *sweep.measures, "status"))
    assert runs.parameters["module_y (number of its list)"].tolist() == [1.0] * 32 + [2.0] * 32 + [3.0] * 32
    indices = analyse(runs).sensitivities["path.end"]
    assert indices.trusted
    assert indices.first["steering_actuators.time_constant"] > 0.9
    # Of the variance, the list alone causes that of the means over all samples.
    means = runs.measures["path.end"].reshape(3, 32).mean(axis=1)
    alone = np.var(means) / np.var(runs.measures["path.end"])
    assert indices.first["module_y (number of its list)"] == pytest.approx(alone, abs=0.02)


def test_vehicles_with_varied_lists_drive(read, tmp_path):
    nominal, other = [0.381, 0.381, -0.381, -0.381], [0.2, 0.381, -0.381, -0.2]
    lists = f"vehicle: swerve_robot\ncommands: turn.csv\nvary: {{module_y: [{nominal}, {other}]}}\nmeasure: path.end\n"
    (tmp_path / "turn.csv").write_text("time,v_x,v_y,yaw_rate\n0,1,0,1\n1,0,0,0\n")
    sweep = read(lists)
    assert not do_runs(tmp_path / "out", sweep, None, ignore, print)
    table = collect(tmp_path / "out", *sweep.space.columns, "path.end")
    assert [table[f"module_y[{k}]"].tolist() for k in range(4)] == [
        list(pair) for pair in zip(nominal, other, strict=True)
    ]
    assert table["path.end"][0] == 0.0
    assert table["path.end"][1] > 1e-4
