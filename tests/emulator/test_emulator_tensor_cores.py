"""Tensor cores: fragments against the PTX ISA's tables, read lane by lane, and NumPy's product."""

import numpy as np
import pytest
from emulator_helpers import as_program, codes, launch, line_of, run
from every_case import every_case
from hypothesis import given, settings
from hypothesis import strategies as st

IMPORT = "from course_lib.intrinsics import *"
M, N = 16, 8


# "Matrix Fragments for mma.m16n8k8" (.f16 and .tf32), "mma.m16n8k16" (.f16 and .bf16):
# groupID = lane >> 2, threadID_in_group = lane % 4.


def place_in_a(kind: str, k: int, lane: int, i: int) -> tuple[int, int]:
    """Row and column of the i-th element of A that a lane holds."""
    group, thread = lane >> 2, lane % 4
    if kind == "tf32":  # a0 … a3
        row = group if i in (0, 2) else group + 8
        return row, thread if i in (0, 1) else thread + 4
    if k == 8:  # a0 … a3
        return (group if i < 2 else group + 8), thread * 2 + (i & 1)
    row = group if 0 <= i < 2 or 4 <= i < 6 else group + 8  # a0 … a7
    return row, thread * 2 + (i & 1) + (8 if i >= 4 else 0)


def place_in_b(kind: str, k: int, lane: int, i: int) -> tuple[int, int]:
    """Row and column of the i-th element of B that a lane holds."""
    group, thread = lane >> 2, lane % 4
    if kind == "tf32":
        return (thread if i == 0 else thread + 4), group
    return thread * 2 + (i & 1) + (8 if i >= 2 else 0), group


def place_in_c(lane: int, i: int) -> tuple[int, int]:
    """Row and column of the i-th sum that a lane holds."""
    group, thread = lane >> 2, lane % 4
    return (group if i < 2 else group + 8), thread * 2 + (i & 1)


def bfloat16_bits(numbers: np.ndarray) -> np.ndarray:
    """Cut off: enough for numbers that are chosen to be exact."""
    return (numbers.view(np.uint32) >> 16).astype(np.uint16)


def as_bits(kind: str, matrix: np.ndarray) -> np.ndarray:
    """A matrix's numbers as they stand in words: 16 or 32 bits each."""
    if kind == "f16":
        return matrix.astype(np.float16).view(np.uint16)
    return bfloat16_bits(matrix) if kind == "bf16" else matrix.view(np.uint32)


def fragment(bits: np.ndarray, place, kind: str, k: int, count: int) -> np.ndarray:
    """Every lane's words, shape (words, 32), number by number."""
    words = np.zeros((count, 32), np.uint32)
    per_word = 1 if kind == "tf32" else 2
    for lane in range(32):
        for i in range(count * per_word):
            number = int(bits[place(kind, k, lane, i)])
            words[i // per_word, lane] |= np.uint32(number << 16 * (i % per_word))
    return words


MMA = [("f16", 8, 2, 1), ("f16", 16, 4, 2), ("bf16", 16, 4, 2), ("tf32", 8, 4, 2)]
KERNEL = """
    i, b = cuda.threadIdx.x, cuda.blockIdx.x
    acc = (C[b, 0, i], C[b, 1, i], C[b, 2, i], C[b, 3, i])
    for turn in range({turns}):
        acc = mma_m16n8k{k}_{kind}(acc, {a}, {b})  # product
    for j in range(4):
        out[b, j, i] = acc[j]
"""


def mma_program(kind: str, k: int, a_words: int, b_words: int, turns: int = 1) -> str:
    a = ", ".join(f"A[b, {w}, i]" for w in range(a_words))
    b = "(" + ", ".join(f"B[b, {w}, i]" for w in range(b_words)) + ")"
    b = "B[b, 0, i]" if b_words == 1 else b
    body = KERNEL.format(k=k, kind=kind, a=f"({a})", b=b, turns=turns)
    return as_program(body, "A, B, C, out", IMPORT)


@pytest.mark.parametrize("shape", MMA)
@settings(max_examples=6, deadline=None)
@given(
    blocks=st.integers(1, 2), warps=st.integers(1, 3), seed=st.integers(0, 2**16),
    schedule=st.sampled_from(["lockstep", "warps"]),
)  # fmt: skip
def test_the_product_of_every_warp(shape, blocks, warps, seed, schedule):
    kind, k, a_words, b_words = shape
    random = np.random.default_rng(seed)
    tiles = blocks, warps
    A = random.integers(-8, 9, (*tiles, M, k)).astype(np.float32)
    B = random.integers(-8, 9, (*tiles, k, N)).astype(np.float32)
    C = random.integers(-99, 99, (*tiles, M, N)).astype(np.float32)
    words = {"A": [], "B": [], "C": []}
    for at in np.ndindex(*tiles):
        words["A"].append(fragment(as_bits(kind, A[at]), place_in_a, kind, k, a_words))
        words["B"].append(fragment(as_bits(kind, B[at]), place_in_b, kind, k, b_words))
        places = [[place_in_c(lane, i) for lane in range(32)] for i in range(4)]
        words["C"].append(np.array([[C[at][place] for place in row] for row in places]))
    lanes = {
        name: np.stack(each).reshape(blocks, warps, -1, 32).transpose(0, 2, 1, 3)
        for name, each in words.items()
    }
    given_ = [np.ascontiguousarray(v).reshape(blocks, -1, 32 * warps) for v in lanes.values()]
    out = np.zeros((blocks, 4, 32 * warps), np.float32)
    program = mma_program(*shape)
    profile = launch(program, blocks, 32 * warps, *given_, out, schedule=schedule)
    assert not profile.findings
    assert profile.flops == profile.tensor_flops == 2 * M * N * k * blocks * warps
    assert profile.float64_flops == 0
    expected = A @ B + C  # small whole numbers: exact in any order
    for b, w in np.ndindex(*tiles):
        for lane in range(32):
            for i in range(4):
                assert out[b, i, 32 * w + lane] == expected[b, w][place_in_c(lane, i)]


def one_product(kind: str, shape: tuple, a: np.ndarray, b: np.ndarray) -> float:
    """The sum of the products of two rows of numbers, by one mma."""
    _, k, a_words, b_words = shape
    A, B = np.zeros((M, k), np.float32), np.zeros((k, N), np.float32)
    A[0, : len(a)], B[: len(b), 0] = a, b
    words_a = fragment(as_bits(kind, A), place_in_a, kind, k, a_words)
    words_b = fragment(as_bits(kind, B), place_in_b, kind, k, b_words)
    out = np.zeros((1, 4, 32), np.float32)
    program = mma_program(*shape)
    launch(program, 1, 32, words_a[None], words_b[None], np.zeros((1, 4, 32), np.float32), out)
    return float(out[0, 0, 0])


def test_products_are_exact_and_sums_float32() -> None:
    tiny = np.float32(2**-11)
    # 1 + 2^-10 is the float16 after 1; its square needs 21 bits, which float32 has.
    near_one = np.float32(1 + 2**-10)
    square = one_product("f16", MMA[1], np.array([near_one]), np.array([near_one]))
    assert square == float(near_one) ** 2
    # In float16, 2048 + 1 would be 2048.
    both = one_product("f16", MMA[1], np.array([2048, 1]), np.array([1, 1]))
    assert both == 2049
    assert one_product("f16", MMA[1], np.array([1, tiny]), np.array([1, tiny])) == 1 + 2**-22


def test_tf32_uses_the_upper_19_bits() -> None:
    for bit, counts in ((2**-10, True), (2**-11, False), (2**-11 + 2**-12, False)):
        a = np.array([1 + bit], np.float32)
        got = one_product("tf32", MMA[3], a, np.array([1], np.float32))
        assert got == (1 + bit if counts else 1)


def test_formats() -> None:
    body = """
        i = cuda.threadIdx.x
        bits[i], tf32[i], bf16[i] = float_bits(A[i]), to_tf32(A[i]), bf16_bits(A[i])
    """
    #           exact     tie: away      just below a tie   bf16 tie: to even, both ways
    A = np.array(
        [1.5, 1 + 2**-11, 1 + 2**-11 - 2**-23, 1 + 2**-8, 1 + 3 * 2**-8, -2.25, np.inf, np.nan],
        np.float32,
    )
    tf32 = [1.5, 1 + 2**-10, 1, 1 + 2**-8, 1 + 3 * 2**-8, -2.25, np.inf]
    bf16 = [1.5, 1, 1, 1, 1 + 4 * 2**-8, -2.25, np.inf]
    outs = np.zeros(8, np.uint32), np.zeros(8, np.uint32), np.zeros(8, np.uint16)
    run(body, 1, 8, A, *outs, parameters="A, bits, tf32, bf16", before=IMPORT)
    assert np.array_equal(outs[0], A.view(np.uint32))
    assert outs[1].view(np.float32).tolist()[:7] == tf32
    assert (outs[2].astype(np.uint32) << 16).view(np.float32).tolist()[:7] == bf16
    assert np.isnan(outs[1].view(np.float32)[7])
    assert np.isnan((outs[2].astype(np.uint32) << 16).view(np.float32)[7])


@settings(max_examples=20, deadline=None)
@given(
    count=st.sampled_from([2, 4]), trans=st.booleans(), blocks=st.integers(1, 2),
    dtype=st.sampled_from(["float16", "uint16"]), seed=st.integers(0, 2**16),
)  # fmt: skip
def test_ldmatrix_lane_by_lane(count: int, trans: bool, blocks: int, dtype: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    tile = random.integers(0, 1000, (64, 8)).astype(dtype)
    rows = random.integers(0, 64, (blocks, 64))
    out = np.zeros((blocks, count, 64), np.uint32)
    name = f"ldmatrix_x{count}" + "_trans" * trans
    body = f"""
        s = cuda.shared.array((64, 8), np.{dtype}, alignment=16)
        i, b = cuda.threadIdx.x, cuda.blockIdx.x
        for k in range(8):
            s[i, k] = tile[i, k]
        cuda.syncthreads()
        words = {name}(s, 8 * rows[b, i])
        for k in range({count}):
            out[b, k, i] = words[k]
    """
    program = as_program(body, "tile, rows, out", IMPORT)
    profile = launch(program, blocks, 64, tile, rows, out)
    assert not profile.errors
    bits = tile.view(np.uint16).astype(np.uint32)
    for b, warp, m, lane in np.ndindex(blocks, 2, count, 32):
        # PTX ISA, ldmatrix: row r of matrix m lies where lane 8 m + r says.
        matrix = bits[rows[b, 32 * warp + 8 * m : 32 * warp + 8 * m + 8]]
        matrix = matrix.T if trans else matrix
        low, high = matrix[lane // 4, 2 * (lane % 4) : 2 * (lane % 4) + 2]
        assert out[b, m, 32 * warp + lane] == low | high << 16
    fetch = profile.lines[line_of(program, name)]
    assert fetch.shared_load_requests == 2 * blocks
    assert fetch.shared_load_bytes == 2 * blocks * count * 128


@pytest.mark.parametrize(("wide", "conflicts"), [(32, 12), (40, 0)])
def test_wavefronts_of_ldmatrix(wide: int, conflicts: int) -> None:
    """8 rows of 16 bytes are one wavefront, if they lie in different banks."""
    body = f"""
        s = cuda.shared.array((16, {wide}), np.uint16, alignment=16)
        i = cuda.threadIdx.x
        for r in range(16):
            s[r, i] = i
        cuda.syncthreads()
        words = ldmatrix_x4(s, i % 16 * {wide} + i // 16 * 8)
        out[i] = words[0]
    """
    program = as_program(body, before=IMPORT)
    profile = launch(program, 1, 32, np.zeros(32, np.uint32))
    fetch = profile.lines[line_of(program, "ldmatrix_x4")]
    assert fetch.shared_load_bank_conflicts == conflicts
    assert fetch.shared_load_wavefronts == 4 + conflicts


IN_PARTS = """
    s = cuda.shared.array((64, 8), np.uint16, alignment=16)
    i = cuda.threadIdx.x
    for k in range(8):
        s[i, k] = 0
    cuda.syncthreads()
    acc = (float32(0), float32(0), float32(0), float32(0))
    if {condition}:
        a = ldmatrix_x4(s, 8 * i)
        acc = mma_m16n8k16_f16(acc, a, (a[0], a[1]))
    out[i] = acc[0]
"""


@every_case(
    ("condition", "block", "fails"),
    [
        ("i >= 0", 64, False), ("i < 32", 64, False), ("i < 40", 64, True),
        ("i % 2 == 0", 64, True), ("i == 5", 32, True), ("i >= 0", 48, True),
    ],
)  # fmt: skip
@every_case("schedule", ["lockstep", "warps"])
def test_a_warp_in_parts(condition: str, block: int, fails: bool, schedule: str) -> None:
    out = np.zeros(block, np.float32)
    body = IN_PARTS.format(condition=condition)
    profile = run(body, 1, block, out, before=IMPORT, schedule=schedule)
    assert ("barrier-divergence" in codes(profile)) == fails
    assert np.isnan(out).any() == fails
