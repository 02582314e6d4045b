"""The vehicle models of Autoware's planning simulator: speeds, accelerations or pedals, gears, and five steerings.

:mod:`models` combines a drive (:mod:`drive`), a steering (:mod:`steering`, :mod:`mechanism`) and a rule of the gears
(:mod:`delay`) into each model; state, integrators and step are the same for all.

Models that are not ideal have two behaviours. ``compatibility: autoware`` reproduces Autoware's program to its last
printed digit; ``compatibility: physical`` corrects unphysical behaviour. Each correction is code that tests
``physical``, and a sentence "Corrected (name)" in its docstring, in which "else" is Autoware's behaviour.
docs/autoware.md has all formulas and corrections.
"""
