"""Compiled functions are read from disk by the next process; changed ones are compiled again."""

import importlib
import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("numba")

from vds_gz.core.compiling import compiled, generated
from vds_gz.core.compiling.rewriting import Rewriting
from vds_gz.core.errors import ArgumentError

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


@pytest.fixture
def imported(monkeypatch, tmp_path):
    """A function ``imported(**texts)`` of modules: imports the last one and gives its function ``step``."""
    names = []

    def from_texts(**texts):
        folder = tmp_path / str(len(names))
        folder.mkdir()
        monkeypatch.syspath_prepend(str(folder))
        for name, text in texts.items():
            (folder / f"{name}.py").write_text(text)
            sys.modules.pop(name, None)
        names.extend(texts)
        importlib.invalidate_caches()
        return importlib.import_module(list(texts)[-1]).step

    yield from_texts
    for name in names:
        sys.modules.pop(name, None)


def parts_of(function) -> list[str]:
    """The functions of the generated module, which have hashes of their texts."""
    rewriting = Rewriting({})
    rewriting.part(function, {})
    return [*rewriting.parts, *rewriting.values]


def stepping(offset="0.5", gears=GEARS):
    gears = gears.replace("from machine import", "import")
    return {
        "numbers_": f"OFFSET = {offset}",
        "gears_": gears.replace("numbers", "numbers_"),
        "step_": STEP.replace("machine.gears", "gears_"),
    }


@pytest.mark.parametrize(
    "changed",
    [
        {"offset": "0.25"},
        {"gears": GEARS.replace("2.0", "4.0")},
        {"gears": GEARS.replace("2.0", "2")},
        {"gears": GEARS.replace("RATIO * x", "x * RATIO")},
    ],
)
def test_a_module_is_named_by_constants_and_code_of_called_functions_but_no_comments(imported, changed):
    original = parts_of(imported(**stepping()))
    assert parts_of(imported(**stepping(gears=f"# A remark.\n{GEARS}"))) == original
    assert parts_of(imported(**stepping(**changed))) != original


@pytest.mark.parametrize(
    "text",
    [
        "import numbers_\ndef step(x):\n    return x + numbers_.OFFSET",
        "import numbers_\ndef step(x):\n    return x + numbers_.Numbers.OFFSET.value",
        "from numbers_ import OFFSET\ndef step(x):\n    return [y + OFFSET for y in (x,)][0]",
        "from numbers_ import OFFSET\ndef step(x):\n    return (lambda y: y + OFFSET)(x)",
        "from numbers_ import OFFSET\ndef step(x, offset=OFFSET):\n    return x + offset",
        "from numbers_ import TABLE\ndef step(x):\n    return x + TABLE[0]",
        "from numbers_ import maker\nstep = maker()",
    ],
)
def test_a_module_is_named_by_a_constant_wherever_it_stands(imported, text):
    numbers = """
import enum
import numpy
OFFSET = {offset}
class Numbers(enum.Enum):
    OFFSET = {offset}
TABLE = numpy.array([OFFSET])
def maker():
    offset = OFFSET
    def step(x):
        return x + offset
    return step
"""
    first, again, other = (
        parts_of(imported(numbers_=numbers.format(offset=offset), step_=text)) for offset in (0.5, 0.5, 0.25)
    )
    assert first == again
    assert first != other


def test_what_numba_compiles_is_what_python_runs(imported, monkeypatch, tmp_path):
    """Constants of all kinds, comprehensions, default arguments, attributes of modules."""
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    step = imported(
        numbers_="import math\nimport numpy\nOFFSET, LIMIT, NOTHING = -0.0, math.inf, math.nan\nPAIR = (1.5, -2)\n"
        "TABLE = numpy.array([1.0, 4.0])\ndef scaled(x, factor=2.0):\n    return factor * x",
        step_="import math\nimport numpy as np\nimport numbers_ as n\nfrom math import sqrt\n"
        "def step(x):\n"
        "    'A step.'\n"
        "    y: float = [n.scaled(z) for z in (x, 1.0)][0] + n.scaled(x=x, factor=n.PAIR[1])\n"
        "    t = np.zeros(3)\n"
        "    t[0], t[1] = math.copysign(1.0, n.OFFSET), n.TABLE[1] + min(y, n.LIMIT) + sqrt(x)\n"
        "    t[2] = math.copysign(1.0, n.NOTHING)\n"
        "    return t",
    )
    assert compiled(step)(3.0).tobytes() == step(3.0).tobytes()


def test_a_source_that_is_not_that_of_the_running_function_is_refused(imported, tmp_path):
    step = imported(step_="def step(x):\n    return x + 1.0\n")
    (tmp_path / "0" / "step_.py").write_text("def step(x):\n    return x + 1\n")
    with pytest.raises(ArgumentError, match=r"step_.py:1: the source of 'step' is not there or not that of the runn"):
        compiled(step)


def test_records_of_a_type_give_a_module_of_its_own(imported, monkeypatch, tmp_path):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    step = imported(step_="def read(r):\n    return r.b\ndef step(r):\n    return read(r[0])")
    for kinds in ("f8,f8", "f8,i8"):
        array = np.zeros(1, [*zip("ab", map(np.dtype, kinds.split(",")), strict=True)])
        array["b"] = 7
        assert compiled(step, array.dtype)(array) == 7
    assert len(list((tmp_path / "vds_gz").glob("*.py"))) == 2


def test_the_oldest_modules_make_room_with_their_machine_code_and_files_of_others_stay(imported, monkeypatch, tmp_path):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(generated, "KEPT", 2)
    folder = tmp_path / "vds_gz"
    for number in range(3):
        compiled(imported(step_=f"def step(x):\n    return x + {number}.0"))(3.0)
        for file in folder.glob("vds_gz_*.py"):
            os.utime(file, (file.stat().st_mtime - 10, file.stat().st_mtime - 10))
        (folder / "mine.txt").write_text("")
    machine_code = {file.name.split(".")[0] for file in tmp_path.rglob("*.nbi")}
    assert {file.stem for file in folder.glob("vds_gz_*.py")} == machine_code
    assert len(machine_code) == 2
    assert (folder / "mine.txt").exists()


@pytest.mark.slow
def test_without_a_writable_folder_functions_compile_silently(machine, tmp_path):
    file = tmp_path / "no_folder"
    file.write_text("")
    assert run(machine, file / "cache")[0] == 7.5


def test_a_source_in_any_script_is_kept_in_any_locale(machine, tmp_path, monkeypatch):
    for name, value in {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}.items():
        monkeypatch.setenv(name, value)
    (machine / "gears.py").write_text(GEARS.replace("RATIO", "übersetzung"), encoding="utf-8")
    (machine / "step.py").write_text(STEP.replace("(x)", "(größe)").replace(" x", " größe"), encoding="utf-8")
    assert run(machine, tmp_path) == [7.5, 0, 1]
    assert run(machine, tmp_path) == [7.5, 1, 0]


def test_an_expression_that_is_nested_too_deeply_is_refused(imported):
    step = imported(step_=f"def step(x):\n    return {' + '.join(['x'] * 900)}\n")
    with pytest.raises(ArgumentError, match=r"step_.py:1: an expression in 'step' is too long; split it"):
        compiled(step)


@pytest.mark.slow
def test_processes_that_start_at_once_do_not_disturb_each_other(machine, tmp_path):
    processes = [start(machine, tmp_path) for _ in range(2)]
    assert [float(process.communicate()[0].split()[0]) for process in processes] == [7.5] * 2
    assert run(machine, tmp_path)[0] == 7.5


FLEET = """
from vds_gz import DIFFERENTIAL, CompiledVehicle, DifferentialParameters, Fleet, twist
from vds_gz.core.vehicle import compiled

programs = []
schedule = compiled.compiled_schedule
compiled.compiled_schedule = lambda *of: programs.append(schedule(*of)) or programs[-1]

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
print(fleet.states.x[2], sample.x, held.motion().x)
print(*(sum(program.stats.cache_misses.values()) for program in {*programs, fleet.vehicles.program()}))
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


def test_where_no_folder_is_set_modules_lie_in_the_users_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setattr("numba.config.CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert generated.cache_folder() == tmp_path / "vds_gz"
