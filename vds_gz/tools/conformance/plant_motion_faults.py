"""Faults of a plant's motion: velocities, accelerations, and how the body follows the actuators."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from vds_gz.core.vehicle.vehicle import NANOSECONDS, Motion
from vds_gz.tools.conformance.plant_bench import Bench, Sample, advance, advance_by, enter, sample

#: Tolerances of poses and velocities that must be exact but for rounding and contacts [m, rad, m/s, rad/s].
PLACE, REST = 2e-3, 2e-2

#: Part by which a velocity may differ from the change of its position, and a speed from that of the actuators.
RATE, FOLLOWS = 0.05, 0.3


def velocity_faults(bench: Bench) -> Iterator[str]:
    """Velocities that are not the change of the pose, or of the joints' positions."""
    with bench.plant() as plant:
        for turn in (0.0, 1.0, -1.0):
            enter(plant, turn)
            advance_by(plant, 1.0)
            period = 0.005
            samples = [sample(plant), *advance_by(plant, 0.5, period)]
            yield from _unlike_changes(samples, 0.5)
            names = [joint.name for joint in plant.vehicle.model.joints(plant.vehicle.parameters)]
            for k, name in enumerate(names):
                change = samples[-1].joints.positions[k] - samples[0].joints.positions[k]
                integral = _mean([item.joints.velocities[k] for item in samples]) * 0.5
                if abs(change - integral) > RATE * abs(integral) + 0.01:
                    yield (
                        f"joint '{name}' moves by {change:.4g} rad in 0.5 s, its velocities give {integral:.4g} rad; "
                        "expected equal: positions in rad that count full turns, velocities in rad/s"
                    )
                    return


def _unlike_changes(samples: Sequence[Sample], seconds: float) -> Iterator[str]:
    """Velocities of base_link that are not the change of its pose, in its own axes."""
    motions = [item.motion for item in samples]
    middle = [_halfway(*pair) for pair in pairwise(motions)]
    period = seconds / len(middle)
    integral = tuple(period * sum(column) for column in zip(*middle, strict=True))
    first, last = motions[0], motions[-1]
    turned = math.remainder(last.heading - first.heading, math.tau)
    for name, change, expected, unit in (
        ("x", last.x - first.x, integral[0], "m"),
        ("y", last.y - first.y, integral[1], "m"),
        ("heading", turned, math.remainder(integral[2], math.tau), "rad"),
    ):
        if abs(change - expected) > RATE * math.hypot(integral[0], integral[1]) + PLACE:
            yield (
                f"{name} changes by {change:.4g} {unit} in {seconds:g} s and the velocities of motion() give "
                f"{expected:.4g} {unit}; expected equal: velocities in base_link's own axes, in m/s and rad/s"
            )
            return


def _halfway(a: Motion, b: Motion) -> tuple[float, float, float]:
    """Mean velocity between two motions, in the world's axes."""
    heading = a.heading + 0.5 * math.remainder(b.heading - a.heading, math.tau)
    v_x, v_y = 0.5 * (a.v_x + b.v_x), 0.5 * (a.v_y + b.v_y)
    sine, cosine = math.sin(heading), math.cos(heading)
    return v_x * cosine - v_y * sine, v_x * sine + v_y * cosine, 0.5 * (a.yaw_rate + b.yaw_rate)


def actuator_faults(bench: Bench) -> Iterator[str]:
    """A body that moves before its actuators, or not as they command."""
    with bench.plant() as plant:
        vehicle = plant.vehicle
        enter(plant)
        for _ in range(500):
            (item,) = advance_by(plant, 0.001)
            if any(vehicle.model.joint_states(vehicle.coefficients, vehicle.state).velocities):
                break
            if abs(item.motion.v_x) > REST:
                yield (
                    f"the body moves at {item.motion.v_x:.3g} m/s while all joints of the actuators stand; expected "
                    "that it moves as vehicle.model.joint_states(vehicle.coefficients, vehicle.state) says"
                )
                return
        enter(plant, 1.0)
        advance_by(plant, 3.0)
        motion, commanded = sample(plant).motion, vehicle.motion()
        for name, unit in (("v_x", "m/s"), ("yaw_rate", "rad/s")):
            speed, expected = getattr(motion, name), getattr(commanded, name)
            if abs(speed - expected) > FOLLOWS * abs(expected):
                yield (
                    f"motion().{name} is {speed:.3g} {unit} and the actuators command {expected:.3g} {unit}; expected "
                    "that the body follows them"
                )


def body_faults(bench: Bench) -> Iterator[str]:
    """A state of the body that is not that of the motion, and accelerations that are not those of its velocity."""
    with bench.plant() as plant:
        enter(plant, 1.0)
        advance_by(plant, 0.3)
        period = 0.002
        times = [plant.vehicle.time + round(k * period * NANOSECONDS) for k in range(1, 101)]
        bodies = []
        for time in times:
            advance(plant, time)
            bodies.append(plant.body(time))
        body, last = bodies[-1], sample(plant, times[-1])
        if body.time != times[-1]:
            yield f"body().time is {body.time}; expected the time that was asked for, {times[-1]} ns"
        x, y, z = body.pose.position
        height = last.attitude.z if last.attitude is not None else 0.0
        if math.dist((x, y, z), (last.motion.x, last.motion.y, height)) > 1e-6:
            yield (
                f"body().pose is at ({x:.4g}, {y:.4g}, {z:.4g}) m; expected that of motion() and attitude(), "
                f"({last.motion.x:.4g}, {last.motion.y:.4g}, {height:.4g}) m"
            )
        for axis in range(3):
            change = body.velocity[axis] - bodies[0].velocity[axis]
            integral = period * sum(item.acceleration[axis] for item in bodies[1:])
            if abs(change - integral) > 0.1 * abs(change) + 0.05:
                yield (
                    f"body().velocity changes by {change:.3g} m/s along {'xyz'[axis]} and body().acceleration gives "
                    f"{integral:.3g} m/s; expected equal: both in the world's axes, without gravity"
                )
                return


def _mean(values: Sequence[float]) -> float:
    """The mean by the trapezoidal rule."""
    return (sum(values) - 0.5 * (values[0] + values[-1])) / (len(values) - 1)
