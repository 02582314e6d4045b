"""Filters of names that other nodes send: a part of POSIX's extended regular expressions, in linear time.

Python's :mod:`re` would run any expression, and some take longer than the age of the universe. Here a filter may have
characters, ``.``, ``[...]``, escapes, ``*``, ``+``, ``?``, ``^``, ``$`` and ``|``; it may not have groups and ``{n}``.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from warnings import catch_warnings, simplefilter

from vds_gz.core.errors import FailureError

#: Maximum length of a filter.
LONGEST = 1000

_PART = re.compile(r"(?P<one>\[\^?\]?[^\]]*\]|\\.|[^\\\[\](){}*+?|^$])(?P<often>[*+?]?)", re.DOTALL)

#: An odd number of backslashes before the last character.
_ESCAPED_END = re.compile(r"(?<!\\)(\\\\)*\\.\Z", re.DOTALL)

#: Escapes that stand for places between characters.
_PLACES = (r"\A", r"\b", r"\B", r"\z", r"\Z")


class _FilterAtom(NamedTuple):
    """One character of a filter, and how often it may come."""

    one: re.Pattern[str]
    skippable: bool
    repeatable: bool


def occurs(text: str, name: str) -> bool:
    """Whether a filter matches any part of a name, as ``grep -E`` searches; an empty one always does.

    Raises:
        FailureError: The filter has a part that is not supported.
    """
    if len(text) > LONGEST:
        raise FailureError(f"the filter has {len(text)} characters; at most {LONGEST} are supported")
    occurrences = [_alternative_occurs(alternative, name) for alternative in _alternatives(text)]
    return any(occurrences)  # after all are checked


def _alternatives(text: str) -> list[str]:
    """The alternatives between ``|``, which may also be escaped or in brackets."""
    pieces = re.findall(r"\\.|\[\^?\]?[^\]]*\]|[^|]|\|", text, re.DOTALL)
    alternatives = [""]
    for piece in pieces:
        if piece == "|":
            alternatives.append("")
        else:
            alternatives[-1] += piece
    return alternatives


def _alternative_occurs(text: str, name: str) -> bool:
    """Whether an alternative matches, by the set of all parts that may come next."""
    begins, ends = text.startswith("^"), text.endswith("$") and not _ESCAPED_END.search(text)
    parts = _parts(text[begins : len(text) - ends], text)
    found = matched = False
    waiting: set[int] = set()
    for place in range(len(name) + 1):
        if place == 0 or not begins:
            waiting.add(0)
        for index, part in enumerate(parts):
            if index in waiting and part.skippable:
                waiting.add(index + 1)
        matched = len(parts) in waiting
        found = found or matched
        if place < len(name):
            met = [index for index in waiting if index < len(parts) and parts[index].one.fullmatch(name[place])]
            waiting = {index + 1 for index in met} | {index for index in met if parts[index].repeatable}
    return matched if ends else found


def _parts(text: str, whole: str) -> list[_FilterAtom]:
    parts, place = [], 0
    while place < len(text):
        match = _PART.match(text, place)
        if match is None:
            raise FailureError(
                f"filter '{whole}' is not supported at '{text[place:]}'; it may have characters and . [] \\ * + ? ^ $ |"
            )
        if match["one"] in _PLACES:
            raise FailureError(
                f"filter '{whole}' is not supported at '{text[place:]}': '{match['one']}' stands for a place between "
                "characters; ^ and $ are supported"
            )
        try:
            with catch_warnings():
                simplefilter("ignore")  # of sets that Python may read in another way one day
                one = re.compile(match["one"], re.DOTALL)
        except re.error as error:
            raise FailureError(f"filter '{whole}' is not a regular expression: {match['one']}: {error}") from None
        parts.append(_FilterAtom(one, match["often"] in ("*", "?"), match["often"] in ("*", "+")))
        place = match.end()
    return parts
