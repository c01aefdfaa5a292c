"""The name that was perhaps meant by one that nobody knows, as a hint."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from course_lib.sentences import Sentence, say

LONGEST_COMPARED, MOST_COMPARED = 40, 300  # characters of a name, and names
SHORT = 3  # of a name so short, one letter of three may be wrong


def did_you_mean(
    name: str, known: Iterable[str], before: str = "", alike: float | None = None
) -> Sentence | str:
    """ "Did you mean {before}{name}?" if a known name is near; "" if none is.

    `alike` is how much of two names has to be the same; left out, that depends on their length.
    Capitals do not count. Long names are not compared, nor are very many.
    """
    least = alike or (0.66 if len(name) <= SHORT else 0.75)
    spelled = {each.lower(): each for each in reversed([*known][:MOST_COMPARED])}
    short = [each for each in spelled if len(each) <= LONGEST_COMPARED and spelled[each] != name]
    near = difflib.get_close_matches(name[:LONGEST_COMPARED].lower(), short, n=1, cutoff=least)
    return say("Did you mean {near}?", near=before + spelled[near[0]]) if near else ""
