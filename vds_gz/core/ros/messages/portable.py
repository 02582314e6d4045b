"""ROS message types without ROS: definitions, default messages, encoding and type hashes.

The definitions of ROS 2 Jazzy or Humble and the CDR encoding come from ``rosbags``. Types that it lacks are read from
``<package>/msg/<Name>.msg`` or ``<package>/srv/<Name>.srv`` when they are first needed, in the folder ``msg`` beside
this file and in those of other installed packages. The request and the response of a service are the types
``<Name>_Request`` and ``<Name>_Response``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from keyword import iskeyword
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from vds_gz.core.errors import ArgumentError, MalformedMessageError, UnknownTypeError
from vds_gz.core.ros.graph import Message
from vds_gz.core.ros.messages.checked import FieldChecks
from vds_gz.core.ros.messages.fields import Field
from vds_gz.core.share import extensions, offered

__all__ = ["Codec", "MalformedMessageError", "MessageTypes", "UnknownTypeError"]

#: Entry point group under which an installed package offers the path of a folder of definitions.
ENTRY_POINTS = "vds_gz.messages"

#: Bytes before a serialized message, which name its encoding.
_CDR_HEADER = 4

_DEFINITIONS = Path(__file__).parent / "msg"

# Defaults in ROS's .msg files that rosbags drops: among Jazzy's common messages only this one.
_DEFAULTS: dict[str, dict[str, Any]] = {"geometry_msgs/msg/Quaternion": {"w": 1.0}}


class MessageTypes:
    """All message types, by names such as ``nav_msgs/msg/Odometry``."""

    def __init__(self, distribution: str = "jazzy") -> None:
        """Take the definitions of a ROS release; ``char`` is ``uint8``, as in ROS 2 and its type hashes."""
        self._store = get_typestore(Stores(f"ros2_{distribution}"))
        definitions = self._store.fielddefs
        for name, (constants, fields) in definitions.items():
            definitions[name] = (constants, [(field, _char_as_uint8(kind)) for field, kind in fields])
        self._checks = FieldChecks(definitions)
        self._defaults = dict(_DEFAULTS)
        self._makers: dict[str, Callable[[], Message]] = {}

    def new(self, name: str) -> Message:
        """A message with every field at its default.

        Arrays and sequences of numbers are numpy arrays of the field's type; a fixed-size array has its full length.
        """
        maker = self._makers.get(name)
        if maker is None:
            maker = self._makers[name] = self._maker(name)
        return maker()

    @staticmethod
    def array(kind: str, values: Iterable[float]) -> NDArray[Any]:
        """Numbers for a sequence field of type ``kind``, e.g. ``uint8``."""
        return np.array(list(values), kind)

    def codec(self, name: str) -> Codec:
        """The encoding of a type."""
        self._need(name)
        return Codec(name, self._store, self._checks)

    def fields(self, name: str) -> list[Field]:
        """The fields of a type, in the order of its definition."""
        self._need(name)
        return [_described(field, *kind) for field, kind in self._store.fielddefs[name][1]]

    def hash(self, name: str) -> str:
        """The type hash that ROS nodes exchange, ``RIHS01_`` and 64 hexadecimal digits."""
        self._need(name)
        return self._store.hash_rihs01(name)

    def definition(self, name: str) -> str:
        """The text of a type with all types in it."""
        self._need(name)
        return str(self._store.generate_msgdef(name, ros_version=2)[0])

    def _need(self, name: str) -> None:
        """Make sure that a type and all types in it are defined."""
        if name in self._store.fielddefs:
            return
        definitions, self._defaults[name] = _load(name)
        self._store.register(definitions)
        for _, (node, detail) in self._store.fielddefs[name][1]:
            inner = detail if node in (Nodetype.NAME, Nodetype.BASE) else detail[0][1]
            if isinstance(inner, str):
                self._need(inner)

    def _maker(self, name: str) -> Callable[[], Message]:
        self._need(name)
        kind: Callable[..., Any] = self._store.types[name]
        defaults = self._defaults.get(name, {})
        fields = [self._field(kind, defaults.get(field)) for field, kind in self._store.fielddefs[name][1]]
        return lambda: kind(*[make() for make in fields])

    def _field(self, description: Any, default: Any = None) -> Callable[[], object]:
        node, detail = description
        if node == Nodetype.NAME:
            return self._maker(detail)
        if node == Nodetype.BASE:
            zero: Any = {"string": "", "bool": False, "float32": 0.0, "float64": 0.0}.get(detail[0], 0)
            return _constant(zero if default is None else type(zero)(default))
        item, count = detail
        length = count if node == Nodetype.ARRAY else 0
        if item[0] == Nodetype.BASE and item[1][0] != "string":
            dtype = np.dtype(item[1][0] if item[1][0] != "byte" else "uint8")
            return np.array(default or [0] * length, dtype).copy
        if default:
            return lambda: list(default)
        make = self._field(item)
        return lambda: [make() for _ in range(length)]


class Codec:
    """One message type as bytes: XCDR1, little endian, as every ROS 2 node sends it."""

    __slots__ = ("_checks", "_store", "name")

    def __init__(self, name: str, store: Typestore, checks: FieldChecks) -> None:
        self.name, self._store, self._checks = name, store, checks

    def encode(self, message: Message, header: bytes = b"") -> bytearray:
        """The bytes of a message, padded to a multiple of four; ``header`` goes before its fields.

        Raises:
            ArgumentError: A field has a value that its type cannot hold.
        """
        try:
            self._checks.convert_numbers(message, self.name)
            data = bytearray(self._store.serialize_cdr(message, self.name, little_endian=True))
        except ArgumentError as error:
            raise ArgumentError(f"a {self.name}: {error}") from None
        except Exception as error:  # any error of the encoder means a wrong value
            raise ArgumentError(f"a {self.name}: {self._checks.fault(message, self.name) or error}") from None
        data[_CDR_HEADER:_CDR_HEADER] = header
        data += bytes(-len(data) % 4)
        return data

    def decode(self, data: bytearray, skip: int = 0) -> Message:
        """The message in these bytes, without ``skip`` bytes before its fields.

        Raises:
            MalformedMessageError: They are not a message of this type.
        """
        if len(data) < _CDR_HEADER + skip or data[0] != 0 or data[1] != 1:
            raise MalformedMessageError(f"{len(data)} bytes that begin with {data[:4].hex(' ')} are not a {self.name}")
        try:
            plain = data[:_CDR_HEADER] + data[_CDR_HEADER + skip :] if skip else data
            return self._store.deserialize_cdr(memoryview(plain), self.name)  # type: ignore[return-value]
        except Exception as error:  # any error of the decoder means malformed bytes
            raise MalformedMessageError(f"{len(data)} bytes are not a {self.name}: {error}") from None

    def from_ros1(self, data: bytes) -> bytes:
        """The bytes of a message that ROS 1 serialized; only ``std_msgs/Header`` has a field more there, ``seq``.

        Raises:
            MalformedMessageError: They are not a message of this type, or the type has other fields in ROS 1.
        """
        try:
            return bytes(self._store.ros1_to_cdr(data, self.name))
        except Exception as error:  # any error of the converter means malformed bytes
            raise MalformedMessageError(f"{len(data)} bytes are not a {self.name} of ROS 1: {error}") from None


def _described(name: str, node: Any, detail: Any) -> Field:
    name, length = f"{name}_" if iskeyword(name) else name, None
    if node in (Nodetype.ARRAY, Nodetype.SEQUENCE):
        (item, detail), count = detail
        length, node = (count if node == Nodetype.ARRAY else 0), item
    return Field(name, detail if node == Nodetype.NAME else detail[0], length)


def _char_as_uint8(description: Any) -> Any:
    node, detail = description
    if node in (Nodetype.ARRAY, Nodetype.SEQUENCE):
        return node, (_char_as_uint8(detail[0]), detail[1])
    return (node, ("uint8", 0)) if detail == ("char", 0) else description


def _constant(value: object) -> Callable[[], object]:
    return lambda: value


def _load(name: str) -> tuple[Any, dict[str, Any]]:
    """Definitions and defaults from the file of a type that rosbags lacks."""
    package, _, rest = name.partition("/")
    kind, _, short = rest.partition("/")
    service, _, part = short.rpartition("_")
    file = f"{package}/srv/{service}.srv" if kind == "srv" else f"{package}/{kind}/{short}.msg"
    folders = [_DEFINITIONS, *(offered(entry, Path) for entry in extensions(ENTRY_POINTS))]
    path = next((folder / file for folder in folders if (folder / file).is_file()), None)
    if path is None or (kind == "srv" and part not in ("Request", "Response")):
        raise UnknownTypeError(f"type '{name}' is not known; there is no {file} in {', '.join(map(str, folders))}")
    text = path.read_text(encoding="utf-8")
    if kind == "srv":
        request, _, response = text.partition("---\n")
        text = request if part == "Request" else response
    # The parser only knows messages: for services too, types without a package are in <package>/msg.
    as_message = f"{package}/msg/{short}"
    try:
        defaults = _defaults(text)
    except (ValueError, yaml.YAMLError) as error:
        raise UnknownTypeError(f"type '{name}': {path} has a default that does not fit its field: {error}") from None
    return {name: get_types_from_msg(text, as_message)[as_message]}, defaults


def _defaults(text: str) -> dict[str, Any]:
    """The defaults in a definition, which rosbags drops."""
    lines = (line.partition("#")[0].split(None, 2) for line in text.splitlines())
    fields = (line for line in lines if len(line) == 3 and "=" not in line[1] + line[2][0])
    return {name: _default(kind, value.strip()) for kind, name, value in fields}


def _default(kind: str, text: str) -> Any:
    """A default by the type of its field; texts may be without quotes."""
    if kind.endswith("]"):
        items = yaml.load(text, yaml.BaseLoader)
        if not (isinstance(items, list) and all(isinstance(item, str) for item in items)):
            raise ValueError(f"{text} is not a list of values")
        return [_default(kind.partition("[")[0], item) for item in items]
    if kind.startswith(("string", "wstring")):
        quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
        return text[1:-1] if quoted else text
    if kind == "bool":
        if text.lower() not in ("true", "false", "1", "0"):
            raise ValueError(f"{text} is neither true nor false")
        return text.lower() in ("true", "1")
    return float(text) if kind.startswith("float") else int(text)
