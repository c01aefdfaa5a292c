"""How wrong is a product? The error of each number format against float64, on whatever runs here.

Two things go wrong, and they are told apart. The inputs are rounded to the format: that is an error
of the matrices, and the same whoever multiplies. And sums are rounded at every step: that is an
error of the machine, and grows with K.

    measure("bfloat16", 256, 256, 1024)      # an Accuracy
    print(table(256, 256, 1024))             # float32, tf32, float16, bfloat16

The emulator adds the products of one mma exactly and rounds once; a GPU's tensor cores cut digits
off in between. So there the error of the sums comes out too small; that of the inputs is right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.kernels import RUNG_KERNELS
from course_lib.number_formats import bits_of_bf16, from_bf16

__all__ = ["FORMATS", "Accuracy", "bits_of_bf16", "cut_to_tf32", "from_bf16", "measure", "table"]

Matrix = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Accuracy:
    """Relative errors in the Frobenius norm: the length of the difference over that of the result.

    Attributes:
        format: of A and B.
        rung: who multiplied.
        inputs: what rounding A and B to the format alone does to an exact product.
        sums: what the machine adds to that: against the exact product of the rounded matrices.
        total: of the result against the exact product of the matrices as they were.
        largest: the largest error of one element, in units of the largest element.
    """

    format: str
    rung: str
    inputs: float
    sums: float
    total: float
    largest: float


def cut_to_tf32(numbers: Matrix) -> Matrix:
    """float32 without the last 13 of its 23 bits of fraction, as tensor cores read them."""
    bits = np.ascontiguousarray(numbers, np.float32).view(np.uint32)
    return (bits & np.uint32(0xFFFFE000)).view(np.float32)


@dataclass(frozen=True)
class _Format:
    rung: str
    encode: Callable[[Matrix], Matrix]  # from float32 to what the rung takes
    value: Callable[[Matrix], Matrix]  # what the machine multiplies


def _as_it_is(numbers: Matrix) -> Matrix:
    return numbers


FORMATS = {
    "float32": _Format("register_1d", _as_it_is, _as_it_is),
    "tf32": _Format("tensor_core_tf32", _as_it_is, cut_to_tf32),
    "float16": _Format("tensor_core_f16", lambda x: x.astype(np.float16), _as_it_is),
    "bfloat16": _Format("tensor_core_bf16", bits_of_bf16, from_bf16),
}


def measure(
    name: str, M: int, N: int, K: int, seed: int = 0, draw: Callable[..., Matrix] | None = None
) -> Accuracy:
    """Multiply random matrices in one format and compare with float64.

    `draw(generator, shape)` gives the numbers; by default they are normally distributed.
    """
    made = FORMATS[name]
    generator = np.random.default_rng(seed)
    draw = draw or (lambda generator, shape: generator.standard_normal(shape))
    A, B = (draw(generator, shape).astype(np.float32) for shape in ((M, K), (K, N)))
    encoded = made.encode(A), made.encode(B)
    C = np.full((M, N), np.nan, np.float32)
    RUNG_KERNELS[made.rung].launch(*encoded, C)

    exact = A.astype(np.float64) @ B.astype(np.float64)
    rounded = [made.value(each).astype(np.float64) for each in encoded]
    of_rounded = rounded[0] @ rounded[1]
    return Accuracy(
        format=name,
        rung=made.rung,
        inputs=_relative(of_rounded, exact),
        sums=_relative(C, of_rounded),
        total=_relative(C, exact),
        largest=float(np.abs(C - exact).max() / np.abs(exact).max()),
    )


def table(M: int, N: int, K: int, seed: int = 0) -> str:
    """All four formats on the same matrices, as text."""
    lines = [f"{'format':10}{'inputs':>10}{'sums':>10}{'total':>10}{'largest':>10}"]
    for name in FORMATS:
        found = measure(name, M, N, K, seed)
        errors = (found.inputs, found.sums, found.total, found.largest)
        lines.append(f"{name:10}" + "".join(f"{each:10.1e}" for each in errors))
    return "\n".join(lines)


def _relative(found: Matrix, exact: Matrix) -> float:
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))
