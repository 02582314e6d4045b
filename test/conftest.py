"""What all tests share: how hard hypothesis searches, and where recorded reference runs lie."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# "ci" tries the same examples every time; HYPOTHESIS_PROFILE=explore looks for new ones, and for more of them.
settings.register_profile("ci", deadline=None, max_examples=100, derandomize=True, database=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of reference runs; tests that need it are skipped where it is absent."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "golden"
    folder = Path(os.environ.get("VDS_GZ_GOLDEN") or beside)
    if not folder.is_dir():
        pytest.skip("no reference runs here; VDS_GZ_GOLDEN names the folder that holds them")
    return folder
