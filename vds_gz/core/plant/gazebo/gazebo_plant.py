"""The plant in Gazebo: simulated actuators command Gazebo's joints, and Gazebo reports the motion."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from time import monotonic

from vds_gz.core.geometry import GRAVITY, Attitude, Pose, Transform, angles, into_body, product, quaternion
from vds_gz.core.parameters.node import GazeboParameters, joint_list, joint_map
from vds_gz.core.plant.base import BodyVelocity, Level, Plant, Status, body_state
from vds_gz.core.plant.gazebo.links.gazebo_link import GazeboLink, JointReadings, Placement, ReadingQueue, Tick
from vds_gz.core.plant.gazebo.monitoring import History, LagEstimator, LinkHealth, StallDetector, allowed, configured
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.vehicle.trailers import limit_text
from vds_gz.core.vehicle.vehicle import NANOSECONDS, AnyVehicle, Motion
from vds_gz.core.vehicle.vehicle_model import Joint, JointStates

SENT = 400  # number of commands, and of joint states, kept for their comparison
LONGEST_INTERVAL = 0.5  # maximum interval between compared joint states [s]
STEERING_EXCITATION = 0.01  # minimum for a lag: one joint that turns by 0.05 rad in 0.25 s
DRIVE_EXCITATION = 0.5  # minimum for a lag: one wheel that gains 1 rad/s in 2 s


class GazeboPlant(Plant):
    """A vehicle with simulated actuators, whose wheels roll in Gazebo.

    Simulated time is Gazebo's. The actuators run ahead of it by ``gazebo.lead``, the time in which a command arrives.
    """

    name = "gazebo"
    gives_time = True
    flat = False
    simulates_sensors = True

    def __init__(
        self,
        vehicle: AnyVehicle,
        parameters: GazeboParameters,
        link: GazeboLink,
        wake: Callable[[], None],
        warn: Callable[[str], None],
    ) -> None:
        self.vehicle = vehicle
        self._link = link
        self._warn = warn
        self._q_base_model = quaternion(0.0, 0.0, -parameters.heading)
        self._lead = round(parameters.lead * NANOSECONDS)
        self._period = round(NANOSECONDS / parameters.command_rate)
        joints = vehicle.model.joints(vehicle.parameters)
        renamed = joint_map(parameters.joint_names)
        theirs = [renamed.get(joint.name, joint.name) for joint in joints]
        self._names = [name.removeprefix("-") for name in theirs]
        self._signs = [-1.0 if name.startswith("-") else 1.0 for name in theirs]
        self._wheels = [i for i, joint in enumerate(joints) if joint.command == "velocity"]
        self._steering = [i for i, joint in enumerate(joints) if joint.command == "position"]
        self._hitches = [i for i, joint in enumerate(joints) if joint.kind == "hitch"]
        self._controlled: tuple[list[int], list[int]] = self._wheels, self._steering
        if link.lists_joints and joint_list(parameters.controlled_joints):
            self._controlled = _controlled(parameters.controlled_joints, joints)
        self._inbox: ReadingQueue = deque()
        self._time: int | None = None
        self._next_send = 0
        self._history = History()
        self._T_map_start: Transform | None = None  # base_link when it was first observed
        self._readings: JointReadings | None = None
        self._uncompared: deque[JointReadings] = deque(maxlen=SENT)
        self._compared = 0
        self._sent: deque[tuple[int, JointStates]] = deque(maxlen=SENT)
        self._lags = {"steering": LagEstimator(STEERING_EXCITATION), "wheel": LagEstimator(DRIVE_EXCITATION)}
        self._stall = StallDetector()
        self._health = LinkHealth(parameters, link, self._names)
        self._lost = False
        self.place = f"Gazebo's world '{parameters.world}'" if parameters.world else "Gazebo's world"
        self.waits = link.waits
        link.start(self._inbox, wake)

    def observe(self) -> int | None:
        """Process observations since the last call; return the present [ns], None before the first tick."""
        now = monotonic()
        for failure in self._link.poll():
            self._warn(failure)
            self._health.failed(failure, now)
        while self._inbox:
            seen = self._inbox.popleft()
            self._health.add(seen, now)
            if isinstance(seen, Tick):
                self._time = seen.time + self._lead
                if self._lost:
                    self._lost = False
                    self._warn("Gazebo is back; the vehicle drives at the next command")
            elif isinstance(seen, Placement):
                self._history.add(seen)
                self._T_map_start = self._T_map_start or seen.T_map_base
                if self.vehicle.model.feels_slopes:
                    state = self.vehicle.state
                    state.road_slope = into_body(seen.T_map_base.orientation, (0.0, 0.0, -GRAVITY))[0]
                    self.vehicle.state = state
            elif isinstance(seen, JointReadings):
                self._readings = seen
                self._turn_hitches(seen)
                self._uncompared.append(seen)
        if self._health.lost(now):
            self._lost = True
            self._warn("Gazebo stopped responding; the vehicle discards its commands and stands until it is back")
            self.stand_still(self.vehicle.time)
            self._history.clear()
        return self._time

    def _turn_hitches(self, seen: JointReadings) -> None:
        """Set the hitch angles of the vehicle's state to those in Gazebo."""
        if not self._hitches or not self._health.joints_complete:
            return
        positions, velocities = self._read(seen.positions), self._read(seen.velocities)
        state = self.vehicle.state
        for trailer, i in zip(state.trailers, self._hitches, strict=True):
            trailer.angle, trailer.rate = positions[i], velocities[i]
        self.vehicle.state = state

    def _compare(self) -> None:
        """Estimate the lag of the joints behind the sent commands."""
        while self._uncompared and self._uncompared[0].time <= self.vehicle.time:
            readings = self._uncompared.popleft()
            commanded = self._commanded(readings.time)
            if commanded is None or not self._health.joints_complete:
                continue
            interval, self._compared = (readings.time - self._compared) * 1e-9, readings.time
            if not 0.0 < interval < LONGEST_INTERVAL:
                for lag in self._lags.values():
                    lag.forget()
                continue
            positions, velocities = self._read(readings.positions), self._read(readings.velocities)
            steering = [positions[i] for i in self._steering]
            wheels = [velocities[i] for i in self._wheels]
            self._lags["steering"].add(interval, [commanded.positions[i] for i in self._steering], steering)
            speeds = [commanded.velocities[i] for i in self._wheels]
            self._lags["wheel"].add(interval, speeds, wheels)
            self._stall.add(interval, speeds, wheels)

    def _commanded(self, time: int) -> JointStates | None:
        """Commanded joint states at a time [ns]; None unless commands were sent before and after it."""
        for (end, after), (begin, before) in pairwise(reversed(self._sent)):
            if end <= time:
                return None
            if begin <= time:
                part = (time - begin) / (end - begin)
                pairs = ((before.positions, after.positions), (before.velocities, after.velocities))
                states = ([a + part * (b - a) for a, b in zip(x, y, strict=True)] for x, y in pairs)
                return JointStates(*states)
        return None

    def advance(self, time: int) -> None:
        """Advance the actuators to a simulated time [ns]."""
        self.vehicle.advance(time)

    def command(self, now: int) -> None:
        """Advance the actuators to the present [ns]; command the joints if a period has passed."""
        self.vehicle.advance(now)
        if now < self._next_send and self._next_send - now <= self._period:
            return
        self._next_send = now + self._period - now % self._period
        self._send()

    def _send(self) -> None:
        states = self._simulated_states()
        self._sent.append((self.vehicle.time, states))
        self._compare()
        wheels, steering = self._controlled
        self._link.send(self._theirs(states.velocities, wheels), self._theirs(states.positions, steering))

    def _theirs(self, values: Sequence[float], joints: Sequence[int]) -> list[float]:
        """Values of some joints for Gazebo's axes."""
        return [self._signs[i] * values[i] for i in joints]

    def _read(self, values: Mapping[str, float]) -> list[float]:
        """Gazebo's values of all joints, for our axes."""
        return [sign * values[name] for name, sign in zip(self._names, self._signs, strict=True)]

    def set_pose(self, pose: Pose, attitude: Attitude | None = None) -> None:
        """Place base_link at a pose; without an attitude, level at its present height."""
        last = self._history.last
        attitude = attitude or Attitude(last.T_map_base.position[2] if last else 0.0)
        q_map_base = quaternion(attitude.roll, attitude.pitch, pose.heading)
        self._request_pose(Transform((pose.x, pose.y, attitude.z), q_map_base))

    def _request_pose(self, T_map_base: Transform) -> None:
        q_map_model = product(T_map_base.orientation, self._q_base_model)
        self._link.set_pose(Transform(T_map_base.position, q_map_model))
        self._history.expect(T_map_base.position)

    def stand_still(self, time: int) -> None:
        """Stop in place and discard all commands; continue from ``time`` [ns], which may be in the past."""
        if time < self.vehicle.time:  # observations may be later than the new time
            self._history.clear()
            self._uncompared.clear()
        self.vehicle.stand_still(time)
        self._sent.clear()
        self._next_send = 0
        self._send()

    def reset(self) -> Pose | None:
        """Restart at rest where the vehicle was first observed."""
        self.stand_still(self.vehicle.time)
        if self._T_map_start is None:
            return None
        self._request_pose(self._T_map_start)
        x, y, _ = self._T_map_start.position
        return Pose(x, y, angles(self._T_map_start.orientation)[2])

    def pause(self, paused: bool) -> bool:
        """Pause or resume the world."""
        self._link.pause(paused)
        return True

    @property
    def clock_topic(self) -> str:
        """The topic on which other nodes receive Gazebo's time."""
        return self._link.clock_topic

    @property
    def paused(self) -> bool:
        """Whether Gazebo is paused."""
        return self._health.paused

    def close(self) -> None:
        """Stop the wheels; the steering keeps its angle."""
        if self._time is not None:
            positions = self._simulated_states().positions
            wheels, steering = self._controlled
            self._link.send([0.0] * len(wheels), self._theirs(positions, steering))
        self._link.close()

    def seen(self, time: int) -> bool:
        """Whether Gazebo has reported a pose at a time [ns] or later."""
        return self._history.reaches(time)

    def motion(self, time: int) -> Motion:
        """True pose of base_link at a time [ns], seen from above, and its velocity in its own plane."""
        return self._history.motion(time)

    def attitude(self, time: int) -> Attitude:
        """Attitude of base_link out of the plane at a time [ns]."""
        return self._history.attitude(time)

    def body(self, time: int) -> BodyState:
        """State of base_link at a time [ns]; accelerations are differences of velocities one placement apart."""
        earlier = time - self._history.interval
        known = earlier < time and self._history.covers(earlier)
        before = BodyVelocity.of(self.motion(earlier), self.attitude(earlier)) if known else None
        return body_state(time, self.motion(time), self.attitude(time), before, (time - earlier) * 1e-9)

    def joint_states(self, time: int) -> JointStates:
        """States of the joints; the commanded ones if Gazebo does not report them."""
        if self._readings is None or not self._health.joints_complete:
            return self._simulated_states()
        return JointStates(self._read(self._readings.positions), self._read(self._readings.velocities))

    def status(self) -> Status:
        """The health of the link, or a report of joints that stand or lag."""
        level, text = self._health.verdict(monotonic())
        if level == Level.OK and (stall := self._stall.text()):
            level, text = Level.ERROR, stall
        limited = limit_text(self.vehicle.coefficients, self.vehicle.state, stops=False)
        if level == Level.OK and limited:
            level, text = Level.WARN, limited
        values = []
        for name in self._lags if self._steering else ("wheel",):
            lag, dynamics = self._lags[name].lag(), configured(self.vehicle.parameters, name == "steering")
            values.append((f"lag of the {name} joints [s]", "not known yet" if lag is None else f"{lag:.4f}"))
            if level == Level.OK and lag is not None and lag > allowed(dynamics):
                level = Level.WARN
                text = (
                    f"the {name} joints follow {lag:.3f} s late, which adds to the {dynamics:g} s configured; at most "
                    f"{allowed(dynamics):.3f} s is small. Likely cause: {self._link.lag_cause}"
                )
        return Status(level, text, (("link", self._link.name), *self._health.values(), *values))

    def _simulated_states(self) -> JointStates:
        return self.vehicle.model.joint_states(self.vehicle.coefficients, self.vehicle.state)


def _controlled(text: str, joints: Sequence[Joint]) -> tuple[list[int], list[int]]:
    """The numbers of the wheels and of the steering joints that a list of names has, in its order."""
    numbers = {joint.name: number for number, joint in enumerate(joints)}
    listed = [numbers[name] for name in joint_list(text)]
    wheels, steering = (
        [number for number in listed if joints[number].command == command] for command in ("velocity", "position")
    )
    return wheels, steering
