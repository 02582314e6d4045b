"""Readings of vehicles that follow one recording."""

from vds_gz.tools.fleet.sampled import EXACT, SampledDrive, Simulations


def sampled(model, parameters, commands, begins, readings, *, step_rate=1000.0, calibrations=EXACT, starts=None):
    """Readings of shape (readings, vehicles)."""
    drive = SampledDrive(commands, begins, readings, starts)
    return Simulations(model, parameters, step_rate).read([drive], calibrations)[0]
