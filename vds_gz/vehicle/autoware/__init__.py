"""The vehicle models of Autoware's planning simulator: pedals or accelerations, gears, and four kinds of steering.

Each model is one way to drive (:mod:`drive`), one way to steer (:mod:`steering`, :mod:`mechanism`) and a rule of the
gears (:mod:`gears`), put together in :mod:`models`; state, integrators and step are the same for all.

Every model has two behaviours. ``compatibility: autoware`` computes what Autoware's own program computes, to the last
digits that it prints. ``compatibility: physical`` corrects what no vehicle does: each correction is a line that asks
for ``physical``, and a sentence "Corrected (name)" in its docstring. docs/autoware.md has all formulas and corrections.
"""
