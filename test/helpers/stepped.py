"""Gazebo in this process and in step with it, as fast as it can: the same in every run, however busy the machine is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from tempfile import NamedTemporaryFile
from typing import Any

from helpers.parity import PERIOD, Manoeuvre, Sample
from vds_gz.core.description.sdf import moved_by, sdf
from vds_gz.core.geometry import Attitude
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.plant.gazebo.gazebo_plant import GazeboPlant
from vds_gz.core.plant.gazebo.gazebo_server import Spawn, populated
from vds_gz.core.plant.gazebo.links import bindings
from vds_gz.core.plant.gazebo.links.system import SystemLink
from vds_gz.core.share import share
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.make_vehicle import make_vehicle
from vds_gz.core.vehicle.vehicle import NANOSECONDS, Motion

#: The vehicle comes to rest before each manoeuvre [steps of 1 ms].
REST = 500

STEP = 1_000_000


class Stepped:
    """A vehicle in Gazebo, moved by the link ``system``, and the same one moved by its kinematics.

    Attributes:
        plant: The one in Gazebo.
    """

    def __init__(self, parameters: NodeParameters) -> None:
        model = models()[parameters.model]
        joints = model.joints(parameters.vehicle)
        self._link = SystemLink(joints, [joint.name for joint in joints])
        self._reference = make_vehicle(parameters)
        vehicle = make_vehicle(parameters, moves=False)
        settings = replace(parameters.gazebo, lead=0.0, command_rate=1000.0)
        self.plant = GazeboPlant(vehicle, settings, self._link, lambda: None, print)
        spawn = Spawn(moved_by(sdf(model, parameters.vehicle)))
        world = populated(share("worlds", "empty.sdf"), [spawn], 0.0)[1]
        self._sim = bindings.sim()
        self._attached = False
        self._begin: int | None = None
        self._samples: list[Sample] = []
        with NamedTemporaryFile("w", suffix=".sdf") as file:
            file.write(world)
            file.flush()
            self._fixture = self._sim.TestFixture(file.name)
            self._fixture.on_pre_update(self._before_step)
            self._fixture.finalize()
            self.run(REST)

    def stands(self) -> tuple[Motion, Attitude]:
        """Where the vehicle stands in Gazebo, and how."""
        time = self.plant.vehicle.time - STEP
        return self.plant.motion(time), self.plant.attitude(time)

    def drive(self, manoeuvre: Manoeuvre) -> list[Sample]:
        """Drive it, from rest."""
        begin = self.plant.vehicle.time
        for vehicle in (self.plant.vehicle, self._reference):
            vehicle.stand_still(begin)
            for at, command in manoeuvre.commands:
                vehicle.enter(command, begin + round(at * NANOSECONDS))
        self._begin, self._samples = begin, []
        self.run(round(manoeuvre.seconds * NANOSECONDS) // STEP)
        self._begin = None
        self.run(REST)
        return self._samples

    def run(self, steps: int) -> None:
        """Do so many steps."""
        self._fixture.server().run(True, steps, False)

    def _before_step(self, info: Any, ecm: Any) -> None:
        if not self._attached:
            world = self._sim.World(self._sim.world_entity(ecm))
            self._link.attach(world.model_by_name(ecm, "vehicle"), ecm)
            self._attached = True
        self._link.look(info, ecm)
        time = self._link.step_begins(info)
        if self._begin is not None and time > self._begin and (time - self._begin) % PERIOD == 0:
            self._reference.advance(time)
            self._samples.append(Sample((time - self._begin) * 1e-9, self.plant.motion(time), self._reference.motion()))
        now = self.plant.observe()
        if now is not None:
            self.plant.command(now)
        self._link.act(info, ecm)


def drive(parameters: NodeParameters, manoeuvres: Sequence[Manoeuvre]) -> dict[str, list[Sample]]:
    """Drive all of them one after the other; what was seen in each."""
    pair = Stepped(parameters)
    return {manoeuvre.name: pair.drive(manoeuvre) for manoeuvre in manoeuvres}
