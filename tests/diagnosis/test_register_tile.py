"""Wrong sums of threads with several outputs are told what they hold; computed here by NumPy."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from every_case import every_case

from course_lib.diagnosis.families.product.register_lines import (
    adding_loop_line,
    owner_line,
    part_line,
    steps_loop_line,
    tiles_loop_line,
)
from course_lib.diagnosis.families.product.register_tile import (
    diagnose_register_tile,
    register_mapping,
)
from course_lib.diagnosis.launches.outcome import Geometry, Outcome
from course_lib.diagnosis.launches.trail import TrailMaker
from course_lib.diagnosis.source.source import Source

SIDE, TILE, STEP, PART, POISON = 32, 16, 4, 4, -7.25e3
RNG = np.random.default_rng(0)
A, B = (RNG.uniform(-2, 2, shape).astype(np.float32) for shape in ((SIDE, 8), (8, SIDE)))
C = A.astype(np.float64) @ B
ROW, COLUMN = np.indices(C.shape)
SIZES = Geometry(SIDE, SIDE, 8, TILE, TILE, STEP, PART, PART)


def pooled(values: np.ndarray) -> np.ndarray:
    """Every column of 4 rows replaced by its sum."""
    return values.reshape(-1, PART, SIDE).sum(axis=1).repeat(PART, axis=0)


def kept(mask: np.ndarray) -> np.ndarray:
    return np.where(mask, C, POISON)


def read_in_rows_of(length: int, flat: bool) -> np.ndarray:
    """A @ B where each tile of B is read (or, with `flat`, filled) in rows of another length."""
    turned = B.copy()
    cells = np.arange(STEP * TILE)
    for top in range(0, 8, STEP):
        for left in range(0, SIDE, TILE):
            row, column = np.divmod(cells, length if flat else TILE)
            inside = (top + row < 8) & (left + column < SIDE)
            tile = np.zeros(len(cells), np.float32)
            tile[inside] = B[top + row[inside], left + column[inside]]
            read = np.arange(STEP)[:, None] * (TILE if flat else length) + np.arange(TILE)
            turned[top : top + STEP, left : left + TILE] = tile[read]
    return A.astype(np.float64) @ turned


BY_STEP = np.stack([pooled(A[:, k::STEP].astype(np.float64) @ B[k::STEP]) for k in range(STEP)])
WRONG = {
    "one block": (kept((ROW < SIDE) & (COLUMN < TILE)), "incomplete-output", "first block in x"),
    "part of a thread": (kept(ROW % PART < 3), "incomplete-output", "only 3 are written"),
    "some threads": (kept(COLUMN % TILE < 8), "incomplete-output", "only 128 are written"),
    "empty sums": (np.where(ROW % PART == 3, 0, C), "wrong-loop-bound", "3 are right"),
    "one sum": (pooled(C), "accumulator-error", "4 sums of a thread are one"),
    "by step": (np.take_along_axis(BY_STEP, ROW[None] % PART, 0)[0], "accumulator-error", "step"),
    "one tile twice": (C * 0 + A.astype(np.float64) @ A.T, None, None),
    "rows of 4 read": (read_in_rows_of(4, False), "wrong-index", "of 16 and read in rows of 4"),
    "rows of 4 filled": (read_in_rows_of(4, True), "wrong-index", "of 4 and read in rows of 16"),
    "two sums in one": (
        C.reshape(-1, 4, SIDE)[:, [0, 1, 0, 1]].reshape(C.shape)
        + C.reshape(-1, 4, SIDE)[:, [2, 3, 2, 3]].reshape(C.shape),
        "accumulator-error",
        "C[0, 0] and C[2, 0] hold the same number",
    ),
    "first row": (C[ROW - ROW % PART, COLUMN], "wrong-index", "C[1, 0] holds the number"),
    "exchanged": (C[ROW - ROW % 4 + COLUMN % 4, COLUMN - COLUMN % 4 + ROW % 4], "wrong-index", ""),
    "nonsense": (C * C, None, None),
}


@every_case("name", WRONG)
def test_a_wrong_sum_is_explained(name: str) -> None:
    got, code, words = WRONG[name]
    outcome = Outcome((A, B), C, np.asarray(got, np.float32), np.full(C.shape, 1e-5), SIZES, POISON)
    slip = diagnose_register_tile(outcome)
    if code is None:
        assert slip is None
    else:
        assert slip is not None and slip.code == code and words in slip.message


def test_right_numbers_need_no_explanation() -> None:
    outcome = Outcome((A, B), C, C.astype(np.float32), np.full(C.shape, 1e-4), SIZES, POISON)
    assert diagnose_register_tile(outcome) is None


def mapping_of(row: np.ndarray, column: np.ndarray) -> str:
    """What is said of threads that write here; one block for each quarter of C."""
    by, bx = np.indices(C.shape).reshape(2, -1) // TILE
    across = C.shape[1] // TILE
    maker = TrailMaker({"A": A.shape, "B": B.shape, "C": C.shape}, "C", (across, across))
    cells = np.ravel_multi_index((row.reshape(-1), column.reshape(-1)), C.shape)
    maker.note_stores("C", 7, cells, np.stack([bx, by], axis=1))
    slip = register_mapping(maker.trail(), SIZES)
    return " ".join((*slip.place, slip.message)) if slip else ""


def test_threads_that_meet_are_told() -> None:
    assert mapping_of(ROW, COLUMN) == ""
    meeting = mapping_of(ROW - ROW % TILE + ROW % TILE // 2, COLUMN)
    assert meeting.startswith("owner thread row") and "written 2 times" in meeting
    assert "reach 8 rows and 16 columns" in meeting


def test_blocks_that_miss_their_place_are_told() -> None:
    assert mapping_of(ROW % TILE, COLUMN).startswith("store missing offset row")


KERNEL = """
def kernel(A, B, C):
    sA = cuda.shared.array((16, 4), float32)
    sB = cuda.shared.array((4, 16), float32)
    sums = cuda.local.array((4, 4), float32)
    a = cuda.local.array(4, float32)
    tid = cuda.threadIdx.x
    top, left = cuda.blockIdx.y * 16, cuda.blockIdx.x * 16
    y, x = tid // 4 * 4, tid % 4 * 4
    for start in range(0, A.shape[1], 4):
        sA[tid // 4, tid % 4] = A[top + tid // 4, start + tid % 4]
        sB[tid // 16, tid % 16] = B[start + tid // 16, left + tid % 16]
        for k in range(4):
            for i in range(4):
                a[i] = sA[y + i, k]
            for j in range(4):
                b = sB[k, x + j]
                for i in range(4):
                    sums[i, j] += a[i] * b
    for i in range(4):
        for j in range(4):
            C[top + y + i, left + x + j] = sums[i, j]
"""
NAMES = ("A", "B", "C")


def source(text: str = KERNEL) -> Source:
    return Source((ast.parse(text).body[0],), NAMES)  # type: ignore[arg-type]


def test_loops_are_told_apart() -> None:
    found = source()
    assert tiles_loop_line(found, NAMES) == 10
    assert steps_loop_line(found, NAMES) == 13
    assert adding_loop_line(found) == 18


def test_owners_are_where_their_numbers_are_made() -> None:
    assert owner_line(source(), "block", "row", NAMES) == 8
    assert owner_line(source(), "thread", "column", NAMES) == 9
    without = source(KERNEL.replace("left + x + j]", "left + j]"))
    assert owner_line(without, "thread", "column", NAMES) == 22


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("= sums[i, j]", "= sums[j, i]", 22),
        ("= sums[i, j]", "= sums[i, 0]", 22),
        ("+= a[i]", "+= a[j]", 19),
        ("sA[y + i, k]", "sA[i, k]", 15),
    ],
)
def test_sums_and_elements_part_ways_somewhere(old: str, new: str, line: int) -> None:
    assert part_line(source(KERNEL.replace(old, new)), ("either", "row"), NAMES) == line
