"""Shared loads of 8 and 16 bytes a lane cost what an H200 was seen to need.

Measured with `ncu --clock-control none` on an H200 (driver 580.159.04) on 2026-11-20, all lanes
active: wavefronts for one warp's load. The patterns give the element that each lane reads.
"""

import numpy as np
from every_case import every_case

from course_lib.emulator.profile.request_costs import shared_cost

LANE = np.arange(32)

# Bytes a lane, what lane i reads (in elements), wavefronts, bank conflicts.
MEASURED = {
    "8: broadcast": (8, 0 * LANE, 1, 0), "8: pairs": (8, LANE // 2, 1, 0),
    "8: every other lane": (8, LANE // 4 * 2 + LANE % 2, 1, 0),
    "8: lanes four apart": (8, LANE // 8 * 4 + LANE % 4, 2, 0),
    "8: equal halves": (8, LANE % 16, 2, 0), "8: contiguous": (8, LANE, 2, 0),
    "16: contiguous": (16, LANE, 4, 0), "16: broadcast": (16, 0 * LANE, 2, 0),
    "16: lane // 4": (16, LANE // 4, 2, 0), "16: pairs": (16, LANE // 2, 2, 0),
    "16: every other lane": (16, LANE // 4 * 2 + LANE % 2, 2, 0),
    "16: lanes four apart": (16, LANE // 8 * 4 + LANE % 4, 4, 0),
    "16: lane % 8": (16, LANE % 8, 4, 0), "16: lane % 4": (16, LANE % 4, 4, 0),
    "16: lane % 2": (16, LANE % 2, 2, 0), "16: one bank group": (16, LANE * 8, 32, 28),
    "4: contiguous": (4, LANE, 1, 0), "4: a column": (4, LANE * 32, 32, 31),
}  # fmt: skip


@every_case("name", MEASURED)
def test_a_wide_load_costs_what_was_measured(name: str) -> None:
    width, element, wavefronts, conflicts = MEASURED[name]
    cost = shared_cost(element[None, :] * width, np.ones((1, 32), bool), width)
    assert (cost.requests, cost.wavefronts, cost.bank_conflicts) == (1, wavefronts, conflicts)
