"""Pages with live cells, as far as they work without Python: typing, keeping, offline, barriers."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_page import (
    EXERCISE,
    FRONT,
    GIVEN,
    LESSON,
    PLAYGROUND,
    RIGHT,
    cell,
    holds,
    playground,
    press,
    said,
    write,
)
from live_site import SAVES_DATA
from playwright.sync_api import Browser, BrowserContext, expect

from course_lib.book.finished import pages_of
from tests.pyodide_files import NotHere, from_npm

WIDE = "notebooks/03_coalescing.html"  # on a phone, a picture of it has to be scrolled
POLICY = r'<meta http-equiv="Content-Security-Policy" content="([^"]+)"'
AXE = ("axe-core", "4.14.1")


@pytest.fixture
def user(browser: Browser) -> Iterator[BrowserContext]:
    """Somebody new whose browser saves data: no Python starts, and nothing is kept unasked."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    context.set_default_timeout(30_000)
    context.add_init_script(SAVES_DATA)
    yield context
    context.close()


@pytest.mark.parametrize("fragment", ["%%%", "abc", "q1YqSS0uUbJSUEpUqgUA"])
def test_live_a_damaged_link_is_told(user, site, fragment) -> None:
    page = user.new_page()
    page.goto(f"{site.address}/{PLAYGROUND}#{fragment}")
    live = playground(page)
    said(live, "This link is damaged")
    expect(live.locator(".cm-content")).to_contain_text("def smooth")


def test_live_pages_are_fresh_online_and_kept_for_offline(user, site) -> None:
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


@pytest.mark.parametrize(("scheme", "width", "pages"), [
    ("light", 1280, (FRONT, PLAYGROUND, LESSON, EXERCISE, WIDE)),
    ("dark", 1280, (PLAYGROUND, EXERCISE)),
    ("light", 390, (LESSON, WIDE)),
])  # fmt: skip
def test_live_no_barrier_is_found_by_axe(browser, site, scheme, width, pages) -> None:
    try:
        script = from_npm(*AXE) / "axe.min.js"
    except NotHere as missing:
        pytest.skip(str(missing))
    size = {"width": width, "height": 1000}
    # A page's policy would keep axe out.
    context = browser.new_context(viewport=size, color_scheme=scheme, bypass_csp=True)
    context.add_init_script(SAVES_DATA)
    page = context.new_page()
    barriers = []
    for where in pages:
        page.goto(f"{site.address}/{where}")
        page.locator(".ml-live .cm-content").first.focus()
        page.add_script_tag(path=Path(script))
        barriers += [
            (where, each["id"], node["target"], node["failureSummary"])
            for each in page.evaluate("axe.run()")["violations"]
            for node in each["nodes"]
        ]
    context.close()
    assert barriers == []


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

    asked = [each for lesson in LESSONS for each in predictions(lesson.number).values()]
    asked = [each for each in asked if each.figure is None]
    page = browser.new_page()
    page.set_content("<body>" + "\n".join(map(html_of, asked)))
    for number, question in enumerate(asked):
        card = page.locator(".ml-prediction").nth(number)
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
