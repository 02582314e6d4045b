"""The Allan deviation of recorded samples."""

import numpy as np

from vds_gz.core.arrays import Array


def allan_deviation(samples: Array, count: int, rate: float) -> float:
    """Overlapping, over ``count`` samples, over all channels: IEEE Std 952-1997, annex C.

    Args:
        samples: One row a sample, one column a channel.
        count: How many are averaged.
        rate: Samples per second [Hz].
    """
    angle = np.cumsum(np.concatenate([np.zeros((1, samples.shape[1])), samples]), axis=0) / rate
    differences = angle[2 * count :] - 2.0 * angle[count:-count] + angle[: -2 * count]
    return float(np.sqrt(np.mean(differences**2) / 2.0) / (count / rate))
