"""Autoware's messages: where they are defined, and what those of measurements mean."""

from __future__ import annotations

from pathlib import Path

DEFINITIONS = Path(__file__).with_name("msg")

#: Fields by the quantity that they measure.
VELOCITY_REPORT = {"v_x": "longitudinal_velocity", "v_y": "lateral_velocity", "yaw_rate": "heading_rate"}
STEERING_REPORT = {"steering": "steering_tire_angle"}
