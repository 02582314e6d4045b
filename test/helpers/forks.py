"""Programs that begin as forks of a process that has imported them: importing is most of what a start takes.

``python -m helpers.forks NUMBER`` is that process. It is asked through the socket of this number, has no threads and
has joined nothing; everything from ``main`` to Python's end happens in the fork. How a program starts from nothing is
tested in test/cli.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import socket
import subprocess
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec

#: What most programs need. Beside rclpy the other graph is never loaded, see ``vds_gz.core.ros.open_graph``.
IMPORTED = ["vds_gz.programs.nodes.sim_node", "vds_gz.cli.drive", "vds_gz.cli.record"]
IMPORTED += ["vds_gz.cli.view"] if find_spec("aiohttp") else []
IMPORTED += [] if find_spec("rclpy") else ["vds_gz.core.ros.dds", "rosbags.typesys.stores.ros2_jazzy"]

LONGEST_REQUEST = 1 << 17


class Fork:
    """A program, to be used as a ``subprocess.Popen`` of it: with what it says as ``stdout``."""

    def __init__(self, module: str, *arguments: str) -> None:
        output, program_output = os.pipe()
        self._keeper, keeper = socket.socketpair()
        request = pickle.dumps((module, arguments, dict(os.environ), os.getcwd(), sys.path))
        socket.send_fds(_server(), [request], [program_output, keeper.fileno()])
        os.close(program_output)
        keeper.close()
        self.stdout = os.fdopen(output, errors="backslashreplace")
        self.returncode: int | None = None
        self.pid = self._number()

    def _number(self) -> int:
        number = self._keeper.recv(4, socket.MSG_WAITALL)
        assert number, "whoever keeps the program has died, or could not begin it"
        return int.from_bytes(number, "little", signed=True)

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, negative for a signal, when it has ended."""
        if self.returncode is None:
            if not select.select([self._keeper], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired([], timeout or 0.0)
            self.returncode = self._number()
            self._keeper.close()
        return self.returncode

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        try:
            return self.wait(0.0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@cache
def _server() -> socket.socket:
    """The socket at which this process asks the one that has imported everything, which ends with it."""
    ours, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", "helpers.forks", str(theirs.fileno())]
    paths = os.pathsep.join([os.path.dirname(os.path.dirname(__file__)), *filter(None, sys.path)])
    subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}, pass_fds=[theirs.fileno()])
    theirs.close()
    return ours


def serve(requests: socket.socket) -> int:
    """Fork as often as is asked; in each fork the exit code of its program, and 0 here at the end."""
    for module in IMPORTED:
        import_module(module)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for pytest
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        request, files, *_ = socket.recv_fds(requests, LONGEST_REQUEST, 2)
        if not request:
            return 0
        if os.fork() == 0:
            requests.close()
            return keep(request, *files)
        for file in files:
            os.close(file)


def keep(request: bytes, output: int, keeper: int) -> int:
    """Fork once more, and say of that program its number and, later, its exit code; in the program its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    program = os.fork()
    if program == 0:
        os.close(keeper)
        return run(output, *pickle.loads(request))
    os.close(output)
    _tell(keeper, program)
    _, status = os.waitpid(program, 0)
    _tell(keeper, os.waitstatus_to_exitcode(status))
    os._exit(0)


def _tell(keeper: int, number: int) -> None:
    os.write(keeper, number.to_bytes(4, "little", signed=True))


def run(
    output: int, module: str, arguments: list[str], environment: dict[str, str], folder: str, paths: list[str]
) -> int:
    """The program itself, as its console script calls it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for standard in (1, 2):
        os.dup2(output, standard)
    os.close(output)
    os.environ.clear()
    os.environ.update(environment)
    # As the one who asks has them now; at the server's start they may have been those of another test.
    more = environment.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:] = [*(one for one in more if one and one not in paths), *paths]
    os.chdir(folder)
    sys.argv = [module, *arguments]
    return int(import_module(module).main())


if __name__ == "__main__":
    sys.exit(serve(socket.socket(fileno=int(sys.argv[1]))))
