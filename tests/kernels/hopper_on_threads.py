"""Run rung 12's own source without a GPU: Python threads, stand-ins for Hopper's instructions.

The emulator has no TMA, mbarrier or wgmma. The stand-ins here do what the PTX ISA says of them, as
unkindly as it allows, so that a hand-over that is not waited for shows in the result. There are two
schedules. "eager": copies write at once, products read as late as possible, so a stage that is
released too early is overwritten. "late": copies write only when somebody waits for their barrier,
products read at once, so a stage that nobody waited for is still empty. Stores of TMA read as late
as possible in both, and see what threads wrote before their `fence_async` only. One thread runs at
a time, until it waits for another, and the others take turns: a launch goes the same way each time.
What can never go on is noticed at once: every thread waits.

`load(source)` makes a module of the kernel's source, `run(...)` launches a kernel of it.
"""

from __future__ import annotations

import collections
import importlib.machinery
import importlib.util
import struct
import sys
import threading
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hopper_memory import Barrier, TensorMap, swizzle

import course_lib.intrinsics
import course_lib.kernels
from course_lib.kernels.accuracy import from_bf16

RANK_BIT = 24  # where a shared address holds the block's rank in its cluster
GROUP = 128  # threads of a warpgroup


class Stuck(Exception):
    """Every thread waits for something that never comes."""


class World:
    """All that the threads of a launch share. One of them runs, until it waits for another.

    So nothing needs a lock but the turns themselves: a thread sleeps at its own.
    """

    def __init__(self, threads: int, eager: bool) -> None:
        self.alive, self.eager = threads, eager
        self.failure: BaseException | None = None
        self.queues: list[Queue] = []
        self.running: threading.Lock
        self.ready: collections.deque[threading.Lock] = collections.deque()

    def fail(self, reason: BaseException) -> None:
        self.failure = self.failure or reason
        for queue in self.queues:
            queue.wake()

    def sleep(self) -> None:
        """Let others run; on return it is this thread's turn again."""
        mine = self.running
        self.hand_over()
        mine.acquire()

    def hand_over(self) -> None:
        """The next one's turn. If nobody is ready, those that are left wait for ever."""
        if not self.ready and self.alive:
            self.fail(Stuck("every thread waits"))
        if self.ready:
            self.running = self.ready.popleft()
            self.running.release()


class Queue:
    """Threads that wait until something holds."""

    def __init__(self, world: World) -> None:
        self.world, self.sleepers = world, list[threading.Lock]()
        world.queues.append(self)

    def wait(self, holds: Callable[[], bool]) -> None:
        while not holds():
            if self.world.failure:
                raise self.world.failure
            self.sleepers.append(self.world.running)
            self.world.sleep()

    def wake(self) -> None:
        self.world.ready.extend(self.sleepers)
        self.sleepers.clear()


class Meeting:
    """A barrier of so many threads; the last one to come does something before they go on."""

    def __init__(self, world: World, threads: int) -> None:
        self.queue, self.threads = Queue(world), threads
        self.there = self.held = 0

    def meet(self, action: Callable[[], None] = lambda: None) -> None:
        self.there += 1
        if self.there == self.threads:
            action()
            self.there, self.held = 0, self.held + 1
            self.queue.wake()
        else:
            meeting = self.held
            self.queue.wait(lambda: self.held > meeting)


class Mbarrier(Barrier):
    """An mbarrier that threads sleep at."""

    def __init__(self, world: World, arrivals: int) -> None:
        super().__init__(arrivals)
        self.queue = Queue(world)
        self.outstanding: list[Callable[[], None]] = []  # copies that have not written yet

    def change(self, arrivals: int, count: int) -> None:
        before = self.phase
        super().change(arrivals, count)
        if self.phase != before:
            self.queue.wake()

    def wait(self, parity: int) -> None:
        assert parity in (0, 1)
        self.catch_up()
        self.queue.wait(lambda: self.phase % 2 != parity)

    def catch_up(self) -> None:
        while self.outstanding:
            self.outstanding.pop(0)()


@dataclass
class Warpgroup:
    """What the tensor cores hold for 128 threads."""

    meeting: Meeting
    sums: np.ndarray = field(default_factory=lambda: np.full((64, 256), np.nan, np.float32))
    running: list[Callable[[], None]] = field(default_factory=list)

    def finish(self) -> None:
        while self.running:
            self.running.pop(0)()


class Warp:
    """32 lanes that tell each other where their rows start."""

    def __init__(self, world: World) -> None:
        self.meeting = Meeting(world, 32)
        self.addresses: dict[int, int] = {}
        self.rows: dict[int, int] = {}

    def exchange(self) -> None:
        self.rows = dict(self.addresses)


class Block:
    """A block: its shared memory, its barriers, its warpgroups."""

    def __init__(self, world: World, index: int, rank: int, shared: int, threads: int) -> None:
        self.world, self.index, self.rank = world, index, rank
        self.memory = np.full(shared, 0xFF, np.uint8)  # NaN, whichever way it is read
        self.barriers: dict[int, Mbarrier] = {}
        self.everyone = Meeting(world, threads)
        self.groups = [Warpgroup(Meeting(world, GROUP)) for _ in range(3)]
        self.warps = [Warp(world) for _ in range(12)]
        self.named = {number: Meeting(world, GROUP) for number in (1, 2, 3)}
        self.grid = 0
        self.cluster: list[Block] = []
        self.cluster_meeting: Meeting


class Here(threading.local):
    """The thread that asks: its block, its number, its stores."""

    block: Block
    tid: int
    stores: list[Callable[[], None]]
    unseen: list[tuple[int, np.ndarray]]
    alone: bool  # whether launches before this one are over


def tile(block: Block, word: int, columns: int, rows: int = 64) -> np.ndarray:
    """What a descriptor's lower word stands for: rows in panels of 64 columns, swizzled."""
    start, panel = (int(word) & 0x3FFF) << 4, int(word) >> 16 << 4
    assert start % 1024 == 0
    row, column = np.arange(rows)[:, None], np.arange(columns)[None, :]
    places = start + swizzle(column // 64 * panel + row * 128 + column % 64 * 2)
    return from_bf16(block.memory.view(np.uint16)[places // 2])


class Standins:
    """The functions of `course_lib.intrinsics` that rung 12 calls, and its `cuda` and `np`."""

    def __init__(self, here: Here) -> None:
        self.here = here

    # --- addresses, barriers, clusters ----------------------------------------------------------

    def place(self, address: int) -> int:
        return int(address) & (1 << RANK_BIT) - 1

    def shared_address(self, array: Any) -> int:
        return self.here.block.rank << RANK_BIT

    def uniform(self, number: int) -> int:
        return int(number)

    def mbarrier_init(self, barrier: int, arrivals: int) -> None:
        block = self.here.block
        block.barriers[self.place(barrier)] = Mbarrier(block.world, arrivals)

    def fence_mbarrier_init(self) -> None: ...

    def mbarrier_arrive_with_bytes(self, barrier: int, count: int) -> None:
        self.here.block.barriers[self.place(barrier)].change(1, count)

    def mbarrier_arrive_at(self, barrier: int, block: int, if_not_zero: int) -> None:
        if if_not_zero:
            self.here.block.cluster[block].barriers[self.place(barrier)].change(1, 0)

    def mbarrier_wait(self, barrier: int, parity: int) -> None:
        self.here.block.barriers[self.place(barrier)].wait(parity)

    def group_sync(self, number: int, threads: int) -> None:
        assert threads == GROUP
        self.here.block.named[number].meet()

    def trigger_next_launch(self) -> None: ...

    def grid_dependency_sync(self) -> None:
        self.here.alone = True

    def cluster_rank(self) -> int:
        return self.here.block.rank

    def cluster_sync(self) -> None:
        self.here.block.cluster_meeting.meet()

    # --- TMA ------------------------------------------------------------------------------------

    def tma_load(self, to: int, map: TensorMap, start: tuple[int, int], barrier: int) -> None:
        self._load(to, map, start, barrier, [self.here.block])

    def tma_load_multicast(
        self, to: int, map: TensorMap, start: tuple[int, int], barrier: int, blocks: int
    ) -> None:
        cluster = self.here.block.cluster
        self._load(to, map, start, barrier, [b for i, b in enumerate(cluster) if blocks >> i & 1])

    def _load(
        self, to: int, map: TensorMap, start: tuple[int, int], barrier: int, blocks: list[Block]
    ) -> None:
        assert map.box[1] * map.array.itemsize == 128
        assert self.here.alone, "the launch before may still write what is fetched"

        def copy(block: Block) -> Callable[[], None]:
            def write() -> None:
                map.fetch(start[::-1], block.memory, self.place(to))
                block.barriers[self.place(barrier)].change(0, -map.box_bytes)

            return write

        for block in blocks:
            waited_for = block.barriers[self.place(barrier)]
            if block.world.eager or waited_for.queue.sleepers:
                copy(block)()
            else:
                waited_for.outstanding.append(copy(block))

    def tma_prefetch(self, map: TensorMap) -> None: ...

    def tma_store(self, map: TensorMap, start: tuple[int, int], source: int) -> None:
        block = self.here.block
        assert map.box[1] * map.array.itemsize == 128
        assert self.here.alone, "the launch before may still read what is overwritten"

        def write() -> None:
            map.store(start[::-1], block.memory, self.place(source))

        self.here.stores.append(write)

    def tma_store_wait(self, groups: int) -> None:
        while len(self.here.stores) > groups:
            self.here.stores.pop(0)()

    # --- what the host has written down ---------------------------------------------------------

    def load4(self, array: np.ndarray, index: int) -> tuple[int, ...]:
        return tuple(int(each) for each in array.reshape(-1)[index : index + 4])

    def fence_async(self) -> None:
        for at, data in self.here.unseen:
            self.here.block.memory[at : at + data.size] = data
        self.here.unseen.clear()

    # --- results --------------------------------------------------------------------------------

    def pack_bf16(self, first: float, second: float) -> int:
        bits = struct.unpack("<2I", struct.pack("<2f", first, second))
        low, high = ((each + 0x7FFF + (each >> 16 & 1)) >> 16 & 0xFFFF for each in bits)
        return low | high << 16

    def stmatrix_x4(self, address: int, words: tuple[int, ...]) -> None:
        lane, warp = self.here.tid % 32, self.here.block.warps[self.here.tid // 32]
        warp.addresses[lane] = self.place(address)
        warp.meeting.meet(warp.exchange)
        for matrix, word in enumerate(words):
            at = warp.rows[8 * matrix + lane // 4] + lane % 4 * 4
            self.here.unseen.append((at, np.array([word], np.uint32).view(np.uint8)))

    def stmatrix_x4_trans(self, address: int, words: tuple[int, ...]) -> None:
        lane, warp = self.here.tid % 32, self.here.block.warps[self.here.tid // 32]
        warp.addresses[lane] = self.place(address)
        warp.meeting.meet(warp.exchange)
        for matrix, word in enumerate(words):
            for half in range(2):
                at = warp.rows[8 * matrix + lane % 4 * 2 + half] + lane // 4 * 2
                number = np.array([word >> 16 * half & 0xFFFF], np.uint16)
                self.here.unseen.append((at, number.view(np.uint8)))

    def store_shared(self, address: int, value: float) -> None:
        self.here.unseen.append((self.place(address), np.array([value], np.float32).view(np.uint8)))

    def store_shared2(self, address: int, first: float, second: float) -> None:
        data = np.array([first, second], np.float32).view(np.uint8)
        self.here.unseen.append((self.place(address), data))

    # --- wgmma ----------------------------------------------------------------------------------

    def wgmma_a(self, address: int) -> int:
        return (self.place(address) >> 4 & 0x3FFF) | 1 << 16

    def wgmma_b(self, address: int) -> int:
        return (self.place(address) >> 4 & 0x3FFF) | 8192 // 16 << 16

    def warpgroup_product(self, columns: int, turned: bool = False, panels: int = 1) -> Any:
        """Start and wait, for tiles of B of so many columns, or turned for so many rows of A."""

        def start(sums: np.ndarray, a: int, b: int, add: int) -> None:
            self._start_product(columns, turned, panels, a, b, add)

        def wait(sums: np.ndarray) -> None:
            self._wait_for_product(sums[: panels * columns // 2])

        return types.SimpleNamespace(start=start, wait=wait)

    def _start_product(
        self, columns: int, turned: bool, panels: int, a: int, b: int, add: int
    ) -> None:
        block = self.here.block
        group = block.groups[self.here.tid // GROUP]

        def product() -> None:
            if turned:
                left = tile(block, a, 64, columns)
                each = [(left @ tile(block, b + 512 * panel, 64)).T for panel in range(panels)]
                sums = np.concatenate(each, axis=1)
            else:
                sums = tile(block, a, 64) @ tile(block, b, columns)
            group.sums = sums + (group.sums if add else 0)

        def start() -> None:
            group.finish()
            group.running.append(product)
            if not block.world.eager:
                group.finish()

        group.meeting.meet(start)

    def _wait_for_product(self, sums: np.ndarray) -> None:
        group, thread = self.here.block.groups[self.here.tid // GROUP], self.here.tid % GROUP
        group.meeting.meet(group.finish)
        warp, lane = thread // 32, thread % 32
        i = np.arange(sums.size)
        rows = 16 * warp + i // 2 % 2 * 8 + lane // 4
        sums[:] = group.sums[rows, i // 4 * 8 + lane % 4 * 2 + i % 2]


# --- the kernel's own source ------------------------------------------------------------------


class _Cuda:
    """`cuda` inside the kernel, and its decorator outside."""

    def __init__(self, here: Here) -> None:
        self.here = here
        self.shared = types.SimpleNamespace(array=lambda *given, **named: None)
        self.local = types.SimpleNamespace(array=lambda count, kind: np.full(count, np.nan))

    def jit(self, *given: Any, **named: Any) -> Any:
        return given[0] if given and callable(given[0]) else lambda function: function

    def syncthreads(self) -> None:
        self.here.block.everyone.meet()

    @property
    def threadIdx(self) -> Any:
        return types.SimpleNamespace(x=self.here.tid)

    @property
    def blockIdx(self) -> Any:
        return types.SimpleNamespace(x=self.here.block.index)

    @property
    def gridDim(self) -> Any:
        return types.SimpleNamespace(x=self.here.block.grid)


class _Numpy:
    """NumPy, but for `uint32`, which makes a Python number: Numba adds in 64 bits, too."""

    uint32 = staticmethod(lambda number: int(number) & 0xFFFFFFFF)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def load(source: str, **helpers: str) -> Any:
    """A module made of the text of rung 12, on stand-ins, and of those of the modules it takes.

    `helpers`: the texts of other modules of course_lib.kernels, by name. The modules made of them
    are the module's `helpers`.
    """
    here = Here()
    intrinsics: Any = Standins(here)
    intrinsics.unroll, intrinsics.unrolled = range, lambda function: function
    intrinsics.fewer_registers = intrinsics.more_registers = lambda count: None
    # Of the second kernel, which the emulator runs.
    intrinsics.bf16_bits = course_lib.intrinsics.bf16_bits
    numba = types.SimpleNamespace(cuda=_Cuda(here), float32=np.float32)
    replaced = {"numba": numba, "course_lib.intrinsics": intrinsics, "numpy": _Numpy()}
    replaced["course_lib.intrinsics.warpgroups"] = intrinsics
    texts = {f"course_lib.kernels.{name}": text for name, text in helpers.items()}
    texts["rung_12_on_threads"] = source
    before = {each: sys.modules.get(each) for each in (*replaced, *texts)}
    sys.modules.update(replaced)  # type: ignore[arg-type]
    module: Any
    made: dict[str, Any] = {}
    try:
        for name, text in texts.items():
            made[name.rpartition(".")[2]] = module = importlib.util.module_from_spec(
                importlib.machinery.ModuleSpec(name, None)
            )
            sys.modules[name] = module  # dataclasses look the module up
            exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    finally:
        for each, was in before.items():
            sys.modules.pop(each) if was is None else sys.modules.__setitem__(each, was)
    module.here, module.helpers = here, made
    return module


def run(
    module: Any,
    kernel: Any,
    arguments: tuple[Any, ...],
    blocks: int,
    cluster: int = 1,
    eager: bool = True,
    consumers: int = 2,
) -> None:
    """Launch a kernel with so many warpgroups that multiply; of the producer's warp lane 0 runs.

    Raises:
        Stuck: if no thread can go on.
        AssertionError, Wrong: if a stand-in is used against its rules.
    """
    threads = GROUP * consumers + 1
    world = World(threads * blocks, eager)
    made = [Block(world, i, i % cluster, module.SHARED, threads) for i in range(blocks)]
    for first in range(0, blocks, cluster):
        meeting = Meeting(world, threads * cluster)
        for block in made[first : first + cluster]:
            block.grid, block.cluster = blocks, made[first : first + cluster]
            block.cluster_meeting = meeting

    def thread(block: Block, tid: int, turn: threading.Lock) -> None:
        here = module.here
        here.block, here.tid, here.stores, here.unseen, here.alone = block, tid, [], [], False
        turn.acquire()
        try:
            kernel(*arguments)
            assert not here.stores, "a block may be gone before its results were read"
        except BaseException as reason:
            world.fail(reason)
        world.alive -= 1
        world.hand_over()

    before = threading.stack_size(256 * 1024)
    try:
        everyone = []
        for block in made:
            for tid in range(threads):
                turn = threading.Lock()
                turn.acquire()
                world.ready.append(turn)
                begun = threading.Thread(target=thread, args=(block, tid, turn), daemon=True)
                begun.start()
                everyone.append(begun)
    finally:
        threading.stack_size(before)
    world.hand_over()
    for each in everyone:
        each.join()
    if world.failure:
        raise world.failure
