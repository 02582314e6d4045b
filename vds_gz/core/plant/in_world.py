"""The kinematic plant in a world: the vehicle drives on the scene's ground and collides with its obstacles."""

from __future__ import annotations

import math
from collections.abc import Sequence

from vds_gz.core.description.footprint import Footprint, footprint_of
from vds_gz.core.geometry import (
    GRAVITY,
    Attitude,
    Pose,
    Transform,
    Vector,
    angles,
    into_body,
    into_world,
    product,
    quaternion,
    turned,
)
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.plant.base import LEVEL, Level, Status
from vds_gz.core.plant.body_paths import BodyPath, lever, trailer_paths
from vds_gz.core.plant.kinematic import KinematicPlant
from vds_gz.core.vehicle.make_vehicle import make_guarded_vehicle
from vds_gz.core.vehicle.vehicle import AnyGuardedVehicle
from vds_gz.core.world.ground import Plane, ground_below, plane_through, room_on, surface_near
from vds_gz.core.world.obstacles import CollisionBox, Contact, Obstacles
from vds_gz.core.world.ray_caster import RayCaster
from vds_gz.core.world.surroundings import Surroundings


class Standing:
    """The plane on which a vehicle's wheels stand, and its changes while the vehicle moves.

    Attributes:
        plane: The plane through the contacts, by least squares if there are more than three.
        friction: Friction coefficients of the ground below the contacts.
        lost: Place (x, y) [m] of the vehicle where a wheel has no ground, and the vehicle continues on its last plane;
            None on ground.
    """

    def __init__(self, ground: RayCaster, footprint: Footprint) -> None:
        self._ground = ground
        self._contacts = footprint.contacts
        self._step = footprint.step
        pairs = [math.dist(a, b) for a in footprint.contacts for b in footprint.contacts]
        # Ground so much lower would tilt the vehicle by more than 45 degrees, so it is not used.
        self._reach = max(2.0 * footprint.step, *pairs)
        self.plane = Plane()
        self.friction: tuple[float, ...] = (math.inf,)
        self.lost: tuple[float, float] | None = None
        self._rates = LEVEL
        self._since = 0

    def attitude(self, T_map_base: Pose, moves: bool) -> Attitude:
        """Attitude of a vehicle at a pose; its rates are 0 unless the vehicle ``moves``."""
        at = self.plane.attitude(T_map_base)
        rates = self._rates if moves else LEVEL
        return Attitude(at.z, at.roll, at.pitch, rates.v_z, rates.roll_rate, rates.pitch_rate)

    def move(self, T_map_base: Pose, time: int) -> bool:
        """Find the ground at the vehicle's place at a time [ns]; return whether the plane has changed."""
        touching = self._touching(T_map_base, self.plane.attitude(T_map_base))
        points = [(x, y, self.plane.at(x, y) + self._step) for x, y, _ in touching]
        heights, friction = ground_below(self._ground, points, self._step + self._reach)
        if not all(map(math.isfinite, heights)):
            self.lost = T_map_base.x, T_map_base.y
            self._rates = LEVEL
            return False
        self.lost, self.friction = None, tuple(friction.tolist())
        plane = plane_through([(x, y, float(z)) for (x, y, _), z in zip(points, heights, strict=True)])
        if plane.near(self.plane):
            self._rates, self._since = LEVEL, time
            return False
        self._rates = _rates(self.plane, plane, T_map_base, (time - self._since) * 1e-9)
        self.plane, self._since = plane, time
        return True

    def put(self, T_map_base: Pose, height: float) -> None:
        """Place the vehicle on the ground nearest to a height [m]."""
        self._rates, self.lost = LEVEL, None
        self.plane, self.friction = Plane(height), (math.inf,)
        ground = surface_near(self._ground, (T_map_base.x, T_map_base.y, height + self._step))
        attitude = Attitude(ground)
        if not math.isfinite(ground):
            self.lost = T_map_base.x, T_map_base.y
            return
        for _ in range(3):  # the contacts move a little as the vehicle tilts
            touching = self._touching(T_map_base, attitude)
            below = [self._follow((T_map_base.x, T_map_base.y, ground), (x, y)) for x, y, _ in touching]
            if not all(math.isfinite(height) for height, _ in below):
                self.lost = T_map_base.x, T_map_base.y
                return
            self.plane = plane_through([(x, y, z) for (x, y, _), (z, _) in zip(touching, below, strict=True)])
            self.friction = tuple(friction for _, friction in below)
            attitude = self.plane.attitude(T_map_base)

    def room(self, T_map_base: Pose) -> float:
        """The distance over which the ground is sure to be the same plane [m]."""
        away = room_on(self._ground, self.plane, (T_map_base.x, T_map_base.y), -self._reach, self._step)
        return away - max(math.hypot(x, y) for x, y in self._contacts)

    def restore(self, plane: Plane, friction: tuple[float, ...]) -> None:
        """Return to an earlier plane and its friction."""
        self.plane, self.friction, self._rates = plane, friction, LEVEL

    def _follow(self, start: Vector, end: tuple[float, float]) -> tuple[float, float]:
        """Height [m] and friction of the ground at the end of a path from a point on it, over climbable steps."""
        (x, y, height), friction = start, math.inf
        count = max(1, math.ceil(math.dist((x, y), end) / self._step))
        for k in range(1, count + 1):
            at = (x + k / count * (end[0] - x), y + k / count * (end[1] - y), height + self._step)
            heights, frictions = ground_below(self._ground, [at], self._step + self._reach)
            height, friction = float(heights[0]), float(frictions[0])
        return height, friction

    def _touching(self, T_map_base: Pose, attitude: Attitude) -> list[Vector]:
        """Places of the contacts in the map, and their heights above base_link [m]."""
        q_map_base = quaternion(attitude.roll, attitude.pitch, T_map_base.heading)
        points = (into_world(q_map_base, (x, y, 0.0)) for x, y in self._contacts)
        return [(T_map_base.x + x, T_map_base.y + y, z) for x, y, z in points]


def _mean(values: Sequence[float]) -> float:
    """The mean, exact to the bit for equal values."""
    return values[0] if len(set(values)) == 1 else sum(values) / len(values)


def _rates(before: Plane, after: Plane, T_map_base: Pose, interval: float) -> Attitude:
    """Rates of height and tilt from one plane to another [m/s, rad/s]."""
    if interval <= 0.0:
        return LEVEL
    old, new = (plane.attitude(T_map_base) for plane in (before, after))
    turns = (quaternion(at.roll, at.pitch, T_map_base.heading) for at in (old, new))
    roll, pitch, _ = (angle / interval for angle in turned(*turns))
    return Attitude(v_z=(new.z - old.z) / interval, roll_rate=roll, pitch_rate=pitch)


GROUND_EVERY = 0.02  # the ground is searched again after the wheels may have moved this far [m]
OTHERS_EVERY = 10_000_000  # period of updates of moving things [ns]


class WorldPlant(KinematicPlant):
    """A vehicle that its model moves on the ground of a scene.

    The model moves the vehicle in its own plane, that of its wheels' contacts. A step of length ``d`` along a
    slope thus moves it by ``d cos(pitch)`` on the map.

    Attributes:
        contacts: The contacts of the vehicle and its trailers, which are in the vehicle's plane.
    """

    flat = False

    def __init__(
        self,
        vehicle: AnyGuardedVehicle,
        footprint: Footprint,
        surroundings: Surroundings,
        collisions: str,
        *,
        felt: bool = True,
    ) -> None:
        super().__init__(vehicle, felt=felt)
        self._guarded = vehicle
        self._surroundings = surroundings
        self._collisions = collisions
        self._body = CollisionBox(footprint.lower, footprint.upper)
        self._trailers = footprint.trailers
        self._obstacles: dict[RayCaster, Obstacles] = {}
        self._standing = Standing(surroundings.still.collisions.still, footprint)
        self.contacts: tuple[Contact, ...] = ()
        self._touched: list[tuple[Contact, ...]] = [()]  # of each body
        self._granted = self._clear = self._same_ground = 0.0
        self._changes = surroundings.changes
        # Poses of base_link in the map:
        self._stopped_at: Pose | None = None  # where an obstacle stopped the vehicle
        #: Where the ground was found last, with the hitches' angles there, if it may change within GROUND_EVERY.
        self._looked: tuple[Pose, tuple[float, ...]] | None = None
        self._refused: Pose | None = None  # where the vehicle would have tilted into something
        vehicle.guard = self._watch
        vehicle.reach = self._body.reach + abs(vehicle.coefficients.base_link_offset)
        if self._trailers:
            vehicle.reach += math.hypot(*self._trailers[0].hitch[:2])
            vehicle.lever = lever(self._trailers, vehicle.coefficients.trailers, vehicle.reach)
        self._put(0.0)

    def advance(self, time: int) -> None:
        """Advance to a simulated time [ns]; new paths of moving things are taken into account first."""
        if self._changes != self._surroundings.changes:
            self._changes = self._surroundings.changes
            self._stopped_at = None
            self._touch(self.vehicle.time)
            self._grant()
        super().advance(time)

    def _watch(self, T_map_reference: Pose, time: int) -> None:
        """Correct the step from a pose to a time [ns]: follow the slope, stop at obstacles, find the ground there."""
        vehicle = self._guarded
        moved = self._granted - vehicle.reserve
        self._clear -= moved
        self._same_ground -= moved
        plane = self._standing.plane
        T_map_start = T_map_reference.then(Pose(vehicle.coefficients.base_link_offset))  # base_link, from above
        T_start_end = vehicle.motion().pose.seen_from(T_map_start)  # in the plane
        T_map_base = _in_space(plane, T_map_start)
        way_map, turn = into_world(T_map_base.orientation, (T_start_end.x, T_start_end.y, 0.0)), T_start_end.heading
        part = 1.0
        body = BodyPath(self._body, T_map_base, way_map, turn)
        paths = [body, *self._trailer_paths(T_map_base, T_start_end, vehicle.coefficients.dt)]
        if self._stopped_at == T_map_start and any(
            contact.stops(*path) for path, contacts in zip(paths, self._touched, strict=True) for contact in contacts
        ):
            part = 0.0
        elif self._clear < 0.0:
            part = self._meet(paths, time)
            self._stopped_at = T_map_start if part == 0.0 and vehicle.drift == 0.0 else None
            if self._stopped_at:
                self._meet([path.at_rest() for path in paths], time)  # without contacts farther along the path
        if part < 1.0 or not plane.level:
            self._move(T_map_start, T_map_base, way_map, turn, part)
        if part < 1.0:
            self._stop(1.0 - part)
        if self._same_ground < 0.0:
            self._look_down(plane, T_map_start, part, time)
        self._feel_road()
        self._grant()

    def _look_down(self, plane: Plane, T_map_start: Pose, part: float, time: int) -> None:
        """Find the ground after a part of a step; move the vehicle back if it would tilt into something."""
        standing, deep, friction = self._standing, self._depth, self._standing.friction
        if standing.move(self._guarded.motion().pose, time):
            self._touch(time)
            if self._collisions == "stop" and self._depth > deep:
                standing.restore(plane, friction)
                back, angles = self._looked or (T_map_start, ())
                self._guarded.set_pose(back.x, back.y, back.heading)
                self._stop(part)  # the trailers, too, are where the step began
                self._bend(angles)
                self._clear = self._same_ground = 0.0
                self._refused = T_map_start
                return
        T_map_base, refused = self._guarded.motion().pose, self._refused
        room = standing.room(T_map_base)
        if refused and math.dist((T_map_base.x, T_map_base.y), (refused.x, refused.y)) < 2.0 * GROUND_EVERY:
            room = self._same_ground = 0.0  # the next step is checked too, so the vehicle stays there
        else:
            self._refused, self._same_ground = None, max(GROUND_EVERY, room)
        self._looked = (T_map_base, self._hitch_angles()) if room < GROUND_EVERY else None

    def _hitch_angles(self) -> tuple[float, ...]:
        return tuple(trailer.angle for trailer in self._guarded.state.trailers) if self._trailers else ()

    def _bend(self, angles: Sequence[float]) -> None:
        """Turn the trailers; without angles they stay."""
        state = self._guarded.state
        for trailer, angle in zip(state.trailers if angles else (), angles, strict=True):
            trailer.angle = angle
        self._guarded.state = state

    def _trailer_paths(self, T_map_base: Transform, step: Pose, dt: float) -> list[BodyPath]:
        states = self._guarded.state.trailers if self._trailers else ()
        return trailer_paths(self._trailers, states, T_map_base, step, dt)

    def _meet(self, paths: Sequence[BodyPath], time: int) -> float:
        """The free part of the paths; set the contacts, and the distance until the next check."""
        self._clear = math.inf
        self._touched = [()] * len(paths)
        self.contacts = ()
        if self._collisions == "off":
            return 1.0
        part, seen = 1.0, time - time % OTHERS_EVERY
        turn_at, drift = self._surroundings.next_turn(seen), self._surroundings.drift
        if drift > 0.0 and turn_at < math.inf:
            # Obstacles use up the reserve at the speed ``drift``, so the next check is at the turn.
            self._clear = max(0.0, turn_at - time) * 1e-9 * drift
        collisions = self._surroundings.collisions_at(seen)
        known, self._obstacles = self._obstacles, {}
        for caster in filter(None, (collisions.still, collisions.moving)):
            obstacles = self._obstacles[caster] = known.get(caster) or Obstacles(caster)
            for k, (box, T_map_body, way_map, turn) in enumerate(paths):
                stops = self._collisions == "stop"
                passage = obstacles.pass_by(T_map_body, way_map, turn, box, stops=stops, end=part)
                part, self._clear = passage.part, min(self._clear, passage.free)
                self._touched[k] += passage.contacts
                self.contacts += passage.contacts
        return part

    def _touch(self, time: int) -> None:
        """Set the contacts at the vehicle's present place."""
        T_map_base = _in_space(self._standing.plane, self.vehicle.motion().pose)
        body = BodyPath(self._body, T_map_base, (0.0, 0.0, 0.0), 0.0)
        self._meet([body, *self._trailer_paths(T_map_base, Pose(), 0.0)], time)

    @property
    def _depth(self) -> float:
        return max((contact.depth for contact in self.contacts), default=0.0)

    def _move(self, T_map_start: Pose, T_map_base: Transform, way_map: Vector, turn: float, part: float) -> None:
        """Move the vehicle by a part of a step."""
        q_map_base = product(T_map_base.orientation, quaternion(0.0, 0.0, part * turn))
        heading = T_map_start.heading + math.remainder(angles(q_map_base)[2] - T_map_start.heading, math.tau)
        if self._standing.plane.level:
            heading = T_map_start.heading + part * turn
        vehicle = self._guarded
        vehicle.set_pose(T_map_start.x + part * way_map[0], T_map_start.y + part * way_map[1], heading)

    def _stop(self, part: float) -> None:
        """Undo the last fraction ``part`` of a step; stop body, wheels and drives."""
        vehicle = self._guarded
        state = vehicle.state
        vehicle.model.stop(vehicle.coefficients, state, part / vehicle.step_rate)
        vehicle.state = state

    def _feel_road(self) -> None:
        """Set gravity along the vehicle in models that feel slopes; if they slip, also gravity across and friction."""
        vehicle = self._guarded
        if vehicle.model.feels_slopes:
            q_map_base = _in_space(self._standing.plane, vehicle.motion().pose).orientation
            state = vehicle.state
            gravity_base = into_body(q_map_base, (0.0, 0.0, -GRAVITY))
            state.road_slope = gravity_base[0]
            if hasattr(state, "road_bank"):
                state.road_bank = gravity_base[1]
            if hasattr(state, "road_friction"):
                tires = vehicle.coefficients.friction  # the smaller one counts at each contact, as in Gazebo
                state.road_friction = _mean([min(friction, tires) for friction in self._standing.friction])
            vehicle.state = state

    def _grant(self) -> None:
        """Let the vehicle move up to the next obstacle or change of ground unchecked; on a slope, check every step."""
        free = min(self._clear, self._same_ground) if self._standing.plane.level else 0.0
        self._granted = self._guarded.reserve = max(0.0, free)
        self._guarded.drift = 0.0 if self._collisions == "off" else self._surroundings.drift

    def set_pose(self, pose: Pose, attitude: Attitude | None = None) -> None:
        """Place base_link on the ground nearest to the attitude's height, or else to its present height."""
        height = self._standing.attitude(self.vehicle.motion().pose, False).z
        super().set_pose(pose, attitude)
        self._put(height if attitude is None else attitude.z)

    def reset(self) -> Pose:
        """Restart at rest at the origin, on the ground nearest to the height 0."""
        pose = super().reset()
        self._put(0.0)
        return pose

    def _put(self, height: float) -> None:
        self._stopped_at = self._looked = self._refused = None
        T_map_base = self.vehicle.motion().pose
        self._standing.put(T_map_base, height)
        self._same_ground = max(GROUND_EVERY, self._standing.room(T_map_base))
        self._touch(self.vehicle.time)
        self._feel_road()
        self._grant()

    def attitude(self, time: int) -> Attitude:
        """Attitude of base_link out of the map's plane, at its present time."""
        motion = self.vehicle.motion()
        return self._standing.attitude(motion.pose, bool(motion.v_x or motion.v_y or motion.yaw_rate))

    def status(self) -> Status:
        """A warning if the vehicle touches something, is inside it, or has no ground."""
        touched = sorted({contact.thing.name for contact in self.contacts})
        values = (("touches", ", ".join(touched)),)
        deepest = max(self.contacts, key=lambda contact: contact.depth, default=None)
        if deepest is not None and deepest.depth > 0.0:
            text = f"the vehicle is {deepest.depth:.3f} m deep in {deepest.thing.name}"
            return Status(Level.WARN, f"{text}; drive it out or move it", values)
        if touched:
            return Status(Level.WARN, f"the vehicle touches {', '.join(touched)}", values)
        if self._standing.lost is not None:
            x, y = self._standing.lost
            text = f"no ground below the wheels at ({x:.1f}, {y:.1f}) m; the vehicle continues on its last plane"
            return Status(Level.WARN, text, values)
        hitches = super().status()
        return Status(hitches.level, hitches.text, values)


def plant_in_world(
    parameters: NodeParameters, urdf: str, surroundings: Surroundings, *, start: int = 0, felt: bool = False
) -> WorldPlant:
    """A vehicle on the ground at the origin of a world; ``start`` and ``felt`` are those of vehicle and plant."""
    vehicle = make_guarded_vehicle(parameters, start=start)
    footprint = footprint_of(urdf, vehicle.model.geometry(parameters.vehicle))
    return WorldPlant(vehicle, footprint, surroundings, parameters.collisions, felt=felt)


def _in_space(plane: Plane, T_map_base: Pose) -> Transform:
    """The pose in space of a vehicle on a plane, from the one seen from above."""
    at = plane.attitude(T_map_base)
    return Transform((T_map_base.x, T_map_base.y, at.z), quaternion(at.roll, at.pitch, T_map_base.heading))
