"""The cases of a sweep: a vehicle with a command log, or with a controller on a path."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from vds_gz.commandlog.log import CommandLog
from vds_gz.fleet.path import Path
from vds_gz.parameters.node import NodeParameters
from vds_gz.study.sweep.open_loop import TAIL


@dataclass(frozen=True, slots=True)
class Driving:
    """How vehicles are driven along paths.

    Attributes:
        rate: Commands per second [Hz].
        duration: Maximum duration of a run [s].
        bound: A vehicle whose lateral error exceeds it has left the path [m].
        laps: Number of laps of a closed path until the run is finished.
        lateral, heading_error: Of base_link's reference point from the path at the start [m, rad].
    """

    rate: float = 50.0
    duration: float = 60.0
    bound: float = math.inf
    laps: int = 1
    lateral: float = 0.0
    heading_error: float = 0.0


@dataclass(frozen=True, slots=True)
class OpenLoop:
    """Commands for a vehicle."""

    log: CommandLog = field(repr=False)


@dataclass(frozen=True, slots=True)
class ClosedLoop:
    """A controller, by its name or ``module:function``, with its gains and its path."""

    controller: str
    gains: Mapping[str, float]
    path: Path = field(repr=False)


@dataclass(frozen=True, slots=True)
class Case:
    """The common properties of all runs of a case.

    Attributes:
        labels: By column of the table: vehicle, and commands, or controller and path.
        vehicle: Its nominal parameters.
        drive: Its commands, or its controller and path.
    """

    labels: dict[str, str]
    vehicle: NodeParameters = field(repr=False)
    drive: OpenLoop | ClosedLoop = field(repr=False)

    def duration(self, driving: Driving) -> float:
        """Maximum duration of a run [s]."""
        return self.drive.log.duration + TAIL if isinstance(self.drive, OpenLoop) else driving.duration


def cases_of(
    vehicles: Mapping[str, NodeParameters],
    logs: Mapping[str, CommandLog],
    controllers: Mapping[str, Mapping[str, float]],
    paths: Mapping[str, Path],
) -> Iterator[Case]:
    """Every vehicle with every log, and with every controller on every path."""
    for label, vehicle in vehicles.items():
        for name, log in logs.items():
            yield Case({"vehicle": label, "commands": name}, vehicle, OpenLoop(log))
        for (name, gains), (file, path) in product(controllers.items(), paths.items()):
            yield Case({"vehicle": label, "controller": name, "path": file}, vehicle, ClosedLoop(name, gains, path))
