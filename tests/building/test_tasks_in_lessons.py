"""One line places a task in a lesson; its cells come from the task's own file."""

import pytest

from course_lib.building.notebook import BuildError, Cell, code, markdown
from course_lib.building.placed import with_placed


def lesson(*placed: str) -> list[Cell]:
    lines = [code(f"# TASK {name}", id=f"t{n}") for n, name in enumerate(placed)]
    imports = "from numba import cuda, float32\nfrom course_lib import figures"
    return [code(imports, id="i"), *lines, markdown("Next.", id="n")]


@pytest.mark.parametrize(("placed", "number", "words"), [
    (("put_eight",), "00", "there is no task put_eight"),
    (("put_seven", "put_seven"), "00", "is there twice"),
    (("put_seven",), "01", "belongs to lesson 00"),
])  # fmt: skip
def test_a_task_that_cannot_stand_there_is_told(placed, number, words):
    with pytest.raises(BuildError, match=words):
        with_placed(lesson(*placed), number)
