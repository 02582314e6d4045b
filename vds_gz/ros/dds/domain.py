"""The DDS domain as a ROS node joins it: by the environment variables that every ROS node obeys."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from vds_gz.errors import ArgumentError
from vds_gz.ros.dds.interfaces import Interfaces
from vds_gz.ros.dds.library import Library, already_exists

_RANGES = ("SUBNET", "LOCALHOST", "OFF", "SYSTEM_DEFAULT")
_LARGEST_ID = 232  # the port numbers of higher domains would exceed 65535
_FAST_DDS = "1.15"
_MOST_PER_HOST = 32


@dataclass(frozen=True, slots=True)
class Discovery:
    """How nodes are found.

    Attributes:
        domain: The domain's number.
        reach: SUBNET, LOCALHOST, OFF or SYSTEM_DEFAULT.
        peers: Hosts to look for nodes on besides.
        loopback: Use the loopback interface beside the one that leads elsewhere.
        uri: The user's own configuration of Cyclone DDS, which overrides all.
        warning: What a user should know; empty for nothing.
        note: What a user who looks closely may want to know; empty for nothing.
    """

    domain: int
    reach: str = "SUBNET"
    peers: tuple[str, ...] = ()
    loopback: bool = False
    uri: str = ""
    warning: str = ""
    note: str = ""

    def configuration(self) -> str:
        """The configuration of Cyclone DDS that ROS's own node would make, and the user's after it.

        Type information of Fast DDS peers is ignored, as ROS goes by the names of types.
        """
        own = f"<Compatibility><IgnoreTypeInformation>{_FAST_DDS}</IgnoreTypeInformation></Compatibility>"
        own += f"<General>{self._general()}</General>" if self._general() else ""
        own += f"<Discovery>{self._discovery()}</Discovery>" if self._discovery() else ""
        return f"<CycloneDDS><Domain>{own}</Domain></CycloneDDS>,{self.uri}"

    def _general(self) -> str:
        multicast = "<AllowMulticast>false</AllowMulticast>" if self.reach in ("LOCALHOST", "OFF") else ""
        # Nodes that look only on their own host send by way of the loopback interface, even where they live on another
        # one. Cyclone DDS since version 11 ignores them unless it uses that interface, too.
        both = '<NetworkInterface autodetermine="true"/><NetworkInterface address="127.0.0.1"/>'
        return multicast + (f"<Interfaces>{both}</Interfaces>" if self.loopback else "")

    def _discovery(self) -> str:
        if self.reach == "SYSTEM_DEFAULT":
            return ""
        if self.reach == "OFF":
            return f"<ParticipantIndex>none</ParticipantIndex><Tag>ros_discovery_off_{os.getpid()}</Tag>"
        hosts = ("localhost", *self.peers) if self.reach == "LOCALHOST" else self.peers
        peers = "".join(f"<Peer address={quoteattr(host)}/>" for host in hosts)
        # Hosts that do not respond are tried again and again; Cyclone DDS since version 11 would soon give them up.
        return (
            f"<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>{_MOST_PER_HOST}"
            f"</MaxAutoParticipantIndex>{f'<Peers>{peers}</Peers>' if peers else ''}"
            "<SPDPInterval>5s</SPDPInterval><InitialLocatorPruneDelay>inf</InitialLocatorPruneDelay>"
        )


def discovery(environment: Mapping[str, str], interfaces: Interfaces) -> Discovery:
    """How the environment says that nodes are found.

    Args:
        environment: ``ROS_DOMAIN_ID``, ``ROS_AUTOMATIC_DISCOVERY_RANGE``, ``ROS_STATIC_PEERS`` ...
        interfaces: What the network interfaces can do.

    Raises:
        ArgumentError: The domain's number is none.
    """
    warning = note = ""
    reach = environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "") or "SUBNET"
    if environment.get("ROS_LOCALHOST_ONLY") == "1":
        reach = "LOCALHOST"
    if reach not in _RANGES:
        warning = (
            f"ROS_AUTOMATIC_DISCOVERY_RANGE is '{reach}'; it must be one of {', '.join(_RANGES)}. "
            "Nodes are looked for on this host only"
        )
        reach = "LOCALHOST"
    if reach == "SUBNET" and not interfaces.multicast:
        note = "no network interface but the loopback one can do multicast: nodes are looked for on this host only"
        reach = "LOCALHOST"
    uri = environment.get("CYCLONEDDS_URI", "")
    peers = tuple(peer for peer in environment.get("ROS_STATIC_PEERS", "").split(";") if peer)
    # Interfaces the user names would be added to ours, not replace them; so ours are left out.
    loopback = reach in ("SUBNET", "LOCALHOST") and interfaces.known and interfaces.any and not uri
    return Discovery(_domain_id(environment), reach, peers, loopback, uri, warning, note)


def join(library: Library, how: Discovery) -> int:
    """A participant in the domain, which is set up first if this process has not done so yet.

    Raises:
        GraphError: It cannot be made.
    """
    created = library.c.dds_create_domain(how.domain, how.configuration().encode())
    if not already_exists(created):
        user = f" (CYCLONEDDS_URI is {how.uri!r})" if how.uri else ""
        library.check(created, f"DDS domain {how.domain} cannot be set up{user}")
    qos = library.c.dds_create_qos()
    enclave = b"enclave=/;"
    library.c.dds_qset_userdata(qos, enclave, len(enclave))
    participant = library.c.dds_create_participant(how.domain, qos, None)
    library.c.dds_delete_qos(qos)
    return library.check(
        participant,
        f"DDS domain {how.domain} cannot be joined; at most {_MOST_PER_HOST + 1} processes on one host can",
    )


def leave(library: Library, participant: int, domain: int) -> None:
    """Delete a participant and all that is in it, and the domain after the process's last one."""
    parent = library.c.dds_get_parent(participant)
    library.c.dds_delete(participant)
    if library.c.dds_lookup_participant(domain, None, 0) == 0:
        library.c.dds_delete(parent)


def _domain_id(environment: Mapping[str, str]) -> int:
    text = environment.get("ROS_DOMAIN_ID", "") or "0"
    if not text.isdecimal() or int(text) > _LARGEST_ID:
        raise ArgumentError(
            f"environment variable ROS_DOMAIN_ID is '{text}'; it must be a whole number from 0 to {_LARGEST_ID}"
        )
    return int(text)
