"""Tile kernels without a GPU: right at odd sizes, counted as their SIMT twin, slips named."""

import sys
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
from by_path import module_at
from every_case import every_case
from tile_kernels import CASES, CUTILE_PRODUCT, TRITON_PRODUCT

import course_lib
from course_lib.emulator import KernelRejected, emulate, load_program
from course_lib.tiles import TileProfile, emulate_tiles
from course_lib.tiles import launch as tile_launch

SIZES = ((64, 64, 64), (34, 37, 22), (1, 5, 33), (17, 1, 16))


def run(case: str, text: str, sizes: tuple[int, ...]) -> tuple[TileProfile, bool]:
    """The launch's profile, and whether its output is right."""
    grid, arguments, output, expected = CASES[case].launch(np.random.default_rng(0), sizes)
    profile = emulate_tiles(text)[grid](*arguments)
    return profile, bool(np.allclose(output, expected, rtol=1e-5, atol=1e-6))


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_right_kernels_are_right_and_clean(case: str, sizes: tuple[int, ...]) -> None:
    profile, right = run(case, CASES[case].text, sizes)
    assert right and not profile.findings, str(profile)


SIMT = """
from numba import cuda, float32
@cuda.jit
def tiled(A, B, C):
    a, b = cuda.shared.array((16, 16), float32), cuda.shared.array((16, 16), float32)
    y, x = cuda.threadIdx.y, cuda.threadIdx.x
    row, column = cuda.blockIdx.y * 16 + y, cuda.blockIdx.x * 16 + x
    total = float32(0)
    for tile in range((A.shape[1] + 15) // 16):
        k = tile * 16
        a[y, x] = A[row, k + x] if row < A.shape[0] and k + x < A.shape[1] else 0
        b[y, x] = B[k + y, column] if k + y < B.shape[0] and column < B.shape[1] else 0
        cuda.syncthreads()
        for step in range(16):
            total += a[y, step] * b[step, x]
        cuda.syncthreads()
    if row < C.shape[0] and column < C.shape[1]:
        C[row, column] = total
"""


@pytest.mark.parametrize("text", [CUTILE_PRODUCT, TRITON_PRODUCT])
@pytest.mark.parametrize("sizes", SIZES[:2], ids=str)
def test_the_counts_are_those_of_the_kernel_with_threads(text: str, sizes: tuple[int, ...]) -> None:
    M, K, N = sizes
    case = "product in cuTile" if text is CUTILE_PRODUCT else "product in Triton"
    counts = run(case, text, sizes)[0].counts
    A, B, C = (np.ones(shape, np.float32) for shape in ((M, K), (K, N), (M, N)))
    twin = emulate(load_program(SIMT).functions["tiled"])
    simt = twin[(-(-N // 16), -(-M // 16)), (16, 16)](A, B, C)
    assert counts.global_load_bytes == simt.global_load_bytes
    assert counts.global_store_bytes == simt.global_store_bytes
    assert counts.flops == simt.flops


# A slip in the product: what stands there, what was written, and what has to be told at which line.
CUTILE_SLIPS = [
    (", padding_mode=ct.PaddingMode.ZERO)\n        b", ")\n        b", "missing-mask", 9),
    ("(k, j), shape=(tk, tn), padding_mode=ct.PaddingMode.ZERO", "(k, j), shape=(tk, tn)",
     "missing-mask", 10),
    ("index=(k, j)", "index=(j, k)", "out-of-bounds-read", 10),
    ("index=(i, k)", "index=(i, k + 1)", "out-of-bounds-read", 9),
    ("store(C, index=(i, j)", "store(C, index=(j, j)", "race-write-after-write", 12),
    ("store(C, index=(i, j)", "store(C, index=(i + 1, j)", "out-of-bounds-write", 12),
    ("(tm, tn), 0, dtype=ct.float32", "(tm, tn), 0, dtype=ct.float16", "compile-error", 11),
    ("mma(a, b, acc)", "mma(a, b)", "compile-error", 11),
    ("(tm, tn), 0", "(tm, tn + 1), 0", "compile-error", 7),
    ("ct.bid(1)", "ct.bid(0)", "race-write-after-write", 12),
    ("ct.mma(a, b, acc)", "ct.mmma(a, b, acc)", "unsupported", 11),
    ("acc = ct.mma(a, b, acc)", "acc[0] = ct.mma(a, b, acc)", "compile-error", 11),
    ("acc = ct.mma", "ct.mma", "no-effect", 11),
    ("tile=acc", "tile=total", "compile-error", 12),
]  # fmt: skip
TRITON_SLIPS = [
    ("(ks[None, :] < K), other=0.0", "(ks[None, :] < K)", "missing-mask", 12),
    ("(columns < N), other=0.0", "(columns < N)", "missing-mask", 14),
    (", mask=(rows < M) & (columns < N))", ")", "out-of-bounds-write", 16),
    (", mask=(rows < M) & (ks[None, :] < K), other=0.0", "", "out-of-bounds-read", 12),
    ("tl.program_id(1) * BN", "tl.program_id(0) * BN", "race-write-after-write", 16),
    (', input_precision="ieee"', "", "rounded-inputs", 15),
    ("acc = tl.dot", "tl.dot", "no-effect", 15),
    ("tl.dot(left, right, acc,", "tl.dot(left, right[:, 0],", "compile-error", 15),
    ("tl.arange(0, BK)", "tl.arange(0, BK - 1)", "compile-error", 11),
    ("tl.arange(0, BM)[:, None]", "tl.arange(0, BM)", "compile-error", 15),
    ("acc, mask", "acc.to(tl.float99), mask", "unsupported", 16),
    ("c + rows * N", "c + rows * 0.5 * N", "compile-error", 16),
]  # fmt: skip


@pytest.mark.parametrize(("case", "slip"), [
    *(("product in cuTile", slip) for slip in CUTILE_SLIPS),
    *(("product in Triton", slip) for slip in TRITON_SLIPS),
], ids=str)  # fmt: skip
def test_a_slip_is_named_at_its_line(case: str, slip: tuple[str, str, str, int]) -> None:
    there, written, code, line = slip
    text = CASES[case].text
    assert there in text
    try:
        told = run(case, text.replace(there, written, 1), (34, 37, 22))[0].findings
    except KernelRejected as refused:
        told = tuple(refused.findings)
    assert (code, line) in [(finding.code, finding.line) for finding in told], told


def test_a_cell_that_another_program_reads_is_a_race() -> None:
    text = """
import cuda.tile as ct
@ct.kernel
def shift(x):
    i = ct.bid(0)
    left = ct.load(x, (i,), (4,))
    ct.store(x, (i + 1,), left)
"""
    profile = emulate_tiles(text)[3](np.arange(16, dtype=np.float32))
    assert [found.code for found in profile.findings] == ["race-read-after-write"]


def test_integers_are_divided_as_each_language_says() -> None:
    told = []
    for head, start, store in (
        (
            "import triton\nimport triton.language as tl\n@triton.jit",
            "tl.arange(0, 8) - 4",
            "tl.store(x + tl.arange(0, 8), q)",
        ),
        (
            "import cuda.tile as ct\n@ct.kernel",
            "ct.arange(8, dtype=ct.int32) - 4",
            "ct.store(x, (0,), q)",
        ),
    ):  # fmt: skip
        x = np.zeros(8, np.int32)
        emulate_tiles(f"{head}\ndef k(x):\n    q = ({start}) // 3\n    {store}\n")[1](x)
        told.append(x.tolist())
    assert told == [[-1, -1, 0, 0, 0, 0, 0, 1], [-2, -1, -1, -1, 0, 0, 0, 1]]


def test_bfloat16_rounds_and_a_narrow_sum_loses() -> None:
    text = """
import cuda.tile as ct
@ct.kernel
def total(x, out):
    t = ct.astype(ct.load(x, (0,), (256,)), ct.bfloat16)
    ct.store(out, (0,), ct.astype(ct.sum(t, keepdims=True), ct.float32))
"""
    x, out = np.full(256, 1.001, np.float32), np.zeros(1, np.float32)
    emulate_tiles(text)[1](x, out)
    assert out[0] == 256  # 1.001 is 1 in bfloat16


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has no end shows it sooner."""
    monkeypatch.setattr(tile_launch, "MOST_STEPS", 20_000)


EMPTY = "import cuda.tile as ct\n@ct.kernel\ndef f():\n"


@pytest.mark.parametrize(("text", "grid", "arguments", "says"), [
    ("x = 1", 1, (), "Neither cuda.tile nor triton.language"),
    ("def f(:", 1, (), "not valid Python"),
    (CUTILE_PRODUCT, (1, 1, 1, 1), (), "one to three whole numbers"),
    (CUTILE_PRODUCT, 1, (np.zeros((4, 4), "f4"),), "matmul takes A, B, C, tm, tn, tk"),
    (CUTILE_PRODUCT, 1, (1, 2, "C", 16, 16, 16), "C is of type str"),
    (CUTILE_PRODUCT, 1, (1, 2, 3, 16, 16, 16), "num_tiles takes an array that was passed"),
    (CUTILE_PRODUCT.replace("range(", "iter("), 1, (np.zeros((4, 4), "f4"),) * 3 + (4,) * 3,
         "iter has no value here"),
    (f"{EMPTY}    while True:\n        pass\n", 1, (), "its condition `True` stays true"),
    (f"{EMPTY}    i, j = 0, 0\n    while i < 3:\n        j += 1\n", 1, (), "`i < 3` stays"),
    (f"{EMPTY}    i = 0\n    while i < 3:\n        i -= 1\n", 1, (), "budget of steps"),
    ("import triton\ndef g():\n    pass\n@triton.jit\ndef f():\n    g()\n", 1, (),
         "g is not a function of Triton"),
    (f"{EMPTY}    f()\n", 1, (), "calls itself too often"),
    (f"{EMPTY}    open('x')\n", 1, (), "open has no value"),
])  # fmt: skip
def test_what_cannot_be_run_is_refused_in_a_sentence(
    text: str, grid: object, arguments: tuple[object, ...], says: str, few_steps: None
) -> None:
    with pytest.raises(KernelRejected, match=says):
        emulate_tiles(text)[grid](*arguments)


STOPPED = (
    "a = 1 // 0", "a = 9 ** 9 ** 9", "a = 1 << 10 ** 9", "a = 2.0 ** 10000", "a = min()",
    "a = int('x')", "a = len(3)", "a = -'x'", "a = x @ x", "a = x < 3", "a = x + 'a'",
    "a, b = 3", "a = (1, 2)[1.5]", "a = x.shape[5]", "a = ct.bid(7)", "a = ct.exp('x')",
    "for i in range(0, 3, 0):\n        pass", "a = ct.full((1 << 40,), 0, dtype=ct.float32)",
    "a = ct.full((4,), 'x', dtype=ct.float32)", "ct.store(x, (0,), 'a')", "ct.store(x, (0,), x)",
    "a = ct.load(x, ('a',), (4,))", "a = ct.expand_dims(ct.load(x, (0,), (4,)), 9)",
    "a = ct.load(x, (0,), (4,))[0]", "a = [i for i in range(3)]", "a = lambda: 3", "import os",
    "a = " + "(" * 300 + "1" + ")" * 300, "a = " + " + ".join(["1"] * 3000),
    "while True:\n        a = ct.full((1024, 1024), 1, dtype=ct.float32) + 1",
)  # fmt: skip


@every_case("line", STOPPED, ids=lambda line: line[:30])
def test_a_line_that_python_would_stop_at_is_told_as_such(line: str, few_steps: None) -> None:
    text = f"import cuda.tile as ct\n@ct.kernel\ndef f(x):\n    {line}\n"
    with pytest.raises(KernelRejected):
        emulate_tiles(text)[1](np.zeros(8, np.float32))


KERNELS_OF_BOTH = """
import triton
import triton.language as tl
import cuda.tile as ct
from cuda.tile import bid

SIZE, FACTOR = 4, 3

@ct.function
def scaled(tile):
    return tile * FACTOR

@ct.kernel
def first(x, y):
    ct.store(y, (bid(0),), scaled(ct.load(x, (bid(0),), (SIZE,))))

@triton.jit
def second(x, y, size: tl.constexpr):
    i = tl.program_id(0) * size + tl.arange(0, size)
    tl.store(y + i, tl.load(x + i) * FACTOR, mask=i < 7)
"""


class Wrapped:
    """As both packages wrap a function, under a name of their own."""

    def __init__(self, function: FunctionType) -> None:
        self._pyfunc = self.fn = function


@pytest.fixture
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module with a kernel of each language; of their packages there is what it imports."""
    stubs = {name: ModuleType(name) for name in ("cuda", "cuda.tile", "triton", "triton.language")}
    tile: Any = stubs["cuda.tile"]
    tile.kernel, tile.function, tile.bid = Wrapped, lambda function: function, lambda axis: 0
    triton: Any = stubs["triton"]
    triton.jit, triton.language = Wrapped, stubs["triton.language"]
    triton.language.constexpr = int
    stubs["cuda"].tile = tile  # type: ignore[attr-defined]
    for name, stub in stubs.items():
        monkeypatch.setitem(sys.modules, name, stub)
    path = tmp_path / "kernels_of_both.py"
    path.write_text(KERNELS_OF_BOTH)
    return module_at(path)


def test_a_kernel_itself_may_stand_in_place_of_its_text(both: ModuleType) -> None:
    for kernel, more, language in ((both.first, (), "cutile"), (both.second, (4,), "triton")):
        x, y = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
        profile = emulate_tiles(kernel)[2](x, y, *more)
        assert profile.language == language and (y[:7] == 3 * x[:7]).all()
    (found,) = profile.findings
    assert (found.code, found.line) == ("incomplete-output", 20)  # of the file


def test_the_course_hands_it_out() -> None:
    assert course_lib.emulate_tiles is emulate_tiles
    with pytest.raises(KernelRejected, match="no tile kernel nobody"):
        emulate_tiles(CUTILE_PRODUCT, "nobody")
    with pytest.raises(KernelRejected, match="not a kernel of cuTile or Triton"):
        emulate_tiles(3)


@pytest.mark.parametrize(("mask", "expected"), [
    ("(i > 1) and (i < 5)", [0, 0, 1, 1, 1, 0, 0, 0]),
    ("(i < 2) or (i > 5)", [1, 1, 0, 0, 0, 0, 1, 1]),
    ("not (i < 5)", [0, 0, 0, 0, 0, 1, 1, 1]),
])  # fmt: skip
def test_triton_joins_tiles_element_by_element(mask: str, expected: list[int]) -> None:
    text = (
        "import triton\nimport triton.language as tl\n@triton.jit\ndef f(y):\n"
        f"    i = tl.arange(0, 8)\n    tl.store(y + i, tl.where({mask}, 1.0, 0.0))\n"
    )
    y = np.zeros(8, np.float32)
    assert not emulate_tiles(text)[1](y).errors
    assert y.tolist() == expected


@pytest.mark.parametrize(("line", "says"), [
    ("tl.store(y + i, tl.load(x, i))", "The offsets have not been added"),
    ("tl.store(y + i, tl.matmul(i, i))", "matmul"),
    ("tl.store(y + i, i @ i)", "Triton has no `@`"),
])  # fmt: skip
def test_what_triton_has_not_is_refused(line: str, says: str) -> None:
    text = (
        "import triton\nimport triton.language as tl\n@triton.jit\ndef f(x, y):\n"
        f"    i = tl.arange(0, 8)\n    {line}\n"
    )
    with pytest.raises(KernelRejected, match=says):
        emulate_tiles(text)[1](np.zeros(8, np.float32), np.zeros(8, np.float32))
