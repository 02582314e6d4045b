"""Measure recording and its losses: all topics of a driven vehicle at 50 Hz.

Run by ``./dev bench record``, or ``python bench/record.py --seconds 600``. Losses are gaps in the stamps: a
vehicle's messages are stamped every 20 ms exactly, and the commands of this bench are numbered.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from vds_gz.core.ros.arguments import parse
from vds_gz.core.ros.messages.message_types import open_types
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.programs.bags.reader import open_bag
from vds_gz.programs.interface import topics

PERIOD = 20_000_000
TICKS = os.sysconf("SC_CLK_TCK")

#: Time after the start of the programs that is not measured, so that imports do not count [s].
STARTED = 3.0

STAMPED = {
    topic.name: topic
    for topic in (
        topics.TWIST_ACTUAL,
        topics.ODOM,
        topics.GROUND_TRUTH,
        topics.TF,
        topics.JOINT_STATES,
        topics.ACTUATOR_REFERENCES,
        topics.ACTUATOR_STATES,
    )
}


def processor_seconds(pid: int) -> float:
    """Processor time of a process so far [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory(pid: int) -> float:
    """Resident memory [MB]."""
    return int(Path(f"/proc/{pid}/status").read_text().partition("VmRSS:")[2].split()[0]) / 1024


def drive(seconds: float, first: int = 0) -> int:
    """Send commands at 50 Hz, numbered from ``first`` on; return the number after the last."""
    graph = open_graph(parse([], "bench"), "bench")
    topic = topics.ACKERMANN_CMD
    publisher = graph.publisher(topic.name, topic.type, topic.qos)
    while publisher.subscription_count() < 2:
        graph.wait(0.1)
    message = graph.message(topic.type)
    begin, count = time.monotonic() - 0.02 * first, first
    while (now := time.monotonic()) < begin + 0.02 * first + seconds:
        if now < begin + 0.02 * count:
            graph.wait(begin + 0.02 * count - now)
            continue
        # The time-out of commands uses the stamp, so the number goes into a field that is not used.
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(time.time_ns(), 1_000_000_000)
        message.header.frame_id = str(count)
        message.drive.speed = float(np.sin(0.01 * count))
        publisher.publish(message)
        count += 1
    graph.wait(0.5)
    graph.close()
    return count


def missing(path: Path) -> dict[str, tuple[int, int]]:
    """Messages recorded and messages missed between the first and the last, by topic."""
    stamps: dict[str, list[int]] = defaultdict(list)
    types = open_types()
    with open_bag(path) as bag:
        codecs = {connection.topic: types.codec(connection.msgtype) for connection in bag.counts}
        found = [
            (connection.topic, codecs[connection.topic].decode(bytearray(data)))
            for connection, _, data in bag.messages(bag.counts)
        ]
    for name, message in found:
        short = name.lstrip("/")
        if short in STAMPED or name == topics.TF.name:
            header = message.transforms[0].header if name == topics.TF.name else message.header
            stamps[name].append(header.stamp.sec * 1_000_000_000 + header.stamp.nanosec)
        elif short == topics.ACKERMANN_CMD.name:
            stamps[name].append(int(message.header.frame_id) * PERIOD)
    # When it ends, the node sends everything once more, between two periods.
    regular = {name: [stamp for stamp in found if stamp % PERIOD == 0] for name, found in stamps.items()}
    return {name: (len(found), (found[-1] - found[0]) // PERIOD + 1 - len(found)) for name, found in regular.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--domain", type=int, default=120 + os.getpid() % 50)
    options = parser.parse_args()
    os.environ["ROS_DOMAIN_ID"] = str(options.domain)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "all.mcap"
        node = subprocess.Popen([sys.executable, "-m", "vds_gz.programs.nodes.sim_node"])
        recorder = subprocess.Popen([sys.executable, "-m", "vds_gz.cli", "record", "-o", str(path)])
        first = drive(STARTED)
        used, before, begin = processor_seconds(recorder.pid), memory(recorder.pid), time.monotonic()
        sent = drive(options.seconds, first)
        share = (processor_seconds(recorder.pid) - used) / (time.monotonic() - begin)
        after = memory(recorder.pid)
        for process in (recorder, node):
            process.send_signal(2)
            process.wait()
        print(f"\nprocessor {100 * share:.2f} % of a core, memory {before:.1f} MB, {after:.1f} MB at the end")
        for name, (count, lost) in sorted(missing(path).items()):
            print(f"{name:24} {count:7} recorded, {lost} missing" + (f" of {sent} sent" if "cmd" in name else ""))
        with open_bag(path) as bag:
            print(f"{bag.counts.total()} messages in all, {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
