"""Realistic actuation for wheeled robots in ROS 2: with Gazebo, without it, and where no ROS is installed.

A vehicle responds late, slowly and within limits. An offline step response:

>>> import vds_gz
>>> vehicle = vds_gz.load_vehicle("forklift")
>>> vehicle.enter(vds_gz.ackermann(1.0, 0.2), time=0)
>>> speeds = []
>>> for millisecond in range(0, 1000, 100):
...     steps = vehicle.advance(millisecond * 1_000_000)
...     speeds.append(vehicle.motion().v_x)
>>> speeds == sorted(speeds)
True

The packages, each in the order of its layers:

* ``core``: ``geometry``, ``parameters``, ``vehicle``, ``world``, ``sensing``, ``ros``, ``description``, ``plant``
* ``programs``: ``interface``, ``bags``, ``commandlog``, ``teleop``, ``nodes``, ``web``, ``launching``; then ``cli``
* ``tools``: ``fleet``, ``study``, ``adopt``, ``conformance``; and ``environments`` to learn in
* ``autoware``: a guest, which the others do not know

``__all__`` is the public interface, with :mod:`vds_gz.modelling` for custom models, :mod:`vds_gz.commanding` for custom
commands, :mod:`vds_gz.measuring` for custom sensors and :mod:`vds_gz.plant` for custom plants; everything else may
change. Names are imported on first use, so
``import vds_gz`` alone loads nothing.
"""

from __future__ import annotations

from importlib import import_module
from os.path import dirname, isdir, join
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vds_gz.autoware.vehicle.command_kinds import control, pedals
    from vds_gz.core.configuration import load_parameters, load_vehicle
    from vds_gz.core.errors import ArgumentError, VdsGzError
    from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
    from vds_gz.core.parameters.controller_parameters import (
        ControllerParameters,
        LqrParameters,
        PurePursuitParameters,
        StanleyParameters,
    )
    from vds_gz.core.parameters.declaration import ParameterError
    from vds_gz.core.parameters.vehicles import (
        BicycleParameters,
        DifferentialParameters,
        FourWheelSteeringParameters,
        OmniParameters,
        SingleTrackParameters,
        SwerveParameters,
    )
    from vds_gz.core.ros.graph import Graph, QoS
    from vds_gz.core.ros.open_graph import open_graph
    from vds_gz.core.vehicle.bicycle import BICYCLE
    from vds_gz.core.vehicle.catalogue import models
    from vds_gz.core.vehicle.command import Command, ackermann, four_wheel_steering, gear, twist
    from vds_gz.core.vehicle.compiled import CompiledVehicle
    from vds_gz.core.vehicle.differential import DIFFERENTIAL
    from vds_gz.core.vehicle.four_wheel_steering import FOUR_WHEEL_STEERING
    from vds_gz.core.vehicle.omni import OMNI
    from vds_gz.core.vehicle.schedule import command_records
    from vds_gz.core.vehicle.single_track import SINGLE_TRACK
    from vds_gz.core.vehicle.swerve import SWERVE
    from vds_gz.core.vehicle.vehicle import Motion, Vehicle
    from vds_gz.core.vehicle.vehicle_model import VehicleModel
    from vds_gz.core.world.load_world import load_world
    from vds_gz.core.world.scene import Scene
    from vds_gz.programs.commandlog.command_log import read as read_commands
    from vds_gz.tools.fleet.callback import ControllerError
    from vds_gz.tools.fleet.closed_loop import ClosedLoop
    from vds_gz.tools.fleet.fleet import Fleet
    from vds_gz.tools.fleet.path import Path, read_path
    from vds_gz.tools.study.compare.sources import simulate
    from vds_gz.tools.study.identify.identification import identify
    from vds_gz.tools.study.reading.bag import read_signals
    from vds_gz.tools.study.reading.recorded_run import read as read_recording
    from vds_gz.tools.study.sweep.sweep_folder import collect as read_runs

__version__ = "0.1.0"

__all__ = [
    # A vehicle, and many of them
    "load_vehicle",
    "load_parameters",
    "Vehicle",
    "Motion",
    "CompiledVehicle",
    "Fleet",
    # Vehicles under control along a path
    "ClosedLoop",
    "Path",
    "read_path",
    "PurePursuitParameters",
    "StanleyParameters",
    "LqrParameters",
    "ControllerParameters",
    # Commands
    "Command",
    "twist",
    "ackermann",
    "four_wheel_steering",
    "pedals",
    "control",
    "gear",
    "command_records",
    # Models
    "models",
    "VehicleModel",
    "BICYCLE",
    "DIFFERENTIAL",
    "FOUR_WHEEL_STEERING",
    "OMNI",
    "SINGLE_TRACK",
    "SWERVE",
    "BicycleParameters",
    "DifferentialParameters",
    "FourWheelSteeringParameters",
    "OmniParameters",
    "SingleTrackParameters",
    "SwerveParameters",
    "DriveParameters",
    "SteeringParameters",
    # Recordings: system identification, replay
    "read_signals",
    "identify",
    "read_commands",
    "simulate",
    "read_recording",
    "read_runs",
    # The world around a vehicle
    "load_world",
    "Scene",
    # ROS 2
    "open_graph",
    "Graph",
    "QoS",
    # Errors
    "VdsGzError",
    "ArgumentError",
    "ParameterError",
    "ControllerError",
]

if not isdir(join(dirname(__file__), "autoware")):  # without the guest, its names are missing
    __all__.remove("pedals")
    __all__.remove("control")

#: The public names by the module that defines them; ``name/other`` has the public name ``other``.
_HOMES = {
    "vds_gz.core.configuration": "load_vehicle load_parameters",
    "vds_gz.core.vehicle.vehicle": "Vehicle Motion",
    "vds_gz.tools.fleet.fleet": "Fleet",
    "vds_gz.tools.fleet.closed_loop": "ClosedLoop",
    "vds_gz.tools.fleet.path": "Path read_path",
    "vds_gz.tools.fleet.callback": "ControllerError",
    "vds_gz.core.parameters.controller_parameters": (
        "PurePursuitParameters StanleyParameters LqrParameters ControllerParameters"
    ),
    "vds_gz.core.vehicle.compiled": "CompiledVehicle",
    "vds_gz.core.vehicle.command": "Command twist ackermann four_wheel_steering gear",
    "vds_gz.autoware.vehicle.command_kinds": "pedals control",
    "vds_gz.core.vehicle.schedule": "command_records",
    "vds_gz.core.vehicle.catalogue": "models",
    "vds_gz.core.vehicle.vehicle_model": "VehicleModel",
    "vds_gz.core.vehicle.bicycle": "BICYCLE",
    "vds_gz.core.vehicle.differential": "DIFFERENTIAL",
    "vds_gz.core.vehicle.four_wheel_steering": "FOUR_WHEEL_STEERING",
    "vds_gz.core.vehicle.omni": "OMNI",
    "vds_gz.core.vehicle.single_track": "SINGLE_TRACK",
    "vds_gz.core.vehicle.swerve": "SWERVE",
    "vds_gz.core.parameters.vehicles": "BicycleParameters DifferentialParameters FourWheelSteeringParameters "
    "OmniParameters SingleTrackParameters SwerveParameters",
    "vds_gz.core.parameters.actuator_parameters": "DriveParameters SteeringParameters",
    "vds_gz.tools.study.reading.bag": "read_signals",
    "vds_gz.tools.study.identify.identification": "identify",
    "vds_gz.programs.commandlog.command_log": "read/read_commands",
    "vds_gz.tools.study.compare.sources": "simulate",
    "vds_gz.tools.study.reading.recorded_run": "read/read_recording",
    "vds_gz.tools.study.sweep.sweep_folder": "collect/read_runs",
    "vds_gz.core.world.load_world": "load_world",
    "vds_gz.core.world.scene": "Scene",
    "vds_gz.core.ros.open_graph": "open_graph",
    "vds_gz.core.ros.graph": "Graph QoS",
    "vds_gz.core.errors": "VdsGzError ArgumentError",
    "vds_gz.core.parameters.declaration": "ParameterError",
}
_LAZY = {
    (public or original): (module, original)
    for module, names in _HOMES.items()
    for original, _, public in (name.partition("/") for name in names.split())
}


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module 'vds_gz' has no attribute '{name}'")
    module, original = _LAZY[name]
    value = globals()[name] = getattr(import_module(module), original)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
