"""Versions of the packages that determine the bits of a result."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TypeAlias

import vds_gz

Versions: TypeAlias = "dict[str, str]"

#: These packages, besides this one.
PACKAGES = ("numba", "numpy", "scipy")


def versions() -> Versions:
    """The versions in this process, by package."""
    return {"vds_gz": vds_gz.__version__} | {name: _version(name) for name in PACKAGES}


def differences(found: Versions, wanted: Versions) -> str:
    """Differences between another process's versions and the wanted ones, in words; empty if there are none."""
    wrong = [name for name in wanted if found.get(name) != wanted[name]]
    return " and ".join(f"has {name} {found.get(name)} and must have {wanted[name]}" for name in wrong)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
