"""The vehicle that a page shows: its node, data, surroundings and driver."""

from __future__ import annotations

from dataclasses import asdict
from typing import cast

from vds_gz.core.ros.arguments import full_node_name
from vds_gz.core.ros.graph import Client, Deliver, Graph, Publisher, QoS, Subscription
from vds_gz.core.vehicle.catalogue import actuator_kind
from vds_gz.core.vehicle.vehicle_model import Actuator
from vds_gz.programs.interface.commands import command_type
from vds_gz.programs.teleop.driver_commands import COMBINED, CommandOutput
from vds_gz.programs.web.deadman import DeadMansSwitch
from vds_gz.programs.web.page_scene import WorldView
from vds_gz.programs.web.remote_node import RemoteNode
from vds_gz.programs.web.telemetry import COLUMNS, Telemetry


class _Namespaced:
    """The graph, with relative names resolved in an absolute namespace."""

    def __init__(self, graph: Graph, namespace: str) -> None:
        self._graph = graph
        self._prefix = namespace.rstrip("/")

    def publisher(self, topic: str, type_name: str, qos: QoS) -> Publisher:
        return self._graph.publisher(self._absolute(topic), type_name, qos)

    def subscribe(self, topic: str, type_name: str, qos: QoS, callback: Deliver, raw: bool = False) -> Subscription:
        return self._graph.subscribe(self._absolute(topic), type_name, qos, callback, raw)

    def client(self, name: str, type_name: str) -> Client:
        return self._graph.client(self._absolute(name), type_name)

    def _absolute(self, name: str) -> str:
        return name if name.startswith("/") else f"{self._prefix}/{name}"

    def __getattr__(self, name: str) -> object:
        return getattr(self._graph, name)


#: ``auto`` takes an Ackermann command for a vehicle with steered wheels and one drive, else a twist.
AUTO = "auto"


class WatchedVehicle:
    """A vehicle in a namespace."""

    def __init__(self, graph: Graph, namespace: str, node: str, output: str) -> None:
        self.namespace = namespace
        self._graph = cast(Graph, _Namespaced(graph, namespace))
        self._output = output
        name = full_node_name(node, namespace)
        self.node = RemoteNode(self._graph, name)
        self.telemetry = Telemetry(self._graph, name, self.node.look_again)
        self.surroundings = WorldView(self._graph, namespace, lambda: self.telemetry.truth)
        self.driver = DeadMansSwitch(self._make_output)

    @property
    def output(self) -> str:
        """Type of the commands sent."""
        if self._output != AUTO:
            return self._output
        outline = self.telemetry.outline
        drives = sum(actuator_kind(name) == "drive" for name in self.telemetry.actuators)
        return "ackermann" if outline is not None and outline.steers and drives < 2 else "twist"

    @property
    def _steers(self) -> bool:
        """The commands have a steering angle; else a yaw rate and, for some vehicles, a lateral speed."""
        names = COMBINED.get(self.output, (self.output,))
        return any("steering_angle" in command_type(name).kind.references for name in names)

    def tick(self) -> None:
        """Do the periodic work of all parts."""
        self.node.tick()
        self.driver.tick()
        self.surroundings.tick()

    def layout(self) -> dict[str, object]:
        """The meaning of a frame's numbers, and the vehicle's outline; ready for JSON."""
        telemetry = self.telemetry
        return {
            "namespace": self.namespace,
            "columns": COLUMNS,
            "joints": telemetry.joints,
            "actuators": [
                {"name": name, "unit": Actuator(name, actuator_kind(name)).unit} for name in telemetry.actuators
            ],
            "outline": asdict(telemetry.outline) if telemetry.outline else None,
            "fault": telemetry.fault,
            "steers": self._steers,
            "holonomic": len(telemetry.actuators) > 2,  # two move no vehicle laterally
        }

    def _make_output(self) -> CommandOutput:
        # The vehicle's own time is right whichever clock it uses, and so is its present frame.
        truth = self.telemetry.truth
        frame = truth.child_frame_id if truth is not None else "base_link"
        return CommandOutput(self._graph, self.output, frame, lambda: self.telemetry.stamp)
