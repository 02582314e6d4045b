"""What functions may do with records in lanes: the same bits as interpreted, or a refusal with file and line."""

import enum
import inspect
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("numba")

from vds_gz.core.compiling import compiled_over_blocks
from vds_gz.core.compiling.record_layout import Block, BlockRow, Constant, FixedArray, Layout
from vds_gz.core.errors import ArgumentError

WIDTH, STEPS, GAIN = 32, 3, 2.0

COEFFICIENTS = Layout(
    (
        ("dt", BlockRow("real", 0)),
        ("a", Layout((("k", BlockRow("real", 1)),))),
        ("b", Layout((("k", BlockRow("real", 2)),))),
        ("a_k", BlockRow("real", 3)),  # named as a.k is
        ("gear", BlockRow("whole", 4)),
        ("gains", FixedArray(tuple(BlockRow("real", 5 + k) for k in range(3)))),
        ("fast", Constant(True)),
    )
)
STATE = Layout(
    (
        ("x", BlockRow("real", 8)),
        ("y", BlockRow("real", 9)),
        ("n", BlockRow("whole", 10)),
        ("on", BlockRow("flag", 11)),
        ("history", FixedArray(tuple(BlockRow("real", 12 + k) for k in range(4)))),
    )
)
COMMAND = Layout((("v", BlockRow("real", 16)),))
ROWS = 17


def objects(vehicle: int) -> tuple[SimpleNamespace, SimpleNamespace, SimpleNamespace]:
    """Coefficients, state and command of a vehicle."""
    a, b = SimpleNamespace(k=1.0), SimpleNamespace(k=2.0)
    gains = [0.5, 1.0 + vehicle, 3.0]
    c = SimpleNamespace(dt=0.1, a=a, b=b, a_k=7.0, gear=vehicle % 3, gains=gains, fast=True)
    s = SimpleNamespace(x=0.0, y=0.25, n=2**53 + 1 if vehicle == 5 else 0, on=False, history=[0.0, 1.0, 2.0, 3.0])
    return c, s, SimpleNamespace(v=vehicle / 16.0 - 1.0)


def numbers_of(layout: Layout, sample: object):
    """Rows and numbers of an object."""
    for name, entry in layout.fields:
        value = getattr(sample, name)
        if isinstance(entry, Layout):
            yield from numbers_of(entry, value)
        elif isinstance(entry, FixedArray):
            yield from zip(entry.rows, value, strict=True)
        elif isinstance(entry, BlockRow):
            yield entry, value


def bits_of(vehicles) -> np.ndarray:
    """The numbers of vehicles as stored in a block."""
    block = np.zeros((ROWS, WIDTH))
    for i, samples in enumerate(vehicles):
        for layout, sample in zip((COEFFICIENTS, STATE, COMMAND), samples, strict=True):
            for row, value in numbers_of(layout, sample):
                (block if row.kind == "real" else block.view(np.int64))[row.index, i] = value
    return block


def in_lanes(*phases) -> np.ndarray:
    """The block after some steps in lanes."""

    def run(c, s, u, reals, n):
        for _ in range(n):
            for phase in phases:
                for i in range(WIDTH):
                    phase(c[i], s[i], u[i])

    blocks = {"c": Block(COEFFICIENTS, WIDTH), "s": Block(STATE, WIDTH), "u": Block(COMMAND, WIDTH)}
    block = bits_of(map(objects, range(WIDTH)))
    compiled_over_blocks(run, blocks, {}, error_model="numpy")(block.reshape(-1), STEPS)
    return block


def interpreted(*phases) -> np.ndarray:
    """The same, interpreted."""
    vehicles = [objects(i) for i in range(WIDTH)]
    for c, s, u in vehicles:
        for _ in range(STEPS):
            for phase in phases:
                phase(c, s, u)
    return bits_of(vehicles)


def bump(k, s, amount=1.0):
    s.x += amount * k.k
    return s.x


def twice(one, two):
    one.x += 1.0
    two.y = one.x + two.x


def branches(c, s, u):
    """Early returns, keywords, defaults, other names, flags, whole numbers, one record under two names."""
    k, speed = c.a, u.v
    if speed < 0.0:
        s.on = not s.on
        s.n += 3
        s.n = s.n // 2 % 5
        return
    s.n += 1
    got = bump(k=c.b, s=s, amount=speed)
    more = bump(k, s)
    s.y = got = got + more
    twice(s, s)
    if (s.on and s.n > 1) or (not s.on and 0 < s.n <= 3 and c.fast):
        s.y -= c.a.k * c.a_k
    pair = (s.x, s.y)
    s.x, s.y = pair[1] * GAIN, pair[0]


def loops(c, s, u):
    for j in range(3):
        if j == 1:
            continue
        s.x += j * u.v
    while s.x > 1.0:
        s.x *= 0.5
    s.y += total((s.x, s.y)) if s.x > 0.0 or not c.fast else 0.0


def total(pair):
    return pair[0] + pair[1]


def arrays(c, s, u):
    """Indices that are known, of loops, and that each vehicle has for itself."""
    history, s_history_0_ = s.history, 1.0
    for k in range(len(history) - 1, 0, -1):
        history[k] = history[k - 1]
    s.history[0] = u.v * s_history_0_
    s.x += c.gains[c.gear] * c.gains[c.gear - 3] + s.history[-1]
    s.y += sum_of(c, 0.5)


def sum_of(c, factor):
    sum_ = 0.0
    for k in range(3):
        sum_ += factor * c.gains[k]
    return sum_


def after_unrolled_loops(c, s, u):
    """A loop over an array is unrolled; its variable is an ordinary one elsewhere."""
    k = 9
    for j in range(2):
        s.y += k + j
        for k in range(3):
            s.x += c.gains[k]
    for k in range(2):
        s.y += k * u.v
    for k in range(3):
        s.x += c.gains[k] + sum([k + 1.0 for k in (5.0, 6.0)])
    for k in range(3):
        s.x += c.gains[k]
        k = k * 2
        s.y += k
    if u.v < 0.0:
        k = 7
    while k < 9:
        k += 1
        s.y += k


def otherwise(c, s, u):
    """``else`` of loops, a name of ours, patterns."""
    while s.x > 1.0:
        s.x *= 0.5
    else:
        s.y += 1.0
    result_ = 5.0
    bump(c.a, s)
    s.y += result_
    match s.n:
        case 1:
            s.x += 2.0
        case total:
            s.x += total
    s.n = s.n % 3 + 1


def nothing(s):
    s.x = 0.0


def returned_nothing(c, s, u):
    """``None`` is no value."""
    got = bump(c.a, s, 0.25)
    if u.v > 0.0:
        return nothing(s)
    if u.v > -0.5:
        s.x += got
        return None
    s.y += got


class Bits(enum.IntFlag):
    FIRST = 1
    SECOND = 2


class Metres(float):
    """A number of a type of its own."""


LENGTH = Metres(2.5)


def subclasses(c, s, u):
    if s.n & Bits.SECOND:
        s.x += LENGTH
    s.n += 1


@pytest.mark.parametrize(
    "phases",
    [
        (branches,),
        (arrays, loops),
        (branches, loops, arrays, branches, loops, arrays),
        (after_unrolled_loops,),
        (otherwise, returned_nothing, subclasses),
    ],
)
def test_lanes_are_the_interpreted_functions_to_the_bit(phases, monkeypatch, tmp_path):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    assert in_lanes(*phases).tobytes() == interpreted(*phases).tobytes()


def chosen_record(c, s, u):
    k = c.a if u.v > 0.0 else c.b
    s.x += k.k


def rebound_record(c, s, u):
    k = c.a
    if u.v > 0.0:
        k = c.b
    s.x += k.k


def changed_within_expression(c, s, u):
    s.y = 1.0 + bump(c.a, s)


def changed_within_condition(c, s, u):
    if bump(c.a, s) > 0.0:
        s.y = 1.0


def unknown_number(c, s, u):
    s.z = 1.0


def changed_constant(c, s, u):
    c.fast = False


def record_in_a_list(c, s, u):
    s.x += [c.a][0].k


def array_as_an_argument(c, s, u):
    s.x += total(s.history)


def computed_place(c, s, u):
    s.history[c.gear] = u.v


def beyond_the_end(c, s, u):
    s.x = s.history[4]


def method(c, s, u):
    s.stop()


def record_by_star(c, s, u):
    parts = c.a, s
    bump(*parts)


def inner_function(c, s, u):
    def change(k):
        s.x += k.k

    change(c.a)


def recursive(c, s, u):
    s.x += 1.0
    recursive(c, s, u)


def value_in_one_place(c, s, u):
    s.x += 1.0
    if s.x > u.v:
        return
    return 1.0


def value_not_at_the_end(c, s, u):
    s.x += 1.0
    if s.x > u.v:
        return 1.0


def star_parameters(c, s, *u):
    s.x = 1.0


OTHER = SimpleNamespace(gain=2.0)


def variable_object(c, s, u):
    s.x += OTHER.gain


without_def = lambda c, s, u: None  # noqa: E731


@pytest.mark.parametrize(
    ("phase", "line", "reason"),
    [
        (chosen_record, 1, "no records and arrays as values"),
        (rebound_record, 3, "cannot choose or store a record"),
        (changed_within_expression, 1, "changes a record is called within an expression"),
        (changed_within_condition, 1, "changes a record is called within an expression"),
        (unknown_number, 1, "no number 'z'"),
        (changed_constant, 1, "this flag is a constant"),
        (record_in_a_list, 1, "no records and arrays as values"),
        (array_as_an_argument, 1, "no records and arrays as values"),
        (computed_place, 1, "an entry is set whose index is computed"),
        (beyond_the_end, 1, "the array has 4 entries"),
        (method, 1, "no number 'stop'"),
        (record_by_star, 1, "no records"),
        (inner_function, 1, "a function within a function"),
        (recursive, 0, "calls itself"),
        (value_in_one_place, 3, "returns a value in one place and none in another"),
        (value_not_at_the_end, 0, "returns a value, but not at its end"),
        (star_parameters, 0, "plain parameters"),
        (variable_object, 1, "cannot use a SimpleNamespace of a module"),
        (without_def, 0, "the source of '<lambda>' is not there"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_lanes_cannot_do_is_refused_with_file_and_line(phase, line, reason):
    begin = phase.__code__.co_firstlineno
    with pytest.raises(ArgumentError, match=rf"{inspect.getfile(phase)}:{begin + line}: .*{reason}"):
        in_lanes(phase)
