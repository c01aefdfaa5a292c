"""How long a student waits in the book's live cells: for the verdict, and for the cause.

    python course.py book --out executed/book
    .venv-browser/bin/python benchmarks/tab.py            # --only NAME …, --rounds N

Wrong answers are pasted into the cells of the built book, and Check is pressed, with Python loaded
and after one check of the given code. The clock is the page's.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "browser")]

from conftest import chromium_program  # noqa: E402
from live_site import Site, site_with_pyodide  # noqa: E402

from course_lib.curriculum import EXERCISES, TASKS, lesson  # noqa: E402
from tests.stored_answers import wrong_answers_to  # noqa: E402

# Exercise, and the name of a wrong answer in tests/mutants.
ANSWERS = (
    ("mat_add", "grid_size_instead_of_block_size"),
    ("matmul_naive", "row_counter_forgotten"),
    ("matmul_tiled", "tile_of_b_never_loaded"),
    ("block_scan", "array_of_32"),
    ("transpose_tiled", "step_16_on_load"),
    ("matmul_2d", "half_of_the_tile_of_b"),
    ("attention", "exponential_of_two"),
    ("attention", "mass_not_shrunk"),
    ("attention", "keys_modulo_100"),
)
# Task, and a slip in its answer: what stands there, and what a student wrote.
SLIPS = (
    ("one_tile_product", "row - ty", "cuda.blockIdx.y"),
    ("mix_tiles", "V[j, x]", "V[x, j]"),
)
LONGEST = 120_000  # ms for a start or a check
# Presses Check, and tells when which kind of report stood there: [early or null, whole, status].
TIMED = """(cell) => new Promise((done) => {
  const report = cell.querySelector(".report");
  const pressed = performance.now();
  const seconds = () => (performance.now() - pressed) / 1000;
  let early = null;
  const observer = new MutationObserver(() => {
    if (report.hasAttribute("data-early")) early ??= seconds();
    if (cell.hasAttribute("data-busy")) return;
    observer.disconnect();
    done([early, seconds(), cell.querySelector(".status").textContent]);
  });
  cell.querySelector(".check").click();
  observer.observe(cell, { subtree: true, childList: true, attributes: true });
})"""


def wrong_texts() -> list[tuple[str, str, str]]:
    """Exercise or task, what is wrong, and the whole answer."""
    stored = [(name, wrong, wrong_answers_to(name)[wrong]) for name, wrong in ANSWERS]
    slips = [
        (name, f"{new} for {old}", new.join(TASKS[name].answer.rsplit(old, 1)))
        for name, old, new in SLIPS
    ]
    return stored + slips


def address_of(site: Site, name: str) -> str:
    """The page with the live cell of an exercise or a task."""
    folder, known = ("exercises", EXERCISES) if name in EXERCISES else ("notebooks", TASKS)
    return f"{site.address}/{folder}/{lesson(known[name].lesson).stem}.html"


def waits(page: Page, name: str, text: str, rounds: int) -> list[tuple[float | None, float, str]]:
    """Of each round: seconds to the verdict, where it came before the whole; to that; its words."""
    live = page.locator(f'.ml-live[data-id="{name}"][data-started]')
    live.evaluate(TIMED)  # loads Python
    live.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)
    return [tuple(live.evaluate(TIMED)) for _ in range(rounds)]


def measure(browser: Browser, site: Site, only: list[str], rounds: int) -> None:
    """Print a line for each wrong answer."""
    print("| exercise | wrong answer | verdict, s | cause, s | said |\n|---|---|---|---|---|")
    for name, wrong, text in wrong_texts():
        if only and name not in only:
            continue
        page = browser.new_page()
        page.set_default_timeout(LONGEST)
        page.goto(address_of(site, name))
        for early, whole, said in waits(page, name, text, rounds):
            verdict = whole if early is None else early
            print(f"| {name} | {wrong} | {verdict:.1f} | {whole:.1f} | {said} |", flush=True)
        page.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="*", default=[], help="exercises and tasks")
    parser.add_argument("--rounds", type=int, default=2, help="checks of each answer")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        site = site_with_pyodide(Path(folder))
        if site.lacks:
            sys.exit(site.lacks)
        program = chromium_program()
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        measure(browser, site, options.only, options.rounds)
        browser.close()
        site.go()


if __name__ == "__main__":
    main()
