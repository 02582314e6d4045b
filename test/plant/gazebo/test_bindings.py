"""Options of Gazebo's releases."""

from __future__ import annotations

from pathlib import Path

import pytest

from vds_gz.plant.gazebo.links.bindings import server_options

WAIT = ("--wait-for-assets",)


@pytest.mark.parametrize(
    ("versions", "options"),
    [("8.14.0\n", ()), ("10.4.0\n", WAIT), ("10.4.0\n8.14.0\n", WAIT), ("8.14.0\n10.4.0\n", WAIT), ("", ()), ("?", ())],
)
def test_options_are_those_of_the_newest_release_in_any_order(tmp_path: Path, versions: str, options: tuple[str, ...]):
    program = tmp_path / "gz"
    program.write_text(f"#!/bin/sh\nprintf '{versions}'\n")
    program.chmod(0o755)
    assert server_options(str(program)) == options
