"""ROS message types of the message packages that are installed with ROS."""

from __future__ import annotations

import array
import importlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from vds_gz.core.errors import MalformedMessageError, UnknownTypeError
from vds_gz.core.ros.graph import Message
from vds_gz.core.ros.messages.fields import FORMATS, Field

#: Types' names in IDL that differ from those in message definitions.
_NAMES = {"boolean": "bool", "octet": "byte", "float": "float32", "double": "float64"}


def interface(type_name: str) -> Any:
    """The Python class of a message, service or action type such as ``nav_msgs/msg/Odometry``."""
    package, kind, name = type_name.split("/")
    try:
        module = importlib.import_module(f"{package}.{kind}")
    except ImportError as error:
        raise UnknownTypeError(f"type '{type_name}' is not known; install the package '{package}'") from error
    if not hasattr(module, name):
        raise UnknownTypeError(f"type '{type_name}' is not known; the installed package '{package}' does not define it")
    return getattr(module, name)


def installed_files(package: str, relative: str) -> Iterator[Path]:
    """The paths of a file of an installed package, such as ``msg/Odometry.msg`` of ``nav_msgs``; overlays first."""
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        path = Path(prefix) / "share" / package / relative
        if prefix and path.is_file():
            yield path


class InstalledTypes:
    """All message types whose packages are installed."""

    def new(self, name: str) -> Message:
        """A message with every field at its default."""
        message: Message = interface(name)()
        return message

    @staticmethod
    def array(kind: str, values: Iterable[float]) -> array.array[float]:
        """Numbers for a sequence field of type ``kind``, e.g. ``uint8``."""
        return array.array(FORMATS[kind].removeprefix("<"), values)

    def codec(self, name: str) -> InstalledCodec:
        """The encoding of a type."""
        return InstalledCodec(name)

    def fields(self, name: str) -> list[Field]:
        """The fields of a type, in the order of its definition."""
        return fields_of(interface(name))

    def definition(self, name: str) -> str:
        """Raise UnknownTypeError: ROS installs definitions as files, see :func:`installed_definitions`."""
        raise UnknownTypeError(name)

    def hash(self, name: str) -> str:
        """The type hash that ROS nodes exchange, from the description installed beside the type (REP-2016)."""
        package, _, rest = name.partition("/")
        for path in installed_files(package, f"{rest}.json"):
            for entry in json.loads(path.read_text(encoding="utf-8"))["type_hashes"]:
                if entry["type_name"] == name:
                    return str(entry["hash_string"])
        interface(name)
        raise UnknownTypeError(f"type '{name}' has no hash; ROS 2 has hashes of types since Iron")


def fields_of(kind: Any) -> list[Field]:
    """The fields of a class of messages, or of a message, as ROS generates them."""
    return [_field(*field) for field in kind.get_fields_and_field_types().items()]


def _field(name: str, text: str) -> Field:
    """A field as ROS describes it: ``double``, ``double[36]``, ``sequence<pkg/Type, 3>``, ``string<10>``."""
    length = None
    if sequence := re.fullmatch(r"sequence<(.+?)(?:, \d+)?>", text):
        text, length = sequence[1], 0
    elif array_ := re.fullmatch(r"(.+)\[(\d+)\]", text):
        text, length = array_[1], int(array_[2])
    plain = text.partition("<")[0]
    return Field(name, _NAMES.get(plain, plain.replace("/", "/msg/")), length)


class InstalledCodec:
    """Encoding of one message type by ROS itself."""

    __slots__ = ("_kind", "_read", "_write", "name")

    def __init__(self, name: str) -> None:
        from rclpy.serialization import deserialize_message, serialize_message

        self.name = name
        self._kind = interface(name)
        self._read, self._write = deserialize_message, serialize_message

    def encode(self, message: Message) -> bytes:
        """The bytes of a message, with their header."""
        return bytes(self._write(message))

    def decode(self, data: bytearray) -> Message:
        """The message in these bytes."""
        if len(data) < 4 or data[0] != 0 or data[1] != 1:
            raise MalformedMessageError(f"{len(data)} bytes that begin with {data[:4].hex(' ')} are not a {self.name}")
        try:
            message: Message = self._read(bytes(data), self._kind)
            return message
        except Exception as error:  # any error of the decoder means malformed bytes
            raise MalformedMessageError(f"{len(data)} bytes are not a {self.name}: {error}") from None


_OWN = Path(__file__).parent / "msg"

#: Types of fields that are not messages.
_PLAIN = {*FORMATS, "string", "wstring"}


def installed_definitions(type_name: str) -> dict[str, str]:
    """The texts of a type and of all types in it, by name, the type's first; empty if any of them is not installed."""
    texts: dict[str, str] = {}
    needed = [type_name]
    while needed:
        name = needed.pop()
        if name in texts:
            continue
        package, _, rest = name.partition("/")
        places = [*installed_files(package, f"{rest}.msg"), *_OWN.glob(f"{name}.msg")]
        if not places:
            return {}
        texts[name] = places[0].read_text(encoding="utf-8").rstrip() + "\n"
        needed += _used_in(texts[name], package)
    return texts


def _used_in(text: str, package: str) -> list[str]:
    """The message types of the fields in the text of a message of this package."""
    matches = (re.match(r"\s*([A-Za-z][\w/]*)", line) for line in text.splitlines())
    names = [match[1] for match in matches if match and match[1] not in _PLAIN]
    qualified = [name if "/" in name else f"{package}/{name}" for name in names]
    return [name if "/msg/" in name else name.replace("/", "/msg/") for name in qualified]
