"""A real browser in front of a real JupyterLab, started as a student starts it.

These tests run in an environment of their own (.venv-browser: Playwright and pytest), against
`python3 course.py lab`. JupyterLab saves what it runs, so it is given a copy of the notebooks.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_site import Site, site_with_pyodide

try:
    from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
except ImportError:  # other environments collect this folder, too; the tests are not meant for them
    collect_ignore_glob = ["test_*.py"]

ROOT = Path(__file__).resolve().parents[2]
SHOTS = ROOT / "executed" / "browser"
START_SECONDS = 180
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium_program() -> str:
    """Where the browser is: $CHROMIUM, or the first of the usual names."""
    named = os.environ.get("CHROMIUM")
    found = named or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        pytest.fail("No Chromium was found: install it (apt install chromium), or set CHROMIUM.")
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    flags = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as playwright:
        program = playwright.chromium.launch(executable_path=chromium_program(), args=flags)
        yield program
        program.close()


@pytest.fixture(scope="session")
def course_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The notebooks where they may be changed."""
    copy = tmp_path_factory.mktemp("course")
    for folder in ("notebooks", "exercises"):
        shutil.copytree(ROOT / folder, copy / folder)
    return copy


@pytest.fixture(scope="session")
def lab(course_copy: Path) -> Iterator[str]:
    """The address of a JupyterLab that `course.py lab` started, with its token."""
    command = [sys.executable, str(ROOT / "course.py"), "lab", "--no-browser"]
    command += [f"--ServerApp.root_dir={course_copy}", "--port=0"]
    log = course_copy / "lab.log"
    with open(log, "w", encoding="utf-8") as said:
        server = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, cwd=ROOT)
        try:
            yield _address(server, log)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=30)


def _address(server: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        found = re.search(r"The first lesson: (\S+)", log.read_text(encoding="utf-8"))
        if found:
            return found.group(1)
        time.sleep(0.2)
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')}")


@pytest.fixture(scope="session")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """One user's browser: JupyterLab's own files are fetched once."""
    user = browser.new_context(viewport={"width": 1280, "height": 1000})
    yield user
    user.close()


@pytest.fixture
def page(context: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A fresh window; what it shows at the end is kept as a picture in executed/browser."""
    window = context.new_page()
    window.set_default_timeout(30_000)
    yield window
    SHOTS.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"\W+", "_", request.node.name).strip("_")
    window.screenshot(path=SHOTS / f"{name}.png")
    window.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The book with live cells; a test may take it away for a while."""
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
def asked_elsewhere(user: BrowserContext, site: Site) -> Iterator[list[str]]:
    """What pages and workers of `user` ask for from elsewhere, and errors of scripts."""
    found: list[str] = []

    def note(request) -> None:
        if not request.url.startswith(site.allowed):
            found.append(request.url)

    heard = {
        "request": note,
        "weberror": lambda error: found.append(f"error: {error.error}"),
        "console": lambda said: "Content Security" in said.text and found.append(said.text),
    }
    for event, hear in heard.items():
        user.on(event, hear)
    yield found
    for event, hear in heard.items():
        user.remove_listener(event, hear)
