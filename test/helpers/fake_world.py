"""Speaks the topics of a Gazebo server, of ros_gz_bridge or of ros2_control: ``fake_world.py LINK LAG``.

A differential or a steered vehicle without any physics: wheels take on their velocity and steering joints reach their
angle, with a lag of the first order [s]; the pose goes along with the mean wheel. It obeys single letters on its input:
p pauses, r runs, z goes back to time 0, and its end ends it.
"""

from __future__ import annotations

import math
import os
import select
import sys
import time
from typing import Any

from vds_gz.core.description import gz_topics as topics
from vds_gz.core.plant.gazebo.links import bindings
from vds_gz.core.plant.gazebo.links.ros_links import JOINT_STATES, NUMBERS
from vds_gz.core.ros.arguments import parse
from vds_gz.core.ros.graph import QoS
from vds_gz.core.ros.messages.fields import set_stamp
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.core.vehicle.vehicle import NANOSECONDS

STEP = 0.002
RADIUS = 0.25
STEERING = ("steering_left", "steering_right")
WHEELS = ("fixed_wheel_left_joint", "fixed_wheel_right_joint", "steered_wheel_left_joint", "steered_wheel_right_joint")


class World:
    """A vehicle in a world."""

    def __init__(self, lag: float) -> None:
        self.lag = lag
        self.time, self.x, self.paused = 0, 0.0, False
        self.wanted = dict.fromkeys((*STEERING, *WHEELS), 0.0)
        self.angles = dict(self.wanted)
        self.speeds = dict(self.wanted)

    def on_actuators(self, message: Any, arrival: int = 0) -> None:
        self.wanted.update(zip(WHEELS, map(float, message.velocity), strict=True))
        self.wanted.update(zip(STEERING, map(float, message.position), strict=True))

    def step(self) -> None:
        self.time += round(STEP * 1e9)
        follow = 1.0 - math.exp(-STEP / self.lag) if self.lag else 1.0
        for name in STEERING:
            moved = follow * (self.wanted[name] - self.angles[name])
            self.angles[name] += moved
            self.speeds[name] = moved / STEP
        for name in WHEELS:
            self.speeds[name] += follow * (self.wanted[name] - self.speeds[name])
            self.angles[name] += self.speeds[name] * STEP
        self.x += RADIUS * STEP * sum(self.speeds[name] for name in WHEELS) / len(WHEELS)


class RosVoice:
    """Lets a world speak over ROS topics."""

    def __init__(self, world: World, link: str) -> None:
        self.world = world
        self.graph = graph = open_graph(parse([], "fake_world"), "fake_world")
        reliable = QoS(10)
        self.clock = graph.publisher("/clock", "rosgraph_msgs/msg/Clock", reliable)
        self.odometry = graph.publisher(topics.odometry("vehicle"), "nav_msgs/msg/Odometry", reliable)
        states = topics.joint_state("vehicle") if link == "bridge" else JOINT_STATES
        self.joints = graph.publisher(states, "sensor_msgs/msg/JointState", reliable)
        if link == "bridge":
            kind = "actuator_msgs/msg/Actuators"
            graph.subscribe(topics.actuators("vehicle"), kind, reliable, world.on_actuators)
        else:
            graph.subscribe("forward_velocity_controller/commands", NUMBERS, reliable, self.on_velocities)
            graph.subscribe("forward_position_controller/commands", NUMBERS, reliable, self.on_positions)

    def on_velocities(self, message: Any, arrival: int) -> None:
        self.world.wanted.update(zip(WHEELS, map(float, message.data), strict=True))

    def on_positions(self, message: Any, arrival: int) -> None:
        self.world.wanted.update(zip(STEERING, map(float, message.data), strict=True))

    def tell(self) -> None:
        world = self.world
        clock = self.graph.message("rosgraph_msgs/msg/Clock")
        set_stamp(clock.clock, world.time)
        self.clock.publish(clock)
        if world.paused:
            return
        odometry = self.graph.message("nav_msgs/msg/Odometry")
        set_stamp(odometry.header.stamp, world.time)
        odometry.pose.pose.position.x = world.x
        odometry.pose.pose.orientation.w = 1.0
        self.odometry.publish(odometry)
        joints = self.graph.message("sensor_msgs/msg/JointState")
        set_stamp(joints.header.stamp, world.time)
        joints.name = sorted(world.wanted)  # no one promises an order
        for field, values in (("position", world.angles), ("velocity", world.speeds)):
            numbers = self.graph.numbers(len(values))
            for i, name in enumerate(joints.name):
                numbers[i] = values[name]
            setattr(joints, field, numbers)
        self.joints.publish(joints)

    def wait(self, seconds: float) -> None:
        self.graph.wait(seconds)

    def close(self) -> None:
        self.graph.close()


class GazeboVoice:
    """Lets a world speak over gz-transport, whose bindings may be those of any release."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.node = bindings.node()
        self.types = {
            name: bindings.message(file, name)
            for file, name in (
                ("clock", "Clock"),
                ("world_stats", "WorldStatistics"),
                ("odometry", "Odometry"),
                ("model", "Model"),
                ("actuators", "Actuators"),
            )
        }
        self.clock = self.node.advertise("/world/fake/clock", self.types["Clock"])
        self.statistics = self.node.advertise("/world/fake/stats", self.types["WorldStatistics"])
        self.odometry = self.node.advertise(topics.odometry("vehicle"), self.types["Odometry"])
        self.joints = self.node.advertise(topics.joint_state("vehicle"), self.types["Model"])
        self.node.subscribe(self.types["Actuators"], topics.actuators("vehicle"), world.on_actuators)

    def tell(self) -> None:
        world = self.world
        clock = self.types["Clock"]()
        _set_time(clock.sim, world.time)
        self.clock.publish(clock)
        self.statistics.publish(self.types["WorldStatistics"](paused=world.paused))
        if world.paused:
            return
        odometry = self.types["Odometry"]()
        _set_time(odometry.header.stamp, world.time)
        odometry.pose.position.x = world.x
        odometry.pose.orientation.w = 1.0
        self.odometry.publish(odometry)
        model = self.types["Model"]()
        _set_time(model.header.stamp, world.time)
        for name in sorted(world.wanted):
            joint = model.joint.add(name=name)
            joint.axis1.position, joint.axis1.velocity = world.angles[name], world.speeds[name]
        self.joints.publish(model)

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)

    def close(self) -> None:
        self.node.unsubscribe(topics.actuators("vehicle"))
        time.sleep(0.2)


def _set_time(stamp: Any, nanoseconds: int) -> None:
    stamp.sec, stamp.nsec = divmod(nanoseconds, NANOSECONDS)


def run(world: World, voice: RosVoice | GazeboVoice) -> None:
    while True:
        due = time.monotonic() + STEP
        if select.select([sys.stdin], [], [], 0.0)[0]:
            letter = os.read(sys.stdin.fileno(), 1)
            if not letter:
                return
            world.paused = letter == b"p" or (world.paused and letter != b"r")
            if letter == b"z":
                world.time, world.x = 0, 0.0
        if not world.paused:
            world.step()
        voice.tell()
        while (left := due - time.monotonic()) > 0.0:
            voice.wait(left)


if __name__ == "__main__":
    fake = World(float(sys.argv[2]))
    spoken = GazeboVoice(fake) if sys.argv[1] == "transport" else RosVoice(fake, sys.argv[1])
    run(fake, spoken)
    spoken.close()
