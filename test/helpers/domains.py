"""A part of the graph to ourselves: every test has a ROS domain that no other test holds, in any process."""

from __future__ import annotations

import fcntl
import os
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

#: The ports of higher domains are among those that Linux hands out for other purposes.
FIRST, LAST = 1, 101


@contextmanager
def lease() -> Iterator[int]:
    """Hold a domain of this machine, until the end or the death of this process.

    Raises:
        RuntimeError: All domains are held.
    """
    folder = Path(tempfile.gettempdir()) / f"vds_gz_test_domains_{os.getuid()}"
    folder.mkdir(exist_ok=True)
    numbers = list(range(FIRST, LAST + 1))
    random.SystemRandom().shuffle(numbers)  # so that a domain rests before it is used again
    for number in numbers:
        with (folder / str(number)).open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield number
            return
    raise RuntimeError(f"all ROS domains from {FIRST} to {LAST} are held by tests on this machine")


@pytest.fixture
def other_domain() -> Iterator[int]:
    """One more such domain."""
    with lease() as number:
        yield number


@pytest.fixture
def domain(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A ROS domain that no one else uses."""
    with lease() as number:
        monkeypatch.setenv("ROS_DOMAIN_ID", str(number))
        yield number
