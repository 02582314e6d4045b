"""The description of a parameter: type, default, unit, bounds and meaning, each stated once.

A group of parameters is a frozen dataclass, a :class:`ParameterGroup`, whose fields are made with :func:`real`,
:func:`integer`, :func:`flag`, :func:`choice`, :func:`text`, :func:`reals` or :func:`group`. The check of every new
group, the YAML loader, the ROS parameter descriptors and the reference page use these fields.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar, cast

from vds_gz.core.errors import VdsGzError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

NumberTuple = TypeVar("NumberTuple", bound=tuple[float, ...])
Member = TypeVar("Member")

ParameterType = Literal["double", "integer", "bool", "string", "double_array"]
Value = float | int | bool | str | tuple[float, ...]

_KEY, _KIND = "vds_gz", "vds_gz group"

#: Default bound of the magnitude of real numbers, within which the equations of the models stay finite.
LARGEST = 1e6
#: Minimum of real numbers that must be positive.
SMALLEST = 1e-6
#: Bounds of whole numbers: those of the messages that carry parameters.
LEAST_INTEGER, LARGEST_INTEGER = -(2**63), 2**63 - 1
#: What a value of each type is, in words.
WORDS: dict[ParameterType, str] = {
    "double": "a number",
    "integer": "a whole number",
    "bool": "true or false",
    "string": "a text",
    "double_array": "a list of numbers",
}
_PYTHON_TYPE: dict[ParameterType, type] = {"double": float, "integer": int, "bool": bool, "string": str}


class ParameterError(VdsGzError, ValueError):
    """A parameter was refused. The message says which one, its value, and what would be right."""


class Faults:
    """The errors of several checks, collected to report all of them at once."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Collect an error of this package, and continue."""
        try:
            yield
        except VdsGzError as error:
            self.messages += str(error).splitlines()

    def refuse(self) -> None:
        """Raise all collected errors as one, if there are any."""
        if self.messages:
            raise ParameterError("\n".join(self.messages))


@dataclass(frozen=True, slots=True)
class Description:
    """The description of a parameter.

    Attributes:
        name: Dotted name, e.g. ``model_params.bicycle.wheel_base``.
        type: ROS type of the value.
        default: Value if none is given.
        unit: SI unit; ``-`` or empty without one.
        doc: Meaning of the parameter, in one sentence.
        minimum, maximum: Bounds of a number or of each number in an array, inclusive and finite.
        choices: The allowed strings; empty for any.
        read_only: The value is fixed while the node runs.
        aliases: Last parts of other names of the parameter.
        most: Maximum length of an array; 0: exactly the length of its default.
        extensible: Installed packages may add to the choices, so other strings are allowed here.
    """

    name: str
    type: ParameterType
    default: Value
    unit: str = ""
    doc: str = ""
    minimum: float = -LARGEST
    maximum: float = LARGEST
    choices: tuple[str, ...] = ()
    read_only: bool = True
    aliases: tuple[str, ...] = ()
    most: int = 0
    extensible: bool = False

    @property
    def other_names(self) -> tuple[str, ...]:
        """The aliases as full names."""
        group, dot, _ = self.name.rpartition(".")
        return tuple(f"{group}{dot}{alias}" for alias in self.aliases)

    def check(self, value: object, where: str = "") -> Value:
        """The value in its proper type, or a :class:`ParameterError`; numpy's numbers are accepted."""
        place = f" ({where})" if where else ""
        if self.type == "double_array":
            return self._array(value, place)
        value = _plain(value)
        if isinstance(value, int) and not LEAST_INTEGER <= value <= LARGEST_INTEGER:
            raise ParameterError(f"parameter '{self.name}' is {value}{place}; it must fit into 64 bits")
        if self.type == "double" and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, _PYTHON_TYPE[self.type]) or (self.type == "integer" and isinstance(value, bool)):
            raise ParameterError(f"parameter '{self.name}' is {value!r}{place}; it must be {WORDS[self.type]}")
        if isinstance(value, (float, int)) and not isinstance(value, bool) and not self._within(value):
            raise ParameterError(
                f"parameter '{self.name}' is {_number(value)}{place}; it must be {self.bounds()}{self._unit()}"
            )
        if self.choices and not self.extensible and value not in self.choices:
            raise ParameterError(
                f"parameter '{self.name}' is '{value}'{place}; it must be one of {', '.join(self.choices)}"
            )
        return cast(Value, value)

    def bounds(self) -> str:
        """The bounds in words, e.g. ``a finite number, at least 0, at most 1000``."""
        kind = "a whole number" if self.type == "integer" else "a finite number"
        if isinstance(self.default, tuple):
            kind = f"a list of {f'at most {self.most}' if self.most else len(self.default)} finite numbers"
        return f"{kind}, at least {_number(self.minimum)}, at most {_number(self.maximum)}"

    def _array(self, value: object, place: str) -> tuple[float, ...]:
        """A list of numbers of an allowed length."""
        is_list = isinstance(value, Iterable) and not isinstance(value, (str, bytes))
        items = tuple(cast("Iterable[object]", value)) if is_list else ()
        numbers = tuple(float(item) for item in items if isinstance(item, Real) and not isinstance(item, bool))
        length = len(self.default) if isinstance(self.default, tuple) else 0
        fits = is_list and (len(items) <= self.most if self.most else len(items) == length)
        if not fits or len(items) != len(numbers) or not all(map(self._within, numbers)):
            bounds = self.bounds() + self._unit()
            raise ParameterError(f"parameter '{self.name}' is {value!r}{place}; it must be {bounds}")
        return numbers

    def _within(self, value: float) -> bool:
        return self.minimum <= value <= self.maximum

    def _unit(self) -> str:
        return f" [{self.unit}]" if self.unit not in ("", "-") else ""


def real(
    default: float,
    unit: str,
    doc: str,
    *,
    minimum: float = -LARGEST,
    maximum: float = LARGEST,
    positive: bool = False,
    live: bool = False,
    aliases: tuple[str, ...] = (),
) -> float:
    """A number, at least :data:`SMALLEST` if ``positive``. ``live`` parameters may change while the node runs."""
    least = max(minimum, SMALLEST) if positive else minimum
    return _field(default, Description("", "double", default, unit, doc, least, maximum, (), not live, aliases))


def integer(
    default: int, doc: str, *, minimum: int = LEAST_INTEGER, maximum: int = LARGEST_INTEGER, live: bool = False
) -> int:
    """A whole number."""
    return _field(default, Description("", "integer", default, "", doc, minimum, maximum, read_only=not live))


def flag(default: bool, doc: str, *, live: bool = False) -> bool:
    """True or false."""
    return _field(default, Description("", "bool", default, "", doc, read_only=not live))


def choice(default: str, choices: tuple[str, ...], doc: str, *, live: bool = False, extensible: bool = False) -> str:
    """One of several words; or, if they are ``extensible``, a word of an installed package."""
    described = Description("", "string", default, "", doc, choices=choices, read_only=not live, extensible=extensible)
    return _field(default, described)


def text(default: str, doc: str, *, live: bool = False) -> str:
    """A text."""
    return _field(default, Description("", "string", default, "", doc, read_only=not live))


def reals(
    default: NumberTuple,
    unit: str,
    doc: str,
    *,
    minimum: float = -LARGEST,
    maximum: float = LARGEST,
    most: int = 0,
    live: bool = False,
) -> NumberTuple:
    """As many numbers as the default has, or any number of them up to ``most``."""
    described = Description("", "double_array", default, unit, doc, minimum, maximum, read_only=not live, most=most)
    return _field(default, described)


def group(kind: type[Member], **defaults: Value) -> Member:
    """A nested group of parameters, optionally with other defaults."""
    return field(default_factory=lambda: kind(**defaults), metadata={_KIND: kind})


def _field(default: Member, description: Description) -> Member:
    return field(default=default, metadata={_KEY: description})


class ParameterGroup:
    """A group of parameters that checks itself when it is made: base class of a frozen dataclass."""

    __slots__ = ()

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[object]]]

    def __post_init__(self) -> None:
        """Check every parameter by its description, and then all together.

        Raises:
            ParameterError: A value has another type, is outside its bounds, or contradicts others.
        """
        for item in dataclasses.fields(self):
            description: Description | None = item.metadata.get(_KEY)
            if description is not None:
                value = getattr(self, item.name)
                try:
                    checked = description.check(value)
                except ParameterError:
                    dataclasses.replace(description, name=item.name).check(value)
                    raise
                if checked is not value:
                    object.__setattr__(self, item.name, checked)
            elif (kind := item.metadata.get(_KIND)) and not isinstance(value := getattr(self, item.name), kind):
                raise ParameterError(f"parameters '{item.name}' are {value!r}; they must be {kind.__name__}")
        self.check_together()

    def check_together(self) -> None:
        """Raise a :class:`ParameterError` if parameters contradict each other."""


def describe(parameters: object, prefix: str = "") -> Iterator[Description]:
    """The descriptions of a group and all groups below it, with dotted names, and the group's values as defaults."""
    for item in dataclasses.fields(cast("DataclassInstance", parameters)):
        name = f"{prefix}.{item.name}" if prefix else item.name
        value = getattr(parameters, item.name)
        if _KEY in item.metadata:
            yield dataclasses.replace(item.metadata[_KEY], name=name, default=value)
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            yield from describe(value, name)
        elif isinstance(value, dict):
            for key, member in value.items():
                yield from describe(member, f"{name}.{key}")


def _plain(value: object) -> object:
    """A number of numpy or another package as a Python number; other values unchanged."""
    if isinstance(value, (bool, Integral)):
        return value if isinstance(value, bool) else int(value)
    return float(value) if isinstance(value, Real) else value


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:g}"


class Override(NamedTuple):
    """A value given to a parameter by its dotted name, and its origin, e.g. ``file car.yaml``."""

    name: str
    value: object
    origin: str = ""


class Registered(Protocol):
    """A vehicle model or a type of sensor, which has parameters."""

    @property
    def parameters(self) -> type[Any]:
        """The parameter group."""
