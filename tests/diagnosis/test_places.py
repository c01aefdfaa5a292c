"""Every place that an idea names is one that a line finder knows."""

import pytest

from course_lib.curriculum import EXERCISES, TASKS
from course_lib.diagnosis.number_patterns import ideas_of
from course_lib.diagnosis.places import FINDERS
from course_lib.problems.table import problem_of

KERNELS = [entry for entry in (*EXERCISES.values(), *TASKS.values()) if entry.kind.is_launched]


@pytest.mark.parametrize("entry", KERNELS, ids=lambda entry: entry.id)
def test_of_a_wrong_idea(entry) -> None:  # type: ignore[no-untyped-def]
    for idea in ideas_of(entry, problem_of(entry)):
        assert not idea.place or idea.place[0] in FINDERS
