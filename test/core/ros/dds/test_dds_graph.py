import gc
import os
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from helpers.dds import PATIENCE, ROOT, Client, NodeList, until

from vds_gz.core.errors import ArgumentError, MalformedMessageError
from vds_gz.core.ros.arguments import parse
from vds_gz.core.ros.dds.cyclone_library import library_path
from vds_gz.core.ros.dds.domain import Discovery, Interfaces, discovery, interfaces
from vds_gz.core.ros.dds.endpoints import EndpointProperties, Reader
from vds_gz.core.ros.graph import QoS, Severity
from vds_gz.core.ros.open_graph import open_graph

TWIST, STRING, ODOMETRY = "geometry_msgs/msg/Twist", "std_msgs/msg/String", "nav_msgs/msg/Odometry"
Start = Callable[..., Any]
Join = Callable[..., Any]


def take_all(into: list[Any]) -> Callable[[Any, int], None]:
    return lambda message, _: into.append(message)


# Topics between processes


def test_two_processes_find_each_other_and_talk(start: Start, join: Join) -> None:
    graph = join()
    start("node")
    commands, got = graph.publisher("command", TWIST, QoS()), []
    graph.subscribe("echo", TWIST, QoS(), lambda message, arrival: got.append((message, arrival)))
    until(commands.subscription_count, graph)
    sent = graph.message(TWIST)
    sent.linear.x, sent.angular.z = 1.5, -2.0
    before = time.monotonic_ns()
    until(lambda: commands.publish(sent) or got, graph)
    message, arrival = got[0]
    assert (message.linear.x, message.angular.z) == (1.5, -2.0)
    assert before < arrival <= time.monotonic_ns()


def test_messages_arrive_in_order_and_the_object_may_be_filled_again(join: Join) -> None:
    graph, got = join(), []
    publisher = graph.publisher("~/odom", ODOMETRY, QoS(50))
    subscription = graph.subscribe("/probe/odom", ODOMETRY, QoS(50), take_all(got))
    until(lambda: publisher.subscription_count() and subscription.publisher_count(), graph)
    message = graph.message(ODOMETRY)
    message.pose.covariance = graph.numbers(36)
    for number in range(40):
        message.pose.pose.position.x = message.pose.covariance[0] = float(number)
        publisher.publish(message)
    until(lambda: len(got) == 40, graph)
    assert [m.pose.pose.position.x for m in got] == [m.pose.covariance[0] for m in got] == list(range(40))
    assert publisher.topic == subscription.topic == "/probe/odom"


def test_raw_messages_are_bytes(start: Start, join: Join) -> None:
    graph, got = join(), []
    start("raw", "rt/words", STRING, "0001000003000000686900 00".replace(" ", ""))
    graph.subscribe("words", STRING, QoS(), take_all(got), raw=True)
    until(lambda: got, graph)
    assert got[0] == b"\0\1\0\0\3\0\0\0hi\0\0"


def test_raw_messages_that_the_callback_finds_malformed_are_counted(start: Start, join: Join) -> None:
    graph = join()

    def refuse(data: bytes, arrival: int) -> None:
        raise MalformedMessageError("no words")

    subscription = graph.subscribe("words", STRING, QoS(), refuse, raw=True)
    start("raw", "rt/words", STRING, "0001000003000000686900 00".replace(" ", ""))
    until(lambda: subscription.malformed > 1, graph)


def test_large_messages_pass_whole(start: Start, join: Join) -> None:
    graph, got = join(), []
    clouds = graph.publisher("points", "sensor_msgs/msg/PointCloud2", QoS(2))
    graph.subscribe("points", "sensor_msgs/msg/PointCloud2", QoS(2), take_all(got))
    message = graph.message("sensor_msgs/msg/PointCloud2")
    message.data = np.arange(1_000_000, dtype=np.uint32).view(np.uint8)
    until(lambda: clouds.publish(message) or got, graph)
    assert np.array_equal(got[0].data, message.data)


def test_a_late_subscriber_gets_latched_messages(start: Start, join: Join) -> None:
    start("node", "--ros-args", "-r", "__ns:=/robot")
    graph, kept = join(), []
    until(graph.subscribe("/robot/chatter", STRING, QoS(), take_all([])).publisher_count, graph)
    graph.subscribe("/robot/map_name", STRING, QoS(1, transient_local=True), take_all(kept))
    until(lambda: kept, graph)
    assert kept[0].data == "the map"


def test_a_closed_publisher_is_gone_for_its_subscribers(join: Join) -> None:
    """Another publisher of the topic stays, and a new one can be made."""
    graph, got = join(), []
    stays, goes = (graph.publisher("command", TWIST, QoS()) for _ in range(2))
    here = join(name="here")
    subscription = here.subscribe("command", TWIST, QoS(), take_all(got))
    until(lambda: subscription.publisher_count() == 2, here)
    goes.close()
    goes.close()
    until(lambda: subscription.publisher_count() == 1, here)
    again = graph.publisher("command", TWIST, QoS())
    until(lambda: subscription.publisher_count() == 2 and again.subscription_count(), here)
    for publisher in (stays, again):
        publisher.publish(graph.message(TWIST))
    until(lambda: len(got) == 2, here)


def test_readers_are_counted_as_they_come_and_go(start: Start, join: Join) -> None:
    """Readers of other processes and of this one; a discarded publisher does no harm."""
    graph = join()
    graph.publisher("command", TWIST, QoS())
    commands = graph.publisher("command", TWIST, QoS())
    gc.collect()
    assert commands.subscription_count() == 0
    said: list[Any] = []
    graph.subscribe("chatter", STRING, QoS(), take_all(said))
    here = join(name="here")
    here.subscribe("command", TWIST, QoS(), take_all([]))
    until(lambda: commands.subscription_count() == 1, graph)
    for _ in range(2):
        said.clear()
        peer = start("node")
        # Once it has sent a message, the peer is complete, and will announce that it leaves.
        until(lambda: commands.subscription_count() == 2 and said, graph)
        peer.process.send_signal(signal.SIGINT)
        until(lambda: commands.subscription_count() == 1, graph)
    here.close()
    until(lambda: commands.subscription_count() == 0, graph)


def test_what_was_published_before_closing_still_arrives(start: Start, join: Join) -> None:
    graph, got = join(), []
    subscription = graph.subscribe("words", STRING, QoS(20), take_all(got))
    peer = start("farewell")
    until(lambda: len(got) == 10, graph)
    assert [message.data.split()[0] for message in got] == [str(number) for number in range(10)]
    until(lambda: subscription.publisher_count() == 0, graph)
    assert peer.process.wait(PATIENCE) == 0


def test_domains_stay_apart(start: Start, join: Join, other_domain: int) -> None:
    start("node")
    other, same = join(ROS_DOMAIN_ID=str(other_domain)), join()
    got: list[Any] = []
    apart = other.subscribe("chatter", STRING, QoS(), take_all(got))
    together = same.subscribe("chatter", STRING, QoS(), lambda message, arrival: None)
    until(together.publisher_count, same, other)
    other.wait(0.3)
    assert apart.publisher_count() == 0
    assert got == []


LOOPBACK = (
    "<CycloneDDS><Domain><General><AllowMulticast>false</AllowMulticast><Interfaces>"
    '<NetworkInterface address="127.0.0.1"/></Interfaces></General><Discovery><ParticipantIndex>auto'
    '</ParticipantIndex><Peers><Peer address="localhost"/></Peers></Discovery></Domain></CycloneDDS>'
)


@pytest.mark.parametrize("only", [{"CYCLONEDDS_URI": LOOPBACK}, {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}])
def test_nodes_that_are_on_this_host_only_are_found(start: Start, join: Join, only: dict[str, str]) -> None:
    graph = join()
    subscription = graph.subscribe("chatter", STRING, QoS(), lambda message, arrival: None)
    start("node", **only)
    until(subscription.publisher_count, graph)


def test_two_nodes_in_one_process(join: Join) -> None:
    first, second, got = join(name="first"), join(name="second"), []
    publisher = first.publisher("talk", STRING, QoS())
    subscription = second.subscribe("talk", STRING, QoS(), take_all(got))
    message = first.message(STRING)
    until(lambda: publisher.publish(message) or got, first, second)
    for _ in range(2):
        first.close()
    until(lambda: subscription.publisher_count() == 0, second)
    assert join(name="third").publisher("talk", STRING, QoS()).topic == "/talk"
    until(subscription.publisher_count, second)


def test_waiting_takes_as_long_as_asked_when_nothing_comes(join: Join) -> None:
    graph = join()
    for seconds in (0.0, 0.03, 0.25):
        began = time.monotonic()
        graph.wait(seconds)
        assert seconds <= time.monotonic() - began < seconds + 10.0


# What the graph knows of a node


def test_the_graph_knows_the_node_and_its_endpoints_until_it_leaves(start: Start, join: Join) -> None:
    graph = join()
    nodes = NodeList(graph)
    peer = start("node", "--ros-args", "-r", "__ns:=/robot", "-r", "__node:=car")
    node = until(lambda: (result := nodes().get("/robot/car")) and len(result.reader_gid_seq) == 8 and result, graph)
    assert len(node.writer_gid_seq) == 5 + 7
    gids = {bytes(gid.data) for gid in (*node.reader_gid_seq, *node.writer_gid_seq)}
    assert len(gids) == 20
    assert set(nodes()) == {"/probe", "/robot/car"}
    output = peer.stop()
    assert "Traceback" not in output
    until(lambda: set(nodes()) == {"/probe"}, graph)


def test_nodes_of_humble_have_longer_identities(start: Start, join: Join) -> None:
    graph = join(ROS_DISTRO="humble")
    nodes = NodeList(graph)
    start("node", "--ros-args", "-r", "__node:=car", ROS_DISTRO="humble")
    node = until(lambda: (result := nodes().get("/car")) and len(result.reader_gid_seq) == 8 and result, graph)
    gids = [bytes(gid.data) for gid in (*node.reader_gid_seq, *node.writer_gid_seq)]
    assert {(len(gid), gid[16:]) for gid in gids} == {(24, bytes(8))}
    assert len(set(gids)) == 20


def test_endpoints_announce_their_type_hash(start: Start, join: Join) -> None:
    graph = join()
    start("node")
    reader = Reader(graph.context, EndpointProperties("rt/chatter", STRING, QoS(), {}))
    writer = until(lambda: next((handle for _, handle in reader.take()), 0), graph)
    assert reader.writer_user_data(writer) == {"typehash": graph.context.types.hash(STRING)}


# Invalid data


@pytest.mark.parametrize(
    "payload",
    [
        "00010000 0000",
        "00010000 0000000000000000",
        "00010000 ffffffffffffffffffffffffffffffff",
        "00010000" + 100 * "00",
        "00070000" + 48 * "00",
    ],
)
def test_foreign_bytes_are_counted_and_reported_once(
    start: Start, join: Join, capfd: pytest.CaptureFixture[str], payload: str
) -> None:
    graph, got = join(), []
    subscription = graph.subscribe("command", TWIST, QoS(), take_all(got))
    good = "00010000" + 48 * "00"
    start("raw", "rt/command", TWIST, payload.replace(" ", ""), good)
    until(lambda: subscription.malformed > 2 and len(got) > 2, graph)
    assert graph.malformed == subscription.malformed
    said = capfd.readouterr().err
    assert said.count("topic '/command'") == 1
    assert f"are not a {TWIST}" in said


def test_names_that_ros_does_not_allow_are_not_offered(join: Join, domain: int) -> None:
    graph, path = join(), os.pathsep.join((str(ROOT), str(ROOT / "test")))
    words = [sys.executable, "-m", "helpers.hostile_peer", "1", "0", "teleop", "60"]
    peer = subprocess.Popen(words, env={**os.environ, "PYTHONPATH": path})
    try:
        offered = until(lambda: "/scan" in (result := graph.offers()) and "/joy" in result and result, graph)
        assert not {"/text", "/kind", "/empty", "/1abc/ground_truth", "//ground_truth", "/"} & offered.keys()
    finally:
        peer.kill()
        peer.wait()


def test_foreign_requests_are_counted_too(start: Start, join: Join) -> None:
    graph = join()
    graph.service("reset", "std_srvs/srv/SetBool", lambda request, response: None)
    start("raw", "rq/resetRequest", "std_srvs/srv/SetBool_Request", "0001000000000000")
    until(lambda: graph.malformed > 2, graph)


# Services


def test_a_service_answers(start: Start, join: Join) -> None:
    graph = join()
    start("node")
    client = Client(graph, "/peer/reset", "std_srvs/srv/Trigger")
    response = client.call(client.new_request())
    assert (response.success, response.message) == (True, "reset peer")


def test_a_reply_waits_for_a_client_that_is_not_known_yet(start: Start, join: Join) -> None:
    graph = join()
    start("node")
    client = Client(graph, "/peer/reset", "std_srvs/srv/Trigger")
    until(client.writer.matched, graph)
    header = client.send(client.new_request())
    graph.wait(0.1)
    assert until(lambda: client.reply(header), graph).success


# Log


def test_log_messages_are_on_the_terminal_and_on_rosout(join: Join, capfd: pytest.CaptureFixture[str]) -> None:
    graph, got = join("-r", "__ns:=/robot", "--log-level", "warn"), []
    graph.log(Severity.INFO, "not said")
    graph.set_time(12_345_678_900_000_001)
    graph.log(Severity.WARN, "too \udcff late")
    assert capfd.readouterr().err == "[WARN] [12345678.900000001] [robot.probe]: too \\udcff late\n"
    graph.subscribe("/rosout", "rcl_interfaces/msg/Log", QoS(10, transient_local=True), take_all(got))
    until(lambda: got, graph)
    assert (got[0].level, got[0].name, got[0].msg) == (30, "robot.probe", "too \\udcff late")
    assert (got[0].stamp.sec, got[0].stamp.nanosec) == (12_345_678, 900_000_001)


def test_lines_are_coloured_on_demand(start: Start) -> None:
    peer = start(
        "node",
        "--ros-args",
        "--log-level",
        "debug",
        ROS_AUTOMATIC_DISCOVERY_RANGE="nowhere",
        RCUTILS_COLORIZED_OUTPUT="1",
    )
    assert peer.process.stdout is not None
    line = peer.process.stdout.readline()
    assert line.startswith("\033[33m[WARN] [")
    assert "ROS_AUTOMATIC_DISCOVERY_RANGE is 'nowhere'; it must be one of SUBNET, LOCALHOST" in line


# Discovery settings


def xml(how: Discovery) -> ElementTree.Element:
    own, _, user = how.configuration().partition("</CycloneDDS>,")
    assert user == how.uri
    return ElementTree.fromstring(own + "</CycloneDDS>")


LAN = Interfaces(known=True)
ALONE = Interfaces(known=True, any=False, multicast=False)


@pytest.mark.parametrize(
    ("environment", "where", "reach"),
    [
        ({}, LAN, "SUBNET"),
        ({}, ALONE, "LOCALHOST"),
        ({}, Interfaces(known=False), "SUBNET"),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}, LAN, "LOCALHOST"),
        ({"ROS_LOCALHOST_ONLY": "1"}, LAN, "LOCALHOST"),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF"}, ALONE, "OFF"),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT"}, ALONE, "SYSTEM_DEFAULT"),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "subnet"}, LAN, "LOCALHOST"),
    ],
)
def test_reach(environment: dict[str, str], where: Interfaces, reach: str) -> None:
    assert discovery(environment, where).reach == reach


def test_configuration_for_this_host_only() -> None:
    how = discovery({"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_STATIC_PEERS": "10.0.0.5;a&b;"}, LAN)
    root = xml(how)
    assert root.findtext("Domain/General/AllowMulticast") == "false"
    assert [peer.get("address") for peer in root.iter("Peer")] == ["localhost", "10.0.0.5", "a&b"]
    assert [node.get("address") for node in root.iter("NetworkInterface")] == [None, "127.0.0.1"]


def test_configuration_with_the_users_settings() -> None:
    how = discovery({"CYCLONEDDS_URI": "file:///x.xml", "ROS_STATIC_PEERS": "10.0.0.5"}, LAN)
    root = xml(how)
    assert how.configuration().endswith("</CycloneDDS>,file:///x.xml")
    assert root.find("Domain/General") is None
    assert root.findtext("Domain/Discovery/ParticipantIndex") == "auto"
    assert [peer.get("address") for peer in root.iter("Peer")] == ["10.0.0.5"]


def test_configuration_off_and_system_default() -> None:
    off, default = xml(Discovery(0, "OFF")), xml(Discovery(0, "SYSTEM_DEFAULT"))
    assert off.findtext("Domain/Discovery/Tag") == f"ros_discovery_off_{os.getpid()}"
    assert default.find("Domain/Discovery") is None
    assert default.findtext("Domain/Compatibility/IgnoreTypeInformation") == "1.15"


@pytest.mark.parametrize("number", ["-1", "233", "five", "1.0", " 1"])
def test_an_invalid_domain_is_refused(number: str) -> None:
    with pytest.raises(ArgumentError, match=f"ROS_DOMAIN_ID is '{number}'; it must be a whole number from 0 to 232"):
        discovery({"ROS_DOMAIN_ID": number}, LAN)


def test_interfaces_of_this_host_are_known_on_linux() -> None:
    assert interfaces().known == (sys.platform == "linux")


# Opening


def test_forcing_a_graph(domain: int) -> None:
    graph = open_graph(["--ros-args", "-r", "__node:=car"], "node", {**os.environ, "VDS_GZ_GRAPH": "dds"})
    assert graph.name == "car"
    graph.close()
    with pytest.raises(ArgumentError, match="VDS_GZ_GRAPH is 'ros'; it must be dds or rclpy"):
        open_graph([], "node", {"VDS_GZ_GRAPH": "ros"})


def test_without_a_library_the_error_says_what_to_install(tmp_path: Path) -> None:
    import yaml

    (tmp_path / "yaml").symlink_to(Path(yaml.__file__).parent)
    code = "from vds_gz.core.ros.open_graph import open_graph; open_graph([], 'node', {})"
    run = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": f"{ROOT}:{tmp_path}"},
        timeout=PATIENCE,
    )
    assert "GraphError: without rclpy, rosbags and numpy must be installed" in run.stderr
    assert "pip install '.[dds]'" in run.stderr


def test_the_library_needs_no_wheel(tmp_path: Path, domain: int) -> None:
    """On platforms without a wheel ``CYCLONEDDS_HOME`` names an installation of the C library."""
    site, home = tmp_path / "site", tmp_path / "home"
    site.mkdir()
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if not package.name.startswith("cyclonedds"):
            (site / package.name).symlink_to(package)
    (home / "lib").mkdir(parents=True)
    (home / "lib" / "libddsc.so").symlink_to(str(library_path()))

    def run(**environment: str) -> subprocess.CompletedProcess[str]:
        code = (
            "from vds_gz.core.ros.open_graph import open_graph; open_graph([], 'node', {'VDS_GZ_GRAPH': 'dds'}).close()"
        )
        environment |= {"PYTHONPATH": f"{ROOT}:{site}", "ROS_DOMAIN_ID": str(domain)}
        command = [sys.executable, "-S", "-c", code]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=PATIENCE)

    done = run()
    assert "Cyclone DDS must be installed" in done.stderr
    assert "pip install '.[dds]'" in done.stderr
    done = run(CYCLONEDDS_HOME=str(home))
    assert done.returncode == 0, done.stderr


def test_a_remap_that_gives_a_topic_two_types_is_refused(domain):
    graph = open_graph(parse(["--ros-args", "-r", "twist:=odom"], "one"), "one")
    try:
        graph.publisher("odom", "nav_msgs/msg/Odometry", QoS())
        with pytest.raises(ArgumentError, match=r"'/odom' would have two types: .*Odometry .*Twist; remap"):
            graph.subscribe("twist", "geometry_msgs/msg/Twist", QoS(), print)
    finally:
        graph.close()
