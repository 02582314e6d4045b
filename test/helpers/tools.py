"""The scripts that draw the files of the package and its pages, as modules."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def tool(name: str, folder: str = "tools") -> ModuleType:
    """A script of a folder of the checkout."""
    specification = importlib.util.spec_from_file_location(name, ROOT / folder / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module  # where its dataclasses look for their types
    specification.loader.exec_module(module)
    return module
