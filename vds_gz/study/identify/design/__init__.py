"""Experiment design: the most informative commands for a vehicle, and how well its numbers will be known then."""
