"""Compiled steps of one vehicle with one command after the other, in one call: finding a call's types takes long."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from vds_gz.core.vehicle.command import Command
from vds_gz.core.vehicle.compiled import compiled_schedule
from vds_gz.core.vehicle.schedule import COMMAND, fields_of
from vds_gz.core.vehicle.vehicle_model import no_references


def compiled_run(step: Callable, set_references: Callable = no_references) -> Callable[..., np.ndarray]:
    """``run(c, s, commands, steps)`` does so many steps with each command; what the state is after each.

    ``c`` and ``s`` are arrays of one record.
    """

    def run(c: np.ndarray, s: np.ndarray, commands: Sequence[Command], steps: np.ndarray) -> np.ndarray:
        count = len(commands)
        numbers = np.array([fields_of(command) for command in commands], COMMAND)
        follow = compiled_schedule(step, set_references, c.dtype, s.dtype, numbers.dtype)
        samples = np.empty(count, s.dtype)
        follow(
            c, s, numbers, np.arange(count), np.asarray(steps, np.int64), np.arange(1, count + 1), samples, np.empty(6)
        )
        return samples

    return run
