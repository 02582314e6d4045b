"""The fixtures of programs in processes of their own."""

from processes import domain, probe, run, start

__all__ = ["domain", "probe", "run", "start"]
