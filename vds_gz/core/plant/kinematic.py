"""The plant without Gazebo: the model moves the vehicle."""

# ruff: noqa: D102  # vds_gz.core.plant.base documents the methods
from __future__ import annotations

from vds_gz.core.geometry import Attitude, Pose
from vds_gz.core.plant.base import BodyVelocity, Level, Plant, Status, body_state
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.vehicle.trailers import limit_text
from vds_gz.core.vehicle.vehicle import AnyVehicle, Motion, motion_of


class KinematicPlant(Plant):
    """A vehicle on an infinite plane. Its state is known only at its present time."""

    name = "kinematic"

    def __init__(self, vehicle: AnyVehicle, *, felt: bool = True) -> None:
        self.vehicle = vehicle
        self._felt = felt  # body() is needed with accelerations
        self._before: tuple[int, Motion] | None = None

    def advance(self, time: int) -> None:
        """Advance to a simulated time [ns]; the velocity before the last step is kept for accelerations."""
        vehicle = self.vehicle
        if self._felt and (last := vehicle.steps_until(time) - 1) >= vehicle.steps:
            vehicle.advance(vehicle.time_of(last))
            self._before = vehicle.time_of(last + 1), vehicle.motion()
        vehicle.advance(time)

    def motion(self, time: int) -> Motion:
        return motion_of(self.vehicle.coefficients, self.vehicle.state)

    def body(self, time: int) -> BodyState:
        """State of base_link as a body in space, with the accelerations of the last step."""
        end, motion = self._before or (None, None)
        attitude = self.attitude(time)
        before = BodyVelocity.of(motion, attitude) if motion and end == self.vehicle.time else None
        return body_state(time, self.motion(time), attitude, before, 1.0 / self.vehicle.step_rate)

    def status(self) -> Status:
        """A warning if a hitch is at its limit."""
        text = limit_text(self.vehicle.coefficients, self.vehicle.state)
        return Status(Level.WARN, text) if text else Status()

    def set_pose(self, pose: Pose, attitude: Attitude | None = None) -> None:
        self.vehicle.set_pose(pose.x, pose.y, pose.heading)

    def stand_still(self, time: int) -> None:
        self._before = None
        self.vehicle.stand_still(time)

    def reset(self) -> Pose:
        self._before = None
        self.vehicle.reset()
        return self.motion(self.vehicle.time).pose
