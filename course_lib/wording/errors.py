"""Errors that a student sees as one sentence, without a traceback.

A traceback through the course's own files teaches nothing. IPython asks an exception how it
wants to be shown (`_render_traceback_`); these answer with their sentence.
"""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType

from course_lib.wording.findings import Finding, by_importance

# For sentences that name a mend: a bare `pip` may be another Python's than the one that runs this.
PIP_INSTALL = f"{shlex.quote(sys.executable)} -m pip install"


class PlainError(Exception):
    """An error whose message is everything there is to say."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, or a notebook's stop button, in the middle of the course's own work."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@contextlib.contextmanager
def interruptible(what: str) -> Iterator[None]:
    """Let Ctrl-C say `what` was stopped, rather than where in the course's files it was.

    Raises:
        Interrupted: in place of a bare KeyboardInterrupt.
    """
    try:
        yield
    except Interrupted:
        raise
    except KeyboardInterrupt:
        raise Interrupted(f"Interrupted: {what}") from None


def excepthook(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """What ends a script: one sentence where that is everything there is to say."""
    if isinstance(error, PlainError | Interrupted):
        print(error, file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


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


class NotContiguous(PlainError, ValueError):
    """An array of the host with gaps between its elements was to go to the GPU."""

    def __init__(self) -> None:
        super().__init__(
            "An array with gaps between its elements, such as x[::2], can't be copied to a GPU: "
            "Numba copies one contiguous piece of memory. np.ascontiguousarray(…) makes a "
            "contiguous copy. A slice of an array made by cuda.to_device(…) works as it is."
        )


class LaunchStopped(PlainError):
    """A launch used up its steps, and was ended."""

    def __init__(self, kernel_name: str, finding: Finding) -> None:
        said = f"{finding} {finding.hint}"
        super().__init__(
            f"{kernel_name} was stopped. {said[:1].upper()}{said[1:]} What it had written "
            "by then is still in its arrays."
        )


class ArgumentsRefused(PlainError, TypeError, ValueError):
    """A ufunc or a reduction was given what Numba's for GPUs do not take."""


class LaunchRefused(PlainError):
    """The kernel never ran: a GPU, Numba's compiler or the emulator would not take it.

    Attributes:
        findings: why, the most specific reason first.
    """

    def __init__(self, kernel_name: str, findings: Iterable[Finding], place: str = "") -> None:
        self.findings = by_importance(findings)
        reasons = [f"{finding} {finding.hint}".strip() for finding in self.findings]
        sentences = [reason[:1].upper() + reason[1:] for reason in reasons]
        where = f"{place}: " if place else ""
        super().__init__(" ".join([f"{where}{kernel_name} did not run.", *sentences]))


class LaunchFailed(PlainError):
    """A launch under `course_lib.emulated()` ran, and is wrong.

    Attributes:
        findings: its errors, the most important first.
    """

    def __init__(self, sentences: str, findings: Sequence[Finding]) -> None:
        self.findings = list(findings)
        super().__init__(sentences)

    def __str__(self) -> str:  # also where it is a KeyError as well, which shows a quotation
        return str(self.args[0])
