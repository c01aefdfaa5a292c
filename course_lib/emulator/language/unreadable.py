"""Why a text is no Python, in the words of this course; Python's own are for those who know it."""

from __future__ import annotations

import re
import unicodedata

from course_lib.sentences import Sentence, say

Said = Sentence | str

_VAGUE = ("invalid syntax", "expected")  # what Python says where it has no better idea
# How a line begins, or what stands in it, that comes from elsewhere: what it is, and what to do.
_FROM_ELSEWHERE: tuple[tuple[str, str, str], ...] = (
    (r"\s*%%?\w", "a command of Jupyter stands here", "The answer itself is Python only."),
    (r"\s*!\s*\w", "a command of the shell stands here", "The answer itself is Python only."),
    (r"\s*```", "``` belongs to the text around a program", "Where does the program begin?"),
    (r"\s*(>>>|\.\.\.) ", "this is a console's prompt", "What stands behind it is Python."),
    (r"(In|Out) ?\[\d*\]", "this is a notebook's label of a cell", "The program stands behind it."),
    (r"\s*\d+[ :.|]+[@a-zA-Z]", "a number stands before the line", "Python numbers no lines."),
    (r"\s*else\s+if\b", "`else if` is one word in Python", "How does Python shorten it?"),
    (r".*&&", "&& is C", "Which word joins two conditions in Python?"),
    (r".*\|\|", "|| is C", "Which word joins conditions in Python of which one is enough?"),
    (r".*(\w(\+\+|--)|(\+\+|--)\w)", "++ and -- are C", "`+=` counts by the number behind it."),
    (r"\s*(float|int|double|unsigned|const|__shared__)\s+\w+",
     "a type stands before the name, as in C",
     "A variable of Python gets its type from its value."),
)  # fmt: skip
# What Python says, and what that means.
_IN_OTHER_WORDS: tuple[tuple[str, str, str], ...] = (
    ("unindent does not match", "this line begins at another place than every block around it",
     "Which line should it stand under?"),
    ("inconsistent use of tabs", "tabs and spaces are mixed before this line",
     "Four spaces for each level are usual."),
    ("unexpected indent", "this line begins further right, and nothing before it opens a block",
     "Which line should it stand under?"),
    ("expected an indented block", "a colon opens a block here, and nothing stands under it",
     "What belongs to it begins four spaces further right."),
    ("expected ':'", "a colon is missing in this line", "What opens a block ends in a colon."),
    ("was never closed", "{} is opened here, and never closed", "Where should it end?"),
    ("unmatched", "{} closes what nobody has opened", "Where should it begin?"),
    ("unterminated", "a text begins here, and no quote closes it", "Where should it end?"),
    ("leading zeros", "a number begins with 0 here", "Python writes it without."),
    ("instead of '='", "= stores, and nothing can be stored here", "`==` compares."),
    ("Missing parentheses in call to 'print'", "print is called with brackets", ""),
    ("null bytes", "it holds a character that is no text, of number 0", ""),
)  # fmt: skip
_LOOKS_LIKE = {
    **dict.fromkeys("“”„‟«»", '"'), **dict.fromkeys("‘’‚‛´", "'"), **dict.fromkeys("−–—‐‑", "-"),
    "×": "*", "∗": "*", "⋅": "*", "÷": "/", "‹": "<", "›": ">", "≤": "<=", "≥": ">=", "≠": "!=",
}  # fmt: skip


def why_unreadable(error: SyntaxError, text: str) -> tuple[Said, Said]:
    """What is wrong with a text, as a part of a sentence, and what to look at."""
    lines = text.splitlines()
    number = error.lineno or 0
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    if error.msg.startswith("cannot assign to function call"):  # and it advises `==`
        return (
            "nothing can be stored in a call",
            "An element of an array stands in square brackets.",
        )
    strange = next((each for each in line if not each.isascii() and not each.isalnum()), "")
    if strange and "invalid" in error.msg and "character" in error.msg:
        return _character(strange)
    for pattern, said, hint in _FROM_ELSEWHERE:
        if re.match(pattern, line) and error.msg.startswith(_VAGUE):
            return said, hint
    for words, said, hint in _IN_OTHER_WORDS:
        if words in error.msg:
            sign = re.search(r"'(.)'", error.msg)
            return say(said.replace("{}", "{sign}"), sign=sign[1] if sign else ""), hint
    end = error.end_offset or 0
    stops = line[(error.offset or 1) - 1 : end - 1] if error.end_lineno == number else ""
    if error.msg.startswith("invalid syntax") and stops.strip():
        return say("it cannot be read from {stops} on", stops=stops.strip()), ""
    return error.msg.rstrip(".?"), ""


def _character(strange: str) -> tuple[Said, Said]:
    """What to say of a character that no program holds, but perhaps a text that was copied."""
    code = f"U+{ord(strange):04X}"
    if strange.isspace() or unicodedata.category(strange) in ("Cf", "Cc"):
        name = unicodedata.name(strange, "a character without a name").lower()
        said = say("a {name} ({code}) stands here, which nobody sees", name=name, code=code)
        return said, "Type the spaces of this line anew."
    meant = _LOOKS_LIKE.get(strange, unicodedata.normalize("NFKC", strange))
    if meant == strange:
        return say("{sign} ({code}) is no sign of Python", sign=strange, code=code), ""
    said = say("{sign} ({code}) only looks like {meant}", sign=strange, code=code, meant=meant)
    return said, "Type it anew."
