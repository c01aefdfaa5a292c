"""Errors that a student sees as one sentence, without a traceback.

A traceback through the course's own files teaches nothing. IPython asks an exception how it
wants to be shown (`_render_traceback_`); these answer with their sentence.
"""

from __future__ import annotations

from collections.abc import Iterable

from course_lib.findings import Finding, by_importance


class PlainError(Exception):
    """An error whose message is everything there is to say."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class EmulatedTimingRefused(PlainError):
    """Someone asked how long an emulated kernel took."""

    def __init__(self, what: str = "This launch") -> None:
        super().__init__(
            f"{what} cannot be timed here: it runs on the emulator, and the emulator's speed says "
            "nothing about a GPU's. Read its counts instead, or run this cell on a GPU."
        )


class NoGpuHere(PlainError):
    """Someone asked the GPU a question, and there is none."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} needs a GPU, and here kernels run on the emulator.")


class LaunchRefused(PlainError):
    """The kernel never ran: a GPU, Numba's compiler or the emulator would not take it.

    Attributes:
        findings: why, the most specific reason first.
    """

    def __init__(self, kernel_name: str, findings: Iterable[Finding]) -> None:
        self.findings = by_importance(findings)
        reasons = [f"{each} {each.hint}".strip() for each in self.findings]
        sentences = [reason[:1].upper() + reason[1:] for reason in reasons]
        super().__init__(" ".join([f"{kernel_name} did not run.", *sentences]))
