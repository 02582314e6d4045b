"""The page in a real browser, Chromium without a window, with a real vehicle behind it."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from helpers.pages import Served
from helpers.processes import PATIENCE

from vds_gz.interface import topics

webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium: pip install 'vds_gz[test]'")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM or not DRIVER, reason="needs chromium and chromedriver on the PATH"),
]

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1400,1000",
)
SPEED = "model_params.differential.drive_actuators.max_velocity"


class Browser:
    """A browser with one page."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def text(self, name: str) -> str:
        return self.driver.find_element("id", name).text

    def frames(self) -> int:
        """How many frames have been drawn."""
        return int(self.driver.execute_script("return document.documentElement.dataset.frames") or 0)

    def until(self, condition: Callable[[], Any], what: str) -> Any:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if result := condition():
                return result
            time.sleep(0.05)
        raise AssertionError(f"{what} did not come about; the page says '{self.text('status')}'")

    def show(self, served: Served) -> None:
        self.driver.get(served.url)
        self.until(lambda: self.frames() > 3, "a picture")

    def keys(self, *, down: str = "", up: str = "") -> None:
        """Press some keys and let go of others."""
        actions = webdriver.ActionChains(self.driver)
        for key in down:
            actions.key_down(key)
        for key in up:
            actions.key_up(key)
        actions.perform()

    def complaints(self) -> list[str]:
        """What went wrong in the page."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.fixture
def browser(tmp_path) -> Iterator[Browser]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield Browser(driver)
    driver.quit()


def test_keys_drive_the_vehicle_and_it_stops_when_they_are_let_go(start, view, probe, browser):
    start("-p", "model:=differential")
    probe.listen(topics.ODOM, topics.TWIST_REFERENCE)
    browser.show(view())
    browser.keys(down="w")
    probe.until(lambda: probe.received["odom"] and probe.received["odom"][-1].twist.twist.linear.x > 0.4, "motion")
    browser.keys(down="a")
    probe.until(lambda: probe.received["odom"][-1].twist.twist.angular.z > 0.2, "a turn to the left")
    assert "driving" in browser.until(lambda: browser.text("status"), "a status")
    browser.keys(up="wa")
    probe.until(lambda: probe.received[topics.TWIST_REFERENCE.name][-1].linear.x == 0.0, "a command to stop")
    probe.until(lambda: abs(probe.received["odom"][-1].twist.twist.linear.x) < 0.01, "standstill")
    probe.until_quiet(topics.TWIST_REFERENCE)
    assert math.hypot(probe.received["odom"][-1].pose.pose.position.x, 0.0) > 0.1
    assert browser.complaints() == []


@pytest.mark.parametrize(
    "lose",
    [
        "document.getElementById('filter').focus()",
        "window.dispatchEvent(new Event('blur'))",
        "location.assign('about:blank')",
    ],
)
def test_the_vehicle_stops_when_the_page_loses_the_focus_or_is_left_with_a_key_held(start, view, probe, browser, lose):
    start("-p", "model:=differential")
    reference = topics.TWIST_REFERENCE
    probe.listen(reference)
    browser.show(view())
    browser.keys(down="w")
    probe.until(lambda: probe.received[reference.name] and probe.received[reference.name][-1].linear.x > 0.0, "driving")
    browser.driver.execute_script(lose)
    probe.until(lambda: probe.received[reference.name][-1].linear.x == 0.0, "a command to stop")
    probe.until_quiet(reference)
    assert probe.received[reference.name][-1].linear.x == 0.0


GAMEPAD = """
    const pad = { connected: true, mapping: "standard", axes: [-1, 0, 0, -1], buttons: [] };
    for (let i = 0; i < 17; i++) pad.buttons.push({ pressed: i === arguments[0], value: 0 });
    navigator.getGamepads = () => [null, pad];
"""


def test_a_gamepad_drives_while_its_left_shoulder_button_is_held(start, view, probe, browser):
    start("-p", "model:=differential")
    reference = topics.TWIST_REFERENCE
    probe.listen(reference)
    browser.show(view())
    browser.driver.execute_script(GAMEPAD, 5)
    probe.serve(0.5)
    assert probe.received[reference.name] == []
    browser.driver.execute_script(GAMEPAD, 4)
    probe.until(lambda: probe.received[reference.name], "a command")
    twist = probe.next(reference)
    assert twist.linear.x > 0.5
    assert twist.angular.z > 0.5
    browser.driver.execute_script("navigator.getGamepads = () => [null]")  # it is unplugged
    probe.until(lambda: probe.received[reference.name][-1].linear.x == 0.0, "a command to stop")


def test_a_parameter_is_changed_in_place(start, view, probe, browser):
    start("-p", "model:=differential", "-p", "model_params.differential.drive_actuators.dead_time:=0.0")
    probe.listen(topics.TWIST_ACTUAL)
    browser.show(view())
    field = browser.until(lambda: browser.driver.find_elements("name", SPEED), "the parameter")[0]
    field.clear()
    field.send_keys("0.125\n")
    browser.until(lambda: "set" in browser.text("live"), "the answer")
    browser.driver.find_element("id", "scene").click()
    browser.keys(down="w")
    probe.until(lambda: probe.next(topics.TWIST_ACTUAL).twist.linear.x == pytest.approx(0.125, rel=0.01), "its effect")
    browser.keys(up="w")

    field.clear()
    field.send_keys("-3\n")
    browser.until(lambda: "-3" in browser.text("live"), "why it is refused")
    field.clear()
    field.send_keys("quick\n")
    browser.until(lambda: "'quick' is no number" in browser.text("live"), "that it is no number")


def test_the_page_keeps_drawing_through_a_restart_of_the_vehicle(start, view, browser):
    first = start("-p", "model:=omni")
    browser.show(view())
    before, begin = browser.frames(), time.monotonic()
    time.sleep(3.0)
    rate = (browser.frames() - before) / (time.monotonic() - begin)
    print(f"{rate:.1f} frames/s")
    assert rate > 5.0
    first.stop()
    browser.until(lambda: "no vehicle is heard" in browser.text("status"), "silence")
    start("-p", "model:=bicycle")
    before = browser.frames()
    browser.until(lambda: browser.frames() > before + 5, "pictures again")
    browser.until(lambda: "steering" in browser.text("actuators"), "the other vehicle's actuators")
    assert browser.complaints() == []


def test_a_page_of_another_origin_cannot_reach_the_vehicle(start, view, browser):
    """Two servers on one machine are two origins: neither's page may use the other's socket, nor read its answers."""
    start()
    ours, other = view(), view()
    browser.show(ours)
    script = """
        const done = arguments[arguments.length - 1];
        const socket = new WebSocket(arguments[0]);
        socket.onopen = () => done("open");
        socket.onerror = () => done("refused");
    """
    address = f"ws://127.0.0.1:{other.port}/socket"
    # Our own policy would keep such a page from trying; one of an attacker's has none.
    browser.driver.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
    browser.driver.refresh()
    assert browser.driver.execute_async_script(script, address) == "refused"
    own = f"ws://127.0.0.1:{ours.port}/socket"
    assert browser.driver.execute_async_script(script, own) == "open"
    fetching = """
        const done = arguments[arguments.length - 1];
        fetch(arguments[0]).then((answer) => answer.text()).then(() => done("read"), () => done("refused"));
    """
    assert browser.driver.execute_async_script(fetching, f"http://127.0.0.1:{other.port}/") == "refused"


def test_the_token_leaves_the_address_and_the_page_works(start, view, browser):
    start()
    served = view("--token")
    browser.show(served)
    assert "token" not in browser.driver.current_url
    browser.driver.delete_all_cookies()
    browser.driver.get(served.origin)
    assert "a token is needed" in browser.driver.page_source
