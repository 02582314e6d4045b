"""Least squares of a mechanical steering over its parameters and the begins of all pieces of a log."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from vds_gz.parameters.autoware import ActuationCmdMechanicalParameters
from vds_gz.study.identify.estimates import central_differences, correlation_factor, standard_deviations
from vds_gz.study.identify.mechanism_log import PIECE, MechanismLog, with_values
from vds_gz.study.identify.mechanism_search import OUTLIERS, first_values

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: The controller's integral is known from piece to piece to so many times what noise alone would bend it.
LOOSE = 3.0

#: A piece fits worse than most if it leaves so many times what the middle one does; less than this part of them may.
WORSE, MOST, ROUNDS = 1.3, 0.6, 4

#: For derivatives parameters are changed by this part, angles [rad], rates [rad/s] and integrals [rad s] by so much.
#: Dry friction and dead zone make steps, which less would not see or overrate.
STEP, ANGLE_STEP, RATE_STEP, INTEGRAL_STEP = 0.01, 1e-4, 1e-3, 1e-2

#: A parameter is expected within this factor, as a logarithm, of its first value: that holds what acts little.
EXPECTED = 1.5

#: The search ends when it has tried so many sets of parameters; one that begins at a similar fit, so many.
TRIALS, FEW_TRIALS = 12, 4


@dataclass(frozen=True, slots=True)
class SquaresFit:
    """The free parameters' logarithms, the offset, and the begin of every piece, in this order.

    Attributes:
        free: Names of the parameters.
        found: These numbers.
        residuals, jacobian: What they leave of the samples [rad], and its derivatives.
        modelled: What the sensor would have read at all samples [rad].
        good: Pieces that do not fit worse than the others; only their samples are among the residuals.
        least: The noise is not less [rad].
    """

    free: tuple[str, ...]
    found: Array
    residuals: Array
    jacobian: Array
    modelled: Array
    good: Mask
    least: float

    @property
    def squares(self) -> float:
        """Sum of the squares of what is left [rad^2]."""
        return float(self.residuals @ self.residuals)

    @property
    def deviation(self) -> float:
        """Standard deviation of what is left [rad]."""
        return math.sqrt(self.squares / max(len(self.residuals) - len(self.found) + 3 * int(np.sum(~self.good)), 1))

    @property
    def noisy(self) -> float:
        """The same as of independent residuals [rad]."""
        return max(self.deviation, self.least) * correlation_factor(self.residuals)

    def values(self) -> dict[str, float]:
        """The parameters."""
        return dict(zip(self.free, np.exp(self.found[: len(self.free)]).tolist(), strict=True))

    def offset(self) -> float:
        """What the sensor reads too much [rad]."""
        return float(self.found[len(self.free)])

    def deviations(self) -> Array:
        """Standard deviations of the logarithms, and of the offset [rad]; infinite where nothing depends on one."""
        return standard_deviations(self.jacobian, self.noisy)[: len(self.free) + 1]


def fit_squares(
    log: MechanismLog,
    vehicle: ActuationCmdMechanicalParameters,
    start: dict[str, float],
    before: SquaresFit | None = None,
) -> SquaresFit:
    """Least squares over the logarithms of some parameters, the offset and the begins of the pieces.

    Args:
        log: The log.
        vehicle: What is not looked for.
        start: Where to begin.
        before: A fit that was much like this one: pieces begin as there, and those that it left out stay so.
    """
    shooting = _Shooting(log, vehicle, tuple(start))
    good = np.ones(log.pieces, bool) if before is None else before.good
    rest = np.array([0.0, *log.starts.ravel()]) if before is None else before.found[len(before.free) :]
    x = np.concatenate((np.log(list(start.values())), rest))
    # Where a steering that stuck is taken for one that slipped, a piece fits badly and must not bend others.
    options: dict[str, object] = {"max_nfev": TRIALS if before is None else FEW_TRIALS, "xtol": 1e-6, "ftol": 1e-8}
    options |= {"loss": "cauchy", "f_scale": OUTLIERS * max(log.least * 5.0, 1e-5), "x_scale": shooting.scale}
    for _ in range(ROUNDS):
        x = least_squares(shooting.objective, x, shooting.derivatives, args=(good,), **options).x
        residuals = shooting.residuals(x)
        fitting = good & _fitting(log, residuals)
        if before is not None or (good == fitting).all():
            break
        good = fitting
    used = good[log.owner]
    jacobian = np.vstack((shooting.jacobian(x)[used], shooting.links))
    return SquaresFit(tuple(start), x, residuals[used], jacobian, residuals + log.angle.value, good, log.least)


class _Shooting:
    """What is left of a log as a function of the vector that :class:`SquaresFit` describes."""

    def __init__(self, log: MechanismLog, vehicle: ActuationCmdMechanicalParameters, free: tuple[str, ...]) -> None:
        self.log, self.vehicle, self.free, self.count = log, vehicle, free, len(free)
        self.scale = np.concatenate((np.full(self.count, 0.3), [0.01], np.tile([0.01, 0.1, 0.1], log.pieces)))
        self.links = self._links()
        expected = np.log(list(first_values(vehicle, free).values()))
        weights = np.eye(self.count, self.count + 1 + log.starts.size) * log.least / EXPECTED
        self.prior = np.vstack((weights, self.links))
        self.known = self.prior @ np.concatenate((expected, [0.0], log.starts.ravel()))

    def residuals(self, x: Array) -> Array:
        """Of all samples [rad]."""
        logarithms = np.clip(x[: self.count], -30.0, 30.0)
        vehicle = with_values(self.vehicle, dict(zip(self.free, np.exp(logarithms).tolist(), strict=True)))
        left = self.log.simulate(vehicle, float(x[self.count]), x[self.count + 1 :]) - self.log.angle.value
        return np.where(np.isfinite(left), left, 10.0)

    def objective(self, x: Array, good: Mask) -> Array:
        """What is left of the good pieces, and of what is known besides."""
        return np.concatenate((self.residuals(x) * good[self.log.owner], self.prior @ x - self.known))

    def derivatives(self, x: Array, good: Mask) -> Array:
        """Of the objective."""
        return np.vstack((self.jacobian(x) * good[self.log.owner, None], self.prior))

    def jacobian(self, x: Array) -> Array:
        """Derivatives of the residuals.

        Pieces know nothing of each other, so one difference serves the begins of all of them.
        """
        shared, pieces, owner = self.count + 1, self.log.pieces, self.log.owner
        directions = np.zeros((len(x), shared + 3))
        directions[:shared, :shared] = np.eye(shared)
        directions[shared:, shared:] = np.tile(np.eye(3), (pieces, 1))
        steps = np.array([*[STEP] * self.count, ANGLE_STEP, ANGLE_STEP, RATE_STEP, INTEGRAL_STEP])

        def along(amounts: Array) -> Array:
            return self.residuals(x + directions[:, : len(amounts)] @ amounts)

        near = central_differences(along, np.zeros(shared + 3), steps)
        far = central_differences(along, np.zeros(shared), 2.0 * steps[:shared])
        # Where these differ, a steering that stuck slips instead: that is no derivative.
        smooth = np.abs(near[:, :shared] - far) <= 0.3 * (np.abs(near[:, :shared]) + np.abs(far))
        jacobian = np.zeros((len(owner), len(x)))
        jacobian[:, :shared] = np.where(smooth, near[:, :shared], 0.0)
        for which in range(3):
            jacobian[np.arange(len(owner)), shared + which + 3 * owner] = near[:, shared + which]
        return jacobian

    def _links(self) -> Array:
        """What the controller's integral gains from one piece to the next was measured; by how much noise may bend it.

        Rows of a matrix for the vector of all that is found, in units of the residuals.
        """
        pieces = self.log.pieces
        rows = np.zeros((pieces - 1, self.count + 1 + 3 * pieces))
        places, at = np.arange(pieces - 1), self.count + 3 + 3 * np.arange(pieces)
        interval = float(np.median(np.diff(self.log.angle.time)))
        rows[places, at[1:]] = 1.0 / (LOOSE * math.sqrt(PIECE * interval))
        rows[places, at[:-1]] = -rows[places, at[1:]]
        return rows


def _fitting(log: MechanismLog, residuals: Array) -> Mask:
    """Pieces that fit as well as most; where many do not, those that do not fit much worse."""
    counts = np.maximum(np.bincount(log.owner), 1)
    sizes = np.sqrt(np.bincount(log.owner, residuals**2) / counts)
    middle = float(np.median(sizes))
    good = sizes <= max(WORSE * middle, log.least)
    return np.asarray(good if good.mean() >= MOST else sizes <= max(OUTLIERS * middle, log.least))
