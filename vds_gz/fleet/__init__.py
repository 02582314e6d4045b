"""Many vehicles of one model, stepped together from the same source as one. Needs numba.

A model with ``lanes`` runs in lanes: structs of arrays, of which one instruction of the processor steps several
vehicles. All others run as an array of structs. Both give the bits of the interpreted step.
"""
