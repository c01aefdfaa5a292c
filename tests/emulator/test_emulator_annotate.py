"""The annotated source: right numbers on whole lines, readable anywhere, nothing from outside."""

import subprocess
import sys
from dataclasses import fields
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from emulator_helpers import HEADER, as_program, launch, line_of, run

from course_lib.emulator import Counters, Profile
from course_lib.emulator.profile import annotate

VOID = {"br", "hr", "img", "input", "link", "meta"}


class Page(HTMLParser):
    """Checks that tags close, and collects the table's cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert tag not in VOID
        self.open.append(tag)
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data

    def row(self, number: int) -> dict[str, str]:
        """The cells of a line of the kernel, by the table's headings."""
        (found,) = [row for row in self.rows if row[-2] == str(number)]
        return dict(zip(self.rows[0], found, strict=True))


PROGRAM = as_program(
    """
    tile = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    tile[2 * i] = out[i]
    cuda.syncthreads()
    if i < 3 and i < out.size:  # <script>alert('&amp;')</script>
        out[i] = tile[2 * i] * float32(2)
    """
)


@pytest.fixture(scope="module")
def profile() -> Profile:
    return launch(PROGRAM, 2, 32, np.ones(64, np.float32))


def test_each_line_has_its_counts(profile):
    page = Page(annotate.as_html(profile))
    store = page.row(line_of(PROGRAM, "tile[2 * i] = out"))
    assert store["sectors loaded"] == "8"
    assert store["shared wavefronts"] == "4"
    assert store["bank conflicts"] == "2"
    assert store["FLOP"] == store["sectors stored"] == ""
    double = page.row(line_of(PROGRAM, "out[i] = tile"))
    assert double["FLOP"] == "6"
    assert double["shared wavefronts"] == "2"
    assert double["source"].strip() == "out[i] = tile[2 * i] * float32(2)"
    assert page.rows[-1][: len(page.rows[0]) - 2] == [
        f"{column.of(profile):,}" for column in annotate.COLUMNS
    ]


def test_the_source_is_text_and_nothing_comes_from_outside(profile):
    text = annotate.as_html(profile)
    page = Page(text)
    assert "<script>alert('&amp;')</script>" in "".join(page.words)
    names = {name for _, attributes in page.tags for name in attributes}
    allowed = "div table caption thead tbody tfoot tr th td b ul li p"
    assert {tag for tag, _ in page.tags} <= set(allowed.split())
    assert names <= {"style", "scope", "title", "colspan", "role", "tabindex", "aria-label"}
    assert "url(" not in text
    assert "http" not in text


def test_the_table_can_be_read_aloud(profile):
    page = Page(annotate.as_html(profile))
    scopes = [attributes.get("scope") for tag, attributes in page.tags if tag == "th"]
    assert scopes.count("col") == len(page.rows[0])
    assert scopes.count("row") == len(annotate.lines_of(profile)) + 1
    assert "".join(page.words).count("kernel: 64 threads") == 1
    # What a bar shows is said in words, too.
    line = line_of(PROGRAM, "tile[2 * i] = out")
    assert f"6 wavefronts of shared memory, 67 % of them at line {line}." in page.words
    region = page.tags[0][1]
    assert region["role"] == "region"
    assert "kernel" in region["aria-label"]


def test_each_column_shown_has_its_line_in_the_legend(profile):
    plain = run("out[cuda.grid(1)] = float32(1)", 1, 32, np.zeros(32, np.float32))
    for each, shown in ((profile, annotate.COLUMNS), (plain, annotate.COLUMNS[1:2])):
        page, lines = Page(annotate.as_html(each)), annotate.as_text(each).splitlines()
        for column in annotate.COLUMNS:
            said = column in shown
            assert page.words.count(f": {column.meaning}") == said
            assert lines.count(f"{column.short:>10}: {column.meaning}") == said
            assert len(column.meaning) < 88 and "\n" not in column.meaning


def test_a_profile_as_a_cells_value_is_the_table(profile):
    from IPython.core.formatters import DisplayFormatter

    formats, _ = DisplayFormatter().format(profile)
    assert formats["text/html"] == annotate.as_html(profile)
    assert formats["text/plain"] == repr(profile)


def test_findings_stand_under_their_line():
    program = as_program("s = cuda.shared.array(32, float32)\nout[0] = s[0]")
    profile = launch(program, 1, 1, np.zeros(1, np.float32))
    page = Page(annotate.as_html(profile))
    line = line_of(program, "out[0]")
    place = next(at for at, row in enumerate(page.rows) if row[-2] == str(line))
    assert "✗ error uninitialised-read" in page.rows[place + 1][-1]
    assert "uninitialised-read" in annotate.as_text(profile).splitlines()[-1]


def test_only_functions_that_ran_are_shown_and_these_whole():
    program = HEADER + (
        "def unused(x):\n    return x\n\n\n"
        "@cuda.jit(device=True)\ndef helper(x):\n    # a comment\n    return x + float32(1)\n\n\n"
        "@cuda.jit\ndef kernel(out):\n    '''Words.'''\n    out[0] = helper(out[0])\n    return\n"
    )
    profile = launch(program, 1, 1, np.zeros(1, np.float32))
    shown = [line.text for line in annotate.lines_of(profile)]
    assert "    # a comment" in shown
    assert shown[-1] == "    return"
    assert "    '''Words.'''" in shown
    assert shown.count("@cuda.jit") == 1
    assert "def unused(x):" not in shown
    text = annotate.as_text(profile)
    assert f"{line_of(program, 'return x + float')}      return x + float32(1)" in text


def test_a_terminal_gets_text(profile, capsys):
    profile.show()
    assert capsys.readouterr().out == annotate.as_text(profile) + "\n"


def test_a_notebook_gets_both(profile, monkeypatch):
    shown = []
    monkeypatch.setattr(annotate, "_notebook_display", lambda: lambda *a, **k: shown.append((a, k)))
    profile.show()
    ((bundle,), options) = shown[0]
    assert options == {"raw": True}
    assert bundle == {
        "text/html": annotate.as_html(profile),
        "text/plain": annotate.as_text(profile),
    }


def test_ipython_is_used_where_it_runs_and_never_loaded():
    program = (
        "import sys\n"
        "from course_lib.emulator.profile import annotate\n"
        "assert 'IPython' not in sys.modules\n"
        "assert annotate._notebook_display() is None\n"
        "assert 'IPython' not in sys.modules\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "assert annotate._notebook_display() is None\n"
        "InteractiveShell.instance()\n"
        "assert annotate._notebook_display().__name__ == 'display'\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_every_counter_is_in_the_docs_with_its_metric():
    page = (Path(__file__).parents[2] / "docs" / "counters.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1].strip(" `") for line in page.splitlines() if line.startswith("| `")]
    names = {each.name for each in fields(Counters)}
    names |= {name for name, each in vars(Counters).items() if isinstance(each, property)}
    assert len(rows) == len(set(rows))
    assert names - {"global_store_sectors_per_request"} == set(rows)
