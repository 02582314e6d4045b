"""Makes the actuation maps of config/maps: ``python tools/make_actuation_maps.py``.

A passenger car with an automatic gearbox, from a few numbers that anyone can look up.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "config" / "maps"

MASS = 1550.0  # [kg] with a driver
POWER = 96e3  # [W] maximum, at the wheels
TRACTION = 5.2  # [m/s^2] maximum acceleration, in the lowest gear
AIR_DRAG = 0.5 * 1.2 * 0.66 / MASS  # [1/m] half the air's density times drag area 0.66 m^2, over the mass
ROLLING = 0.012 * 9.81  # [m/s^2] resistance of the tyres
ENGINE_DRAG = 0.45  # [m/s^2] of the engine, accelerator released
CREEP = 0.6  # [m/s^2] what the torque converter does at standstill, accelerator released
CREEP_SPEED = 1.8  # [m/s] at which creeping ends
BRAKING = 9.0  # [m/s^2] maximum deceleration by the brakes

SPEEDS = [0.0, 1.0, 2.0, 3.5, 5.0, 7.5, 10.0, 12.5, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0]  # [m/s]
PEDALS = [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
ACCELERATIONS = [-8.0, -6.0, -4.0, -3.0, -2.0, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0]  # [m/s^2]
COMMANDS = [-12.0, -9.0, -6.0, -4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0, 6.0, 9.0, 12.0]  # [V] at the steering's motor
ANGLES = [-0.6, -0.45, -0.3, -0.15, 0.0, 0.15, 0.3, 0.45, 0.6]  # [rad] at the tyres


def resistance(v: float) -> float:
    """What air and tyres take [m/s^2]; the tyres' part grows from standstill, where it holds rather than pulls."""
    return AIR_DRAG * v * v + ROLLING * math.tanh(v)


def coasting(v: float) -> float:
    """Acceleration with no pedal pressed [m/s^2]."""
    creep = CREEP * (1.0 - v / CREEP_SPEED) if v < CREEP_SPEED else 0.0
    engine = ENGINE_DRAG * math.tanh(v / 4.0) if v > CREEP_SPEED else ENGINE_DRAG * 0.42 * v / CREEP_SPEED
    return creep - engine - resistance(v)


def acceleration(pedal: float, v: float) -> float:
    """Acceleration by accelerator and speed [m/s^2]: a share of what traction and power allow."""
    most = min(TRACTION, POWER / (MASS * max(v, 1.0))) - resistance(v)
    share = pedal * (1.6 - 0.6 * pedal)  # the first part of the way does more
    return coasting(v) + (most - coasting(v)) * share


def deceleration(pedal: float, v: float) -> float:
    """Acceleration by brake pedal and speed [m/s^2]: progressive, and less in a car that is fast and hot."""
    return coasting(v) - BRAKING * (1.0 - 0.002 * v) * (0.35 * pedal + 0.65 * pedal * pedal)


def achieved(commanded: float, v: float) -> float:
    """Acceleration that a car reaches of a commanded one [m/s^2]: weaker when fast, and never all of it."""
    strongest = acceleration(1.0, v) if commanded > 0.0 else -deceleration(1.0, v)
    return strongest * math.tanh(commanded / strongest) if strongest > 0.1 else 0.1 * math.tanh(10.0 * commanded)


def steering_rate(command: float, angle: float) -> float:
    """Steering rate [rad/s] by a voltage and the tyre angle: a motor against what centres the tyres."""
    return 0.045 * command - 0.12 * angle


def write(file: Path, label: str, rows: Sequence[float], columns: Sequence[float], f: Callable[..., float]) -> None:
    """Write a map whose value at (row, column) is ``f(row, column)``."""
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([label, *(f"{column:g}" for column in columns)])
        for row in rows:
            writer.writerow([f"{row:g}", *(f"{f(row, column) + 0.0:.4f}" for column in columns)])


def main(folder: Path = FOLDER) -> None:
    """Write all maps into a folder."""
    write(folder / "accel_map.csv", "accelerator / speed [m/s] -> acceleration [m/s^2]", PEDALS, SPEEDS, acceleration)
    write(folder / "brake_map.csv", "brake / speed [m/s] -> acceleration [m/s^2]", PEDALS, SPEEDS, deceleration)
    write(
        folder / "acceleration_map.csv",
        "commanded [m/s^2] / speed [m/s] -> acceleration",
        ACCELERATIONS,
        SPEEDS,
        achieved,
    )
    write(folder / "steer_map.csv", "voltage / tyre angle [rad] -> rate [rad/s]", COMMANDS, ANGLES, steering_rate)


if __name__ == "__main__":
    main()
