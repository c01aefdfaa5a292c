"""What a file of a task may hold, and what judging it uses: formats, sizes, contents before."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from every_case import every_case
from passing import passes, without_cause
from sampling import marks
from stored_answers import right_answers_to

from course_lib.checking import examine, examine_source
from course_lib.curriculum import TASKS
from course_lib.devices.number_formats import bits_of_bf16, encoded, from_bf16, rounded
from course_lib.diagnosis.real_gpu import bands_intact
from course_lib.figures.small_launch import launch_answer
from course_lib.problems.inputs import as_held, make_inputs
from course_lib.problems.problem import Case
from course_lib.problems.table import problem_of
from course_lib.registry.entry_checks import BadEntry, axes, is_free
from course_lib.registry.exercise import Task
from course_lib.registry.kinds import CONSTANTS, FUNCTION

HEAD = "from numba import cuda, float32\n\n\n@cuda.jit\n"
GOOD: dict[str, object] = {
    "id": "every_second", "title": "Every second place", "lesson": "00", "parameters": ("out",),
    "output": "out", "block": (64,), "shapes": ("n",), "reference": None,
    "hints": ("Which threads have an even number?",), "given": "def every_second(out):\n    ...\n",
    "answer": "def every_second(out):\n    out[0] = 1\n",
}  # fmt: skip
LAUNCHES = Task(
    id="launches", title="How many blocks and threads", lesson="00", kind=CONSTANTS,
    parameters=("BLOCKS", "THREADS"), reference=lambda: {"BLOCKS": 4, "THREADS": 1024},
    hints=("1000 numbers, 256 threads to a block.",), given="BLOCKS = ...\nTHREADS = ...\n",
    answer="BLOCKS = 4\nTHREADS = 4 * 256\n",
)  # fmt: skip


def every_second(**changes: object) -> Task:
    """Doubles x at even places; the odd ones stay, as they were before."""

    def doubled(x):  # the output holds 5 before
        wanted = 2 * x
        wanted[1::2] = 5
        return wanted

    fields = {"parameters": ("x", "out"), "shapes": ("n", "n"), "reference": doubled, "before": 5.0}
    return Task(**{**GOOD, **fields, **changes})  # type: ignore[arg-type]


BODY = (
    "def every_second(x, out):\n"
    "    i = cuda.grid(1)\n"
    "    if i < x.shape[0] and i % 2 == 0:\n"
    "        out[i] = 2 * x[i]\n"
)


@pytest.mark.parametrize(("old", "new", "code", "line"), [
    ("", "", None, None),
    (" and i % 2 == 0", "", "wrong-index", 8),
    ("i % 2 == 0", "i % 2 == 1", "incomplete-output", 7),
    ("i < x.shape[0] and ", "", "wrong-bounds-check", 7),
    ("i % 2", "i % 4", "incomplete-output", 7),
    ("i < x", "i < 64 and i < x", "wrong-bounds-check", 7),
])  # fmt: skip
def test_drawn_sizes_and_other_contents_before(monkeypatch, old, new, code, line):
    monkeypatch.setitem(TASKS, "every_second", every_second())
    report = examine_source("every_second", HEAD + BODY.replace(old, new), seed=2, debug=True)
    told = [(each.code, each.line) for each in report.errors[:1]]
    assert told == ([(code, line)] if code else []), str(report)


@pytest.mark.parametrize(("text", "codes"), [
    (LAUNCHES.answer, []),
    (LAUNCHES.given, ["missing-answer", "missing-answer"]),
    ("BLOCKS = 3\nTHREADS = 1024\n", ["wrong-formula"]),
    ("BLOCKS = 4\n", ["missing-answer"]),
    ("BLOCKS = 4\nTHREADS = 4.5\n", ["wrong-formula"]),
])  # fmt: skip
def test_constants(monkeypatch: pytest.MonkeyPatch, text: str, codes: list[str]) -> None:
    monkeypatch.setitem(TASKS, "launches", LAUNCHES)
    report = examine_source("launches", text, debug=True)
    assert [each.code for each in report.errors] == codes, str(report)
    names: dict[str, object] = {}
    exec(text, names)
    chosen = {name: names[name] for name in LAUNCHES.parameters if name in names}
    assert [each.code for each in examine("launches", chosen, debug=True).errors] == codes


@every_case(("changes", "words"), [
    ({"hints": ()}, "a task has one to 3 hints, not 0"),
    ({"hints": ("a", "b", "c", "d")}, "a task has one to 3 hints, not 4"),
    ({"asks": ("speed",)}, "a kernel is not judged by 'speed'"),
    ({"given": "def f(:"}, "`given` is no Python (its line 1"),
    ({"answer": "x = 1"}, "`answer` does not define every_second"),
    ({"grid": ("m",)}, "the output has no axis m"),
    ({"grid": (1, 1)}, "one size for each direction"),
    ({"kind": FUNCTION}, "a task without a kernel needs a `reference`"),
    ({"block": (2048,)}, "at most 1,024 threads"),
])  # fmt: skip
def test_a_mistake_is_told_with_file_and_line(changes: dict[str, object], words: str) -> None:
    with pytest.raises(BadEntry) as told:
        Task(**{**GOOD, "shapes": (), **changes})  # type: ignore[arg-type]
    assert words in str(told.value)
    assert str(told.value).startswith(f"{Path(__file__).name}, line ")


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


FREE = 64  # where a task's launches have several sizes, any single one is wrong
IMPORTS = "from numba import cuda, float32\n"
IN_WORDS = {"four": 4}


class _Numbers(ast.NodeTransformer):
    """Puts the usual size in the place of each `x.shape[0]`."""

    def __init__(self, task: Task) -> None:
        shapes = zip(task.parameters, task.shapes or ("M,K", "K,N", "M,N"), strict=True)
        self.sizes = {
            name: [FREE if is_free(each) else int(each) for each in axes(shape)]
            for name, shape in shapes
        }
        self.written: set[int] = set()

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        match node:
            case ast.Subscript(ast.Attribute(ast.Name(name), "shape"), ast.Constant(axis)):
                size = self.sizes[name][axis]
                self.written.add(size)
                return ast.copy_location(ast.Constant(size), node)
        return self.generic_visit(node)


def said_in(text: str) -> set[int]:
    """The numbers in a text, in digits or in words."""
    words = re.findall(r"\w+", text)
    return {int(each) for each in words if each.isdecimal()} | {
        IN_WORDS[each] for each in words if each in IN_WORDS
    }


def without_code(cell: str) -> str:
    tree = ast.parse(cell)
    functions = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
    return " ".join(ast.get_docstring(each) or "" for each in functions)


FAST_ONE_IN, SLOW_ONE_IN = 60, 6  # of the tasks; `--long` tries each of them
WITH_SIZES = [each for each in TASKS.values() if each.kind.is_launched and ".shape" in each.answer]


@pytest.mark.parametrize(
    "task",
    [
        pytest.param(task, id=task.id, marks=marks(number, fast=FAST_ONE_IN, slow=SLOW_ONE_IN))
        for number, task in enumerate(WITH_SIZES)
    ],
)
def test_a_size_written_out_as_a_number_is_refused_or_said(task: Task) -> None:
    numbers = _Numbers(task)
    answer = ast.unparse(numbers.visit(ast.parse(task.answer)))
    assert numbers.written and ".shape" not in answer
    if numbers.written <= said_in(without_code(task.given)) and FREE not in numbers.written:
        return  # "for the 200 numbers of x"
    report = without_cause(task.id, IMPORTS + answer)
    codes = {each.code for each in report.findings}
    assert not report.passed and "compile-error" not in codes, str(report)


HEAD_FINITE_FOR_INFINITE = "from numba import cuda, float32\n\n\n"
INFINITE = re.compile(r"-math\.inf|-float\(\"inf\"\)")
FINITE = ("-1000.0", "-10000.0")
SOFTMAXES = {name: task.answer for name, task in TASKS.items() if INFINITE.search(task.answer)}


def with_finite(text: str, finite: str) -> list[str]:
    """The text once for each -inf in its code, with a finite number in its place."""
    places = [
        found for found in INFINITE.finditer(text) if text.count('"""', 0, found.start()) % 2 == 0
    ]
    return [text[: found.start()] + finite + text[found.end() :] for found in places]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "finite"), [(name, FINITE[n % 2]) for n, name in enumerate(SOFTMAXES)]
)
def test_a_task_takes_no_finite_number_for_it(name: str, finite: str) -> None:
    texts = with_finite(SOFTMAXES[name], finite)
    assert texts
    for text in texts:
        report = examine_source(name, HEAD_FINITE_FOR_INFINITE + text)
        assert report.errors, text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("exercise", "style"), [("attention", "warp_barriers"), ("attention_mma", "textbook")]
)
def test_an_exercise_takes_no_finite_number_for_it(exercise: str, style: str) -> None:
    texts = with_finite(right_answers_to(exercise)[style], "-10000.0")
    assert texts
    assert not any(passes(exercise, text) for text in texts)


@pytest.mark.slow
@pytest.mark.parametrize("finite", ["-100.0", pytest.param("-1000.0", marks=pytest.mark.long)])
def test_a_finite_score_past_the_end_is_told_as_that(finite: str) -> None:
    """And not as a mask of wrong keys, which would show in other launches, too."""
    text = right_answers_to("attention_mma")["textbook"]
    masked = with_finite(text, finite)[-1]
    (found, *_) = examine_source("attention_mma", masked).errors
    assert found.code == "missing-mask"
    assert "keys past the end get a finite score" in found.message
    lines = text.splitlines()
    assert "inf" in lines[(found.line or 0) - 1]


@pytest.mark.slow
def test_weights_times_a_constant_are_no_weights() -> None:
    answer = TASKS["online_rows"].answer
    changed = answer.replace(
        "S[j, c] = math.exp(S[j, c] - new)", "S[j, c] = math.exp(S[j, c] - new) / 8"
    )
    assert changed != answer
    assert examine_source("online_rows", HEAD_FINITE_FOR_INFINITE + changed).errors


@pytest.mark.slow
@pytest.mark.parametrize("name", ["attention_mma", "matmul_mma"])
def test_stores_as_fragments_lie_are_not_warned_of(name: str) -> None:
    for text in [*right_answers_to(name).values()][:2]:
        codes = {found.code for found in examine_source(name, text).findings}
        assert "uncoalesced-store" not in codes
