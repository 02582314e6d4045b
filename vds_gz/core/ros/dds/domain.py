"""The DDS domain, joined as ROS nodes do: by the environment variables that all of them read."""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from vds_gz.core.errors import ArgumentError
from vds_gz.core.ros.dds.cyclone_library import CycloneLibrary, already_exists
from vds_gz.core.ros.messages.portable import MessageTypes

_RANGES = ("SUBNET", "LOCALHOST", "OFF", "SYSTEM_DEFAULT")
_LARGEST_ID = 232  # the port numbers of higher domains would exceed 65535
_FAST_DDS = "1.15"  # its vendor number
_LARGEST_INDEX = 32  # of a participant on a host, from 0
_GET_ADDRESS, _GET_FLAGS = 0x8915, 0x8913  # SIOCGIFADDR, SIOCGIFFLAGS
_UP, _LOOPBACK, _MULTICAST = 0x1, 0x8, 0x1000


@dataclass(frozen=True, slots=True)
class Context:
    """A node's place in the DDS domain."""

    library: CycloneLibrary
    participant: int
    types: MessageTypes
    warn: Callable[[str], None]  # reports problems that are not the node's fault


@dataclass(frozen=True, slots=True)
class Interfaces:
    """Properties of the interfaces that are up and have an IPv4 address, without the loopback interface."""

    known: bool  # whether this system reports them; if not, the rest is a guess
    any: bool = True  # whether there are any
    multicast: bool = True  # whether any of them can do multicast


@dataclass(frozen=True, slots=True)
class Discovery:
    """Settings by which nodes find each other."""

    domain: int  # the domain's number
    reach: str = "SUBNET"  # SUBNET, LOCALHOST, OFF or SYSTEM_DEFAULT
    peers: tuple[str, ...] = ()  # further hosts on which to look for nodes
    loopback: bool = False  # also use the loopback interface
    uri: str = ""  # the user's own configuration of Cyclone DDS, which overrides the rest
    warning: str = ""  # a warning for the user, or empty
    finding: str = ""  # on the network, for debugging; or empty

    def configuration(self) -> str:
        """The same configuration of Cyclone DDS as ROS's own nodes make, followed by the user's.

        Type information of Fast DDS peers is ignored, as ROS identifies types by their names.
        """
        settings = f"<Compatibility><IgnoreTypeInformation>{_FAST_DDS}</IgnoreTypeInformation></Compatibility>"
        settings += f"<General>{self._general()}</General>" if self._general() else ""
        settings += f"<Discovery>{self._discovery()}</Discovery>" if self._discovery() else ""
        return f"<CycloneDDS><Domain>{settings}</Domain></CycloneDDS>,{self.uri}"

    def _general(self) -> str:
        multicast = "<AllowMulticast>false</AllowMulticast>" if self.reach in ("LOCALHOST", "OFF") else ""
        # Nodes that look only on their own host send over the loopback interface. Since version 11, Cyclone DDS ignores
        # them unless it uses that interface, too.
        both = '<NetworkInterface autodetermine="true"/><NetworkInterface address="127.0.0.1"/>'
        return multicast + (f"<Interfaces>{both}</Interfaces>" if self.loopback else "")

    def _discovery(self) -> str:
        if self.reach == "SYSTEM_DEFAULT":
            return ""
        if self.reach == "OFF":
            return f"<ParticipantIndex>none</ParticipantIndex><Tag>ros_discovery_off_{os.getpid()}</Tag>"
        hosts = ("localhost", *self.peers) if self.reach == "LOCALHOST" else self.peers
        peers = "".join(f"<Peer address={quoteattr(host)}/>" for host in hosts)
        # Hosts that do not respond are tried again indefinitely; since version 11, Cyclone DDS would soon give up.
        return (
            f"<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>{_LARGEST_INDEX}"
            f"</MaxAutoParticipantIndex>{f'<Peers>{peers}</Peers>' if peers else ''}"
            "<SPDPInterval>5s</SPDPInterval><InitialLocatorPruneDelay>inf</InitialLocatorPruneDelay>"
        )


def discovery(environment: Mapping[str, str], interfaces: Interfaces) -> Discovery:
    """The discovery settings from the environment."""
    warning = finding = ""
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
        finding = "no network interface but the loopback one can do multicast: nodes are looked for on this host only"
        reach = "LOCALHOST"
    uri = environment.get("CYCLONEDDS_URI", "")
    peers = tuple(peer for peer in environment.get("ROS_STATIC_PEERS", "").split(";") if peer)
    # Interfaces in the user's own configuration would be added to ours instead of replacing them.
    loopback = reach in ("SUBNET", "LOCALHOST") and interfaces.known and interfaces.any and not uri
    return Discovery(_domain_id(environment), reach, peers, loopback, uri, warning, finding)


def join(library: CycloneLibrary, how: Discovery) -> int:
    """A new participant in the domain; the first one of the process also sets up the domain."""
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
        f"DDS domain {how.domain} cannot be joined; at most {_LARGEST_INDEX + 1} processes on one host can",
    )


def leave(library: CycloneLibrary, participant: int, domain: int) -> None:
    """Delete a participant with its contents, and the domain after the process's last participant."""
    parent = library.c.dds_get_parent(participant)
    library.c.dds_delete(participant)
    if library.c.dds_lookup_participant(domain, None, 0) == 0:
        library.c.dds_delete(parent)


def interfaces() -> Interfaces:
    """The interfaces of this host."""
    if sys.platform != "linux":
        return Interfaces(known=False)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        flags = [_flags(probe, name) for _, name in socket.if_nameindex()]
    usable = [flag for flag in flags if flag & _UP and not flag & _LOOPBACK]
    return Interfaces(known=True, any=bool(usable), multicast=any(flag & _MULTICAST for flag in usable))


def _flags(probe: socket.socket, name: str) -> int:
    """The flags of an interface; 0 if it has no IPv4 address."""
    import fcntl

    request = struct.pack("16s24x", name.encode())
    try:
        fcntl.ioctl(probe, _GET_ADDRESS, request)
        response = fcntl.ioctl(probe, _GET_FLAGS, request)
    except OSError:
        return 0
    return int(struct.unpack_from("H", response, 16)[0])


def _domain_id(environment: Mapping[str, str]) -> int:
    text = environment.get("ROS_DOMAIN_ID", "") or "0"
    if not text.isdecimal() or int(text) > _LARGEST_ID:
        raise ArgumentError(
            f"environment variable ROS_DOMAIN_ID is '{text}'; it must be a whole number from 0 to {_LARGEST_ID}"
        )
    return int(text)
