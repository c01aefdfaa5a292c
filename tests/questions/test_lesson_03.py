"""What lesson 03 says in words and in its questions' numbers, worked out or looked up once more."""

from pathlib import Path

import numpy as np
import pytest

from course_lib.building.notebook import read, source
from course_lib.curriculum import TASKS
from course_lib.emulator import Profile
from course_lib.measurements.memory import forms, levels
from course_lib.questions import of_lesson
from course_lib.questions.lesson_03 import RUN_SUMS, STRIDED_SUMS, WHO_AM_I
from course_lib.questions.runs import ones, run

LESSON = Path(__file__).resolve().parents[2] / "notebooks" / "03_coalescing.ipynb"
CELLS = {cell["id"]: source(cell) for cell in read(LESSON)["cells"]}
ASKS = {name: question.asks for name, question in of_lesson("03").items()}


def of_one_block(task: str) -> Profile:
    """One block of 32 × 32 threads multiplies 32 × 32 by 32 × 32."""
    return run(TASKS[task].answer, 1, (32, 32), *(ones(32, 32) for _ in range(3)))


def test_the_fall_in_sectors_is_the_one_that_was_counted() -> None:
    """Counted here, and by Nsight Compute; how much time it saves is another number."""
    before, after = of_one_block("naive_by_rows"), of_one_block("matmul_coalesced")
    fall = before.global_load_sectors / after.global_load_sectors
    assert f"{fall:.1f} times fewer sectors" in ASKS["03-faster"]
    assert levels("naive").l1_gb / levels("coalesced").l1_gb == pytest.approx(fall, rel=1e-3)
    saved = forms("naive")["Numba, range"].ms / forms("coalesced")["Numba, range"].ms
    assert saved < fall / 2


def test_what_a_step_touched_before() -> None:
    traffic = of_one_block("naive_by_rows").arrays
    per_request = {name: traffic[name].load_sectors // traffic[name].load_requests for name in "AB"}
    assert "{A} sectors of A and {B} of B".format(**per_request) in ASKS["03-step"]


def test_both_ways_of_adding_up_load_as_often() -> None:
    mine, theirs = (run(text, 2, 32, ones(1024), ones(64)) for text in (STRIDED_SUMS, RUN_SUMS))
    assert mine.global_load_requests == theirs.global_load_requests
    assert mine.global_load_bytes == theirs.global_load_bytes == 4 * 1024
    assert "1,024 numbers" in ASKS["03-own-run"]


def test_the_first_warp_of_a_block_is_two_rows() -> None:
    lanes = np.zeros((16, 16), np.int32)
    run(WHO_AM_I, 1, (16, 16), lanes)
    assert sorted(lanes[:2].reshape(-1)) == list(range(32))
    assert "`threadIdx.y` 0 and 1" in CELLS["lanes"]


def test_bytes_are_merged_in_the_warp_before_any_cache() -> None:
    """37.5 % of them along a row; the review found this share credited to the caches."""
    seen, counted = levels("coalesced"), of_one_block("matmul_coalesced")
    merged = 1 - 32 * counted.global_load_sectors / counted.global_load_bytes
    assert 1 - seen.l1_gb / seen.requested_gb == pytest.approx(merged, abs=1e-3)
    assert "**before** they reach any cache" in CELLS["h200-read"]


@pytest.mark.parametrize("kernel", ["naive", "coalesced"])
def test_dram_had_little_to_do(kernel: str) -> None:
    seen = levels(kernel)
    assert seen.dram_ms < seen.ms / 20
    assert seen.dram_gb < seen.requested_gb / 50
    assert "DRAM had little to do in either kernel" in CELLS["h200-read"]


def test_what_can_be_taught_is_what_the_function_counts() -> None:
    sectors = TASKS["sectors"].reference
    assert sectors is not None
    neighbours, column = sectors(1, 0), sectors(64, 0)
    taught = CELLS["teach"]
    assert f"{neighbours} sectors if the lanes read 32 neighbouring float32 numbers" in taught
    assert f"{column} sectors if they read down a column" in taught
