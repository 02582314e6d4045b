"""bench/changed_constant.py: a constant of the estimator is changed wherever it was imported."""

from __future__ import annotations

import pytest
from helpers.tools import tool

from vds_gz.tools.study.identify import cross_validation, selection

changed_constant = tool("changed_constant", "bench")


def test_a_constant_changes_in_its_module_and_where_it_was_imported(monkeypatch):
    before = cross_validation.LEAST
    for module in (cross_validation, selection):
        monkeypatch.setattr(module, "LEAST", before)  # restored after the test
    changed_constant.change("cross_validation.LEAST", 2.0)
    assert cross_validation.LEAST == selection.LEAST == 2.0 * before


def test_a_name_that_is_no_constant_is_refused():
    with pytest.raises(AttributeError, match="NO_SUCH"):
        changed_constant.change("cross_validation.NO_SUCH", 2.0)
