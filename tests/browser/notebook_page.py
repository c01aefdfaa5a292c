"""What a person does with a notebook in JupyterLab, as functions on Playwright's page."""

import time
from collections.abc import Callable
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page

RUN_SECONDS = 90
CODE_CELLS = ".jp-Notebook .jp-CodeCell"
# stderr counts: JupyterLab shows it in red, and a student takes it for an error.
ERRORS = (
    ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.error'], "
    ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']"
)


def open_notebook(page: Page, lab: str, path: str) -> None:
    """Open a notebook of the lab (its address with the token) in an otherwise empty workspace."""
    address = urlsplit(lab)
    page.goto(f"{address.scheme}://{address.netloc}/lab/tree/{path}?reset&{address.query}")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    # The status bar names the kernel once it is there; run earlier, and JupyterLab asks which one.
    page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for()


def run_all(page: Page) -> None:
    """Menu, Run, Run All Cells; then wait until nothing is waiting to run any more.

    Where a cell raises an error (an exercise's check does so until it is solved), JupyterLab leaves
    out the cells after it.
    """
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    wait_until(page, lambda: any(map(has_number, prompts(page))) and "[*]:" not in prompts(page))


def prompts(page: Page) -> list[str]:
    """What stands left of the code cells: "[ ]:" not run, "[*]:" waiting, "[7]:" run."""
    return page.locator(f"{CODE_CELLS} .jp-InputPrompt").all_text_contents()


def has_number(prompt: str) -> bool:
    return any(digit in prompt for digit in "0123456789")


def wait_until(page: Page, holds: Callable[[], bool]) -> None:
    """Look four times a second, so that the browser can work in between."""
    deadline = time.monotonic() + RUN_SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"still {prompts(page)} after {RUN_SECONDS} s"
        page.wait_for_timeout(250)


def error_outputs(page: Page) -> list[str]:
    """The words of every output that is shown as an error."""
    return page.locator(ERRORS).all_text_contents()


def cell_with(page: Page, text: str) -> Locator:
    """The first code cell whose source holds this text."""
    return (
        page.locator(CODE_CELLS)
        .filter(has=page.locator(".jp-InputArea").filter(has_text=text))
        .first
    )


def replace_source(page: Page, cell: Locator, text: str) -> None:
    """Select all of a cell's source and type another in its place."""
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def run_cell(page: Page, cell: Locator) -> None:
    """Shift+Enter in this cell, and wait for its new number."""
    prompt = cell.locator(".jp-InputPrompt")
    before = prompt.text_content()
    cell.locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    wait_until(page, lambda: prompt.text_content() != before and has_number(number(prompt)))


def number(prompt: Locator) -> str:
    return prompt.text_content() or ""
