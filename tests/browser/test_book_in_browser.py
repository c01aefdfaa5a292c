"""The book from a plain file server: from elsewhere nothing but Python; figures alive, search.

Sites that hold their own Pyodide ask nobody else: see test_live_cells_in_browser.
"""

import functools
import http.server
import threading
from collections.abc import Iterator

import pytest
from cards import FIGURES, QUICK_CHECKS, answer, look, move_first_control, quick_checks_of, started
from live_site import BOOK, Silent

from course_lib.curriculum import LESSONS
from course_lib.tab.pyodide import CDN


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where a plain file server shows the book that the step before has built."""
    assert (BOOK / "index.html").exists(), "build it: python3 course.py book --out executed/book"
    handler = functools.partial(Silent, directory=BOOK)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def requests(page, address) -> list[str]:
    """Everything that the page asks for from elsewhere, as it asks, but Python, once it is idle."""
    asked: list[str] = []

    def note(request) -> None:
        if not request.url.startswith((address, "data:", "blob:", CDN)):
            asked.append(request.url)

    page.on("request", note)
    page.on("pageerror", lambda error: asked.append(f"error: {error}"))
    return asked


IN_JUPYTERLAB = ("05", "07")  # tried there: see test_lessons_in_browser
PAGES = [
    pytest.param(each, marks=pytest.mark.long) if each.number in IN_JUPYTERLAB else each
    for each in LESSONS
]


@pytest.mark.parametrize("lesson", PAGES, ids=lambda each: each.number)
def test_a_page_of_the_book_is_alive(page, address, requests, lesson) -> None:
    page.goto(f"{address}/notebooks/{lesson.stem}.html")
    for figure in started(page, FIGURES):
        before = look(figure)
        move_first_control(figure)
        assert look(figure)[0] != before[0]
    asked = quick_checks_of(lesson)
    checks = started(page, QUICK_CHECKS) if asked else []
    assert len(checks) == asked
    assert all(answer(each) for each in checks[:1])
    assert requests == []


def test_a_reader_goes_from_page_to_page_and_searches(page, address, requests) -> None:
    page.goto(address)
    page.get_by_role("link", name=LESSONS[0].title).first.click()
    assert LESSONS[0].title in page.locator("article h1").inner_text()
    page.locator("a.right-next").click()
    page.locator("a.left-prev").click()
    assert LESSONS[0].title in page.locator("article h1").inner_text()
    page.goto(f"{address}/search.html?q=wavefronts")
    page.locator("#search-results li").first.wait_for()
    assert requests == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_figure_follows_the_theme(page, address, scheme) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{address}/notebooks/05_shared_memory_tiling.html")
    figure = started(page, FIGURES)[0]
    ink = figure.evaluate("card => getComputedStyle(card).color")
    lightness = sum(int(part) for part in ink.removeprefix("rgb(").rstrip(")").split(",")[:3])
    assert (lightness < 300) == (scheme == "light"), ink
