"""Realistic actuation for wheeled robots in ROS 2: with Gazebo, without it, and where no ROS is installed."""

__version__ = "0.1.0"
