"""``vds-gz profile``: command logs that bring out what there is to know of a vehicle, within its limits."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vds_gz.cli.options import add_vehicle_options, vehicle_of
from vds_gz.commandlog.actuation_profiles import TURNING_ANGLE, TURNING_SPEED, pedal_limits, pedals, turns
from vds_gz.commandlog.log import Ackermann, CommandLog, Velocity, write_csv
from vds_gz.errors import ArgumentError
from vds_gz.parameters.autoware import ActuationCmdParameters, ActuationCmdVgrParameters
from vds_gz.parameters.description import ParameterError
from vds_gz.parameters.node import NodeParameters
from vds_gz.vehicle.catalogue import models
from vds_gz.vehicle.command import ACKERMANN

Array = NDArray[np.float64]
Random = np.random.Generator

#: Where neither vehicle nor options say more [m/s, m/s, rad/s, rad, m].
SPEED, SIDEWAYS, YAW_RATE, STEERING, WHEEL_BASE = 1.0, 0.0, 1.0, 0.4, 1.0

#: Length of a log where options do not say it [s]; kinds of logs for pedals, and theirs; the car that they are for.
DURATION, ACTUATION_KINDS, CAR = 60.0, {"pedals": 300.0, "turns": 60.0}, "actuation_cmd_mechanical"

#: Shortest and longest time that a step is held, one of the quick steps behind it, and a value of the pseudo-random
#: binary sequence [s].
STEP_HOLD, QUICK_HOLD, BINARY_HOLD = (1.0, 3.0), (0.12, 0.5), (0.25, 1.5)

#: How many quick steps follow each that is held, and how far from it they go, in parts of the limit.
QUICK_STEPS, QUICK_REACH = 6, 0.7

#: Frequencies of the chirp [Hz].
CHIRP = 0.05, 2.0

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


@dataclass(frozen=True, slots=True)
class Limits:
    """What commands may ask for: magnitudes [m/s, m/s, rad/s, rad]; ``wheel_base`` [m] of a vehicle that steers."""

    speed: float
    sideways: float
    yaw_rate: float
    steering: float
    wheel_base: float

    def circle(self, ackermann: bool) -> float:
        """Time of a full circle at 60 % of the speed with all the turning there is [s]."""
        rate = 0.6 * self.speed * math.tan(self.steering) / self.wheel_base if ackermann else self.yaw_rate
        return 2.0 * math.pi / max(rate, 1e-3)


#: From times [s], a random generator and the time of a circle [s] to the parts of the limits that drive, turn and
#: sideways motion are asked for at these times, each within +-1.
Profile = Callable[[Array, Random, float], tuple[Array, Array, Array]]


def make(
    kind: str, limits: Limits, *, ackermann: bool, duration: float, rate: float = 50.0, seed: int = 0
) -> CommandLog:
    """A command log.

    Args:
        kind: One of :data:`PROFILES`.
        limits: What the commands may ask for.
        ackermann: Speeds and steering angles, else velocities.
        duration: [s].
        rate: Commands per second.
        seed: Another one gives another log, where there is chance in it.
    """
    times = np.arange(round(duration * rate) + 1) / rate
    drive, turn, side = PROFILES[kind](times, np.random.default_rng(seed), limits.circle(ackermann))
    drive[-1] = turn[-1] = side[-1] = 0.0
    moments = tuple(np.round(times, 9).tolist())
    if ackermann:
        pairs = np.round(np.column_stack((limits.speed * drive, limits.steering * turn)), 6)
        return CommandLog("ackermann", moments, tuple(Ackermann(*row) for row in pairs.tolist()))
    columns = limits.speed * drive, limits.sideways * side, limits.yaw_rate * turn
    return CommandLog("twist", moments, tuple(Velocity(*row) for row in np.round(np.column_stack(columns), 6).tolist()))


# ---------------------------------------------------------------------- the profiles


def _levels(times: Array, random: Random, hold: tuple[float, float], values: Sequence[float]) -> Array:
    """Values in random order, each held for a random time; all of them occur before one comes again."""
    edges, levels = [0.5], [0.0]
    while edges[-1] < times[-1]:
        for value in random.permutation(values):
            if value != levels[-1]:
                levels.append(float(value))
                edges.append(edges[-1] + random.uniform(*hold))
    return np.asarray(levels)[np.searchsorted(edges, times, side="right").clip(max=len(levels) - 1)]


def _steps(times: Array, random: Random, circle: float) -> tuple[Array, Array, Array]:
    """Steps that are held show the limits; behind a limit of the rate only the end of a step shows the lag.

    So quick steps follow, which have many ends.
    """

    def one() -> Array:
        edges, levels = [0.5], [0.0]
        while edges[-1] < times[-1]:
            for value in random.permutation((1.0, -1.0, 0.5, -0.5, 0.0, 0.8, 0.25)):
                low, high = max(-1.0, value - QUICK_REACH), min(1.0, value + QUICK_REACH)
                levels += [value, *random.uniform(low, high, QUICK_STEPS)]
                holds = random.uniform(*STEP_HOLD), *random.uniform(*QUICK_HOLD, QUICK_STEPS)
                edges += (edges[-1] + np.cumsum(holds)).tolist()
        return np.asarray(levels)[np.searchsorted(edges, times, side="right").clip(max=len(levels) - 1)]

    return one(), one(), one()


def _binary(times: Array, random: Random, circle: float) -> tuple[Array, Array, Array]:
    drive = 0.6 + 0.4 * _levels(times, random, BINARY_HOLD, (-1.0, 1.0))
    turn, side = (_levels(times, random, BINARY_HOLD, (-1.0, 1.0)) for _ in range(2))
    return drive, turn, side


def _ramps(times: Array, random: Random, circle: float) -> tuple[Array, Array, Array]:
    def one() -> Array:
        edges = np.cumsum(np.concatenate(([0.5], random.uniform(1.0, 4.0, int(times[-1]) + 2))))
        values = np.concatenate(([0.0], random.uniform(-1.0, 1.0, len(edges) - 1)))
        values[1::4] = np.copysign(1.0, values[1::4])
        return np.interp(times, edges, values)

    return one(), one(), one()


def _chirp(times: Array, random: Random, circle: float) -> tuple[Array, Array, Array]:
    low, high = CHIRP
    growth = math.log(high / low) / max(float(times[-1]), 1e-9)
    phase = 2.0 * math.pi * low * np.expm1(growth * times) / growth
    return 0.5 + 0.5 * np.sin(phase), np.sin(0.7 * phase), np.sin(0.9 * phase)


def _slalom(times: Array, random: Random, circle: float) -> tuple[Array, Array, Array]:
    return 0.7 * _under_way(times), np.sin(2.0 * math.pi * times / 4.0), np.zeros_like(times)


def _figure8(times: Array, random: Random, circle: float) -> tuple[Array, Array, Array]:
    left = np.floor(times / circle) % 2 == 0
    return 0.6 * _under_way(times), np.where(left, 1.0, -1.0), np.zeros_like(times)


def _parking(times: Array, random: Random, circle: float) -> tuple[Array, Array, Array]:
    moves = [(0.5, 0.0), (0.0, -1.0), (-0.35, -1.0), (-0.35, 1.0), (0.0, 1.0), (0.3, -1.0), (0.3, 1.0), (0.0, 0.0)]
    index = (times / 2.0).astype(int) % len(moves)
    drive, turn = np.array(moves)[index].T
    return drive, turn, np.zeros_like(times)


def _under_way(times: Array) -> Array:
    """1, but 0 in the last three seconds."""
    return (times < times[-1] - 3.0).astype(float)


PROFILES: dict[str, Profile] = {
    "steps": _steps,
    "ramps": _ramps,
    "chirp": _chirp,
    "prbs": _binary,
    "slalom": _slalom,
    "figure8": _figure8,
    "parking": _parking,
}

# ---------------------------------------------------------------------- the command


def main(argv: Sequence[str] | None = None) -> int:
    """Write a log.

    Returns:
        0 when it is written, 2 if something is wrong with what was given.
    """
    options = _parser().parse_args(argv)
    try:
        parameters = vehicle_of(options) if options.preset or options.params else None
        if options.kind in ACTUATION_KINDS:
            print(_write_actuation(options, parameters))
            return 0
        ackermann = _is_ackermann(options, parameters)
        limits = limits_of(options, parameters)
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
    except (ArgumentError, ParameterError, OSError) as error:
        print(f"vds-gz profile: {error}", file=sys.stderr)
        return 2
    turning = f"{limits.steering:g} rad" if ackermann else f"{limits.yaw_rate:g} rad/s"
    print(f"{output}: {len(log.times)} commands, {log.duration:.1f} s, up to {limits.speed:g} m/s and {turning}")
    return 0


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


def limits_of(options: argparse.Namespace, parameters: NodeParameters | None) -> Limits:
    """What options say, else the vehicle, else small values."""
    vehicle = parameters.vehicle if parameters is not None else None
    drive = getattr(vehicle, "drive_actuator", None) or getattr(vehicle, "drive_actuators", None)
    steering = getattr(vehicle, "steering_actuator", None)
    speed = options.speed or getattr(drive, "max_velocity", 0.0) or getattr(vehicle, "vel_lim", 0.0) or SPEED
    # An omni vehicle moves sideways; a vehicle with two sides turns by their difference.
    track, base = getattr(vehicle, "track", 0.0), getattr(vehicle, "wheel_base", 0.0)
    sideways = 0.5 * speed if parameters is not None and parameters.model == "omni" else SIDEWAYS
    lever = 0.5 * (track + (base if sideways else 0.0))
    return Limits(
        speed,
        sideways if options.sideways is None else options.sideways,
        options.yaw_rate or (0.5 * speed / lever if lever else YAW_RATE),
        options.steering or getattr(steering, "max_position", 0.0) or getattr(vehicle, "steer_lim", 0.0) or STEERING,
        base or WHEEL_BASE,
    )


def _is_ackermann(options: argparse.Namespace, parameters: NodeParameters | None) -> bool:
    """Speeds and steering angles are to be written."""
    if parameters is None:
        return options.kind_of_log == "ackermann" or (options.kind_of_log is None and options.steering is not None)
    takes = ACKERMANN in models()[parameters.model].accepts
    if options.kind_of_log == "ackermann" and not takes:
        raise ArgumentError(f"the model '{parameters.model}' takes no steering angles; leave out --as ackermann")
    return takes and options.kind_of_log != "twist"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "vds-gz profile", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = [*PROFILES, *ACTUATION_KINDS]
    parser.add_argument("kind", metavar="KIND", choices=kinds, help=", ".join(kinds))
    add_vehicle_options(parser, required=False)
    parser.add_argument("--as", dest="kind_of_log", choices=("twist", "ackermann"), help="what the vehicle takes")
    for name, unit in (("speed", "m/s"), ("steering", "rad"), ("yaw-rate", "rad/s"), ("sideways", "m/s")):
        parser.add_argument(
            f"--{name}", type=_positive, metavar="X", help=f"greatest {name.replace('-', ' ')} [{unit}]"
        )
    for name in ("accel", "brake"):
        parser.add_argument(f"--{name}", type=_positive, metavar="X", help=f"greatest position of the {name} pedal")
    parser.add_argument("--duration", type=_positive, metavar="S", help="length of the log (60; of pedals 300)")
    parser.add_argument("--rate", type=_positive, default=50.0, metavar="HZ", help="commands per second (50)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of what is random (0)")
    parser.add_argument("-o", "--output", metavar="FILE", help="CSV file to write (KIND.csv)")
    return parser


def _positive(text: str) -> float:
    value = float(text)
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' must be a number greater than 0")
    return value


if __name__ == "__main__":
    sys.exit(main())
