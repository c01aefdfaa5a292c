"""One product on the GPU: fresh random inputs in every precision, and the judge of the result."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_lib.bench.contestants import STORED_AS
from course_lib.bench.libraries import Library


class Matrices:
    """A, B and C for one shape; a `Problem` (see contestants.py).

    Inputs are drawn as float32 between -1 and 1, and rounded to the format that a precision is
    stored in. The float64 product of what is stored decides between right and wrong; the float64
    product of the unrounded inputs says what a precision costs.
    """

    def __init__(self, shape: tuple[int, int, int], library: Library, seed: int) -> None:
        from numba import cuda

        self.shape = shape
        M, N, _ = shape
        self._library = library
        self._host = random_inputs(shape, seed)
        self._inputs: dict[str, tuple[Any, Any]] = {}
        self._products: dict[str, Any] = {}
        self._c = cuda.device_array((M, N), np.float32)

    def operands(self, precision: str, result: str = "float32") -> tuple[Any, Any, Any]:
        c = self._c if result == "float32" else _halved(self._c, result)
        return *self._in_format(STORED_AS[precision]), c

    def poison(self) -> None:
        self._library.fill_with_nan(self._c)

    def judge(self, precision: str, result: str) -> tuple[float, float]:
        worst, _ = self._library.difference(self._c, result, self._product_of(STORED_AS[precision]))
        _, norm = self._library.difference(self._c, result, self._product_of("float32"))
        return worst, norm

    def _in_format(self, stored: str) -> tuple[Any, Any]:
        from numba import cuda

        if stored not in self._inputs:
            a, b = (cuda.to_device(rounded(matrix, stored)) for matrix in self._host)
            self._inputs[stored] = (a, b)
        return self._inputs[stored]

    def _product_of(self, stored: str) -> Any:
        if stored not in self._products:
            self._products[stored] = self._library.float64_product(*self._in_format(stored), stored)
        return self._products[stored]


def _halved(c: Any, result: str) -> Any:
    """The first half of C's memory as a matrix of the same shape in a format of 16 bits."""
    M, N = c.shape
    stored = np.float16 if result == "float16" else np.uint16
    return c.reshape(M * N).view(stored)[: M * N].reshape(M, N)


def random_inputs(shape: tuple[int, int, int], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A and B in float32, between -1 and 1, with all bits of the mantissa in use."""
    M, N, K = shape
    generator = np.random.default_rng([seed, M, N, K])
    a = generator.random((M, K), np.float32)
    b = generator.random((K, N), np.float32)
    return 2 * a - 1, 2 * b - 1


def rounded(values: np.ndarray, stored: str) -> np.ndarray:
    """float32 values in another format; bfloat16 as its 16 bits, since NumPy has no such type."""
    if stored == "float32":
        return values
    if stored == "float16":
        return values.astype(np.float16)
    bits = values.view(np.uint32)
    # To nearest, ties to even: add almost half of the last place that stays, and cut the rest off.
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    return ((bits + np.uint32(0x7FFF) + odd) >> np.uint32(16)).astype(np.uint16)


def as_float64(values: np.ndarray, stored: str) -> np.ndarray:
    """What numbers in a format stand for."""
    if stored == "bfloat16":
        return (values.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
    return values.astype(np.float64)
