"""When commands are sent, by a clock of the test."""

import math

import pytest

from vds_gz.core.parameters.teleop import JoystickParameters
from vds_gz.programs.teleop.driver_commands import STANDSTILL, STOPS
from vds_gz.programs.teleop.joystick import JoystickController, Mode

#: Period of commands at 50 Hz, and arrival of the first message [ns].
PERIOD, BEGIN = 20_000_000, 1_000_000_000


@pytest.fixture
def controller():
    """A controller that drives forwards since BEGIN, without a held button."""
    controller = JoystickController(JoystickParameters(require_enable_button=False, publish_rate=50.0, joy_timeout=0.5))
    controller.joy([1.0] * 8, [0] * 15, BEGIN)
    return controller


def sent(controller, until, every=1_000_000):
    """The times at which commands are sent if ``due`` is called with this period [ns]."""
    return [now for now in range(BEGIN, until, every) if controller.due(now) is not None]


def test_one_message_is_a_command_in_every_period(controller):
    assert sent(controller, BEGIN + 5 * PERIOD) == [BEGIN + k * PERIOD for k in range(5)]


def test_a_late_call_delays_no_other_command(controller):
    late = sent(controller, BEGIN + 12 * PERIOD, every=7_000_000)
    assert [(now - BEGIN) // PERIOD for now in late] == list(range(12))


def test_missed_periods_are_left_out(controller):
    controller.due(BEGIN)
    late = BEGIN + 10 * PERIOD + 1
    assert controller.due(late) is not None
    assert controller.due(late) is None
    assert controller.seconds_until_due(late) == pytest.approx(PERIOD * 1e-9)


def test_silence_sends_a_few_stops_and_then_nothing(controller):
    end = BEGIN + 600_000_000
    commands = [command for now in range(BEGIN, end, 1_000_000) if (command := controller.due(now)) is not None]
    assert controller.mode is Mode.LOST
    assert commands[-STOPS:] == [STANDSTILL] * STOPS
    assert STANDSTILL not in commands[:-STOPS]
    assert controller.seconds_until_due(end) == math.inf
