"""Facts about wrong numbers, read off what each of them depends on and should depend on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from course_lib.diagnosis.provenance.forms import FIXED, SAME, AxisForm, forms_of
from course_lib.diagnosis.provenance.tables import Experiment, Table

Array = np.ndarray
Place = tuple[int, ...]
# The kinds of facts.
NOT_FINITE, UNWRITTEN, BEFORE, START = "not finite", "unwritten", "before", "start"
MOVED, READS_OTHER, MISSING, ONLY = "moved", "reads other", "missing", "only"
SURPLUS, TIMES, INDEPENDENT, WEIGHTED = "surplus", "times", "independent", "weighted"
# Which terms of a sum.
FIRST, LAST, FROM, UP_TO, EVERY, STRETCH, SCATTERED = (
    *("first", "last", "from", "up to", "every", "stretch", "scattered"),
)
MOST_OF = 0.8  # of the elements that a fact has to hold for
PRECISION = 1e-3  # to which a factor is known


@dataclass(frozen=True)
class Terms:
    """Which terms of a sum, counted from 0 to `of` - 1: FIRST, LAST, FROM numbers[0] on, UP_TO
    numbers[0] (without it), EVERY numbers[1]-th from numbers[0] on, a STRETCH from numbers[0] up to
    numbers[1] (without it), or SCATTERED."""

    kind: str
    numbers: tuple[int, ...]
    of: int


@dataclass(frozen=True)
class Fact:
    """One thing that is wrong with the numbers.

    Attributes:
        kind: what it is.
        arrays: the kernel's names for the arrays concerned; for MOVED that is the output.
        share: of the wrong elements that this holds for.
        element: one of them.
        read, right: cells of the first array, as an example: the one that takes part there, and
            the one that should.
        forms: how `read` follows from `right`, axis by axis, if there is a rule. For MOVED they are
            elements of the output: `element` holds what belongs to `read`.
        terms: for MISSING, ONLY and SURPLUS, which ones; None if the elements differ in that.
        factor: for START the number; for TIMES and BEFORE how often something counts.
        lines: those to suspect, the likeliest first.
    """

    kind: str
    arrays: tuple[str, ...]
    share: float
    element: Place
    read: Place = ()
    right: Place = ()
    forms: tuple[AxisForm, ...] | None = None
    terms: Terms | None = None
    factor: float = 0.0
    lines: tuple[int, ...] = ()


def facts_of(found: Experiment) -> list[Fact]:
    """What is wrong, the plainest first."""
    output = (found.launcher.names[-1],)
    facts = [*_of_whole_elements(found, output)]
    moved = _moved(found, output)
    if moved:
        return [*facts, moved]
    facts += _from_before(found, output)
    facts += _starts(found, output)
    of_arrays = [fact for table in found.tables for fact in _of_array(found, table)]
    return facts + _joined(of_arrays)


def _element(found: Experiment, flat: int) -> Place:
    return tuple(map(int, np.unravel_index(flat, found.shape or (1,))))


def _share(found: Experiment, mask: Array) -> float:
    return float(mask.sum() / found.wrong.sum())


def _of_whole_elements(found: Experiment, output: tuple[str, ...]) -> Iterator[Fact]:
    unfinished = found.wrong & ~np.isfinite(found.got)
    for kind, mask in ((UNWRITTEN, found.unwritten), (NOT_FINITE, unfinished)):
        if mask.any():
            yield Fact(kind, output, _share(found, mask), _element(found, int(np.argmax(mask))))


def _moved(found: Experiment, output: tuple[str, ...]) -> Fact | None:
    """Elements that hold what belongs to others."""
    rows = np.flatnonzero(found.wrong & ~found.unwritten & np.isfinite(found.got))
    if not len(rows) or len(np.unique(found.expected)) < len(found.expected) / 2:
        return None
    order = np.argsort(found.expected)
    place = np.clip(np.searchsorted(found.expected[order], found.got[rows]), 1, len(order) - 1)
    near = np.where(
        found.got[rows] - found.expected[order[place - 1]]
        < found.expected[order[place]] - found.got[rows],
        order[place - 1],
        order[place],
    )
    fits = np.abs(found.expected[near] - found.got[rows]) <= found.room[near]
    if fits.mean() < MOST_OF or len(rows) < 2:
        return None
    at, of = (np.stack(np.unravel_index(each[fits], found.shape), -1) for each in (rows, near))
    element, read = _element(found, int(rows[fits][0])), _element(found, int(near[fits][0]))
    return Fact(MOVED, output, float(fits.mean()), element, read, element, forms_of(at, of))


def _from_before(found: Experiment, output: tuple[str, ...]) -> Iterator[Fact]:
    """Elements in which what the output held before takes part."""
    if not found.launcher.problem.starts_blank:
        return
    by = found.got_other - found.got
    with np.errstate(invalid="ignore"):
        mask = (np.abs(by) > found.noise) & found.wrong & ~found.unwritten
    if mask.any():
        at = int(np.argmax(mask))
        change = found.other.reshape(-1).astype(np.float64) - found.before.reshape(-1)
        factor = float(by[at] / change[at])
        yield Fact(BEFORE, output, _share(found, mask), _element(found, at), factor=factor)


def _starts(found: Experiment, output: tuple[str, ...]) -> Iterator[Fact]:
    """Elements that are a number too large where nothing is added up."""
    follows = np.abs(found.got_other - found.got) > found.noise
    with np.errstate(invalid="ignore"):
        by = found.got_zero - found.zero
        mask = (np.abs(by) > found.room) & found.wrong & ~found.unwritten & ~follows
    if mask.any():
        at = int(np.argmax(mask))
        yield Fact(START, output, _share(found, mask), _element(found, at), factor=float(by[at]))


# --- arrays -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Seen:
    """What one element says of one array: a fact without its share, and the cells behind it."""

    fact: Fact
    pairs: tuple[Array, Array] | None = None  # right and used cells, row by row


def _of_array(found: Experiment, table: Table) -> list[Fact]:
    """The facts that most of the watched elements agree on; of each kind, one at most."""
    seen = [
        each
        for column, flat in enumerate(found.watched)
        if (each := _of_element(table, column, _element(found, int(flat))))
    ]
    facts = []
    for kind, count in Counter(each.fact.kind for each in seen).most_common():
        of_kind = [each for each in seen if each.fact.kind == kind]
        facts.append(_together(of_kind, count / len(found.watched)))
    return facts


def _together(seen: Sequence[_Seen], share: float) -> Fact:
    """One fact for several elements that show the same kind."""
    first = seen[0].fact
    pairs = [each.pairs for each in seen if each.pairs]
    forms = None
    if pairs:
        forms = forms_of(*(np.concatenate(each) for each in zip(*pairs, strict=True)))
    [(terms, often)] = Counter(each.fact.terms for each in seen).most_common(1)
    [(factor, _)] = Counter(round(each.fact.factor, 2) for each in seen).most_common(1)
    agreed = terms if often >= MOST_OF * len(seen) else None
    return replace(first, share=share, forms=forms, terms=agreed, factor=factor)


def _of_element(table: Table, column: int, element: Place) -> _Seen | None:
    """How the cells that one element depends on differ from those that it should depend on."""
    depends, should = table.depends[:, column], table.should[:, column]
    fact = Fact("", (table.array,), 0.0, element)
    got, right = table.got[:, column], table.right[:, column]
    if not should.any() and not depends.any():
        return None
    if not depends.any():
        return _Seen(replace(fact, kind=INDEPENDENT, right=_first(table, should)))
    if not should.any():
        return _Seen(replace(fact, kind=SURPLUS, read=_first(table, depends)))
    surplus, missing = depends & ~should, should & ~depends
    if (depends == should).all():
        return _times(fact, got[should], right[should])
    examples = {"read": _first(table, surplus), "right": _first(table, missing)}
    ranks = np.cumsum(should) - 1
    if not surplus.any():
        kind, chosen = (ONLY, depends) if depends.sum() == 1 < should.sum() else (MISSING, missing)
        terms = _terms(ranks[chosen], int(should.sum()))
        return _Seen(replace(fact, kind=kind, terms=terms, **examples))
    if not missing.any():
        return _Seen(replace(fact, kind=SURPLUS, **examples))
    pairs = _paired(table, column)
    return _Seen(replace(fact, kind=READS_OTHER, **examples), pairs)


def _times(fact: Fact, got: Array, right: Array) -> _Seen | None:
    """The right cells: with the right factors, all a number of times too large, or otherwise."""
    with np.errstate(all="ignore"):
        ratio = got / right
    if not np.isfinite(ratio).all():
        return None
    off = np.abs(ratio - 1) > PRECISION
    if not off.any():
        return None
    first = float(ratio[off][0])
    if (np.abs(ratio[off] - first) <= PRECISION * max(1.0, abs(first))).all():
        terms = _terms(np.flatnonzero(off), len(off))
        return _Seen(replace(fact, kind=TIMES, factor=first, terms=terms))
    return _Seen(replace(fact, kind=WEIGHTED))


def _paired(table: Table, column: int) -> tuple[Array, Array] | None:
    """Which cell stands in place of which: by the same factor, or else by their order."""
    used, right = (np.flatnonzero(each[:, column]) for each in (table.depends, table.should))
    factors, wanted = table.got[used, column], table.right[right, column]
    with np.errstate(invalid="ignore"):
        near = np.abs(factors[:, None] - wanted) <= PRECISION * np.abs(wanted)
    if (near.sum(axis=0) == 1).all() and (near.sum(axis=1) == 1).all():
        used = used[near.argmax(axis=0)]
    elif len(used) == 1:
        used = np.repeat(used, len(right))
    elif len(used) != len(right):
        return None
    return table.places(right), table.places(used)


def _first(table: Table, mask: Array) -> Place:
    return tuple(map(int, table.places(np.flatnonzero(mask)[:1])[0])) if mask.any() else ()


def _terms(ranks: Array, of: int) -> Terms:
    first, last, count = int(ranks[0]), int(ranks[-1]), len(ranks)
    if count == 1 and of > 1 and first in (0, of - 1):
        return Terms(LAST if first else FIRST, (), of)
    if last - first == count - 1:
        if first == 0:
            return Terms(UP_TO, (last + 1,), of)
        return Terms(FROM, (first,), of) if last == of - 1 else Terms(STRETCH, (first, last + 1), of)
    steps = np.unique(np.diff(ranks))
    return Terms(EVERY, (first, int(steps[0])), of) if len(steps) == 1 else Terms(SCATTERED, (), of)


def _joined(facts: Sequence[Fact]) -> list[Fact]:
    """The same fact about several arrays as one; factors that only follow from another array's
    cells are none."""
    substituted = any(each.kind in (READS_OTHER, INDEPENDENT) for each in facts)
    joined: dict[tuple[object, ...], Fact] = {}
    for fact in facts:
        if fact.kind == WEIGHTED and substituted:
            continue
        own = fact.arrays if fact.kind in (READS_OTHER, INDEPENDENT) else ()
        key = (fact.kind, fact.terms, round(fact.factor, 2), own)
        if key in joined:
            joined[key] = replace(joined[key], arrays=(*joined[key].arrays, *fact.arrays))
        else:
            joined[key] = fact
    return sorted(joined.values(), key=lambda each: -each.share)


__all__ = ["FIXED", "SAME", "Fact", "Terms", "facts_of"]
