"""The vehicle models of Autoware's planning simulator: pedals or accelerations, gears, and four kinds of steering.

Each model is one way to drive (:mod:`drive`), one way to steer (:mod:`steering`, :mod:`mechanism`) and a rule of the
gears (:mod:`gears`), combined in :mod:`models`; state, integrators and step are the same for all.

Every model has two behaviours. ``compatibility: autoware`` reproduces Autoware's own program to its last printed digit.
``compatibility: physical`` corrects unphysical behaviour: each correction is a line that tests ``physical``, and a
sentence "Corrected (name)" in its docstring. docs/autoware.md has all formulas and corrections.
"""
