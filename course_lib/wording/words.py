"""Words for counts, lists, spans and regions, the same wherever the course writes them.

This module imports nothing else of the course.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal


def counted(count: int, word: str) -> str:
    """A number with its word: "1 warp", "2 passes", "1,024 threads"."""
    return f"{count:,} {plural(word, count)}"


def decimal(number: Decimal) -> str:
    """A decimal number with all its digits and no more: "7", "7.5", "0.05"."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def plural(word: str, count: int | Decimal) -> str:
    """The word for so many: "warp" for one, else "warps"; "passes" for "pass"."""
    return word if count == 1 else f"{word}es" if word.endswith("s") else f"{word}s"


def joined(parts: Iterable[str], none: str = "") -> str:
    """A list in words: "a", "a and b", "a, b and c"; `none` where it is empty."""
    *first, last = list(parts) or [none]
    return f"{', '.join(first)} and {last}" if first else last


def span(word: str, numbers: Collection[int]) -> str:
    """Numbers with their word: "row 3", "rows 0 to 5"; with gaps "rows 1, 4, 7"."""
    first, last = min(numbers), max(numbers)
    if first == last:
        return f"{word} {first}"
    if len(set(numbers)) != last - first + 1:
        return f"{plural(word, 2)} {', '.join(map(str, sorted(numbers)))}"
    return f"{plural(word, 2)} {first} to {last}"


def at_end(end: str, count: int, word: str) -> str:
    """So many at one end: "the last row", "the first 3 rows"."""
    return f"the {end} {word}" if count == 1 else f"the {end} {count} {plural(word, count)}"


def stretches(numbers: Iterable[int]) -> str:
    """Numbers as short as it goes: "0–7", "3, 19", "0–3, 8–11"."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return ", ".join(str(one[0]) if len(one) == 1 else f"{one[0]}–{one[-1]}" for one in found)


def region(cells: Collection[Sequence[int]]) -> str:
    """Cells of an array: "rows 0 to 1, columns 2 to 3"; scattered ones by number, "5 cells"."""
    axes = [set(axis) for axis in zip(*cells, strict=True)]
    if len(axes) == 1:
        return span("cell", axes[0])
    rows, columns = axes
    if len(cells) != len(rows) * len(columns):
        return counted(len(cells), "cell")
    return f"{span('row', rows)}, {span('column', columns)}"


def element(name: str, index: Iterable[int]) -> str:
    """An element of an array: "A[2, 3]"; without a name its index, "[2, 3]"."""
    return f"{name}[{', '.join(map(str, index))}]"


def nth(number: int) -> str:
    """ "1st", "2nd", "3rd", "4th", "11th", "21st"."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if 10 <= number % 100 <= 20 else ending}"


def shortened(text: str, letters: int) -> str:
    """The text, cut with an ellipsis where it has more letters than that."""
    return text if len(text) <= letters else text[: letters - 1] + "…"
