"""A vehicle from recordings: problem, selection of terms, fit, intervals, report.

The forward model is the vehicle's own step, driven by the recorded commands at their times. Terms enter if they predict
left-out parts. Values and intervals come from all data. A fit without the last part of each recording shows how well
the vehicle predicts it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from vds_gz.core.errors import MAPPING, NUMBER, ArgumentError, ArgumentKind, takes
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.yaml_reader import Interval
from vds_gz.core.vehicle.catalogue import models
from vds_gz.tools.study.identify.estimation import Fit, fit_all, without_latencies
from vds_gz.tools.study.identify.fit_findings import calibration_findings, far_from_priors, prediction_findings
from vds_gz.tools.study.identify.held_out import file_error, predictions
from vds_gz.tools.study.identify.outcome import axes_of, no_motion, vehicle_fit
from vds_gz.tools.study.identify.problem.command_hold import command_hold, with_known_commands
from vds_gz.tools.study.identify.problem.hand_motion import without_hand_motion
from vds_gz.tools.study.identify.problem.problem_setup import Setup, check_numbers
from vds_gz.tools.study.identify.problem.unknowns import WHEEL_GAINS, set_up
from vds_gz.tools.study.identify.problem.unused_samples import unused_words
from vds_gz.tools.study.identify.recording_faults import checked, turning_against_steering
from vds_gz.tools.study.identify.results import VehicleFit
from vds_gz.tools.study.identify.single_axes import STRUCTURED, SingleAxis, axis_words, single_axes, with_single_axes
from vds_gz.tools.study.identify.supported_terms import StageCallback
from vds_gz.tools.study.identify.terms import LATENCY
from vds_gz.tools.study.identify.wheel_calibration import with_wheel_gains, without_wheel_gains
from vds_gz.tools.study.reading.unequal_wheels import turns_while_straight
from vds_gz.tools.study.reading.wheel_radius import wheels_disagree
from vds_gz.tools.study.recording import Recording, SignalError

#: Maximum number of findings on the result, the worst first.
MOST_FINDINGS = 6


@takes(
    signals=ArgumentKind("what read_signals() returns, or several of them", (Recording, list, tuple)),
    vehicle=ArgumentKind("what load_parameters() returns", (NodeParameters,)).or_none,
    wheel_base=NUMBER.or_none,
    fit=ArgumentKind("a list of names", (list, tuple, set, frozenset)),
    priors=MAPPING.or_none,
    hold_out=NUMBER,
)
def identify(
    signals: Recording | Sequence[Recording],
    *,
    vehicle: NodeParameters | None = None,
    wheel_base: float | None = None,
    fit: Collection[str] = (),
    priors: Mapping[str, Interval] | None = None,
    hold_out: float = 0.2,
    advance: Callable[[str], object] = lambda words: None,
) -> VehicleFit:
    """Identify a vehicle's parameters from recordings.

    Args:
        signals: Commands and measurements of one recording, or of several of the same vehicle.
        vehicle: The known vehicle: its model and geometry; parameters of its actuators are identified again.
        wheel_base: The wheel base of a vehicle that steers, if no vehicle is given [m].
        fit: Further parameters to identify, such as ``wheel_base`` or ``tire_diameter``; ``all``: the geometry;
            ``wheel_gains``: distance that the wheels of each side roll per nominal metre.
        priors: Known intervals of parameters by dotted names, as
            :func:`~vds_gz.core.parameters.yaml_reader.read_intervals` gives them below ``model_params.<model>.``.
        hold_out: The last part of each recording, less than 1, that the fit for the score does not use; 0: no score.
            The terms of this fit are those of all data.
        advance: Called with a few words on what is being fitted.

    Returns:
        The identified vehicle, which iterates over its axes.

    Raises:
        SignalError: A recording cannot be used: no quantity was both commanded and measured, a number is not finite ...
        ArgumentError: A name in ``fit`` is no parameter of the vehicle, ``hold_out`` is not within its range, or
            ``wheel_base`` is given though the recording shows a vehicle without one.
    """
    if not 0.0 <= hold_out < 1.0:
        raise ArgumentError(f"hold_out is {hold_out}; it must be at least 0 (no score) and less than 1")
    recordings = checked_recordings([signals] if isinstance(signals, Recording) else signals, vehicle)
    hold = command_hold(recordings)
    recordings = [without_hand_motion(with_known_commands(recording, hold)) for recording in recordings]
    setup = set_up(recordings, vehicle=vehicle, wheel_base=wheel_base, fit=fit, priors=priors or {})
    findings = _findings(setup.recordings)
    if not setup.moves:
        nothing = no_motion(setup)
        return replace(nothing, findings=(*nothing.findings, *findings))
    findings = _findings(_with_unused(setup))
    if hold.contradiction:
        findings = (f"{hold.contradiction}; what it does without commands remains unknown", *findings)
    calibrated: VehicleFit | None = None
    if WHEEL_GAINS in fit:
        fit_of_wheels = fit_all(setup, advance)
        calibrated = vehicle_fit(fit_of_wheels)
        findings = (*calibration_findings(fit_of_wheels, calibrated), *findings)
        names = without_wheel_gains(fit, setup.family.parameters)
        setup = set_up(recordings, vehicle=vehicle, wheel_base=wheel_base, fit=names, priors=priors or {})
    fit_of_all = fit_all(setup, advance)
    result = vehicle_fit(fit_of_all)
    fit_of_all, result = _without_doubtful_latencies(fit_of_all, result, advance)
    if axes := single_axes(fit_of_all.setup, result.channels, advance):
        result = _with_axes(fit_of_all, result, axes)
    scores = predictions(fit_of_all, result.parameters, hold_out, advance) if hold_out > 0.0 else ()
    findings_of_fit = (*prediction_findings(scores, result.channels), *result.findings)
    result = replace(result, predictions=scores, command_hold=hold, findings=findings_of_fit)
    turning = _turning(result, recordings, given=vehicle is not None)
    fitted = {"tire_diameter", "wheel_gains", "all"} & set(fit)
    diameter = (
        0.0
        if vehicle is None or fitted or _all_wheels_steer(vehicle)
        else getattr(vehicle.vehicle, "tire_diameter", 0.0)
    )
    wheels = [text for recording in setup.recordings if diameter for text in wheels_disagree(recording, 0.5 * diameter)]
    geometry = setup.family.model.geometry(result.parameters)
    # Of others, the steering may be to blame.
    if geometry.yaw_arm and not geometry.holonomic and "wheel_gains" not in fit:
        wheels += [text for recording in setup.recordings for text in turns_while_straight(recording)]
    result = replace(result, findings=(*turning, *wheels, *result.findings)[:MOST_FINDINGS])
    result = with_wheel_gains(result, calibrated) if calibrated is not None else result
    return replace(result, findings=tuple(dict.fromkeys((*result.findings, *findings))))


def _without_doubtful_latencies(fit: Fit, result: VehicleFit, advance: StageCallback) -> tuple[Fit, VehicleFit]:
    """The fit without latencies of sensors, if they are unusual, leave structured residuals, and the file is better so.

    The parameter file has no latencies. Their findings remain.
    """
    unusual = tuple(far_from_priors(fit, LATENCY))
    if not unusual or all(channel.correlation < STRUCTURED for channel in result.channels):
        return fit, result
    advance("without latencies")
    other = fit_all(without_latencies(fit.setup), advance)
    plain = vehicle_fit(other)
    with_latencies, without = (
        file_error(setup, vehicle.parameters, result.channels)
        for setup, vehicle in ((fit.setup, result), (other.setup, plain))
    )
    if without >= with_latencies:
        return fit, result
    left_out = "; without it, the parameter file predicts better, so it is left out"
    return other, replace(plain, findings=(*(f"{words}{left_out}" for words in unusual), *plain.findings))


def _with_axes(fit: Fit, result: VehicleFit, axes: Sequence[SingleAxis]) -> VehicleFit:
    """The result with intervals that include the values of single axes, and findings on the better ones."""
    vehicle = fit.setup.family.vehicle(fit.solution.point)
    wider = with_single_axes(fit.setup, axes, result.numbers | result.calibrations)
    numbers, calibrations = ({name: wider[name] for name in group} for group in (result.numbers, result.calibrations))
    return replace(
        result,
        numbers=numbers,
        calibrations=calibrations,
        axes=tuple(axes_of(fit.setup, vehicle, numbers, calibrations, result.channels)),
        findings=(*(axis_words(axis) for axis in axes if axis.better), *result.findings),
    )


def checked_recordings(recordings: Sequence[Recording], vehicle: NodeParameters | None) -> list[Recording]:
    """Recordings without channels that contradict the vehicle's motion.

    Raises:
        SignalError: There are none, or one cannot be used.
    """
    for recording in recordings:
        ArgumentKind("a list of what read_signals() returns", (Recording,)).check("signals", recording)
    if not recordings:
        raise SignalError("there are 0 recordings; needed is at least 1")
    usable = []
    for k, recording in enumerate(recordings, start=1):
        try:
            check_numbers(recording)
            if vehicle is not None and _all_wheels_steer(vehicle):
                usable.append(_with_hinges_alone(recording))
                continue
            usable.append(checked(recording, 0.5 * getattr(vehicle and vehicle.vehicle, "tire_diameter", 0.0)))
            if vehicle is not None and "steering" not in recording.measured:
                _check_turning(recording, vehicle)
        except SignalError as error:
            raise SignalError(f"recording {k}: {error}" if len(recordings) > 1 else str(error)) from None
    return usable


def _all_wheels_steer(vehicle: NodeParameters) -> bool:
    """Whether no wheel has a fixed direction, so that neither speeds of wheels nor one angle show the motion."""
    return all(wheel.steered for wheel in models()[vehicle.model].geometry(vehicle.vehicle).wheels)


def _with_hinges_alone(recording: Recording) -> Recording:
    """A recording of which only the motion is checked, without a steering angle, which may be of any wheel."""
    joints = [channel for channel in recording.further if channel.joint]
    motion = replace(
        recording,
        commanded={name: series for name, series in recording.commanded.items() if name != "steering"},
        measured={name: series for name, series in recording.measured.items() if name != "steering"},
        further=[channel for channel in recording.further if not channel.joint],
    )
    usable = checked(motion)
    findings = list(usable.findings)
    if "steering" in recording.measured and not any(channel.hinge for channel in joints):
        findings.append(
            f"steering ({recording.sources.get('steering', 'steering')}): left out, as all wheels of this vehicle "
            "steer; record the joints of its robot description instead"
        )
    return replace(usable, commanded=recording.commanded, further=[*usable.further, *joints], findings=findings)


def _check_turning(recording: Recording, vehicle: NodeParameters) -> None:
    """Refuse a yaw rate that runs against the commanded steering of a vehicle whose front axle steers."""
    in_front = models()[vehicle.model].geometry(vehicle.vehicle).signed_wheel_base > 0.0
    if in_front and (turns := turning_against_steering(recording)):
        rear = ", or does the rear axle steer (reverse: true)" if hasattr(vehicle.vehicle, "reverse") else ""
        raise SignalError(
            f"{turns}. Is the yaw rate or the steering angle mirrored (both are positive to the left), has the speed "
            f"no sign{rear}?"
        )


def _with_unused(setup: Setup) -> list[Recording]:
    """The recordings with findings on samples that are not used."""
    findings = unused_words(setup.recordings, setup.channels, 1.0 / setup.step_rate)
    return [
        replace(recording, findings=[*recording.findings, words]) if words else recording
        for recording, words in zip(setup.recordings, findings, strict=True)
    ]


def _findings(recordings: Sequence[Recording]) -> tuple[str, ...]:
    """Findings on recordings, with their numbers if there are several."""
    several = len(recordings) > 1
    numbered = ((k, finding) for k, recording in enumerate(recordings, start=1) for finding in recording.findings)
    return tuple(f"{k}: {finding}" if several else finding for k, finding in numbered)


def _turning(fit: VehicleFit, recordings: Sequence[Recording], *, given: bool) -> Iterator[str]:
    """Findings on a vehicle that turns against its steering; one given with a steered rear axle is expected to."""
    behind = bool(getattr(fit.parameters, "reverse", False))
    holonomic = models()[fit.model].geometry(fit.parameters).holonomic
    if holonomic or (behind and given):
        return
    means = "as one whose rear axle steers; if it does not, the yaw rate or the steering angle is mirrored"
    for k, recording in enumerate(recordings, start=1):
        if turns := turning_against_steering(recording):
            words = f"{turns}, {means}" if behind else f"{turns}: is one of them mirrored, or does the rear axle steer?"
            yield f"recording {k}: {words}" if len(recordings) > 1 else words
