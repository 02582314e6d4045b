"""The machine code on disk may be damaged or out of reach; exceptions of compiled code pass through."""

import linecache

import numpy as np
import pytest

pytest.importorskip("numba")

from vds_gz.core.compiling import compiled
from vds_gz.core.vehicle.vehicle_model import in_turn

#: A function as a new process gets it.
loaded = compiled.__wrapped__


def step(x):
    return 2.0 * x + 1.0


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    return tmp_path


def hits(function) -> int:
    return sum(function.stats.cache_hits.values())


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("kept", [0, 20, 0.5])
def test_damaged_machine_code_is_written_again_by_the_next_process(folder, ending, kept):
    assert loaded(step)(3.0) == 7.0
    (file,) = folder.rglob(f"*.{ending}")
    content = file.read_bytes()
    file.write_bytes(content[: int(kept * len(content)) if isinstance(kept, float) else kept])
    assert loaded(step)(3.0) == 7.0
    assert not [*folder.rglob("*.nb?")]
    assert loaded(step)(3.0) == 7.0
    last = loaded(step)
    assert last(3.0) == 7.0
    assert hits(last) == 1


def test_machine_code_that_cannot_be_read_or_written_is_done_without(folder):
    assert loaded(step)(3.0) == 7.0
    (index,) = folder.rglob("*.nbi")
    index.unlink()
    index.mkdir()
    assert loaded(step)(3.0) == 7.0


def fails_later(numbers):
    numbers[0] += 1.0
    return 1.0 / (numbers[1] - numbers[2])


def test_an_exception_of_compiled_code_passes_through_and_the_code_runs_once(folder):
    numbers = np.array([0.0, 2.0, 2.0])
    with pytest.raises(ZeroDivisionError):
        loaded(fails_later)(numbers)
    assert numbers[0] == 1.0
    assert [*folder.rglob("*.nbi")]


def add(c, s, u):
    s[0] += c * u


def double(c, s, u):
    s[0] *= 2.0


def test_several_phases_are_compiled_in_turn_without_the_cache_of_lines():
    linecache.clearcache()
    state = np.array([1.0])
    compiled(in_turn((add, double, add)))(2.0, state, 3.0)
    assert state[0] == 20.0
