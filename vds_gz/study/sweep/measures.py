"""Measures of a run, by name: with a command log, and with a controller on a path."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from vds_gz.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of a run.

    Attributes:
        name: Quantity and measure, such as ``path.rms``.
        unit: Its unit.
        meaning: Its meaning, for people.
    """

    name: str
    unit: str
    meaning: str


_PLACE = "m", "base_link's distance from the nominal vehicle's at the same time"

#: Quantities that differ from the nominal vehicle's: unit and meaning.
DIFFERENCES = {
    "path": _PLACE,
    "heading": ("rad", "heading less the nominal vehicle's"),
    "speed": ("m/s", "longitudinal velocity of base_link less the nominal vehicle's"),
    "lateral": ("m/s", "lateral velocity of base_link less the nominal vehicle's"),
    "yaw_rate": ("rad/s", "yaw rate less the nominal vehicle's"),
}

#: Measures of a vehicle with a command log, compared with the nominal vehicle with the same log.
OPEN_LOOP = (
    *(
        Measure(f"{name}.{measure}", unit, f"{words} {meaning}")
        for name, (unit, meaning) in DIFFERENCES.items()
        for measure, words in (("rms", "rms of"), ("peak", "peak magnitude of"))
    ),
    Measure("path.end", _PLACE[0], f"{_PLACE[1]}, at the end"),
    Measure(
        "settle",
        "s",
        "from the last change of the command until longitudinal velocity and yaw rate stay where they end, to 5 % of "
        "their peaks in the run",
    ),
)

#: Measures of a controller on a path; errors are those of the vehicle's reference point at the start of periods.
CLOSED_LOOP = (
    Measure("path.rms", "m", "rms of the lateral error"),
    Measure("path.peak", "m", "peak magnitude of the lateral error"),
    Measure("heading.rms", "rad", "rms of the heading error"),
    Measure("heading.peak", "rad", "peak magnitude of the heading error"),
    Measure("speed.rms", "m/s", "rms of the difference from the reference speed"),
    Measure("speed.peak", "m/s", "peak magnitude of the difference from the reference speed"),
    Measure("distance", "m", "distance along the path that the vehicle reached"),
    Measure("finished", "s", "time when it reached the end; infinite if it did not"),
    Measure("left", "s", "time when its lateral error exceeded the bound; infinite if it did not"),
    Measure("delay_margin", "s", "the additional dead time up to which it stays within the bound"),
)


def measures_of(names: Iterable[str], known: Iterable[Measure]) -> list[Measure]:
    """The measures with these names, in their order.

    Raises:
        ArgumentError: There is no measure with such a name.
    """
    by_name = {one.name: one for one in known}
    for name in names:
        if name not in by_name:
            nearest = difflib.get_close_matches(name, by_name, n=1, cutoff=0.0)[0]
            raise ArgumentError(f"unknown measure '{name}'; there are {', '.join(by_name)}; nearest is '{nearest}'")
    return [by_name[name] for name in names]
