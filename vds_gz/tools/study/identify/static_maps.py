"""Static maps of actuators: points from which the response is interpolated, in place of a gain and a dead band.

A map must predict left-out blocks clearly better than these.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.parameters.actuator_parameters import MAP_POINTS
from vds_gz.core.parameters.yaml_reader import Interval
from vds_gz.tools.study.identify.build import coarse_segments, problem_of
from vds_gz.tools.study.identify.cross_validation import better, blocks_of, left_out
from vds_gz.tools.study.identify.observed_limits import Reaches
from vds_gz.tools.study.identify.problem.observed import steers
from vds_gz.tools.study.identify.problem.problem_setup import FIELDS, Setup
from vds_gz.tools.study.identify.residual_noise import noise_of
from vds_gz.tools.study.identify.selection import without_needless
from vds_gz.tools.study.identify.supported_terms import Fitted, asked
from vds_gz.tools.study.identify.term_kind import LEAST_LIMIT
from vds_gz.tools.study.identify.terms import MAP
from vds_gz.tools.study.identify.trial_values import UNLIMITED_AT
from vds_gz.tools.study.identify.vehicle_fit import solve

#: Least number of points of a map, and the part of the time in which commands lie beyond either of its ends.
LEVELS, RARE = 5, 0.02

#: Points of a map between which the response falls are merged while at least this many are left.
FEWEST_LEVELS = 3

#: A command's weight is its duration, but at most this [s].
LONGEST = 1.0

#: A map must improve the prediction by this part of the residual squares.
MAP_WORTHWHILE = 0.1

#: Simulations in the fit of a map.
SIMULATIONS = 15


def with_static_maps(setup: Setup, reach: Reaches, fitted: Fitted) -> tuple[Setup, Fitted]:
    """The setup and its fit, with a static map for each actuator if that predicts clearly better."""
    several = sum(actuation.steers for actuation in setup.actuators.values()) > 1
    turns = any(np.any(signals.commands.records["yaw_rate"]) for signals in setup.recordings)
    sums = turns and not steers(setup.family.model, setup.family.parameters)
    for name, actuation in setup.actuators.items():
        if fitted.fine or not (actuation.group and actuation["gain"] and actuation["dead_band"]):
            continue
        if several if actuation.steers else sums:
            continue  # its references are no commands
        command = "steering" if actuation.steers else "v_x"
        static = [setup.family.index(actuation[stage]) for stage in ("gain", "dead_band")]
        references = map_references(setup, command)
        if len(references) < LEVELS or not fitted.solution.free[static].any():
            continue
        gain, band = fitted.solution.point[static]
        rising = _rising_map(setup, name, command, references, gain, band, reach, fitted)
        if rising is None:
            continue
        mapped, trial = rising
        noise, blocks = noise_of(fitted.problem, fitted.solution.residuals), blocks_of(fitted.problem)
        before, after = (left_out(fit.problem, fit.solution, blocks, noise) for fit in (fitted, trial))
        if better(before, after, worthwhile=MAP_WORTHWHILE) > 0.0:
            maps = [term.kind is MAP for term in mapped.family.terms]
            solution = without_needless(trial.problem, trial.solution, blocks, asked(mapped))
            fitted = Fitted(trial.problem, solution)
            setup = replace(mapped, begin=np.where(maps, solution.point, mapped.begin))
    return setup, fitted


def _rising_map(
    setup: Setup, name: str, command: str, references: Array, gain: float, band: float, reach: Reaches, fitted: Fitted
) -> tuple[Setup, Fitted] | None:
    """The fit with a map that does not fall, in which points between which it would fall are merged.

    None if too few points are left.
    """
    while len(references) >= FEWEST_LEVELS:
        mapped = with_map_terms(setup, name, command, references, np.where(references > band, gain * references, 0.0))
        trial = _with_map(mapped, setup.actuators[name]["value"], reach, fitted)
        steps = np.diff(trial.solution.point[-len(references) + 1 :], prepend=0.0)  # the points are the last terms
        deepest = int(np.argmin(steps))
        if steps[deepest] >= 0.0:
            return mapped, trial
        between = 0.5 * (references[deepest] + references[deepest + 1]) if deepest else 0.0
        references = np.unique(np.r_[references[:deepest], between, references[deepest + 2 :]])
    return None


def _with_map(mapped: Setup, limit: str, reach: Reaches, fitted: Fitted) -> Fitted:
    """The fit of a setup with a map, from the fit without one; the map saturates, so there is no limit."""
    terms = mapped.family.terms
    before = {term.name: k for k, term in enumerate(fitted.problem.terms)}
    point, free = mapped.begin.copy(), np.ones(len(terms), bool)
    for k, term in enumerate(terms):
        if term.name == limit:
            point[k], free[k] = UNLIMITED_AT, False
        elif term.name in before:
            point[k], free[k] = (values[before[term.name]] for values in (fitted.solution.point, fitted.solution.free))
    problem = problem_of(mapped, coarse_segments(mapped), reach)
    noise, starts = noise_of(fitted.problem, fitted.solution.residuals), fitted.solution.starts
    solution = solve(problem, point, free, noise, starts=starts, evaluations=SIMULATIONS)
    return Fitted(problem, replace(solution, noise=noise_of(problem, solution.residuals)))


def map_references(setup: Setup, command: str) -> Array:
    """The points of a map: 0, and quantiles of the commands, by time."""
    values, seconds = [], []
    for signals in setup.recordings:
        records, time = signals.commands.records, signals.commands.time
        values.append(np.abs(records[FIELDS[command]]))
        seconds.append(np.minimum(np.diff(time, append=time[-1]), LONGEST))
    value, weight = np.concatenate(values), np.concatenate(seconds)
    order = np.argsort(value[value > 0.0], kind="stable")
    value, weight = value[value > 0.0][order], weight[value > 0.0][order]
    if not np.sum(weight) > 0.0:
        return np.zeros(1)
    share = (np.cumsum(weight) - 0.5 * weight) / np.sum(weight)
    for count in (MAP_POINTS - 1, MAP_POINTS - 2):
        levels = value[np.searchsorted(share, np.linspace(RARE, 1.0 - RARE, count)).clip(0, len(value) - 1)]
        references = np.unique(np.append(0.0, np.round(levels, 4)))
        if len(references) < MAP_POINTS:  # room for the point that continues the map
            break
    return references


def with_map_terms(
    setup: Setup,
    name: str,
    command: str,
    references: Array,
    responses: Array,
    removed: Sequence[str] = ("gain", "dead_band", "offset"),
) -> Setup:
    """The setup with the points of a map as terms, in place of some parameters of an actuator."""
    actuation = setup.actuators[name]
    replaced = [actuation[stage] for stage in removed]
    group, _, _ = actuation["gain"].partition(".")
    actuator = getattr(setup.family.parameters, group)
    points = {"map_references": tuple(references.tolist()), "map_responses": tuple(responses.tolist())}
    changed: dict[str, object] = {group: dataclasses.replace(actuator, gain=1.0, dead_band=0.0, offset=0.0, **points)}
    parameters = dataclasses.replace(setup.family.parameters, **changed)
    top = max(float(np.max(np.abs(responses))), LEAST_LIMIT)
    kept = [(term, x) for term, x in zip(setup.family.terms, setup.begin, strict=True) if term.name not in replaced]
    names = [f"{group}.map_responses[{k}]" for k in range(len(references))]
    kept += [
        (MAP.term(names[k], scale=0.1 * top, neutral=float(references[k]), target=command), responses[k])
        for k in range(1, len(references))
    ]
    return replace(
        setup,
        family=replace(setup.family, parameters=parameters, terms=tuple(term for term, _ in kept)),
        priors={**setup.priors, **map_priors(names, responses)},
        actuators={**setup.actuators, name: actuation.without(replaced)},
        begin=np.array([x for _, x in kept]),
    )


def map_priors(names: Sequence[str], responses: Array) -> dict[str, Interval]:
    """Weak priors of the points of a map by name, for points without commands in a part of the data."""
    top = max(float(np.max(np.abs(responses))), LEAST_LIMIT)
    return {
        name: Interval(float(response), float(response) - top, float(response) + top)
        for name, response in zip(names, responses, strict=True)
    }
