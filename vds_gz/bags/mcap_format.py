"""What MCAP files are made of: https://mcap.dev/spec."""

from __future__ import annotations

import struct
from enum import IntEnum

MAGIC = b"\x89MCAP0\r\n"

#: How ROS 2 is named in MCAP: the profile, the encoding of messages, and that of their definitions.
PROFILE, CDR, DEFINITION = "ros2", "cdr", "ros2msg"

#: The compression of chunks.
ZSTD = "zstd"

#: A record before its body: opcode, length.
RECORD = struct.Struct("<BQ")

#: A message before its data: opcode, length, channel, sequence, log time, publish time [ns].
MESSAGE = struct.Struct("<BQHIQQ")


class Opcode(IntEnum):
    """What a record is."""

    HEADER = 1
    FOOTER = 2
    SCHEMA = 3
    CHANNEL = 4
    MESSAGE = 5
    CHUNK = 6
    MESSAGE_INDEX = 7
    CHUNK_INDEX = 8
    STATISTICS = 11
    METADATA = 12
    METADATA_INDEX = 13
    SUMMARY_OFFSET = 14
    DATA_END = 15
