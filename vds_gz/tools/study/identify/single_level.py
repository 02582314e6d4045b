"""Gains and limits that are equivalent because only one level was commanded.

If the response to the only level u of the commands is y, a gain of y / u and a limit of y explain the recording alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.parameters.actuator_parameters import ActuatorStages
from vds_gz.core.parameters.yaml_reader import ends
from vds_gz.tools.study.identify.estimation import Fit
from vds_gz.tools.study.identify.problem.problem_setup import FIELDS, NEAR_ZERO, Setup
from vds_gz.tools.study.identify.results import NamedEstimates
from vds_gz.tools.study.recording import UNITS

#: Commands have one level if the 5th percentile of their magnitudes other than 0 is above this part of the 95th.
ONE_LEVEL = 0.8

#: Levels are the same if they differ by less than this part.
SAME = 0.01


class Equivalent(NamedTuple):
    """A gain and a limit that explain a recording equally well, by name, and a finding that says so."""

    names: tuple[str, ...]
    finding: str


def equivalents(fit: Fit, numbers: NamedEstimates) -> Iterator[Equivalent]:
    """The gain and the limit of each actuator that only one level was commanded of."""
    setup = fit.setup
    for name, actuation in setup.actuators.items():
        quantity = "steering" if actuation.steers else actuation.limited_velocity or "v_x"
        unit = UNITS[quantity]
        magnitudes = np.empty(0) if actuation.each_wheel else _commanded(setup, actuation, quantity)
        level = only_level(magnitudes)
        gain, limit = (numbers.get(actuation[stage]) for stage in ("gain", "value"))
        responses = [number for number in (gain and gain.times(level), limit) if number]
        if not level or not responses:
            continue
        response = min(responses, key=attrgetter("value"))
        names = tuple(actuation[stage] for stage, number in (("gain", gain), ("value", limit)) if number)
        yield Equivalent(
            names,
            f"{name}: {level:.3g} {unit} was {_nearly(magnitudes, level)}the only level commanded, so a gain of "
            f"{response.value / level:.3g} and a limit of {response.value:.3g} {unit} are equivalent; the response is "
            f"{response.value:.3g} {unit} ({ends(response.low, response.high)} if the model holds). Record several "
            "levels, up to the largest",
        )


def only_level(magnitudes: Array) -> float:
    """The only one of some magnitudes that are not near 0; 0 if there are several, or none."""
    magnitudes = magnitudes[magnitudes > NEAR_ZERO * np.max(magnitudes, initial=0.0)]
    if not len(magnitudes):
        return 0.0
    low, high = np.percentile(magnitudes, (5.0, 95.0))
    return float(np.median(magnitudes)) if low > ONE_LEVEL * high else 0.0


def _nearly(magnitudes: Array, level: float) -> str:
    """A word that says that other levels were commanded seldom, or about the same."""
    same = np.abs(magnitudes - level) <= SAME * level
    return "" if np.all(same | (magnitudes <= SAME * level)) else "nearly "


def _commanded(setup: Setup, actuator: ActuatorStages, quantity: str) -> Array:
    """Magnitudes of the commands of an actuator; a drive that turns the vehicle follows the yaw rate too."""
    records = np.concatenate([recording.commands.records for recording in setup.recordings])
    if quantity == "v_x":
        arm = setup.family.model.geometry(setup.family.parameters).yaw_arm if actuator.drives else 0.0
        return np.asarray(np.hypot(records["v_x"], records["v_y"]) + arm * np.abs(records["yaw_rate"]))
    if FIELDS[quantity] in setup.kind.references:
        return np.asarray(np.abs(records[FIELDS[quantity]]))
    return np.empty(0)
