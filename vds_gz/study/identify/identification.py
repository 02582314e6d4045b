"""A vehicle from recordings: one maximum-likelihood fit for all its actuators, sensors and, on request, geometry.

The forward model is the vehicle's own step, driven by the recorded commands at their times. A search over many
candidates says where to begin; of the limits those are kept that explain enough; all data give the numbers and their
intervals; and a fit without the last part of each recording says how well the model predicts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from vds_gz.errors import MAPPING, NUMBER, ArgumentError, Kind, takes
from vds_gz.parameters.intervals import Interval
from vds_gz.parameters.node import NodeParameters
from vds_gz.study.identify.causes.causes import checked, turning_against_steering
from vds_gz.study.identify.fitting.fitting import fit_all
from vds_gz.study.identify.fitting.holdout import held_out_scores
from vds_gz.study.identify.fitting.nothing import nothing_found
from vds_gz.study.identify.fitting.outcome import vehicle_fit
from vds_gz.study.identify.fitting.redraws import check_count, redrawn
from vds_gz.study.identify.forward.pieces import pieces_of
from vds_gz.study.identify.forward.setup import check_numbers, nothing_moves, set_up
from vds_gz.study.identify.results import VehicleFit
from vds_gz.study.identify.signals import SignalError, Signals
from vds_gz.study.reading.wheel_radius import wheels_disagree


@takes(
    signals=Kind("what read_signals() returns, or several of them", (Signals, list, tuple)),
    vehicle=Kind("what load_parameters() returns", (NodeParameters,)).or_none,
    wheel_base=NUMBER.or_none,
    fit=Kind("a list of names", (list, tuple, set, frozenset)),
    priors=MAPPING.or_none,
    hold_out=NUMBER,
    bootstrap=NUMBER,
    seed=NUMBER,
)
def identify(
    signals: Signals | Sequence[Signals],
    *,
    vehicle: NodeParameters | None = None,
    wheel_base: float | None = None,
    fit: Collection[str] = (),
    priors: Mapping[str, Interval] | None = None,
    hold_out: float = 0.2,
    bootstrap: int = 0,
    seed: int = 0,
) -> VehicleFit:
    """Find the numbers of a vehicle in recordings of it.

    Args:
        signals: What was commanded and measured, of one recording or of several of the same vehicle.
        vehicle: What is known of it: its model and geometry; its actuators' numbers are found again.
        wheel_base: Of a vehicle that steers, where none is given [m].
        fit: Further parameters to be found, such as ``wheel_base`` or ``tire_diameter``; ``all``: the geometry;
            ``wheel_gains``: how far the wheels of each side roll for each metre that they should.
        priors: Known intervals of parameters by dotted names, as :func:`~vds_gz.parameters.intervals.read_intervals`
            gives them below ``model_params.<model>.``.
        hold_out: The last part of each recording that a fit for the score does without, less than 1; 0: no score.
        bootstrap: So many fits to redrawn noise check the intervals; 0: none, else at least 20.
        seed: Of the candidates that are searched, and of the noise that is redrawn.

    Returns:
        What was found; as a sequence, its axes.

    Raises:
        SignalError: Nothing was both commanded and measured, or a number is not finite.
        ArgumentError: A name in ``fit`` is no parameter of the vehicle, ``bootstrap`` is too small, ``hold_out`` is no
            part, or ``wheel_base`` is given though the recording shows a vehicle without one.
    """
    check_count(bootstrap)
    if not 0.0 <= hold_out < 1.0:
        raise ArgumentError(f"hold_out is {hold_out}; it must be at least 0 (no score) and less than 1")
    recordings = _checked([signals] if isinstance(signals, Signals) else signals)
    setup = set_up(recordings, vehicle=vehicle, wheel_base=wheel_base, fit=fit, priors=priors or {})
    notes = _notes(setup.recordings)
    if nothing_moves(setup):
        return replace(nothing_found(setup), notes=notes)
    pieces = pieces_of(setup.recordings, setup.channels, 1.0 / setup.step_rate)
    found = fit_all(setup, pieces, seed=seed)
    scores = {}
    if hold_out > 0.0:
        scores = held_out_scores(found.setup, pieces, found.problem, found.solution, found.free, hold_out)
    result = vehicle_fit(found, scores)
    turning = _turning(result, recordings, given=vehicle is not None)
    fitted = {"tire_diameter", "wheel_gains", "all"} & set(fit)
    diameter = 0.0 if vehicle is None or fitted else getattr(vehicle.vehicle, "tire_diameter", 0.0)
    wheels = [text for one in recordings if diameter for text in wheels_disagree(one, 0.5 * diameter)]
    result = replace(result, notes=notes, findings=(*result.findings, *turning, *wheels))
    if not bootstrap:
        return result
    checked = redrawn(found.setup.family, found.problem, found.solution, found.free, count=bootstrap, seed=seed)
    return replace(result, bootstrapped=checked)


def _checked(signals: Sequence[Signals]) -> list[Signals]:
    """Recordings without what cannot be of the vehicle's motion.

    Raises:
        SignalError: There are none, or one cannot be worked on.
    """
    for one in signals:
        Kind("a list of what read_signals() returns", (Signals,)).check("signals", one)
    if not signals:
        raise SignalError("there are 0 recordings; needed is at least 1")
    found = []
    for k, one in enumerate(signals, start=1):
        try:
            check_numbers(one)
            found.append(checked(one))
        except SignalError as error:
            raise SignalError(f"recording {k}: {error}" if len(signals) > 1 else str(error)) from None
    return found


def _notes(recordings: Sequence[Signals]) -> tuple[str, ...]:
    """What was noticed of recordings; of several with the number of each."""
    several = len(recordings) > 1
    numbered = ((k, note) for k, one in enumerate(recordings, start=1) for note in one.notes)
    return tuple(f"{k}: {note}" if several else note for k, note in numbered)


def _turning(fit: VehicleFit, recordings: Sequence[Signals], *, given: bool) -> Iterator[str]:
    """What it means that a vehicle turns against its steering: one that was given with its rear axle steered does."""
    behind = bool(getattr(fit.parameters, "reverse", False))
    if behind and given:
        return
    means = "as one whose rear axle steers; if yours does not, the yaw rate or the steering angle is mirrored"
    for k, one in enumerate(recordings, start=1):
        if turns := turning_against_steering(one):
            words = f"{turns}, {means}" if behind else f"{turns}: is one of them mirrored, or does the rear axle steer?"
            yield f"recording {k}: {words}" if len(recordings) > 1 else words
