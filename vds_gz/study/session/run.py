"""One run: a vehicle and a driver in separate processes, recorded and watched over the graph."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import yaml

from vds_gz.bags.recorder import Recorder
from vds_gz.errors import FailureError
from vds_gz.interface import topics
from vds_gz.interface.commands import autoware_topics, vehicle_topics
from vds_gz.parameters.declaration import Override
from vds_gz.ros.arguments import Arguments
from vds_gz.ros.factory import open_graph
from vds_gz.ros.programs import StopRequest
from vds_gz.study.session.monitor import RunMonitor

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
