"""Tell where the course gives away, before a prediction, what only its reveal should say."""

import re
from collections.abc import Callable, Iterable, Iterator

from lesson_rules.shown import ShownPiece

from course_lib.questions import find
from course_lib.questions.kinds import Question

_AROUND = 30  # characters on both sides of what is quoted
_MARKS = re.compile(r"[*`]|(?<!\w)_|_(?!\w)")


def spoilt(
    pieces: Iterable[ShownPiece], question_of: Callable[[str], Question] = find
) -> Iterator[str]:
    """A sentence for each place that shows a spoiler of a prediction that is still to come.

    Args:
        pieces: what is shown, in its order.
        question_of: finds the prediction that a piece reveals.
    """
    before: list[tuple[ShownPiece, str]] = []
    for piece in pieces:
        if piece.reveals:
            for spoiler in question_of(piece.reveals).spoilers:
                for earlier, text in before:
                    if quoted := found(spoiler, text):
                        yield f"{earlier.where} spoils {piece.reveals}: “{quoted}”"
        before.append((piece, read_aloud(piece.text)))


def found(spoiler: str | re.Pattern[str], text: str) -> str:
    """What a text shows of a spoiler, with a little around it; empty if nothing."""
    if isinstance(spoiler, str):
        words = r"\s+".join(map(re.escape, read_aloud(spoiler).split()))
        pattern = re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)
    else:
        pattern = re.compile(spoiler.pattern, spoiler.flags | re.IGNORECASE)
    place = pattern.search(text)
    if place is None:
        return ""
    return text[max(0, place.start() - _AROUND) : place.end() + _AROUND]


def read_aloud(text: str) -> str:
    """A text without what marks it up, so that `four` and **four** are four; blanks are one."""
    return " ".join(_MARKS.sub("", text).split())
