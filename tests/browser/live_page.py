"""What a person does with the live cells of a page of the book, and what the page then says."""

from playwright.sync_api import Locator, Page, expect

LESSON = "notebooks/00_start_here.html"
EXERCISE = "exercises/05_shared_memory_tiling.html"
FRONT, PLAYGROUND = "index.html", "playground.html"
GIVEN = '''\
@cuda.jit
def put_seven(out):
    """out[2] = 7. All other elements stay as they are."""
    ...'''
WRONG = "@cuda.jit\ndef put_seven(out):\n    out[4] = 7"
RIGHT = "@cuda.jit\ndef put_seven(out):\n    out[2] = 7"
FIRST = 120_000  # ms for a start on a busy machine; what hangs ends there


def cell(page: Page, name: str) -> Locator:
    return page.locator(f'.ml-live[data-id="{name}"][data-started]')


def playground(page: Page) -> Locator:
    return page.locator(".ml-playground:has(.cm-content)")


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
