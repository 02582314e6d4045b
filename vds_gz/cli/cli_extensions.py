"""What other packages and guests add to commands of ``vds-gz``, by entry points.

A subcommand is a function of ``argv``, made by :func:`~vds_gz.core.ros.program_shell.command`, under
``vds_gz.subcommands``; the first line of its docstring is its description. Records with functions that import what they
need keep ``--help`` quick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from vds_gz.core.parameters.node import NodeParameters

if TYPE_CHECKING:
    from vds_gz.programs.commandlog.command_log import CommandLog
    from vds_gz.tools.study.recording import Recording

#: A given vehicle, and its parameter file.
GivenVehicle: TypeAlias = tuple[NodeParameters, Path]

#: What ``vds-gz identify`` identifies by default: the actuators of the vehicle.
AXES = "axes"


@dataclass(frozen=True)
class Identification:
    """Something else to identify than a vehicle's actuators: a value of ``vds-gz identify --model``.

    Attributes:
        identify: (name of the log, recording, given vehicle or None, folder, names of ``--fit``) writes the results.
        help: Lines of the help.
        takes_fit: ``--fit`` names parameters to find.
    """

    GROUP: ClassVar[str] = "vds_gz.identifications"

    identify: Callable[[str, Recording, GivenVehicle | None, Path, Sequence[str]], None]
    help: str
    takes_fit: bool = False


@dataclass(frozen=True)
class ProfileKind:
    """A kind of command log: a ``KIND`` of ``vds-gz profile``.

    Attributes:
        make: (parameters of the given vehicle or None, values of options or None, duration [s], rate [Hz], seed) gives
            the log and words on its maxima. Options are ``speed`` [m/s], ``steering`` [rad] and those in ``options``.
        help: Lines of the help.
        duration: The usual duration [s].
        options: Further options of maxima with their meanings, such as ``{"--accel": "..."}``.
    """

    GROUP: ClassVar[str] = "vds_gz.profiles"

    make: Callable[[NodeParameters | None, Mapping[str, float | None], float, float, int], tuple[CommandLog, str]]
    help: str
    duration: float = 60.0
    options: Mapping[str, str] = field(default_factory=dict)
