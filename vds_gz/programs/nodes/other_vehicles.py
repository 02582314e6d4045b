"""Other vehicles on the graph that are simulated in the same world, placed by their own messages."""

from __future__ import annotations

import math
from functools import partial
from time import monotonic_ns

import numpy as np

from vds_gz.core.description.footprint import BodyThings, placed, things_of
from vds_gz.core.description.urdf_reader import DescriptionError
from vds_gz.core.errors import VdsGzError
from vds_gz.core.geometry import Transform, into_world, product, quaternion
from vds_gz.core.ros.arguments import check_namespace, expand
from vds_gz.core.ros.graph import Graph, Message, QoS, Severity
from vds_gz.core.ros.messages.fields import stamp_ns, transform_of
from vds_gz.core.vehicle.vehicle import NANOSECONDS
from vds_gz.core.world.packing import Thing, packed
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.initial_pose import FARTHEST

#: A vehicle without messages for this long is gone [ns, real time].
SILENCE = NANOSECONDS

#: Period of looking for new vehicles [ns, real time].
LOOK_PERIOD = NANOSECONDS

#: A pose is extrapolated with its velocity for this long at most [s].
LONGEST_GUESS = 0.5

#: Only the newest message counts; best effort matches every publisher.
NEWEST = QoS(depth=1, reliable=False)


class OtherVehicle:
    """Another vehicle: its shape, and where it is by its last message."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.speed = 0.0  # of the fastest of its parts [m/s]
        self._visuals: list[BodyThings] = []
        self._collisions: list[BodyThings] = []
        self._hitches: dict[str, float] = {}
        self._swing = 0.0  # sum of the rates of all hitches [rad/s]
        self._reach = 0.0
        self._time = 0
        self._received: int | None = None
        self._T_map_base = Transform()
        self._twist_base = (0.0, 0.0, 0.0, 0.0)  # v_x, v_y, v_z [m/s], yaw rate [rad/s]

    @property
    def present(self) -> bool:
        """Whether it has a shape and has sent a message lately."""
        return bool(self._visuals) and self._received is not None and monotonic_ns() - self._received <= SILENCE

    @property
    def has_trailers(self) -> bool:
        """Whether its description has trailers."""
        return bool(self._hitches)

    def describe(self, urdf: str) -> None:
        """Take its shape."""
        visuals, collisions = (things_of(urdf, self.name, tag) for tag in ("visual", "collision"))
        shapes = packed([thing for bodies in (visuals, collisions) for thing in placed(bodies, Transform(), {})])
        reach = np.maximum(np.abs(shapes.lower), np.abs(shapes.upper)).max(axis=0, initial=0.0)
        if reach.max() > FARTHEST:
            raise DescriptionError(f"it reaches {reach.max():g} m from base_link; that must be at most {FARTHEST:g} m")
        self._visuals, self._collisions = visuals, collisions
        self._hitches = {body.hitch: 0.0 for body in visuals if body.hitch}
        self._reach = math.hypot(*reach[:2])

    def place(self, message: Message, arrival: int) -> None:
        """Take an ``Odometry`` of its ``base_link``; an invalid or excessive one is ignored."""
        pose = transform_of(message.pose.pose.position, message.pose.pose.orientation)
        linear, angular = message.twist.twist.linear, message.twist.twist.angular
        numbers = (*pose.position, *pose.orientation, linear.x, linear.y, linear.z, angular.z)
        if (
            not all(abs(number) <= FARTHEST for number in numbers)
            or not abs(math.hypot(*pose.orientation) - 1.0) <= 0.01
        ):
            return
        self._time, self._received = stamp_ns(message.header.stamp), arrival
        self._T_map_base = pose
        self._twist_base = linear.x, linear.y, linear.z, angular.z
        self.speed = math.hypot(linear.x, linear.y, linear.z) + self._reach * (abs(angular.z) + self._swing)

    def turn(self, message: Message) -> None:
        """Take the angles of its hitches from a ``JointState``; invalid ones are ignored."""
        columns = message.name, message.position, message.velocity
        if not self._hitches or len({len(column) for column in columns}) > 1:
            return
        rows = [row for row in zip(*columns, strict=True) if row[0] in self._hitches]
        if all(math.isfinite(number) for row in rows for number in row[1:]):
            self._hitches |= {name: position for name, position, _ in rows}
            self._swing = sum(abs(velocity) for _, _, velocity in rows)

    def pose_at(self, time: int) -> Transform:
        """Its pose at a simulated time [ns], extrapolated from its last message."""
        ahead = (time - self._time) / NANOSECONDS
        if abs(ahead) > LONGEST_GUESS:  # it has another clock, or its message is late
            return self._T_map_base
        x, y, z, rate = self._twist_base
        half, turned = (quaternion(0.0, 0.0, part * rate * ahead) for part in (0.5, 1.0))
        orientation = self._T_map_base.orientation
        dx, dy, dz = into_world(product(orientation, half), (x * ahead, y * ahead, z * ahead))
        a, b, c = self._T_map_base.position
        return Transform((a + dx, b + dy, c + dz), product(orientation, turned))

    def visuals(self, time: int) -> list[Thing]:
        """Its visual shapes at a simulated time [ns]."""
        return placed(self._visuals, self.pose_at(time), self._hitches)

    def collisions(self, time: int) -> list[Thing]:
        """Its collision shapes at a simulated time [ns]."""
        return placed(self._collisions, self.pose_at(time), self._hitches)


class OtherVehicles:
    """All other vehicles that publish ``ground_truth`` and ``robot_description``.

    They are placed by real messages, so measurements of them depend on when these arrive.
    """

    def __init__(self, graph: Graph, namespaces: str) -> None:
        self.changes = 0  # counts messages, and vehicles that come or go
        self._graph = graph
        self._looks = namespaces.strip() == "auto"
        self._own = expand(topics.GROUND_TRUTH.name, graph.name, graph.namespace)
        self._vehicles: dict[str, OtherVehicle] = {}
        self._known: list[OtherVehicle] = []
        self._turning: set[str] = set()  # topics of vehicles whose joint states are followed
        self._next_look = 0
        for namespace in () if self._looks else namespaces.split():
            absolute = check_namespace(f"/{namespace.strip('/')}", "parameter 'other_vehicles'")
            self._follow(f"{absolute.rstrip('/')}/{topics.GROUND_TRUTH.name}")

    def look(self) -> None:
        """Look for new vehicles every :data:`LOOK_PERIOD`, and count those that came or went as changes."""
        known, self._known = self._known, self._present()
        self.changes += self._known != known
        joints = topics.JOINT_STATES
        for topic, vehicle in self._vehicles.items():
            if vehicle.has_trailers and topic not in self._turning:
                self._turning.add(topic)
                name = f"{topic.rsplit('/', 1)[0]}/{joints.name}"
                self._graph.subscribe(name, joints.type, NEWEST, partial(self._turn, vehicle))
        now = monotonic_ns()
        if self._looks and now >= self._next_look:
            self._next_look = now + LOOK_PERIOD
            for topic, offer in self._graph.offers().items():
                if topic.rsplit("/", 1)[-1] == topics.GROUND_TRUTH.name and offer.type == topics.GROUND_TRUTH.type:
                    self._follow(topic)

    @property
    def top_speed(self) -> float:
        """Maximum speed of all of them [m/s]."""
        return max((vehicle.speed for vehicle in self._present()), default=0.0)

    def next_turn(self, time: int) -> float:
        """Infinite: a message announces each change of their velocity."""
        return math.inf

    def visuals(self, time: int) -> list[Thing]:
        """Their visual shapes at a simulated time [ns]."""
        return [thing for vehicle in self._present() for thing in vehicle.visuals(time)]

    def collisions(self, time: int) -> list[Thing]:
        """Their collision shapes at a simulated time [ns]."""
        return [thing for vehicle in self._present() for thing in vehicle.collisions(time)]

    def _present(self) -> list[OtherVehicle]:
        return [vehicle for vehicle in self._vehicles.values() if vehicle.present]

    def _follow(self, topic: str) -> None:
        """Subscribe to the vehicle with this topic, unless it is this one."""
        if topic == self._own or topic in self._vehicles:
            return
        namespace = topic.rsplit("/", 1)[0]
        vehicle = self._vehicles[topic] = OtherVehicle(namespace.strip("/") or "vehicle")
        description, truth = topics.ROBOT_DESCRIPTION, topics.GROUND_TRUTH
        self._graph.subscribe(
            f"{namespace}/{description.name}", description.type, description.qos, partial(self._describe, vehicle)
        )
        self._graph.subscribe(topic, truth.type, NEWEST, partial(self._place, vehicle))
        self._graph.log(Severity.INFO, f"another vehicle: {vehicle.name}")

    def _describe(self, vehicle: OtherVehicle, message: Message, arrival: int) -> None:
        try:
            vehicle.describe(message.data)
            self.changes += 1
        except VdsGzError as error:
            self._graph.log(Severity.WARN, f"the description of vehicle '{vehicle.name}' is ignored: {error}")

    def _turn(self, vehicle: OtherVehicle, message: Message, arrival: int) -> None:
        vehicle.turn(message)

    def _place(self, vehicle: OtherVehicle, message: Message, arrival: int) -> None:
        vehicle.place(message, arrival)
        self.changes += 1
