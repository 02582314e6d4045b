"""The vehicles of Autoware's planning simulator: a guest of this package, whose other parts do without it.

``parameters`` and ``vehicle`` are the models, ``interface`` their topics, and ``identify`` finds their numbers in
recordings.
"""
