"""Parameters of trailers."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from vds_gz.core.parameters.declaration import ParameterError, ParameterGroup, choice, reals

#: Maximum number of trailers of a vehicle.
MOST_TRAILERS = 5


@dataclass(frozen=True, slots=True)
class TrailerParameters(ParameterGroup):
    """The trailers of a vehicle, each with one axle: lists with one number for each trailer, from front to rear."""

    hitch_offset: tuple[float, ...] = reals(
        (),
        "m",
        "from the reference point, or the axle of the trailer ahead, to the hitch along +x; negative: behind",
        most=MOST_TRAILERS,
        minimum=-100.0,
        maximum=100.0,
    )
    drawbar: tuple[float, ...] = reals(
        (), "m", "from the hitch to the trailer's axle", most=MOST_TRAILERS, minimum=0.01, maximum=100.0
    )
    track: tuple[float, ...] = reals(
        (), "m", "distance between the trailer's wheels", most=MOST_TRAILERS, minimum=0.01, maximum=100.0
    )
    tire_diameter: tuple[float, ...] = reals(
        (), "m", "diameter of the trailer's wheels", most=MOST_TRAILERS, minimum=0.01, maximum=100.0
    )
    max_angle: tuple[float, ...] = reals(
        (),
        "rad",
        "maximum angle of the hitch to either side, where the bodies touch; 0: the trailer turns all the way round",
        most=MOST_TRAILERS,
        minimum=0.0,
        maximum=math.pi,
        live=True,
    )
    at_limit: str = choice(
        "stop",
        ("stop", "report"),
        "at a hitch's maximum angle, motion that bends it further is blocked; or the vehicle goes on, and the "
        "trailer's wheels skid",
        live=True,
    )

    @property
    def count(self) -> int:
        """Number of trailers."""
        return len(self.drawbar)

    def check_together(self) -> None:
        """Refuse lists of different lengths."""
        lengths = {
            item.name: len(value)
            for item in dataclasses.fields(self)
            if isinstance(value := getattr(self, item.name), tuple)
        }
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{name}: {length}" for name, length in lengths.items())
            raise ParameterError(
                f"the lists of 'trailers' have different lengths ({listed}); each must have one number for each trailer"
            )
