"""The sensors that the node simulates itself: each measures at its own rate, in simulated time."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic

from vds_gz.nodes.periodic import PeriodicTimer
from vds_gz.plant.base import Plant
from vds_gz.sensing.body import BodyState
from vds_gz.sensing.sensor import SensorOutput
from vds_gz.world.scene import Scene

#: While rays are dear, they are cast for a part of the time, and not for so many times as long.
REST = 4.0

#: Moments that may wait for what moves the vehicle; older ones are left out.
WAITING = 50


class Sensors:
    """All sensors of a vehicle, and how its body has moved lately.

    Attributes:
        next: When something is to be measured next [ns]; infinity if nothing ever is.
    """

    def __init__(
        self,
        outputs: Sequence[SensorOutput],
        plant: Plant,
        scene_at: Callable[[int], Scene | None],
        cheap: Callable[[], bool] = lambda: True,
        *,
        joints: bool = False,
    ) -> None:
        """Nothing has been measured yet.

        Args:
            outputs: The sensors.
            plant: What they are mounted on.
            scene_at: What can be seen at a point in simulated time [ns]; none if there is no world.
            cheap: Whether rays are as cheap as they will be; until then they are cast a part of the time only, so that
                the vehicle is in time.
            joints: A sensor needs to know where the joints stand.
        """
        self._plant = plant
        self._joints = joints
        self._scene_at = scene_at
        self._cheap = cheap
        self._rest_until = 0.0
        self._sensors = [(output, PeriodicTimer(0, output.rate)) for output in outputs]
        self._span = max((output.span for output in outputs), default=0)
        self._states: deque[BodyState] = deque()
        self._awaiting: deque[tuple[int, bool, list[SensorOutput]]] = deque(maxlen=WAITING)
        self._look_ahead()

    @property
    def next_subscribed(self) -> float:
        """When something is to be measured next that somebody listens to [ns]; the rest has time until then."""
        return min((timer.next for output, timer in self._sensors if output.subscribed), default=math.inf)

    def begin(self, start: int) -> None:
        """Start anew, each sensor with the first whole period of absolute time from ``start`` [ns] on."""
        self._states.clear()
        self._awaiting.clear()
        for output, timer in self._sensors:
            timer.begin(0, output.rate)
            timer.skip(start)
            while timer.next < start:
                timer.done()
        self._look_ahead()

    def skip(self, now: int) -> None:
        """Leave out all measurements but the last one of each sensor at or before ``now`` [ns]."""
        for _, timer in self._sensors:
            timer.skip(now)
        self._look_ahead()

    def serve(self, moment: int, *, held: bool) -> None:
        """Measure what is due at a moment [ns] to which the vehicle has advanced, as soon as the plant has seen it.

        Args:
            moment: The present [ns].
            held: The vehicle is paused, and stands, whatever its actuators do.
        """
        if moment < self.next and not self._span:
            return
        due = [(output, timer) for output, timer in self._sensors if timer.next == moment]
        for _, timer in due:
            timer.done()
        self._awaiting.append((moment, held, [output for output, _ in due]))
        self.measure()
        self._look_ahead()

    def measure(self) -> None:
        """Measure at all moments that the plant has seen meanwhile."""
        while self._awaiting and self._plant.seen(self._awaiting[0][0]):
            self._measure(*self._awaiting.popleft())

    def _measure(self, moment: int, held: bool, due: Sequence[SensorOutput]) -> None:
        states = self._states
        body = self._plant.body(moment)
        if self._joints:
            body = replace(body, joints=self._plant.joint_states(moment))
        states.append(body.at_rest() if held else body)
        while len(states) > 2 and states[1].time <= moment - self._span:
            states.popleft()
        scene = self._scene_at(moment) if any(output.subscribed for output in due) else None
        for output in due:
            if not output.rays or self._cheap():
                output.measure(states, scene)
            elif (begin := monotonic()) >= self._rest_until:
                output.measure(states, scene)
                self._rest_until = monotonic() + (monotonic() - begin) * REST

    def _look_ahead(self) -> None:
        self.next = min((timer.next for _, timer in self._sensors), default=math.inf)
