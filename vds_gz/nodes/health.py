"""Once a second, how the node is goes to ``/diagnostics``."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic_ns

from vds_gz.interface.inputs import CommandInputs, Refusals
from vds_gz.nodes.advance import TimeKeeper
from vds_gz.nodes.diagnostics import Diagnostics, Health
from vds_gz.nodes.observations import Observations
from vds_gz.plant.base import Plant
from vds_gz.vehicle.vehicle import NANOSECONDS

#: Between two diagnostics, in real time [ns].
PERIOD = NANOSECONDS


class HealthMonitor:
    """Gathers what is known of the node's health, and publishes it."""

    def __init__(
        self,
        diagnostics: Diagnostics,
        time: TimeKeeper,
        plant: Plant,
        commands: CommandInputs,
        refusals: Refusals,
        observations: Observations,
        clock_name: Callable[[], str],
    ) -> None:
        self._diagnostics = diagnostics
        self._time = time
        self._plant = plant
        self._commands = commands
        self._refusals = refusals
        self._observations = observations
        self._clock_name = clock_name
        self._next = monotonic_ns() + PERIOD

    def idle_seconds(self) -> float:
        """How long nothing will be due [s]."""
        return (self._next - monotonic_ns()) * 1e-9

    def serve(self) -> None:
        """Publish, if it is due."""
        monotonic = monotonic_ns()
        if monotonic >= self._next:
            self._next = monotonic + PERIOD
            self._diagnostics.publish(self._time.now or 0, self._health())

    def _health(self) -> Health:
        now, arrival = self._time.now, self._commands.last_arrival
        age = None if arrival is None or now is None else max(0, now - arrival)
        return Health(
            command_age=None if age is None else age * 1e-9,
            timed_out=age is not None and age > self._commands.max_age,
            publishers={one.topic: one.publisher_count() for one in self._commands.subscriptions},
            refused=self._refusals.counts,
            lateness=self._time.lateness() * 1e-9,
            skipped=self._time.skipped + self._observations.left_out,
            real_time_factor=self._time.real_time_factor(),
            paused=self._time.paused,
            waiting=now is None,
            clock=self._clock_name(),
            plant=self._plant.name,
            plant_status=self._plant.status(),
        )
