"""Random kernels whose threads work together: shared memory, barriers, atomics, warp functions.

A kernel is a row of phases. Between two barriers each thread works on its own; what a barrier, an
atomic or a warp function makes of the threads of a block is worked out here for all of them, in
plain Python, one thread after another. The kernels are right by construction: threads write cells
of their own, and read others' only after a barrier.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st
from random_kernels import (
    CHANGING,
    STORES,
    Draw,
    Environment,
    Expression,
    Leave,
    Maker,
    Statement,
    convert,
)

THREADS = 64
BLOCKS = 2
BINS = 8
FULL = "0xFFFFFFFF"


@dataclass
class Block:
    """The threads of one block, and the memory that they share."""

    threads: list[Environment]
    cells: dict[str, list[Any]]  # shared arrays, by the type of their elements
    votes: list[int]  # a shared array of counters
    bins: list[int]  # global counters
    top: list[int] = field(default_factory=lambda: [0])  # a global maximum


@dataclass(frozen=True)
class Phase:
    """Lines of text, and what they do to a block."""

    lines: list[str]
    run: Callable[[Block], None]


class BlockMaker(Maker):
    """Draws statements that no thread leaves the kernel by, and phases."""

    def leave_(self, depth: int) -> Statement:
        how = self.pick(["break", "continue"])
        test = self.condition(1)

        def run(env: Environment) -> None:
            if test.value(env):
                raise Leave(how)

        return Statement([f"if {test.text}:", f"    {how}"], run)

    def variable(self, *kinds: str) -> str:
        """The name of a variable of one of these types."""
        return self.pick(name for name, kind in CHANGING.items() if kind in kinds)

    def phase(self, depth: int) -> Phase:
        forms = ["alone", "exchange", "exchange", "some_write", "bins", "vote", "tally", "shuffle"]
        forms += ["ballot", "largest", "loop"] if depth > 0 else []
        return getattr(self, f"{self.pick(forms)}_phase")(depth)

    def alone_phase(self, depth: int) -> Phase:
        """Each thread for itself."""
        body = self.block(1)
        return Phase(body.lines, lambda block: _each(block, body.run))

    def exchange_phase(self, depth: int) -> Phase:
        """All leave a value; after the barrier each reads somebody's."""
        source = self.variable(*CHANGING.values())
        kind = CHANGING[source]
        goal = self.pick(name for name in CHANGING if CHANGING[name] == kind)
        factor, shift = self.pick([1, 3, 5, 63]), self.draw(st.integers(0, THREADS - 1))
        whom = self.expression("int64", 2)
        lines = [
            f"s_{kind}[(i * {factor} + {shift}) % {THREADS}] = {source}",
            "cuda.syncthreads()",
            f"{goal} = s_{kind}[{whom.text} % {THREADS}]",
            "cuda.syncthreads()",
        ]

        def run(block: Block) -> None:
            for i, env in enumerate(block.threads):
                block.cells[kind][(i * factor + shift) % THREADS] = env[source]
            found = [block.cells[kind][whom.value(env) % THREADS] for env in block.threads]
            _set(block, goal, found)

        return Phase(lines, run)

    def some_write_phase(self, depth: int) -> Phase:
        """Some threads overwrite their cell; all read their neighbour's."""
        name = self.variable("int64", "float32")
        kind = CHANGING[name]
        test, value = self.condition(2), self.expression(kind, 2)
        step = self.pick([1, 31, 32, 33])
        lines = [
            f"if {test.text}:", f"    s_{kind}[i] = {value.text}", "cuda.syncthreads()",
            f"{name} = s_{kind}[(i + {step}) % {THREADS}]", "cuda.syncthreads()",
        ]  # fmt: skip

        def run(block: Block) -> None:
            for i, env in enumerate(block.threads):
                if test.value(env):
                    block.cells[kind][i] = value.value(env)
            _set(block, name, [block.cells[kind][(i + step) % THREADS] for i in range(THREADS)])

        return Phase(lines, run)

    def bins_phase(self, depth: int) -> Phase:
        """Atomic additions to global memory, by those threads that care to."""
        test, where = self.condition(2), self.expression("int64", 2)
        amount = self.cast("int32", self.expression("int64", 1))
        lines = [
            f"if {test.text}:",
            f"    cuda.atomic.add(out_bins, {where.text} % {BINS}, {amount.text})",
        ]

        def each(block: Block, env: Environment) -> None:
            if test.value(env):
                place = where.value(env) % BINS
                block.bins[place] = convert(block.bins[place] + amount.value(env), "int32")

        return Phase(lines, lambda block: [each(block, env) for env in block.threads] and None)

    def largest_phase(self, depth: int) -> Phase:
        """An atomic maximum in global memory."""
        value = self.expression("int64", 2)

        def run(block: Block) -> None:
            block.top[0] = max([block.top[0], *(value.value(env) for env in block.threads)])

        return Phase([f"cuda.atomic.max(out_top, 0, {value.text})"], run)

    def vote_phase(self, depth: int) -> Phase:
        """A barrier that counts, or asks whether all or some agree."""
        name = self.variable("int64")
        test = self.condition(2)
        function, count = self.pick(
            [("count", sum), ("and", lambda each: int(all(each))), ("or", lambda e: int(any(e)))]
        )
        lines = [f"{name} = int64(cuda.syncthreads_{function}(1 if {test.text} else 0))"]

        def run(block: Block) -> None:
            votes = [bool(test.value(env)) for env in block.threads]
            _set(block, name, [count(votes)] * THREADS)

        return Phase(lines, run)

    def tally_phase(self, depth: int) -> Phase:
        """Atomic additions to shared memory, zeroed before and read after."""
        name = self.variable("int64")
        where = self.expression("int64", 2)
        lines = [
            f"if i < {BINS}:", "    tally[i] = 0", "cuda.syncthreads()",
            f"cuda.atomic.add(tally, {where.text} % {BINS}, 1)", "cuda.syncthreads()",
            f"{name} = int64(tally[i % {BINS}])", "cuda.syncthreads()",
        ]  # fmt: skip

        def run(block: Block) -> None:
            votes = [0] * BINS
            for env in block.threads:
                votes[where.value(env) % BINS] += 1
            _set(block, name, [votes[i % BINS] for i in range(THREADS)])

        return Phase(lines, run)

    def shuffle_phase(self, depth: int) -> Phase:
        """Each thread takes the value of another one of its warp."""
        name = self.variable(*CHANGING.values())
        function, argument = self.pick(
            [("sync", 5), ("xor_sync", 1), ("xor_sync", 16), ("up_sync", 3), ("down_sync", 7)]
        )
        lines = [f"{name} = cuda.shfl_{function}({FULL}, {name}, {argument})"]

        def source(lane: int) -> int:
            other = {
                "sync": argument,
                "xor_sync": lane ^ argument,
                "up_sync": lane - argument,
                "down_sync": lane + argument,
            }[function]
            return other if 0 <= other < 32 else lane

        def run(block: Block) -> None:
            old = [env[name] for env in block.threads]
            _set(block, name, [old[i // 32 * 32 + source(i % 32)] for i in range(THREADS)])

        return Phase(lines, run)

    def ballot_phase(self, depth: int) -> Phase:
        """How many threads of the warp agree."""
        name = self.variable("int64")
        test = self.condition(2)
        lines = [f"{name} = int64(cuda.popc(cuda.ballot_sync({FULL}, {test.text})))"]

        def run(block: Block) -> None:
            votes = [bool(test.value(env)) for env in block.threads]
            warps = [sum(votes[:32]), sum(votes[32:])]
            _set(block, name, [warps[i // 32] for i in range(THREADS)])

        return Phase(lines, run)

    def loop_phase(self, depth: int) -> Phase:
        """Phases that all threads go through several times."""
        turns, name = self.pick([2, 3]), f"turn{self.loops}"
        self.loops += 1
        # A `break` drawn here would leave this loop, so statements see no loop of their own.
        inner = [self.phase(depth - 1) for _ in range(self.draw(st.integers(1, 2)))]
        self.loops -= 1
        lines = [f"for {name} in range({turns}):"]
        lines += [f"    {line}" for phase in inner for line in phase.lines]

        def run(block: Block) -> None:
            for turn in range(turns):
                _set(block, name, [turn] * THREADS)
                for phase in inner:
                    phase.run(block)

        return Phase(lines, run)

    def statement(self, depth: int) -> Statement:
        # `break` and `continue` only within loops of a thread's own, not in a loop of phases.
        forms = ["assign", "augment"]
        if depth > 0:
            forms += ["if", "for", "while"]
        if self._own_loops:
            forms += ["leave"]
        return getattr(self, f"{self.pick(forms)}_")(depth)

    _own_loops = 0

    def for_(self, depth: int) -> Statement:
        return self._loop(super().for_, depth)

    def while_(self, depth: int) -> Statement:
        return self._loop(super().while_, depth)

    def _loop(self, make: Callable[[int], Statement], depth: int) -> Statement:
        self._own_loops += 1
        made = make(depth)
        self._own_loops -= 1
        return made


def _each(block: Block, action: Callable[[Environment], None]) -> None:
    for env in block.threads:
        action(env)


def _set(block: Block, name: str, values: list[Any]) -> None:
    for env, value in zip(block.threads, values, strict=True):
        env[name] = value


@dataclass(frozen=True)
class BlockKernel:
    """The text of a kernel, and its reference for one block."""

    body: str
    run: Callable[[Block], None]
    parameters: str = ", ".join(
        ["in_p", "in_q", "in_a", *(f"out_{name}" for name in CHANGING), "out_bins", "out_top"]
    )


SHARED_TYPES = sorted(set(CHANGING.values()))
START = [
    *(f"s_{kind} = cuda.shared.array({THREADS}, {kind})" for kind in SHARED_TYPES),
    f"tally = cuda.shared.array({BINS}, int32)", "tid = cuda.grid(1)",
    "i = int64(cuda.threadIdx.x)", *(f"s_{kind}[i] = {kind}(i)" for kind in SHARED_TYPES),
    "cuda.syncthreads()", "p = in_p[tid]", "q = in_q[tid]", "a = in_a[tid]", "u = int64(p)",
    "v = tid * 3", "f = a", "g = float32(0.5)", "d = 0.25",
]  # fmt: skip


@st.composite
def block_kernels(draw: Draw, maker: type[BlockMaker] = BlockMaker) -> BlockKernel:
    """Kernels of two to five phases."""
    made = maker(draw)
    phases = [made.phase(1) for _ in range(draw(st.integers(2, 5)))]
    lines = [*START, *(line for phase in phases for line in phase.lines), *STORES]

    def run(block: Block) -> None:
        for phase in phases:
            phase.run(block)

    return BlockKernel("\n".join(lines), run)


def inputs(seed: int) -> dict[str, np.ndarray]:
    """The input arrays."""
    random = np.random.default_rng(seed)
    size = THREADS * BLOCKS
    return {
        "p": random.integers(-20, 20, size).astype(np.int32),
        "q": random.integers(0, 2**32, size, dtype=np.uint32),
        "a": (random.integers(-40, 40, size) / 8).astype(np.float32),
    }


def outputs() -> dict[str, np.ndarray]:
    """The output arrays, all zero."""
    size = THREADS * BLOCKS
    arrays = {name: np.zeros(size, getattr(np, kind)) for name, kind in CHANGING.items()}
    return arrays | {"bins": np.zeros(BINS, np.int32), "top": np.zeros(1, np.int64)}


def expected(kernel: BlockKernel, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What the kernel should write, block after block and thread after thread."""
    arrays = outputs()
    bins, top = [0] * BINS, [0]
    with np.errstate(all="ignore"):
        for first in range(0, THREADS * BLOCKS, THREADS):
            threads = [_thread(given, tid) for tid in range(first, first + THREADS)]
            cells = {kind: [convert(i, kind) for i in range(THREADS)] for kind in SHARED_TYPES}
            kernel.run(Block(threads, cells, [], bins, top))
            for tid, env in enumerate(threads, first):
                for name in CHANGING:
                    arrays[name][tid] = env[name]
    arrays["bins"][:] = bins
    arrays["top"][:] = top
    return arrays


def _thread(given: dict[str, np.ndarray], tid: int) -> Environment:
    p, q, a = int(given["p"][tid]), int(given["q"][tid]), given["a"][tid]
    env = {"tid": tid, "i": tid % THREADS, "p": p, "q": q, "a": a}
    return env | {"u": p, "v": tid * 3, "f": a, "g": np.float32(0.5), "d": np.float64(0.25)}


__all__ = ["BlockKernel", "BlockMaker", "Expression", "block_kernels", "expected", "inputs"]
