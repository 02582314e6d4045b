"""The node's loop (read messages, advance the vehicle, measure, publish), and the actions of its services."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from time import monotonic_ns

from vds_gz.errors import VdsGzError
from vds_gz.geometry import Attitude, Pose
from vds_gz.interface import topics
from vds_gz.interface.commands import CommandInputs
from vds_gz.interface.outputs import ClockOutput
from vds_gz.interface.vehicle_status import GAZEBO_CLOCK, SYSTEM_CLOCK
from vds_gz.nodes.clock import Clock, PeriodicTimer, ReferenceClock, SystemClock
from vds_gz.nodes.observations import StateOutputs
from vds_gz.nodes.sensors import Sensors
from vds_gz.parameters.node import NodeParameters
from vds_gz.plant.base import Plant
from vds_gz.ros.graph import Graph, Message, Severity
from vds_gz.ros.messages.fields import stamp_ns
from vds_gz.ros.programs import LONGEST_SLEEP, StopRequest
from vds_gz.vehicle.command import STOP, TWIST, Command
from vds_gz.vehicle.vehicle import NANOSECONDS, Motion

#: The vehicle is simulated through jumps of time up to this long [ns], and stands still during longer ones.
LONGEST_CATCH_UP = 60 * NANOSECONDS

#: Outputs overdue by more than this in real time are left out [ns].
OVERDUE = NANOSECONDS

#: The next due time of a timer or of sensors [ns].
_NEXT = attrgetter("next")

#: Real time after which messages are read, even while catching up [ns].
LONGEST_WORK = 50_000_000


class SimulationError(VdsGzError, RuntimeError):
    """The simulation cannot do what was requested in its present state."""


class Simulation:
    """A vehicle, its time and its outputs.

    Everything happens in the thread that calls :meth:`run`: it sleeps until the next output is due or a message comes,
    and then advances the vehicle to the instants at which an output is due.

    Attributes:
        clock: What gives the time.
        plant: What moves the vehicle.
        now: The time to which the vehicle has advanced [ns]; None while no time is known.
        held: The vehicle is paused by the node; with a clock of ours, time stands still too.
        skipped: Total number of outputs left out because they were overdue.
        every_second: Called once a second of real time.
    """

    def __init__(
        self,
        graph: Graph,
        parameters: NodeParameters,
        clock: Clock,
        plant: Plant,
        commands: CommandInputs,
        observations: StateOutputs,
        sensors: Sensors | None = None,
        stop: StopRequest | None = None,
    ) -> None:
        """Nothing has begun yet.

        Args:
            graph: Where messages come from, and where ``/clock`` goes, if the parameters say so.
            parameters: Rates of the outputs.
            clock: What gives the time.
            plant: What moves the vehicle.
            commands: Enter commands when they arrive.
            observations: The outputs at the publish rate.
            sensors: The sensors, which have their own rates; None without sensors.
            stop: What ends the loop.
        """
        self.clock = clock
        self.plant = plant
        self.now: int | None = None
        self.held = False
        self.skipped = 0
        self.every_second: Callable[[], None] = lambda: None
        self._graph = graph
        self._commands = commands
        self._observations = observations
        self._sensors = sensors
        self._stop = stop or StopRequest()
        self._clock_output = ClockOutput(graph) if parameters.be_reference_clock else None
        self._followed_topic = ""
        if parameters.use_sim_time and not plant.gives_time:
            topic = topics.CLOCK_IN
            self._followed_topic = graph.subscribe(topic.name, topic.type, topic.qos, self._on_clock).topic
        self._output_timer = PeriodicTimer(0, parameters.pub_rate)
        self._clock_timer = PeriodicTimer(0, parameters.clock_rate)
        self._simulated = not isinstance(clock, SystemClock)
        self._time_moved = monotonic_ns()
        self._next_second = self._time_moved + NANOSECONDS
        self._timers = [self._output_timer, self._clock_timer] if self._clock_output else [self._output_timer]
        self._due = [*self._timers, *([sensors] if sensors else [])]
        self._lateness = 0
        self._measured = (0, monotonic_ns())

    # ------------------------------------------------------------------ the loop

    def run(self) -> None:
        """Run until the stop is requested; then publish the final state."""
        while not self._stop.requested:
            self.turn(min(LONGEST_SLEEP, self.idle_seconds()))
        now = self.present()
        if now is None or self.now is None:
            return
        if not self.held:
            self.plant.advance(max(now, self.now))
        if self._clock_output is not None:
            self._clock_output.publish(self.plant.vehicle.time)
        if not self.plant.gives_time:  # else it has not been seen yet
            self._observations.publish(self.plant.vehicle.time, self.held)

    def turn(self, seconds: float) -> None:
        """Do what is due, after waiting at most so many seconds for messages."""
        # Read: messages are commands for the vehicle, or its state in Gazebo.
        self._graph.wait(seconds)
        if self.plant.gives_time:
            self._observe()
        # Advance, measure, publish.
        self.catch_up()
        if monotonic_ns() >= self._next_second:
            self._next_second = monotonic_ns() + NANOSECONDS
            self.every_second()

    def catch_up(self) -> None:
        """Advance the vehicle to every instant at which something is due by now; measure and publish it there."""
        began = monotonic_ns()
        now = self.clock.now(began)
        if now is None:
            return
        latest = self._output_timer.next + OVERDUE
        if self.now is None or self.held or self.clock.flat_out or not self.now <= now <= latest:
            now = self._adjusted(now)
            if self.holds_time:
                return
        self.now = now
        while (moment := min(map(_NEXT, self._due))) <= now:
            if monotonic_ns() - began > LONGEST_WORK:
                break
            self._serve(moment, now)
        else:
            if self.plant.gives_time:
                self.plant.command(now)
        if self.clock.owns_time and (self.clock.flat_out or now - self.next_instant > OVERDUE):
            self.now = min(now, self.next_instant)
            self.clock.set(self.now, monotonic_ns())

    def _serve(self, moment: int, now: int) -> None:
        """Advance the vehicle to an instant, or hold it until then, and send the outputs due then."""
        hold = self.held and not self.clock.owns_time
        if hold:
            self.plant.vehicle.skip_to(moment)
        else:
            self.plant.advance(moment)
        if self._simulated:
            self._graph.set_time(moment)
        if self._clock_output is not None and self._clock_timer.next == moment:
            self._clock_timer.advance()
            self._clock_output.publish(moment)  # first, so that nothing comes before its time
        if self._output_timer.next == moment:
            self._lateness = max(self._lateness, now - moment)
            self._output_timer.advance()
            if self.plant.gives_time:
                self._observations.note(moment)
                self._observations.publish_seen(self.held)
            else:
                self._observations.publish(moment, self.held)
        if self._sensors is not None:
            self._sensors.serve(moment, held=hold)

    # ------------------------------------------------------------------ the time

    @property
    def clock_name(self) -> str:
        """What gives the time, as :class:`~vds_gz.interface.vehicle_status.VehicleStatus` has it."""
        if self._clock_output is not None:
            return self._clock_output.full_name
        if self.plant.gives_time:
            return self.plant.clock_topic or GAZEBO_CLOCK
        return self._followed_topic or SYSTEM_CLOCK

    def present(self) -> int | None:
        """The present in simulated time [ns]; none while it is not known."""
        return self.clock.now(monotonic_ns())

    @property
    def holds_time(self) -> bool:
        """The vehicle is held, and time is ours, so it stands still too."""
        return self.held and self.clock.owns_time

    @property
    def next_instant(self) -> int:
        """When the next output or measurement is due [ns]."""
        return int(min(map(_NEXT, self._due)))

    def idle_seconds(self) -> float:
        """Time until something is due without a message [s]."""
        monotonic = monotonic_ns()
        idle = (self._next_second - monotonic) * 1e-9
        if self.now is not None and not (self.held and self.clock.owns_time):
            instant = min(map(_NEXT, self._timers))
            if self._sensors is not None:  # sensors without subscribers are measured when something else is due
                instant = min(instant, self._sensors.next_subscribed)
            idle = min(idle, self.clock.seconds_until(instant, monotonic))
        return max(idle, 0.0)

    def _adjusted(self, now: int) -> int:
        """The time to catch up to; handles the beginning, a held vehicle, jumps of time and lateness."""
        if self.now is None:
            self._begin(now)
        assert self.now is not None
        if self.holds_time:
            return now
        if now < self.now:
            self._warn(
                f"time jumped back by {(self.now - now) * 1e-9:.3f} s; the vehicle forgets its commands and stands"
            )
            self.plant.stand_still(now)
            self._commands.forget()
            self._begin(now)
        elif now - self.now > LONGEST_CATCH_UP and not self.clock.owns_time:
            self._warn(f"time jumped ahead by {(now - self.now) * 1e-9:.1f} s; the vehicle stood still meanwhile")
            self._begin(now)
        if self.clock.flat_out:
            return self.next_instant
        if not self.clock.waits and now - self._output_timer.next > OVERDUE:
            self.skipped += self._output_timer.skip(now)
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
        self._measured = (now, monotonic_ns())
        if self._sensors is not None:
            self._sensors.begin(start)
        self._observations.forget()
        self.now = now

    def _observe(self) -> None:
        """Read the plant's observations, and send the outputs that waited for them."""
        time = self.plant.observe()
        if time is not None:
            if time != self.now:
                self._end_standstill()
            self.clock.set(time, monotonic_ns())
        self._observations.publish_seen(self.held)
        if self._sensors is not None:
            self._sensors.measure()

    def _end_standstill(self) -> None:
        """Time advances again. After a long standstill of time, as in a pause, the last command has timed out."""
        monotonic, vehicle = monotonic_ns(), self.plant.vehicle
        stood, self._time_moved = monotonic - self._time_moved, monotonic
        if self.now is not None and min(stood, monotonic - self._commands.arrived) > self._commands.max_age:
            vehicle.enter(Command(TWIST if TWIST in vehicle.model.accepts else STOP), vehicle.time)

    def _warn(self, text: str) -> None:
        self._graph.log(Severity.WARN, text)

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

    # ------------------------------------------------------------------ what services and parameters do

    @property
    def paused(self) -> bool:
        """Whether the simulation is paused, here or in Gazebo."""
        return self.held or self.plant.paused

    @property
    def owns_time(self) -> bool:
        """Whether the node itself gives the time."""
        return self.clock.owns_time

    def truth(self) -> tuple[int, Motion, Attitude | None]:
        """The present [ns], the pose and velocity of base_link, and its attitude out of the plane."""
        time = self.plant.vehicle.time
        return time, self.plant.motion(time), self.plant.attitude(time)

    def stop(self) -> None:
        """End the node soon."""
        self._stop.request()

    def set_pose(self, pose: Pose, attitude: Attitude | None = None) -> None:
        """Put base_link at a pose; without an attitude, level and at its present height.

        Raises:
            LinkError: The request cannot be sent to Gazebo.
        """
        self.plant.set_pose(pose, attitude)
        self._observations.set_pose(pose)

    def stand_still(self) -> None:
        """Stop the vehicle where it is, and discard its commands."""
        self.plant.stand_still(self.plant.vehicle.time)

    def pause(self, paused: bool) -> None:
        """Hold the vehicle, or release it. As reference clock, and with Gazebo, time stands still too.

        Raises:
            LinkError: The request cannot be sent to Gazebo.
        """
        if self.plant.pause(paused):
            return
        self.catch_up()
        if paused != self.held:
            change = self.clock.pause if paused else self.clock.resume
            change(monotonic_ns())
        self.held = paused

    def reset(self, *, time: bool, state: bool) -> None:
        """Reset the time, if it is the node's own, the vehicle, or both.

        Raises:
            LinkError: The request cannot be sent to Gazebo.
            SimulationError: The vehicle's initial pose is not known yet.
        """
        if state:
            pose = self.plant.reset()
            if pose is None:
                raise SimulationError(
                    "the vehicle stands, but it has not been seen yet, so it is not known where it began"
                )
            self._observations.reset(pose)
        if time and self.owns_time:
            self.clock.set(ReferenceClock.BEGIN, monotonic_ns())
            self.plant.vehicle.stand_still(ReferenceClock.BEGIN)
            self._commands.forget()
            self._begin(ReferenceClock.BEGIN)

    def step(self, count: int) -> None:
        """Do so many steps while the node's own time is paused.

        Raises:
            SimulationError: Time is not the node's own or is not paused, or the node is stopping.
        """
        self.catch_up()  # the loop may not have run yet
        if not self.holds_time or self.now is None:
            raise SimulationError(
                "stepping needs a paused simulation that gives the time; start with be_reference_clock: true, pause"
            )
        vehicle = self.plant.vehicle
        end = vehicle.time_of(vehicle.steps + count)
        while (moment := self.next_instant) <= end and not self._stop.requested:
            self._serve(moment, end)
        if not self._stop.requested:
            self.plant.advance(end)
        self.now = vehicle.time
        self.clock.set(self.now, monotonic_ns())
        if self._stop.requested:
            raise SimulationError("the node is stopping")

    def configure(self, before: NodeParameters, parameters: NodeParameters) -> None:
        """Take new parameters."""
        vehicle = self.plant.vehicle
        if parameters.vehicle != before.vehicle:
            vehicle.configure(parameters.vehicle)
        vehicle.max_command_age = parameters.twist_reference_max_oldness
        vehicle.dead_time_jitter = parameters.dead_time_jitter
        self._commands.max_age = round(parameters.twist_reference_max_oldness * NANOSECONDS)
        self._observations.configure(parameters)
        if parameters.speed_factor != before.speed_factor:
            self.clock.set_speed(parameters.speed_factor, monotonic_ns())
        if parameters.pub_rate != before.pub_rate:
            self._output_timer.begin(self._output_timer.next, parameters.pub_rate)
