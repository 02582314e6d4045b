"""What all tests share: how hard hypothesis searches, and where recorded reference runs lie."""

import os
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path

import pytest
from helpers import kinds
from helpers.domains import domain, other_domain
from helpers.processes import probe, run, start
from hypothesis import settings

pytest.register_assert_rewrite("helpers.outputs")

# Examples are the same every time, more of them with --all; HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile("quick", deadline=None, max_examples=25, derandomize=True, database=None)
settings.register_profile("all", deadline=None, max_examples=50, derandomize=True, database=None)
settings.register_profile("explore", deadline=None, max_examples=1000)

__all__ = ["domain", "other_domain", "probe", "run", "start"]

#: Tests of what only works where pip packages are, which an installation of ROS alone does not bring.
NEED = {
    "bench/test_real.py": ("scipy",),
    "cli/test_profile_optimal.py": ("numba",),
    "environments": ("numba",),
    "tools/fleet": ("numba",),
    "robustness/test_files.py": ("numba", "scipy"),
    "core/ros/dds": ("cyclonedds",),
    "core/ros/messages/test_portable.py": ("rosbags",),
    "tools/study/compare": ("numba", "scipy"),
    "tools/study/identify": ("numba", "scipy"),
    "tools/study/offline/test_replay.py": ("scipy",),
    "tools/study/reading/test_run.py": ("scipy",),
    "tools/study/reading/test_table.py": ("numba",),
    "tools/study/report/test_identification.py": ("numba",),
    "tools/study/sweep": ("numba", "scipy"),
    "test_api_arguments.py": ("numba", "scipy"),
    "autoware": ("vds_gz.autoware",),
    "autoware/vehicle/test_recorded.py": ("numba",),
    "core/plant/gazebo/test_hill.py": ("vds_gz.autoware",),
    "core/vehicle/test_compiled.py": ("numba",),
    "core/vehicle/test_single_track.py": ("numba",),
    "programs/web": ("aiohttp",),
}
MISSING = {path: module for path, modules in NEED.items() for module in modules if find_spec(module) is None}
collect_ignore = list(MISSING)


#: Tests in real time: programs, middleware, a browser. A busy machine delays them, so one that fails is tried again.
REAL_TIME = (
    "cli/test_run",
    "cli/test_stopping",
    "core/plant/gazebo",
    "robustness",
    "core/ros",
    "programs/web",
    "test_docs",
    "test_example",
)
TRIES = 3

#: Files whose tests compute for longest. They begin first, so that no processor is left alone with one at the end.
LONGEST = (
    "tools/study/identify/test_vehicle_fit.py",
    "tools/study/compare/test_differences.py",
    "tools/study/identify/test_identification.py",
    "test_docs.py",
    "tools/fleet/test_fleet.py",
    "tools/study/identify/test_wheel_gains.py",
    "tools/fleet/test_closed_loop.py",
    "tools/study/identify/test_actuator_response.py",
    "tools/study/sweep/test_failures.py",
    "tools/study/identify/test_single_axes.py",
    "tools/fleet/test_sampled.py",
    "tools/conformance/test_check.py",
    "core/plant/test_in_world.py",
    "core/vehicle/test_single_track.py",
    "test_examples.py",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """What ``./dev test`` takes beside pytest's own options."""
    parser.addoption("--all", action="store_true", help="run the slow tests too")
    parser.addoption("--ros", action="store_true", help="run only tests marked ros or graph")
    names = ", ".join(kinds.ABSENT)
    parser.addoption("--require", default="", metavar="KIND,...", help=f"fail if no test of a kind can run: {names}")


def pytest_configure(config: pytest.Config) -> None:
    """Leave out what cannot run here; with xdist every process does, and the first one counts."""
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("all" if config.getoption("--all") else "quick"))
    wanted = frozenset[str]() if hasattr(config, "workerinput") else kinds.required(config.getoption("--require"))
    config.pluginmanager.register(kinds.Kinds(wanted, config.getoption("--all")))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run files that wait for programs and files that compute in turns; retry real time."""
    if config.getoption("--ros"):
        over_rclpy = [item for item in items if item.get_closest_marker("ros") or item.get_closest_marker("graph")]
        config.hook.pytest_deselected(items=[item for item in items if item not in over_rclpy])
        items[:] = over_rclpy
    folder = Path(__file__).resolve().parent
    waiting = {item.path for item in items if "domain" in getattr(item, "fixturenames", ())}
    longest = [folder / name for name in LONGEST]
    computing = dict.fromkeys([*longest, *(item.path for item in items if item.path not in waiting)])
    waits = dict.fromkeys(item.path for item in items if item.path not in computing)
    turns = {path: turn for turn, pair in enumerate(zip_longest(computing, waits)) for path in pair}
    items.sort(key=lambda item: turns[item.path])
    if not config.pluginmanager.hasplugin("rerunfailures"):
        return
    again = pytest.mark.flaky(reruns=TRIES - 1)
    for item in items:
        if item.get_closest_marker("launch"):
            continue  # launch_pytest closes the test's event loop: a second try fails and hides the first error
        if item.path in waiting or item.path.relative_to(folder).as_posix().startswith(REAL_TIME):
            item.add_marker(again)


def pytest_report_header() -> list[str]:
    """Say what is left out, and why."""
    return [
        f"left out: test/{path}, because the Python package '{module}' is not here" for path, module in MISSING.items()
    ]


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of reference runs, or the one that ``VDS_GZ_GOLDEN`` names."""
    return Path(os.environ.get("VDS_GZ_GOLDEN") or Path(__file__).resolve().parent / "reference")
