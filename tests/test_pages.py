"""Pages for people: links, commands, what they say is printed, and one word for one thing."""

import linecache
import re
import runpy
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from child import python
from every_case import every_case
from lesson_rules.shown import words_of

from course_lib.building.notebook import markdown_cells, read, source
from course_lib.commands.front_door import COMMANDS
from course_lib.curriculum import LESSONS, TASKS, lesson
from course_lib.host import runtime
from course_lib.questions import of_lesson

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = sorted([*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/*.md")])
# The page, and commands that it names among others.
NAMED = {
    "README.md": {"lab", "test"},
    "CONTRIBUTING.md": {"test"},
    "docs/instructors.md": {"release", "grade", "build", "lab"},
}


def text_of(page: str | Path) -> str:
    return (REPOSITORY / page).read_text(encoding="utf-8")


def prose_of(page: Path) -> str:
    return re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL)


def anchors_of(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", prose_of(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in titles}


@pytest.mark.workshop
@every_case("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"`[^`\n]*`", "", prose_of(page))
    for link in re.findall(r"(?<!\\)\]\((?!https?:)([^)\s]+)\)", prose):
        file, _, anchor = link.partition("#")
        there = page.parent / file if file else page
        assert there.exists(), link
        assert not anchor or there.suffix != ".md" or anchor in anchors_of(there), link


@pytest.mark.workshop
@every_case("page", NAMED)
def test_commands_exist(page: str) -> None:
    assert NAMED[page] <= set(re.findall(r"course\.py ([a-z]\w*)", text_of(page))) <= set(COMMANDS)


@pytest.mark.workshop
def test_the_pages_pictures_are_small_and_have_the_words_of_the_figures():
    assert "images/class_report.png" in text_of("docs/instructors.md")
    assert (REPOSITORY / "docs/images/class_report.png").stat().st_size < 100_000
    from course_lib.figures.stored import STORED, markdown

    readme = text_of("README.md").splitlines()
    assert set(map(markdown, STORED)) == {line for line in readme if line.startswith("![The ")}
    assert all((REPOSITORY / path).stat().st_size > 10_000 for path in STORED)


@pytest.mark.workshop
def test_the_readmes_example_prints_what_it_says(tmp_path, capsys):
    ((code, printed),) = PRINTS.findall(text_of("README.md"))
    script = tmp_path / "example.py"
    script.write_text(code, encoding="utf-8")
    runtime.stop()  # another test may have left it started
    runpy.run_path(str(script))
    runtime.stop()
    assert capsys.readouterr().out == printed


PRINTS = re.compile(r"```python\n(.*?)```\n\nIt prints:\n\n```\n(.*?)```", re.DOTALL)
PAGE = text_of("docs/own_kernels.md")
PROGRAMS = PRINTS.findall(PAGE)
((TESTS, REPORT),) = re.findall(
    r"```python\n([^`]*?)```\n\nthe report has\n\n```\n(.*?)```", PAGE, re.DOTALL
)


@every_case("number", range(2))
def test_a_program_prints_what_stands_there(tmp_path, monkeypatch, capsys, number):
    code, printed = PROGRAMS[number]
    (tmp_path / "program.py").write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runtime.stop()  # another test may have left it started
    linecache.cache.pop("program.py", None)  # of the program before
    runpy.run_path("program.py")
    assert capsys.readouterr().out == printed


@pytest.mark.slow
def test_the_report_of_a_test_suite(tmp_path: Path) -> None:
    (tmp_path / "test_blocks.py").write_text(TESTS, encoding="utf-8")
    options = ("-p", "no:cacheprovider", "-p", "course_lib.pytest_plugin", "--cuda-emulate")
    ran = python("-m", "pytest", *options, cwd=tmp_path, status=1, COLUMNS="400")
    assert REPORT in ran.stdout


def test_every_program_is_run_and_the_options_are_those_of_the_plugin() -> None:
    from course_lib import pytest_plugin

    assert len(PROGRAMS) + 1 == PAGE.count("```python")
    named = set(re.findall(r"--cuda-emulate[a-z-]*", PAGE))
    assert named == {pytest_plugin.OPTION, pytest_plugin.STEPS, pytest_plugin.WARN}


ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| (\d\d[a-z]?) \|$", re.MULTILINE)
CELLS = markdown_cells(read(REPOSITORY / "notebooks" / f"{lesson('12').stem}.ipynb"))
GLOSSARY = "\n".join(source(cell) for cell in CELLS if cell["id"].startswith("words-"))
WORDS = [
    (word.strip().strip("`"), number)
    for words, _, number in ROW.findall(GLOSSARY)
    for word in words.split(",")
]


@cache
def told_in(number: str) -> str:
    """Everything that a lesson says to its reader, but for the words of lesson 12 themselves."""
    cells = read(REPOSITORY / "notebooks" / f"{lesson(number).stem}.ipynb")["cells"]
    said = [source(cell) for cell in cells if not cell["id"].startswith("words-")]
    said += [text for each in of_lesson(number).values() for text in words_of(each)]
    tasks = [each for each in TASKS.values() if each.lesson == number]
    said += [f"{each.meaning} {each.given} {' '.join(each.hints)}" for each in tasks]
    return "\n".join(said).casefold()


@pytest.mark.workshop
def test_every_table_is_read() -> None:
    assert len(WORDS) > 45 and ("mma", "10") in WORDS


@pytest.mark.workshop
@every_case(("word", "number"), WORDS)
def test_a_word_is_met_in_the_lesson_that_is_named(word: str, number: str) -> None:
    stem = word.casefold().removesuffix("ing")
    assert stem in told_in(number), f"lesson {number} never says {word!r}"


# What a word for one thing would be a second word for another.
SECOND_WORDS = {
    # Banks serve one wavefront after the other; a kernel passes a check, and data pass through L1.
    "wavefront": re.compile(r"\b(?:\d+|one|two|four|many|each|every|extra|per|the) pass(?:es)?\b"),
    "iteration": re.compile(
        r"\b(?:each|every|next|first|last|one|of the) turns?\b|\bturns? of (?:the|its) loop|"
        r"go(?:es)? round (?:its|the) loop"),
}  # fmt: skip
# Over all keys at once, as the literature says.
OTHER_THINGS = re.compile(r"one pass\b.*(?:softmax|row|tiles)|two passes over|in one pass")


def said_by_the_course() -> Iterator[tuple[str, str]]:
    for each in LESSONS:
        for folder in ("notebooks", "exercises") if each.exercises else ("notebooks",):
            cells = markdown_cells(read(REPOSITORY / folder / f"{each.stem}.ipynb"))
            yield from ((f"{folder} {each.number} {cell['id']}", source(cell)) for cell in cells)
        for name, question in of_lesson(each.number).items():
            yield from ((name, text) for text in words_of(question))
    for task in TASKS.values():
        yield task.id, "\n".join((task.meaning, task.compared, task.answer, *task.hints))


@pytest.mark.workshop
@pytest.mark.parametrize("term", SECOND_WORDS)
def test_one_thing_has_one_word(term: str) -> None:
    lines = ((where, line) for where, text in said_by_the_course() for line in text.splitlines())
    second = ((where, line) for where, line in lines if SECOND_WORDS[term].search(line))
    assert [each for each in second if not OTHER_THINGS.search(each[1])] == []
