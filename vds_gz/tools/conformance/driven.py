"""Faults in the motion of a vehicle model: engines that disagree, jumps, drifts, states that are not finite."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.vehicle.command import TWIST, Command, SteadyMotion
from vds_gz.core.vehicle.compiled import ROOM, CompiledVehicle
from vds_gz.core.vehicle.vehicle import NANOSECONDS
from vds_gz.core.vehicle.vehicle_model import AnyModel
from vds_gz.tools.conformance.groups import with_values
from vds_gz.tools.conformance.samples import (
    dead_times,
    longer_dead_time,
    random_commands,
    random_parameters,
)
from vds_gz.tools.fleet.lanes import Lanes
from vds_gz.tools.fleet.layout import fields_in, list_lengths, values_at
from vds_gz.tools.fleet.structs import Structs

#: Length of a step [s].
DT = 1e-3

#: Numbers of vehicles (the first has the default parameters), of commands of a vehicle, and of steps of a command.
VEHICLES, COMMANDS, STEPS = 4, 6, 80

#: Number of steps for which a steady motion is held, and its maximum drift, as a part of it.
HELD, DRIFT = 400, 1e-2

#: Maximum factor between parameters and defaults in a steady motion: a controlled vehicle is unstable with some gains.
SPREAD = 1.1

DrivenRuns = list[tuple[ParameterGroup, list[Command]]]


def runs_of(model: AnyModel, random: np.random.Generator) -> DrivenRuns:
    """Random parameters, each with random commands; the first ones are the defaults."""
    samples = [model.parameters(), *(random_parameters(model, random) for _ in range(VEHICLES - 1))]
    return [(p, random_commands(model, p, COMMANDS, random)) for p in samples]


def numbers_of(state: object) -> dict[str, object]:
    """The numbers of a state by dotted names, without delay lines."""
    paths = [field.path for field in fields_in(state)]
    return dict(zip(paths, values_at(*paths)(state), strict=True))


def interpreted(model: AnyModel, p: ParameterGroup, commands: Sequence[Command], *, often: bool = False) -> object:
    """The state of a vehicle after some commands; references are set before each step or once a command."""
    c = model.coefficients(p, DT)
    s = model.at_rest(c)
    for u in commands:
        model.set_references(c, s, u)
        for _ in range(STEPS):
            if often:
                model.set_references(c, s, u)
            for phase in model.phases:
                phase(c, s, u)
    return s


def motion_faults(model: AnyModel, random: np.random.Generator) -> Iterator[str]:
    """States that are not finite, runs that do not repeat, phases that do the work of another phase."""
    for p, commands in runs_of(model, random):
        state = numbers_of(interpreted(model, p, commands))
        for name, value in state.items():
            if isinstance(value, float) and not math.isfinite(value):
                yield f"the state's '{name}' becomes {value} for {p}; keep it finite within the parameters' bounds"
        if name := _difference(state, numbers_of(interpreted(model, p, commands))):
            yield f"'{name}' differs between two runs of the same commands; a step must depend on c, s and u only"
        if name := _difference(state, numbers_of(interpreted(model, p, commands, often=True))):
            yield (
                f"'{name}' depends on how often set_references is called; it must set numbers from c and u only, or be "
                "a function in actuating"
            )
        c = model.coefficients(p, DT)
        s = model.at_rest(c)
        for u in commands:
            model.set_references(c, s, u)
            for _ in range(STEPS):
                model.actuate(c, s, u)
        if (s.x, s.y, s.heading) != (0.0, 0.0, 0.0):
            yield (
                "a function in actuating, or wheels, changes the pose; only those in moving may, because Gazebo moves "
                "the vehicle itself"
            )


def engine_faults(model: AnyModel, random: np.random.Generator) -> Iterator[str]:
    """Engines whose numbers are not those of the interpreted vehicle."""
    runs = runs_of(model, random)
    expected = [numbers_of(interpreted(model, p, commands)) for p, commands in runs]
    engines = {"the compiled vehicle": _compiled, "a fleet of structs": _structs}
    if model.lanes:
        engines["a fleet in lanes"] = _lanes
    for engine, run in engines.items():
        try:
            states = run(model, runs)
        except Exception as error:  # any exception of numba at a function that it cannot compile
            yield (
                f"{engine} raises {type(error).__name__} ({_reason(error)}); write phases over plain attributes, with "
                "arithmetic, math and functions of the same kind" + _lanes_remedy(engine)
            )
            continue
        for (p, _), wanted, state in zip(runs, expected, states, strict=True):
            actual = numbers_of(state)
            if name := _difference(wanted, actual):
                yield (
                    f"{engine} gives '{name}' {actual[name]!r} and the interpreted vehicle {wanted[name]!r} for {p}; "
                    "use no len() or negative index of lists and no variables of modules" + _lanes_remedy(engine)
                )
                break


def _lanes_remedy(engine: str) -> str:
    return ", or set lanes=False (see the attribute lanes of VehicleModel)" if engine == "a fleet in lanes" else ""


def _compiled(model: AnyModel, runs: DrivenRuns) -> list[object]:
    states = []
    for p, commands in runs:
        vehicle: Any = CompiledVehicle(model, p, step_rate=1.0 / DT, max_command_age=math.inf)
        for k, u in enumerate(commands):
            vehicle.enter(u, round(k * STEPS * DT * NANOSECONDS))
        vehicle.advance(round(COMMANDS * STEPS * DT * NANOSECONDS))
        states.append(vehicle.state)
    return states


def _structs(model: AnyModel, runs: DrivenRuns) -> list[object]:
    return _fleet(Structs(model, [p for p, _ in runs], DT, room=ROOM), runs)


def _lanes(model: AnyModel, runs: DrivenRuns) -> list[object]:
    return _fleet(Lanes(model, [p for p, _ in runs], DT), runs)


def _fleet(fleet: Any, runs: DrivenRuns) -> list[object]:
    for row in zip(*(commands for _, commands in runs), strict=True):
        for k, u in enumerate(row):
            fleet.commands[k] = u
        fleet.advance(STEPS)
    return [fleet.state(k) for k in range(len(runs))]


def steady_faults(model: AnyModel, random: np.random.Generator) -> Iterator[str]:
    """Steady starts that are not the requested motion, or do not stay steady."""
    for p in (model.parameters(), *(random_parameters(model, random, SPREAD) for _ in range(VEHICLES - 1))):
        c = model.coefficients(p, DT)
        for motion in _motions(model, p):
            s = model.at(c, motion)
            for name, wanted in _required(model, p, motion).items():
                if abs(getattr(s, name) - wanted) > DRIFT * max(abs(wanted), 0.1):
                    yield f"at({motion}) gives '{name}' {getattr(s, name):g}; it must be {wanted:g}"
            if (u := _holding(model, p, c, s, motion)) is None:
                continue
            for name, (before, after) in _drifts(model, p, c, s, u).items():
                yield (
                    f"the start at({motion}) is not steady: {name} goes from {before:g} to {after:g} within "
                    f"{HELD * DT:g} s; fill every state of each actuator with its steady value, as drive_at does"
                )
                return


def resize_faults(model: AnyModel, random: np.random.Generator) -> Iterator[str]:
    """Changes of a dead time after which the vehicle jumps, or its delay lines do not fit."""
    p = model.parameters()
    for described in dead_times(model, p, DT):
        assert isinstance(described.default, float)
        for value in (longer_dead_time(described), max(described.minimum, 0.5 * described.default)):
            changed = with_values(p, {described.name: value})
            what = f"resize, '{described.name}' from {described.default:g} to {value:g} s"
            yield from _resize_faults(model, model.coefficients(p, DT), model.coefficients(changed, DT), p, what)


def _resize_faults(model: AnyModel, before: object, after: object, p: ParameterGroup, what: str) -> Iterator[str]:
    motion = _motions(model, p)[0]
    s = model.at(before, motion)
    u = _holding(model, p, before, s, motion) or Command()
    model.set_references(before, s, u)
    for _ in range(7):  # so that no delay line stands at its beginning
        model.actuate(before, s, u)
    seen = model.actuator_states(before, s), model.joint_states(before, s)
    numbers = numbers_of(s)
    model.resize(after, s)
    lengths, wanted = list_lengths(s), list_lengths(model.at_rest(after))
    for name in wanted:
        if lengths[name] != wanted[name]:
            yield f"{what}: '{name}' has {lengths[name]} entries; it must have {wanted[name]} (see fit_lines)"
            return
    if name := _difference(numbers, numbers_of(s)):
        yield f"{what}: '{name}' jumps; change delay lines only"
    if (model.actuator_states(after, s), model.joint_states(after, s)) != seen:
        yield f"{what}: actuator_states or joint_states change; keep the newest entries, oldest first, and set the head"
    for name, (begin, end) in _drifts(model, p, after, s, u).items():
        yield f"{what}: in steady state {name} jumps from {begin:g} to {end:g}; keep the entries (see fit_lines)"
        return


def _drifts(model: AnyModel, p: ParameterGroup, c: object, s: object, u: Command) -> dict[str, tuple[float, float]]:
    """Numbers of the motion and the actuators that change while a command is held, with first and last value."""
    s = copy.deepcopy(s)
    first = _responses(model, p, c, s)
    scale = max(map(abs, first.values()))
    model.set_references(c, s, u)
    for _ in range(HELD):
        model.actuate(c, s, u)
        now = _responses(model, p, c, s)
        moved = {name: (first[name], now[name]) for name in first if not abs(now[name] - first[name]) <= DRIFT * scale}
        if moved:
            return moved
    return {}


def _responses(model: AnyModel, p: ParameterGroup, c: object, s: object) -> dict[str, float]:
    responses = {name: getattr(s, name) for name in ("v_x", "v_y", "yaw_rate")}
    for actuator, state in zip(model.actuators_of(p), model.actuator_states(c, s), strict=True):
        steers = actuator.kind == "steering"
        responses[f"actuator '{actuator.name}'"] = state.position if steers else state.velocity
    return responses


def _steers(model: AnyModel, p: ParameterGroup) -> bool:
    """Whether steering angles set its motion; those of a holonomic vehicle may follow from its velocity."""
    if not any(actuator.kind == "steering" for actuator in model.actuators_of(p)):
        return False
    return not model.geometry(p).holonomic or any("steering_angle" in kind.references for kind in model.accepts)


def _motions(model: AnyModel, p: ParameterGroup) -> list[SteadyMotion]:
    """Two slow motions within the vehicle's limits: turns to both sides, or forwards and backwards without steering."""
    limits, geometry = model.limits(p), model.geometry(p)
    speed, angle = 0.2 * min(limits.speed or 1.0, 5.0), 0.3 * min(limits.steering or 0.5, 0.5)
    if _steers(model, p):
        both = [(angle, -0.5 * angle), (-angle, 0.5 * angle)]
        return [SteadyMotion(speed, steering_angle=front, rear_steering_angle=rear) for front, rear in both]
    turn = 0.3 * speed / geometry.yaw_arm
    v_y = 0.3 * speed if geometry.holonomic else 0.0
    return [SteadyMotion(speed, v_y, turn), SteadyMotion(-speed, v_y, -turn)]


def _required(model: AnyModel, p: ParameterGroup, motion: SteadyMotion) -> dict[str, float]:
    """The numbers that the state must have in a motion."""
    if _steers(model, p):
        return {"v_x": motion.v_x}
    return {"v_x": motion.v_x, "yaw_rate": motion.yaw_rate}


def _holding(model: AnyModel, p: ParameterGroup, c: object, s: object, motion: SteadyMotion) -> Command | None:
    """The command whose references are those of a steady state, by Newton's method; None if there is none.

    It differs from the motion where an actuator has a gain or an offset.
    """
    steering = [kind for kind in model.accepts if not kind.geared and {"v_x", "steering_angle"} <= {*kind.references}]
    if steering and _steers(model, p):
        kind = max(steering, key=lambda kind: len(kind.references))
        fields = list(kind.references)
        u = Command(kind, **{name: getattr(motion, name) for name in fields})
    elif TWIST in model.accepts:
        u = Command(TWIST, motion.v_x, motion.v_y, motion.yaw_rate)
        fields = ["v_x", "v_y", "yaw_rate"]
    else:
        return None
    target = _references(model, c, s)
    for _ in range(4):
        error = target - _commanded(model, c, s, u)
        if np.abs(error).max() <= 1e-9:
            return u
        columns = []
        for name in fields:
            moved = dataclasses.replace(u, **{name: getattr(u, name) + 1e-4})
            columns.append((_commanded(model, c, s, moved) - _commanded(model, c, s, u)) / 1e-4)
        change = np.linalg.lstsq(np.array(columns).T, error, rcond=None)[0]
        u = dataclasses.replace(
            u, **{name: getattr(u, name) + d for name, d in zip(fields, change.tolist(), strict=True)}
        )
    return None


def _references(model: AnyModel, c: object, s: object) -> NDArray[np.float64]:
    return np.array([state.reference_position + state.reference_velocity for state in model.actuator_states(c, s)])


def _commanded(model: AnyModel, c: object, s: object, u: Command) -> NDArray[np.float64]:
    """The references that a command gives in a state."""
    s = copy.deepcopy(s)
    model.set_references(c, s, u)
    model.actuate(c, s, u)
    return _references(model, c, s)


def _difference(wanted: dict[str, object], actual: dict[str, object]) -> str:
    """Name of the first number that differs; empty if none does. A wanted NaN is not compared."""
    return next((name for name in wanted if wanted[name] != actual[name] and wanted[name] == wanted[name]), "")


def _reason(error: BaseException) -> str:
    """The first line of an error and its place, without the stages of numba's compiler."""
    lines = [line.strip() for line in str(error).splitlines()]
    said = [line for line in lines if line and not line.startswith("Failed in nopython mode pipeline")]
    return ", ".join([*said[:1], *[line.rstrip(":") for line in said[1:] if line.startswith("File ")][:1]])
