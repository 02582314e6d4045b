"""Many vehicles of one model, stepped together by the same code as one vehicle. Needs numba.

A model with ``lanes`` runs in lanes: structs of arrays, so that one instruction of the processor steps several
vehicles. Other models run as an array of structs. Both give the same bits as the interpreted step.
"""
