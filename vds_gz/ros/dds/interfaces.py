"""Which network interfaces this host has, as far as finding other nodes goes."""

from __future__ import annotations

import socket
import struct
import sys
from dataclasses import dataclass

_GET_ADDRESS, _GET_FLAGS = 0x8915, 0x8913  # SIOCGIFADDR, SIOCGIFFLAGS
_UP, _LOOPBACK, _MULTICAST = 0x1, 0x8, 0x1000


@dataclass(frozen=True, slots=True)
class Interfaces:
    """What the interfaces that are up and have an IPv4 address can do, the loopback one aside.

    Attributes:
        known: Whether this can be found out on this system; if not, the rest is a guess.
        any: Whether there is one at all.
        multicast: Whether one of them can do multicast.
    """

    known: bool
    any: bool = True
    multicast: bool = True


def interfaces() -> Interfaces:
    """The interfaces of this host."""
    if sys.platform != "linux":
        return Interfaces(known=False)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        flags = [_flags(probe, name) for _, name in socket.if_nameindex()]
    usable = [flag for flag in flags if flag & _UP and not flag & _LOOPBACK]
    return Interfaces(known=True, any=bool(usable), multicast=any(flag & _MULTICAST for flag in usable))


def _flags(probe: socket.socket, name: str) -> int:
    """The flags of an interface, none where it has no IPv4 address."""
    import fcntl

    request = struct.pack("16s24x", name.encode())
    try:
        fcntl.ioctl(probe, _GET_ADDRESS, request)
        response = fcntl.ioctl(probe, _GET_FLAGS, request)
    except OSError:
        return 0
    return int(struct.unpack_from("H", response, 16)[0])
