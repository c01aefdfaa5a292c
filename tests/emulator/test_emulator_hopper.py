"""Pipelines of TMA, mbarriers and wgmma: right ones are clean, wrong ones are named."""

import numpy as np
import pytest
from emulator_helpers import HEADER, launch, line_of, refusal
from sampling import few, one_in

from course_lib.emulator import Profile
from course_lib.emulator.errors import KernelRejected
from course_lib.emulator.state.hopper import TensorMap
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
from course_lib.intrinsics.warpgroups import fewer_registers, more_registers

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


ANNOUNCED = "                mbarrier_arrive_with_bytes(base + FULL + 8 * s, 16384)\n"
LAST = "map_b, (0, t * 64), base + FULL + 8 * s)\n"
RIGHT = {
    "as it stands": PIPELINE,
    "bytes are announced after the copies": (
        PIPELINE.replace(ANNOUNCED, "").replace(LAST, LAST + ANNOUNCED)),
    # A static array of 48 KiB; results take the place of tiles that all warps have read.
    "stages have their size in the kernel": (
        PIPELINE.replace("array(0, np.uint8", "array(49152, np.uint8")
        .replace("STAGES)", "2)").replace("% STAGES", "% 2").replace("// STAGES", "// 2")
        .replace("base + RESULT", "base").replace("+ FULL", "+ 32768").replace("+ EMPTY", "+ 32832")
        .replace("        warp, lane =", "        group_sync(2, 128)\n        warp, lane =")),
}  # fmt: skip


@pytest.mark.parametrize(("name", "schedule", "seed"), few(zip(
    [*RIGHT, "as it stands"], *zip(*SCHEDULES, strict=True), strict=True,
)))  # fmt: skip
def test_a_right_pipeline_is_clean(name: str, schedule: str, seed: int) -> None:
    profile, is_right = run(RIGHT[name], schedule, seed)
    assert [str(finding) for finding in profile.findings] == []
    assert is_right
    assert profile.flops == profile.tensor_flops == 2 * 64 * 64 * 64 * STEPS
    boxes = 2 * 8192 * STEPS
    assert (profile.global_load_bytes, profile.global_store_bytes) == (boxes, 64 * 64 * 4)


@pytest.mark.parametrize(("array", "box", "said"), [
    (np.zeros((4, 64), np.uint16).T, (64, 4), "C-contiguous"),
    (np.zeros((64, 64), np.uint16), (64,), "a size from 1 to 256 for each axis"),
    (np.zeros((64, 64), np.uint16), (512, 64), "from 1 to 256"),
    (np.zeros((64, 64), np.float32), (64, 64), "128 bytes at most"),
    (np.zeros((64, 60), np.uint8), (64, 60), "multiple of 16 bytes"),
])  # fmt: skip
def test_what_no_driver_describes_is_refused(array: np.ndarray, box: tuple, said: str) -> None:
    with pytest.raises(PlainError, match=said):
        runtime.tensor_map(array, box)


# The last warpgroup gives registers back, the others take them.
REGISTERS = """\
@cuda.jit
def kernel():
    if cuda.threadIdx.x >= cuda.blockDim.x - 128:
        fewer_registers({few})
    else:
        more_registers({many})
"""


@pytest.mark.parametrize(("threads", "few", "many", "is_right"), [
    (384, 24, 240, True),  # 168 at the launch
    (384, 40, 232, True),
    (384, 32, 240, False),
    (384, 24, 248, False),
    (384, 168, 176, False),
    (512, 32, 160, True),  # 128 at the launch
    (512, 24, 168, False),
    (256, 40, 232, True),  # 256 at the launch: nothing is lacking
])  # fmt: skip
def test_registers_are_those_of_the_launch(threads, few, many, is_right):
    program = HEADER + INTRINSICS + REGISTERS.format(few=few, many=many)
    profile = launch(program, 2, threads)
    line = line_of(program, f"more_registers({many})")
    wanted = [] if is_right else [("barrier-divergence", line)]
    assert [(found.code, found.line) for found in profile.errors] == wanted


def test_all_warps_of_a_group_ask_for_registers() -> None:
    program = HEADER + INTRINSICS + REGISTERS.format(few=24, many=168)
    program = program.replace("- 128:", "- 96:")
    profile = launch(program, 1, 384)
    line = line_of(program, "fewer_registers(24)")
    assert ("barrier-divergence", line) in [(found.code, found.line) for found in profile.errors]


@pytest.mark.parametrize("count", ["100", "16", "264", "few"])
def test_a_number_of_registers_is_a_constant_multiple_of_8(count: str) -> None:
    program = HEADER + INTRINSICS + REGISTERS.format(few=24, many=count)
    program = program.replace("kernel():", "kernel(few):")
    found = refusal(program, np.int32(24), grid=2, block=384)
    line = line_of(program, f"more_registers({count})")
    assert (found.code, found.line) == ("compile-error", line)


# What is changed, into what, the code and the line that is named, and the other one ("" for none).
FAULTS = {
    "the wait for a full stage is missing": (
        "            mbarrier_wait(base + FULL + 8 * s, (t // STAGES) % 2)\n", "",
        "barrier-divergence", "mbarrier_init(base + FULL", ""),
    "the wait for an empty stage is missing": (
        "                mbarrier_wait(base + EMPTY + 8 * s, (t // STAGES) % 2 ^ 1)\n", "",
        "barrier-divergence", "mbarrier_init(base + EMPTY", ""),
    "the wrong parity of full": (
        "FULL + 8 * s, (t // STAGES) % 2)", "FULL + 8 * s, (t // STAGES) % 2 ^ 1)",
        "race-", "start(sums", "tma_load(base + s * STAGE, map_a"),
    "released before the product is done": (
        "            wait(sums)\n            mbarrier_arrive(base + EMPTY + 8 * s)\n",
        "            mbarrier_arrive(base + EMPTY + 8 * s)\n            wait(sums)\n",
        "race-write-after-read", "mbarrier_arrive(base + EMPTY", "start(sums"),
    "bytes for a part of a box are announced": ("FULL + 8 * s, 16384)", "FULL + 8 * s, 4096)",
        "barrier-divergence", "mbarrier_arrive_with_bytes(base",
        "tma_load(base + s * STAGE, map_a"),
    "a stage is released more often than it was agreed": (
        "mbarrier_init(base + EMPTY + 8 * s, 128)", "mbarrier_init(base + EMPTY + 8 * s, 4)",
        "barrier-divergence", "mbarrier_arrive(base + EMPTY", "mbarrier_init(base + EMPTY"),
    "the first product adds to sums that hold nothing yet": (
        "+ 8192), t)", "+ 8192), 1)", "uninitialised-read", "start(sums", ""),
    "too many bytes are announced": ("FULL + 8 * s, 16384)", "FULL + 8 * s, 32768)",
        "barrier-divergence", "mbarrier_wait(base + FULL", ""),
    "sums are read before the wait": ("            wait(sums)\n",
        "            first = sums[0]\n            wait(sums)\n",
        "race-read-after-write", "first = sums[0]", "start(sums"),
    "no fence before the store": ("        fence_async()\n", "", "race-read-after-write",
        "tma_store(map_c, (0, 0)", "store_shared2(place"),
    "no barrier before the store": ("        group_sync(1, 128)\n", "",
        "race-read-after-write", "tma_store(map_c, (0, 0)", "store_shared2(place"),
    "the barrier is for too many": (
        "group_sync(1, 128)", "group_sync(1, 160)", "barrier-divergence", "group_sync(1, 160)", ""),
    "barriers are used before all can see them": (
        "        fence_mbarrier_init()\n    cuda.syncthreads()\n",
        "        fence_mbarrier_init()\n", "uninitialised-read|race-", "", ""),
    "a barrier is not made": ("for s in range(STAGES):\n            mbarrier_init",
        "for s in range(STAGES - 1):\n            mbarrier_init", "uninitialised-read", "", ""),
    "both stages' copies go to one place": (
        "tma_load(base + s * STAGE + 8192", "tma_load(base + s * STAGE", "race-write-after-write",
        "tma_load(base + s * STAGE, map_b", "tma_load(base + s * STAGE, map_a"),
    "results are overwritten before they are stored": ("            tma_store_wait(0)\n",
        "            store_shared2(base + RESULT, sums[0], sums[1])\n",
        "race-write-after-read|race-", "store_shared2(base + RESULT", "tma_store(map_c, (0, 0)"),
    "new barriers are not shown to the copy engine": ("        fence_mbarrier_init()\n", "",
        "race-read-after-write", "tma_load(base + s * STAGE, map_a", "mbarrier_init(base + FULL"),
    "nothing promises where stages begin": (
        ", alignment=1024)", ", alignment=128)", "wrong-index", "map_a, (t * 64, 0)", ""),
    "a barrier begins within one": (
        "mbarrier_init(base + EMPTY + 8 * s, 128)", "mbarrier_init(base + EMPTY + 4 + 8 * s, 128)",
        "wrong-index", "mbarrier_init(base + EMPTY", ""),
    "a product's tile begins within eight rows": ("wgmma_b(base + s * STAGE + 8192)",
        "wgmma_b(base + s * STAGE + 8192 + 128)", "wrong-index", "start(sums", ""),
    "results lie beyond the block's memory": ("tma_store(map_c, (32, 0), base + RESULT + 8192)",
        "tma_store(map_c, (32, 0), base + RESULT + 3 * 8192 + 4096)",
        "out-of-bounds-read", "tma_store(map_c, (32, 0)", ""),
    "results are not where two numbers may begin": (
        "+ column % 4 * 4\n", "+ column % 4 * 4 + 4\n", "wrong-index", "store_shared2(place", ""),
    "an address counts no whole number": (
        "+ column % 4 * 4\n", "+ column % 4 * 4 + 2\n", "wrong-index", "store_shared2(place", ""),
    "the warps of the group part": ("            start(sums",
        "            if tid < 96:\n                start(sums", "", "", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(3, FAULTS))
def test_a_wrong_pipeline_is_named(name: str) -> None:
    old, new, code, line, other = FAULTS[name]
    assert PIPELINE.count(old) == 1, PIPELINE.count(old)
    text = PIPELINE.replace(old, new)
    program = HEADER + INTRINSICS + text
    lines = {line_of(program, part) for part in (line, other) if part}
    seen = []
    for schedule, seed in SCHEDULES:
        try:
            errors = run(text, schedule, seed)[0].errors
        except KernelRejected as refused:
            errors = refused.findings
        seen += errors
        for found in errors:
            is_there = not lines or lines <= {found.line, found.other_line}
            if found.code.startswith(tuple(code.split("|"))) and is_there:
                return
    raise AssertionError(seen)


# Two blocks: both arrive at the barrier of the first, and that one's threads wait.
CLUSTER = """\
@cuda.jit
def kernel(result):
    shared = cuda.shared.array(0, np.uint8, alignment=1024)
    base = shared_address(shared)
    if cuda.threadIdx.x == 0:
        mbarrier_init(base, 2)
        fence_mbarrier_init()
    cluster_sync()
    if cuda.threadIdx.x == 0:
        mbarrier_arrive_at(base, 0, 1)
    if cluster_rank() == 0:
        mbarrier_wait(base, 0)
        result[cuda.blockIdx.x, cuda.threadIdx.x] = 1
    cluster_sync()
"""
CLUSTER_FAULTS = {
    "": ("", "", "", ""),
    "not shown to the other block": (
        "        fence_mbarrier_init()\n", "", "race-read-after-write", "mbarrier_arrive_at(base"),
    "shown to copies only": ("fence_mbarrier_init()", "fence_async()",
        "race-read-after-write", "mbarrier_arrive_at(base"),
    "the blocks do not meet before": ("    cluster_sync()\n    if cuda.threadIdx.x == 0:",
        "    if cuda.threadIdx.x == 0:", "race-|uninitialised-read", "mbarrier_arrive_at(base"),
    "both wait, each at its own": ("    if cluster_rank() == 0:", "    if cluster_rank() < 2:",
        "barrier-divergence", "mbarrier_wait(base"),
}  # fmt: skip


@pytest.mark.parametrize("name", CLUSTER_FAULTS)
def test_barriers_of_a_cluster(name: str) -> None:
    old, new, code, line = CLUSTER_FAULTS[name]
    assert not name or CLUSTER.count(old) == 1
    program = HEADER + INTRINSICS + CLUSTER.replace(old, new)
    found = []
    for schedule, seed in SCHEDULES:
        result = np.zeros((2, 32), np.int32)
        profile = launch(
            program, 2, 32, result, shared_bytes=1024, schedule=schedule, seed=seed, cluster=2
        )
        found += profile.errors
        assert name or (result[0] == 1).all()
    assert bool(found) == bool(name)
    if name:
        wanted = code.split("|"), line_of(program, line)
        assert any(e.code.startswith(tuple(wanted[0])) and e.line == wanted[1] for e in found)


# S = Q Kᵀ of 64 queries, 32 keys and 64 columns; S in bfloat16 times V is O.
ATTENTION = """\
from course_lib.intrinsics import pack_bf16
from course_lib.intrinsics.wgmma_attention import attention_products

PRODUCTS = attention_products(64, 32)
start_scores, wait_scores = PRODUCTS.start_scores, PRODUCTS.wait_scores
start_output, wait_output = PRODUCTS.start_output, PRODUCTS.wait_output
q_word, k_word, v_word = PRODUCTS.q_word, PRODUCTS.k_word, PRODUCTS.v_word

@cuda.jit
def kernel(map_q, map_k, map_v, C):
    shared = cuda.shared.array(16384 + 8, np.uint8, alignment=1024)
    base = shared_address(shared)
    tid = cuda.threadIdx.x
    if tid == 0:
        mbarrier_init(base + 16384, 1)
        fence_mbarrier_init()
        mbarrier_arrive_with_bytes(base + 16384, 16384)
        tma_load(base, map_q, (0, 0), base + 16384)
        tma_load(base + 8192, map_k, (0, 0), base + 16384)
        tma_load(base + 12288, map_v, (0, 0), base + 16384)
    cuda.syncthreads()
    mbarrier_wait(base + 16384, 0)
    S = cuda.local.array(16, float32)
    P = cuda.local.array(8, np.uint32)
    O = cuda.local.array(32, float32)
    for i in range(32):
        O[i] = 1
    start_scores(S, q_word(base), k_word(base + 8192))
    wait_scores(S, 0)
    for i in range(8):
        P[i] = pack_bf16(S[2 * i], S[2 * i + 1])
    start_output(O, P, v_word(base + 12288))
    wait_output(O)
    for i in range(32):
        row = 16 * (tid // 32) + 8 * (i // 2 % 2) + tid % 32 // 4
        C[row, 8 * (i // 4) + 2 * (tid % 4) + i % 2] = O[i]
"""
ATTENTION_FAULTS = {
    "": ("", "", "", ""),
    "P is touched while its product reads it": ("    wait_output(O)\n",
        "    P[0] = 0\n    wait_output(O)\n", "    P[0] = 0", "start_output(O, P"),
    "O is touched while its product adds to it": ("    wait_output(O)\n",
        "    O[5] += 1\n    wait_output(O)\n", "    O[5] += 1", "start_output(O, P"),
    "the scores are left under way": (
        "wait_scores(S, 0)", "wait_scores(S, 1)", "P[i] = pack_bf16", "start_scores(S, q"),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTENTION_FAULTS)
def test_products_of_attention(name: str) -> None:
    old, new, *parts = ATTENTION_FAULTS[name]
    program = HEADER + INTRINSICS + ATTENTION
    assert not name or program.count(old) == 1
    program = program.replace(old, new) if name else program
    random = np.random.default_rng(0)
    q, k, v = (random.integers(-1, 2, (rows, 64)) for rows in (64, 32, 32))
    maps = [TensorMap(bits(each), each.shape) for each in (q, k, v)]
    result = np.zeros((64, 64), np.float32)
    profile = launch(program, 1, 128, *maps, result)
    found = {(each.code, each.line, each.other_line) for each in profile.errors}
    if name:
        assert ("race-read-after-write", *(line_of(program, part) for part in parts)) in found
    else:
        assert found == set()
        np.testing.assert_array_equal(result, 1 + (q @ k.T) @ v)


@pytest.mark.parametrize(
    "call", ["start_scores(C, base)", "wait_scores(S, tid)", "start_output(S, S, base)"]
)
def test_what_products_of_attention_take(call: str) -> None:
    program = HEADER + INTRINSICS + ATTENTION.replace("wait_output(O)", call)
    arguments = [TensorMap(np.zeros((64, 64), np.uint16), (64, 64))] * 3
    assert (
        refusal(program, *arguments, np.zeros((64, 64), np.float32), block=128).code
        == "compile-error"
    )
