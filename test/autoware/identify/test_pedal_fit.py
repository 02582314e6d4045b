"""Identified maps of pedals are those of the car."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest
import yaml
from rosbags.rosbag2 import StoragePlugin, Writer

from vds_gz.autoware.command_types import Pedals
from vds_gz.autoware.identify.pedal_fit import csv_text, estimates, fit_pedals
from vds_gz.autoware.identify.pedal_profile import PedalLimits, pedals
from vds_gz.autoware.parameters.car_parameters import ActuationCmdParameters
from vds_gz.autoware.parameters.map_files import own_map, parse_map, read_map
from vds_gz.cli import main
from vds_gz.core.configuration import parameters_of_file
from vds_gz.core.ros.messages.portable import MessageTypes
from vds_gz.core.share import share
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.vehicle import Vehicle
from vds_gz.programs.interface.commands import command_type
from vds_gz.tools.study.reading.bag import read_bag
from vds_gz.tools.study.recording import Series, SignalError

#: Angle of the steering wheel during the drive [rad].
WHEEL = 0.25

ACCEL, BRAKE = own_map("accel_map.csv"), own_map("brake_map.csv")
CAR = ActuationCmdParameters(
    accel_time_delay=0.15, accel_time_constant=0.2, brake_time_delay=0.08, brake_time_constant=0.12
)


def drive(duration, seed):
    """Time, accelerator, brake and speed of a car that is not the one that its profile was made for."""
    random = np.random.default_rng(seed)
    model, limits = models()["actuation_cmd"], PedalLimits(15.0, 0.8, 0.6)
    log = pedals(model, ActuationCmdParameters(), limits, duration=duration, seed=random.integers(1000))
    car = Vehicle(model, CAR, step_rate=500.0, max_command_age=1e9)  # compiling takes longer than this drive
    rows = []
    for time, command in zip(log.times, log.commands, strict=True):
        car.advance(round(time * 1e9))
        car.enter(command.command(), round(time * 1e9))
        if isinstance(command, Pedals):
            rows.append((time, command.accel_pedal, command.brake_pedal, car.motion().v_x))
    return np.array(rows).T


@pytest.fixture(scope="module")
def run():
    return drive(90.0, 1)


def fitted(run, noise, **options):
    time, accel, brake, speed = run
    noisy = speed + noise * np.random.default_rng(2).standard_normal(len(speed))
    grid = {"speeds": ACCEL.states, "accels": ACCEL.actuations, "brakes": BRAKE.actuations}
    return fit_pedals(Series(time, accel), Series(time, brake), Series(time, noisy), **grid, **options)


def truth(fit):
    def at(pedal, speed):
        table = ACCEL if pedal >= 0.0 else BRAKE
        row = min(range(len(table.actuations)), key=lambda i: abs(table.actuations[i] - abs(pedal)))
        return table.values[row][table.states.index(speed)]

    return np.array([[at(pedal, speed) for speed in fit.grid.speeds] for pedal in fit.grid.pedals])


def test_without_noise_the_maps_and_the_times_are_those_of_the_car(run):
    fit = fitted(run, 0.0)
    told = fit.seconds > 0.5
    assert told.sum() > 40
    assert np.sqrt(np.mean((fit.values - truth(fit))[told] ** 2)) < 0.05
    for name, number in fit.numbers.items():
        assert number.value == pytest.approx(getattr(CAR, name), abs=0.004), name


def test_outliers_change_neither_the_maps_nor_the_times(run):
    random, (time, accel, brake, speed) = np.random.default_rng(5), run
    wild = 2.0 * random.choice([-1.0, 1.0], len(speed)) * (random.random(len(speed)) < 0.02)
    fit = fitted((time, accel, brake, speed + wild), 0.1)
    error, known = np.abs(fit.values - truth(fit)), ~fit.filled
    assert np.sqrt(np.mean(error[known] ** 2)) < 0.1
    assert np.mean(error[known] <= fit.half[known]) >= 0.9
    for name, number in fit.numbers.items():
        assert number is not None, name
        assert number.value == pytest.approx(getattr(CAR, name), abs=0.02), name
    assert fit.residual < 0.07


@pytest.mark.slow
def test_with_noise_intervals_contain_the_true_values_and_cells_without_data_are_marked(run):
    fit = fitted(run, 0.1)
    error = np.abs(fit.values - truth(fit))
    told = ~fit.filled
    assert np.mean(error[told] <= fit.half[told]) >= 0.9
    assert np.sqrt(np.mean(error[told] ** 2)) < 0.2
    assert (fit.seconds[fit.filled] < 0.2).all()
    assert np.median(fit.half[fit.filled]) > 3.0 * np.median(fit.half[told])
    assert fit.numbers["accel_time_delay"].low <= CAR.accel_time_delay <= fit.numbers["accel_time_delay"].high


@pytest.mark.slow
def test_more_pedal_gives_more_even_if_the_recording_contradicts(run):
    time, accel, brake, speed = run
    fit = fitted((time, np.where(accel > 0.0, 0.9 - accel, 0.0), brake, speed), 0.1)
    assert (np.diff(fit.values, axis=0) > 0.0).all()
    assert fit.moved > 0


@pytest.mark.slow
def test_a_map_is_written_as_it_is_read(run):
    table = fitted(run, 0.1).maps()["accel"]
    assert parse_map(csv_text(table), "text") == table


def test_unusable_recordings_are_refused(run):
    time, accel, brake, speed = run
    grid = {"speeds": ACCEL.states, "accels": ACCEL.actuations, "brakes": BRAKE.actuations}
    for positions, speeds, said in (
        ((-accel, brake), speed, "positions must be 0 or more"),
        ((0.0 * accel, brake), speed, "never pressed"),
        ((accel, brake), 0.0 * speed, "must drive forwards"),
    ):
        with pytest.raises(SignalError, match=said):
            fit_pedals(*(Series(time, position) for position in positions), Series(time, speeds), **grid)


@pytest.mark.parametrize("later", [-1000.0, 1000.0])
def test_pedals_with_another_clock_are_refused(run, later):
    time, accel, brake, speed = run
    grid = {"speeds": ACCEL.states, "accels": ACCEL.actuations, "brakes": BRAKE.actuations}
    commanded = (Series(time + later, one) for one in (accel, brake))
    said = rf"commanded from {time[0] + later:.2f} to .* measured from {time[0]:.2f} to .* must overlap by 2 s"
    with pytest.raises(SignalError, match=said):
        fit_pedals(*commanded, Series(time, speed), **grid)


def test_a_time_at_the_end_of_the_search_is_not_given():
    numbers = estimates(np.array([1.5, 0.2, 0.1, 3.0]), np.full(4, 1e-4))
    assert [name for name, number in numbers.items() if number is None] == ["accel_time_delay", "brake_time_constant"]
    assert numbers["accel_time_constant"].value == 0.2


def test_from_a_table_to_a_parameter_file_that_the_node_loads(run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with open("drive.csv", "w", newline="") as file:
        csv.writer(file).writerows([("time", "throttle", "brake", "v_x"), *run.T[:2500].round(6).tolist()])
    assert main(["identify", "drive.csv", "--model", "pedals", "--column", "accel=throttle", "-o", "found"]) == 0
    said = capsys.readouterr().out
    assert "accel_time_delay" in said
    assert "filled from their neighbours" in said
    car = parameters_of_file(tmp_path / "found" / "parameters.yaml").vehicle
    assert car.brake_time_delay == pytest.approx(0.08, abs=0.01)
    assert car.accel_map.states[:3] == ACCEL.states[:3]
    assert "Every cell" in Path("found/report.html").read_text()
    assert main(["maps", "found/brake_map.csv", "-o", "brake.png"]) == 0
    written = yaml.safe_load(Path("found/parameters.yaml").read_text())["sim_node"]["ros__parameters"]
    assert written["model"] == "actuation_cmd"
    assert written["model_params"]["actuation_cmd"]["brake_map_path"] == "brake_map.csv"


@pytest.mark.slow
def test_the_parameter_file_moves_with_its_maps(run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with open("drive.csv", "w", newline="") as file:
        csv.writer(file).writerows([("time", "accel", "brake", "v_x"), *run.T[:2500].round(6).tolist()])
    assert main(["identify", "drive.csv", "--model", "pedals", "-o", "found"]) == 0
    before = parameters_of_file(tmp_path / "found" / "parameters.yaml").vehicle.accel_map
    (tmp_path / "found").rename(tmp_path / "elsewhere")
    assert main(["check", "elsewhere/parameters.yaml"]) == 0
    assert parameters_of_file(tmp_path / "elsewhere" / "parameters.yaml").vehicle.accel_map == before
    (tmp_path / "elsewhere" / "accel_map.csv").unlink()
    assert main(["check", "elsewhere/parameters.yaml"]) == 1
    assert "map 'accel_map.csv' does not exist" in capsys.readouterr().err


def write_bag(path, run, pedal_topic, command="pedals"):
    """A bag of an Autoware car with commanded pedals and reported speeds, by a clock with an offset."""
    types, one = MessageTypes(), command_type(command)
    commanded, reported = one.topic.type, "autoware_vehicle_msgs/msg/VelocityReport"
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topics = [
            writer.add_connection(topic, kind, msgdef="", rihs01=types.hash(kind))
            for topic, kind in ((pedal_topic, commanded), ("/vehicle/status/velocity_status", reported))
        ]
        for time, accel, brake, speed in run.T:
            pedals, report = types.new(commanded), types.new(reported)
            one.encode(pedals, Pedals(accel, brake, WHEEL), 0)
            report.longitudinal_velocity = speed
            report.header.stamp.sec, report.header.stamp.nanosec = divmod(round((time + 5.0) * 1e9), 1_000_000_000)
            for connection, kind, message in zip(topics, (commanded, reported), (pedals, report), strict=True):
                writer.write(connection, round((1000.0 + time) * 1e9), bytes(types.codec(kind).encode(message)))


@pytest.mark.parametrize("command", ["pedals", "autoware_pedals"])
def test_pedals_and_wheel_are_read_from_the_messages_of_either_package(run, tmp_path, command):
    write_bag(tmp_path / "bag", run[:, :10], "/control/command/actuation_cmd", command)
    commanded = read_bag(tmp_path / "bag", pedals=True).commanded
    found = [commanded[name].value for name in ("accel", "brake", "wheel")]
    assert np.array_equal(found, [run[1, :10], run[2, :10], np.full(10, WHEEL)])


@pytest.mark.parametrize("command", ["pedals", pytest.param("autoware_pedals", marks=pytest.mark.slow)])
def test_from_a_bag_of_an_autoware_car_with_another_map_beside_its_file(run, tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    write_bag("bag", run[:, :2500], "/control/command/actuation_cmd", command)
    Path("mine").mkdir()
    Path("mine/steer.csv").write_text(share("config", "maps", "steer_map.csv").read_text())
    Path("mine/car.yaml").write_text(
        "sim_node:\n  ros__parameters:\n    model: actuation_cmd_steer_map\n    model_params:\n"
        "      actuation_cmd_steer_map:\n        steer_map_path: steer.csv  # mine\n"
    )
    assert main(["identify", "bag", "--model", "pedals", "--params", "mine/car.yaml"]) == 0
    said = capsys.readouterr().out
    assert "the stamps of velocity are 16.6 min behind" in said
    found = parameters_of_file(tmp_path / "identified" / "parameters.yaml").vehicle
    assert found.accel_time_delay == pytest.approx(0.15, abs=0.01)
    assert f"steer_map_path: '{tmp_path / 'mine' / 'steer.csv'}'" in Path("identified/parameters.yaml").read_text()
    assert main(["check", "identified/parameters.yaml"]) == 0
    assert main(["identify", "bag"]) == 2
    assert "no topic with commands was recognised" in capsys.readouterr().err


def test_damaged_bags_and_bags_without_pedals_are_explained(run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_bag("bag", run[:, :500], "/actuation_cmd")
    [whole] = Path("bag").glob("*.mcap")
    Path("stub.mcap").write_bytes(whole.read_bytes()[:300])
    assert main(["profile", "steps", "--preset", "ackermann_car", "--duration", "3", "-o", "steps.csv"]) == 0
    assert main(["replay", "steps.csv", "--preset", "ackermann_car", "-o", "robot.mcap"]) == 0
    capsys.readouterr()
    for arguments, said in (
        (["stub.mcap", "--model", "pedals"], "'stub.mcap'"),
        (["stub.mcap", "--model", "steering"], "'stub.mcap'"),
        (["robot.mcap", "--model", "pedals"], "no topic with commands was recognised; name it with --command TOPIC"),
        (["robot.mcap", "--model", "steering"], "no topic with commands was recognised"),
        (["bag", "--model", "steering"], "no signal 'steering' in the recording"),
    ):
        assert main(["identify", *arguments]) == 2
        error = capsys.readouterr().err
        assert said in error
        assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("head", "arguments", "said"),
    [
        ("time,accel,v_x,brake", [], "no signal 'brake' in the recording; it has accel (3 samples), brake (0 samples)"),
        ("time,brake,v_x", [], "no signal 'accel' in the recording; it has brake (3 samples), v_x (3 samples)"),
        ("time,accel,brake", [], "no signal 'v_x'"),
        ("time,accel,v_x", ["--column", "accel"], "must be one of accel, brake, wheel, v_x, steering"),
        ("time,accel,v_x", ["--column", "accel=pedal"], "no column 'pedal'; it has time,accel,v_x"),
        ("time,accel,v_x", ["--preset", "ackermann_car"], "the vehicle has no pedals"),
        ("time,accel,v_x", [], "must drive forwards"),
    ],
)
def test_wrong_use_is_one_line(tmp_path, monkeypatch, capsys, head, arguments, said):
    monkeypatch.chdir(tmp_path)
    empty = "," * (head.count(",") - 2)
    Path("log.csv").write_text(head + "\n" + "".join(f"{i},0.{i},0{empty}\n" for i in range(3)))
    assert main(["identify", "log.csv", "--model", "pedals", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.slow
def test_the_maps_of_an_autoware_run_are_found(golden):
    with gzip.open(golden / "autoware" / "ACTUATION_CMD__accel_brake_step_default_dt33ms.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    time, accel, brake, speed = (np.array([float(row[n]) for row in rows]) for n in ("t", "in_accel", "in_brake", "vx"))
    tables = [read_map(str(golden / "autoware" / "maps" / f"data_{name}_map.csv")) for name in ("accel", "brake")]
    pedals = (Series(time[:-1], one[1:]) for one in (accel, brake))
    grid = {"speeds": tables[0].states, "accels": tables[0].actuations, "brakes": tables[1].actuations}
    fit = fit_pedals(*pedals, Series(time, speed), **grid, coasts=False)
    for name, true in {"accel_time_delay": 0.1, "accel_time_constant": 0.1, "brake_time_delay": 0.1}.items():
        assert fit.numbers[name].value == pytest.approx(true, abs=0.01)
    errors = [
        fit.values[i, j] - tables[int(pedal < 0)].values[row][tables[0].states.index(fit.grid.speeds[j])]
        for i, pedal in enumerate(fit.grid.pedals)
        for row in [int(np.argmin(np.abs(np.array(tables[int(pedal < 0)].actuations) - abs(pedal))))]
        for j in range(len(fit.grid.speeds))
        if not fit.filled[i, j]
    ]
    assert len(errors) > 20
    assert np.sqrt(np.mean(np.square(errors))) < 0.05
