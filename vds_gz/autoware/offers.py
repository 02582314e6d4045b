"""What Autoware's vehicles add to ``vds-gz identify`` and ``vds-gz profile``.

The functions import what they need, so that the help of these commands needs none of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vds_gz.cli.cli_extensions import GivenVehicle, Identification, ProfileKind
from vds_gz.core.parameters.node import NodeParameters

if TYPE_CHECKING:
    from vds_gz.programs.commandlog.command_log import CommandLog
    from vds_gz.tools.study.recording import Recording


def _identify_pedals(
    log: str, recording: Recording, given: GivenVehicle | None, folder: Path, fit: Sequence[str]
) -> None:
    from vds_gz.autoware.identify.identify_actuation import identify_pedals

    identify_pedals(log, recording, given, folder)


def _identify_steering(
    log: str, recording: Recording, given: GivenVehicle | None, folder: Path, fit: Sequence[str]
) -> None:
    from vds_gz.autoware.identify.identify_actuation import identify_steering

    identify_steering(log, recording, given, folder, fit)


PEDALS = Identification(
    _identify_pedals,
    """
--model pedals finds the accelerator's and the brake's map, dead times and lags from commands of pedals
(ActuationCommandStamped; columns accel, brake, v_x) for the models actuation_cmd*.
""",
)
STEERING = Identification(
    _identify_steering,
    """
--model steering finds the parameters of a mechanical steering (columns wheel, steering, v_x) for the model
actuation_cmd_mechanical; --fit names them.
""",
    takes_fit=True,
)


def _pedal_profile(
    parameters: NodeParameters | None, maxima: Mapping[str, float | None], duration: float, rate: float, seed: int
) -> tuple[CommandLog, str]:
    from vds_gz.autoware.identify.pedal_profile import car_of, pedal_limits, pedals
    from vds_gz.autoware.parameters.car_parameters import ActuationCmdParameters

    model, car = car_of(parameters, ActuationCmdParameters, "pedals; it must be an actuation_cmd")
    reach = pedal_limits(car, maxima["speed"], maxima["accel"], maxima["brake"])
    log = pedals(model, car, reach, duration=duration, rate=rate, seed=seed)
    return log, f"{reach.speed:g} m/s, accelerator {reach.accel:g} and brake {reach.brake:g}"


def _turn_profile(
    parameters: NodeParameters | None, maxima: Mapping[str, float | None], duration: float, rate: float, seed: int
) -> tuple[CommandLog, str]:
    from vds_gz.autoware.identify.pedal_profile import DEFAULT_CAR, TURNING_ANGLE, TURNING_SPEED, car_of, turns
    from vds_gz.autoware.parameters.car_parameters import ActuationCmdVgrParameters

    needed = f"steering wheel; it must be {DEFAULT_CAR} or actuation_cmd_vgr"
    model, car = car_of(parameters, ActuationCmdVgrParameters, needed)
    speed, angle = maxima["speed"] or TURNING_SPEED, maxima["steering"] or TURNING_ANGLE
    log = turns(model, car, speed=speed, angle=angle, duration=duration, rate=rate, seed=seed)
    return log, f"{angle:g} rad at the tyres, at {speed:g} m/s"


PEDAL_PROFILE = ProfileKind(
    _pedal_profile,
    """accelerator and brake of a car (the models actuation_cmd*) in all positions at all speeds, straight ahead;
for `identify --model pedals`. Speeds are what the car's maps predict; if the maps are not known, leave
room""",
    duration=300.0,
    options={"--accel": "position of the accelerator pedal", "--brake": "position of the brake pedal"},
)
TURN_PROFILE = ProfileKind(
    _turn_profile,
    """the steering wheel of such a car turned far and little, slowly and quickly, to and fro; for
`identify --model steering`""",
)
