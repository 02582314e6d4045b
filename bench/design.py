"""Compare an optimal log with `profile steps` of the same length by the largest relative interval.

Usage: python bench/design.py [DURATION]

The intervals are those due to noise of 2 % of full scale, for presets and random vehicles. The table also has the
processor time of the search.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parent.parent / "test"))
from helpers.identified_vehicles import Case, presets, random_case

from vds_gz.programs.commandlog.profiles import limits_of
from vds_gz.tools.study.identify.design import design

#: Presets whose commands exceed their limits, and random vehicles by their kinds.
PRESETS = ("indoor_robot", "ackermann_car beyond", "forklift beyond", "deepracer beyond")
KINDS = ("bicycle fs rd", "bicycle rs rd", "four-wheel drive", "differential", "omni o", "omni x", "delay_steer_vel")


def cases() -> list[Case]:
    """The vehicles."""
    named = {preset.name: preset for preset in presets()}
    return [*(named[name] for name in PRESETS), *(random_case(kind, 1) for kind in KINDS)]


def main() -> None:
    duration = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    print("| vehicle | optimal | `steps` | times better | processor [s] |\n| --- | --- | --- | --- | --- |")
    for case in cases():
        before = process_time()
        limits = limits_of(case.parameters, **case.reach)
        plan = design(case.parameters, limits, ackermann=case.ackermann, duration=duration)
        optimal, steps = plan.largest
        took = process_time() - before
        print(f"| {case.name} | {optimal:.2%} | {steps:.2%} | {steps / optimal:.1f} | {took:.0f} |", flush=True)


if __name__ == "__main__":
    main()
