"""Counts, lists, spans and elements read the same wherever the course writes them."""

from __future__ import annotations

from collections.abc import Callable

from every_case import every_case

from course_lib.wording import words


@every_case(
    ("made", "wanted"),
    [
        (lambda: words.counted(1, "row"), "1 row"),
        (lambda: words.counted(1024, "pass"), "1,024 passes"),
        (lambda: words.joined(["A"]), "A"),
        (lambda: words.joined("AB"), "A and B"),
        (lambda: words.joined("ABC"), "A, B and C"),
        (lambda: words.span("step", [3]), "step 3"),
        (lambda: words.span("step", [3, 4, 5]), "steps 3 to 5"),
        (lambda: words.at_end("last", 1, "row"), "the last row"),
        (lambda: words.at_end("first", 3, "step"), "the first 3 steps"),
        (lambda: words.element("C", [2, 3]), "C[2, 3]"),
        (lambda: words.element("", [4]), "[4]"),
    ],
)
def test_it_reads_like_this(made: Callable[[], str], wanted: str) -> None:
    assert made() == wanted
