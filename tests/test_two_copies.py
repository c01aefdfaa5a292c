"""The first cell to run: two kernels a line apart, equal in what they ask for."""

from __future__ import annotations

import inspect
from types import SimpleNamespace

import pytest

from course_lib import timing
from course_lib.host import runtime
from course_lib.questions import two_copies
from course_lib.wording.errors import PlainError


def test_they_differ_in_one_line_and_only_in_what_is_moved() -> None:
    one, other = (
        inspect.getsource(each.py_func).split(":", 1)[1].splitlines()
        for each in (two_copies.copy_1, two_copies.copy_2)
    )
    assert sum(a != b for a, b in zip(one, other, strict=True)) == 1
    numbers = two_copies.SIZE**2
    assert two_copies.bytes_of(two_copies.copy_1) == (8 * numbers, 8 * numbers)
    assert two_copies.bytes_of(two_copies.copy_2) == (8 * numbers, 8 * 8 * numbers)


def test_without_a_gpu_nothing_is_timed(capsys: pytest.CaptureFixture[str]) -> None:
    two_copies.two_copies()
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["asked", "for", "moved"]
    assert [row.split() for row in rows] == [
        ["copy", "1", "524", "kB", "524", "kB"],
        ["copy", "2", "524", "kB", "4,194", "kB"],
    ]


def test_on_a_gpu_both_are_timed_as_far_as_that_is_possible(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
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
