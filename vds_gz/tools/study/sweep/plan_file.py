"""The file of a sweep."""

from __future__ import annotations

import difflib
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TypeVar

import yaml

from vds_gz.core.configuration import NODE_NAME, load_parameters, preset_names
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import Description, describe
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.yaml_entries import Entry, read_entries
from vds_gz.core.parameters.yaml_reader import Interval, read_intervals
from vds_gz.programs.commandlog.command_log import CommandLog
from vds_gz.programs.commandlog.command_log import read as read_log
from vds_gz.tools.fleet.closed_loop import steps_of_period
from vds_gz.tools.fleet.controllers import Controller, controller_named
from vds_gz.tools.fleet.path import read_path
from vds_gz.tools.study.sweep.analysis import DELAY_MARGIN, check_expected
from vds_gz.tools.study.sweep.cases import (
    ADDITIONAL_DEAD_TIME,
    CONTROLLER,
    START,
    STARTS,
    Case,
    ControlledDrive,
    Driving,
    element,
    elements,
    vehicle_parameters,
)
from vds_gz.tools.study.sweep.measures import CLOSED_LOOP_MEASURES, OPEN_LOOP_MEASURES, check_measures
from vds_gz.tools.study.sweep.sweep_runs import Samples, Space, Sweep, UniformVariation, Variation

T = TypeVar("T")

KEYS = ("vehicle", "commands", "controller", "path", "driving", "vary", "samples", "measure", "expect")

#: Keys below ``driving``, with the number that a value must exceed.
DRIVING = {"rate": 0.0, "duration": 0.0, "bound": 0.0, "laps": 0.0, "lateral": -math.inf, "heading_error": -math.inf}

SPREADS = "{uniform: [low, high]}, {interval: parameters.yaml}, {grid: [...]} or {from: 0, to: 1, count: 11}"

#: Maximum number of runs; more are a mistake.
MOST_RUNS = 100_000_000


def read_sweep(file: str | Path) -> Sweep:
    """Read a sweep from a file; files that it names are beside it, or relative to the working directory."""
    return _PlanReader(Path(file)).sweep()


def descriptions(sweep: Sweep, case: Case) -> Iterator[tuple[str, Description]]:
    """The varied parameters that are single numbers, with their units and nominal values."""
    for name in sweep.space.variations:
        if (description := _description(case, name)).type == "double":
            yield name, description


class _PlanReader:
    """Reads one file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._entries = read_entries(file, "sweep", ArgumentError).choice(f"keys of a sweep: {', '.join(KEYS)}", KEYS)
        self._identified: dict[str, Interval] = {}

    def sweep(self) -> Sweep:
        """Read all keys."""
        cases = self._cases()
        closed = isinstance(cases[0].drive, ControlledDrive)
        if not closed and "driving" in self._entries:
            raise self._entries["driving"].error("is for controllers; commands have their own times")
        variations = self._variations(cases)
        space = Space(variations, self._samples(variations))
        driving = self._driving()
        measures = self._measures(driving, closed=closed)
        identified = self._of_vehicle(variations) | self._identified
        sweep = Sweep(tuple(cases), space, measures, driving, self._expected(measures), identified)
        if len(sweep) > MOST_RUNS:
            raise ArgumentError(f"{self._file}: there are {len(sweep)} runs; there may be at most {MOST_RUNS}")
        if closed:
            self._check_times(sweep)
        return sweep

    def _check_times(self, sweep: Sweep) -> None:
        """Check that commands fall on steps of the vehicles, and that there is at least one."""
        rate, duration = sweep.driving.rate, sweep.driving.duration
        for case in sweep.cases:
            try:
                steps_of_period(case.vehicle.step_rate, rate)
            except ArgumentError as error:
                raise ArgumentError(f"{self._file}: {case.labels['vehicle']}: {error}") from None
        if round(duration * rate) < 1:
            raise ArgumentError(
                f"{self._file}: duration is {duration:g} s; it must be at least a period, which is {1.0 / rate:g} s"
            )

    def _entry(self, key: str) -> Entry:
        if key not in self._entries:
            raise ArgumentError(f"{self._file}: '{key}' is missing")
        return self._entries[key]

    def _located(self, name: str) -> str:
        """The path of a file beside this one, or relative to the working directory."""
        beside = self._file.parent / name
        return str(beside) if beside.exists() else name

    def _cases(self) -> list[Case]:
        open_loop = "commands" in self._entries
        if open_loop == ("controller" in self._entries) or open_loop == ("path" in self._entries):
            raise ArgumentError(
                f"{self._file}: there must be either 'commands', which a vehicle is sent, or a 'controller' and the "
                "'path' that it follows"
            )
        self._entry("vehicle")
        vehicles = self._read("vehicle", f"a parameter file, or a preset of {', '.join(preset_names())}", self._vehicle)
        logs = self._read("commands", "command logs", lambda name: read_log(self._located(name)))
        paths = self._read("path", "CSV files of paths", lambda name: read_path(self._located(name)))
        drives: list[tuple[dict[str, str], CommandLog | ControlledDrive]] = [
            ({"commands": name}, log) for name, log in logs.items()
        ]
        drives += [
            ({"controller": name, "path": file}, ControlledDrive(name, gains, path))
            for name, gains in self._controllers().items()
            for file, path in paths.items()
        ]
        return [
            Case({"vehicle": label} | labels, vehicle, drive)
            for label, vehicle in vehicles.items()
            for labels, drive in drives
        ]

    def _vehicle(self, name: str) -> NodeParameters:
        return load_parameters(name if name in preset_names() else self._located(name))

    def _read(self, key: str, meaning: str, read: Callable[[str], T]) -> dict[str, T]:
        """The items below a key, by name."""
        items: dict[str, T] = {}
        for entry in self._entries[key].items(meaning) if key in self._entries else ():
            name = entry.text(meaning)
            if name in items:
                raise entry.error(f"is '{name}' again")
            items[name] = entry.within(partial(read, name))
        return items

    def _controllers(self) -> dict[str, dict[str, float]]:
        """Gains by the controller's name; modules of custom controllers may be beside the file."""
        if (folder := str(self._file.parent.resolve())) not in sys.path:
            sys.path.append(folder)
        controllers: dict[str, dict[str, float]] = {}
        for item in self._entries["controller"].items("controllers") if "controller" in self._entries else ():
            gains: dict[str, Entry] = {}
            if isinstance(item.node, yaml.MappingNode):
                meaning = "one controller with its parameters, e.g. {pure_pursuit: {look_ahead: 2.0}}"
                named = item.mapping(meaning)
                if len(named) != 1:
                    raise item.error(f"must hold {meaning}")
                [(name, entry)] = named.items()
                gains = entry.mapping("the controller's parameters")
            else:
                name = item.text("the name of a controller")
            if name in controllers:
                raise item.error(f"is '{name}' again; to vary its parameters: vary: {{{CONTROLLER}NAME: [...]}}")
            known = {parameter.name: parameter for parameter in item.within(partial(_controller_parameters, name))}
            controllers[name] = {gain: _gain(entry, known, gain) for gain, entry in gains.items()}
        return controllers

    def _driving(self) -> Driving:
        if "driving" not in self._entries:
            return Driving()
        entries = self._entries["driving"].choice(f"some of {', '.join(DRIVING)}", DRIVING)
        values = {name: entry.whole(1) if name == "laps" else entry.number() for name, entry in entries.items()}
        for name, value in values.items():
            if not value > DRIVING[name]:
                raise entries[name].error(f"is {value:g}; it must be greater than {DRIVING[name]:g}")
        return Driving(**values)  # type: ignore[arg-type]  # laps is whole

    def _variations(self, cases: list[Case]) -> dict[str, Variation]:
        if "vary" not in self._entries:
            return {}
        names: dict[str, str] = {}
        variations = {}
        for name, entry in self._entries["vary"].mapping("parameters that are varied").items():
            described = [entry.within(partial(_description, case, name)) for case in cases]
            if (same := names.setdefault(described[0].name, name)) != name:
                raise entry.error(f"is '{same}' again")
            lists = [description for description in described if description.type == "double_array"]
            variations[name] = variation = self._lists(entry, lists) if lists else self._variation(entry, name)
            ends = variation if isinstance(variation, tuple) else (variation.low, variation.high)
            for description in described:
                if description.type not in ("double", "double_array"):
                    raise entry.error(f"is a {description.type}; only real numbers and lists of them are varied")
                for value in ends:
                    entry.within(partial(description.check, value))
            for other in names:
                if other != (whole := other.partition("[")[0]) and whole in names:
                    raise entry.error(f"is given twice: '{whole}' varies as a whole and as '{other}'")
        return variations

    def _lists(self, entry: Entry, described: list[Description]) -> Variation:
        """Lists of numbers, as many as the vehicles have."""
        name, nominal = described[0].name, [*elements(described[0]).values()]
        lengths = {len(elements(description)) for description in described}
        if len(lengths) > 1:
            counts = " and ".join(map(str, sorted(lengths)))
            raise entry.error(
                f"has {counts} numbers in different vehicles; it must have equally many in all, or vary in sweeps of "
                "one vehicle each"
            )
        [length] = lengths
        if length == 0:
            raise entry.error(f"is an empty list in the vehicle; give '{name}' its numbers there first")
        count = "1 number" if length == 1 else f"{length} numbers"
        meaning = f"lists of {count}, e.g. [{nominal}], or vary one of them: {element(name, 0)}"
        spread = {} if isinstance(entry.node, yaml.SequenceNode) else entry.choice(f"{{grid: {meaning}}}", ("grid",))
        items = spread.get("grid", entry).items(meaning)
        return tuple(tuple(item.numbers(meaning, length)) for item in items)

    def _variation(self, entry: Entry, name: str) -> Variation:
        if isinstance(entry.node, yaml.SequenceNode):
            return tuple(entry.numbers())
        spread = entry.choice(SPREADS, ("uniform", "interval", "grid", "from", "to", "count"))
        match sorted(spread):
            case ["grid"]:
                return tuple(spread["grid"].numbers())
            case ["count", "from", "to"]:
                low, high, count = spread["from"].number(), spread["to"].number(), spread["count"].whole(2, MOST_RUNS)
                # Rounded as written: from 0.4 to 1.6 there is 0.6, not 0.6000000000000001.
                begin, end = Fraction(repr(low)), Fraction(repr(high))
                return tuple(float(begin + (end - begin) * k / (count - 1)) for k in range(count))
            case ["uniform"]:
                ends = spread["uniform"].numbers()
                if len(ends) != 2 or not ends[0] < ends[1]:
                    raise spread["uniform"].error(f"is {ends}; it must be two numbers, the lower one first")
                return UniformVariation(*ends)
            case ["interval"]:
                self._identified[name] = interval = self._interval(spread["interval"], name)
                return UniformVariation(interval.low, interval.high)
        raise entry.error(f"must be {SPREADS}, or a list of numbers")

    def _interval(self, entry: Entry, name: str) -> Interval:
        file = entry.text("a parameter file that `vds-gz identify` wrote")
        intervals = entry.within(lambda: read_intervals(self._located(file), f"/{NODE_NAME}"))
        ends = [interval for full, interval in intervals.items() if _is_name(full, name)]
        if len(ends) != 1:
            raise entry.error(
                f"is {file}, which has no interval of '{name}'; it has those of {', '.join(intervals) or 'nothing'}"
            )
        return ends[0]

    def _of_vehicle(self, names: Iterable[str]) -> dict[str, Interval]:
        """The intervals of varied parameters in the vehicle's own file, if there is one vehicle."""
        vehicle, *others = [entry.text("a vehicle") for entry in self._entry("vehicle").items("vehicles")]
        if others or vehicle in preset_names():
            return {}
        intervals = read_intervals(self._located(vehicle), f"/{NODE_NAME}")
        return {name: intervals[full] for name in names for full in intervals if _is_name(full, name)}

    def _samples(self, variations: Mapping[str, Variation]) -> Samples:
        drawn = [name for name, variation in variations.items() if isinstance(variation, UniformVariation)]
        if bool(drawn) != ("samples" in self._entries):
            raise ArgumentError(
                f"{self._file}: '{drawn[0]}' is drawn from an interval, so 'samples' must say how often, e.g. "
                "{sobol: 1024, seed: 1}"
                if drawn
                else f"{self._file}: there are 'samples', but nothing is drawn from an interval; grids need none"
            )
        if not drawn:
            return Samples()
        entry = self._entries["samples"]
        meaning = "{sobol: 1024, seed: 1} or {random: 1000, seed: 1}"
        settings = entry.choice(meaning, ("sobol", "random", "seed"))
        if ("sobol" in settings) == ("random" in settings):
            raise entry.error(f"must be {meaning}")
        seed = settings["seed"].whole(0) if "seed" in settings else 0
        count = settings["sobol" if "sobol" in settings else "random"].whole(1, MOST_RUNS)
        return Samples("sobol" in settings, count, seed)

    def _measures(self, driving: Driving, *, closed: bool) -> tuple[str, ...]:
        entry = self._entry("measure")
        measures = tuple(item.text("the name of a measure") for item in entry.items("measures"))
        entry.within(lambda: check_measures(measures, CLOSED_LOOP_MEASURES if closed else OPEN_LOOP_MEASURES))
        if DELAY_MARGIN in measures and driving.bound == math.inf:
            raise entry.error(f"has {DELAY_MARGIN}, which needs a bound: driving: {{bound: 0.5}}  # [m]")
        if len(set(measures)) < len(measures):
            raise entry.error("names a measure twice")
        return measures

    def _expected(self, measures: tuple[str, ...]) -> dict[str, dict[str, float]]:
        if "expect" not in self._entries:
            return {}
        entry = self._entries["expect"]
        expected = {
            measure: {part: bound.number() for part, bound in bounds.mapping("bounds, e.g. {p99: 0.5}").items()}
            for measure, bounds in entry.mapping("measures with bounds, e.g. path.peak: {p99: 0.5}").items()
        }
        entry.within(lambda: check_expected(expected, dict.fromkeys(measures)))
        return expected


def _is_name(full: str, name: str) -> bool:
    """Whether the full name of a parameter ends with a name."""
    return full == name or full.endswith(f".{name}")


def _description(case: Case, name: str) -> Description:
    """The description of a varied parameter."""
    known: dict[str, Description] = {**vehicle_parameters(case)}
    known[ADDITIONAL_DEAD_TIME] = Description(ADDITIONAL_DEAD_TIME, "double", 0.0, "s", minimum=0.0)
    if isinstance(case.drive, ControlledDrive):
        known |= {f"{START}{start}": Description(f"{START}{start}", "double", 0.0) for start in STARTS}
        gains = _controller_parameters(case.drive.controller, CONTROLLER.rstrip("."))
        known |= {gain.name: gain for gain in gains}
    if name not in known:
        nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.0)[0]
        raise ArgumentError(f"{case.labels['vehicle']} has no such number; the nearest valid name is '{nearest}'")
    return known[name]


def _controller_parameters(name: str, prefix: str = "") -> list[Description]:
    """The parameters of a controller; a custom function has none."""
    controller = controller_named(name)
    return list(describe(controller.parameters(), prefix)) if isinstance(controller, Controller) else []


def _gain(entry: Entry, known: Mapping[str, Description], name: str) -> float:
    """The value of a controller's parameter."""
    value = entry.number()
    if name not in known:
        raise entry.error(f"is not a parameter of this controller; it has {', '.join(known) or 'none'}")
    return float(str(entry.within(lambda: known[name].check(value))))
