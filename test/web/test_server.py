"""The page's server with a real vehicle behind it."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Any

import numpy as np
import pytest
from helpers.pages import Look, Looker

from vds_gz.interface import topics
from vds_gz.share import share
from vds_gz.world.load import load_world

FIRST = 10  # numbers before the joints
TIME, X, SPEED, YAW_RATE, REFERENCE_SPEED, REFERENCE_YAW_RATE = 0, 1, 4, 6, 7, 9
QUICK = ("-p", "model_params.bicycle.drive_actuator.dead_time:=0.0", "-p", "model:=bicycle")


async def first_frame(looker: Looker) -> Any:
    await looker.until(lambda: looker.newest.get("layout", {}).get("outline") and looker.frames, "a frame")
    await looker.until(lambda: len(looker.frames[-1]) == length(looker.newest["layout"]), "a frame of this layout")
    return looker.frames[-1]


def length(layout: Any) -> int:
    return len(layout["columns"]) + len(layout["joints"]) + 2 * len(layout["actuators"])


async def drive_for(looker: Looker, seconds: float, **wanted: float) -> int:
    """Drive as a page does; how many commands were sent."""
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        await looker.drive(**wanted)
        count += 1
        await asyncio.sleep(0.05)
    return count


def test_a_page_sees_the_vehicle_and_drives_it(start, view):
    start(*QUICK)

    async def look() -> None:
        async with Look(view()) as looker:
            before = await first_frame(looker)
            layout = looker.newest["layout"]
            assert layout["joints"][:2] == ["steering_left", "steering_right"]
            assert [one["name"] for one in layout["actuators"]] == ["drive", "steering"]
            assert len(layout["outline"]["wheels"]) == 4
            assert math.isnan(before[REFERENCE_SPEED])
            await looker.until(lambda: looker.newest["status"]["values"], "diagnostics")
            assert ["command publishers", "0"] in looker.newest["status"]["values"]  # who only looks is no driver
            await drive_for(looker, 3.0, v_x=1.0, steering_angle=0.3)
            now = looker.frames[-1]
            assert now[X] > before[X] + 0.5
            assert now[SPEED] == pytest.approx(1.0, abs=0.1)
            assert now[REFERENCE_SPEED] == 1.0
            wheel_base = 1.6
            assert now[REFERENCE_YAW_RATE] == pytest.approx(math.tan(0.3) / wheel_base, rel=1e-6)
            assert now[YAW_RATE] == pytest.approx(now[REFERENCE_YAW_RATE], rel=0.1)
            assert 0.0 < now[FIRST + 1] < now[FIRST]  # in a left turn the left wheel is turned farther
            drive, steering = now[FIRST + len(layout["joints"]) :].reshape(2, 2).T
            assert list(drive) == pytest.approx([1.0, 1.0], abs=0.1)
            assert list(steering) == pytest.approx([0.3, 0.3], abs=0.01)
            await looker.until(lambda: looker.newest["status"]["text"] == "driving", "diagnostics")

    asyncio.run(look())


LIDAR = ("-p", "sensors.lidar.type:={}", "-p", "sensors.lidar.xyz:=[0.3, 0.0, 0.4]")


@pytest.mark.parametrize("kind", ["rplidar_a2", "velodyne_vlp16"])
def test_a_page_sees_the_world_and_what_the_lidar_meets_where_it_stands(start, view, kind):
    """The points lie on the outlines, after a curve too, of a vehicle in a namespace."""
    lidar = (one.format(kind) for one in LIDAR)
    start(*QUICK, "-r", "__ns:=/red", "-p", "world:=hall", *lidar)
    scene = load_world(share("worlds", "hall.sdf"))

    async def look() -> None:
        async with Look(view("--namespace", "/red")) as looker:
            await looker.until(lambda: looker.newest.get("world", {}).get("polygons"), "a world")
            polygons = looker.newest["world"]["polygons"]
            assert len(polygons) == len(scene.visuals.things) + 1  # the ground is two triangles
            assert sum(one["edge"] for one in polygons) == len(scene.visuals.things) - 1
            await looker.until(lambda: looker.newest.get("points", {}).get("x"), "points")
            await drive_for(looker, 2.0, v_x=1.0, steering_angle=0.3)
            await asyncio.sleep(1.5)
            looker.newest.pop("points")
            await looker.until(lambda: looker.newest.get("points", {}).get("x"), "points")
            points = np.column_stack([looker.newest["points"][axis] for axis in "xy"])
            assert 100 < len(points) <= 1000
            corners = np.concatenate([one["corners"] for one in polygons if one["edge"]])
            assert (points > corners.min(axis=0) - 0.2).all()
            assert (points < corners.max(axis=0) + 0.2).all()
            gaps = [distance(np.array(one["corners"]), points) for one in polygons if one["edge"]]
            assert (np.min(gaps, axis=0) < 0.1).mean() > 0.95

    asyncio.run(look())


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
            await drive_for(looker, 4.0, v_x=1.5)
            touched = looker.newest["contacts"]
            assert set(touched["names"]) == {"wall"}
            assert touched["x"] == pytest.approx([3.5] * len(touched["x"]), abs=0.05)
            await drive_for(looker, 2.0, v_x=-1.5)
            await looker.until(lambda: looker.newest["contacts"]["names"] == [], "the end of the contact")

    asyncio.run(look())


def distance(polygon: Any, points: Any) -> Any:
    """How far points are from the nearest side of a polygon [m]."""
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
            await asyncio.sleep(3.0)
            came, passed = len(looker.frames) - count, time.monotonic() - begin
            assert 15 < came <= 30 * passed + 2
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
            assert looker.frames[3][TIME] - looker.frames[2][TIME] > 1.4

    asyncio.run(look())


@pytest.mark.parametrize("how", ["silence", "the socket drops", "the server ends"])
def test_when_commands_cease_the_vehicle_is_stopped_and_none_was_repeated(start, view, probe, how):
    start("-p", "model:=differential")
    probe.listen(topics.TWIST_REFERENCE)
    served = view()

    async def look() -> int:
        async with Look(served) as looker:
            await first_frame(looker)
            count = await drive_for(looker, 1.0, v_x=0.5, yaw_rate=0.25)
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
    moving = [message for message in received if message.linear.x]
    assert 0 < len(moving) <= count
    assert {(message.linear.x, message.angular.z) for message in moving} == {(0.5, 0.25)}
    assert not any(message.linear.x for message in received[len(moving) :])


def test_one_page_drives_at_a_time(start, view):
    start()
    served = view()

    async def look() -> None:
        async with Look(served) as first, Look(served) as second:
            await first_frame(first)
            await first.drive(v_x=0.5)
            await second.drive(v_x=-0.5)
            await second.until(lambda: second.refused, "a refusal")
            assert second.refused == ["another page drives this vehicle; it must let go first"]
            await first.drive()
            second.refused.clear()
            await asyncio.sleep(0.1)
            await second.drive(v_x=-0.5)
            await second.until(lambda: second.frames and second.frames[-1][REFERENCE_SPEED] == -0.5, "its command")
            assert not second.refused

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
            assert table["backend"]["choices"] == ["kinematic", "gazebo", "auto"]

            assert await looker.ask("set", name=name, value=0.25) == ""
            await looker.until(lambda: looker.newest["values"]["values"][name] == 0.25, "the new value")
            await drive_for(looker, 2.5, v_x=1.0)
            assert looker.frames[-1][SPEED] == pytest.approx(0.25, abs=0.01)

            for wrong, value, *reasons in (
                (name, -1.0, name, "-1"),  # the words are the node's, or those of rclpy before the node sees it
                (name, "fast", f"parameter '{name}' is 'fast'; it must be a double"),
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
            await drive_for(looker, 1.5, v_x=1.0)
            assert looker.frames[-1][X] > 0.3
            assert await looker.ask("pause", paused=True) == ""
            await looker.until(lambda: looker.newest["status"]["text"] == "paused", "the pause")
            assert looker.frames[-1][SPEED] == 0.0
            assert await looker.ask("pause", paused=False) == ""
            await looker.drive()
            await asyncio.sleep(2.5)
            assert await looker.ask("reset") == ""
            await looker.until(lambda: abs(looker.frames[-1][X]) < 0.05, "the start")

    asyncio.run(look())


def test_the_vehicle_may_come_later_go_and_come_back_as_another(start, view):
    async def look() -> None:
        async with Look(view()) as looker:
            await looker.until(lambda: "status" in looker.newest, "a status")
            assert not looker.newest["status"]["alive"]
            assert "offers no services here" in looker.newest["status"]["parameters"]
            assert "nobody offers the service '/sim_node/reset'" in await looker.ask("reset")
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
            await drive_for(red, 2.0, v_x=0.5)
            assert red.frames[-1][X] > 0.1
            assert blue.frames[-1][X] == 0.0
            await red.until(lambda: red.newest["status"]["text"] == "driving", "its own diagnostics")
            assert blue.newest["status"]["text"] == "no command yet"

    asyncio.run(look())


def test_the_page_sees_commands_of_others(start, view, probe):
    start("-p", "model:=omni")
    served = view()

    async def look() -> Any:
        async with Look(served) as looker:
            await first_frame(looker)

            def send() -> None:
                def fill(message: Any) -> None:
                    message.linear.x = 0.75

                probe.send(topics.TWIST_REFERENCE, fill, seconds=1.0)

            await asyncio.to_thread(send)
            assert looker.frames[-1][REFERENCE_SPEED] == 0.75
            await looker.until(lambda: math.isnan(looker.frames[-1][REFERENCE_SPEED]), "the end of the command")

    asyncio.run(look())
