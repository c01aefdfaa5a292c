"""The student's own ladder is small while there is nothing in it, and has its text form."""

from dataclasses import replace

from course_lib import figures
from course_lib.own_ladder import OwnRung, whole_ladder


def steps(passed: int, of: str = "product") -> list[OwnRung]:
    return [
        replace(each, passed=place < passed, yours={"global_load_sectors": 1234})
        for place, each in enumerate(whole_ladder(of=of))
    ]


def test_a_ladder_that_nobody_has_climbed_is_a_short_picture() -> None:
    empty, begun = (figures.my_ladder(steps(count)) for count in (0, 1))
    assert empty.figure.get_figheight() < 2 < begun.figure.get_figheight()
    shown = " ".join(each.get_text() for axes in empty.figure.axes for each in axes.texts)
    assert all(each.rung in shown for each in steps(0))
    assert "not counted" not in shown and "1,234" not in shown
