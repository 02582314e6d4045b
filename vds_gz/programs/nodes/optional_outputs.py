"""Outputs that only some vehicles have: an estimate of the pose, reports of the model, contacts with the world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vds_gz.core.geometry import Pose
from vds_gz.core.parameters.live_parameters import LiveParameters
from vds_gz.core.plant.base import Plant
from vds_gz.core.ros.graph import Graph
from vds_gz.programs.interface.outputs import FrameNames, Snapshot

if TYPE_CHECKING:
    from vds_gz.core.sensing.amcl import Amcl
    from vds_gz.core.sensing.estimate import StateEstimator
    from vds_gz.programs.interface.model_reports import ModelReports
    from vds_gz.programs.interface.outputs import AmclOutput
    from vds_gz.programs.interface.world_topics import ContactsOutput


def make_optional_outputs(graph: Graph, live: LiveParameters, plant: Plant) -> OptionalOutputs | None:
    """The optional outputs of a vehicle; None with exact odometry and without reports and contacts."""
    model = plant.vehicle.model
    measures = live.now.simulate_localization or model.measured_steering is not None
    reports = any(report.published(plant.vehicle.parameters) for report in model.reports)
    return OptionalOutputs(graph, live, plant) if measures or reports or plant.contacts is not None else None


class OptionalOutputs:
    """The optional outputs of a vehicle. Modules are imported only if the vehicle needs them.

    Attributes:
        amcl: The simulated AMCL; None in another style of localization.
    """

    def __init__(self, graph: Graph, live: LiveParameters, plant: Plant) -> None:
        self._plant, parameters = plant, live.now
        self.amcl: Amcl | None = None
        self._estimator: StateEstimator | None = None
        self._amcl_output: AmclOutput | None = None
        self._reports: ModelReports | None = None
        self._contacts: ContactsOutput | None = None
        vehicle, frames = plant.vehicle, FrameNames.of(parameters)
        measures = vehicle.model.measured_steering is not None
        if parameters.simulate_localization or measures:
            from vds_gz.core.sensing.estimate import StateEstimator

            known = plant.motion(vehicle.time).pose if plant.seen(0) else None  # in Gazebo not yet
            self._estimator = estimator = StateEstimator(
                parameters.localization if parameters.simulate_localization else None,
                parameters.measurement_noise if measures else None,
                known,
            )
            live.follow(lambda new: (new.localization, new.measurement_noise), lambda new: estimator.configure(*new))
            self.amcl = estimator.amcl
        if self.amcl is not None:
            from vds_gz.programs.interface.outputs import AmclOutput

            self._amcl_output = AmclOutput(
                graph, frames, parameters.localization.amcl.transform_tolerance, parameters.publish_tf
            )
        if any(report.published(vehicle.parameters) for report in vehicle.model.reports):
            from vds_gz.programs.interface.model_reports import ModelReports

            self._reports = ModelReports(graph, vehicle, frames.base, parameters.actuation_messages)
        if plant.contacts is not None:
            from vds_gz.programs.interface.world_topics import contacts_output

            self._contacts = contacts_output(graph, frames.map, vehicle.model.name)

    def publish(self, snapshot: Snapshot, interval: float) -> Snapshot:
        """Publish all of them, an interval [s] after the last time.

        Returns:
            The snapshot with the vehicle's own estimate.
        """
        motion, vehicle = snapshot.motion, self._plant.vehicle
        speed, angle, measured_steering = motion.v_x, 0.0, vehicle.model.measured_steering
        if measured_steering is not None:
            angle = measured_steering(vehicle.coefficients, vehicle.state)
        if self._estimator is not None:
            estimate = self._estimator.update(snapshot.time, motion.pose, speed, angle, interval)
            speed, angle = estimate.speed, estimate.steering
            snapshot = snapshot._replace(estimate=estimate)
            if self._amcl_output is not None:
                for scan in estimate.scans:
                    self._amcl_output.publish(scan)
        if self._reports is not None:
            self._reports.publish(snapshot, speed, angle)
        if self._contacts is not None:
            self._contacts.publish(snapshot.time, self._plant.contacts or ())
        return snapshot

    def set_pose(self, pose: Pose) -> None:
        """The vehicle was moved to another pose."""
        if self._estimator is not None:
            self._estimator.set_pose(pose)

    def reset(self, pose: Pose) -> None:
        """The vehicle was reset to a pose."""
        if self._estimator is not None:
            self._estimator.reset(pose)
