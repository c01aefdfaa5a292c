"""What an answer looks like in a student's cells: one function, or some constants."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import ClassVar

from course_lib.curriculum import Exercise
from course_lib.grading.answers.cell_code import Code
from course_lib.grading.answers.segments import Segment


class Form(ABC):
    """How to recognise the answer to an exercise.

    Attributes:
        is_one_function: it may be found by its name anywhere, and be cut in two by a cell's end.
    """

    is_one_function: ClassVar[bool]

    def __init__(self, exercise: Exercise) -> None:
        self.exercise = exercise
        self.names = exercise.names_to_define

    @abstractmethod
    def is_defined_in(self, segment: Segment) -> bool:
        """Whether all that is asked for stands there, complete or not."""

    @abstractmethod
    def is_changed_in(self, segment: Segment, given: frozenset[str]) -> bool:
        """Whether what is defined there is more than what was given."""

    @abstractmethod
    def is_attempted_in(self, segment: Segment, marked: bool) -> bool:
        """Whether a cell without the definition tries to answer all the same."""

    def is_begun_in(self, segment: Segment) -> bool:
        """Whether the first line of a definition stands there, readable or not."""
        return False


class FunctionForm(Form):
    """A function with the exercise's name."""

    is_one_function = True

    def is_defined_in(self, segment: Segment) -> bool:
        bound = segment.binding(self.exercise.id)
        return any(each.kind == "function" or each.makes for each in bound)

    def is_changed_in(self, segment: Segment, given: frozenset[str]) -> bool:
        bound = segment.binding(self.exercise.id)
        last = [each for each in bound if each.kind == "function" or each.makes][-1]
        return not last.is_stub and last.shape not in given

    def is_attempted_in(self, segment: Segment, marked: bool) -> bool:
        return bool(segment.binding(self.exercise.id)) or self.is_begun_in(segment)

    def is_begun_in(self, segment: Segment) -> bool:
        pattern = rf"^[ \t]*(?:async[ \t]+)?def[ \t]+{self.exercise.id}[ \t]*\("
        return re.search(pattern, segment.text, re.MULTILINE) is not None


class ConstantsForm(Form):
    """Numbers under the names that the exercise gives."""

    is_one_function = False

    def is_defined_in(self, segment: Segment) -> bool:
        if not all(map(segment.mentions, self.names)):
            return False
        statements = segment.code.statements
        bound = frozenset[str]().union(*(each.binds for each in statements))
        # With a kernel in it, it is the answer to another exercise that has such constants.
        return bound.issuperset(self.names) and not any(
            each.kind == "function" for each in statements
        )

    def is_changed_in(self, segment: Segment, given: frozenset[str]) -> bool:
        return not given or shapes_of(self.names, segment.code) != given

    def is_attempted_in(self, segment: Segment, marked: bool) -> bool:
        return marked and any(map(segment.binding, self.names))


def form_of(exercise: Exercise) -> Form:
    """How an answer to this exercise is written."""
    return FunctionForm(exercise) if exercise.kind.is_function else ConstantsForm(exercise)


def shapes_of(names: Collection[str], code: Code) -> frozenset[str]:
    """What tells whether an answer is still the one that was given."""
    return frozenset(each.shape for each in code.statements if each.binds.intersection(names))
