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

#: While ray casting is slow, a pause this many times as long follows each measurement.
REST = 4.0

#: Measurements that may wait until the plant has observed their time; older ones are dropped.
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
            cheap: Whether ray casting is compiled; until then rays are cast part of the time only, so that the vehicle
                keeps its pace.
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
        """When the next measurement with subscribers is due [ns]; the others can wait until then."""
        return min((timer.next for output, timer in self._sensors if output.subscribed), default=math.inf)

    def begin(self, start: int) -> None:
        """Start again, each sensor with the first whole period of absolute time from ``start`` [ns] on."""
        self._states.clear()
        self._awaiting.clear()
        for output, timer in self._sensors:
            timer.begin(0, output.rate)
            timer.skip(start)
            while timer.next < start:
                timer.done()
        self._look_ahead()

    def skip(self, now: int) -> None:
        """Skip all measurements up to ``now`` [ns] but the last one of each sensor."""
        for _, timer in self._sensors:
            timer.skip(now)
        self._look_ahead()

    def serve(self, moment: int, *, held: bool) -> None:
        """Measure what is due at a moment [ns] to which the vehicle has advanced, as soon as the plant has seen it.

        Args:
            moment: The present [ns].
            held: The vehicle is paused: it stands, whatever its actuators do.
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
        """Do the measurements whose time the plant has observed by now."""
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
