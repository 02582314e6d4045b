"""Pages for tests to look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from helpers.domains import lease
from helpers.pages import Served
from helpers.processes import Program


@pytest.fixture
def view(run: Callable[..., Program]) -> Callable[..., Served]:
    """Starts ``vds-gz view`` at a free port."""
    return lambda *arguments: Served(run("vds_gz.cli", "view", "--port", "0", *arguments))


@pytest.fixture(scope="module")
def alone() -> Iterator[Served]:
    """A page for several tests, with no vehicle to show."""
    with lease() as number, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_DOMAIN_ID", str(number))
        program = Program("vds_gz.cli", "view", "--port", "0")
        try:
            yield Served(program)
        finally:
            program.stop()
