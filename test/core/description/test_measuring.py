"""Measurements of sensors in Gazebo have the configured mean and noise."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.simulation import NEEDS_GAZEBO, records

from vds_gz.core.description import gz_topics as topics
from vds_gz.core.description.sdf import sdf
from vds_gz.core.parameters.vehicles import BicycleParameters
from vds_gz.core.plant.gazebo.gazebo_server import Spawn, populated
from vds_gz.core.sensing.sensors.gnss import Gnss
from vds_gz.core.sensing.sensors.imu import Imu
from vds_gz.core.share import share
from vds_gz.core.vehicle.catalogue import models

pytestmark = NEEDS_GAZEBO

SECONDS = 40


@pytest.fixture
def listen(tmp_path):
    """Measurements of a sensor on a standing vehicle in 40 s, outdoors."""

    def listen_to(sensor, stream, file, kind, fields):
        _, world = populated(
            share("worlds", "outdoor.sdf"),
            [Spawn(sdf(models()["bicycle"], BicycleParameters(), sensors={"probe": sensor}))],
            0.0,
        )
        path = tmp_path / "world.sdf"
        path.write_text(world)
        topic = topics.of_sensor("vehicle", f"probe/{stream}")
        job = {"world": str(path), "steps": SECONDS * 1000, "topic": topic, "type": [file, kind], "fields": fields}
        return np.array(records("model_listen.py", job))

    return listen_to


def test_imu(listen):
    """The gyroscope has white noise, the accelerometer a bias that walks."""
    imu = Imu(rate=100.0, angular_velocity_white_noise=0.01, linear_acceleration_random_walk=0.02)
    fields = [f"{what}.{axis}" for what in ("angular_velocity", "linear_acceleration") for axis in "xyz"]
    messages = listen(imu, "imu", "imu", "IMU", fields)
    assert len(messages) == pytest.approx(SECONDS * 100, abs=2)
    assert messages[:, :3].std(axis=0) == pytest.approx(0.01, rel=0.1)
    assert messages[0, 3:] == pytest.approx([0, 0, 9.8], abs=0.1)
    # Increments over 0.1 s, of which there are enough to estimate the density of the walk; white noise adds to them.
    lag, pace, white = 10, 0.02, imu.linear_acceleration_white_noise
    increments = messages[lag::lag, 3:] - messages[:-lag:lag, 3:]
    assert increments.std() == pytest.approx(np.hypot(pace * np.sqrt(0.1), white * np.sqrt(2)), rel=0.1)
    far = messages[200:, 3:] - messages[:-200, 3:]
    assert 0.5 * pace * np.sqrt(2) < far.std() < 2 * pace * np.sqrt(2)


def test_gnss(listen):
    messages = listen(
        Gnss(rate=20.0, horizontal_std_noise=1.5, vertical_std_noise=2.5),
        "navsat",
        "navsat",
        "NavSat",
        ["latitude_deg", "longitude_deg", "altitude"],
    )
    degree = 111_320.0
    assert messages.mean(axis=0) == pytest.approx([48.8566, 0.0, 100.0], abs=0.5)
    north, east, up = messages.std(axis=0) * [degree, degree * np.cos(np.radians(48.8566)), 1.0]
    assert north == pytest.approx(1.5, rel=0.12)
    assert east == pytest.approx(1.5 * np.cos(np.radians(48.8566)), rel=0.12)
    assert up == pytest.approx(2.5, rel=0.12)
