"""What is said of a number in an answer that stands for a size, or limits one."""

from __future__ import annotations

from course_lib.wording.tables import Wording, Words

LIMIT = "The number {number} is a limit here, and it follows from no size."
BEYOND = "What does the kernel leave out, or do twice, once a size is larger than {number}?"
USUAL = (
    "The {number} in this line is right only where {axis} is {usual}. Where it is {other}, the "
    "result is wrong in {part}."
)
ANY_SIZE = "What can stand here for any size?"

tell = Words(
    {
        "loop": Wording(
            "wrong-loop-bound",
            "This loop makes at most {number} {noun}, whatever the sizes are.",
            "How many iterations does a larger problem need?",
        ),
        "axis": Wording(
            "wrong-bounds-check",
            "This array has room for {number} along one axis, whatever the sizes are.",
            "What happens to the elements that have no room?",
        ),
        "lanes": Wording(
            "wrong-index",
            "Here are {number} different indices, however large the sizes are.",
            "Which thread takes element {number}, counted from 0?",
        ),
        "cast": Wording(
            "index-overflow",
            "This type holds numbers below {number} only, and the index grows larger.",
            "How large can the number be that is converted here?",
        ),
        "wrap": Wording(
            "wrong-index",
            "From {number} on, this starts again, and {number} follows from no size.",
            BEYOND,
        ),
        "test": Wording("wrong-bounds-check", LIMIT, BEYOND),
        "test of a loop": Wording("wrong-loop-bound", LIMIT, BEYOND),
        # What comes of such a limit.
        "wrong beyond": Wording("", "{seen} Wrong on {label}, in {place}."),
        "no room": Wording("", "{what} {seen}"),
        "not tried": Wording(
            "", "{seen} Nothing longer than {label} was tried here.", "", "warning"
        ),
        # A number that is right for the usual size alone.
        "size in a test": Wording("wrong-bounds-check", USUAL, ANY_SIZE),
        "size in a loop": Wording("wrong-loop-bound", USUAL, ANY_SIZE),
        "size somewhere": Wording(
            "wrong-result",
            "The result is right where {axis} is {usual}. Where it is {other}, it is wrong in "
            "{part}.",
            "Which number in the kernel fits this size alone?",
        ),
    }
)
