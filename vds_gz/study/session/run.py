"""One run: a vehicle and a driver in processes of their own, recorded and watched over the graph."""

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
from vds_gz.parameters.override import Override
from vds_gz.ros.arguments import Arguments
from vds_gz.ros.factory import open_graph
from vds_gz.ros.stopping import StopRequest
from vds_gz.study.session.newest import Telemetry
from vds_gz.study.session.terminal_view import View, open_view

NODE_NAME = "run"

#: After the driver's end, the vehicle may take so long to come to rest [s]; below this it rests [m/s, rad/s, rad].
SETTLE, REST = 3.0, 1e-3

#: A process that is signalled to end has so long [s].
LONGEST_GOODBYE = 5.0

#: Longest sleep, so that the view and the file are kept up to date [s].
LONGEST_SLEEP = 0.05

#: Lines of what a failed process said last.
LAST_LINES = 12


class RunError(FailureError):
    """The run failed."""


def write_parameters(overrides: Iterable[Override], folder: Path) -> Path:
    """Write a vehicle's parameters into a parameter file that suits it in whatever namespace."""
    path = folder / "parameters.yaml"
    values = {override.name: override.value for override in overrides}
    path.write_text(yaml.safe_dump({"/**": {"ros__parameters": values}}, sort_keys=False), encoding="utf-8")
    return path


class Process:
    """A Python module that runs in its own process; what it says goes into a file."""

    def __init__(
        self, what: str, command: Sequence[str], output: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start it.

        Args:
            what: Its name for messages.
            command: The module and its arguments.
            output: The file.
            environment: Its environment variables; ours where none are given.
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
                start_new_session=True,  # Ctrl-C is for us; the others end when it is time
            )

    def ended(self) -> bool:
        """It has ended, and well.

        Raises:
            RunError: It has ended with an error; the message has what it said last.
        """
        code = self._process.poll()
        if code:
            said = self._output.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-LAST_LINES:]
            head = f"the {self._what} ended with exit code {code}; the last that it said:"
            raise RunError("\n  ".join([head, *said]))
        return code is not None

    def stop(self) -> None:
        """Tell it to end, and see that it does."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(LONGEST_GOODBYE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


class Session:
    """A run from its begin to its end. Used with ``with``, which stops everything whatever happens."""

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
            title: Of the live view and in the recording.
            node: Arguments of the vehicle's node.
            graph: What the command line says of our own place on the graph.
            folder: Where the recording goes, and what the processes say.
            show: There is a live view.
            sensors: Topics of sensors to record, too.
            program: The module that runs the vehicle.
            environment: Its environment variables; ours where none are given.
            stop: What ends the run early.
        """
        self._stop = stop or StopRequest()
        self._folder = folder
        self._telemetry = Telemetry()
        self._view: View | None = None
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
                listen=self._telemetry.take,
            )
            stack.callback(self._recorder.close)
            if show:
                self._view = open_view(self._telemetry, title)
                stack.callback(self._view.close)
            self._stack = stack.pop_all()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def drive(self, driver: Sequence[str], turned: Callable[[], object] = lambda: None) -> None:
        """Let a driver with these arguments drive, until it has ended and the vehicle rests.

        ``turned`` is called every now and then.

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
        """Go on until a stop is requested.

        Raises:
            RunError: The vehicle failed.
        """
        while not self._stop.requested:
            self._spin_once()

    def _spin_once(self) -> None:
        """Take what has come, and keep file and view up to date."""
        self._graph.wait(LONGEST_SLEEP)
        self._recorder.tick()
        if self._view is not None:
            self._view.refresh()
        if self._node.ended():
            raise RunError("the vehicle ended before its time, without an error")

    def _at_rest(self) -> bool:
        """Nothing moves, and every actuator is at its reference."""
        self._telemetry.update()
        pairs = self._telemetry.pairs()
        return all(abs((pair.actual or 0.0) - (pair.reference or 0.0)) < REST for pair in pairs)
