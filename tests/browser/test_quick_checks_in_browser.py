"""Every quick check of the lessons, in the browser: each answer on its sheet gets its reason.

The cards are those stored in the notebooks, all on one plain page, as in a book: without a kernel.
"""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator

ROOT = Path(__file__).resolve().parents[2]
SHEET = re.compile(r'"sheet":"([A-Za-z0-9+/=]+)"')


def stored_cards() -> list[str]:
    """The HTML of every quick check in the lessons' outputs."""
    found = []
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for output in cell.get("outputs", []):
                html = "".join(output.get("data", {}).get("text/html", ""))
                if "ml-quiz" in html:
                    found.append(html)
    return found


def give(card: Locator, match: Any) -> None:
    """Enter the answer that a row of the sheet is about."""
    if isinstance(match, str):
        card.locator(f'input[value="{match}"]').check()
    else:
        words = match[0] if isinstance(match[0], str) else repr(sum(match) / len(match))
        card.get_by_role("textbox").fill(words)
    card.get_by_role("button").click()


def wrong_words(card: str, sheet: dict[str, Any], shown: Locator) -> Iterator[str]:
    """Where the verdict on a card is not what its sheet says."""
    for match, right, why in sheet["rows"]:
        give(shown, match)
        opening = "✓ Right." if right else "✗ Not yet."
        expected = f"{opening} {why}".replace("`", "")
        said = shown.locator(".verdict p").first.inner_text()
        if said != expected:
            yield f"{card}: {match} gets {said!r} instead of {expected!r}"


@pytest.mark.long
def test_each_answer_gets_its_reason(browser: Browser) -> None:
    cards = stored_cards()
    assert len(cards) >= 20
    page = browser.new_page()
    page.set_content("<body>" + "\n".join(cards))
    for number, html in enumerate(cards):
        sheet = json.loads(base64.b64decode(SHEET.search(html)[1]))
        shown = page.locator(".ml-quiz").nth(number)
        name = shown.locator(".ml-title").inner_text()
        assert list(wrong_words(name, sheet, shown)) == []
    page.close()
