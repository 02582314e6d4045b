"""Places on the Earth in a world's axes (WGS 84), and an SDF world's gravity and origin.

Formulas: https://gssc.esa.int/navipedia, "Ellipsoidal and Cartesian Coordinates Conversion" and "Transformations
between ECEF and ENU coordinates"; B. R. Bowring, Transformation from spatial to geographical coordinates, 1976.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from vds_gz.core.geometry import Vector
from vds_gz.core.world.sdf_files import Node

EQUATORIAL = 6378137.0  # semi-major axis of the ellipsoid of WGS 84 [m]
FLATTENING = 1.0 / 298.257223563  # its flattening

_POLAR = EQUATORIAL * (1.0 - FLATTENING)
_ECCENTRICITY2 = FLATTENING * (2.0 - FLATTENING)
#: One correction is exact to 1 um up to 10 km above the ground; two more cost little and suffice for any height.
_CORRECTIONS = 3


@dataclass(frozen=True, slots=True)
class Origin:
    """The place of a world's origin on Earth, by ``<spherical_coordinates>`` of SDF."""

    latitude: float = 0.0  # on the ellipsoid of WGS 84 [degrees]
    longitude: float = 0.0
    elevation: float = 0.0  # above the ellipsoid [m]
    heading_deg: float = 0.0  # from the east to the world's x axis, counter-clockwise [degrees]


NULL_ISLAND = Origin()  # default origin


class LocalFrame:
    """East, north and up at an origin, and the world's axes in this frame."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        heading = math.radians(origin.heading_deg)
        self._heading = math.cos(heading), math.sin(heading)
        latitude, longitude = math.radians(origin.latitude), math.radians(origin.longitude)
        self._latitude = math.cos(latitude), math.sin(latitude)
        self._longitude = math.cos(longitude), math.sin(longitude)
        self._centre = ecef(origin.latitude, origin.longitude, origin.elevation)

    def enu(self, point: Vector) -> Vector:
        """A point of the world [m] as east, north, up [m]."""
        (x, y, z), (cosine, sine) = point, self._heading
        return cosine * x - sine * y, sine * x + cosine * y, z

    def geodetic(self, enu: Vector) -> Vector:
        """Latitude, longitude [degrees] and height above the ellipsoid [m] of east, north, up [m]."""
        (east, north, up), (cos_b, sin_b), (cos_l, sin_l) = enu, self._latitude, self._longitude
        x, y, z = self._centre
        outward = cos_b * up - sin_b * north
        return geodetic(
            (x + cos_l * outward - sin_l * east, y + sin_l * outward + cos_l * east, z + cos_b * north + sin_b * up)
        )


def ecef(latitude: float, longitude: float, height: float) -> Vector:
    """Latitude, longitude [degrees] and height above the ellipsoid [m] in Earth-centred Earth-fixed axes [m]."""
    b, lon = math.radians(latitude), math.radians(longitude)
    radius = EQUATORIAL / math.sqrt(1.0 - _ECCENTRICITY2 * math.sin(b) ** 2)
    outward = (radius + height) * math.cos(b)
    up = (radius * (1.0 - _ECCENTRICITY2) + height) * math.sin(b)
    return outward * math.cos(lon), outward * math.sin(lon), up


def geodetic(point: Vector) -> Vector:
    """Latitude, longitude [degrees] and height above the ellipsoid [m] of a point in ECEF [m], outside Earth's core."""
    x, y, z = point
    outward = math.hypot(x, y)
    b = math.atan2(z, outward * (1.0 - _ECCENTRICITY2))
    for _ in range(_CORRECTIONS):
        reduced = math.atan2(_POLAR * math.sin(b), EQUATORIAL * math.cos(b))
        corrected_z = z + _ECCENTRICITY2 / (1.0 - _ECCENTRICITY2) * _POLAR * math.sin(reduced) ** 3
        b = math.atan2(corrected_z, outward - _ECCENTRICITY2 * EQUATORIAL * math.cos(reduced) ** 3)
    radius = EQUATORIAL * math.sqrt(1.0 - _ECCENTRICITY2 * math.sin(b) ** 2)
    height = outward * math.cos(b) + z * math.sin(b) - radius
    return math.degrees(b), math.degrees(math.atan2(y, x)), height


GRAVITY: Vector = (0.0, 0.0, -9.8)  # default gravity of SDF [m/s^2]

#: Supported choices of ``<spherical_coordinates>``.
CHOICES = {"surface_model": "EARTH_WGS84", "world_frame_orientation": "ENU"}

#: Bounds of the magnitudes of its numbers.
BOUNDS = {"latitude_deg": 90.0, "longitude_deg": 360.0, "elevation": 1e6, "heading_deg": 360.0}


def origin_of(world: Node) -> Origin:
    """The origin by ``<spherical_coordinates>``; 0 degrees north and east without it."""
    node = world.child("spherical_coordinates")
    if node is None:
        return NULL_ISLAND
    for tag, supported in CHOICES.items():
        if (value := node.value(tag, supported)) != supported:
            node.fail(f"<{tag}> is '{value}'; it must be {supported}")
    values = {tag: node.number(tag) for tag in BOUNDS}
    for tag, bound in BOUNDS.items():
        if abs(values[tag]) > bound:
            node.needed(tag).fail(f"<{tag}> is {values[tag]:g}; it must be from {-bound:g} to {bound:g}")
    return Origin(*values.values())
