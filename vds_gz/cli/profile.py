"""``vds-gz profile``: makes a command log that brings out what there is to know of a vehicle."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from vds_gz.cli.command import DONE, RAW, add_vehicle_options, command, positive, vehicle_of
from vds_gz.commandlog.csv import write_csv
from vds_gz.commandlog.pedal_profile import pedal_limits, pedals
from vds_gz.commandlog.profiles import PROFILES, limits_of, make
from vds_gz.commandlog.turn_profile import TURNING_ANGLE, TURNING_SPEED, turns
from vds_gz.errors import ArgumentError
from vds_gz.parameters.autoware import ActuationCmdParameters, ActuationCmdVgrParameters
from vds_gz.parameters.node import NodeParameters
from vds_gz.vehicle.catalogue import models
from vds_gz.vehicle.command import ACKERMANN

#: Length of a log where options do not say it [s]; kinds of logs for pedals, and theirs; the car that they are for.
DURATION, ACTUATION_KINDS, CAR = 60.0, {"pedals": 300.0, "turns": 60.0}, "actuation_cmd_mechanical"

DESCRIPTION = """
Make a command log for a vehicle, to be sent with `vds-gz drive`, `vds-gz run --log` or `vds-gz replay`.

KIND is one of
  steps     both axes jump, hold, and jump to and fro quickly: dead time, time constant, limits; for `identify`
  ramps     both axes go straight from one random value to the next: limits of rates, gains
  chirp     sines from 0.05 to 2 Hz: the response over frequency
  prbs      both axes jump between two values at random times: dead time in little space
  slalom    steady speed, steering to and fro
  figure8   a full circle to the left, a full circle to the right
  parking   to and fro with full lock, as into a parking space
or, for a car with pedals (the models actuation_cmd*),
  pedals    accelerator and brake in all positions at all speeds, straight ahead; for `identify --model pedals`
  turns     the steering wheel turned far and little, slowly and quickly, to and fro; for `identify --model steering`

Limits are those of the vehicle, and options come before them. To find the limits of a real vehicle, ask for more than
it can: --speed 3 for one that runs 2 m/s. Speeds of `pedals` are what the car's maps predict; where they are not known,
leave room.
"""

EPILOG = """
examples:
  vds-gz profile steps --preset ackermann_car --duration 60 -o steps.csv
  vds-gz profile prbs --speed 0.8 --yaw-rate 1.2 --seed 7
  vds-gz profile pedals --params my_car.yaml --speed 15 --accel 0.8 --brake 0.6
  vds-gz profile turns --preset autoware_car --speed 3 --steering 0.4

exit code: 0 written, 2 wrong use
"""


@command("vds-gz profile")
def main(argv: list[str]) -> int:
    """Write a log.

    Returns:
        0 when it is written, 2 if something is wrong with what was given.
    """
    options = _parser().parse_args(argv)
    parameters = vehicle_of(options) if options.preset or options.params else None
    if options.kind in ACTUATION_KINDS:
        print(_write_actuation(options, parameters))
        return DONE
    ackermann = _is_ackermann(options, parameters)
    limits = limits_of(
        parameters,
        speed=options.speed,
        lateral=options.lateral,
        yaw_rate=options.yaw_rate,
        steering=options.steering,
    )
    log = make(
        options.kind,
        limits,
        ackermann=ackermann,
        duration=options.duration or DURATION,
        rate=options.rate,
        seed=options.seed,
    )
    output = Path(options.output or f"{options.kind}.csv")
    write_csv(log, output)
    turning = f"{limits.steering:g} rad" if ackermann else f"{limits.yaw_rate:g} rad/s"
    print(f"{output}: {len(log.times)} commands, {log.duration:.1f} s, up to {limits.speed:g} m/s and {turning}")
    return DONE


def _write_actuation(options: argparse.Namespace, parameters: NodeParameters | None) -> str:
    """Write a log for pedals or the steering wheel; what to tell."""
    if options.kind_of_log is not None:
        raise ArgumentError(f"{options.kind} is a log of pedals; leave out --as {options.kind_of_log}")
    name = parameters.model if parameters is not None else CAR
    car = parameters.vehicle if parameters is not None else models()[CAR].parameters()
    chance = {"rate": options.rate, "seed": options.seed}
    duration = options.duration or ACTUATION_KINDS[options.kind]
    if options.kind == "pedals":
        if not isinstance(car, ActuationCmdParameters):
            raise ArgumentError(f"the model '{name}' has no pedals; it must be an actuation_cmd")
        limits = pedal_limits(car, options.speed, options.accel, options.brake)
        log = pedals(models()[name], car, limits, duration=duration, **chance)
        upto = f"{limits.speed:g} m/s, accelerator {limits.accel:g} and brake {limits.brake:g}"
    else:
        if not isinstance(car, ActuationCmdVgrParameters):
            raise ArgumentError(f"the model '{name}' has no steering wheel; it must be {CAR} or actuation_cmd_vgr")
        speed, angle = options.speed or TURNING_SPEED, options.steering or TURNING_ANGLE
        log = turns(models()[name], car, speed=speed, angle=angle, duration=duration, **chance)
        upto = f"{angle:g} rad at the tires, at {speed:g} m/s"
    output = Path(options.output or f"{options.kind}.csv")
    write_csv(log, output)
    return f"{output}: {len(log.times) - 1} commands, {log.duration:.1f} s, up to {upto}"


def _is_ackermann(options: argparse.Namespace, parameters: NodeParameters | None) -> bool:
    """Speeds and steering angles are to be written."""
    if parameters is None:
        return options.kind_of_log == "ackermann" or (options.kind_of_log is None and options.steering is not None)
    takes = ACKERMANN in models()[parameters.model].accepts
    if options.kind_of_log == "ackermann" and not takes:
        raise ArgumentError(f"the model '{parameters.model}' takes no steering angles; leave out --as ackermann")
    return takes and options.kind_of_log != "twist"


#: Options of limits, the old name of one included, and what they limit.
_LIMITS = {
    "--speed": "speed [m/s]",
    "--steering": "steering angle [rad]",
    "--yaw-rate": "yaw rate [rad/s]",
    "--lateral --sideways": "lateral speed [m/s]",
    "--accel": "position of the accelerator pedal",
    "--brake": "position of the brake pedal",
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("vds-gz profile", description=DESCRIPTION, epilog=EPILOG, formatter_class=RAW)
    kinds = [*PROFILES, *ACTUATION_KINDS]
    parser.add_argument("kind", metavar="KIND", choices=kinds, help=", ".join(kinds))
    add_vehicle_options(parser, required=False)
    parser.add_argument("--as", dest="kind_of_log", choices=("twist", "ackermann"), help="what the vehicle takes")
    for names, what in _LIMITS.items():
        parser.add_argument(*names.split(), type=positive, metavar="X", help=f"maximum {what}")
    parser.add_argument("--duration", type=positive, metavar="S", help="length of the log (60; of pedals 300)")
    parser.add_argument("--rate", type=positive, default=50.0, metavar="HZ", help="commands per second (50)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of what is random (0)")
    parser.add_argument("-o", "--output", metavar="FILE", help="CSV file to write (KIND.csv)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
