"""Who looks at what the course shows: a notebook, a terminal, or nobody but a test.

This module imports nothing else of the course, and of Jupyter only what is running already.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import Any

# Where a cell stopped with an error: its number as IPython counts, and the line.
_STOPPED: dict[int, int] = {}
# Set by pytest, which runs nbval's kernels as well, and by whoever builds and tests on a server.
_OF_TESTS = ("PYTEST_VERSION", "PYTEST_CURRENT_TEST", "CI")


def shell() -> Any:
    """IPython's shell if this code runs in one; otherwise None."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def notice_errors(shell: Any) -> None:
    """Let this shell note from now on which cells stop with an error, and at which line."""
    shell.events.register("post_run_cell", _note)


def stopped_at(cell: int) -> int | None:
    """The line at which this cell stopped with an error when it ran; None where it did not."""
    return _STOPPED.get(cell)


def _note(result: Any) -> None:
    trace = getattr(result.error_in_exec, "__traceback__", None)
    _STOPPED.pop(result.execution_count, None)
    if line := _line_of_cell(trace):
        _STOPPED[result.execution_count] = line


def _line_of_cell(trace: TracebackType | None) -> int | None:
    # Above it stand IPython's own frames; what it calls a cell has changed with its versions.
    while trace and not trace.tb_frame.f_code.co_name.startswith(("<module>", "<cell line")):
        trace = trace.tb_next
    return trace.tb_lineno if trace else None


def shows_html() -> bool:
    """Does this code run where a display is a cell's output, and not text on a terminal?"""
    return hasattr(shell(), "kernel")


def on_colab() -> bool:
    """Is this a notebook of Google's, which has no folder of the course around it?"""
    return "google.colab" in sys.modules


def is_tested() -> bool:
    """Does a test or a server run this, and no student?"""
    return any(os.environ.get(name) for name in _OF_TESTS)


def has_a_student() -> bool:
    """Does somebody type here: in a notebook, in IPython, or at Python's own prompt?"""
    return not is_tested() and (shell() is not None or hasattr(sys, "ps1"))
