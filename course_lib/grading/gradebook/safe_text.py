"""Makes text from outside safe to show: on a page, in a terminal, in a spreadsheet, in XML.

What a reader cannot see can mislead him: characters that turn the direction of a line, have no
width, or move a terminal's cursor. They are shown by their number, as ⟨U+202E⟩.
"""

from __future__ import annotations

import re
import unicodedata

from course_lib.web import escape

# Format, control, surrogate and private characters, and separators other than a space.
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp", "Zs"}
# Letters and symbols by category, blank to the eye.
_BLANK = {"\u115f", "\u1160", "\u2800", "\u3164", "\uffa0"}
MOST_LINES, MOST_CHARACTERS = 2_000, 60_000  # of an answer; ours have 60 lines at most
MOST_OF_A_LINE = 1_000
_MOST_MARKS = 3  # stacked on one letter; more of them reach into the lines above
_FORMULA = "=+-@\uff1d\uff0b\uff0d\uff20"  # first characters that a spreadsheet may act upon
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def is_unseen(character: str) -> bool:
    """Would a reader overlook it?"""
    if character == " ":
        return False
    return unicodedata.category(character) in _UNSEEN or character in _BLANK


def name_of(character: str) -> str:
    """A character by its number: "U+202E"."""
    return f"U+{ord(character):04X}"


def visible(text: str, keep: str = "\n\t") -> str:
    """The text with what cannot be seen shown by its number; those in `keep` stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"⟨{name_of(each)}⟩" if odd else each for each, odd in _odd_ones(text, keep))


def as_html(text: str, keep: str = "\n\t") -> str:
    """The text for a page, escaped, and with what cannot be seen marked."""
    if text.isascii() and text.isprintable():
        return escape(text)
    return "".join(_marked(each) if odd else escape(each) for each, odd in _odd_ones(text, keep))


def _marked(character: str) -> str:
    name = unicodedata.name(character, "a control character").lower()
    return f'<span class="unseen" title="{escape(name)}">{name_of(character)}</span>'


def _odd_ones(text: str, keep: str) -> list[tuple[str, bool]]:
    """Each character, and whether it has to be shown by its number."""
    found, marks = [], 0
    for each in text:
        marks = marks + 1 if unicodedata.category(each) in ("Mn", "Me") else 0
        found.append((each, each not in keep and (is_unseen(each) or marks > _MOST_MARKS)))
    return found


def one_line(text: str) -> str:
    """The text on one line, every run of white space a single space."""
    return visible(" ".join(text.split()), keep="")


def for_spreadsheet(text: str) -> str:
    """Text that no spreadsheet takes for a formula, on one line."""
    line = one_line(text)
    return f"'{line}" if line[:1] and line[0] in _FORMULA else line


def for_xml(text: str) -> str:
    """Text that XML can hold, not yet escaped: other characters are shown by their number."""
    return _NOT_XML.sub(lambda found: f"⟨{name_of(found.group())}⟩", text)


def shortened(text: str, most: int) -> str:
    """The text, or its beginning."""
    return text if len(text) <= most else text[: most - 2] + " …"


def source_lines(text: str) -> list[str]:
    """The lines as Python counts them; other line breaks, such as U+2028, end no line there."""
    lines = re.split("\r\n|\r|\n", text)
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


def lines_to_show(text: str) -> tuple[list[str], int]:
    """The lines of an answer that a reader gets, long ones cut, and how many are left out."""
    lines = source_lines(text)
    shown, room = [], MOST_CHARACTERS
    for line in lines[:MOST_LINES]:
        shown.append(shortened(line, MOST_OF_A_LINE))
        room -= len(shown[-1])
        if room < 0:
            break
    return shown, len(lines) - len(shown)
