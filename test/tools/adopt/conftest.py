"""Tests marked with ``gazebo`` are skipped without Gazebo's Python bindings."""

import pytest
from helpers.gazebo import partition

from vds_gz.core.plant.gazebo.links.bindings import bindings_fault

__all__ = ["partition"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    why = bindings_fault()
    for item in items:
        if why and item.get_closest_marker("gazebo"):
            item.add_marker(pytest.mark.skip(reason=f"no Gazebo here: {why}"))
