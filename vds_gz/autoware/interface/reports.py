"""The reports of Autoware's vehicles.

The names are those of Autoware's own simulator, without its ``input/`` and ``output/``. Topics whose message package is
not installed are left out, with a line in the log that names the package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from vds_gz.autoware.vehicle.state import (
    ActuationStatus,
    AutowareCoefficients,
    AutowareState,
    actuation_status,
    gear_report,
    has_actuation_status,
    steering_report,
)
from vds_gz.core.errors import UnknownTypeError
from vds_gz.core.ros.graph import Graph, Severity
from vds_gz.core.vehicle.vehicle import AnyVehicle
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.outputs import Output, Snapshot


class Report(NamedTuple):
    """A report of one of Autoware's vehicles."""

    speed: float  # as measured [m/s]
    steering: float  # tyre angle as measured [rad]
    yaw_rate: float  # [rad/s]
    gear: int  # code of the gear that is in
    actuation: ActuationStatus  # accelerator and brake for the present acceleration, and the steering command


ReportFields = Callable[[Report], Sequence[float]]

#: Fields of accelerator, brake and steering in each package's message of the actuation.
_ACTUATION = {
    "tier4": [f"status.{name}_status" for name in ("accel", "brake", "steer")],
    "autoware": [f"actuation_report.{name}_report" for name in ("accel", "brake", "steer")],
}


class Reports:
    """The topics of one of Autoware's vehicles."""

    def __init__(self, graph: Graph, vehicle: AnyVehicle, frame: str, messages: str) -> None:
        self._vehicle = vehicle
        self._outputs = report_outputs(graph, vehicle, frame, messages)

    def steering(self) -> float:
        """The tyre angle that a sensor without noise reads, bias included [rad]."""
        return steering_report(self._vehicle.coefficients, self._vehicle.state)

    def publish(self, snapshot: Snapshot, speed: float, steering: float) -> None:
        """Publish the report of an instant with measured speed [m/s] and tyre angle [rad]."""
        c, s = self._vehicle.coefficients, self._vehicle.state
        report = report_of(c, s, speed, steering)._replace(yaw_rate=snapshot.motion.yaw_rate)
        snapshot = snapshot._replace(report=report)
        for output in self._outputs:
            if output.subscribed():
                output.publish(snapshot.time, output.values(snapshot))


def report_of(c: AutowareCoefficients, s: AutowareState, speed: float, steering: float) -> Report:
    """The report of a vehicle in a state, with measured speed [m/s] and tyre angle [rad]."""
    return Report(speed, steering, s.yaw_rate, gear_report(s), actuation_status(c, s))


def report_outputs(graph: Graph, vehicle: AnyVehicle, frame: str, messages: str) -> list[Output]:
    """The topics of the reports; ``messages`` is the package of the pedals' messages, ``tier4`` or ``autoware``."""
    outputs = []
    for topic, stamp, fields, values in _reports(vehicle, messages):
        try:
            message = graph.message(topic.type)
        except UnknownTypeError as error:
            graph.log(Severity.INFO, f"no topic '{topic.name}': {error}")
            continue
        if topic is topics.VELOCITY_STATUS:
            message.header.frame_id = frame
        outputs.append(Output(graph, topic, message, [stamp], fields, _reported(values)))
    return outputs


def _reports(vehicle: AnyVehicle, messages: str) -> Iterator[tuple[topics.Topic, str, list[str], ReportFields]]:
    """For each report its topic, the paths of its stamp and numbers, and the numbers themselves."""
    yield (
        topics.VELOCITY_STATUS,
        "header.stamp",
        ["longitudinal_velocity", "heading_rate"],
        lambda report: (report.speed, report.yaw_rate),
    )
    if vehicle.parameters.enable_pub_steer:
        yield topics.STEERING_STATUS, "stamp", ["steering_tire_angle"], lambda report: (report.steering,)
    yield topics.GEAR_STATUS, "stamp", ["report"], lambda report: (report.gear,)
    if has_actuation_status(vehicle.coefficients):
        yield topics.ACTUATION_STATUS[messages], "header.stamp", _ACTUATION[messages], lambda report: report.actuation


def _reported(values: ReportFields) -> Callable[[Snapshot], Sequence[float]]:
    def of_snapshot(now: Snapshot) -> Sequence[float]:
        assert now.report is not None
        return values(now.report)

    return of_snapshot
