"""The parameter file of an adopted robot: every value with where it comes from."""

from __future__ import annotations

from collections.abc import Iterator

from vds_gz.core.configuration import NODE_NAME, parameters_of
from vds_gz.core.parameters.conversion import MODEL_PARAMS
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.parameters.node import NEVER_OLD, NodeParameters
from vds_gz.core.parameters.schema import schema_line
from vds_gz.core.parameters.yaml_reader import parameter_file
from vds_gz.tools.adopt.adopted_vehicle import AdoptedVehicle
from vds_gz.tools.adopt.model_copy import STATE_RATE
from vds_gz.tools.adopt.robot_drive import Figure, RobotDrive

#: Maximum rate of messages, that of the steps, and the rate in place of 0, which means each step in plugins [Hz].
MOST_RATE, EACH_STEP = 1000.0, STATE_RATE

#: Significant digits of numbers.
DIGITS = 9


def overrides(drive: RobotDrive, adopted: AdoptedVehicle, name: str) -> list[Override]:
    """The parameters of the node for an adopted robot of this name in Gazebo, each with its origin."""
    return [Override(key, value, origin) for key, value, origin in _values(drive, adopted, name)]


def _values(drive: RobotDrive, adopted: AdoptedVehicle, name: str) -> Iterator[tuple[str, object, str]]:
    yield "model", adopted.model, f"in place of {drive.what}"
    for key, flag in adopted.flags.items():
        yield f"{MODEL_PARAMS}.{adopted.model}.{key}", flag, ""
    for key, figure in adopted.values.items():
        yield f"{MODEL_PARAMS}.{adopted.model}.{key}", rounded(figure), figure.origin
    yield "backend", "gazebo", ""
    yield "gazebo.model", name, "the model's name in Gazebo"
    parts = adopted.parts
    named = {ours: "-" * (ours in parts.reversed) + theirs[0] for ours, theirs in parts.joints.items()}
    pairs = [f"{ours}={theirs}" for ours, theirs in named.items() if ours != theirs]
    yield "gazebo.joint_names", ", ".join(pairs), "ours=theirs"
    if adopted.yaw:
        yield "gazebo.heading", float(f"{adopted.yaw:.{DIGITS}g}"), "from +x of the model to where it drives"
    if drive.controllers:
        order = [ours for ours in parts.joints if ours in parts.driven for _ in parts.joints[ours]]
        yield "gazebo.controlled_joints", ", ".join(order), "in the order of controllers.yaml"
    yield "odom_frame", drive.odom_frame, ""
    yield "base_frame", drive.base_frame, ""
    rate = drive.rate
    if rate.value > 0.0:
        yield "pub_rate", min(rate.value, MOST_RATE), rate.origin
    else:
        yield "pub_rate", EACH_STEP, f"that of the states from Gazebo; {rate.value:g} is each step: {rate.origin}"
    if drive.timeout is not None:
        timeout = drive.timeout.value
        yield "twist_reference_max_oldness", timeout if timeout > 0.0 else NEVER_OLD, drive.timeout.origin


def rounded(figure: Figure) -> float:
    """A figure without the noise of its last digits."""
    return float(f"{figure.value:.{DIGITS}g}")


def text(values: list[Override]) -> tuple[str, NodeParameters]:
    """The parameter file, and the parameters in it; raises ParameterError if a value is out of bounds."""
    parameters = parameters_of(values)
    head = (
        f"{schema_line()}# Written by `vds-gz adopt`. The actuators are neutral: set dead_time and time_constant to "
        "yours, or to what\n# `vds-gz identify` finds.\n"
    )
    return head + parameter_file(values, NODE_NAME), parameters
