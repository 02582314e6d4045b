"""The report of a sweep has sentences, tables and pictures."""

import json
import math

import numpy as np
import pytest

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.yaml_reader import Interval
from vds_gz.tools.study.sweep.analysis import Runs, analyse

pytest.importorskip("matplotlib")
from vds_gz.tools.study.report.sweep_curves import cases_figure
from vds_gz.tools.study.report.sweep_report import (
    distribution_table,
    draw_heat_map,
    sentences,
    worst_table,
    write_report,
)

DEAD_TIME, LAG, SPEED = "steering_actuator.dead_time", "steering_actuator.time_constant", "controller.speed"
UNITS = {DEAD_TIME: "s", LAG: "s", SPEED: "m/s", "path.peak": "m", "path.rms": "m"}


def swept(count=600, **more):
    random = np.random.default_rng(1)
    drawn = {
        DEAD_TIME: random.uniform(0.02, 0.4, count),
        LAG: random.uniform(0.05, 0.4, count),
        SPEED: random.uniform(0.5, 2.5, count),
    }
    dead_time, lag, speed = drawn.values()
    peak = 0.05 + 0.3 * (dead_time + 0.7 * lag) ** 2 * speed**2
    peak[5] = math.nan
    return Runs(
        drawn,
        {"path.peak": peak, "path.rms": 0.4 * peak},
        UNITS,
        {DEAD_TIME: 0.1, LAG: 0.12},
        {DEAD_TIME: Interval(0.1, 0.07, 0.14), LAG: Interval(0.12, 0.09, 0.15)},
        **more,
    )


def test_a_report_is_self_contained_and_names_broken_bounds(tmp_path):
    runs = swept(expected={"path.peak": {"p50": 1.0, "p99": 0.1}})
    analysis = analyse(runs)
    write_report(tmp_path, "a robot", [(runs, analysis)], ["1 run failed"])
    page = (tmp_path / "report.html").read_text()
    assert "broken: path.peak&#x27;s p99 is" in page
    assert "holds: path.peak&#x27;s p50 is" in page
    assert "Measure steering_actuator.dead_time to +-" in page
    assert "Finding: 1 run failed" in page
    assert page.count("data:image/png;base64,") == 4
    (content,) = json.loads((tmp_path / "report.json").read_text())["cases"]
    assert content["distributions"]["path.peak"]["count"] == 599
    assert content["sensitivities"]["path.peak"]["total"][DEAD_TIME] > 0.1
    assert [one["broken"] for one in content["expectations"]] == [False, True]


def test_cases_have_their_own_sections(tmp_path):
    some = [swept(label="pure_pursuit"), swept(label="stanley", numbers=range(600, 1200))]
    write_report(tmp_path, "two controllers", [(runs, analyse(runs)) for runs in some])
    cases = json.loads((tmp_path / "report.json").read_text())["cases"]
    assert (tmp_path / "cases.png").exists()
    head, rows = distribution_table([(runs, analyse(runs)) for runs in some])
    assert head[:3] == ("measure", "case", "runs")
    assert [row[:2] for row in rows] == [
        (measure, case) for measure in ("path.peak", "path.rms") for case in ("pure_pursuit", "stanley")
    ]
    assert [case["label"] for case in cases] == ["pure_pursuit", "stanley"]
    assert {path.name for path in tmp_path.glob("*distributions.png")} == {"1_distributions.png", "2_distributions.png"}
    _, rows = worst_table(some[1], "path.peak")
    assert all(600 <= int(row[0]) < 1200 for row in rows)


def test_one_varied_parameter_is_drawn_as_curves_with_their_knees():
    delays = np.linspace(0.0, 0.5, 51)
    units = {"dead_time": "s", "path.peak": "m", "delay_margin": "s"}
    cases = []
    for name, limit in (("stanley", 0.3), ("lqr", 0.2)):
        peak = np.where(delays > limit + 0.005, math.inf, 0.1 + 0.1 * delays)
        runs = Runs({"dead_time": delays}, {"path.peak": peak, "delay_margin": 1.0 - delays}, units, label=name)
        cases.append((runs, analyse(runs)))
    first, second = cases_figure(cases).axes
    curves = [line for line in first.lines if line.get_label() in ("stanley", "lqr")]
    assert [np.isfinite(line.get_ydata()).sum() for line in curves] == [31, 21]
    assert [text.get_text() for text in first.texts] == ["knee 0.3 s", "knee 0.2 s", "infinite"]
    assert not second.texts
    assert list(sentences(*cases[0])) == [
        "path.peak gets worse steeply above dead_time 0.3 s (knee), where it is 0.13 m."
    ]


def test_a_scale_is_left_out_only_if_no_case_has_a_finite_value():
    speeds = np.linspace(1.0, 2.0, 11)
    infinite, finite = (
        Runs({"speed": speeds}, {"finished": finished}, label=label)
        for label, finished in (("stanley", np.full(11, math.inf)), ("lqr", 20.0 / speeds))
    )
    both = cases_figure([(infinite, analyse(infinite)), (finite, analyse(finite))]).axes[0]
    assert len(both.get_yticks()) > 2
    assert [text.get_text() for text in both.texts] == ["infinite"]
    alone = cases_figure([(infinite, analyse(infinite))]).axes[0]
    assert not len(alone.get_yticks())


def test_a_knee_at_an_infinite_margin_is_drawn_at_the_upper_edge():
    delays = np.linspace(0.0, 0.5, 51)
    runs = Runs({"dead_time": delays}, {"left": np.where(delays > 0.305, 4.0 - delays, math.inf)}, {"dead_time": "s"})
    figure = cases_figure([(runs, analyse(runs))])
    figure.canvas.draw()
    panel = figure.axes[0]
    note = next(text for text in panel.texts if text.get_text() == "knee 0.3 s")
    assert note.xy == (pytest.approx(0.3), 1.0)
    assert panel.get_ylim()[1] < 5.0


def test_a_report_on_one_varied_parameter_has_no_histograms(tmp_path, monkeypatch):
    delays = np.linspace(0.0, 0.5, 51)
    runs = Runs({"dead_time": delays}, {"path.peak": np.maximum(delays - 0.25, 0.0)})
    monkeypatch.setattr("vds_gz.tools.study.report.sweep_report.TOGETHER", 1)  # a picture for each case
    write_report(tmp_path, "one", [(runs, analyse(runs))] * 2)
    assert {path.name for path in tmp_path.glob("*.png")} == {"cases.png", "cases_1.png"}
    content, _ = json.loads((tmp_path / "report.json").read_text())["cases"]
    assert content["knees"]["path.peak"]["value"] == pytest.approx(0.25)


def test_the_worst_runs_come_first():
    runs = swept()
    head, rows = worst_table(runs, "path.peak")
    assert head[:2] == ("run", "steering_actuator.dead_time [s]")
    peaks = runs.measures["path.peak"]
    assert int(rows[0][0]) == int(np.nanargmax(peaks))
    assert [int(row[0]) for row in rows] == sorted(range(600), key=lambda k: (-np.nan_to_num(peaks[k]), k))[:5]


def test_a_heat_map_has_the_box_and_the_cells_of_its_runs():
    a, b = (values.ravel() for values in np.meshgrid([0.0, 0.1, 0.3], [1.0, 2.0, 4.0, 5.0]))
    runs = Runs({"a": a, "b": b}, {"path.peak": 10.0 * a + b}, identified={"a": Interval(0.1, 0.05, 0.12)})
    figure = draw_heat_map(runs, "path.peak", analyse(runs).sensitivities["path.peak"])
    axes = figure.axes[0]
    (box,) = axes.patches
    assert box.get_x() == pytest.approx(0.05)
    assert box.get_width() == pytest.approx(0.07)
    cells = axes.collections[0].get_array()
    assert np.ravel(cells).tolist() == pytest.approx([1, 2, 4, 2, 3, 5, 4, 5, 7, 5, 6, 8])


def test_runs_that_cannot_be_analysed_are_reported(tmp_path):
    """One varied parameter, a measure that no run has, and a constant one."""
    runs = Runs({"a": np.arange(9.0)}, {"path.peak": np.full(9, math.nan), "settle": np.ones(9)})
    write_report(tmp_path, "nothing", [(runs, analyse(runs))])
    (content,) = json.loads((tmp_path / "report.json").read_text())["cases"]
    assert content["distributions"]["path.peak"]["quantiles"]["p95"] is None


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"path.peek": {"p99": 1.0}}, "expect: 'path.peek' is not measured; measured are path.peak, path.rms"),
        ({"path.peak": {"p98": 1.0}}, "expect: 'path.peak' has no 'p98'; there are p50, p95, p99, max"),
    ],
)
def test_unknown_expectations_are_refused(expected, message):
    with pytest.raises(ArgumentError, match=message):
        analyse(swept(expected=expected))


def test_a_bound_on_a_measure_that_no_run_has_is_broken():
    runs = Runs({"a": np.arange(9.0)}, {"settle": np.full(9, math.nan)}, expected={"settle": {"max": 1.0}})
    assert analyse(runs).expectations[0].broken
