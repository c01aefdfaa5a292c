"""Constants change the launch only where the exercise offers them and the kernel uses them."""

from __future__ import annotations

import known_kernels
import pytest
from every_case import every_case
from sampling import few
from stored_answers import right_answers_to

from course_lib.checking import examine_source
from course_lib.curriculum import EXERCISES
from course_lib.diagnosis.answer import tile_of
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.launches.outcome import Trial
from course_lib.diagnosis.report import Report
from course_lib.problems.problem import Case

TILED = """from numba import cuda, float32

{constants}

@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array(({T}, {T}), float32)
    sB = cuda.shared.array(({T}, {padded}), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for start in range(0, A.shape[1], {T}):
        inside = row < A.shape[0] and start + tx < A.shape[1]
        sA[ty, tx] = A[row, start + tx] if inside else float32(0)
        inside = start + ty < A.shape[1] and col < C.shape[1]
        sB[ty, tx] = B[start + ty, col] if inside else float32(0)
        cuda.syncthreads()
        for k in range({T}):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
"""
TRANSPOSE = """from numba import cuda, float32

{constants}

@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array(({T}, PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * {T}, cuda.blockIdx.y * {T}
    for y in range(ty, {T}, {rows}):
        if top + y < A.shape[0] and left + tx < A.shape[1]:
            tile[y, tx] = A[top + y, left + tx]
    cuda.syncthreads()
    for y in range(ty, {T}, {rows}):
        if left + y < A.shape[1] and top + tx < A.shape[0]:
            B[left + y, top + tx] = tile[tx, y]
"""
NAIVE = f"{known_kernels.IMPORTS}\n{{constants}}\n\n{known_kernels.NAIVE}"


def tiled(constants: str, T: str = "TILE", padded: str = "") -> Report:
    text = TILED.format(constants=constants, T=T, padded=padded or T)
    return examine_source("matmul_tiled", text, debug=True)


def transpose(constants: str, T: str = "TILE", rows: str = "cuda.blockDim.y") -> Report:
    constants += f"\nPADDED = {T} + 1"
    text = TRANSPOSE.format(constants=constants, T=T, rows=rows)
    return examine_source("transpose_tiled", text, debug=True)


# --- right kernels, whatever their constants are called --------------------------------------


@pytest.mark.parametrize("name", few(["TPB", "BLOCK", "T", "N", "BLOCK_SIZE", "BM"], slow=2))
def test_a_tile_under_any_name_passes(name: str) -> None:
    report = tiled(f"{name} = 16", name)
    assert report.passed and report.points == report.max_points, str(report)
    assert report.launched is None


@pytest.mark.parametrize("name", few(["TPB", "BLOCK"], 1))
@pytest.mark.parametrize("size", few([8, 32]))
def test_another_tile_under_any_name_passes_and_is_told(name: str, size: int) -> None:
    report = tiled(f"{name} = {size}\nPADDED = {name} + 1", name, "PADDED")
    assert report.passed, str(report)
    assert report.launched and report.launched.block == (size, size)
    assert f"blocks of {size} x {size} threads" in str(report)


@pytest.mark.parametrize("unused", few([
    "TILE = 8", "TILE = 32", "BLOCK = 8", "BLOCK = (8, 8)", "BLOCK = [8, 8]", "BK = 3",
], slow=2))  # fmt: skip
def test_what_the_kernel_does_not_use_changes_nothing(unused: str) -> None:
    report = tiled(f"BLOCKS = 16\n{unused}", "BLOCKS")
    assert report.passed and report.launched is None, str(report)


@pytest.mark.parametrize(
    "unused", few(["TILE = 16", "BLOCK = (64,)", "BLOCK = 'a'", "BLOCK = 1.5"], slow=1)
)
def test_a_naive_kernel_keeps_its_launch(unused: str) -> None:
    report = examine_source("matmul_naive", NAIVE.format(constants=unused), debug=True)
    assert report.passed and report.launched is None, str(report)


@pytest.mark.parametrize(
    "unused", few(["BLOCK = (32,)", "BLOCK = (32, 8)", "BLOCK = 32", "TILE = 32"], slow=1)
)
def test_a_scan_keeps_its_launch_beside_the_transposes_constants(unused: str) -> None:
    text = right_answers_to("block_scan")["strides_downwards"]
    report = examine_source("block_scan", f"{unused}\n{text}", debug=True)
    assert report.passed and report.launched is None, str(report)


def test_constants_of_another_cell_count_alike() -> None:
    text = TILED.format(constants="", T="TPB", padded="TPB")
    report = examine_source("matmul_tiled", text, context="TPB = 32\nTILE = 8", debug=True)
    assert report.passed and report.launched and report.launched.tile == 32, str(report)


def test_sizes_worked_out_from_constants_that_the_kernel_does_not_use() -> None:
    assert tiled("TILE = 8\nSIDE = 2 * TILE // 2", "SIDE").passed


def test_an_array_larger_than_the_tile_is_no_other_tile() -> None:
    text = TILED.format(constants="", T="16", padded="16").replace("(16, 16)", "(17, 17)")
    report = examine_source("matmul_tiled", text, debug=True)
    assert report.passed and report.launched is None, str(report)


# --- constants that are offered --------------------------------------------------------------


@pytest.mark.parametrize(("constants", "block"), few([
    ("TILE = 16", (16, 16)),
    ("TILE = 16\nBLOCK = (16, 4)", (16, 4)),
    ("TILE = 32\nBLOCK = (32, 8)", (32, 8)),
], 2))  # fmt: skip
def test_offered_constants_change_the_launch(constants: str, block: tuple[int, ...]) -> None:
    report = transpose(constants)
    assert report.numbers_right, str(report)  # rows of 17 words have their bank conflicts
    assert report.launched and report.launched.block == block
    assert " x ".join(map(str, block)) in str(report)


@pytest.mark.slow
def test_a_tile_of_a_transpose_under_a_name_of_its_own() -> None:
    assert transpose("T = 16", "T").numbers_right
    assert transpose("T = 16\nBLOCK = (16, 4)", "T").numbers_right


@pytest.mark.slow
def test_a_block_is_told_when_the_answer_fails_too() -> None:
    report = transpose("TILE = 32\nBLOCK = (32, 8)", rows="16")
    assert not report.passed
    assert "Launched in blocks of 32 x 8 threads (BLOCK = (32, 8))." in str(report)


def test_the_callers_block_is_told() -> None:
    text = NAIVE.format(constants="BLOCK = (64, 1)")
    report = examine_source("matmul_naive", text, block=(32, 4), debug=True)
    assert report.passed
    assert "Launched in blocks of 32 x 4 threads, as asked for." in str(report)


@pytest.mark.parametrize(("constants", "words"), [
    ("TILE = 64", "4096 threads"),
    ("TILE = 0", "TILE = 0"),
    ("TILE = '16'", "TILE = '16'"),
    ("TILE = 16\nBLOCK = (64, 32)", "2048 threads"),
    ("TILE = 16\nBLOCK = (16, -1)", "-1"),
])  # fmt: skip
def test_a_wrong_size_gets_one_sentence(constants: str, words: str) -> None:
    text = TILED.format(constants=constants, T="TILE", padded="TILE")
    if "BLOCK" in constants:
        text = text.replace("cuda.grid(2)", "cuda.grid(BLOCK[0] * 0 + 2)")
    [error] = examine_source("matmul_tiled", text, debug=True).errors
    assert error.code == "invalid-launch"
    assert words in error.message


def test_a_block_of_other_axes_is_told_where_it_is_used() -> None:
    report = transpose("TILE = 32\nBLOCK = (32, 8, 1)", rows="2 * BLOCK[1]")
    assert not report.passed
    assert "BLOCK = (32, 8, 1) has not as many sizes as these blocks." in str(report)


@every_case(("shapes", "side"), [
    ([(16, 16), (16, 17)], 16),
    ([(8, 8)], 8),
    ([(2, 16, 16), (16, 17)], 16),
    ([(1024,)], 32),
    ([(16 * 17,)], 16),
    ([(16, 8), (8, 16)], None),
    ([(16, 16), (32, 32)], None),
    ([(64, 64)], None),
    ([], None),
])  # fmt: skip
def test_the_tile_that_shared_arrays_hold(shapes: list[tuple[int, ...]], side: int | None) -> None:
    assert tile_of(shapes) == side


def test_every_kernel_exercise_says_which_blocks_it_offers() -> None:
    """But where the statement gives the threads, and the answer what each of them computes."""
    fixed = {"attention_mma", "matmul_column_major", "matmul_tma"}
    for exercise in EXERCISES.values():
        offers = exercise.kind.name == "kernel" and exercise.id not in fixed
        assert bool(exercise.block_axes) == offers, exercise.id


@pytest.mark.slow
def test_a_guess_that_fails_is_left_at_its_first_wrong_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Until all guesses have failed: then the first one is launched on all that is left."""
    launches: list[tuple[object, Case]] = []
    run = Launcher.run

    def counted(self: Launcher, case: Case, *options: bool, **named: bool) -> Trial:
        launches.append((self.constants.get("BLOCK"), case))
        return run(self, case, *options, **named)

    monkeypatch.setattr(Launcher, "run", counted)
    answer = """
from numba import cuda

BLOCK = (8, 8)

@cuda.jit
def mat_add(A, B, C):
    i = cuda.blockIdx.y * 16 + cuda.threadIdx.y
    j = cuda.blockIdx.x * 16 + cuda.threadIdx.x
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = A[i, j] + B[i, j]
"""
    assert examine_source("mat_add", answer).passed
    guessed = [case for block, case in launches if block]
    asked = [case for block, case in launches if not block]
    assert 0 < len(guessed) < len(asked)
    launches.clear()
    report = examine_source("mat_add", answer.replace("A[i, j] + B", "A[i, j] - B"))
    assert not report.passed
    # What goes wrong with products rounded either way is made once more.
    assert all(launches.count(launch) <= 2 for launch in launches)
    assert len([block for block, _ in launches if block]) > len(guessed)


@pytest.mark.slow
def test_wrong_numbers_are_told_early_when_no_way_is_left() -> None:
    """The first of two ways to launch this answer gives wrong numbers, and says nothing of it."""
    right = right_answers_to("matmul_1d")["four_scalars"]
    told: list[Report] = []
    assert examine_source("matmul_1d", right, early=told.append).passed and told == []
    wrong = right.replace("+=", "=", 1)
    assert not examine_source("matmul_1d", wrong, early=told.append).passed
    (early,) = told
    assert not early.passed and early.tried and not early.max_points
