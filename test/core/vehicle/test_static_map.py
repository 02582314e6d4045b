"""Static maps from reference to response, against numpy's interpolation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.parameters.actuator_parameters import MAP_POINTS, DriveParameters
from vds_gz.core.parameters.declaration import ParameterError
from vds_gz.core.vehicle.actuators import drive_coefficients, static_response, steady_reference
from vds_gz.core.vehicle.static_map import mapped, static_map

THROTTLE = DriveParameters(map_references=(0.0, 0.2, 0.5, 1.0), map_responses=(0.0, 0.0, 1.2, 2.0))
numbers = st.integers(-40, 40).map(lambda number: number / 8)
points = st.lists(numbers, min_size=2, max_size=MAP_POINTS, unique=True).flatmap(
    lambda entries: st.tuples(st.just(sorted(entries)), st.lists(numbers, min_size=len(entries), max_size=len(entries)))
)


@given(points, st.floats(-6.0, 6.0))
def test_between_points_the_response_follows_straight_lines_and_beyond_them_it_stays(points, reference):
    references, responses = points
    p = DriveParameters(map_references=tuple(references), map_responses=tuple(responses))
    odd = references[0] >= 0.0
    expected = np.interp(abs(reference) if odd else reference, references, responses)
    expected = -expected if odd and reference < 0.0 else expected
    assert mapped(static_map(p), reference) == pytest.approx(expected, abs=1e-9)


@given(points, st.integers(0, MAP_POINTS - 1))
def test_the_steady_reference_of_a_response_has_that_response(points, chosen):
    references, responses = points
    p = DriveParameters(map_references=tuple(references), map_responses=tuple(responses), gain=2.0, offset=0.5)
    c = drive_coefficients(p, 1e-3)
    response = 2.0 * responses[chosen % len(responses)] + 0.5
    assert static_response(c, steady_reference(c, response)) == pytest.approx(response, abs=1e-9)


def test_the_steady_reference_of_a_map_that_turns_round_is_of_the_other_sign():
    c = drive_coefficients(DriveParameters(map_references=(0.0, 1.0), map_responses=(0.0, -2.0)), 1e-3)
    assert [steady_reference(c, response) for response in (-1.0, 0.0, 1.0)] == [0.5, 0.0, -0.5]


def test_a_response_that_begins_only_at_the_first_point_needs_no_reference_at_standstill():
    c = drive_coefficients(DriveParameters(map_references=(0.2, 1.0), map_responses=(0.0, 2.0)), 1e-3)
    assert steady_reference(c, 0.0) == 0.0


def test_a_map_acts_between_dead_band_and_gain():
    p = DriveParameters(
        map_references=THROTTLE.map_references, map_responses=THROTTLE.map_responses, dead_band=0.3, gain=0.5
    )
    c = drive_coefficients(p, 1e-3)
    assert [static_response(c, throttle) for throttle in (0.25, 0.5, -1.0)] == pytest.approx([0.0, 0.6, -1.0])


@pytest.mark.parametrize(
    ("references", "responses", "message"),
    [
        ((0.0, 1.0), (0.0,), "have 2 and 1 numbers; they must have equally many, at least 2, or none"),
        ((0.0,), (0.0,), "at least 2"),
        ((0.0, 0.5, 0.5), (0.0, 1.0, 2.0), "it must rise from point to point"),
        (tuple(range(9)), tuple(range(9)), "it must be a list of at most 8 finite numbers"),
    ],
)
def test_points_that_are_no_map_are_refused(references, responses, message):
    with pytest.raises(ParameterError, match=message):
        DriveParameters(map_references=references, map_responses=responses)
