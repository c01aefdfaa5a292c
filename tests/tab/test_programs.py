"""A whole program in the playground: run as written, and what is not run is said line by line."""

import contextlib
import io
import json
import runpy
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from every_case import every_case
from programs_to_play import ADD, HEAD, PROGRAMS

import course_lib
from course_lib.host import runtime
from course_lib.tab.requests import answer

NOT_RUN = "# not run"
ONLY_HERE = "# only here"  # printed by the tab alone


def play(text: str, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer(json.dumps({"do": "play", "text": text, **more})))
    assert found["ok"], found["said"]
    return found


def lines_not_run(found: dict[str, Any]) -> list[int]:
    return [n for each in found["not_run"] for n in range(each["line"], each["last"] + 1)]


def errors_of(found: dict[str, Any]) -> list[tuple[int, str]]:
    return [(each["line"], each["title"]) for each in found["marks"] if each["severity"] == "error"]


@pytest.fixture(scope="module")
def emulated() -> Iterator[None]:
    """The host's API without a GPU, so that Python itself can run a program."""
    pytest.importorskip("numba")
    with contextlib.redirect_stdout(io.StringIO()):
        course_lib.start()
    if course_lib.on_gpu():
        pytest.skip("a GPU may add in another order")
    yield
    runtime.stop()


def printed_by_python(text: str, folder: Path) -> list[str]:
    """What Python prints when it executes the lines that the tab runs."""
    lines = []
    for line in text.split("\n"):
        if NOT_RUN in line or ONLY_HERE in line:
            indent = line[: len(line) - len(line.lstrip())]
            line = indent + ("if True:" if line.partition("  #")[0].endswith(":") else "pass")
        lines.append(line)
    path = folder / "program.py"
    path.write_text("\n".join(lines), encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()) as said:
        runpy.run_path(str(path), run_name="__main__")
    return said.getvalue().splitlines()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_what_python_prints(name: str, emulated: None, tmp_path: Path) -> None:
    text = PROGRAMS[name]
    found = play(text)
    marked = [n for n, line in enumerate(text.split("\n"), 1) if NOT_RUN in line]
    assert lines_not_run(found) == marked, found["not_run"]
    here = [line for line in found["printed"] if ONLY_HERE not in line]
    assert here == printed_by_python(text, tmp_path) and here
    assert errors_of(found) == [] and 'data-said="right"' in found["html"]


def test_the_example_of_the_readme_prints_what_it_says(emulated: None, tmp_path: Path) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    text = readme.split("```python\n")[1].split("```")[0]
    found = play(text)
    assert found["printed"] == printed_by_python(text, tmp_path) and len(found["printed"]) == 2
    assert lines_not_run(found) == [] and errors_of(found)
    shown = play(text + "profile.show()\ncourse_lib.start()\nprint(profile.source)\n")
    assert len(lines_not_run(shown)) == 2


RACE = """\
@cuda.jit
def count(x, counts):
    i = cuda.grid(1)
    if i < x.size:
        counts[x[i]] += 1

x = np.random.default_rng(0).integers(0, 8, 500)
counts = np.zeros(8, np.int32)
count[2, 256](x, counts)
print(counts.sum() < 500)
"""


def test_each_launch_is_told_with_its_findings_and_counters() -> None:
    found = play(HEAD + ADD + RACE + "add[1, 32](counts, counts, counts)\n")
    assert {line for line, _ in errors_of(found)} == {15}
    assert "2 launches of count and add" in found["html"] and found["printed"] == ["True"]
    counters = {each["line"]: each["counters"] for each in found["lines"]}
    assert counters[9]["global_store_sectors"] == 1 and counters[15]["global_load_requests"]
    assert "decides what is in counts" in found["html"]
    assert [each["name"] for each in found["outputs"]] == ["a", "b", "c"]


def test_arrays_and_figures_are_those_of_the_chosen_kernel() -> None:
    text = PROGRAMS["matmul in shared memory"] + ADD + "add[1, 16](x_h.ravel(), x_h.ravel(), x_h)"
    assert [each["name"] for each in play(PROGRAMS["saxpy"])["outputs"]] == ["n", "a", "x", "y"][2:]
    found = play(text, kernel="fast_matmul")
    assert [each["name"] for each in found["outputs"]] == ["A", "B", "C"]
    assert {each["id"] for each in found["figures"]} >= {"sectors", "banks", "owners"}
    drawn = play(text, kernel="fast_matmul", figure="banks")
    assert len(drawn["html"]) > 10_000


@every_case(("text", "line", "said"), [
    (ADD + "a = np.ones(4)\nadd[1, 4](a, a, a)\nassert a[0] == 3, 'three'", 13, "a[0] == 3"),
    (ADD + "np.testing.assert_allclose(np.zeros(3), 1)\nadd[1, 1]()", 11, "Not equal"),
    (ADD + "a = np.ones(4)\nadd[1, 4](a, a, a)\nprint(a[9])", 13, "out of bounds"),
    (ADD + "a = np.ones(4)\nadd[1, 4](a, a)", 6, "takes 3 arguments"),
    (ADD + "a = np.ones(4)\nadd(a, a, a)\nadd[1, 4](a, a, a)", 12, "grid and its block"),
    (ADD + "a = np.ones(4)\nadd[4 / 2, 4](a, a, a)", 12, "whole numbers"),
    (ADD + "a = np.ones(4)\nadd[1, 2048](a, a, a)", 12, "the most that a GPU allows"),
    (ADD + "a = np.ones(4)\nadd[1, 4](a, a, b)", 12, "Nothing is called b"),
    (ADD + "raise ValueError('no')\nadd[1, 4](a, a, a)", 11, "raises"),
    (ADD + "a = np.ones((2, 2)) + np.ones(3)\nadd[1, 4](a, a, a)", 11, "broadcast"),
    (ADD + "a = np.ones((4, 4))[:, 1]\nadd[1, 4](a, a, a)", 12, "gaps"),
    (ADD.replace("a[i]", "a[i].x") + "a = np.ones(4)\nadd[1, 4](a, a, a)", 9, "attribute"),
    (ADD + "while True:\n    pass\nadd[1, 4](a, a, a)", 11, "budget of steps is used up"),
    (ADD + "def f(n):\n    return f(n)\nf(1)\nadd[1, 1]()", 12, "too deeply"),
])  # fmt: skip
def test_where_python_stops_the_program_ends_with_a_finding(text, line, said):
    found = play(HEAD + text)
    assert line in [line for line, _ in errors_of(found)], (found["marks"], found["not_run"])
    assert said in unescape(found["html"]) and 'data-said="wrong"' in found["html"]


@every_case(
    ("statement", "reason"),
    [
        ("import os", "os is not available here"),
        ("x = open('/etc/passwd').read()", "open is not supported"),
        ("x = __import__('os')", "__import__"), ("x = np.zeros.__globals__", "__globals__"),
        ("x = np.zeros(3).__class__", "__class__"), ("x = ().__class__.__bases__", "__class__"),
        ("x = '{0.__class__}'.format(a)", "format"), ("x = '%9999999999d' % 3", "%"),
        ("x = f'{n:9999999999}'", "format"), ("x = add.py_func.__globals__", "py_func"),
        ("x = np.load('x.npy', allow_pickle=True)", "np.load"), ("a.tofile('x')", "tofile"),
        ("x = np.fromfile('x')", "np.fromfile"),
        ("x = np.lib.stride_tricks.as_strided(a, (9, 9), (0, 0))", "np.lib"),
        ("x = np.zeros(3, dtype=object)", "object"), ("x = np.zeros(3, dtype='O')", "'O'"),
        ("x = np.zeros(3, dtype='U99999999')", "U99999999"), ("x = np.zeros(10**9)", "too large"),
        ("x = np.tile(np.ones(9999), (99, 99))", "too large"),
        ("x = np.outer(np.ones(9999), np.ones(9999))", "too large"),
        ("x = np.ones((9999, 1)) + np.ones((1, 9999))", "too large"),
        ("x = np.ones((9999, 1)) @ np.ones((1, 9999))", "too large"),
        ("x = np.ones((9999, 1)).dot(np.ones((1, 9999)))", "too large"),
        ("x = np.bincount(np.array([10**9]))", "too large"),
        ("x = np.ones((2, 99999))[np.zeros(9999, int)]", "too large"),
        ("x = np.random.rand(99999, 99999)", "too large"),
        ("x = np.tile(A=np.ones(9999), reps=(99, 99))", "what happens to these arguments"),
        ("x = np.bincount(x=np.array([10**9]))", "what happens to these arguments"),
        ("x = np.arange(stop=10**9)", "what happens to these arguments"),
        ("x = np.clip(np.ones((9999, 1)), 0, a_max=np.ones((1, 9999)))", "too large"),
        ("x = np.ones((9999, 1)).clip(0, np.ones((1, 9999)))", "too large"),
        ("x = np.allclose(np.ones((9999, 1)), np.ones((1, 9999)))", "too large"),
        ("x = np.zeros_like(a, shape=10**9)", "too large"),
        ("x = np.random.choice(10**9, 5, replace=False)", "too large"),
        ("x = np.diff(a, n=10**9)", "Differences can"), ("x = np.array(range(10**9))", "too large"),
        ("x = np.random.default_rng(0).normal(size=10**9)", "too large"),
        ("x = cuda.device_array(10**9)", "too large"), ("x = 9 ** 9 ** 9", "too big"),
        ("x = 'a' * 10**9", "too long"), ("x = [0] * 10**9", "too long"),
        ("x = [np.ones(1 << 20) for i in range(100)]", "together"),
        ("x = getattr(a, 'tofile')", "getattr"), ("x = eval('3')", "eval"),
        ("x = {1: 2}", "{1: 2}"), ("class A: pass", "classes"),
        ("x = cuda.get_current_device().name", "get_current_device"), ("x = a.ctypes", "ctypes"),
        ("x = np.random.default_rng(0).bit_generator", "bit_generator"),
        ("x = np.vectorize(add)", "np.vectorize"),
        ("x = cuda.reduce(lambda a, b: a + b)", "cuda.reduce"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_said_and_harmless(statement: str, reason: str) -> None:
    end = "add[1, 4](a, a, a)\nprint(a[0])\nprint(x)\n"
    found = play(f"{HEAD}{ADD}a, n = np.ones(4), 3\n{statement}\n{end}")
    first, *rest = found["not_run"]
    assert first["line"] == 12 and reason in first["said"], found["not_run"]
    if statement != "a.tofile('x')":
        assert found["printed"] == ["2.0"], found["marks"]
    if statement.startswith("x"):
        assert [each["said"] for each in rest] == ["Line 15 was not run: it needs x of line 12."]


@pytest.mark.slow
@every_case("statements", [
    "while True: add[1, 4](a, a, a)",
    "for i in range(10**9): a += 1",
    "x = [i for i in range(10**9)]",
    "while True: print('a' * 9999)",
    "while True: a = np.ones((999, 999)) @ np.ones((999, 999))",
])  # fmt: skip
def test_what_does_not_end_is_cut_off(statements: str) -> None:
    found = play(f"{HEAD}{ADD}a = np.ones(4)\nadd[1, 4](a, a, a)\n{statements}\n")
    titles = [title for _, title in errors_of(found)]
    assert titles == ["it takes too many steps"] or "too long" in str(found["not_run"])
    assert len(json.dumps(found)) < 3_000_000


def test_a_launch_that_does_not_end_leaves_nothing_to_rely_on() -> None:
    endless = "@cuda.jit\ndef stay(x):\n    while x[0] < 2:\n        x[1] += 0\n\n"
    found = play(f"{HEAD}{endless}x = np.ones(4)\nstay[1, 1](x)\nprint(x)\nprint('on')\n")
    assert found["printed"] == ["on"] and lines_not_run(found) == [12]
    assert "it takes too many steps" in str(errors_of(found))


def test_a_text_without_a_kernel_says_so() -> None:
    for text in ("", "x = 3\n", "import numpy as np\nprint(np.zeros(3))\n", "f = [abs]\nf[0](1)"):
        found = play(text, grid=1, block=1, arrays=[])
        assert "There is no kernel here" in found["html"] and "no kernel" in found["status"]
        assert 'data-said="wrong"' in found["html"] and found["marks"] == []


@every_case(("before", "after", "printed", "not_run"), [
    # What only gets another name is still known under the first one.
    ("b = a\na = cp.asarray(a)", "print(b[0])", ["1.0"], [12]),
    # What is changed in place is not.
    ("a[0] = cp.pi", "print(n)\nprint(a.sum())", ["3"], [11, 13]),
    ("b = a[1:]\na += cp.pi", "print(b)\nprint(n)", ["3"], [12, 13]),
    ("a.partition(2)", "print(a)\nprint(n)", ["3"], [11, 12]),
    ("np.random.shuffle(n, cp.x)", "print(n)\nprint(a[0])", ["3", "1.0"], [11]),
    ("import random\nrandom.shuffle(a)", "print(a)\nprint(n)", ["3"], [11, 12, 13]),
    # A function goes on behind a line that is left out, but not behind a `return`.
    ("def f():\n    cp.show()\n    return 4", "print(f())", ["4"], [12]),
    ("def f():\n    return cp.x", "print(f())\nprint(n)", ["3"], [12, 13]),
    ("for i in range(3):\n    if cp.x:\n        break\n    n += 1", "print(n)", [],
         [11, 12, 13, 14, 15]),
    ("for i in range(3):\n    cp.x += 1\n    n += 1", "print(n)", ["6"], [12]),
    ("try:\n    n = a[9]\nexcept IndexError:\n    n = 4", "print(n)", [], [11, 12, 13, 14, 15]),
    ("try:\n    n = 5\nexcept IndexError:\n    n = 4", "print(n)", ["5"], []),
    ("%matplotlib inline\n!pip install numba", "print(n)", ["3"], [11, 12]),
    ("config = cp.x\nadd[config](a, a, a)", "print(a)\nprint(n)", ["3"], [11, 12, 13]),
    ("def f():\n    global n\n    n = 4\nf()", "print(n)\nprint(a[0])", ["1.0"],
         [11, 12, 13, 14, 15]),
    ("with cuda.gpus[0]:\n    a += 1", "print(a)\nprint(n)", ["3"], [11, 12, 13]),
    ("x = np.euler_gamma * 2\ny = np.mgrid[0:3]", "print(n)", ["3"], [11, 12]),
    ("for gpu in cuda.gpus:\n    print(gpu)", "print(n)", ["3"], [11, 12]),
    ("x, y = cp.x, 3", "print(y)\nprint(n)", ["3"], [11, 12]),
    ("print(np.array(range(20000)).size)", "", ["20000"], []),
    ("x = np.float32(0.1)\nprint(0 < x < 1, x is None, not x, f'{x:.3f}', x)", "",
         ["True False False 0.100 0.1"], []),
    ("x = np.array([[1, 2], [3, 4]])\nfor row in x:\n    print(row, sum(row), max(row))", "",
         ["[1 2] 3 2", "[3 4] 7 4"], []),
])  # fmt: skip
def test_what_needs_a_line_that_was_not_run_is_not_run_either(before, after, printed, not_run):
    text = f"import cupy as cp\n{ADD.strip()}\nfrom numba import cuda\nimport numpy as np\n\n"
    assert text.count("\n") == 9
    found = play(f"{text}a, n = np.ones(4), 3\n{before}\n{after}\nadd[1, 1]()\n")
    assert found["printed"] == printed, found["not_run"]
    assert lines_not_run(found) == [1, *not_run], found["not_run"]


def test_a_wide_launch_runs_in_the_orders_that_there_are_steps_for() -> None:
    text = f"{HEAD}{ADD}n = 1 << 18\na, c = np.ones(n), np.zeros(n)\nadd[n // 256, 256](a, a, c)\n"
    found = play(text + "print((c == 2).all())\n")
    assert found["printed"] == ["True"] and "no findings in one order" in found["html"]
    assert "the warps in one order" in found["status"]
    assert "Ran under every schedule" in play(PROGRAMS["saxpy"])["status"]
