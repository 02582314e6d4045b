"""The fit of one actuator by itself: the drive of a vehicle that goes straight ahead, or a steering that stands."""

from __future__ import annotations

import math

import numpy as np

from vds_gz.parameters.vehicles import BicycleParameters
from vds_gz.study.identify.estimates import Estimate
from vds_gz.study.identify.estimation import fit_all
from vds_gz.study.identify.outcome import estimates
from vds_gz.study.identify.problem.parameters import actuations, coordinates
from vds_gz.study.identify.problem.setup import STEP_RATE, Setup
from vds_gz.study.identify.problem.simulation import VehicleFamily
from vds_gz.study.signals import MeasuredChannel, Series, Signals
from vds_gz.vehicle.bicycle import BICYCLE


def fit_actuator(given: Series, response: Series, *, angle: bool) -> dict[str, Estimate | None]:
    """The numbers of an actuator, by those of an axis.

    It is that of a vehicle of which nothing else moves: its drive goes straight ahead, or its steering stands.
    """
    quantity = "steering" if angle else "v_x"
    turns_round = angle and float(np.max(np.abs(response.value))) > math.pi / 2.0
    parameters = BicycleParameters(drive_on_steered_wheel=turns_round)
    actuation = actuations(parameters)["steering" if angle else "drive"]
    terms = tuple(actuation.terms())
    channel = MeasuredChannel(quantity, quantity, quantity, response)
    still = Series(given.time, np.zeros(len(given.time)))
    commanded = {"v_x": still, "steering": still} | {quantity: given}
    begin = coordinates(terms, {term.name: term.neutral for term in terms})
    setup = Setup(
        VehicleFamily(BICYCLE, parameters, terms),
        {"steering" if angle else "drive": actuation},
        (Signals(commanded, {quantity: response}, steers=True),),
        ((channel,),),
        begin,
        {},
        STEP_RATE,
        given=True,
    )
    by_name = estimates(fit_all(setup))
    numbers = {number: by_name.get(name) for number, name in actuation.named().items()}
    if angle:
        numbers["fall"] = numbers["rise"]
    return numbers
