"""What a vehicle's services do: pause it, step it, put it somewhere, reset it."""

from __future__ import annotations

from vds_gz.errors import VdsGzError
from vds_gz.geometry.attitude import Attitude
from vds_gz.geometry.se2 import Pose
from vds_gz.nodes.advance import TimeKeeper
from vds_gz.nodes.clock import ReferenceClock
from vds_gz.nodes.observations import Observations
from vds_gz.plant.base import Plant
from vds_gz.ros.stopping import StopRequest
from vds_gz.vehicle.vehicle import Motion


class SimulationError(VdsGzError, RuntimeError):
    """The simulation cannot do what was requested, as it is now."""


class Simulation:
    """A vehicle and its time, as services see them."""

    def __init__(self, plant: Plant, time: TimeKeeper, observations: Observations, stop: StopRequest) -> None:
        self._plant = plant
        self._time = time
        self._observations = observations
        self._stop = stop

    @property
    def paused(self) -> bool:
        """Whether the simulation is paused, here or in Gazebo."""
        return self._time.paused or self._plant.paused

    @property
    def owns_time(self) -> bool:
        """Whether the node itself gives the time."""
        return self._time.clock.owns_time

    def truth(self) -> tuple[int, Motion, Attitude | None]:
        """The present [ns], where base_link is and how it moves, and how it stands out of the plane."""
        time = self._plant.vehicle.time
        return time, self._plant.motion(time), self._plant.attitude(time)

    def stop(self) -> None:
        """End the node soon."""
        self._stop.request()

    def set_pose(self, pose: Pose, attitude: Attitude | None = None) -> None:
        """Put base_link there; level and as high as it stands where no attitude is given.

        Raises:
            LinkError: The request cannot be sent to Gazebo.
        """
        self._plant.set_pose(pose, attitude)
        self._observations.set_pose(pose)

    def stand_still(self) -> None:
        """Take all motion and all commands from the vehicle, where it is."""
        self._plant.stand_still(self._plant.vehicle.time)

    def pause(self, paused: bool) -> None:
        """Hold the vehicle, or let it go on. As reference clock, and with Gazebo, time stands still with it.

        Raises:
            LinkError: The request cannot be sent to Gazebo.
        """
        if not self._plant.pause(paused):
            self._time.pause(paused)

    def reset(self, *, time: bool, state: bool) -> None:
        """Restart: the time, if it is ours, the vehicle, or both.

        Raises:
            LinkError: The request cannot be sent to Gazebo.
            SimulationError: It is not known yet where the vehicle began.
        """
        if state:
            pose = self._plant.reset()
            if pose is None:
                raise SimulationError(
                    "the vehicle stands, but it has not been seen yet, so it is not known where it began"
                )
            self._observations.reset(pose)
        if time and self.owns_time:
            self._time.restart(ReferenceClock.BEGIN)

    def step(self, count: int) -> None:
        """Do so many steps while time, which is ours, stands still.

        Raises:
            SimulationError: Time is not ours or does not stand still, or the node is stopping.
        """
        self._time.catch_up()  # the first turn may be yet to come
        if not self._time.holds_time or self._time.now is None:
            raise SimulationError(
                "stepping needs a paused simulation that gives the time; start with be_reference_clock: true, pause"
            )
        vehicle = self._plant.vehicle
        self._time.step(vehicle.time_of(vehicle.steps + count), lambda: self._stop.requested)
        if self._stop.requested:
            raise SimulationError("the node is stopping")
