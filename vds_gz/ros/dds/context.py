"""What everything that one node has on the graph shares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vds_gz.ros.dds.library import Library
from vds_gz.ros.messages.portable import MessageTypes


@dataclass(frozen=True, slots=True)
class Context:
    """A node's place in the DDS domain.

    Attributes:
        library: Cyclone DDS.
        participant: The node's participant.
        types: Message types.
        warn: Reports to the user what went wrong without being the node's fault.
    """

    library: Library
    participant: int
    types: MessageTypes
    warn: Callable[[str], None]
