"""The fixtures of programs in processes of their own."""

from helpers.processes import probe, run, start

__all__ = ["probe", "run", "start"]
