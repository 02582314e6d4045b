"""Gamepads through SDL, with its virtual joystick in place of hardware."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.processes import PATIENCE
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.cli.joy import main
from vds_gz.interface import topics
from vds_gz.teleop.gamepad import END, Gamepads, position
from vds_gz.teleop.outputs import JOY
from vds_gz.teleop.watch import Watch

MODULE = "vds_gz.cli.joy"
HERE = Path(__file__).parents[1] / "helpers"
LEFT_SHOULDER, LEFT_X, RIGHT_Y, TRIGGER = 9, 0, 3, 4
HAT_UP, HAT_LEFT = 1, 8


@given(st.integers(-32768, 32767), st.floats(0.0, 0.9))
def test_positions_are_those_of_ros(raw, deadzone):
    value = position(raw, deadzone)
    assert -1.0 <= value <= 1.0
    assert value * raw <= 0.0
    assert abs(value) <= abs(raw) / END + 1e-12


def test_ends_and_middle():
    assert [position(raw, 0.05) for raw in (-32768, -32767, 0, 1000, 32767)] == [1.0, 1.0, 0.0, 0.0, -1.0]


def test_watching_shows_what_moves():
    watch = Watch()
    assert list(watch.news([0.0, 1.0], [0, 0])) == ["2 axes, 2 buttons; move one at a time, Ctrl-C ends"]
    assert list(watch.news([0.1, 1.0], [0, 0])) == []
    assert list(watch.news([0.5, 1.0], [0, 1])) == ["axis 0: +0.50", "button 1: pressed"]
    assert list(watch.news([0.45, 0.9], [0, 0])) == ["button 1: let go"]
    assert list(watch.news([0.4, -1.0], [0, 0])) == ["axis 1: -1.00"]


# ---------------------------------------------------------------------- through SDL


@pytest.fixture
def gamepads() -> Iterator[Callable[..., Gamepads]]:
    """Opens SDL, and closes it at the end."""
    pytest.importorskip("sdl2", reason="needs PySDL2")
    made: list[Gamepads] = []

    def make(*arguments: Any, **named: Any) -> Gamepads:
        made.append(Gamepads(*arguments, **named))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def plug(gamepads) -> Iterator[Callable[..., Any]]:
    """Plugs in virtual gamepads, and unplugs them at the end."""
    from helpers.virtual_pad import VirtualPad

    plugged: list[Any] = []

    def plug_in(*arguments: int) -> Any:
        plugged.append(VirtualPad(*arguments))
        return plugged[-1]

    yield plug_in
    for one in plugged:
        one.unplug()


def test_it_waits_for_a_gamepad_and_for_its_return(gamepads, plug):
    pads = gamepads()
    assert pads.pad is None
    assert pads.problem == "no joystick is connected"
    virtual = plug()
    pads.poll()
    assert pads.pad.name == "Virtual Controller"
    virtual.unplug()
    pads.poll()
    assert pads.pad is None
    assert pads.problem == "'Virtual Controller' was unplugged"
    virtual.plug()
    pads.poll()
    virtual.axis(RIGHT_Y, -32768)
    pads.poll()
    assert pads.pad.read()[0][RIGHT_Y] == 1.0


def test_the_numbering_of_joy_node_has_hats_after_the_axes(gamepads, plug):
    pads = gamepads()
    virtual = plug()
    virtual.axis(LEFT_X, 32767)
    virtual.button(2, 1)
    virtual.hat(0, HAT_UP | HAT_LEFT)
    pads.poll()
    axes, buttons = pads.pad.read()
    # Both triggers are released, which is an end of their axes.
    assert axes == [-1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    assert [i for i, pressed in enumerate(buttons) if pressed] == [2]
    assert len(buttons) == 15


def test_the_standard_numbering(gamepads, plug):
    pads = gamepads(standard=True)
    virtual = plug()
    pads.poll()
    virtual.axis(TRIGGER, -32768)
    pads.poll()
    virtual.axis(RIGHT_Y, -32768)
    virtual.axis(TRIGGER, 32767)
    virtual.button(LEFT_SHOULDER, 1)
    pads.poll()
    axes, buttons = pads.pad.read()
    assert axes == [0.0, 0.0, 0.0, 1.0, -1.0, 0.0]
    assert [i for i, pressed in enumerate(buttons) if pressed] == [LEFT_SHOULDER]
    assert len(buttons) == 21


def test_devices_are_chosen_by_number_or_name_and_no_other_takes_over(gamepads, plug):
    pads = gamepads(name="Controller")
    first, second = plug(), plug(4)
    assert [(one.number, one.axes, one.buttons) for one in pads.devices()] == [(0, 8, 15), (1, 6, 15)]
    pads.poll()
    assert len(pads.pad.read()[0]) == 8
    first.unplug()
    pads.poll()
    assert pads.pad is None
    second.unplug()
    first.plug()
    pads.poll()
    assert pads.pad is not None


def test_one_that_is_not_there_is_named_with_those_that_are(gamepads, plug):
    pads = gamepads(3)
    plug()
    pads.poll()
    assert pads.problem == "no joystick is number 3; there are 0 'Virtual Controller'"


def test_a_joystick_without_standard_layout_says_so(gamepads, plug):
    pads = gamepads(standard=True)
    plug(3, 0)
    pads.poll()
    assert pads.pad is None
    assert "SDL does not know the layout of 'Virtual Joystick'" in pads.problem


# ---------------------------------------------------------------------- the program


class Hand:
    """`vds-gz joy` in a process with a virtual gamepad, and the hand that moves it."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "virtual_pad.py"), MODULE, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def do(self, *lines: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{line}\n" for line in lines))
        self.process.stdin.flush()

    def end(self) -> str:
        self.process.terminate()
        try:
            output, _ = self.process.communicate(timeout=PATIENCE)
        finally:
            self.process.kill()
        assert self.process.returncode == 0, output
        return output


@pytest.fixture
def hand(plug, domain) -> Iterator[Callable[..., Hand]]:
    started: list[Hand] = []

    def start(*arguments: str) -> Hand:
        started.append(Hand(*arguments))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


def test_it_publishes_as_joy_does(hand, probe):
    probe.listen(JOY)
    program = hand()
    received = probe.received["joy"]
    probe.until(lambda: received, "a message")
    assert received[-1].header.frame_id == "joy"
    assert received[-1].header.stamp.sec > 0
    program.do("axis 3 -32768", "button 9 1")
    probe.until(lambda: received[-1].axes[3] == 1.0 and received[-1].buttons[9] == 1, "the stick")

    def rate() -> float:
        before, begin = len(received), time.monotonic()
        probe.serve(1.0)
        return (len(received) - before) / (time.monotonic() - begin)

    probe.until(lambda: 12.0 < rate() < 22.0, "20 a second, although nothing changes")
    program.do("unplug")
    probe.until_quiet(JOY)
    assert "'Virtual Controller' was unplugged; waiting for one" in program.end()


def test_it_drives_in_one_process(hand, probe):
    probe.listen(topics.ACKERMANN_CMD, JOY)
    program = hand("--drive", "--ros-args", "-p", "scale_linear.x:=3.0")
    commands = probe.received["ackermann_cmd"]
    program.do("button 9 1", "axis 3 -32768", "axis 0 -32768")
    probe.until(lambda: commands and commands[-1].drive.speed == 3.0, "a command to drive")
    assert commands[-1].drive.steering_angle == pytest.approx(0.5)
    assert probe.received["joy"]
    program.do("unplug")
    probe.until(lambda: commands[-1].drive.speed == 0.0, "a stop")
    program.do("plug", "button 9 1", "axis 3 32767")
    probe.until(lambda: commands[-1].drive.speed == -1.5, "driving backwards")
    output = program.end()
    probe.until(lambda: commands[-1].drive.speed == 0.0, "a stop at the end")
    assert "the joystick is lost: 'Virtual Controller' was unplugged. The vehicle is stopped" in output
    assert "the joystick is back" in output


def test_watching_and_listing(hand, plug):
    program = hand("--watch")
    lines = iter(program.process.stdout.readline, "")
    seen = [next(lines)]
    while "Ctrl-C ends" not in seen[-1]:
        seen.append(next(lines))
    assert "'Virtual Controller'\n" in seen
    program.do("axis 3 -32768")
    assert next(lines) == "axis 3: +1.00\n"
    program.do("button 9 1")
    assert next(lines) == "button 9: pressed\n"
    program.end()
    listed = subprocess.run([sys.executable, "-m", MODULE, "--list"], capture_output=True, text=True, timeout=PATIENCE)
    assert (listed.returncode, listed.stdout.splitlines()[-1]) == (0, "no joystick is connected")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--drive", "gamecube"], "joy: argument '--drive gamecube': there is no such layout; it must be one of"),
        (["--drive", "no.yaml"], "joy: parameter file 'no.yaml' does not exist"),
        (["--ros-args", "-p", "output:=twist"], "joy: unknown parameter 'output' (-p)"),
        (["--drive", "--ros-args", "-p", "deadzone:=2.0"], "joy: parameter 'deadzone' is 2 (-p); it must be"),
    ],
)
def test_wrong_use_is_named_in_one_line(capsys, arguments, message):
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith(message)
    assert said.count("\n") == 1


def test_without_sdl_it_names_what_to_install(tmp_path):
    (tmp_path / "sdl2.py").write_text("raise ModuleNotFoundError('hidden', name='sdl2')", encoding="utf-8")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from vds_gz.cli.joy import main; sys.exit(main([]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1
    assert done.stderr == "joy: reading a gamepad needs PySDL2; pip install '.[teleop]' in a checkout\n"
