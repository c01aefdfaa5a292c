"""The mechanism of figures to play with: states that are complete, small, safe and the same."""

import json
import re

import IPython.display
import pytest
from child import python
from every_case import every_case
from matplotlib.figure import Figure

from course_lib import figures
from course_lib.figures.interactive import Control, Interactive, Layer, Scene
from course_lib.figures.interactive.layers import DIGITS
from course_lib.web import read_beside

STILL = figures.Picture(Figure(), "a still that stands alone")


def scene() -> Scene:
    drawing = Scene(200, 100)
    drawing.rect(0, 0, 10, 10, css="cell", name="box", label="the box & more")
    drawing.text(5, 50, "at rest", name="note")
    drawing.line(0, 0, 9, 9, name="line")
    return drawing


def controls() -> list[Control]:
    return [Control("step", "step", ("0", "1", "2"), start=1, kind="steps"),
            Control("gpu", "GPU", ("T4", "L4"), kind="choice")]  # fmt: skip


def box_moves(step: int) -> dict:
    return {"box": {"x": 10 * step, "class": "lit"}} if step else {}


def note_says(step: int, gpu: int) -> dict:
    return {"note": {"text": f"{step} on {'T4 L4'.split()[gpu]} </script>"}}


WORDS = (Layer(["step"], lambda step: f"Step {step}." if step else ""),
         Layer([], {(): "Always <b>."}))  # fmt: skip


def figure(**changes) -> Interactive:
    parts = {
        "title": "A demo", "scene": scene(), "controls": controls(),
        "layers": [Layer(["step"], box_moves), Layer(["step", "gpu"], note_says)],
        "words": WORDS, "draw_still": lambda: STILL, "alt": "a box that moves",
        "clicks": {"box": ("step", 2)},
    }  # fmt: skip
    return Interactive(**{**parts, **changes})


@pytest.fixture(scope="module")
def demo() -> Interactive:
    return figure()


def data_of(html: str) -> dict:
    return json.loads(re.search(r'class="ml-data">(.*?)</script>', html, re.DOTALL)[1])


def look_up(column: list, row: int):
    """What player.js does with a packed column."""
    _, _, values, width, codes, *paged = column

    def number(text: str, size: int, at: int) -> int:
        total = 0
        for digit in text[at * size : (at + 1) * size]:
            total = total * len(DIGITS) + DIGITS.index(digit)
        return total

    if paged:
        page, size, pages = paged
        row = number(pages, size, row // page) * page + row % page
    return values[number(codes, width, row)]


def test_the_page_holds_the_states_that_python_computed(demo):
    data = data_of(demo.html())
    for step in range(3):
        for gpu in range(2):
            rows = {(0,): step, (0, 1): step * 2 + gpu, (): 0}
            for layer in data["layers"]:
                row = rows[tuple(layer["controls"])]
                for column in layer["columns"]:
                    expected = demo.state(step=step, gpu=gpu)[column[0]][column[1]]
                    assert look_up(column, row) == expected
            said = [look_up(w["columns"][0], rows[tuple(w["controls"])]) for w in data["words"]]
            assert " ".join(filter(None, said)) == demo.sentence(step=step, gpu=gpu)


def test_the_html_is_self_contained_safe_and_native(demo):
    svg = demo.html().split("<svg")[1].split("</svg>")[0]
    assert 'class="lit"' in svg and 'x="10"' in svg and "1 on T4 &lt;/script&gt;" in svg
    assert '<div class="ml-controls" hidden>' in demo.html()
    assert "Step 1. Always &lt;b&gt;.</p>" in demo.html()
    html = demo.html()
    assert html == figure().html()
    assert not re.search(r"https?:|src=|@import|innerHTML|insertAdjacent|fetch\(|\beval\(", html)
    assert html.lower().count("</script") == 2
    assert demo.size_bytes == len(html.encode()) < 30_000
    assert 'type="range" min="0" max="2" step="1" value="1"' in html
    assert 'aria-label="step" aria-valuetext="1"' in html
    assert "<option selected>T4</option><option>L4</option>" in html
    assert html.count('<button type="button"') == 3
    assert 'aria-live="polite"' in html
    assert 'aria-label="the box &amp; more"' in html and "<title>the box &amp; more</title>" in html


def test_a_cell_shows_the_still_first_and_a_page_of_its_own_is_saved(demo, monkeypatch, tmp_path):
    shown = []
    monkeypatch.setattr(IPython.display, "display", lambda data, *_, **__: shown.append(data))
    demo._ipython_display_()
    assert "image/png" in shown[0] and "text/html" in shown[-1]
    assert shown[-1]["text/plain"] == 'Interactive figure "A demo". Controls: step; GPU.'
    assert demo.html() in demo.save(tmp_path / "demo.html").read_text(encoding="utf-8")


def test_rules_reach_nothing_but_figures_and_motion_those_who_do_not_mind():
    css = re.sub(r"/\*.*?\*/", "", read_beside("course_lib.figures.interactive", "player.css"),
                 flags=re.DOTALL)  # fmt: skip
    selectors = [each.strip() for each in re.findall(r"([^{}]+)\{", css)]
    assert all(each.startswith((".ml-figure ", "@media")) for each in selectors)
    css = read_beside("course_lib.figures.interactive", "player.css")
    before, after = css.split("@media (prefers-reduced-motion: no-preference)")
    assert "transition:" not in before.replace("transition: none", "") and "transition:" in after


REFUSED = {
    "has no state": {"layers": [Layer(["step"], {(0,): {}, (1,): {}})]},
    "no such positions": {"layers": [Layer(["gpu"], {(n,): {} for n in range(3)})]},
    "which is no control": {"layers": [Layer(["tile"], {})]},
    "no such element": {"layers": [Layer([], {(): {"bxo": {"x": 1}}})]},
    "not 'onclick'": {"layers": [Layer([], {(): {"box": {"onclick": "x"}}})]},
    "is no text": {"layers": [Layer([], {(): {"box": {"text": "x"}}})]},
    "does not know the class 'yellow'": {"layers": [Layer([], {(): {"box": {"class": "yellow"}}})]},
    "finite number": {"layers": [Layer([], {(): {"box": {"x": float("nan")}}})]},
    "One line of text": {"layers": [Layer([], {(): {"note": {"text": "a\nb"}}})]},
    "Two layers change 'class' of 'box'": {"layers": [Layer(["step"], box_moves)] * 2},
    "same key": {"controls": [controls()[0], controls()[0]]},
    "one control of steps": {
        "controls": [*controls(), Control("again", "again", ("0", "1"), kind="steps")]
    },
    "to be clicked": {"clicks": {"bxo": ("step", 0)}},
    "does not exist": {"clicks": {"box": ("step", 3)}},
    "more than 300,000": {"words": Layer(["step"], lambda step: f"{step}" * 100_000)},
}


@every_case("message", REFUSED)
def test_a_mistake_is_named_when_the_figure_is_made(message):
    with pytest.raises(ValueError, match=re.escape(message)):
        figure(**REFUSED[message])


def test_controls_names_and_positions_that_cannot_be_are_refused(demo):
    for values, start, kind in ((), 0, "slider"), (("1",), 1, "slider"), (("1",), 0, "dial"):
        with pytest.raises(ValueError):
            Control("step", "step", values, start, kind)
    with pytest.raises(ValueError, match="'box'"):
        scene().circle(1, 1, 1, name="box")
    for positions in ({"step": 3}, {"stpe": 0}, {"step": -1}):
        with pytest.raises(ValueError):
            demo.state(**positions)


@pytest.mark.slow
def test_a_browser_draws_the_figures_of_its_tab_without_matplotlib() -> None:
    script = (
        "import sys\n"
        "class Not:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('numba', 'matplotlib', 'IPython'):\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Not())\n"
        "import course_lib.tab.checks, course_lib.tab.play\n"
        "from course_lib import figures\n"
        "for draw in (figures.explore_banks, figures.explore_sectors, figures.step_through_k):\n"
        "    assert '<svg' in draw().html()\n"
    )
    python("-c", script)
