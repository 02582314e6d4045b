"""A part of the graph to ourselves."""

import os
from itertools import count

import pytest

#: Every test has a domain of its own; processes that test at the same time begin elsewhere.
DOMAINS = count(os.getpid() * 7)


@pytest.fixture
def domain(monkeypatch: pytest.MonkeyPatch) -> int:
    """A ROS domain that nobody else uses."""
    number = next(DOMAINS) % 200 + 20
    monkeypatch.setenv("ROS_DOMAIN_ID", str(number))
    return number
