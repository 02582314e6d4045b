"""Candidates for a fit: terms one by one as their kinds say, and whole actuators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

from vds_gz.core.arrays import Array
from vds_gz.core.parameters.actuator_parameters import ActuatorStages
from vds_gz.tools.study.identify.cross_validation import FEWEST_BLOCKS
from vds_gz.tools.study.identify.observed_limits import Reaches
from vds_gz.tools.study.identify.problem.problem_setup import Setup
from vds_gz.tools.study.identify.term_kind import Effect, Required
from vds_gz.tools.study.identify.terms import STAGES
from vds_gz.tools.study.identify.trial_values import Changes, Starts, TrialContext, delays
from vds_gz.tools.study.identify.trials import Candidate

#: Stages that act in steady state, and those of a linear response.
STATIC, LINEAR = ("gain", "offset"), ("dead_time", "time_constant", "gain")


def candidates_of(setup: Setup, reach: Reaches) -> list[Candidate]:
    """All candidates; ``reach`` has the observed maxima by the names of limits."""
    candidates: list[Candidate] = []
    steerings = [name for name in setup.excited if setup.actuators[name].steers]
    for name in setup.excited:
        of_actuator = list(_of_actuator(setup, reach, name))
        if len(steerings) > 1 and name in steerings:
            if name == steerings[0]:
                candidates += _side_by_side(setup, steerings, of_actuator)
            of_actuator = [candidate for candidate in of_actuator if not candidate.whole]
        candidates += of_actuator
    many = len(setup.recordings) >= FEWEST_BLOCKS  # recordings are the blocks then; no other shows a sensor's offset
    for k, term in enumerate(setup.family.terms):
        if term.kind is not STAGES.get(term.kind.name) and not (term.kind.effect is Effect.OFFSET and many):
            of_kind = (
                actuator
                for actuator in setup.actuators.values()
                if (actuator.steers if term.kind.of_steering else actuator.drives)
            )
            candidates += _of_term(setup, reach, k, _indices(setup, next(of_kind, ActuatorStages())))
    return candidates


def _of_actuator(setup: Setup, reach: Reaches, name: str) -> Iterator[Candidate]:
    """The ways in which terms of an actuator may enter."""
    stages = _indices(setup, setup.actuators[name])
    for stage in stages:
        yield from _of_term(setup, reach, stages[stage], stages)
    yield from _as_a_whole(setup, reach, name, stages)
    yield from _limited_before(setup, reach, name, stages)
    if all(stage in stages for stage in LINEAR):
        # A steering is seldom mounted without a bias; a drive seldom creeps.
        for biased in (False, True) if setup.actuators[name].steers and "offset" in stages else (False,):
            terms = [stages[stage] for stage in (*LINEAR, *(["offset"] if biased else []))]
            words = f"linear response of {name}{' with its offset' if biased else ''}"
            starts = partial(delays, _context(setup, reach, terms[0], stages))
            yield Candidate(words, tuple(terms), starts, _required(setup, terms))


def _side_by_side(setup: Setup, steerings: Sequence[str], candidates: Sequence[Candidate]) -> Iterator[Candidate]:
    """The candidates of the first of several steerings, with the same terms and trial values of the others.

    One slow steering beside quick ones moves the vehicle laterally, so no term of a single one explains the motion.
    """
    first, *others = (_indices(setup, setup.actuators[name]) for name in steerings)
    twins = {first[stage]: [other[stage] for other in others if stage in other] for stage in first}

    def starts(of_first: Starts, point: Array) -> Iterator[Changes]:
        for changes in of_first(point):
            yield {**changes, **{twin: value for k, value in changes.items() for twin in twins.get(k, ())}}

    for candidate in candidates:
        terms = (*candidate.terms, *(twin for k in candidate.terms for twin in twins[k]))
        name = f"{candidate.name}, all steerings"
        yield replace(candidate, name=name, terms=terms, starts=partial(starts, candidate.starts))


def _indices(setup: Setup, actuator: ActuatorStages) -> dict[str, int]:
    """Indices of an actuator's terms by stage."""
    index = {term.name: k for k, term in enumerate(setup.family.terms)}
    return {stage: index[name] for stage, name in actuator.names.items() if name in index}


def _context(setup: Setup, reach: Reaches, k: int, stages: Mapping[str, int]) -> TrialContext:
    terms = setup.family.terms
    gains = [j for j, term in enumerate(terms) if term.kind.is_gain]
    tried = reach[terms[k].name].tried if terms[k].name in reach else 0.0
    wheel_base = getattr(setup.family.parameters, "wheel_base", 0.0)
    return TrialContext(k, terms[k].scale, terms[k].highest, tried, stages, gains, wheel_base)


def _required(setup: Setup, terms: Sequence[int]) -> Required:
    """What the most demanding of some terms requires."""
    errors, parts = zip(*(setup.family.terms[k].kind.to_enter for k in terms), strict=True)
    return max(errors), max(parts)


def _of_term(setup: Setup, reach: Reaches, k: int, stages: Mapping[str, int]) -> Iterator[Candidate]:
    """The ways in which a term may enter."""
    term, context = setup.family.terms[k], _context(setup, reach, k, stages)
    for way in term.kind.trials:
        if all(stage in stages for stage in (*way.together, *way.beside)):
            terms = (k, *(stages[stage] for stage in way.together))
            starts = partial(way.values, context)
            yield Candidate(way.name.format(term.name), terms, starts, _required(setup, terms))


def _as_a_whole(setup: Setup, reach: Reaches, name: str, stages: Mapping[str, int]) -> Iterator[Candidate]:
    """A whole actuator, the drive with the limit of its hub motors; also with its steady state."""
    wheels = [actuator for actuator in setup.actuators.values() if actuator.each_wheel]
    hubs = _indices(setup, wheels[0]) if wheels and setup.actuators[name].drives else {}
    axes = _axes(setup, reach, [*stages.values(), *hubs.values()])
    common = {k: stages[STAGES[stage].fallback] for stage, k in stages.items() if STAGES[stage].fallback in stages}
    static = {stages[stage]: STAGES[stage].neutral for stage in STATIC if stage in stages}
    parts = [axis[0][0] for axis in axes] + list(common)
    if len(parts) > 2:
        starts, required = partial(_whole, axes, common, static), _required(setup, parts)
        yield Candidate(f"{name} as a whole", tuple(parts), starts, required, whole=True)
        if static:
            yield Candidate(f"{name} as a whole with its gain", (*parts, *static), starts, required, whole=True)


def _axes(setup: Setup, reach: Reaches, terms: Iterable[int]) -> list[list[tuple[int, float]]]:
    """The trial values of those terms that are tried in a whole actuator, a list for each."""
    kinds = ((k, setup.family.terms[k].kind) for k in terms)
    return [
        [(k, value) for value in kind.whole(_context(setup, reach, k, {}).tried)]
        for k, kind in kinds
        if kind.whole is not None
    ]


def _limited_before(setup: Setup, reach: Reaches, name: str, stages: Mapping[str, int]) -> Iterator[Candidate]:
    """The dead time, lag and gain of a drive behind limits of at least two velocities.

    Without these limits, the drive's own limits would take their part.
    """
    velocities = [setup.actuators[other] for other in setup.excited if setup.actuators[other].limited_velocity]
    rises = [index["rise"] for actuator in velocities if "rise" in (index := _indices(setup, actuator))]
    if setup.actuators[name].drives and len(rises) > 1 and all(stage in stages for stage in LINEAR):
        parts = [*(stages[stage] for stage in LINEAR[:2]), *rises]
        gain = stages[LINEAR[2]]
        starts = partial(_whole, _axes(setup, reach, parts), {}, {gain: STAGES[LINEAR[2]].neutral})
        words = f"{name} with limits of velocities before it"
        yield Candidate(words, (*parts, gain), starts, _required(setup, parts), whole=True)


def _whole(
    axes: Sequence[Sequence[tuple[int, float]]], common: Mapping[int, int], static: Changes, point: Array
) -> Iterator[Changes]:
    """All terms of an actuator's response, from distant starts, because limits hide the lag and the dead time.

    Limits that another one may replace have its value. Each start is also tried with a neutral steady state.
    """
    for chosen in product(*axes):
        changes = dict(chosen)
        changes |= {k: changes[other] for k, other in common.items()}
        yield changes
        if any(point[k] != value for k, value in static.items()):
            yield changes | dict(static)
