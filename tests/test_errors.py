"""Errors that are one sentence: in IPython no traceback, elsewhere an ordinary exception."""

from __future__ import annotations

import pytest

pytest.importorskip("IPython")

from course_lib.wording.errors import LaunchRefused, PlainError
from course_lib.wording.findings import finding


def test_a_notebook_shows_the_sentence_and_no_traceback(
    capsys, monkeypatch, tmp_path, new_shell
) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = new_shell()
    shell.user_ns["error"] = PlainError("Only this sentence.")
    shell.run_cell("raise error")
    shown = capsys.readouterr()
    assert "Only this sentence." in shown.out + shown.err
    assert "Traceback" not in shown.out + shown.err


def test_a_refused_launch_gives_its_reasons_most_specific_first() -> None:
    reasons = [
        finding("unsupported", "The emulator knows no lambdas.", line=3),
        finding("compile-error", "A kernel returns nothing.", line=7, hint="Write to an array."),
    ]
    refused = LaunchRefused("add", reasons)
    assert [each.code for each in refused.findings] == ["compile-error", "unsupported"]
    assert str(refused) == (
        "add did not run. Line 7: A kernel returns nothing. Write to an array. "
        "Line 3: The emulator knows no lambdas."
    )
