"""The world around a vehicle and its lidar's points, from above, for a page to draw."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from vds_gz.core.arrays import Array
from vds_gz.core.errors import UnknownTypeError
from vds_gz.core.geometry import Transform, axes
from vds_gz.core.ros.graph import Graph, Message, QoS, Subscription
from vds_gz.core.ros.messages.fields import transform_of
from vds_gz.core.world.packing import Thing, heights, outlines
from vds_gz.core.world.shapes import Box, Cylinder, Ellipsoid, Mesh, Shape
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.initial_pose import FARTHEST
from vds_gz.programs.interface.world_topics import CUBE, CYLINDER, SPHERE, TRIANGLE_LIST

SCAN, CLOUD = "sensor_msgs/msg/LaserScan", "sensor_msgs/msg/PointCloud2"

#: A slow page loses scans and never delays the vehicle.
NEWEST = QoS(depth=1, reliable=False)

#: Period of looking for a lidar [s].
LOOK_PERIOD = 1.0

#: Maximum numbers of points and of polygons for a page.
MOST_POINTS, MOST_POLYGONS = 1000, 5000

#: Points of a cloud up to this height above the vehicle's ground count as ground and are left out [m].
GROUND = 0.1

#: ``datatype`` of 32 bit floats in ``sensor_msgs/PointField``.
FLOAT32 = 7


class WorldView:
    """Listens to the world's markers and to the first lidar of a vehicle. Runs in the graph's thread.

    Attributes:
        polygons: Outlines of the world's things, the lowest first; ready for JSON.
        points: Coordinates of the lidar's last points [m]; ready for JSON.
        contacts: Positions of the vehicle's present contacts [m], and what it touches; ready for JSON.
        polygons_version, points_version, contacts_version: Count the changes of each.
    """

    def __init__(self, graph: Graph, namespace: str, truth: Callable[[], Message | None]) -> None:
        self.polygons: list[dict[str, object]] = []
        self.points: dict[str, list[float]] = {"x": [], "y": []}
        self.contacts: dict[str, list[object]] = {"x": [], "y": [], "names": []}
        self.polygons_version = self.points_version = self.contacts_version = 0
        self._graph = graph
        self._prefix = f"{namespace.rstrip('/')}/"
        self._truth = truth
        self._mounts: dict[str, tuple[str, Transform]] = {}
        self._lidar = ""
        self._lidars: dict[str, Subscription] = {}
        self._looked = -math.inf
        graph.subscribe(topics.TF_STATIC.name, topics.TF_STATIC.type, topics.TF_STATIC.qos, self._on_transforms)
        for topic, take in ((topics.WORLD, self._on_world), (topics.CONTACTS, self._on_contacts)):
            with suppress(UnknownTypeError):  # types that are not installed are not shown
                graph.subscribe(topic.name, topic.type, topic.qos, take)

    def tick(self) -> None:
        """Look for a lidar if there is none, at most once in :data:`LOOK_PERIOD`.

        After a restart the vehicle may have another lidar. If its type differs, it must be on another topic: with some
        ROS middlewares a topic keeps its type for a process.
        """
        now = time.monotonic()
        if now - self._looked < LOOK_PERIOD:
            return
        self._looked = now
        listening = self._lidars.get(self._lidar)
        if listening is not None and listening.publisher_count():
            return
        offers = {name: offer.type for name, offer in self._graph.offers().items() if name.startswith(self._prefix)}
        lidars = [name for kind in (SCAN, CLOUD) for name, offered in sorted(offers.items()) if offered == kind]
        lidar = lidars[0] if lidars else ""
        if self._lidar not in ("", lidar):
            self._show([], [])
        self._lidar = lidar
        if lidar and lidar not in self._lidars:
            self._lidars[lidar] = self._listen(lidar, offers[lidar])

    def _listen(self, lidar: str, kind: str) -> Subscription:
        take = self._on_scan if kind == SCAN else self._on_cloud

        def take_if_chosen(message: Message, arrival: int) -> None:
            if self._lidar == lidar:
                with np.errstate(all="ignore"):  # any numbers may come; what is not finite is not drawn
                    take(message)

        return self._graph.subscribe(lidar, kind, NEWEST, take_if_chosen)

    def _on_world(self, message: Message, arrival: int) -> None:
        things = sorted(_things(message.markers), key=lambda thing: heights(thing)[1])
        self.polygons = [
            {
                "corners": np.round(polygon, 3).tolist(),
                "colour": list(thing.colour),
                "edge": not isinstance(thing.shape, Mesh),
            }
            for thing in things
            for polygon in outlines(thing)
        ][-MOST_POLYGONS:]
        self.polygons_version += 1

    def _on_contacts(self, message: Message, arrival: int) -> None:
        touched = [(contact.collision2.name, place) for contact in message.contacts for place in contact.positions]
        touched = [(name, place) for name, place in touched if abs(place.x) <= FARTHEST and abs(place.y) <= FARTHEST]
        self.contacts = {
            "x": [place.x for _, place in touched],
            "y": [place.y for _, place in touched],
            "names": [name.partition("::")[0] for name, _ in touched],
        }
        self.contacts_version += 1

    def _on_transforms(self, message: Message, arrival: int) -> None:
        for joint in message.transforms:
            step = transform_of(joint.transform.translation, joint.transform.rotation)
            self._mounts[joint.child_frame_id] = joint.header.frame_id, step

    def _on_scan(self, message: Message) -> None:
        ranges = np.array(message.ranges, float)
        # sensor_msgs/LaserScan: other ranges are no measurements; drivers write 0 or more than range_max for no echo.
        ranges[~((ranges >= message.range_min) & (ranges <= message.range_max))] = np.nan
        angles = message.angle_min + message.angle_increment * np.arange(len(ranges))
        points = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(len(ranges))]) * ranges[:, None]
        self._take(message.header.frame_id, points, lowest=-math.inf)

    def _on_cloud(self, message: Message) -> None:
        offsets = {field.name: field.offset for field in message.fields if field.datatype == FLOAT32}
        if not {"x", "y", "z"} <= offsets.keys():
            return
        # Invalid clouds are not drawn.
        if not max(offsets[axis] for axis in "xyz") + 4 <= message.point_step <= len(message.data):
            return
        rows = len(message.data) // message.point_step
        data = np.frombuffer(bytes(message.data), np.uint8, rows * message.point_step).reshape(rows, -1)
        bytes_of = [data[:, offsets[axis] : offsets[axis] + 4] for axis in "xyz"]
        points = np.ascontiguousarray(np.hstack(bytes_of)).view("<f4").astype(float)
        self._take(message.header.frame_id, points, lowest=GROUND)

    def _take(self, frame: str, points: Array, lowest: float) -> None:
        """Show finite points of a lidar's frame in the world, above ``lowest`` [m] from the vehicle's ground."""
        truth = self._truth()
        T_base_sensor = self._mount(frame, truth.child_frame_id) if truth is not None else None
        if truth is None or T_base_sensor is None:
            return
        ground = truth.pose.pose.position.z
        T_map_sensor = transform_of(truth.pose.pose.position, truth.pose.pose.orientation).then(T_base_sensor)
        points = points[np.isfinite(points).all(axis=1)]
        points_map = points @ np.array(axes(T_map_sensor.orientation)) + T_map_sensor.position
        points_map = points_map[(np.abs(points_map) <= FARTHEST).all(axis=1) & (points_map[:, 2] > ground + lowest)]
        self._show(*np.round(points_map[:: max(1, -(-len(points_map) // MOST_POINTS)), :2], 2).T.tolist())

    def _show(self, x: list[float], y: list[float]) -> None:
        self.points = {"x": x, "y": y}
        self.points_version += 1

    def _mount(self, frame: str, base: str) -> Transform | None:
        """The pose of a frame in the vehicle's; None while it is not known."""
        mount = Transform()
        for _ in range(len(self._mounts) + 1):
            if frame == base:
                return mount
            if frame not in self._mounts:
                return None
            frame, step = self._mounts[frame]
            mount = step.then(mount)
        return None


def _things(markers: Iterable[Message]) -> Iterator[Thing]:
    """The things of markers that have a known type and a valid shape."""
    for marker in markers:
        placed = transform_of(marker.pose.position, marker.pose.orientation)
        place, turn = placed.position, placed.orientation
        colour = (marker.color.r, marker.color.g, marker.color.b)
        shape = _shape(marker)
        if shape is None or not np.isfinite([*turn, *colour]).all() or not all(abs(x) <= FARTHEST for x in place):
            continue
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = np.array(axes(turn)).T, place
        yield Thing(marker.ns, shape, pose, colour=colour)


def _shape(marker: Message) -> Shape | None:
    x, y, z = marker.scale.x, marker.scale.y, marker.scale.z
    if not all(0.0 < size <= FARTHEST for size in (x, y, z)):
        return None
    if marker.type == CUBE:
        return Box((x, y, z))
    if marker.type == SPHERE:
        return Ellipsoid((0.5 * x, 0.5 * y, 0.5 * z))
    if marker.type == CYLINDER:
        return Cylinder(0.5 * x, z)
    corners: NDArray[np.float64] = np.array([(point.x, point.y, point.z) for point in marker.points]).reshape(-1, 3)
    if marker.type != TRIANGLE_LIST or len(corners) % 3 or not len(corners) or not (np.abs(corners) <= FARTHEST).all():
        return None
    return Mesh(corners, np.arange(len(corners)).reshape(-1, 3))
