"""The topics by which vehicles of a model report more than every vehicle does.

Topics whose message package is not installed are left out, with a line in the log that names the package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from vds_gz.core.errors import UnknownTypeError
from vds_gz.core.ros.graph import Graph, QoS, Severity, Topic
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.vehicle import AnyVehicle
from vds_gz.core.vehicle.vehicle_model import AnyModel, MeasuredMotion, Report
from vds_gz.programs.interface.commands import command_types
from vds_gz.programs.interface.outputs import Output, Snapshot


def topic_of(report: Report) -> Topic:
    """The topic of a report."""
    return Topic(report.topic, report.type, QoS(depth=report.depth))


def model_topics() -> tuple[Topic, ...]:
    """The topics of commands and reports that only vehicles of some models have."""
    reports = dict.fromkeys(topic_of(report) for model in models().values() for report in model.reports)
    return (*(kind.topic for kind in command_types() if kind.with_gears), *reports)


def reports_of(model: AnyModel, parameters: Any, variant: str) -> tuple[Report, ...]:
    """The reports of a vehicle with these parameters; ``variant`` selects one of several types of a topic."""
    variants = ("", variant)
    return tuple(report for report in model.reports if report.variant in variants and report.published(parameters))


def report_numbers(reports: Sequence[Report], c: Any, s: Any, measured: MeasuredMotion) -> tuple[Sequence[float], ...]:
    """The numbers of each report of a vehicle in a state."""
    return tuple(report.numbers(c, s, measured) for report in reports)


def report_outputs(graph: Graph, reports: Sequence[Report], frame: str) -> list[Output]:
    """The topics of reports, whose numbers are in ``Snapshot.reports``; ``frame`` is that of base_link."""
    outputs = []
    for index, report in enumerate(reports):
        topic = topic_of(report)
        try:
            message = graph.message(topic.type)
        except UnknownTypeError as error:
            graph.log(Severity.INFO, f"no topic '{topic.name}': {error}")
            continue
        if report.of_base:
            message.header.frame_id = frame
        stamps = [report.stamp] if report.stamp else []
        outputs.append(Output(graph, topic, message, stamps, report.fields, _numbers_at(index)))
    return outputs


def _numbers_at(index: int) -> Callable[[Snapshot], Sequence[float]]:
    return lambda snapshot: snapshot.reports[index]


class ModelReports:
    """The reports of a node's vehicle."""

    def __init__(self, graph: Graph, vehicle: AnyVehicle, frame: str, variant: str) -> None:
        self._vehicle = vehicle
        self._reports = reports_of(vehicle.model, vehicle.parameters, variant)
        self._outputs = report_outputs(graph, self._reports, frame)

    def publish(self, snapshot: Snapshot, speed: float, steering_angle: float) -> None:
        """Publish the reports of an instant with measured speed [m/s] and steering angle [rad]."""
        measured = MeasuredMotion(speed, steering_angle, snapshot.motion.yaw_rate)
        numbers = report_numbers(self._reports, self._vehicle.coefficients, self._vehicle.state, measured)
        snapshot = snapshot._replace(reports=numbers)
        for output in self._outputs:
            if output.subscribed():
                output.publish(snapshot.time, output.values(snapshot))
