"""The simulation node: commands in, the vehicle's answer out."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from time import monotonic_ns

from vds_gz.configuration import NODE_NAME, parameters_of
from vds_gz.geometry.attitude import Attitude
from vds_gz.geometry.se2 import Pose
from vds_gz.interface import topics
from vds_gz.interface.conversions import stamp_ns
from vds_gz.interface.inputs import CommandInputs, InitialPoseInput, Refusals
from vds_gz.interface.outputs import ClockOutput, Frames
from vds_gz.interface.vehicle_status import GAZEBO_CLOCK, SYSTEM_CLOCK
from vds_gz.nodes import simulation_services
from vds_gz.nodes.clock import Clock, FollowedClock, ReferenceClock, SystemClock
from vds_gz.nodes.diagnostics import Diagnostics, Health
from vds_gz.nodes.observations import Observations
from vds_gz.nodes.periodic import PeriodicTimer
from vds_gz.nodes.plants import description, make_plant
from vds_gz.parameters.description import ParameterError, Value, describe
from vds_gz.parameters.load import replaced
from vds_gz.parameters.node import NodeParameters
from vds_gz.plant.base import Plant
from vds_gz.plant.gazebo.links.base import LinkError
from vds_gz.ros.arguments import parse
from vds_gz.ros.errors import GraphError
from vds_gz.ros.factory import open_graph
from vds_gz.ros.graph import Graph, Severity, Subscription
from vds_gz.ros.stopping import LONGEST_SLEEP, StopRequest, on_signals
from vds_gz.vehicle.catalogue import models
from vds_gz.vehicle.command import STOP, TWIST, Command
from vds_gz.vehicle.model import VehicleModel
from vds_gz.vehicle.vehicle import NANOSECONDS, Motion

#: Simulated time may jump ahead by so much and the vehicle still lives through it [ns]; beyond, time just passes.
LONGEST_CATCH_UP = 60 * NANOSECONDS

#: Outputs overdue by more than this in real time are left out [ns].
OVERDUE = NANOSECONDS

#: Real time after which messages are looked at, however much there is to catch up [ns].
LONGEST_WORK = 50_000_000

#: Between two diagnostics, in real time [ns].
DIAGNOSTICS_PERIOD = NANOSECONDS


class SimNode:
    """A vehicle on the graph.

    Everything happens in the thread that calls :meth:`run`: it sleeps until the next output is due or a message comes,
    and then advances the vehicle to the instants at which something goes out.
    """

    def __init__(
        self,
        graph: Graph,
        parameters: NodeParameters,
        model: VehicleModel,
        description: str,
        plant: Plant | None = None,
        stop: StopRequest | None = None,
    ) -> None:
        """Announce everything on the graph.

        Args:
            graph: The node's place on the graph.
            parameters: What the node was told.
            model: The vehicle model that they select.
            description: The robot's URDF.
            plant: What moves the vehicle; what the parameters say where none is given.
            stop: What ends the node, besides its own services.

        Raises:
            LinkError: What the parameters say cannot be had here.
        """
        self._description = description
        self.graph = graph
        self.parameters = parameters
        self.plant = make_plant(graph, parameters, model) if plant is None else plant
        self.clock = self._make_clock()
        self.paused = False
        self._stop = stop or StopRequest()
        self._stop.wakes(graph.wake)
        self._last_now: int | None = None
        self._lateness = 0
        self._skipped = 0
        self._time_moved = self._commanded = monotonic_ns()
        self._measured = (0, monotonic_ns())
        self._next_diagnostics = monotonic_ns() + DIAGNOSTICS_PERIOD
        self._refusals = Refusals(graph)
        self._announce(model)

    def _announce(self, model: VehicleModel) -> None:
        graph, parameters = self.graph, self.parameters
        self._observations = Observations(graph, parameters, self.plant)
        self._clock_output = ClockOutput(graph) if parameters.be_reference_clock else None
        self._diagnostics = Diagnostics(graph, model.name)
        self._clock_input: Subscription | None = None
        if isinstance(self.clock, FollowedClock) and not self.plant.gives_time:
            topic = topics.CLOCK_IN
            self._clock_input = graph.subscribe(topic.name, topic.type, topic.qos, self._on_clock)
        self._commands = CommandInputs(
            graph,
            model.accepts,
            self._refusals,
            self._now,
            self._on_command,
            parameters.actuation_messages,
        )
        self._commands.max_age = round(parameters.twist_reference_max_oldness * NANOSECONDS)
        world = Frames.of(parameters).map
        InitialPoseInput(graph, world, self._refusals, self.set_pose)
        graph.service(*topics.RESET, self._on_reset)
        graph.service(*topics.PAUSE, self._on_pause)
        simulation_services.offer(graph, self, world)
        graph.declare_parameters(describe(parameters), self._on_parameters)

    def _make_clock(self) -> Clock:
        if self.parameters.use_sim_time or self.plant.gives_time:
            return FollowedClock()
        if self.parameters.be_reference_clock:
            return ReferenceClock(self.parameters.speed_factor)
        return SystemClock()

    def _clock_name(self) -> str:
        """What gives the time, for who drives."""
        clock = self._clock_output or self._clock_input
        if clock is not None:
            return clock.topic
        return (self.plant.clock_topic or GAZEBO_CLOCK) if self.plant.gives_time else SYSTEM_CLOCK

    # ------------------------------------------------------------------ the loop

    def run(self) -> None:
        """Run until the node is told to stop; then send the last messages and leave the graph."""
        try:
            self.begin()
            while not self._stop.requested:
                self.spin_once(self._idle_time())
            self._finish()
        finally:
            self.plant.close()
            self.graph.close()

    def begin(self) -> None:
        """Send what is said once."""
        self._observations.publish_latched(self._now(monotonic_ns()) or 0, self._description)

    def spin_once(self, seconds: float) -> None:
        """Do what is due; if nothing comes, wait so many seconds for it."""
        self.graph.wait(seconds)
        self._observe()
        self._catch_up()
        self._diagnose()

    def stop(self) -> None:
        """Let :meth:`run` return soon."""
        self._stop.request()

    def _idle_time(self) -> float:
        """How long there will be nothing to do unless a message comes [s]."""
        monotonic = monotonic_ns()
        idle = LONGEST_SLEEP
        if self._last_now is not None and not self._holding_time:
            idle = min(idle, self.clock.seconds_until(self._next_instant(), monotonic))
        return max(0.0, min(idle, (self._next_diagnostics - monotonic) * 1e-9))

    def _observe(self) -> None:
        """Take in what was seen of the vehicle, and send the outputs that waited for it."""
        time = self.plant.observe()
        if time is not None and isinstance(self.clock, FollowedClock):
            if time != self._last_now:
                self._end_standstill()
            self.clock.tell(time)
        self._observations.publish(self.paused)

    def _end_standstill(self) -> None:
        """Time goes on. Where it stood still for long, as in a pause, the last command is too old, though not by it."""
        monotonic = monotonic_ns()
        stood, self._time_moved = monotonic - self._time_moved, monotonic
        if self._last_now is not None and min(stood, monotonic - self._commanded) > self._commands.max_age:
            vehicle = self.plant.vehicle
            vehicle.enter(Command(TWIST if TWIST in vehicle.model.accepts else STOP), vehicle.time)

    def _catch_up(self) -> None:
        """Advance the vehicle to everything that is due by now."""
        monotonic = monotonic_ns()
        now = self._now(monotonic)
        if now is None:
            return
        if self._last_now is None:
            self._begin(now)
        assert self._last_now is not None
        if self._holding_time:
            return
        if now < self._last_now:
            self._jump_back(now)
        elif now - self._last_now > LONGEST_CATCH_UP:
            self._jump_ahead(now)
        clock = self.clock
        flat_out = isinstance(clock, ReferenceClock) and clock.speed_factor == 0.0
        if flat_out:
            now = self._next_instant()
        elif isinstance(clock, SystemClock) and now - self._output_timer.next > OVERDUE:
            self._skipped += self._output_timer.skip(now)
        self._last_now = now
        while self._next_instant() <= now:
            if monotonic_ns() - monotonic > LONGEST_WORK:
                break
            self._serve(self._next_instant(), now, self.paused)
        else:
            self.plant.command(now)
        if isinstance(clock, ReferenceClock) and (flat_out or now - self._next_instant() > OVERDUE):
            self._last_now = min(now, self._next_instant())
            clock.put(self._last_now, monotonic_ns())

    @property
    def _holding_time(self) -> bool:
        """Paused, and time is ours, so it stands still too."""
        return self.paused and isinstance(self.clock, ReferenceClock)

    def _next_instant(self) -> int:
        if self._clock_output is None:
            return self._output_timer.next
        return min(self._output_timer.next, self._clock_timer.next)

    def _serve(self, moment: int, now: int, hold: bool) -> None:
        """Advance to a moment, or hold the vehicle until then, and send what is due.

        The clock goes first, so that nothing comes before its time.
        """
        if hold:
            self.plant.vehicle.skip_to(moment)
        else:
            self.plant.advance(moment)
        self.graph.set_time(moment)
        if self._clock_output is not None and self._clock_timer.next == moment:
            self._clock_output.publish(moment)
            self._clock_timer.done()
        if self._output_timer.next == moment:
            self._lateness = max(self._lateness, now - moment)
            self._observations.note(moment)
            self._output_timer.done()
            self._observations.publish(self.paused)

    # ------------------------------------------------------------------ time

    def _now(self, monotonic: int) -> int | None:
        return self.clock.now(monotonic)

    def _begin(self, now: int) -> None:
        """Start the vehicle's time, on whole steps and publish periods of absolute time."""
        parameters = self.parameters
        start = now - now % round(NANOSECONDS / parameters.pub_rate)
        self.plant.vehicle.skip_to(start)
        self._set_timers(start)
        self._last_now = now
        self._measured = (now, monotonic_ns())
        self._observations.forget()

    def _set_timers(self, start: int) -> None:
        self._output_timer = PeriodicTimer(start, self.parameters.pub_rate)
        self._clock_timer = PeriodicTimer(start, self.parameters.clock_rate)

    def _jump_back(self, now: int) -> None:
        assert self._last_now is not None
        back = (self._last_now - now) * 1e-9
        self.graph.log(Severity.WARN, f"time jumped back by {back:.3f} s; the vehicle forgets its commands and stands")
        self.plant.stand_still(now)
        self._commands.last_arrival = None
        self._begin(now)

    def _jump_ahead(self, now: int) -> None:
        assert self._last_now is not None
        ahead = (now - self._last_now) * 1e-9
        self.graph.log(Severity.WARN, f"time jumped ahead by {ahead:.1f} s; the vehicle stood still meanwhile")
        self._begin(now)

    def _on_clock(self, message: object, arrival: int) -> None:
        assert isinstance(self.clock, FollowedClock)
        self.clock.tell(stamp_ns(message.clock))  # type: ignore[attr-defined]
        self._catch_up()

    # ------------------------------------------------------------------ what comes in

    def _on_command(self, command: Command, arrived: int, stamp: int | None) -> None:
        self._commanded = monotonic_ns()
        self.plant.vehicle.enter(command, arrived, stamp)

    def set_pose(self, pose: Pose, attitude: Attitude | None = None) -> None:
        """Put base_link there; level and as high as it stands where no attitude is given."""
        try:
            self.plant.set_pose(pose, attitude)
        except LinkError as error:
            self.graph.log(Severity.ERROR, f"the vehicle was not put anywhere: {error}")
            return
        self._observations.set_pose(pose)

    def stand_still(self) -> None:
        """Take all motion and all commands from the vehicle, where it is."""
        self.plant.stand_still(self.plant.vehicle.time)

    def reset(self, *, time: bool, state: bool) -> str:
        """Start anew: the time, if it is ours, the vehicle, or both; why not, if it cannot be done."""
        if state:
            try:
                pose = self.plant.reset()
            except LinkError as error:
                return str(error)
            if pose is None:
                return "the vehicle stands, but it has not been seen yet, so it is not known where it began"
            self._observations.reset(pose)
        if time and isinstance(self.clock, ReferenceClock):
            self.clock.put(ReferenceClock.BEGIN, monotonic_ns())
            self.plant.vehicle.stand_still(ReferenceClock.BEGIN)
            self._begin(ReferenceClock.BEGIN)
        return ""

    def step(self, count: int) -> str:
        """Do so many steps while time, which is ours, stands still; why not, if it cannot be done."""
        self._catch_up()  # the first turn may be yet to come
        if not self._holding_time or self._last_now is None:
            return "stepping needs a paused simulation that gives the time; start with be_reference_clock: true, pause"
        vehicle = self.plant.vehicle
        end = vehicle.time_of(vehicle.steps + count)
        while self._next_instant() <= end:
            if self._stop.requested:
                return "the node is stopping"
            self._serve(self._next_instant(), end, hold=False)
        self.plant.advance(end)
        self._last_now = end
        return ""

    def stands(self) -> bool:
        """Whether the simulation is paused, here or in Gazebo."""
        return self.paused or self.plant.paused

    def owns_time(self) -> bool:
        """Whether the node itself gives the time."""
        return isinstance(self.clock, ReferenceClock)

    def truth(self) -> tuple[int, Motion, Attitude | None]:
        """The present [ns], where base_link is and how it moves, and how it stands out of the plane."""
        time = self.plant.vehicle.time
        return time, self.plant.motion(time), self.plant.attitude(time)

    def _on_reset(self, request: object, response: object) -> None:
        wrong = self.reset(time=False, state=True)
        response.success = not wrong  # type: ignore[attr-defined]
        response.message = wrong or "the vehicle stands where it began"  # type: ignore[attr-defined]

    def _on_pause(self, request: object, response: object) -> None:
        wrong = self.pause(request.data)  # type: ignore[attr-defined]
        response.success = not wrong  # type: ignore[attr-defined]
        response.message = wrong or ("paused" if request.data else "running")  # type: ignore[attr-defined]

    def pause(self, paused: bool) -> str:
        """Hold the vehicle, or let it go on; why not, if it cannot be done.

        As reference clock, and with Gazebo, time stands still with it.
        """
        try:
            if self.plant.pause(paused):
                return ""
        except LinkError as error:
            return str(error)
        if isinstance(self.clock, ReferenceClock) and paused != self.paused:
            monotonic = monotonic_ns()
            if paused:
                self.clock.put(self.clock.now(monotonic), monotonic)
            else:
                self.clock.put(self._last_now or 0, monotonic)
        self.paused = paused
        return ""

    def _on_parameters(self, values: Mapping[str, Value]) -> str:
        """Take new values all together, or none and say why."""
        try:
            parameters = replaced(self.parameters, values)
        except ParameterError as error:
            return str(error)
        self._apply(parameters)
        return ""

    def _apply(self, parameters: NodeParameters) -> None:
        before, self.parameters = self.parameters, parameters
        vehicle = self.plant.vehicle
        if parameters.vehicle != before.vehicle:
            vehicle.configure(parameters.vehicle)
        vehicle.max_command_age = parameters.twist_reference_max_oldness
        self._commands.max_age = round(parameters.twist_reference_max_oldness * NANOSECONDS)
        self._observations.configure(parameters)
        if isinstance(self.clock, ReferenceClock) and parameters.speed_factor != before.speed_factor:
            self.clock.set_speed(parameters.speed_factor, monotonic_ns())
        if parameters.pub_rate != before.pub_rate and self._last_now is not None:
            self._output_timer.begin(self._next_instant(), parameters.pub_rate)

    # ------------------------------------------------------------------ health and end

    def _diagnose(self) -> None:
        monotonic = monotonic_ns()
        if monotonic < self._next_diagnostics:
            return
        self._next_diagnostics = monotonic + DIAGNOSTICS_PERIOD
        now = self._last_now
        factor = 0.0
        if now is not None:
            factor = (now - self._measured[0]) / max(1, monotonic - self._measured[1])
            self._measured = (now, monotonic)
        arrival = self._commands.last_arrival
        age = None if arrival is None or now is None else max(0.0, (now - arrival) * 1e-9)
        health = Health(
            command_age=age,
            timed_out=age is not None and age > self.parameters.twist_reference_max_oldness,
            publishers={one.topic: one.publisher_count() for one in self._commands.subscriptions},
            refused=self._refusals.counts,
            lateness=self._lateness * 1e-9,
            skipped=self._skipped + self._observations.left_out,
            real_time_factor=factor,
            paused=self.paused,
            waiting=now is None,
            clock=self._clock_name(),
            plant=self.plant.name,
            plant_status=self.plant.status(),
        )
        self._lateness = 0
        self._diagnostics.publish(now or 0, health)

    def _finish(self) -> None:
        """Send everything once more as it is at the end."""
        now = self._now(monotonic_ns())
        if now is None or self._last_now is None:
            return
        if not self.paused:
            self.plant.advance(max(now, self._last_now) if math.isfinite(now) else self._last_now)
        if self._clock_output is not None:
            self._clock_output.publish(self.plant.vehicle.time)
        self._observations.note(self.plant.vehicle.time)
        self._observations.publish(self.paused)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until it is told to stop.

    Args:
        argv: The command line without the program's name; ``sys.argv`` where none is given.

    Returns:
        0 when it was stopped, 2 when it was told something that it cannot do.
    """
    try:
        arguments = parse(sys.argv[1:] if argv is None else argv, NODE_NAME)
        catalogue = models()
        parameters = parameters_of(arguments.overrides)
        model = catalogue[parameters.model]
        urdf = description(parameters, model)
        stop = on_signals()
        graph = open_graph(arguments, NODE_NAME)
    except (ValueError, GraphError, FileNotFoundError) as error:
        print(f"{NODE_NAME}: {error}", file=sys.stderr)
        return 2
    try:
        node = SimNode(graph, parameters, model, urdf, stop=stop)
    except LinkError as error:
        graph.close()
        print(f"{NODE_NAME}: {error}", file=sys.stderr)
        return 2
    node.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
