"""What a wrong answer is expected to be told, from the marks in its own text.

A mark is a comment at the end of a line:

    acc = 0.0  # <- float64-arithmetic
    acc += sA[ty, k] * sB[k, tx]  # <- uninitialised-read, stale-shared-read
    TILE = 64  # <- invalid-launch (any line)
    for t in range(K):  # <- excess-barriers (any line) (warning)

The first error must have a code of a marked line, and blame that line. Several codes on a line
are equally true; several marked lines are equally to blame (the two sides of a race, the store
and the load of which one is transposed). `(any line)` leaves the line open, for what is wrong
as a whole. `(warning)` marks an answer that is right but costly: it passes, with that warning.

`(told code line)` is what an answer is told in place of its mark: it is refused as the others are,
and nothing false is said of it, but the cause is told where it shows, or by another change that
mends as much. The mark says what would be better. There may only become fewer of these.
"""

import re
from dataclasses import dataclass

from stored_answers import BY_COST, wrong_answers

from course_lib.wording.findings import CODES, Finding

_MARK = re.compile(r"# <- (?P<codes>[a-z0-9, -]+?)(?P<flags>(?: \([a-z ]+\))*)$")
_FLAGS = {"(any line)", "(warning)"}
_OTHERWISE = re.compile(r" \(told (?P<code>[a-z0-9-]+) (?P<line>\d+)\)")


@dataclass(frozen=True)
class Mutant:
    """A wrong (or costly) answer and what the checker must say about it."""

    exercise: str
    name: str
    text: str
    codes_at: dict[int, frozenset[str]]
    any_line: bool
    is_warning: bool
    otherwise: tuple[str, int] | None = None

    @property
    def codes(self) -> frozenset[str]:
        """Every code that is expected somewhere."""
        return frozenset().union(*self.codes_at.values())

    def objection(self, found: Finding) -> str:
        """Why `found` is not what is expected; empty if it is."""
        if found.code not in self.codes:
            return f"expected {sorted(self.codes)}, found {found.code} at line {found.line}"
        if self.any_line:
            return ""
        if found.code not in self.codes_at.get(found.line or 0, ()):
            lines = [line for line, codes in self.codes_at.items() if found.code in codes]
            return f"{found.code}: expected line {lines}, found line {found.line}"
        if found.other_line is not None and found.other_line not in self.codes_at:
            return f"{found.code}: other line {found.other_line} is not to blame"
        return ""


def as_mutant(exercise: str, name: str, text: str) -> Mutant:
    """A wrong answer with what its marks say.

    Raises:
        ValueError: if the text holds no mark, or an unknown code.
    """
    codes_at: dict[int, frozenset[str]] = {}
    flags: set[str] = set()
    told = _OTHERWISE.search(text)
    text = _OTHERWISE.sub("", text)
    for number, line in enumerate(text.splitlines(), 1):
        if "# <-" not in line:
            continue
        mark = _MARK.search(line)
        codes = frozenset(mark["codes"].split(", ")) if mark else frozenset()
        if not codes or not codes <= CODES.keys():
            raise ValueError(f"{exercise}, {name}, line {number}: cannot read the mark")
        codes_at[number] = codes
        flags |= set(re.findall(r"\([a-z ]+\)", mark["flags"])) if mark else set()
    if not codes_at or not flags <= _FLAGS:
        raise ValueError(f"{exercise}, {name}: no mark, or an unknown flag {flags - _FLAGS}")
    otherwise = (told["code"], int(told["line"])) if told else None
    is_open, is_warning = ("(any line)" in flags, "(warning)" in flags)
    return Mutant(exercise, name, text, codes_at, is_open, is_warning, otherwise)


def one_of_each(mutants: list[Mutant], exercises: bool = True) -> set[str]:
    """Exercise and name of a few mutants that between them are of all codes, and all exercises."""
    chosen, seen = set(), set()
    for mutant in sorted(mutants, key=lambda each: BY_COST.index(each.exercise)):
        new = {*mutant.codes, *[mutant.exercise] * exercises} - seen
        if new:
            seen |= new
            chosen.add(f"{mutant.exercise}-{mutant.name}")
    return chosen


def all_mutants() -> list[Mutant]:
    """Every mutant of every exercise."""
    return [as_mutant(*key, text) for key, text in wrong_answers().items()]
