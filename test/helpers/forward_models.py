"""Forward models in closed form, as parts of a problem for the solver."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from vds_gz.study.identify.solver.protocol import Array, Evaluation, Indices, Mask, Problem, Space

NOTHING = Space.of([])


@dataclass
class FunctionPart:
    """A function of one point (p,) and the own unknowns (q,) that gives (M,); derivatives by differences."""

    function: Callable[[Array, Array], Array]
    measured: Array
    own_begin: Array = field(default_factory=lambda: np.zeros(0))
    own: Space = NOTHING
    channel: Indices = field(default_factory=lambda: np.zeros(0, np.intp))
    own_columns: Indices | None = None
    calls: int = 0
    lanes: int = 0

    def __post_init__(self) -> None:
        if not len(self.channel):
            self.channel = np.zeros(len(self.measured), np.intp)

    def evaluate(self, shared: Array, own: Array, wanted: Mask | None) -> Evaluation:
        self.calls += 1
        self.lanes += len(shared)
        predicted = np.stack([self.function(*one) for one in zip(shared, own, strict=True)])
        if wanted is None:
            return Evaluation(predicted)
        pairs = list(zip(shared, own, strict=True))
        derived = np.stack([_differences(lambda x, o=o: self.function(x, o), x) for x, o in pairs])
        owned = np.stack([_differences(lambda o, x=x: self.function(x, o), o) for x, o in pairs])
        if self.own_columns is not None:
            owned = np.take_along_axis(owned, self.own_columns[None], axis=2)
        return Evaluation(predicted, np.where(wanted[:, None, :], derived, 7.0), owned)


def linear(matrix: Array, measured: Array, **rest: object) -> FunctionPart:
    """A model that is linear in the shared unknowns."""
    return FunctionPart(lambda x, _: matrix @ x, measured, **rest)  # type: ignore[arg-type]


def problem(
    parts: Sequence[FunctionPart], space: Space, floor: float = 1e-6, correlation: float = 1.0, channels: int = 1
) -> Problem:
    return Problem(parts, space, np.full(channels, floor), np.full(channels, correlation))


def step_responses(time: Array) -> Callable[[Array, Array], Array]:
    """Response to steps up and down every 2 s: of gain, dead time and time constant."""

    def response(x: Array, _: Array) -> Array:
        gain, dead_time, time_constant = x
        value = np.zeros_like(time)
        for count, begin in enumerate(np.arange(0.0, time[-1], 2.0)):
            waited = np.maximum(time - begin - dead_time, 0.0)
            value += (-1.0) ** count * (1.0 - np.exp(-waited / time_constant))
        return gain * value

    return response


def _differences(function: Callable[[Array], Array], at: Array) -> Array:
    steps = 1e-6 * np.eye(len(at))
    columns = [(function(at + step) - function(at - step)) / 2e-6 for step in steps]
    return np.stack(columns, axis=1) if columns else np.zeros((len(function(at)), 0))
