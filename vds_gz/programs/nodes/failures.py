"""Exceptions in the code of other packages. Those of sensors and command types are logged once, and the node goes on;
one of the vehicle model or the plant ends it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from vds_gz.core.errors import FailureError, VdsGzError
from vds_gz.core.plant.plant_types import ENTRY_POINTS as PLANTS
from vds_gz.core.ros.graph import Graph, Severity
from vds_gz.core.share import extensions, in_words, is_raised_by, origin, raised_at
from vds_gz.core.vehicle.catalogue import ENTRY_POINTS as MODELS
from vds_gz.core.vehicle.vehicle_model import AnyModel


class Failures:
    """The parts of a node that have failed.

    Attributes:
        texts: For each part, in words, its first exception and where it was raised.
    """

    def __init__(self, graph: Graph) -> None:
        self.texts: dict[str, str] = {}
        self._graph = graph

    def add(self, part: str, module: str, error: Exception, effect: str) -> None:
        """Note an exception of a part whose code is in the package of a module; log the first one, with its effect."""
        if part not in self.texts:
            self.texts[part] = f"{part} raised {in_words(error)} ({raised_at(error, module)})"
            self._graph.log(Severity.ERROR, f"{self.texts[part]}; {effect}")


@contextmanager
def named_parts(model: AnyModel, backend: str) -> Iterator[None]:
    """Raise an exception in the code of another package's model or plant as a :class:`FailureError` that names it."""
    models = (entry for entry in extensions(MODELS) if entry.name == model.name)
    plants = (entry for entry in extensions(PLANTS) if entry.name == backend)
    parts = [(entry, f"vehicle model '{model.name}'") for entry in models]
    parts += [(entry, f"plant '{backend}'") for entry in plants]
    try:
        yield
    except VdsGzError:
        raise
    except Exception as error:  # any exception of the part's own code
        for entry, part in parts:
            if is_raised_by(error, entry.module):
                place = raised_at(error, entry.module)
                where = origin(entry.group, entry.name)
                raise FailureError(f"{part} ({where}) raised {in_words(error)} ({place})") from error
        raise
