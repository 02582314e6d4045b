"""System identification from a CSV file: dead time, time constant and limits, with confidence intervals.

    python examples/identify_csv.py [FILE]

The file has a column ``time`` [s] and pairs such as ``v_x_command,v_x_measured`` [m/s]. Without FILE, the example makes
a noisy recording of a vehicle with known parameters first, so that you can compare the results with them.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import vds_gz

DRIVE = vds_gz.DriveParameters(dead_time=0.15, time_constant=0.3, max_velocity=1.5, max_acceleration=1.2)
NOISE = 0.01  # standard deviation of the measured speed [m/s]


def write_recording(path: Path, seed: int = 3) -> None:
    """Record a minute of a robot that gets a new speed every second, at times one that it cannot reach."""
    random = np.random.default_rng(seed)
    vehicle = vds_gz.Vehicle(vds_gz.DIFFERENTIAL, vds_gz.DifferentialParameters(drive_actuators=DRIVE))
    rows = ["time,v_x_command,v_x_measured"]
    speed = 0.0
    for sample in range(3000):
        time = sample * 20_000_000  # [ns]
        if sample % 50 == 0:
            speed = float(random.uniform(-2.0, 2.0))
        vehicle.enter(vds_gz.twist(speed, 0.0, 0.0), time)
        vehicle.advance(time)
        rows.append(f"{time * 1e-9:.3f},{speed!r},{vehicle.motion().v_x + random.normal(0.0, NOISE)!r}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] = ()) -> None:
    """Print the identified parameters."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(arguments[0]) if arguments else Path(folder, "recording.csv")
        if not arguments:
            write_recording(path)
        for axis in vds_gz.identify(vds_gz.read_signals(path)):
            for name, number in axis.numbers.items():
                text = "not in this recording"
                if number is not None:
                    text = f"{number.value:7.4f} ({number.low:.4f} to {number.high:.4f}) {axis.unit_of(name)}"
                print(f"{axis.quantity}  {axis.label(name):20}  {text}")


if __name__ == "__main__":
    main(sys.argv[1:])
