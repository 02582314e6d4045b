"""``vds-gz compare``: the options. :mod:`vds_gz.cli.compare_runs` compares."""

from __future__ import annotations

import argparse

from vds_gz.cli.shared_options import add_topic_option, positive, split_ros_arguments
from vds_gz.core.plant.gazebo.links.link_types import WITHOUT_LAUNCH
from vds_gz.core.ros.program_shell import CommandLine, command
from vds_gz.programs.commandlog.command_log import drive_names

DESCRIPTION = """
Compare two runs of a vehicle: differences of speed, yaw rate, path and every actuator, the delay of the second
run, and the dead times and time constants of each.

A and B are any of
  FILE             a recording of any vehicle that `vds-gz identify` takes: .mcap, .db3, .bag, a rosbag2 folder, or a
                   table (.csv, .csv.gz); or a table that `vds-gz replay` wrote
  FILE:/NAMESPACE  one of several vehicles in a recording
  MODEL            a parameter file (.yaml) or a preset, offline; kinematic:MODEL is the same
  gazebo:MODEL     the same vehicle in Gazebo, which is started, driven and ended
  live:/NAMESPACE  a running vehicle, recorded for --duration seconds; live:/ without namespace

A model follows the commands of --log, or else of the recording it is compared with, or else steps for --duration
seconds. Runs are aligned by their commands, in the vehicle's time, and moved to the same pose there; two vehicles that
run beside each other are aligned by their clock. A delay is given only if it clearly lowers the difference, its
standard error is at most 1.5 ms, and the commands of both runs are the same.

Written into a folder: report.html, which needs no other file, report.json, overlay.png, and recordings of new runs.
"""

EPILOG = """
A tolerance file sets bounds. Quantities are speed, yaw_rate, path and the names of the actuators:
  speed: {rms: 0.05, peak: 0.3, delay: 0.01}
  path: {rms: 0.1, peak: 0.2, end: 0.2, beside: 0.1}
  steering: {rms: 0.01, dead_time: 0.01, time_constant: 0.02}

examples:
  vds-gz compare runs/*/recording.mcap my_robot.yaml
  vds-gz compare ackermann_car slow_car.yaml --log drive.csv --tolerance bounds.yaml
  vds-gz compare gazebo:my_robot.yaml kinematic:my_robot.yaml
  vds-gz compare live:/robot live:/model --duration 60

After --ros-args: remaps for the topics of live vehicles, as for any ROS 2 node.
exit code: 0 done and within tolerance, 1 a bound is broken or a vehicle failed, 2 wrong use or input
"""


@command("vds-gz compare")
def main(argv: list[str]) -> int:
    """Compare two runs."""
    own, ros = split_ros_arguments(argv)
    options = _parser().parse_args(own)
    from vds_gz.cli.compare_runs import compare_runs  # with scipy, which help does not need

    return compare_runs(options, ros)


def _parser() -> argparse.ArgumentParser:
    parser = CommandLine("vds-gz compare", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("a", metavar="A", help="a recording, a model, or a running vehicle")
    parser.add_argument("b", metavar="B", help="another recording, model or vehicle")
    parser.add_argument(
        "--log", metavar="FILE", help=f"commands for models: CSV file, bag, or {', '.join(drive_names())}"
    )
    add_topic_option(parser)
    parser.add_argument(
        "--duration", type=positive, default=60.0, metavar="S", help="duration of live runs, and of steps [s] (60)"
    )
    parser.add_argument("--world", metavar="NAME|FILE", default="empty", help="Gazebo's world (empty)")
    parser.add_argument(
        "--link",
        choices=WITHOUT_LAUNCH,
        default="auto",
        help="link to Gazebo (auto: system, in step with physics, if Gazebo's Python bindings are installed)",
    )
    parser.add_argument("--tolerance", metavar="FILE", help="bounds that must hold (YAML)")
    parser.add_argument("-o", "--output", metavar="DIR", default="compare", help="folder for the report (compare)")
    return parser
