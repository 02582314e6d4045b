"""Run the command line with one constant of the estimator multiplied by a factor.

    python bench/changed_constant.py cross_validation.LEAST 0.5 identify ...

Modules that have imported the constant are changed too; values that were computed from it on import are not. Whole
numbers stay whole, and at least 1.
"""

from __future__ import annotations

import sys
from importlib import import_module

from vds_gz.cli import main

PACKAGE = "vds_gz.tools.study.identify"


def change(constant: str, factor: float) -> None:
    """Multiply a constant, which is a number or a tuple of numbers, by a factor.

    Raises:
        AttributeError: The module has no such constant.
    """
    module_name, _, name = constant.rpartition(".")
    import_module(f"{PACKAGE}.identification")
    value = getattr(import_module(f"{PACKAGE}.{module_name}"), name)
    changed = tuple(scaled(part, factor) for part in value) if isinstance(value, tuple) else scaled(value, factor)
    for module in [module for key, module in sys.modules.items() if key.startswith(PACKAGE)]:
        if getattr(module, name, None) is value:
            setattr(module, name, changed)


def scaled(value: float, factor: float) -> float:
    """A number times a factor; of a whole number, which counts something, the nearest whole one from 1."""
    return max(round(factor * value), 1) if isinstance(value, int) else factor * value


if __name__ == "__main__":
    change(sys.argv[1], float(sys.argv[2]))
    sys.argv[1:] = sys.argv[3:]
    sys.exit(main())
