"""The family of possible vehicles of a fit: a model, its known parameters, and the unknowns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from vds_gz.core.arrays import Array
from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.vehicle.differential import DIFFERENTIAL
from vds_gz.core.vehicle.vehicle_model import AnyModel
from vds_gz.tools.fleet.sampled import Calibrations, Readings, SampledDrive, Simulations
from vds_gz.tools.study.identify.problem.observed import (
    Geometry,
    SidedParameters,
    geometry_of,
    sided_model,
    start_names,
    start_states,
)
from vds_gz.tools.study.identify.problem.parameters import with_numbers
from vds_gz.tools.study.identify.problem.segments import Segment
from vds_gz.tools.study.identify.term_kind import Effect, Term, acting_as


@dataclass(frozen=True)
class VehicleFamily:
    """The family of possible vehicles.

    Attributes:
        model: The vehicle model.
        parameters: The known parameters; terms replace theirs.
        terms: The unknowns, in the order of a point's coordinates.
        hold: Measurements are states of a simulator, which hold for steps of this length [s]; 0: states change between
            steps too.
    """

    model: AnyModel
    parameters: ParameterGroup
    terms: tuple[Term, ...]
    hold: float = 0.0
    _made: dict[tuple[int, float], tuple[bytes, Simulations[Any, Any, Any], list[Any], Geometry]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def _simulations(self, points: Array, dt: float) -> tuple[Simulations[Any, Any, Any], list[Any], Geometry]:
        """The vehicles at some points, their coefficients and geometry; they are reused for as many other points."""
        number, place = (len(points), dt), points.tobytes()
        made = self._made.get(number)
        if made is None or made[0] != place:
            vehicles: list[Any] = [self.vehicle(point) for point in points]
            sides = {self.terms[k].target: points[:, k] for k in acting_as(self.terms, Effect.WHEEL)}
            geometry = geometry_of(vehicles, **sides)
            model = self.model
            if sides and model.actuating == DIFFERENTIAL.actuating:
                model = sided_model(model)
                gains = geometry.left_gain.tolist(), geometry.right_gain.tolist()
                vehicles = list(map(SidedParameters, vehicles, *gains))
            coefficients = [model.coefficients(vehicle, dt) for vehicle in vehicles]
            if made is None:
                simulations = Simulations(model, vehicles, 1.0 / dt)
            else:
                simulations = made[1]
                simulations.configure(vehicles)
            made = self._made[number] = place, simulations, coefficients, geometry
        return made[1:]

    def vehicle(self, point: Array) -> ParameterGroup:
        """The parameters at a point."""
        values = zip(self.terms, point.tolist(), strict=True)
        numbers = {term.name: term.parameter(x) for term, x in values if term.is_parameter}
        return with_numbers(self.parameters, numbers)

    @cached_property
    def start_names(self) -> tuple[str, ...]:
        """The unknown quantities of a vehicle's steady motion at the start of a segment."""
        return start_names(self.model, self.parameters)

    def index(self, name: str) -> int:
        """The index of a term."""
        return next(k for k, term in enumerate(self.terms) if term.name == name)

    def calibrations(self, points: Array) -> Calibrations:
        """Calibrations of commands, with a vehicle for each point."""
        chosen = {self.terms[k].target: points[:, k] for k in acting_as(self.terms, Effect.COMMAND)}
        return Calibrations(**chosen)

    def driven(self, points: Array, runs: Sequence[tuple[Segment, Array, Readings]]) -> tuple[list[Array], Geometry]:
        """Readings of vehicles, one for each point, that follow the commands of segments, and the vehicles' geometry.

        A run is a segment, the starts of its vehicles (vehicles, numbers), and its readings; all runs have equal steps.
        The result for each has the shape (readings, vehicles).
        """
        simulations, coefficients, geometry = self._simulations(points, runs[0][0].dt)
        drives = []
        for segment, start, readings in runs:
            states = start_states(simulations.model, self.start_names, coefficients, start) if start.any() else None
            drives.append(SampledDrive(segment.commands, segment.begins, readings, states))
        return simulations.read(drives, self.calibrations(points)), geometry
