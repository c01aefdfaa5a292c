"""Read constants and tables out of compiled machine code, which is an ELF file."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import inspect
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from course_lib.host import probe, runtime
from course_lib.wording.errors import PIP_INSTALL, PlainError


def constant_banks(cubin: bytes, entry: str) -> dict[int, bytes]:
    """What the constant banks of a kernel hold, by their numbers.

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


# --- Drive the compilers: Numba to PTX, ptxas to machine code, nvdisasm to something readable -----
# None of them needs a GPU. Numba asks for the current device in one place all the same, when a
# kernel calls a `@cuda.jit(device=True)` function; while we compile, that question is answered
# with the compute capability that the report is for. ptxas and nvdisasm come with PyPI packages,
# and are looked for there first, then on PATH and in an installed CUDA toolkit.


TOOL_SECONDS = 120
GET_COMPILER = f"{PIP_INSTALL} 'numba-cuda[cu12]'"
GET_PTXAS = f"{PIP_INSTALL} nvidia-cuda-nvcc-cu12"
GET_DISASSEMBLER = f"{PIP_INSTALL} nvidia-cuda-nvdisasm"

# Options of @cuda.jit that change the machine code, and that Numba's compile_ptx takes, too.
CODE_OPTIONS = ("fastmath", "opt", "debug", "launch_bounds")


HOPPER = (9, 0)


class CompilerMissing(PlainError):
    """This machine lacks the compiler; the message names the packages."""


class CompileFailed(PlainError):
    """The compiler refused the kernel, or what we were given is no kernel."""


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
    """

    entry: str
    argument_types: str
    log: str
    sass: str | None
    note: str
    versions: str
    constants: dict[int, bytes] = field(default_factory=dict)
    tables: tuple[bytes, dict[int, int]] = (b"", {})


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
            _cuda_with_compiler()
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
        cuda = _cuda_with_compiler()
        arguments = argument_types(signature)
        ptx = _to_ptx(cuda, function, arguments, cc, options, alone=set(targets) <= {cc})
    made = {}
    for each in targets or (cc,):
        with tempfile.TemporaryDirectory(prefix="machine-code-") as folder:
            source, cubin = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
            source.write_text(ptx, encoding="utf-8")
            log = _to_machine_code(source, cubin, each, options.get("max_registers"))
            sass, note = disassemble(cubin, each)
            entry, elf = _entry(ptx), cubin.read_bytes()
        made[each] = Compiled(
            entry,
            str(arguments),
            log,
            sass,
            note,
            _versions(cuda),
            constant_banks(elf, entry),
            tables(elf),
        )
    return made


def _function(kernel: Any) -> Any:
    function = getattr(kernel, "py_func", kernel)
    if not inspect.isfunction(function):
        raise CompileFailed(
            f"Only a Python function or a @cuda.jit kernel can be compiled, not {kernel!r}."
        )
    return function


# --- Numba ------------------------------------------------------------------------------------


def _cuda_with_compiler() -> ModuleType:
    """The module numba.cuda, with the libraries loaded that its compiler needs."""
    try:
        cuda = probe.ThisMachine().load_compiler()
        importlib.import_module("numba.cuda.cudadrv.nvvm").NVVM()
        nvrtc = importlib.import_module("numba.cuda.cudadrv.nvrtc")
        if hasattr(nvrtc, "get_supported_ccs"):  # numba-cuda asks NVRTC which GPUs there are
            nvrtc.get_supported_ccs()
    except Exception as problem:
        reason = (str(problem).strip() or repr(problem)).splitlines()[0]
        raise CompilerMissing(
            f"Compiling a kernel needs numba-cuda with its CUDA libraries ({reason[:90]}): "
            f"{GET_COMPILER}, then restart the notebook's kernel."
        ) from None
    return cuda


def argument_types(signature: Any) -> tuple[Any, ...]:
    """Numba's types from "void(float32[:, ::1], int64)", a tuple of types, or example arguments."""
    from numba.core import sigutils, types

    if isinstance(signature, str) or hasattr(signature, "return_type"):
        try:
            arguments, returned = sigutils.normalize_signature(signature)
        except Exception as problem:
            raise CompileFailed(
                f"Numba can't read the signature {signature!r}: {problem}"
            ) from None
        if returned not in (None, types.void):
            raise CompileFailed(f"A kernel returns nothing, but {signature!r} names {returned}.")
        return tuple(arguments)
    if isinstance(signature, np.ndarray) or not isinstance(signature, tuple | list):
        raise CompileFailed(
            "A signature is text such as 'void(float32[:, ::1])', or a tuple with a type or an "
            "example for each argument."
        )
    return tuple(_type_of(each) for each in signature)


def _type_of(value: Any) -> Any:
    from numba import typeof
    from numba.core import types
    from numba.np import numpy_support

    if isinstance(value, types.Type):
        return value
    if hasattr(value, "__cuda_array_interface__") or hasattr(value, "copy_to_host"):
        value = _like_on_host(value)
    if not isinstance(value, np.ndarray):
        return typeof(value)
    flags = value.flags
    layout: Any = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return types.Array(numpy_support.from_dtype(value.dtype), value.ndim, layout)


def _like_on_host(array: Any) -> np.ndarray:
    """An array on the host with a device array's dtype and layout; no element is copied."""
    described = getattr(array, "__cuda_array_interface__", None) or {
        "shape": array.shape,
        "typestr": np.dtype(array.dtype).str,
    }
    shape, strides = described["shape"], described.get("strides")
    empty = np.empty(0, np.dtype(described["typestr"]))
    if strides is None:
        return np.broadcast_to(empty[:0], (0,) * len(shape)).copy()
    extent = sum(step * (size - 1) for step, size in zip(strides, shape, strict=True))
    buffer = np.empty(extent // empty.itemsize + 1, empty.dtype)
    return np.lib.stride_tricks.as_strided(buffer, shape, strides)


def _to_ptx(
    cuda: ModuleType,
    function: Any,
    arguments: tuple[Any, ...],
    cc: tuple[int, int],
    options: dict[str, Any],
    alone: bool = True,
) -> str:
    """The PTX for a compute capability; `alone` if it need not serve newer GPUs, too."""
    taken = inspect.signature(cuda.compile_ptx).parameters
    given = {name: options[name] for name in CODE_OPTIONS if options.get(name) is not None}
    given = {name: value for name, value in given.items() if name in taken}
    # Line numbers change no instruction, and tell which line an instruction belongs to.
    lines = not given.get("debug")
    try:
        with _device_of(cc), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a source that can't be found, say
            given |= {"device": False, "lineinfo": lines}
            if alone and cc >= HOPPER:
                with contextlib.suppress(TypeError, ValueError):  # before numba-cuda 0.30
                    ptx, _ = cuda.compile_ptx(function, arguments, cc=(*cc, "a"), **given)
                    return str(ptx)
            ptx, _ = cuda.compile_ptx(function, arguments, cc=cc, **given)
    except Exception as problem:
        raise CompileFailed(
            f"Numba's compiler refuses {function.__name__}: {_gist(problem)}"
        ) from problem
    return str(ptx)


@contextlib.contextmanager
def _device_of(cc: tuple[int, int]) -> Iterator[None]:
    """Let Numba believe that a GPU of this compute capability is at hand."""
    dispatcher: Any = sys.modules["numba.cuda.dispatcher"]
    before = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=cc)
    try:
        yield
    finally:
        dispatcher.get_current_device = before


def _gist(problem: Exception) -> str:
    """The lines of Numba's long messages that say what is wrong and where."""
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in str(problem).splitlines()]
    passing = ("Failed in", "During:", "There are", "No match", "^", "-")
    telling = [line for line in lines if line and not line.startswith(passing)]
    return " ".join(telling[:3]) or type(problem).__name__


def _entry(ptx: str) -> str:
    names = re.findall(r"^\s*(?:\.\w+\s+)*\.entry\s+([\w$]+)", ptx, re.MULTILINE)
    if not names:
        raise CompileFailed("The compiled text holds no kernel.")
    return str(names[-1])


def _versions(cuda: ModuleType) -> str:
    import numba

    part = "its own CUDA part"
    if "numba_cuda" in str(cuda.__file__):
        part = f"numba-cuda {metadata.version('numba-cuda')}"
    return f"numba {numba.__version__} with {part}, {release(_ptxas())}"


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
            yield from (str(each) for each in (folder, folder / "x86_64", folder / "x64"))
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
