"""A vehicle within a block of many, as the functions of a model see it: an object with attributes.

A block is an array of rows of ``width`` reals; integers and flags are stored as 64 bits. The attribute in row ``k`` of
vehicle ``i`` is at ``k * width + i``. The compiler knows all rows, so it sees one base address with distinct columns
and vectorizes a loop over ``i``.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_model,
)

from vds_gz.fleet.layout import Constant, Layout, Row

#: Version of the code below; compiled results of other versions are not used.
REVISION = 1

_TYPES = {"real": types.float64, "whole": types.int64, "flag": types.boolean}


class Lane(types.Type):
    """The type of a vehicle in a block, by layout and width."""

    def __init__(self, layout: Layout, width: int) -> None:
        self.fields = dict(layout.fields)
        self.width = width
        super().__init__(name=f"Lane{REVISION}_{width}_{layout.digest}")


@register_model(Lane)
class _LaneModel(models.StructModel):
    """Start of the block, and index of the vehicle."""

    def __init__(self, manager: Any, lane: Lane) -> None:
        super().__init__(manager, lane, [("block", types.CPointer(types.float64)), ("vehicle", types.intp)])


@infer_getattr
class _LaneAttributes(AttributeTemplate):
    """The types of the attributes."""

    key = Lane

    def generic_resolve(self, lane: Lane, name: str) -> Any:
        """The type of an attribute; None if there is none with this name."""
        field = lane.fields.get(name)
        if isinstance(field, Layout):
            return Lane(field, lane.width)
        if isinstance(field, Constant):
            return types.boolean
        return field and _TYPES[field.kind]


def _address(context: Any, builder: Any, lane: Lane, value: Any, row: Row) -> Any:
    """The address of a number."""
    place = cgutils.create_struct_proxy(lane)(context, builder, value)
    index = builder.add(place.vehicle, ir.Constant(place.vehicle.type, row.index * lane.width), flags=("nsw",))
    address = builder.gep(place.block, [index], inbounds=True)
    return address if row.kind == "real" else builder.bitcast(address, ir.IntType(64).as_pointer())


@lower_getattr_generic(Lane)
def _get(context: Any, builder: Any, lane: Lane, value: Any, name: str) -> Any:
    field = lane.fields[name]
    if isinstance(field, Layout):
        return value
    if isinstance(field, Constant):
        return context.get_constant(types.boolean, field.value)
    number = builder.load(_address(context, builder, lane, value, field))
    return builder.icmp_signed("!=", number, ir.Constant(number.type, 0)) if field.kind == "flag" else number


@lower_setattr_generic(Lane)
def _set(context: Any, builder: Any, signature: Any, arguments: Any, name: str) -> None:
    lane, given = signature.args
    value, number = arguments
    field = lane.fields[name]
    assert isinstance(field, Row)
    number = context.cast(builder, number, given, _TYPES[field.kind])
    if field.kind == "flag":
        number = builder.zext(number, ir.IntType(64))
    builder.store(number, _address(context, builder, lane, value, field))


def lane_of(layout: Layout, width: int) -> Any:
    """``lane(block, i)`` for compiled functions: vehicle ``i`` of a block as an object of this layout."""
    kind = Lane(layout, width)

    def lane(typing: Any, block: Any, vehicle: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = cgutils.create_struct_proxy(kind)(context, builder)
            place.block = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0]).data
            place.vehicle = arguments[1]
            return place._getvalue()

        return kind(block, types.intp), code

    # The name of dependent results on disk.
    lane.__qualname__ = kind.name
    return intrinsic(lane)
