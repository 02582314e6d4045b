"""When commands go out, by a clock of the test's own."""

import math

import pytest

from vds_gz.parameters.teleop import JoystickParameters
from vds_gz.teleop.joystick import JoystickController, Mode
from vds_gz.teleop.outputs import STANDSTILL, STOPS

#: Between two commands at 50 Hz, and when the first message comes [ns].
PERIOD, BEGIN = 20_000_000, 1_000_000_000


@pytest.fixture
def controller():
    """One that drives forwards since BEGIN, without a button held."""
    made = JoystickController(JoystickParameters(require_enable_button=False, publish_rate=50.0, joy_timeout=0.5))
    made.joy([1.0] * 8, [0] * 15, BEGIN)
    return made


def sent(controller, until, every=1_000_000):
    """The times at which commands go out, looked at so often [ns]."""
    return [now for now in range(BEGIN, until, every) if controller.due(now) is not None]


def test_one_message_is_a_command_in_every_period(controller):
    assert sent(controller, BEGIN + 5 * PERIOD) == [BEGIN + k * PERIOD for k in range(5)]


def test_a_look_that_is_late_moves_no_other_command(controller):
    late = sent(controller, BEGIN + 12 * PERIOD, every=7_000_000)
    assert [(now - BEGIN) // PERIOD for now in late] == list(range(12))


def test_periods_slept_through_are_left_out(controller):
    controller.due(BEGIN)
    late = BEGIN + 10 * PERIOD + 1
    assert controller.due(late) is not None
    assert controller.due(late) is None
    assert controller.seconds_until_due(late) == pytest.approx(PERIOD * 1e-9)


def test_silence_stops_the_vehicle_a_few_times_and_then_nothing_is_due(controller):
    end = BEGIN + 600_000_000
    commands = [command for now in range(BEGIN, end, 1_000_000) if (command := controller.due(now)) is not None]
    assert controller.mode is Mode.LOST
    assert commands[-STOPS:] == [STANDSTILL] * STOPS
    assert STANDSTILL not in commands[:-STOPS]
    assert controller.seconds_until_due(end) == math.inf
