"""The Cramer-Rao bound that judges identification equals closed forms; its vehicles move as in a replay."""

import numpy as np
import pytest
from helpers.cramer_rao import bound, responses
from helpers.identified_vehicles import AUTOWARE, Case, clean, random_case

from vds_gz.core.parameters.actuator_parameters import DriveParameters
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.vehicles import DifferentialParameters
from vds_gz.programs.commandlog.command_log import CommandLog
from vds_gz.programs.interface.commands import Velocity

TIME_CONSTANT, DEAD_TIME, BEGIN, NOISE = 0.3, 0.1, 0.5, 0.02
DRIVE = DriveParameters(DEAD_TIME, TIME_CONSTANT, 0.0, 0.0, 0.0)
SAMPLES = 0.02 * np.arange(151)


@pytest.fixture(scope="module")
def step():
    """A drive without limits, and a log of one step."""
    node = NodeParameters(
        model="differential", model_params={"differential": DifferentialParameters(drive_actuators=DRIVE)}
    )
    log = CommandLog("twist", (0.0, BEGIN, 1.4, 2.3), (Velocity(0.0, 0.0, 0.0), *[Velocity(1.0, 0.0, 0.0)] * 3))
    return Case("step", node, {}), log


def since():
    """Time since the step began to act [s]."""
    return np.maximum(SAMPLES - BEGIN - DEAD_TIME, 0.0)


@pytest.mark.parametrize(
    ("name", "derivative"),
    [
        ("drive_actuators.time_constant", since() / TIME_CONSTANT**2 * np.exp(-since() / TIME_CONSTANT)),
        ("v_x gain", 1.0 - np.exp(-since() / TIME_CONSTANT)),
    ],
)
def test_the_bound_of_one_parameter_is_the_closed_form(step, name, derivative):
    found = bound(*step, [name], {"v_x": (SAMPLES, NOISE)})
    assert found[name] == pytest.approx(NOISE / np.linalg.norm(derivative), rel=1e-5)


def test_the_bound_of_a_dead_time_is_the_closed_form_up_to_the_kink(step):
    slope = np.where(since() > 0.0, np.exp(-since() / TIME_CONSTANT) / TIME_CONSTANT, 0.0)
    found = bound(*step, ["drive_actuators.dead_time"], {"v_x": (SAMPLES, NOISE)})
    assert found["drive_actuators.dead_time"] == pytest.approx(NOISE / np.linalg.norm(slope), rel=0.05)


def test_the_bound_accounts_for_correlated_parameters(step):
    gain, offset = 1.0 - np.exp(-since() / TIME_CONSTANT), np.ones(len(SAMPLES))
    information = np.array([[one @ other for other in (gain, offset)] for one in (gain, offset)]) / NOISE**2
    found = bound(*step, ["v_x gain", "v_x offset"], {"v_x": (SAMPLES, NOISE)})
    assert list(found.values()) == pytest.approx(np.sqrt(np.diag(np.linalg.inv(information))), rel=1e-5)


@pytest.mark.parametrize(
    "kind",
    [
        "differential",
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("omni x", "four-wheel drive", *AUTOWARE[1:2])),
    ],
)
def test_the_vehicles_of_the_bound_move_as_in_a_replay(kind):
    case = random_case(kind, 1)
    measured = clean(case, 1, 6.0).measured
    seen = responses(case, case.log(1, 6.0), [case.vehicle], [{}], {name: one.time for name, one in measured.items()})
    for name, one in measured.items():
        assert (seen[name][:, 0] == one.value).all(), name
