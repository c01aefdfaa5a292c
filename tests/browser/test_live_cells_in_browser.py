"""Live cells: a student types on a page of the book, and is judged in the tab.

A cold start of Python is what costs. So one browser goes through all tests, and keeps its memory.
"""

import json
from collections.abc import Iterator

import pytest
from live_page import (
    EXERCISE,
    FIRST,
    FRONT,
    GIVEN,
    LESSON,
    PLAYGROUND,
    RIGHT,
    WRONG,
    cell,
    holds,
    playground,
    press,
    said,
    write,
)
from live_site import Site
from playwright.sync_api import Browser, BrowserContext, expect

from tests.stored_answers import right_answers_to, wrong_answers_to

ADD_TEN = """\
@cuda.jit
def add_ten(a, out):
    i = cuda.threadIdx.x
    out[i] = a[i] + 10"""
# How often a task was checked and did not pass, as the browser keeps it.
FAILED = """(failures) => {
  const kept = JSON.parse(localStorage.getItem("matmul-ladder-progress") ?? "{}");
  return kept.answers?.put_seven?.failures === failures;
}"""
# A quick machine checks faster than a test can look: the page itself presses Stop when it may.
# An observer runs before the page's next task, so the answer of a quick machine comes too late.
STOP_AT_ONCE = """(cell) => {
  const status = cell.querySelector(".status");
  const stop = cell.querySelector(".stop");
  const observer = new MutationObserver(() => {
    if (!status.textContent.startsWith("Checking") || stop.hidden) return;
    observer.disconnect();
    stop.click();
  });
  observer.observe(cell, { subtree: true, childList: true, characterData: true, attributes: true });
}"""
# As fast as nobody clicks. CodeMirror joins changes that follow each other within so many ms to one
# step of undoing; the two of these would cancel out.
JOINED_WITHIN = 600
BACK_AND_FORTH = """(cell) => {
  for (const name of ["Bring back what I typed", "Reset"]) {
    [...cell.querySelectorAll("button")].find(each => each.textContent.trim() === name).click();
  }
}"""
# A budget of the emulator ends it, after seconds.
MINE = """\
@cuda.jit
def of_my_own(x):
    x[cuda.grid(1)] = 7"""
LONG = """\
@cuda.jit
def matmul_tiled(A, B, C):
    total = float32(0)
    for i in range(1_000_000):
        total += float32(1)
    C[0, 0] = total"""
# Which of its lines is to blame takes seconds to find.
SLOW_TO_EXPLAIN = wrong_answers_to("matmul_tiled")["zero_padding_of_a_missing"]
LOOKING = "Not right yet. Looking for the cause"
# All that the status says, in its order, each once: what a screen reader is told.
NOTE_WHAT_IS_SAID = """(cell) => {
  const status = cell.querySelector(".status");
  window.said = [];
  new MutationObserver(() => window.said.push(status.textContent))
    .observe(status, { childList: true, characterData: true, subtree: true });
}"""


@pytest.fixture(scope="module")
def been_here(browser: Browser) -> Iterator[BrowserContext]:
    """Somebody's browser, new to the first test; to others it has kept the course's Python."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000}, accept_downloads=True)
    context.set_default_timeout(30_000)
    yield context
    context.close()


@pytest.fixture
def user(been_here: BrowserContext, site: Site) -> Iterator[BrowserContext]:
    """That person, who has typed nothing yet."""
    yield been_here
    pages = [page for page in been_here.pages if page.url.startswith(site.address)]
    for page in pages:
        page.evaluate("localStorage.clear()")
    for page in been_here.pages:
        page.close()


def test_live_a_student_s_way_through_a_lesson(user, judge, asked_elsewhere, tmp_path) -> None:
    page = user.new_page()
    page.goto(f"{judge.address}/{LESSON}")
    live = cell(page, "put_seven")

    write(live, WRONG)
    said(live, "about 10 MB, once")
    live.page.keyboard.press("Shift+Enter")
    said(live, "Not yet. Line 3", FIRST)
    expect(live.locator(".report")).to_contain_text("Line 3: the wrong element is read or written")
    marker = live.locator(".cm-gutter-lint .cm-lint-marker-error")
    line = live.locator(".cm-line").nth(2)
    assert abs(marker.bounding_box()["y"] - line.bounding_box()["y"]) < 12

    for failures in (2, 3):
        expect(live.get_by_role("button", name="Show one answer")).to_be_hidden()
        press(live, "Check")
        page.wait_for_function(FAILED, arg=failures)
    press(live, "Show one answer")
    expect(live.locator(".one-answer pre")).to_contain_text("out[2] = 7")

    press(live, "Reset")
    holds(live, GIVEN)
    page.wait_for_timeout(JOINED_WITHIN)
    live.evaluate(BACK_AND_FORTH)
    holds(live, GIVEN)
    page.keyboard.press("Control+z")
    holds(live, WRONG)

    write(live, RIGHT)
    page.keyboard.press("Control+Enter")
    said(live, "Passed.")
    expect(live.locator(".head .passed")).to_be_visible()
    expect(page.locator(".ml-progress .count")).to_contain_text("1 of")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download progress.json").click()
    exported = tmp_path / "progress.json"
    download.value.save_as(exported)
    assert json.loads(exported.read_text())["answers"]["put_seven"]["passed"] is True

    other = cell(page, "add_ten")
    write(other, ADD_TEN)
    press(other, "Check")
    said(other, "Passed.")
    button = other.locator(".figures button").first
    button.click()
    figure = other.frame_locator("iframe").locator(".ml-figure[data-started]")
    expect(figure.locator("svg").first).to_be_visible()
    expect(button).to_have_attribute("aria-pressed", "true")
    shown = figure.evaluate("figure => figure.getBoundingClientRect().height")
    assert abs(other.locator("iframe").bounding_box()["height"] - shown) < 40
    assert (
        figure.evaluate("() => { try { return parent.document.title } catch { return null } }")
        is None
    )

    # From here on, nobody answers at the site's address.
    judge.go()
    try:
        page.reload()
        expect(live.locator(".head .passed")).to_be_visible()
        holds(live, RIGHT)
        page.evaluate("localStorage.clear()")
        page.reload()
        expect(live.locator(".head .passed")).to_be_hidden()
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Load a progress.json").click()
        chooser.value.set_files(exported)
        expect(page.locator(".ml-progress .said")).to_contain_text(
            "Added to your progress", timeout=FIRST
        )
        expect(live.locator(".head .passed")).to_be_visible()
        holds(live, RIGHT)
        press(live, "Check")
        said(live, "Passed.")
    finally:
        judge.come()
    assert asked_elsewhere == []


def test_live_the_race_of_the_first_page_is_mended_there(user, judge, asked_elsewhere) -> None:
    page = user.new_page()
    page.goto(f"{judge.address}/{FRONT}")
    live = playground(page)
    expect(live.locator(".report")).to_contain_text("race")  # before anything runs
    live.locator(".cm-line", has_text="near[t] = x[i]").click()
    page.keyboard.press("End")
    page.keyboard.type("\ncuda.syncthreads()")
    press(live, "Run")
    said(live, "nothing was found", FIRST)
    expect(live.locator(".report")).not_to_contain_text("race")
    assert asked_elsewhere == []


def test_live_given_code_is_no_answer_and_no_error(user, judge) -> None:
    page = user.new_page()
    page.goto(f"{judge.address}/{LESSON}")
    assert "Shift" not in page.locator("article").inner_text().replace("Shift+Enter checks.", "")
    live = cell(page, "add_ten_guarded")
    press(live, "Check")
    said(live, "No answer yet.", FIRST)
    expect(live.locator(".report")).to_contain_text("still as it was given")
    expect(live.locator(".report [data-said=wrong], .cm-lint-marker-error")).to_have_count(0)


def test_live_a_link_to_the_playground_carries_a_kernel(user, judge, asked_elsewhere) -> None:
    user.grant_permissions(["clipboard-read", "clipboard-write"])
    page = user.new_page()
    page.goto(f"{judge.address}/{PLAYGROUND}")
    live = playground(page)
    live.locator(".example").select_option(label="A histogram that loses counts")
    expect(live.locator("input[name=counts]")).to_have_value("np.zeros(8, dtype=np.int32)")
    live.locator("input[name=counts]").fill("np.zeros(9, dtype=np.int32)")
    text = "\n".join(live.locator(".cm-line").all_inner_texts())
    press(live, "Copy a link to this")
    said(live, "Copied.")
    link = page.evaluate("navigator.clipboard.readText()")

    other = user.new_page()
    other.goto(link)
    live = playground(other)
    expect(live.locator("input[name=counts]")).to_have_value("np.zeros(9, dtype=np.int32)")
    assert "\n".join(live.locator(".cm-line").all_inner_texts()) == text
    press(live, "Run")
    said(live, "Line 9: race", FIRST)
    expect(live.locator(".outputs")).to_contain_text("depends on the order of the warps")
    live.locator("input[name=counts]").fill("open('/etc/passwd')")
    press(live, "Run")
    said(live, "open is not supported here")
    assert asked_elsewhere == []


PROGRAM = """\
import time
import numpy as np
from numba import cuda

@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]

@cuda.jit
def twice(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += x[i]

n = 1000
a = np.random.default_rng(0).random(n, dtype=np.float32)
d_c = cuda.device_array(n, np.float32)
start = time.perf_counter()
add[(n + 255) // 256, 256](cuda.to_device(a), cuda.to_device(a), d_c)
twice[4, 256](d_c)
print("right:", np.allclose(d_c.copy_to_host(), 4 * a))"""


def test_live_a_pasted_program_runs_as_it_is_written(user, judge, asked_elsewhere) -> None:
    page = user.new_page()
    page.goto(f"{judge.address}/{PLAYGROUND}")
    live = playground(page)
    expect(live.locator(".grid")).to_be_visible()
    write(live, PROGRAM)
    expect(live.locator(".grid")).to_be_hidden()
    expect(live.locator(".arguments")).to_be_hidden()
    press(live, "Run")
    said(live, "Line 1 was not run: time is not available here", FIRST)
    report = live.locator(".report")
    expect(report).to_contain_text("2 launches of add and twice: no findings in 4 orders")
    expect(report).to_contain_text("right: True")
    expect(report.locator(".not-run li")).to_have_count(2)
    expect(live.locator(".outputs summary")).to_have_count(1)
    live.locator("select.kernel").select_option("add")
    press(live, "Run")
    expect(live.locator(".outputs summary")).to_have_count(3)
    press(live, "Sectors: what a warp's loads and stores move")
    expect(live.locator(".figures iframe")).to_be_visible()

    write(live, "n = 1000")
    press(live, "Run")
    said(live, "There is no kernel here")
    expect(report).to_contain_text("There is no kernel here")
    expect(report).not_to_contain_text("no findings")
    expect(live.locator(".outputs summary")).to_have_count(0)
    assert asked_elsewhere == []


def test_live_a_link_takes_away_nothing_that_was_typed(user, judge, asked_elsewhere) -> None:
    user.grant_permissions(["clipboard-read", "clipboard-write"])
    page = user.new_page()
    page.goto(f"{judge.address}/{PLAYGROUND}")
    live = playground(page)
    press(live, "Copy a link to this")
    said(live, "Copied.")
    link = page.evaluate("navigator.clipboard.readText()")
    write(live, MINE)
    holds(live, MINE)

    other = user.new_page()
    other.goto(link)
    live = playground(other)
    expect(live.locator(".cm-content")).not_to_contain_text("of_my_own")
    live.locator(".example").select_option(label="What I typed here before")
    holds(live, MINE)

    third = user.new_page()
    third.goto(link)
    write(playground(third), MINE.replace("of_my_own", "edited"))
    expect(third).to_have_url(f"{judge.address}/{PLAYGROUND}")
    third.reload()
    holds(playground(third), MINE.replace("of_my_own", "edited"))
    assert asked_elsewhere == []


def test_live_a_verdict_s_link_opens_beside_what_was_typed(user, judge, asked_elsewhere) -> None:
    page = user.new_page()
    page.goto(f"{judge.address}/{EXERCISE}")
    live = cell(page, "matmul_tiled")
    write(live, next(iter(right_answers_to("matmul_tiled").values())).strip())
    press(live, "Check")
    said(live, "Passed.", FIRST)
    with user.expect_page() as opened:
        live.locator(".report a").first.click()
    assert opened.value.evaluate("window.opener") is None
    expect(live.locator(".report")).to_contain_text("Next:")
    assert asked_elsewhere == []


def test_live_a_long_check_is_stopped_and_the_next_one_works(user, judge, asked_elsewhere) -> None:
    page = user.new_page()
    page.goto(f"{judge.address}/{EXERCISE}")
    live = cell(page, "matmul_tiled")
    write(live, LONG)
    live.evaluate(STOP_AT_ONCE)
    press(live, "Check")
    said(live, "Stopped.", FIRST)
    holds(live, LONG)
    write(live, "def matmul_tiled(A, B, C):\n    oops(")
    press(live, "Check")
    said(live, "Not yet.", FIRST)
    assert asked_elsewhere == []


def test_live_the_verdict_stands_while_the_cause_is_searched_for(user, judge, asked_elsewhere):
    page = user.new_page()
    page.goto(f"{judge.address}/{EXERCISE}")
    live = cell(page, "matmul_tiled")
    live.evaluate(NOTE_WHAT_IS_SAID)
    report = live.locator(".report")
    failures = "JSON.parse(localStorage.getItem('matmul-ladder-progress'))?.answers.matmul_tiled"

    write(live, SLOW_TO_EXPLAIN)
    press(live, "Check")
    said(live, LOOKING, FIRST)
    expect(report).to_contain_text("matmul_tiled: not yet")
    expect(report).to_contain_text("What was tried")
    expect(report).not_to_contain_text("points")
    expect(report).to_have_attribute("aria-busy", "true")
    expect(report).to_have_css("opacity", "1")
    assert page.evaluate(failures) is None, "only the whole report is kept"
    said(live, "Not yet. Line", FIRST)
    expect(report).to_have_attribute("aria-busy", "false")
    expect(report).to_contain_text("points")
    assert page.evaluate(failures)["failures"] == 1
    assert sum(LOOKING in each for each in page.evaluate("said")) == 1

    # Stopped in the midst of the search, with other lines in the editor by then.
    press(live, "Check")
    write(live, right_answers_to("matmul_tiled")["barrier_first"])
    said(live, LOOKING, FIRST)
    press(live, "Stop")
    said(live, "Stopped.")
    expect(report).to_contain_text("matmul_tiled: not yet")
    expect(report).to_have_css("opacity", "1")
    assert page.evaluate(failures)["failures"] == 1

    page.evaluate("said.length = 0")
    press(live, "Check")
    said(live, "Passed", FIRST)
    assert not any("Not right" in each for each in page.evaluate("said"))
    assert asked_elsewhere == []
