"""Every place that an entry or a hypothesis names is one that a line finder knows."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from course_lib.curriculum import TASKS
from course_lib.diagnosis.families.attention.lines import STEPS
from course_lib.diagnosis.families.locate import FINDERS

FAMILIES = Path(__file__).parents[2] / "course_lib" / "diagnosis" / "families"
TRIED = {"Slip": 3, "Hypothesis": 4}  # where the place stands among the arguments


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda each: each.id)
def test_of_a_wrong_idea(task) -> None:  # type: ignore[no-untyped-def]
    for idea in task.wrong_ideas:
        assert idea.place[0] in FINDERS
        assert idea.place[0] != "attention" or idea.place[1] in STEPS


@pytest.mark.parametrize("path", sorted(FAMILIES.rglob("*.py")), ids=lambda each: each.stem)
def test_of_a_hypothesis(path: Path) -> None:
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(call, ast.Call) or getattr(call.func, "id", "") not in TRIED:
            continue
        place = call.args[TRIED[call.func.id]] if len(call.args) > TRIED[call.func.id] else None  # type: ignore[attr-defined]
        match place:
            case ast.Tuple(elts=[ast.Constant(kind), *_]):
                assert kind in FINDERS, f"{path.name}, line {call.lineno}"
