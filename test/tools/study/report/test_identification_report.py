"""Outputs of an identification: tables, lines for other programs, and pictures."""

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from vds_gz.cli.identified_parameters import write_parameters
from vds_gz.core.configuration import load_parameters, parameters_of
from vds_gz.core.parameters.actuator_parameters import DriveParameters
from vds_gz.core.parameters.declaration import Override, ParameterError, describe
from vds_gz.core.parameters.vehicles import BicycleParameters
from vds_gz.core.vehicle.catalogue import models
from vds_gz.tools.study.identify.estimates import Estimate
from vds_gz.tools.study.identify.exports import nav2, overrides
from vds_gz.tools.study.identify.fit_findings import prediction_findings
from vds_gz.tools.study.identify.labels import named, prediction_words, recordings_needed
from vds_gz.tools.study.identify.problem.parameters import actuations, with_numbers
from vds_gz.tools.study.identify.results import NAMES, Axis, Channel, Prediction, Reached, VehicleFit
from vds_gz.tools.study.identify.terms import EFFECTIVE_TRACK, UNDERSTEER
from vds_gz.tools.study.report.identification_report import autocorrelation, fit_rows, write_report
from vds_gz.tools.study.report.text import plain

TIME = 0.02 * np.arange(500)


def channel(name, residual=0.01, **more):
    measured = np.sin(TIME) + residual * np.random.default_rng(1).standard_normal(len(TIME))
    values = {"quantity": name, "unit": "m/s", "source": "/odom", "recording": 0, "noise": 0.01}
    values |= {"residual": residual, "outliers": 3, "correlation": 0.1, "time": TIME, "measured": measured}
    values |= {"modelled": np.sin(TIME), "commanded": np.sign(np.sin(TIME)), "weight": np.ones(len(TIME))}
    return Channel(name, **(values | more))


@pytest.fixture
def fit():
    numbers = {
        "drive_actuator.dead_time": Estimate(0.2, 0.195, 0.205),
        "drive_actuator.time_constant": Estimate(0.3, 0.25, 0.35),
        "drive_actuator.max_acceleration": None,
        "steering_actuator.dead_time": Estimate(0.1, 0.099, 0.101),
        "steering_actuator.max_velocity": Estimate(0.5, 0.495, 0.505),
        "steering_actuator.max_position": None,
        "wheel_base": Estimate(2.0, 1.9, 2.1),
    }
    result = dict.fromkeys(NAMES) | {"dead_time": numbers["drive_actuator.dead_time"]}
    axis = Axis("v_x", "m/s", result, Reached(1.0, 1.5, 2.0), math.nan, 3)
    return VehicleFit(
        model="bicycle",
        parameters=BicycleParameters(
            wheel_base=2.0, center_at_standstill=True, drive_actuator=DriveParameters(max_acceleration=0.0)
        ),
        numbers=numbers,
        calibrations={"v_x gain": Estimate(1.0, 0.99, 1.01), "imu yaw_rate offset": Estimate(1e-9, -1.0, 1.0)},
        reached={"drive_actuator.max_acceleration": 1.25, "steering_actuator.max_position": 0.4},
        channels=(channel("v_x"), channel("odom x", 1e-9, unit="m", commanded=None, outliers=0)),
        findings=("the lag is of first order",),
        axes=(axis, dataclasses.replace(axis, quantity="steering", unit="rad", centred=True)),
        predictions=(Prediction("v_x", 0.108, 0.21, 1.19, 60.2),),
    )


def test_rows_list_actuators_calibrations_and_residuals(fit):
    assert list(fit_rows(fit, list(overrides(fit)))) == [
        ("drive", "dead time", "0.2 s", "0.195 to 0.205"),
        ("drive", "time constant", "0.3 s", "0.25 to 0.35"),
        ("drive", "acceleration limit", "not met", "reached 1.25 m/s²"),
        ("steering", "dead time", "0.1 s", "0.099 to 0.101"),
        ("steering", "rate limit", "0.5 rad/s", "0.495 to 0.505"),
        ("steering", "limit", "not met", "reached 0.4 rad"),
        ("vehicle", "wheel base", "2 m", "1.9 to 2.1"),
        ("vehicle", "center at standstill", "true", "as observed at standstill"),
        ("calibration", "v_x gain", "1", "0.99 to 1.01"),
        ("calibration", "imu yaw_rate offset", "0 rad/s", "-1 to 1"),
        ("residual", "v_x", "0.01 m/s", "noise 0.01 m/s, 3 outliers"),
        ("residual", "odom x", "1e-09 m", "no noise above 0.01 m"),
    ]


def _file_of(parameters):
    """The parameters of a vehicle as they stand in a file, by name."""
    return {parameter.name: parameter.default for parameter in describe(parameters.vehicle)}


@st.composite
def identified(draw):
    """A vehicle, and one identified from it: some numbers with intervals, others without, and other flags."""
    model = draw(st.sampled_from(sorted(models())))
    base = parameters_of([Override("model", model)])
    names = [name for actuator in actuations(base.vehicle).values() for name in actuator.names.values()]
    others = [p.name for p in describe(base.vehicle) if p.type == "double" and p.name not in names]
    changed = draw(st.lists(st.sampled_from([*names, *others]), unique=True, max_size=8))
    known = draw(st.sets(st.sampled_from([*names, *others]), max_size=6))
    values = {name: 0.01 * draw(st.integers(1, 140)) for name in (*changed, *known)}
    flags = [p.name for p in describe(base.vehicle) if p.type == "bool" and "." not in p.name]
    turned = draw(st.sets(st.sampled_from(flags), max_size=2)) if flags else set()
    try:
        vehicle = dataclasses.replace(
            with_numbers(base.vehicle, values), **{name: not getattr(base.vehicle, name) for name in turned}
        )
    except ParameterError:
        vehicle, known = base.vehicle, set()
    numbers = dict.fromkeys(names) | {name: Estimate(values[name], 0.0, 2.0) for name in known}
    reached = {name: 0.5 for name in names if numbers[name] is None and draw(st.booleans())}
    return base, VehicleFit(model, vehicle, numbers, {}, reached, (), (), ())


@settings(max_examples=40, deadline=None)
@given(case=identified())
def test_every_number_that_is_written_is_a_row_of_the_table(case, tmp_path_factory):
    base, fit = case
    folder = tmp_path_factory.mktemp("file")
    lines = list(overrides(fit, base))
    try:
        write_parameters(folder, "log.csv", None, fit.model, lines)
    except ParameterError:  # the numbers do not go together
        reject()
    before, after = _file_of(base), _file_of(load_parameters(folder / "parameters.yaml"))
    different = [name for name in after if after[name] != before[name]]
    rows = {(axis, label): (value, note) for axis, label, value, note in fit_rows(fit, lines)}
    for word in named(fit.model, different):
        value, note = rows[word.axis, word.label]
        unlimited = note.startswith("reached") and after[word.name] == 0.0
        shown = word.estimate(number) if (number := fit.numbers.get(word.name)) else word.written(after[word.name])
        assert value == shown or (value == "not met" and unlimited), word.name


@pytest.mark.parametrize(
    ("number", "value", "interval"),
    [
        (Estimate(0.07147, 0.04182, 0.1012), 0.071, "0.041 to 0.102"),
        (Estimate(0.31, 0.3099, 0.3101), 0.31, "0.3099 to 0.3101"),
        (Estimate(1234.6, 1200.0, 1300.0), 1230.0, "1200 to 1300"),
        (Estimate(0.2, 0.2, 0.2), 0.2, "0.2 to 0.2"),
        (Estimate(-0.04, -0.09, -0.0001), -0.04, "-0.09 to 0"),
        (Estimate(0.3, 0.1, math.inf), 0.3, "0.1 to inf"),
    ],
)
def test_numbers_have_no_more_digits_than_their_intervals(number, value, interval):
    assert (number.shown, number.interval) == (value, interval)


def test_a_prediction_stands_beside_simpler_explanations(fit):
    said = "speed: 0.108 m/s rms on 60 s held out (command as is 1.19, dead time and lag alone 0.21)"
    assert [prediction_words(prediction) for prediction in fit.predictions] == [said]


def test_poorly_determined_parameters_are_named_with_the_recordings_they_need(fit):
    [told] = recordings_needed(fit.numbers, named(fit.model, list(fit.numbers)))
    assert told.startswith("drive time constant is known only to +-0.05 s (17%); record more quick steps")


def test_a_share_above_the_value_is_not_printed():
    numbers = {"drive_actuator.dead_time": Estimate(0.0024, 0.0, 0.028)}
    [needed] = recordings_needed(numbers, named("bicycle", list(numbers)))
    assert needed.startswith("drive dead time is known only to +-0.014 s; record")


@pytest.mark.parametrize(
    ("lateral", "worth"),
    [(Prediction("v_y", 1.4e-5, 1.5e-5, 6e-17, 10.0), 0), (Prediction("v_y", 0.2, 0.2, 0.1, 10.0), 1)],
)
def test_a_difference_that_is_nothing_beside_the_speed_is_no_finding(lateral, worth):
    assert len(list(prediction_findings([lateral], [channel("v_x"), channel("v_y")]))) == worth


def test_every_row_of_the_table_stands_in_the_page():
    page = (Path(__file__).parents[4] / "docs" / "identify.md").read_text()
    for name, model in models().items():
        parameters = model.parameters()
        for axis, actuator in actuations(parameters).items():
            for word in named(name, list(actuator.names.values())):
                assert f"`{word.label}`" in page, (axis, word.label)
            if group := actuator["gain"].rpartition(".")[0]:
                for word in named(name, [f"{group}.map_references", f"{group}.map_responses"]):
                    assert f"`{word.label}`" in page, (axis, word.label)
    for kind in (EFFECTIVE_TRACK, UNDERSTEER):
        assert f"`{kind.name.replace('_', ' ')}`" in page


def test_a_given_stop_that_was_not_met_is_kept_and_others_have_comments(fit):
    result = {override.name.removeprefix("model_params.bicycle."): override for override in overrides(fit)}
    assert "steering_actuator.max_position" not in result
    assert result["drive_actuator.max_acceleration"].value == 0.0
    assert result["drive_actuator.max_acceleration"].origin == "unlimited: not met; 1.25 was reached"
    assert result["center_at_standstill"].value is True
    assert result["wheel_base"].origin.endswith("1.9 to 2.1")


def test_the_largest_steering_angle_is_no_limit_that_was_met(fit):
    steering = dataclasses.replace(fit.parameters.steering_actuator, max_position=1.57)
    free = dataclasses.replace(fit, parameters=dataclasses.replace(fit.parameters, steering_actuator=steering))
    [line] = [line for line in overrides(free) if line.name.endswith("max_position")]
    assert line.origin == "not met: the largest possible value; 0.4 was reached"
    assert ("steering", "limit", "1.57 rad", line.origin) in list(fit_rows(free, [line]))


@pytest.mark.parametrize(
    ("reached", "origin", "row"),
    [
        ({"steering_actuator.max_velocity": 0.4}, "; 0.4 was commanded", "0.4 rad/s was commanded"),
        ({}, ", nor measured", "not measured"),
    ],
)
def test_what_was_only_commanded_was_not_reached(fit, reached, origin, row):
    name = "steering_actuator.max_velocity"
    steering = dataclasses.replace(fit.parameters.steering_actuator, max_velocity=0.0)
    parameters = dataclasses.replace(fit.parameters, steering_actuator=steering)
    numbers, unmeasured = fit.numbers | {name: None}, frozenset([name])
    free = dataclasses.replace(fit, parameters=parameters, numbers=numbers, reached=reached, unmeasured=unmeasured)
    [line] = [line for line in overrides(free) if line.name.endswith(name)]
    assert line.origin == f"unlimited: not met{origin}"
    assert ("steering", "rate limit", "not met", row) in list(fit_rows(free, [line]))


def test_a_variant_that_explains_best_is_written(fit):
    variant = dataclasses.replace(fit.parameters, reverse=True)
    result = {override.name: override for override in overrides(dataclasses.replace(fit, parameters=variant))}
    assert result["model_params.bicycle.reverse"].value is True
    assert result["model_params.bicycle.reverse"].origin == "best fit to the recording"


def test_an_uncertain_limit_that_was_met_is_not_written_as_unlimited(fit):
    limited = dataclasses.replace(fit.parameters, drive_actuator=DriveParameters(max_acceleration=1.2))
    result = {override.name: override for override in overrides(dataclasses.replace(fit, parameters=limited))}
    written = result["model_params.bicycle.drive_actuator.max_acceleration"]
    assert (written.value, written.origin) == (1.2, "best fit to the recording")


def test_times_for_nav2_are_those_of_the_parameter_file(fit):
    assert {"model_delay_vx: 0.2000", "model_delay_wz: 0.1000"} <= set(nav2(fit))
    written = dataclasses.replace(fit.parameters, drive_actuator=DriveParameters(dead_time=0.26, time_constant=0.5))
    unsure = {name: None for name in fit.numbers if name.startswith("drive_actuator.")}
    lines = list(nav2(dataclasses.replace(fit, parameters=written, numbers=fit.numbers | unsure)))
    assert "model_delay_vx: 0.2600  # without an interval" in lines
    assert any(line.startswith("open_loop: true  # else the lag leaves 0.10 of ax_max") for line in lines)
    unsure |= dict.fromkeys(fit.numbers)
    assert "model_delay_vx: # not determined" in list(nav2(dataclasses.replace(fit, numbers=unsure)))


@pytest.mark.parametrize(("lag", "part"), [(0.3, "0.17"), (0.5, "0.10"), (0.04, None)])
def test_mppi_runs_open_loop_if_the_lag_is_longer_than_its_step(fit, lag, part):
    numbers = dict(fit.numbers) | {"drive_actuator.time_constant": Estimate(lag, lag, lag)}
    lines = [one for one in nav2(dataclasses.replace(fit, numbers=numbers, axes=())) if "open_loop" in one]
    assert len(lines) == (part is not None)
    assert all(line.startswith("open_loop: true  #") and f"leaves {part} of ax_max" in line for line in lines)


def test_a_slow_steering_reduces_the_yaw_acceleration_of_mppi(fit):
    numbers = dict(fit.numbers) | {"steering_actuator.time_constant": Estimate(0.5, 0.5, 0.5)}
    [line] = (one for one in nav2(dataclasses.replace(fit, numbers=numbers, axes=())) if "open_loop" in one)
    assert "leaves 0.10 of az_max" in line


def test_a_report_is_complete_and_its_json_has_no_infinity(fit, tmp_path):
    write_report(
        tmp_path, "log.mcap", dataclasses.replace(fit, findings=(*fit.findings, "a finding")), list(overrides(fit))
    )
    report = json.loads((tmp_path / "report.json").read_text(), parse_constant=pytest.fail)
    assert {"log", "findings", "axes", "nav2", "numbers", "channels", "predictions"} <= report.keys()
    assert report["axes"]["v_x"]["numbers"]["dead_time"]["low"] == 0.195
    assert report["axes"]["v_x"]["residual"] is None
    page = (tmp_path / "report.html").read_text()
    for words in ("a finding", "the lag is of first order", "Poorly determined: drive time constant", "data:image/png"):
        assert words in page
    for name in ("identified.png", "identified_further.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_numbers_that_json_lacks_are_null():
    content = {"values": np.array([1.0, math.nan]), "pair": (math.inf, 2)}
    assert plain(content) == {"values": [1.0, None], "pair": [None, 2]}


def test_the_first_and_the_worst_of_many_recordings_are_pictured(fit, tmp_path):
    channels = tuple(channel("v_x", residual=0.01 + 0.01 * (k % 6), recording=k) for k in range(12))
    write_report(tmp_path, "runs", dataclasses.replace(fit, channels=channels), [])
    pictured = sorted(path.name for path in tmp_path.glob("*.png"))
    assert pictured == sorted(["identified.png", *(f"identified_{k + 1}.png" for k in (4, 5, 10, 11))])


def test_an_autocorrelation_is_that_of_its_process():
    random = np.random.default_rng(3)
    white = random.standard_normal(20_000)
    assert np.abs(autocorrelation(white, 30)[1:]).max() < 4.0 / math.sqrt(20_000)
    values = np.zeros(20_000)
    for k in range(1, 20_000):
        values[k] = 0.8 * values[k - 1] + white[k]
    assert autocorrelation(values, 5) == pytest.approx(0.8 ** np.arange(6), abs=0.03)
    assert autocorrelation(np.zeros(5), 30).tolist() == [0.0] * 5


def test_a_channel_may_have_any_name(fit, tmp_path):
    odd = channel("$x^$ latency v_x", quantity="v_x")
    calibrations = {
        "$x^$ latency v_x offset": Estimate(0.1, 0.09, 0.11),
        "my gain v_x latency": Estimate(0.1, 0.0, 0.2),
    }
    named = dataclasses.replace(fit, channels=(odd,), calibrations=calibrations)
    write_report(tmp_path, "log.csv", named, [])
    values = [row[2] for row in fit_rows(named, []) if row[0] == "calibration"]
    assert values == ["0.1 m/s", "0.1 s"]


def test_a_ratio_has_no_unit():
    [gain, limit] = named("bicycle", ["drive_actuator.gain", "drive_actuator.max_acceleration"])
    assert (gain.with_unit(0.9), limit.with_unit(2.0)) == ("0.9", "2 m/s²")
