"""Run a task's kernel with arrays small enough to draw, and trace what each output came from."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from course_lib.answer_text import context as callers
from course_lib.curriculum import Launch, Task
from course_lib.devices.number_formats import encoded
from course_lib.emulator import Kernel, Profile, TracedAccess, emulate
from course_lib.registry import entry_checks as entries
from course_lib.wording.errors import PlainError

Purpose = Literal["reading", "running"]

# Tasks of these families name no letters of their own.
_SHAPES_OF_FAMILY: Mapping[str, tuple[str, ...]] = {
    "product": ("M,K", "K,N", "M,N"),
    "register product": ("M,K", "K,N", "M,N"),
    "sum": ("M,N", "M,N", "M,N"),
    "transpose": ("M,N", "N,M"),
    "scan": ("N", "N"),
}
# Numbers in which a rule can be seen: no two equal, none equal to its place, sums told by digits.
_MOST_TERMS = 16  # of products of the numbers 1 to 3, whose sum has two digits as a rule
_DIGITS = (4, 7, 1, 9, 3, 8, 2, 6, 5)
_FEW = (2, 1, 3, 1, 2, 3, 3, 2, 1, 1, 3, 2, 2, 3)  # for sums of products
_ALONG_K: Mapping[Purpose, int] = {"reading": 4, "running": 10}  # further than a sector reaches
_ROWS, _COLUMNS, _LONG = 5, 6, 10


class NoPicture(PlainError, ValueError):
    """There is nothing to draw for this task; the sentence says why."""


@dataclass(frozen=True)
class SmallLaunch:
    """One traced launch."""

    task: Task  # what was launched
    # the axes of each array, the output last: ("N",), ("M", "K")
    letters: Mapping[str, tuple[str, ...]]
    # every array after the launch, by the task's own names; numbers have no axes
    arrays: Mapping[str, np.ndarray]
    profile: Profile  # what the emulator saw, with its trace
    launch: Launch  # grid and block, x first
    _names: Mapping[str, str]  # the kernel's name of a parameter -> the task's

    @property
    def inputs(self) -> dict[str, np.ndarray]:
        return {name: array for name, array in self.arrays.items() if name != self.task.output}

    @property
    def output(self) -> np.ndarray:
        return self.arrays[self.task.output]

    def name_of(self, array: str) -> str:
        """The task's own name of an array that the kernel may call otherwise."""
        return self._names.get(array, array)

    def accesses(self) -> Iterator[tuple[str, TracedAccess]]:
        """All accesses to global and shared memory in their order, each with the array's name."""
        for access in self.profile.trace:
            if access.space != "local":
                is_global = access.space == "global"
                yield self.name_of(access.array) if is_global else access.array, access


def launch_answer(
    task: Task, purpose: Purpose, changed: tuple[str, tuple[int, ...]] | None = None
) -> SmallLaunch:
    """Launch the task's own answer."""
    return launch_small(task, callers.our_kernel(task), purpose, changed)


def launch_small(
    task: Task, kernel: Kernel, purpose: Purpose, changed: tuple[str, tuple[int, ...]] | None = None
) -> SmallLaunch:
    """Launch a kernel of a task.

    Args:
        kernel: the student's, or the task's own.
        purpose: "reading": so few elements that each has its number; "running": blocks with a
            ragged edge, and full warps where the task is about what a warp asks for.
        changed: an element of an input, by its array and index, that holds one more than usual.

    Raises:
        NoPicture: if the task has no launch, or none that is small.
        KernelRejected: if the emulator refuses the kernel.
    """
    letters = _letters_of(task)
    sizes = _sizes(task, letters, purpose)
    shapes = {name: tuple(sizes[k] for k in axes) for name, axes in letters.items()}
    arrays = _filled(task, letters, shapes)
    if changed is not None:
        arrays[changed[0]][changed[1]] += 1
    # The family of transposes covers what it reads; all others what they write.
    covered = task.parameters[0] if task.family == "transpose" else task.output
    launch = task.launch(shapes[covered])
    arguments = [_as_held(task, name, array) for name, array in arrays.items()]
    trace = changed is None  # of a probe, only the numbers are looked at
    profile = emulate(kernel, trace=trace)[launch.grid, launch.block](*arguments)
    names = dict(zip(kernel.parameters, task.parameters, strict=False))
    return SmallLaunch(task, letters, arrays, profile, launch, names)


def _as_held(task: Task, name: str, array: np.ndarray) -> np.ndarray | np.float32:
    """An argument of the launch; an array of another format is a copy."""
    if not array.ndim:
        return np.float32(array)
    return encoded(array, task.dtypes[name]) if name in task.dtypes else array


def _letters_of(task: Task) -> dict[str, tuple[str, ...]]:
    shapes = task.shapes or _SHAPES_OF_FAMILY.get(task.family, ())
    if not task.kind.is_launched or len(shapes) != len(task.parameters):
        raise NoPicture(f"There is no picture for {task.id}: its arrays are not described.")
    return dict(zip(task.parameters, map(entries.axes, shapes), strict=True))


def _sizes(task: Task, letters: Mapping[str, tuple[str, ...]], purpose: Purpose) -> dict[str, int]:
    """A size for every letter; a number is its own size."""
    of_output = letters[task.output]
    sizes = {k: 0 if entries.is_free(k) else int(k) for axes in letters.values() for k in axes}
    free = [k for k in sizes if not sizes[k]]
    threads = _threads_along(task, of_output)
    few_threads = _threads_of_few(task, of_output)
    in_a_row = {axes[0] for axes in letters.values() if len(axes) == 1}
    for letter in free:
        if few_threads > 1 and letter in in_a_row:
            sizes[letter] = 2 * few_threads + max(1, few_threads // 4)
        elif letter not in of_output:
            sizes[letter] = _ALONG_K[purpose]
        elif purpose == "running":
            sizes[letter] = _ragged(threads.get(letter, 1), len(of_output))
        elif len(free) == 1:
            sizes[letter] = _LONG
        else:
            sizes[letter] = _ROWS if letter == of_output[0] and len(of_output) > 1 else _COLUMNS
    return sizes


def _threads_along(task: Task, of_output: tuple[str, ...]) -> dict[str, int]:
    """How many threads of a block lie along each axis of the output, by the task's own launch."""
    given = {**task.constants}
    threads = [given[size] if isinstance(size, str) else size for size in task.block]
    along = task.grid if any(isinstance(k, str) for k in task.grid) else of_output[::-1]
    pairs = zip(along, threads, strict=False)
    return {k: count for k, count in pairs if isinstance(k, str)}


def _threads_of_few(task: Task, of_output: tuple[str, ...]) -> int:
    """How many threads a launch has if each takes several elements of a row; else 0.

    Their number is fixed, or a block of them covers a tile of more elements than it has threads.
    """
    threads = [task.constants[size] if isinstance(size, str) else size for size in task.block]
    if task.tile is not None and len(of_output) == 1:
        return int(np.prod(threads))
    blocks = [size for size in task.grid if not isinstance(size, str)]
    if not blocks or len(blocks) < len(task.grid):
        return 0
    return int(np.prod(threads)) * int(np.prod(blocks))


def _ragged(threads: int, axes: int) -> int:
    """So many elements that the last of two or three blocks sticks out."""
    if threads <= 1:
        return _ROWS
    return threads * (1 if axes > 1 or threads > 4 else 2) + max(1, threads // 2)


def _filled(
    task: Task, letters: Mapping[str, tuple[str, ...]], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, np.ndarray]:
    """Inputs of simple whole numbers, and the output as it is before the launch."""
    of_output = letters[task.output]
    terms = max(
        (
            size if len(axes) > 1 else 1  # of a long row, a thread adds up only some
            for name, axes in letters.items()
            for letter, size in zip(axes, shapes[name], strict=False)
            if letter not in of_output
        ),
        default=0,
    )
    if task.dtypes:  # products, all of them, whose K may be as large as M or N
        terms = max(terms, *shapes[task.parameters[0]])
    arrays, place = {}, 0
    for name, shape in shapes.items():
        if name == task.output:
            numbers = np.full(shape, task.before)
        else:
            numbers = _simple(int(np.prod(shape)), place, terms).reshape(shape)
            place += 1
        arrays[name] = np.asarray(numbers, np.float32, order=task.order)
    return arrays


def _simple(count: int, place: int, terms: int) -> np.ndarray:
    """The numbers of the input at this place among the inputs.

    Where so many terms are summed that the sums would get long, ones and twos: a zero would hide
    that the number it meets is needed.
    """
    if terms:
        few = np.resize(_FEW[5 * place :] + _FEW[: 5 * place], count)
        return 1 + few % 2 if terms > _MOST_TERMS else few
    if place:
        result: np.ndarray = 10**place * (1 + np.arange(count) % 9)
        return result
    return np.resize(_DIGITS, count)


# --- The inputs that one element of the output was computed from ----------------------------------


Index = tuple[int, ...]
Element = tuple[str, Index]
Thread = tuple[int, ...]
Cell = tuple[str, Index, tuple[int, ...]]


@dataclass(frozen=True)
class Touch:
    """One thread's access to one element."""

    step: int
    thread: Thread  # block z, y, x and thread z, y, x
    kind: str
    space: str
    array: str
    index: Index
    is_wide: bool = False  # one of several elements that the thread accesses at once

    @property
    def is_load(self) -> bool:
        return self.kind == "load"

    @property
    def cell(self) -> Cell:
        """The element, with the block: the others have a shared array of their own."""
        return self.array, self.index, self.thread[:3]


def touches_of(ran: SmallLaunch) -> list[Touch]:
    """All accesses of a launch, one thread at a time, in their order."""
    return list(_touches(ran))


def _touches(ran: SmallLaunch) -> Iterator[Touch]:
    shapes = {name: array.shape for name, array in ran.arrays.items()}
    shapes |= {use.name: use.shape for use in ran.profile.shared_arrays}
    for name, access in ran.accesses():
        indices, threads = access.all_indices(shapes.get(name, (1,)))
        for index, thread in zip(indices.tolist(), threads.tolist(), strict=True):
            yield Touch(
                access.step, tuple(thread), access.kind, access.space, name, tuple(index),
                access.elements > 1,
            )  # fmt: skip


def written_elements(touches: list[Touch], output: str) -> list[Index]:
    """The elements of the output that were written, each once, in the order of their indices."""
    return sorted({touch.index for touch in touches if touch.array == output and not touch.is_load})


def origins(touches: list[Touch], output: str, element: Index) -> set[Element]:
    """The elements of global arrays from which an element of the output was computed.

    A thread puts into a store what it has read from global memory since its last store of any
    kind, and what it has taken from shared memory since it last stored into the output. Whoever put
    that into shared memory is followed in the same way; if that thread had just read something from
    global memory, it has put this there, and nothing that it took from older cells. Of several
    elements that were loaded at once, one store after the other may take one; so all of them are
    named here, and whoever asks has to find out which it was.
    """
    found: set[Element] = set()
    seen: set[tuple[int, Thread]] = set()
    by_thread: dict[Thread, list[Touch]] = defaultdict(list)
    stores_at: dict[Cell, list[Touch]] = defaultdict(list)
    for touch in touches:
        by_thread[touch.thread].append(touch)
        if not touch.is_load:
            stores_at[touch.cell].append(touch)
    stores = [t for t in touches if (t.array, t.index) == (output, element) and not t.is_load]
    # Every atomic adds to the element; a store replaces what was there.
    added = [t for t in stores if t.kind == "atomic"]
    waiting = [(t, True) for t in added or stores[-1:]]
    while waiting:
        store, is_final = waiting.pop()
        if (store.step, store.thread) in seen:
            continue
        seen.add((store.step, store.thread))
        just_read = _loads_before(by_thread[store.thread], store)
        just_read = just_read or _wide_loads_before(by_thread[store.thread], store)
        loads = just_read
        if is_final:
            loads = _loads_before(by_thread[store.thread], store, output)
        from_global = [touch for touch in just_read if touch.space == "global"]
        found |= {(touch.array, touch.index) for touch in from_global if touch.array != output}
        if is_final or not from_global:
            shared = [touch for touch in loads if touch.space == "shared"]
            stored = [_last_before(stores_at[touch.cell], touch) for touch in shared]
            waiting += [
                (earlier_store, False) for earlier_store in stored if earlier_store is not None
            ]
    return found


def _loads_before(of_thread: list[Touch], store: Touch, output: str = "") -> list[Touch]:
    """What the storing thread has loaded since its last store: into this array, if one is named."""
    loads: list[Touch] = []
    for touch in of_thread:
        if touch.step >= store.step:
            break
        if touch.is_load:
            loads.append(touch)
        elif output in ("", touch.array):
            loads = []
    return loads


def _wide_loads_before(of_thread: list[Touch], store: Touch) -> list[Touch]:
    """The last elements that the storing thread has loaded at once, if it has loaded any so."""
    wide = [
        touch for touch in of_thread if touch.is_load and touch.is_wide and touch.step < store.step
    ]
    return [touch for touch in wide if touch.step == wide[-1].step]


def _last_before(stores: list[Touch], load: Touch) -> Touch | None:
    """The store into a cell whose value a load reads."""
    before = bisect_left(stores, load.step, key=lambda touch: touch.step)
    return stores[before - 1] if before else None
