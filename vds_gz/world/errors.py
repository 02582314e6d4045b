"""What can be wrong with a world."""

from vds_gz.errors import VdsGzError


class WorldError(VdsGzError, ValueError):
    """A world cannot be read. The message says what was found, in which file and line, and what is needed."""
