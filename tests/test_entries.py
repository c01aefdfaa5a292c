"""A mistake in an exercise's entry is told at once: the file, the line of the field, what to do."""

from dataclasses import replace
from pathlib import Path

import pytest
from child import python
from every_case import every_case

from course_lib.curriculum import EXERCISES, LESSONS, Exercise
from course_lib.exercises import matmul_naive
from course_lib.registry import entry_checks as entries
from course_lib.registry.entry_checks import BadEntry
from course_lib.registry.kinds import FUNCTION

REPOSITORY = Path(__file__).resolve().parent.parent
GOOD: dict[str, object] = {
    "id": "outer_product",
    "title": "Every product of two vectors",
    "lesson": "04",
    "parameters": ("x", "y", "C"),
    "points": {"right": 4, "bounds": 2, "coalesced": 2, "float32": 2},
    "reference": lambda x, y: x[:, None] * y,
    "shapes": ("M", "N", "M,N"),
}
BAD = {
    "sum": ({"points": {"right": 4, "bounds": 7}},
        "the points sum to 11, and every exercise has 10"),
    "property": ({"points": {"right": 4, "speed": 6}}, "a kernel is not judged by 'speed', but by"),
    "of a function": ({"points": {"right": 4, "refusals": 6}}, "not judged by 'refusals'"),
    "of a kernel": ({"points": {"right": 4, "bounds": 6}, "kind": FUNCTION}, "by 'bounds'"),
    "order": ({"points": {"bounds": 4, "right": 6}}, "`right` has to come first"),
    "no points": ({"points": {}}, "`right` has to come first"),
    "half": ({"points": {"right": 9.5, "bounds": 0.5}}, "write a whole number from 1 on"),
    "nothing": ({"points": {"right": 10, "bounds": 0}}, "bounds has 0 points"),
    "id": ({"id": "outer product"}, "'outer product' is no name in Python"),
    "keyword": ({"parameters": ("x", "in", "C")}, "'in' is no name in Python"),
    "twice": ({"parameters": ("x", "x", "C")}, "two parameters have one name"),
    "output": ({"output": "D"}, "the output D is none of the parameters (x, y, C)"),
    "not last": ({"output": "x"}, "the last parameter has to be the output"),
    "one shape": ({"shapes": ("M", "M,N")}, "one entry for each of x, y, C"),
    "four letters": ({"shapes": ("M,K", "N,L", "M,N")}, "three letters together"),
    "a number": ({"shapes": ("M", "N", "")}, "one or two axes"),
    "square": ({"shapes": ("M", "M", "M,M")}, "letters of their own"),
    "no reference": ({"reference": None}, "there are shapes but no `reference`"),
    "no function": ({"reference": 7}, "has to be a function"),
    "block": ({"block": (64, 32)}, "at most 1,024 threads"),
    "constant": ({"block": ("TILE", "TILE")}, "TILE is none of the constants"),
    "size": ({"block": (16, 0)}, "not 0"),
}  # fmt: skip


@every_case(("changes", "words"), BAD.values(), ids=BAD.keys())
def test_a_mistake_is_told(changes: dict[str, object], words: str) -> None:
    with pytest.raises(BadEntry) as told:
        Exercise(**{**GOOD, **changes})  # type: ignore[arg-type]
    said = str(told.value)
    assert words in said and said.startswith(f"{Path(__file__).name}, line ")
    assert said.endswith(".") and "\n" not in said and told.value._render_traceback_() == [said]


def test_an_exercise_names_its_lesson() -> None:
    good = Exercise(**GOOD)  # type: ignore[arg-type]
    several = (*EXERCISES.values(), good)
    entries.by_id(several, LESSONS)
    with pytest.raises(BadEntry, match="there is no lesson '99'"):
        entries.by_id((replace(good, lesson="99"),), LESSONS)
    with pytest.raises(BadEntry, match="another exercise of this id"):
        entries.by_id((*several, good), LESSONS)


def test_every_command_says_the_line_of_the_field(tmp_path: Path) -> None:
    """As an instructor meets it: an entry whose points sum to 11."""
    text = Path(matmul_naive.__file__).read_text(encoding="utf-8")
    wrong = text.replace('"bounds": 3, "float32": 2', '"bounds": 4, "float32": 2')
    line = next(n for n, each in enumerate(wrong.splitlines(), 1) if '"bounds": 4, "float' in each)
    path = tmp_path / "matmul_naive.py"
    path.write_text(wrong, encoding="utf-8")
    code = (
        "import sys, importlib.util as u\n"
        "from course_lib import cli\n"
        "asked = name = 'course_lib.exercises.matmul_naive'\n"
        f"s = u.spec_from_file_location(name, {str(path)!r})\n"
        "class Finder:\n"
        "    def find_spec(self, name, *rest):\n"
        "        return s if name == asked else None\n"
        "sys.meta_path.insert(0, Finder())\n"
        "sys.exit(cli.main(sys.argv[1:]))\n"
    )
    for command in (["grade", "x", "--out", "y"], ["release", "--out", "y"]):
        assert python("-c", code, *command, status=1).stderr == (
            f"matmul_naive.py, line {line}: matmul_naive: the points sum to 11, and every "
            "exercise has 10.\n"
        )
