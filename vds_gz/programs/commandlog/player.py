"""Sends a command log over the graph, at its times."""

from __future__ import annotations

import time
from collections.abc import Callable

from vds_gz.core.errors import FailureError
from vds_gz.core.ros.graph import Graph
from vds_gz.core.ros.program_shell import LONGEST_SLEEP, StopRequest
from vds_gz.programs.commandlog.command_log import CommandLog
from vds_gz.programs.interface.commands import CommandType, Gear, Values, gear_type
from vds_gz.programs.interface.vehicle_status import VehicleTime

#: Shortest sleep [s]; simulated time may stand still just before a command is due.
SHORTEST_SLEEP = 0.0002


class Player:
    """Sends a log, command by command."""

    def __init__(
        self,
        graph: Graph,
        log: CommandLog,
        sent_as: CommandType,
        stop: StopRequest,
        *,
        rate: float = 1.0,
        sim_time: bool | None = None,
    ) -> None:
        """Announce the topic."""
        self.log = log
        self._stop = stop
        stop.wakes(graph.wake)
        self._graph = graph
        self._type = sent_as
        self._rate = rate
        types = [sent_as]
        if sent_as.geared and (gear := gear_type()):
            types.append(gear)
        offered = [command_type.topic for command_type in types]
        messages = [graph.message(topic.type) for topic in offered]
        for command_type, message in zip(types, messages, strict=True):
            command_type.check_fields(message)
        publishers = [graph.publisher(topic.name, topic.type, topic.qos) for topic in offered]
        self._outputs = list(zip(types, publishers, messages, strict=True))
        self.publisher = publishers[0]
        self._clock = VehicleTime(graph, sim_time)
        self._clock.follow([self.publisher.topic], lambda: self.publisher.subscription_count() > 0)

    def wait_for_vehicle(self, timeout: float) -> None:
        """Wait for a subscriber and the time, or for a request to stop."""
        end = time.monotonic() + timeout
        while not self._stop.requested:
            if self.publisher.subscription_count() == 0:
                missing = f"no one listens to '{self.publisher.topic}' ({self._type.topic.type})"
            elif self._clock.now() is None:
                missing = self._clock.missing()
            else:
                return
            if time.monotonic() > end:
                raise FailureError(
                    f"waited {timeout:g} s for a vehicle: {missing}. Vehicles: {self._clock.vehicles()}. Start it "
                    "first (vds-gz node), check that ROS_DOMAIN_ID is the same, remap the topic (-r) or send another "
                    "kind (--as)"
                )
            self._graph.wait(0.05)

    def run(self, *, loop: bool = False, progress: Callable[[float, Values], object] | None = None) -> None:
        """Send the log, repeatedly with ``loop``, and then a command to stop.

        ``progress`` is called with the time in the log [s] and each command sent.
        """
        while not self._stop.requested:
            begin = self._time()
            for moment, command in zip(self.log.times, self.log.commands, strict=True):
                begin = self._sleep_until(begin, round(moment / self._rate * 1e9))
                if self._stop.requested:
                    break
                self.send(command)
                if progress is not None:
                    progress(moment, command)
            if not loop:
                break
        if not self._type.geared:  # at zero, vehicles with a gear would roll on; without commands they brake
            self.send(self._type.values(*(0.0 for _ in self._type.fields)))

    def send(self, command: Values) -> None:
        """Send one command, stamped with the present."""
        command_type, publisher, message = self._outputs[isinstance(command, Gear)]
        command_type.encode(message, command, self._clock.stamp())
        publisher.publish(message)

    def _sleep_until(self, begin: int, after: int) -> int:
        """Sleep until a time after the start [ns]; return the start, moved back if time has jumped back."""
        last = self._time()
        while not self._stop.requested and (left := begin + after - self._time()) > 0:
            self._graph.wait(min(max(left * 1e-9, SHORTEST_SLEEP), LONGEST_SLEEP))
            if self._time() < last:
                begin -= last - self._time()
            last = self._time()
        return begin

    def _time(self) -> int:
        return self._clock.now() or 0
