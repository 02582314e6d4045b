"""One run: a vehicle and a driver in separate processes, recorded over the graph and shown as a line of text."""

from __future__ import annotations

import math
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from vds_gz.core.child_process import ChildProcess
from vds_gz.core.errors import FailureError
from vds_gz.core.geometry import Pose
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.parameters.schema import schema_line
from vds_gz.core.parameters.yaml_reader import parameter_file
from vds_gz.core.ros.arguments import Arguments
from vds_gz.core.ros.graph import Message
from vds_gz.core.ros.messages.fields import stamp_ns, yaw_of
from vds_gz.core.ros.messages.message_types import open_types
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.core.ros.program_shell import StopRequest
from vds_gz.core.vehicle.catalogue import actuator_kind
from vds_gz.core.vehicle.command import OPEN, reference_of
from vds_gz.programs.bags.recorder import Recorder
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.commands import vehicle_topics, whole_types
from vds_gz.programs.interface.model_reports import model_topics

#: The real-time factor is a mean over this time [s].
WINDOW = 1.0

#: A real-time factor is shown if it differs from 1 by more than this.
SHOWN_LAG = 0.05

#: Periods of lines on a terminal, where each replaces the last one, and elsewhere [s].
TERMINAL_PERIOD, LINE_PERIOD = 0.1, 1.0


class TrackedQuantity(NamedTuple):
    """Reference and actual value of a quantity; None for an unknown one."""

    label: str
    unit: str
    reference: float | None
    actual: float | None


class RunMonitor:
    """Shows the state of a run by the newest messages."""

    def __init__(self) -> None:
        self._types = open_types()
        self._commands = {command.topic.name: command for command in whole_types() if not command.variant}
        shown = (*topics.VEHICLE, *(command.topic for command in self._commands.values()))
        self._shown = {topic.name: topic.type for topic in shown}
        self._raw: dict[str, bytes] = {}
        self._messages: dict[str, Message] = {}
        self._command = ""
        self._next_line = 0.0
        self._first_stamp: int | None = None
        self._window = (time.monotonic(), 0, math.nan)

    def take(self, topic: str, data: bytes, arrival: int) -> None:
        """Take a message; cheap enough for all messages. Topics that are not a vehicle's are ignored."""
        if topic in self._shown:
            self._raw[topic] = data
            self._command = topic if topic in self._commands else self._command

    def update(self) -> None:
        """Decode the messages since the last call."""
        for topic, data in self._raw.items():
            self._messages[topic] = self._types.codec(self._shown[topic]).decode(bytearray(data))
        self._raw = {}

    def show(self) -> None:
        """Print a line if it is time. To be called often. On a terminal it replaces the last line."""
        now = time.monotonic()
        if now < self._next_line:
            return
        terminal = sys.stdout.isatty()
        self._next_line = now + (TERMINAL_PERIOD if terminal else LINE_PERIOD)
        self.update()
        if line := self.line():
            print(f"\r{line}\x1b[K" if terminal else line, end="" if terminal else "\n", flush=True)

    def close(self) -> None:
        """Leave the last line on a terminal."""
        if sys.stdout.isatty():
            print(flush=True)

    def line(self) -> str:
        """Time, motion and pose of the vehicle now, as far as they fit into the line; empty while they are unknown."""
        if not (body := self._body()):
            return ""
        *speeds, yaw_rate = body
        steerings = [pair for pair in self._actuators() if pair.unit == "rad"]
        turning = steerings if steerings and yaw_rate.reference is None else [yaw_rate]
        pose, (elapsed, factor) = self.pose(), self._times()
        parts = [f"{elapsed:6.1f} s", *map(_in_words, (*speeds, *turning))]
        if refused := self.refused():
            parts.append(f"{refused} refused")
        if abs(factor - 1.0) > SHOWN_LAG:
            parts.append(f"{factor:.2f} x real time")
        parts.append(f"at {pose.x + 0.0:.1f}, {pose.y + 0.0:.1f}")
        width, line = shutil.get_terminal_size().columns, parts[0]
        for part in parts[1:]:
            line += f"  {part}" if len(line) + 2 + len(part) < width else ""
        return line

    def pairs(self) -> list[TrackedQuantity]:
        """Speeds of the vehicle, then its actuators."""
        body = self._body()
        return [*body, *self._actuators()] if body else []

    def _body(self) -> list[TrackedQuantity]:
        """Speeds of the vehicle, the yaw rate last; empty while they are unknown."""
        if (truth := self._messages.get(topics.GROUND_TRUTH.name)) is None:
            return []
        v_x, v_y, yaw_rate, *_ = self._reference()
        twist = truth.twist.twist
        pairs = [TrackedQuantity("speed", "m/s", v_x, twist.linear.x)]
        if v_y or abs(twist.linear.y) > 1e-6:
            pairs.append(TrackedQuantity("lateral", "m/s", v_y, twist.linear.y))
        return [*pairs, TrackedQuantity("yaw rate", "rad/s", yaw_rate, twist.angular.z)]

    def pose(self) -> Pose:
        """The vehicle's pose; the origin while it is unknown."""
        if (truth := self._messages.get(topics.GROUND_TRUTH.name)) is None:
            return Pose(0.0, 0.0, 0.0)
        pose = truth.pose.pose
        return Pose(pose.position.x, pose.position.y, yaw_of(pose.orientation))

    def refused(self) -> int | None:
        """Total number of messages that the vehicle refused; None if the newest diagnostics lack it."""
        diagnostics = self._messages.get(topics.DIAGNOSTICS.name)
        values = (pair for status in (diagnostics.status if diagnostics else ()) for pair in status.values)
        numbers = (pair.value for pair in values if pair.key == "refused messages" and pair.value.isdecimal())
        return next(map(int, numbers), None)

    def _times(self) -> tuple[float, float]:
        """The vehicle's time since its first message [s], and its seconds per second; NaN while unknown."""
        if (truth := self._messages.get(topics.GROUND_TRUTH.name)) is None:
            return 0.0, math.nan
        stamp, now = stamp_ns(truth.header.stamp), time.monotonic()
        begin, first, factor = self._window
        if self._first_stamp is None:
            self._first_stamp = stamp
            self._window = now, stamp, math.nan
        elif now - begin >= WINDOW:
            factor = (stamp - first) * 1e-9 / (now - begin)
            self._window = now, stamp, factor
        return (stamp - self._first_stamp) * 1e-9, factor

    def _reference(self) -> list[float | None]:
        """Speed, lateral speed, yaw rate and steering angle of the last command; None for those that it leaves open."""
        message = self._messages.get(self._command)
        reference = OPEN
        if message is not None:
            reference = reference_of(self._commands[self._command].decode(message).command())
        return [None if math.isnan(value) else value for value in reference]

    def _actuators(self) -> Iterator[TrackedQuantity]:
        reference = self._messages.get(topics.ACTUATOR_REFERENCES.name)
        actual = self._messages.get(topics.ACTUATOR_STATES.name)
        if reference is None or actual is None:
            return
        for i, name in enumerate(actual.name):
            label = name.replace("_", " ")
            if actuator_kind(name) == "steering":
                yield TrackedQuantity(label, "rad", reference.position[i], actual.position[i])
            else:
                yield TrackedQuantity(label, "m/s", reference.velocity[i], actual.velocity[i])


def _in_words(pair: TrackedQuantity) -> str:
    """Reference and actual value; an unknown one is left out."""
    values = (f"{round(value, 2) + 0.0:5.2f}" for value in (pair.reference, pair.actual) if value is not None)
    return f"{pair.label} {' -> '.join(values)}"


NODE_NAME = "run"

#: The port of the page, if it is free, and the start of the line in which ``vds-gz view`` prints its address.
PAGE_PORT, PAGE_LINE = 8088, "the page is at "

#: Maximum time for the vehicle to come to rest after the driver's end [s], and threshold of rest [m/s, rad/s, rad].
SETTLE, REST = 3.0, 1e-3

#: Longest sleep, so that the line and the file are kept up to date [s].
LONGEST_SLEEP = 0.05

#: Number of a failed process's last lines in an error.
LAST_LINES = 12


def write_parameters(overrides: Iterable[Override], folder: Path) -> Path:
    """Write a vehicle's parameters into a parameter file for any namespace."""
    path = folder / "parameters.yaml"
    values = (override._replace(origin="") for override in overrides)
    path.write_text(schema_line() + parameter_file(values, "/**"), encoding="utf-8")
    return path


def _free_port(wanted: int) -> int:
    """A free TCP port: the wanted one if possible."""
    for port in (wanted, 0):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)) as listening:
            return int(listening.getsockname()[1])
    return wanted  # the program that is to listen there reports the reason


class Process:
    """A Python module in its own process, with its output in a file."""

    def __init__(
        self, name: str, command: Sequence[str], output: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start the module with its arguments; the environment is that of this process by default."""
        self._name = name
        self._output = output
        with output.open("wb") as file:
            self._process = ChildProcess([sys.executable, "-m", *command], env=environment, output=file)

    def ended(self) -> bool:
        """Whether it has ended without an error. After an error, raise one with its last lines."""
        code = self._process.poll()
        if code:
            lines = self.output().strip().splitlines()[-LAST_LINES:]
            head = f"the {self._name} ended with exit code {code}; its last lines:"
            raise FailureError("\n  ".join([head, *lines]))
        return code is not None

    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def output(self) -> str:
        """Its output up to now."""
        return self._output.read_text(encoding="utf-8", errors="replace")

    def stop(self) -> None:
        """Interrupt it, and kill it if it does not end."""
        self._process.stop()


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
        program: str = "vds_gz.programs.nodes.sim_node",
        environment: Mapping[str, str] | None = None,
        stop: StopRequest | None = None,
    ) -> None:
        """Start the vehicle, join the graph and open the recording in a folder.

        ``node`` are the arguments of the vehicle's program, ``sensors`` topics that are recorded too; ``stop`` ends the
        run early.
        """
        self._stop = stop or StopRequest()
        self._folder = folder
        self._monitor = RunMonitor()
        self._show = show
        self._page: Process | None = None
        with ExitStack() as stack:
            self._node = Process("vehicle", [program, *node], folder / "vehicle.log", environment)
            stack.callback(self._node.stop)
            self._graph = open_graph(graph, NODE_NAME)
            stack.callback(self._graph.close)
            self._stop.wakes(self._graph.wake)
            names = [topic.name for topic in (*model_topics(), *topics.SURROUNDINGS)]
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
        """Run a driver with these arguments until it has ended and the vehicle is at rest, or a stop is requested.

        ``turned`` is called regularly.
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
        """Continue until a stop is requested."""
        while not self._stop.requested:
            self._spin_once()

    def open_page(self, arguments: Sequence[str]) -> None:
        """Serve the live page during the run, with these arguments of ``vds-gz view``, and print its address."""
        port = str(_free_port(PAGE_PORT))
        self._page = Process("page", ["vds_gz.cli", "view", "--port", port, *arguments], self._folder / "page.log")
        self._stack.callback(self._page.stop)

    def _announce_page(self) -> None:
        """Print the address of the page once it is there, or the last line of its program: why there is none."""
        if self._page is None:
            return
        running, lines = self._page.is_running(), self._page.output().splitlines(keepends=True)
        address = [line for line in lines if line.startswith(PAGE_LINE) and line.endswith("\n")]
        if address or not running:
            over = "\r\x1b[K" if sys.stdout.isatty() else ""  # in place of the monitor's line
            print(over + (address or lines or ["the page's program ended"])[-1].rstrip(), flush=True)
            self._page = None

    def _spin_once(self) -> None:
        """Take new messages, and keep file and line up to date."""
        self._announce_page()
        self._graph.wait(LONGEST_SLEEP)
        self._recorder.tick()
        if self._show:
            self._monitor.show()
        if self._node.ended():
            raise FailureError("the vehicle ended early, without an error")

    def _at_rest(self) -> bool:
        """Whether all speeds and actuators are at their references."""
        self._monitor.update()
        return all(abs((pair.actual or 0.0) - (pair.reference or 0.0)) < REST for pair in self._monitor.pairs())
