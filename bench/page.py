"""Measure the live page: the node with and without it, its server, and frames per second in Chromium.

Run by ``./dev bench page``. Frames need chromium, chromedriver and selenium; without them, the rest is measured.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NODE = [sys.executable, "-m", "vds_gz.programs.nodes.sim_node"]
VIEW = [sys.executable, "-m", "vds_gz.cli", "view", "--port", "0"]
FLAGS = "headless no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-sync"
TICKS = os.sysconf("SC_CLK_TCK")

#: Replaces the page's drawing by one that takes this long [ms].
SLOW = "const end = performance.now() + {}; while (performance.now() < end); requestAnimationFrame(slow);"


def processor_seconds(process: subprocess.Popen[str]) -> float:
    """Processor time of a process so far [s]."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@contextmanager
def running(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A program, which runs inside the context."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


@contextmanager
def browser(url: str) -> Iterator[Any]:
    """Chromium that shows the page."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS.split(), f"user-data-dir={profile}", "window-size=1400,1000"):
            options.add_argument(f"--{flag}")
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        try:
            driver.get(url)
            yield driver
        finally:
            driver.quit()


def frames(driver: Any) -> int:
    """Number of frames that the page has drawn."""
    return int(driver.execute_script("return document.documentElement.dataset.frames") or 0)


def measure(name: str, node: Any, view: Any, driver: Any, seconds: float) -> None:
    """Print a row of the table."""
    time.sleep(3.0)
    processes = [process for process in (node, view) if process is not None]
    before = [processor_seconds(process) for process in processes]
    drawn, begin = frames(driver) if driver else 0, time.monotonic()
    time.sleep(seconds)
    count = frames(driver) - drawn if driver else 0
    passed = time.monotonic() - begin
    used = [
        f"{100 * (processor_seconds(process) - earlier) / passed:.1f}"
        for process, earlier in zip(processes, before, strict=True)
    ]
    print(
        f"| {name} | {used[0]} | {used[1] if view else ''} | {f'{count / passed:.1f}' if driver else ''} |", flush=True
    )


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=15.0, help="length of each measurement")
    seconds = parser.parse_args().seconds
    os.environ["ROS_DOMAIN_ID"] = str(random.randint(1, 101))
    print("| | node, core [%] | server, core [%] | frames/s |")
    print("| --- | --- | --- | --- |")
    with running(NODE) as node:
        measure("no one listens", node, None, None, seconds)
        with running(VIEW) as view:
            assert view.stdout is not None
            url = view.stdout.readline().split()[-1]
            measure("server, no page", node, view, None, seconds)
            if not (find_spec("selenium") and shutil.which("chromium") and shutil.which("chromedriver")):
                print(
                    "no browser: it needs chromium, chromedriver and selenium (pip install '.[browser]' in a checkout)"
                )
                return
            with browser(url) as driver:
                measure("one page", node, view, driver, seconds)
                driver.execute_script(f"function slow() {{ {SLOW.format(200)} }} slow();")
                measure("a page that needs 0.2 s for each picture", node, view, driver, seconds)


if __name__ == "__main__":
    main()
