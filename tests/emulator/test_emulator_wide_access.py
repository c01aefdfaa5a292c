"""Accesses of 16 bytes: values, bounds, alignment, cost, and what Numba's compiler refuses."""

import numpy as np
import pytest
from emulator_helpers import as_program, codes, launch, line_of, rejection_codes, run, run_clean
from every_case import every_case
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.emulator.profile.request_costs import shared_cost
from course_lib.wording.sentences import facts_of

IMPORT = "from course_lib.intrinsics import *"


def numbers(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


@every_case(("before", "name"), [
    ("from course_lib.intrinsics import load4", "load4"),
    ("from course_lib.intrinsics import load4 as wide", "wide"),
    ("from course_lib.intrinsics.wide import load4", "load4"),
    ("import course_lib.intrinsics as ci", "ci.load4"),
    ("from course_lib import intrinsics", "intrinsics.load4"),
    ("import course_lib.intrinsics", "course_lib.intrinsics.load4"),
    (IMPORT, "load4"),
])  # fmt: skip
def test_known_however_imported(before: str, name: str) -> None:
    out = np.zeros(8, np.float32)
    body = f"i = cuda.threadIdx.x\nx, y, z, w = {name}(A, 4 * i)\nout[i] = x + y + z + w"
    run_clean(body, 1, 8, numbers(32), out, parameters="A, out", before=before)
    assert np.array_equal(out, numbers(8, 4).sum(axis=1))


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["float32", "int32", "uint32"]), st.sampled_from([(64,), (4, 16), (2, 4, 8)]),
    st.integers(0, 99), st.sampled_from(["lockstep", "warps"]),
)  # fmt: skip
def test_a_permutation_through_shared_and_local_memory(dtype, shape, seed, schedule):
    order = np.random.default_rng(seed).permutation(16)
    source, out = np.arange(64, dtype=dtype).reshape(shape), np.zeros(64, dtype)
    body = f"""
        s = cuda.shared.array({shape}, {dtype}, alignment=16)
        mine = cuda.local.array(8, {dtype}, 16)
        i = cuda.threadIdx.x
        store4(s, order[i] * 4, load4(A, i * 4))
        cuda.syncthreads()
        store4(mine, uint32(4), load4(s, i * 4))
        store4(out, i * 4, load4(mine, 4))
    """
    program = as_program(body, "order, A, out", IMPORT)
    assert not launch(program, 1, 16, order, source, out, schedule=schedule).errors
    expected = np.zeros((16, 4), dtype)
    expected[order] = source.reshape(16, 4)
    assert np.array_equal(out.reshape(16, 4), expected)


def test_words_of_16_bit_numbers() -> None:
    body = """
        words = load_words(A, 8)
        out[0] = words[1]
        store_words(B, 0, (words[3], words[2], words[1], words[0]))
        store2(C, 2, (C[1], C[0]))
    """
    A, B = np.arange(16, dtype=np.float16), np.zeros(8, np.float16)
    out, C = np.zeros(1, np.uint32), numbers(4)
    run_clean(body, 1, 1, A, B, C, out, parameters="A, B, C, out", before=IMPORT)
    assert out[0] == int(A[10:12].view(np.uint32)[0])
    assert B.tolist() == [14, 15, 12, 13, 10, 11, 8, 9]
    assert C.tolist() == [0, 1, 1, 0]


def test_the_last_four_of_an_odd_length() -> None:
    profile = run("x = load4(A, 4)[0]", 1, 1, numbers(7), parameters="A", before=IMPORT)
    assert codes(profile) == ["out-of-bounds-read"]
    facts = facts_of(profile.findings[0].message)
    assert (facts["several"], facts["name"], facts["last"]) == (4, "A", 6)


def test_cost_of_16_bytes_a_lane() -> None:
    body = """
        s = cuda.shared.array(1024, float32, alignment=16)
        i = cuda.threadIdx.x
        store4(s, 4 * i, load4(A, 4 * i))
        cuda.syncthreads()
        x = load4(s, 32 * (i % 32))[0]
        y = load4(s, 0)[0]
        store4(A, 16 * i, (x, y, x, y))
    """
    program = as_program(body, "A", IMPORT)
    profile = launch(program, 1, 64, numbers(1024))
    read = profile.lines[line_of(program, "load4(A, 4 * i)")]
    # 64 lanes of 16 bytes: 2 requests, 32 sectors; 4 phases a warp without conflicts.
    assert (read.global_load_requests, read.global_load_sectors) == (2, 32)
    assert read.global_load_bytes == 1024
    assert (read.shared_store_wavefronts, read.shared_store_bank_conflicts) == (8, 0)
    # 32 words apart, all lanes of a phase ask the same banks.
    strided = profile.lines[line_of(program, "load4(s, 32")]
    assert (strided.shared_load_wavefronts, strided.shared_load_bank_conflicts) == (64, 56)
    # One address for all: half the phases (measured).
    assert profile.lines[line_of(program, "load4(s, 0)")].shared_load_wavefronts == 4
    assert profile.lines[line_of(program, "store4(A")].global_store_sectors == 64
    traffic = profile.arrays["A"]
    assert (traffic.loaded_elements, traffic.distinct_elements_loaded) == (256, 256)
    assert traffic.stored_elements == 256


def test_a_wide_and_a_narrow_access_from_one_address_cost_their_own() -> None:
    body = """
        s = cuda.shared.array(128, float32, alignment=16)
        i = cuda.threadIdx.x
        store4(s, 4 * i, load4(A, 4 * i))
        s[4 * i] = 0
    """
    program = as_program(body, "A", IMPORT)
    profile = launch(program, 1, 32, numbers(128))
    for fragment, conflicts in (("store4(s", 0), ("s[4 * i] = 0", 3)):
        assert profile.lines[line_of(program, fragment)].shared_store_bank_conflicts == conflicts


LOOP = """
import numpy as np
from numba import cuda, float32
from course_lib.intrinsics import load4, unroll, unrolled

TURNS = 4
HALF = 2.0

{decorators}
def kernel(A, out):
    acc = float32(0)
    four = load4(A, 0)
    {loop}
    out[0] = acc
"""
RIGHT = "@cuda.jit\n@unrolled"


def unrolled_program(loop: str, decorators: str = RIGHT) -> str:
    return LOOP.format(loop=loop.replace("\n", "\n    "), decorators=decorators)


@pytest.mark.parametrize("count", ["4", "TURNS"])
def test_a_loop_over_unroll(count: str) -> None:
    program = unrolled_program(f"for k in unroll({count}):\n    acc += four[k]")
    out = np.zeros(1, np.float32)
    profile = launch(program, 1, 32, numbers(4), out)
    assert out[0] == 6
    assert profile.flops == 4 * 32
    assert profile.branches == 0  # there is no loop any more


@every_case(("loop", "decorators"), [
    ("for k in unroll(4):\n    acc += four[k]", "@cuda.jit"),
    ("for k in unroll(4):\n    acc += four[k]", "@unrolled\n@cuda.jit"),
    ("for k in unroll(A.size):\n    acc += 1", RIGHT),
    ("for k in unroll(TURNS // 2):\n    acc += 1", RIGHT),
    ("for k in unroll(HALF):\n    acc += 1", RIGHT),
    ("for k in unroll(0):\n    acc += 1", RIGHT),
    ("for k in unroll(257):\n    acc += 1", RIGHT),
    ("n = 4\nfor k in unroll(n):\n    acc += 1", RIGHT),
    ("for k in unroll(4):\n    if acc > 1:\n        break\n    acc += 1", RIGHT),
    ("for k in unroll(4):\n    k += 1", RIGHT),
    ("for k in unroll(4):\n    acc += 1\nelse:\n    acc += 1", RIGHT),
    ("for k in unroll(4, 8):\n    acc += 1", RIGHT),
    ("turns = unroll(4)\nfor k in turns:\n    acc += 1", RIGHT),
])  # fmt: skip
def test_loops_that_cannot_be_written_out(loop: str, decorators: str) -> None:
    program = unrolled_program(loop, decorators)
    arguments = numbers(4), np.zeros(1, np.float32)
    assert rejection_codes(program, *arguments) == ["compile-error"]


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
