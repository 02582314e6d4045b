"""Tests marked with ``gazebo`` are skipped without Gazebo."""

import shutil

import pytest
from helpers.gazebo import driver, partition, serve

from vds_gz.core.plant.gazebo.links.bindings import bindings_fault

__all__ = ["driver", "partition", "serve"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    why = "gz is not in the PATH" if shutil.which("gz") is None else bindings_fault()
    for item in items:
        if why and item.get_closest_marker("gazebo"):
            item.add_marker(pytest.mark.skip(reason=f"no Gazebo here: {why}"))
