"""What Autoware's vehicles report.

The names are those of the simulator that comes with Autoware, without its ``input/`` and ``output/``. Message packages
that are not installed switch their topics off, with a line in the log that says which package brings them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vds_gz.interface.conversions import set_stamp
from vds_gz.interface.topics import (
    ACTUATION_STATUS,
    GEAR_STATUS,
    STEERING_STATUS,
    VELOCITY_STATUS,
    Topic,
)
from vds_gz.ros.errors import UnknownTypeError
from vds_gz.ros.graph import Graph, Publisher, Severity
from vds_gz.sensing.estimate import StateEstimate
from vds_gz.vehicle.autoware.reports import (
    actuation_status,
    gear_report,
    has_actuation_status,
    velocity_report,
)
from vds_gz.vehicle.vehicle import Vehicle


class Reports:
    """The reports of a vehicle, at every publish instant, where somebody listens."""

    def __init__(self, graph: Graph, vehicle: Vehicle, frame: str, messages: str) -> None:
        """Announce the topics.

        Args:
            graph: Where to publish.
            vehicle: One of Autoware's models.
            frame: Frame of the vehicle.
            messages: Package of the pedals' messages, ``tier4`` or ``autoware``.
        """
        self._graph = graph
        self._frame = frame
        self._outputs: list[tuple[Publisher, Any, Callable[[Any, int, Vehicle, StateEstimate], None]]] = []
        self._announce(VELOCITY_STATUS, self._velocity)
        if vehicle.parameters.enable_pub_steer:
            self._announce(STEERING_STATUS, _steering)
        self._announce(GEAR_STATUS, _gear)
        if has_actuation_status(vehicle.coefficients):
            fill = _tier4_status if messages == "tier4" else _autoware_status
            self._announce(ACTUATION_STATUS[messages], fill)

    def publish(self, time: int, vehicle: Vehicle, measured: StateEstimate) -> None:
        """Publish all reports.

        Args:
            time: Simulated time [ns].
            vehicle: The vehicle.
            measured: What it measures of itself.
        """
        for publisher, message, fill in self._outputs:
            if publisher.subscription_count():
                fill(message, time, vehicle, measured)
                publisher.publish(message)

    def _announce(self, topic: Topic, fill: Callable[[Any, int, Vehicle, StateEstimate], None]) -> None:
        try:
            message = self._graph.message(topic.type)
            self._outputs.append((self._graph.publisher(topic.name, topic.type, topic.qos), message, fill))
        except UnknownTypeError as error:
            self._graph.log(Severity.INFO, f"no topic '{topic.name}': {error}")

    def _velocity(self, message: Any, time: int, vehicle: Vehicle, measured: StateEstimate) -> None:
        set_stamp(message.header.stamp, time)
        message.header.frame_id = self._frame
        message.longitudinal_velocity = measured.speed
        message.heading_rate = velocity_report(vehicle.state).heading_rate


def _steering(message: Any, time: int, vehicle: Vehicle, measured: StateEstimate) -> None:
    set_stamp(message.stamp, time)
    message.steering_tire_angle = measured.steering


def _gear(message: Any, time: int, vehicle: Vehicle, measured: StateEstimate) -> None:
    set_stamp(message.stamp, time)
    message.report = gear_report(vehicle.state)


def _tier4_status(message: Any, time: int, vehicle: Vehicle, measured: StateEstimate) -> None:
    status = actuation_status(vehicle.coefficients, vehicle.state)
    set_stamp(message.header.stamp, time)
    message.status.accel_status, message.status.brake_status, message.status.steer_status = status


def _autoware_status(message: Any, time: int, vehicle: Vehicle, measured: StateEstimate) -> None:
    status = actuation_status(vehicle.coefficients, vehicle.state)
    set_stamp(message.header.stamp, time)
    report = message.actuation_report
    report.accel_report, report.brake_report, report.steer_report = status
