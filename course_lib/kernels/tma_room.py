"""What lies in a block's shared memory in rung 12: tiles, results and barriers."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

BM, BN, BK = 128, 256, 64  # of the usual tile; others: `tile_plan`
FEWEST_STAGES = 4  # where they fit
FEW, MANY = 40, 232  # registers of the producer's threads and the consumers', with two panels each
RESULTS = 2  # boxes for a consumer's results: one is read while the next is filled

# Shared memory, in bytes: stages, results, barriers. A box is 64 rows of 128 bytes; 28 fit.
BOX, ALL_BOXES, ROW = 8192, 229376, 128
FULL, EMPTY = ALL_BOXES, ALL_BOXES + 64  # 8 bytes a barrier, for 8 stages at most
SHARED = ALL_BOXES + 128
BOXES = BOX, BOX // 2  # for results; the lower ones where they make room for another stage


class Room(NamedTuple):
    """What lies in a block's shared memory, for tiles of one size.

    Attributes:
        turned: whether warpgroups share out a tile's columns, and not its rows.
        consumers: how many warpgroups multiply, with 64 rows or columns each.
        rows: of the tile of A.
        width: of a product: a consumer computes 64 x so many, of a whole row of panels, or of each
            panel that is its own.
        panels: of B behind it, boxes of 64 columns.
        each: how many of them a consumer has for itself, if turned: one, or two of four.
        steps: of k, 64 each, in a stage: one, or two where tiles are small.
        stages: four, or more where there is room.
        box: how large one of a consumer's two boxes for results is; they lie behind the stages.
        step_bytes, stage_bytes: how large a step is, and a stage.
    """

    turned: bool
    consumers: int
    rows: int
    width: int
    panels: int
    each: int
    steps: int
    stages: int
    box: int
    step_bytes: int
    stage_bytes: int


@cache
def room_for(columns: int, rows: int) -> Room:
    """Room for tiles of so many columns and rows: as many stages as leave place for results."""
    turned, panels = rows != BM, columns // 64
    own_panels = 2 if turned and panels == 4 else 1
    consumers = panels // own_panels if turned else rows // 64
    step = rows * ROW + panels * BOX
    steps = max(1, 6 * BOX // step)
    stage = steps * step
    fit, fit_beside_halves = ((ALL_BOXES - RESULTS * consumers * box) // stage for box in BOXES)
    stages = max(fit, min(FEWEST_STAGES, fit_beside_halves))
    box = BOX if stages == fit else BOX // 2
    width = rows if turned else columns
    return Room(turned, consumers, rows, width, panels, own_panels, steps, stages, box, step, stage)


def threads_of(room: Room) -> int:
    """Of a block: the consumers', and a warp for the producer.

    Or a warpgroup, where consumers take registers from it: one instruction for all of its threads.
    """
    return 128 * room.consumers + (128 if room.each > 1 else 32)
