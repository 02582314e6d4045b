"""Maps from an actuation (a pedal, a steering command) and a state (a speed, a tyre angle) to a response.

Between the points of the grid a map is linear in both directions; beyond the grid it is constant.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from vds_gz.autoware.parameters.map_files import ActuationMap


@dataclass(slots=True)
class Map:
    """A grid of values, row by row."""

    columns: int = 2  # columns, rows: size of the grid
    rows: int = 2
    states: list[float] = field(default_factory=lambda: [0.0, 1.0])  # key of every column, rising
    actuations: list[float] = field(default_factory=lambda: [0.0, 1.0])  # key of every row, rising
    # the value at (row, column) is values[row * columns + column]
    values: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0, 0.0])


def map_of(table: ActuationMap) -> Map:
    """The map of a table."""
    return Map(
        len(table.states),
        len(table.actuations),
        list(table.states),
        list(table.actuations),
        [value for row in table.values for value in row],
    )


def interpolate(m: Map, actuation: float, state: float) -> float:
    """The value of a map at an actuation and a state."""
    column, fraction = locate(m, state)
    actuation = cropped(actuation, m.actuations[0], m.actuations[m.rows - 1])
    row = interval(m.actuations, actuation)
    low = value_in_row(m, row, column, fraction)
    high = value_in_row(m, row + 1, column, fraction)
    return low + (high - low) * ((actuation - m.actuations[row]) / (m.actuations[row + 1] - m.actuations[row]))


def locate(m: Map, state: float) -> tuple[int, float]:
    """The column before a state, and the state's fraction of the way to the next column."""
    state = cropped(state, m.states[0], m.states[m.columns - 1])
    column = interval(m.states, state)
    return column, (state - m.states[column]) / (m.states[column + 1] - m.states[column])


def value_in_row(m: Map, row: int, column: int, fraction: float) -> float:
    """The value in a row, at a fraction of the way from a column to the next one."""
    left = m.values[row * m.columns + column]
    return left + (m.values[row * m.columns + column + 1] - left) * fraction


def interval(keys: list[float], key: float) -> int:
    """The first interval of rising keys that ends at or after ``key``, which must not be beyond the last key."""
    i = 0
    while keys[i + 1] < key:
        i += 1
    return i


def cropped(value: float, lowest: float, highest: float) -> float:
    """The value, kept between two bounds."""
    if value > highest:
        return highest
    if value < lowest:
        return lowest
    return value


def fraction_between(before: float, after: float, value: float) -> float:
    """The fraction of the way from one value to another at which a third one lies."""
    return (value - before) / (after - before) if after != before else 0.0


def rising_inverse(m: Map, state: float, value: float) -> float:
    """The actuation for a value, at a state where values rise with actuation; out of range, the nearest one."""
    column, fraction = locate(m, state)
    if value < value_in_row(m, 0, column, fraction):
        return m.actuations[0]
    if value > value_in_row(m, m.rows - 1, column, fraction):
        return m.actuations[m.rows - 1]
    row = 0
    before = value_in_row(m, 0, column, fraction)
    after = value_in_row(m, 1, column, fraction)
    while after < value:
        row += 1
        before = after
        after = value_in_row(m, row + 1, column, fraction)
    start = m.actuations[row]
    return start + (m.actuations[row + 1] - start) * fraction_between(before, after, value)


def falling_inverse(m: Map, state: float, value: float, mirrored: bool) -> float:
    """The actuation for a value, at a state where values fall with actuation; out of range, the nearest one.

    ``mirrored`` reads actuations within the range of values from the wrong end of their axis, as Autoware does.
    """
    column, fraction = locate(m, state)
    last = m.rows - 1
    if value < value_in_row(m, last, column, fraction):
        return m.actuations[last]
    if value > value_in_row(m, 0, column, fraction):
        return m.actuations[0]
    row = last
    before = value_in_row(m, last, column, fraction)
    after = value_in_row(m, last - 1, column, fraction)
    while after < value:
        row -= 1
        before = after
        after = value_in_row(m, row - 1, column, fraction)
    part = fraction_between(before, after, value)
    if mirrored:
        start = m.actuations[last - row]
        return start + (m.actuations[last - row + 1] - start) * part
    start = m.actuations[row]
    return start + (m.actuations[row - 1] - start) * part
