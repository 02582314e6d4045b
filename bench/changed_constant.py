"""Run the command line with one constant of the estimator multiplied by a factor.

    python bench/changed_constant.py cross_validation.LEAST 0.5 identify ...

Modules that have imported the constant are changed too; values that were computed from it on import are not, such as
default values of arguments. Whole numbers stay whole, and at least 1.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

from vds_gz.cli import main

PACKAGE = "vds_gz.tools.study.identify"


def change(constant: str, factor: float) -> None:
    """Multiply a constant, which is a number or a tuple of numbers, by a factor.

    Raises:
        AttributeError: The module has no such constant.
    """
    module_name, _, name = constant.rpartition(".")
    import_module(f"{PACKAGE}.identification")
    home = import_module(f"{PACKAGE}.{module_name}")
    value = getattr(home, name)
    changed = tuple(scaled(part, factor) for part in value) if isinstance(value, tuple) else scaled(value, factor)
    home_name, name = origin(home.__name__, name)
    places = [
        (module, own)
        for key, module in list(sys.modules.items())
        if key.startswith("vds_gz.")
        for own in (name, *imported(module))
        if own in vars(module) and origin(key, own) == (home_name, name)
    ]
    for module, own in places:
        setattr(module, own, changed)


def origin(module: str, name: str) -> tuple[str, str]:
    """The module and the name by which a module's constant was defined."""
    while found := imported(sys.modules[module]).get(name):
        module, name = found
    return module, name


_IMPORTED: dict[str, dict[str, tuple[str, str]]] = {}


def imported(module: ModuleType) -> dict[str, tuple[str, str]]:
    """The constants that a module imports from others of the package: their modules and names there, by own names."""
    if module.__name__ not in _IMPORTED:
        _IMPORTED[module.__name__] = dict(_imports(module))
    return _IMPORTED[module.__name__]


def _imports(module: ModuleType) -> Iterator[tuple[str, tuple[str, str]]]:
    try:
        source = inspect.getsource(module)
    except (OSError, TypeError):  # a package without a file, or an empty one
        return
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and node.module in sys.modules and node.module.startswith("vds_gz."):
            for alias in node.names:
                if alias.name.isupper():
                    yield alias.asname or alias.name, (node.module, alias.name)


def scaled(value: float, factor: float) -> float:
    """A number times a factor; of a whole number, which counts something, the nearest whole one from 1."""
    return max(round(factor * value), 1) if isinstance(value, int) else factor * value


if __name__ == "__main__":
    change(sys.argv[1], float(sys.argv[2]))
    sys.argv[1:] = sys.argv[3:]
    sys.exit(main())
