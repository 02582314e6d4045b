"""Which of the varied numbers a measure depends on: Sobol indices from runs however they were drawn.

A polynomial in the ranks of the numbers is fitted to a measure; its terms are orthogonal, so that the squares of their
coefficients are shares of the variance. First-order index: of the terms with that number alone; total index: of all
terms with it. No special sampling plan and no further run is needed; how much of the variance the polynomial predicts
of runs that it was not fitted to says how far to trust it.

Source: B. Sudret, Global sensitivity analysis using polynomial chaos expansions, Reliability Engineering & System
Safety 93 (2008) 964-979.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import legval
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Degrees = NDArray[np.intp]

#: Highest degree of the polynomial.
DEGREE = 10

#: Runs that a term takes at least.
RUNS_A_TERM = 4

#: Terms of the polynomial at most, so that fitting it takes no longer than a second or so.
TERMS = 300

#: It is fitted to so many runs at most, so that memory does not grow with more.
MOST_RUNS = 10_000

#: What the polynomial must predict of the variance for its indices to be trusted.
TRUSTED = 0.8


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """What a measure depends on.

    Attributes:
        first: Of each number, the part of the variance that it causes alone.
        total: The same together with the other numbers.
        predicted: The part of the variance that the polynomial predicts of runs that it was not fitted to.
    """

    first: dict[str, float]
    total: dict[str, float]
    predicted: float

    @property
    def trusted(self) -> bool:
        """The polynomial predicts enough for the indices to be trusted."""
        return self.predicted >= TRUSTED

    def ranked(self) -> list[str]:
        """The numbers by their total indices, the greatest first."""
        return sorted(self.total, key=lambda name: -self.total[name])


def sensitivity(parameters: Mapping[str, Reals], values: Reals) -> Sensitivity | None:
    """Sobol indices of a measure, or None where it is the same in all runs, or runs are too few.

    Args:
        parameters: The numbers that were varied, each by its name with one value a run.
        values: The measure of these runs, NaN where a run has none.
    """
    known = np.flatnonzero(np.isfinite(values))
    if len(known) > MOST_RUNS:
        known = np.random.default_rng(0).permutation(known)[:MOST_RUNS]
    given = {name: column[known] for name, column in parameters.items()}
    varied = {name: column for name, column in given.items() if len(column) and np.ptp(column) > 0.0}
    values = values[known]
    if not varied or not np.ptp(values) > 0.0:
        return None
    ranks = [_ranks(column) for column in varied.values()]
    highest = [min(DEGREE, len(np.unique(column)) - 1) for column in varied.values()]
    terms = _terms(highest, min(TERMS, len(values) // RUNS_A_TERM))
    for drawn, points in _drawn_together(list(varied.values())):
        within = _terms([highest[k] for k in drawn], points // RUNS_A_TERM)
        degree = int(within.sum(axis=1).max()) if len(within) else 0
        terms = terms[terms[:, drawn].sum(axis=1) <= degree] if len(terms) else terms
    if not len(terms):
        return None
    terms, coefficients, predicted = _fit(ranks, values, terms)
    shares = coefficients**2 / np.sum(coefficients**2)
    first = np.where((terms > 0).sum(axis=1) == 1, shares, 0.0)
    none = dict.fromkeys(parameters, 0.0)
    return Sensitivity(none | _shares(varied, terms, first), none | _shares(varied, terms, shares), predicted)


def _drawn_together(columns: Sequence[Reals]) -> Iterator[tuple[list[int], int]]:
    """Numbers that always change together, and how many different points they come to.

    Such are samples that are taken at each point of a grid. However large the grid is, they fix no more terms of their
    own numbers than there are samples.
    """
    bundles: dict[bytes, list[int]] = {}
    for k, column in enumerate(columns):
        _, first, where = np.unique(column, return_index=True, return_inverse=True)
        bundles.setdefault(first[where].tobytes(), []).append(k)
    for runs, bundle in bundles.items():
        if len(bundle) > 1:
            yield bundle, len(np.unique(np.frombuffer(runs, np.intp)))


def _shares(names: Iterable[str], terms: Degrees, shares: Reals) -> dict[str, float]:
    """By number, the shares of all terms with it."""
    return {name: float(shares[terms[:, k] > 0].sum()) for k, name in enumerate(names)}


def _ranks(column: Reals) -> Reals:
    """Where each value stands among all, from -1 to 1; equal values at the same place."""
    ordered = np.sort(column)
    below, up_to = (np.searchsorted(ordered, column, side=side) for side in ("left", "right"))
    return (below + up_to) / len(column) - 1.0


def _terms(highest: list[int], most: int) -> Degrees:
    """Of each term the degree of each number: all terms up to some total degree, the constant one left out.

    Args:
        highest: Degree of each number at most.
        most: So many terms at most.
    """
    terms: list[tuple[int, ...]] = []
    for total in range(1, min(DEGREE, sum(highest)) + 1):
        more = list(_of_total(highest, total))
        if len(terms) + len(more) > most:
            break
        terms += more
    return np.array(terms, dtype=np.intp)


def _of_total(highest: list[int], total: int) -> Iterator[tuple[int, ...]]:
    """All terms of a total degree."""
    if not highest:
        if total == 0:
            yield ()
        return
    for degree in range(min(highest[0], total) + 1):
        yield from ((degree, *rest) for rest in _of_total(highest[1:], total - degree))


def _fit(ranks: list[Reals], values: Reals, terms: Degrees) -> tuple[Degrees, Reals, float]:
    """Least squares of the total degree that predicts best: its terms, their coefficients, the variance predicted.

    Each run is predicted from all the others, which takes no further fit (leave-one-out by the hat matrix). The columns
    of q for the terms up to some degree are the first ones of those for more.
    """
    polynomials = [[_legendre(degree, one) for degree in range(int(terms.max()) + 1)] for one in ranks]
    products = [np.prod([polynomials[k][degree] for k, degree in enumerate(term)], axis=0) for term in terms]
    q, r = np.linalg.qr(np.column_stack([np.ones(len(values)), *products]))
    parts, totals = q.T @ values, terms.sum(axis=1)
    residuals, leverages = values - q[:, 0] * parts[0], q[:, 0] ** 2
    best, count, at = -np.inf, 0, 1
    for total in range(1, int(totals.max()) + 1):
        end = 1 + int(np.searchsorted(totals, total, side="right"))
        residuals = residuals - q[:, at:end] @ parts[at:end]
        leverages = leverages + np.sum(q[:, at:end] ** 2, axis=1)
        predicted = 1.0 - float(np.mean((residuals / np.maximum(1.0 - leverages, 1e-9)) ** 2) / np.var(values))
        if predicted > best:
            best, count = predicted, end
        at = end
    return terms[: count - 1], np.linalg.solve(r[:count, :count], parts[:count])[1:], best


def _legendre(degree: int, x: Reals) -> Reals:
    """A Legendre polynomial of variance 1 over evenly spread x from -1 to 1."""
    polynomial: Reals = np.sqrt(2.0 * degree + 1.0) * legval(x, [0.0] * degree + [1.0])
    return polynomial
