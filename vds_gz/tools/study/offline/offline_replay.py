"""Replays a command log with a model, offline: the live node's result, as fast as it can be computed.

Vehicle, world and time are those of the live node: a command acts from the first step that begins after its arrival,
and when commands time out, zero is commanded. So the same commands at the same times give the same motion to the last
bit. Commands and samples are processed in blocks, so a log may have any length.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from vds_gz.core.description.urdf_writer import urdf
from vds_gz.core.errors import RecordingError
from vds_gz.core.optional_packages import can_compile
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.plant.in_world import WorldPlant, plant_in_world
from vds_gz.core.sensing.estimate import StateEstimator
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.make_vehicle import make_vehicle
from vds_gz.core.vehicle.vehicle import NANOSECONDS, AnyVehicle, Motion, motion_of
from vds_gz.core.vehicle.vehicle_model import AnyModel, JointStates, MeasuredMotion
from vds_gz.core.world.load_world import load_world
from vds_gz.core.world.obstacles import Contact
from vds_gz.core.world.surroundings import Surroundings, obstacles_of
from vds_gz.programs.commandlog.command_log import CommandStream
from vds_gz.programs.interface.commands import CommandType, Values
from vds_gz.programs.interface.model_reports import report_numbers, reports_of
from vds_gz.programs.interface.outputs import Snapshot
from vds_gz.tools.study.progress import Advance
from vds_gz.tools.study.recording import Touch, TouchLog

#: Time of the first command [ns]: a reference clock begins there.
BEGIN = NANOSECONDS

#: Number of samples of a block: so few that their states, with long delay lines, stay in the processor's cache.
BLOCK = 100


#: Joint states for callers that do not need them.
NO_JOINTS = JointStates((), ())


@dataclass(frozen=True, slots=True)
class ReplayBlock:
    """A part of a replay: samples, and the commands up to the last sample with their times [ns].

    ``contacts`` has the contacts at each sample, which are empty without a world.
    """

    samples: Sequence[Snapshot]
    contacts: Sequence[tuple[Contact, ...]]
    command_times: Sequence[int]
    commands: Sequence[Values]


class Replay:
    """A vehicle that follows a command log.

    Attributes:
        model: The vehicle's model.
        actuators: The vehicle's actuators.
        vehicle: The vehicle.
        compiled: Whether its steps are compiled.
        in_world: Whether it is in a world, which the parameters name. Then its steps are not compiled.
        reports: The reports of the model in the samples.
    """

    def __init__(
        self,
        log: CommandStream,
        parameters: NodeParameters,
        *,
        rate: float | None = None,
        tail: float = 1.0,
        compiled: bool = True,
        with_joints: bool = True,
    ) -> None:
        """Put the vehicle at rest at the origin."""
        self.model = models()[parameters.model]
        self.actuators = self.model.actuators_of(parameters.vehicle)
        if log.type.kind not in self.model.accepts:
            raise RecordingError(f"the model '{self.model.name}' does not take commands of the kind '{log.type.name}'")
        self._plant = _plant_of(parameters, self.model) if parameters.world else None
        self.in_world = self._plant is not None
        self.compiled = compiled and not self.in_world and can_compile()
        if self._plant is None:
            self.vehicle: AnyVehicle = make_vehicle(parameters, compiled=self.compiled, start=BEGIN)
        else:
            self.vehicle = self._plant.vehicle
        self._touched = TouchLog()
        self._log = log
        self._rate = rate or parameters.pub_rate
        self._tail = round(tail * NANOSECONDS)
        self._with_joints = with_joints
        self.reports = reports_of(self.model, parameters.vehicle, parameters.actuation_messages)
        measures = self.model.measured_steering is not None
        estimator = StateEstimator(
            parameters.localization if parameters.simulate_localization else None,
            parameters.measurement_noise if measures else None,
        )
        self._estimator = estimator if measures or not estimator.exact else None

    @property
    def command_type(self) -> CommandType:
        """Type of the commands."""
        return self._log.type

    @property
    def touches(self) -> tuple[Touch, ...]:
        """Touches so far; times are since the first command [s]."""
        return self._touched.touches

    def warm_up(self) -> None:
        """Compile now, not during the replay."""
        for _ in self.vehicle.sample([BEGIN]):
            pass

    def blocks(self) -> Iterator[ReplayBlock]:
        """Replay the log."""
        kind = self._log.type
        entries = ((BEGIN + round(time * NANOSECONDS), kind.as_sent(command)) for time, command in self._log.entries)
        pending: tuple[int, Values] | None = next(entries)
        last, end, count = BEGIN, None, 0
        while end is None:
            # Each time is computed from the first one, so times do not drift.
            times = [BEGIN + round(k * NANOSECONDS / self._rate) for k in range(count, count + BLOCK)]
            taken: list[tuple[int, Values]] = []
            while pending is not None and pending[0] <= times[-1]:
                self._enter(*pending)
                taken.append(pending)
                last = pending[0]
                pending = next(entries, None)
            if pending is None and last + self._tail < times[-1]:
                end = last + self._tail
                times = [time for time in times if time <= end]
            count += len(times)
            samples, contacts = [], []
            for time, state in zip(times, self._states(times), strict=True):
                samples.append(self._sample(time, state))
                contacts.append(self._contacts(time))
            yield ReplayBlock(samples, contacts, [time for time, _ in taken], [command for _, command in taken])

    def _states(self, times: Sequence[int]) -> Iterator[Any]:
        """Advance to each of these times [ns] and return the states."""
        if self._plant is None:
            yield from self.vehicle.sample(times)
            return
        for time in times:
            self._plant.advance(time)
            yield self.vehicle.state

    def _contacts(self, time: int) -> tuple[Contact, ...]:
        """The contacts now, at a time [ns]."""
        contacts = self._plant.contacts if self._plant else ()
        self._touched.note((time - BEGIN) * 1e-9, ((contact.thing.name, *contact.point[:2]) for contact in contacts))
        return contacts

    def _enter(self, time: int, values: Values) -> None:
        try:
            self.vehicle.enter(values.command(), time)
        except ValueError as error:
            raise RecordingError(f"command at {(time - BEGIN) * 1e-9:.3f} s: {error}") from None

    def _sample(self, time: int, state: Any) -> Snapshot:
        c, model = self.vehicle.coefficients, self.model
        motion, estimate = motion_of(c, state), None
        speed = motion.v_x
        angle = model.measured_steering(c, state) if model.measured_steering is not None else 0.0
        if self._estimator is not None:
            estimate = self._estimator.update(time, motion.pose, speed, angle, 1.0 / self._rate)
            speed, angle = estimate.speed, estimate.steering
        reports = report_numbers(self.reports, c, state, MeasuredMotion(speed, angle, state.yaw_rate))
        joints = model.joint_states(c, state) if self._with_joints else NO_JOINTS
        actuators = model.actuator_states(c, state)
        attitude = self._plant.attitude(time) if self._plant else None
        return Snapshot(time, motion, estimate, joints, actuators, reports, attitude)


def _plant_of(parameters: NodeParameters, model: AnyModel) -> WorldPlant:
    """The vehicle in its world, with the obstacles that move on paths."""
    surroundings = Surroundings(load_world(parameters.world).interpreted(), obstacles_of(parameters.moving_obstacles))
    description = urdf(model.name, parameters.vehicle, model.xacro, parameters.sensors)
    return plant_in_world(parameters, description, surroundings, start=BEGIN)


def write_csv(replay: Replay, path: Path, parameters: NodeParameters, advance: Advance) -> int:
    """Write a replay as a table; return its number of rows.

    Columns: time [s], pose and velocity of base_link in SI units, reference and state of each actuator.
    """
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(",".join(csv_columns(replay)) + "\n")
        for block in replay.blocks():
            count += len(block.samples)
            file.writelines(",".join(map(repr, row)) + "\n" for row in csv_rows(replay, block.samples))
            advance(len(block.samples))
    return count


def csv_columns(replay: Replay) -> list[str]:
    """Names of the columns of a table."""
    motion = [field.name for field in dataclasses.fields(Motion)]
    actuators = chain.from_iterable(
        (f"{actuator.name}_reference", f"{actuator.name}_actual") for actuator in replay.actuators
    )
    return ["time", *motion, *actuators]


def csv_rows(replay: Replay, samples: Iterable[Snapshot]) -> Iterator[list[float]]:
    """Rows of a table."""
    steers = [actuator.kind == "steering" for actuator in replay.actuators]
    for sample in samples:
        m = sample.motion
        row = [(sample.time - BEGIN) * 1e-9, m.x, m.y, m.heading, m.v_x, m.v_y, m.yaw_rate]
        for is_angle, actuator in zip(steers, sample.actuators, strict=True):
            if is_angle:
                row += (actuator.reference_position, actuator.position)
            else:
                row += (actuator.reference_velocity, actuator.velocity)
        yield row
