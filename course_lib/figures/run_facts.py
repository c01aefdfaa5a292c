"""What one small launch of a student's kernel did: who wrote what, what it moved, in words."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from course_lib.figures.small_launch import Index, SmallLaunch, Thread, touches_of
from course_lib.wording.words import counted, element, joined

SECTORS_NAMED_FROM = "03", 2  # lesson and place of the first task after sectors are explained
FLOAT_BYTES = 4
_BYTES = {"float32": FLOAT_BYTES, "float16": 2, "bfloat16": 2}


class OwnRun:
    """What a launch did, as the picture needs it."""

    def __init__(self, ran: SmallLaunch) -> None:
        self.ran = ran
        self.output = ran.task.output
        self.touches = touches_of(ran)
        self.profile = ran.profile

    @cached_property
    def writers(self) -> dict[Index, Thread]:
        """The thread that wrote each element last."""
        return {
            operation.index: operation.thread
            for operation in self.touches
            if operation.array == self.output and not operation.is_load
        }

    @cached_property
    def busy(self) -> set[Thread]:
        """The threads that put something into an array in global memory."""
        return {
            operation.thread
            for operation in self.touches
            if not operation.is_load and operation.space != "shared"
        }

    @cached_property
    def helpers(self) -> set[Thread]:
        """The threads that put something into shared memory, for others, and nowhere else."""
        return {operation.thread for operation in self.touches if not operation.is_load} - self.busy

    @property
    def axes_of_output(self) -> int:
        return self.ran.output.ndim

    @property
    def elements_written(self) -> int:
        return len(self.writers)

    @cached_property
    def grid(self) -> tuple[int, int, int]:
        x, y, z = (*self.ran.launch.grid, 1, 1)[:3]
        return x, y, z

    @cached_property
    def block(self) -> tuple[int, int, int]:
        x, y, z = (*self.ran.launch.block, 1, 1)[:3]
        return x, y, z

    def all_threads(self) -> Iterator[Thread]:
        """Every thread as (block z, y, x, thread z, y, x), x running fastest."""
        yield from np.ndindex(*self.grid[::-1], *self.block[::-1])

    def block_number(self, thread: Thread) -> int:
        return int(np.ravel_multi_index(thread[:3], self.grid[::-1]))

    @property
    def names_sectors(self) -> bool:
        """Does the student know what a sector is?"""
        return (self.ran.task.lesson, self.ran.task.position) >= SECTORS_NAMED_FROM

    @property
    def is_about_warps(self) -> bool:
        """Is it the task's point what a warp asks for?"""
        task = self.ran.task
        about = task.lesson == SECTORS_NAMED_FROM[0] or "coalesced" in task.requirements
        return about and self.names_sectors and self.profile.global_load_requests > 0

    @cached_property
    def picked(self) -> Index | None:
        """An element away from the corners and from the diagonal, if it was written; else one."""
        *rows, columns = self.ran.output.shape
        wanted = (*(size // 3 for size in rows), 2 * columns // 3)
        return wanted if wanted in self.writers else min(self.writers, default=None)

    # --- words ---

    @property
    def launch_words(self) -> str:
        threads, blocks = self.profile.threads, int(np.prod(self.grid))
        where = f" in {blocks} blocks" if blocks > 1 else ""
        return f"{counted(threads, 'thread')}{where}"

    @property
    def counts(self) -> str:
        """Idle threads, what was loaded and stored, shared memory, barriers."""
        profile, helpers = self.profile, len(self.helpers)
        idle = profile.threads - len(self.busy) - helpers
        told = [f"{_threads_write(idle)} nothing (hatched)"] if idle else []
        told += [f"{_threads_write(helpers)} to shared memory only (hatched)"] if helpers else []
        loaded, stored = profile.global_load_bytes, profile.global_store_bytes
        sizes = [_BYTES[format_name] for format_name in self.ran.task.formats]
        told.append(
            self._moved("loaded", loaded, profile.global_load_sectors, min(sizes, default=4))
        )
        told.append(self._moved("stored", stored, profile.global_store_sectors))
        blocks = int(np.prod(self.grid))
        cells = sum(int(np.prod(use.shape)) for use in profile.shared_arrays)
        told.append(
            f"{counted(cells, 'shared cell')}{' per block' * (blocks > 1)}" if cells else ""
        )
        if profile.barriers and profile.barriers % blocks == 0:
            per_block = " per block" if blocks > 1 else ""
            told.append(f"{counted(profile.barriers // blocks, 'barrier')}{per_block}")
        elif profile.barriers:
            told.append(counted(profile.barriers, "barrier"))
        return " · ".join(filter(None, told))

    def _moved(self, verb: str, size: int, sectors: int, number_bytes: int = FLOAT_BYTES) -> str:
        if not size:
            return ""
        told = f"{counted(size // number_bytes, 'number')} {verb}"
        return f"{told} in {counted(sectors, 'sector')}" if self.names_sectors else told

    @property
    def sentence(self) -> str:
        if self.picked is None:
            return "No element was written."
        writer = self.writers[self.picked]
        others = sum(thread == writer for thread in self.writers.values()) - 1
        more = f" and {counted(others, 'other element')}" if others else ""
        wrote = f"{self.thread_words(writer)} wrote {element(self.output, self.picked)}{more}"
        return f"{wrote}{self._from_shared()}{self._from_broadcasts()}."

    @cached_property
    def broadcasts(self) -> dict[tuple[str, Index], set[Thread]]:
        """One or two elements that are all the picked one's writer loads, if other threads load
        each of them too: all threads that do."""
        if self.picked is None or self.profile.shared_arrays or self.axes_of_output != 2:
            return {}
        readers: dict[tuple[str, Index], set[Thread]] = {}
        for operation in self.touches:
            if operation.is_load and operation.space == "global":
                readers.setdefault((operation.array, operation.index), set()).add(operation.thread)
        writer = self.writers[self.picked]
        mine = {loaded: threads for loaded, threads in readers.items() if writer in threads}
        are_few = len(mine) <= 2 and min(map(len, mine.values()), default=0) > 1
        return mine if are_few else {}

    def _from_broadcasts(self) -> str:
        told = joined([element(*loaded) for loaded in self.broadcasts])
        return f" from {told} (yellow: who loads one of them)" if told else ""

    def _from_shared(self) -> str:
        """What the picked element was taken from, if that was one shared element."""
        assert self.picked is not None
        writer = self.writers[self.picked]
        taken = [
            t for t in self.touches if t.thread == writer and t.is_load and t.space == "shared"
        ]
        if len(taken) != 1:
            return ""
        (load,) = taken
        fillers = {
            operation.thread
            for operation in self.touches
            if (operation.array, operation.index, operation.thread[:3], operation.is_load)
            == (load.array, load.index, writer[:3], False)
        }
        if len(fillers) != 1:
            return ""
        cell = element(load.array, load.index)
        thread = self.thread_words(fillers.pop()).split(" of block")[0]
        return f" with what {thread[0].lower()}{thread[1:]} had put into {cell}"

    def thread_words(self, thread: Thread) -> str:
        """ "Thread (3, 0) of block (1, 0)", with as many numbers as the launch has directions."""
        directions = len(self.ran.launch.block)
        block, inside = thread[:3][::-1][:directions], thread[3:][::-1][:directions]
        of_block = f" of block {_place(block)}" if int(np.prod(self.grid)) > 1 else ""
        return f"Thread {_place(inside)}{of_block}"


def _threads_write(count: int) -> str:
    return f"{counted(count, 'thread')} {'writes' if count == 1 else 'write'}"


def _place(numbers: tuple[int, ...]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"({', '.join(map(str, numbers))})"
