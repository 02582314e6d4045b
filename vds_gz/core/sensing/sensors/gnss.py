"""A satellite navigation receiver, which measures its position on Earth with white noise and a correlated error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from vds_gz.core import files
from vds_gz.core.geometry import Vector
from vds_gz.core.parameters.declaration import ParameterError, ParameterGroup, choice, text
from vds_gz.core.parameters.sensor_parameters import correlation_time, kind, noise, parent, place, rate, straight
from vds_gz.core.ros.messages.fields import DIAGONAL, EXACT
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.sensing.noise import ChannelNoise, NoiseModel, generator
from vds_gz.core.sensing.sensor import GazeboSide, SensorSetup, SensorType, Stream
from vds_gz.core.sensing.single_topic import SingleTopicOutput
from vds_gz.core.world.geodesy import NULL_ISLAND, LocalFrame, Origin
from vds_gz.core.world.scene import Scene

FIX = Stream("fix", "sensor_msgs/msg/NavSatFix", "navsat", "gz.msgs.NavSat")

#: The types of fix.
FIX_TYPES = ("fix", "float", "rtk", "none")


class FixRegion(NamedTuple):
    """A box of unlimited height in the world's axes [m], and the type of fix in it."""

    fix_type: str
    x_min: float
    y_min: float
    x_max: float
    y_max: float

    def contains(self, x: float, y: float) -> bool:
        """Whether a point [m] is in the box."""
        return self.x_min <= x <= self.x_max and self.y_min <= y <= self.y_max


def fix_regions(text: str) -> tuple[FixRegion, ...]:
    """The regions of the parameter ``regions``."""
    return tuple(_region(words.split()) for words in text.split(";") if words.strip())


def _region(words: list[str]) -> FixRegion:
    try:
        fix_type, (x_min, y_min, x_max, y_max) = words[0], map(files.number, words[1:])
    except ValueError:
        fix_type, x_min, y_min, x_max, y_max = "", 0.0, 0.0, 0.0, 0.0
    # also true for NaN
    if fix_type not in FIX_TYPES or not (x_min < x_max and y_min < y_max):
        known = ", ".join(FIX_TYPES)
        raise ParameterError(
            f"parameter 'regions' has '{' '.join(words)}'; each region must be one of {known}, then x_min, y_min, "
            "x_max, y_max in metres, each maximum greater than its minimum"
        )
    return FixRegion(fix_type, x_min, y_min, x_max, y_max)


@dataclass(frozen=True, slots=True)
class Gnss(ParameterGroup):
    """A satellite navigation receiver. The world gives its place on Earth. Gazebo simulates only white noise."""

    type: str = kind("gnss")
    parent: str = parent()
    xyz: tuple[float, float, float] = place(0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] = straight()
    rate: float = rate(1.0)
    horizontal_std_noise: float = noise(2.0, "m", "standard deviation to the north and to the east")
    vertical_std_noise: float = noise(4.0, "m", "standard deviation of the height")
    layout: str = choice(
        "gazebo",
        ("gazebo", "driver"),
        "gazebo: as Gazebo's receiver, whose noise to the east shrinks with the cosine of the latitude; driver: with "
        "covariance",
    )
    fix_type: str = choice("fix", FIX_TYPES, "type of fix outside of regions")
    float_horizontal_std_noise: float = noise(0.3, "m", "horizontal_std_noise while the fix is float")
    float_vertical_std_noise: float = noise(0.5, "m", "vertical_std_noise while the fix is float")
    rtk_horizontal_std_noise: float = noise(0.01, "m", "horizontal_std_noise while the fix is rtk")
    rtk_vertical_std_noise: float = noise(0.02, "m", "vertical_std_noise while the fix is rtk")
    correlated_horizontal_std: float = noise(
        0.0, "m", "standard deviation of a Gauss-Markov error, to the north and east"
    )
    correlated_vertical_std: float = noise(0.0, "m", "standard deviation of a Gauss-Markov error of the height")
    correlation_time: float = correlation_time(300.0, "correlation time of these errors")
    regions: str = text(
        "",
        "boxes in the world with their type of fix: 'none x_min y_min x_max y_max; float ...' [m]; the first counts",
    )

    def check_together(self) -> None:
        """Refuse invalid regions."""
        fix_regions(self.regions)


class Fix(NamedTuple):
    """A measurement of the receiver."""

    fix_type: str  # one of ``FIX_TYPES``
    position: Vector  # latitude, longitude [degrees], height above the ellipsoid [m]; NaN without a fix
    variances: Vector  # variances to the east, to the north and of the height [m^2]


_NO_FIX = Fix("none", (math.nan, math.nan, math.nan), (0.0, 0.0, 0.0))


class GnssModel:
    """A satellite receiver on a vehicle. No measurement may be skipped, because errors are correlated between them.

    When time goes back, as by a reset of the simulation, it restarts with the same noise.
    """

    def __init__(self, parameters: Gnss, name: str, seed: int) -> None:
        p = self._parameters = parameters
        self._regions = fix_regions(p.regions)
        self._noise = {
            "fix": (p.horizontal_std_noise, p.vertical_std_noise),
            "float": (p.float_horizontal_std_noise, p.float_vertical_std_noise),
            "rtk": (p.rtk_horizontal_std_noise, p.rtk_vertical_std_noise),
        }
        self._frame = LocalFrame(NULL_ISLAND)
        self._name, self._seed = name, seed
        self._begin()

    def _begin(self) -> None:
        self._white = ChannelNoise(NoiseModel(stddev=1.0), 3, generator(self._seed, f"{self._name}/white"))
        wandering = NoiseModel.gauss_markov(1.0, self._parameters.correlation_time)
        self._wandering = ChannelNoise(wandering, 3, generator(self._seed, f"{self._name}/wandering"))
        self._time: int | None = None

    def measure(self, state: BodyState, origin: Origin) -> Fix:
        """The measurement of a body in a state, with the place of the world's origin on Earth."""
        if self._time is not None and state.time < self._time:
            self._begin()
        interval = 0.0 if self._time is None else (state.time - self._time) * 1e-9
        self._time = state.time
        white, wandering = self._white.sample(0.0), self._wandering.sample(interval)
        antenna_map = state.pose.apply(self._parameters.xyz)
        regions = (region.fix_type for region in self._regions if region.contains(*antenna_map[:2]))
        fix_type = next(regions, self._parameters.fix_type)
        if fix_type == "none":
            return _NO_FIX
        if origin != self._frame.origin:
            self._frame = LocalFrame(origin)
        stddevs = self._stddevs(fix_type, origin)
        errors = (w * s + v * t for w, v, (s, t) in zip(white, wandering, stddevs, strict=True))
        east, north, up = (a + b for a, b in zip(self._frame.enu(antenna_map), errors, strict=True))
        (a, b), (c, d), (e, f) = stddevs
        return Fix(fix_type, self._frame.geodetic((east, north, up)), (a * a + b * b, c * c + d * d, e * e + f * f))

    def _stddevs(self, fix_type: str, origin: Origin) -> tuple[tuple[float, float], ...]:
        """Standard deviations of white noise and correlated error, to the east, to the north and of the height [m]."""
        p, (horizontal, vertical) = self._parameters, self._noise[fix_type]
        # Gazebo adds the same angle to latitude and longitude.
        shrink = math.cos(math.radians(origin.latitude)) if p.layout == "gazebo" else 1.0
        return (
            (horizontal * shrink, p.correlated_horizontal_std),
            (horizontal, p.correlated_horizontal_std),
            (vertical, p.correlated_vertical_std),
        )


#: ``sensor_msgs/NavSatStatus``: NO_FIX, FIX, SBAS_FIX and GBAS_FIX.
STATUS = {"none": -1, "fix": 0, "float": 1, "rtk": 2}
SERVICE_GPS = 1

#: ``sensor_msgs/NavSatFix``.
COVARIANCE_UNKNOWN, COVARIANCE_DIAGONAL_KNOWN = 0, 2

_NUMBERS = (
    *("status.status", "latitude", "longitude", "altitude", "position_covariance_type"),
    *(f"position_covariance[{place}]" for place in DIAGONAL),
)


class FixOutput(SingleTopicOutput):
    """A satellite receiver and its topic; fields as Gazebo's through the bridge, or as drivers fill them."""

    stateful = True

    def __init__(self, setup: SensorSetup) -> None:
        sensor = setup.parameters
        assert isinstance(sensor, Gnss)
        self._model = GnssModel(sensor, setup.name, setup.seed)
        self._driver = sensor.layout == "driver"
        message = setup.message(FIX)
        if self._driver:
            message.status.service = SERVICE_GPS
        super().__init__(setup, message, _NUMBERS)

    def values(self, state: BodyState, scene: Scene | None) -> Sequence[float]:
        """Status, position and covariance."""
        fix = self._model.measure(state, scene.origin if scene else NULL_ISLAND)
        known = self._driver and fix.fix_type != "none"
        covariance = COVARIANCE_DIAGONAL_KNOWN if known else COVARIANCE_UNKNOWN
        variances = [variance or EXACT for variance in fix.variances] if known else (0.0, 0.0, 0.0)
        return (STATUS[fix.fix_type], *fix.position, covariance, *variances)


GNSS = SensorType(Gnss, (FIX,), FixOutput, gazebo=GazeboSide(Path("sensors/gnss.xacro")))
