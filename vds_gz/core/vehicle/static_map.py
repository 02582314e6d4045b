"""A static map from an actuator's reference to its response, such as throttle to speed: lines between points."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from vds_gz.core.parameters.actuator_parameters import MAP_POINTS, StaticMapParameters

SEGMENTS = MAP_POINTS - 1


def _unused() -> list[float]:
    return [0.0] * SEGMENTS


@dataclass(slots=True)
class StaticMap:
    """A map with the response ``start`` plus the sum over all segments of ``slope`` times the passed part of a segment.

    Segments begin at ``begin`` and are ``width`` wide, both in the unit of references. Unused segments have a width and
    a slope of 0.
    """

    used: bool = False  # there is a map
    odd: bool = False  # the map is odd: map(-r) = -map(r)
    start: float = 0.0
    begin: list[float] = field(default_factory=_unused)
    width: list[float] = field(default_factory=_unused)
    slope: list[float] = field(default_factory=_unused)


def static_map(p: StaticMapParameters) -> StaticMap:
    """The map of an actuator's parameters; not used if they have no points."""
    if not p.map_references:
        return StaticMap()
    m = StaticMap(True, p.map_references[0] >= 0.0, p.map_responses[0])
    points = zip(p.map_references, p.map_responses, strict=True)
    for k, ((reference, response), (next_reference, next_response)) in enumerate(pairwise(points)):
        m.begin[k], m.width[k] = reference, next_reference - reference
        m.slope[k] = (next_response - response) / m.width[k]
    return m


def mapped(m: StaticMap, reference: float) -> float:
    """The response to a reference, constant beyond the first and the last point."""
    entry = abs(reference) if m.odd else reference
    response = m.start
    for k in range(SEGMENTS):
        response += m.slope[k] * passed(entry - m.begin[k], m.width[k])
    return -response if m.odd and reference < 0.0 else response


def passed(distance: float, width: float) -> float:
    """The part of a segment that a reference passes, at a distance beyond the segment's beginning."""
    return 0.0 if distance < 0.0 else width if distance > width else distance


def unmapped(m: StaticMap, response: float) -> float:
    """The reference of least magnitude that gives a response; that of the nearest point if none gives it."""
    value, points = m.start, [(m.begin[0], m.start)]
    for begin, width, slope in zip(m.begin, m.width, m.slope, strict=True):
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
