"""Every program that waits ends at a signal, whenever it comes. With --all, 10,000 signals each."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import vds_gz

SIGNALS = pytest.mark.parametrize("signals", [1000, pytest.param(10_000, marks=pytest.mark.slow)])

#: Number of stops of a program, and of signals at each: the first one begins the stop, the others come during it.
STOPS = pytest.mark.parametrize(("stops", "signals"), [(2, 20), pytest.param(100, 100, marks=pytest.mark.slow)])

ROOT = Path(vds_gz.__file__).parents[1]

RCLPY = pytest.param("rclpy", marks=pytest.mark.ros)
GRAPHS = [pytest.param("dds", marks=pytest.mark.skipif(not find_spec("cyclonedds"), reason="no cyclonedds")), RCLPY]

#: A timer's signals come repeatedly a little later than a wait should end, so that some come exactly at its end.
WAITS = """
import os, signal, sys, time
{make}
count = 0
def handle(number, frame):
    global count
    count += 1
    time.sleep(0.0002)
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.00211, 0.00211)
while count < {signals}:
    wait(0.002)
signal.setitimer(signal.ITIMER_REAL, 0.0)
{end}
"""

QUEUE = "from vds_gz.core.ros.program_shell import WorkQueue; wait = WorkQueue().run"

GRAPH = """
from vds_gz.core.ros.open_graph import open_graph
graph = open_graph([], "waiting")
graph.subscribe("/nothing", "std_msgs/msg/String", __import__("vds_gz.core.ros.graph").core.ros.graph.QoS(), print)
wait = graph.wait
"""


def waits(signals: int, make: str, end: str = "", **environment: str) -> None:
    code = WAITS.format(make=make, end=end, signals=signals)
    subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        timeout=20.0 + signals * 0.02,
        check=True,
    )


@SIGNALS
def test_a_signal_at_the_end_of_a_wait_for_work_does_not_make_it_endless(signals):
    waits(signals, QUEUE)


@SIGNALS
@pytest.mark.parametrize("graph", GRAPHS)
def test_a_signal_at_the_end_of_a_wait_for_messages_does_not_make_it_endless(domain, graph, signals):
    waits(signals, GRAPH, "graph.close()", VDS_GZ_GRAPH=graph)


PROGRAMS = {
    "vds_gz.programs.nodes.sim_node": (),
    "vds_gz.programs.nodes.joystick_teleop": (),
    "vds_gz.cli.record": ("-o", "{folder}/record.mcap"),
    "vds_gz.cli.view": ("--port", "0"),
    "vds_gz.cli.drive": ("{root}/config/drives/parking_lot.csv", "--loop"),
    "vds_gz.cli.keys": (),
}

#: A program that waits for the graph alone, and one that waits for browsers too; the others wait in the same ways. With
#: rclpy all are tested, as the weekly run of the slow tests has no ROS.
USUAL = ("vds_gz.programs.nodes.sim_node", "vds_gz.cli.view")

CASES = [
    pytest.param(module, *graph.values, marks=[*graph.marks, *([pytest.mark.slow] * slow)])
    for module in PROGRAMS
    for graph in GRAPHS
    for slow in [module not in USUAL and graph is not RCLPY]
]

#: Packages that programs need besides the graph.
NEEDS = {"vds_gz.cli.view": "aiohttp"}


@STOPS
@pytest.mark.parametrize(("module", "graph"), CASES)
def test_every_program_ends_at_every_signal(start, tmp_path, monkeypatch, module, graph, stops, signals):
    if module in NEEDS:
        pytest.importorskip(NEEDS[module])
    monkeypatch.setenv("VDS_GZ_GRAPH", graph)
    start()  # a vehicle, to be driven, recorded and shown
    arguments = [argument.format(folder=tmp_path, root=ROOT) for argument in PROGRAMS[module]]
    done = subprocess.run(
        [sys.executable, "-m", "helpers.signals", str(stops), str(signals), module, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "test"), *sys.path])},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


#: A program that sends itself Ctrl-C when it imports a module of this package or numpy for the n-th time.
IMPORTING = """
import os, runpy, signal, sys
import {package}
class Interrupt:
    left = {n}
    def find_spec(self, name, path=None, target=None):
        if name.startswith(("vds_gz", "numpy")):
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
sys.exit({program})
"""

MODULE = "runpy.run_module('vds_gz.programs.nodes.sim_node', run_name='__main__')"


@pytest.mark.parametrize(
    ("package", "program", "arguments", "n"),
    [
        *(("vds_gz.cli", "vds_gz.cli.main()", ["node"], n) for n in (1, 5, 30)),
        ("vds_gz.cli", "vds_gz.cli.main()", ["drive", "log.csv"], 5),
        ("vds_gz.cli", "vds_gz.cli.sim_node()", [], 2),
        ("vds_gz.cli", "vds_gz.cli.joystick_teleop()", [], 20),
        # The first one is the search for the module itself.
        *(("vds_gz.programs.nodes", MODULE, [], n) for n in (2, 20)),
    ],
)
def test_ctrl_c_while_a_program_imports_leaves_no_traceback(package, program, arguments, n):
    done = subprocess.run(
        [sys.executable, "-c", IMPORTING.format(package=package, n=n, program=program), *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60.0,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


#: A program that sends itself Ctrl-C when it calls a function of this name.
CALLING = """
import os, signal, sys
import vds_gz.cli
def interrupt(frame, event, argument):
    if frame.f_code.co_name == "{function}":
        sys.setprofile(None)
        os.kill(os.getpid(), signal.SIGINT)
sys.setprofile(interrupt)
sys.exit(vds_gz.cli.main())
"""


@pytest.mark.parametrize("function", ["parse_args", "read_vehicle_file"])
def test_ctrl_c_while_a_program_reads_its_arguments_leaves_no_traceback(function):
    done = subprocess.run(
        [sys.executable, "-c", CALLING.format(function=function), "node", "ackermann_car"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60.0,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
