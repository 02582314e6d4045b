"""The plant that sends the response on, as a command to another simulator or a robot."""

# ruff: noqa: D102  # vds_gz.core.plant.base documents the methods
from __future__ import annotations

from time import sleep

from vds_gz.core.geometry import Attitude, Pose
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.plant.base import Level, LinkError, Plant, Status
from vds_gz.core.plant.relay.demand import Demand
from vds_gz.core.plant.relay.following import ResponseMonitor
from vds_gz.core.plant.relay.led_vehicle import LedVehicle, make_led_vehicle
from vds_gz.core.plant.relay.robot_command import RelayedCommand
from vds_gz.core.plant.relay.subtraction import RobotDynamics
from vds_gz.core.plant.watchdog import INTERVAL, REPETITIONS, Watchdog
from vds_gz.core.ros.graph import Graph
from vds_gz.core.vehicle.command import SteadyMotion
from vds_gz.core.vehicle.vehicle import NANOSECONDS, Motion

#: Zero is sent for this long after everything stands [ns], in case a message is lost.
TAIL = 2 * NANOSECONDS


class RelayPlant(Plant):
    """A vehicle whose response goes on as a command. The pose is the robot's, which publishes it itself."""

    name = "relay"
    knows_pose = False
    vehicle: LedVehicle

    def __init__(self, graph: Graph, parameters: NodeParameters, robot: RobotDynamics) -> None:
        """Announce the command; ``robot`` is what the robot has itself.

        Raises:
            ParameterError: The robot behind the relay is slower than the vehicle, or the model has no single steering
                angle.
        """
        self.vehicle = make_led_vehicle(parameters, robot)
        self._demand = Demand(self.vehicle, robot)
        self.command_rate = parameters.relay.rate
        frame = parameters.frame_prefix + (parameters.relay.frame or parameters.base_frame)
        self._command = RelayedCommand(graph, parameters.relay, frame)
        odometry = parameters.relay.odometry
        self._following = ResponseMonitor(graph, odometry, robot) if odometry else None
        self.place = f"a robot that listens to {' and '.join(self._command.topics)}"
        self._watchdog = Watchdog()
        self._held = self._stopped = False
        self._standing = SteadyMotion()  # stops the robot, with the last steering angle
        self._until = 0  # when the command ends [ns]; 0 while none is sent

    def advance(self, time: int) -> None:
        self._held = False  # a held vehicle advances in single steps only
        self._demand.advance(time)

    def command(self, now: int) -> None:
        """Send what the robot is asked for at the present [ns], until the vehicle and the robot stand."""
        if self._held:  # the robot stands, so the vehicle cannot go on from its speed
            if not self._stopped:
                self.vehicle.stand_still(now)
                self._stopped = True
            drive, drives = self._standing, False
        else:
            drive = self._demand.now()
            drives = now < self.vehicle.latest or self._demand.moves(drive)
            if not drives:
                drive = SteadyMotion()
        if drives or (self._until and self._following is not None and self._following.moves):
            self._until = now + TAIL
        if now >= self._until:
            if self._until:
                self._until = 0
                self._watchdog.note()
            return
        self._send(now, drive)
        if self._watchdog.due():
            self._watchdog.note(*self._command.messages(self._standing))

    def _send(self, now: int, drive: SteadyMotion) -> None:
        self._standing = SteadyMotion(steering_angle=drive.steering_angle)
        self._command.send(now, drive)
        if self._following is not None:
            self._following.sent(now, drive)

    def motion(self, time: int) -> Motion:
        """The vehicle's response; its pose is where the response alone would have led."""
        return self.vehicle.motion()

    def stand_still(self, time: int) -> None:
        self.vehicle.stand_still(time)
        if self._until:  # time may have jumped back
            self._until = time + TAIL

    def pause(self, paused: bool) -> bool:
        """Let the robot stand while the node holds the vehicle."""
        self._held, self._stopped = paused, False
        if paused and self._until:
            self._command.send(self.vehicle.time, self._standing)
        return False

    def set_pose(self, pose: Pose, attitude: Attitude | None = None) -> None:
        raise LinkError("a relay cannot place the robot; set its pose in its own simulator")

    def reset(self) -> Pose:
        """Stop the response; only the robot's own simulator can put the robot back."""
        self.stand_still(self.vehicle.time)
        raise LinkError("the response was stopped; reset the robot in its own simulator")

    def status(self) -> Status:
        level, text = Level.OK, ""
        if self._following is not None:
            level, text = self._following.verdict()
        if unheard := self._command.unheard():
            level, text = Level.WARN, f"no one listens to {' and '.join(unheard)}; is the robot running?"
        if self._demand.broken:
            level, text = Level.ERROR, "the vehicle's response is not a finite number, so zero is sent"
        if self._watchdog.ended:
            level = Level.ERROR
            text = "the watchdog has ended: if the node is killed, nothing stops the robot; restart the node"
        values = [
            ("relayed to", ", ".join(self._command.topics)),
            ("relay", "sends" if self._until else "is silent: the vehicle stands"),
            *(self._following.values() if self._following else ()),
        ]
        return Status(level, text, tuple(values))

    def close(self) -> None:
        """Stop the robot, if it was driven."""
        for _ in range(REPETITIONS if self._until else 0):
            self._command.send(self.vehicle.time, self._standing)
            sleep(INTERVAL)
        self._watchdog.close()
