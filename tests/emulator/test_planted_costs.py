"""Each of forty planted costs is named, at the line where somebody marked it beforehand."""

import inspect
import re

import pytest

pytest.importorskip("numba.cuda")

from every_case import every_case
from planted_costs import PLANTED

from course_lib.host import runtime

# The same cost, told at another line than the marked one; the line's text.
TOLD_ELSEWHERE = {
    "sum_by_one": "if i == 0:",
    "largest_of_a_block": "if t == 0:",
    "scaled_by_one": "def scaled_by_one(x, out):",
    "block_for_each_row": "def block_for_each_row(A, out):",
    "product_with_turned_tile": "acc += left[ty, j] * right[tx, j]",  # the conflict's other side
}


def test_there_are_forty_of_six_codes() -> None:
    marks = [re.findall(r"# cost: (\S+)", inspect.getsource(p.kernel)) for p in PLANTED.values()]
    assert len(marks) == 40 and all(len(found) == 1 for found in marks)
    assert len({code for found in marks for code in found}) == 6


@every_case("name", PLANTED)
def test_a_planted_cost_is_named_at_its_line(name: str) -> None:
    planted = PLANTED[name]
    lines, first = inspect.getsourcelines(planted.kernel)
    marked = next(line for line in lines if "# cost: " in line)
    code = marked.partition("# cost: ")[2].strip()
    text = TOLD_ELSEWHERE.get(name, marked.strip())
    (at,) = (number for number, line in enumerate(lines, first) if line.strip() == text)
    profile = runtime.emulate(planted.kernel)[planted.grid, planted.block](*planted.arguments())
    assert not profile.errors
    assert (code, at) in [(found.code, found.line) for found in profile.findings]
