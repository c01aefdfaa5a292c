"""Live cells: a student types on a page of the book, and is judged in the tab.

One test walks a student's whole way, for the worker's start is what costs; the others need none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_site import Site, site_with_pyodide
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from course_lib.book.links import pages_of
from tests.pyodide_files import NotHere, from_npm
from tests.stored_answers import right_answers_to, wrong_answers_to

LESSON = "notebooks/00_start_here.html"
EXERCISE = "exercises/05_shared_memory_tiling.html"
FRONT, PLAYGROUND = "index.html", "playground.html"
WIDE = "notebooks/03_coalescing.html"  # on a phone, a picture of it has to be scrolled
POLICY = r'<meta http-equiv="Content-Security-Policy" content="([^"]+)"'
GIVEN = '''\
@cuda.jit
def put_seven(out):
    """out[2] = 7; all other places stay as they are."""
    ...'''
WRONG = "@cuda.jit\ndef put_seven(out):\n    out[4] = 7"
RIGHT = "@cuda.jit\ndef put_seven(out):\n    out[2] = 7"
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
LONG = """\
@cuda.jit
def matmul_tiled(A, B, C):
    total = float32(0)
    for i in range(1_000_000):
        total += float32(1)
    C[0, 0] = total"""
# Which of its lines is to blame takes seconds to find.
SLOW_TO_EXPLAIN = wrong_answers_to("matmul_tiled")["tile_of_b_never_loaded"]
LOOKING = "Not right yet. Looking for the cause"
# All that the status says, in its order, each once: what a screen reader is told.
NOTE_WHAT_IS_SAID = """(cell) => {
  const status = cell.querySelector(".status");
  window.said = [];
  new MutationObserver(() => window.said.push(status.textContent))
    .observe(status, { childList: true, characterData: true, subtree: true });
}"""
SAVES_DATA = "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })"
FIRST = 120_000  # ms for a start on a busy machine; what hangs ends there
AXE = ("axe-core", "4.14.1")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    served = site_with_pyodide(tmp_path_factory.mktemp("site"))
    yield served
    served.go()


@pytest.fixture
def judge(site: Site) -> Site:
    """The same, where the judge can be started."""
    if site.lacks:
        pytest.skip(site.lacks)
    return site


@pytest.fixture
def user(browser: Browser) -> Iterator[BrowserContext]:
    """Somebody whose browser has never been here."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000}, accept_downloads=True)
    context.set_default_timeout(30_000)
    yield context
    context.close()


@pytest.fixture
def asked_elsewhere(user: BrowserContext, site: Site) -> list[str]:
    """What pages and workers ask for from elsewhere, and errors of scripts."""
    found: list[str] = []

    def note(request) -> None:
        if not request.url.startswith(site.allowed):
            found.append(request.url)

    user.on("request", note)
    user.on("weberror", lambda error: found.append(f"error: {error.error}"))
    user.on("console", lambda said: "Content Security" in said.text and found.append(said.text))
    return found


def cell(page: Page, name: str) -> Locator:
    return page.locator(f'.ml-live[data-id="{name}"][data-started]')


def write(live: Locator, text: str) -> None:
    """Put a text into the editor, as one that is pasted."""
    live.locator(".cm-content").click()
    live.page.keyboard.press("Control+a")
    live.page.keyboard.insert_text(text)


def holds(live: Locator, text: str) -> None:
    """The editor shows this text, indents included."""
    expect(live.locator(".cm-line")).to_have_count(text.count("\n") + 1)
    assert "\n".join(live.locator(".cm-line").all_inner_texts()).replace("\n\n", "\n") == text


def press(live: Locator, name: str) -> None:
    live.get_by_role("button", name=name, exact=True).click()


def said(live: Locator, words: str, timeout: int = 30_000) -> None:
    expect(live.locator(".status")).to_contain_text(words, timeout=timeout)


def test_live_a_student_s_way_through_a_lesson(user, judge, asked_elsewhere, tmp_path) -> None:
    page = user.new_page()
    page.goto(f"{judge.address}/{LESSON}")
    live = cell(page, "put_seven")

    write(live, WRONG)
    said(live, "about 10 MB, once")
    live.page.keyboard.press("Shift+Enter")
    said(live, "Not yet. Line 3", FIRST)
    expect(live.locator(".report")).to_contain_text("Line 3: a wrong index")
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
        expect(page.locator(".ml-progress .said")).to_contain_text("Taken over", timeout=FIRST)
        expect(live.locator(".head .passed")).to_be_visible()
        holds(live, RIGHT)
        press(live, "Check")
        said(live, "Passed.")
    finally:
        judge.come()
    assert asked_elsewhere == []


def playground(page: Page) -> Locator:
    return page.locator(".ml-playground:has(.cm-content)")


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
    said(live, "open is not known here")
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
    said(live, "Line 1 was not run: time is not here", FIRST)
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


@pytest.mark.parametrize("fragment", ["%%%", "abc", "q1YqSS0uUbJSUEpUqgUA"])
def test_live_a_damaged_link_is_told(user, site, fragment) -> None:
    page = user.new_page()
    page.goto(f"{site.address}/{PLAYGROUND}#{fragment}")
    live = playground(page)
    said(live, "This link is damaged")
    expect(live.locator(".cm-content")).to_contain_text("def smooth")


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


def test_live_the_verdict_stands_while_the_cause_is_searched_for(
    user, judge, asked_elsewhere
) -> None:
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
    said(live, LOOKING, FIRST)
    expect(live.locator(".cm-lint-marker-error")).to_have_count(0)
    write(live, right_answers_to("matmul_tiled")["barrier_first"])
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


def test_live_pages_are_fresh_online_and_kept_for_offline(user, site) -> None:
    user.add_init_script(SAVES_DATA)  # so that no service worker is there before it is asked for
    page = user.new_page()
    page.goto(f"{site.address}/{LESSON}")
    cell(page, "put_seven").wait_for()
    files = "_static/" + next((site.root / "_static").glob("live-*")).name
    page.evaluate(
        """async ({ module, mine, others }) => {
          await caches.open(mine);
          await caches.open(others);
          await (await import(module)).prepareOffline();
        }""",
        {
            "module": f"{site.address}/{files}/offline.js",
            "mine": f"matmul-ladder {site.address}/ files of before",
            "others": "matmul-ladder http://elsewhere/ files",
        },
    )
    kept = page.evaluate("caches.keys()")
    assert "matmul-ladder http://elsewhere/ files" in kept
    assert not any(each.endswith("of before") for each in kept)
    file = site.root / LESSON
    before = file.read_text(encoding="utf-8")
    file.write_text(before.replace("<title>", "<title>New: "), encoding="utf-8")
    page.reload()
    expect(page).to_have_title(re.compile("^New: "))
    site.go()
    try:
        page.reload()
        expect(page).to_have_title(re.compile("^New: "))
        cell(page, "put_seven").wait_for()
    finally:
        site.come()
        file.write_text(before, encoding="utf-8")


def test_live_by_keyboard_alone(user, site) -> None:
    page = user.new_page()
    page.goto(f"{site.address}/{LESSON}")
    live = cell(page, "put_seven")
    live.locator(".cm-content").focus()
    page.keyboard.press("Control+End")
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("x")
    holds(live, f"{GIVEN}\n    x")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(live.get_by_role("button", name="Check")).to_be_focused()
    page.keyboard.press("Tab")
    expect(live.get_by_role("button", name="Reset")).to_be_focused()
    page.keyboard.press("Enter")
    holds(live, GIVEN)
    expect(live.locator(".cm-content")).to_be_focused()


def test_live_what_was_typed_outlives_the_page(user, site) -> None:
    page = user.new_page()
    page.goto(f"{site.address}/{LESSON}")
    write(cell(page, "add_ten"), "mine")
    page.reload()
    holds(cell(page, "add_ten"), "mine")
    press(cell(page, "add_ten"), "Reset")
    page.reload()
    press(cell(page, "add_ten"), "Bring back what I typed")
    holds(cell(page, "add_ten"), "mine")


@pytest.mark.parametrize("where", [FRONT, PLAYGROUND, LESSON, EXERCISE])
def test_live_on_a_phone_nothing_sticks_out(user, site, where) -> None:
    page = user.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{site.address}/{where}")
    page.locator(".ml-live .cm-content").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_live_without_scripts_the_given_code_is_there(browser, site) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site.address}/{EXERCISE}")
    given = page.locator('.ml-live[data-id="matmul_tiled"] pre')
    expect(given).to_be_visible()
    assert given.inner_text().startswith("# EXERCISE matmul_tiled\nTILE = 16")
    context.close()


def test_live_a_page_opened_as_a_file_says_what_to_do(user, site) -> None:
    page = user.new_page()
    page.goto((site.root / LESSON).as_uri())
    first = page.locator(".ml-live").first
    expect(first.locator(".said")).to_contain_text("python3 -m http.server")
    expect(first.locator("pre")).to_be_visible()
    card = page.locator(".ml-prediction[data-started]").first
    card.get_by_role("textbox").fill("1")
    card.get_by_role("button").click()
    expect(card.locator(".told")).to_be_visible()


def test_live_a_blocked_address_is_named(user, site) -> None:
    page = user.new_page()
    user.route("**/pyodide.mjs", lambda route: route.abort())
    page.goto(f"{site.address}/{LESSON}")
    live = cell(page, "put_seven")
    press(live, "Check")
    said(live, "allow it; then press Check again.")


def test_live_without_storage_a_sentence_says_so(user, site) -> None:
    user.add_init_script(
        "Storage.prototype.setItem = () => { throw new DOMException('no', 'QuotaExceededError') }"
    )
    page = user.new_page()
    page.goto(f"{site.address}/{LESSON}")
    write(cell(page, "put_seven"), RIGHT)
    expect(page.locator(".ml-progress .said")).to_contain_text("storage for the site is full")
    holds(cell(page, "put_seven"), RIGHT)


@pytest.mark.parametrize("where", [FRONT, PLAYGROUND, LESSON, EXERCISE, WIDE])
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_live_no_barrier_is_found_by_axe(browser, site, scheme, width, where) -> None:
    try:
        script = from_npm(*AXE) / "axe.min.js"
    except NotHere as missing:
        pytest.skip(str(missing))
    size = {"width": width, "height": 1000}
    # A page's policy would keep axe out.
    context = browser.new_context(viewport=size, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(f"{site.address}/{where}")
    page.locator(".ml-live .cm-content").first.focus()
    page.add_script_tag(path=Path(script))
    found = page.evaluate("axe.run()")
    context.close()
    assert [
        (each["id"], node["target"], node["failureSummary"])
        for each in found["violations"]
        for node in each["nodes"]
    ] == []


@pytest.mark.parametrize("where", [FRONT, PLAYGROUND, LESSON, EXERCISE])
def test_live_the_first_editor_is_two_tabs_away(user, site, where) -> None:
    page = user.new_page()
    page.goto(f"{site.address}/{where}")
    first = page.locator(".ml-live").first
    first.locator(".cm-content").wait_for()
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(first.locator(".cm-content")).to_be_focused()


def test_live_a_page_runs_no_script_but_its_own(user, site) -> None:
    page = user.new_page()
    page.goto(f"{site.address}/{FRONT}")
    policies = [
        re.findall(POLICY, path.read_text(encoding="utf-8")) for path in pages_of(site.root)
    ]
    assert all(len(each) == 1 and "unsafe-eval" not in each[0] for each in policies)
    assert not any("unsafe-inline" in each[0].split("style-src")[0] for each in policies)
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.ran = true";
          document.body.append(script);
          const picture = '<img src="x" onerror="window.ran = true">';
          document.body.insertAdjacentHTML("beforeend", picture);
        }"""
    )
    page.wait_for_timeout(200)
    assert page.evaluate("window.ran") is None


# What a card says to each of these guesses.
GUESSED = """(card, guesses) => guesses.map((guess) => {
  const entry = card.querySelector('input[type="text"]');
  if (entry) entry.value = guess;
  else card.querySelector(`input[value="${guess}"]`).checked = true;
  card.querySelector("button").click();
  return card.querySelector(".verdict").innerText;
})"""


def test_live_predictions_say_what_a_notebook_says(browser: Browser) -> None:
    """The card's words for any guess are those of course_lib.predict."""
    from course_lib.curriculum import LESSONS
    from course_lib.questions import predictions
    from course_lib.questions.kinds import Choose, Number
    from course_lib.questions.prediction_card import html_of
    from course_lib.questions.reveals import told

    page = browser.new_page()
    asked = [each for lesson in LESSONS for each in predictions(lesson.number).values()]
    for question in [each for each in asked if each.figure is None]:
        page.set_content(f"<body>{html_of(question)}")
        card = page.locator(".ml-prediction")
        expect(card.locator(".told")).to_be_hidden()
        if isinstance(question, Choose):
            guesses = list(question.lettered())
        else:
            assert isinstance(question, Number)
            value = float(question.value())
            guesses = [value * part for part in (1, 1.0001, 0.5, 0.3, 0.96, 1.3, 2, 7.77, 40)]
            guesses += [0, 3, 1e-5, 1234.5, *(float(each.value()) for each in question.slips)]
        said = card.evaluate(GUESSED, [*map(str, guesses)])
        assert said == [told(question, each)[0].replace("`", "") for each in guesses]
        expect(card.locator(".told")).to_be_visible()
    page.close()
