"""Cyclone DDS as a C library: the few functions a node needs, called through ctypes.

The ``cyclonedds`` wheel brings the library. Where there is no wheel, ``CYCLONEDDS_HOME`` names an installation of the
library, as for Cyclone DDS's own tools. The wheel's Python classes are not used: they need type descriptions, which
ROS does not send, take tens of milliseconds per type to build, and check every message again. Messages are bytes here,
as in ROS's own ``rmw_cyclonedds``.
"""

from __future__ import annotations

import ctypes as c
import importlib.util
import os
import runpy
from pathlib import Path
from typing import Any

from vds_gz.core.errors import GraphError

INFINITE = 2**63 - 1
ANY_STATE = 127

#: Folder and name of the library in an installation: Linux, Linux on Fedora, macOS, Windows.
_FILES = (("lib", "libddsc.so"), ("lib64", "libddsc.so"), ("lib", "libddsc.dylib"), ("bin", "ddsc.dll"))

_PRECONDITION_NOT_MET = -4
_XCDR1 = 0
_SAMPLE_WITH_DATA = 2  # SDK_DATA, not only its key

_entity, _handle, _duration = c.c_int32, c.c_uint64, c.c_int64
_size, _pointer, _result = c.c_size_t, c.c_void_p, c.c_int32


class SampleInfo(c.Structure):
    """Information about a received sample (``dds_sample_info_t``)."""

    _fields_ = (
        ("sample_state", c.c_uint),
        ("view_state", c.c_uint),
        ("instance_state", c.c_uint),
        ("valid_data", c.c_bool),
        ("source_timestamp", c.c_int64),
        ("instance_handle", c.c_uint64),
        ("publication_handle", c.c_uint64),
        ("ranks", c.c_uint32 * 5),
    )


class BuiltinTopicEndpoint(c.Structure):
    """Information about a remote endpoint (``dds_builtintopic_endpoint_t``)."""

    _fields_ = (
        ("key", c.c_ubyte * 16),
        ("participant_key", c.c_ubyte * 16),
        ("participant_handle", c.c_uint64),
        ("topic_name", c.c_char_p),
        ("type_name", c.c_char_p),
        ("qos", c.c_void_p),
    )


class Bytes(c.Structure):
    """The memory of a bytearray (``ddsrt_iovec_t``), which cannot be resized while this object exists."""

    _fields_ = (("base", c.c_void_p), ("length", c.c_size_t))

    def __init__(self, data: bytearray) -> None:
        super().__init__(0, len(data))
        self.owner = c.c_char.from_buffer(data)
        self.base = c.addressof(self.owner)


class Matched(c.Structure):
    """Number of readers of a writer (``dds_publication_matched_status_t``)."""

    _fields_ = (
        ("total", c.c_uint32),
        ("total_change", c.c_int32),
        ("current", c.c_uint32),
        ("current_change", c.c_int32),
        ("last", c.c_uint64),
    )


#: Callback in a thread of the library, when a writer has gained or lost a reader.
OnMatched = c.CFUNCTYPE(None, c.c_int32, Matched, c.c_void_p)


class _TypeDescriptor(c.Structure):
    """The library's description of a type (``dds_topic_descriptor_t``)."""

    _fields_ = (
        ("size", c.c_uint32),
        ("align", c.c_uint32),
        ("flags", c.c_uint32),
        ("key_count", c.c_uint32),
        ("type_name", c.c_char_p),
        ("keys", c.c_void_p),
        ("operation_count", c.c_uint32),
        ("operations", c.POINTER(c.c_uint32)),
        ("meta", c.c_char_p),
        ("type_information", c.c_void_p * 2),
        ("type_mapping", c.c_void_p * 2),
        ("representation", c.c_uint32),
    )


# Result and arguments of every function used; `const` pointers to structures are plain pointers.
_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "dds_create_domain": (_entity, (c.c_uint32, c.c_char_p)),
    "dds_create_participant": (_entity, (c.c_uint32, _pointer, _pointer)),
    "dds_lookup_participant": (_result, (c.c_uint32, _pointer, _size)),
    "dds_create_topic": (_entity, (_entity, _pointer, c.c_char_p, _pointer, _pointer)),
    "dds_create_writer": (_entity, (_entity, _entity, _pointer, _pointer)),
    "dds_create_reader": (_entity, (_entity, _entity, _pointer, _pointer)),
    "dds_create_listener": (_pointer, (_pointer,)),
    "dds_lset_publication_matched": (None, (_pointer, OnMatched)),
    "dds_delete_listener": (None, (_pointer,)),
    "dds_create_readcondition": (_entity, (_entity, c.c_uint32)),
    "dds_create_guardcondition": (_entity, (_entity,)),
    "dds_set_guardcondition": (_result, (_entity, c.c_bool)),
    "dds_take_guardcondition": (_result, (_entity, _pointer)),
    "dds_create_waitset": (_entity, (_entity,)),
    "dds_waitset_attach": (_result, (_entity, _entity, c.c_ssize_t)),
    "dds_waitset_wait": (_result, (_entity, _pointer, _size, _duration)),
    "dds_get_parent": (_entity, (_entity,)),
    "dds_delete": (_result, (_entity,)),
    "dds_get_guid": (_result, (_entity, _pointer)),
    "dds_get_entity_sertype": (_result, (_entity, _pointer)),
    "dds_get_matched_subscriptions": (_result, (_entity, _pointer, _size)),
    "dds_get_matched_publications": (_result, (_entity, _pointer, _size)),
    "dds_get_matched_subscription_data": (c.POINTER(BuiltinTopicEndpoint), (_entity, _handle)),
    "dds_get_matched_publication_data": (c.POINTER(BuiltinTopicEndpoint), (_entity, _handle)),
    "dds_builtintopic_free_endpoint": (None, (c.POINTER(BuiltinTopicEndpoint),)),
    "dds_wait_for_acks": (_result, (_entity, _duration)),
    "dds_writecdr": (_result, (_entity, _pointer)),
    "dds_take": (_result, (_entity, _pointer, _pointer, _size, c.c_uint32)),
    "dds_return_loan": (_result, (_entity, _pointer, c.c_int32)),
    "dds_takecdr": (_result, (_entity, _pointer, c.c_uint32, _pointer, c.c_uint32)),
    "dds_strretcode": (c.c_char_p, (_result,)),
    "dds_free": (None, (_pointer,)),
    "dds_create_qos": (_pointer, ()),
    "dds_delete_qos": (None, (_pointer,)),
    "dds_qset_history": (None, (_pointer, c.c_int, c.c_int32)),
    "dds_qset_reliability": (None, (_pointer, c.c_int, _duration)),
    "dds_qset_durability": (None, (_pointer, c.c_int)),
    "dds_qset_durability_service": (None, (_pointer, _duration, c.c_int, *(c.c_int32,) * 4)),
    "dds_qset_lifespan": (None, (_pointer, _duration)),
    "dds_qset_writer_data_lifecycle": (None, (_pointer, c.c_bool)),
    "dds_qset_data_representation": (None, (_pointer, c.c_uint32, _pointer)),
    "dds_qset_userdata": (None, (_pointer, c.c_char_p, _size)),
    "dds_qget_history": (c.c_bool, (_pointer, _pointer, _pointer)),
    "dds_qget_reliability": (c.c_bool, (_pointer, _pointer, _pointer)),
    "dds_qget_durability": (c.c_bool, (_pointer, _pointer)),
    "dds_qget_userdata": (c.c_bool, (_pointer, _pointer, _pointer)),
}


# `dds_writecdr` and `dds_takecdr` are public, but `struct ddsi_serdata`, the samples that they take and return, is not:
# no `dds_*` function makes one from bytes. ROS's own rmw_cyclonedds and the wheel's Python classes use these four too,
# which are inline functions of an installed header, and exported.
_SAMPLE_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "ddsi_serdata_from_ser_iov": (_pointer, (_pointer, c.c_int, _size, _pointer, _size)),
    "ddsi_serdata_size": (c.c_uint32, (_pointer,)),
    "ddsi_serdata_to_ser": (None, (_pointer, _size, _size, _pointer)),
    "ddsi_serdata_unref": (None, (_pointer,)),
}


def library_path() -> str | None:
    """The library of the ``cyclonedds`` wheel, else the one in ``CYCLONEDDS_HOME``; None if there is neither."""
    package = importlib.util.find_spec("cyclonedds")
    if package is not None and package.origin is not None:
        # The package names its library in this file; importing the package itself would load all its classes.
        return str(runpy.run_path(str(Path(package.origin).parent / "__library__.py"))["library_path"])
    home = os.environ.get("CYCLONEDDS_HOME")
    files = [Path(home) / folder / name for folder, name in _FILES] if home else []
    return next((str(file) for file in files if file.is_file()), None)


class CycloneLibrary:
    """Cyclone DDS."""

    def __init__(self) -> None:
        path = library_path()
        if path is None:
            raise GraphError(
                "without rclpy, Cyclone DDS must be installed: pip install '.[dds]' in a checkout, or source ROS 2's "
                "setup.bash; where pip finds no wheel (Python 3.14, Linux on ARM) see "
                "docs/status.md#without-a-wheel-of-cyclone-dds"
            )
        try:
            self.c = c.CDLL(path)
            for name, (result, arguments) in (_FUNCTIONS | _SAMPLE_FUNCTIONS).items():
                function = getattr(self.c, name)
                function.restype, function.argtypes = result, arguments
        except (OSError, AttributeError) as error:
            raise GraphError(
                f"Cyclone DDS at {path} cannot be used: {error}; pip install 'cyclonedds>=11,<12' brings one that can"
            ) from None

    def check(self, result: int, what: str) -> int:
        """The result of a call; a negative one is an error, and ``what`` says what failed."""
        if result < 0:
            reason = self.c.dds_strretcode(result).decode()
            raise GraphError(f"{what}: {reason} (Cyclone DDS, code {result})")
        return result

    def identity(self, entity: int) -> bytes:
        """The 16 bytes that identify an entity in the graph."""
        gid = (c.c_ubyte * 16)()
        self.check(self.c.dds_get_guid(entity, gid), "an entity has no identity")
        return bytes(gid)

    def set_representation(self, qos: int) -> None:
        """Set messages to XCDR1, the only representation ROS has."""
        self.c.dds_qset_data_representation(qos, 1, (c.c_int16 * 1)(_XCDR1))

    def sample_type(self, entity: int) -> int:
        """The library's type (``ddsi_sertype``) of a writer's samples."""
        sertype = c.c_void_p()
        self.check(self.c.dds_get_entity_sertype(entity, c.byref(sertype)), "a writer has no type")
        return sertype.value or 0

    def write(self, writer: int, sample_type: int, data: Bytes) -> int:
        """Write serialized bytes with their CDR header; a negative result is an error."""
        sample = self.c.ddsi_serdata_from_ser_iov(sample_type, _SAMPLE_WITH_DATA, 1, c.byref(data), data.length)
        result: int = self.c.dds_writecdr(writer, sample)
        return result

    def take(self, reader: int, samples: Any, infos: Any) -> list[tuple[bytearray, int]]:
        """Take all samples of a reader, by way of the arrays: their bytes, and the handles of their writers."""
        taken = []
        count = len(samples)
        while count == len(samples):
            count = self.c.dds_takecdr(reader, samples, len(samples), infos, ANY_STATE)
            for i in range(count):
                # An invalid sample has no bytes: it only reports that a writer has gone.
                if infos[i].valid_data:
                    length = self.c.ddsi_serdata_size(samples[i])
                    data = bytearray(length)
                    self.c.ddsi_serdata_to_ser(samples[i], 0, length, c.addressof(c.c_char.from_buffer(data)))
                    taken.append((data, infos[i].publication_handle))
                self.c.ddsi_serdata_unref(samples[i])
        return taken

    def create_topic(self, participant: int, name: str, type_name: str) -> int:
        """A topic whose messages are plain bytes for the library.

        The type is declared as one octet; the library ignores the rest. As in ROS's own nodes, no type information is
        announced, so peers of all vendors identify the type by its name.

        All endpoints of a participant on one topic share it, so their quality of service is not the topic's.
        """
        octet = (c.c_uint32 * 3)(0x01_01_00_00, 0, 0)
        descriptor = _TypeDescriptor(size=1, align=1, type_name=type_name.encode(), operation_count=3, operations=octet)
        descriptor.meta = b""
        qos = self.c.dds_create_qos()
        self.set_representation(qos)
        topic = self.c.dds_create_topic(participant, c.byref(descriptor), name.encode(), qos, None)
        self.c.dds_delete_qos(qos)
        return self.check(topic, f"topic '{name}' of type '{type_name}' cannot be made")


def already_exists(result: int) -> bool:
    """True if this process already created the domain."""
    return result == _PRECONDITION_NOT_MET
