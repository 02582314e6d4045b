"""The parts of the package depend on each other one way only, and the vehicle on next to nothing."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import vds_gz

PACKAGE = Path(vds_gz.__file__).parent
#: From the bottom to the top; a part imports from its own level or lower ones. Parts not named here serve any level.
LEVELS = ({"parameters"}, {"vehicle", "sensing"}, {"ros", "plant", "study"}, {"nodes", "page", "cli"})
LEVEL = {part: level for level, parts in enumerate(LEVELS) for part in parts}

#: What the arithmetic of a vehicle must not know of.
CLOCKS_AND_THREADS = {
    "_thread",
    "asyncio",
    "concurrent",
    "datetime",
    "multiprocessing",
    "queue",
    "sched",
    "signal",
    "socket",
    "subprocess",
    "threading",
    "time",
}
FILES = {"fileinput", "glob", "io", "mmap", "os", "shelve", "shutil", "sqlite3", "tempfile"}
FILE_CALLS = {"open", "read_text", "write_text", "read_bytes", "write_bytes", "mkdir", "unlink"}


class Import(NamedTuple):
    """One imported module, by its full name, with the place of the statement."""

    file: Path
    line: int
    module: str

    def __str__(self) -> str:
        return f"{self.file.relative_to(PACKAGE)}:{self.line} imports {self.module}"


FILES_OF_PACKAGE = sorted(file for file in PACKAGE.rglob("*.py") if "__pycache__" not in file.parts)


def imports_of(file: Path) -> Iterator[Import]:
    """Every import of a file, also those within functions."""
    own = ("vds_gz", *file.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(file.read_text(), str(file))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(file, node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = own[: len(own) - node.level + 1] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            # `from vds_gz import cli` imports a module, `from vds_gz.cli import main` a name.
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "vds_gz" else [module]
            for name in names:
                yield Import(file, node.lineno, name)


def part_of(module: str) -> str | None:
    """The part of our package that a module belongs to; none for other packages and for the package itself."""
    parts = module.split(".")
    return parts[1] if parts[0] == "vds_gz" and len(parts) > 1 else None


def part_of_file(file: Path) -> str:
    first = file.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


IMPORTS = [one for file in FILES_OF_PACKAGE for one in imports_of(file)]


def test_the_walk_finds_the_files_and_their_imports():
    assert {"parameters", "vehicle", "sensing", "ros", "nodes", "plant"} <= set(map(part_of_file, FILES_OF_PACKAGE))
    assert any(one.module == "vds_gz.parameters.actuators" and one.file.name == "actuators.py" for one in IMPORTS)
    assert sum(part_of(one.module) is not None for one in IMPORTS) > 20


def test_imports_go_down_and_never_up():
    upwards = []
    for one in IMPORTS:
        here, there = part_of_file(one.file), part_of(one.module)
        if here in LEVEL and there in LEVEL and LEVEL[there] > LEVEL[here]:
            upwards.append(str(one))
    assert upwards == []


def test_parts_do_not_import_each_other_in_a_circle():
    needs: dict[str, set[str]] = {}
    for one in IMPORTS:
        here, there = part_of_file(one.file), part_of(one.module)
        if there is not None and there != here:
            needs.setdefault(here, set()).add(there)
    while needs:
        free = {part for part, wanted in needs.items() if not wanted & needs.keys()}
        assert free, f"these need each other: { {part: wanted & needs.keys() for part, wanted in needs.items()} }"
        for part in free:
            del needs[part]


def vehicle_imports() -> list[Import]:
    return [one for one in IMPORTS if part_of_file(one.file) == "vehicle"]


def test_the_vehicle_imports_the_standard_library_numpy_and_parameters_only():
    allowed = sys.stdlib_module_names | {"numpy"}
    strangers = [
        str(one)
        for one in vehicle_imports()
        if one.module.split(".")[0] not in allowed
        and part_of(one.module) not in ("vehicle", "parameters")
        and not (one.module.split(".")[0] == "numba" and one.file.name == "compiled.py")
    ]
    assert strangers == []


def test_the_vehicle_knows_no_clock_no_threads_and_no_files():
    forbidden = CLOCKS_AND_THREADS | FILES
    assert [str(one) for one in vehicle_imports() if one.module.split(".")[0] in forbidden] == []
    for file in (PACKAGE / "vehicle").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                assert name not in FILE_CALLS, f"{file.name}:{node.lineno} calls {name}"


@pytest.mark.parametrize("part", ["parameters", "vehicle", "sensing"])
def test_only_the_ros_part_and_what_stands_above_it_know_ros(part):
    ros = {"rclpy", "cyclonedds", "rosbags", "launch", "ament_index_python"}
    found = [str(one) for one in IMPORTS if part_of_file(one.file) == part and one.module.split(".")[0] in ros]
    assert found == []


def test_parameters_import_no_other_level():
    ours = [one for one in IMPORTS if part_of_file(one.file) == "parameters"]
    assert [str(one) for one in ours if part_of(one.module) in LEVEL.keys() - {"parameters"}] == []
