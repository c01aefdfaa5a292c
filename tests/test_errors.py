"""Errors that are one sentence: in IPython no traceback, elsewhere an ordinary exception."""

from __future__ import annotations

import pytest

pytest.importorskip("IPython")

from course_lib.wording.errors import PlainError


def test_a_notebook_shows_the_sentence_and_no_traceback(capsys, monkeypatch, tmp_path, new_shell):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = new_shell()
    shell.user_ns["error"] = PlainError("Only this sentence.")
    shell.run_cell("raise error")
    shown = capsys.readouterr()
    assert "Only this sentence." in shown.out + shown.err
    assert "Traceback" not in shown.out + shown.err
