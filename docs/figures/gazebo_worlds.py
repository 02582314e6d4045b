#!/usr/bin/env python3
"""Pictures of the worlds, taken by a camera in Gazebo: ``python docs/figures/gazebo_worlds.py``.

It renders without a display. Where there is no Gazebo, the pictures stay as they are.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

import matplotlib.image
import numpy as np

from vds_gz.cli.model import written
from vds_gz.core.configuration import load_parameters
from vds_gz.core.plant.gazebo.gazebo_server import Spawn, populated
from vds_gz.core.plant.gazebo.links import bindings
from vds_gz.core.share import share

FOLDER = Path(__file__).resolve().parent

#: Where the camera is, x y z roll pitch yaw [m, rad], and which vehicle stands at the origin.
VIEWS = {
    "empty": ((-3.2, -3.6, 2.4, 0.0, 0.40, 0.67), "ackermann_car"),
    "track": ((-24.0, -22.0, 26.0, 0.0, 0.56, 0.72), "ackermann_car"),
    "hall": ((-5.6, -9.6, 10.0, 0.0, 0.55, 0.62), "indoor_robot"),
    "outdoor": ((-18.0, -26.0, 16.0, 0.0, 0.42, 0.62), "ackermann_car"),
    "parking_lot": ((-18.0, -20.0, 18.0, 0.0, 0.52, 0.82), "ackermann_car"),
}
TOPIC = "/picture"
CAMERA = f"""<sdf version="1.9"><model name="camera"><static>true</static><link name="link">
  <sensor name="camera" type="camera"><topic>{TOPIC}</topic><update_rate>2</update_rate><always_on>true</always_on>
    <camera>
      <horizontal_fov>1.2</horizontal_fov>
      <image><width>1200</width><height>675</height><format>R8G8B8</format><anti_aliasing>8</anti_aliasing></image>
      <clip><near>0.1</near><far>500</far></clip>
    </camera>
  </sensor></link></model></sdf>"""


def picture(world: str, view: tuple[float, ...], preset: str) -> np.ndarray:
    """What a camera sees of a world and a vehicle in it, after a while."""
    vehicle = Spawn(written(load_parameters(preset), "sdf", "vehicle"))
    _, text = populated(share("worlds", f"{world}.sdf"), [vehicle, Spawn(CAMERA, view)])
    images: list[np.ndarray] = []
    enough = threading.Event()

    def look(message) -> None:
        images.append(np.frombuffer(message.data, np.uint8).reshape(message.height, message.width, 3))
        if len(images) >= 3:  # the first ones can come before the scene is complete
            enough.set()

    node = bindings.transport().Node()
    node.subscribe(bindings.message("image", "Image"), TOPIC, look)
    with tempfile.NamedTemporaryFile("w", suffix=".sdf") as file:
        file.write(text)
        file.flush()
        server = subprocess.Popen(["gz", "sim", "-s", "-r", "--headless-rendering", file.name])
        try:
            if not enough.wait(60.0):
                raise SystemExit("the camera sent no image within 60 s")
        finally:
            node.unsubscribe(TOPIC)
            stop(server)
    return images[-1]


def stop(server: subprocess.Popen) -> None:
    """End a server, which does not always end by itself when it has rendered."""
    server.send_signal(signal.SIGINT)
    try:
        server.wait(5.0)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def main() -> None:
    """Take all pictures."""
    if fault := "gz is not in the PATH" if shutil.which("gz") is None else bindings.bindings_fault():
        print(f"{Path(__file__).name}: no new pictures, {fault}")
        return
    os.environ["GZ_PARTITION"] = f"figures_{os.getpid()}"
    os.environ["GZ_IP"] = "127.0.0.1"
    for world, (view, preset) in VIEWS.items():
        matplotlib.image.imsave(FOLDER / f"world_{world}.png", picture(world, view, preset))


if __name__ == "__main__":
    main()
