"""Starts the kernel of a batch with limits: what a budget has missed ends here, and nothing else.

The limits are far beyond what any answer needs, because verdicts must not depend on them.
"""

import contextlib
import ctypes
import os
import signal
import sys

MEMORY = "GRADING_KERNEL_MEMORY"  # bytes
SECONDS = "GRADING_KERNEL_SECONDS"  # of processor time, for the whole batch
MOST_OUTPUT_BYTES = 2**26
_PR_SET_PDEATHSIG = 1


def limit_resources() -> None:
    """Bound memory, processor time and the size of files, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return

    def limit(which: int, most: int) -> None:
        with contextlib.suppress(ValueError, OSError):  # a stricter limit is there already
            resource.setrlimit(which, (most, most))

    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_FSIZE, MOST_OUTPUT_BYTES)
    limit(resource.RLIMIT_AS, int(os.environ[MEMORY]))
    limit(resource.RLIMIT_CPU, int(os.environ[SECONDS]))


def end_with_the_parent() -> None:
    """Let Linux end this process when pytest ends, however it does."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def main() -> None:
    """Become an ordinary kernel."""
    end_with_the_parent()
    limit_resources()
    from ipykernel.kernelapp import launch_new_instance

    launch_new_instance()


if __name__ == "__main__":
    main()
