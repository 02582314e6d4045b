"""Filters of names are those of a regular expression, in linear time."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.errors import FailureError
from vds_gz.programs.nodes.name_filter import occurs

atoms = st.sampled_from(["v", "e", "h", "i", "c", "l", "x", ".", "[a-h]", "[^e]", "[]v]", r"\w", r"\.", r"\\"])
parts = st.builds("".join, st.tuples(atoms, st.sampled_from(["", "*", "+", "?"])))
alternatives = st.builds(
    "".join,
    st.tuples(st.sampled_from(["", "^"]), st.builds("".join, st.lists(parts, max_size=8)), st.sampled_from(["", "$"])),
)
filters = st.builds("|".join, st.lists(alternatives, min_size=1, max_size=3))


@given(filters, st.sampled_from(["vehicle", "v", "", "vvv.hhh", "v\\"]))
def test_a_filter_matches_what_a_regular_expression_matches(text, name):
    assert occurs(text, name) == (re.search(text, name) is not None)


def test_no_filter_takes_long():
    """With backtracking each of these would take longer than anyone waits."""
    assert not occurs(".?" * 400 + "x", "vehicle" * 20)
    assert not occurs(".*" * 400 + "x", "vehicle" * 20)


@pytest.mark.parametrize(
    "text",
    ["(?:.?){60}x", "(vehicle)", "v{2}", "[", "*", "a**", "v" * 2000, r"\1", "[b-a]", r"\bv", r"e\B|v", r"\Av", r"e\Z"],
)
def test_other_filters_are_refused_with_a_reason(text):
    with pytest.raises(FailureError, match=r"filter .*(supported|expression)"):
        occurs(text, "vehicle")
