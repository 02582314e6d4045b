"""Measure how well vehicles identified from recordings of real robots predict other parts of the recordings.

    python bench/real.py [FOLDER] [--only NAME] [--page docs/real_robots.md]

FOLDER (examples/data) holds recordings NAME.csv or NAME.csv.gz in the columns of `vds-gz identify`, and for each a
parameter file ROBOT.yaml, there or in a folder below; ROBOT is NAME up to its first underscore. `identify` learns from
the first 60 % of a recording, `replay` simulates the result with all commands, and the rest is compared. Of runs
NAME_01, NAME_02 ... of one drive, `identify` learns from three of each five, and the others are predicted. Speed and
yaw rate of poses are differences over 0.2 s.

Prints a table in Markdown, with root mean square errors of the command as it is, of a simple fit (dead time, gain,
offset, first-order lag and rate limit by least squares, of one quantity at a time) and of the identified vehicle.
--page replaces the table of a page. Exit code 1: another prediction of some quantity is more than 5 % better.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from vds_gz.core.configuration import load_parameters
from vds_gz.core.errors import ArgumentError, RecordingError
from vds_gz.tools.study.reading.recorded_run import read
from vds_gz.tools.study.recording import Recording

ROOT = Path(__file__).resolve().parents[1]

Array = NDArray[np.float64]

#: Part of a recording to learn from; of each five runs of one drive, those to learn from.
TAUGHT, TAUGHT_RUNS = 0.6, (0, 1, 2)

#: Step of the simple fit [s], the dead times that it tries, and steps from the best of them [s].
DT, DEAD_TIMES, FINER = 0.01, np.arange(0.0, 0.61, 0.04), (-0.02, -0.01, 0.0, 0.01, 0.02)

#: Time for which the first commands are sent before a replay [s].
WARM_UP = 10.0

#: A quantity does not depend on the command if predictions explain less than this part of its standard deviation.
FOLLOWED = 0.1

#: A prediction is worse than another one if its error is this many times as large.
WORSE = 1.05

#: The command line.
PROGRAM = (sys.executable, "-m", "vds_gz.cli")

UNITS = {"speed": "m/s", "yaw rate": "rad/s", "steering": "rad"}
SHORT = {"dead_time": "dead time", "time_constant": "lag", "max_acceleration": "acceleration"}
SHORT |= {"max_deceleration": "deceleration", "max_velocity": "limit", "max_position": "limit"}
RATE = "steering_actuator.max_velocity"
TITLE = "| recording | quantity | standard deviation | command as it is | simple fit | identified | learned |"


@dataclass(frozen=True)
class Course:
    """Commands and measurements of one quantity, which is the actuator's value times ``factor``."""

    command_time: Array
    command: Array
    time: Array
    measured: Array
    factor: Array

    def held(self, time: Array) -> Array:
        """The command at these times."""
        return self.command[np.maximum(np.searchsorted(self.command_time, time, side="right") - 1, 0)]

    def until(self, border: float) -> Course:
        """The course with the measurements before a time."""
        early = self.time < border
        return Course(self.command_time, self.command, self.time[early], self.measured[early], self.factor[early])


def courses(recording: Recording, wheel_base: float) -> dict[str, Course]:
    """The courses of a recording, by quantity."""
    motion, commands, steering = recording.motion, recording.references, recording.steering
    angle = (motion.time, motion.time * np.nan) if steering is None else (steering.time, steering.value)
    found = {}
    for quantity, time, measured, command, factor in (
        ("speed", motion.time, motion.v_x, commands.speed, None),
        ("yaw rate", motion.time, motion.yaw_rate, commands.yaw_rate, None),
        ("yaw rate", motion.time, motion.yaw_rate, commands.steering_angle, motion.v_x / wheel_base),
        ("steering", *angle, commands.steering_angle, None),
    ):
        factor = np.ones(len(time)) if factor is None else factor
        known = np.isfinite(measured) & np.isfinite(factor)
        commanded = np.isfinite(command)
        if commanded.any() and known.sum() > 20 and np.ptp(command[commanded]) > 0.0:
            known &= time > commands.time[commanded][0]
            found[quantity] = Course(
                commands.time[commanded], command[commanded], time[known], measured[known], factor[known]
            )
    return found


@numba.njit(cache=True)  # type: ignore[misc]
def follow(command: Array, value: float, lag: float, rate: float) -> Array:
    """A first-order lag with a rate limit, in steps of DT."""
    part = 1.0 - np.exp(-DT / lag)
    values = np.empty(len(command))
    for k in range(len(command)):
        value += min(max(part * (command[k] - value), -rate * DT), rate * DT)
        values[k] = value
    return values


def simple_prediction(course: Course, numbers: Sequence[float], dead_time: float) -> Array:
    """The simple fit's values at the times of the samples."""
    gain, offset, lag, rate = numbers
    grid = np.arange(course.time[0] - 1.0, course.time[-1] + DT, DT)
    command = gain * course.held(grid - dead_time)
    return np.interp(course.time, grid, follow(command, command[0], lag, rate)) * course.factor + offset


def simple_fit(runs: Sequence[Course]) -> tuple[Array, float]:
    """Gain, offset, lag and rate limit, and the dead time [s]."""
    measured = np.concatenate([run.measured for run in runs])
    spread = float(np.std(measured)) + 1e-9
    span = float(np.ptp(np.concatenate([run.command for run in runs])))
    low, high = [0.1, -np.inf, 1e-3, 1e-3 * span], [5.0, np.inf, 5.0, 30.0 * span]

    def left(numbers: Sequence[float], dead_time: float) -> Array:
        predicted = np.concatenate([simple_prediction(run, numbers, dead_time) for run in runs])
        return (predicted - measured) / (0.2 * spread)

    def fitted(dead_time: float, begin: Sequence[float]) -> tuple[float, float, Array]:
        fit = least_squares(
            left,
            np.clip(begin, np.multiply(low, 1.01), np.multiply(high, 0.99)),
            args=(dead_time,),
            bounds=(low, high),
            loss="soft_l1",
            x_scale=[1.0, spread, 0.1, span],
            diff_step=1e-3,
            max_nfev=30,
        )
        return fit.cost, dead_time, fit.x

    rates = (0.3 * span, 3.0 * span)  # a limit above all rates has no gradient
    coarse = [fitted(dead, (1.0, 0.0, 0.1, rate)) for dead in DEAD_TIMES for rate in rates]
    _, dead_time, numbers = min(coarse, key=lambda trial: trial[0])
    fine = [fitted(max(dead_time + step, 0.0), numbers) for step in FINER]
    _, dead_time, numbers = min(fine, key=lambda trial: trial[0])
    return numbers, dead_time


def lines(file: Path) -> list[str]:
    """The lines of a table, packed or not."""
    with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as text:
        return list(text)


def identified(
    files: Sequence[Path], border: float, vehicle: Path, folder: Path, program: Sequence[str] = PROGRAM
) -> dict[str, Any]:
    """Identify from the rows before a time, by the command line; return the content of `report.json`."""
    cut = []
    for file in files:
        head, *rows = lines(file)
        cut.append(folder / f"{file.name.partition('.')[0]}.csv")
        cut[-1].write_text(
            head + "".join(row for row in rows if float(row.partition(",")[0]) < border), encoding="utf-8"
        )
    words = [*program, "identify", *map(str, cut), "--params", str(vehicle), "-o", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RecordingError(f"exit code {done.returncode}: {(done.stderr.strip() or done.stdout.strip())[-200:]}")
    report: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return report


def vehicle_prediction(file: Path, folder: Path, course: Course, quantity: str) -> Array:
    """The identified vehicle's response to all commands of a file, at the times of the samples.

    The first commands are sent for a while before, because a replay begins at rest and a recording may not.
    """
    replayed = folder / f"{file.name.partition('.')[0]}_replay.csv"
    if not replayed.exists():
        commands = folder / "commands.csv"
        rows = list(csv.DictReader(lines(file)))
        names = [name for name in rows[0] if name.endswith("_command")]
        first = {name: next((row[name] for row in rows if row[name]), "") for name in names}
        with commands.open("w", newline="", encoding="utf-8") as text:
            table = csv.DictWriter(text, ["time", *names], extrasaction="ignore")
            table.writeheader()
            table.writerows({"time": time, **first} for time in np.arange(0.0, WARM_UP, 0.1))
            table.writerows(row | {"time": WARM_UP + float(row["time"])} for row in rows)
        parameters = str(folder / "parameters.yaml")
        words = [*PROGRAM, "replay", str(commands), "--params", parameters, "-o", str(replayed)]
        subprocess.run(words, check=True, capture_output=True)
    columns = np.genfromtxt(replayed, delimiter=",", names=True)
    name = {"speed": "v_x", "yaw rate": "yaw_rate", "steering": "steering_actual"}[quantity]
    return np.interp(course.time, columns["time"] - WARM_UP, columns[name])


def learned(report: Mapping[str, Any], quantity: str) -> str:
    """The numbers of the actuator behind a quantity."""
    numbers = {name: item["value"] for name, item in report["numbers"].items() if item}
    steered = any(name.startswith("steering_actuator") for name in report["numbers"])
    ours = "steering_actuator." if steered and quantity != "speed" else "drive_actuator"
    numbers = {name: value for name, value in numbers.items() if name.startswith(ours)}
    parts = [
        f"{'rate limit' if name == RATE else SHORT.get(short, short.replace('_', ' '))} {value:.3g}"
        for name, value in numbers.items()
        if not name.endswith("]") and (short := name.rpartition(".")[2])
    ]
    mapped = ["a map"] if any(name.endswith("]") for name in numbers) else []
    return ", ".join(parts + mapped) or "nothing"


def drives(folder: Path, only: str) -> dict[str, list[Path]]:
    """Recordings by name; runs of one drive together."""
    found: dict[str, list[Path]] = {}
    for file in sorted((*folder.glob("*.csv"), *folder.glob("*.csv.gz"))):
        name = file.name.partition(".")[0]
        if only in name:
            found.setdefault(re.sub(r"_\d\d$", "", name), []).append(file)
    return found


def vehicle_of(folder: Path, name: str) -> Path:
    """The parameter file of a recording's robot, which is the first word of its name.

    Raises:
        ArgumentError: There is none, or more than one.
    """
    file = f"{name.partition('_')[0]}.yaml"
    paths = sorted(folder.glob(f"**/{file}"))
    if len(paths) != 1:
        there = f"there are {', '.join(map(str, paths))}" if paths else "there is none"
        raise ArgumentError(f"recording '{name}' needs exactly one '{file}' in {folder} or a folder in it; {there}")
    return paths[0]


@dataclass(frozen=True)
class Row:
    """One quantity of a recording: its standard deviation, the error of each prediction, and what was learned.

    ``seconds`` is the processor time of `vds-gz identify`.
    """

    recording: str
    quantity: str
    spread: float
    command: float
    simple: float
    identified: float
    learned: str
    seconds: float

    @property
    def ratio(self) -> float:
        """The error of the identified vehicle by that of the better other prediction."""
        best = min(self.command, self.simple)
        if self.identified == best:
            return 1.0  # both may be 0
        return self.identified / best if best > 0.0 else np.inf

    @property
    def follows(self) -> bool:
        """Whether some other prediction explains enough for the quantity to count."""
        return min(self.command, self.simple) < (1.0 - FOLLOWED) * self.spread

    @property
    def worse(self) -> bool:
        """Whether another prediction is clearly better, and explains enough to count."""
        return self.ratio > WORSE and self.follows

    def __str__(self) -> str:
        shown = f"{self.identified:.3f}" if np.isfinite(self.identified) else "none"
        best = self.identified <= min(self.command, self.simple)
        numbers = f"{self.spread:.3f} | {self.command:.3f} | {self.simple:.3f} | {f'**{shown}**' if best else shown}"
        return f"| `{self.recording}` | {self.quantity} [{UNITS[self.quantity]}] | {numbers} | {self.learned} |"


def rms(parts: Sequence[Array]) -> float:
    """Root mean square of all arrays together."""
    return float(np.sqrt(np.mean(np.concatenate(parts) ** 2)))


def seconds_of_children() -> float:
    """The processor time of all programs that were run and have ended [s]."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def rows(name: str, files: Sequence[Path], vehicle: Path, program: Sequence[str] = PROGRAM) -> Iterator[Row]:
    """A row for each quantity of a recording, or of several runs.

    Raises:
        RecordingError: No quantity has both commands and measurements.
    """
    wheel_base = float(getattr(load_parameters(vehicle).vehicle, "wheel_base", 1.0))
    runs = [courses(read(file), wheel_base) for file in files]
    if not any(runs):
        raise RecordingError(f"recording '{name}' needs commands that vary, and over 20 samples of what they command")
    border, taught = np.inf, [i for i in range(len(files)) if i % 5 in TAUGHT_RUNS]
    tested = [i for i in range(len(files)) if i not in taught]
    if len(files) == 1:
        border, tested = TAUGHT * max(float(course.time[-1]) for course in runs[0].values()), taught
    with tempfile.TemporaryDirectory() as scratch:
        folder, begin = Path(scratch), seconds_of_children()
        try:
            report, failure = identified([files[i] for i in taught], border, vehicle, folder, program), ""
        except RecordingError as error:
            report, failure = {}, str(error)
        seconds = seconds_of_children() - begin
        for quantity in (name for name in UNITS if any(name in runs[i] for i in tested)):
            fit = simple_fit([runs[i][quantity].until(border) for i in taught if quantity in runs[i]])
            measured, command, simple, ours = [], [], [], []
            for i in (i for i in tested if quantity in runs[i]):
                course = runs[i][quantity]
                late = course.time >= (border if np.isfinite(border) else 0.0)
                measured.append(course.measured[late])
                command.append((course.held(course.time) * course.factor - course.measured)[late])
                simple.append((simple_prediction(course, *fit) - course.measured)[late])
                if report:
                    ours.append((vehicle_prediction(files[i], folder, course, quantity) - course.measured)[late])
            yield Row(
                name,
                quantity,
                float(np.std(np.concatenate(measured))),
                rms(command),
                rms(simple),
                rms(ours) if report else np.inf,
                learned(report, quantity) if report else failure,
                seconds,
            )


def summary(found: Sequence[Row]) -> str:
    """The ratios of the quantities that follow their commands, in a line."""
    ratios = [row.ratio for row in found if row.follows]
    if not ratios:
        return "no quantity follows its command"
    worse = sum(row.worse for row in found)
    return (
        f"error of the identified vehicle by that of the better of command and simple fit: median "
        f"{np.median(ratios):.3f}, worst {max(ratios):.2f}, {worse} of {len(ratios)} above {WORSE}"
    )


def replaced(page: str, table: Sequence[str]) -> str:
    """A page with its table replaced."""
    before, _, rest = page.partition(TITLE)
    after = re.sub(r"\A(\n\|.*)*", "", rest)
    return before + "\n".join(table) + after


def main() -> int:
    """Print the table of all recordings; return 1 if another prediction is clearly better."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "examples" / "data")
    parser.add_argument("--only", default="", help="recordings whose names contain this")
    parser.add_argument("--page", type=Path, help="page whose table is replaced")
    arguments = parser.parse_args()
    if arguments.page and TITLE not in arguments.page.read_text(encoding="utf-8"):
        parser.error(f"page {arguments.page} has no table that begins with {TITLE!r}")
    recordings = drives(arguments.folder, arguments.only)
    try:
        vehicles = {name: vehicle_of(arguments.folder, name) for name in recordings}
    except ArgumentError as error:
        parser.error(str(error))
    if not recordings:
        parser.error(f"folder {arguments.folder} has no .csv or .csv.gz file whose name contains '{arguments.only}'")
    found: list[Row] = []
    table = [TITLE, "|---" * TITLE.count(" | ") + "|---|"]
    print(*table, sep="\n")
    for name, files in recordings.items():
        for row in rows(name, files, vehicles[name]):
            print(row, flush=True)
            found.append(row)
    print(summary(found), file=sys.stderr)
    if arguments.page:
        page = arguments.page.read_text(encoding="utf-8")
        arguments.page.write_text(replaced(page, [*table, *map(str, found)]), encoding="utf-8")
    return int(any(row.worse for row in found))


if __name__ == "__main__":
    sys.exit(main())
