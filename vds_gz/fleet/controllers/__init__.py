"""Controllers that follow a path: each a group of parameters, coefficients, and a function that runs in lanes."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vds_gz.errors import ArgumentError
from vds_gz.fleet.controllers.controller import AnyController
from vds_gz.fleet.controllers.geometric import PURE_PURSUIT, STANLEY
from vds_gz.fleet.controllers.lqr import LQR

CONTROLLERS: dict[str, AnyController] = {one.name: one for one in (PURE_PURSUIT, STANLEY, LQR)}

#: A controller of one's own: from observations of shape (vehicles, numbers) to commands of shape (vehicles, 2).
Callback: TypeAlias = Callable[[NDArray[np.float64]], object]


def controller_named(name: str) -> AnyController | Callback:
    """The controller of a name, or the function that ``module:function`` names.

    Raises:
        ArgumentError: There is none.
    """
    if name in CONTROLLERS:
        return CONTROLLERS[name]
    module, colon, function = name.partition(":")
    if not (module and colon and function):
        raise ArgumentError(
            f"controller '{name}' is unknown; there are {', '.join(CONTROLLERS)}, and module:function for your own"
        )
    try:
        found = getattr(import_module(module), function, None)
    except Exception as error:
        raise ArgumentError(
            f"controller '{name}': module '{module}' cannot be imported: {type(error).__name__}: {error}"
        ) from error
    if not callable(found):
        raise ArgumentError(f"controller '{name}': module '{module}' has no function '{function}'")
    callback: Callback = found
    return callback
