"""The node inside Gazebo, as a Python system of a model: in step with the physics, without a step of latency.

In the model's SDF::

    <plugin filename="gz-sim-python-system-loader-system" name="gz::sim::systems::PythonSystemLoader">
      <module_name>vds_gz.programs.nodes.gazebo_system</module_name>
      <arguments>--ros-args --params-file /path/to/car.yaml</arguments>
      <commands>drive.csv</commands>  <!-- optional: a command log, the same in every run -->
      <record>joints.csv</record>     <!-- optional: the commands of the joints in every step -->
    </plugin>

No other controller may move the joints. After one exception Gazebo disables a Python system for good, with one line in
its log. So this system catches exceptions: it logs them, stops the wheels and tries the next step again.
"""

from __future__ import annotations

import shlex
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from time import monotonic
from typing import Any, TextIO
from xml.etree import ElementTree

from vds_gz.core.configuration import NODE_NAME
from vds_gz.core.parameters.node import joint_map
from vds_gz.core.plant.gazebo.links.bindings import EntityComponentManager, UpdateInfo
from vds_gz.core.plant.gazebo.links.system import SystemLink
from vds_gz.core.ros.arguments import parse
from vds_gz.core.ros.graph import Severity
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.core.vehicle.vehicle import NANOSECONDS
from vds_gz.programs.commandlog.command_log import read
from vds_gz.programs.nodes.plant_selection import gazebo_plant
from vds_gz.programs.nodes.preparation import prepare
from vds_gz.programs.nodes.sim_node import SimNode

#: The same failure is logged again after this time [s].
LOG_AGAIN = 5.0


def guarded(callback: Callable[..., None]) -> Callable[..., None]:
    """A callback that logs its exceptions and stops the vehicle instead of raising them."""

    @wraps(callback)
    def call(self: VehicleSystem, *arguments: Any) -> None:
        try:
            callback(self, *arguments)
        except Exception:
            self.failed(traceback.format_exc())

    return call


class VehicleSystem:
    """What Gazebo calls."""

    def __init__(self) -> None:
        self._node: SimNode | None = None
        self._link: SystemLink | None = None
        self._record: TextIO | None = None
        self._log = ""
        self._failed = float("-inf")

    @guarded
    def configure(self, entity: int, sdf: Any, ecm: EntityComponentManager, events: Any) -> None:
        """Start the node for a model."""
        settings = ElementTree.fromstring(sdf.to_string(""))
        arguments = parse(shlex.split(settings.findtext("arguments", "")), NODE_NAME)
        preparation = prepare(arguments.overrides)
        parameters = preparation.parameters
        # Every step gets its own command, without a delay.
        parameters = replace(parameters, gazebo=replace(parameters.gazebo, lead=0.0, command_rate=10_000.0))
        joints = preparation.model.joints(parameters.vehicle)
        renamed = joint_map(parameters.gazebo.joint_names)
        self._link = SystemLink(joints, [renamed.get(joint.name, joint.name).removeprefix("-") for joint in joints])
        self._link.attach(entity, ecm)
        graph = open_graph(arguments, NODE_NAME)
        plant = gazebo_plant(graph, parameters, self._link)
        self._node = SimNode(graph, replace(preparation, parameters=parameters), plant)
        self._node.begin()
        self._log = settings.findtext("commands", "")
        if path := settings.findtext("record", ""):
            self._record = open(path, "w", encoding="utf-8")  # noqa: SIM115 - it lives as long as the system
            print(*self._link.columns(), sep=",", file=self._record)

    @guarded
    def pre_update(self, info: UpdateInfo, ecm: EntityComponentManager) -> None:
        """Before a step: observe the joints, advance the node, and command the joints."""
        if self._node is None or self._link is None:
            return
        self._link.look(info, ecm)
        if self._log and not info.paused:
            self._enter_log(self._link.step_begins(info))
        self._node.simulation.turn(0.0)
        self._link.act(info, ecm)
        if self._record is not None and not info.paused:
            print(*map(repr, self._link.row(info)), sep=",", file=self._record, flush=True)

    def _enter_log(self, begin: int) -> None:
        """Give the vehicle the whole log, with its first command at ``begin`` [ns]."""
        assert self._node is not None
        log, self._log = read(self._log), ""
        vehicle = self._node.simulation.plant.vehicle
        vehicle.skip_to(begin)
        for time, values in zip(log.times, log.commands, strict=True):
            vehicle.enter(values.command(), begin + round(time * NANOSECONDS))

    def failed(self, trace: str) -> None:
        """Log a failure and stop the wheels."""
        if self._link is not None:
            self._link.stand()
        if monotonic() - self._failed < LOG_AGAIN:
            return
        self._failed = monotonic()
        if self._node is None:
            print(f"vds_gz: no vehicle is simulated\n{trace}", file=sys.stderr, flush=True)
        else:
            self._node.graph.log(Severity.ERROR, f"a step failed; the wheels are stopped\n{trace}")


def get_system() -> VehicleSystem:
    """The system, for Gazebo's PythonSystemLoader."""
    return VehicleSystem()
