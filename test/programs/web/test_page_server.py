"""The page's server with a real vehicle behind it."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers.pages import Look, Looker
from helpers.processes import PATIENCE, need_messages

from vds_gz.core.ros.graph import QoS
from vds_gz.core.share import share
from vds_gz.core.world.load_world import load_world
from vds_gz.programs.interface import topics

FIRST = 10  # numbers before the joints
TIME, X, SPEED, LATERAL_SPEED, YAW_RATE, REFERENCE_SPEED, REFERENCE_YAW_RATE = 0, 1, 4, 5, 6, 7, 9
WHEEL_BASE = 1.6
QUICK = ("-p", "model_params.bicycle.drive_actuator.dead_time:=0.0", "-p", "model:=bicycle")


async def first_frame(looker: Looker) -> Any:
    await looker.until(lambda: looker.newest.get("layout", {}).get("outline") and looker.frames, "a frame")
    await looker.until(lambda: len(looker.frames[-1]) == length(looker.newest["layout"]), "a frame of this layout")
    return looker.frames[-1]


def length(layout: Any) -> int:
    return len(layout["columns"]) + len(layout["joints"]) + 2 * len(layout["actuators"])


async def drive_until(looker: Looker, condition: Callable[[], Any], what: str, **wanted: float) -> int:
    """Drive as a page does until a condition holds; return the number of commands."""
    end, count = time.monotonic() + PATIENCE, 0
    while not condition():
        assert time.monotonic() < end, f"{what} did not come about; the last frame: {looker.frames[-1:]}"
        await looker.drive(**wanted)
        count += 1
        await asyncio.sleep(0.05)
    return count


def test_a_page_sees_the_vehicle_and_drives_it(start, view, probe):
    start(*QUICK, "-p", "base_frame:=base_footprint")
    probe.listen(topics.ACKERMANN_CMD)

    async def look() -> None:
        async with Look(view()) as looker:
            before = await first_frame(looker)
            layout = looker.newest["layout"]
            assert layout["joints"][:2] == ["steering_left", "steering_right"]
            assert [one["name"] for one in layout["actuators"]] == ["drive", "steering"]
            assert len(layout["outline"]["wheels"]) == 4
            assert math.isnan(before[REFERENCE_SPEED])
            await looker.until(lambda: looker.newest["status"]["values"], "diagnostics")
            assert ["command publishers", "0"] in looker.newest["status"]["values"]  # it only looks

            def curves() -> bool:
                now = looker.frames[-1]
                drive, steering = now[FIRST + len(layout["joints"]) :].reshape(2, 2).T
                return (
                    now[X] > before[X] + 0.5
                    and now[REFERENCE_SPEED] == 1.0
                    and now[REFERENCE_YAW_RATE] == pytest.approx(math.tan(0.3) / WHEEL_BASE, rel=1e-6)
                    and now[SPEED] == pytest.approx(1.0, abs=0.1)
                    and now[YAW_RATE] == pytest.approx(now[REFERENCE_YAW_RATE], rel=0.1)
                    and list(drive) == pytest.approx([1.0, 1.0], abs=0.1)
                    and list(steering) == pytest.approx([0.3, 0.3], abs=0.01)
                )

            await drive_until(looker, curves, "the curve", v_x=1.0, steering_angle=0.3)
            now = looker.frames[-1]
            assert 0.0 < now[FIRST + 1] < now[FIRST]  # in a left turn the left wheel is turned farther
            await looker.until(lambda: looker.newest["status"]["text"] == "driving", "diagnostics")

    asyncio.run(look())
    command = probe.next(topics.ACKERMANN_CMD)
    assert command.header.frame_id == "base_footprint"


@pytest.mark.parametrize("output", ["auto", "twist"])
def test_a_page_drives_a_vehicle_that_steers_both_axles_around_a_curve_or_diagonally(start, view, output):
    start("-p", "model:=four_wheel_steering")

    async def look() -> None:
        async with Look(view("--output", output)) as looker:
            await first_frame(looker)
            await looker.until(lambda: len(looker.newest["layout"]["actuators"]) == 3, "the actuators")
            layout = looker.newest["layout"]
            assert [actuator["unit"] for actuator in layout["actuators"]] == ["m/s", "rad", "rad"]
            assert layout["steers"] == (output == "auto")

            def curves() -> bool:
                now, expected = looker.frames[-1], 2.0 * math.tan(0.3) / WHEEL_BASE
                return now[YAW_RATE] == pytest.approx(expected * now[SPEED], rel=0.02) and now[SPEED] > 0.8

            def crabs() -> bool:
                now = looker.frames[-1]
                return now[SPEED + 1] == pytest.approx(0.4, abs=0.02) and abs(now[YAW_RATE]) < 0.01

            if output == "auto":
                await drive_until(looker, curves, "the curve", v_x=1.0, steering_angle=0.3)
            else:
                await drive_until(looker, crabs, "the lateral speed", v_x=0.8, v_y=0.4)

    asyncio.run(look())


def test_a_page_drives_a_vehicle_with_swerve_modules_sideways(start, view):
    start("-p", "model:=swerve")

    async def look() -> None:
        async with Look(view()) as looker:
            await first_frame(looker)
            await looker.until(lambda: len(looker.newest["layout"]["actuators"]) == 8, "the actuators")
            layout = looker.newest["layout"]
            assert (layout["steers"], layout["holonomic"]) == (False, True)
            assert [actuator["unit"] for actuator in layout["actuators"]] == ["m/s"] * 4 + ["rad"] * 4
            assert [wheel["steers"] for wheel in layout["outline"]["wheels"]] == layout["joints"][:4]

            def moves_sideways() -> bool:
                now = looker.frames[-1]
                return now[LATERAL_SPEED] > 0.45 and abs(now[SPEED]) < 0.05 and abs(now[YAW_RATE]) < 0.05

            await drive_until(looker, moves_sideways, "the lateral motion", v_y=0.5)

    asyncio.run(look())


LIDAR = ("-p", "sensors.lidar.type:={}", "-p", "sensors.lidar.xyz:=[0.3, 0.0, 0.4]")


@pytest.mark.parametrize("kind", ["rplidar_a2", pytest.param("velodyne_vlp16", marks=pytest.mark.slow)])
def test_a_page_sees_the_world_and_what_the_lidar_meets_where_it_stands(start, view, kind):
    """The points lie on the outlines, after a curve too, of a vehicle in a namespace, whatever its frame is called."""
    lidar = (argument.format(kind) for argument in LIDAR)
    start(*QUICK, "-r", "__ns:=/red", "-p", "world:=hall", "-p", "base_frame:=base_footprint", *lidar)
    scene = load_world(share("worlds", "hall.sdf"))

    async def look() -> None:
        async with Look(view("--namespace", "/red")) as looker:
            await looker.until(lambda: looker.newest.get("world", {}).get("polygons"), "a world")
            polygons = looker.newest["world"]["polygons"]
            assert len(polygons) == len(scene.visuals.things) + 1  # the ground is two triangles
            assert sum(polygon["edge"] for polygon in polygons) == len(scene.visuals.things) - 1
            await looker.until(lambda: looker.newest.get("points", {}).get("x"), "points")
            gone = lambda: looker.frames[-1][X] > 1.0  # noqa: E731
            await drive_until(looker, gone, "a metre", v_x=1.0, steering_angle=0.3)
            await looker.drive()
            await looker.until(lambda: abs(looker.frames[-1][SPEED]) < 1e-3, "standstill")
            corners = np.concatenate([polygon["corners"] for polygon in polygons if polygon["edge"]])

            def met() -> bool:
                """Scans from before it stood may still come."""
                points = np.column_stack([looker.newest["points"][axis] for axis in "xy"])
                gaps = [distance(np.array(polygon["corners"]), points) for polygon in polygons if polygon["edge"]]
                return bool(
                    100 < len(points) <= 1000
                    and (points > corners.min(axis=0) - 0.2).all()
                    and (points < corners.max(axis=0) + 0.2).all()
                    and (np.min(gaps, axis=0) < 0.1).mean() > 0.95
                )

            await looker.until(met, "points on the outlines")

    asyncio.run(look())


def test_the_points_of_a_lidar_go_with_it_and_another_lidar_is_found(start, view):
    async def look() -> None:
        async with Look(view()) as looker:
            points = lambda: looker.newest.get("points", {}).get("x")  # noqa: E731
            for kind in ("rplidar_a2", "velodyne_vlp16"):  # they send on different topics
                node = start(*QUICK, "-p", "world:=hall", *(argument.format(kind) for argument in LIDAR))
                await looker.until(points, f"points of {kind}")
                node.stop()
                await looker.until(lambda: not points(), "their end")

    asyncio.run(look())


@need_messages("ros_gz_interfaces")
def test_a_page_sees_what_the_vehicle_touches(start, view, tmp_path):
    """A box, until the vehicle backs away from it."""
    shape = "<geometry><box><size>1 4 2</size></box></geometry>"
    parts = "".join(f"<{kind} name='box'>{shape}</{kind}>" for kind in ("visual", "collision"))
    wall = f"<model name='wall'><static>true</static><pose>4 0 1 0 0 0</pose><link name='l'>{parts}</link></model>"
    file = tmp_path / "world.sdf"
    file.write_text(f"<sdf version='1.9'><world name='w'>{wall}</world></sdf>")
    start(*QUICK, "-p", f"world:={file}")

    async def look() -> None:
        async with Look(view()) as looker:
            await first_frame(looker)
            await looker.until(lambda: looker.newest.get("world", {}).get("polygons"), "a world")
            touches = lambda: looker.newest.get("contacts", {}).get("names")  # noqa: E731
            await drive_until(looker, touches, "a contact", v_x=1.5)
            touched = looker.newest["contacts"]
            assert set(touched["names"]) == {"wall"}
            assert touched["x"] == pytest.approx([3.5] * len(touched["x"]), abs=0.05)
            parts = lambda: looker.newest["contacts"]["names"] == []  # noqa: E731
            await drive_until(looker, parts, "the end of the contact", v_x=-1.5)

    asyncio.run(look())


def distance(polygon: Any, points: Any) -> Any:
    """Distances of points from the nearest side of a polygon [m]."""
    begin, side = polygon, np.roll(polygon, -1, axis=0) - polygon
    to = points[:, None] - begin
    along = np.clip((to * side).sum(axis=2) / (side * side).sum(axis=1), 0.0, 1.0)
    return np.linalg.norm(to - along[..., None] * side, axis=2).min(axis=1)


def test_frames_come_at_thirty_a_second_at_most_and_in_order(start, view):
    start("-p", "pub_rate:=200.0")

    async def look() -> None:
        async with Look(view()) as looker:
            await first_frame(looker)
            begin, count = time.monotonic(), len(looker.frames)
            await looker.until(lambda: len(looker.frames) >= count + 60, "60 frames")
            came, passed = len(looker.frames) - count, time.monotonic() - begin
            assert came <= 30 * passed + 2
            assert np.all(np.diff([frame[TIME] for frame in looker.frames]) > 0.0)

    asyncio.run(look())


def test_a_page_that_does_not_draw_gets_no_more_frames_and_then_the_newest(start, view):
    start()

    async def look() -> None:
        async with Look(view(), seeing=False) as looker:
            await looker.until(lambda: len(looker.frames) == 3, "three frames")
            await asyncio.sleep(1.5)
            assert len(looker.frames) == 3
            await looker.say("seen")
            await looker.until(lambda: len(looker.frames) == 4, "another frame")
            assert looker.frames[3][TIME] - looker.frames[2][TIME] > 1.0

    asyncio.run(look())


@pytest.mark.parametrize("how", ["silence", "the socket drops", "the server ends"])
def test_when_commands_cease_the_vehicle_is_stopped_and_none_was_repeated(start, view, probe, how):
    start("-p", "model:=differential")
    probe.listen(replace(topics.TWIST_REFERENCE, qos=QoS(depth=1000)))  # it is served at the end
    served = view()

    async def look() -> int:
        async with Look(served) as looker:
            await first_frame(looker)
            moves = lambda: looker.frames[-1][SPEED] > 0.1  # noqa: E731
            count = await drive_until(looker, moves, "motion", v_x=0.5, yaw_rate=0.25)
            if how == "silence":
                await looker.until(lambda: looker.frames[-1][REFERENCE_SPEED] == 0.0, "a command to stop")
            elif how == "the socket drops":
                looker.socket._response.connection.transport.abort()
            else:
                await asyncio.to_thread(served.program.stop)
            return count

    count = asyncio.run(look())
    received = probe.received[topics.TWIST_REFERENCE.name]
    probe.until(lambda: received and received[-1].linear.x == 0.0, "a command to stop")
    probe.until_quiet(topics.TWIST_REFERENCE)
    assert received[-1].linear.x == 0.0
    moving = [message for message in received if message.linear.x]
    assert 0 < len(moving) <= count
    assert {(message.linear.x, message.angular.z) for message in moving} == {(0.5, 0.25)}


def test_a_command_that_was_kept_back_on_the_way_does_not_drive(start, view):
    start()

    async def look() -> None:
        async with Look(view()) as looker:
            await first_frame(looker)
            await looker.drive()  # this one tells the page's clock
            await looker.drive(v_x=1.0, age=2.0)
            await looker.until(lambda: looker.refused, "a refusal")
            assert looker.refused[0].endswith("s late; it must come within 0.4 s")
            await looker.drive(v_x=0.5)
            await looker.until(lambda: looker.frames[-1][REFERENCE_SPEED] == 0.5, "the command")

    asyncio.run(look())


def test_one_page_drives_at_a_time(start, view):
    start()
    served = view()

    async def look() -> None:
        async with Look(served) as first, Look(served) as second:
            await first_frame(first)
            speeds = {first: 0.5, second: -0.5}
            while not first.refused and not second.refused:  # a command holds for a while only
                for page, speed in speeds.items():
                    await page.drive(v_x=speed)
                    await asyncio.sleep(0.05)
            drives, waits = (first, second) if second.refused else (second, first)
            assert set(waits.refused) == {"another page drives this vehicle; it must let go first"}
            commanded = lambda: drives.frames and drives.frames[-1][REFERENCE_SPEED] == speeds[drives]  # noqa: E731
            await drive_until(drives, commanded, "its command", v_x=speeds[drives])
            await drives.drive()
            waits.refused.clear()
            await drives.until(lambda: not drives.frames[-1][REFERENCE_SPEED], "the end of its command")
            commanded = lambda: waits.frames and waits.frames[-1][REFERENCE_SPEED] == speeds[waits]  # noqa: E731
            await drive_until(waits, commanded, "its command", v_x=speeds[waits])
            assert not waits.refused

    asyncio.run(look())


def test_parameters_are_shown_and_changed_and_the_node_says_why_not(start, view):
    start()
    name = "model_params.bicycle.drive_actuator.max_velocity"

    async def look() -> None:
        async with Look(view()) as looker:
            await first_frame(looker)
            await looker.until(lambda: looker.newest.get("values"), "parameters")
            table = {one["name"]: one for one in looker.newest["parameters"]["table"]}
            assert (table[name]["type"], table[name]["unit"], table[name]["read_only"]) == ("double", "m/s", False)
            assert table["model"]["read_only"]
            assert table["backend"]["choices"] == ["kinematic", "gazebo", "relay", "auto"]

            assert await looker.ask("set", name=name, value=0.25) == ""
            await looker.until(lambda: looker.newest["values"]["values"][name] == 0.25, "the new value")
            slow = lambda: all(frame[SPEED] == pytest.approx(0.25, abs=0.01) for frame in looker.frames[-10:])  # noqa: E731
            await drive_until(looker, slow, "the new maximum", v_x=1.0)

            for wrong, value, *reasons in (
                (name, -1.0, name, "-1"),  # the words are the node's, or those of rclpy before the node sees it
                (name, "fast", f"parameter '{name}' is 'fast'; it must be a number"),
                ("pub_rate", 5000, "parameter 'pub_rate' is 5000; it must be at most step_rate, 1000 [Hz]"),
                ("no_such", 1.0, "there is no parameter 'no_such'"),
                ("model", "omni", "read-only"),
            ):
                reason_given = await looker.ask("set", name=wrong, value=value)
                assert all(reason in reason_given for reason in reasons), reason_given
            assert looker.newest["values"]["values"][name] == 0.25

    asyncio.run(look())


def test_the_vehicle_is_held_goes_on_and_goes_back(start, view):
    start(*QUICK)

    async def look() -> None:
        async with Look(view()) as looker:
            await first_frame(looker)
            await looker.until(lambda: looker.newest["status"]["parameters"] == "", "the node's services")
            await drive_until(looker, lambda: looker.frames[-1][X] > 0.3, "motion", v_x=1.0)
            assert await looker.ask("pause", paused=True) == ""
            await looker.until(lambda: looker.newest["status"]["text"] == "paused", "the pause")
            await looker.until(lambda: looker.frames[-1][SPEED] == 0.0, "standstill")
            before = looker.frames[-1][X]
            assert await looker.ask("pause", paused=False) == ""
            await drive_until(looker, lambda: looker.frames[-1][X] > before + 0.1, "motion again", v_x=1.0)
            await looker.drive()
            assert await looker.ask("reset") == ""
            await looker.until(lambda: abs(looker.frames[-1][X]) < 0.05, "the start")

    asyncio.run(look())


def test_the_vehicle_may_come_later_go_and_come_back_as_another(start, view):
    async def look() -> None:
        async with Look(view()) as looker:
            await looker.until(lambda: "status" in looker.newest, "a status")
            assert not looker.newest["status"]["alive"]
            assert "offers no services here" in looker.newest["status"]["parameters"]
            assert "no one offers the service '/sim_node/reset'" in await looker.ask("reset")
            node = start("-p", "model:=omni")
            await first_frame(looker)
            await looker.until(lambda: looker.newest.get("values"), "parameters")
            assert looker.newest["values"]["values"]["model"] == "omni"
            node.stop()
            await looker.until(lambda: not looker.newest["status"]["alive"], "silence")
            looker.frames.clear()
            start("-p", "model:=differential")
            await looker.until(lambda: len(looker.newest["layout"]["joints"]) == 2, "another layout")
            await looker.until(lambda: looker.newest["values"]["values"]["model"] == "differential", "its parameters")
            await looker.until(lambda: looker.frames and len(looker.frames[-1]) == FIRST + 2 + 4, "its frames")

    asyncio.run(look())


def test_each_of_several_vehicles_has_a_page(start, view):
    start("-r", "__ns:=/red", "-p", "model:=differential")
    start("-r", "__ns:=/blue", "-p", "model:=omni")
    served = view("--namespace", "/red", "--namespace", "/blue")

    async def look() -> None:
        async with Look(served, query="?vehicle=/red") as red, Look(served, query="?vehicle=/blue") as blue:
            await first_frame(red)
            await first_frame(blue)
            assert red.newest["hello"]["vehicles"] == ["/red", "/blue"]
            assert (len(red.newest["layout"]["joints"]), len(blue.newest["layout"]["joints"])) == (2, 4)
            await red.until(lambda: red.newest.get("values"), "parameters")
            assert red.newest["values"]["values"]["model"] == "differential"
            await drive_until(red, lambda: red.frames[-1][X] > 0.1, "motion", v_x=0.5)
            assert blue.frames[-1][X] == 0.0
            await red.until(lambda: red.newest["status"]["text"] == "driving", "its own diagnostics")
            await blue.until(lambda: blue.newest["status"]["text"] == "no command yet", "its own diagnostics")

    asyncio.run(look())


def test_the_page_sees_commands_of_others(start, view, probe):
    start("-p", "model:=omni")
    served = view()

    async def look() -> Any:
        async with Look(served) as looker:
            await first_frame(looker)

            def fill(message: Any) -> None:
                message.linear.x = 0.75

            seen = lambda: looker.frames[-1][REFERENCE_SPEED] == 0.75  # noqa: E731
            await asyncio.to_thread(probe.hold, topics.TWIST_REFERENCE, fill, seen, "the command")
            await looker.until(lambda: math.isnan(looker.frames[-1][REFERENCE_SPEED]), "the end of the command")

    asyncio.run(look())
