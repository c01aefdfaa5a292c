"""The verdict as it is seen: lines marked, causes below them, said once, and harmless."""

import linecache
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from numba import cuda, float32

import course_lib
from course_lib import figures
from course_lib.checking import CheckFailed, examine
from course_lib.curriculum import EXERCISES, TASKS
from course_lib.diagnosis.report import Report
from course_lib.student import front_end
from course_lib.verdicts import page
from course_lib.verdicts.page import marks, placed
from course_lib.verdicts.typed import FunctionListing, listings, typed_of
from course_lib.verdicts.verdict import COLAB, NOTEBOOK, PAGE, Medium, Verdict, text_of, verdict_of
from course_lib.wording.findings import finding
from course_lib.wording.sentences import told

ROOT = Path(__file__).parents[2]
HEAD = "from numba import cuda, float32\nimport numpy as np\n"
TILED = '''
@cuda.jit
def matmul_tiled(A, B, C):
    """<script>alert(1)</script> &amp; `x`"""
    sA = cuda.shared.array((16, 16), float32)
    sB = cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for start in range(0, A.shape[1], 16):
        sA[ty, tx] = A[row, start + tx] if row < A.shape[0] and start + tx < A.shape[1] else 0
        sB[ty, tx] = B[start + ty, col] if start + ty < B.shape[0] and col < B.shape[1] else 0
        for k in range(16):
            acc += sA[ty, k] * sB[k, tx]  # </code></td><img src=x onerror=alert(1)>
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
'''
# What an output may neither hold nor fetch.
FORBIDDEN = {"script", "img", "iframe", "link", "object", "embed", "form", "base", "meta", "svg"}


pytestmark = pytest.mark.usefixtures("session_of_its_own")


def defined(text: str, name: str, **names: Any) -> Any:
    """What a cell defines."""
    filename = f"<cell {hash(text)}>"
    whole = HEAD + text
    lines = [f"{line}\n" for line in whole.split("\n")]
    linecache.cache[filename] = (len(whole), None, lines, filename)
    space: dict[str, Any] = {"__name__": "__main__", **names}
    exec(compile(whole, filename, "exec"), space)
    return space[name]


def verdict(exercise: str, answer: object) -> Verdict:
    known = {**TASKS, **EXERCISES}[exercise]
    return verdict_of(examine(exercise, answer, debug=True), known, answer)


class Page(HTMLParser):
    """The tags of a page, and the lines of its code with the mark of each."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.lines: list[str] = []
        self.marks: list[str | None] = []
        self.words = ""
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "br":
            self.open.append(tag)
        kind = dict(attrs).get("class")
        if kind == "line":
            self.lines.append("")
            self.marks.append(dict(attrs).get("data-is"))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"{tag} is closed within {self.open[-1:]}"

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words += data
        if self.open[-2:] == ["span", "code"]:
            self.lines[-1] += data

    def marked(self, kind: str) -> list[str]:
        """The source of the lines that have this mark."""
        both = zip(self.lines, self.marks, strict=True)
        return [line.strip() for line, mark in both if mark == kind]


def flat(text: str) -> str:
    return " ".join(text.split())


def test_the_lines_of_a_race_are_marked_and_the_cause_stands_below_them() -> None:
    answer = defined(TILED, "matmul_tiled")
    found = verdict("matmul_tiled", answer)
    seen = Page(page.html_of(found))
    [error] = seen.marked("error")
    assert error.startswith("acc += sA[ty, k]")
    [other] = seen.marked("other")
    assert other.startswith("sB[ty, tx] = B[start")
    cause = found.report.errors[0]
    assert flat(cause.message)[1:] in flat(seen.words)
    assert flat(told(cause.hint, "student")) in flat(seen.words)
    lines = TILED.strip().split("\n")
    first, last = (
        next(number for number, line in enumerate(lines) if line.strip() == marked)
        for marked in (other, error)
    )
    assert seen.lines == lines[first - 1 : last + 2], "these, and one around each; not all"
    below = seen.words.partition(error)[2]
    assert flat(below).startswith(f"Line {cause.line}: race: ")


def test_lines_of_which_nothing_is_said_are_left_out() -> None:
    lines = tuple(f"    a[{number}] = 0" for number in range(1, 40))
    found = [finding("wrong-index", "x", 12), finding("wrong-index", "y", 30, other_line=31)]
    report = Report("put_seven", tuple(found))
    for medium in (NOTEBOOK, PAGE):
        listing = FunctionListing("f", lines, 1)
        html = page.html_of(Verdict(report, TASKS["put_seven"], (listing,), medium=medium))
        seen = Page(html)
        shown = (11, 12, 13, 29, 30, 31, 32)
        assert [line.strip() for line in seen.lines] == [f"a[{number}] = 0" for number in shown]
        assert seen.words.count("⋮") == 1 and seen.open == []


def test_what_a_student_writes_is_text_and_nothing_is_fetched() -> None:
    html = page.html_of(verdict("matmul_tiled", defined(TILED, "matmul_tiled")))
    seen = Page(html)
    assert not {tag for tag, _ in seen.tags} & FORBIDDEN
    for _, attributes in seen.tags:
        assert not any(name.startswith("on") for name in attributes)
    assert not re.search(
        r"https?:|url\(|@import|src=", re.sub(r"&[^;]+;|<code>.*?</code>", "", html)
    )
    assert "</td><img src=x onerror=alert(1)>" in seen.words, "it is shown as it was typed"
    assert seen.open == []


HOSTILE = {
    "a name": ("def sectors(stride, offset):\n    return ｓｔｒｉｄｅ.__class__", ""),
    "turned": ("def sectors(stride, offset):\n    return 'a\u202eb\u2028c'", "\u202e"),
    "a string": ("def sectors(stride, offset):\n    return '</code><script>x</script>'",
        "<script>"),
    "an error": ("def sectors(stride, offset):\n    return stride.\u00e9['<b>']", "<b>"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "part"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_breaks_nothing(text: str, part: str) -> None:
    html = page.html_of(verdict("sectors", defined(text, "sectors")))
    assert not part or part not in html
    seen = Page(html)
    assert seen.open == [] and not {tag for tag, _ in seen.tags} & FORBIDDEN


def test_every_sentence_of_the_text_is_in_the_page_and_the_other_way_round() -> None:
    """Both are made from the report; here they say the same."""
    for exercise, text in (
        ("matmul_tiled", TILED),
        ("sectors", "def sectors(s, o):\n    return 4"),
    ):
        found = verdict(exercise, defined(text, exercise))
        text_words = flat(text_of(found))
        page_words = flat(Page(page.html_of(found)).words)
        assert found.report.shown
        for each in found.report.shown:
            assert flat(each.message)[1:] in text_words
            assert flat(each.message)[1:] in page_words
        assert flat(found.report.headline()) in page_words


def test_passing_shows_meaning_par_and_another_solution() -> None:
    text = "def sectors(s, offset):\n    return len({(offset + k * s) // 8 for k in range(32)})"
    found = verdict("sectors", defined(text, "sectors"))
    task = replace(TASKS["sectors"], meaning="A stride of 8 costs 32 sectors.")
    found = replace(found, exercise=task)
    seen, said = Page(page.html_of(found)).words, text_of(found)
    for shown in (seen, said):
        assert "A stride of 8 costs 32 sectors." in shown
        assert "You: 1 line · par: 4 lines" in shown
    assert flat(TASKS["sectors"].compared) in seen
    assert "Another solution" in seen and "for lane in range(32)})" in seen


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda each: each.id)
def test_par_is_what_the_answer_adds_to_the_given_code(task) -> None:
    assert typed_of(task.given, task.answer).lines == task.par


TURNED = "@cuda.jit\ndef reverse_sixteen(x, y):\n    buffer = cuda.shared.array(16, float32)\n"
INTO_BOTH = """\
    i = cuda.threadIdx.x
    buffer[i] = x[i]
    cuda.syncthreads()
    taken = buffer[15 - i]
    cuda.syncthreads()
    y[i] = taken
"""


def test_par_counts_barriers_where_either_answer_has_some() -> None:
    task = TASKS["reverse_sixteen"]
    ours = verdict(task.id, defined(task.answer, task.id))
    assert ours.par == "You: 3 lines, 1 barrier, which is par."
    mine = verdict(task.id, defined(TURNED + INTO_BOTH, task.id))
    assert mine.par == "You: 5 lines, 2 barriers · par: 3 lines, 1 barrier"
    whirled = TASKS["add_ten"].answer.replace("    out", "    cuda.syncthreads()\n    out")
    needless = verdict("add_ten", defined(whirled, "add_ten"))
    assert needless.par == "You: 3 lines, 1 barrier · par: 2 lines, no barrier"
    assert typed_of(*2 * [TASKS["pad_tile"].answer]).barriers == 0, "it was given"


def test_the_last_task_of_a_lesson_says_where_to_go_on() -> None:
    for name, onwards in (
        ("bytes_in_flight", ("lesson 02 · ", "../notebooks/02_naive_matmul.ipynb")),
        ("requested_bytes", ("`matmul_naive`", "../exercises/02_naive_matmul.ipynb")),
        ("flop_per_byte", None),
    ):
        found = verdict(name, defined(TASKS[name].answer, name))
        seen = page.html_of(found)
        if onwards is None:
            assert found.onwards is None and "Next:" not in seen
            continue
        said, target = found.onwards or ("", "")
        assert onwards[0] in said and target == onwards[1]
        assert f'<a href="{target}">' in seen and f"Next: {said[:20]}" in text_of(found)


def test_what_a_meaning_stresses_is_stressed_and_no_asterisk_is_left() -> None:
    for task in TASKS.values():
        for text in (task.meaning, task.compared):
            shown = re.sub("<code>.*?</code>", "", page._rich(text))
            assert "*" not in shown, task.id


def test_a_line_that_two_functions_have_is_marked_in_neither() -> None:
    kernel = FunctionListing("kernel", ("@cuda.jit", "def kernel(a):", "    f(a)"), 1)
    called = FunctionListing("f", ("@cuda.jit(device=True)", "def f(a):", "    a[9] = 0"), 1)
    fault = finding("out-of-bounds-write", "It leaves a.", 3)
    assert placed([fault], [kernel, called]) == ([], [fault])
    below = FunctionListing("f", called.lines, 10)
    [marked], elsewhere = placed([finding("out-of-bounds-write", "x", 12)], [kernel, below])
    assert marked.listing is below and not elsewhere
    report = Report("put_seven", (fault,))
    html = page.html_of(Verdict(report, TASKS["put_seven"], (kernel, called)))
    assert "Line 3: write outside an array" in Page(html).words


def test_a_fault_in_a_device_function_of_the_cell_is_marked_there() -> None:
    text = """
@cuda.jit(device=True)
def store(out, i):
    out[i + 4] = 7

@cuda.jit
def put_seven(out):
    store(out, 2)
"""
    seen = Page(page.html_of(verdict("put_seven", defined(text, "put_seven"))))
    assert seen.marked("error") == ["out[i + 4] = 7"]


def test_a_function_without_a_text_has_a_verdict_all_the_same() -> None:
    for answer in (None, 7, print, lambda stride, offset: 1, eval("lambda stride, offset: 1")):
        found = verdict("sectors", answer)
        assert listings(answer) == [] or found.listings
        assert Page(page.html_of(found)).open == []


@cuda.jit
def wrong(A, B, C):
    x, y = cuda.grid(2)
    C[y, x] = A[y, x] + B[y, x] + float32(1)


class Shell:
    """A notebook's shell, as far as it is asked."""

    kernel = object()
    user_ns = MappingProxyType({})


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """What a notebook shows."""
    outputs: list[dict[str, str]] = []
    monkeypatch.setattr(front_end, "shell", Shell)
    monkeypatch.setattr("IPython.get_ipython", Shell)
    monkeypatch.setattr("IPython.display.display", lambda data, raw: outputs.append(data))
    return outputs


def test_a_notebook_is_told_once(
    shown: list[dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(CheckFailed) as caught:
        course_lib.check("mat_add", wrong)
    [output] = shown
    assert output["text/plain"] == str(examine("mat_add", wrong))
    assert 'class="ml ml-verdict' in output["text/html"]
    assert capsys.readouterr().out == "", "nothing is printed beside it"
    assert caught.value._render_traceback_() == [str(caught.value)], "pytest needs the cause"
    monkeypatch.setattr(front_end, "is_tested", lambda: False)
    assert caught.value._render_traceback_() == ["The cells below wait until this answer passes."]
    assert str(caught.value).startswith("mat_add is not right yet. Line ")


def test_a_picture_that_fails_costs_nobody_the_verdict(
    shown: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("course_lib.figures.own_run", fail, raising=False)
    course_lib.check(
        "put_seven", defined("@cuda.jit\ndef put_seven(out):\n    out[2] = 7", "put_seven")
    )
    assert len(shown) == 1


@pytest.mark.parametrize(("index", "guard", "pictures"), [
    ("cuda.grid(1)", "i < a.shape[0]", 1),
    ("cuda.blockIdx.x + cuda.threadIdx.x", "i < a.shape[0]", 1),
    ("cuda.threadIdx.x", "i < a.shape[0]", 1),
    ("cuda.grid(1)", "i <= a.shape[0]", 0),  # what lies outside cannot be drawn
    ("cuda.grid(1)", "i < b.shape[0]", 0),
])  # fmt: skip
def test_whoever_writes_to_wrong_places_sees_who_wrote_what(
    shown: list[dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    index: str,
    guard: str,
    pictures: int,
) -> None:
    drawn: list[figures.Picture] = []
    monkeypatch.setattr(figures, "show", drawn.append)
    head = f"@cuda.jit\ndef add_ten_everywhere(a, out):\n    i = {index}\n"
    text = f"{head}    if {guard}:\n        out[i] = a[i] + 10"
    course_lib.check("add_ten_everywhere", defined(text, "add_ten_everywhere"))
    assert (len(shown), len(drawn)) == (1, pictures)


class Nasty:
    """An answer that answers no question about itself."""

    def __getattr__(self, name: str) -> object:
        raise ZeroDivisionError(name)


def test_an_answer_that_breaks_what_looks_at_it_has_a_verdict(
    shown: list[dict[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    course_lib.check("sectors", Nasty())
    assert "sectors: " in capsys.readouterr().out + "".join(each["text/plain"] for each in shown)


def test_lines_are_counted_as_python_counts_them() -> None:
    text = "def sectors(stride, offset):\n    a = '\u2028\x0c'\n    return stride"
    seen = Page(page.html_of(verdict("sectors", defined(text, "sectors"))))
    assert seen.marked("error") == ["return stride"]
    assert len(seen.lines) == 2  # the one before it is a single line


def test_checking_needs_neither_numba_nor_matplotlib() -> None:
    script = (
        "import sys, course_lib\n"
        "class Not:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('numba', 'matplotlib'):\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Not())\n"
        "course_lib.check('sectors', None)\n"
        "sys.path.insert(0, sys.argv[1]); from plain_sectors import sectors\n"
        "course_lib.check('sectors', sectors)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(Path(__file__).parent)],
        cwd=ROOT, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "sectors: passed" in done.stdout


# --- where it is read ---------------------------------------------------------------------------


@pytest.mark.parametrize(("medium", "link"), [
    (NOTEBOOK, 'href="../notebooks/01_where_numbers_live.ipynb"'),
    (PAGE, 'href="../notebooks/01_where_numbers_live.html"'),
    (COLAB, "lesson 01"),
])  # fmt: skip
def test_the_next_lesson_is_where_the_medium_has_it(medium: Medium, link: str) -> None:
    verdict = verdict_of(Report("mat_add"), EXERCISES["mat_add"], None, medium)
    html = page.html_of(verdict)
    assert link in html and ("href" in html) == bool(medium.address)


def test_marks_are_facts_of_the_findings() -> None:
    found = [
        finding("race-read-after-write", "cell x is read", 4, "look", other_line=2),
        finding("bank-conflict", "it is slow", 3, other_line=3),
        finding("wrong-result", "no line", None),
        finding("wrong-index", "elsewhere", 40),
    ]
    shown = marks(found, "a\nb\nc\nd")
    assert [(each.line, each.severity, each.hint) for each in shown] == [
        (2, "other", ""), (3, "warning", ""), (4, "error", "look"),
    ]  # fmt: skip
    assert shown[0].title == "see line 4" and shown[2].message == "Cell x is read"
