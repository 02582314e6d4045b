"""Results of tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from vds_gz.errors import VdsGzError

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Done(Generic[T, R]):
    """A task with its result."""

    task: T
    result: R


@dataclass(frozen=True, slots=True)
class Failed(Generic[T]):
    """A task without a result, with the reason in words."""

    task: T
    reason: str


def attempt(function: Callable[[T], R], task: T) -> Done[T, R] | Failed[T]:
    """Do a task; an error of this package fails it, any other error is a defect and is raised."""
    try:
        return Done(task, function(task))
    except VdsGzError as error:
        return Failed(task, str(error))
