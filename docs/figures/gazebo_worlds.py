#!/usr/bin/env python3
"""Pictures of the worlds, taken by a camera in Gazebo: ``python docs/figures/gazebo_worlds.py``.

It needs Gazebo with its Python bindings, and renders without a display.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import tempfile
import threading
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring, indent, parse, tostring

import matplotlib.image
import numpy as np

from vds_gz.model_command import vehicle_parameters
from vds_gz.share import share
from vds_gz.simulation_model import sdf
from vds_gz.vehicle.catalogue import models

FOLDER = Path(__file__).resolve().parent

#: Where the camera is, x y z roll pitch yaw [m, rad], and which vehicle stands at the origin.
VIEWS = {
    "empty": ("-3.2 -3.6 2.4 0 0.40 0.67", "ackermann_car"),
    "track": ("-24 -22 26 0 0.56 0.72", "ackermann_car"),
    "hall": ("-5.6 -9.6 10 0 0.55 0.62", "indoor_robot"),
    "outdoor": ("-18 -26 16 0 0.42 0.62", "ackermann_car"),
}
WIDTH, HEIGHT = 1200, 675
TOPIC = "/picture"


def scene(world: str, view: str, preset: str) -> str:
    """The world with a vehicle and a camera."""
    root = parse(share("worlds", f"{world}.sdf")).getroot()
    parameters = vehicle_parameters(preset)
    vehicle = fromstring(sdf(models()[parameters.model], parameters.vehicle))
    inside = root.find("world")
    assert inside is not None
    inside.extend(vehicle)
    inside.append(camera(view))
    indent(root)
    return tostring(root, encoding="unicode")


def camera(view: str) -> Element:
    """A camera that hangs in the air."""
    return fromstring(f"""<model name="camera"><static>true</static><pose>{view}</pose><link name="link">
      <sensor name="camera" type="camera"><topic>{TOPIC}</topic><update_rate>2</update_rate><always_on>1</always_on>
        <camera><horizontal_fov>1.2</horizontal_fov>
          <image><width>{WIDTH}</width><height>{HEIGHT}</height><format>R8G8B8</format><anti_aliasing>8</anti_aliasing>
          </image><clip><near>0.1</near><far>500</far></clip></camera>
      </sensor></link></model>""")


def newest(*names: str):
    """The first of these modules that is installed."""
    for name in names:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    raise SystemExit(f"needs one of {', '.join(names)}")


def picture(node, image_type, text: str) -> np.ndarray:
    """What the camera sees after a while."""
    images: list[np.ndarray] = []
    seen = threading.Event()

    def look(message) -> None:
        images.append(np.frombuffer(message.data, np.uint8).reshape(message.height, message.width, 3))
        if len(images) >= 3:
            seen.set()

    node.subscribe(image_type, TOPIC, look)
    with tempfile.NamedTemporaryFile("w", suffix=".sdf") as file:
        file.write(text)
        file.flush()
        server = subprocess.Popen(["gz", "sim", "-s", "-r", "--headless-rendering", file.name])
        try:
            if not seen.wait(60.0):
                raise SystemExit("the camera sent no image within 60 s")
        finally:
            node.unsubscribe(TOPIC)
            server.send_signal(signal.SIGINT)
            server.wait()
    return images[-1]


def main() -> None:
    """Take all pictures."""
    os.environ["GZ_PARTITION"] = f"figures_{os.getpid()}"
    transport = newest("gz.transport", "gz.transport14", "gz.transport13")
    image_type = newest("gz.msgs.image_pb2", "gz.msgs11.image_pb2", "gz.msgs10.image_pb2").Image
    node = transport.Node()
    for world, (view, preset) in VIEWS.items():
        matplotlib.image.imsave(FOLDER / f"world_{world}.png", picture(node, image_type, scene(world, view, preset)))


if __name__ == "__main__":
    main()
    os._exit(0)
