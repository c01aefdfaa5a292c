"""cuBLAS as an opponent, and float64 as a judge: through CuPy, or PyTorch, or NumPy alone.

All work on Numba's device arrays without a copy. bfloat16 lies in them as 16-bit integers.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
from collections.abc import Iterator
from typing import Any, ClassVar, Protocol

import numpy as np

from course_lib.bench.contestants import Contestant, Launch, MatmulProblem
from course_lib.measurements import Precision

_ROWS_AT_ONCE = 1024


class Library(Protocol):
    """What the contest needs beside the rungs."""

    name: str

    def float64_product(self, a: Any, b: Any, stored: str) -> Any:
        """A @ B in float64, of inputs in a format."""

    def difference(self, c: Any, result: str, product: Any) -> tuple[float, float]:
        """How far C is off: the largest difference as a share of the product's root mean square,
        and the norm of the difference as a share of the product's norm."""

    def fill_with_nan(self, c: Any) -> None:
        """Poison an output."""

    def contestants(self, cc: tuple[int, int]) -> Iterator[Contestant]:
        """cuBLAS in every precision that the GPU has."""

    def versions(self) -> dict[str, str]:
        """Of the library and of cuBLAS."""


def find() -> Library:
    """CuPy if it is there, else PyTorch, else NumPy, which has no cuBLAS."""
    for module, make in (("cupy", ThroughCupy), ("torch", ThroughTorch)):
        if importlib.util.find_spec(module):
            with contextlib.suppress(ImportError):
                return make()
    return NumpyOnly()


def precisions(cc: tuple[int, int]) -> tuple[Precision, ...]:
    """What the tensor cores and lanes of a compute capability multiply."""
    return ("float32", "tf32", "float16", "bfloat16") if cc >= (8, 0) else ("float32", "float16")


def _differences(blocks: Iterator[tuple[Any, Any]], elements: int) -> tuple[float, float]:
    """From pieces of (difference, product), each with .max() and .sum()."""
    worst = square_of_difference = square_of_product = 0.0
    for difference, product in blocks:
        largest = float(abs(difference).max())
        worst = largest if not largest <= worst else worst  # NaN stays
        square_of_difference += float((difference * difference).sum())
        square_of_product += float((product * product).sum())
    root_mean_square = (square_of_product / elements) ** 0.5
    return worst / root_mean_square, (square_of_difference / square_of_product) ** 0.5


def _rows(count: int) -> Iterator[slice]:
    return (slice(start, start + _ROWS_AT_ONCE) for start in range(0, count, _ROWS_AT_ONCE))


class ThroughCupy:
    """cuBLAS's gemmEx, called as CuPy calls it: one function for every precision."""

    # cudaDataType_t and cublasComputeType_t
    _DATA: ClassVar = {"float32": 0, "float16": 2, "bfloat16": 14}
    _COMPUTE_FLOAT32, _COMPUTE_TF32 = 68, 77
    _DEFAULT_ALGORITHM = -1

    def __init__(self) -> None:
        self._cupy = importlib.import_module("cupy")
        self._cublas = importlib.import_module("cupy_backends.cuda.libs.cublas")
        self._one, self._zero = np.ones(1, np.float32), np.zeros(1, np.float32)
        self.name = f"CuPy {self._cupy.__version__}"

    def versions(self) -> dict[str, str]:
        version = self._cublas.getVersion(self._cupy.cuda.device.get_cublas_handle())
        return {"cupy": self._cupy.__version__, "cuBLAS": str(version)}

    def float64_product(self, a: Any, b: Any, stored: str) -> Any:
        return self._float64(a, stored) @ self._float64(b, stored)

    def difference(self, c: Any, result: str, product: Any) -> tuple[float, float]:
        values = self._result(c, result)
        pieces = (
            (self._float64(values[rows], result) - product[rows], product[rows])
            for rows in _rows(len(product))
        )
        return _differences(pieces, product.size)

    def fill_with_nan(self, c: Any) -> None:
        self._cupy.asarray(c).fill(np.nan)

    def contestants(self, cc: tuple[int, int]) -> Iterator[Contestant]:
        for precision in precisions(cc):
            yield self._contestant(precision, "float32")
            if precision in ("float16", "bfloat16"):
                yield self._contestant(precision, precision)

    def _contestant(self, precision: Precision, result: str) -> Contestant:
        stored = "float32" if precision == "tf32" else precision
        compute = self._COMPUTE_TF32 if precision == "tf32" else self._COMPUTE_FLOAT32

        def prepare(problem: MatmulProblem) -> Launch:
            a, b, c = (self._cupy.asarray(operand) for operand in problem.operands(precision))
            M, N, K = problem.shape
            handle = self._cupy.cuda.device.get_cublas_handle()
            in_type, out_type = self._DATA[stored], self._DATA[result]
            # cuBLAS counts down columns: to it, our rows are columns, and B @ A is what we want.
            arguments = (
                handle, 0, 0, N, M, K, self._one.ctypes.data, b.data.ptr, in_type, N,
                a.data.ptr, in_type, K, self._zero.ctypes.data, c.data.ptr, out_type, N,
                compute, self._DEFAULT_ALGORITHM,
            )  # fmt: skip
            gemm, alive = self._cublas.gemmEx, (a, b, c)

            def launch(_: Any = alive) -> None:
                gemm(*arguments)

            return launch

        return Contestant(_name(precision, result), "cuBLAS", precision, prepare, result)

    def _result(self, c: Any, result: str) -> Any:
        """C as it was written: 16-bit results fill the first half of its memory."""
        array = self._cupy.asarray(c)
        if result == "float32":
            return array
        stored = np.float16 if result == "float16" else np.uint16
        return array.reshape(-1).view(stored)[: array.size].reshape(array.shape)

    def _float64(self, array: Any, stored: str) -> Any:
        values = self._cupy.asarray(array)
        if stored == "bfloat16":
            values = (values.astype(np.uint32) << 16).view(np.float32)
        return values.astype(np.float64)


class ThroughTorch:
    """cuBLAS as PyTorch calls it; 16-bit inputs give 16-bit results there."""

    def __init__(self) -> None:
        self._torch = importlib.import_module("torch")
        self.name = f"PyTorch {self._torch.__version__}"

    def versions(self) -> dict[str, str]:
        return {"torch": self._torch.__version__, "CUDA of PyTorch": str(self._torch.version.cuda)}

    def float64_product(self, a: Any, b: Any, stored: str) -> Any:
        return self._view(a, stored).double() @ self._view(b, stored).double()

    def difference(self, c: Any, result: str, product: Any) -> tuple[float, float]:
        values = self._result(c, result)
        pieces = (
            (values[rows].double() - product[rows], product[rows]) for rows in _rows(len(product))
        )
        return _differences(pieces, product.numel())

    def fill_with_nan(self, c: Any) -> None:
        self._view(c, "float32").fill_(float("nan"))

    def contestants(self, cc: tuple[int, int]) -> Iterator[Contestant]:
        for precision in precisions(cc):
            yield self._contestant(precision)

    def _contestant(self, precision: Precision) -> Contestant:
        torch = self._torch
        stored = "float32" if precision == "tf32" else precision

        def prepare(problem: MatmulProblem) -> Launch:
            on_gpu = problem.operands(precision)
            a, b = (self._view(operand, stored) for operand in on_gpu[:2])
            c = self._result(on_gpu[2], stored)

            def launch() -> None:
                torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
                torch.mm(a, b, out=c)

            return launch

        return Contestant(_name(precision, stored), "cuBLAS", precision, prepare, stored)

    def _result(self, c: Any, result: str) -> Any:
        array = self._view(c, "float32")
        if result == "float32":
            return array
        kind = getattr(self._torch, result)
        return array.reshape(-1).view(kind)[: array.numel()].reshape(array.shape)

    def _view(self, array: Any, stored: str) -> Any:
        """Numba's array as a tensor; PyTorch takes no unsigned numbers from others."""
        if stored == "bfloat16":
            bits = self._torch.as_tensor(array.view(np.int16), device="cuda")
            return bits.view(self._torch.bfloat16)
        return self._torch.as_tensor(array, device="cuda")


class NumpyOnly:
    """No cuBLAS: products are judged on the host."""

    name = "NumPy"

    def versions(self) -> dict[str, str]:
        return {}

    def float64_product(self, a: Any, b: Any, stored: str) -> Any:
        return self._float64(a, stored) @ self._float64(b, stored)

    def difference(self, c: Any, result: str, product: Any) -> tuple[float, float]:
        values = self._float64(c, "float32")
        pieces = ((values[rows] - product[rows], product[rows]) for rows in _rows(len(product)))
        return _differences(pieces, product.size)

    def fill_with_nan(self, c: Any) -> None:
        c.copy_to_device(np.full(c.shape, np.nan, np.float32))

    def contestants(self, cc: tuple[int, int]) -> Iterator[Contestant]:
        return iter(())

    def _float64(self, array: Any, stored: str) -> np.ndarray:
        from course_lib.bench.matrices import as_float64

        return as_float64(array.copy_to_host(), stored)


def _name(precision: str, result: str) -> str:
    """ "cuBLAS bfloat16", and whether its result is float32 like that of the rungs."""
    rounded = "" if result == "float32" else f", result {result}"
    return f"cuBLAS {precision}{rounded}"
