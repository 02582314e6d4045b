"""Commands of a vehicle: their numbers, their kinds, their bounds, and what replaces them after a time-out.

:class:`Command` declares each number once, and a :class:`CommandKind` lists those of its commands. Records of compiled
code, columns of tables, checks, time-outs and references follow from these two tables.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from enum import IntEnum
from operator import attrgetter
from typing import Any, Literal, NamedTuple, get_args

from vds_gz.core.errors import NUMBER, ArgumentError

#: Maximum magnitude of the numbers of a command; up to it, no result overflows.
MAXIMUM = 1e6

#: A time after all others [ns].
NEVER = 2**63 - 1


class GearCode(IntEnum):
    """Gears by their codes in autoware_vehicle_msgs/GearCommand; 3 to 19 are further forward gears."""

    NONE = 0
    NEUTRAL = 1
    DRIVE = 2
    REVERSE = 20
    REVERSE_2 = 21
    PARK = 22
    LOW = 23
    LOW_2 = 24

    # Tables and messages show the code.
    __str__ = __repr__ = int.__repr__


NONE, NEUTRAL, DRIVE, REVERSE, REVERSE_2, PARK, LOW, LOW_2 = GearCode

MAXIMUM_GEAR = max(GearCode)
#: In a command: keep the present gear.
KEEP_GEAR = -1


# ---------------------------------------------------------------------- numbers

#: The part of a vehicle that a command is for. Speed and steering have topics and time-outs of their own.
Part = Literal["whole", "speed", "steering", "gear"]


class CommandField(NamedTuple):
    """The declaration of a number of :class:`Command`.

    Attributes:
        unit: Its unit; empty for those of the model.
        meaning: Its meaning.
        quantity: Its name in recordings; empty if no recording has it.
        columns: Its columns in tables; the first existing one counts.
        part: The part whose time-out resets it to its default; "whole" if no time-out does.
        limit: It limits an actuator, and is at least 0. Infinity, in messages and tables 0, means the actuator's own
            limit.
    """

    unit: str
    meaning: str
    quantity: str = ""
    columns: tuple[str, ...] = ()
    part: Part = "whole"
    limit: bool = False


def _number(unit: str, meaning: str, quantity: str = "", *columns: str, part: Part = "whole") -> Any:
    """A number within +-``MAXIMUM``, 0 by default."""
    return field(default=0.0, metadata={"declared": CommandField(unit, meaning, quantity, columns, part)})


def _limit(unit: str, meaning: str, quantity: str, *columns: str, part: Part) -> Any:
    """A limit of an actuator, infinite by default."""
    declared = CommandField(unit, meaning, quantity, columns, part, limit=True)
    return field(default=math.inf, metadata={"declared": declared})


def _gear() -> Any:
    declared = CommandField("", "code of a gear, or ``KEEP_GEAR``", "gear", ("gear_command", "gear"))
    return field(default=DRIVE, metadata={"declared": declared})


@dataclass(slots=True)
class Command:
    """One command, as the models read it.

    ``kind`` is its :class:`CommandKind`, which lists the numbers that models read.
    """

    kind: int = 0
    v_x: float = _number(
        "m/s",
        "velocity of base_link forwards; with a steering angle, the speed of the reference point",
        "v_x",
        *("v_x_command", "speed_command", "cmd_v_x", "drive_reference"),
        part="speed",
    )
    v_y: float = _number("m/s", "velocity of base_link to the left", "v_y", "v_y_command", "cmd_v_y", part="speed")
    yaw_rate: float = _number("rad/s", "yaw rate", "yaw_rate", "yaw_rate_command", "cmd_yaw_rate", part="speed")
    steering_angle: float = _number(
        "rad",
        "angle of the middle steered wheel, of the front axle if both are steered",
        "steering",
        *("steering_command", "steering_angle_command", "cmd_steering", "steering_reference"),
        "steering_front_reference",
        part="steering",
    )
    rear_steering_angle: float = _number(
        "rad",
        "angle of the middle rear wheel, if both axles are steered",
        "rear_steering",
        *("rear_steering_command", "rear_steering_angle_command", "steering_rear_reference"),
        part="steering",
    )
    steering_rate: float = _limit(
        "rad/s", "maximum steering rate", "steering_rate_limit", "steering_rate_limit", part="steering"
    )
    rear_steering_rate: float = _limit(
        "rad/s", "maximum steering rate of the rear axle", *2 * ("rear_steering_rate_limit",), part="steering"
    )
    acceleration: float = _limit(
        "m/s^2", "maximum acceleration", "acceleration_limit", "acceleration_limit", part="speed"
    )
    accel_pedal: float = _number(
        "",
        "position of the accelerator as in the model's map, mostly 0 to 1; without a map, an acceleration [m/s^2]",
        "accel",
        *("accel", "accel_cmd", "accel_pedal", "throttle"),
    )
    brake_pedal: float = _number(
        "",
        "position of the brake as in the model's map, mostly 0 to 1",
        "brake",
        *("brake", "brake_cmd", "brake_pedal"),
    )
    steering_command: float = _number(
        "",
        "in the units of the model's steering: a tyre angle or a steering wheel's [rad], or a voltage",
        "wheel",
        *("wheel", "steer_cmd", "steering_wheel"),
    )
    target_acceleration: float = _number(
        "m/s^2",
        "acceleration reference, positive is faster in the gear's direction",
        "acceleration",
        "acceleration_command",
    )
    gear: int = _gear()
    slope: float = _number("m/s^2", "acceleration along +x that the road's slope gives, uphill negative")


#: The declarations of all numbers, in the order of a command's record.
FIELDS: dict[str, CommandField] = {
    number.name: number.metadata["declared"] for number in fields(Command) if number.metadata
}

#: Names of the numbers within +-MAXIMUM, and of the limits.
LIMITS = tuple(name for name, declared in FIELDS.items() if declared.limit)
MEASURES = tuple(number.name for number in fields(Command) if number.type == "float" and number.name not in LIMITS)

_measures_of, _limits_of = attrgetter(*MEASURES), attrgetter(*LIMITS)

#: The numbers that a time-out of speed or steering sets, and their values.
ENDED: dict[Part, dict[str, Any]] = {
    part: {name: getattr(Command(), name) for name, declared in FIELDS.items() if declared.part == part}
    for part in ("speed", "steering")
}

Command.__doc__ = f"{Command.__doc__}\n    Attributes:\n        kind: Number of its kind.\n" + "".join(
    f"        {name}: {declared.meaning[0].upper()}{declared.meaning[1:]}"
    f"{f' [{declared.unit}]' if declared.unit else ''}.\n"
    for name, declared in FIELDS.items()
)


# ---------------------------------------------------------------------- kinds


class SteadyMotion(NamedTuple):
    """A motion at constant velocity, as a command requests it.

    Attributes:
        v_x, v_y, yaw_rate: Velocity of base_link in its own axes [m/s, m/s, rad/s]. Models whose commands have
            a steering angle ignore ``v_y`` and ``yaw_rate``.
        steering_angle: Angle of the middle steered wheel [rad]; models whose commands have none ignore it.
        rear_steering_angle: Angle of the middle rear wheel [rad], for models that steer both axles.
    """

    v_x: float = 0.0
    v_y: float = 0.0
    yaw_rate: float = 0.0
    steering_angle: float = 0.0
    rear_steering_angle: float = 0.0

    @property
    def finite(self) -> bool:
        """Whether all numbers are finite."""
        return all(map(math.isfinite, self))


#: A request that leaves everything open.
OPEN = SteadyMotion(*(math.nan for _ in SteadyMotion._fields))


@dataclass(frozen=True, eq=False, repr=False)
class CommandKind(int):
    """A kind of command: its number in ``Command.kind`` and in records, which models compare with, and its properties.

    Making one registers it. A package does that in the module of its model or command type, with a number of 1000 or
    more; the others are for this package and its guests.

    Attributes:
        number: Its number, which never changes.
        name: Its name in messages to users.
        fields: The numbers of :class:`Command` that it has, in the order of messages and tables. ``slope`` is none
            of them: geared commands get it from the road.
        part: The part of the vehicle that it commands. The others hold as they are.
        geared: It has a gear, which its own or a separate command sets, and the road's slope.
        stops: After its time-out, ``STOP`` replaces it. Commands of other kinds get the defaults of their fields.
        marks: Quantities by which a table's commands are recognised as this kind. A table without marks of any kind has
            twists or Ackermann commands.

    Raises:
        ArgumentError: The number or the name is taken, a field or the part does not exist, or a field would keep its
            value after a time-out.
    """

    number: int
    name: str
    fields: tuple[str, ...]
    part: Part = "whole"
    geared: bool = False
    stops: bool = False
    marks: tuple[str, ...] = ()

    def __new__(cls, number: int, *_: object, **__: object) -> CommandKind:
        """The number."""
        return super().__new__(cls, number)

    def __post_init__(self) -> None:
        recorded = [name for name, declared in FIELDS.items() if declared.quantity]
        for name in self.fields:
            if name not in recorded:
                raise ArgumentError(
                    f"command kind '{self.name}': '{name}' cannot be a field; the fields are {', '.join(recorded)}"
                )
        if self.part not in get_args(Part):
            raise ArgumentError(
                f"command kind '{self.name}': part is '{self.part}'; it must be one of {', '.join(get_args(Part))}"
            )
        whole = self.part == "whole"
        ended = ENDED["speed"] | ENDED["steering"] if whole else ENDED.get(self.part, FIELDS)
        lasting = [name for name in self.fields if name not in ended]
        if lasting and not (whole and self.stops):
            raise ArgumentError(
                f"command kind '{self.name}': {' and '.join(lasting)} would keep acting after the time-out; only a "
                "kind of the part 'whole' with stops=True can have such fields"
            )
        for known in KINDS.values():
            if (known == self or known.name == self.name) and vars(known) != vars(self):
                raise ArgumentError(
                    f"command kind '{self.name}' ({self.number}): there is a kind '{known.name}' ({known.number}) "
                    "already; name and number must be unique"
                )
        KINDS[self] = self

    @property
    def references(self) -> tuple[str, ...]:
        """The fields that request a motion."""
        return tuple(name for name in self.fields if name in SteadyMotion._fields)

    @property
    def quantities(self) -> tuple[str, ...]:
        """Its fields by their names in recordings."""
        return tuple(FIELDS[name].quantity for name in self.fields)


#: All kinds by their numbers.
KINDS: dict[int, CommandKind] = {}

TWIST = CommandKind(0, "twist", ("v_x", "v_y", "yaw_rate"))
ACKERMANN = CommandKind(1, "ackermann", ("v_x", "steering_angle", "steering_rate", "acceleration"))
#: Halves of an Ackermann command, which have separate topics.
SPEED = CommandKind(2, "speed", ("v_x", "acceleration"), part="speed")
STEERING = CommandKind(3, "steering", ("steering_angle", "steering_rate"), part="steering")
#: A gear for the following commands of geared kinds; it has its own topic.
GEAR = CommandKind(6, "gear", ("gear",), part="gear")
#: Speed and the angles of both axles, for vehicles that steer both.
FOUR_WHEEL = CommandKind(
    9,
    "four_wheel_steering",
    ("v_x", "steering_angle", "rear_steering_angle", "steering_rate", "rear_steering_rate", "acceleration"),
    marks=("rear_steering",),
)
#: Commands have ended: brake to a standstill, and leave the steering as it is.
STOP = CommandKind(8, "stop", ())


def reference_of(command: Command) -> SteadyMotion:
    """The motion that a command requests; NaN for what it leaves open."""
    return OPEN._replace(**{name: getattr(command, name) for name in KINDS[command.kind].references})


# ---------------------------------------------------------------------- commands


def twist(v_x: float, v_y: float, yaw_rate: float) -> Command:
    """A velocity of base_link [m/s, m/s, rad/s]."""
    check_numbers(v_x=v_x, v_y=v_y, yaw_rate=yaw_rate)
    return Command(TWIST, v_x, v_y, yaw_rate)


def ackermann(speed: float, steering_angle: float, steering_rate: float = 0.0, acceleration: float = 0.0) -> Command:
    """A speed [m/s] and a steering angle [rad]; a rate or an acceleration of 0 means as fast as possible."""
    check_numbers(speed=speed, steering_angle=steering_angle, steering_rate=steering_rate, acceleration=acceleration)
    return Command(
        ACKERMANN,
        speed,
        steering_angle=steering_angle,
        steering_rate=limit_of(steering_rate),
        acceleration=limit_of(acceleration),
    )


def four_wheel_steering(
    speed: float,
    steering_angle: float,
    rear_steering_angle: float,
    steering_rate: float = 0.0,
    rear_steering_rate: float = 0.0,
    acceleration: float = 0.0,
) -> Command:
    """A speed [m/s] and the angles of both axles [rad]; a rate or an acceleration of 0 means as fast as possible."""
    check_numbers(
        speed=speed,
        steering_angle=steering_angle,
        rear_steering_angle=rear_steering_angle,
        steering_rate=steering_rate,
        rear_steering_rate=rear_steering_rate,
        acceleration=acceleration,
    )
    return Command(
        FOUR_WHEEL,
        speed,
        steering_angle=steering_angle,
        rear_steering_angle=rear_steering_angle,
        steering_rate=limit_of(steering_rate),
        rear_steering_rate=limit_of(rear_steering_rate),
        acceleration=limit_of(acceleration),
    )


def gear(code: int) -> Command:
    """A gear, for all commands with ``KEEP_GEAR`` from now on."""
    check_numbers(code=code)
    return Command(GEAR, gear=code)


def check_numbers(**numbers: float) -> None:
    """Refuse arguments that are not numbers, by name."""
    for name, value in numbers.items():
        if type(value) is not float:  # nearly always it is
            NUMBER.check(name, value)


def limit_of(value: float) -> float:
    """A limit of a message: 0 or less means unlimited; NaN stays, to be refused later."""
    return math.inf if value <= 0.0 else value


# ---------------------------------------------------------------------- validity and time-out


def fault(command: Command) -> str:
    """Why a command is invalid; empty if it is valid."""
    measures = _measures_of(command)
    if not sum(map(abs, measures)) <= MAXIMUM:  # rare
        for name, value in zip(MEASURES, measures, strict=True):
            if wrong := measure_fault(name, value):
                return wrong
    for k, value in enumerate(_limits_of(command)):
        if not value >= 0.0:
            return f"{LIMITS[k]} is {value:g}; it must be a number of at least 0"
    if not KEEP_GEAR <= command.gear <= MAXIMUM_GEAR:
        return gear_fault("gear", command.gear)
    if command.kind not in KINDS:
        kinds = ", ".join(f"{kind.number} ({kind.name})" for kind in KINDS.values())
        return f"kind is {command.kind}; it must be one of {kinds}"
    return ""


def measure_fault(name: str, value: float) -> str:
    """Why a number that is no limit is invalid, by its name for users; empty if it is valid."""
    return "" if abs(value) <= MAXIMUM else f"{name} is {value:g}; it must be a finite number within +-{MAXIMUM:g}"


def gear_fault(name: str, code: float) -> str:
    """Why a gear's code is invalid, by its name for users; empty if it is valid."""
    right = f"a code of autoware_vehicle_msgs/GearCommand, 0 to {MAXIMUM_GEAR}"
    return "" if 0 <= code <= MAXIMUM_GEAR else f"{name} is {code}; it must be {right}"


def timed_out(command: Command, part: Literal["speed", "steering"]) -> Command:
    """The replacement of a command whose speed or steering has timed out, with the actuators' own limits."""
    kind = STOP if part == "speed" and KINDS[command.kind].stops else command.kind
    return replace(command, kind=kind, **ENDED[part])
