"""Measure lidars and cameras without a node: ray casting, measurement with noise, and writing of the message.

CPU time of one thread, medians, in the worlds of this package. Usage: python bench/sensors.py
"""

from __future__ import annotations

import os
from collections.abc import Callable
from statistics import median
from time import process_time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from vds_gz.core.geometry import Transform, quaternion
from vds_gz.core.sensing.body import BodyState, mounted
from vds_gz.core.sensing.lidar import LidarModel
from vds_gz.core.sensing.planar_lidar import PlanarLidar
from vds_gz.core.sensing.point_layout import PointLayout, gazebo_layouts
from vds_gz.core.sensing.sensors.camera import Camera, Pinhole
from vds_gz.core.sensing.sensors.helios_32 import Helios31
from vds_gz.core.sensing.sensors.lidar2d import Lidar2d
from vds_gz.core.sensing.sensors.ouster_os1 import OusterOs1
from vds_gz.core.sensing.sensors.rgbd_camera import ColouredLayout, RgbdCamera, clipped
from vds_gz.core.sensing.sensors.rplidar_a2 import RplidarA2
from vds_gz.core.sensing.sensors.velodyne_vlp16 import VelodyneVlp16
from vds_gz.core.sensing.spinning_lidar import SpinningLidar
from vds_gz.core.share import share
from vds_gz.core.world.load_world import load_world
from vds_gz.core.world.scene import Scene

REPEATS = 9
WORLDS = ("hall", "track", "outdoor")
LIDARS = (
    Lidar2d(),
    RplidarA2(),
    VelodyneVlp16(),
    Helios31(),
    OusterOs1(),
    RplidarA2(layout="driver"),
    VelodyneVlp16(layout="driver"),
    Helios31(layout="driver"),
    OusterOs1(layout="driver"),
)
CAMERAS = (Camera(), RgbdCamera())

#: The vehicle in a curve, at 5 m/s and 0.5 rad/s.
STATES = [
    BodyState(k * 20_000_000, Transform((0.1 * k, 0.001 * k * k, 0.0), quaternion(0.0, 0.0, 0.01 * k)))
    for k in range(7)
]


def cost(run: Callable[[], object]) -> float:
    """Milliseconds of CPU time, after a first run."""
    run()
    times = []
    for _ in range(REPEATS):
        before = process_time()
        run()
        times.append(process_time() - before)
    return 1e3 * median(times)


def layouts(sensor: SpinningLidar, lidar: LidarModel) -> list[PointLayout]:
    if sensor.layout == "driver":
        return [sensor.driver_layout(lidar.directions, lidar.column_times(0))]
    return gazebo_layouts(lidar.directions, sensor.bands())


def lidar_row(scene: Scene, sensor: PlanarLidar | SpinningLidar) -> tuple[str, int, float, float, float]:
    """Name, rays, and milliseconds to cast them, to measure, and to write the message."""
    lidar = LidarModel("lidar", sensor, 0)
    rays, origin = lidar.directions.reshape(-1, 3), np.array(sensor.xyz)
    origins = origin + sensor.min_range * rays
    cast = cost(lambda: scene.visuals.cast(origins, rays, sensor.max_range))
    measured = cost(lambda: lidar.measure(STATES, scene))
    echoes = lidar.measure(STATES, scene)
    if isinstance(sensor, PlanarLidar):
        scan = np.empty(len(rays), np.float32)
        written = cost(lambda: np.copyto(scan, echoes.ranges[:, 0]))
    else:
        clouds = [(layout, np.zeros(layout.shape, layout.dtype)) for layout in layouts(sensor, lidar)]
        written = cost(lambda: [cloud.write(points, echoes, 0.0) for cloud, points in clouds])
    return f"{sensor.type}, {sensor.layout}", len(rays), cast, measured, written


def camera_row(scene: Scene, sensor: Camera) -> tuple[str, int, float, float, float]:
    """Name, rays, and milliseconds to cast them, to see colours too, and to write the points."""
    pinhole, place = Pinhole(sensor), mounted(sensor.xyz, (0.0, 0.0, 0.3))
    cast = cost(lambda: pinhole.view(scene, place, colour=False))
    seen = cost(lambda: pinhole.view(scene, place, colour=True))
    view, layout = pinhole.view(scene, place, colour=True), ColouredLayout(pinhole.rays)
    points = np.zeros(layout.shape, layout.dtype)
    assert view.colour is not None
    colour = view.colour
    written = 0.0
    if isinstance(sensor, RgbdCamera):
        near, far = sensor.depth_clip_min, sensor.depth_clip_max
        written = cost(lambda: layout.write(points, clipped(view.depth, near, far), colour))
    return sensor.type, view.depth.size, cast, seen, written


def main() -> None:
    print(f"{'world':8} {'sensor':25} {'rays':>7} {'Mrays/s':>8} {'cast':>7} {'measure':>8} {'write':>6}  [ms]")
    for world in WORLDS:
        scene = load_world(share("worlds", f"{world}.sdf"))
        rows = [*(lidar_row(scene, lidar) for lidar in LIDARS), *(camera_row(scene, camera) for camera in CAMERAS)]
        for name, rays, cast, measured, written in rows:
            speed = rays / cast * 1e-3
            print(f"{world:8} {name:25} {rays:7} {speed:8.1f} {cast:7.2f} {measured:8.2f} {written:6.2f}")


if __name__ == "__main__":
    main()
