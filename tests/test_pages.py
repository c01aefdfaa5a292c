"""Pages for people: their links lead somewhere, their commands exist, README's example runs."""

import re
import runpy
from pathlib import Path

import pytest
from every_case import every_case

from course_lib.commands.front_door import COMMANDS
from course_lib.host import runtime

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = sorted([*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/*.md")])
# The page, and commands that it names among others.
NAMED = {
    "README.md": {"lab", "test"},
    "CONTRIBUTING.md": {"test"},
    "docs/instructors.md": {"release", "grade", "build", "lab"},
}

pytestmark = pytest.mark.workshop


def text_of(page: str | Path) -> str:
    return (REPOSITORY / page).read_text(encoding="utf-8")


def prose_of(page: Path) -> str:
    return re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL)


def anchors_of(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", prose_of(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in titles}


@every_case("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"`[^`\n]*`", "", prose_of(page))
    for link in re.findall(r"(?<!\\)\]\((?!https?:)([^)\s]+)\)", prose):
        file, _, anchor = link.partition("#")
        there = page.parent / file if file else page
        assert there.exists(), link
        assert not anchor or there.suffix != ".md" or anchor in anchors_of(there), link


@every_case("page", NAMED)
def test_commands_exist(page: str) -> None:
    assert NAMED[page] <= set(re.findall(r"course\.py ([a-z]\w*)", text_of(page))) <= set(COMMANDS)


def test_the_pages_pictures_are_small_and_have_the_words_of_the_figures():
    assert "images/class_report.png" in text_of("docs/instructors.md")
    assert (REPOSITORY / "docs/images/class_report.png").stat().st_size < 100_000
    from course_lib.figures.stored import STORED, markdown

    readme = text_of("README.md").splitlines()
    assert set(map(markdown, STORED)) == {line for line in readme if line.startswith("![The ")}
    assert all((REPOSITORY / path).stat().st_size > 10_000 for path in STORED)


def test_the_readmes_example_prints_what_it_says(tmp_path, capsys):
    found = re.search(
        r"```python\n(.*?)```\n\nIt prints:\n\n```\n(.*?)```", text_of("README.md"), re.DOTALL
    )
    code, printed = found.groups()
    script = tmp_path / "example.py"
    script.write_text(code, encoding="utf-8")
    runtime.stop()  # another test may have left it started
    runpy.run_path(str(script))
    runtime.stop()
    assert capsys.readouterr().out == printed
