"""A static map from an actuator's reference to its response, such as throttle to speed: straight lines between points.

Its segments are a fixed number of fields, not a list, so that the same source runs in lanes.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from itertools import pairwise

from vds_gz.core.parameters.actuator_parameters import MAP_POINTS, StaticMapParameters


@dataclass(slots=True)
class StaticMap:
    """A map with the response ``start`` plus the sum over all segments of ``slope`` times the passed part of a segment.

    Segments begin at ``begin`` and are ``width`` wide, both in the unit of references. Unused segments have a width and
    a slope of 0.
    """

    used: bool = False  # there is a map
    odd: bool = False  # the map is odd: map(-r) = -map(r)
    start: float = 0.0
    begin1: float = 0.0
    width1: float = 0.0
    slope1: float = 0.0
    begin2: float = 0.0
    width2: float = 0.0
    slope2: float = 0.0
    begin3: float = 0.0
    width3: float = 0.0
    slope3: float = 0.0
    begin4: float = 0.0
    width4: float = 0.0
    slope4: float = 0.0
    begin5: float = 0.0
    width5: float = 0.0
    slope5: float = 0.0
    begin6: float = 0.0
    width6: float = 0.0
    slope6: float = 0.0
    begin7: float = 0.0
    width7: float = 0.0
    slope7: float = 0.0


assert len(fields(StaticMap)) == 3 + 3 * (MAP_POINTS - 1)


def static_map(p: StaticMapParameters) -> StaticMap:
    """The map of an actuator's parameters; not used if they have no points."""
    if not p.map_references:
        return StaticMap()
    points = list(zip(p.map_references, p.map_responses, strict=True))
    segments: list[float] = []
    for (reference, response), (next_reference, next_response) in pairwise(points):
        width = next_reference - reference
        segments += [reference, width, (next_response - response) / width]
    return StaticMap(True, p.map_references[0] >= 0.0, p.map_responses[0], *segments)


def mapped(m: StaticMap, reference: float) -> float:
    """The response to a reference, constant beyond the first and the last point."""
    entry = abs(reference) if m.odd else reference
    response = (
        m.start
        + m.slope1 * passed(entry - m.begin1, m.width1)
        + m.slope2 * passed(entry - m.begin2, m.width2)
        + m.slope3 * passed(entry - m.begin3, m.width3)
        + m.slope4 * passed(entry - m.begin4, m.width4)
        + m.slope5 * passed(entry - m.begin5, m.width5)
        + m.slope6 * passed(entry - m.begin6, m.width6)
        + m.slope7 * passed(entry - m.begin7, m.width7)
    )
    return -response if m.odd and reference < 0.0 else response


def passed(distance: float, width: float) -> float:
    """The part of a segment that a reference passes, at a distance beyond the segment's beginning."""
    return 0.0 if distance < 0.0 else width if distance > width else distance


def unmapped(m: StaticMap, response: float) -> float:
    """The reference of least magnitude that gives a response; that of the nearest point if none gives it."""
    numbers = astuple(m)[3:]
    value, points = m.start, [(m.begin1, m.start)]
    for begin, width, slope in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True):
        if width > 0.0:
            value += slope * width
            points.append((begin + width, value))
    references = [0.0, _entry(points, response)]
    if m.odd:
        references.append(-_entry(points, -response))
    return min(references, key=lambda reference: (abs(mapped(m, reference) - response), abs(reference)))


def _entry(points: list[tuple[float, float]], response: float) -> float:
    """The entry of least magnitude with a response, on lines between points (entry, response)."""
    entries = [
        low + (high - low) * (response - from_response) / (to_response - from_response)
        for (low, from_response), (high, to_response) in pairwise(points)
        if to_response != from_response
        and min(from_response, to_response) <= response <= max(from_response, to_response)
    ]
    entries += [entry for entry, value in points if value == response]
    return min(entries, key=abs) if entries else min(points, key=lambda point: abs(point[1] - response))[0]
