"""Findings on a fit: sentences on what it leaves open and what is unusual, the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

import numpy as np

from vds_gz.core.parameters.yaml_reader import ends
from vds_gz.tools.study.identify.estimates import USEFUL, USEFUL_TIME, Estimate
from vds_gz.tools.study.identify.estimation import Fit
from vds_gz.tools.study.identify.labels import named
from vds_gz.tools.study.identify.problem.parameters import value_of
from vds_gz.tools.study.identify.problem.unknowns import WHEELS
from vds_gz.tools.study.identify.results import Channel, NamedEstimates, Prediction, VehicleFit
from vds_gz.tools.study.identify.term_kind import TermKind
from vds_gz.tools.study.recording import QUANTITIES

#: Residuals are more than noise if they exceed this multiple of the noise plus this part of the range of the
#: quantity. A smaller difference between two predictions is none.
NOISY, NEGLIGIBLE = 1.5, 0.01

#: A value is far from its prior beyond this many standard deviations.
FAR = 4.0

#: A simpler explanation is worth a finding if its error is less than this part of that of the fit.
WORSE = 0.97


def prediction_findings(predictions: Sequence[Prediction], channels: Sequence[Channel]) -> Iterator[str]:
    """Sentences on predictions of the part held out."""
    ranges = _largest_ranges(channels)
    for score in predictions:
        best = min(score.command, score.lag)
        if best < min(WORSE * score.rms, score.rms - NEGLIGIBLE * ranges[score.quantity]):
            plain = score.command <= score.lag
            simpler = "the unchanged command predicts" if plain else "dead times and lags alone predict"
            yield (
                f"{score.quantity}: {simpler} the part held out better ({best:.3g} against {score.rms:.3g}); the "
                "vehicle changed, the recording is too short, or the model does not fit"
            )
    if predictions and all(WORSE * score.rms <= score.command <= score.rms / WORSE for score in predictions):
        yield "the unchanged command predicts the part held out as well; too little changes there to judge the vehicle"


def findings_of(fit: Fit, channels: Sequence[Channel], numbers: NamedEstimates) -> Iterator[str]:
    """Sentences on the result, the worst first."""
    yield from far_from_priors(fit)
    yield from _confounded(fit)
    terms = fit.setup.family.terms
    for pair, (low, high) in fit.intervals.sums.items():
        both, delays = 0.5 * (low + high), [terms[k].name for k in pair]
        if not any(map(numbers.get, delays)) and high - both <= max(USEFUL * both, USEFUL_TIME):
            known = f"{both:.4g} s together ({ends(max(low, 0.0), high)})"
            yield f"{' and '.join(delays)}: {known}; the recording does not show the share of each"
    yield from fit.setup.findings
    yield from fit.setup.variant
    confounded = set[int]().union(*fit.intervals.confounded)
    for k in np.flatnonzero(fit.solution.free):
        term = terms[k]
        if term.kind.roughly and numbers[term.name] is None and k not in confounded:
            [word] = named(fit.setup.family.model.name, [term.name])
            about = term.kind.roughly.format(word.with_unit(term.parameter(float(fit.solution.point[k])), 2))
            yield f"{term.name}: {about}, but the recording determines it only roughly"
    worst: dict[str, Channel] = {}
    ranges = _largest_ranges(channels)
    for channel in channels:
        if channel.residual > NOISY * channel.noise + NEGLIGIBLE * ranges[channel.quantity]:
            worst[channel.name] = max(worst.get(channel.name, channel), channel, key=attrgetter("residual"))
    if worst:
        residuals = ", ".join(f"{channel.residual:.2g} {channel.unit}" for channel in worst.values())
        yield (
            f"{', '.join(worst)}: the model leaves {residuals}, which is more than noise; the model structure does not "
            "fit, or there was a disturbance"
        )


def calibration_findings(fit: Fit, result: VehicleFit) -> Iterator[str]:
    """Sentences on a fit of the gains of wheels."""
    yield from (f"with gains of wheels: {finding}" for finding in _confounded(fit))
    yield from fit.setup.findings
    yield from _diameters(fit, result.calibrations)


def _confounded(fit: Fit) -> Iterator[str]:
    """Terms that the recordings do not distinguish."""
    terms = fit.setup.family.terms
    for group in joined(fit.intervals.confounded):
        names = " and ".join(terms[k].name for k in sorted(group))
        many, alone = "are not distinguishable in this recording", "may change a little without an effect on the fit"
        yield f"{names} {many if len(group) > 1 else alone}; no interval is given"


def far_from_priors(fit: Fit, only: TermKind | None = None) -> Iterator[str]:
    """Values of terms, or of those of one kind, that are many standard deviations away from their priors."""
    problem = fit.problem
    for k in np.flatnonzero(fit.solution.free & np.isfinite(problem.sigma)):
        term, away = problem.terms[k], abs(fit.solution.point[k] - problem.mean[k]) / problem.sigma[k]
        if away > FAR and term.kind.far and only in (None, term.kind):
            value, mean = (term.value(float(x)) for x in (fit.solution.point[k], problem.mean[k]))
            yield (
                f"{term.name}: {value:.3g} is {away:.1f} standard deviations from the expected {mean:.3g}; "
                f"{term.kind.far}"
            )


def joined(groups: Sequence[Sequence[int]]) -> list[set[int]]:
    """The groups of terms; those of several terms that have a term in common are joined."""
    joined: list[set[int]] = []
    for group in groups:
        touching = [known for known in joined if len(group) > 1 and len(known) > 1 and known & set(group)]
        joined = [known for known in joined if known not in touching] + [set(group).union(*touching)]
    return joined


def _diameters(fit: Fit, calibrations: Mapping[str, Estimate | None]) -> Iterator[str]:
    """Diameters of wheels by their gains, if a vehicle was given and its gains do not include those of commands."""
    if not (fit.setup.given and fit.setup.wheels_measured):
        return
    for name in WHEELS.values():
        if (gain := calibrations.get(name)) is not None:
            configured = value_of(fit.setup.family.parameters, "tire_diameter")
            value, low, high = (configured * factor for factor in (gain.value, gain.low, gain.high))
            side = name.removesuffix(" gain")
            yield f"{side}: diameter {value:.5g} m ({ends(low, high)}), its gain times the given {configured:g} m"


def _largest_ranges(channels: Sequence[Channel]) -> dict[str, float]:
    """The largest range of each quantity in all channels; that of the lateral speed is at least that of the speed."""
    ranges = dict.fromkeys(QUANTITIES, 0.0)
    for channel in channels:
        spread = float(np.ptp(np.percentile(channel.measured, (1.0, 99.0))))
        ranges[channel.quantity] = max(ranges.get(channel.quantity, 0.0), spread)
    return ranges | {"v_y": max(ranges["v_x"], ranges["v_y"])}
