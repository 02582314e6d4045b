"""``vds-gz view``: shows a running vehicle in the browser, and drives it from there."""

from __future__ import annotations

import argparse
import asyncio
import errno
import socket

from aiohttp import web

from vds_gz.cli.shared_options import whole
from vds_gz.core.errors import FailureError
from vds_gz.core.parameters.teleop import OUTPUTS
from vds_gz.core.ros.arguments import check_namespace, check_node_name, parse
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.core.ros.program_shell import CommandLine, StopRequest, command, on_signals
from vds_gz.programs.web.access import Access, request_log
from vds_gz.programs.web.graph_thread import GraphThread
from vds_gz.programs.web.page_server import PageServer
from vds_gz.programs.web.watched_vehicle import AUTO, WatchedVehicle

NODE_NAME = "view"

DESCRIPTION = """
Show a running vehicle in the browser: pose, path, wheels, references and responses of its
actuators. The page changes parameters and drives the vehicle by touch, keyboard or gamepad. The vehicle may
start before or after this program, and may be in Gazebo.
"""

EPILOG = """
examples:
  vds-gz view                                        the vehicle without a namespace, at http://127.0.0.1:8088/
  vds-gz view --namespace /red --namespace /blue     two vehicles; the page has a list to choose from
  vds-gz view --host 0.0.0.0                         from other machines too, with the token it prints
"""


@command(NODE_NAME)
def main(argv: list[str]) -> int:
    """Serve the page until the user ends it."""
    arguments = parse(argv, NODE_NAME)
    options = _parser().parse_args(arguments.rest)
    arguments.refuse_parameters()
    namespaces = [check_namespace(name, "--namespace") for name in options.namespace or [arguments.namespace]]
    check_node_name(options.node, "--node")
    listening = _listen(options.host, options.port)
    stop = on_signals()
    graph = open_graph(arguments, NODE_NAME)
    vehicles = {name: WatchedVehicle(graph, name, options.node, options.output) for name in namespaces}
    access = Access(options.host, options.token)

    def due() -> None:
        for vehicle in vehicles.values():
            vehicle.tick()

    def end() -> None:
        for vehicle in vehicles.values():
            vehicle.driver.end()

    thread = GraphThread(graph, due, end, stop)
    print(f"the page is at {_address(options.host, listening, access.token)}", flush=True)
    try:
        asyncio.run(_serve(PageServer(thread, vehicles, access), listening, stop))
    finally:
        thread.close()
    return int(thread.failed)


async def _serve(server: PageServer, listening: socket.socket, stop: StopRequest) -> None:
    """Serve until a stop is requested."""
    runner, stopped = web.AppRunner(server.application, access_log=None, logger=request_log()), asyncio.Event()
    loop = asyncio.get_running_loop()
    await runner.setup()
    listener = await server.connections.listen(runner, sock=listening)
    watching = asyncio.create_task(server.connections.watch())
    stop.wakes(lambda: loop.call_soon_threadsafe(stopped.set))
    if not stop.requested:
        await stopped.wait()
    stop.wakes(lambda: None)  # the loop will soon be closed
    listener.close()
    watching.cancel()
    await runner.cleanup()


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (")[0]
        remedy = "; --port 0 takes any free one" if error.errno == errno.EADDRINUSE else ""
        raise FailureError(f"cannot listen at {host}, port {port}: {reason}{remedy}") from None


def _address(host: str, listening: socket.socket, token: str) -> str:
    """The address for a browser."""
    shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    shown = f"[{shown}]" if ":" in shown else shown
    return f"http://{shown}:{listening.getsockname()[1]}/" + (f"?token={token}" if token else "")


def _parser() -> argparse.ArgumentParser:
    parser = CommandLine("vds-gz view", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (127.0.0.1: this machine only)")
    parser.add_argument("--port", type=whole(0, 65535), default=8088, help="port to listen at; 0: any free one (8088)")
    parser.add_argument("--token", action="store_true", help="ask for a token even if only this machine can connect")
    parser.add_argument("--namespace", action="append", metavar="NAME", help="the vehicle's namespace; repeatable")
    parser.add_argument("--node", default="sim_node", metavar="NAME", help="name of the vehicle's node (sim_node)")
    parser.add_argument(
        "--output",
        choices=(AUTO, *OUTPUTS),
        default=AUTO,
        help="type of the commands; auto: ackermann for a vehicle with steered wheels and one drive, else twist (auto)",
    )
    return parser
