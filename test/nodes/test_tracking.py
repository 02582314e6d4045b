"""Every vehicle configuration follows every command that it can, within 5 %, and goes on so."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from vds_gz.interface import topics

#: Limits that no command of this test reaches, so that only the kinematics decide.
UNLIMITED = ("-p", "model_params.bicycle.steering_actuator.max_position:=1.2")

BICYCLES = {
    f"{'rear' if reverse else 'front'} steering, drive on the {'steered' if steered else 'fixed'} axle": (
        "-p",
        f"model_params.bicycle.reverse:={str(reverse).lower()}",
        "-p",
        f"model_params.bicycle.drive_on_steered_wheel:={str(steered).lower()}",
        *UNLIMITED,
    )
    for reverse in (False, True)
    for steered in (False, True)
}
CONFIGURATIONS: dict[str, tuple[tuple[str, ...], dict[str, tuple[float, float, float]]]] = {
    **{
        name: (arguments, {"forward": (1.0, 0.0, 0.0), "curve": (0.8, 0.0, 0.3), "backward": (-0.6, 0.0, 0.2)})
        for name, arguments in BICYCLES.items()
    },
    "differential": (
        ("-p", "model:=differential"),
        {"forward": (1.0, 0.0, 0.0), "curve": (0.8, 0.0, 0.3), "in place": (0.0, 0.0, 0.8)},
    ),
    "omni": (
        ("-p", "model:=omni"),
        {
            "forward": (1.0, 0.0, 0.0),
            "curve": (0.8, 0.0, 0.3),
            "in place": (0.0, 0.0, 0.8),
            "lateral": (0.0, 0.7, 0.0),
        },
    ),
}


#: The bicycle that differs most from the default one stands for the others.
USUAL = ("rear steering, drive on the steered axle", "differential", "omni")


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[] if one in USUAL else pytest.mark.slow) for one in CONFIGURATIONS]
)
def test_steady_state_follows_the_command(start, probe, name):
    arguments, commands = CONFIGURATIONS[name]
    # Time of our own at a fast pace: seconds of the vehicle, not of the test, of which its commands are soon too old.
    start(*arguments, "-p", "be_reference_clock:=true", "-p", "speed_factor:=4.0", "-p", "command_timeout:=1000.0")
    probe.listen(topics.TWIST_ACTUAL)
    for what, wanted in commands.items():

        def fill(message: Any, wanted: tuple[float, float, float] = wanted) -> None:
            message.linear.x, message.linear.y, message.angular.z = wanted

        def follows(message: Any, wanted: tuple[float, float, float] = wanted) -> bool:
            linear, angular = message.twist.linear, message.twist.angular
            return (linear.x, linear.y, angular.z) == pytest.approx(wanted, rel=0.05, abs=0.005)

        steady = functools.partial(probe.steadily, topics.TWIST_ACTUAL, follows)
        probe.hold(topics.TWIST_REFERENCE, fill, steady, f"the steady state of '{what}'")
