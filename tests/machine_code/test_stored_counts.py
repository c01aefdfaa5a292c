"""What lessons 08 and 08b show where no compiler is, held to a compiler where one is."""

from pathlib import Path

import pytest
from by_path import module_at

from course_lib import machine_code
from course_lib.curriculum import TASKS
from course_lib.machine_code import CompilerMissing
from course_lib.measurements.machine_code import counted, names

SCRIPT = module_at(Path(__file__).parents[2] / "benchmarks" / "stored_machine_code.py")


def compiled(count, *given):
    """What a function of the script counts, where a compiler and a disassembler are."""
    try:
        return count(*given)
    except CompilerMissing as problem:
        pytest.skip(str(problem))


@pytest.mark.slow
@pytest.mark.skipif(bool(machine_code.missing()), reason="no compiler here")
@pytest.mark.parametrize("name", names())
def test_the_stored_counts_are_those_of_this_compiler(name: str, tmp_path: Path) -> None:
    """Compilers differ from version to version; what a lesson says has to stay true."""
    report, each = compiled(SCRIPT.counted, name, tmp_path)
    stored = counted(name)
    assert each == pytest.approx(stored.instructions, rel=0.05)
    assert (report.spill_store_bytes > 0) == (stored.spilled_bytes > 0)


def test_what_the_lesson_says_about_them() -> None:
    assert counted("eight_by_eight").instructions <= TASKS["eight_by_eight"].instructions
    assert counted("eight_by_eight unsigned").instructions > TASKS["eight_by_eight"].instructions
    assert (
        counted("sixteen_by_sixteen").spilled_bytes > 0 == counted("eight_by_eight").spilled_bytes
    )
    assert counted("coalesced").instructions > 4 * counted("coalesced_while").instructions
    assert {*SCRIPT.RUNGS, *SCRIPT.VARIANTS} == set(names())
