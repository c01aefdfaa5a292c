"""Where blocks write is compared with where the launch has them write."""

from __future__ import annotations

import numpy as np

from course_lib.diagnosis.families.mapping import block_steps, mapping_slip
from course_lib.diagnosis.launches.outcome import Geometry
from course_lib.diagnosis.launches.trail import Trail, TrailMaker

SIZES = Geometry(8, 8, 8, 4, 4)


def trail(row: object, column: object, blocks: int = 2) -> Trail:
    """The trail of a kernel in which each thread writes C[row, column]."""
    by, bx, ty, tx = (axis.reshape(-1) for axis in np.indices((blocks, blocks, 4, 4)))
    indices = np.stack(np.broadcast_arrays(row(by, bx, ty, tx), column(by, bx, ty, tx)), axis=1)
    inside = (indices < 8).all(axis=1)
    maker = TrailMaker({"A": (8, 8), "B": (8, 8), "C": (8, 8)}, "C", (blocks, blocks))
    cells = np.ravel_multi_index(tuple(indices[inside].T), (8, 8))
    maker.note_stores("C", 7, cells, np.stack([bx, by], axis=1)[inside])
    return maker.trail()


def test_the_usual_mapping_has_no_slip() -> None:
    found = trail(lambda by, bx, ty, tx: by * 4 + ty, lambda by, bx, ty, tx: bx * 4 + tx)
    assert block_steps(found) == ((0, 4), (4, 0))
    assert (found.writes == 1).all()
    assert found.store_lines["C"] == (7,)
    assert mapping_slip(found, SIZES) is None


def test_exchanged_roles_are_named() -> None:
    found = trail(lambda by, bx, ty, tx: bx * 4 + tx, lambda by, bx, ty, tx: by * 4 + ty)
    slip = mapping_slip(found, SIZES)
    assert slip is not None
    assert "the wrong way" in slip.message
    assert slip.place == ("store", "mapping", "both")


def test_a_missing_offset_is_named() -> None:
    found = trail(lambda by, bx, ty, tx: by * 4 + ty, lambda by, bx, ty, tx: tx)
    slip = mapping_slip(found, SIZES)
    assert slip is not None
    assert "All blocks in x write the same columns" in slip.message
    assert slip.place[-1] == "column"


def test_the_question_names_a_block_that_differs_along_the_axis_at_fault() -> None:
    """Blocks are numbered (x, y): where rows are wrong, the next block in y is asked about."""
    right = (lambda by, bx, ty, tx: by * 4 + ty, lambda by, bx, ty, tx: bx * 4 + tx)
    wrong = {
        "(0, 1)": [
            (lambda by, bx, ty, tx: ty, right[1]),
            (lambda by, bx, ty, tx: bx * 4 + ty, right[1]),
            (lambda by, bx, ty, tx: by + ty, right[1]),
        ],
        "(1, 0)": [
            (right[0], lambda by, bx, ty, tx: tx),
            (right[0], lambda by, bx, ty, tx: by * 4 + tx),
            (right[0], lambda by, bx, ty, tx: bx + tx),
        ],
    }
    for block, mappings in wrong.items():
        for mapping in mappings:
            slip = mapping_slip(trail(*mapping), SIZES)
            assert slip is not None
            assert f"of block {block} from thread (0, 0) of block (0, 0)" in slip.hint


def test_a_wrong_stride_is_measured() -> None:
    found = trail(lambda by, bx, ty, tx: by + ty, lambda by, bx, ty, tx: bx * 4 + tx)
    slip = mapping_slip(found, SIZES)
    assert slip is not None
    assert "in y the row of C grows by 1, but a block covers 4 rows" in slip.message


def test_the_wrong_block_number_is_named() -> None:
    found = trail(lambda by, bx, ty, tx: by * 4 + ty, lambda by, bx, ty, tx: by * 4 + tx)
    slip = mapping_slip(found, SIZES)
    assert slip is not None
    assert "The column of C grows with the block's y" in slip.message


def test_a_block_that_writes_beyond_its_tile_is_named() -> None:
    found = trail(
        lambda by, bx, ty, tx: by * 4 + (ty * 4 + tx) // 8,
        lambda by, bx, ty, tx: bx * 4 + (ty * 4 + tx) % 8,
    )
    slip = mapping_slip(found, SIZES)
    assert slip is not None
    assert "into 2 rows and 8 columns of C; its own part has 4 rows and 4 columns" in slip.message


def test_a_single_block_says_nothing_about_others() -> None:
    found = trail(lambda by, bx, ty, tx: ty, lambda by, bx, ty, tx: tx, blocks=1)
    assert list(found.corners) == [(0, 0)]
    assert mapping_slip(found, SIZES) is None


def test_a_first_row_that_nobody_writes_is_no_wrong_stride() -> None:
    nowhere = 99
    found = trail(
        lambda by, bx, ty, tx: np.where(by * 4 + ty == 0, nowhere, by * 4 + ty),
        lambda by, bx, ty, tx: bx * 4 + tx,
    )
    assert block_steps(found) == ((0, 4), (3, 0))
    assert mapping_slip(found, SIZES) is None
