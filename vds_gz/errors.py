"""The family of exceptions that users of this package may meet. Whoever faces a user catches the base class alone."""

from __future__ import annotations


class VdsGzError(Exception):
    """Base of all errors that this package raises on purpose.

    The message says what was wrong, where, the value, and what would be right; it can be shown as it is.
    """


class ArgumentError(VdsGzError, ValueError):
    """Something given is wrong: on a command line, in a file that it names, in a call, or by another package."""


class FailureError(VdsGzError, RuntimeError):
    """What was wanted was right, but it failed."""
