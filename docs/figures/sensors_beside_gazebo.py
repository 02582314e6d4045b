#!/usr/bin/env python3
"""The same scene by Gazebo's sensors and by ours: ``python docs/figures/sensors_beside_gazebo.py``.

Gazebo renders without a display. Where there is no Gazebo, the picture stays as it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from gazebo_worlds import stop

from vds_gz.core.configuration import load_parameters
from vds_gz.core.description.sdf import sdf
from vds_gz.core.geometry import Transform
from vds_gz.core.parameters.sensor_parameters import SensorParameters
from vds_gz.core.plant.gazebo.gazebo_server import Spawn, populated
from vds_gz.core.plant.gazebo.links import bindings
from vds_gz.core.sensing.body import BodyState, mounted, placement
from vds_gz.core.sensing.lidar import LidarModel
from vds_gz.core.sensing.sensors.camera import Pinhole
from vds_gz.core.sensing.sensors.rgbd_camera import RgbdCamera
from vds_gz.core.sensing.sensors.rplidar_a2 import RplidarA2
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.world.load_world import load_world, world_file

PICTURE = Path(__file__).resolve().parents[1] / "pictures" / "sensors_beside_gazebo.png"
WORLD = "hall"
CAMERA = RgbdCamera(xyz=(0.3, 0.0, 1.2), columns=640, rows=400, fx=400.0, fy=400.0, cx=320.0, cy=200.0)
LIDAR = RplidarA2(xyz=(0.0, 0.0, 0.6), std_noise=0.0)
SENSORS: dict[str, SensorParameters] = {"camera": CAMERA, "lidar": LIDAR}
TOPICS = {
    "image": ("camera/image", "image", "Image"),
    "depth": ("camera/depth_image", "image", "Image"),
    "scan": ("lidar/scan", "laserscan", "LaserScan"),
}


def by_gazebo() -> dict[str, np.ndarray]:
    """Colours, depths [m] and ranges [m] of Gazebo's sensors, of a robot at the origin."""
    parameters = load_parameters("indoor_robot")
    vehicle = Spawn(sdf(models()[parameters.model], parameters.vehicle, sensors=SENSORS))
    found: dict[str, np.ndarray] = {}
    complete = threading.Event()

    def keep(name: str, message) -> None:
        if name == "scan":
            found[name] = np.array(message.ranges)
        else:
            kind, shape = (np.uint8, (-1, message.width, 3)) if name == "image" else (np.float32, (-1, message.width))
            found[name] = np.frombuffer(message.data, kind).reshape(shape)
        if message.header.stamp.sec > 3 and len(found) == len(TOPICS):  # the first ones come before the scene is there
            complete.set()

    node = bindings.transport().Node()
    for name, (topic, module, kind) in TOPICS.items():
        node.subscribe(
            bindings.message(module, kind), f"/model/vehicle/{topic}", lambda message, name=name: keep(name, message)
        )
    with tempfile.NamedTemporaryFile("w", suffix=".sdf") as file:
        file.write(populated(world_file(WORLD), [vehicle])[1])
        file.flush()
        server = subprocess.Popen(["gz", "sim", "-s", "-r", "--headless-rendering", file.name])
        try:
            if not complete.wait(90.0):
                raise SystemExit(f"Gazebo's sensors sent only {', '.join(found) or 'nothing'} within 90 s")
        finally:
            for topic, _, _ in TOPICS.values():
                node.unsubscribe(f"/model/vehicle/{topic}")
            stop(server)
    return found


def by_us() -> dict[str, np.ndarray]:
    """The same, of ours."""
    scene, body = load_world(WORLD), BodyState(0, Transform())
    view = Pinhole(CAMERA).view(scene, placement(body.pose).then(mounted(CAMERA.xyz, CAMERA.rpy)), colour=True)
    assert view.colour is not None
    scan = LidarModel("lidar", LIDAR, 0).measure([body], scene)
    return {"image": view.colour, "depth": view.depth, "scan": scan.ranges[:, 0]}


def main() -> None:
    """Draw both side by side."""
    if fault := "gz is not in the PATH" if shutil.which("gz") is None else bindings.bindings_fault():
        print(f"{Path(__file__).name}: no new picture, {fault}")
        return
    os.environ["GZ_PARTITION"] = f"figures_{os.getpid()}"
    os.environ["GZ_IP"] = "127.0.0.1"
    pair = {"Gazebo": by_gazebo(), "vds_gz": by_us()}
    figure, axes = plt.subplots(2, 3, figsize=(13, 6.2), layout="constrained", width_ratios=(1.25, 1.35, 1))
    azimuths = np.linspace(-np.pi, np.pi, len(pair["vds_gz"]["scan"]), endpoint=False)
    for row, (name, found) in zip(axes, pair.items(), strict=True):
        row[0].imshow(found["image"])
        row[0].set_title(f"{name}: colours")
        drawn = row[1].imshow(np.minimum(found["depth"], 15.0), cmap="viridis_r", vmin=0.0, vmax=15.0)
        row[1].set_title(f"{name}: depth")
        figure.colorbar(drawn, ax=row[1], label="m", shrink=0.8)
        row[2].plot(found["scan"] * np.cos(azimuths), found["scan"] * np.sin(azimuths), ".", markersize=2)
        row[2].plot(0.0, 0.0, "^", color="tab:red")
        row[2].set(title=f"{name}: RPLIDAR A2", xlabel="x [m]", ylabel="y [m]", aspect="equal")
        for axis in row[:2]:
            axis.set_axis_off()
    figure.savefig(PICTURE, dpi=100)
    both = np.isfinite(pair["Gazebo"]["scan"]) & np.isfinite(pair["vds_gz"]["scan"])
    difference = np.abs(pair["Gazebo"]["scan"] - pair["vds_gz"]["scan"])[both]
    print(
        f"ranges differ by {np.median(difference):.4f} m in the median, {np.percentile(difference, 95):.3f} m in 95 %"
    )


if __name__ == "__main__":
    main()
