"""The fit of one actuator by itself: the drive of a vehicle that goes straight ahead, or a steering that stands."""

from __future__ import annotations

import math

import numpy as np

from vds_gz.parameters.vehicles import BicycleParameters
from vds_gz.study.identify.estimates import Estimate
from vds_gz.study.identify.fitting.fitting import fit_all
from vds_gz.study.identify.fitting.outcome import estimates
from vds_gz.study.identify.forward.part import VehicleFamily
from vds_gz.study.identify.forward.pieces import pieces_of
from vds_gz.study.identify.forward.setup import STEP_RATE, Setup
from vds_gz.study.identify.forward.unknowns import actuations, coordinates
from vds_gz.study.identify.signals import MeasuredChannel, Series, Signals
from vds_gz.vehicle.bicycle import BICYCLE


def fit_actuator(given: Series, response: Series, *, angle: bool) -> dict[str, Estimate | None]:
    """The numbers of an actuator, by those of an axis.

    It is that of a vehicle of which nothing else moves: its drive goes straight ahead, or its steering stands.
    """
    quantity = "steering" if angle else "v_x"
    turns_round = angle and float(np.max(np.abs(response.value))) > math.pi / 2.0
    parameters = BicycleParameters(drive_on_steered_wheel=turns_round)
    actuation = actuations(parameters)["steering" if angle else "drive"]
    unknowns = tuple(actuation.unknowns())
    channel = MeasuredChannel(quantity, quantity, quantity, response)
    still = Series(given.time, np.zeros(len(given.time)))
    commanded = {"v_x": still, "steering": still} | {quantity: given}
    begin = coordinates(unknowns, {one.name: math.inf if "max" in one.name else 0.1 for one in unknowns})
    setup = Setup(
        VehicleFamily(BICYCLE, parameters, unknowns),
        {"steering" if angle else "drive": actuation},
        (Signals(commanded, {quantity: response}, steers=True),),
        ((channel,),),
        begin,
        {},
        STEP_RATE,
        given=True,
    )
    fit = fit_all(setup, pieces_of(setup.recordings, setup.channels, 1.0 / STEP_RATE), profile=False)
    by_name = estimates(fit)
    numbers = {number: by_name.get(name) for number, name in actuation.named().items()}
    if angle:
        numbers["fall"] = numbers["rise"]
    return numbers
