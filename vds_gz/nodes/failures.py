"""Exceptions in the code of other packages. Those of sensors and command types are logged once, and the node goes on;
one of the vehicle model ends it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from vds_gz.errors import FailureError, VdsGzError
from vds_gz.ros.graph import Graph, Severity
from vds_gz.share import extensions, in_words, is_raised_by, offered, origin, raised_at
from vds_gz.vehicle.catalogue import ENTRY_POINTS
from vds_gz.vehicle.model import AnyModel, VehicleModel


class Failures:
    """The parts of a node that have failed.

    Attributes:
        texts: For each part, in words, its first exception and where it was raised.
    """

    def __init__(self, graph: Graph) -> None:
        self.texts: dict[str, str] = {}
        self._graph = graph

    def add(self, part: str, module: str, error: Exception) -> None:
        """Note an exception of a part whose code is in the package of a module; log the first one."""
        if part not in self.texts:
            self.texts[part] = f"{part} raised {in_words(error)} ({raised_at(error, module)})"
            self._graph.log(Severity.ERROR, f"{self.texts[part]}; the node goes on without it")


@contextmanager
def named_model(model: AnyModel) -> Iterator[None]:
    """Raise an exception in the code of another package's model as a :class:`FailureError` that names the model."""
    entries = (entry for entry in extensions(ENTRY_POINTS) if offered(entry, VehicleModel).name == model.name)
    entry = next(entries, None)
    try:
        yield
    except VdsGzError:
        raise
    except Exception as error:  # any exception of the model's own code
        if entry is None or not is_raised_by(error, entry.module):
            raise
        place = raised_at(error, entry.module)
        raise FailureError(
            f"vehicle model '{model.name}' ({origin(ENTRY_POINTS, entry.name)}) raised {in_words(error)} ({place})"
        ) from error
