"""A kept run has the bits of the run in the table."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.sweeps import write_plan

from vds_gz.tools.study.reading.recorded_run import read
from vds_gz.tools.study.sweep.cases import loop_of
from vds_gz.tools.study.sweep.plan_file import read_sweep
from vds_gz.tools.study.sweep.sweep_folder import keep, replay_of

pytest.importorskip("numba")

CURVE = """\
vehicle: {vehicle}
controller: pure_pursuit
path: straight.csv
driving: {{rate: 20, duration: 3}}
vary:
  {actuator}.dead_time: {{uniform: [0.0, 0.2]}}
  start.lateral: [0.0, 0.4]
samples: {{random: 3, seed: 3}}
measure: [path.rms]
"""


@pytest.mark.parametrize(
    ("vehicle", "actuator"),
    [("deepracer", "drive_actuator"), pytest.param("indoor_robot", "drive_actuators", marks=pytest.mark.slow)],
)
def test_a_replay_ends_in_the_state_of_the_run(tmp_path, vehicle, actuator):
    sweep = read_sweep(write_plan(tmp_path, CURVE.format(vehicle=vehicle, actuator=actuator)))
    loop = loop_of(sweep.cases[0], sweep.driving, sweep.space.values(0, len(sweep)), len(sweep))
    loop.advance(60)
    for run in (0, 4):
        replay, _ = replay_of(sweep, run)
        for _ in replay.blocks():
            pass
        state, wanted = replay.vehicle.state, loop.fleet.state(run)
        assert (
            np.array([state.x, state.y, state.heading, state.v_x]).tobytes()
            == np.array([wanted.x, wanted.y, wanted.heading, wanted.v_x]).tobytes()
        )
        assert state.y != 0.0 or run == 0


def test_a_run_with_a_log_is_kept_as_a_recording(tmp_path):
    (tmp_path / "steps.csv").write_text("time,v_x,v_y,yaw_rate\n0,1,0,0.3\n0.5,1,0,0\n")
    plan = write_plan(tmp_path, "vehicle: deepracer\ncommands: steps.csv\nmeasure: settle\n")
    keep(read_sweep(plan), 0, tmp_path / "run.mcap")
    assert read(tmp_path / "run.mcap")
