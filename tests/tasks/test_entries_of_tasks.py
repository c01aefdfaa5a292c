"""What a task's entry may say: drawn sizes, other contents before, constants; and its mistakes."""

from pathlib import Path

import pytest
from every_case import every_case

from course_lib.checking import examine, examine_source
from course_lib.curriculum import TASKS
from course_lib.registry.entry_checks import BadEntry
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
    id="launches",
    title="How many blocks and threads",
    lesson="00",
    kind=CONSTANTS,
    parameters=("BLOCKS", "THREADS"),
    reference=lambda: {"BLOCKS": 4, "THREADS": 1024},
    hints=("1000 numbers, 256 threads to a block.",),
    given="BLOCKS = ...\nTHREADS = ...\n",
    answer="BLOCKS = 4\nTHREADS = 4 * 256\n",
)


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


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("", "", None, None),
        (" and i % 2 == 0", "", "wrong-index", 8),
        ("i % 2 == 0", "i % 2 == 1", "incomplete-output", 7),
        ("i < x.shape[0] and ", "", "out-of-bounds-read", 8),
        ("i % 2", "i % 4", "incomplete-output", 7),
        ("i < x", "i < 64 and i < x", "wrong-bounds-check", 7),
    ],
)
def test_drawn_sizes_and_other_contents_before(monkeypatch, old, new, code, line):
    monkeypatch.setitem(TASKS, "every_second", every_second())
    report = examine_source("every_second", HEAD + BODY.replace(old, new), seed=2, debug=True)
    told = [(each.code, each.line) for each in report.errors[:1]]
    assert told == ([(code, line)] if code else []), str(report)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (LAUNCHES.answer, []),
        (LAUNCHES.given, ["missing-answer", "missing-answer"]),
        ("BLOCKS = 3\nTHREADS = 1024\n", ["wrong-formula"]),
        ("BLOCKS = 4\n", ["missing-answer"]),
        ("BLOCKS = 4\nTHREADS = 4.5\n", ["wrong-formula"]),
    ],
)
def test_constants(monkeypatch: pytest.MonkeyPatch, text: str, codes: list[str]) -> None:
    monkeypatch.setitem(TASKS, "launches", LAUNCHES)
    report = examine_source("launches", text, debug=True)
    assert [each.code for each in report.errors] == codes, str(report)
    names: dict[str, object] = {}
    exec(text, names)
    chosen = {name: names[name] for name in LAUNCHES.parameters if name in names}
    assert [each.code for each in examine("launches", chosen, debug=True).errors] == codes


@every_case(
    ("changes", "words"),
    [
        ({"hints": ()}, "a task has one to 3 hints, not 0"),
        ({"hints": ("a", "b", "c", "d")}, "a task has one to 3 hints, not 4"),
        ({"asks": ("speed",)}, "a kernel is not judged by 'speed'"),
        ({"given": "def f(:"}, "`given` is no Python (its line 1"),
        ({"answer": "x = 1"}, "`answer` does not define every_second"),
        ({"grid": ("m",)}, "the output has no axis m"),
        ({"grid": (1, 1)}, "one size for each direction"),
        ({"kind": FUNCTION}, "a task without a kernel needs a `reference`"),
        ({"block": (2048,)}, "at most 1,024 threads"),
    ],
)
def test_a_mistake_is_told_with_file_and_line(changes: dict[str, object], words: str) -> None:
    with pytest.raises(BadEntry) as told:
        Task(**{**GOOD, "shapes": (), **changes})  # type: ignore[arg-type]
    assert words in str(told.value)
    assert str(told.value).startswith(f"{Path(__file__).name}, line ")
