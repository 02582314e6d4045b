"""Brings the vehicle to each instant at which something goes out, as the clock says."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import monotonic_ns

from vds_gz.interface.outputs import ClockOutput
from vds_gz.nodes.clock import Clock
from vds_gz.nodes.observations import Observations
from vds_gz.nodes.periodic import PeriodicTimer
from vds_gz.nodes.sensors import Sensors
from vds_gz.parameters.node import NodeParameters
from vds_gz.plant.base import Plant
from vds_gz.ros.graph import Graph, Severity
from vds_gz.vehicle.vehicle import NANOSECONDS

#: Simulated time may jump ahead by so much and the vehicle still lives through it [ns]; beyond, time just passes.
LONGEST_CATCH_UP = 60 * NANOSECONDS

#: Outputs overdue by more than this in real time are left out [ns].
OVERDUE = NANOSECONDS

#: Real time after which messages are looked at, however much there is to catch up [ns].
LONGEST_WORK = 50_000_000


class TimeKeeper:
    """Advances the vehicle to the instants of its outputs, and to those of ``/clock`` where the time is ours.

    Attributes:
        clock: What gives the time.
        now: The last time that the vehicle was brought to [ns]; None while no time is known.
        paused: The vehicle is held; with a clock of ours, time stands still too.
        skipped: Outputs left out because they were overdue, in all.
    """

    def __init__(
        self,
        graph: Graph,
        parameters: NodeParameters,
        clock: Clock,
        plant: Plant,
        observations: Observations,
        sensors: Sensors,
        forget_commands: Callable[[], None],
    ) -> None:
        """Nothing has begun yet.

        Args:
            graph: Where ``/clock`` goes, if the parameters say so.
            parameters: Rates of the outputs.
            clock: What gives the time.
            plant: What moves the vehicle.
            observations: What goes out at the publish rate.
            sensors: What is measured at rates of its own.
            forget_commands: Called when time has been set or has jumped back.
        """
        self.clock = clock
        self.now: int | None = None
        self.paused = False
        self.skipped = 0
        self._graph = graph
        self._plant = plant
        self._observations = observations
        self._sensors = sensors
        self._forget_commands = forget_commands
        self._clock_output = ClockOutput(graph) if parameters.be_reference_clock else None
        self._output_timer = PeriodicTimer(0, parameters.pub_rate)
        self._clock_timer = PeriodicTimer(0, parameters.clock_rate)
        self._lateness = 0
        self._measured = (0, monotonic_ns())

    @property
    def clock_topic(self) -> str:
        """Full name of the topic on which we give the time; empty if we do not."""
        return self._clock_output.topic if self._clock_output else ""

    @property
    def holds_time(self) -> bool:
        """Paused, and time is ours, so it stands still too."""
        return self.paused and self.clock.owns_time

    @property
    def next_instant(self) -> int:
        """When something goes out next, or is measured [ns]."""
        return int(min(self._next_output, self._sensors.next))

    @property
    def _next_output(self) -> int:
        if self._clock_output is None:
            return self._output_timer.next
        return min(self._output_timer.next, self._clock_timer.next)

    def idle_seconds(self) -> float:
        """How long nothing will be due unless a message comes [s]."""
        if self.now is None or self.holds_time:
            return math.inf
        # Sensors without subscribers are measured when something else is due.
        return self.clock.seconds_until(int(min(self._next_output, self._sensors.next_subscribed)), monotonic_ns())

    # ------------------------------------------------------------------ the vehicle's time

    def catch_up(self) -> None:
        """Advance the vehicle to everything that is due by now."""
        monotonic = monotonic_ns()
        now = self.clock.now(monotonic)
        if now is None:
            return
        now = self._adjusted(now)
        if self.holds_time:
            return
        self.now = now
        while (moment := self.next_instant) <= now:
            if monotonic_ns() - monotonic > LONGEST_WORK:
                break
            self._serve(moment, now, hold=self.paused)
        else:
            self._plant.command(now)
        if self.clock.owns_time and (self.clock.flat_out or now - self.next_instant > OVERDUE):
            self.now = min(now, self.next_instant)
            self.clock.set(self.now, monotonic_ns())

    def step(self, end: int, stopping: Callable[[], bool]) -> None:
        """Advance the vehicle to ``end`` [ns] while time stands still, unless the node is to stop."""
        while (moment := self.next_instant) <= end and not stopping():
            self._serve(moment, end, hold=False)
        if not stopping():
            self._plant.advance(end)
        self.now = self._plant.vehicle.time
        self.clock.set(self.now, monotonic_ns())

    def pause(self, paused: bool) -> None:
        """Hold the vehicle, or let it go on."""
        self.catch_up()
        if paused != self.paused:
            change = self.clock.pause if paused else self.clock.resume
            change(monotonic_ns())
        self.paused = paused

    def restart(self, moment: int) -> None:
        """Restart at a time, with the vehicle at rest where it is."""
        self.clock.set(moment, monotonic_ns())
        self._plant.vehicle.stand_still(moment)
        self._forget_commands()
        self._begin(moment)

    def configure(self, before: NodeParameters, parameters: NodeParameters) -> None:
        """Go on with other parameters."""
        if parameters.speed_factor != before.speed_factor:
            self.clock.set_speed(parameters.speed_factor, monotonic_ns())
        if parameters.pub_rate != before.pub_rate:
            self._output_timer.begin(self._next_output, parameters.pub_rate)

    def finish(self) -> None:
        """Send everything once more as it is at the end."""
        now = self.clock.now(monotonic_ns())
        if now is None or self.now is None:
            return
        if not self.paused:
            self._plant.advance(max(now, self.now))
        if self._clock_output is not None:
            self._clock_output.publish(self._plant.vehicle.time)
        self._observations.note(self._plant.vehicle.time)
        self._observations.publish(self.paused)

    def _serve(self, moment: int, now: int, *, hold: bool) -> None:
        """Advance to a moment, or hold the vehicle until then, and send what is due.

        The clock goes first, so that nothing comes before its time.
        """
        if hold:
            self._plant.vehicle.skip_to(moment)
        else:
            self._plant.advance(moment)
        self._graph.set_time(moment)
        if self._clock_output is not None and self._clock_timer.next == moment:
            self._clock_output.publish(moment)
            self._clock_timer.done()
        if self._output_timer.next == moment:
            self._lateness = max(self._lateness, now - moment)
            self._observations.note(moment)
            self._output_timer.done()
            self._observations.publish(self.paused)
        self._sensors.serve(moment, held=hold)

    # ------------------------------------------------------------------ beginnings and jumps

    def _adjusted(self, now: int) -> int:
        """The time to catch up to, after its jumps and the node's lateness."""
        if self.now is None:
            self._begin(now)
            self.now = now
        if self.holds_time:
            return now
        if now < self.now:
            self._jump_back(now, (self.now - now) * 1e-9)
        elif now - self.now > LONGEST_CATCH_UP and not self.clock.owns_time:
            ahead = (now - self.now) * 1e-9
            self._warn(f"time jumped ahead by {ahead:.1f} s; the vehicle stood still meanwhile")
            self._begin(now)
        if self.clock.flat_out:
            return self.next_instant
        if not self.clock.waits and now - self._output_timer.next > OVERDUE:
            self.skipped += self._output_timer.skip(now)
            self._sensors.skip(now)
        return now

    def _begin(self, now: int) -> None:
        """Start the vehicle's time, on whole steps and publish periods of absolute time."""
        start = now - now % round(NANOSECONDS / self._output_timer.rate)
        self._plant.vehicle.skip_to(start)
        self._output_timer.begin(start, self._output_timer.rate)
        self._clock_timer.begin(start, self._clock_timer.rate)
        self._measured = (now, monotonic_ns())
        self._sensors.begin(start)
        self._observations.forget()
        self.now = now

    def _jump_back(self, now: int, back: float) -> None:
        self._warn(f"time jumped back by {back:.3f} s; the vehicle forgets its commands and stands")
        self._plant.stand_still(now)
        self._forget_commands()
        self._begin(now)

    def _warn(self, text: str) -> None:
        self._graph.log(Severity.WARN, text)

    # ------------------------------------------------------------------ how well it keeps time

    def real_time_factor(self) -> float:
        """Simulated seconds per second since the last call, or since the beginning."""
        if self.now is None:
            return 0.0
        monotonic = monotonic_ns()
        before, self._measured = self._measured, (self.now, monotonic)
        return (self.now - before[0]) / max(1, monotonic - before[1])

    def lateness(self) -> int:
        """Maximum lateness of an output since the last call [ns]."""
        lateness, self._lateness = self._lateness, 0
        return lateness
