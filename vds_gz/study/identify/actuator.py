"""The fit of a single actuator: the drive of a vehicle that goes straight ahead, or the steering of one that stands.

States of an actuator have no noise and no gain, so terms are not selected by prediction. A fit starts at the best point
of a grid of dead times and lags, without limits and with combinations of them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np

from vds_gz.parameters.vehicles import BicycleParameters
from vds_gz.study.identify.build import coarse_segments, problem_of
from vds_gz.study.identify.candidates import DEAD_TIMES, LAGS
from vds_gz.study.identify.estimates import Estimate
from vds_gz.study.identify.estimation import Fit, refined
from vds_gz.study.identify.fit import Solution, solve
from vds_gz.study.identify.intervals import intervals_of
from vds_gz.study.identify.noise import first_noise
from vds_gz.study.identify.observed_limits import reach_of
from vds_gz.study.identify.outcome import estimates
from vds_gz.study.identify.problem.parameters import Actuation, Kind, actuations, coordinates
from vds_gz.study.identify.problem.setup import STEP_RATE, Setup
from vds_gz.study.identify.problem.simulation import VehicleFamily
from vds_gz.study.identify.supported_terms import Fitted
from vds_gz.study.identify.trials import costs_of
from vds_gz.study.recording import MeasuredChannel, Recording, Series
from vds_gz.vehicle.bicycle import BICYCLE

#: Limits count as met if they lower the cost by the part CLEARLY_MET and by more than COARSE, which errors of coarse
#: steps may cause, or by the part DECISIVELY_MET, which such errors cannot cause.
CLEARLY_MET, COARSE, DECISIVELY_MET = 0.05, 0.3, 0.4

#: Longer dead times [s] that are tried too, because no response of another actuator can be mistaken for this one's.
LONG_DEAD_TIMES = 2.0, 2.5, 3.0, 3.5, 4.0, 5.0


def fit_actuator(given: Series, response: Series, *, angle: bool) -> dict[str, Estimate | None]:
    """The parameters of an actuator by their names on an axis, from its references and its response.

    Nothing else of the vehicle moves: a drive goes straight ahead, and a vehicle whose steering is fitted stands.
    """
    quantity = "steering" if angle else "v_x"
    turns_round = angle and float(np.max(np.abs(response.value))) > math.pi / 2.0
    parameters = BicycleParameters(drive_on_steered_wheel=turns_round)
    actuation = actuations(parameters)["steering" if angle else "drive"]
    longest = LONG_DEAD_TIMES[-1]
    terms = tuple(replace(term, highest=longest) if term.kind is Kind.DEAD_TIME else term for term in actuation.terms())
    channel = MeasuredChannel(quantity, quantity, quantity, response)
    still = Series(given.time, np.zeros(len(given.time)))
    commanded = {"v_x": still, "steering": still} | {quantity: given}
    begin = coordinates(terms, {term.name: term.neutral for term in terms})
    setup = Setup(
        VehicleFamily(BICYCLE, parameters, terms),
        {"steering" if angle else "drive": actuation},
        (Recording(commanded, {quantity: response}, steers=True),),
        ((channel,),),
        begin,
        {},
        STEP_RATE,
        given=True,
    )
    by_name = estimates(_fit(setup, actuation))
    numbers = {number: by_name.get(name) for number, name in actuation.named().items()}
    if angle:
        numbers["fall"] = numbers["rise"]
    return numbers


def _fit(setup: Setup, actuation: Actuation) -> Fit:
    """Fit dead time and lag, with the combination of limits that was met."""
    reach = reach_of(setup)
    problem = problem_of(setup, coarse_segments(setup), reach)
    index = {term.name: k for k, term in enumerate(setup.family.terms)}
    dead, lag = index[actuation.dead_time], index[actuation.time_constant]
    rates = [name for name in (actuation.rise, actuation.fall) if name]
    times = [{dead: delay, lag: constant} for delay, constant in product((*DEAD_TIMES, *LONG_DEAD_TIMES), (0.0, *LAGS))]
    noise = first_noise(problem)
    starts = [experiment.start for experiment in problem.experiments]
    best: Solution | None = None
    for limits in ([], rates, [actuation.value], [*rates, actuation.value]):
        met = {index[name]: math.log(max(reach[name].tried, 1e-3)) for name in limits}
        points = np.tile(setup.begin, (len(times), 1))
        for point, changes in zip(points, times, strict=True):
            point[[*changes, *met]] = [*changes.values(), *met.values()]
        points = np.clip(points, problem.lower, problem.upper)
        point = points[np.argmin(costs_of(problem, points, starts, noise))]
        free = np.isin(np.arange(len(point)), [dead, lag, *met])
        fit = solve(problem, point, free, noise)
        gain = 0.0 if best is None else best.cost - fit.cost
        if best is None or gain > DECISIVELY_MET * best.cost or gain > max(CLEARLY_MET * best.cost, COARSE):
            best = fit
    assert best is not None
    setup, fitted = refined(setup, reach, Fitted(problem, best))
    return Fit(setup, fitted.problem, fitted.solution, intervals_of(fitted.problem, fitted.solution), reach)
