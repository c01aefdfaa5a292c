"""Matmul Ladder: from a first CUDA kernel to a fast matrix multiplication, on any machine.

A lesson needs the few names below. They are fetched when they are first used, so that
`import course_lib` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from course_lib.checking import check, examine, examine_source
    from course_lib.findings import Finding
    from course_lib.helping import show_answer, yours_or_ours
    from course_lib.machine_code import compile_report
    from course_lib.ncu import ncu_report
    from course_lib.predictions import predict
    from course_lib.profiles import emulate
    from course_lib.runtime import last_profile, on_gpu, start
    from course_lib.two_copies import two_copies

__version__ = "0.1.0"

__all__ = [
    "Finding",
    "check",
    "compile_report",
    "emulate",
    "examine",
    "examine_source",
    "last_profile",
    "ncu_report",
    "on_gpu",
    "predict",
    "show_answer",
    "start",
    "two_copies",
    "yours_or_ours",
]

_HOME = {
    "Finding": "findings",
    "check": "checking",
    "compile_report": "machine_code",
    "emulate": "profiles",
    "examine": "checking",
    "examine_source": "checking",
    "last_profile": "runtime",
    "ncu_report": "ncu",
    "on_gpu": "runtime",
    "predict": "predictions",
    "show_answer": "helping",
    "start": "runtime",
    "two_copies": "two_copies",
    "yours_or_ours": "helping",
}


def __getattr__(name: str) -> object:
    if name in ("progress", "quiz"):
        return importlib.import_module(f"course_lib.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'course_lib' has no attribute {name!r}")
    return getattr(importlib.import_module(f"course_lib.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
