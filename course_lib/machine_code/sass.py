"""Find the hot loop in a disassembled kernel: parse, control flow, back edges, natural loops.

A loop in machine code is a branch back. We cut the code into basic blocks, connect them, and work
out which blocks lie on every path to a block (its dominators). An edge from a block to one of
its dominators is a back edge; the loop it closes is every block from which the back edge can be
reached without passing the loop's head again. An instruction belongs to the innermost loop that
holds it, and the **hot loop is the one that owns the most multiply-adds**. It is counted without
the loops inside it, whose trip counts nobody knows here.

Compilers unroll: a trip through the hot loop of a naive kernel holds four steps of k, and the rest
(K modulo 4) runs in a second, smaller loop. So numbers of a loop are per trip, and only ratios
such as "instructions per multiply-add" may be compared between kernels. An instruction in a branch
that is rarely taken counts like any other: ratios are those of a trip that takes every branch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE = re.compile(r'//## File "(?P<file>[^"]*)", line (?P<line>\d+)')
_LABEL = re.compile(r"^((?:\.L|\$)[\w$.]*):")
_INSTRUCTION = re.compile(
    r"/\*(?P<address>[0-9a-f]{4,})\*/\s+(?P<guard>@!?U?P\w+\s+)?(?P<opcode>[A-Z]\w*(?:\.\w+)*)"
    r"\s*(?P<operands>[^;]*);"
)
_TARGET = re.compile(r"`\((\.L[\w$.]*)\)")

_LEAVE = {"EXIT", "RET", "KILL", "BRX", "BRXU", "JMX"}  # nothing follows, or nobody can say what
_JUMP = {"BRA", "JMP"}


@dataclass(frozen=True)
class Instruction:
    """One machine instruction.

    Attributes:
        address: bytes from the kernel's start.
        guard: the predicate under which it acts, such as "@!P0"; "" for always.
        opcode: with its modifiers, such as "LDS.128".
        operands: as the disassembler writes them.
        file, line: where in the source it comes from; 0 where that is not known.
    """

    address: int
    guard: str
    opcode: str
    operands: str
    file: str = ""
    line: int = 0

    @property
    def operation(self) -> str:
        """The opcode without modifiers: "LDS"."""
        return self.opcode.partition(".")[0]

    @property
    def multiply_adds(self) -> int:
        """Multiply-adds of one lane; a tensor-core instruction counts as one."""
        if self.operation in ("FFMA2", "HFMA2"):
            return 0 if _is_a_move(self) else 2
        return int(self.operation in ("FFMA", "DFMA") or self.is_tensor)

    @property
    def is_tensor(self) -> bool:
        """Is it work for the tensor cores?"""
        return self.operation in ("HMMA", "HGMMA", "IMMA", "IGMMA", "DMMA", "QGMMA", "UTCHMMA")

    def __str__(self) -> str:
        return f"{self.guard} {self.opcode} {self.operands}".strip()


def _is_a_move(instruction: Instruction) -> bool:
    """HFMA2 with nothing to multiply is how newer GPUs load a constant."""
    return "-RZ, RZ," in instruction.operands


@dataclass(frozen=True)
class Disassembly:
    """A kernel's instructions in order, and where its labels point (as positions)."""

    instructions: tuple[Instruction, ...]
    labels: dict[str, int]


@dataclass(frozen=True)
class NaturalLoop:
    """A natural loop: where it begins, all that is in it, and what is in no loop within it."""

    head: int
    members: frozenset[int]
    own: tuple[int, ...]


def parse(text: str, entry: str) -> Disassembly:
    """Read nvdisasm's text for one kernel."""
    instructions: list[Instruction] = []
    labels: dict[str, int] = {}
    file, line = "", 0
    for row in _section(text, entry):
        if found := _LINE.search(row):
            file, line = found["file"], int(found["line"])
        elif found := _LABEL.match(row):
            labels[found[1]] = len(instructions)
        elif found := _INSTRUCTION.search(row):
            instructions.append(
                Instruction(
                    address=int(found["address"], 16),
                    guard=(found["guard"] or "").strip(),
                    opcode=found["opcode"],
                    operands=found["operands"].strip(),
                    file=file,
                    line=line,
                )
            )
    return Disassembly(tuple(instructions), labels)


def _section(text: str, entry: str) -> Iterator[str]:
    """The lines of the kernel's own section; device functions that were not inlined have theirs."""
    inside = False
    for row in text.splitlines():
        if row.startswith("//-----"):
            inside = f" .text.{entry} " in row
        elif inside:
            yield row


def hot_loop(code: Disassembly) -> tuple[Instruction, ...]:
    """The instructions of the loop where the multiply-adds are done, in order of address.

    It is the loop that owns the most of them; but where a loop within it owns half as many or more,
    that one: it runs again and again while the outer one, which may hold its first or last trips
    written out, runs once. Where no loop has one, it is the loop with the most instructions; where
    there is no loop, nothing.
    """

    def weight(loop: NaturalLoop) -> tuple[int, int]:
        own = _instructions(code, loop.own)
        return sum(instruction.multiply_adds for instruction in own), len(own)

    everything = loops(code)
    found = max(everything, key=weight, default=None)
    while found:
        most = max(1, weight(found)[0])
        inner = [
            loop
            for loop in everything
            if loop.members < found.members and 2 * weight(loop)[0] >= most
        ]
        if not inner:
            break
        found = max(inner, key=weight)
    return _instructions(code, found.own) if found else ()


def around_hot_loop(code: Disassembly) -> tuple[tuple[Instruction, ...], int]:
    """What else the loop around the hot loop does in one trip, and how many loops it holds beside.

    Nothing, where no loop is around it. A loop beside it has a trip count that nobody knows here;
    one within the hot loop counts as beside it, too.
    """
    everything = loops(code)
    hot = hot_loop(code)
    inner = next((loop for loop in everything if _instructions(code, loop.own) == hot), None)
    if inner is None:
        return (), 0
    outer = min(
        (loop for loop in everything if loop.members > inner.members),
        key=lambda loop: len(loop.members),
        default=inner,
    )
    beside = [loop for loop in everything if loop.members < outer.members and loop is not inner]
    own = _instructions(code, outer.own) if outer is not inner else ()
    return own, len(beside)


def _instructions(code: Disassembly, positions: tuple[int, ...]) -> tuple[Instruction, ...]:
    return tuple(code.instructions[index] for index in positions)


def reachable(code: Disassembly) -> tuple[Instruction, ...]:
    """The instructions that can run, without the padding after the last EXIT."""
    blocks = _Blocks(code)
    return tuple(
        code.instructions[index]
        for block in sorted(blocks.reachable)
        for index in blocks.positions(block)
    )


def loops(code: Disassembly) -> list[NaturalLoop]:
    """Every natural loop; loops that share their head are one."""
    blocks = _Blocks(code)
    bodies: dict[int, set[int]] = {}
    for source, target in blocks.back_edges():
        bodies.setdefault(target, set()).update(blocks.loop_body(source, target))
    result = []
    for head, body in bodies.items():
        inner = [
            other for other_head, other in bodies.items() if other < body and other_head in body
        ]
        own = body.difference(*inner)
        result.append(
            NaturalLoop(
                head,
                frozenset(index for block in body for index in blocks.positions(block)),
                tuple(index for block in sorted(own) for index in blocks.positions(block)),
            )
        )
    return result


class _Blocks:
    """Basic blocks, numbered in order of address, and the ways between them."""

    def __init__(self, code: Disassembly) -> None:
        self.code = code
        self.starts = self._starts()
        ends = [*self.starts[1:], len(code.instructions)]
        self.ranges = list(zip(self.starts, ends, strict=True))
        number = {start: block for block, start in enumerate(self.starts)}
        self.after = [
            {number[position] for position in self._next(end - 1) if position in number}
            for _, end in self.ranges
        ]
        self.before: list[set[int]] = [set() for _ in self.ranges]
        self.reachable = self._reach()
        for block in self.reachable:
            for following in self.after[block]:
                self.before[following].add(block)

    def positions(self, block: int) -> range:
        """The positions of a block's instructions."""
        return range(*self.ranges[block])

    def _starts(self) -> list[int]:
        size = len(self.code.instructions)
        starts = {0, *self.code.labels.values()}
        for position in range(size):
            if self._next(position) != {position + 1}:
                starts.add(position + 1)
        return sorted(start for start in starts if start < size)

    def _next(self, position: int) -> set[int]:
        """Where control may be after this instruction."""
        instruction = self.code.instructions[position]
        operation, following = instruction.operation, position + 1
        target = _TARGET.search(instruction.operands)
        goal = self.code.labels.get(target[1]) if target else None
        if operation in _LEAVE:
            return {following} if instruction.guard else set()
        if operation in _JUMP and goal is not None:
            return {goal, following} if self._conditional(instruction) else {goal}
        if operation == "BSYNC":
            return {self._meeting_point(position)}
        return {following}

    @staticmethod
    def _conditional(instruction: Instruction) -> bool:
        """Guarded, or with a predicate as an operand: `BRA.U UP0, target`."""
        return bool(instruction.guard) or "," in instruction.operands

    def _meeting_point(self, position: int) -> int:
        """Where a BSYNC goes on: at the label that the BSSY of its barrier register named."""
        barrier = self.code.instructions[position].operands.split(",")[0].strip()
        goals = [
            self.code.labels.get(target[1], position + 1)
            for instruction in self.code.instructions[:position]
            if instruction.operation == "BSSY"
            and instruction.operands.split(",")[0].strip() == barrier
            if (target := _TARGET.search(instruction.operands))
        ]
        return goals[-1] if goals and position + 1 not in goals else position + 1

    def _reach(self) -> set[int]:
        found, waiting = set(), [0] if self.ranges else []
        while waiting:
            block = waiting.pop()
            if block not in found:
                found.add(block)
                waiting.extend(self.after[block])
        return found

    def dominators(self) -> dict[int, set[int]]:
        """For each reachable block, the blocks that every path to it passes."""
        everything = set(self.reachable)
        found = {block: set(everything) for block in everything}
        found[0] = {0}
        changed = True
        while changed:
            changed = False
            for block in sorted(everything - {0}):
                common = set.intersection(
                    *(found[predecessor] for predecessor in self.before[block])
                )
                if (fresh := common | {block}) != found[block]:
                    found[block] = fresh
                    changed = True
        return found

    def back_edges(self) -> Iterator[tuple[int, int]]:
        dominators = self.dominators()
        for source in sorted(self.reachable):
            for target in self.after[source]:
                if target in dominators[source]:
                    yield source, target

    def loop_body(self, source: int, head: int) -> set[int]:
        """The blocks from which the back edge's source is reached without passing the head."""
        body, waiting = {head}, [source]
        while waiting:
            block = waiting.pop()
            if block not in body:
                body.add(block)
                waiting.extend(self.before[block])
        return body
