"""Gains of left and right wheels beside an identified vehicle.

They calibrate odometry. A vehicle model has one diameter for all wheels, so the parameters are those of a fit without
the gains, which predicts the motion with the gain of the drive.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.tools.study.identify.problem.parameters import value_of, with_numbers
from vds_gz.tools.study.identify.problem.unknowns import ALL, GEOMETRY, WHEEL_GAINS, WHEELS
from vds_gz.tools.study.identify.results import VehicleFit
from vds_gz.tools.study.identify.terms import COMMAND_GAIN, EFFECTIVE_TRACK

#: The geometry that the gains of wheels change; other geometry follows from the motion alone.
TRACKS = ("track", "track_fixed", "track_steered")


def without_wheel_gains(names: Collection[str], parameters: ParameterGroup) -> list[str]:
    """The same names of parameters to fit, without the gains of wheels and the diameter, which they include."""
    geometry = [name for name in GEOMETRY if hasattr(parameters, name)]
    expanded = [name for group in names for name in (geometry if group == ALL else (group,))]
    return [name for name in expanded if name not in (WHEEL_GAINS, "tire_diameter")]


def with_wheel_gains(plain: VehicleFit, calibrated: VehicleFit) -> VehicleFit:
    """An identified vehicle with the calibrations of a fit with gains of wheels, and with its tracks.

    A vehicle turns by ``track / effective_track`` of the commanded yaw rate, so an effective track changes by the same
    factor as the track, and the motion below the limits stays the same. Without an effective track, any track turns the
    vehicle as commanded.
    """
    calibrations = plain.calibrations | {
        name: number for name, number in calibrated.calibrations.items() if name not in plain.calibrations
    }
    tracks = {name: number for name in TRACKS if (number := calibrated.numbers.get(name)) is not None}
    numbers, values = plain.numbers | tracks, {name: number.value for name, number in tracks.items()}
    effective = EFFECTIVE_TRACK.name
    if "track" in tracks and (turning := getattr(plain.parameters, effective, 0.0)):
        factor = values["track"] / value_of(plain.parameters, "track")
        values[effective] = factor * turning
        if (number := plain.numbers.get(effective)) is not None:
            numbers[effective] = number.times(factor)
    findings = plain.findings
    if any(map(calibrations.get, WHEELS.values())):
        names = " and ".join(WHEELS.values())
        findings += (f"{names} calibrate odometry: the vehicle has one diameter, so parameters.yaml has neither",)
    of_commands = f"yaw_rate {COMMAND_GAIN.name}"
    if calibrations.get(of_commands) and numbers.get(effective):
        findings += (
            f"{of_commands} and {effective} describe one effect, the first beside the gains of wheels, the second in "
            "parameters.yaml without them",
        )
    return replace(
        plain,
        parameters=with_numbers(plain.parameters, values),
        numbers=numbers,
        calibrations=calibrations,
        findings=findings,
    )
