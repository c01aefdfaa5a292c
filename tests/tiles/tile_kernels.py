"""Right tile kernels in both languages, with their arguments and what they have to give."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class TileCase(NamedTuple):
    """A kernel, how it is launched on random inputs, and what its output has to be."""

    text: str
    launch: Callable[[np.random.Generator, tuple[int, ...]], tuple[Any, tuple[Any, ...], Any, Any]]


def _cdiv(size: int, tile: int) -> int:
    return -(-size // tile)


CUTILE_PRODUCT = """
import cuda.tile as ct

@ct.kernel
def matmul(A, B, C, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(A, axis=1, shape=(tm, tk))):
        a = ct.load(A, index=(i, k), shape=(tm, tk), padding_mode=ct.PaddingMode.ZERO)
        b = ct.load(B, index=(k, j), shape=(tk, tn), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(a, b, acc)
    ct.store(C, index=(i, j), tile=acc)
"""
TRITON_PRODUCT = """
import triton
import triton.language as tl

@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    columns = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        ks = start + tl.arange(0, BK)
        left = tl.load(a + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
        below = ks[:, None]
        right = tl.load(b + below * N + columns, mask=(below < K) & (columns < N), other=0.0)
        acc = tl.dot(left, right, acc, input_precision="ieee")
    tl.store(c + rows * N + columns, acc, mask=(rows < M) & (columns < N))
"""
CUTILE_SOFTMAX = """
import cuda.tile as ct
from cuda.tile import Constant

@ct.kernel
def softmax(x, out, columns: Constant[int]):
    row = ct.load(x, (ct.bid(0), 0), (1, columns), padding_mode=ct.PaddingMode.NEG_INF)
    row = ct.exp(row - ct.max(row, axis=1, keepdims=True))
    ct.store(out, (ct.bid(0), 0), row / ct.sum(row, axis=1, keepdims=True))
"""
TRITON_SOFTMAX = """
import triton
from triton import language as tl

@triton.jit
def normalised(row):
    e = tl.exp(row - tl.max(row, axis=0))
    return e / tl.sum(e, axis=0)

@triton.jit
def softmax(x, out, n, columns: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, columns)
    inside = tl.arange(0, columns) < n
    row = tl.load(x + at, mask=inside, other=-float("inf"))
    tl.store(out + at, normalised(row), mask=inside)
"""


def product(language: str) -> Callable[..., Any]:
    def launch(generator: np.random.Generator, sizes: tuple[int, ...]) -> Any:
        M, K, N = sizes
        A, B = (generator.random(shape, np.float32) for shape in ((M, K), (K, N)))
        C = np.full((M, N), np.nan, np.float32)
        more = (16, 16, 16) if language == "cutile" else (M, N, K, 16, 16, 16)
        return (_cdiv(M, 16), _cdiv(N, 16)), (A, B, C, *more), C, A @ B

    return launch


def softmax(language: str) -> Callable[..., Any]:
    def launch(generator: np.random.Generator, sizes: tuple[int, ...]) -> Any:
        rows, columns = sizes[:2]
        x, out = (
            generator.random((rows, columns), np.float32),
            np.full((rows, columns), np.nan, "f4"),
        )
        e = np.exp(x - x.max(axis=1, keepdims=True))
        tile = 1 << (columns - 1).bit_length()
        more = (tile,) if language == "cutile" else (columns, tile)
        return (rows,), (x, out, *more), out, e / e.sum(axis=1, keepdims=True)

    return launch


CASES = {
    "product in cuTile": TileCase(CUTILE_PRODUCT, product("cutile")),
    "product in Triton": TileCase(TRITON_PRODUCT, product("triton")),
    "softmax in cuTile": TileCase(CUTILE_SOFTMAX, softmax("cutile")),
    "softmax in Triton": TileCase(TRITON_SOFTMAX, softmax("triton")),
}
