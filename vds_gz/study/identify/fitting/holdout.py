"""How well a model predicts: of the last part of each recording, by a fit that has not seen it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.fitting.search import within
from vds_gz.study.identify.forward.part import VehiclePart
from vds_gz.study.identify.forward.pieces import Piece
from vds_gz.study.identify.forward.problems import problem_of
from vds_gz.study.identify.forward.setup import Setup
from vds_gz.study.identify.results import OUTLIER_WEIGHT, title_of
from vds_gz.study.identify.signals import POSES
from vds_gz.study.identify.solver.explanation import explain
from vds_gz.study.identify.solver.gauss_newton import solve
from vds_gz.study.identify.solver.protocol import Mask, Part, Problem, Solution


def held_out_scores(
    setup: Setup, pieces: Sequence[Piece], problem: Problem, solution: Solution, free: Mask, part: float
) -> dict[str, float]:
    """Root mean square of what is left of each channel in what the fit has not seen, in units of the channel's noise.

    Where errors in time make the noise larger, so are its units. Outliers of the fit of all data do not count, nor does
    a channel of which the fit has seen nothing.

    Args:
        setup: What is looked for.
        pieces: All data, of which the last part of each recording is not used.
        problem: All data.
        solution: The fit of all data, from which the other one begins.
        free: Unknowns that were free in it, (p,).
        part: Of each recording, 0 to 1.
    """
    ends = {k: max(one.origin + one.duration for one in pieces if one.recording == k) for k in _recordings(pieces)}
    begins = {k: min(one.origin for one in pieces if one.recording == k) for k in ends}
    cuts = {k: ends[k] - part * (ends[k] - begins[k]) for k in ends}
    seen = {
        k: before
        for k, one in enumerate(pieces)
        if one.origin + 1.0 < cuts[one.recording]
        and (before := within(one, 0.0, cuts[one.recording] - one.origin)).channels
    }
    if not seen:
        return {}
    known = {index for one in seen.values() for index, _ in one.channels}
    begun = problem_of(setup, list(seen.values()), problem.correlation)
    if problem.sizes:
        sizes = [_sizes_of(part, problem.parts[k], problem.sizes[k]) for k, part in zip(seen, begun.parts, strict=True)]
        begun = replace(begun, sizes=sizes)
    trained = solve(begun, solution.points, free=free[np.newaxis], warm=True)
    squares: dict[int, list[float]] = {}
    own_of = dict(zip(seen, trained.own, strict=True))
    for k, (piece, whole, one) in enumerate(zip(pieces, problem.parts, explain(problem, solution, 0), strict=True)):
        assert isinstance(whole, VehiclePart)
        own = whole.own_begin[np.newaxis].copy()
        if k in own_of:
            own[:, : whole.starts] = own_of[k][:, : whole.starts]
        left = problem.in_sizes(k, whole.evaluate(trained.points, own, None).predicted - whole.measured)[0]
        unseen = (whole.time > cuts[piece.recording]) & (one.weights >= OUTLIER_WEIGHT)
        for channel in known.intersection(whole.channel.tolist()):
            scale = trained.noise.scale[0, channel]
            squares.setdefault(channel, []).extend((left[unseen & (whole.channel == channel)] / scale) ** 2)
    several = any(one.recording for one in pieces)
    channels = [(recording, one) for recording, every in enumerate(setup.channels) for one in every]
    return {
        title_of(one.name, recording, several=several): float(np.sqrt(np.mean(squares[k])))
        for k, (recording, one) in enumerate(channels)
        if squares.get(k) and one.quantity not in POSES
    }


def _sizes_of(part: Part, whole: Part, sizes: Array) -> Array:
    """Sizes of the noise of a part's samples, (M,), which are some of those of a whole one."""
    assert isinstance(part, VehiclePart)
    assert isinstance(whole, VehiclePart)
    found = np.empty(len(part.time))
    for channel in np.unique(part.channel):
        here, there = part.channel == channel, whole.channel == channel
        found[here] = np.interp(part.time[here], whole.time[there], sizes[there])
    return found


def _recordings(pieces: Sequence[Piece]) -> list[int]:
    return sorted({one.recording for one in pieces})
