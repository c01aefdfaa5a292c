"""Find the input elements that one element of the output is computed from, in a launch's trace."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from course_lib.figures.small_launch import SmallLaunch

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
    shapes |= {each.name: each.shape for each in ran.profile.shared_arrays}
    for name, access in ran.accesses():
        indices, threads = access.all_indices(shapes.get(name, (1,)))
        for index, thread in zip(indices.tolist(), threads.tolist(), strict=True):
            yield Touch(
                access.step, tuple(thread), access.kind, access.space, name, tuple(index),
                access.elements > 1,
            )  # fmt: skip


def written_elements(touches: list[Touch], output: str) -> list[Index]:
    """The elements of the output that were written, each once, in the order of their indices."""
    return sorted({each.index for each in touches if each.array == output and not each.is_load})


def origins(touches: list[Touch], output: str, element: Index) -> set[Element]:
    """The elements of global arrays that went into an element of the output.

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
    for each in touches:
        by_thread[each.thread].append(each)
        if not each.is_load:
            stores_at[each.cell].append(each)
    stores = [t for t in touches if (t.array, t.index) == (output, element) and not t.is_load]
    # Every atomic adds to the element; a store replaces what was there.
    added = [each for each in stores if each.kind == "atomic"]
    waiting = [(each, True) for each in added or stores[-1:]]
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
        from_global = [each for each in just_read if each.space == "global"]
        found |= {(each.array, each.index) for each in from_global if each.array != output}
        if is_final or not from_global:
            shared = [each for each in loads if each.space == "shared"]
            stored = [_last_before(stores_at[each.cell], each) for each in shared]
            waiting += [(each, False) for each in stored if each is not None]
    return found


def _loads_before(of_thread: list[Touch], store: Touch, output: str = "") -> list[Touch]:
    """What the storing thread has loaded since its last store: into this array, if one is named."""
    loads: list[Touch] = []
    for each in of_thread:
        if each.step >= store.step:
            break
        if each.is_load:
            loads.append(each)
        elif output in ("", each.array):
            loads = []
    return loads


def _wide_loads_before(of_thread: list[Touch], store: Touch) -> list[Touch]:
    """The last elements that the storing thread has loaded at once, if it has loaded any so."""
    wide = [each for each in of_thread if each.is_load and each.is_wide and each.step < store.step]
    return [each for each in wide if each.step == wide[-1].step]


def _last_before(stores: list[Touch], load: Touch) -> Touch | None:
    """Of the stores into a cell, the one whose value a load takes from there."""
    before = bisect_left(stores, load.step, key=lambda each: each.step)
    return stores[before - 1] if before else None
