"""What can go wrong before a node is on the graph."""


class ArgumentError(ValueError):
    """Something given by the user is wrong: an argument, a parameter file or an environment variable.

    The message says what, where, the value and what would be right.
    """


class GraphError(RuntimeError):
    """The graph could not be opened or an endpoint not be made, through no fault of the arguments."""


class UnknownTypeError(ValueError):
    """There is no definition of a message, service or action type: the package that brings it is not installed."""


class MalformedMessageError(ValueError):
    """The bytes received are no message of the type expected."""
