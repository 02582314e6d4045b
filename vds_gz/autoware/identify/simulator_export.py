"""An identified vehicle as a vehicle of Autoware's simulator."""

from __future__ import annotations

from collections.abc import Iterator

from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.tools.study.identify.exports import estimates_by_quantity, number_or_unknown
from vds_gz.tools.study.identify.problem.parameters import actuations, value_of
from vds_gz.tools.study.identify.results import VehicleFit


def autoware(fit: VehicleFit) -> Iterator[str]:
    """Lines of parameters of Autoware's simple_planning_simulator."""
    numbers = estimates_by_quantity(fit)
    drive, steering = numbers.get("v_x"), numbers.get("steering")
    yield "# simple_planning_simulator, vehicle_model_type: DELAY_STEER_VEL"
    for prefix, axis in (("vel", drive), ("steer", steering)):
        if axis is not None:
            yield f"{prefix}_time_delay: {number_or_unknown(axis['dead_time'])}"
            yield f"{prefix}_time_constant: {number_or_unknown(axis['time_constant'])}"
            yield f"{prefix}_lim: {number_or_unknown(axis['value'])}"
            yield f"{prefix}_rate_lim: {number_or_unknown(axis['rise'])}"
    if static := list(_static_responses(fit.parameters)):
        yield f"# not in DELAY_STEER_VEL: {', '.join(static)}"


def _static_responses(parameters: ParameterGroup) -> Iterator[str]:
    """Differences of actuators from their references in steady state."""
    for name, actuation in actuations(parameters).items():
        group = actuation["gain"].partition(".")[0]
        if group and getattr(parameters, group).map_references:
            yield f"static map of the {name}"
        elif group and (gain := value_of(parameters, actuation["gain"])) != 1.0:
            yield f"gain {gain:.4g} of the {name}"
