"""What the node needs of every sensor that it simulates itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from vds_gz.sensing.body import BodyState
from vds_gz.world.scene import Scene


class SensorOutput(Protocol):
    """A sensor and its topics.

    Attributes:
        rate: Measurements per second [Hz].
        rays: How many rays a measurement casts.
        span: How far back :meth:`measure` needs to know the body's states [ns].
    """

    rate: float
    rays: int
    span: int

    @property
    def subscribed(self) -> bool:
        """Whether anybody listens."""

    def measure(self, states: Sequence[BodyState], scene: Scene | None) -> None:
        """Measure, and publish if anybody listens.

        It is called for every measurement that is due, in order, also while nobody listens; then it may do nothing, as
        long as the next measurement is the same as if somebody had listened to this one.

        Args:
            states: The body's states of the last ``span`` and the one before; the last one is the present.
            scene: What can be seen; none if there is no world.
        """
