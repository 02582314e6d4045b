"""Sensors measure at their own rates, in simulated time, with as much of the body's past motion as they need."""

import time

import numpy as np
import pytest

from vds_gz import load_vehicle, twist
from vds_gz.core.optional_packages import can_compile
from vds_gz.core.plant.kinematic import KinematicPlant
from vds_gz.core.vehicle.command import NEVER
from vds_gz.core.world.load_world import load_world, world_file
from vds_gz.programs.nodes.simulated_sensors import SHORT, Casting, Sensors

SECOND = 10**9


class Diary:
    """A sensor that records the arguments of its measurements."""

    def __init__(self, rate, span=0, subscribed=True, rays=0):
        self.rate, self.rays, self.span, self.subscribed = rate, rays, span, subscribed
        self.entries = []

    def measure(self, states, scene):
        self.entries.append(([state.time for state in states], states[-1], scene))


def run(sensors, plant, seconds, begin=0, held=False):
    """Serve every instant, and those of an output at 50 Hz."""
    moment, period = begin, SECOND // 50
    while moment <= begin + seconds * SECOND:
        plant.advance(moment)
        sensors.serve(moment, held=held)
        moment = int(min(sensors.next, (moment // period + 1) * period))


def moving_plant():
    vehicle = load_vehicle("forklift")
    vehicle.enter(twist(1.0, 0.0, 0.0), time=0)
    return KinematicPlant(vehicle)


def test_each_sensor_measures_at_whole_periods_of_its_own_rate():
    fast, slow = Diary(40.0), Diary(3.0)
    sensors = Sensors([fast, slow], moving_plant(), lambda time: None)
    sensors.begin(SECOND // 10)
    assert sensors.next == SECOND // 10
    run(sensors, sensors._plant, 1, SECOND // 10)
    assert [entry[0][-1] for entry in fast.entries] == [k * 25_000_000 for k in range(4, 45)]
    assert [entry[0][-1] for entry in slow.entries] == [333333333, 666666667, SECOND]


def test_states_reach_back_by_the_longest_span():
    turning, instant = Diary(10.0, span=SECOND // 10), Diary(10.0)
    sensors = Sensors([turning, instant], moving_plant(), lambda time: None)
    sensors.begin(0)
    run(sensors, sensors._plant, 1)
    times = turning.entries[5][0]
    assert times == [400_000_000 + k * 20_000_000 for k in range(6)]
    assert turning.entries[5][1].velocity[0] > 0.1


def test_a_held_body_is_measured_at_rest():
    diary, plant = Diary(10.0), moving_plant()
    sensors = Sensors([diary], plant, lambda time: None)
    sensors.begin(0)
    run(sensors, plant, 1)
    run(sensors, plant, 1, begin=11 * SECOND // 10, held=True)
    assert diary.entries[-1][1].velocity == (0.0, 0.0, 0.0)
    assert diary.entries[-1][1].pose.position == plant.body(0).pose.position


def test_a_sensor_that_needs_joints_gets_them_also_of_a_held_body():
    diary, plant = Diary(10.0), moving_plant()
    sensors = Sensors([diary], plant, lambda time: None, joints=True)
    sensors.begin(0)
    run(sensors, plant, 1)
    joints = plant.joint_states(0)
    assert diary.entries[-1][1].joints == joints
    assert max(joints.positions) > 0.1
    run(sensors, plant, 1, begin=11 * SECOND // 10, held=True)
    held = diary.entries[-1][1].joints
    assert held.positions == plant.joint_states(0).positions
    assert max(map(abs, held.velocities)) == 0.0


def test_a_sensor_that_needs_no_joints_gets_none():
    diary = Diary(10.0)
    sensors = Sensors([diary], moving_plant(), lambda time: None)
    sensors.begin(0)
    run(sensors, sensors._plant, 1)
    assert diary.entries[-1][1].joints is None


def test_measurements_wait_until_the_plant_has_observed_their_time():
    class Late(KinematicPlant):
        """A plant that is observed 0.25 s late, as one in another process is."""

        newest = 0

        def seen(self, time):
            return time <= self.newest

    diary, plant = Diary(10.0), Late(load_vehicle("forklift"))
    sensors = Sensors([diary], plant, lambda time: None)
    sensors.begin(0)
    for moment in range(0, SECOND, SECOND // 10):
        plant.newest = moment - SECOND // 4
        sensors.serve(moment, held=False)
        assert [entry[0][-1] for entry in diary.entries] == [*range(0, max(0, moment - SECOND // 4 + 1), SECOND // 10)]
    plant.newest = SECOND
    sensors.measure()
    assert [entry[0][-1] for entry in diary.entries] == [*range(0, SECOND, SECOND // 10)]
    sensors.serve(SECOND, held=False)
    sensors.begin(0)
    assert sensors.next == 0


def test_sensors_without_subscribers_can_wait_and_need_no_scene():
    silent = Diary(10.0, subscribed=False)
    scenes = []
    sensors = Sensors([silent], moving_plant(), lambda time: scenes.append(time))
    sensors.begin(0)
    assert sensors.next == 0
    assert sensors.next_subscribed == NEVER
    run(sensors, sensors._plant, 1)
    assert len(silent.entries) == 11
    assert scenes == []


def test_overdue_measurements_are_left_out():
    diary = Diary(10.0)
    sensors = Sensors([diary], moving_plant(), lambda time: None)
    sensors.begin(0)
    sensors.skip(5 * SECOND + 1)
    assert sensors.next == 5 * SECOND


def test_slow_ray_casting_is_limited_to_a_part_of_the_time():
    class Slow(Diary):
        def measure(self, states, scene):
            super().measure(states, scene)
            time.sleep(0.05)

    slow, free = Slow(100.0, rays=1), Diary(100.0)
    cheap = []
    sensors = Sensors([slow, free], moving_plant(), lambda time: None, lambda: bool(cheap))
    sensors.begin(0)
    begin = time.monotonic()
    run(sensors, sensors._plant, 1)
    assert len(free.entries) == 101
    # Each takes 0.05 s, and 0.2 s of rest follow.
    assert len(slow.entries) <= 1 + (time.monotonic() - begin) / 0.25
    cheap.append(True)
    slow.entries.clear()
    run(sensors, sensors._plant, 0.1, begin=SECOND)
    assert len(slow.entries) >= 10


def test_large_measurements_wait_for_compiled_loops():
    large, small, ready = Diary(10.0, rays=SHORT + 1), Diary(10.0, rays=SHORT), []
    sensors = Sensors([large, small], moving_plant(), lambda time: None, lambda: bool(ready))
    sensors.begin(0)
    run(sensors, sensors._plant, 0.5)
    assert small.entries
    assert not large.entries
    ready.append(True)
    run(sensors, sensors._plant, 0.5, begin=SECOND // 2)
    assert large.entries


@pytest.mark.skipif(not can_compile(), reason="numba is not installed or switched off")
@pytest.mark.parametrize("wait", [True, False])
def test_many_rays_are_cast_at_once_and_later_by_compiled_loops(wait):
    scene = load_world(world_file("hall"))
    casting = Casting(scene, 1e6, wait=wait)
    rays = np.eye(3)
    first = casting.scene.visuals.cast(np.array((0.0, 0.0, 1.0)), rays)[0]
    deadline = time.monotonic() + 60.0
    while not casting.ready and time.monotonic() < deadline:
        time.sleep(0.01)
    assert casting.ready
    assert casting.scene is scene
    assert (casting.scene.visuals.cast(np.array((0.0, 0.0, 1.0)), rays)[0] == first).all()


def test_a_few_rays_are_cast_by_python():
    casting = Casting(load_world(world_file("hall")), 1810.0, wait=False)
    assert casting.ready
    assert not casting.scene.visuals.compiled
    assert casting.scene.visuals._tree.built  # before the first ray
