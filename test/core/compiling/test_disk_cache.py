"""Compiled functions are read from disk by the next process; changed ones are compiled again."""

import os
import subprocess
import sys
import types
from enum import Enum

import pytest

pytest.importorskip("numba")
import numba

from vds_gz.core.compiling import DiskCache, compiled, fingerprint

#: Another package: a function that calls one in another file, which uses a constant and one of a module.
STEP = """
from machine.gears import geared

def step(x):
    return geared(x) + 1.0
"""
GEARS = """
from machine import numbers

RATIO = 2.0

def geared(x):
    return RATIO * x + numbers.OFFSET
"""
PROGRAM = """
from machine.step import step
from vds_gz.core.compiling import compiled

run = compiled(step)
value, stats = run(3.0), run.stats
print(value, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


@pytest.fixture
def machine(tmp_path):
    package = tmp_path / "site" / "machine"
    package.mkdir(parents=True)
    for name, text in {"__init__": "", "step": STEP, "gears": GEARS, "numbers": "OFFSET = 0.5"}.items():
        (package / f"{name}.py").write_text(text)
    return package


def start(machine, cache, program=PROGRAM, *arguments):
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(machine.parent), *filter(None, sys.path)]),
        "NUMBA_CACHE_DIR": str(cache),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments], env=environment, stdout=subprocess.PIPE, text=True
    )


def run(machine, cache, program=PROGRAM, *arguments) -> list[float]:
    """Value, hits and misses of one process."""
    process = start(machine, cache, program, *arguments)
    output, _ = process.communicate()
    assert process.returncode == 0
    return [float(word) for word in output.split()]


def test_the_second_process_compiles_nothing_until_a_function_that_is_called_changes(machine, tmp_path):
    assert run(machine, tmp_path) == [7.5, 0, 1]
    assert run(machine, tmp_path) == [7.5, 1, 0]
    (machine / "gears.py").write_text(GEARS.replace("RATIO * x", "RATIO * x * x"))
    assert run(machine, tmp_path) == [19.5, 0, 1]


def stepping(offset=0.5, ratio=2.0, gears=GEARS):
    """The function ``step`` as if it were imported, but without files."""
    numbers = types.ModuleType("numbers_of_mine")
    numbers.OFFSET = offset
    geared = {"__name__": "machine.gears", "numbers": numbers}
    text = gears.replace("from machine import numbers", "").replace("RATIO = 2.0", f"RATIO = {ratio}")
    exec(text, geared)
    step = {"__name__": "machine.step", "geared": geared["geared"]}
    exec(STEP.replace("from machine.gears import geared", ""), step)
    return step["step"]


@pytest.mark.parametrize(
    "changed",
    [
        {"offset": 0.25},
        {"ratio": 4.0},
        {"ratio": 2},
        {"gears": GEARS.replace("RATIO * x", "x * RATIO")},
        {"gears": GEARS.replace("numbers.OFFSET", "0.5")},
    ],
)
def test_the_fingerprint_covers_constants_and_code_of_called_functions_but_no_comments(changed):
    assert fingerprint(stepping()) == fingerprint(stepping(gears=f"# A remark.\n{GEARS}"))
    assert fingerprint(stepping(**changed)) != fingerprint(stepping())


@pytest.mark.parametrize(
    "text",
    [
        "def step(x):\n    return x + outer.inner.OFFSET",
        "def step(x):\n    return x + Numbers.OFFSET",
        "def step(x):\n    return [y + LEVEL for y in (x,)][0]",
        "def step(x):\n    return (lambda y: y + LEVEL)(x)",
        "def step(x, offset=LEVEL):\n    return x + offset",
    ],
)
def test_the_fingerprint_covers_a_constant_wherever_it_stands(text):
    def stepping_by(offset):
        outer = types.ModuleType("outer")
        outer.inner, outer.inner.outer = types.ModuleType("inner"), outer
        outer.inner.OFFSET = offset
        numbers = Enum("Numbers", {"OFFSET": offset})
        names = {"__name__": "machine", "outer": outer, "Numbers": numbers, "LEVEL": offset}
        exec(text, names)
        return fingerprint(names["step"])

    assert stepping_by(0.5) == stepping_by(0.5)
    assert stepping_by(0.5) != stepping_by(0.25)


def test_the_fingerprint_covers_how_a_called_function_is_compiled():
    def stepping_by(**options):
        names = {"__name__": "machine", "called": numba.njit(**options)(negated)}
        exec("def step(x):\n    return called(x)", names)
        return fingerprint(names["step"])

    assert stepping_by() == stepping_by()
    assert stepping_by(fastmath=True) != stepping_by()


def test_functions_that_are_called_within_a_comprehension_are_compiled_too(monkeypatch, tmp_path):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    names = {"__name__": "machine"}
    exec(
        "def scaled(x, factor=2.0):\n    return factor * x\n"
        "def step(x):\n    parts = [scaled(y) for y in (x, 1.0)]\n    return parts[0] + parts[1]",
        names,
    )
    assert compiled(names["step"])(3.0) == 8.0


def negated(x):
    return -x


def test_the_oldest_results_make_room_and_files_of_others_stay(monkeypatch, tmp_path):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("vds_gz.core.compiling.KEPT", 3)
    folder = tmp_path / "vds_gz"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.bin").write_bytes(b"")
        os.utime(folder / f"{number}.bin", (number, number))
    (folder / "mine.txt").write_text("")
    os.utime(folder / "mine.txt", (0, 0))
    first, second = compiled(stepping()), compiled(stepping())
    assert first(3.0) == 7.5
    assert len(list(folder.glob("*.bin"))) == 3
    assert {file.name for file in folder.iterdir()} >= {"3.bin", "4.bin", "mine.txt"}
    assert second(3.0) == 7.5
    assert sum(second.stats.cache_hits.values()) == 1


@pytest.mark.slow
def test_without_a_writable_folder_functions_compile_silently(machine, tmp_path):
    file = tmp_path / "no_folder"
    file.write_text("")
    assert run(machine, file / "cache") == [7.5, 0, 1]


@pytest.mark.slow
def test_a_truncated_file_is_compiled_again(machine, tmp_path):
    run(machine, tmp_path)
    (file,) = (tmp_path / "vds_gz").iterdir()
    file.write_bytes(file.read_bytes()[:-100])
    assert run(machine, tmp_path) == [7.5, 0, 1]


@pytest.mark.slow
def test_processes_that_start_at_once_do_not_disturb_each_other(machine, tmp_path):
    processes = [start(machine, tmp_path) for _ in range(2)]
    assert [float(process.communicate()[0].split()[0]) for process in processes] == [7.5] * 2
    assert run(machine, tmp_path) == [7.5, 1, 0]
    assert len(list((tmp_path / "vds_gz").iterdir())) == 1


FLEET = """
import sys
from vds_gz import DIFFERENTIAL, CompiledVehicle, DifferentialParameters, Fleet, twist
from vds_gz.core.vehicle.compiled import compiled_schedule

vehicle = CompiledVehicle(DIFFERENTIAL, DifferentialParameters())
vehicle.enter(twist(1.0, 0.0, 0.2), 0)
vehicle.advance(1_000_000_000)
held = CompiledVehicle(DIFFERENTIAL, DifferentialParameters(), moves=False)
held.enter(twist(1.0, 0.0, 0.2), 0)
held.advance(1_000_000_000)
fleet = Fleet(DIFFERENTIAL, [DifferentialParameters()] * 3)
fleet.commands.v_x, fleet.commands.yaw_rate = 1.0, 0.2
fleet.advance(1000)
(sample,) = vehicle.sample([2_000_000_000])
programs = (
    compiled_schedule(DIFFERENTIAL.step, DIFFERENTIAL.set_references),
    compiled_schedule(DIFFERENTIAL.actuate, DIFFERENTIAL.set_references),
    fleet.vehicles.program(),
)
misses = (sum(program.stats.cache_misses.values()) for program in programs)
print(fleet.states.x[2], sample.x, held.motion().x, *misses)
print(int("numba.cpython.mathimpl" in sys.modules))
"""


RECORDS = """
import sys
from vds_gz import DIFFERENTIAL, CompiledVehicle, DifferentialParameters, DriveParameters, twist

for dead_time in map(float, sys.argv[1:]):
    drives = DriveParameters(dead_time=dead_time)
    vehicle = CompiledVehicle(DIFFERENTIAL, DifferentialParameters(drive_actuators=drives))
    vehicle.enter(twist(1.0, 0.0, 0.2), 0)
    vehicle.advance(1_500_000_000)
    print(vehicle.motion().v_x)
"""


def test_records_of_other_lengths_from_other_processes_are_not_taken_for_each_other(machine, tmp_path):
    """Each process numbers numba's record types by itself, and libraries find functions by these numbers."""
    short, long = (run(machine, tmp_path, RECORDS, dead_time) for dead_time in ("0.17", "0.25"))
    assert run(machine, tmp_path, RECORDS, "0.17", "0.25") == [*short, *long]


@pytest.mark.slow
def test_vehicles_held_vehicles_and_fleets_come_back_from_disk_as_they_were(machine, tmp_path):
    first, second = run(machine, tmp_path, FLEET), run(machine, tmp_path, FLEET)
    assert first[:3] == second[:3]
    assert first[0] > 0.0
    assert first[2] == 0.0
    assert (first[3:6], second[3:6]) == ([1, 1, 1], [0, 0, 0])


@pytest.mark.slow
def test_results_from_disk_do_not_load_the_compiler(machine, tmp_path):
    """numba's rules of typing and lowering take ten times as long to load as the machine code."""
    assert [run(machine, tmp_path, FLEET)[6] for _ in range(2)] == [1, 0]


def test_where_no_folder_is_set_results_lie_in_the_users_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setattr("numba.config.CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert DiskCache("").cache_path == str(tmp_path / "vds_gz")
