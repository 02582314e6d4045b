"""One run: a vehicle and a driver in separate processes, recorded and watched over the graph, as a line of text."""

from __future__ import annotations

import math
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import yaml

from vds_gz.bags.recorder import Recorder
from vds_gz.errors import FailureError
from vds_gz.geometry import Pose
from vds_gz.interface import topics
from vds_gz.interface.commands import Reference, autoware_topics, vehicle_topics, whole_types
from vds_gz.parameters.declaration import Override
from vds_gz.ros.arguments import Arguments
from vds_gz.ros.factory import open_graph
from vds_gz.ros.graph import Message
from vds_gz.ros.messages.factory import open_types
from vds_gz.ros.messages.fields import stamp_ns, yaw_of
from vds_gz.ros.programs import StopRequest
from vds_gz.vehicle.catalogue import actuator_kind

#: The real-time factor is a mean over this time [s].
WINDOW = 1.0

#: Between two lines on a terminal, where one takes the place of the last, and elsewhere [s].
TERMINAL_PERIOD, LINE_PERIOD = 0.1, 1.0


@dataclass(frozen=True, slots=True)
class Pair:
    """Reference and actual value of a quantity; None if there is none."""

    label: str
    unit: str
    reference: float | None
    actual: float | None


class RunMonitor:
    """Takes raw messages and shows what they say now.

    Attributes:
        pose: The vehicle's.
        real_time_factor: The vehicle's seconds per second; NaN while unknown.
        refused: Messages that the vehicle refused, in all.
    """

    def __init__(self) -> None:
        """Start without messages."""
        self.pose = Pose(0.0, 0.0, 0.0)
        self.real_time_factor = math.nan
        self.refused = 0
        self._types = open_types()
        self._commands = {one.topic.name: one for one in whole_types() if not one.variant}
        shown = (*topics.VEHICLE, *(one.topic for one in self._commands.values()))
        self._shown = {topic.name: topic.type for topic in shown}
        self._raw: dict[str, bytes] = {}
        self._messages: dict[str, Message] = {}
        self._command = ""
        self._next_line = 0.0
        self._window: tuple[float, int] | None = None
        self._first_stamp: int | None = None
        self._stamp = 0

    def take(self, topic: str, data: bytes, arrival: int) -> None:
        """Take a message; cheap enough for all messages. Topics that are not a vehicle's are ignored."""
        if topic not in self._shown:
            return
        self._raw[topic] = data
        if topic in self._commands:
            self._command = topic

    def update(self) -> None:
        """Decode the messages since the last call."""
        for topic, data in self._raw.items():
            self._messages[topic] = self._types.codec(self._shown[topic]).decode(bytearray(data))
        fresh, self._raw = set(self._raw), {}
        if topics.GROUND_TRUTH.name in fresh:
            self._update_pose()
        if topics.DIAGNOSTICS.name in fresh:
            self._update_diagnostics()
        self._update_real_time_factor()

    def show(self) -> None:
        """Print a line, if it is time; to be called often. On a terminal it takes the place of the last one."""
        now = time.monotonic()
        if now < self._next_line:
            return
        terminal = sys.stdout.isatty()
        self._next_line = now + (TERMINAL_PERIOD if terminal else LINE_PERIOD)
        self.update()
        if terminal:
            print(f"\r{self.line()[: shutil.get_terminal_size().columns - 1]}\x1b[K", end="", flush=True)
        else:
            print(self.line(), flush=True)

    def close(self) -> None:
        """Leave the last line on a terminal."""
        if sys.stdout.isatty():
            print(flush=True)

    def line(self) -> str:
        """What the vehicle does now."""
        pairs = "  ".join(f"{pair.label} {_number(pair.reference)} -> {_number(pair.actual)}" for pair in self.pairs())
        refused = f"  {self.refused} refused" if self.refused else ""
        return (
            f"{self.elapsed:6.1f} s  {pairs or 'no vehicle yet'}  at ({self.pose.x:.2f}, {self.pose.y:.2f}), "
            f"{math.degrees(self.pose.heading):.0f} deg  real-time factor {self.real_time_factor:.2f}{refused}"
        )

    @property
    def elapsed(self) -> float:
        """The vehicle's time since its first message [s]."""
        return 0.0 if self._first_stamp is None else (self._stamp - self._first_stamp) * 1e-9

    def pairs(self) -> list[Pair]:
        """Speeds of the vehicle, then its actuators."""
        truth = self._messages.get(topics.GROUND_TRUTH.name)
        if truth is None:
            return []
        v_x, v_y, yaw_rate, _ = self._reference()
        twist = truth.twist.twist
        found = [Pair("speed", "m/s", v_x, twist.linear.x)]
        if v_y or abs(twist.linear.y) > 1e-6:
            found.append(Pair("lateral", "m/s", v_y, twist.linear.y))
        found.append(Pair("yaw rate", "rad/s", yaw_rate, twist.angular.z))
        return found + self._actuators()

    def _reference(self) -> list[float | None]:
        """The last command, in the order of its quantities; None for what it leaves open."""
        message = self._messages.get(self._command)
        reference = Reference() if message is None else self._commands[self._command].decode(message).reference()
        return [None if math.isnan(value) else value for value in reference]

    def _actuators(self) -> list[Pair]:
        reference = self._messages.get(topics.ACTUATOR_REFERENCES.name)
        actual = self._messages.get(topics.ACTUATOR_STATES.name)
        if reference is None or actual is None:
            return []
        found = []
        for i, name in enumerate(actual.name):
            label = name.replace("_", " ")
            if actuator_kind(name) == "steering":
                found.append(Pair(label, "rad", reference.position[i], actual.position[i]))
            else:
                found.append(Pair(label, "m/s", reference.velocity[i], actual.velocity[i]))
        return found

    def _update_pose(self) -> None:
        message = self._messages[topics.GROUND_TRUTH.name]
        pose = message.pose.pose
        self.pose = Pose(pose.position.x, pose.position.y, yaw_of(pose.orientation))
        self._stamp = stamp_ns(message.header.stamp)
        if self._first_stamp is None:
            self._first_stamp = self._stamp

    def _update_diagnostics(self) -> None:
        for status in self._messages[topics.DIAGNOSTICS.name].status:
            values = {pair.key: pair.value for pair in status.values}
            if "refused messages" in values:
                self.refused = int(values["refused messages"])

    def _update_real_time_factor(self) -> None:
        now = time.monotonic()
        if self._window is None:
            self._window = now, self._stamp
        begin, stamp = self._window
        if now - begin >= WINDOW:
            self.real_time_factor = (self._stamp - stamp) * 1e-9 / (now - begin) if stamp else math.nan
            self._window = now, self._stamp


def _number(value: float | None) -> str:
    return "    - " if value is None else f"{round(value, 2) + 0.0:6.2f}"


NODE_NAME = "run"

#: Time for the vehicle to come to rest after the driver's end [s], and thresholds of rest [m/s, rad/s, rad].
SETTLE, REST = 3.0, 1e-3

#: Time for a process to end after a signal [s].
LONGEST_GOODBYE = 5.0

#: Longest sleep, so that the line and the file are kept up to date [s].
LONGEST_SLEEP = 0.05

#: Number of a failed process's last lines in an error.
LAST_LINES = 12


class RunError(FailureError):
    """The run failed."""


def write_parameters(overrides: Iterable[Override], folder: Path) -> Path:
    """Write a vehicle's parameters into a parameter file for any namespace."""
    path = folder / "parameters.yaml"
    values = {override.name: override.value for override in overrides}
    path.write_text(yaml.safe_dump({"/**": {"ros__parameters": values}}, sort_keys=False), encoding="utf-8")
    return path


class Process:
    """A Python module in its own process, with its output in a file."""

    def __init__(
        self, what: str, command: Sequence[str], output: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start it.

        Args:
            what: Its name for messages.
            command: The module and its arguments.
            output: The file.
            environment: Its environment variables; by default this process's.
        """
        self._what = what
        self._output = output
        with output.open("wb") as file:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *command],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for this process; the others end when it is time
            )

    def ended(self) -> bool:
        """Whether it has ended without an error.

        Raises:
            RunError: It has ended with an error; the message has its last lines.
        """
        code = self._process.poll()
        if code:
            said = self._output.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-LAST_LINES:]
            head = f"the {self._what} ended with exit code {code}; its last lines:"
            raise RunError("\n  ".join([head, *said]))
        return code is not None

    def stop(self) -> None:
        """Signal it to end, and make sure that it does."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(LONGEST_GOODBYE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


class Session:
    """A run. Used with ``with``, which always stops all processes."""

    def __init__(
        self,
        title: str,
        node: Sequence[str],
        graph: Arguments,
        folder: Path,
        *,
        show: bool,
        sensors: Iterable[str] = (),
        program: str = "vds_gz.nodes.sim_node",
        environment: Mapping[str, str] | None = None,
        stop: StopRequest | None = None,
    ) -> None:
        """Start the vehicle, join the graph and open the recording.

        Args:
            title: The vehicle's name in the recording.
            node: Arguments of the vehicle's node.
            graph: The command line with the arguments for ROS.
            folder: The folder of the recording and the processes' output.
            show: Print what the vehicle does.
            sensors: Topics of sensors that are recorded too.
            program: The module that runs the vehicle.
            environment: Its environment variables; by default this process's.
            stop: Ends the run early.
        """
        self._stop = stop or StopRequest()
        self._folder = folder
        self._monitor = RunMonitor()
        self._show = show
        with ExitStack() as stack:
            self._node = Process("vehicle", [program, *node], folder / "vehicle.log", environment)
            stack.callback(self._node.stop)
            self._graph = open_graph(graph, NODE_NAME)
            stack.callback(self._graph.close)
            self._stop.wakes(self._graph.wake)
            names = [topic.name for topic in (*autoware_topics(), *topics.SURROUNDINGS)]
            self._recorder = Recorder(
                self._graph,
                folder / "recording.mcap",
                vehicle_topics(),
                wanted={*map(graph.topic, (*names, *sensors))}.__contains__,
                metadata={"vehicle": title},
                listen=self._monitor.take,
            )
            stack.callback(self._recorder.close)
            if show:
                stack.callback(self._monitor.close)
            self._stack = stack.pop_all()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def drive(self, driver: Sequence[str], turned: Callable[[], object] = lambda: None) -> None:
        """Run a driver with these arguments until it has ended and the vehicle is at rest.

        ``turned`` is called regularly.

        Raises:
            RunError: Vehicle or driver failed.
        """
        process = Process("driver", ["vds_gz.cli.drive", *driver], self._folder / "driver.log")
        self._stack.callback(process.stop)
        while not self._stop.requested and not process.ended():
            self._spin_once()
            turned()
        end = time.monotonic() + SETTLE
        while not self._stop.requested and time.monotonic() < end and not self._at_rest():
            self._spin_once()

    def watch(self) -> None:
        """Continue until a stop is requested.

        Raises:
            RunError: The vehicle failed.
        """
        while not self._stop.requested:
            self._spin_once()

    def _spin_once(self) -> None:
        """Take what has come, and keep file and line up to date."""
        self._graph.wait(LONGEST_SLEEP)
        self._recorder.tick()
        if self._show:
            self._monitor.show()
        if self._node.ended():
            raise RunError("the vehicle ended early, without an error")

    def _at_rest(self) -> bool:
        """Whether nothing moves and every actuator is at its reference."""
        self._monitor.update()
        pairs = self._monitor.pairs()
        return all(abs((pair.actual or 0.0) - (pair.reference or 0.0)) < REST for pair in pairs)
