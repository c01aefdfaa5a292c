"""What is said of a number in an answer that stands for a size, or limits one."""

from __future__ import annotations

from course_lib.wording.tables import Wording, Words

LIMIT = "The number {number} acts as a limit here, but it does not depend on any size."
BEYOND = "What does the kernel leave out, or do twice, when a size is larger than {number}?"
USUAL = (
    "The {number} in this line is right only if {axis} is {usual}. If it is "
    "{other}, the result is wrong in {part}."
)
ANY_SIZE = "What could replace this number, so that any size works?"

tell = Words(
    {
        "loop": Wording(
            "wrong-loop-bound",
            "This loop makes at most {number} {noun}, no matter how large the problem is.",
            "How many iterations does a larger problem need?",
        ),
        "axis": Wording(
            "wrong-bounds-check",
            "This array has room for {number} elements along one axis, no matter how large "
            "the problem is.",
            "What happens to the elements that do not fit?",
        ),
        "lanes": Wording(
            "wrong-index",
            "This expression gives only {number} different indices, however large the sizes are.",
            "Which thread takes element {number}, counted from 0?",
        ),
        "cast": Wording(
            "index-overflow",
            "This type holds only numbers below {number}, but the index grows larger.",
            "How large can the number that is converted here become?",
        ),
        "wrap": Wording(
            "wrong-index",
            "This value wraps around at {number}, but {number} does not depend on any size.",
            BEYOND,
        ),
        "test": Wording("wrong-bounds-check", LIMIT, BEYOND),
        "test of a loop": Wording("wrong-loop-bound", LIMIT, BEYOND),
        # What comes of such a limit.
        "wrong beyond": Wording("", "{seen} The result is wrong on {label}, in {place}."),
        "no room": Wording("", "{what} {seen}"),
        "not tried": Wording("", "{seen} Nothing longer than {label} was tried.", "", "warning"),
        # A number that is right for the usual size alone.
        "size in a test": Wording("wrong-bounds-check", USUAL, ANY_SIZE),
        "size in a loop": Wording("wrong-loop-bound", USUAL, ANY_SIZE),
        "size somewhere": Wording(
            "wrong-result",
            "The result is right if {axis} is {usual}. If it is {other}, the result is "
            "wrong in {part}.",
            "Which number in the kernel is right only for this size?",
        ),
    }
)
