"""Every column of every recorded run: interpreted, compiled, and many at once."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from helpers import autoware_recorded as recorded
from helpers.autoware_recorded import MECHANISM, STATES, Run, begin, deviation, observed, read_runs

from vds_gz.autoware.vehicle.models import AUTOWARE_MODELS
from vds_gz.core.vehicle.schedule import COMMAND, fields_of
from vds_gz.core.vehicle.vehicle_model import no_references

#: The step of all models.
step = AUTOWARE_MODELS[0].step


@pytest.fixture(scope="module")
def runs(golden) -> list[Run]:
    result = read_runs(golden)
    if not result:
        pytest.skip("no runs of Autoware's models among the reference runs")
    return result


def worst(run: Run, ours: dict[str, np.ndarray]) -> dict[str, float]:
    """The largest deviation of every column; empty cells do not count."""
    return {name: float(np.nanmax(np.append(deviation(values, run.rows[name]), 0.0))) for name, values in ours.items()}


def test_there_is_a_run_of_every_model(runs):
    assert {run.model.name for run in runs} == {model.name for model in recorded.MODELS.values()}


def interpreted(run: Run) -> dict[str, np.ndarray]:
    c = run.coefficients
    s = run.start(c)
    columns = run.columns()
    ours = {name: np.empty(len(run)) for name in columns}
    for row in range(len(run)):
        if row > 0:
            u = run.command(row)
            for update in range((row - 1) * run.decimation, row * run.decimation):
                if update in run.resets:
                    begin(c, s, run.resets[update])
                step(c, s, u)
        for name in columns:
            ours[name][row] = observed(c, s, name)
    return ours


def test_interpreted(runs):
    for run in runs:
        worst_runs = worst(run, interpreted(run))
        assert max(worst_runs.values()) <= 1.0, (run.name, worst_runs)


@pytest.fixture(scope="module")
def as_records(runs):
    """Coefficients, states and commands of all runs as records of one type each, so that one compilation serves all.

    The runs come twice, the second time with ``compatibility: physical``.
    """
    compiled = pytest.importorskip("vds_gz.core.vehicle.compiled", reason="numba is not installed")
    twice = [*runs, *map(corrected, runs)]
    coefficients = [run.coefficients for run in twice]
    states = compiled.records([run.start(c) for run, c in zip(twice, coefficients, strict=True)])
    commands = np.array([fields_of(run.command(0)) for run in twice], COMMAND)
    return compiled.records(coefficients), states, commands


def corrected(run: Run) -> Run:
    """The same run with ``compatibility: physical``."""
    return dataclasses.replace(run, parameters=dataclasses.replace(run.parameters, compatibility="physical"))


def columns_of(run: Run, states: np.ndarray, bias: float) -> dict[str, np.ndarray]:
    """The columns that are fields of a state."""
    ours = {name: states[STATES[name]] for name in run.columns() if name in STATES}
    ours |= {name: states["steering"]["mechanism"][MECHANISM[name]] for name in run.columns() if name in MECHANISM}
    return ours | {"out_steer": states["steering"]["angle"] + bias}


@pytest.mark.slow
def test_compiled(runs, as_records):
    coefficients, states, _ = as_records
    advance = pytest.importorskip("helpers.compiled_steps").compiled_run(step)
    states = states.copy()
    for i, run in enumerate(runs):
        c, s = (np.asarray(array[i : i + 1]) for array in (coefficients, states))
        history = np.empty(len(run), s.dtype)
        history[0] = s[0]
        rows = run.decimation * np.arange(len(run))
        for start, end in itertools.pairwise(sorted({0, *run.resets, rows[-1]})):
            if start in run.resets:
                begin(coefficients[i], states[i], run.resets[start])
            ends = np.union1d(rows[(start < rows) & (rows < end)], [end])
            held = np.searchsorted(rows, ends)
            seen = advance(c, s, [run.command(row) for row in held], np.diff(ends, prepend=start))
            whole = rows[held] == ends
            history[held[whole]] = seen[whole]
        worst_runs = worst(run, columns_of(run, history, coefficients[i].steering.bias))
        assert max(worst_runs.values()) <= 1.0, (run.name, worst_runs)


@pytest.mark.slow
def test_compiled_is_interpreted_also_when_corrected(runs, as_records):
    """Without a recording: the two must agree to the last digits."""
    coefficients, states, _ = as_records
    advance = pytest.importorskip("helpers.compiled_steps").compiled_run(step)
    names = ("x", "y", "heading", "v_x", "acceleration")
    for i, run in enumerate(map(corrected, runs), start=len(runs)):
        c, s = (np.array(array[i : i + 1]) for array in (coefficients, states))
        plain = run.coefficients
        state = run.start(plain)
        commands = [run.command(row) for row in range(1, len(run), max(1, len(run) // 150))]
        theirs, angles = [], []
        for command in commands:
            for _ in range(4):
                step(plain, state, command)
            theirs.append([getattr(state, name) for name in names])
            angles.append(state.steering.angle)
        seen = advance(c, s, commands, np.full(len(commands), 4))
        ours = np.stack([seen[name] for name in names], axis=1)
        assert ours == pytest.approx(np.array(theirs), rel=1e-12, abs=1e-12), run.name
        assert seen["steering"]["angle"] == pytest.approx(np.array(angles), rel=1e-9, abs=1e-12), run.name


@pytest.mark.slow
def test_batch(runs, as_records):
    """All runs side by side in one fleet, each at its own step length."""
    coefficients, states, commands = as_records
    program = pytest.importorskip("vds_gz.tools.fleet.program")
    dtypes = (np.asarray(array).dtype for array in (coefficients, states, commands))
    advance = program.struct_program(step, no_references, program.step_loop, "python", *dtypes)
    for decimation in {run.decimation for run in runs}:
        chosen = [i for i, run in enumerate(runs) if run.decimation == decimation and not run.resets]
        c, s, u = (np.asarray(array[chosen]) for array in (coefficients, states, commands))
        length = min(len(runs[i]) for i in chosen)
        history = np.empty((length, len(chosen)), s.dtype)
        history[0] = s
        for row in range(1, length):
            for k, i in enumerate(chosen):
                u[k] = fields_of(runs[i].command(row))
            advance((c, s, u), np.empty((0, 0)), (decimation,), 0, len(chosen))
            history[row] = s
        for k, i in enumerate(chosen):
            run = runs[i]
            ours = columns_of(run, history[:, k], c[k]["steering"]["bias"])
            result = {name: deviation(values, run.rows[name][:length]).max() for name, values in ours.items()}
            assert max(result.values()) <= 1.0, (run.name, result)
