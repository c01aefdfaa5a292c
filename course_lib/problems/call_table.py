"""What a plain function is tried with: calls, the right results, and what wrong ones compute."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from course_lib.registry.exercise import Exercise, Task, WrongIdea

Arguments = tuple[object, ...]


@dataclass(frozen=True)
class CallTable:
    """What a plain function is tried with, and what is right.

    Attributes:
        entry: the exercise or task.
        calls: the arguments of each call.
        reference: what is right.
        wrong_ideas: what wrong answers usually compute.
        numbers: those that may be meant where others stand.
        drawn: the calls that were drawn for grading, which are nobody's to know.
        refused: the rule by which a call is refused, as a word, and why, as a sentence.
        worked: how the right number comes about, beside the one that came out, as sentences.
    """

    entry: Exercise
    calls: Sequence[Arguments]
    reference: Callable[..., float]
    wrong_ideas: Sequence[WrongIdea] = ()
    numbers: Sequence[int] = ()
    drawn: frozenset[Arguments] = frozenset()
    refused: Callable[..., tuple[str, str] | None] = lambda *arguments: None
    worked: Callable[[Arguments, float | None], str] = lambda arguments, value: ""

    @cached_property
    def whole(self) -> bool:
        """Does it ask for whole numbers?"""
        return all(isinstance(self.reference(*call), int) for call in self.calls)


def table_of(task: Task) -> CallTable:
    """The calls of a task."""
    assert task.reference is not None
    numbers = [
        node.value
        for node in ast.walk(ast.parse(task.answer))
        if isinstance(node, ast.Constant) and type(node.value) is int
    ]
    return CallTable(task, task.arguments, task.reference, task.wrong_ideas, numbers)
