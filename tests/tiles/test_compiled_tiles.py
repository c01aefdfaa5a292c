"""The real compilers, which need no GPU: cuTile's and Triton's take what the tile machine takes."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from real_languages import HEADS, answers, module_of, require

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
