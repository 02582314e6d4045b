"""Sensors whose exceptions end them, and not the node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from vds_gz.core.errors import VdsGzError
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.sensing.sensor import SensorOutput, SensorSetup
from vds_gz.core.sensing.sensor_types import ENTRY_POINTS
from vds_gz.core.share import origin
from vds_gz.programs.nodes.failures import Failures

if TYPE_CHECKING:
    from vds_gz.core.world.scene import Scene


class GuardedSensor:
    """A sensor whose exceptions end the sensor instead of the node.

    Attributes:
        rate, rays, span: See :class:`~vds_gz.core.sensing.sensor.SensorOutput`.
    """

    def __init__(self, output: SensorOutput, failed: Callable[[Exception], None]) -> None:
        self.rate, self.rays, self.span = output.rate, output.rays, output.span
        self._output: SensorOutput | None = output
        self._failed = failed

    @property
    def subscribed(self) -> bool:
        """Whether any of its topics has subscribers."""
        try:
            return self._output is not None and self._output.subscribed
        except Exception as error:  # any exception of the sensor's own code
            self._end(error)
            return False

    def measure(self, states: Sequence[BodyState], scene: Scene | None) -> None:
        """Measure, and publish to subscribers."""
        if self._output is not None:
            try:
                self._output.measure(states, scene)
            except Exception as error:  # any exception of the sensor's own code
                self._end(error)

    def _end(self, error: Exception) -> None:
        self._output = None
        self._failed(error)


def make_guarded(setup: SensorSetup, failures: Failures) -> GuardedSensor | None:
    """Announce a sensor; None if that fails.

    Raises:
        VdsGzError: Its parameters are wrong.
    """
    kind = setup.type
    place = origin(ENTRY_POINTS, kind.name)
    part = f"sensor '{setup.name}' of type '{kind.name}'{f' ({place})' if place else ''}"

    def failed(error: Exception) -> None:
        failures.add(part, kind.make.__module__, error, "the sensor stays off")

    try:
        return GuardedSensor(kind.make(setup), failed)
    except VdsGzError:
        raise
    except Exception as error:  # any exception of the sensor's own code
        failed(error)
        return None
