"""One block of compiled PTX, interpreted: for kernels with Hopper's instructions and no GPU.

The course's emulator reads a kernel's source and has no TMA, mbarrier or wgmma. This reads what the
compiler made of it, so layouts, fragments, descriptors, phases and counts are checked as they will
run. What is asynchronous is done as late, or as early, as the rules allow:

* with `late=True` a product reads its operands only when it is waited for, its sums are NaN until
  then, and a copy arrives only when nobody else can go on;
* with `late=False` everything happens at once.

A kernel that is right under both, in several orders of the warps, releases nothing too early.
Shared memory and registers begin as NaN. A launch that waits for ever raises `Hangs`.

What it knows is what our kernels use; anything else raises `NotImplementedError` with its line. The
semantics are those of the PTX ISA: "Asynchronous Warpgroup Level Matrix Multiply-Accumulate"
(matrix descriptors, strides, swizzle), "Asynchronous copy", "mbarrier", "stmatrix".
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from hopper_memory import Barrier, TensorMap, Wrong, swizzle

LANES = 32
Values = Any  # a NumPy array with one element for each lane, or one number for all
KINDS = {
    "f32": np.float32, "b32": np.uint32, "u32": np.uint32, "s32": np.int32, "b64": np.uint64,
    "u64": np.uint64, "s64": np.int64, "pred": np.bool_, "b16": np.uint16, "u16": np.uint16,
}  # fmt: skip


class Hangs(Exception):
    """Every warp waits for something that does not happen."""


@dataclass
class Named:
    """One of the block's barriers 0 to 15."""

    warps: set[int] = field(default_factory=set)  # who is there
    waiting: set[int] = field(default_factory=set)  # and does not only arrive
    released: set[int] = field(default_factory=set)  # who waited, and may go on


@dataclass
class Product:
    """A wgmma of a warp that was started."""

    sums: tuple[str, ...]
    carry_out: Callable[[], None]


class Warp:
    """32 lanes: registers, where each lane is, and products that were started."""

    def __init__(self, number: int, kinds: dict[str, Any]) -> None:
        self.number = number
        self.pc = np.zeros(LANES, np.int64)
        self.alive = np.ones(LANES, bool)
        self.registers = {name: _poison(kind) for name, kind in kinds.items()}
        self.open: list[Product] = []  # products of the group not yet committed
        self.groups: list[list[Product]] = []
        self.committed = 0  # groups in all


class Block:
    """A block of a launch.

    Args:
        ptx: the text of a module with one kernel.
        arguments: in the order of the kernel's parameters, arrays flattened as Numba does it (see
            `flattened`).
        threads: of the block.
        block_index, grid: as (x, y).
    """

    def __init__(
        self,
        ptx: str,
        arguments: Sequence[Any],
        threads: int,
        block_index: tuple[int, int],
        grid: tuple[int, int],
        shared_bytes: int,
        memory: Memory,
        late: bool = True,
        seed: int = 0,
    ) -> None:
        self.program = _program(ptx)
        if len(arguments) != len(self.program.parameters):
            raise ValueError(f"{len(self.program.parameters)} parameters, {len(arguments)} given")
        self.arguments = dict(zip(self.program.parameters, arguments, strict=True))
        self.special = {
            "%ntid.x": threads, "%ctaid.x": block_index[0], "%ctaid.y": block_index[1],
            "%nctaid.x": grid[0], "%nctaid.y": grid[1], "%dynamic_smem_size": shared_bytes,
        }  # fmt: skip
        self.shared = np.full(shared_bytes, 0xFF, np.uint8)
        self.memory = memory
        self.late = late
        self.random = random.Random(seed)
        self.warps = [Warp(i, self.program.registers) for i in range(threads // LANES)]
        self.barriers: dict[int, Barrier] = {}
        self.named = [Named() for _ in range(16)]
        self.copies: list[Callable[[], None]] = []

    def run(self) -> None:
        """Run all warps to their end.

        Raises:
            Hangs, Wrong, NotImplementedError
        """
        while True:
            waiting = [warp for warp in self.warps if warp.alive.any()]
            if not waiting:
                break
            self.random.shuffle(waiting)
            moved = sum(self._run_warp(warp) for warp in waiting)
            if not moved:
                if not self.copies:
                    where = {w.number: self.program.texts[w.pc[w.alive].min()] for w in waiting}
                    raise Hangs(f"warps wait at {where}")
                self.copies.pop(self.random.randrange(len(self.copies)))()
        if self.copies:
            raise Wrong("the block ended before its copies")

    def _run_warp(self, warp: Warp) -> int:
        """Run a warp until it has to wait; how many instructions it did."""
        done = 0
        while warp.alive.any():
            at = int(warp.pc[warp.alive].min())
            active = warp.alive & (warp.pc == at)
            step = self.program.steps[at]
            if step.predicate:
                holds = np.broadcast_to(warp.registers[step.predicate], LANES) != step.negated
                taking = active & holds
            else:
                taking = active
            target = at + 1
            if taking.any():
                outcome = step.run(self, warp, taking)
                if outcome is WAIT:
                    return done
                if outcome is END:
                    warp.alive &= ~taking
                elif outcome is not None:
                    warp.pc[taking] = outcome
                    warp.pc[active & ~taking] = at + 1
                    done += 1
                    if outcome <= at and step.spins:
                        return max(done - 2, 0)  # the question and the way back are no work
                    continue
            warp.pc[active] = target
            done += 1
        return done

    # --- what instructions need ------------------------------------------------------------------

    def read(self, warp: Warp, operand: str, kind: str) -> Values:
        """An operand's values, as a kind that the instruction names."""
        wanted = KINDS[kind]
        if operand in warp.registers:
            held = warp.registers[operand]
            if held.dtype == wanted or kind == "pred":
                return held
            if held.dtype.itemsize == np.dtype(wanted).itemsize:
                return held.view(wanted)
            return held.astype(wanted)  # a wide register read in part
        if operand in self.special:
            return np.array(self.special[operand], wanted)
        if operand == "%tid.x":
            return (np.arange(LANES) + warp.number * LANES).astype(wanted)
        if operand.startswith("0f"):
            return np.array(int(operand[2:], 16), np.uint32).view(np.float32)
        if operand in self.program.shared_names:
            return np.array(0, wanted)  # shared memory begins at address 0
        mask = (1 << 8 * np.dtype(wanted).itemsize) - 1
        bits = np.dtype(wanted).str.replace("i", "u").replace("f", "u")
        return np.array(int(operand, 0) & mask, bits).view(wanted)

    def write(self, warp: Warp, name: str, values: Values, taking: np.ndarray) -> None:
        held = warp.registers[name]
        values = np.broadcast_to(np.asarray(values), LANES)
        if values.dtype != held.dtype:
            same = values.dtype.itemsize == held.dtype.itemsize and held.dtype != np.bool_
            values = values.view(held.dtype) if same else values.astype(held.dtype)
        if taking.all():
            warp.registers[name] = values.copy()
        else:
            warp.registers[name] = np.where(taking, values, held)


WAIT, END = object(), object()


def _poison(kind: Any) -> np.ndarray:
    """What nobody has written: NaN, an odd number, False."""
    if kind == np.float32:
        return np.full(LANES, np.nan, np.float32)
    return np.full(LANES, 0 if kind == np.bool_ else 0xA5A5A5A5A5A5A5A5, np.uint64).astype(kind)


# --- from text to steps ---------------------------------------------------------------------------


@dataclass
class Step:
    """One instruction: whose lanes take it, and what it does."""

    run: Callable[[Block, Warp, np.ndarray], Any]
    predicate: str = ""
    negated: bool = False
    spins: bool = False


@dataclass
class Program:
    steps: list[Step]
    texts: list[str]
    registers: dict[str, Any]
    parameters: list[str]
    shared_names: set[str]


def _program(text: str) -> Program:
    text = re.sub(r"//[^\n]*", "", text)
    entry = text[text.index(".entry") :]
    head, _, body = entry.partition("{")
    parameters = re.findall(r"\.param\s+\.\w+\s+([\w$]+)", head)
    registers: dict[str, Any] = {}
    labels: dict[str, int] = {}
    texts: list[str] = []
    # A label is a statement of its own; braces that stand alone only open and close a scope.
    body = re.sub(r"^\s*([\w$]+):", r"LABEL \1;", body, flags=re.MULTILINE)
    body = re.sub(r"^\s*[{}]\s*$", "", body, flags=re.MULTILINE)
    for statement in (" ".join(each.split()) for each in body.split(";")):
        statement = re.sub(r"^[{}]\s*", "", statement)
        if statement.startswith("LABEL "):
            labels[statement[6:]] = len(texts)
        elif statement.startswith(".reg"):
            _, kind, names = statement.split(None, 2)
            for name in names.split(","):
                one = re.fullmatch(r"(%\w+)<(\d+)>", name.strip())
                several = [f"{one[1]}{i}" for i in range(int(one[2]))] if one else [name.strip()]
                registers.update(dict.fromkeys(several, KINDS[kind[1:]]))
        elif statement and not statement.startswith((".loc", ".pragma", "}")):
            texts.append(statement)
    shared = set(re.findall(r"\.shared[^;]*?\s([\w$]+)\[", text))
    return Program([_step(each, labels) for each in texts], texts, registers, parameters, shared)


def _step(statement: str, labels: dict[str, int]) -> Step:
    found = re.fullmatch(r"(?:@(!?)(%?\w+)\s+)?(\S+)\s*(.*)", statement)
    assert found, statement
    negated, predicate, opcode, rest = found.groups()
    operands = [each.strip() for each in re.findall(r"(?:\{[^}]*\}|\[[^\]]*\]|[^,{\[])+", rest)]
    operands = [each for each in operands if each]
    if opcode.startswith("bra"):
        place = labels[operands[0]]
        backwards = "again" in operands[0]
        return Step(lambda block, warp, taking: place, predicate or "", bool(negated), backwards)
    parts = opcode.split(".")
    make = MAKERS.get(parts[0])
    if make is None:
        raise NotImplementedError(statement)
    return Step(make(parts, operands, statement), predicate or "", bool(negated))


Run = Callable[[Block, Warp, np.ndarray], Any]


def _plain(kinds: Sequence[str], compute: Callable[..., Values]) -> Any:
    """An instruction whose first operand is its result, and which looks at its lane alone."""

    def make(parts: list[str], operands: list[str], statement: str) -> Run:
        out = operands[0]

        def run(block: Block, warp: Warp, taking: np.ndarray) -> None:
            given = [
                block.read(warp, each, kind) for each, kind in zip(operands[1:], kinds, strict=True)
            ]
            with np.errstate(all="ignore"):
                block.write(warp, out, compute(*given), taking)

        return run

    return make


def _typed(count: int, compute: Callable[..., Values], last: str = "") -> Any:
    """The same for an opcode that ends in its type, `add.s32`; the last operand may differ."""

    def make(parts: list[str], operands: list[str], statement: str) -> Run:
        kind = parts[-1]
        kinds = [kind] * (count - bool(last)) + [last] * bool(last)
        return _plain(kinds, compute)(parts, operands, statement)

    return make


def _compare(parts: list[str], operands: list[str], statement: str) -> Run:
    relation = {
        "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
        "eq": np.equal, "ne": np.not_equal,
        "leu": lambda a, b: ~np.greater(a, b), "ltu": lambda a, b: ~np.greater_equal(a, b),
        "gtu": lambda a, b: ~np.less_equal(a, b), "geu": lambda a, b: ~np.less(a, b),
    }[parts[1]]  # fmt: skip
    return _plain([parts[-1]] * 2, relation)(parts, operands, statement)


def _multiply(parts: list[str], operands: list[str], statement: str) -> Run:
    kind, way = parts[-1], parts[1]
    if way == "wide":
        wide = KINDS[kind.replace("32", "64")]
        return _plain([kind] * 2, lambda a, b: a.astype(wide) * b.astype(wide))(
            parts, operands, statement
        )
    if way == "hi":  # the upper half of the product, by Python's own whole numbers
        bits = 64 if "64" in kind else 32

        def upper(a: Values, b: Values) -> Values:
            return (a.astype(object) * b.astype(object) >> bits).astype(KINDS[kind])

        return _plain([kind] * 2, upper)(parts, operands, statement)
    if way not in ("lo", "f32", "rn"):
        raise NotImplementedError(statement)
    return _plain([kind] * 2, lambda a, b: a * b)(parts, operands, statement)


def _fma(parts: list[str], operands: list[str], statement: str) -> Run:
    if parts[-1] != "f32":
        raise NotImplementedError(statement)
    exact = lambda a, b, c: (a.astype("f8") * b.astype("f8") + c.astype("f8")).astype("f4")  # noqa: E731
    return _plain(["f32"] * 3, exact)(parts, operands, statement)


def _convert(parts: list[str], operands: list[str], statement: str) -> Run:
    if parts[1:] == ["rn", "bf16x2", "f32"]:
        return _plain(["f32"] * 2, lambda high, low: bf16_bits(high) << 16 | bf16_bits(low))(
            parts, operands, statement
        )
    to, origin = parts[-2], parts[-1]
    if "f" in to + origin:
        raise NotImplementedError(statement)
    return _plain([origin], lambda a: np.asarray(a).astype(KINDS[to]))(parts, operands, statement)


def bf16_bits(values: Values) -> np.ndarray:
    """float32 rounded to bfloat16, to even, as 16 bits in a uint32; NaN stays NaN."""
    values = np.asarray(values, np.float32)
    bits = values.view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + (bits >> np.uint64(16) & np.uint64(1))) >> np.uint64(16)).astype(
        "u4"
    )
    return np.where(np.isnan(values), np.uint32(0x7FFF), rounded)


def _move(parts: list[str], operands: list[str], statement: str) -> Run:
    out, given = operands
    if given.startswith("{"):  # two words become one of 64 bits, the lower one first
        low, high = (each.strip() for each in given[1:-1].split(","))

        def join(block: Block, warp: Warp, taking: np.ndarray) -> None:
            words = [block.read(warp, each, "u32").astype(np.uint64) for each in (low, high)]
            block.write(warp, out, words[0] | words[1] << np.uint64(32), taking)

        return join
    return _plain([parts[-1]], lambda a: a)(parts, operands, statement)


def _load(parts: list[str], operands: list[str], statement: str) -> Run:
    if parts[1] != "param":
        raise NotImplementedError(statement)
    name = operands[1].strip("[]")

    def run(block: Block, warp: Warp, taking: np.ndarray) -> None:
        value = np.array(block.arguments[name]).astype(KINDS[parts[-1]])
        block.write(warp, operands[0], value, taking)

    return run


def _address(block: Block, warp: Warp, operand: str, kind: str) -> np.ndarray:
    """`[%r1+16]` for each lane."""
    base, _, offset = operand.strip("[] ").partition("+")
    start = np.broadcast_to(block.read(warp, base.strip(), kind), LANES).astype(np.int64)
    return start + int(offset or 0)


def _store(parts: list[str], operands: list[str], statement: str) -> Run:
    if parts[1:] != ["global", "f32"]:
        raise NotImplementedError(statement)

    def run(block: Block, warp: Warp, taking: np.ndarray) -> None:
        places = _address(block, warp, operands[0], "u64")
        values = np.broadcast_to(block.read(warp, operands[1], "f32"), LANES)
        for lane in np.flatnonzero(taking):
            block.memory.store(int(places[lane]), values[lane])

    return run


def _shuffle(parts: list[str], operands: list[str], statement: str) -> Run:
    out, _, predicate = operands[0].partition("|")
    way = parts[2]

    def run(block: Block, warp: Warp, taking: np.ndarray) -> None:
        _all_lanes(taking, statement)
        given = np.broadcast_to(block.read(warp, operands[1], "b32"), LANES)
        lane = np.broadcast_to(block.read(warp, operands[2], "u32"), LANES)
        source = {"bfly": np.arange(LANES) ^ lane, "idx": lane}[way].astype(int)
        block.write(warp, out, given[source], taking)
        if predicate:
            block.write(warp, predicate, np.True_, taking)

    return run


def _uniform(block: Block, warp: Warp, operand: str, kind: str, taking: np.ndarray) -> int:
    """An operand that must be the same in all lanes that take part."""
    values = set(np.broadcast_to(block.read(warp, operand, kind), LANES)[taking].tolist())
    if len(values) != 1:
        raise Wrong(f"{operand} differs between lanes: {sorted(values)[:4]}")
    return int(values.pop())


def _all_lanes(taking: np.ndarray, statement: str) -> None:
    if not taking.all():
        raise Wrong(f"not all lanes of a warp take part in {statement[:60]}")


def _one_lane(taking: np.ndarray, statement: str) -> int:
    lanes = np.flatnonzero(taking)
    if len(lanes) != 1:
        raise Wrong(f"{len(lanes)} lanes instead of one start {statement[:60]}")
    return int(lanes[0])


def _named_barrier(parts: list[str], operands: list[str], statement: str) -> Run:
    def run(block: Block, warp: Warp, taking: np.ndarray) -> Any:
        _all_lanes(taking, statement)
        number = _uniform(block, warp, operands[0], "u32", taking)
        threads = block.special["%ntid.x"]
        if len(operands) > 1:
            threads = _uniform(block, warp, operands[1], "u32", taking)
        barrier = block.named[number]
        if warp.number in barrier.released:
            barrier.released.remove(warp.number)
            return None
        waits = parts[1] == "sync"
        if warp.number not in barrier.warps:
            barrier.warps.add(warp.number)
            barrier.waiting |= {warp.number} if waits else set()
        elif not waits:
            raise Wrong(f"warp {warp.number} arrives twice at barrier {number}")
        if len(barrier.warps) * LANES < threads:
            return WAIT if waits else None
        barrier.released |= barrier.waiting - {warp.number}
        barrier.warps, barrier.waiting = set(), set()
        return None

    return run


# --- mbarriers and copies -------------------------------------------------------------------------


def _mbarrier(parts: list[str], operands: list[str], statement: str) -> Run:
    what = parts[1]

    def run(block: Block, warp: Warp, taking: np.ndarray) -> None:
        place = operands[{"init": 0, "try_wait": 1, "arrive": 1}[what]]
        addresses = _address(block, warp, place, "u32")
        if what == "init":
            count = _uniform(block, warp, operands[1], "u32", taking)
            block.barriers[int(addresses[_one_lane(taking, statement)])] = Barrier(count)
        elif what == "arrive":
            barrier = block.barriers[int(addresses[_one_lane(taking, statement)])]
            expected = "expect_tx" in parts
            count = _uniform(block, warp, operands[2], "u32", taking) if expected else 0
            barrier.change(1, count)
        else:
            parity = _uniform(block, warp, operands[2], "u32", taking)
            (address,) = set(addresses[taking].tolist())
            done = block.barriers[address].phase % 2 != parity
            block.write(warp, operands[0], np.bool_(done), taking)

    return run


def _copy(parts: list[str], operands: list[str], statement: str) -> Run:
    if "commit_group" in parts or "wait_group" in parts:
        return lambda block, warp, taking: None
    to_shared = parts[5].startswith("shared")

    def run(block: Block, warp: Warp, taking: np.ndarray) -> None:
        lane = _one_lane(taking, statement)
        described, source = (operands[1], operands[0]) if to_shared else (operands[0], operands[1])
        name, _, start = described.strip("[]").partition(",")

        def one(operand: str, kind: str) -> int:
            return _uniform(block, warp, operand.strip(), kind, taking)

        described_by = block.memory.maps[one(name, "u64")]
        place = [one(each, "s32") for each in start.strip(" {}").split(",")][::-1]
        address = int(_address(block, warp, source, "u32")[lane])
        if to_shared:
            barrier = block.barriers[int(_address(block, warp, operands[2], "u32")[lane])]

            def fetch() -> None:
                described_by.fetch(place, block.shared, address)
                barrier.change(0, -described_by.box_bytes)

            if block.late:
                block.copies.append(fetch)
            else:
                fetch()
        else:
            described_by.store(place, block.shared, address)

    return run


# --- tensor cores ---------------------------------------------------------------------------------


def _wgmma(parts: list[str], operands: list[str], statement: str) -> Run:
    if parts[1] == "fence":
        return lambda block, warp, taking: _all_lanes(taking, statement)
    if parts[1] == "commit_group":

        def commit(block: Block, warp: Warp, taking: np.ndarray) -> None:
            warp.groups.append(warp.open)
            warp.open = []
            warp.committed += 1

        return commit
    if parts[1] == "wait_group":

        def wait(block: Block, warp: Warp, taking: np.ndarray) -> Any:
            # Four warps multiply together: nothing is done before all of them have started it.
            left = int(operands[0])
            first = warp.number // 4 * 4
            slowest = min(each.committed for each in block.warps[first : first + 4])
            if slowest < warp.committed - left:
                return WAIT
            while len(warp.groups) > left:
                for product in warp.groups.pop(0):
                    product.carry_out()
            return None

        return wait
    columns = int(parts[4].split("n")[1].split("k")[0]) if parts[4].startswith("m64") else 0
    sums = [each.strip() for each in operands[0].strip("{}").split(",")]
    from_registers = operands[1].startswith("{")
    flags = [each.strip() for each in operands[3:]]
    if len(sums) != columns // 2 or flags[1:3] != ["1", "1"]:
        raise NotImplementedError(statement)
    if not from_registers and flags[3] != "0":
        raise NotImplementedError(statement)
    transposed = flags[-1] == "1"

    def run(block: Block, warp: Warp, taking: np.ndarray) -> None:
        _all_lanes(taking, statement)
        add = flags[0] == "1" or (
            flags[0] != "0" and bool(np.broadcast_to(warp.registers[flags[0]], LANES)[0])
        )
        b = _uniform(block, warp, operands[2], "u64", taking)
        words = [each.strip() for each in operands[1].strip("{}").split(",")]
        a = None if from_registers else _uniform(block, warp, operands[1], "u64", taking)
        before = np.array([warp.registers[each] for each in sums]) if add else None
        chained = bool(warp.open) and warp.open[-1].sums == tuple(sums)

        def carry_out() -> None:
            if a is None:
                left = _fragment(np.array([block.read(warp, each, "u32") for each in words]))
            else:
                rows = along_rows(a, 64)[16 * (warp.number % 4) :][:16]
                left = _numbers(block.shared, rows)
            right = _numbers(block.shared, (down_columns if transposed else along_rows)(b, columns))
            with np.errstate(invalid="ignore"):  # NaN is what a test looks for
                made = left @ right.T
            if add:
                held = np.array([warp.registers[each] for each in sums]) if chained else before
                made = made + _rows_of(held)
            for name, values in zip(sums, _lanes_of(made), strict=True):
                warp.registers[name] = values.astype(np.float32)

        if block.late:
            warp.open.append(Product(tuple(sums), carry_out))
            for name in sums:  # nobody may look before the wait
                warp.registers[name] = _poison(np.float32)
        else:
            carry_out()

    return run


@cache
def along_rows(descriptor: int, rows: int) -> np.ndarray:
    """Byte addresses of rows x 16 numbers that lie along rows of 128 bytes (K-major)."""
    start, _, eight = _described(descriptor)
    row, k = np.arange(rows)[:, None], np.arange(16)[None, :]
    return swizzle(start + row // 8 * eight + row % 8 * 128 + 2 * k)


@cache
def down_columns(descriptor: int, columns: int) -> np.ndarray:
    """Byte addresses of columns x 16 numbers, each k a row of 64 columns (MN-major)."""
    start, panel, eight = _described(descriptor)
    n, k = np.arange(columns)[:, None], np.arange(16)[None, :]
    return swizzle(start + n // 64 * panel + n % 64 * 2 + k // 8 * eight + k % 8 * 128)


def _described(descriptor: int) -> tuple[int, int, int]:
    """Start, leading and stride offset in bytes of a descriptor with the 128-byte swizzle."""
    if descriptor >> 62 != 1 or descriptor >> 49 & 7:
        raise Wrong(f"descriptor {descriptor:#x}: not the 128-byte swizzle")
    return tuple((descriptor >> at & 0x3FFF) * 16 for at in (0, 16, 32))  # type: ignore[return-value]


def _numbers(shared: np.ndarray, addresses: np.ndarray) -> np.ndarray:
    """bfloat16 numbers at these addresses, as float64."""
    if addresses.min() < 0 or addresses.max() + 2 > len(shared):
        raise Wrong(f"a product reads shared memory up to {addresses.max()}, of {len(shared)}")
    bits = shared.view(np.uint16)[addresses // 2].astype(np.uint32) << 16
    return bits.view(np.float32).astype(np.float64)


def _fragment(words: np.ndarray) -> np.ndarray:
    """The 16 x 16 numbers of A that a warp holds, from four words a lane."""
    matrix = np.empty((16, 16))
    lane = np.arange(LANES)
    for i in range(4):
        row, column = lane // 4 + 8 * (i % 2), lane % 4 * 2 + 8 * (i // 2)
        for half in range(2):
            bits = (words[i] >> np.uint32(16 * half) & np.uint32(0xFFFF)) << np.uint32(16)
            matrix[row, column + half] = bits.astype(np.uint32).view(np.float32)
    return matrix


def _rows_of(sums: np.ndarray) -> np.ndarray:
    """16 x n results from what the lanes hold, n / 2 numbers each."""
    matrix = np.empty((16, len(sums) * 2))
    lane = np.arange(LANES)
    for i, values in enumerate(sums):
        matrix[lane // 4 + 8 * (i % 4 // 2), i // 4 * 8 + lane % 4 * 2 + i % 2] = values
    return matrix


def _lanes_of(matrix: np.ndarray) -> list[np.ndarray]:
    lane = np.arange(LANES)
    return [
        matrix[lane // 4 + 8 * (i % 4 // 2), i // 4 * 8 + lane % 4 * 2 + i % 2]
        for i in range(matrix.shape[1] // 2)
    ]


def _stmatrix(parts: list[str], operands: list[str], statement: str) -> Run:
    names = [each.strip() for each in operands[1].strip("{}").split(",")]

    def run(block: Block, warp: Warp, taking: np.ndarray) -> None:
        _all_lanes(taking, statement)
        places = _address(block, warp, operands[0], "u32")
        for m, name in enumerate(names):
            words = np.broadcast_to(block.read(warp, name, "u32"), LANES).reshape(8, 4)
            for row in range(8):
                at = int(places[8 * m + row])
                if at % 16:
                    raise Wrong(f"stmatrix at {at}, no multiple of 16")
                block.shared[at : at + 16] = words[row].copy().view(np.uint8)

    return run


# --- memory and arguments -------------------------------------------------------------------------


class Memory:
    """Global memory: float32 arrays at addresses, and tensor maps."""

    def __init__(self) -> None:
        self.arrays: list[tuple[int, np.ndarray]] = []
        self.maps: dict[int, TensorMap] = {}
        self._next = 1 << 20

    def place(self, array: np.ndarray) -> int:
        start = self._next
        self._next += (array.nbytes + 511) // 256 * 256
        self.arrays.append((start, array))
        return start

    def place_map(self, described: TensorMap) -> int:
        start = self.place(np.zeros(16, np.uint64))
        self.maps[start] = described
        return start

    def store(self, address: int, value: np.float32) -> None:
        for start, array in self.arrays:
            if start <= address < start + array.nbytes and array.dtype == np.float32:
                array.reshape(-1)[(address - start) // 4] = value
                return
        raise Wrong(f"a store outside all arrays, at {address:#x}")


def flattened(shape: Sequence[int], itemsize: int, address: int) -> list[int]:
    """A C-contiguous array as Numba hands it to a kernel: seven numbers for one axis, then two."""
    strides = [itemsize * int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    return [0, 0, int(np.prod(shape)), itemsize, address, *shape, *strides]


def _nothing(parts: list[str], operands: list[str], statement: str) -> Run:
    return lambda block, warp, taking: None


def _return(parts: list[str], operands: list[str], statement: str) -> Run:
    return lambda block, warp, taking: END


def _shift(a: Values, b: Values) -> Values:
    return a << b.astype(a.dtype)


MAKERS: dict[str, Any] = {
    "add": _typed(2, lambda a, b: a + b),
    "sub": _typed(2, lambda a, b: a - b),
    "mul": _multiply,
    "mad": _typed(3, lambda a, b, c: a * b + c),
    "fma": _fma,
    "max": _typed(2, np.fmax),
    "min": _typed(2, np.fmin),
    "and": _typed(2, np.bitwise_and),
    "or": _typed(2, np.bitwise_or),
    "xor": _typed(2, np.bitwise_xor),
    "not": _typed(1, np.invert),
    "neg": _typed(1, np.negative),
    "shl": _typed(2, _shift, last="u32"),
    "shr": _typed(2, lambda a, b: a >> b.astype(a.dtype), last="u32"),
    "setp": _compare,
    "selp": _typed(3, lambda a, b, p: np.where(p, a, b), last="pred"),
    "cvt": _convert,
    "cvta": _plain(["u64"], lambda a: a),
    "mov": _move,
    "ex2": _plain(["f32"], np.exp2),
    "lg2": _plain(["f32"], np.log2),
    "rcp": _plain(["f32"], lambda a: np.float32(1) / a),
    "ld": _load,
    "st": _store,
    "shfl": _shuffle,
    "bar": _named_barrier,
    "mbarrier": _mbarrier,
    "cp": _copy,
    "wgmma": _wgmma,
    "stmatrix": _stmatrix,
    "fence": _nothing,
    "setmaxnreg": _nothing,
    "ret": _return,
}
