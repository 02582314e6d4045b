"""The DDS domain as a ROS node joins it: by the environment variables that every ROS node obeys."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from vds_gz.ros.dds.library import already_exists, check
from vds_gz.ros.errors import ArgumentError

_RANGES = ("SUBNET", "LOCALHOST", "OFF", "SYSTEM_DEFAULT")
_LARGEST_ID = 232  # the port numbers of higher domains would exceed 65535
_FAST_DDS = "1.15"
_INTERFACES = Path("/sys/class/net")
_UP, _LOOPBACK, _MULTICAST = 0x1, 0x8, 0x1000


@dataclass(frozen=True, slots=True)
class Discovery:
    """How nodes are found.

    Attributes:
        domain: The domain's number.
        reach: SUBNET, LOCALHOST, OFF or SYSTEM_DEFAULT.
        peers: Hosts to ask besides.
        uri: The user's own configuration of Cyclone DDS, which overrides all.
        notes: What a user may want to know about the choice.
    """

    domain: int
    reach: str
    peers: tuple[str, ...] = ()
    uri: str = ""
    notes: tuple[str, ...] = ()

    def configuration(self) -> str:
        """The configuration of Cyclone DDS that ROS's own node would make, and the user's after it.

        Type information of Fast DDS peers is ignored: theirs never equals ours, and ROS goes by type names.
        """
        own = f"<Compatibility><IgnoreTypeInformation>{_FAST_DDS}</IgnoreTypeInformation></Compatibility>"
        if self.reach in ("LOCALHOST", "OFF"):
            own += "<General><AllowMulticast>false</AllowMulticast></General>"
        if self.reach == "OFF":
            tag = f"ros_discovery_off_{os.getpid()}"
            own += f"<Discovery><ParticipantIndex>none</ParticipantIndex><Tag>{tag}</Tag></Discovery>"
        elif self.reach != "SYSTEM_DEFAULT":
            hosts = ("localhost", *self.peers) if self.reach == "LOCALHOST" else self.peers
            peers = "".join(f"<Peer address={quoteattr(host)}/>" for host in hosts)
            peers = f"<Peers>{peers}</Peers>" if peers else ""
            own += ("<Discovery><ParticipantIndex>auto</ParticipantIndex>"
                    f"<MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>{peers}</Discovery>")
        return f"<CycloneDDS><Domain>{own}</Domain></CycloneDDS>,{self.uri}"


def discovery(environment: Mapping[str, str], multicast: bool) -> Discovery:
    """What the environment says.

    Args:
        environment: ``ROS_DOMAIN_ID``, ``ROS_AUTOMATIC_DISCOVERY_RANGE``, ``ROS_STATIC_PEERS`` ...
        multicast: Whether any network interface can find other hosts by multicast.

    Raises:
        ArgumentError: The domain's number is none.
    """
    notes = []
    reach = environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "") or "SUBNET"
    if environment.get("ROS_LOCALHOST_ONLY") == "1":
        reach = "LOCALHOST"
    if reach not in _RANGES:
        notes.append(f"ROS_AUTOMATIC_DISCOVERY_RANGE is '{reach}'; it must be one of {', '.join(_RANGES)}. "
                     "Taken as LOCALHOST")
        reach = "LOCALHOST"
    if reach == "SUBNET" and not multicast:
        notes.append("no network interface but the loopback one can do multicast; looking for nodes on this host only")
        reach = "LOCALHOST"
    peers = tuple(peer for peer in environment.get("ROS_STATIC_PEERS", "").split(";") if peer)
    return Discovery(_domain_id(environment), reach, peers, environment.get("CYCLONEDDS_URI", ""), tuple(notes))


def multicast_interface_exists() -> bool:
    """Whether any interface that is up, other than loopback, can do multicast. Where that cannot be told, yes."""
    if sys.platform != "linux":
        return True
    return any(_can_multicast(interface) for interface in _INTERFACES.iterdir())


def join(library: Any, how: Discovery) -> int:
    """A participant in the domain, which is set up first if this process has not done so yet.

    Raises:
        GraphError: It cannot be made.
    """
    created = library.dds_create_domain(how.domain, how.configuration().encode())
    if not already_exists(created):
        user = f" (CYCLONEDDS_URI is {how.uri!r})" if how.uri else ""
        check(library, created, f"DDS domain {how.domain} cannot be set up{user}")
    qos = library.dds_create_qos()
    enclave = b"enclave=/;"
    library.dds_qset_userdata(qos, enclave, len(enclave))
    participant = library.dds_create_participant(how.domain, qos, None)
    library.dds_delete_qos(qos)
    return check(library, participant, f"DDS domain {how.domain} cannot be joined; 33 nodes on one host are the most")


def leave(library: Any, participant: int, domain: int) -> None:
    """Delete a participant and all that is in it, and the domain after the process's last one."""
    parent = library.dds_get_parent(participant)
    library.dds_delete(participant)
    if library.dds_lookup_participant(domain, None, 0) == 0:
        library.dds_delete(parent)


def _domain_id(environment: Mapping[str, str]) -> int:
    text = environment.get("ROS_DOMAIN_ID", "") or "0"
    if not text.isdecimal() or int(text) > _LARGEST_ID:
        raise ArgumentError(f"environment variable ROS_DOMAIN_ID is '{text}'; "
                            f"it must be a whole number from 0 to {_LARGEST_ID}")
    return int(text)


def _can_multicast(interface: Path) -> bool:
    try:
        flags = int((interface / "flags").read_text(), 16)
    except (OSError, ValueError):
        return False
    return flags & (_UP | _MULTICAST | _LOOPBACK) == (_UP | _MULTICAST)
