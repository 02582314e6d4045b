"""The vehicle models of Autoware's planning simulator: pedals or accelerations, gears, and four kinds of steering.

Each model is one way to drive (:mod:`drive`), one way to steer (:mod:`steering`, :mod:`mechanical`) and a rule of the
gears (:mod:`gears`), put together in :mod:`models`; state, integrators and step are the same for all.

Every model has two behaviours. ``compatibility: autoware`` computes what Autoware's own program computes, to the last
digits that it prints. ``compatibility: physical`` mends what no vehicle does: each mend is a line that asks for
``physical`` and says what it mends. The numbers of formulas in the docstrings are those of Autoware's own documentation
where it has any; docs/autoware.md has them all.
"""
