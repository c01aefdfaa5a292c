"""Wrong products by threads that compute several elements each: which sum stands where.

With random inputs no two elements of the right product are alike. So wrong elements that are right
elsewhere tell from where they came, and equal ones within a thread's part tell of a shared sum.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from course_lib.diagnosis.families.hypotheses import Array
from course_lib.diagnosis.families.mapping import mapping_slip, shape_slip
from course_lib.diagnosis.families.product.formula import diagnose_matmul
from course_lib.diagnosis.families.product.register_sums import (
    empty_sums,
    one_sum,
    pool,
    same_tile_twice,
    shared_sums,
    sums_by_step,
    within_threads,
)
from course_lib.diagnosis.launches.outcome import Geometry, Outcome
from course_lib.diagnosis.launches.trail import Trail
from course_lib.diagnosis.slip import Slip
from course_lib.sentences import say

MOST = 0.9  # of the elements; a few are like another one by chance


def diagnose_register_tile(outcome: Outcome) -> Slip | None:
    """The slip that explains a wrong matrix product, or None."""
    if outcome.right.all():
        return None
    with np.errstate(all="ignore"):
        for test in TESTS:
            slip = test(outcome)
            if slip:
                return slip
        slip = diagnose_matmul(outcome) or shared_sums(outcome) or other_elements(outcome)
    if slip is None:
        return None
    if slip.code == "wrong-index" and slip.place[0] in ("load", "shared") and slip.place[1:]:
        return replace(slip, place=("staged", *slip.place[1:]))
    if slip.place[:2] == ("steps", "often"):
        return replace(slip, place=("tiles", *slip.place[2:]))
    if slip.place == ("sum", "replaced"):
        return replace(slip, place=("part", "again"))
    if slip.place == ("steps", "inner"):
        return replace(slip, place=("tiles", "steps"))
    return slip


# --- what is missing ----------------------------------------------------------------------------


def _all_else_right(outcome: Outcome) -> bool:
    """Is a part untouched, and everything that was written right?"""
    untouched = outcome.untouched
    return bool(
        not np.isnan(outcome.poison)
        and untouched.any()
        and not untouched.all()
        and outcome.right[~untouched].all()
    )


def whole_blocks_missing(outcome: Outcome) -> Slip | None:
    """The first block's part is right, and those beside or below it were never written."""
    if not _all_else_right(outcome):
        return None
    sizes = outcome.sizes
    for axis, noun, tile, letter in (
        (1, "column", sizes.tile_columns, "x"),
        (0, "row", sizes.tile_rows, "y"),
    ):
        gone = np.asarray(outcome.untouched.all(axis=1 - axis))
        if len(gone) % tile == 0 and np.array_equal(gone, np.arange(len(gone)) >= tile):
            message = say(
                "What was written is right, but only the first block in {letter} writes: from "
                "{noun} {tile} on, C stays as it was.",
                letter=letter,
                noun=noun,
                tile=tile,
            )
            hint = say(
                "With which {noun} does block 1 in {letter} begin, and with which should it?",
                noun=noun,
                letter=letter,
            )
            return Slip("incomplete-output", message, hint, ("owner", "block", noun))
    return None


def part_of_each_thread(outcome: Outcome) -> Slip | None:
    """Of every thread's part the same rows or columns are missing, and all others are right."""
    if not _all_else_right(outcome):
        return None
    for noun, within, part in within_threads(outcome):
        gone = [each for each in range(part) if outcome.untouched[within == each].all()]
        if not gone or not np.array_equal(outcome.untouched, np.isin(within, gone)):
            continue
        kept = part - len(gone)
        message = say(
            "Of every {part} {noun}s of a thread only {kept} {are} written; the first one left "
            "out is {noun} {step}.",
            part=part,
            noun=noun,
            kept=kept,
            are="is" if kept == 1 else "are",
            step=gone[0],
        )
        hint = say(
            "How many {noun}s belong to one thread, and for how many does it come to the store?",
            noun=noun,
        )
        return Slip("incomplete-output", message, hint, ("part", "store"))
    return None


def threads_missing(outcome: Outcome) -> Slip | None:
    """In every block the same parts are never written, and the others hold what is right."""
    sizes, untouched = outcome.sizes, outcome.untouched
    if not _all_else_right(outcome) or any(
        size % tile
        for size, tile in zip(untouched.shape, (sizes.tile_rows, sizes.tile_columns), strict=True)
    ):
        return None
    first = untouched[: sizes.tile_rows, : sizes.tile_columns]
    parts = pool(first, sizes.thread_rows, sizes.thread_columns)
    each = sizes.thread_rows * sizes.thread_columns
    repeats = [size // tile for size, tile in zip(untouched.shape, first.shape, strict=True)]
    if not np.isin(parts, (0, each)).all() or not np.array_equal(
        np.tile(first, repeats), untouched
    ):
        return None
    p, q = np.argwhere(first)[0]
    message = say(
        "What was written is right, but of the {size} elements that belong to a block only "
        "{missing} are written; the first one left out is C[{p}, {q}].",
        size=first.size,
        missing=int((~first).sum()),
        p=p,
        q=q,
    )
    hint = say(
        "To which thread does C[{p}, {q}] belong, and what keeps it from the store?", p=p, q=q
    )
    noun = "row" if first[p].all() else "column"
    return Slip("incomplete-output", message, hint, ("part", "threads", noun))


# --- sums in the wrong place --------------------------------------------------------------------


def other_elements(outcome: Outcome) -> Slip | None:
    """Wrong elements that are right in another place of C: one example says which stands where."""
    wrong = ~outcome.right & outcome.known
    if not wrong.any():
        return None
    rows, columns = _origins(outcome, wrong)
    if rows is None or columns is None:
        return None
    places = np.argwhere(wrong)
    p, q = places[0]
    i, j = rows[0], columns[0]
    once = len({*zip(rows.tolist(), columns.tolist(), strict=True)}) > MOST * len(rows)
    axis = "row" if (rows != places[:, 0]).mean() > 1 - MOST else "column"
    often = "" if once else " So do others: some numbers stand in C several times, others nowhere."
    message = say(
        "C[{p}, {q}] holds the number that belongs into C[{i}, {j}].{often}",
        p=p,
        q=q,
        i=i,
        j=j,
        often=often,
    )
    hint = say(
        "Take the thread that writes C[{p}, {q}]: which {axis}s does it multiply, and are these "
        "the ones that it stores?",
        p=p,
        q=q,
        axis=axis,
    )
    return Slip("wrong-index", message, hint, ("part", "read" if not once else "either", axis))


def _origins(outcome: Outcome, wrong: Array) -> tuple[Array, Array] | tuple[None, None]:
    """Row and column of the right element that equals each wrong one; None if some equal none."""
    right = outcome.expected.reshape(-1)
    order = np.argsort(right)
    values = outcome.values[wrong]
    after = np.clip(np.searchsorted(right[order], values), 1, len(order) - 1)
    nearer = values - right[order[after - 1]] < right[order[after]] - values
    found = order[after - nearer]
    room = 2 * outcome.tolerance.reshape(-1)[found] + 4e-7 * np.abs(values)
    if (np.abs(right[found] - values) > room).mean() > 1 - MOST:
        return None, None
    rows, columns = np.unravel_index(found, outcome.got.shape)
    return rows, columns


# --- where blocks and threads write -------------------------------------------------------------


def register_mapping(trail: Trail, sizes: Geometry) -> Slip | None:
    """Do the blocks, and the threads within them, write where they should?"""
    slip = mapping_slip(trail, sizes)
    if slip is None:
        return _threads_meet(trail, sizes)
    if "missing offset" in slip.place:
        return slip
    noun = slip.place[-1]
    who = "thread" if slip == shape_slip(trail, sizes) else "block"
    if who == "thread":
        slip = replace(slip, hint="Write down the rows and columns of the last thread of a block.")
    return replace(slip, place=("owner", who, noun))


def _threads_meet(trail: Trail, sizes: Geometry) -> Slip | None:
    """Do several threads of a block write to one element, while others are left out?"""
    first = trail.writes[: sizes.tile_rows, : sizes.tile_columns]
    if trail.writes.all() or first.max(initial=0) < 2:
        return None
    p, q = np.argwhere(first > 1)[0]
    written = [int(first.any(axis=1 - axis).sum()) for axis in (0, 1)]
    noun = "row" if written[0] < first.shape[0] else "column"
    reach = ""
    if written != list(first.shape):
        reach = (
            f" They reach {written[0]} rows and {written[1]} columns of C, and the block's part "
            f"has {first.shape[0]} and {first.shape[1]}."
        )
    message = say(
        "The threads of block (0, 0) meet: C[{p}, {q}] is written {element} times, others "
        "never.{reach}",
        p=p,
        q=q,
        element=first[p, q],
        reach=reach,
    )
    hint = say(
        "Which {noun}s belong to the first thread, and with which {noun} does the next begin?",
        noun=noun,
    )
    return Slip("wrong-index", message, hint, ("owner", "thread", noun))


TESTS = (
    whole_blocks_missing,
    part_of_each_thread,
    threads_missing,
    empty_sums,
    one_sum,
    sums_by_step,
    same_tile_twice,
)
