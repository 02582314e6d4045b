"""The sensors that the node simulates itself: each measures at its own rate, in simulated time."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING

from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.sensor_parameters import trailer_number
from vds_gz.core.plant.base import Plant
from vds_gz.core.ros.graph import Graph
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.sensing.sensor import SensorOutput
from vds_gz.core.sensing.sensor_types import sensor_setups
from vds_gz.core.vehicle.command import NEVER
from vds_gz.programs.nodes.clock import PeriodicTimer

if TYPE_CHECKING:
    from vds_gz.core.world.scene import Scene
    from vds_gz.core.world.surroundings import Surroundings
    from vds_gz.programs.nodes.failures import Failures

#: Up to this number of rays a second, Python takes about 10 % of a core and saves numba's 100 MB.
LITTLE = 2e3

#: Up to this number of rays, Python does a measurement within about 0.2 s; larger ones wait for the compiled loops.
SHORT = 3000

#: While ray casting is slow, a pause this many times as long follows each measurement.
REST = 4.0

#: The parents of sensors that are all on the vehicle.
NO_PARENTS: Mapping[SensorOutput, int] = MappingProxyType({})

#: Measurements that may wait until the plant has observed their time; older ones are dropped.
WAITING = 50


class Sensors:
    """All sensors of a vehicle, and the recent motion of its bodies; ``next`` is when a measurement is due [ns].

    Sensors are on body 0, the vehicle, or on that of a trailer, by its number; ``parents`` has those on trailers.
    """

    def __init__(
        self,
        outputs: Sequence[SensorOutput],
        plant: Plant,
        scene_at: Callable[[int], Scene | None],
        cheap: Callable[[], bool] = lambda: True,
        *,
        joints: bool = False,
        parents: Mapping[SensorOutput, int] = NO_PARENTS,
    ) -> None:
        self._plant = plant
        self._joints = joints
        self._parents = parents
        self._scene_at = scene_at
        self._cheap = cheap
        self._rest_until = 0.0
        self._sensors = [(output, PeriodicTimer(0, output.rate)) for output in outputs]
        self._span = max((output.span for output in outputs), default=0)
        self._states: list[deque[BodyState]] = [deque() for _ in range(1 + max(parents.values(), default=0))]
        self._awaiting: deque[tuple[int, bool, list[SensorOutput]]] = deque(maxlen=WAITING)
        self._look_ahead()

    @property
    def next_subscribed(self) -> int:
        """When the next measurement with subscribers is due [ns]; the others can wait until then."""
        return min((timer.next for output, timer in self._sensors if output.subscribed), default=NEVER)

    def begin(self, start: int) -> None:
        """Start again, each sensor with the first whole period of absolute time from ``start`` [ns] on."""
        for states in self._states:
            states.clear()
        self._awaiting.clear()
        for output, timer in self._sensors:
            timer.begin(0, output.rate)
            timer.skip(start)
            while timer.next < start:
                timer.advance()
        self._look_ahead()

    def skip(self, now: int) -> None:
        """Skip all measurements up to ``now`` [ns] but the last one of each sensor."""
        for _, timer in self._sensors:
            timer.skip(now)
        self._look_ahead()

    def serve(self, moment: int, *, held: bool) -> None:
        """Do the measurements due at a time [ns] to which the vehicle has advanced, once the plant has observed it."""
        if moment < self.next and not self._span:
            return
        due = [(output, timer) for output, timer in self._sensors if timer.next == moment]
        for _, timer in due:
            timer.advance()
        self._awaiting.append((moment, held, [output for output, _ in due]))
        self.measure()
        self._look_ahead()

    def measure(self) -> None:
        """Do the measurements whose time the plant has observed by now."""
        while self._awaiting and self._plant.seen(self._awaiting[0][0]):
            self._measure(*self._awaiting.popleft())

    def _measure(self, moment: int, held: bool, due: Sequence[SensorOutput]) -> None:
        body = self._plant.body(moment)
        if self._joints:
            body = replace(body, joints=self._plant.joint_states(moment))
        bodies = [body, *(self._plant.trailer_bodies(moment, body) if self._parents else ())]
        for states, body in zip(self._states, bodies, strict=False):
            states.append(body.at_rest() if held else body)
            while len(states) > 2 and states[1].time <= moment - self._span:
                states.popleft()
        scene = self._scene_at(moment) if any(output.subscribed for output in due) else None
        for output in due:
            states = self._states[self._parents.get(output, 0)]
            if not output.rays or self._cheap():
                output.measure(states, scene)
            elif output.rays <= SHORT and (begin := monotonic()) >= self._rest_until:
                output.measure(states, scene)
                self._rest_until = monotonic() + (monotonic() - begin) * REST

    def _look_ahead(self) -> None:
        self.next = min((timer.next for _, timer in self._sensors), default=NEVER)


class Casting:
    """Ray casting in one scene: by Python, or by compiled loops once they are ready, if there are many rays.

    Both give the same bits. ``ready`` is true if Python is fast enough or nothing can be compiled, and once the
    compiled loops are ready.
    """

    def __init__(self, scene: Scene, rays_per_second: float, *, wait: bool) -> None:
        self.scene = scene.interpreted()
        if rays_per_second:
            self.scene.visuals.prepare()  # now, and not at the first ray while the vehicle drives
        self.ready = not scene.visuals.compiled or rays_per_second <= LITTLE
        if self.ready:
            return
        if wait:
            self._prepare(scene)
        else:
            threading.Thread(target=self._prepare, args=(scene,), name="compile ray casting", daemon=True).start()

    def _prepare(self, scene: Scene) -> None:
        scene.prepare()
        self.scene = scene
        self.ready = True


def make_sensors(
    graph: Graph,
    parameters: NodeParameters,
    plant: Plant,
    scene: Scene | None,
    surroundings: Surroundings | None,
    speed: float,
    failures: Failures,
) -> Sensors | None:
    """Announce all sensors that the node simulates; None if there are none. ``speed`` is the clock's."""
    if not parameters.sensors:
        return None
    from vds_gz.programs.nodes.guarded_sensor import make_guarded

    joints = plant.vehicle.model.joints(parameters.vehicle)
    setups = sensor_setups(graph, parameters, joints, beside_gazebo=plant.simulates_sensors)
    made = [(setup, output) for setup in setups if (output := make_guarded(setup, failures)) is not None]
    outputs = [output for _, output in made]
    parents: dict[SensorOutput, int] = {
        output: number for setup, output in made if (number := trailer_number(setup.parameters))
    }
    rays = sum(output.rays * output.rate for output in outputs)
    if rays and speed == math.inf:
        rays = math.inf  # faster ray casting makes the simulation faster
    casting = Casting(scene, rays, wait=parameters.be_reference_clock) if scene else None

    def scene_at(time: int) -> Scene | None:
        if casting is None:
            return None
        return surroundings.scene_at(time, casting.scene) if surroundings else casting.scene

    return Sensors(
        outputs,
        plant,
        scene_at,
        lambda: casting is None or casting.ready,
        joints=any("joints" in setup.type.needs for setup in setups),
        parents=parents,
    )
