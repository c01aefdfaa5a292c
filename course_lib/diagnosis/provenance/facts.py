"""Facts about wrong numbers: how what each depends on differs from what it should depend on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from course_lib.diagnosis.provenance.dependence import DependenceTable, Experiment
from course_lib.problems.described import is_a_count

Array = np.ndarray
MOST_FACTOR = 1 << 12  # in an index made of others


def wrong_axes(right: Array, used: Array) -> tuple[int, ...] | None:
    """The axes on which used indices, row by row, are not the right ones; None if there is no rule
    by which they follow from these."""
    if len(right) == 0:
        return None
    known = right.shape[1]
    axes = [a for a in range(used.shape[1]) if a >= known or (used[:, a] != right[:, a]).any()]
    return tuple(axes) if all(_follows(right, used[:, axis]) for axis in axes) else None


def _follows(right: Array, u: Array) -> bool:
    """Are these a sum of the right indices, each times a whole number, and a number?"""
    known = np.column_stack([right, np.ones(len(u))])
    factors = np.rint(np.linalg.lstsq(known, u, rcond=None)[0])
    fits = bool((known @ factors == u).all()) and bool((np.abs(factors) < MOST_FACTOR).all())
    return fits or len(u) <= known.shape[1]


# --- Facts about an output ------------------------------------------------------------------------


Place = tuple[int, ...]
FactKind = Literal[
    "not finite", "unwritten", "unused", "before", "start", "moved", "reads other", "missing",
    "only", "surplus", "times", "independent", "weighted", "paired", "alias", "not meant",
    "foreign",
]  # fmt: skip
# Which terms of a sum.
TermsKind = Literal["first", "last", "from", "up to", "every", "stretch", "scattered"]
OF_COUNTS = ("unused", "independent")  # the facts that are also true of counts
MOST_OF = 0.8  # of the elements that a fact has to hold for
PRECISION = 1e-3  # to which a factor is known


@dataclass(frozen=True)
class SumTerms:
    """Which terms of a sum, counted from 0 to `of` - 1.

    The first or the last; from numbers[0] on, or up to it (without it); every numbers[1]-th from
    numbers[0] on; a stretch from numbers[0] up to numbers[1] (without it); or scattered.
    """

    kind: TermsKind
    numbers: tuple[int, ...]
    of: int

    @property
    def is_a_part(self) -> bool:
        """Are the elements neighbours, but not all of them?"""
        whole = self.kind == "up to" and self.numbers[0] == self.of
        return self.kind in ("from", "up to", "stretch") and not whole


@dataclass(frozen=True)
class Fact:
    """One thing that is wrong with the numbers.

    Attributes:
        kind: what it is.
        arrays: the kernel's names for the arrays concerned; for "moved" that is the output.
        share: of the wrong elements that this holds for.
        element: one of them.
        read, right: cells of the first array, as an example: the one that takes part there, and
            the one that should.
        axes: on which `read` is not `right`, if it follows from that by a rule. For "moved"
            they are elements of the output: `element` holds what belongs to `read`.
        terms: for "missing", "only" and "surplus", which ones; None if the elements differ in that.
        factor: for "start" the number; for "times" and "before" how often something counts.
        apart: `read` lies so many elements from `right` in every case, or a multiple of it, and
            this is the side of a tile; 0 if it is none.
        lines: those to suspect, the likeliest first.
    """

    kind: FactKind
    arrays: tuple[str, ...]
    share: float
    element: Place
    read: Place = ()
    right: Place = ()
    axes: tuple[int, ...] | None = None
    terms: SumTerms | None = None
    factor: float = 0.0
    apart: int = 0
    lines: tuple[int, ...] = ()

    @property
    def is_of_nothing(self) -> bool:
        """Does nothing of several arrays take part?"""
        return self.kind == "independent" and len(self.arrays) > 1

    @property
    def is_vague(self) -> bool:
        """Are terms missing in no order? Then no loop is to blame."""
        unordered = self.terms is None or self.terms.kind == "scattered"
        return self.kind in ("missing", "only") and unordered


def facts_of(found: Experiment) -> list[Fact]:
    """What is wrong, the plainest first."""
    output = (found.launcher.names[-1],)
    facts = [*_of_whole_elements(found, output)]
    is_count = is_a_count(found.expected, found.inputs)
    moved = None if is_count else _moved(found, output)  # small numbers may be the same by chance
    if moved:
        facts.append(moved)
    else:
        facts += [*_from_before(found, output), *_starts(found, output)]
        tables = [table for table in found.tables if table.is_clear]
        of_arrays = [fact for table in tables for fact in _of_array(found, table)]
        if is_count:  # a number that is another may be in its bin
            of_arrays = [fact for fact in of_arrays if fact.kind in OF_COUNTS]
        if tables == found.tables:
            facts += _joined(_aliases(tables, of_arrays))
        else:  # behind a softmax, what has little weight looks like what takes no part
            facts += _joined([fact for fact in of_arrays if not fact.is_vague])
    first = [fact for fact in facts if fact.kind == "moved" and fact.axes]
    rest = [fact for fact in facts if fact not in first]
    return first + sorted(rest, key=lambda fact: (-fact.share, fact.kind == "weighted"))


def _element(found: Experiment, flat: int) -> Place:
    return tuple(map(int, np.unravel_index(flat, found.shape or (1,))))


def _share(found: Experiment, mask: Array) -> float:
    return float(mask.sum() / found.wrong.sum())


def _of_whole_elements(found: Experiment, output: tuple[str, ...]) -> Iterator[Fact]:
    unfinished = found.wrong & ~np.isfinite(found.got)
    stays = found.wrong & ~found.unwritten & (found.expected == found.before.reshape(-1))
    if found.launcher.problem.starts_blank:
        stays[:] = False
    kinds: tuple[tuple[FactKind, Array], ...]
    kinds = (("unwritten", found.unwritten), ("not finite", unfinished), ("not meant", stays))
    for kind, mask in kinds:
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
    at, of = (
        np.stack(np.unravel_index(numbers[fits], found.shape), -1) for numbers in (rows, near)
    )
    element, read = _element(found, int(rows[fits][0])), _element(found, int(near[fits][0]))
    share = float(fits.sum() / found.wrong.sum())
    fact = Fact("moved", output, share, element, read, element)
    apart = _apart({*found.launcher.tile}, at, of)
    return replace(fact, axes=wrong_axes(at, of), apart=apart)


def _apart(sides: set[int], right: Array, used: Array) -> int:
    """The largest of these sides of a tile that divides all distances."""
    by = used - right if used.shape == right.shape else np.ones(1)
    return max((side for side in sides if side > 1 and (by % side == 0).all()), default=0)


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
        yield Fact("before", output, _share(found, mask), _element(found, at), factor=factor)


def _starts(found: Experiment, output: tuple[str, ...]) -> Iterator[Fact]:
    """Elements that are too large by one number where nothing is added up."""
    if not found.inputs:
        return
    with np.errstate(invalid="ignore"):
        follows = np.abs(found.got_other - found.got) > found.noise
        by = found.got_zero - found.zero
        off = np.isfinite(by) & (np.abs(by) > found.room)
        mask = off & found.wrong & ~found.unwritten & ~follows
    if mask.any():
        at = int(np.argmax(mask))
        yield Fact("start", output, _share(found, mask), _element(found, at), factor=float(by[at]))


# --- What each element says of one array --------------------------------------------------------


@dataclass(frozen=True)
class _Seen:
    """What one element says of one array: a fact without its share, and the cells behind it."""

    fact: Fact
    pairs: tuple[Array, Array] | None = None  # right and used cells, row by row


def _of_array(found: Experiment, table: DependenceTable) -> list[Fact]:
    """What the watched elements show, the most frequent kind first; one fact of each kind."""
    by_kind: dict[str, list[_Seen]] = {}
    for column, flat in enumerate(found.watched):
        seen = _of_element(table, column, _element(found, int(flat)))
        if seen:
            by_kind.setdefault(seen.fact.kind, []).append(seen)
    reachable = 1 - found.unwritten.sum() / found.wrong.sum()
    return [
        _together(found, table, seen, float(reachable * len(seen) / len(found.watched)))
        for seen in by_kind.values()
    ]


def _together(
    found: Experiment, table: DependenceTable, seen: Sequence[_Seen], share: float
) -> Fact:
    """One fact for several elements that show the same kind."""
    first = seen[0].fact
    pairs = [sighting.pairs for sighting in seen if sighting.pairs]
    if pairs:
        right, used = (np.concatenate(cells) for cells in zip(*pairs, strict=True))
        sides = {*found.launcher.tile, found.launcher.step_tile or 1}
        first = replace(first, axes=wrong_axes(right, used), apart=_apart(sides, right, used))
    [(terms, often)] = Counter(sighting.fact.terms for sighting in seen).most_common(1)
    [(factor, _)] = Counter(round(sighting.fact.factor, 2) for sighting in seen).most_common(1)
    agreed = terms if often >= MOST_OF * len(seen) else None
    kind, cell = first.kind, first.right
    unused = np.asarray(table.should.any(axis=1) & ~table.depends.any(axis=1))
    if kind == "missing" and agreed is None and (table.should <= table.depends)[~unused].all():
        kind, cell = "unused", _first(table, unused)
    return replace(first, kind=kind, right=cell, share=share, terms=agreed, factor=factor)


def _of_element(table: DependenceTable, column: int, element: Place) -> _Seen | None:
    """How the cells that one element depends on differ from those that it should depend on."""
    depends, should = table.depends[:, column], table.should[:, column]
    got, right = table.got[:, column], table.right[:, column]
    surplus, missing = depends & ~should, should & ~depends
    read, wanted = _first(table, surplus), _first(table, missing)
    fact = partial(Fact, arrays=(table.array,), share=0.0, element=element, read=read, right=wanted)
    if not should.any() and not depends.any():
        return None
    if not depends.any():
        return _Seen(fact("independent"))
    if not missing.any() and surplus.any():
        if not table.should.any():
            return None  # in this launch nothing depends on it, whatever is done with it
        return _Seen(fact("foreign" if _is_foreign(table, should, surplus) else "surplus"))
    if surplus.any():
        return _Seen(fact("reads other"), _paired(table, column))
    if missing.any():
        used = np.flatnonzero(depends[should])
        gathered = _gathered(got[should], right[should], used)
        if gathered is not None:
            places = table.places(np.flatnonzero(should))
            return _Seen(fact("reads other"), (places, places[gathered]))
        # Of two terms the first stays where a sum ends early, and the last where it is set anew.
        alone = len(used) == 1 and (used[0] > 0 or should.sum() > 2)
        terms = _terms(np.flatnonzero((depends if alone else missing)[should]), int(should.sum()))
        return _Seen(fact("only" if alone else "missing", terms=terms))
    times = _times(fact, got[should], right[should])
    pairs = _paired(table, column) if times and times.fact.kind == "weighted" else None
    if pairs and not np.array_equal(*pairs):
        return _Seen(fact("paired"), pairs)
    return times


def _is_foreign(table: DependenceTable, should: Array, surplus: Array) -> bool:
    """Do cells that take part too belong to another element's sum, as those of another row?"""
    own, other = (table.places(np.flatnonzero(cells)) for cells in (should, surplus))
    if len(own) < 2:
        return False
    same = (own == own[0]).all(axis=0)
    return bool((other[:, same] != own[0, same]).any())


def _gathered(got: Array, right: Array, used: Array) -> Array | None:
    """Which cells of a sum take the place of missing ones, if some do.

    A cell's factor is then the sum of what belongs to it and to those that it stands for; or, where
    both operands are read so, that many times its own. Tried: the first ones again and again, each
    for some neighbours, and for each missing one the cell whose factor is too large by its own.
    """
    ranks = np.arange(len(right))
    again: Array = ranks % (used[-1] + 1)
    sums = np.bincount(again, right, len(right))[used]
    if set(again) == set(used) and _close(got[used], sums).all():
        return again
    gaps = np.abs(np.cumsum(got[used])[:, None] - np.cumsum(right))
    ends = gaps.argmin(axis=1)  # of the neighbours that each one stands for
    if ends[-1] == ranks[-1] and (np.diff(ends) > 0).all() and (gaps.min(axis=1) < PRECISION).all():
        return np.asarray(used[np.searchsorted(ends, ranks)])
    times = got[used] / right[used]
    if _close(times, np.maximum(np.rint(times), 1)).all() and times.sum() > len(right) - 0.5:
        return again if set(again) == set(used) else None
    missing = np.setdiff1d(ranks, used)
    fits = _close((got - right)[used], right[missing][:, None])
    if not (fits.sum(axis=1) == 1).all():
        return None
    instead: Array = ranks.copy()
    instead[missing] = used[fits.argmax(axis=1)]
    return instead


def _close(numbers: Array, others: Array) -> Array:
    return np.asarray(np.abs(numbers - others) <= PRECISION * (0.1 + np.abs(others)))


def _times(fact: Callable[..., Fact], got: Array, right: Array) -> _Seen | None:
    """The right cells: with the right factors, all a number of times too large, or otherwise."""
    with np.errstate(all="ignore"):
        ratio = got / right
    if not np.isfinite(ratio).all():
        return None
    off = np.abs(ratio - 1) > PRECISION
    if not off.any():
        return None
    first = float(ratio[off][0])
    often = (first > 1 and abs(first - round(first)) <= PRECISION) or abs(first + 1) <= PRECISION
    if often and (np.abs(ratio[off] - first) <= PRECISION * max(1.0, abs(first))).all():
        terms = _terms(np.flatnonzero(off), len(off))
        return _Seen(fact("times", factor=first, terms=terms))
    return _Seen(fact("weighted"))


def _paired(table: DependenceTable, column: int) -> tuple[Array, Array] | None:
    """Which cell took the place of which: matched by equal factors, else by their order."""
    used, right = (np.flatnonzero(matrix[:, column]) for matrix in (table.depends, table.should))
    factors, wanted = table.got[used, column], table.right[right, column]
    with np.errstate(invalid="ignore"):
        near = np.abs(factors[:, None] - wanted) <= PRECISION * np.abs(wanted)
    if (near.sum(axis=0) == 1).all() and (near.sum(axis=1) == 1).all():
        used = used[near.argmax(axis=0)]
    elif len(used) == 1:
        used = np.repeat(used, len(right))
    elif len(used) != len(right) or (used == right).all():
        return None
    return table.places(right), table.places(used)


def _first(table: DependenceTable, mask: Array) -> Place:
    return tuple(map(int, table.places(np.flatnonzero(mask)[:1])[0])) if mask.any() else ()


def _terms(ranks: Array, of: int) -> SumTerms:
    first, last, count = int(ranks[0]), int(ranks[-1]), len(ranks)
    if count == 1 and of > 1 and first in (0, of - 1):
        return SumTerms("last" if first else "first", (), of)
    if last - first == count - 1:
        if first == 0:
            return SumTerms("up to", (last + 1,), of)
        return (
            SumTerms("from", (first,), of)
            if last == of - 1
            else SumTerms("stretch", (first, last + 1), of)
        )
    step = int(ranks[1]) - first  # a series is one only if it spans the whole sum
    if np.array_equal(ranks, np.arange(first % step, of, step)):
        return SumTerms("every", (first, step), of)
    return SumTerms("scattered", (), of)


def _aliases(tables: Sequence[DependenceTable], facts: Sequence[Fact]) -> list[Fact]:
    """Where an array counts nowhere, and another one does at its indices: one fact for both."""
    left = list(facts)
    for table in tables:
        for other in tables:
            own = [fact for fact in left if fact.arrays == (table.array,)]
            unused = [fact for fact in own if fact.kind == "independent"]
            if table is other or not unused or not _stands_in(other, table):
                continue
            alias = replace(unused[0], kind="alias", arrays=(other.array, table.array))
            gone = {table.array, other.array}
            left = [fact for fact in left if not gone & {*fact.arrays}] + [alias]
    return left


def _stands_in(other: DependenceTable, table: DependenceTable) -> bool:
    """Do most elements depend more on cells of one array, where they should on the same cells of
    another?"""
    if len(other.shape) != len(table.shape):
        return False
    places = [tuple(map(int, indices)) for indices in other.places(np.arange(len(other.cells)))]
    row_of = {place: row for row, place in enumerate(places)}
    stands = []
    for column in range(table.should.shape[1]):
        wanted = table.places(np.flatnonzero(table.should[:, column]))
        rows = [
            row_of[place] for indices in wanted if (place := tuple(map(int, indices))) in row_of
        ]
        more = np.abs(other.got[rows, column] - other.right[rows, column]) > PRECISION
        more &= other.depends[rows, column]
        stands.append(bool(rows) and bool(more.all()))
    return float(np.mean(stands)) >= MOST_OF


def _joined(facts: Sequence[Fact]) -> list[Fact]:
    """The same fact about several arrays as one; factors that only follow from another array's
    cells are none."""
    substituted = any(fact.kind in ("reads other", "independent", "alias") for fact in facts)
    joined: dict[tuple[object, ...], Fact] = {}
    for fact in facts:
        if fact.kind in ("weighted", "paired") and substituted:
            continue
        own = (fact.arrays, fact.axes) if fact.kind in ("reads other", "alias") else ()
        key = (fact.kind, fact.terms, round(fact.factor, 2), own)
        if key in joined:
            joined[key] = replace(joined[key], arrays=(*joined[key].arrays, *fact.arrays))
        else:
            joined[key] = fact
    return list(joined.values())
