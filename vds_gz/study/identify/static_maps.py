"""A static map in place of gain, offset and dead band, such as throttle to speed, where it predicts clearly better."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from vds_gz.parameters.actuators import MAP_POINTS
from vds_gz.parameters.yaml_reader import Interval
from vds_gz.study.identify.build import coarse_segments, problem_of
from vds_gz.study.identify.candidates import UNLIMITED_AT
from vds_gz.study.identify.cross_validation import better, blocks_of, left_out
from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.fit import solve
from vds_gz.study.identify.noise import noise_of
from vds_gz.study.identify.problem.parameters import LEAST_LIMIT, Kind, Term
from vds_gz.study.identify.problem.setup import FIELDS, Setup
from vds_gz.study.identify.reach import Reach
from vds_gz.study.identify.selection import without_needless
from vds_gz.study.identify.support import Fitted, asked

#: A map needs so many points. It ends where this part of the time commands were lower or higher.
LEVELS, RARE = 5, 0.02

#: A command counts no longer than this [s].
LONGEST = 1.0

#: It must predict better by this part of what is left.
WORTHWHILE = 0.1

#: Simulations of its fit.
EVALUATIONS = 15


def with_static_maps(setup: Setup, reach: Mapping[str, Reach], fitted: Fitted) -> tuple[Setup, Fitted]:
    """The setup and its fit, with a map for each actuator whose responses a map predicts clearly better."""
    for name, command in (("drive", "v_x"), ("steering", "steering")):
        actuation = setup.actuators.get(name)
        if fitted.fine or actuation is None or not actuation.gain or not actuation.dead_band:
            continue
        if name == "drive" and "steering" not in setup.actuators and _turns(setup):
            continue  # references of wheels are not the command
        index = {term.name: k for k, term in enumerate(setup.family.terms)}
        static = [index[actuation.gain], index[actuation.dead_band]]
        references = _references(setup, command)
        if len(references) < LEVELS or not fitted.solution.free[static].any():
            continue
        gain, band = fitted.solution.point[static]
        responses = np.where(references > band, gain * references, 0.0)
        mapped, trial = _fitted(_mapped(setup, name, references, responses), actuation.value, reach, fitted)
        noise, blocks = noise_of(fitted.problem, fitted.solution.residuals), blocks_of(fitted.problem)
        before, after = (left_out(fit.problem, fit.solution, blocks, noise) for fit in (fitted, trial))
        if better(before, after, worthwhile=WORTHWHILE) > 0.0:
            maps = [term.kind is Kind.MAP for term in mapped.family.terms]
            # Limits may have entered in the place of the map.
            limits = [k for k, term in enumerate(mapped.family.terms) if term.kind is Kind.LIMIT]
            solution = without_needless(trial.problem, trial.solution, blocks, asked(mapped), limits)
            trial = Fitted(trial.problem, solution)
            setup = replace(mapped, begin=np.where(maps, trial.solution.point, mapped.begin))
            fitted = trial
    return setup, fitted


def _turns(setup: Setup) -> bool:
    return any(np.any(signals.commands.records["yaw_rate"]) for signals in setup.recordings)


def _fitted(mapped: Setup, limit: str, reach: Mapping[str, Reach], fitted: Fitted) -> tuple[Setup, Fitted]:
    """The fit of a setup with a map, from the fit without one on; the map saturates by itself, so no limit does."""
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
    solution = solve(problem, point, free, noise, starts=starts, evaluations=EVALUATIONS)
    return mapped, Fitted(problem, replace(solution, noise=noise_of(problem, solution.residuals)))


def _references(setup: Setup, command: str) -> Array:
    """The points of a map: 0, and quantiles of what was commanded, by time."""
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
    levels = value[np.searchsorted(share, np.linspace(RARE, 1.0 - RARE, MAP_POINTS - 1)).clip(0, len(value) - 1)]
    return np.concatenate([[0.0], np.unique(np.round(levels, 4))])


def _mapped(setup: Setup, name: str, references: Array, responses: Array) -> Setup:
    """The setup with the points of a map as terms, in place of an actuator's gain, offset and dead band."""
    actuation = setup.actuators[name]
    group, _, _ = actuation.gain.partition(".")
    actuator = getattr(setup.family.parameters, group)
    points = {"map_references": tuple(references.tolist()), "map_responses": tuple(responses.tolist())}
    actuator = dataclasses.replace(actuator, gain=1.0, dead_band=0.0, offset=0.0, **points)
    changed: dict[str, object] = {group: actuator}
    parameters = dataclasses.replace(setup.family.parameters, **changed)
    top = max(float(np.max(np.abs(responses))), LEAST_LIMIT)
    kept = [
        (term, x)
        for term, x in zip(setup.family.terms, setup.begin, strict=True)
        if term.name not in (actuation.gain, actuation.dead_band, actuation.offset)
    ]
    kept += [
        (Term(f"{group}.map_responses[{k}]", Kind.MAP, scale=0.1 * top, neutral=float(references[k])), responses[k])
        for k in range(1, len(references))
    ]
    # Nothing else keeps points at which a part of the data has no command.
    known = {
        f"{group}.map_responses[{k}]": Interval(float(response), float(response) - top, float(response) + top)
        for k, response in enumerate(responses)
    }
    return replace(
        setup,
        family=replace(setup.family, parameters=parameters, terms=tuple(term for term, _ in kept)),
        priors={**setup.priors, **known},
        actuators={**setup.actuators, name: replace(actuation, gain="", dead_band="", offset="")},
        begin=np.array([x for _, x in kept]),
    )
