"""The questions at the whiteboard of lesson 12: wrong explanations, and three estimates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course_lib.devices import device
from course_lib.measurements import load
from course_lib.measurements.memory import levels
from course_lib.questions.kinds import (
    Number,
    Question,
    Suspect,
    Trap,
    WhichLine,
)
from course_lib.questions.runs import line_of, ones, run
from course_lib.roofline import requested_bytes, tile_intensity

GPU, SIZE = "H200", 4096
TOP = "tma_bf16"  # of the ladder, where cuBLAS too stores its result in bfloat16

Explanation = tuple[tuple[str, Callable[[], bool]], ...]


def _first_wrong(explanation: Explanation) -> int:
    """The line of the one sentence that is not true."""
    (wrong,) = [line for line, (_, is_true) in enumerate(explanation, 1) if not is_true()]
    return wrong


def _listing(explanation: Explanation) -> str:
    return "".join(f"{sentence}\n" for sentence, _ in explanation)


def _times_fewer_requested() -> float:
    size = (SIZE,) * 3
    return requested_bytes(size) / requested_bytes(size, (32, 32))


def _times_fewer_from_dram() -> float:
    return levels("coalesced", SIZE).dram_gb / levels("tiled", SIZE).dram_gb


_TILING: Explanation = (
    ("A block of 32 x 32 threads computes 32 x 32 outputs.", lambda: 32 * 32 == 1024),
    ("For each step of 32 along K, every thread loads one element of A and one of B.",
     lambda: 2 * 32 * 32 / 1024 == 2),
    ("A number that the block has fetched serves 32 of its threads.",
     lambda: _times_fewer_requested() == 32),
    ("So the threads request 32 times fewer bytes from global memory.",
     lambda: _times_fewer_requested() == 32),
    ("And DRAM delivers 32 times fewer bytes.", lambda: round(_times_fewer_from_dram()) == 32),
    ("Each multiply-add still takes two numbers, now from shared memory.",
     lambda: tile_intensity(1) == 2 / 8),
    ("So the next step is a thread with several outputs.",
     lambda: loads_per_multiply_add(8, 8) < loads_per_multiply_add(1, 1)),
)  # fmt: skip


def _online(mask: float) -> tuple[np.ndarray, np.ndarray]:
    """Attention of one query over 6 keys, padded to two tiles of 4; and the exact result."""
    scores, values = np.array([1.0, 3.0, 2.0, 5.0, 4.0, 0.5]), np.arange(6.0)
    padded = np.append(scores, [mask, mask])
    top, total, out = -np.inf, 0.0, 0.0
    for tile in (slice(0, 4), slice(4, 8)):
        new = max(top, padded[tile].max())
        weights = np.exp(padded[tile] - new)
        total = total * np.exp(top - new) + weights.sum()
        out = out * np.exp(top - new) + weights @ np.append(values, [0.0, 0.0])[tile]
        top = new
    weights = np.exp(scores)
    return np.array(out / total), weights @ values / weights.sum()


_ATTENTION: Explanation = (
    ("A softmax turns the scores of a query into weights that add up to 1.",
     lambda: bool(np.isclose((np.exp([1.0, 2.0]) / np.exp([1.0, 2.0]).sum()).sum(), 1))),
    ("A tile of keys has only a part of the scores, so keep the largest score so far.",
     lambda: True),
    ("When a larger score comes, multiply the sums so far by exp(old - new).",
     lambda: bool(np.allclose(*_online(-np.inf)))),
    ("Past the last key, give the missing keys the score 0.",
     lambda: bool(np.allclose(*_online(0.0)))),
    ("Divide by the sum of the weights once, at the very end.",
     lambda: bool(np.allclose(*_online(-np.inf)))),
)  # fmt: skip


def _enough(tile: int, itemsize: int, ridge: float) -> bool:
    return tile_intensity(tile, itemsize=itemsize) >= ridge


_TENSOR: Explanation = (
    ("One m16n8k16 of a warp does 2,048 multiply-adds.", lambda: 16 * 8 * 16 == 2048),
    ("For this instruction, a lane holds 8 elements of A, 4 of B, and 4 sums.",
     lambda: [16 * 16 // 32, 16 * 8 // 32, 16 * 8 // 32] == [8, 4, 4]),
    ("In 16 bits the roof of an H200 is almost 15 times as high as in float32.",
     lambda: 14.5 < device(GPU).fp16_tflops / device(GPU).fp32_tflops < 15),
    ("With a tile of 128 x 128, DRAM is fast enough for the float32 roof.",
     lambda: _enough(128, 4, device(GPU).ridge_fp32)),
    ("DRAM is also fast enough for the bfloat16 roof, as the numbers are half as long.",
     lambda: _enough(128, 2, device(GPU).ridge_fp16)),
    ("The format of the inputs decides the error, since the sums are float32.", lambda: True),
)  # fmt: skip


# --- The climb, and where libraries stand ---------------------------------------------------------


def _gflops(name: str) -> float:
    cell = (found := load(GPU).entry(name)) and found.cell(SIZE)
    assert cell
    return cell.gflops


def climb_facts() -> dict[str, object]:
    found = load(GPU)
    return {
        "where": found.label,
        "bottom": f"{_gflops('naive') / 1000:.1f}",
        "middle": f"{_gflops('cp_async') / 1000:.0f}",
        "top": f"{_gflops(TOP) / 1000:.0f}",
        "first": f"{_gflops('cp_async') / _gflops('naive'):.0f}",
        "second": f"{_gflops(TOP) / _gflops('cp_async'):.0f}",
    }


def _tensor_reuse() -> float:
    """Of a 16-bit number from shared memory, so that tensor cores never wait."""
    return 2 * device(GPU).fp16_tflops / device(GPU).shared_tb_per_s


def funnel_facts() -> dict[str, object]:
    gpu = device(GPU)
    return {
        "wanted": f"{2 * gpu.fp16_tflops:,.0f}",
        "there": f"{gpu.shared_tb_per_s:.1f}",
        "plain": f"{4 * gpu.fp32_tflops / gpu.shared_tb_per_s:.0f}",
    }


def product_ms() -> float:
    """cuBLAS's product with a bfloat16 result, in milliseconds."""
    cell = load(GPU).cublas("bfloat16", SIZE)
    assert cell
    return cell.median_ms


def _small_kernel_ms() -> float:
    """One that reads a bfloat16 result and writes it back, at the speed that DRAM was seen at."""
    return 2 * 2 * SIZE**2 / load(GPU).measured_roofs["dram_gb_per_s"] / 1e6


def _share_of_small_kernels() -> float:
    both = 2 * _small_kernel_ms()
    return 100 * both / (product_ms() + both)


def fuse_facts() -> dict[str, object]:
    return {
        "product": f"{product_ms():.3f}",
        "each": f"{_small_kernel_ms():.3f}",
        "flop": f"{2 / (2 * SIZE):.2%}",
        "where": load(GPU).label,
    }


def loads_per_multiply_add(rows: int, columns: int) -> float:
    return (rows + columns) / (rows * columns)


EDGES = """\
@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((16, 16), float32)
    sB = cuda.shared.array((16, 16), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    M, N, K = C.shape[0], C.shape[1], A.shape[1]
    total, start = float32(0), 0
    while start < K:
        sA[ty, tx] = A[row, start + tx] if row < M and start + tx < K else float32(0)
        sB[ty, tx] = B[start + ty, col] if start + tx < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(16):
            total += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
        start += 16
    if row < M and col < N:
        C[row, col] = total
"""


def line_with_the_wrong_guard() -> int:
    profile = run(EDGES, (2, 2), (16, 16), ones(20, 20), ones(20, 20), ones(20, 20))
    return line_of(profile, "out-of-bounds-read")


# --- Explanations, each with whether it is true ---------------------------------------------------


WHITEBOARD: tuple[Question, ...] = (
    WhichLine(
        id="12-wrong-tiling",
        asks="Somebody explains tiling at the whiteboard. Which of these sentences is wrong?",
        code=_listing(_TILING),
        line="DRAM delivers",
        proof=lambda: _first_wrong(_TILING),
        hint="Which of these byte counts did we measure, and which did somebody only hope for?",
        why="Before tiling, the caches had answered nearly all of these requests. On an H200, the "
        "tiled kernel gets even more bytes from DRAM than the coalesced one.",
        innocent="This sentence is true, and you can count it.",
        suspects=(
            Suspect(
                "takes two numbers",
                "In the source, each multiply-add does take two numbers, as before. That is why "
                "the time falls by 1.5 and not by 32.",
            ),
        ),
    ),
    WhichLine(
        id="12-wrong-attention",
        asks="Somebody sums up lesson 11 in five sentences. Which of them is wrong?",
        code=_listing(_ATTENTION),
        line="Past the last key",
        proof=lambda: _first_wrong(_ATTENTION),
        hint="What is exp(score - top) for the score 0?",
        why="A key with the score 0 has the weight exp(0 - top), which is not 0. A key that does "
        "not exist gets minus infinity.",
        innocent="This sentence is true, as your run in lesson 11 showed.",
    ),
    WhichLine(
        id="12-wrong-tensor",
        asks="Somebody sums up lesson 10 in six sentences. Which of them is wrong?",
        code=_listing(_TENSOR),
        line="for the bfloat16 roof",
        proof=lambda: _first_wrong(_TENSOR),
        hint="Half as many bytes double the intensity. But what happens to the ridge?",
        why="Shorter numbers double the FLOP per byte, to 64, but the roof and its ridge rise "
        "almost 15 times. So L2 has to help, or the tile has to grow.",
        innocent="This sentence is true.",
    ),
    Number(
        id="12-climb",
        asks="On an H200, the ladder leads from `naive` in float32 to `tma` in bfloat16. At 4096 × "
        "4096 × 4096, by what factor is the top of the ladder faster than `naive`?",
        value=lambda: _gflops(TOP) / _gflops("naive"),
        unit="times",
        within=0.35,
        slips=(
            Trap(
                lambda: float(round(_gflops("cp_async") / _gflops("naive"))),
                "That is the float32 part of the ladder, up to `cp_async`. The tensor cores gain "
                "another factor.",
            ),
            Trap(
                lambda: 15, "That is what the tensor cores gain. What about the rungs below them?"
            ),
        ),
        reveal="{answer} times: from {bottom} to {top} TFLOP/s ({where}, all in Numba). Up to "
        "`cp_async` the factor is {first}, all of it from moving fewer numbers, and from moving "
        "them in the background. Tensor cores multiply that by {second}.",
        facts=climb_facts,
        spoilers=("all of it from moving fewer numbers",),
    ),
    Number(
        id="12-funnel",
        asks="The tensor cores of an H200 do 989.4 TFLOP/s with 16-bit numbers, and shared memory "
        "delivers 33.5 TB/s. How many multiply-adds must use each number from shared memory so "
        "that the tensor cores never wait?",
        value=_tensor_reuse,
        unit="times",
        within=0.05,
        slips=(
            Trap(
                lambda: _tensor_reuse() / 2, "A number has two bytes, and each FLOP needs a number."
            ),
            Trap(lambda: 2 * _tensor_reuse(), "A multiply-add is two FLOP and needs two numbers."),
            Trap(
                lambda: 2 * device(GPU).fp16_tflops / (device(GPU).dram_gb_per_s / 1000),
                "That is the number for DRAM.",
            ),
        ),
        reveal="{answer} times, since the tensor cores could take in {wanted} TB/s. In float32 it "
        "is {plain} times, which a thread's square of 8 × 8 outputs provides. To use each number "
        "{answer} times, you need the square of a whole warp, or `wgmma`, which reads for four "
        "warps at once.",
        facts=funnel_facts,
        spoilers=("could take in 1,979",),
    ),
    Number(
        id="12-fuse",
        asks="On an H200, cuBLAS multiplies 4096 × 4096 matrices in bfloat16. Then one small "
        "kernel adds a bias, and another sets negative numbers to zero. Each of them reads and "
        "writes the whole result. What share of the total time do the two small kernels take?",
        value=_share_of_small_kernels,
        unit="%",
        within=0.35,
        slips=(
            Trap(
                lambda: 0, "These kernels compute almost nothing. But how many bytes do they move?"
            ),
            Trap(
                lambda: 50,
                "Their share is smaller, since the product does 8192 FLOP for each "
                "number of the result.",
            ),
        ),
        reveal="{answer} % of the time, for {flop} of the FLOP. The product takes {product} ms, "
        "and each small kernel takes {each} ms ({where}). That is the time to move its bytes at "
        "the speed of DRAM, and it can be less if L2 still holds the result. A library that adds "
        "the bias before it stores saves both.",
        facts=fuse_facts,
        spoilers=("adds the bias before it stores",),
    ),
)
