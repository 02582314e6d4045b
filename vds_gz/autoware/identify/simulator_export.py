"""An identified vehicle as a vehicle of Autoware's simulator."""

from __future__ import annotations

from collections.abc import Iterator

from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.vehicle.catalogue import models
from vds_gz.tools.study.identify.exports import commanded_quantities, written_number
from vds_gz.tools.study.identify.problem.observed import steers
from vds_gz.tools.study.identify.problem.parameters import actuations, value_of
from vds_gz.tools.study.identify.results import VehicleFit

#: Parameters of Autoware's models without the prefix of their axis, and the stages of actuators.
PARAMETERS = {"time_delay": "dead_time", "time_constant": "time_constant", "lim": "value", "rate_lim": "rise"}


def autoware(fit: VehicleFit) -> Iterator[str]:
    """Lines of parameters of Autoware's simple_planning_simulator; none for vehicles that turn without a steering."""
    steerings = sum(actuator.steers for actuator in actuations(fit.parameters).values())
    steered = steerings == 1 and steers(models()[fit.model], fit.parameters)
    if not steered and {"yaw_rate", "v_y"} & set(commanded_quantities(fit)):
        return
    yield "# simple_planning_simulator, vehicle_model_type: DELAY_STEER_VEL"
    for prefix, quantity in (("vel", "v_x"), *([("steer", "steering")] if steered else [])):
        for name, stage in PARAMETERS.items():
            yield f"{prefix}_{name}: {written_number(fit, quantity, stage)}"
    if static := list(_static_responses(fit.parameters)):
        yield f"# not in DELAY_STEER_VEL: {', '.join(static)}"


def _static_responses(parameters: ParameterGroup) -> Iterator[str]:
    """Differences of actuators from their references in steady state."""
    for name, actuation in actuations(parameters).items():
        if actuation.group and getattr(parameters, actuation.group).map_references:
            yield f"static map of the {name}"
        elif actuation["gain"] and (gain := value_of(parameters, actuation["gain"])) != 1.0:
            yield f"gain {gain:.4g} of the {name}"
