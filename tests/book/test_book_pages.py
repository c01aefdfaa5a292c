"""A page of the book: the notebook without what only a running notebook needs."""

import copy
import re
from dataclasses import replace
from pathlib import Path

import pytest
from every_case import every_case

from course_lib.book import site
from course_lib.book.site import front_page
from course_lib.building.generated import badge, launch_cell, setup_cell
from course_lib.building.notebook import code, markdown, new, read, source
from course_lib.building.project import Project, open_project
from course_lib.curriculum import LESSONS
from course_lib.questions.kinds import Choice, Choose, Number

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
