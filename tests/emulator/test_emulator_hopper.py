"""Pipelines of TMA, mbarriers and wgmma: right ones are clean, wrong ones are named."""

from __future__ import annotations

import numpy as np
import pytest
from emulator_helpers import HEADER, launch, line_of

from course_lib.emulator import Profile
from course_lib.emulator.state.tensor_maps import TensorMap
from course_lib.host import runtime
from course_lib.wording.errors import PlainError

SCHEDULES = [("lockstep", 0), ("warps", 0), ("shuffled", 1), ("shuffled", 2)]
INTRINSICS = """\
from course_lib.intrinsics import (
    cluster_rank, cluster_sync, fence_async, fence_mbarrier_init, group_arrive, group_sync,
    mbarrier_arrive, mbarrier_arrive_at, mbarrier_arrive_with_bytes, mbarrier_init, mbarrier_wait,
    shared_address, store_shared2, tma_load, tma_load_multicast, tma_store, tma_store_wait,
    warpgroup_product, wgmma_a, wgmma_b,
)

STAGE, STAGES = 16384, 3
FULL, EMPTY, RESULT = 3 * 16384, 3 * 16384 + 64, 4 * 16384
PRODUCT = warpgroup_product(64)
start, wait = PRODUCT.start, PRODUCT.wait

"""
# A producer's warp and a warpgroup: C, 64 x 64, in float32, is A B, in bfloat16.
PIPELINE = """\
@cuda.jit
def kernel(map_a, map_b, map_c, steps):
    shared = cuda.shared.array(0, np.uint8, alignment=1024)
    base = shared_address(shared)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(STAGES):
            mbarrier_init(base + FULL + 8 * s, 1)
            mbarrier_init(base + EMPTY + 8 * s, 128)
        fence_mbarrier_init()
    cuda.syncthreads()
    if tid >= 128:
        if tid == 128:
            for t in range(steps):
                s = t % STAGES
                mbarrier_wait(base + EMPTY + 8 * s, (t // STAGES) % 2 ^ 1)
                mbarrier_arrive_with_bytes(base + FULL + 8 * s, 16384)
                tma_load(base + s * STAGE, map_a, (t * 64, 0), base + FULL + 8 * s)
                tma_load(base + s * STAGE + 8192, map_b, (0, t * 64), base + FULL + 8 * s)
    else:
        sums = cuda.local.array(32, float32)
        for t in range(steps):
            s = t % STAGES
            mbarrier_wait(base + FULL + 8 * s, (t // STAGES) % 2)
            start(sums, wgmma_a(base + s * STAGE), wgmma_b(base + s * STAGE + 8192), t)
            wait(sums)
            mbarrier_arrive(base + EMPTY + 8 * s)
        warp, lane = tid // 32, tid % 32
        for half in range(2):
            for j in range(8):
                row, column = 16 * warp + 8 * half + lane // 4, 8 * j + 2 * (lane % 4)
                at = base + RESULT + column // 32 * 8192 + row * 128
                piece = (column % 32 // 4) ^ (row % 8)
                place = at + piece * 16 + column % 4 * 4
                store_shared2(place, sums[4 * j + 2 * half], sums[4 * j + 2 * half + 1])
        fence_async()
        group_sync(1, 128)
        if tid == 0:
            tma_store(map_c, (0, 0), base + RESULT)
            tma_store(map_c, (32, 0), base + RESULT + 8192)
            tma_store_wait(0)
"""
STEPS = 7


def bits(numbers: np.ndarray) -> np.ndarray:
    """The upper half of float32 numbers that bfloat16 holds."""
    return (numbers.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)


def run(text: str, schedule: str, seed: int, steps: int = STEPS) -> tuple[Profile, bool]:
    """A launch, and whether its result is right."""
    random = np.random.default_rng(steps)
    left, right = random.integers(-4, 5, (64, 64 * steps)), random.integers(-4, 5, (64 * steps, 64))
    result = np.full((64, 64), 99, np.float32)
    maps = [TensorMap(bits(left), (64, 64)), TensorMap(bits(right), (64, 64))]
    program = HEADER + INTRINSICS + text
    profile = launch(
        program, 1, 160, *maps, TensorMap(result, (64, 32)), np.int32(steps),
        shared_bytes=96 * 1024, schedule=schedule, seed=seed, max_dynamic_shared=227 * 1024,
    )  # fmt: skip
    return profile, np.array_equal(result, left @ right)


@pytest.mark.parametrize(("schedule", "seed"), SCHEDULES)
def test_a_right_pipeline_is_clean(schedule: str, seed: int) -> None:
    profile, is_right = run(PIPELINE, schedule, seed)
    assert [str(finding) for finding in profile.findings] == []
    assert is_right
    assert profile.flops == profile.tensor_flops == 2 * 64 * 64 * 64 * STEPS
    boxes = 2 * 8192 * STEPS
    assert (profile.global_load_bytes, profile.global_store_bytes) == (boxes, 64 * 64 * 4)


@pytest.mark.parametrize(("schedule", "seed"), SCHEDULES)
def test_bytes_may_be_announced_after_the_copies_are_started(schedule: str, seed: int) -> None:
    announced = "                mbarrier_arrive_with_bytes(base + FULL + 8 * s, 16384)\n"
    last = "map_b, (0, t * 64), base + FULL + 8 * s)\n"
    profile, is_right = run(
        PIPELINE.replace(announced, "").replace(last, last + announced), schedule, seed
    )
    assert [str(finding) for finding in profile.findings] == []
    assert is_right


def test_stages_may_have_their_size_in_the_kernel() -> None:
    """A static array of 48 KiB; results take the place of tiles that all warps have read."""
    text = (
        PIPELINE.replace("array(0, np.uint8", "array(49152, np.uint8")
        .replace("STAGES)", "2)").replace("% STAGES", "% 2").replace("// STAGES", "// 2")
        .replace("base + RESULT", "base").replace("+ FULL", "+ 32768").replace("+ EMPTY", "+ 32832")
        .replace("        warp, lane =", "        group_sync(2, 128)\n        warp, lane =")
    )  # fmt: skip
    assert "STAGES" not in text
    profile, is_right = run(text, "lockstep", 0)
    assert [str(finding) for finding in profile.findings] == []
    assert is_right


@pytest.mark.parametrize(
    ("array", "box", "said"),
    [
        (np.zeros((4, 64), np.uint16).T, (64, 4), "C-contiguous"),
        (np.zeros((64, 64), np.uint16), (64,), "a size from 1 to 256 for each axis"),
        (np.zeros((64, 64), np.uint16), (512, 64), "from 1 to 256"),
        (np.zeros((64, 64), np.float32), (64, 64), "128 bytes at most"),
        (np.zeros((64, 60), np.uint8), (64, 60), "multiple of 16 bytes"),
    ],
)
def test_what_no_driver_describes_is_refused(array: np.ndarray, box: tuple, said: str) -> None:
    with pytest.raises(PlainError, match=said):
        runtime.tensor_map(array, box)


# What is changed, into what, the code and the line that is named, and the other one ("" for none).
FAULTS = {
    "the wait for a full stage is missing": (
        "            mbarrier_wait(base + FULL + 8 * s, (t // STAGES) % 2)\n", "",
        "barrier-divergence", "mbarrier_init(base + FULL", "",
    ),
    "the wait for an empty stage is missing": (
        "                mbarrier_wait(base + EMPTY + 8 * s, (t // STAGES) % 2 ^ 1)\n", "",
        "barrier-divergence", "mbarrier_init(base + EMPTY", "",
    ),
    "the wrong parity of full": (
        "FULL + 8 * s, (t // STAGES) % 2)", "FULL + 8 * s, (t // STAGES) % 2 ^ 1)",
        "race-", "start(sums", "tma_load(base + s * STAGE, map_a",
    ),
    "the wrong parity of empty": (
        "% 2 ^ 1)", "% 2)", "barrier-divergence", "mbarrier_wait(base + EMPTY", "",
    ),
    "parity of the step, not of the lap": (
        "FULL + 8 * s, (t // STAGES) % 2)", "FULL + 8 * s, t % 2)",
        "race-|barrier-divergence", "", "",
    ),
    "released before the product is done": (
        "            wait(sums)\n            mbarrier_arrive(base + EMPTY + 8 * s)\n",
        "            mbarrier_arrive(base + EMPTY + 8 * s)\n            wait(sums)\n",
        "race-write-after-read", "tma_load(base + s * STAGE, map_a", "start(sums",
    ),
    "never released": (
        "            mbarrier_arrive(base + EMPTY + 8 * s)\n", "",
        "barrier-divergence", "mbarrier_wait(base + EMPTY", "",
    ),
    "released by one thread only": (
        "            mbarrier_arrive(base + EMPTY + 8 * s)\n",
        "            if tid == 0:\n                mbarrier_arrive(base + EMPTY + 8 * s)\n",
        "barrier-divergence", "mbarrier_wait(base + EMPTY", "",
    ),
    "one arrival is expected where a warpgroup arrives": (
        "EMPTY + 8 * s, 128)", "EMPTY + 8 * s, 1)", "race-|barrier-divergence", "", "",
    ),
    "too few bytes are announced": (
        "FULL + 8 * s, 16384)", "FULL + 8 * s, 8192)", "barrier-divergence", "", "",
    ),
    "too many bytes are announced": (
        "FULL + 8 * s, 16384)", "FULL + 8 * s, 32768)",
        "barrier-divergence", "mbarrier_wait(base + FULL", "",
    ),
    "no bytes are announced": (
        "mbarrier_arrive_with_bytes(base + FULL + 8 * s, 16384)",
        "mbarrier_arrive(base + FULL + 8 * s)",
        "barrier-divergence|race-", "", "",
    ),
    "B's copy ends at another barrier": (
        "map_b, (0, t * 64), base + FULL + 8 * s", "map_b, (0, t * 64), base + EMPTY + 8 * s",
        "barrier-divergence", "", "",
    ),
    "the product is not waited for": (
        "            wait(sums)\n", "", "race-", "", "",
    ),
    "sums are read before the wait": (
        "            wait(sums)\n",
        "            first = sums[0]\n            wait(sums)\n",
        "race-read-after-write", "first = sums[0]", "start(sums",
    ),
    "no fence before the store": (
        "        fence_async()\n", "", "race-read-after-write", "tma_store(map_c, (0, 0)",
        "store_shared2(place",
    ),
    "the fence comes after the barrier": (
        "        fence_async()\n        group_sync(1, 128)\n",
        "        group_sync(1, 128)\n        fence_async()\n",
        "race-read-after-write", "tma_store(map_c, (0, 0)", "store_shared2(place",
    ),
    "no barrier before the store": (
        "        group_sync(1, 128)\n", "",
        "race-read-after-write", "tma_store(map_c, (0, 0)", "store_shared2(place",
    ),
    "the barrier is for too many": (
        "group_sync(1, 128)", "group_sync(1, 160)", "barrier-divergence", "group_sync(1, 160)", "",
    ),
    "the barrier is for too few": (
        "group_sync(1, 128)", "group_sync(1, 64)", "race-|barrier-divergence", "", "",
    ),
    "barriers are used before all can see them": (
        "        fence_mbarrier_init()\n    cuda.syncthreads()\n",
        "        fence_mbarrier_init()\n",
        "uninitialised-read|race-", "", "",
    ),
    "a barrier is not made": (
        "for s in range(STAGES):\n            mbarrier_init",
        "for s in range(STAGES - 1):\n            mbarrier_init",
        "uninitialised-read", "", "",
    ),
    "both stages' copies go to one place": (
        "tma_load(base + s * STAGE + 8192", "tma_load(base + s * STAGE", "race-write-after-write",
        "tma_load(base + s * STAGE, map_b", "tma_load(base + s * STAGE, map_a",
    ),
    "the producer is a whole warp": (
        "if tid == 128:", "if tid >= 128:", "barrier-divergence|race-", "", "",
    ),
    "one stage more than there is room for": (
        "s = t % STAGES\n                mbarrier_wait(base + EMPTY",
        "s = t % 4\n                mbarrier_wait(base + EMPTY",
        "", "", "",
    ),
    "the consumer is a lap behind": (
        "            s = t % STAGES\n            mbarrier_wait(base + FULL",
        "            s = (t + 1) % STAGES\n            mbarrier_wait(base + FULL", "", "", "",
    ),
    "results are overwritten before they are stored": (
        "            tma_store_wait(0)\n",
        "            store_shared2(base + RESULT, sums[0], sums[1])\n",
        "race-write-after-read|race-", "store_shared2(base + RESULT", "tma_store(map_c, (0, 0)",
    ),
    "the warps of the group part": (
        "            start(sums",
        "            if tid < 96:\n                start(sums",
        "", "", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_pipeline_is_named(name: str) -> None:
    old, new, code, line, other = FAULTS[name]
    assert PIPELINE.count(old) == 1, PIPELINE.count(old)
    text = PIPELINE.replace(old, new)
    program = HEADER + INTRINSICS + text
    lines = {line_of(program, part) for part in (line, other) if part}
    seen = []
    for schedule, seed in SCHEDULES:
        profile, _ = run(text, schedule, seed)
        seen += profile.errors
        for found in profile.errors:
            is_there = not lines or lines <= {found.line, found.other_line}
            if found.code.startswith(tuple(code.split("|"))) and is_there:
                return
    raise AssertionError(seen)
