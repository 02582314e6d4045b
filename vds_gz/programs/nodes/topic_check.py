"""Finds out why messages do not arrive, or come from two nodes: types and quality of service that do not match, two
clocks, messages that no node reads. Each fault is logged once, with its remedy, and stays in the diagnostics.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches

from vds_gz.core.ros.graph import Endpoint, Graph, Severity
from vds_gz.programs.interface import topics

#: A fault must be there this many times in succession: nodes that start or end are known in part for a moment.
TIMES = 2

#: A fault that comes and goes is logged again after this time [s].
AGAIN = 60.0

#: Maximum number of faults that are shown.
MOST = 8

POSES = ("geometry_msgs/msg/PoseStamped", topics.INITIALPOSE.type)
GOAL = "goal_pose"

#: Types of commands that other topics than commands often have too.
COMMON = ("std_msgs/msg/Float64", "geometry_msgs/msg/TwistStamped")


_OF_RVIZ = re.compile(r"node '\S*/rviz\w*' publishes \S+, which no node reads")


class TopicCheck:
    """The faults of a node's topics.

    Attributes:
        faults: Each in words, with its remedy.
        findings: Possible faults that need no action: RViz announces its topic of goals before it sends one.
    """

    def __init__(self, graph: Graph, commands: Collection[Endpoint]) -> None:
        """Check the topics of a node; ``commands`` are its subscriptions of commands."""
        self.faults: tuple[str, ...] = ()
        self.findings: tuple[str, ...] = ()
        self._graph = graph
        self._commands = commands
        self._seen: dict[str, int] = {}
        self._logged: dict[str, float] = {}

    def look(self) -> None:
        """Look at the graph."""
        found = list(dict.fromkeys(self._all()))[:MOST]
        self._seen = {fault: self._seen.get(fault, 0) + 1 for fault in found}
        lasting = [fault for fault, times in self._seen.items() if times >= TIMES]
        self.findings = tuple(fault for fault in lasting if _OF_RVIZ.search(fault))
        self.faults = tuple(fault for fault in lasting if fault not in self.findings)
        now = time.monotonic()
        for fault in lasting:
            if now - self._logged.get(fault, -math.inf) >= AGAIN:
                self._graph.log(Severity.WARN, fault)
            self._logged[fault] = now
        if len(self._logged) > 100 * MOST:
            self._logged.clear()

    def _all(self) -> Iterator[str]:
        opened = list(self._graph.opened)
        for topic in dict.fromkeys(ours.topic for ours in opened):
            there = self._graph.endpoints(topic)
            own = [endpoint for endpoint in opened if endpoint.topic == topic]
            yield from _several_clocks([e for e in there if e.publishes], any(ours.publishes for ours in own))
            for ours in own:
                for theirs in there:
                    if theirs.publishes != ours.publishes:
                        yield from self._mismatch(ours, theirs)
        yield from self._unread_topics({ours.topic for ours in opened})

    def _mismatch(self, ours: Endpoint, theirs: Endpoint) -> Iterator[str]:
        """Why one of our endpoints and one of the other side do not match."""
        who = f"topic '{ours.topic}': {_name(theirs)}"
        if theirs.type != ours.type:
            verbs = ("publishes", "reads") if theirs.publishes else ("reads", "publishes")
            fitting = self._topic_of(theirs.type) if theirs.publishes else ""
            remedy = f"this node reads that type on '{fitting}'" if fitting else ""
            yield (
                f"{who} {verbs[0]} {theirs.type}, but this node {verbs[1]} {ours.type}, so nothing arrives; "
                f"{remedy or f'{_name(theirs)} must use {ours.type}, or another topic'}"
            )
        elif policy := ours.incompatible(theirs):
            words = {"reliability": ("best effort", "reliable"), "durability": ("volatile", "transient local")}[policy]
            which = ("offers", "requests") if theirs.publishes else ("requests", "offers")
            verb = "offer" if theirs.publishes else "request"
            pair = words if theirs.publishes else words[::-1]
            yield (
                f"{who} {which[0]} an incompatible QoS, so nothing arrives. Incompatible policy: {policy}: it "
                f"{which[0]} {pair[0]}, this node {which[1]} {pair[1]}; let it {verb} {pair[1]}"
            )

    def _unread_topics(self, ours: Collection[str]) -> Iterator[str]:
        """Publishers of commands and poses on topics that no node reads."""
        commanded = any(
            endpoint.publishes and endpoint.type == sub.type
            for sub in self._commands
            for endpoint in self._graph.endpoints(sub.topic)
        )
        for topic, types in self._graph.topic_types().items():
            near = topic.rpartition("/")[0] in ("", self._graph.namespace.rstrip("/"))
            remedy = "" if topic in ours or not near else self._remedy(topic, types, commanded)
            if not remedy:
                continue
            there = self._graph.endpoints(topic)
            if any(not e.publishes for e in there) or not any(e.publishes for e in there):
                continue
            names = list(dict.fromkeys(_name(e) for e in there if e.publishes))
            verb = "publish" if len(names) > 1 else "publishes"
            yield f"topic '{topic}': {' and '.join(names)} {verb} {types[0]}, which no node reads; {remedy}"

    def _remedy(self, topic: str, types: Sequence[str], commanded: bool) -> str:
        """What to do about messages on another topic; empty if they are not meant for a vehicle."""
        name, kind = topic.rpartition("/")[2], types[0]
        if kind in POSES:
            place = self._topic_of(topics.INITIALPOSE.type)
            if not place:  # a relay, whose robot may be placed by others
                return ""
            if get_close_matches(name, (topics.INITIALPOSE.name,), cutoff=0.7):
                return f"this node reads {topics.INITIALPOSE.type} on '{place}'"
            if get_close_matches(name, (GOAL,), cutoff=0.8):
                return (
                    f"a goal needs a navigation system such as Nav2; to place the vehicle, publish "
                    f"{topics.INITIALPOSE.type} on '{place}' (in RViz: 2D Pose Estimate)"
                )
            return ""
        fitting = next((command.topic for command in self._commands if command.type == kind), "")
        meant = kind not in COMMON or get_close_matches(name, ("cmd_vel", fitting.rpartition("/")[2]), cutoff=0.7)
        if not fitting or commanded or not meant:
            return ""
        return f"publish on '{fitting}', or start this node with -r {fitting.rpartition('/')[2]}:={topic}"

    def _topic_of(self, type_name: str) -> str:
        """The topic on which this node reads a type; empty if there is none."""
        inputs = (ours for ours in self._graph.opened if not ours.publishes)
        return next((ours.topic for ours in inputs if ours.type == type_name), "")


def _several_clocks(publishers: Sequence[Endpoint], ours: bool) -> Iterator[str]:
    if len(publishers) > 1 and {endpoint.type for endpoint in publishers} == {topics.CLOCK.type}:
        names = " and ".join(sorted({_name(endpoint) for endpoint in publishers}))
        rest = ", or set be_reference_clock: false here" if ours else ""
        yield (
            f"topic '{publishers[0].topic}' has {len(publishers)} publishers, {names}; time jumps between theirs, and "
            f"vehicles stand still. Only one may publish it: end the others{rest}"
        )


def _name(endpoint: Endpoint) -> str:
    return f"node '{endpoint.node}'" if endpoint.node else "a node without a name"
