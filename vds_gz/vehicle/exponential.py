"""The exponential from additions, multiplications and divisions alone, so that it has the same bits on every machine.

Sources: Sun's fdlibm (e_exp.c) for the polynomial; Cody and Waite, Software Manual for the Elementary Functions (1980),
for the reduction by a logarithm of 2 in two parts.
"""

from __future__ import annotations

import math


def exponential(x: float) -> float:
    """The exponential of a number below 709, within one unit of the last digit."""
    if x < -746.0:
        return 0.0
    doublings = (x * 1.44269504088896338700 + 6755399441055744.0) - 6755399441055744.0
    high = x - doublings * 6.93147180369123816490e-01
    low = doublings * 1.90821492927058770002e-10
    r = high - low
    z = r * r
    high_powers = -1.65339022054652515390e-06 + z * 4.13813679705723846039e-08
    powers = -2.77777777770155933842e-03 + z * (6.61375632143793436117e-05 + z * high_powers)
    c = r - z * (1.66666666666666019037e-01 + z * powers)
    return math.ldexp(1.0 - ((low - r * c / (2.0 - c)) - high), int(doublings))
