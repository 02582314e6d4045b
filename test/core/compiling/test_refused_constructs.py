"""Constructs of Python in a step, vehicle by vehicle and in lanes: the same bits, or a refusal with file and line."""

import inspect
import math
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("numba")

from vds_gz.core.compiling import compiled, compiled_over_blocks
from vds_gz.core.compiling.record_layout import Block, BlockRow, FixedArray, Layout
from vds_gz.core.errors import ArgumentError

WIDTH, STEPS = 8, 3
RECORD = np.dtype([("x", float), ("y", float), ("n", int), ("history", float, (4,))])
LAYOUT = Layout(
    (
        ("x", BlockRow("real", 0)),
        ("y", BlockRow("real", 1)),
        ("n", BlockRow("whole", 2)),
        ("history", FixedArray(tuple(BlockRow("real", 3 + k) for k in range(4)))),
    )
)
START = (0.25, 0.75, 3, [1.0, 2.0, 3.0, 4.0])


def interpreted(step) -> list:
    s = SimpleNamespace(x=START[0], y=START[1], n=START[2], history=[*START[3]])
    for _ in range(STEPS):
        step(s)
    return [float(s.x), float(s.y), s.n, *s.history]


def as_record(step) -> list:
    def run(s):
        for _ in range(STEPS):
            step(s[0])

    array = np.array([(*START[:3], tuple(START[3]))], RECORD)
    compiled(run, RECORD, inlined=True)(array)
    return [*array[0].item()[:3], *array[0]["history"].tolist()]


def in_lanes(step) -> list:
    def run(s, reals):
        for _ in range(STEPS):
            for i in range(WIDTH):
                step(s[i])

    block = np.zeros((7, WIDTH))
    block[:2], block[3:] = np.array([START[:2]]).T, np.array([START[3]]).T
    block.view(np.int64)[2] = START[2]
    compiled_over_blocks(run, {"s": Block(LAYOUT, WIDTH)}, {}, error_model="numpy")(block.reshape(-1))
    assert block[:, 1:].tobytes() == block[:, :-1].tobytes()
    return [*block[:2, 5].tolist(), int(block.view(np.int64)[2, 5]), *block[3:, 5].tolist()]


MODE, GAIN = "fast", 1.5
TABLE = np.array([[1.0, 2.0], [3.0, 4.0]])


def scaled(value, factor=None):
    return value if factor is None else value * factor


def difference(a, b):
    return a - b


def make_offset():
    offset = 0.125

    def shifted(value):
        nonlocal offset
        return value + offset

    return shifted


shifted = make_offset()


def containers(s):
    """Dictionaries, lists, comprehensions, slices of local values, arrays of two dimensions."""
    gains = {1: 2.0, 2: s.y}
    squares = {k: k * 0.5 for k in range(3)}
    doubled = [v * 2.0 for v in (s.x, 2.0) if v < 3.0]
    matrix = np.zeros((2, 2))
    matrix[0, 1] = s.y + TABLE[1, 0]
    rows = [[1.0, s.x], [3.0, 4.0]]
    s.x += gains[2] * squares[2] + doubled[0] + [1.0, s.y, 3.0][1:][0] + (1.0, 2.0, 3.0)[1:][1]
    s.y += matrix[0, 1] + rows[0][1] + len(doubled)


def functions(s):
    """``None`` as a default, lambdas, arguments in a tuple, variables of modules and enclosing functions."""
    global GAIN
    pair = (s.y, 2.0)
    double = lambda v: v * 2.0  # noqa: E731
    s.x += scaled(s.y) + scaled(s.y, 2.0) + difference(*pair) + difference(*(*pair[:1], 0.5)) + double(s.x)
    s.y += GAIN + shifted(s.x) + sorted([3.0, s.x], key=lambda v: -v)[0]


def branches(s):
    """Patterns, comparisons of texts, ``isinstance``, exceptions that are not raised."""
    match s.n:
        case 1 | 3 if s.y > 0.0:
            s.x += 5.0
        case _:
            s.x += 6.0
    if MODE == "fast" and isinstance(s.y, float):
        s.y += 3.0
    if s.n > 100:
        raise ValueError("too many")
    s.n += 1


@pytest.mark.parametrize("step", [containers, functions, branches], ids=lambda step: step.__name__)
@pytest.mark.parametrize("run", [as_record, in_lanes], ids=lambda run: run.__name__)
def test_these_constructs_give_the_bits_of_the_interpreter(step, run):
    assert list(map(repr, run(step))) == list(map(repr, interpreted(step)))


def caught(s):
    try:
        s.x = 1.0 / s.y
    except ZeroDivisionError:
        s.x = 0.0


def managed(s):
    with open("file"):
        s.x = 1.0


def written(s):
    s.x = float(len(f"{s.y}"))


def text_of_a_number(s):
    s.x = float(len(str(s.y)))


def unordered(s):
    for value in {1e16, 1.0, -1e16}:
        s.x = s.x * 0.5 + value


def counted(s):
    for k in range(3):
        s.x += 1.0
        yield k


def generated_numbers(s):
    for k in counted(s):
        s.y += k


def summed(s):
    s.x = sum(v for v in (s.x, s.y))


def inner(s):
    def double(v):
        return v * 2.0

    s.x = double(s.y)


def any_number(*values):
    return values[0]


def star_parameters(s):
    s.x = any_number(s.y)


def by_keyword(value, *, factor=2.0):
    return value * factor


def keyword_only(s):
    s.x = by_keyword(s.y, factor=3.0)


def unpacked(s):
    first, *_ = (s.y, 2.0, 3.0)
    s.x = first


def unpacked_keywords(s):
    s.x = difference(**{"a": s.y, "b": 1.0})


def global_number(s):
    global GAIN
    GAIN = GAIN + 1.0
    s.x = GAIN


def matched_sequence(s):
    match (s.x, s.y):
        case (a, b):
            s.x = a + b


def named(s):
    if (y := s.y + 1.0) > 0.0:
        s.x = y


def sliced(s):
    first = s.history[0:2]
    s.history[0] = 9.0
    s.x = first[0]


def factorial(n):
    return 1.0 if n <= 1 else n * factorial(n - 1)


def recursion(s):
    s.x = factorial(4)


def deleted(s):
    y = s.x
    del y


def imported(s):
    from math import sin

    s.x = sin(s.y)


def class_within(s):
    class Nothing:
        pass

    s.x = 1.0


def undefined(s):
    s.x = nothing_there  # noqa: F821


def field_that_is_not_there(s):
    s.x = s.z


def too_many_arguments(s):
    s.x = 0.0
    s.y = math.hypot(s.x, s.y, 1.0)


def too_few_arguments(s):
    s.x = difference(s.y)


def unknown_to_numba(s):
    if s.x > 0.0:
        s.x = 1.0
    elif s.y > 0.0:
        s.x = np.gradient(np.zeros(3), 2.0)[0]


REFUSED = [
    (caught, caught, 1, "cannot catch exceptions"),
    (managed, managed, 1, "no `with`"),
    (written, written, 1, "writes numbers otherwise"),
    (text_of_a_number, text_of_a_number, 1, "no `str`"),
    (unordered, unordered, 1, "another order"),
    (generated_numbers, counted, 3, "no generators"),
    (summed, summed, 1, "no generators; write a list"),
    (inner, inner, 1, "a function within a function"),
    (star_parameters, any_number, 0, "plain parameters"),
    (keyword_only, by_keyword, 0, "plain parameters"),
    (unpacked, unpacked, 1, "cannot collect values with *"),
    (unpacked_keywords, unpacked_keywords, 1, "cannot pass arguments with *"),
    (global_number, global_number, 1, "changes a variable of its module"),
    (matched_sequence, matched_sequence, 2, "matches numbers and texts only"),
    (named, named, 1, "no `:=`"),
    (sliced, sliced, 1, "is no copy"),
    (recursion, factorial, 0, "calls itself"),
    (deleted, deleted, 2, "no `del`"),
    (imported, imported, 1, "import at the top"),
    (class_within, class_within, 1, "a class within a function"),
    (undefined, undefined, 1, "'nothing_there' is not defined"),
    (field_that_is_not_there, field_that_is_not_there, 1, "no .*number 'z'|has a number 'z'"),
    (too_many_arguments, too_many_arguments, 2, r"numba cannot compile this: .* >>> hypot\(float64, float64, float64"),
    (too_few_arguments, too_few_arguments, 1, "missing a required argument: 'b'"),
    (unknown_to_numba, unknown_to_numba, 4, "Untyped global name 'gradient'"),
]


@pytest.mark.parametrize(("step", "where", "line", "reason"), REFUSED, ids=[row[0].__name__ for row in REFUSED])
@pytest.mark.parametrize("run", [as_record, in_lanes], ids=lambda run: run.__name__)
def test_other_constructs_are_refused_with_file_and_line(step, where, line, reason, run):
    begin = where.__code__.co_firstlineno
    with pytest.raises(ArgumentError, match=rf"^{inspect.getfile(where)}:{begin + line}: .*({reason})"):
        run(step)


def reads_an_empty_list(s):
    k = int(s.x)
    if k > 0:
        s.x += s.none[k]


def test_a_computed_index_of_an_empty_list_compiles():
    def run(s, reals):
        for i in range(WIDTH):
            reads_an_empty_list(s[i])

    layout = Layout((("x", BlockRow("real", 0)), ("none", FixedArray(()))))
    block = np.full(WIDTH, 0.25)
    compiled_over_blocks(run, {"s": Block(layout, WIDTH)}, {}, error_model="numpy")(block)
    assert block.tolist() == [0.25] * WIDTH
