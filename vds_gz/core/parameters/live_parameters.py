"""Parameters that change while the node runs, and the parts of the node that use them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from vds_gz.core.parameters.conversion import replaced
from vds_gz.core.parameters.declaration import Value
from vds_gz.core.parameters.node import NodeParameters

T = TypeVar("T")


class LiveParameters:
    """The parameters of a running node; calls their users after every change.

    A parameter is live if its declaration says so. Its user follows the parameter, or the group that declares it::

        live.follow(lambda parameters: parameters.localization, estimator.configure)

    Attributes:
        now: The present parameters.
    """

    def __init__(self, parameters: NodeParameters) -> None:
        self.now = parameters
        self._followers: list[tuple[Callable[[NodeParameters], Any], Callable[[Any], object]]] = []

    def follow(self, read: Callable[[NodeParameters], T], use: Callable[[T], object]) -> None:
        """Call ``use`` after every change of what ``read`` takes from the parameters.

        Only the first follower may refuse a value, by raising a :class:`~vds_gz.ParameterError`.
        """
        self._followers.append((read, use))

    def change(self, values: Mapping[str, Value]) -> None:
        """Take all new values, by their dotted names, or none.

        Raises:
            ParameterError: Values contradict each other, or the first follower refuses them.
        """
        before, after = self.now, replaced(self.now, values)
        for read, use in self._followers:
            if (value := read(after)) != read(before):
                use(value)
        self.now = after
