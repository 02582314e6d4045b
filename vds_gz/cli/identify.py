"""The options of ``vds-gz identify``; the identification is in :mod:`vds_gz.cli.identify_vehicle`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from vds_gz.cli.cli_extensions import AXES, Identification
from vds_gz.cli.shared_options import add_vehicle_options, add_workers_option, number
from vds_gz.core.ros.program_shell import CommandLine, command
from vds_gz.core.share import additions
from vds_gz.tools.study.recording import ACTUATION_QUANTITIES, QUANTITIES

DESCRIPTION = """
Identify a vehicle from recorded commands and motion (system identification): dead times, time constants and
limits of its actuators, gains and offsets, and on request its geometry; each with a confidence interval (95 % if the
model holds), or as "not met" or "not determined". All are fitted together, by simulating the vehicle.

LOG is a bag (rosbag2 folder, .mcap, .db3, .bag of ROS 1) or a CSV file; several LOGs of one vehicle are fitted
together. The topics of a bag are found by type and name, or named by options: commands (Twist, TwistStamped,
AckermannDriveStamped, Autoware's Control), velocities (Odometry, TwistStamped, VelocityReport) and steering angles
(JointState, SteeringReport). Poses, wheels, hinges and IMUs are used too. A CSV file has a column time [s], commands
such as v_x_command and steering_command, and measurements such as v_x_measured, steering_measured, x, y, heading,
imu_yaw_rate and <joint>_velocity.

{added}--many identifies many recordings separately and pools the results: recordings.csv has a row for each recording,
parameters.yaml the pooled parameters. Recordings without excitation are reported and left out.

Written into a folder: parameters.yaml, which the node loads, report.html, report.json and identified.png, and maps as
CSV. With --preset or --params the identified parameters replace those of that vehicle, whose geometry is kept. --fit
identifies geometry too, and starts from the intervals of the file, if any; identify writes them.
"""

EPILOG = """
examples:
  vds-gz identify my_bag/ --command /cmd_vel --velocity /odom
  vds-gz identify car.mcap --params my_car.yaml -o my_car_identified
  vds-gz identify log.csv --column v_x=cmd:odom_v
  vds-gz identify monday.mcap tuesday.mcap --params my_robot.yaml --fit track,tire_diameter
  vds-gz identify --many 'runs/*.mcap' --params my_robot.yaml --workers 4

exit code: 0 done, 1 no parameter was identified (with --many: in some recording), 2 wrong use or input
"""


@command("vds-gz identify")
def main(argv: list[str]) -> int:
    """Identify a vehicle, and return the exit code."""
    further = additions(Identification, Identification.GROUP, (AXES,))
    options = _parser(further).parse_args(argv)
    from vds_gz.cli.identify_vehicle import identify  # with scipy, which help does not need

    return identify(options, further.get(options.model))


def _parser(further: Mapping[str, Identification]) -> argparse.ArgumentParser:
    paragraphs = "".join(f"{identification.help.strip()}\n\n" for identification in further.values())
    parser = CommandLine("vds-gz identify", description=DESCRIPTION.format(added=paragraphs), epilog=EPILOG)
    parser.add_argument("log", metavar="LOG", nargs="*", help="a bag or a CSV file; several are fitted together")
    parser.add_argument(
        "--many", metavar="PATTERN", nargs="+", help="identify each recording separately, e.g. 'runs/*.mcap'"
    )
    add_workers_option(parser)
    parser.add_argument("--resume", action="store_true", help="with --many: keep the results of an earlier call")
    add_vehicle_options(parser, required=False)
    parser.add_argument(
        "--model", choices=(AXES, *further), default=AXES, help="what to identify; axes: the vehicle's actuators (axes)"
    )
    parser.add_argument(
        "--fit",
        type=lambda text: [name.strip() for name in text.split(",") if name.strip()],
        default=[],
        metavar="NAME,NAME",
        help="geometry to find too, such as track,tire_diameter, or all; wheel_gains: distance that the wheels of each "
        "side roll per nominal metre; with another --model: the parameters to find",
    )
    parser.add_argument("--command", metavar="TOPIC", help="topic with the commands")
    parser.add_argument("--velocity", metavar="TOPIC", help="topic with measured velocities")
    parser.add_argument("--steering", metavar="TOPIC", help="topic with measured steering angles")
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="QUANTITY=COMMAND:MEASURED",
        help=f"columns of a CSV file, for {', '.join(QUANTITIES)}; with another --model QUANTITY=COLUMN, for "
        f"{', '.join(ACTUATION_QUANTITIES)}; may be given several times",
    )
    parser.add_argument(
        "--wheel-base", type=number, metavar="M", help="wheel base [m] of a car commanded by velocities"
    )
    parser.add_argument("-o", "--output", metavar="DIR", default="identified", help="folder for results (identified)")
    return parser
