"""Errors of graphs and messages."""

from vds_gz.errors import VdsGzError


class GraphError(VdsGzError, RuntimeError):
    """The graph or an endpoint could not be opened, although the arguments are right."""


class UnknownTypeError(VdsGzError, ValueError):
    """A message, service or action type is not defined: its package is not installed."""


class MalformedMessageError(VdsGzError, ValueError):
    """Received bytes are not a message of the expected type."""
