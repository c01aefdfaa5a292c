"""How long a newcomer waits for the first verdict: python tests/browser/first_verdict.py

Prints the table of docs/book.md. Every line is a browser that has been as far as its name says, and
the seconds go from the press of Check until the verdict can be read.
"""

import os
import statistics
import tempfile
import time
from pathlib import Path

from conftest import chromium_program
from live_site import Site, site_with_pyodide
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

REPEATS = 2  # each way
READING = 10  # seconds
PACKED = 20  # seconds after the first start, in which Python's memory is kept
CELL = '.ml-live[data-id="put_seven"][data-started]'
TEXT = "@cuda.jit\ndef put_seven(out):\n    out[{index}] = 7"
STANDS = f"""() => /Passed|Not yet/.test(document.querySelector('{CELL} .status').textContent)"""
FIRST = 300_000  # ms


def waited(page: Page, index: int) -> float:
    """Type, press Check, and wait for a verdict: seconds."""
    page.locator(f"{CELL} .cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(TEXT.format(index=index))
    began = time.perf_counter()
    page.locator(f"{CELL} .check").click()
    page.wait_for_function(STANDS, polling=20)
    return time.perf_counter() - began


def one_visitor(browser: Browser, site: Site, reading: float) -> dict[str, float]:
    """The seconds of one who reads for so long before the first press."""
    user = browser.new_context()
    user.set_default_timeout(FIRST)
    page = user.new_page()
    page.goto(f"{site.address}/index.html")
    page.locator(CELL).wait_for()
    time.sleep(reading)
    found = {f"first visit, {reading:.0f} s of reading": waited(page, 4)}
    time.sleep(PACKED)
    found |= _again(user, page, "reload")
    site.go()
    found |= _again(user, page, "reload, offline")
    site.come()
    user.close()
    return found


def _again(user: BrowserContext, page: Page, name: str) -> dict[str, float]:
    page.reload()
    page.locator(CELL).wait_for()
    found = {f"{name}, the same text": waited(page, 4)}
    for reading in (0, READING):
        page.reload()
        page.locator(CELL).wait_for()
        time.sleep(reading)
        found[f"{name}, another text, {reading} s of reading"] = waited(page, 5 + reading)
        waited(page, 4)
    return found


def main() -> None:
    flags = ["--no-sandbox", "--disable-background-networking"]
    seconds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        site = site_with_pyodide(Path(folder))
        browser = playwright.chromium.launch(executable_path=chromium_program(), args=flags)
        for reading in [0, READING] * REPEATS:
            for name, took in one_visitor(browser, site, reading).items():
                seconds.setdefault(name, []).append(took)
        browser.close()
        site.go()
    print("| | median, s | all, s |\n|---|---|---|")
    for name, took in seconds.items():
        row = ", ".join(f"{each:.2f}" for each in sorted(took))
        print(f"| {name} | {statistics.median(took):.2f} | {row} |")
    print(f"\n{os.cpu_count()} cores, load {os.getloadavg()[1]:.1f} in the last five minutes")


if __name__ == "__main__":
    main()
