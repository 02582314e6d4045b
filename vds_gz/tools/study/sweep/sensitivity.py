"""Sensitivities of a measure to the varied parameters: Sobol indices from runs of any sampling plan.

A polynomial in the ranks of the parameters is fitted to a measure. Its terms are orthogonal, so the squares of their
coefficients are shares of the variance. First-order index: the share of the terms with only that parameter; total
index: of all terms with it. This needs no special sampling plan and no further runs. The part of the variance that the
polynomial predicts in runs to which it was not fitted shows whether the indices are reliable.

Source: B. Sudret, Global sensitivity analysis using polynomial chaos expansions, Reliability Engineering & System
Safety 93 (2008) 964-979.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import legval

from vds_gz.core.arrays import Array, Indices

#: Highest degree of the polynomial.
DEGREE = 10

#: Minimum number of runs for each term.
RUNS_A_TERM = 4

#: Maximum number of terms of the polynomial, so that fitting it takes about a second at most.
TERMS = 300

#: Maximum number of runs for the fit, to limit memory.
MOST_RUNS = 10_000

#: Minimum part of the variance that the polynomial must predict for reliable indices.
TRUSTED = 0.8


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Sensitivities of a measure."""

    first: dict[str, float]  # for each parameter, the part of the variance that it causes alone
    total: dict[str, float]  # the same together with the other parameters
    predicted: float  # the part of the variance that the polynomial predicts in runs to which it was not fitted

    @property
    def trusted(self) -> bool:
        """Whether the indices are reliable."""
        return self.predicted >= TRUSTED

    def ranked(self) -> list[str]:
        """The parameters by their total indices, the largest first."""
        return sorted(self.total, key=lambda name: -self.total[name])


def sensitivity(parameters: Mapping[str, Array], values: Array) -> Sensitivity | None:
    """Sobol indices of a measure; None if it is equal in all runs, or there are too few runs."""
    known = np.flatnonzero(np.isfinite(values))
    if len(known) > MOST_RUNS:
        known = np.random.default_rng(0).permutation(known)[:MOST_RUNS]
    columns = {name: column[known] for name, column in parameters.items()}
    varied = {name: column for name, column in columns.items() if len(column) and np.ptp(column) > 0.0}
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


def _drawn_together(columns: Sequence[Array]) -> Iterator[tuple[list[int], int]]:
    """Parameters that always change together, and the number of their different points.

    An example is a grid with sampled parameters: however large the grid, they determine no more terms than there are
    samples.
    """
    bundles: dict[bytes, list[int]] = {}
    for k, column in enumerate(columns):
        _, first, where = np.unique(column, return_index=True, return_inverse=True)
        bundles.setdefault(first[where].tobytes(), []).append(k)
    for runs, bundle in bundles.items():
        if len(bundle) > 1:
            yield bundle, len(np.unique(np.frombuffer(runs, np.intp)))


def _shares(names: Iterable[str], terms: Indices, shares: Array) -> dict[str, float]:
    """For each parameter, the shares of all terms with it."""
    return {name: float(shares[terms[:, k] > 0].sum()) for k, name in enumerate(names)}


def _ranks(column: Array) -> Array:
    """Rank of each value among all, from -1 to 1; equal values have equal ranks."""
    ordered = np.sort(column)
    below, up_to = (np.searchsorted(ordered, column, side=side) for side in ("left", "right"))
    return (below + up_to) / len(column) - 1.0


def _terms(highest: list[int], most: int) -> Indices:
    """For each term the degree of each parameter: all terms up to a total degree, without the constant."""
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


def _fit(ranks: list[Array], values: Array, terms: Indices) -> tuple[Indices, Array, float]:
    """Least squares with the total degree that predicts best: terms, coefficients, predicted part of the variance.

    The hat matrix predicts each run from all others without a further fit (leave-one-out). The columns of q for a
    degree are the first columns of those for higher degrees.
    """
    polynomials = [[_legendre(degree, column) for degree in range(int(terms.max()) + 1)] for column in ranks]
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


def _legendre(degree: int, x: Array) -> Array:
    """A Legendre polynomial of variance 1 over evenly spread x from -1 to 1."""
    polynomial: Array = np.sqrt(2.0 * degree + 1.0) * legval(x, [0.0] * degree + [1.0])
    return polynomial
