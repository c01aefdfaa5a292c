"""Inputs of 16 bits: numbers for the reference, bits for the kernel, on every way through."""

import numpy as np
import pytest

from course_lib.checking import examine_source
from course_lib.curriculum import TASKS
from course_lib.devices.number_formats import bits_of_bf16, encoded, from_bf16, rounded
from course_lib.diagnosis.real_gpu import bands_intact
from course_lib.figures.small_launch import launch_answer
from course_lib.problems.inputs import as_held, make_inputs
from course_lib.problems.problem import Case
from course_lib.problems.table import problem_of
from course_lib.registry.entry_checks import BadEntry
from course_lib.registry.exercise import Task

FORMATS = ("float16", "bfloat16")
# What a kernel writes to add two inputs of each format as float32.
SUM_OF = {"float32": "a[i]", "float16": "float32(a[i])", "bfloat16": "from_bits(a[i])"}


def add_task(of_a: str, of_b: str, **changes: object) -> Task:
    """c = a + b, with inputs in two formats; the bits of a float are read by a device function."""
    body = """\
@cuda.jit
def add_them(a, b, c):
    i = cuda.grid(1)
    if i < c.shape[0]:
        c[i] = {} + {}
"""
    a, b = (SUM_OF[each].replace("a[i]", f"{name}[i]") for name, each in (("a", of_a), ("b", of_b)))
    fields: dict[str, object] = {
        "id": "add_them", "title": "Add", "lesson": "10", "parameters": ("a", "b", "c"),
        "output": "c", "block": (32,), "shapes": ("n", "n", "n"), "hints": ("Which one?",),
        "reference": lambda a, b: a + b, "dtypes": {"a": of_a, "b": of_b},
        "given": "def add_them(a, b, c):\n    ...\n",
        "answer": body.format(a, b), "formula": "c = a + b", "asks": ("float32",),
    }  # fmt: skip
    return Task(**{**fields, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", FORMATS)
def test_rounded_numbers_are_encoded_without_loss(name: str) -> None:
    numbers = np.random.default_rng(1).standard_normal((7, 5)).astype(np.float32)
    near = rounded(numbers, name)
    assert near.shape == numbers.shape and near.dtype == np.float32
    assert 0 < np.abs(near - numbers).max() <= 2.0**-8 * np.abs(numbers).max()
    assert np.array_equal(rounded(near, name), near)
    held = encoded(np.asfortranarray(near), name)
    assert held.itemsize == 2 and held.flags.f_contiguous
    decode = from_bf16 if name == "bfloat16" else lambda bits: bits.astype(np.float32)
    assert np.array_equal(decode(held), near)


def test_float32_is_left_alone_and_bits_are_those_of_the_upper_half() -> None:
    numbers = np.array([1.0, -2.5, 3.0], np.float32)
    assert encoded(numbers, "float32") is not numbers
    assert np.array_equal(encoded(numbers, "float32"), numbers)
    assert bits_of_bf16(numbers).tolist() == (numbers.view(np.uint32) >> 16).tolist()


@pytest.mark.parametrize("of_b", ["float32", "float16"])
def test_a_kernel_gets_the_format_and_the_reference_the_numbers(monkeypatch, of_b):
    task = add_task("float16", of_b)
    problem = problem_of(task)
    inputs = make_inputs(problem, Case((40,)), seed=2)
    assert [each.dtype for each in inputs] == [np.float32] * 2
    held = as_held(problem, inputs)
    assert [str(each.dtype) for each in held] == ["float16", of_b]
    assert all(
        np.array_equal(each.astype(np.float32), x) for each, x in zip(held, inputs, strict=True)
    )
    monkeypatch.setitem(TASKS, "add_them", task)
    head = "from numba import cuda, float32\n\n\n"
    assert examine_source("add_them", head + task.answer, debug=True).passed
    wrong = examine_source("add_them", head + task.answer.replace("+", "-"), debug=True)
    assert wrong.errors and "float64" not in wrong.errors[0].code
    overwrites = task.answer + "        a[i] = a[i] + a[i]\n"
    report = examine_source("add_them", head + overwrites, debug=True)
    assert any("a is an input" in each.message for each in report.errors), str(report)


def test_the_small_launch_of_a_picture_has_the_numbers_and_the_kernel_the_bits() -> None:
    ran = launch_answer(TASKS["one_mma"], "reading")
    assert ran.inputs["A"].dtype == np.float32
    assert np.array_equal(ran.output, ran.inputs["A"] @ ran.inputs["B"])


def test_guard_bands_are_known_again_in_any_format() -> None:
    for dtype in (np.float32, np.float16, np.uint16):
        whole = np.full(3 * 4096, 31337.0, dtype)
        assert bands_intact(whole)
        whole[0] = 1
        assert not bands_intact(whole)


@pytest.mark.parametrize(
    ("dtypes", "words"),
    [({"c": "float16"}, "none of the inputs"), ({"a": "fp8"}, "inputs are float32, float16")],
)
def test_a_format_that_there_is_not_is_refused(dtypes: dict[str, str], words: str) -> None:
    with pytest.raises(BadEntry, match=words):
        add_task("float32", "float32", dtypes=dtypes)
