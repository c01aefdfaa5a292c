"""The book's pages: the first one, the playground's, and notebooks without what needs a session."""

import copy
import html
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from every_case import every_case
from lesson_rules.shown import ShownPiece, in_order
from lesson_rules.spoilers import spoilt

from course_lib import measurements
from course_lib.book import site
from course_lib.book.playground import EXAMPLES, SMOOTH, holder, playground_page, report_on
from course_lib.book.site import SIZE, front_page
from course_lib.building.generated import badge, launch_cell, setup_cell
from course_lib.building.notebook import code, markdown, new, read, source
from course_lib.building.project import Project, open_project
from course_lib.curriculum import LESSONS
from course_lib.questions.kinds import Choice, Choose, Number
from course_lib.tab.requests import answer

ROOT = Path(__file__).resolve().parents[2]
PROJECT = open_project(ROOT)
WITH_ADDRESS = replace(PROJECT, repository="somebody/ladder")
LESSON = next(each for each in LESSONS if each.exercises)


def lesson_of(project: Project) -> dict:
    picture = code("figures.ladder()", "figure")
    picture["outputs"] = [
        {
            "output_type": "display_data",
            "data": {"image/png": "aGVsbG8=", "text/plain": "a ladder"},
            "metadata": {"image/png": {"alt": "a ladder"}},
        }
    ]
    return new(
        [
            launch_cell(project, LESSON, "notebooks"),
            setup_cell(project),
            picture,
            markdown(f"See [lesson 02](02_naive_matmul.ipynb) ([Colab]({project.colab('x')}))."),
            code("print(1)"),
        ]
    )


@pytest.mark.parametrize("project", [PROJECT, WITH_ADDRESS], ids=["no address", "address"])
def test_setup_badge_and_colab_links_are_left_out(project: Project) -> None:
    notebook = lesson_of(project)
    before = copy.deepcopy(notebook)
    cells = site.page(notebook)["cells"]
    text = "\n".join(map(source, cells))
    assert "course_lib.start(" not in text and "colab" not in text.lower()
    assert "badge" not in text
    assert text.startswith(f"# {LESSON.number} · {LESSON.title}\n")
    assert "[lesson 02](02_naive_matmul.ipynb)." in text
    assert len(cells) == len(before["cells"]) - 1
    assert notebook == before, "the notebook itself must stay as it is"


def test_a_cell_about_the_notebooks_keys_is_left_out() -> None:
    cells = [markdown("Shift+Enter runs a cell.", "notebook-only"), markdown("A kernel.")]
    assert list(map(source, site.page(new(cells))["cells"])) == ["A kernel."]


def test_the_badge_that_is_taken_out_is_the_one_that_is_put_in() -> None:
    assert site._BADGE.sub("", badge(PROJECT, "notebooks/x.ipynb") + "\n\nmore") == "more"


def test_a_picture_keeps_its_words() -> None:
    picture = site.page(lesson_of(PROJECT))["cells"][1]
    assert picture["metadata"]["mystnb"] == {"image": {"alt": "a ladder"}}
    assert picture["metadata"]["tags"] == ["figure"]


class Picture:
    alt = 'four "threads"'

    def png(self) -> bytes:
        return b"dots"


NUMBER = Number(
    id="00-writers",
    asks="How many write?",
    unit="threads",
    value=lambda: 4,
    reveal="All {answer} do.",
    figure=Picture,
)
CHOICE = Choose(id="00-which", asks="Which?", choices=(
    Choice("This.", "No."),
    Choice("That.", "Yes.", right=True),
), reveal="Nothing else is.")  # fmt: skip


def test_a_prediction_becomes_a_card_with_its_reveal(monkeypatch) -> None:
    known = {each.id: each for each in (NUMBER, CHOICE)}
    monkeypatch.setattr(site, "find", known.__getitem__)
    cells = [markdown("**Predict.** How many write?", "question", id="question-00-writers")]
    cells += [code(f'course_lib.predict("{name}", ...)', "predict", id=name) for name in known]
    number, choice = site.page(new(cells))["cells"]
    assert number["metadata"]["tags"] == ["predict", "remove-input"]
    html = number["outputs"][0]["data"]["text/html"]
    assert (
        "How many write?" in html and "<summary>Your guess first; then open this</summary>" in html
    )
    assert "<p>It is 4.</p>" in html
    picture = '<img src="data:image/png;base64,ZG90cw==" alt="four &quot;threads&quot;">'
    assert f'<div class="told"><p>All 4 do.</p>{picture}</div>' in html
    html = choice["outputs"][0]["data"]["text/html"]
    assert "<p>It is b: That.</p>" in html and "a) This." in html


def test_a_task_and_its_check_become_one_live_cell() -> None:
    cells = [
        code("# TASK put_seven\n@cuda.jit\ndef put_seven(out):\n    ...", "task", id="task"),
        code('course_lib.check("put_seven", put_seven)', "task-check", id="check"),
        code("# EXERCISE mat_add\ndef mat_add(A, B, C):\n    ...", "exercise", id="exercise"),
        code('course_lib.check("mat_add", mat_add)', "check", id="checked"),
        code("# TASK put_seven", id="no answer"),
    ]
    task, exercise, other = site.page(new(cells))["cells"]
    assert (task["cell_type"], exercise["cell_type"], other) == ("markdown", "markdown", cells[-1])
    assert 'class="ml ml-live" data-id="put_seven" data-lesson="00"' in source(task)
    assert "```python\n@cuda.jit\ndef put_seven(out):\n    ...\n```" in source(task)
    assert "```python\n# EXERCISE mat_add\ndef mat_add" in source(exercise), "handed in with it"


def test_code_in_the_head_of_a_fold_is_code() -> None:
    fold = markdown("<details>\n<summary>Where may an `if` stand?</summary>\n\n`if`\n\n</details>")
    [cell] = site.page(new([fold]))["cells"]
    assert "<summary>Where may an <code>if</code> stand?</summary>\n\n`if`" in source(cell)


def test_a_wanted_picture_stands_without_the_call_that_drew_it() -> None:
    [cell] = site.page(new([code("figures.wanted('put_seven')", "task-picture")]))["cells"]
    assert cell["metadata"]["tags"] == ["task-picture", "remove-input"]


@pytest.mark.slow
def test_sources_for_sphinx(tmp_path: Path) -> None:
    site.write_sources(WITH_ADDRESS, tmp_path)
    assert {path.stem for path in (tmp_path / "notebooks").iterdir()} == {
        each.stem for each in LESSONS
    }
    options = site.theme_options(WITH_ADDRESS)
    assert options["launch_buttons"]["colab_url"] and "launch_buttons" not in site.theme_options(
        PROJECT
    )
    configuration: dict = {}
    exec((tmp_path / "conf.py").read_text(), configuration)
    assert configuration["html_theme_options"] == options
    assert configuration["nb_execution_mode"] == "off"
    assert (tmp_path / "index.md").read_text() == front_page(WITH_ADDRESS)


@every_case(("text", "stays"), [
    ("import numpy as np\nfrom numba import cuda", False),
    ('load_tile = course_lib.yours_or_ours("load_tile", load_tile)', False),
    ("figures.my_ladder()", False),
    ("from numba import cuda\n\nprint(1)", True),
    ("figures.ladder()", True),
    ("%matplotlib inline", True),
    ("", True),
])  # fmt: skip
def test_what_needs_a_session_is_left_out(text: str, stays: bool) -> None:
    assert bool(site.page(new([code(text)]))["cells"]) == stays


NOTEBOOKS_ALONE = re.compile(
    r"Shift\+Enter|\b[Rr]un (?:it|this|that|the (?:next )?cell)\b|\bnew cell\b|\bcell below\b"
)


@every_case(
    "path",
    sorted(each for name in ("notebooks", "exercises") for each in (ROOT / name).glob("*.ipynb")),
    str,
)
@pytest.mark.slow
def test_no_page_tells_its_reader_what_only_a_notebook_can_do(path: Path) -> None:
    """Prose holds in both; a cell that is about the notebook's own keys is left out of the book."""
    for cell in site.page(read(path))["cells"]:
        if cell["cell_type"] == "markdown":
            said = NOTEBOOKS_ALONE.search(source(cell))
            assert said is None, said


FRONT = front_page(PROJECT)


def test_it_leads_to_every_lesson_and_exercise() -> None:
    for lesson in PROJECT.lessons:
        assert f"](notebooks/{lesson.stem}.ipynb)" in FRONT
        assert f"\nnotebooks/{lesson.stem}\n" in FRONT
        assert (f"\nexercises/{lesson.stem}\n" in FRONT) == bool(lesson.exercises)


def test_it_says_how_to_get_the_course_where_that_has_an_address() -> None:
    assert "git clone" not in FRONT
    assert "git clone https://github.com/somebody/ladder\n" in front_page(WITH_ADDRESS)


def test_the_ladder_is_what_was_measured_last() -> None:
    newest = measurements.latest()
    assert newest is not None
    speeds = newest.speeds(SIZE, ("float32",))
    shown = re.findall(r"<code>(\w+)</code>.*?--share: ([\d.]+).*?>(\d+%)<", FRONT)
    expected = [
        (name, f"{share:.4f}", f"{share:.0%}")
        for name, share in speeds.of_cublas.items()
        if not name.endswith("_while")
    ]
    assert shown == expected[::-1]
    assert "NVIDIA H200" in FRONT and newest.date[:10] in FRONT


@pytest.mark.slow
def test_it_gives_no_prediction_away() -> None:
    front = ShownPiece("", "the book's first page", FRONT)
    assert list(spoilt([front, *in_order(PROJECT.root)])) == []


MARKED = {  # the lines at which the judge has something to say, by the kernel's name
    "smooth": {"near[t] = x[i]", "y[i] = (near[left] + near[t] + near[right]) / float32(3)"},
    "transpose": {"B[left + ty, top + tx] = tile[tx, ty]"},
    "histogram": {"counts[x[i]] += 1"},
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.kernel)
def test_an_example_runs_and_is_told_what_its_title_says(example) -> None:
    request = example.as_request()
    answered = json.loads(answer(json.dumps(request)))
    assert answered["ok"], answered
    lines = request["text"].splitlines()
    marked = {lines[each["line"] - 1].strip() for each in answered["marks"]}
    assert marked == MARKED.get(example.kernel, set())
    assert all(each["changed"] for each in answered["outputs"][-1:])


def test_the_mended_example_of_the_first_page_has_no_findings() -> None:
    request = SMOOTH.as_request()
    barrier = "    cuda.syncthreads()\n    left"
    request["text"] = request["text"].replace("    left", barrier)
    answered = json.loads(answer(json.dumps(request)))
    assert answered["ok"] and not answered["marks"]


def test_the_page_holds_every_example_and_the_first_one_to_read() -> None:
    data = re.search(r'<script type="application/json">(.*?)</script>', playground_page())
    assert data is not None
    assert json.loads(data[1]) == [each.as_data() for each in EXAMPLES]
    assert html.escape(EXAMPLES[0].as_data()["text"], quote=True) in playground_page()


def test_the_first_page_shows_the_report_before_anything_runs() -> None:
    assert report_on(SMOOTH) in front_page_of_this_course()
    assert "hidden" not in holder([SMOOTH], report="<p>x</p>").split('class="report"')[1][:60]


def front_page_of_this_course() -> str:
    from pathlib import Path

    from course_lib.building.project import open_project

    return front_page(open_project(Path(__file__).resolve().parents[2]))
