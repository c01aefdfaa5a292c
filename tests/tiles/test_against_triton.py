"""Triton's own interpreter beside the tile machine: the same bits, expression by expression."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from real_languages import HEADS, answers, module_of, require
from tile_kernels import CASES

from course_lib.curriculum import Task
from course_lib.diagnosis.tiles.tile_launches import TileLauncher
from course_lib.problems.inputs import as_held, expected_of, make_inputs
from course_lib.tiles import emulate_tiles

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
