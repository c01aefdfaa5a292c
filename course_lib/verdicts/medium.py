"""Where a verdict is read, and what it can point to there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Medium:
    """A notebook, or a page of the book whose cell is judged in the browser.

    Attributes:
        shows_answer: how a student who is stuck gets to see an answer; {id} stands for the task.
        address: of another lesson or its exercises, seen from one; {folder} and {stem} stand for
            its file, and "" is for a place that has no such address.
    """

    shows_answer: str
    address: str = ""


_BY_CALL = 'course_lib.show_answer("{id}") shows an answer.'

NOTEBOOK = Medium(_BY_CALL, address="../{folder}/{stem}.ipynb")
COLAB = Medium(_BY_CALL)  # it has no folder of the course around a notebook
PAGE = Medium(
    "The button “Show one answer” shows one.",
    address="../{folder}/{stem}.html",
)
