"""Say what the compiler made of a kernel: registers, memory, and what its hot loop is made of."""

from __future__ import annotations

import itertools
import linecache
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from course_lib.machine_code import sass
from course_lib.machine_code.compiler import Compiled, capability, compile_kernel, target
from course_lib.machine_code.sass import Instruction

# What an instruction is for, by its opcode without modifiers. A leading U (uniform: one for the
# whole warp) changes nothing: it takes an issue slot like any other.
KINDS: dict[str, str] = {
    **dict.fromkeys(("FFMA", "FFMA2"), "FFMA"),
    **dict.fromkeys(("FADD", "FMUL", "FSETP", "FSET", "FSEL", "FMNMX", "FCHK"), "float32"),
    **dict.fromkeys(("FADD2", "FMUL2", "FSWZADD", "MUFU", "RRO"), "float32"),
    **dict.fromkeys(("DFMA", "DADD", "DMUL", "DSETP", "DMNMX"), "float64"),
    **dict.fromkeys(("HFMA2", "HADD2", "HMUL2", "HSETP2", "HSET2", "HMNMX2"), "float16"),
    **dict.fromkeys(("LDS", "ULDS"), "shared load"),
    **dict.fromkeys(("STS", "USTS", "STSM"), "shared store"),
    **dict.fromkeys(("LDG", "LD"), "global load"),
    **dict.fromkeys(("STG", "ST", "UTMASTG"), "global store"),
    **dict.fromkeys(("LDL", "STL"), "local"),
    **dict.fromkeys(("ATOM", "ATOMG", "ATOMS", "RED", "REDG", "REDUX"), "atomic"),
    **dict.fromkeys(("LDGSTS", "UBLKCP", "UTMALDG"), "LDGSTS"),
    **dict.fromkeys(("LDSM", "LDSMT"), "LDSM"),
    **dict.fromkeys(("IADD", "IADD3", "VIADD", "IMAD", "LEA", "LOP", "LOP3", "PLOP3"), "integer"),
    **dict.fromkeys(("SHF", "SHL", "SHR", "ISETP", "ISET", "SEL", "IMNMX", "VIMNMX"), "integer"),
    **dict.fromkeys(("IABS", "ISCADD", "POPC", "FLO", "BREV", "BMSK", "SGXT", "PRMT"), "integer"),
    **dict.fromkeys(("IDP", "IMUL", "XMAD", "LOP32I", "VABSDIFF", "I2I", "BFE", "BFI"), "integer"),
    **dict.fromkeys(("MOV", "CS2R", "S2R", "S2UR", "R2UR", "P2R", "R2P", "R2UP", "VOTE"), "move"),
    **dict.fromkeys(("LDC", "LDCU", "ULDC", "SHFL", "MATCH", "UP2UR", "MOVM"), "move"),
    **dict.fromkeys(("BRA", "BSSY", "BSYNC", "EXIT", "CALL", "RET", "BREAK", "BMOV"), "control"),
    **dict.fromkeys(("BAR", "WARPSYNC", "DEPBAR", "LDGDEPBAR", "NOP", "YIELD"), "control"),
    **dict.fromkeys(("MEMBAR", "ERRBAR", "CCTL", "NANOSLEEP", "SYNCS", "BPT"), "control"),
    **dict.fromkeys(("WARPGROUP", "FENCE", "UCGABAR_ARV", "UCGABAR_WAIT"), "control"),
}

NO_LOOP = "There is no loop: the mix is that of the whole kernel."
NO_MULTIPLY_ADD = "No loop holds a multiply-add: the mix is that of the longest loop."
FLOAT64 = "The hot loop computes in float64, for which most GPUs have few units."


def kind_of(instruction: Instruction) -> str:
    """What an instruction is for: "FFMA", "shared load", "integer" …"""
    if instruction.opcode.startswith(("IMAD.MOV", "UIMAD.MOV")):
        return "move"
    if instruction.is_tensor:
        return "HMMA"
    name = instruction.operation
    if name == "HFMA2" and not instruction.multiply_adds:
        return "move"
    return KINDS.get(name) or KINDS.get(name.removeprefix("U")) or "other"


def width_of(instruction: Instruction) -> int:
    """Bits that a memory instruction moves for each lane; 32 unless the opcode says otherwise."""
    found = re.search(r"\.(?:U|S)?(8|16|64|128)\b", instruction.opcode)
    return int(found.group(1)) if found else 32


@dataclass(frozen=True)
class InstructionMix:
    """How many instructions of which kind a warp issues in one trip through the hot loop.

    Attributes:
        total: all of them.
        kinds: by purpose: "FFMA", "shared load", "integer" …
        widths: memory instructions by kind and bits per lane: `widths["shared load"][128]`.
        opcodes: by opcode with modifiers.
    """

    total: int
    kinds: Mapping[str, int]
    widths: Mapping[str, Mapping[int, int]]
    opcodes: Mapping[str, int]

    @property
    def ffma(self) -> int:
        """Float32 multiply-adds; one FFMA2 is two."""
        packed = sum(n for opcode, n in self.opcodes.items() if opcode.startswith("FFMA2"))
        return self.kinds.get("FFMA", 0) + packed

    @property
    def lds(self) -> Mapping[int, int]:
        """Shared-memory loads by bits per lane."""
        return self.widths.get("shared load", {})

    @property
    def sts(self) -> int:
        """Shared-memory stores that pass through registers, of any width."""
        return self.kinds.get("shared store", 0)

    @property
    def ldg(self) -> Mapping[int, int]:
        """Global loads by bits per lane."""
        return self.widths.get("global load", {})

    @property
    def integer(self) -> int:
        """Arithmetic, comparisons and selections of integers: indices, mostly."""
        return self.kinds.get("integer", 0)

    @property
    def hmma(self) -> int:
        """Tensor-core instructions."""
        return self.kinds.get("HMMA", 0)

    @property
    def ldgsts(self) -> int:
        """Asynchronous copies from global to shared memory."""
        return self.kinds.get("LDGSTS", 0)

    @property
    def other(self) -> int:
        """All that is neither multiply-add, nor LDS, LDG, integer, HMMA, LDGSTS or LDSM."""
        named = ("FFMA", "shared load", "global load", "integer", "HMMA", "LDGSTS", "LDSM")
        return self.total - sum(self.kinds.get(kind, 0) for kind in named)

    @property
    def instructions_per_ffma(self) -> float | None:
        """Issued instructions per float32 multiply-add; None where there is none."""
        return self.total / self.ffma if self.ffma else None

    @property
    def lds_per_ffma(self) -> float | None:
        """Shared-memory load instructions, of any width, per float32 multiply-add."""
        return sum(self.lds.values()) / self.ffma if self.ffma else None

    def __str__(self) -> str:
        parts = []
        for kind, count in sorted(self.kinds.items(), key=lambda item: -item[1]):
            widths = self.widths.get(kind, {})
            said = ", ".join(f"{n} of {bits} bits" for bits, n in sorted(widths.items()))
            parts.append(f"{kind} {count}" + (f" ({said})" if len(widths) > 1 else ""))
        return " · ".join(parts)


def mix_of(instructions: tuple[Instruction, ...]) -> InstructionMix:
    """Count instructions by kind, width and opcode."""
    kinds = Counter(map(kind_of, instructions))
    widths: dict[str, Counter[int]] = {}
    for instruction in instructions:
        kind = kind_of(instruction)
        if kind.split()[0] in ("shared", "global", "local") or kind == "LDGSTS":
            widths.setdefault(kind, Counter())[width_of(instruction)] += 1
    return InstructionMix(
        len(instructions),
        _frozen(kinds),
        _frozen({kind: _frozen(counts) for kind, counts in widths.items()}),
        _frozen(Counter(instruction.opcode for instruction in instructions)),
    )


def _frozen(counts: Mapping[Any, Any]) -> Mapping[Any, Any]:
    return MappingProxyType(dict(counts))


@dataclass(frozen=True, repr=False)
class CompileReport:
    """What a kernel became.

    Attributes:
        kernel: its name.
        arguments: the types it was compiled for.
        cc: the compute capability it was compiled for.
        registers: per thread.
        static_shared_bytes: shared memory per block that the code asks for.
        stack_bytes: local memory per thread, for arrays that did not fit in registers.
        spill_store_bytes, spill_load_bytes: registers put away for want of room, per thread.
        mix: what one trip through the hot loop issues; None without a disassembler.
        loop: the instructions of the hot loop.
        note: one sentence where something is missing or unusual; else "".
        versions: the compilers.
        code: all instructions, the kernel from its first to its last.
        around: what the loop around the hot loop issues in a trip, without the loops in it.
        loops_beside: how many loops there are in it beside the hot one.
    """

    kernel: str
    arguments: str
    cc: str
    registers: int
    static_shared_bytes: int
    stack_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int
    mix: InstructionMix | None
    loop: tuple[Instruction, ...]
    note: str
    versions: str
    code: tuple[Instruction, ...]
    around: tuple[Instruction, ...] = ()
    loops_beside: int = 0

    def over_a_tile(self, multiply_adds: int) -> float | None:
        """Instructions for each multiply-add of a thread that has so many of them in one trip of
        the loop over tiles: the hot loop as often as that takes, and what stands around it once.

        None where no machine code was read, or where a loop beside the hot one (such as a copy
        that is not written out) has a trip count that nobody knows.
        """
        if self.mix is None or not self.mix.ffma or self.loops_beside:
            return None
        if self.mix.ffma >= multiply_adds:
            return self.mix.total / self.mix.ffma
        return self.mix.total / self.mix.ffma + len(self.around) / multiply_adds

    def show(self, rows: int | None = 40) -> None:
        """Print the report with a listing of the hot loop; rows=None prints all of it."""
        print(self.text(rows))

    def text(self, rows: int | None = 40) -> str:
        """The report as text."""
        lines = [f"{self.kernel} for {self._target}, {self.versions}"]
        lines.append(
            f"{self.registers} registers · {self.static_shared_bytes} B static shared memory · "
            f"{self.stack_bytes} B stack · spills: {self.spill_store_bytes} B stored, "
            f"{self.spill_load_bytes} B loaded"
        )
        if self.mix:
            lines.append(f"hot loop: {_size_of(self.mix)}")
            lines.append(f"  {self.mix}")
        if self.note:
            lines.append(self.note)
        if self.mix:
            lines.extend(["", *self._by_line(), "", *_cut(list(_rows(self.loop)), rows)])
        return "\n".join(lines)

    def __repr__(self) -> str:
        mix = f", {_size_of(self.mix)}" if self.mix else ""
        return (
            f"<CompileReport of {self.kernel} for {self._target}: {self.registers} registers{mix}>"
        )

    @property
    def _target(self) -> str:
        return target(capability(self.cc))

    def _by_line(self) -> Iterator[str]:
        """Which line of the source takes how many of the loop's instructions."""
        counts = Counter((instruction.file, instruction.line) for instruction in self.loop)
        yield "  count  source line"
        for (file, line), count in sorted(counts.items()):
            yield f"  {count:5d}  {line or '?':>4}  {_source(file, line)}".rstrip()


def _source(file: str, line: int) -> str:
    """A line of the source. A notebook's cell is no file, but the compiler gave it a folder."""
    return (linecache.getline(file, line) or linecache.getline(Path(file).name, line)).strip()


def _size_of(mix: InstructionMix) -> str:
    said = f"{mix.total} instructions a trip"
    if not mix.ffma:
        return said
    return f"{said}, {mix.ffma} FFMA: {mix.instructions_per_ffma:.2f} instructions per FFMA"


def _rows(instructions: tuple[Instruction, ...]) -> Iterator[str]:
    """The listing; of a run of one kind the first stands for all."""
    yield f"  addr  line  {'kind':<12}  instruction"
    for kind, group in itertools.groupby(instructions, key=kind_of):
        first, *others = group
        yield f"  {first.address:04x}  {first.line or '?':>4}  {kind:<12}  {first}"
        if len(others) == 1:
            (second,) = others
            yield f"  {second.address:04x}  {second.line or '?':>4}  {kind:<12}  {second}"
        elif others:
            yield f"  {'…':>4}  {'':>4}  {kind:<12}  and {len(others)} more"


def _cut(listing: list[str], rows: int | None) -> list[str]:
    if rows is None or len(listing) <= rows:
        return listing
    hidden = len(listing) - rows
    return [*listing[:rows], f"  … {hidden} rows more: report.show(rows=None)"]


def compile_report(kernel: Any, signature: Any, cc: str | tuple[int, int] = "7.5") -> CompileReport:
    """Compile a kernel for a GPU that need not be there, and say what came out.

    Args:
        kernel: a `@cuda.jit` kernel or a plain function. Its options (`fastmath`,
            `launch_bounds`, `max_registers`) count.
        signature: "void(float32[:, ::1], int64)", or a tuple with a Numba type or an example for
            each argument.
        cc: the compute capability, "7.5" for a T4; `devices.device("L4").cc` knows others.

    The hot loop is the loop with the most multiply-adds (how it is found: machine_code/sass.py).
    Counts are what one warp issues in one trip through it, unrolled as the compiler left it.

    Raises:
        CompilerMissing: with the packages to install.
        CompileFailed: with the compiler's reason.
    """
    wanted = capability(cc)
    (made,) = compile_kernel(kernel, signature, wanted).values()
    return report_of(made, getattr(kernel, "py_func", kernel).__name__, wanted)


def compile_reports(kernel: Any, signature: Any, ccs: Iterable[str]) -> dict[str, CompileReport]:
    """Reports for several GPUs, in a fraction of the time that `compile_report` takes for each.

    Numba compiles once, for the oldest of them, and ptxas goes on from that PTX for every one: so
    does a driver for a GPU that is newer than the code. The counts are those of `compile_report`
    up to a few instructions.
    """
    wanted = {capability(cc): cc for cc in ccs}
    made = compile_kernel(kernel, signature, min(wanted), tuple(wanted))
    name = getattr(kernel, "py_func", kernel).__name__
    return {wanted[cc]: report_of(code, name, cc) for cc, code in made.items()}


def report_of(made: Compiled, kernel: str, cc: tuple[int, int]) -> CompileReport:
    """The report on machine code, whoever made it."""
    loop, code, note = _find_loop(made)
    around, beside = ((), 0) if made.sass is None else _around(made.sass, made.entry)
    return CompileReport(
        kernel=kernel,
        arguments=made.argument_types,
        cc=f"{cc[0]}.{cc[1]}",
        **resources(made.log, made.entry),
        mix=mix_of(loop) if loop else None,
        loop=loop,
        note=note,
        versions=made.versions,
        code=code,
        around=around,
        loops_beside=beside,
    )


def _around(text: str, entry: str) -> tuple[tuple[Instruction, ...], int]:
    return sass.around_hot_loop(sass.parse(text, entry))


def _find_loop(made: Compiled) -> tuple[tuple[Instruction, ...], tuple[Instruction, ...], str]:
    """The hot loop, all the code, and what is to be said about them."""
    if made.sass is None:
        return (), (), made.note
    code = sass.parse(made.sass, made.entry)
    everything, loop = sass.reachable(code), sass.hot_loop(code)
    if not loop:
        return everything, everything, NO_LOOP
    notes = [] if any(instruction.multiply_adds for instruction in loop) else [NO_MULTIPLY_ADD]
    if any(kind_of(instruction) == "float64" for instruction in loop):
        notes.append(FLOAT64)
    return loop, everything, " ".join(notes)


_NUMBERS = {
    "registers": r"Used (\d+) registers",
    "static_shared_bytes": r"(\d+) bytes smem",
    "stack_bytes": r"(\d+) bytes stack frame",
    "spill_store_bytes": r"(\d+) bytes spill stores",
    "spill_load_bytes": r"(\d+) bytes spill loads",
}


def resources(log: str, entry: str) -> dict[str, int]:
    """What ptxas says about a kernel, from its --verbose output."""
    _, _, about = log.partition(f"Compiling entry function '{entry}'")
    about, _, _ = about.partition("Compiling entry function")
    _, _, own = about.partition(f"Function properties for {entry}")
    text = own or about
    found = {name: re.search(pattern, text) for name, pattern in _NUMBERS.items()}
    return {name: int(match.group(1)) if match else 0 for name, match in found.items()}
