"""Bounds on work are held in counted calls: the same on every machine, however busy it is.

A clock would count the neighbours' work, too. Here it only ends what hangs.
"""

import contextlib
import cProfile
import faulthandler
import threading
from collections.abc import Iterator

HANGS = 900  # seconds; whatever takes as long hangs, also on a machine that is very busy


class Calls:
    """How many functions were called, Python's own among them, in this thread and new ones."""

    def __init__(self) -> None:
        self._profiles: list[cProfile.Profile] = []

    def start(self, *_: object) -> None:
        """Begin to count in the running thread."""
        profile = cProfile.Profile()
        self._profiles.append(profile)
        profile.enable()

    @property
    def count(self) -> int:
        return sum(each.callcount for one in self._profiles for each in one.getstats())

    def stop(self) -> None:
        # Those of threads that have ended, too: one that is thrown away while it is enabled would
        # end the profile of whoever runs then.
        for each in self._profiles:
            each.disable()


@contextlib.contextmanager
def counted_calls(most: int) -> Iterator[Calls]:
    """Hold what is done within to `most` calls; whatever hangs is ended, with its traceback."""
    calls = Calls()
    faulthandler.dump_traceback_later(HANGS, exit=True)
    threading.setprofile(calls.start)  # the emulator gives each warp a thread
    calls.start()
    try:
        yield calls
    finally:
        calls.stop()
        threading.setprofile(None)  # type: ignore[arg-type]
        faulthandler.cancel_dump_traceback_later()
    assert calls.count <= most, f"{calls.count:,} calls, where {most:,} are allowed"
