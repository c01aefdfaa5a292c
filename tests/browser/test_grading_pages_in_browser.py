"""The pages of grading as a student and an instructor open them: from a file, in any browser."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext

ROOT = Path(__file__).resolve().parents[2]
SHOTS = ROOT / "executed" / "browser"
GRADER = ROOT / ".venv" / "bin" / "python"  # the browser's environment has nothing to grade with
PAGES = ("report.html", "feedback/s02.html", "feedback/s05.html")
WRITE = """\
import pathlib, sys
sys.path += sys.argv[2:]
from rows_of_a_class import SETTINGS, a_class
from course_lib.grading.gradebook.outputs import write_all
write_all(a_class(), SETTINGS, 7, pathlib.Path(sys.argv[1]))
"""
# The contrast of every text with what is behind it (WCAG 2), where neither has transparency.
LOW_CONTRAST = """() => {
  const rgb = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = (color) => {
    const [r, g, b] = rgb(color).map((c) => c / 255)
      .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = getComputedStyle(each).backgroundColor;
      if (rgb(color)[3] !== 0) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const low = [];
  for (const element of document.querySelectorAll("main *:not(svg):not(svg *)")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !element.checkVisibility()) continue;
    const pair = [light(getComputedStyle(element).color), light(behind(element))];
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (ratio < 4.5) low.push([ratio.toFixed(2), element.outerHTML.slice(0, 80)]);
  }
  return low;
}"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("grades")
    command = [str(GRADER), "-c", WRITE, str(out), str(ROOT), str(ROOT / "tests" / "grading")]
    subprocess.run(command, check=True)
    return out


@pytest.fixture(scope="module", params=["light", "dark"])
def reader(browser: Browser, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    """Somebody with a theme, and a browser that may fetch nothing."""
    context = browser.new_context(color_scheme=request.param, offline=True)
    yield context
    context.close()


@pytest.mark.parametrize("width", [390, 1200])
def test_a_page_is_whole_legible_and_silent(reader, written, width, request):
    page = reader.new_page()
    page.set_viewport_size({"width": width, "height": 900})
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("request", lambda wanted: asked.append(wanted.url))
    for name in PAGES:
        page.goto((written / name).as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert page.evaluate(LOW_CONTRAST) == [], name
        shot = f"grading_{Path(name).stem}_{request.node.callspec.id}.png"
        SHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SHOTS / shot, full_page=True)
    assert said == [] and len(asked) == len(PAGES)
    assert all(url.startswith("file:") for url in asked)
    page.close()


def test_links_lead_to_pages_and_to_exercises(browser: Browser, written: Path) -> None:
    page = browser.new_page()
    page.goto((written / "report.html").as_uri())
    page.get_by_role("link", name="s02", exact=True).last.click()  # in the table of all rows
    page.get_by_role("link", name="matmul_tiled").click()
    assert page.url.endswith("feedback/s02.html#matmul_tiled")
    page.get_by_text("Hint 1: two jobs").click()
    page.get_by_text("A thread owns one element of C").wait_for()
    picture = page.locator(".listing li.error")
    assert picture.count() == 1 and "Mistake 1, line 5" in picture.inner_text()
    page.close()
