"""What a person does with a figure to play with, or a quick check, on any page that shows one."""

import json
from pathlib import Path

from playwright.sync_api import Locator, Page

from course_lib.curriculum import Lesson

FIGURES = ".ml-figure"
QUICK_CHECKS = ".ml-quiz"


def started(page: Page, kind: str) -> list[Locator]:
    """Every card of a kind on the page; each has been started by its script, or this fails."""
    cards = page.locator(kind)
    for card in cards.all():
        card.scroll_into_view_if_needed()
    asleep = page.locator(f"{kind}:not([data-started])").count()
    assert asleep == 0, f"{asleep} of {cards.count()} {kind} have not started"
    return cards.all()


def look(figure: Locator) -> tuple[str, str]:
    """What a figure shows, and what it says in words."""
    return figure.locator("svg").inner_html(), figure.locator(".ml-words").inner_text()


def move_first_control(figure: Locator) -> None:
    """Set the first control that has a choice to another value, with the keyboard alone."""
    _move(_choices(figure).first)


def move_last_control(figure: Locator) -> None:
    """The same with the last one: the step, where a figure is played step by step."""
    _move(_choices(figure).last)


def _choices(figure: Locator) -> Locator:
    return figure.locator(".ml-controls select:has(option + option), .ml-controls input")


def _move(field: Locator) -> None:
    field.focus()
    # A slider that starts at its end can only go back, and so can a list.
    before = _position(field)
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"):
        field.press(key)
        if _position(field) != before:
            return
    raise AssertionError("the control cannot be moved by the arrow keys")


def _position(field: Locator) -> str:
    return field.evaluate("field => String(field.value) + ' ' + field.selectedIndex")


def answer(card: Locator) -> str:
    """Give some answer to a quick check, with the keyboard alone; the verdict and its reason."""
    radios = card.get_by_role("radio")
    if radios.count():
        radios.first.focus()
        radios.first.press("Space")
    else:
        card.get_by_role("textbox").fill("123456")
    button = card.get_by_role("button")
    button.focus()
    button.press("Enter")
    verdict = card.locator(".verdict").inner_text()
    assert "Right." in verdict or "Not yet." in verdict, verdict
    return verdict


def quick_checks_of(lesson: Lesson) -> int:
    """How many quick checks a lesson's notebook asks; its questions themselves need NumPy."""
    path = Path(__file__).parents[2] / "notebooks" / f"{lesson.stem}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    asking = [cell for cell in cells if "quiz" in cell["metadata"].get("tags", [])]
    return sum("".join(cell["source"]).count("course_lib.quiz.ask(") for cell in asking)
