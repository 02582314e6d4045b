"""``vds-gz drive``: sends a command log over the graph, at its times, as the person who drove it did."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from vds_gz.commandlog import log as command_log
from vds_gz.commandlog.log import (
    GEARED,
    Ackermann,
    CommandLog,
    CommandLogError,
    Control,
    Entry,
    Gear,
    Kind,
    Pedals,
    Velocity,
)
from vds_gz.errors import ArgumentError
from vds_gz.interface import topics
from vds_gz.interface.conversions import set_stamp, stamp_ns
from vds_gz.ros.arguments import Arguments, parse
from vds_gz.ros.errors import GraphError
from vds_gz.ros.factory import open_graph
from vds_gz.ros.graph import Graph
from vds_gz.ros.stopping import LONGEST_SLEEP, StopRequest, on_signals

NODE_NAME = "drive"

TOPICS: dict[Kind, topics.Topic] = {
    "twist": topics.TWIST_REFERENCE,
    "twist_stamped": topics.TWIST_STAMPED_REFERENCE,
    "ackermann": topics.ACKERMANN_CMD,
    "control": topics.CONTROL_CMD,
    "pedals": topics.ACTUATION_CMD["tier4"],
    "autoware_pedals": topics.ACTUATION_CMD["autoware"],
}

COMMANDS: dict[Kind, Any] = {
    "twist": Velocity,
    "twist_stamped": Velocity,
    "ackermann": Ackermann,
    "control": Control,
    "pedals": Pedals,
    "autoware_pedals": Pedals,
}

WORDS = {
    Velocity: "velocities",
    Ackermann: "speeds and steering angles",
    Control: "velocities, accelerations and tire angles",
    Pedals: "pedals",
}

#: Between two lines of progress, on a terminal and elsewhere [s].
PROGRESS_PERIOD = (0.2, 5.0)

DESCRIPTION = """
Send a command log to a vehicle, in real time, or at the pace of /clock if use_sim_time is true.

LOG is a CSV file whose first row names the columns,
  time,v_x,v_y,yaw_rate                 velocities [s, m/s, m/s, rad/s], sent to twist_reference, or
  time,speed,steering_angle             speed and steering angle [s, m/s, rad], sent to ackermann_cmd,
  time,velocity,acceleration,steering_tire_angle[,gear]     to Autoware's control_cmd and gear_cmd, or
  time,accel_pedal,brake_pedal,steering_command[,gear]      to Autoware's actuation_cmd and gear_cmd,
or a bag (rosbag2 folder, .mcap, .db3) with a topic of type Twist, TwistStamped, AckermannDriveStamped, Control or
ActuationCommandStamped.
After its last command the log is over, and a command to stop follows.
"""

EPILOG = """
examples:
  vds-gz drive config/drives/parking_lot.csv
  vds-gz drive my_bag/ --topic /cmd_vel --as twist_stamped --rate 0.5
  vds-gz drive log.csv --ros-args -r ackermann_cmd:=/car/ackermann_cmd -p use_sim_time:=true
"""


class Driver:
    """Sends a log, command by command."""

    def __init__(
        self,
        graph: Graph,
        log: CommandLog,
        kind: Kind,
        stop: StopRequest,
        *,
        rate: float = 1.0,
        sim_time: bool = False,
    ) -> None:
        """Announce the topic.

        Args:
            graph: Where to publish.
            log: What to send.
            kind: Which messages to send it in.
            stop: What ends it before the log does.
            rate: Seconds of the log per second.
            sim_time: Seconds are those of ``/clock``.
        """
        self.log = log
        self._stop = stop
        stop.wakes(graph.wake)
        self._graph = graph
        self._kind = kind
        self._rate = rate
        self._clock: int | None = None
        self._sim_time = sim_time
        topic = TOPICS[kind]
        self.publisher = graph.publisher(topic.name, topic.type, topic.qos)
        self._message = graph.message(topic.type)
        if kind in GEARED:
            gear = topics.GEAR_CMD
            self._gears = graph.publisher(gear.name, gear.type, gear.qos), graph.message(gear.type)
        if sim_time:
            clock = topics.CLOCK_IN
            graph.subscribe(clock.name, clock.type, clock.qos, self._on_clock)

    def wait_for_vehicle(self, timeout: float) -> str:
        """Wait until somebody listens and time is known; what is missing after ``timeout`` seconds, in words."""
        end = time.monotonic() + timeout
        while not self._stop.requested:
            if self.publisher.subscription_count() == 0:
                missing = f"nobody listens to '{self.publisher.topic}' ({TOPICS[self._kind].type})"
            elif self._now() is None:
                missing = "nobody publishes '/clock', which use_sim_time needs"
            else:
                return ""
            if time.monotonic() > end:
                return missing
            self._graph.wait(0.05)
        return ""

    def run(self, *, loop: bool = False, progress: Callable[[float, Any], None] = lambda passed, command: None) -> None:
        """Send the log, again and again if ``loop``, and then a command to stop.

        ``progress`` is called with the time in the log [s] and each command sent.
        """
        while not self._stop.requested:
            begin = self._time()
            for moment, command in zip(self.log.times, self.log.commands, strict=True):
                begin = self._sleep_until(begin, round(moment / self._rate * 1e9))
                if self._stop.requested:
                    break
                self.send(command)
                progress(moment, command)
            if not loop:
                break
        if self._kind not in GEARED:  # to those, zero would be to roll on; without commands they brake
            self.send(Ackermann(0.0, 0.0) if self._kind == "ackermann" else Velocity(0.0, 0.0, 0.0))

    def send(self, command: Entry) -> None:
        """Send one command, stamped with the present."""
        publisher, message = self._gears if isinstance(command, Gear) else (self.publisher, self._message)
        fill(message, command, self._time())
        publisher.publish(message)

    def _sleep_until(self, begin: int, after: int) -> int:
        """Sleep until so much after the begin [ns]; the begin, put back if time has jumped back."""
        last = self._time()
        while not self._stop.requested and (left := begin + after - self._time()) > 0:
            self._graph.wait(LONGEST_SLEEP if self._sim_time else min(left * 1e-9, LONGEST_SLEEP))
            if self._time() < last:
                begin -= last - self._time()
            last = self._time()
        return begin

    def _on_clock(self, message: Any, arrival: int) -> None:
        self._clock = stamp_ns(message.clock)

    def _now(self) -> int | None:
        return self._clock if self._sim_time else time.time_ns()

    def _time(self) -> int:
        return self._now() or 0


def stamp_of(message: Any) -> Any:
    """Where the stamp of a command's message is; None where it has none."""
    return message.header.stamp if hasattr(message, "header") else getattr(message, "stamp", None)


def fill(message: Any, command: Entry, time: int) -> None:
    """Write a command and its time [ns] into a message of its type."""
    stamp = stamp_of(message)
    if stamp is not None:
        set_stamp(stamp, time)
    if isinstance(command, Gear):
        message.command = command.gear
    elif isinstance(command, Ackermann):
        for name, value in command._asdict().items():
            setattr(message.drive, name, value)
    elif isinstance(command, Control):
        message.longitudinal.velocity, message.longitudinal.acceleration = command[:2]
        message.lateral.steering_tire_angle = command.steering_tire_angle
    elif isinstance(command, Pedals):
        told = message.actuation if hasattr(message, "actuation") else message.actuation_command
        told.accel_cmd, told.brake_cmd, told.steer_cmd = command
    else:
        twist = message.twist if hasattr(message, "twist") else message
        twist.linear.x, twist.linear.y, twist.angular.z = command


class Progress:
    """Tells where in the log we are: one line that is written anew on a terminal, else a line now and then."""

    def __init__(self, duration: float) -> None:
        """The log's duration [s]."""
        self._duration = duration
        self._terminal = sys.stdout.isatty()
        self._next = -math.inf

    def __call__(self, passed: float, command: Entry) -> None:
        """This command was sent, so many seconds into the log."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + PROGRESS_PERIOD[0 if self._terminal else 1]
        values = ", ".join(f"{name} {value:.2f}" for name, value in zip(command._fields[:3], command, strict=False))
        end = "\r" if self._terminal else "\n"
        print(f"{NODE_NAME}: {passed:6.1f} of {self._duration:.1f} s   {values:60}", end=end, flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Send a log.

    Returns:
        0 when it was sent or we were told to stop, 1 if there is no vehicle, 2 if something is wrong with what was
        given.
    """
    try:
        arguments = parse(sys.argv[1:] if argv is None else argv, NODE_NAME)
        options = _parser().parse_args(arguments.rest)
        log = command_log.read(options.log, options.topic)
        kind = _kind(log, options.kind)
        stop = on_signals()
        graph = open_graph(arguments, NODE_NAME)
    except (ArgumentError, CommandLogError, GraphError) as error:
        print(f"{NODE_NAME}: {error}", file=sys.stderr)
        return 2
    driver = Driver(graph, log, kind, stop, rate=options.rate, sim_time=_sim_time(arguments))
    try:
        missing = driver.wait_for_vehicle(options.wait)
        if missing:
            print(
                f"{NODE_NAME}: {missing} after {options.wait:g} s of waiting; start the vehicle first (vds-gz node) "
                "and check that ROS_DOMAIN_ID is the same",
                file=sys.stderr,
            )
            return 1
        print(
            f"{NODE_NAME}: {len(log.times)} commands, {log.duration / options.rate:.1f} s, to "
            f"'{driver.publisher.topic}'",
            flush=True,
        )
        driver.run(loop=options.loop, progress=Progress(log.duration))
    finally:
        graph.close()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "vds-gz drive", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("log", metavar="LOG", help="CSV file or bag")
    parser.add_argument("--topic", metavar="NAME", help="the topic of a bag, where several have commands")
    parser.add_argument("--as", dest="kind", choices=list(TOPICS), help="messages to send; those of the log by default")
    parser.add_argument("--rate", type=_positive, default=1.0, metavar="X", help="seconds of the log per second (1)")
    parser.add_argument("--loop", action="store_true", help="begin again at the end, until stopped")
    parser.add_argument("--wait", type=_positive, default=10.0, metavar="S", help="wait so long for a vehicle (10)")
    return parser


def _positive(text: str) -> float:
    value = float(text)
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' must be a number greater than 0")
    return value


def _kind(log: CommandLog, wanted: Kind | None) -> Kind:
    """The kind of messages to send."""
    if wanted is not None and COMMANDS[wanted] is not COMMANDS[log.kind]:
        has = WORDS[COMMANDS[log.kind]]
        raise CommandLogError(
            f"a log of {has} cannot be sent as {wanted}; that would need the vehicle's geometry, or maps of its pedals"
        )
    return wanted or log.kind


def _sim_time(arguments: Arguments) -> bool:
    values = [override.value for override in arguments.overrides if override.name == "use_sim_time"]
    return bool(values and values[-1])


if __name__ == "__main__":
    sys.exit(main())
