"""bench/changed_constant.py: a constant of the estimator is changed wherever it was imported."""

from __future__ import annotations

import pytest
from helpers.tools import ROOT, tool

from vds_gz.tools.study.identify import cross_validation, selection
from vds_gz.tools.study.identify.problem import segments

changed_constant = tool("changed_constant", "bench")


def test_a_constant_changes_in_its_module_and_where_it_was_imported(monkeypatch):
    before = cross_validation.LEAST
    for module in (cross_validation, selection):
        monkeypatch.setattr(module, "LEAST", before)  # restored after the test
    changed_constant.change("cross_validation.LEAST", 2.0)
    assert cross_validation.LEAST == selection.LEAST == 2.0 * before


def test_an_equal_constant_of_another_module_stays(monkeypatch):
    for module in (cross_validation, segments):
        monkeypatch.setattr(module, "FEWEST_BLOCKS", 7, raising=False)
    changed_constant.change("cross_validation.FEWEST_BLOCKS", 2.0)
    assert (cross_validation.FEWEST_BLOCKS, segments.FEWEST_BLOCKS) == (14, 7)


def test_whole_numbers_stay_whole_and_positive(monkeypatch):
    for name, value in (("REFIT_SIMULATIONS", 5), ("AT_ONCE", 1)):
        monkeypatch.setattr(selection, name, value, raising=False)
        changed_constant.change(f"selection.{name}", 0.5)
    assert (selection.REFIT_SIMULATIONS, selection.AT_ONCE) == (2, 1)
    assert isinstance(selection.REFIT_SIMULATIONS, int)


def test_the_constants_of_the_search_exist(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench")
    table = tool("identification_table", "bench")
    constants = [constant for module in table.SEARCH for constant in table.constants_of(module)]
    assert {constant.partition(".")[0] for constant in constants} == set(table.SEARCH)
    assert "cross_validation.LEAST" in constants
    assert "selection.LEAST" not in constants, "it is imported"
    for constant in constants:
        changed_constant.change(constant, 1.0)


def test_a_name_that_is_no_constant_is_refused():
    with pytest.raises(AttributeError, match="NO_SUCH"):
        changed_constant.change("cross_validation.NO_SUCH", 2.0)
