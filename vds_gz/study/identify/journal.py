"""What was found of many recordings, kept in a file one a line as soon as it is found."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vds_gz.configuration import parameters_of
from vds_gz.parameters.declaration import ParameterGroup, describe
from vds_gz.parameters.override import Override
from vds_gz.study.identify.axes import Axis, AxisFit, Reached
from vds_gz.study.identify.estimates import Estimate
from vds_gz.study.identify.results import Channel, VehicleFit

#: Numbers of a channel that are kept; its samples are not.
_STATISTICS = (
    *("name", "quantity", "unit", "source", "recording"),
    *("noise", "residual", "outliers", "correlation"),
)


@dataclass(frozen=True, slots=True)
class Identified:
    """What one recording tells.

    Attributes:
        log: The recording.
        fit: What was found, without the samples; None where nothing was.
        failure: Why nothing was found, in words that name the recording; empty where something was.
    """

    log: str
    fit: VehicleFit | None = None
    failure: str = ""


def without_samples(fit: VehicleFit) -> VehicleFit:
    """The same without time series."""
    none = np.empty(0)
    channels = (
        dataclasses.replace(one, time=none, measured=none, modelled=none, commanded=None, weight=none)
        for one in fit.channels
    )
    axes = (
        dataclasses.replace(
            one, fit=dataclasses.replace(one.fit, time=none, measured=none, modelled=none, commanded=none)
        )
        for one in fit.axes
    )
    return dataclasses.replace(fit, channels=tuple(channels), axes=tuple(axes))


def statistics_of(channel: Channel) -> dict[str, object]:
    """What is known of a channel besides its samples."""
    return {name: getattr(channel, name) for name in _STATISTICS}


def begin_journal(journal: Path, lines: Iterable[str]) -> None:
    """Write a journal with these lines in the place of one that may be there, all at once."""
    new = journal.with_suffix(".new")
    new.write_text("".join(lines), encoding="utf-8")
    new.replace(journal)


def journal_line(key: str, found: Identified) -> str:
    """What was found of a recording, by the key of what it depends on."""
    entry = {"key": key, "log": found.log, "failure": found.failure, "fit": found.fit and _plain(found.fit)}
    return json.dumps(entry) + "\n"


def read_journal(journal: Path) -> Iterator[tuple[str, Identified]]:
    """What was found, by key; a last line that was not written whole is none, nor is what earlier releases wrote."""
    for line in journal.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
            if "fit" not in entry:
                continue
            found = Identified(entry["log"], entry["fit"] and _fit(entry["fit"]), entry["failure"])
            key = str(entry["key"])
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return
        yield key, found


def with_values(model: str, values: Mapping[str, object]) -> ParameterGroup:
    """The parameter group of a model with these values, by dotted names."""
    found = [Override(f"model_params.{model}.{name}", value) for name, value in values.items()]
    group: ParameterGroup = parameters_of([Override("model", model), *found]).vehicle
    return group


def _plain(fit: VehicleFit) -> dict[str, object]:
    return {
        "model": fit.model,
        "parameters": {one.name: one.default for one in describe(fit.parameters)},
        "numbers": _numbers(fit.numbers),
        "calibrations": _numbers(fit.calibrations),
        "reached": fit.reached,
        "channels": [statistics_of(one) for one in fit.channels],
        "findings": fit.findings,
        "axes": [
            {
                "quantity": axis.quantity,
                "unit": axis.unit,
                "centred": axis.centred,
                "numbers": _numbers(axis.fit.numbers),
                "reached": axis.fit.reached,
                "residual": axis.fit.residual,
                "left_out": axis.fit.left_out,
            }
            for axis in fit.axes
        ],
    }


def _numbers(numbers: Mapping[str, Estimate | None]) -> dict[str, object]:
    return {name: one and dataclasses.astuple(one) for name, one in numbers.items()}


def _fit(entry: dict[str, Any]) -> VehicleFit:
    none = np.empty(0)
    return VehicleFit(
        model=entry["model"],
        parameters=with_values(entry["model"], entry["parameters"]),
        numbers=_estimates(entry["numbers"]),
        calibrations=_estimates(entry["calibrations"]),
        reached=entry["reached"],
        channels=tuple(
            Channel(**one, time=none, measured=none, modelled=none, commanded=None, weight=none)
            for one in entry["channels"]
        ),
        findings=tuple(entry["findings"]),
        axes=tuple(map(_axis, entry["axes"])),
    )


def _axis(entry: dict[str, Any]) -> Axis:
    none = np.empty(0)
    samples = none, none, none, none
    numbers = _estimates(entry["numbers"])
    fit = AxisFit(numbers, Reached(*entry["reached"]), entry["residual"], entry["left_out"], *samples)
    return Axis(entry["quantity"], entry["unit"], fit, entry["centred"])


def _estimates(entry: Mapping[str, Any]) -> dict[str, Estimate | None]:
    return {name: Estimate(*one) if one is not None else None for name, one in entry.items()}
