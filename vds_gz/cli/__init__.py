"""``vds-gz``: one file a command. :mod:`vds_gz.cli.program` chooses among them."""

from vds_gz.cli.program import main

__all__ = ["main"]
