"""Tile kernels beside the real languages: their compilers, and Triton's interpreter."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from real_languages import HEADS, answers, module_of, require
from tile_kernels import CASES

from course_lib.curriculum import Task
from course_lib.diagnosis.tiles.tile_launches import TileLauncher
from course_lib.emulator import KernelRejected
from course_lib.problems.inputs import as_held, expected_of, make_inputs
from course_lib.tiles import emulate_tiles

require("cuda.tile", "triton")

GPU = "sm_90"


def compiled(task: Task, text: str, folder: Path) -> bytes:
    """The machine code of an answer, for its first launch on an H100."""
    launcher = TileLauncher(task, 0)
    tried = next(iter(launcher.cases()))
    inputs = make_inputs(launcher.problem, tried.case, launcher.seed)
    expected, _ = expected_of(launcher.problem, tried.case, inputs)
    output = np.zeros(expected.shape, np.float32)
    arguments = launcher.arguments(tried, [*as_held(launcher.problem, inputs)], output)
    kernel = getattr(module_of(HEADS[task.id[:2]] + text, folder), task.id)
    return (
        by_cutile(kernel, arguments) if task.id.startswith("ct_") else by_triton(kernel, arguments)
    )


def by_cutile(kernel: Any, arguments: tuple[Any, ...]) -> bytes:
    import cuda.tile as ct
    from cuda.tile import compilation

    kinds = [
        compilation.ArrayConstraint(
            getattr(ct, each.dtype.name), each.ndim, index_dtype=ct.int32,
            stride_lower_bound_incl=0, alias_groups=(), may_alias_internally=False,
        )
        if isinstance(each, np.ndarray)
        else each
        for each in arguments
    ]  # fmt: skip
    convention = compilation.CallingConvention.cutile_python_v1()
    made = io.BytesIO()
    signature = compilation.KernelSignature(kinds, convention)
    compilation.export_kernel(kernel, [signature], made, gpu_code=GPU, output_format="cubin")
    return made.getvalue()


def by_triton(kernel: Any, arguments: tuple[Any, ...]) -> bytes:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    names = kernel.arg_names
    constants = {p.name for p in kernel.params if p.is_constexpr}
    given = dict(zip(names, arguments, strict=True))
    kinds = {name: "constexpr" if name in constants else kind_of(given[name]) for name in names}
    source = ASTSource(kernel, kinds, {name: given[name] for name in constants})
    return bytes(triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["cubin"])


def kind_of(value: Any) -> str:
    """What Triton calls the type of an argument: "*fp32", "i32"."""
    if isinstance(value, np.ndarray):
        return "*" + {"f": "fp", "i": "i", "u": "u"}[value.dtype.kind] + str(8 * value.itemsize)
    return "i32" if isinstance(value, int) else "fp32"


@pytest.mark.parametrize(("task", "text"), answers("ct", "tl"))
def test_an_answer_compiles(task: Task, text: str, tmp_path: Path) -> None:
    assert compiled(task, text, tmp_path).startswith(b"\x7fELF")


CUTILE = """import cuda.tile as ct

@ct.kernel
def k(A, B, C):
    i = ct.bid(0)
    a = ct.load(A, index=(i, 0), shape=(16, 16))
    b = ct.load(B, index=(0, i), shape=(16, 16))
    {line}
    ct.store(C, index=(i, 0), tile=a)
"""
TRITON = """import triton
import triton.language as tl

@triton.jit
def k(A, B, C):
    i = tl.arange(0, 16)
    at = i[:, None] * 16 + i[None, :]
    a, b = tl.load(A + at), tl.load(B + at)
    {line}
    tl.store(C + at, a)
"""
TAKEN = {
    CUTILE: ("a = a + b * 2", "a = ct.maximum(a, 0)", "a = ct.mma(a, b, a)", "a = a @ b"),
    TRITON: ("a = a + b * 2", "a = tl.maximum(a, 0)", "a = tl.dot(a, b, a)",
        'a = tl.dot(a, b, input_precision="ieee")', "a = tl.where(a > b, a, 0)"),
}  # fmt: skip
REFUSED = {
    CUTILE: (
        "a = ct.load(A, index=(i, 0), shape=(3, 16))", "a = ct.save(A)", "C[i, 0] = a",
        "a = ct.mma(a, b)", "a = a + ct.full((8, 8), 0, dtype=ct.float32)", "a = ct.sum(a, axis=2)",
        "a = ct.load(A, index=(i,), shape=(16, 16))", "a = unknown", "a = ct.exp(a, b)",
        "ct.store(C, index=(i, 0))", "a = ct.reshape(a, (16, 8))",
        "a = ct.load(A, (i, 0), (i, 16))",
    ),
    TRITON: ("a = tl.load(A + tl.arange(0, 12))", "a = tl.save(A, a)", "C[0] = a",
        "a = a + tl.zeros((8, 8), tl.float32)", "a = tl.sum(a, axis=2)", "a = unknown",
        'a = tl.dot(a, b, input_precision="nonsense")', "a = tl.dot(a, i)", "a = tl.exp(a, b, 1)",
        "tl.store(C + at)", "a = tl.reshape(a, (16, 8))", "a = tl.zeros((3, 16), tl.float32)"),
}  # fmt: skip


def lines(table: dict[str, tuple[str, ...]]) -> list[object]:
    return [
        pytest.param(text.format(line=line), id=f"{'ct' if text is CUTILE else 'tl'}: {line}")
        for text, theirs in table.items()
        for line in theirs
    ]


def both_ways(text: str, folder: Path) -> tuple[str, str]:
    """What the real compiler and the tile machine say against a text; "" where they take it."""
    arguments = tuple(np.ones((16, 16), np.float32) for _ in range(3))
    said = []
    by_compiler = by_cutile if "cuda.tile" in text else by_triton
    for compile_it in (
        lambda: by_compiler(module_of(text, folder).k, arguments),
        lambda: emulate_tiles(text)[1](*arguments),
    ):
        try:
            compile_it()
            said.append("")
        except Exception as problem:
            said.append(f"{type(problem).__name__}: {problem}")
    return said[0], said[1]


@pytest.mark.parametrize("text", lines(TAKEN))
def test_both_take(text: str, tmp_path: Path) -> None:
    assert both_ways(text, tmp_path) == ("", "")


@pytest.mark.parametrize("text", lines(REFUSED))
def test_both_refuse(text: str, tmp_path: Path) -> None:
    theirs, ours = both_ways(text, tmp_path)
    assert theirs and ours.startswith(KernelRejected.__name__), (theirs, ours)


os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is imported: its own functions need it
require("triton")

KERNEL = """
import triton
import triton.language as tl

@triton.jit
def k(x, y, out):
    i = tl.arange(0, 16)
    a = tl.load(x + i)
    b = tl.load(y + i)
    tl.store(out + i, EXPRESSION)
"""
EXPRESSIONS = (
    "a // b", "a % b", "a / b", "a * 2", "a + 0.5", "a - b * 3", "tl.maximum(a, b)",
    "tl.where(a > b, a, b)", "tl.where(a > 0, a, 0)", "-a", "a & b", "a ^ 3", "a << 2", "a >> 1",
    "(a > b) & (b > 0)", "~(a > b)", "a == b", "tl.sum(a, axis=0)", "tl.max(a, axis=0) - b",
    "a.to(tl.float16) * b.to(tl.float16)", "(a.to(tl.float16) + 1.0) * b",
    "tl.exp(a.to(tl.float32) * 0.1)", "tl.sqrt(tl.abs(a.to(tl.float32)))", "a * a * a", "a // 3",
    "7 // b", "(a + 1) / 2", "tl.minimum(a, 2)", "a.to(tl.int64) * 3",
    "a.to(tl.int8) + b.to(tl.int8)",
)  # fmt: skip


class Tensor:
    """What Triton's interpreter asks of a tensor of PyTorch, on a NumPy array."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.dtype = array, str(array.dtype)

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def cpu(self) -> Tensor:
        return self

    def new_empty(self, *size: int, device: str) -> Tensor:
        return Tensor(self.array)

    def set_(self, storage: Tensor, *layout: object) -> None:
        self.array = storage.array

    def storage_offset(self) -> int:
        return 0

    def size(self) -> tuple[int, ...]:
        return self.array.shape

    def stride(self) -> tuple[int, ...]:
        return self.array.strides

    def untyped_storage(self) -> Tensor:
        return self

    def copy_(self, other: Tensor) -> None:
        """It is the same memory."""


def interpreted(folder: Path, text: str, grid: Any, *arguments: Any) -> None:
    """Launch the last kernel of a text on Triton's interpreter."""
    name = text.rsplit("\ndef ", 1)[1].split("(")[0]
    given = [Tensor(each) if isinstance(each, np.ndarray) else each for each in arguments]
    getattr(module_of(text, folder), name)[grid](*given)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_has_the_same_bits(expression: str, tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    x = generator.integers(-20, 20, 16).astype(np.int32)
    y = generator.integers(1, 9, 16).astype(np.int32) * generator.choice([-1, 1], 16)
    y, text = y.astype(np.int32), KERNEL.replace("EXPRESSION", expression)
    ours, theirs = np.zeros(16, np.float32), np.zeros(16, np.float32)
    emulate_tiles(text)[1](x, y, ours)
    interpreted(tmp_path, text, (1,), x, y, theirs)
    assert np.array_equal(ours, theirs, equal_nan=True)


@pytest.mark.parametrize("sizes", [(64, 64, 64), (34, 37, 22), (17, 1, 16)], ids=str)
@pytest.mark.parametrize("case", [name for name in CASES if "Triton" in name])
def test_a_kernel_has_the_same_bits(case: str, sizes: tuple[int, ...], tmp_path: Path) -> None:
    grid, arguments, output, _ = CASES[case].launch(np.random.default_rng(1), sizes)
    interpreted(tmp_path, CASES[case].text, grid, *arguments)
    theirs = output.copy()
    output[...] = np.nan
    emulate_tiles(CASES[case].text)[grid](*arguments)
    assert np.array_equal(output, theirs)


@pytest.mark.parametrize(("task", "text"), answers("tl"))
def test_an_answer_is_right_on_the_interpreter(task: Task, text: str, tmp_path: Path) -> None:
    launcher = TileLauncher(task, 0)
    for tried in launcher.cases():
        inputs = make_inputs(launcher.problem, tried.case, launcher.seed)
        expected, tolerance = expected_of(launcher.problem, tried.case, inputs)
        held = [each.copy() for each in as_held(launcher.problem, inputs)]
        output = np.full(expected.shape, tried.case.poison, np.float32)
        grid = task.launch(expected.shape, tried.constants).grid
        arguments = launcher.arguments(tried, held, output)
        interpreted(tmp_path, HEADS["tl"] + text, grid, *arguments)
        assert (np.abs(output - expected) <= tolerance).all(), launcher.label(tried)
