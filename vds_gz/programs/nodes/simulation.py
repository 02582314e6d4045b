"""The life of a node: read messages, advance the vehicle, publish and measure; and the actions of its services."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter
from time import monotonic_ns

from vds_gz.core.errors import FailureError
from vds_gz.core.geometry import Attitude, Pose
from vds_gz.core.parameters.live_parameters import LiveParameters
from vds_gz.core.plant.base import Plant
from vds_gz.core.ros.graph import Graph, Message, Severity
from vds_gz.core.ros.messages.fields import stamp_ns
from vds_gz.core.ros.program_shell import LONGEST_SLEEP, StopRequest
from vds_gz.core.vehicle.command import STOP, TWIST, Command
from vds_gz.core.vehicle.vehicle import NANOSECONDS
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.commands import CommandInputs
from vds_gz.programs.interface.vehicle_status import GAZEBO_CLOCK, SYSTEM_CLOCK
from vds_gz.programs.nodes.clock import Clock, PeriodicTimer, ReferenceClock, SystemClock
from vds_gz.programs.nodes.clock_output import REPEAT, ClockOutput
from vds_gz.programs.nodes.simulated_sensors import Sensors
from vds_gz.programs.nodes.state_outputs import StateOutputs

#: The vehicle is simulated through jumps of time up to this long [ns], and stands still during longer ones.
LONGEST_CATCH_UP = 60 * NANOSECONDS

#: Outputs overdue by more than this in real time are dropped [ns].
OVERDUE = NANOSECONDS

#: Real time after which messages are read, even while catching up [ns].
LONGEST_WORK = 50_000_000

#: Minimum time between log messages on jumps of time [ns].
JUMP_LOG = 5 * NANOSECONDS

#: The next due time of a timer or of sensors [ns].
_NEXT = attrgetter("next")


class Simulation:
    """A vehicle, its time and its outputs. Everything happens in the thread that calls :meth:`run`.

    Attributes:
        clock: The source of the time.
        plant: The plant, which moves the vehicle.
        state: The topics of the vehicle's state.
        now: The time to which the vehicle has advanced [ns]; None while no time is known.
        held: The vehicle is paused by the node; with a clock of ours, time stands still too.
        jumps: Number of jumps of time.
        every_second: Called once a second of real time.
    """

    def __init__(
        self,
        graph: Graph,
        live: LiveParameters,
        clock: Clock,
        plant: Plant,
        commands: CommandInputs,
        sensors: Sensors | None = None,
        stop: StopRequest | None = None,
    ) -> None:
        parameters = live.now
        self.clock, self.plant = clock, plant
        self.now: int | None = None
        self.held = False
        self.jumps = self._next_jump = self._skipped = self._lateness = 0
        self.every_second: Callable[[], None] = lambda: None
        self._graph = graph
        self._commands = commands
        self._sensors = sensors
        self._stop = stop or StopRequest()
        self.state = StateOutputs(graph, live, plant)
        self._clock_output = ClockOutput(graph) if parameters.be_reference_clock else None
        self._followed_topic = ""
        if parameters.use_sim_time and not plant.gives_time:
            topic = topics.CLOCK_IN
            self._followed_topic = graph.subscribe(topic.name, topic.type, topic.qos, self._on_clock).topic
        self._output_timer = timer = PeriodicTimer(0, parameters.pub_rate)
        live.follow(lambda new: new.pub_rate, lambda rate: timer.begin(timer.next, rate))
        self._clock_timer = PeriodicTimer(0, parameters.clock_rate)
        self._simulated = not isinstance(clock, SystemClock)
        self._time_moved = monotonic_ns()
        self._next_second = self._time_moved + NANOSECONDS
        self._command_timer = PeriodicTimer(0, plant.command_rate) if plant.command_rate else None
        self._timers = [self._output_timer]
        self._timers += [self._clock_timer] if self._clock_output else []
        self._timers += [self._command_timer] if self._command_timer else []
        self._due = [*self._timers, *([sensors] if sensors else [])]
        self._measured = (0, monotonic_ns())

    def run(self) -> None:
        """Run until the stop is requested; then publish the final state."""
        while not self._stop.requested:
            self.turn()
        now = self.present()
        if now is None or self.now is None:
            return
        if not self.held:
            self.plant.advance(max(now, self.now))
        if self._clock_output is not None:
            self._clock_output.publish(self.plant.vehicle.time)
        if not self.plant.gives_time:  # else the plant has not observed it yet
            self._publish(self.plant.vehicle.time)

    def turn(self, longest: float = LONGEST_SLEEP) -> None:
        """Wait for messages or until something is due, for at most ``longest`` [s]; then do what is due."""
        self._graph.wait(self._idle(longest))  # messages are commands, or the vehicle's state in Gazebo
        if self.plant.gives_time:
            self._observe()
        self.catch_up()
        if monotonic_ns() >= self._next_second:
            self._next_second = monotonic_ns() + NANOSECONDS
            self.every_second()

    def _idle(self, longest: float) -> float:
        """Time to wait for messages [s]; a time that stands still is published again meanwhile."""
        monotonic = monotonic_ns()
        idle = min(longest, (self._next_second - monotonic) * 1e-9)
        if self.holds_time:
            idle = min(idle, REPEAT * 1e-9)
            if self._clock_output is not None:
                self._clock_output.repeat(self.plant.vehicle.time, monotonic)
        elif self.now is not None and self.clock.speed:
            due = min(map(_NEXT, self._timers))
            if self._sensors is not None:  # sensors without subscribers are measured when something else is due
                due = min(due, self._sensors.next_subscribed)
            idle = min(idle, (due - (self.clock.now(monotonic) or due)) * 1e-9 / self.clock.speed)
        return max(idle, 0.0)

    def _observe(self) -> None:
        """Read the plant's observations; publish and measure the instants that waited for them."""
        time = self.plant.observe()
        if time is not None:
            if time != self.now:
                self._end_standstill()
            self.clock.set(time, monotonic_ns())
        self._publish_observed()
        if self._sensors is not None:
            self._sensors.measure()

    def catch_up(self) -> None:
        """Advance the vehicle to the present, or as far as :data:`LONGEST_WORK` allows."""
        began = monotonic_ns()
        now = self.clock.now(began)
        if now is None:
            return
        latest = self._output_timer.next + OVERDUE
        flat_out = self.clock.speed == math.inf
        if self.now is None or self.held or flat_out or not self.now <= now <= latest:
            now = self._adjusted(now)
            if self.holds_time:
                return
        self.now = now
        if self._advance(now, began + LONGEST_WORK) and self.plant.gives_time:
            self.plant.command(now)
        if self.clock.owns_time and (flat_out or now - self.next_instant > OVERDUE):
            self.now = min(now, self.next_instant)
            self.clock.set(self.now, monotonic_ns())

    def _advance(self, end: int, deadline: int) -> bool:
        """Advance to every instant up to ``end`` [ns] at which something is due; measure and publish it there.

        Return False if ``deadline`` by the monotonic clock [ns] came first.
        """
        while (moment := self.next_instant) <= end:
            if monotonic_ns() > deadline:
                return False
            if self.stands:
                self.plant.vehicle.skip_to(moment)
            else:
                self.plant.advance(moment)
            if self._simulated:
                self._graph.set_time(moment)
            # Publish the time first, so that nothing comes before its time.
            if self._clock_output is not None and self._clock_timer.next == moment:
                self._clock_timer.advance()
                self._clock_output.publish(moment)
            # Command a plant that follows this time.
            if self._command_timer is not None and self._command_timer.next == moment:
                self._command_timer.advance()
                self.plant.command(moment)
            if self._output_timer.next == moment:
                self._lateness = max(self._lateness, end - moment)
                self._output_timer.advance()
                self._publish(moment)
            if self._sensors is not None:
                self._sensors.serve(moment, held=self.stands)
        return True

    def _publish(self, moment: int) -> None:
        """Publish the state at an instant [ns], once the plant has observed it."""
        if self.plant.gives_time:
            self.state.wait_for(moment)
            self._publish_observed()
        else:
            self.state.publish(moment, 1.0 / self._output_timer.rate, stands=self.stands)

    def _publish_observed(self) -> None:
        self.state.publish_observed(1.0 / self._output_timer.rate, stands=self.stands)

    @property
    def clock_name(self) -> str:
        """The source of the time, for :class:`~vds_gz.programs.interface.vehicle_status.VehicleStatus`."""
        if self._clock_output is not None:
            return self._clock_output.name
        if self.plant.gives_time:
            return self.plant.clock_topic or GAZEBO_CLOCK
        return self._followed_topic or SYSTEM_CLOCK

    def present(self) -> int | None:
        """The present in simulated time [ns]; None while it is not known."""
        return self.clock.now(monotonic_ns())

    @property
    def stands(self) -> bool:
        """Whether the vehicle is held while time, which the node does not give, goes on."""
        return self.held and not self.clock.owns_time

    @property
    def holds_time(self) -> bool:
        """Whether the vehicle is held and time, which the node gives, stands still too."""
        return self.held and self.clock.owns_time

    @property
    def next_instant(self) -> int:
        """When the next output or measurement is due [ns]."""
        return int(min(map(_NEXT, self._due)))

    @property
    def dropped_outputs(self) -> int:
        """Number of outputs dropped because the node fell behind or the plant did not observe their time."""
        return self._skipped + self.state.dropped

    def _adjusted(self, now: int) -> int:
        """The time to catch up to; handles the beginning, a held vehicle, jumps of time and lateness."""
        if self.now is None:
            self._begin(now)
        assert self.now is not None
        if self.holds_time:
            return now
        if now < self.now:
            self._on_jump(
                f"time jumped back by {(self.now - now) * 1e-9:.3f} s; the vehicle stopped and forgot its commands"
            )
            self.plant.stand_still(now)
            self._commands.forget()
            self._begin(now)
        elif now - self.now > LONGEST_CATCH_UP and not self.clock.owns_time:
            self._on_jump(f"time jumped ahead by {(now - self.now) * 1e-9:.1f} s; the vehicle stood still meanwhile")
            self._begin(now)
        if self.clock.speed == math.inf:
            return self.next_instant
        if not self.clock.waits and now - self._output_timer.next > OVERDUE:
            self._skipped += self._output_timer.skip(now)
            if self._command_timer is not None:
                self._command_timer.skip(now)
            if self._sensors is not None:
                self._sensors.skip(now)
        return now

    def _on_clock(self, message: Message, arrival: int) -> None:
        self.clock.set(stamp_ns(message.clock), arrival)
        self.catch_up()

    def _begin(self, now: int) -> None:
        """Start the vehicle's time, on whole steps and publish periods of absolute time."""
        start = now - now % round(NANOSECONDS / self._output_timer.rate)
        self.plant.vehicle.skip_to(start)
        self._output_timer.begin(start, self._output_timer.rate)
        self._clock_timer.begin(start, self._clock_timer.rate)
        if self._command_timer is not None:
            # half a period off: outputs of another node of ours then see commands of mean age
            rate = self._command_timer.rate
            self._command_timer.begin(start + round(0.5 * NANOSECONDS / rate), rate)
        self._measured = (now, monotonic_ns())
        if self._sensors is not None:
            self._sensors.begin(start)
        self.state.forget()
        self.now = now

    def _end_standstill(self) -> None:
        """Note that time advances; if it stood still for long, as in a pause, let the last command time out."""
        monotonic, vehicle = monotonic_ns(), self.plant.vehicle
        stood, self._time_moved = monotonic - self._time_moved, monotonic
        if self.now is not None and min(stood, monotonic - self._commands.arrived) > self._commands.max_age:
            vehicle.enter(Command(TWIST if TWIST in vehicle.model.accepts else STOP), vehicle.time)

    def _on_jump(self, text: str) -> None:
        """Count a jump of time, and log it at a limited rate."""
        self.jumps += 1
        monotonic = monotonic_ns()
        if monotonic >= self._next_jump:
            self._next_jump = monotonic + JUMP_LOG
            self._graph.log(Severity.WARN, f"{text} (jump {self.jumps})" if self.jumps > 1 else text)

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

    @property
    def paused(self) -> bool:
        """Whether the simulation is paused, here or in Gazebo."""
        return self.held or self.plant.paused

    def stop(self) -> None:
        """End the node soon."""
        self._stop.request()

    def set_pose(self, pose: Pose, attitude: Attitude | None = None) -> None:
        """Put base_link at a pose and an attitude; see :meth:`~vds_gz.core.plant.base.Plant.set_pose`."""
        self.plant.set_pose(pose, attitude)
        if self.state.optional is not None:
            self.state.optional.set_pose(pose)

    def stand_still(self) -> None:
        """Stop the vehicle where it is, and discard its commands."""
        self.plant.stand_still(self.plant.vehicle.time)

    def pause(self, paused: bool) -> None:
        """Hold the vehicle, or release it. With Gazebo, and if the node gives the time, time stands still too."""
        self.catch_up()  # first, so that a plant that stops here is not advanced any more
        if self.plant.pause(paused):
            return
        if paused != self.held:
            self.clock.hold(paused, monotonic_ns())
        self.held = paused

    def reset(self, *, time: bool, state: bool) -> None:
        """Reset the time, if it is the node's own, the vehicle, or both."""
        if state:
            pose = self.plant.reset()
            if pose is None:
                raise FailureError(
                    "the vehicle was stopped but not put back: its initial pose has not been observed yet"
                )
            if self.state.optional is not None:
                self.state.optional.reset(pose)
        if time and self.clock.owns_time:
            if self._clock_output is not None:
                self._clock_output.reset()
            self.clock.set(ReferenceClock.BEGIN, monotonic_ns())
            self.plant.stand_still(ReferenceClock.BEGIN)
            self._commands.forget()
            self._begin(ReferenceClock.BEGIN)

    def step(self, count: int) -> None:
        """Do ``count`` steps while the node's own time is paused."""
        self.catch_up()  # the loop may not have run yet
        if not self.holds_time or self.now is None:
            raise FailureError(
                "stepping needs a simulation that gives the time; start it with be_reference_clock: true, and pause it"
            )
        vehicle = self.plant.vehicle
        end = vehicle.time_of(vehicle.steps + count)
        while not self._stop.requested:
            if self._advance(end, monotonic_ns() + LONGEST_WORK):
                self.plant.advance(end)
                break
        self.now = vehicle.time
        self.clock.set(self.now, monotonic_ns())
        if self._stop.requested:
            raise FailureError("the node is stopping")
