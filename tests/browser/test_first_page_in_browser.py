"""The book's first page: a newcomer's first verdict, after a reload, and without a network."""

import time
from collections.abc import Iterator
from pathlib import Path

import other_browsers
import pytest
from live_page import RIGHT, WRONG, cell, press, said, write
from live_site import SAVES_DATA, Site
from playwright.sync_api import BrowserContext, Locator, Page, Request, expect

from course_lib.curriculum import LESSONS

FIRST = 300_000  # ms for a start on a busy machine; what hangs ends there
KEPT = "The whole course works offline here"
HAS_MEMORY = """async () => {
  for (const name of await caches.keys()) {
    const kept = await (await caches.open(name)).keys();
    if (kept.some(({ url }) => url.endsWith("/memory"))) return true;
  }
  return false;
}"""


@pytest.fixture
def user(browser) -> Iterator[BrowserContext]:
    """Somebody whose browser has never been here."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    context.set_default_timeout(FIRST)
    yield context
    context.close()


def first_task(page: Page) -> Locator:
    return cell(page, "put_seven")


def is_ready(page: Page, site: Site) -> bool:
    [files] = (site.root / "_static").glob("live-*")
    module = f"{site.address}/_static/{files.name}/python.js"
    ready: bool = page.evaluate("async (module) => (await import(module)).isReady()", module)
    return ready


def until_ready(page: Page, site: Site) -> None:
    deadline = time.monotonic() + FIRST / 1000
    while not is_ready(page, site):
        assert time.monotonic() < deadline, "Python did not start"
        page.wait_for_timeout(100)


def check(live: Locator, text: str) -> None:
    write(live, text)
    press(live, "Check")


def status(live: Locator, words: str, timeout: int = FIRST) -> None:
    said(live, words, timeout)


def test_a_first_visit_judges_outlives_a_reload_and_keeps_the_course(user, judge) -> None:
    """Python starts while one reads; then all is there offline."""
    page = user.new_page()
    page.goto(f"{judge.address}/index.html")
    live = first_task(page)
    until_ready(page, judge)  # nothing was pressed
    check(live, WRONG)
    status(live, "Not yet. Line 3", 2_000)
    page.wait_for_function(HAS_MEMORY)

    page.reload()
    status(live, "Checked before, this same text: Not yet. Line 3", 5_000)
    expect(live.locator(".report")).to_contain_text("Line 3: the wrong element is read or written")
    expect(live.locator(".cm-lint-marker-error")).to_have_count(1)
    live.get_by_role("button", name="Check", exact=True).click()
    status(live, "Line 3", 1_000)
    expect(live.locator(".status")).not_to_contain_text("again", timeout=FIRST)
    check(live, RIGHT)  # by a Python that has started from its kept memory
    status(live, "Passed.")
    expect(live.locator(".status")).not_to_contain_text("before")

    expect(page.locator(".ml-progress .offline")).to_contain_text(KEPT, timeout=FIRST)
    missed: list[str] = []

    def note(request: Request) -> None:
        # Whoever goes on to the next page does not wait, and the service worker asks in vain.
        if request.service_worker is None and "ABORTED" not in (request.failure or ""):
            missed.append(request.url)

    user.on("requestfailed", note)
    judge.go()
    try:
        for lesson in LESSONS:
            page.goto(f"{judge.address}/notebooks/{lesson.stem}.html")
            assert lesson.title in page.locator("article h1").inner_text()
        page.goto(f"{judge.address}/")
        check(first_task(page), RIGHT)
        status(first_task(page), "Passed")
        page.goto(f"{judge.address}/search.html?q=wavefronts")
        page.locator("#search-results li").first.wait_for()
    finally:
        judge.come()
    assert [url for url in missed if "favicon" not in url] == []


def test_who_saves_data_is_asked(user, judge) -> None:
    user.add_init_script(SAVES_DATA)
    asked: list[str] = []
    user.on("request", lambda each: "pyodide" in each.url and asked.append(each.url))
    page = user.new_page()
    page.goto(f"{judge.address}/index.html")
    first_task(page).wait_for()
    page.wait_for_timeout(3_000)
    assert asked == []
    check(first_task(page), RIGHT)
    status(first_task(page), "Passed.")
    offered = page.get_by_role("button", name="Keep the whole course for offline use")
    offered.click()
    expect(page.locator(".ml-progress .offline")).to_contain_text(KEPT, timeout=FIRST)


@pytest.mark.long
@pytest.mark.parametrize("browser_of", [other_browsers.firefox, other_browsers.webkit])
def test_other_browsers_judge_as_chromium_does(browser_of, judge, tmp_path: Path) -> None:
    live = "document.querySelector('.ml-live[data-id=put_seven][data-started]')"
    told = f"{live}.querySelector('.status').textContent"
    try:
        with browser_of(tmp_path) as window:
            window.open(f"{judge.address}/index.html")
            window.until(live, FIRST / 1000)
            window.run(f"{live}.querySelector('.check').click()")
            window.until(f"{told}.includes('No answer yet.')", FIRST / 1000)
            offline = "document.querySelector('.ml-progress .offline').textContent"
            window.until(f"{offline}.includes('{KEPT}')", FIRST / 1000)
            window.open(f"{judge.address}/index.html?again")
            window.until(f"{told}.includes('Checked before')", FIRST / 1000)
    except other_browsers.NotInstalled as missing:
        pytest.skip(str(missing))
