"""The ways in which people get the number of resident blocks wrong, each as a rule that differs.

`Rules` is the arithmetic of occupancy with a switch wherever it is easily mistaken. A slip turns
one switch. A wrong answer is explained by the fewest slips that reproduce all of its numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from course_lib.devices import CAPABILITIES, DEVICES
from course_lib.devices.occupancy import Occupancy, SmLimits
from course_lib.wording.sentences import say

MOST_SLIPS = 3  # that are looked for at once
UNLIMITED = 1 << 20  # blocks

LIMITS = ("warps", "registers", "shared memory", "blocks")
# What a launch has, and the most that it may have of it.
MOST_OF = {
    "threads": "threads_per_block",
    "registers": "registers_per_thread",
    "shared_bytes": "shared_per_block_bytes",
}
# What differs between GPUs, and is found in answers as a number of one of them.
OF_ONE_GPU = {
    "warps_per_sm": "warps",
    "blocks_per_sm": "blocks",
    "shared_per_sm_bytes": "shared memory",
    "shared_reserved_bytes": "shared memory",
    "shared_unit_bytes": "shared memory",
}


@dataclass(frozen=True)
class Rules:
    """How someone works out the number of blocks; the defaults are right.

    Attributes:
        left_out: limits that are not looked at.
        rounded_up: limits whose last division rounds up.
        warps: how a block's threads become warps: "up", "down", "down to one" at least, or "not at
            all".
        registers: what is rounded up to the unit: "warp", "block", "nothing", or "threads" where
            registers are counted by thread and never by warp.
        partitions: does each sub-partition round for itself?
        reserve, shared_unit: are they added, and rounded up to?
        shared_budget: "SM", "block" (the most of one block), or "KiB".
        choose: takes the answer from the four limits.
        result: what is returned: "blocks", "warps", "share" or "percent".
        fixed: limits of one GPU that are used for all.
        refused: what a block may not even have as much of as the GPU allows: "threads",
            "registers" (of a thread) or "shared_bytes".
    """

    left_out: frozenset[str] = frozenset()
    rounded_up: frozenset[str] = frozenset()
    warps: str = "up"
    registers: str = "warp"
    partitions: bool = True
    reserve: bool = True
    shared_unit: bool = True
    shared_budget: str = "SM"
    choose: Callable[..., int] = min
    result: str = "blocks"
    fixed: tuple[tuple[str, int], ...] = ()
    refused: frozenset[str] = frozenset()

    def answer(self, right: Occupancy) -> float | None:
        """What these rules give for a launch; None where they divide by zero."""
        sm = self._sm(right)
        if any(getattr(right, what) >= getattr(sm, MOST_OF[what]) for what in self.refused):
            return 0
        warps = {
            "up": -(-right.threads // sm.warp_size),
            "down": right.threads // sm.warp_size,
            "down to one": max(1, right.threads // sm.warp_size),
            "not at all": right.threads / sm.warp_size,
        }[self.warps]
        if not warps:
            return None
        limits = {
            "warps": sm.warps_per_sm / warps,
            "registers": self._by_registers(sm, right, warps),
            "shared memory": self._by_shared(sm, right),
            "blocks": sm.blocks_per_sm,
        }
        whole = [
            math.ceil(limit) if name in self.rounded_up else math.floor(limit)
            for name, limit in limits.items()
            if name not in self.left_out
        ]
        return self._result(self.choose(whole), right)

    def _by_registers(self, sm: SmLimits, right: Occupancy, warps: float) -> float:
        exact = right.registers * sm.warp_size
        if self.registers == "threads":
            return sm.registers_per_sm / (right.registers * right.threads)
        if self.registers == "block":
            return sm.registers_per_sm / _round_up(math.ceil(exact * warps), sm.register_unit)
        per_warp = exact if self.registers == "nothing" else _round_up(exact, sm.register_unit)
        if not self.partitions:
            return sm.registers_per_sm // per_warp / warps
        return sm.partitions * (sm.registers_per_sm // sm.partitions // per_warp) / warps

    def _need(self, sm: SmLimits, right: Occupancy) -> int:
        """What a block takes of the SM's shared memory."""
        need = right.shared_bytes + (sm.shared_reserved_bytes if self.reserve else 0)
        return _round_up(need, sm.shared_unit_bytes) if self.shared_unit else need

    def needs_no_shared(self, right: Occupancy) -> bool:
        """Where nothing is needed, an answer may divide by zero, or call it any large number."""
        return self._need(self._sm(right), right) == 0

    def _sm(self, right: Occupancy) -> SmLimits:
        changed: dict[str, Any] = dict(self.fixed)
        return replace(right.sm, **changed) if self.fixed else right.sm

    def _by_shared(self, sm: SmLimits, right: Occupancy) -> float:
        need = self._need(sm, right)
        budget = {
            "SM": sm.shared_per_sm_bytes,
            "block": sm.shared_per_block_bytes,
            "KiB": sm.shared_per_sm_bytes // 1024,
        }[self.shared_budget]
        return budget / need if need else UNLIMITED

    def _result(self, blocks: float, right: Occupancy) -> float:
        share = blocks * right.warps_per_block / right.max_warps
        return {
            "blocks": blocks,
            "warps": blocks * right.warps_per_block,
            "share": share,
            "percent": 100 * share,
        }[self.result]


@dataclass(frozen=True)
class ResidentSlip:
    """One way to get it wrong.

    Attributes:
        change: turns the switch.
        says: what the answer does, as the end of "…: <this>".
        limit: the limit whose arithmetic shows it; empty for the answer as a whole.
        looks_at: what to find the line by: names of the device's attributes and parameters.
        code, hint: of the finding.
        beside: what the line to blame does not name, if another one that looks like it does.
    """

    change: Callable[[Rules], Rules]
    says: str
    limit: str = ""
    looks_at: tuple[str, ...] = ("return",)
    code: str = "wrong-formula"
    hint: str = ""
    beside: str = ""


def _set(**changes: object) -> Callable[[Rules], Rules]:
    return lambda rules: replace(rules, **changes)  # type: ignore[arg-type]


def _without(limit: str) -> Callable[[Rules], Rules]:
    return lambda rules: replace(rules, left_out=rules.left_out | {limit})


def _up(*limits: str) -> Callable[[Rules], Rules]:
    return lambda rules: replace(rules, rounded_up=rules.rounded_up | set(limits))


def _refused(what: str) -> Callable[[Rules], Rules]:
    return lambda rules: replace(rules, refused=rules.refused | {what})


def _fixed(name: str, value: int) -> Callable[[Rules], Rules]:
    return lambda rules: replace(rules, fixed=(*rules.fixed, (name, value)))


_SLIPS: tuple[ResidentSlip, ...] = (
    ResidentSlip(
        _without("warps"), "the limit by warps is left out", "warps",
        hint="How many warps may be resident, and how many does one block bring?",
    ),
    ResidentSlip(
        _without("registers"), "the limit by registers is left out", "registers",
        hint="How many registers does a warp take, and how many warps find room?",
    ),
    ResidentSlip(
        _without("shared memory"), "the limit by shared memory is left out", "shared memory",
        hint="Which of the device's numbers are in bytes?",
    ),
    ResidentSlip(
        _without("blocks"), "the cap on blocks is left out", "blocks",
        hint="An SM keeps a fixed number of blocks at most, however small they are.",
    ),
    ResidentSlip(
        _set(choose=max), "the largest limit is taken, and the smallest one counts",
        hint="Each limit alone must hold. Which of them is met first?",
    ),
    ResidentSlip(
        _set(warps="down"), "the warps of a block are rounded down", "warps", ("threads",),
        hint="33 threads need two warps.",
    ),
    ResidentSlip(
        _set(warps="down to one"), "the warps of a block are rounded down", "warps", ("threads",),
        hint="33 threads need two warps.",
    ),
    ResidentSlip(
        _set(warps="not at all"), "threads are counted where whole warps are taken", "warps",
        ("threads",), hint="A warp that is half empty takes the room of a whole one.",
    ),
    ResidentSlip(
        _set(registers="nothing"), "the registers of a warp are not rounded up", "registers",
        ("registers",), hint="A warp gets registers in steps of device.register_unit.",
    ),
    ResidentSlip(
        _set(registers="block"), "registers are rounded up once for the block, and each warp is "
        "given its own, rounded up", "registers", ("registers",),
        hint="A warp gets registers in steps of device.register_unit.",
    ),
    ResidentSlip(
        _set(registers="threads"), "registers are counted by thread, and they are handed out by "
        "warp, rounded up", "registers", ("registers",),
        hint="How many registers does one warp get, and how many such warps find room?",
    ),
    ResidentSlip(
        _set(partitions=False), "the registers are shared out as if they were one file",
        "registers", ("registers_per_sm", "number 65536", "number 16384", "registers"),
        hint="Each of the device.partitions holds whole warps only; what is left over in one "
        "cannot be joined with what is left over in the next.", beside="partitions",
    ),
    ResidentSlip(
        _set(reserve=False), "the driver's reserve is not added", "shared memory",
        ("shared_bytes", "shared_per_sm_bytes"),
        hint="What does a resident block take besides what it declares?",
    ),
    ResidentSlip(
        _set(shared_unit=False), "a block's shared memory is not rounded up", "shared memory",
        ("shared_bytes", "shared_per_sm_bytes"),
        hint="Shared memory is handed out in steps of device.shared_unit_bytes.",
    ),
    ResidentSlip(
        _set(shared_budget="block"), "what one block may have is shared out, in place of what the "
        "SM has", "shared memory", ("shared_per_block_bytes", "shared_bytes"),
        hint="Which number belongs to the SM, and which one to a single block?",
    ),
    ResidentSlip(
        _set(shared_budget="KiB"), "KiB of the SM are divided by bytes of the block",
        "shared memory", ("shared_per_sm_bytes",), hint="Which numbers are in bytes already?",
    ),
    ResidentSlip(
        _up(*LIMITS), "the limits are rounded up, and a part of a block cannot be resident", "",
        ("warps_per_sm", "threads_per_sm", "registers_per_sm", "shared_per_sm_bytes"),
        hint="Which divisions ask what is needed, and which ones ask what fits?",
    ),
    *(
        ResidentSlip(
            _up(limit), say("the limit by {limit} is rounded up, and a part of a block cannot be "
            "resident", limit=limit), limit, looks_at,
            hint="Which divisions ask what is needed, and which ones ask what fits?",
        )
        for limit, looks_at in (
            ("warps", ("warps_per_sm", "threads_per_sm")),
            ("registers", ("registers_per_sm", "number 65536", "number 16384", "registers")),
            ("shared memory", ("shared_per_sm_bytes", "shared_bytes")),
        )
    ),
    *(
        ResidentSlip(
            _refused(what),
            say("a block is refused that has exactly as {amount} as is allowed", amount=amount), "",
            (f"test {what}",), "wrong-bounds-check",
            "Is the largest number itself still allowed, or the first one that is too large?",
        )
        for what, amount in (
            ("threads", "many threads"),
            ("registers", "many registers for each thread"),
            ("shared_bytes", "much shared memory"),
        )
    ),
    ResidentSlip(
        _set(result="warps"), "this is the number of warps; blocks were asked for",
        hint="How many warps does one block bring?",
    ),
    ResidentSlip(
        _set(result="share"), "this is the occupancy; the number of blocks was asked for",
        hint="Occupancy is what follows from the blocks: their warps over the most warps.",
    ),
    ResidentSlip(
        _set(result="percent"), "this is the occupancy; the number of blocks was asked for",
        hint="Occupancy is what follows from the blocks: their warps over the most warps.",
    ),
)  # fmt: skip


def _of_one_gpu() -> Iterator[ResidentSlip]:
    """The slips of those who write the number of one GPU where the device has its own."""
    for name, limit in OF_ONE_GPU.items():
        for value in sorted({getattr(row.sm, name) for row in DEVICES.values()}):
            yield ResidentSlip(
                _fixed(name, value),
                say(
                    "the number {value} is used for every GPU in place of device.{name}",
                    value=value,
                    name=name,
                ),
                limit,
                (f"number {value}", name),
                "hardcoded-answer",
                say("What does this device say of its {name}?", name=name),
            )


@cache
def all_slips() -> tuple[ResidentSlip, ...]:
    return (*_SLIPS, *_of_one_gpu())


@cache
def whole_gpus() -> tuple[tuple[str, Rules], ...]:
    """The rules of those who work with the numbers of one GPU throughout."""
    found: dict[tuple[tuple[str, int], ...], tuple[str, Rules]] = {}
    for row in DEVICES.values():
        numbers = tuple((name, getattr(row.sm, name)) for name in OF_ONE_GPU)
        found.setdefault(numbers, (row.name, Rules(fixed=numbers)))
    assert len(found) <= len(CAPABILITIES)
    return tuple(found.values())


def explain(
    answers: Sequence[float | None], launches: Sequence[Occupancy]
) -> tuple[ResidentSlip, ...]:
    """The fewest slips that give exactly these answers; empty where none do."""
    # The wrong answers first: they rule out most explanations at once.
    pairs = sorted(zip(answers, launches, strict=True), key=lambda each: each[0] == each[1].blocks)
    answers, launches = [each[0] for each in pairs], [each[1] for each in pairs]
    for count in range(1, MOST_SLIPS + 1):
        # Numbers of one GPU multiply the choices; among three slips they would only slow us down.
        choices = all_slips() if count < MOST_SLIPS else _SLIPS
        for slips in itertools.combinations(choices, count):
            rules = Rules()
            for slip in slips:
                rules = slip.change(rules)
            if _gives(rules, answers, launches):
                return slips
    return ()


def of_which_gpu(answers: Sequence[float | None], launches: Sequence[Occupancy]) -> str:
    """The GPU whose numbers were used for all, if that explains the answers."""
    for name, rules in whole_gpus():
        if _gives(rules, answers, launches):
            return name
    return ""


def _gives(rules: Rules, answers: Sequence[float | None], launches: Sequence[Occupancy]) -> bool:
    return all(
        _same(rules, launch, answer) for answer, launch in zip(answers, launches, strict=True)
    )


def _same(rules: Rules, launch: Occupancy, answer: float | None) -> bool:
    if rules.needs_no_shared(launch) and (answer is None or rules.choose is max):
        return True
    if launch.blocks == answer == 0:  # an answer may refuse before it divides
        return True
    model = rules.answer(launch)
    if model is None or answer is None:
        return model is answer
    return math.isclose(model, answer, rel_tol=1e-3, abs_tol=1e-9)


def _round_up(number: int, unit: int) -> int:
    return -(-number // unit) * unit
