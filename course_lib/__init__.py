"""Matmul Ladder: from a first CUDA kernel to a fast matrix multiplication, on any machine.

A lesson needs the few names below. They are fetched when they are first used, so that
`import course_lib` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from course_lib.checking import check, examine, examine_source
    from course_lib.compiled_counts.emulate import emulate
    from course_lib.host.emulated import emulated
    from course_lib.host.runtime import last_profile, on_gpu, start
    from course_lib.machine_code import compile_report
    from course_lib.ncu import ncu_report
    from course_lib.questions.two_copies import two_copies
    from course_lib.quiz import predict
    from course_lib.shown_answers import show_answer, yours_or_ours
    from course_lib.tiles import emulate_tiles
    from course_lib.wording.errors import LaunchFailed, LaunchRefused
    from course_lib.wording.findings import Finding

__version__ = "0.1.0"

__all__ = [
    "Finding",
    "LaunchFailed",
    "LaunchRefused",
    "check",
    "compile_report",
    "emulate",
    "emulate_tiles",
    "emulated",
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
    "Finding": "wording.findings",
    "LaunchFailed": "wording.errors",
    "LaunchRefused": "wording.errors",
    "check": "checking",
    "compile_report": "machine_code",
    "emulate": "compiled_counts.emulate",
    "emulate_tiles": "tiles",
    "emulated": "host.emulated",
    "examine": "checking",
    "examine_source": "checking",
    "last_profile": "host.runtime",
    "ncu_report": "ncu",
    "on_gpu": "host.runtime",
    "predict": "quiz",
    "show_answer": "shown_answers",
    "start": "host.runtime",
    "two_copies": "questions.two_copies",
    "yours_or_ours": "shown_answers",
}


def __getattr__(name: str) -> object:
    if name == "progress":
        return importlib.import_module("course_lib.student.progress")
    if name == "quiz":
        return importlib.import_module("course_lib.quiz")
    if name not in _HOME:
        raise AttributeError(f"module 'course_lib' has no attribute {name!r}")
    return getattr(importlib.import_module(f"course_lib.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
