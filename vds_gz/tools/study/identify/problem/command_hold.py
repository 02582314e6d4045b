"""What a vehicle does while no commands arrive: it follows the last one, or stops after a time-out.

The pauses between commands show it; see :mod:`vds_gz.tools.study.identify.problem.axis_motion` for one of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vds_gz.core.arrays import Flags
from vds_gz.core.vehicle.command import KINDS, MEASURES
from vds_gz.core.vehicle.schedule import Records
from vds_gz.tools.study.identify.estimates import Estimate
from vds_gz.tools.study.identify.problem.axis_motion import SHORTEST, AxisMotion, Pause
from vds_gz.tools.study.identify.recording_faults import AFTER_COMMAND
from vds_gz.tools.study.reading.cleaning import joined
from vds_gz.tools.study.recording import Recording, Series
from vds_gz.tools.study.series_alignment import relation
from vds_gz.tools.study.signals import SPIKE_WINDOW

#: The parameter that says how long a vehicle follows its last command.
MAX_AGE = "twist_reference_max_oldness"

#: Quantities that a time-out sets to 0.
SPEEDS = ("v_x", "v_y", "yaw_rate")

#: Minimum number of stops that show a time-out, as one may have another cause, and their tolerance: as a part of it,
#: since loads change delays, and in intervals of measurement. That of the longest pause in which a vehicle moved on is
#: the same part of it.
FEWEST_STOPS, TOLERANCE, INTERVALS = 2, 0.15, 2.0

#: A robot that follows a command for longer than the first time has no usual time-out [s], as ROS packages have 0.25 to
#: 1 s. It has none at all if it does so for longer than the second one: time-outs of 2 s exist.
USUAL, ENDLESS = 1.0, 3.0

#: Decimal places of a time-out [s]; measurements do not resolve more.
DIGITS = 2

#: A time-out, or that there is none, is doubtful if one that is longer or shorter by these factors leaves less than the
#: part of the unexplained motion.
OTHERS, LESS = (0.25, 0.5, 0.7, 1.4), 0.95


@dataclass(frozen=True, slots=True)
class CommandHold:
    """How long a vehicle follows its last command.

    Attributes:
        timeout: Time after the last command at which the vehicle stops [s]; None if none is known. Its ends are
            those of the stops that were seen, not of a 95 % interval.
        least: The vehicle follows its last command for at least this time [s].
        pause: Longest interval without commands at whose end it still moved [s].
        contradiction: Why there is no time-out, though the vehicle stopped without a command; else empty.
        stopped: Whether it stopped without a command, but too seldom to show a time-out.
    """

    timeout: Estimate | None = None
    least: float = 0.0
    pause: float = 0.0
    contradiction: str = ""
    stopped: bool = False

    @property
    def endless(self) -> bool:
        """Whether the vehicle followed a command for longer than :data:`ENDLESS`, and no time-out is known."""
        return self.timeout is None and self.least > ENDLESS

    @property
    def least_timeout(self) -> float:
        """A lower bound of the time-out if that is unusually long or there is none [s]; 0 if unknown."""
        is_unusual = (1.0 + TOLERANCE) * USUAL < self.least <= ENDLESS
        if self.timeout is not None or self.stopped or not is_unusual:
            return 0.0
        return math.floor(10.0 * self.least / (1.0 + TOLERANCE)) / 10.0

    @property
    def range_seen(self) -> str:
        """The range of the stops after a time-out, in words."""
        return range_seen(self.timeout) if self.timeout else ""

    @property
    def moved_on(self) -> str:
        """How long it followed its last command, in words."""
        return f"moved on for {self.least:.2g} s without another"


def range_seen(timeout: Estimate) -> str:
    """The range of the stops after a time-out, in words; it is not a 95 % interval."""
    return f"stops seen: {timeout.interval}"


def command_hold(recordings: Sequence[Recording]) -> CommandHold:
    """How long a vehicle follows its last command, by all its recordings.

    Delays that differ between motions may shift a time-out, so it must explain the whole motion too.
    """
    hold = _by_pauses(recordings)
    if hold.timeout is None and not (hold.endless or hold.least_timeout):
        return hold
    known, usual = (math.inf, hold.least) if hold.timeout is None else (hold.timeout.value, hold.timeout.value)
    unexplained = _unexplained(recordings, (known, *(factor * usual for factor in OTHERS)))
    best = min(unexplained, key=lambda timeout: unexplained[timeout])
    if unexplained[best] >= LESS * unexplained[known]:
        return hold
    seen = hold.moved_on if hold.timeout is None else f"stopped within {known:.2g} s"
    return CommandHold(
        contradiction=f"after its last command it {seen}, but a time-out of {best:.2g} s explains its motion better"
    )


def _unexplained(recordings: Sequence[Recording], timeouts: Sequence[float]) -> dict[float, float]:
    """The part of the motion that commands with each time-out [s] do not explain, as the mean of all speeds.

    Speeds that are too short to be compared at one of the time-outs do not count.
    """
    parts = []
    for recording in recordings:
        timed, end = [_with_stops(recording, each) for each in timeouts], recording.commands.time[-1] + AFTER_COMMAND
        for name in SPEEDS:
            if not _is_usable(recording, name):
                continue
            measured = recording.measured[name]
            during = measured.time <= end  # the same samples for all time-outs
            response = Series(measured.time[during], measured.value[during])
            matches = [relation(commands[name], response, 0.0, AFTER_COMMAND, held=True) for commands in timed]
            known = [match.unexplained for match in matches if match is not None]
            if len(known) == len(timeouts):
                parts.append(known)
    means = np.mean(parts, axis=0) if parts else np.zeros(len(timeouts))
    return dict(zip(timeouts, means.tolist(), strict=True))


def _by_pauses(recordings: Sequence[Recording]) -> CommandHold:
    """How long a vehicle follows its last command, by its pauses alone."""
    pauses = [pause for recording in recordings for pause in _pauses(recording)]
    moving = [pause for pause in pauses if np.isnan(pause.stopped) and pause.least > 0.0]
    least = max((pause.least for pause in moving), default=0.0)
    length = max((pause.length for pause in moving), default=0.0)
    stops = np.array([pause.stopped for pause in pauses if not np.isnan(pause.stopped)])
    if len(stops) < FEWEST_STOPS:
        return CommandHold(least=least, pause=length, stopped=len(stops) > 0)
    interval = max(map(_measured_interval, recordings))
    timeout = float(np.median(stops))
    tolerance = max(TOLERANCE * timeout, INTERVALS * interval)
    near = stops[np.abs(stops - timeout) <= tolerance]
    stopped = "after its last command it stopped within "
    if 2 * len(near) <= len(stops) or timeout <= 0.0:
        return CommandHold(contradiction=f"{stopped}{stops.min():.2g} s and {stops.max():.2g} s")
    if least > timeout + tolerance:
        return CommandHold(contradiction=f"{stopped}{timeout:.2g} s, and moved on for {least:.2g} s in another pause")
    low, high = float(near.min()) - interval, float(near.max()) + interval
    value = round(timeout, DIGITS)
    return CommandHold(Estimate(value, min(max(low, 0.0), value), max(high, value)), least, length)


def with_known_commands(recording: Recording, hold: CommandHold) -> Recording:
    """The recording with a command to stop at each time-out, and with the time for which its commands hold."""
    if hold.timeout is None:
        return replace(recording, hold_time=(1.0 + TOLERANCE) * hold.pause)
    return replace(recording, commanded=_with_stops(recording, hold.timeout.value), hold_time=hold.timeout.value)


def _with_stops(recording: Recording, timeout: float) -> dict[str, Series]:
    """The commands with one to stop at each time-out [s]."""
    if not np.isfinite(timeout):
        return recording.commanded
    commands = recording.commands
    expires = (np.diff(commands.time, append=np.inf) > timeout) & ~neutral(commands.records)
    stops = Series(commands.time[expires] + timeout, np.zeros(int(expires.sum())))
    return {
        quantity: joined(series, stops) if quantity in SPEEDS else series
        for quantity, series in recording.commanded.items()
    }


def neutral(records: Records) -> Flags:
    """Whether commands ask for standstill, so that it makes no difference whether they time out."""
    standing: Flags = ~np.any([records[name] != 0.0 for name in MEASURES], axis=0)
    return standing


def _measured_interval(recording: Recording) -> float:
    """The longest median interval between samples of a speed [s]."""
    times = [recording.measured[name].time for name in SPEEDS if name in recording.measured]
    return max((float(np.median(np.diff(time))) for time in times if len(time) > 1), default=0.0)


def _pauses(recording: Recording) -> Iterator[Pause]:
    """What the intervals without commands show. A commanded acceleration would have to time out too."""
    commands = recording.commands
    if "target_acceleration" in KINDS[int(commands.records["kind"][0])].fields:
        return
    axes = [AxisMotion(commands, name, recording.measured[name]) for name in SPEEDS if _is_usable(recording, name)]
    ends = np.append(commands.time[1:], np.inf)
    for k in np.flatnonzero((ends - commands.time > SHORTEST) & ~neutral(commands.records)):
        pauses = [pause for axis in axes for pause in axis.pause(int(k), float(ends[k]))]
        if pauses:  # the vehicle moved on if any of its axes did
            yield max(pauses, key=lambda pause: (np.isnan(pause.stopped), pause.least))


def _is_usable(recording: Recording, quantity: str) -> bool:
    """Whether a speed was commanded and measured."""
    commanded, measured = recording.commanded.get(quantity), recording.measured.get(quantity)
    return bool(commanded and len(commanded.time) and measured and len(measured.time) >= SPIKE_WINDOW)
