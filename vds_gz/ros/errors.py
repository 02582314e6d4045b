"""What can go wrong before a node is on the graph."""

from vds_gz.errors import VdsGzError


class GraphError(VdsGzError, RuntimeError):
    """The graph could not be opened or an endpoint not be made, through no fault of the arguments."""


class UnknownTypeError(VdsGzError, ValueError):
    """There is no definition of a message, service or action type: the package that brings it is not installed."""


class MalformedMessageError(VdsGzError, ValueError):
    """The bytes received are no message of the type expected."""
