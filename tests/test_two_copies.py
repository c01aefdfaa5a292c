"""The first cell to run: two kernels a line apart, equal in what they ask for."""

from types import SimpleNamespace

import pytest

from course_lib import timing
from course_lib.host import runtime
from course_lib.questions import two_copies
from course_lib.wording.errors import PlainError


def test_without_a_gpu_nothing_is_timed(capsys: pytest.CaptureFixture[str]) -> None:
    two_copies.two_copies()
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["asked", "for", "moved"]
    assert [row.split() for row in rows] == [
        ["copy", "1", "524", "kB", "524", "kB"],
        ["copy", "2", "524", "kB", "4,194", "kB"],
    ]


def test_on_a_gpu_both_are_timed_as_far_as_that_is_possible(monkeypatch, capsys):
    monkeypatch.setattr(runtime, "on_gpu", lambda: True)

    def fake(kernel: object, *_: object, **__: object) -> SimpleNamespace:
        if kernel is two_copies.copy_2:
            raise PlainError("no CuPy")
        return SimpleNamespace(median_ms=0.25)

    monkeypatch.setattr(timing, "time_kernel", fake)
    two_copies.two_copies()
    head, first, second = capsys.readouterr().out.splitlines()
    assert head.endswith("time at 4096 × 4096")
    assert first.endswith("0.25 ms") and second.endswith("not measured")
