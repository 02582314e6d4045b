"""Test long runs as fast as possible: does memory grow, and are two runs equal to the bit, sensors included?

Run by ``./dev bench soak``, or with ``--hours`` for another length. A vehicle with a lidar, an IMU and a satellite
receiver drives in a world; a digest of every scan, by its stamp, is compared with that of a second run.
"""

from __future__ import annotations

import argparse
import hashlib
import struct
import sys
import time

from live_node import Measured
from live_sensors import command

from vds_gz.core.ros.graph import QoS

SENSORS: list[tuple[str, str, dict[str, object]]] = [
    ("lidar", "rplidar_a2", {}),
    ("imu", "imu", {}),
    ("gnss", "gnss", {}),
]


def run(hours: float, world: str) -> dict[int, bytes]:
    """Digests of the lidar's scans in a run, by their stamps [ns]."""
    flat_out = ["-p", "be_reference_clock:=true", "-p", "speed_factor:=0.0"]
    node = Measured([*command(SENSORS, world), *flat_out], everything=False)
    heard: dict[int, bytes] = {}

    def take(data: bytes, _arrival: int) -> None:
        second, nanosecond = struct.unpack_from("<iI", data, 4)
        heard[second * 10**9 + nanosecond] = hashlib.blake2b(data, digest_size=8).digest()

    node.graph.subscribe("lidar/scan", "sensor_msgs/msg/LaserScan", QoS(depth=10), take, raw=True)
    begin, marks = time.monotonic(), 0
    while node.stamps[-1] * 1e-9 < hours * 3600.0:
        node.graph.wait(0.02)
        if len(node.stamps) > 1000:
            del node.stamps[:-1]
        simulated = node.stamps[-1] * 1e-9 / 3600.0
        if simulated >= marks * hours / 8:
            elapsed = time.monotonic() - begin
            print(f"{simulated:7.2f} h after {elapsed:6.0f} s, {node.memory():6.1f} MB, {len(heard)} scans", flush=True)
            marks += 1
    node.close()
    return heard


def main() -> int:
    """Run twice and compare; 1 if the runs differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=0.2, help="simulated length of the first run")
    parser.add_argument("--again", type=float, default=0.1, help="simulated length of the second run")
    parser.add_argument("--world", default="hall")
    options = parser.parse_args()
    first, second = run(options.hours, options.world), run(options.again, options.world)
    both = first.keys() & second.keys()
    different = sum(first[stamp] != second[stamp] for stamp in both)
    print(f"{len(both)} scans were heard in both runs; {different} differ")
    return 1 if different or not both else 0


if __name__ == "__main__":
    sys.exit(main())
