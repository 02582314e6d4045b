"""Speaks the topics that ros_gz_bridge and ros2_control speak, over DDS: ``fake_world.py LINK LAG``.

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

from vds_gz.plant.gazebo import topics
from vds_gz.plant.gazebo.ros2_control import JOINT_STATES, NUMBERS
from vds_gz.ros.arguments import parse
from vds_gz.ros.conversions import set_stamp
from vds_gz.ros.graph import Graph, QoS
from vds_gz.ros.open_graph import open_graph

STEP = 0.002
RADIUS = 0.25
STEERING = ("steering_left", "steering_right")
WHEELS = ("fixed_wheel_left_joint", "fixed_wheel_right_joint", "steered_wheel_left_joint", "steered_wheel_right_joint")


class FakeWorld:
    def __init__(self, graph: Graph, link: str, lag: float) -> None:
        self.graph, self.lag = graph, lag
        self.time, self.x, self.paused = 0, 0.0, False
        self.wanted = dict.fromkeys((*STEERING, *WHEELS), 0.0)
        self.angles = dict(self.wanted)
        self.speeds = dict(self.wanted)
        reliable = QoS(10)
        self.clock = graph.publisher("/clock", "rosgraph_msgs/msg/Clock", reliable)
        self.odometry = graph.publisher(topics.odometry("vehicle"), "nav_msgs/msg/Odometry", reliable)
        states = topics.joint_state("vehicle") if link == "bridge" else JOINT_STATES
        self.joints = graph.publisher(states, "sensor_msgs/msg/JointState", reliable)
        if link == "bridge":
            graph.subscribe(topics.actuators("vehicle"), "actuator_msgs/msg/Actuators", reliable, self.on_actuators)
        else:
            graph.subscribe("forward_velocity_controller/commands", NUMBERS, reliable, self.on_velocities)
            graph.subscribe("forward_position_controller/commands", NUMBERS, reliable, self.on_positions)

    def on_actuators(self, message: Any, arrival: int) -> None:
        self.wanted.update(zip(WHEELS, map(float, message.velocity), strict=True))
        self.wanted.update(zip(STEERING, map(float, message.position), strict=True))

    def on_velocities(self, message: Any, arrival: int) -> None:
        self.wanted.update(zip(WHEELS, map(float, message.data), strict=True))

    def on_positions(self, message: Any, arrival: int) -> None:
        self.wanted.update(zip(STEERING, map(float, message.data), strict=True))

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

    def tell(self) -> None:
        clock = self.graph.message("rosgraph_msgs/msg/Clock")
        set_stamp(clock.clock, self.time)
        self.clock.publish(clock)
        if self.paused:
            return
        odometry = self.graph.message("nav_msgs/msg/Odometry")
        set_stamp(odometry.header.stamp, self.time)
        odometry.pose.pose.position.x = self.x
        odometry.pose.pose.orientation.w = 1.0
        self.odometry.publish(odometry)
        joints = self.graph.message("sensor_msgs/msg/JointState")
        set_stamp(joints.header.stamp, self.time)
        joints.name = sorted(self.wanted)  # nobody promises an order
        for field, values in (("position", self.angles), ("velocity", self.speeds)):
            numbers = self.graph.numbers(len(values))
            for i, name in enumerate(joints.name):
                numbers[i] = values[name]
            setattr(joints, field, numbers)
        self.joints.publish(joints)

    def run(self) -> None:
        while True:
            due = time.monotonic() + STEP
            if select.select([sys.stdin], [], [], 0.0)[0]:
                letter = os.read(sys.stdin.fileno(), 1)
                if not letter:
                    return
                self.paused = letter == b"p" or (self.paused and letter != b"r")
                if letter == b"z":
                    self.time, self.x = 0, 0.0
            if not self.paused:
                self.step()
            self.tell()
            while (left := due - time.monotonic()) > 0.0:
                self.graph.wait(left)


if __name__ == "__main__":
    world = FakeWorld(open_graph(parse([], "fake_world"), "fake_world"), sys.argv[1], float(sys.argv[2]))
    world.run()
    world.graph.close()
