"""All faults of a vehicle model."""

from __future__ import annotations

import numpy as np

from vds_gz.modelling.declared import description_faults, drawing_faults, parameter_faults
from vds_gz.modelling.driven import engine_faults, motion_faults, resize_faults, steady_faults
from vds_gz.vehicle.model import AnyModel

#: What is checked, by name. Later ones mean little where earlier ones fail, and are done all the same.
CHECKS = {
    "parameters": parameter_faults,
    "description": description_faults,
    "drawing": drawing_faults,
    "motion": motion_faults,
    "steady start": steady_faults,
    "dead times": resize_faults,
    "engines": engine_faults,
}


def faults(model: AnyModel, seed: int = 1) -> list[str]:
    """What is wrong with a model, each with what to do; see :func:`vds_gz.modelling.check`."""
    messages: dict[str, None] = {}
    for name, check in CHECKS.items():
        try:
            for fault in check(model, np.random.default_rng(seed)):
                messages[fault] = None
        except Exception as error:  # of the model's functions: whatever they raise is a fault of theirs
            messages[f"{name}: {type(error).__name__}: {error}"] = None
    return list(messages)
