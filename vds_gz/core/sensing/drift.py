"""The covariance of a drifting odometry."""

from __future__ import annotations

import math
from typing import NamedTuple


class PoseCovariance(NamedTuple):
    """Covariance of a pose in the plane, in the axes of its frame."""

    xx: float = 0.0  # [m^2]
    yy: float = 0.0  # [m^2]
    yaw: float = 0.0  # [rad^2]
    xy: float = 0.0  # [m^2]
    x_yaw: float = 0.0  # [m rad]
    y_yaw: float = 0.0  # [m rad]

    def plus(self, position: float, yaw: float) -> PoseCovariance:
        """With an independent error: its variance of x and of y each [m^2], and of the heading [rad^2]."""
        return self._replace(xx=self.xx + position, yy=self.yy + position, yaw=self.yaw + yaw)


class DriftCovariance:
    """The covariance of an odometry whose heading and position take random walks.

    The heading's error ``e`` turns each later displacement ``d``: with complex numbers for vectors, the error ``z`` of
    the position becomes ``z + (exp(i e) - 1) d``. For small errors, the covariance becomes ``F P F^T + Q`` with
    ``F = [1, 0, -d_y; 0, 1, d_x; 0, 0, 1]``. The moments here are exact for errors of any size, because ``e`` is normal
    with a variance ``s``, so ``E[exp(i n e)] = exp(-n^2 s / 2)``.
    """

    def __init__(self) -> None:
        self._yaw = 0.0  # s, the variance of e
        self._mean = 0j  # E[z]
        self._square = 0.0  # E[z conj(z)]
        self._pseudo = 0j  # E[z z]
        self._turned = 0j  # E[z exp(i e)]
        self._turned_back = 0j  # E[z exp(-i e)]
        self._with_yaw = 0j  # E[z e]

    def add(self, dx: float, dy: float, translation: float, rotation: float) -> None:
        """Take a true displacement in the odometry's axes [m], and the variances that it adds.

        They are those of x and y each [m^2] and of the heading [rad^2].
        """
        d, s = complex(dx, dy), self._yaw
        once, twice = math.expm1(-0.5 * s), math.expm1(-2.0 * s)  # E[exp(i e)] - 1, E[exp(2 i e)] - 1
        self._square += 2.0 * (d.conjugate() * (self._turned_back - self._mean)).real - 2.0 * once * abs(d) ** 2
        self._square += 2.0 * translation
        self._pseudo += 2.0 * d * (self._turned - self._mean) + d * d * (twice - 2.0 * once)
        self._with_yaw += d * 1j * s * (once + 1.0)
        self._mean += once * d
        decay = math.exp(-0.5 * rotation)
        self._turned = decay * (self._turned + d * (twice - once))
        self._turned_back = decay * (self._turned_back - d * once)
        self._yaw = s + rotation

    @property
    def value(self) -> PoseCovariance:
        """The covariance now."""
        mean, pseudo = self._mean, self._pseudo
        return PoseCovariance(
            xx=0.5 * (self._square + pseudo.real) - mean.real**2,
            yy=0.5 * (self._square - pseudo.real) - mean.imag**2,
            yaw=self._yaw,
            xy=0.5 * pseudo.imag - mean.real * mean.imag,
            x_yaw=self._with_yaw.real,
            y_yaw=self._with_yaw.imag,
        )
