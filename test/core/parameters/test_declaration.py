"""Descriptions of parameters: accepted values, refusals and their messages."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import pytest
from helpers.guest import of_guest
from helpers.reference import reference_tables
from helpers.sensors import GROUPS

from vds_gz.cli import check as reference
from vds_gz.core.parameters.actuator_parameters import BodyLimits, DriveParameters, SteeringParameters
from vds_gz.core.parameters.declaration import (
    Description,
    ParameterError,
    choice,
    describe,
    flag,
    group,
    integer,
    real,
    text,
)
from vds_gz.core.parameters.node import (
    GazeboParameters,
    LocalizationParameters,
    MeasurementNoiseParameters,
    NodeParameters,
)
from vds_gz.core.parameters.teleop import JoystickParameters, KeyParameters
from vds_gz.core.parameters.vehicles import BicycleParameters, OmniParameters
from vds_gz.core.sensing.sensors.imu import Imu
from vds_gz.core.sensing.sensors.lidar2d import Lidar2d
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.differential import DIFFERENTIAL
from vds_gz.core.vehicle.omni import OMNI


@dataclass(frozen=True)
class Wheel:
    """A group below a group."""

    radius: float = real(0.25, "m", "half the diameter", positive=True, maximum=2.0, aliases=("vis_radius",))
    spokes: int = integer(5, "how many spokes", minimum=3)


@dataclass(frozen=True)
class Cart:
    """A group of every kind of parameter."""

    length: float = real(1.5, "m", "from front to rear", minimum=0.5, live=True)
    lit: bool = flag(True, "the lamp is on")
    colour: str = choice("red", ("red", "green"), "colour of the paint")
    name: str = text("", "what it is called", live=True)
    front: Wheel = group(Wheel)
    rear: Wheel = group(Wheel, radius=0.5)


KNOWN = {parameter.name: parameter for parameter in describe(Cart())}


def refusal(name: str, value: object, where: str = "") -> str:
    """The message with which a value is refused."""
    with pytest.raises(ParameterError) as caught:
        KNOWN[name].check(value, where)
    return str(caught.value)


# Descriptions


def test_every_parameter_of_all_groups_is_described_once_by_its_dotted_name():
    assert list(KNOWN) == [
        "length",
        "lit",
        "colour",
        "name",
        "front.radius",
        "front.spokes",
        "rear.radius",
        "rear.spokes",
    ]


def test_a_description_tells_type_unit_bounds_and_meaning():
    assert KNOWN["front.radius"] == Description(
        "front.radius", "double", 0.25, "m", "half the diameter", 1e-6, 2.0, aliases=("vis_radius",)
    )
    assert [KNOWN[name].type for name in ("length", "lit", "colour", "name", "front.spokes")] == [
        "double",
        "bool",
        "string",
        "string",
        "integer",
    ]


def test_only_live_parameters_can_be_written_while_the_node_runs():
    assert [name for name, item in KNOWN.items() if not item.read_only] == ["length", "name"]


def test_a_nested_group_may_have_other_defaults():
    assert KNOWN["front.radius"].default == 0.25
    assert KNOWN["rear.radius"].default == 0.5
    assert KNOWN["rear.spokes"].default == 5


def test_a_prefix_stands_before_every_name():
    assert all(parameter.name.startswith("carts.first.") for parameter in describe(Cart(), "carts.first"))


def test_the_values_of_an_instance_stand_as_defaults():
    cart = Cart(length=3.0, rear=Wheel(radius=1.0))
    described = {parameter.name: parameter.default for parameter in describe(cart)}
    assert (described["length"], described["rear.radius"]) == (3.0, 1.0)


def test_the_groups_of_a_dict_are_described_by_their_keys():
    names = [parameter.name for parameter in describe(NodeParameters(model_params={"cart": Cart()}))]
    assert "model_params.cart.rear.radius" in names


# Accepted values


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("length", 2.5, 2.5),
        ("length", 0.5, 0.5),
        ("length", 3, 3.0),
        ("front.radius", 2, 2.0),
        ("lit", False, False),
        ("colour", "green", "green"),
        ("name", "anything at all", "anything at all"),
        ("front.spokes", 3, 3),
        ("front.spokes", 10**9, 10**9),
    ],
)
def test_a_value_within_its_bounds_is_kept_in_its_proper_type(name, value, kept):
    checked = KNOWN[name].check(value)
    assert checked == kept
    assert type(checked) is type(kept)


# Refused values


LENGTHS, RADII = "a finite number, at least 0.5, at most 1e+06 [m]", "a finite number, at least 1e-06, at most 2 [m]"


@pytest.mark.parametrize(
    ("name", "values", "right"),
    [
        ("length", ["2.5", "fast", True, False, None, [1.0], {"a": 1.0}], "be a number"),
        ("lit", [1, 0, 1.0, "true", "yes", None], "be true or false"),
        ("front.spokes", [True, 4.0, "4", None], "be a whole number"),
        ("name", [1, 1.0, True, None], "be a text"),
        ("length", [math.nan, math.inf, -math.inf, 0.4], f"be {LENGTHS}"),
        ("length", [2**63, -(2**63) - 1, 10**400], "fit into 64 bits"),
        ("front.spokes", [2**63, -(2**63) - 1, 10**400], "fit into 64 bits"),
        ("front.spokes", [2], "be a whole number, at least 3, at most 9223372036854775807"),
        ("front.radius", [0, 0.0, -1.0, 2.1], f"be {RADII}"),
        ("colour", ["blue"], "be one of red, green"),
    ],
)
def test_a_wrong_value_is_refused_with_what_would_be_right(name, values, right):
    for value in values:
        shown = f"{value:g}" if "finite" in right else repr(value)
        assert refusal(name, value) == f"parameter '{name}' is {shown}; it must {right}"


@pytest.mark.parametrize(("name", "value"), [("length", "x"), ("length", -1.0), ("colour", "blue")])
def test_a_refusal_tells_where_the_value_came_from(name, value):
    assert "(file cart.yaml)" in refusal(name, value, "file cart.yaml")
    assert "(" not in refusal(name, value)


# Parameters of this package


def every_parameter() -> dict[str, Description]:
    node = NodeParameters(model_params={model.name: model.parameters() for model in models().values()})
    return {parameter.name: parameter for parameter in describe(node)}


def test_every_default_lies_within_its_own_bounds():
    for parameter in every_parameter().values():
        assert parameter.check(parameter.default) == parameter.default


def test_every_parameter_has_a_meaning():
    for parameter in every_parameter().values():
        assert len(parameter.doc) > 5
        assert not parameter.doc.endswith(".")


@pytest.mark.parametrize("model", [BICYCLE, DIFFERENTIAL, OMNI], ids=lambda model: model.name)
def test_every_number_of_a_wheeled_vehicle_has_a_unit(model):
    assert [
        parameter.name
        for parameter in describe(model.parameters())
        if parameter.type == "double" and not parameter.unit
    ] == []


def test_no_limit_of_an_actuator_may_be_negative():
    groups = (DriveParameters(), SteeringParameters(), BodyLimits())
    limits = [parameter for group in groups for parameter in describe(group) if parameter.name.startswith("max_")]
    assert limits
    for parameter in limits:
        assert parameter.minimum == 0.0
        assert not parameter.read_only


def test_groups_cannot_be_changed_in_place():
    with pytest.raises(dataclasses.FrozenInstanceError):
        NodeParameters().step_rate = 5.0


# The reference page


def test_the_reference_page_covers_every_parameter_with_its_default_unit_and_meaning():
    tables = reference_tables(reference.markdown(every_parameter().values()), "##")
    for name, item in every_parameter().items():
        prefix, _, last = name.rpartition(".")
        row = tables[prefix][last]
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert cells[1].partition(" (")[0].endswith(item.unit.lstrip("-").partition(" (")[0])
        assert ("integer" in cells[1]) == (item.type == "integer")
        assert cells[0].endswith("*") == (not item.read_only)
        assert item.doc in cells[2]
        assert all(f"`{alias}`" in cells[2] for alias in item.aliases)
    assert sum(map(len, tables.values())) == len(every_parameter())


def test_the_reference_page_lists_only_what_differs_from_a_similar_group():
    page = reference.markdown(every_parameter().values())
    assert "\nAlso `model_params.differential.drive_actuators`, " in page
    assert page.count("| `dead_time`* |") == 1
    assert ", with `time_constant` 0.05 s, and:" in page


def test_the_reference_page_writes_defaults_and_bounds_as_one_would_in_a_file():
    page = reference.markdown(describe(Cart()))
    assert "| `length`* | 1.5 m (0.5..1e+06) | from front to rear |" in page
    assert "| `lit` | true | the lamp is on |" in page
    assert "| `colour` | `red` (`green`) | colour of the paint |" in page
    assert "| `name`* | (empty) | what it is called |" in page
    assert "| `radius` | 0.25 m (1e-06..2) | half the diameter (also `vis_radius`) |" in page
    assert "| `spokes` | 5 (integer, >=3) | how many spokes |" in page


# Groups check themselves

GROUPS = (
    *(model.parameters for model in models().values()),
    *(DriveParameters, SteeringParameters, MeasurementNoiseParameters),
    *of_guest("vds_gz.autoware.parameters.car_parameters:MechanicalParameters"),
    *(NodeParameters, LocalizationParameters, GazeboParameters, JoystickParameters, KeyParameters),
    *GROUPS.values(),
)


@pytest.mark.parametrize("kind", GROUPS, ids=lambda kind: kind.__name__)
def test_every_number_has_finite_bounds(kind):
    for parameter in describe(kind()):
        assert math.isfinite(parameter.minimum), parameter.name
        assert math.isfinite(parameter.maximum), parameter.name
        if parameter.type == "double":
            for value in (parameter.minimum, parameter.maximum):
                assert parameter.check(value) == value
            for value in (math.nextafter(parameter.minimum, -math.inf), math.nextafter(parameter.maximum, math.inf)):
                with pytest.raises(ParameterError, match="at least"):
                    parameter.check(value)


@pytest.mark.parametrize("kind", GROUPS, ids=lambda kind: kind.__name__)
def test_every_group_refuses_every_number_that_is_none_by_name(kind):
    names = [
        parameter.name for parameter in describe(kind()) if parameter.type == "double" and "." not in parameter.name
    ]
    for name in names:
        with pytest.raises(ParameterError, match=rf"^parameter '{name}' is nan; it must be a finite number"):
            kind(**{name: math.nan})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BicycleParameters(wheel_base=-1.0), "'wheel_base' is -1; it must be a finite number, at least 1e-06"),
        (lambda: BicycleParameters(reverse="yes"), "'reverse' is 'yes'; it must be true or false"),
        (lambda: OmniParameters(roller_pattern="y"), "'roller_pattern' is 'y'; it must be one of o, x"),
        (lambda: DriveParameters(dead_time=61.0), "'dead_time' is 61; it must be .*, at least 0, at most 60 .s."),
        (lambda: dataclasses.replace(DriveParameters(), dead_time=-0.1), "'dead_time' is -0.1; .*, at least 0"),
        (
            lambda: Imu(xyz=(0.0, 1.0)),
            "'xyz' is .0.0, 1.0.; it must be a list of 3 finite numbers, .* at most 1e.06 .m.",
        ),
    ],
)
def test_a_group_made_in_python_names_the_parameter_its_value_and_what_would_be_right(make, message):
    with pytest.raises(ParameterError, match=f"^parameter {message}"):
        make()


def test_whole_numbers_and_numbers_of_numpy_are_taken_and_become_plain_ones():
    p = BicycleParameters(wheel_base=2, track_fixed=np.float32(0.5), base_link_offset=np.float64(0.1))
    assert (p.wheel_base, p.track_fixed, p.base_link_offset) == (2.0, 0.5, 0.1)
    assert {type(p.wheel_base), type(p.track_fixed), type(p.base_link_offset)} == {float}
    assert type(Lidar2d(rays=np.int64(7)).rays) is int
    assert Imu(xyz=np.array([1.0, 2.0, 3.0])).xyz == (1.0, 2.0, 3.0)
