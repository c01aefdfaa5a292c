"""From a kernel to machine code without a GPU: compiled, disassembled, its constants and tables."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import os
import re
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course_lib.host import runtime
from course_lib.machine_code.front_ends import (
    HOPPER,
    NUMBA,
    CompileFailed,
    CompilerMissing,
    NumbaFrontEnd,
    front_end,
)
from course_lib.wording.errors import PIP_INSTALL


def constant_banks(cubin: bytes, entry: str) -> dict[int, bytes]:
    """The contents of a kernel's constant banks, by their numbers, read from the ELF file.

    Bank 0, with the parameters, is a launch's affair; bank 4 has addresses that only it knows.
    """
    found: dict[int, bytes] = {}
    for name, content in _sections(cubin):
        part = re.fullmatch(r"\.nv\.constant(\d+)(?:\.(.*))?", name)
        if part and part[1] not in ("0", "4") and part[2] in (None, entry):
            found[int(part[1])] = content
    return found


def tables(cubin: bytes) -> tuple[bytes, dict[int, int]]:
    """The compiler's own tables in global memory, and where bank 4 is to have their addresses.

    Returns:
        The tables' bytes; by the place in bank 4, where in these bytes a table begins.
    """
    sections = list(_sections(cubin))
    content = dict(sections)
    held, symbols = content.get(".nv.global.init", b""), content.get(".symtab", b"")
    found: dict[int, int] = {}
    for place, symbol, more in _moved(content, ".nv.constant4"):
        _, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", symbols, 24 * symbol)
        if section < len(sections) and sections[section][0] == ".nv.global.init":
            found[place] = value + more
    return held, found


def _moved(content: dict[str, bytes], name: str) -> Iterator[tuple[int, int, int]]:
    """The relocations of a section: where, whose address (a symbol's number), and what is added."""
    for place, info, more in struct.iter_unpack("<QQq", content.get(f".rela{name}", b"")):
        yield place, info >> 32, more
    for place, info in struct.iter_unpack("<QQ", content.get(f".rel{name}", b"")):
        yield place, info >> 32, struct.unpack_from("<q", content[name], place)[0]


def _sections(elf: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and content of each section of a 64-bit ELF file; none for anything else."""
    if elf[:5] != b"\x7fELF\x02":
        return
    (table,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + at * size) for at in range(count)]
    names = headers[names_at][4]
    for name, kind, _, _, offset, length in headers:
        start = names + name
        text = elf[start : elf.index(b"\0", start)].decode("ascii", "replace")
        # 8 is a section without content.
        yield text, b"" if kind == 8 else elf[offset : offset + length]


# --- The tools: ptxas to machine code, nvdisasm to something readable ---------------------------
# Neither needs a GPU. They come with PyPI packages, and are looked for there first, then on PATH
# and in an installed CUDA toolkit.


TOOL_SECONDS = 120
GET_PTXAS = f"{PIP_INSTALL} nvidia-cuda-nvcc-cu12"
GET_DISASSEMBLER = f"{PIP_INSTALL} nvidia-cuda-nvdisasm"


@dataclass(frozen=True)
class Compiled:
    """What the compilers made of a kernel.

    Attributes:
        entry: the kernel's name in the machine code.
        argument_types: how Numba saw the arguments.
        log: what ptxas said: registers, shared memory, spills.
        sass: the disassembled machine code, None where it could not be had.
        note: why there is no `sass`.
        versions: who compiled.
        constants: what its constant banks hold, by number, without the parameters.
        tables: the compiler's own tables, and where bank 4 has their addresses; see `cubin`.
        front: the compiler from Python, which knows how a kernel takes its arguments.
    """

    entry: str
    argument_types: str
    log: str
    sass: str | None
    note: str
    versions: str
    constants: dict[int, bytes] = field(default_factory=dict)
    tables: tuple[bytes, dict[int, int]] = (b"", {})
    front: NumbaFrontEnd = NUMBA


def capability(cc: str | tuple[int, int]) -> tuple[int, int]:
    """(7, 5) from "7.5", "sm_75" or (7, 5)."""
    if isinstance(cc, tuple):
        return int(cc[0]), int(cc[1])
    found = re.fullmatch(r"(\d+)\.(\d)|sm_?(\d+)(\d)", str(cc).strip())
    if not found:
        raise CompileFailed(f'A compute capability looks like "7.5", not {cc!r}.')
    major, minor = [part for part in found.groups() if part is not None]
    return int(major), int(minor)


def target(cc: tuple[int, int]) -> str:
    """The assembler's name for a compute capability: "sm_75".

    From Hopper on with an "a": with the instructions that only this chip has, such as wgmma. So
    does a launch, for Numba compiles for the chip that is there.
    """
    return f"sm_{cc[0]}{cc[1]}" + ("a" if cc >= HOPPER else "")


def missing() -> str:
    """Why no kernel can be compiled here, as a sentence with the mend; "" where one can."""
    try:
        with runtime.untouched_numba():
            front_end().load()
        _ptxas()
    except CompilerMissing as reason:
        return str(reason)
    return ""


def compile_kernel(
    kernel: Any, signature: Any, cc: tuple[int, int], targets: tuple[tuple[int, int], ...] = ()
) -> dict[tuple[int, int], Compiled]:
    """Compile a kernel for `cc`, or from its PTX for each of `targets`, `cc` and newer ones.

    Runtime's replacements for launches are put aside meanwhile.
    """
    function = _function(kernel)
    options = dict(getattr(kernel, "targetoptions", None) or {})
    if options.get("device"):
        name = function.__name__
        raise CompileFailed(f"{name} is a device function: give the kernel that calls it.")
    with runtime.untouched_numba():
        front = front_end(kernel)
        cuda = front.load()
        arguments = front.argument_types(signature)
        ptx = front.to_ptx(cuda, function, arguments, cc, options, alone=set(targets) <= {cc})
    made = {}
    for target in targets or (cc,):
        with tempfile.TemporaryDirectory(prefix="machine-code-") as folder:
            source, cubin = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
            source.write_text(ptx, encoding="utf-8")
            log = _to_machine_code(source, cubin, target, options.get("max_registers"))
            sass, note = disassemble(cubin, target)
            entry, elf = _entry(ptx), cubin.read_bytes()
        made[target] = Compiled(
            entry,
            str(arguments),
            log,
            sass,
            note,
            f"{front.version(cuda)}, {release(_ptxas())}",
            constant_banks(elf, entry),
            tables(elf),
            front,
        )
    return made


def _function(kernel: Any) -> Any:
    function = getattr(kernel, "py_func", kernel)
    if not inspect.isfunction(function):
        raise CompileFailed(
            f"Only a Python function or a @cuda.jit kernel can be compiled, not {kernel!r}."
        )
    return function


def _entry(ptx: str) -> str:
    names = re.findall(r"^\s*(?:\.\w+\s+)*\.entry\s+([\w$]+)", ptx, re.MULTILINE)
    if not names:
        raise CompileFailed("The compiled text holds no kernel.")
    return str(names[-1])


@functools.lru_cache
def release(tool: str) -> str:
    """ "ptxas 12.9.86", as the tool itself says."""
    said = run([tool, "--version"]).stdout
    found = re.search(r"\bV(\d[\d.]*)", said)
    return f"{Path(tool).stem} {found.group(1) if found else '?'}"


# --- ptxas and nvdisasm -----------------------------------------------------------------------


def find_tool(name: str) -> str | None:
    """A tool of the CUDA toolkit: from PyPI packages, from PATH, or from a toolkit's folder."""
    for folder in _folders():
        found = shutil.which(name, path=folder)
        if found:
            return found
    return None


def _folders() -> Iterator[str]:
    """Where tools may lie. Newer ones first: they read what older compilers wrote."""
    spec = importlib.util.find_spec("nvidia")
    for place in (spec.submodule_search_locations if spec else None) or ():
        packages = sorted(Path(place).glob("*/bin"), key=_from_old_toolkit)
        for folder in packages:
            yield from (str(path) for path in (folder, folder / "x86_64", folder / "x64"))
    yield from os.environ.get("PATH", "").split(os.pathsep)
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            yield str(Path(os.environ[variable], "bin"))
    yield "/usr/local/cuda/bin"


def _from_old_toolkit(folder: Path) -> bool:
    """CUDA 13's packages share nvidia/cu13; earlier ones have a folder each."""
    return not folder.parent.name.startswith("cu1")


def _ptxas() -> str:
    tool = find_tool("ptxas")
    if tool is None:
        raise CompilerMissing(
            f"Registers and machine code come from ptxas, which is not here: {GET_PTXAS} "
            "(for CUDA 13: nvidia-cuda-nvcc)."
        )
    return tool


def _to_machine_code(
    source: Path, cubin: Path, cc: tuple[int, int], max_registers: int | None
) -> str:
    command = [_ptxas(), "--verbose", f"--gpu-name={target(cc)}", "--generate-line-info"]
    if max_registers:
        command += ["--maxrregcount", str(max_registers)]
    done = run([*command, str(source), "--output-file", str(cubin)])
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise CompileFailed(f"ptxas refuses the kernel: {lines[0] if lines else 'no reason given'}")
    return done.stdout + done.stderr


def disassemble(cubin: Path, cc: tuple[int, int]) -> tuple[str | None, str]:
    """The machine code as text, or None and the reason."""
    tool = find_tool("nvdisasm")
    if tool is None:
        return None, f"The instruction mix needs the disassembler nvdisasm: {GET_DISASSEMBLER}."
    # What flows where is not printed so: to find it out takes a third of the time.
    options = ["--print-code", "--print-line-info", "--no-dataflow"]
    done = run([tool, *options, str(cubin)])
    if done.returncode or ".text." not in done.stdout:
        lines = [line for line in done.stderr.splitlines() if "warning" not in line]
        reason = lines[0].strip() if lines else "no reason given"
        where = f"{release(tool)} can't read code for {target(cc)}"
        return None, f"There is no instruction mix: {where} ({reason})."
    return done.stdout, ""


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=TOOL_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise CompilerMissing(f"{command[0]} does not run here: {problem}") from None
