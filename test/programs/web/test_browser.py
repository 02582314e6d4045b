"""The page in a real browser, Chromium without a window, with a real vehicle behind it."""

from __future__ import annotations

import asyncio
import math
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import combinations, groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.pages import Look, Served
from helpers.processes import PATIENCE

from vds_gz.programs.interface import topics

webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium: pip install '.[test]' in a checkout")
from selenium.webdriver.common.actions import interaction  # noqa: E402
from selenium.webdriver.common.actions.pointer_input import PointerInput  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.remote.command import Command  # noqa: E402

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
        """Number of frames drawn."""
        return int(self.driver.execute_script("return document.documentElement.dataset.frames") or 0)

    def until(self, condition: Callable[[], Any], what: str) -> Any:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if result := condition():
                return result
            time.sleep(0.05)
        raise AssertionError(f"{what} did not come about; the page shows '{self.text('status')}'")

    def show(self, served: Served) -> None:
        self.driver.get(served.url)
        self.until(lambda: self.frames() > 3, "a frame")

    def keys(self, *, down: str = "", up: str = "") -> None:
        """Press some keys and let go of others."""
        actions = webdriver.ActionChains(self.driver)
        for key in down:
            actions.key_down(key)
        for key in up:
            actions.key_up(key)
        actions.perform()

    def boxes(self, selector: str) -> list[dict[str, float]]:
        """The rectangles of the visible elements in the window [pixels]."""
        script = """
            return [...document.querySelectorAll(arguments[0])].map((one) => one.getBoundingClientRect().toJSON())
                .filter((box) => box.width > 0 && box.height > 0);
        """
        return self.driver.execute_script(script, selector)

    def complaints(self) -> list[str]:
        """Errors that the page has logged."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]


#: A phone held upright.
PHONE = {"width": 420, "height": 860, "pixelRatio": 2.0, "touch": True}


@pytest.fixture(scope="module")
def chromium(tmp_path_factory) -> Iterator[Any]:
    with opened(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture(scope="module")
def chromium_of_a_phone(tmp_path_factory) -> Iterator[Any]:
    with opened(tmp_path_factory.mktemp("profile"), PHONE) as driver:
        yield driver


@pytest.fixture
def browser(chromium) -> Iterator[Browser]:
    with tab(chromium) as page:
        yield page


@pytest.fixture
def phone(chromium_of_a_phone) -> Iterator[Browser]:
    """A browser with the screen of a phone."""
    with tab(chromium_of_a_phone) as page:
        yield page


@contextmanager
def tab(driver: Any) -> Iterator[Browser]:
    """A new page: no held key, cookie or error is left of the one before."""
    driver.switch_to.new_window("tab")
    page = Browser(driver)
    driver.execute_cdp_cmd("Page.bringToFront", {})  # otherwise it has no focus, and ignores gamepads
    page.complaints()
    try:
        yield page
    finally:
        driver.execute(Command.W3C_CLEAR_ACTIONS)
        driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
        driver.close()
        driver.switch_to.window(driver.window_handles[0])


@contextmanager
def opened(profile: Path, screen: dict[str, Any] | None = None) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    if screen:
        options.add_experimental_option("mobileEmulation", {"deviceMetrics": screen})
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        yield driver
    finally:
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
    assert browser.boxes(".thumb") == []
    browser.keys(up="wa")
    probe.until(lambda: probe.received[topics.TWIST_REFERENCE.name][-1].linear.x == 0.0, "a command to stop")
    probe.until(lambda: abs(probe.received["odom"][-1].twist.twist.linear.x) < 0.01, "standstill")
    probe.until_quiet(topics.TWIST_REFERENCE)
    assert math.hypot(probe.received["odom"][-1].pose.pose.position.x, 0.0) > 0.1
    assert browser.complaints() == []


LIDAR = ("-p", "world:=hall", "-p", "sensors.lidar.type:=rplidar_a2", "-p", "sensors.lidar.xyz:=[0.3, 0.0, 0.3]")


@pytest.mark.parametrize("size", ["browser", pytest.param("phone", marks=pytest.mark.slow)])
def test_the_world_and_what_the_lidar_meets_are_drawn(start, view, request, size):
    browser = request.getfixturevalue(size)
    start("-p", "model:=differential", *LIDAR)
    browser.show(view())
    facts = "return document.getElementById('scene').dataset[arguments[0]]"
    assert browser.until(lambda: browser.driver.execute_script(facts, "polygons"), "a world") == "49"
    assert int(browser.until(lambda: browser.driver.execute_script(facts, "points"), "a scan")) > 300
    browser.driver.execute_script("for (let i = 0; i < 4; i++) document.getElementById('zoom-out').click()")
    red = """
        const canvas = document.getElementById("scene");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        let count = 0;
        for (let i = 0; i < data.length; i += 4) if (data[i] > 150 && data[i + 1] < 90 && data[i + 2] < 90) count++;
        return count;
    """
    assert browser.until(lambda: browser.driver.execute_script(red) > 200, "points of the scan")
    assert browser.complaints() == []


@pytest.mark.parametrize(
    "lose",
    [
        pytest.param("document.getElementById('filter').focus()", marks=pytest.mark.slow),
        pytest.param("window.dispatchEvent(new Event('blur'))", marks=pytest.mark.slow),
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

    def commanded() -> bool:
        twist = probe.next(reference)
        return twist.linear.x > 0.5 and twist.angular.z > 0.5

    probe.until(commanded, "a command")
    browser.driver.execute_script("navigator.getGamepads = () => [null]")  # it is unplugged
    probe.until(lambda: probe.received[reference.name][-1].linear.x == 0.0, "a command to stop")


def test_a_parameter_is_changed_in_place(start, view, probe, browser):
    start("-p", "model:=differential", "-p", "model_params.differential.drive_actuators.dead_time:=0.0")
    probe.listen(topics.TWIST_ACTUAL)
    browser.show(view())
    field = browser.until(lambda: browser.driver.find_elements("name", SPEED), "the parameter")[0]
    rows = browser.boxes("#live .parameter")
    field.click()
    assert "maximum speed" in browser.text("meaning")
    field.send_keys(Keys.CONTROL + "a")
    field.send_keys("0.125\n")
    browser.until(lambda: "set" in browser.text("live"), "the response")
    assert browser.boxes("#live .parameter") == rows
    browser.driver.find_element("id", "scene").click()
    browser.keys(down="w")
    probe.until(lambda: probe.next(topics.TWIST_ACTUAL).twist.linear.x == pytest.approx(0.125, rel=0.01), "its effect")
    browser.keys(up="w")

    field.clear()
    field.send_keys("-3\n")
    browser.until(lambda: "-3" in browser.text("live"), "why it is refused")
    field.clear()
    field.send_keys("quick\n")
    browser.until(lambda: "'quick' is not a number" in browser.text("live"), "that it is not a number")


def test_a_field_shows_the_true_value_when_it_is_left_and_what_was_refused_goes_with_its_reason(start, view, browser):
    start("-p", "model:=differential")
    served = view()
    browser.show(served)
    other = SPEED.replace("max_velocity", "max_acceleration")
    field, others = (
        browser.until(lambda name=name: browser.driver.find_elements("name", name), name)[0] for name in (SPEED, other)
    )
    value = lambda: field.get_property("value")  # noqa: E731

    def elsewhere(name: str, number: float) -> None:
        """Set a parameter from another page."""

        async def setting() -> None:
            async with Look(served) as looker:
                await looker.until(lambda: looker.newest.get("values"), "parameters")
                assert await looker.ask("set", name=name, value=number) == ""

        asyncio.run(setting())

    def type_(text: str) -> None:
        field.send_keys(Keys.CONTROL + "a")
        field.send_keys(text)

    field.click()
    elsewhere(SPEED, 1.25)
    elsewhere(other, 1.5)
    browser.until(lambda: others.get_property("value") == "1.5", "the other parameter")
    assert value() != "1.25"  # the user may be typing there
    field.send_keys(Keys.TAB)
    browser.until(lambda: value() == "1.25", "the true value")

    for wrong, reason in (("-3", "-3"), ("quick", "'quick' is not a number")):
        field.click()
        type_(wrong + Keys.TAB)
        browser.until(lambda reason=reason: reason in browser.text("live"), "why it is refused")
        assert (value(), field.get_attribute("aria-invalid")) == (wrong, "true")
        elsewhere(other, 1.5 + len(wrong))
        browser.until(lambda: value() == "1.25", "the true value again")
        assert reason not in browser.text("live")
        assert field.get_attribute("aria-invalid") == "false"

    field.click()
    type_("1.750" + Keys.TAB)
    browser.until(lambda: value() == "1.75", "the new value")


#: A socket whose responses come later than the new values.
LATE_RESPONSES = """
    window.WebSocket = class extends WebSocket {
        set onmessage(take) {
            const wait = (data) => (String(data).includes("response") ? 500 : 0);
            super.onmessage = (event) => setTimeout(() => take(event), wait(event.data));
        }
    };
"""


def test_a_late_response_is_shown_only_beside_the_value_that_it_is_for(start, view, browser):
    start("-p", "model:=differential")
    script = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": LATE_RESPONSES})
    browser.show(view())
    browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    (field,) = browser.until(lambda: browser.driver.find_elements("name", SPEED), SPEED)
    field.send_keys(Keys.CONTROL + "a")
    field.send_keys("1.750" + Keys.TAB)
    browser.until(lambda: field.get_property("value") == "1.75", "the new value")
    browser.until(lambda: "set" in browser.text("live"), "its response")
    browser.driver.execute_script(
        """
        const [field] = arguments, reason = field.closest(".parameter").querySelector(".reason");
        window.said = [];
        new MutationObserver(() => said.push(reason.textContent)).observe(reason, { childList: true });
        for (const value of ["-3", "1.5"]) {
            field.value = value;
            field.dispatchEvent(new Event("change"));
        }
        """,
        field,
    )
    said = browser.until(lambda: browser.driver.execute_script("return said"), "a response")
    assert said[0] == "set"


def test_sliders_and_bars_end_at_the_vehicles_limits_and_sliders_keep_what_was_chosen(start, view, browser):
    steering = "model_params.bicycle.steering_actuator.max_position"
    drive = steering.replace("steering", "drive").replace("position", "velocity")
    start("-p", "model:=bicycle", "-p", f"{drive}:=0.0", "-p", f"{steering}:=0.4")
    browser.show(view())
    script = "return ['max', 'value'].map((name) => Number(document.getElementById(arguments[0])[name]))"

    def shows(slider: str, end: float, value: float) -> None:
        result = lambda: browser.driver.execute_script(script, slider)  # noqa: E731
        browser.until(lambda: result() == [end, value], f"{slider} at {value} of {end}")

    def choose(slider: str, value: float) -> None:
        choice = "const [id, value] = arguments, one = document.getElementById(id); one.value = value;"
        browser.driver.execute_script(f"{choice} one.dispatchEvent(new Event('input'))", slider, value)

    def change(parameter: str, value: float) -> None:
        field = browser.driver.find_element("name", parameter)
        field.clear()
        field.send_keys(f"{value}\n")

    shows("speed-limit", 5.0, 2.0)  # the drive has no limit
    shows("turn-limit", 0.4, 0.4)
    choose("speed-limit", 0.3)
    change(steering, 0.25)
    shows("turn-limit", 0.25, 0.25)
    change(steering, 0.5)
    shows("turn-limit", 0.5, 0.5)  # nothing was chosen there
    shows("speed-limit", 5.0, 0.3)
    change(drive, 0.2)
    shows("speed-limit", 0.2, 0.2)
    change(drive, 4.0)
    shows("speed-limit", 4.0, 0.2)
    bars = "return Array.from(document.querySelectorAll('#actuator-rows canvas')).map((bar) => bar.title)"
    browser.until(
        lambda: browser.driver.execute_script(bars) == ["-4.00 to 4.00 m/s", "-0.50 to 0.50 rad"],
        "bars of the actuators up to the same limits",
    )


def test_the_page_keeps_drawing_through_a_restart_of_the_vehicle(start, view, browser):
    first = start("-p", "model:=omni")
    browser.show(view())
    before = browser.frames()
    browser.until(lambda: browser.frames() > before + 15, "more frames")
    first.stop()
    browser.until(lambda: "no data from a vehicle" in browser.text("status"), "silence")
    start("-p", "model:=bicycle")
    before = browser.frames()
    browser.until(lambda: browser.frames() > before + 5, "frames again")
    browser.until(lambda: "steering" in browser.text("actuators"), "the other vehicle's actuators")
    assert browser.complaints() == []


def test_a_page_of_another_origin_cannot_reach_the_vehicle(start, view, browser):
    """Two servers on one machine are two origins: neither's page may use the other's socket, nor read its responses."""
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
        fetch(arguments[0]).then((response) => response.text()).then(() => done("read"), () => done("refused"));
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


def test_a_page_that_is_refused_says_why(view, browser):
    """If the server has restarted with a token, or without the vehicle."""
    served = view("--namespace", "/red", "--namespace", "/blue")
    browser.driver.get(f"{served.origin}/?vehicle=/blue")
    browser.until(lambda: "no data from a vehicle" in browser.text("status"), "a status")
    served.program.stop()
    browser.until(lambda: "no connection to the server" in browser.text("status"), "the loss")
    served = view("--namespace", "/red", "--port", str(served.port))
    browser.until(lambda: "no vehicle '/blue'; there are /red" in browser.text("status"), "the vehicle's absence")
    served.program.stop()
    served = view("--token", "--port", str(served.port))
    browser.until(lambda: "a token is needed" in browser.text("status"), "the need of a token")
    browser.driver.execute_script("""
        const status = document.getElementById("status"), all = { childList: true, characterData: true, subtree: true };
        window.said = [];
        new MutationObserver(() => said.push(status.textContent)).observe(status, all);
    """)
    time.sleep(3.5)  # three more tries
    assert all("a token is needed" in text for text in browser.driver.execute_script("return said"))
    served.program.stop()
    view("--namespace", "/blue", "--port", str(served.port))
    browser.until(lambda: "no data from a vehicle" in browser.text("status"), "a status again")


class Thumb:
    """The actions of a thumb on its pad, in order. A movement takes 0.1 s."""

    def __init__(self, browser: Browser, pad: str) -> None:
        (self.box,) = browser.boxes(f"#{pad}")
        self.pointer = PointerInput(interaction.POINTER_TOUCH, pad)

    def down(self, x: float = 0.5, y: float = 0.5) -> None:
        """Come down at these parts of the pad's width and height."""
        self.x, self.y = self.box["x"] + x * self.box["width"], self.box["y"] + y * self.box["height"]
        self.pointer.create_pointer_move(0, round(self.x), round(self.y))
        self.pointer.create_pointer_down(button=0)

    def push(self, right: float = 0.0, up: float = 0.0) -> None:
        """Move away from where it came down by parts of the full deflection."""
        reach = self.box["height"] / 2
        self.pointer.create_pointer_move(100, round(self.x + right * reach), round(self.y - up * reach))

    def hold(self, seconds: float) -> None:
        self.pointer.create_pause(seconds)

    def up(self) -> None:
        self.pointer.create_pointer_up(0)


def perform(browser: Browser, *thumbs: Thumb) -> None:
    """Do the actions of thumbs, at the same time."""
    browser.driver.execute(Command.W3C_ACTIONS, {"actions": [thumb.pointer.encode() for thumb in thumbs]})


def signs(twists: list[Any]) -> list[tuple[float, float]]:
    """The signs of speed and yaw rate, one after the other."""
    each = [(np.sign(twist.linear.x), np.sign(twist.angular.z)) for twist in twists]
    return [key for key, _ in groupby(each)]


def test_two_thumbs_drive_and_each_that_is_lifted_stops_its_axis(start, view, probe, phone):
    start("-p", "model:=differential")
    reference = topics.TWIST_REFERENCE
    probe.listen(reference, topics.ODOM)
    phone.show(view())
    limits = [
        float(phone.driver.find_element("id", name).get_property("value")) for name in ("speed-limit", "turn-limit")
    ]
    left, right = Thumb(phone, "thumb-speed"), Thumb(phone, "thumb-turn")
    for thumb in (left, right):
        thumb.down()
    left.push(up=1.0)
    right.push(right=-0.55)
    for thumb in (left, right):
        thumb.hold(1.5)
    left.up()
    right.hold(0.0)
    for thumb in (left, right):
        thumb.hold(1.0)
    right.up()
    with ThreadPoolExecutor() as pool:
        acting = pool.submit(perform, phone, left, right)
        probe.until(acting.done, "the gesture")
        acting.result()
    probe.until(lambda: probe.received[reference.name][-1].angular.z == 0.0, "a command to stop")
    probe.until_quiet(reference)
    commands = probe.received[reference.name]
    # The thumbs begin to move one after the other; from then on both axes are driven, then the right one, then none.
    # If the page is delayed, the vehicle is stopped in between.
    driven = [sign for sign in signs(commands) if sign != (0.0, 0.0)]
    assert [key for key, _ in groupby(driven)][-2:] == [(1.0, 1.0), (0.0, 1.0)]
    assert signs(commands)[-1] == (0.0, 0.0)
    fastest = max(commands, key=lambda twist: twist.linear.x)
    assert fastest.linear.x == pytest.approx(limits[0])
    last = [twist for twist in commands if twist.angular.z][-1]
    assert last.angular.z == pytest.approx(0.5 * limits[1], abs=0.03)  # the dead zone is a tenth of the deflection
    assert max(message.twist.twist.linear.x for message in probe.received["odom"]) > 0.4
    assert max(message.twist.twist.angular.z for message in probe.received["odom"]) > 0.1
    assert phone.complaints() == []


def test_a_touch_alone_commands_nothing(start, view, probe, phone):
    start("-p", "model:=differential")
    probe.listen(topics.TWIST_REFERENCE)
    phone.show(view())
    thumb = Thumb(phone, "thumb-speed")
    thumb.down(0.1, 0.1)  # wherever it comes down is zero
    perform(phone, thumb)
    assert phone.driver.find_element("id", "thumb-speed").get_attribute("data-held")
    probe.serve(0.5)
    assert probe.received[topics.TWIST_REFERENCE.name] == []


def test_thumbs_drive_backwards_and_laterally_where_the_vehicle_can(start, view, probe, phone):
    start("-p", "model:=omni")
    reference = topics.TWIST_REFERENCE
    probe.listen(reference)
    phone.show(view())
    phone.until(lambda: phone.driver.find_elements("css selector", "#thumb-speed[data-axes=both]"), "both axes")
    thumb = Thumb(phone, "thumb-speed")
    thumb.down(0.7, 0.9)
    thumb.push(right=-0.8, up=-0.6)
    perform(phone, thumb)

    def commanded() -> bool:
        twist = probe.next(reference)
        return twist.linear.x < -0.5 and twist.linear.y > 0.5

    probe.until(commanded, "a command")
    assert not any(twist.angular.z for twist in probe.received[reference.name])


@pytest.mark.parametrize(
    "lose",
    ["window.dispatchEvent(new Event('blur'))", pytest.param("location.assign('about:blank')", marks=pytest.mark.slow)],
)
def test_the_vehicle_stops_when_the_page_is_left_with_both_thumbs_down(start, view, probe, phone, lose):
    start("-p", "model:=differential")
    reference = topics.TWIST_REFERENCE
    probe.listen(reference)
    phone.show(view())
    left, right = Thumb(phone, "thumb-speed"), Thumb(phone, "thumb-turn")
    for thumb in (left, right):
        thumb.down()
        thumb.push(right=0.9, up=0.9)
    perform(phone, left, right)
    probe.until(lambda: probe.received[reference.name] and probe.received[reference.name][-1].linear.x > 0.0, "driving")
    phone.driver.execute_script(lose)
    probe.until(lambda: probe.received[reference.name][-1].linear.x == 0.0, "a command to stop")
    probe.until_quiet(reference)


def test_on_a_phone_nothing_overlaps_and_nothing_is_wider_than_the_screen(start, view, phone):
    start()
    phone.show(view())
    width = phone.driver.execute_script("return document.documentElement.scrollWidth")
    assert width == PHONE["width"]
    buttons = phone.boxes(".tools button")
    assert len(buttons) == 4
    assert all(box["height"] < 60 for box in buttons)
    over = lambda: phone.boxes("#readout, #driving, #scale, .thumb")  # noqa: E731
    for _ in range(3):  # the bar of the scale has another length each time
        disjoint([*buttons, *over()])
        before = phone.boxes("#scale")
        phone.driver.find_element("id", "zoom-out").click()
        phone.until(lambda before=before: phone.boxes("#scale") != before, "another scale")
    disjoint([*buttons, *over()])
    thumb = Thumb(phone, "thumb-speed")
    thumb.down()
    thumb.push(up=0.9)
    perform(phone, thumb)
    phone.until(lambda: phone.boxes("#driving"), "what the thumb commands")
    disjoint([*buttons, *over()])
    assert all(box["bottom"] <= PHONE["height"] for box in phone.boxes(".thumb"))  # in reach without scrolling
    (world,) = phone.boxes("#view")
    assert world["height"] > 300


def disjoint(boxes: list[dict[str, float]]) -> None:
    """Assert that no two overlap."""
    for box, other in combinations(boxes, 2):
        apart_x = box["left"] >= other["right"] or other["left"] >= box["right"]
        apart_y = box["top"] >= other["bottom"] or other["top"] >= box["bottom"]
        assert apart_x or apart_y, (box, other)


@pytest.mark.parametrize("width", [PHONE["width"], 1024])
def test_a_warning_moves_no_pad_from_under_the_thumbs_and_can_be_read_from_its_beginning(alone, phone, width):
    screen = {"width": width, "height": PHONE["height"], "deviceScaleFactor": PHONE["pixelRatio"], "mobile": True}
    phone.driver.get(alone.url)  # it takes the phone's screen
    phone.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    assert phone.driver.execute_script("return innerWidth") == width
    script = """
        const status = document.getElementById("status"), range = document.createRange();
        const texts = ["driving", "kinematic plant: the vehicle touches crates::link::collision_0", "word ".repeat(99)];
        return texts.map((text) => {
            status.textContent = text;
            range.selectNodeContents(status);
            const beginning = range.getBoundingClientRect().top - status.getBoundingClientRect().top;
            return [document.getElementById("thumbs").getBoundingClientRect().top, beginning];
        });
    """
    pads, beginnings = zip(*phone.driver.execute_script(script), strict=True)
    assert len(set(pads)) == 1
    assert min(beginnings) >= 0.0


def test_on_a_phone_everything_is_wide_enough_for_a_finger_and_stays_in_its_panel(start, view, phone):
    start()
    phone.show(view())
    rows = phone.until(lambda: phone.driver.find_elements("css selector", "#fixed .parameter"), "the parameters")
    phone.driver.execute_script("document.getElementById('fixed-part').open = true")
    phone.driver.execute_script("arguments[0].scrollIntoView({ block: 'center' })", rows[0])
    rows[0].click()
    assert phone.text("meaning") == rows[0].get_attribute("title")
    phone.driver.find_element("id", "scene").click()
    assert phone.text("meaning") == ""
    script = """
        const reach = (one) => Math.max(one.clientHeight, one.offsetHeight, one.labels?.[0]?.offsetHeight ?? 0);
        return [...document.querySelectorAll("button, select, input, summary")].filter((one) => one.checkVisibility())
            .map((one) => [one.id || one.tagName, reach(one)]);
    """
    heights = phone.driver.execute_script(script)
    assert len(heights) > 20
    assert [height for height in heights if height[1] < 40] == []
    script = """
        const outside = [];
        for (const panel of document.querySelectorAll("section")) {
            const right = panel.getBoundingClientRect().right;
            for (const one of panel.querySelectorAll("*")) {
                const range = document.createRange();
                range.selectNodeContents(one);
                if (range.getBoundingClientRect().right > right) outside.push(one.outerHTML);
            }
        }
        return outside;
    """
    assert phone.driver.execute_script(script) == []


@pytest.mark.parametrize(
    ("own", "arrival", "pieces"),
    [
        (0.03, 0.03, 1),  # real time
        (3.0, 0.03, 1),  # a hundred times as fast
        (0.03, 3.0, 1),  # a hundred times as slow
        (3.0, 3.0, 4),  # each frame after a silence
    ],
)
def test_a_silence_breaks_a_curve_and_the_pace_of_the_vehicles_time_does_not(alone, browser, own, arrival, pieces):
    browser.driver.get(alone.url)
    script = """
        const [own, arrival, done] = arguments;
        import("/history.js").then(({ History }) => {
            const history = new History(), values = [];
            history.shape({ columns: ["time", "speed"], joints: [], actuators: [] });
            for (let i = 0; i < 4; i++) history.add(new Float64Array([100 + i * own, i]), 5 + i * arrival);
            history.each("speed", 60, (time, value) => values.push(value));
            done(values.map((value) => (Number.isFinite(value) ? value : " ")).join(""));
        });
    """
    curve = browser.driver.execute_async_script(script, own, arrival)
    assert curve.replace(" ", "") == "0123"
    assert len(curve.split()) == pieces


def luminance(colour: str) -> float:
    """The relative luminance of a colour ``#rrggbb``: https://www.w3.org/TR/WCAG22/#dfn-relative-luminance."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot((0.2126, 0.7152, 0.0722), linear))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_the_edges_of_controls_stand_out_as_wcag_asks(alone, browser, scheme):
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.driver.get(alone.url)
    script = """
        const style = getComputedStyle(document.documentElement);
        return arguments[0].map((name) => style.getPropertyValue(`--${name}`));
    """

    def colours(*names: str) -> list[float]:
        return [luminance(colour) for colour in browser.driver.execute_script(script, names)]

    def contrast(one: float, other: float) -> float:
        return (max(one, other) + 0.05) / (min(one, other) + 0.05)

    grounds = colours("panel", "ground")
    for ground in grounds:
        for text in colours("text", "faint", "actual", "reference", "good", "warning", "error", "met"):
            assert contrast(text, ground) >= 4.5
        for edge in colours("edge", "focus", "body", "tyre", "path"):
            assert contrast(edge, ground) >= 3.0
    assert (grounds[0] > 0.5) == (scheme == "light")
    element = browser.driver.find_element("id", "filter")
    placeholder = "return getComputedStyle(arguments[0], '::placeholder').color == getComputedStyle(arguments[1]).color"
    assert browser.driver.execute_script(placeholder, element, browser.driver.find_element("id", "keys"))
