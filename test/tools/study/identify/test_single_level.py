"""A gain and a limit are equivalent if one level was commanded; neither is given then."""

import numpy as np
import pytest

from vds_gz.core.configuration import parameters_of
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.command import ackermann
from vds_gz.core.vehicle.vehicle import Vehicle
from vds_gz.tools.study.identify.identification import identify
from vds_gz.tools.study.identify.single_level import only_level
from vds_gz.tools.study.recording import Recording, Series

TIMES = 0.05 * np.arange(600)
CAR = parameters_of([Override("model", "bicycle"), Override("model_params.bicycle.wheel_base", 0.5)])


def driven(levels, **drive):
    """A car that drives each level for 2 s, then stands for 1 s, with a little noise."""
    numbers = {"dead_time": 0.1, "time_constant": 0.2, "max_velocity": 0.0, "max_acceleration": 0.0} | drive
    values = [Override(f"model_params.bicycle.drive_actuator.{name}", value) for name, value in numbers.items()]
    parameters = parameters_of([Override("model", "bicycle"), *values])
    level = np.resize(levels, 10)[(TIMES // 3.0).astype(int)]
    command = np.where(TIMES % 3.0 < 2.0, level, 0.0)
    vehicle, speeds = Vehicle(BICYCLE, parameters.vehicle), []
    for time, speed in zip(TIMES, command, strict=True):
        vehicle.advance(round(time * 1e9))
        speeds.append(vehicle.state.v_x)
        vehicle.enter(ackermann(speed, 0.0), round(time * 1e9))
    noisy = np.array(speeds) + 0.003 * np.random.default_rng(3).standard_normal(len(TIMES))
    still = Series(TIMES, np.zeros(len(TIMES)))
    return Recording({"v_x": Series(TIMES, command), "steering": still}, {"v_x": Series(TIMES, noisy)}, steers=True)


@pytest.mark.parametrize("drive", [{"gain": 0.9}, {"max_velocity": 0.45}])
def test_one_level_gives_neither_a_gain_nor_a_limit(drive):
    fit = identify(driven([0.5], **drive), vehicle=CAR, hold_out=0.0)
    assert fit.numbers.get("drive_actuator.gain") is None
    assert fit.numbers.get("drive_actuator.max_velocity") is None
    [finding] = (text for text in fit.findings if "the only level commanded" in text)
    assert finding.startswith("drive: 0.5 m/s was the only level commanded, so a gain of 0.9")
    assert "a limit of 0.45 m/s" in finding or "a limit of 0.449 m/s" in finding
    assert "if the model holds" in finding
    written = fit.parameters.drive_actuator
    speed = 0.5 * written.gain
    assert min(speed, written.max_velocity or speed) == pytest.approx(0.45, rel=0.02), "the file has one of the two"


def test_a_level_beside_rare_others_is_nearly_the_only_one():
    fit = identify(driven([0.5, 0.5, 0.52], gain=0.9), vehicle=CAR, hold_out=0.0)
    [finding] = (text for text in fit.findings if "only level" in text)
    assert finding.startswith("drive: 0.5 m/s was nearly the only level commanded")


def test_several_levels_show_the_gain():
    fit = identify(driven([0.5, 0.2, 0.35], gain=0.9), vehicle=CAR, hold_out=0.0)
    assert fit.numbers["drive_actuator.gain"].value == pytest.approx(0.9, rel=0.02)
    assert not any("the only level" in text for text in fit.findings)


@pytest.mark.parametrize(
    ("levels", "only"), [([0.3, 0.0, 0.3], 0.3), ([0.3, 0.2, 0.3], 0.0), ([0.3, 0.28], 0.29), ([0.0], 0.0), ([], 0.0)]
)
def test_a_level_is_the_only_one_within_a_fifth(levels, only):
    assert only_level(np.array(levels)) == pytest.approx(only)
