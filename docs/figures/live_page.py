"""Films the live page in Chromium, and photographs it, driven by keys on a wide screen and by two thumbs on a phone.

Needs Pillow, chromium, chromedriver and selenium. Run by ``python docs/figures/live_page.py``.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.actions.interaction import POINTER_TOUCH
from selenium.webdriver.common.actions.pointer_input import PointerInput
from selenium.webdriver.remote.command import Command

from vds_gz.core.share import share

PICTURES = Path(__file__).resolve().parents[1] / "pictures"
NODE = [
    *(
        "-m",
        "vds_gz.programs.nodes.sim_node",
        "--ros-args",
        "--params-file",
        str(share("config") / "ackermann_car.yaml"),
    ),
    *("-p", "world:=parking_lot", "-p", "sensors.lidar.type:=rplidar_a2", "-p", "sensors.lidar.xyz:=[0.0, 0.0, 0.5]"),
]
VIEW = ["-m", "vds_gz.cli", "view", "--port", "0"]
FLAGS = "headless no-sandbox disable-gpu disable-background-networking window-size=1500,1220"

#: A phone held upright.
PHONE = {"width": 420, "height": 860, "pixelRatio": 2.0, "touch": True}

#: Which keys are held, and for how long [s].
DRIVE = (("wa", 7.0), ("w", 1.0), ("wd", 4.0), ("w", 1.2), ("wa", 1.0))

#: The film: keys as above, least period of its frames [s], the page's size while it is filmed, and the film's width.
FILM = (("w", 1.5), ("wa", 2.5), ("wd", 4.0), ("wa", 2.0), ("", 1.5), ("s", 1.0))
FRAME, STAGE, WIDTH = 0.14, (1240, 800), 800


def main() -> None:
    """Take the film and both pictures."""
    os.environ.setdefault("ROS_DOMAIN_ID", "77")
    with running(NODE), running(VIEW) as view:
        assert view.stdout is not None
        url = view.stdout.readline().split()[-1]
        with browser(url) as driver:
            driver.set_window_size(*STAGE)
            for _ in range(2):
                driver.find_element("id", "zoom-out").click()
            driver.find_element("id", "scene").click()
            film(driver, PICTURES / "live_page.webp")
            driver.find_element("id", "reset").click()
        with browser(url) as driver:
            for _ in range(3):
                driver.find_element("id", "zoom-out").click()
            driver.find_element("id", "scene").click()
            for _ in drive_by_keys(driver, DRIVE):
                time.sleep(0.1)
            driver.save_screenshot(str(PICTURES / "live_page.png"))
        with browser(url, PHONE) as driver:
            drive_by_thumbs(driver)
            time.sleep(1.0)  # frames are drawn again
            driver.save_screenshot(str(PICTURES / "live_page_phone.png"))


def drive_by_keys(driver: webdriver.Chrome, drive: Iterable[tuple[str, float]]) -> Iterator[None]:
    """Drive some curves, step by step; keys are still held at the end."""
    held = ""
    for keys, seconds in drive:
        actions = webdriver.ActionChains(driver)
        for key in set(held) - set(keys):
            actions.key_up(key)
        for key in set(keys) - set(held):
            actions.key_down(key)
        actions.perform()
        held = keys
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            yield


def film(driver: webdriver.Chrome, path: Path) -> None:
    """Film the page while it is driven, at its true pace; the parameters beside it are cut off."""
    right = round(driver.find_element("id", "parameters").rect["x"]) - 6
    box = (0, 0, right, driver.execute_script("return window.innerHeight"))
    shots: list[Image.Image] = []
    times: list[float] = []
    for _ in drive_by_keys(driver, FILM):
        times.append(time.monotonic())
        shot = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB").crop(box)
        shots.append(shot.resize((WIDTH, round(shot.height * WIDTH / shot.width)), Image.Resampling.LANCZOS))
        time.sleep(max(0.0, times[-1] + FRAME - time.monotonic()))
    durations = [round(1e3 * (after - before)) for before, after in pairwise([*times, times[-1] + 1.0])]
    shots[0].save(path, save_all=True, append_images=shots[1:], duration=durations, loop=0, quality=75, method=4)


def drive_by_thumbs(driver: webdriver.Chrome) -> None:
    """Drive a curve; both thumbs are still down at the end."""
    thumbs = []
    for pad, dx, dy in (("thumb-speed", 0, -40), ("thumb-turn", 25, 0)):
        box = driver.find_element("id", pad).rect
        x, y = round(box["x"] + box["width"] / 2), round(box["y"] + box["height"] / 2)
        thumb = PointerInput(POINTER_TOUCH, pad)
        thumb.create_pointer_move(0, x, y)
        thumb.create_pointer_down(button=0)
        thumb.create_pointer_move(300, x + dx, y + dy)
        thumb.create_pause(5.0)
        thumbs.append(thumb.encode())
    driver.execute(Command.W3C_ACTIONS, {"actions": thumbs})


@contextmanager
def running(arguments: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A program, while it is needed."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


@contextmanager
def browser(url: str, screen: dict[str, object] | None = None) -> Iterator[webdriver.Chrome]:
    """Chromium that shows the page."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    if screen:
        options.add_experimental_option("mobileEmulation", {"deviceMetrics": screen})
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS.split(), f"user-data-dir={profile}"):
            options.add_argument(f"--{flag}")
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        try:
            driver.get(url)
            while not driver.execute_script("return document.documentElement.dataset.frames"):
                time.sleep(0.1)
            yield driver
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
