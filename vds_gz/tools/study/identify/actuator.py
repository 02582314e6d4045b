"""The fit of a single actuator: the drive of a vehicle that goes straight ahead, or the steering of one that stands.

It is the fit of a vehicle with one actuator: terms are selected, fitted and given intervals by the same code.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vds_gz.core.parameters.vehicles import BicycleParameters
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.tools.study.identify.estimation import fit_all
from vds_gz.tools.study.identify.fit_findings import NOISY
from vds_gz.tools.study.identify.outcome import vehicle_fit
from vds_gz.tools.study.identify.problem.parameters import actuations, terms_of
from vds_gz.tools.study.identify.problem.problem_setup import STEP_RATE, Setup
from vds_gz.tools.study.identify.problem.vehicle_family import VehicleFamily
from vds_gz.tools.study.identify.results import NamedEstimates
from vds_gz.tools.study.identify.static_maps import map_references, with_map_terms
from vds_gz.tools.study.identify.term_kind import Effect, neutral_point
from vds_gz.tools.study.identify.terms import STAGES
from vds_gz.tools.study.recording import MeasuredChannel, Recording, Series

#: The command that an actuator follows.
COMMANDED = {"drive": "v_x", "steering": "steering"}


@dataclass(frozen=True, slots=True)
class ActuatorFit:
    """A fitted actuator.

    Attributes:
        numbers: Its parameters by their names in :data:`~vds_gz.tools.study.identify.terms.STAGES`; None
            for those that the recordings do not determine.
        residual: Standard deviation of the residuals without outliers, in the unit of the response.
        explained: Whether the residuals are little more than noise, so that the actuator's structure fits.
    """

    numbers: NamedEstimates
    residual: float
    explained: bool


def fit_actuator(
    runs: Sequence[tuple[Series, Series]],
    *,
    angle: bool,
    allowed: float,
    longest: float = STAGES["dead_time"].highest,
    thorough: bool = True,
) -> ActuatorFit:
    """Fit an actuator to its references and its response in each run.

    Nothing else of the vehicle moves: a drive goes straight ahead, and a vehicle whose steering is fitted stands.
    Dead times are at most ``longest`` [s]. Residuals beyond noise are explained up to ``allowed``, in the unit of the
    response. In a ``thorough`` fit terms also enter one by one, and an actuator with a static map is tried if residuals
    are not explained.
    """
    name = "steering" if angle else "drive"
    quantity = COMMANDED[name]
    turns_round = angle and max(float(np.max(np.abs(response.value))) for _, response in runs) > math.pi / 2.0
    parameters = BicycleParameters(drive_on_steered_wheel=turns_round)
    actuation = actuations(parameters)[name]
    terms = tuple(
        replace(term, highest=longest) if term.kind.effect is Effect.DEAD_TIME else term for term in terms_of(actuation)
    )
    recordings = []
    for references, response in runs:
        still = Series(references.time, np.zeros(len(references.time)))
        commanded = {"v_x": still, "steering": still} | {quantity: references}
        recordings.append(Recording(commanded, {quantity: response}, steers=True))
    setup = Setup(
        VehicleFamily(BICYCLE, parameters, terms),
        {name: actuation},
        tuple(recordings),
        tuple((MeasuredChannel(quantity, quantity, quantity, response),) for _, response in runs),
        neutral_point(terms),
        {},
        STEP_RATE,
        given=True,
    )
    fit = _fitted(setup, allowed, at_once=not thorough)
    if thorough and not fit.explained:
        fit = min(fit, _fitted(_with_map(setup), allowed), key=lambda trial: trial.residual)
    if angle:
        fit.numbers["fall"] = fit.numbers["rise"]
    return fit


def _fitted(setup: Setup, allowed: float, *, at_once: bool = False) -> ActuatorFit:
    fit = vehicle_fit(fit_all(setup, at_once=at_once))
    [actuation] = setup.actuators.values()
    numbers = {number: fit.numbers.get(name) for number, name in actuation.names.items()}
    residual, noise = (
        math.sqrt(sum(getattr(channel, name) ** 2 for channel in fit.channels) / len(fit.channels))
        for name in ("residual", "noise")
    )
    return ActuatorFit(numbers, residual, residual <= NOISY * noise + allowed)


def _with_map(setup: Setup) -> Setup:
    """The setup with a static map in place of gain, dead band and saturation: its points are the levels of commands."""
    [name] = setup.actuators
    references = map_references(setup, COMMANDED[name])
    return with_map_terms(setup, name, COMMANDED[name], references, references, removed=("gain", "dead_band", "value"))
