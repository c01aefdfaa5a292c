"""Predictions and quick checks of lesson 10: the other roof, fragments, wavefronts, formats."""

from __future__ import annotations

import re
from functools import cache

import numpy as np

from course_lib.curriculum import TASKS
from course_lib.devices import SCHEDULERS_PER_SM, WARP_SIZE, device
from course_lib.devices.number_formats import bits_of_bf16, rounded
from course_lib.emulator import emulate, load_program
from course_lib.emulator.functions.tensor_cores import c_matrices
from course_lib.emulator.functions.wide_functions import HOME
from course_lib.measurements.what_binds import SHARED, SLOTS, TENSOR_CORES, seen
from course_lib.questions.kinds import Choice, Choose, Number, Trap
from course_lib.roofline.ceilings import tensor_flops_per_clock

_MMA_ROWS, _MMA_COLUMNS, _MMA_K = 16, 8, 16
_IMPORTS = f"import numpy as np\nfrom numba import cuda, float32\nfrom {HOME} import *\n"


def of_float32() -> float:
    """How many times as high the roof of the 16-bit formats is."""
    gpu = device("H100")
    return gpu.fp16_tflops / gpu.fp32_tflops


def roof_facts() -> dict[str, object]:
    gpu = device("H100")
    return {
        "tensor": f"{gpu.fp16_tflops:.0f}",
        "plain": f"{gpu.fp32_tflops:.0f}",
        "before": f"{gpu.ridge_fp32:.0f}",
        "ridge": f"{gpu.ridge_fp16:.0f}",
    }


def lane_of_result(row: int, column: int) -> int:
    """The lane that holds an element of the result, from the emulator's layout."""
    lanes = np.tile(np.arange(WARP_SIZE), (4, 1)).reshape(4, 1, WARP_SIZE)
    return int(c_matrices(lanes)[0][row, column])


def passes_per_mma(rows: int, columns: int) -> float:
    """Wavefronts of 128 bytes to fetch a warp's 16-bit fragments, for each m16n8k16."""
    fetched = (rows + columns) * _MMA_K * 2 / 128
    return fetched / (rows // _MMA_ROWS * (columns // _MMA_COLUMNS))


@cache
def passes_of_rows_in_order() -> float:
    """Of an `ldmatrix_x4` in the task `piece_at` as it is given."""
    task = TASKS["piece_at"]
    kernel = load_program(_IMPORTS + task.given + task.caller).kernel("caller")
    A, B = np.ones((16, 64), np.float32), np.ones((64, 8), np.float32)
    C = np.zeros((16, 8), np.float32)
    profile = emulate(kernel)[1, 32](bits_of_bf16(A), bits_of_bf16(B), C)
    return profile.shared_load_wavefronts / profile.shared_load_requests


@cache
def error_of(name: str, steps: int = 128) -> float:
    """Relative error of a random product whose inputs are rounded to a format."""
    random = np.random.default_rng(steps)
    A, B = (random.uniform(-1, 1, size).astype(np.float32) for size in ((64, steps), (steps, 64)))
    exact = A.astype(np.float64) @ B.astype(np.float64)
    near = rounded(A, name).astype(np.float64) @ rounded(B, name).astype(np.float64)
    return float(np.linalg.norm(near - exact) / np.linalg.norm(exact))


def error_facts() -> dict[str, object]:
    return {
        "half": f"{error_of('float16'):.2%}".replace("%", " %"),
        "brain": f"{error_of('bfloat16'):.2%}".replace("%", " %"),
    }


def binding_facts() -> dict[str, object]:
    found = seen("tensor_core_bf16")
    named = {"l2": "L2", "tensor": TENSOR_CORES, "shared": SHARED, "slots": SLOTS}
    flop = 2 * _MMA_ROWS * _MMA_COLUMNS * _MMA_K
    of_a_tensor_core = tensor_flops_per_clock(device("H200"), "FP16") / SCHEDULERS_PER_SM
    return {
        "where": found.label,
        **{name: f"{100 * found.busy[part]:.0f} %" for name, part in named.items()},
        "counted": f"{found.clocks_of_an_mma:g}",
        "promised": f"{flop / of_a_tensor_core:g}",
    }


QUESTIONS = (
    Number(
        id="10-other-roof",
        asks="On an H100, the tensor cores have one roof for 16-bit numbers, and the CUDA cores "
        "have another for float32. By what factor is the tensor cores' roof higher than the CUDA "
        "cores' roof?",
        value=of_float32,
        unit="times",
        within=0.15,
        slips=(
            Trap(
                lambda: 2,
                "Half as many bits would explain a factor of 2. But tensor cores are "
                "different units altogether.",
            ),
            Trap(lambda: 4, "The factor is 4 on some smaller GPUs."),
            Trap(
                lambda: 2 * of_float32(),
                "Data sheets often print this figure, but it holds only for sparse matrices.",
            ),
        ),
        reveal="{answer} times: the tensor cores do {tensor} TFLOP/s for dense matrices, and the "
        "CUDA cores do {plain}. But DRAM is no faster than before, so the ridge moves from "
        "{before} to {ridge} FLOP per byte.",
        facts=roof_facts,
        spoilers=(
            re.compile(r"989 against 67"),
            "ridge moves from 20",
            "almost 15 times",
        ),
    ),
    Number(
        id="10-which-lane",
        asks="The result of an `mma` has 16 rows and 8 columns. Which lane holds the sum in row "
        "11, column 6?",
        value=lambda: lane_of_result(11, 6),
        unit="lane",
        why="g is 11 - 8, and t is 6 / 2, so the lane is 4g + t = {answer}.",
        slips=(
            Trap(lambda: 4 * 11 + 3, "Each lane holds sums in two rows, eight apart."),
            Trap(
                lambda: 4 * 3 + 6,
                "Each lane holds two neighbouring columns.",
            ),
            Trap(lambda: 11, "That is the number of the row. Four lanes share each row."),
        ),
        other="g is the row modulo 8, and t is half the column.",
        hint="The lane is 4g + t, with g = 11 - 8.",
    ),
    Choose(
        id="10-across-first",
        asks="A colleague gives `ldmatrix` the quarters of A in another order, across first: upper "
        "left, upper right, lower left, lower right. What does the kernel compute?",
        choices=(
            Choice("Only noise, or zeros.", "Every number that was loaded is an element of A."),
            Choice(
                "Nothing: the emulator reports an invalid access.",
                "Each lane reads a row that exists, and no thread is writing to it.",
            ),
            Choice(
                "A perfectly correct product, but of a different matrix than A.",
                "The instruction multiplies whatever matrix it gets.",
                right=True,
            ),
        ),
        reveal="The kernel multiplies A with two quarters exchanged. No access is wrong, so the "
        "emulator reports nothing. Test with **random** matrices: matrices of ones hide this slip.",
        spoilers=("A with two quarters exchanged", "With matrices of ones"),
    ),
    Number(
        id="10-rows-of-128",
        asks="In a tile with rows of 64 numbers, every row begins in bank 0. How many wavefronts "
        "does one `ldmatrix_x4` take? (It loads 512 bytes, so it needs at least four.)",
        value=passes_of_rows_in_order,
        unit="wavefronts",
        slips=(
            Trap(
                lambda: 4,
                "The eight rows of a matrix begin 128 bytes apart. In which banks are they?",
            ),
            Trap(lambda: 8, "One of the four matrices takes that many."),
        ),
        reveal="{answer}: the eight rows of a matrix are in the same four banks, so each row "
        "takes its own wavefront. And `ldmatrix_x4` loads four such matrices.",
        spoilers=("are in the same four banks", re.compile(r"ldmatrix_x4` takes 32 passes")),
    ),
    Number(
        id="10-warp-tile",
        asks="For 16 steps along k, your warp loads 32 rows of A and 64 columns of B, at 128 "
        "bytes per wavefront. How many wavefronts do these loads take for each of the warp's 16 "
        "`mma`?",
        value=lambda: passes_per_mma(32, 64),
        unit="wavefronts",
        within=0.01,
        slips=(
            Trap(lambda: 24, "That is for all 16 steps along k. How many `mma` use these numbers?"),
            Trap(lambda: 3.0, "That would be right for float32, where a number takes 4 bytes."),
            Trap(
                lambda: passes_per_mma(16, 8),
                "That would be right if each fragment were used for a single `mma`.",
            ),
        ),
        reveal="{answer}: {bytes} bytes take {wavefronts} wavefronts, and 16 `mma` use them. As "
        "with the squares of a thread, what counts is the perimeter divided by the area, so a "
        "warp with 64 × 64 outputs needs only {larger} per `mma`.",
        facts=lambda: {
            "bytes": f"{(32 + 64) * _MMA_K * 2:,}",
            "wavefronts": (32 + 64) * _MMA_K * 2 // 128,
            "larger": f"{passes_per_mma(64, 64):g}",
        },
        spoilers=("3,072 bytes in 24 passes", "as with the squares of a thread"),
    ),
    Choose(
        id="10-binds",
        asks="The loads and stores of `tensor_core_bf16` take one and a half wavefronts for each "
        "`mma`. Which unit of an H200 is the busiest while this kernel multiplies 4096 × 4096 "
        "matrices?",
        choices=(
            Choice(
                "Shared memory",
                "Shared memory is often idle, because it has to wait for other units.",
            ),
            Choice(
                "The issue slots",
                "An `mma` does the work of 64 `FFMA`, so the schedulers have time.",
            ),
            Choice(
                "L2",
                "Every block requests strips of A and B that its neighbours request as well.",
                right=True,
            ),
            Choice("DRAM", "L2 answers most requests, since blocks share their strips."),
        ),
        reveal="L2 works at {l2} of its peak rate, the tensor cores at {tensor}, shared memory at "
        "{shared}, and the issue slots at {slots} ({where}). With `mma`, the tensor cores of a "
        "Hopper GPU cannot pass two thirds of their peak: one m16n8k16 takes {counted} clocks, but "
        "at the rate in the data sheet it would take {promised}.",
        facts=binding_facts,
        spoilers=("L2 works at", "cannot pass two thirds of their peak"),
    ),
    Number(
        id="10-bits",
        asks="Random matrices are rounded, once to float16 and once to bfloat16, and then "
        "multiplied. By what factor is the error with bfloat16 larger than the error with float16?",
        value=lambda: error_of("bfloat16") / error_of("float16"),
        unit="times",
        within=0.1,
        slips=(
            Trap(
                lambda: 3,
                "In bfloat16, the fraction has three bits fewer. What does each missing bit do to "
                "the error?",
            ),
            Trap(
                lambda: 10 / 7,
                "Do not divide the numbers of bits: each bit halves the distance between numbers.",
            ),
        ),
        reveal="{answer}, since each of the three missing bits doubles the error: it is {half} "
        "with float16 and {brain} with bfloat16. Only the rounding of the inputs matters, because "
        "the products are added up in float32 in both cases. The size of K hardly matters.",
        facts=error_facts,
        spoilers=("each of the three missing bits", "eight times as wrong"),
    ),
    Choose(
        id="10-format",
        asks="Your inputs are as large as 1,000,000, and the product may be off by one part in a "
        "thousand. Which is the fastest format on an A100 that is accurate enough?",
        hint="You can rule out one format because of its range, and another one because of its "
        "error.",
        choices=(
            Choice(
                "float16, with sums in float32",
                "The largest float16 number is 65,504, so the inputs would become infinite.",
            ),
            Choice(
                "bfloat16, with sums in float32",
                "The range of bfloat16 is large enough, but its error is twice what is allowed.",
            ),
            Choice(
                "TF32, with sums in float32",
                "With 8 exponent bits it has the range, and with 10 fraction bits it has the "
                "accuracy. It runs at half the rate of the 16-bit formats.",
                right=True,
            ),
            Choice(
                "float32, on the CUDA cores",
                "float32 is more accurate than you need, and it is the slowest of the four.",
            ),
        ),
    ),
)
