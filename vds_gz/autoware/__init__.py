"""The vehicles of Autoware's planning simulator: a guest of this package, whose other parts do without it.

``parameters`` and ``vehicle`` are the models with their reports; ``identify`` finds their numbers in recordings.
"""
