"""Who looks at what the course shows: a notebook, a terminal, or nobody but a test.

This module imports nothing else of the course, and of Jupyter only what is running already.
"""

from __future__ import annotations

import os
import sys
from typing import Any

# Set by pytest, which runs nbval's kernels as well, and by whoever builds and tests on a server.
_OF_TESTS = ("PYTEST_VERSION", "PYTEST_CURRENT_TEST", "CI")


def shell() -> Any:
    """IPython's shell if this code runs in one; otherwise None."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


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
