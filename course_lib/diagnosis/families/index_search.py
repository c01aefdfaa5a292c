"""The usual slips with indices: which one explains the numbers that came out?

A matrix product sums A[row, step] * B[step, column]. A slip puts another index into one of these
four places: the row within the block instead of the row, the step within the tile instead of
the step. That makes a few hundred thousand combinations, few enough to try them all against a
handful of output elements. With random inputs only the true one fits every one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from course_lib.diagnosis.launches.outcome import Geometry
from course_lib.diagnosis.slip import TRANSPOSED, Slip
from course_lib.sentences import one_after_another, say
from course_lib.words import joined

Array = np.ndarray
FEW = 64  # output elements that a moved result must explain before all are tried
SAMPLES = 8  # output elements that a combination must explain before all elements are tried
AXES = ("row", "column")
RIGHT = {"A": ("i", "k"), "B": ("k", "j")}  # what belongs into row and column of the operands
# Indices with the thread's other number: loaded so, most elements would never be read.
EXCHANGED = ("top+tx", "left+ty", "start+ty", "start+tx")
MOST_SLIPS = 2  # more slips at once than this are not looked for


class IndexValues:
    """Every index that a kernel might mix up, for some output elements and all steps of k.

    `i` and `j` (row and column of C) may be arrays; k adds one axis at the end.
    """

    def __init__(self, i: object, j: object, sizes: Geometry) -> None:
        tile = sizes.step_tile
        self.steps = sizes.steps
        self.tile = tile
        self.i = np.asarray(i)[..., None]
        self.j = np.asarray(j)[..., None]
        self.k = np.arange(sizes.steps)
        self.ty, self.tx = self.i % sizes.tile_rows, self.j % sizes.tile_columns
        self.by, self.bx = self.i // sizes.tile_rows, self.j // sizes.tile_columns
        self.top, self.left = self.i - self.ty, self.j - self.tx  # first row, column of the block
        self.t, self.kk = self.k // tile, self.k % tile
        self.start = self.k - self.kk  # first step of the tile


@dataclass(frozen=True)
class Symbol:
    """One index expression: what a student would call it, and its value."""

    text: str
    value: Callable[[IndexValues], Array]
    tiled: bool = False  # makes sense only where the sum is cut into tiles


_NO_OFFSET = "the {} within the block, so the offset of the block is missing"
_NO_FACTOR = "block number plus thread number, so the factor of the block's size is missing"
_NO_THREAD = "the same for the whole block, so the offset of the thread is missing"
# Where an index of a row or a column of C belongs.
OUTER: dict[str, Symbol] = {
    "i": Symbol("the row of C", lambda p: p.i),
    "j": Symbol("the column of C", lambda p: p.j),
    "ty": Symbol(_NO_OFFSET.format("row"), lambda p: p.ty),
    "tx": Symbol(_NO_OFFSET.format("column"), lambda p: p.tx),
    "by": Symbol("the number of the block in y", lambda p: p.by),
    "bx": Symbol("the number of the block in x", lambda p: p.bx),
    "by+ty": Symbol(_NO_FACTOR, lambda p: p.by + p.ty),
    "bx+tx": Symbol(_NO_FACTOR, lambda p: p.bx + p.tx),
    "top": Symbol(_NO_THREAD, lambda p: p.top),
    "left": Symbol(_NO_THREAD, lambda p: p.left),
    "top+tx": Symbol("the block's row with the thread's column", lambda p: p.top + p.tx),
    "left+ty": Symbol("the block's column with the thread's row", lambda p: p.left + p.ty),
    "i+1": Symbol("one too large", lambda p: p.i + 1),
    "j+1": Symbol("one too large", lambda p: p.j + 1),
    "i-1": Symbol("one too small", lambda p: p.i - 1),
    "j-1": Symbol("one too small", lambda p: p.j - 1),
    "0": Symbol("always 0", lambda p: 0 * p.k),
    "k": Symbol("the step k", lambda p: p.k),
    "kk": Symbol("the step within the tile", lambda p: p.kk, tiled=True),
    "top+kk": Symbol("the block's row plus the step", lambda p: p.top + p.kk, tiled=True),
    "left+kk": Symbol("the block's column plus the step", lambda p: p.left + p.kk, tiled=True),
}
# Where the step k belongs.
INNER: dict[str, Symbol] = {
    "k": Symbol("the step k", lambda p: p.k),
    "k+1": Symbol("one step too far", lambda p: p.k + 1),
    "k-1": Symbol("one step behind", lambda p: p.k - 1),
    "K-1-k": Symbol("the steps in reverse order", lambda p: p.steps - 1 - p.k),
    "0": Symbol("always 0", lambda p: 0 * p.k),
    "i": Symbol("the row of C", lambda p: p.i),
    "j": Symbol("the column of C", lambda p: p.j),
    "ty": Symbol("the row within the block", lambda p: p.ty),
    "tx": Symbol("the column within the block", lambda p: p.tx),
    "kk": Symbol(
        "the step within the tile, so the offset of the tile is missing", lambda p: p.kk, True
    ),
    "t": Symbol("the number of the tile", lambda p: p.t, True),
    "start*T": Symbol(
        "the tile's start times the tile's size, once too often",
        lambda p: p.start * p.tile + p.kk,
        True,
    ),
    "start": Symbol("the first step of the tile, every time", lambda p: p.start, True),
    "t+kk": Symbol(
        "tile number plus step, so the factor of the tile's size is missing",
        lambda p: p.t + p.kk,
        True,
    ),
    "start+ty": Symbol("the tile's start plus the thread's row", lambda p: p.start + p.ty, True),
    "start+tx": Symbol("the tile's start plus the thread's column", lambda p: p.start + p.tx, True),
    "top+kk": Symbol("the block's row (not the tile) plus the step", lambda p: p.top + p.kk, True),
    "left+kk": Symbol(
        "the block's column (not the tile) plus the step", lambda p: p.left + p.kk, True
    ),
}
# Two indices that are wrong together because of one slip: (rows, columns) -> what it is.
_PAIRS: dict[str, dict[tuple[str, str], tuple[str, str]]] = {
    "A": {
        ("k", "i"): ("load", "C equals A.T @ B: the row and the column of A are exchanged."),
        ("top+kk", "start+ty"): ("shared", "Each tile of A takes part transposed."),
        ("ty", "kk"): ("load", "Every block and every step uses the first tile of A."),
        ("top+kk", "start+tx"): ("shared", "A tile of A is used where a tile of B belongs."),
    },
    "B": {
        ("j", "k"): ("load", "C equals A @ B.T: the row and the column of B are exchanged."),
        ("start+tx", "left+kk"): ("shared", "Each tile of B takes part transposed."),
        ("kk", "tx"): ("load", "Every block and every step uses the first tile of B."),
        ("start+ty", "left+kk"): ("shared", "A tile of B is used where a tile of A belongs."),
    },
}


@dataclass(frozen=True)
class Indexing:
    """One way to index an operand."""

    operand: str
    rows: str
    columns: str
    cost: int  # how many slips it takes
    where: str = "load"
    named: str = ""

    def indices(self, point: IndexValues) -> tuple[Array, Array]:
        row, column = (INNER, OUTER) if self.operand == "B" else (OUTER, INNER)
        return row[self.rows].value(point), column[self.columns].value(point)

    def slots(self) -> tuple[str, ...]:
        """Which of "row" and "column" are indexed wrongly."""
        right = RIGHT[self.operand]
        return tuple(
            axis
            for axis, name, good in zip(AXES, (self.rows, self.columns), right, strict=True)
            if name != good
        )

    def sentence(self) -> str:
        """What this choice does, for a student."""
        if self.named:
            return self.named
        tables = (OUTER, INNER) if self.operand == "A" else (INNER, OUTER)
        names = dict(zip(AXES, (self.rows, self.columns), strict=True))
        texts = {axis: table[names[axis]].text for axis, table in zip(AXES, tables, strict=True)}
        parts = [f"the {axis} of {self.operand} is {texts[axis]}" for axis in self.slots()]
        return say("The numbers fit if {parts}.", parts=joined(parts))


def _choices(operand: str, tiled: bool) -> list[Indexing]:
    """Every way to index an operand, the right one first."""
    outer = [name for name, symbol in OUTER.items() if tiled or not symbol.tiled]
    inner = [name for name, symbol in INNER.items() if tiled or not symbol.tiled]
    rows, columns = (outer, inner) if operand == "A" else (inner, outer)
    right = ("i", "k") if operand == "A" else ("k", "j")
    found = []
    for row in rows:
        for column in columns:
            pair = _PAIRS[operand].get((row, column))
            cost = 1 if pair else (row != right[0]) + (column != right[1])
            found.append(Indexing(operand, row, column, cost, *(pair or ())))
    return sorted(found, key=lambda choice: choice.cost)


def take(matrix: Array, rows: Array, columns: Array) -> Array:
    """Elements of a matrix in float64; zero where an index is outside.

    A negative index counts from the end, as it does in Numba.
    """
    rows, columns = np.broadcast_arrays(rows, columns)
    rows = np.where(rows < 0, rows + matrix.shape[0], rows)
    columns = np.where(columns < 0, columns + matrix.shape[1], columns)
    inside = (rows >= 0) & (rows < matrix.shape[0]) & (columns >= 0) & (columns < matrix.shape[1])
    values = matrix[np.where(inside, rows, 0), np.where(inside, columns, 0)].astype(np.float64)
    return np.where(inside, values, 0.0)


def pick_samples(known: Array, sizes: Geometry, count: int = SAMPLES) -> list[tuple[int, int]]:
    """Elements with known values in which as many indices as possible differ from each other."""
    places = np.argwhere(known)
    if not len(places):
        return []
    order = np.random.default_rng(1).permutation(len(places))
    places = places[order]
    # An element whose row and column agree, within the block or altogether, tells less.
    same = (places[:, 0] == places[:, 1]).astype(int)
    same += places[:, 0] % sizes.tile_rows == places[:, 1] % sizes.tile_columns
    best = places[np.argsort(same, kind="stable")]
    return [(int(i), int(j)) for i, j in best[:count]]


def index_slip(
    A: Array, B: Array, got: Array, sizes: Geometry, tolerance: Array, known: Array
) -> Slip | None:
    """The index slip that explains all known elements of `got`, or None."""
    samples = pick_samples(known, sizes)
    if len(samples) < SAMPLES:
        return None
    tiled = sizes.tile_steps is not None
    a_choices, b_choices = _choices("A", tiled), _choices("B", tiled)
    rows, columns = np.array(samples).T
    point = IndexValues(rows, columns, sizes)
    left, right = _values(A, a_choices, point), _values(B, b_choices, point)
    fits = np.ones((len(a_choices), len(b_choices)), bool)
    for number, place in enumerate(samples):
        sums = left[:, number] @ right[:, number].T
        fits &= np.abs(sums - float(got[place])) <= 2 * tolerance[place]
    pairs = [(a_choices[a], b_choices[b]) for a, b in np.argwhere(fits)]
    pairs.sort(key=lambda pair: pair[0].cost + pair[1].cost)
    for a, b in pairs[:20]:
        if 0 < a.cost + b.cost <= MOST_SLIPS and _explains(
            a, b, A, B, got, sizes, tolerance, known
        ):
            return _as_slip([choice for choice in (a, b) if choice.cost])
    return None


def _values(matrix: Array, choices: Sequence[Indexing], point: IndexValues) -> Array:
    """What each choice takes from an operand: (choices, samples, steps)."""
    shape = (len(point.i), point.steps)
    return np.stack(
        [np.broadcast_to(take(matrix, *choice.indices(point)), shape) for choice in choices]
    )


def _explains(
    a: Indexing,
    b: Indexing,
    A: Array,
    B: Array,
    got: Array,
    sizes: Geometry,
    tolerance: Array,
    known: Array,
) -> bool:
    """Do these indices give every known element, or all but where they leave the arrays?"""
    i, j = np.indices(got.shape)
    point = IndexValues(i, j, sizes)
    sums = np.sum(take(A, *a.indices(point)) * take(B, *b.indices(point)), axis=-1)
    expected = np.sum(take(A, point.i, point.k) * take(B, point.k, point.j), axis=-1)
    wrong = known & _differs(expected, got, tolerance)
    return _same(sums, got, tolerance, known) and _same(sums, got, tolerance, wrong)


def _as_slip(choices: Sequence[Indexing]) -> Slip:
    """One finding for one or two wrong operands; the line of the first is shown."""
    first = choices[0]
    message = one_after_another(choice.sentence() for choice in choices)
    if first.where == "shared":
        hint = say(
            "Follow one element of {operand}: where does a thread put it in shared memory, and "
            "where is it looked for?",
            operand=first.operand,
        )
        return Slip("wrong-index", message, hint, ("shared", first.operand))
    hint = say(
        "Write down, for thread (1, 0) of block (1, 0), which element of {operand} it needs.",
        operand=first.operand,
    )
    within = ("within",) * (first.rows in EXCHANGED or first.columns in EXCHANGED)
    alone = ("alone",) * (len(choices) == 1)
    place = ("load", first.operand, *first.slots(), *within, *alone)
    return Slip("wrong-index", message, hint, place)


def moved_slip(
    expected: Array,
    got: Array,
    sizes: Geometry,
    tolerance: Array,
    known: Array,
    everywhere: bool,
    of: str = "",
) -> Slip | None:
    """Is every number right, but in another place of C?

    Args:
        expected, got: what should have come out, and what did; of one operand what it adds to C.
        everywhere: was all of C written?
        of: the operand, if it is one alone that is read elsewhere.
    """
    i, j = np.asarray(np.indices(got.shape))
    point = without_steps(i, j, sizes)
    wrong = known & _differs(expected, got, tolerance)
    few = tuple(np.array(pick_samples(known, sizes, FEW), int).reshape(-1, 2).T)
    sample = without_steps(few[0], few[1], sizes)
    names = [name for name, symbol in OUTER.items() if not symbol.tiled and name != "k"]
    for rows, columns in by_cost(names, ("i", "j"), first=[("j", "i")]):
        values = taken(expected, rows, columns, sample)
        if not _same(values, got[few], tolerance[few], known[few], 0.5):
            continue
        values = taken(expected, rows, columns, point)
        if _same(values, got, tolerance, known) and _same(values, got, tolerance, wrong):
            return _moved_message(rows, columns, everywhere, of)
    return None


def by_cost(
    names: Iterable[str], right: tuple[str, str], first: Collection[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Pairs of indices for row and column: some `first`, then by how many of the two are wrong."""
    names = tuple(names)
    pairs = [(rows, columns) for rows in names for columns in names if (rows, columns) != right]
    return sorted(
        pairs,
        key=lambda pair: (
            pair not in first,
            sum(name != good for name, good in zip(pair, right, strict=True)),
        ),
    )


def without_steps(i: Array, j: Array, sizes: Geometry) -> IndexValues:
    """The same for elements that are moved, and no sums."""
    return IndexValues(i, j, replace(sizes, steps=1, tile_steps=None))


def taken(matrix: Array, rows: str, columns: str, point: IndexValues) -> Array:
    """The elements of a matrix that these indices of OUTER mean, for a result without steps."""
    return take(matrix, OUTER[rows].value(point), OUTER[columns].value(point))[..., 0]


def _differs(expected: Array, got: Array, tolerance: Array) -> Array:
    with np.errstate(invalid="ignore"):
        result: Array = ~(np.abs(expected - got) <= 2 * tolerance)
        return result


def _same(values: Array, got: Array, tolerance: Array, known: Array, share: float = 0.9) -> bool:
    with np.errstate(invalid="ignore"):
        close = np.abs(values - got) <= 2 * tolerance
    return bool(known.any() and np.mean(close[known]) > share)


def _moved_message(rows: str, columns: str, everywhere: bool, of: str) -> Slip:
    """Where every element was written, the loads went astray; where not, the store did."""
    takes_part = f"{of} takes part" if of else "C holds the right numbers"
    if (rows, columns) == ("j", "i"):
        message = say(
            "{takes_part} transposed: its row and its column are exchanged.", takes_part=takes_part
        )
        hint = "Which of x and y counts rows? Compare the indices of C with those of A and B."
        return Slip("wrong-index", message, hint, TRANSPOSED)
    if (rows, columns) == ("ty", "tx"):
        holds = f"adds the {of}" if of else "holds the numbers"
        message = say(
            "Every block {holds} of block (0, 0): the offset of the block is missing.", holds=holds
        )
        hint = (
            "What distinguishes thread (0, 0) of block (1, 0) from thread (0, 0) of block (0, 0)?"
        )
        return Slip("wrong-index", message, hint, ("load",))
    row, column = OUTER[rows].text, OUTER[columns].text
    hint = "Write down the row and the column that thread (1, 0) of block (1, 0) works on."
    within = ("within",) * (rows in EXCHANGED or columns in EXCHANGED)
    if everywhere and columns == "j":
        text = say("The numbers fit if the row of {first} is {row}.", first=of or "A", row=row)
        return Slip("wrong-index", text, hint, ("load", "A", "row", *within))
    if everywhere and rows == "i":
        text = say(
            "The numbers fit if the column of {second} is {column}.",
            second=of or "B",
            column=column,
        )
        return Slip("wrong-index", text, hint, ("load", "B", "column", *within))
    parts = [f"the row is {row}"] if rows != "i" else []
    parts += [f"the column is {column}"] if columns != "j" else []
    message = say(
        "{takes_part} in the wrong places: {parts}.",
        takes_part=takes_part,
        parts=", and ".join(parts),
    )
    threads = (rows, columns) == ("top+tx", "left+ty")  # the blocks load the right tiles
    load = ("load", "A", "within") if threads else ("load",)
    return Slip("wrong-index", message, hint, load if everywhere else ("store",))
