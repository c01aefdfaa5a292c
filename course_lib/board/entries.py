"""Judge and count the entries of a board: each is a text, and none of it is executed.

A board is a folder. `board.toml` says what is asked, and one file for each entry, NAME.py, holds an
answer to an exercise or task that is a rung. The judge's seed is published, so that everybody's
launches are the same.
"""

from __future__ import annotations

import ast
import copy
import functools
import hashlib
import importlib
import json
import linecache
import re
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from course_lib.checking import examine_source
from course_lib.compiled_counts.launch import NotCounted, count
from course_lib.curriculum import EXERCISES, TASKS, Exercise
from course_lib.emulator import (
    AsCompiled,
    Budget,
    KeptLaunch,
    Kernel,
    KernelRejected,
    emulate,
    load_program,
)
from course_lib.emulator.language.names import Reference
from course_lib.emulator.profile.as_compiled import copies_of
from course_lib.intrinsics import unrolled
from course_lib.machine_code import CompileFailed
from course_lib.machine_code.compiler import capability, compile_kernel
from course_lib.measurements.counted_cost import cost_of
from course_lib.own_ladder import LADDERS, chosen_constants
from course_lib.problems.inputs import as_held, make_inputs
from course_lib.problems.problem import Case
from course_lib.problems.table import problem_of
from course_lib.wording.errors import PlainError

SETTINGS = "board.toml"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
LONGEST_TEXT = 100_000  # bytes
STEPS = 50_000_000  # of the emulator
MOST_SIZE = 512


class NoBoard(PlainError):
    """A board cannot be made; the message says why, in one sentence."""


@dataclass(frozen=True)
class BoardSettings:
    """What a board asks for.

    Attributes:
        title: above the page.
        ladder: whose rungs may enter: "product", or "row softmax".
        seed: draws the launches on which an entry is judged, and the numbers.
        size: rows and columns of the matrices on which it is counted.
        cc: the compute capability that it is compiled for.
    """

    title: str = "The board"
    ladder: str = "product"
    seed: int = 0
    size: int = 256
    cc: str = "9.0"


KEYS = {field.name: type(field.default) for field in fields(BoardSettings)}


@dataclass(frozen=True)
class BoardEntry:
    """One text, and what came of it.

    Attributes:
        name: of the file, without its ending.
        sha256: of the text's bytes.
        rung: the exercise or task that it answers.
        refused: why it is not ranked; "" where it is.
        instructions, sectors, wavefronts: as compiled, of the one launch that is counted.
        compiler: who compiled it.
    """

    name: str
    sha256: str
    rung: str = ""
    refused: str = ""
    instructions: int = 0
    sectors: int = 0
    wavefronts: int = 0
    compiler: str = ""

    @property
    def cost(self) -> float:
        """In cycles of one SM: see `course_lib.measurements.counted_cost`."""
        return cost_of(self.instructions, self.wavefronts, self.sectors)


def read_settings(folder: Path) -> BoardSettings:
    """What `board.toml` says.

    Raises:
        NoBoard: if it is missing, or anything in it cannot be used.
    """
    path = folder / SETTINGS
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NoBoard(f"{path} is missing: it says what the board asks for.") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise NoBoard(f"{path} can't be read: {problem}.") from None
    for key, value in given.items():
        if key not in KEYS:
            raise NoBoard(f"{path} has a key {key!r}; the possible keys are {', '.join(KEYS)}.")
        if type(value) is not KEYS[key]:
            raise NoBoard(
                f"{key} in {path} is {value!r}, but must be of type {KEYS[key].__name__}."
            )
    settings = BoardSettings(**given)
    if settings.ladder not in LADDERS:
        raise NoBoard(f"ladder in {path} must be one of {', '.join(map(repr, LADDERS))}.")
    if not 32 <= settings.size <= MOST_SIZE:
        raise NoBoard(f"size in {path} is {settings.size}, but must be from 32 to {MOST_SIZE}.")
    if not 0 <= settings.seed < 2**32:
        raise NoBoard(f"seed in {path} is {settings.seed}, but must be from 0 to 2**32 - 1.")
    try:
        capability(settings.cc)
    except PlainError as problem:
        raise NoBoard(f"cc of {path}: {problem}") from None
    return settings


def entries_of(folder: Path, settings: BoardSettings) -> Iterator[BoardEntry]:
    """Every entry of a folder, in the order of their names, judged and counted.

    Raises:
        CompilerMissing: naming the packages to install.
    """
    for path in sorted(folder.glob("*.py")):
        yield entry_of(path, settings)


def entry_of(path: Path, settings: BoardSettings) -> BoardEntry:
    """The entry in one file.

    Raises:
        CompilerMissing: naming the packages to install.
    """
    raw = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
    entry = BoardEntry(path.stem, hashlib.sha256(raw).hexdigest())
    try:
        text = _text_of(path.stem, raw)
        exercise = _answered(text, settings.ladder)
        entry = replace(entry, rung=exercise.id)
        report = examine_source(exercise.id, text, seed=settings.seed)
        if not report.passed:
            first = report.errors[0]
            where = f"line {first.line}: " if first.line else ""
            raise _Refused(f"The kernel is wrong: {where}{first.message}")
        compiled = counts_of_text(exercise, text, settings)
    except (_Refused, NotCounted, CompileFailed, KernelRejected) as problem:
        return replace(entry, refused=str(problem))
    return replace(
        entry,
        instructions=int(compiled.executed),
        sectors=int(compiled.global_load_sectors + compiled.global_store_sectors),
        wavefronts=int(compiled.shared_load_wavefronts + compiled.shared_store_wavefronts),
        compiler=compiled.versions,
    )


class _Refused(PlainError):
    """A text that is not ranked; the message says why."""


def _text_of(name: str, raw: bytes) -> str:
    if not NAME.fullmatch(name):
        raise _Refused("A name may have at most 40 characters: letters, digits, - and _.")
    if not 0 < len(raw) <= LONGEST_TEXT:
        raise _Refused(f"The text must have from 1 to {LONGEST_TEXT:,} bytes.")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise _Refused("The text is not UTF-8.") from None


def _answered(text: str, ladder: str) -> Exercise:
    """The one rung that a text answers.

    Raises:
        KernelRejected: if it cannot be read.
    """
    rungs = {
        exercise.id: exercise
        for exercise in (*TASKS.values(), *EXERCISES.values())
        # What the cost is held against is float32: one that computes in another format is no rival.
        if exercise.rung and exercise.ladder == ladder and set(exercise.formats) <= {"float32"}
    }
    found = rungs.keys() & load_program(text).functions.keys()
    if len(found) != 1:
        raise _Refused(f"An entry must define one of these functions: {', '.join(rungs)}.")
    return rungs[found.pop()]


def counts_of_text(exercise: Exercise, text: str, settings: BoardSettings) -> AsCompiled:
    """What one launch of a right answer costs as compiled.

    Raises:
        CompilerMissing: naming the packages to install.
        CompileFailed: with the compiler's reason.
        KernelRejected: if the text's kernel cannot be read alone.
        NotCounted: for machine code that is not followed, or leaves other numbers.
    """
    kernel = function_of(exercise.id, text)
    problem = problem_of(exercise)
    shape = problem.exact(settings.size)
    inputs = make_inputs(problem, Case(shape), settings.seed)
    output = np.zeros(problem.covered(shape), np.float32)
    names = kernel.read.namespace
    launch = exercise.launch(output.shape, chosen_constants(exercise, names), None)
    arguments = [*as_held(problem, inputs), output]
    kept = copies_of(arguments)
    emulation = emulate(kernel.read, costs=True, budget=Budget(steps=STEPS))
    profile = emulation[launch.grid, launch.block](*arguments)
    cc = capability(settings.cc)
    made = compile_kernel(kernel.function, kept, cc)[cc]
    as_launched = KeptLaunch(kernel.read, profile.grid, profile.block, 0, kept)
    return count(as_launched, profile, settings.cc, made)


# --- The board as a file ------------------------------------------------------------------------


def board_text(settings: BoardSettings, entries: list[BoardEntry]) -> str:
    """The board as JSON, the same bytes for the same folder and compiler."""
    ranked = sorted(entries, key=lambda entry: (bool(entry.refused), entry.cost, entry.name))
    plain = {"schema": 1, **asdict(settings), "entries": [asdict(entry) for entry in ranked]}
    return json.dumps(plain, indent=1, ensure_ascii=False) + "\n"


def read_board(text: str) -> tuple[BoardSettings, list[BoardEntry]]:
    """The settings and entries of a board's text."""
    plain: dict[str, Any] = json.loads(text)
    settings = BoardSettings(**{key: plain[key] for key in KEYS})
    return settings, [BoardEntry(**entry) for entry in plain["entries"]]


# Make a function that Numba can compile of a kernel's text, without executing that text.


# What names of these modules stand for is handed to the compiler; they hold nothing of a student's.
MODULES = ("numba", "numpy", "math", "course_lib.intrinsics")


@dataclass(frozen=True)
class TextKernel:
    """A kernel's text, as the emulator reads it, and as a function for the compiler."""

    read: Kernel
    function: FunctionType


def function_of(name: str, text: str) -> TextKernel:
    """The kernel called `name` of a text.

    Raises:
        KernelRejected: if there is none, or it cannot be read.
        NotCounted: for what cannot be compiled apart from its text.
    """
    kernel = load_program(text).kernel(name)
    file = f"<entry {hashlib.sha256(text.encode()).hexdigest()[:16]}>"
    # `unrolled` reads the source; without a time, Python's cache keeps one that is in no file.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    return TextKernel(kernel, _function(kernel, file))


def _function(kernel: Kernel, file: str) -> FunctionType:
    tree = copy.deepcopy(kernel.tree)
    if isinstance(tree, ast.Lambda) or tree.args.defaults or tree.args.kw_defaults:
        raise NotCounted(
            f"{kernel.name} has default values or is a lambda, so it can't be compiled on its own."
        )
    tree.decorator_list, tree.returns = [], None
    for argument in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs):
        argument.annotation = None
    names = {
        name: _value(value, file)
        for name, value in kernel.namespace.items()
        if value is not kernel and name in _names_in(kernel)
    }
    module = ast.fix_missing_locations(ast.Module([tree], type_ignores=[]))
    exec(compile(module, file, "exec"), names)
    function = names[kernel.name]
    assert isinstance(function, FunctionType)
    return unrolled(function) if kernel.is_unrolled else function


def _names_in(kernel: Kernel) -> set[str]:
    return {node.id for node in ast.walk(kernel.tree) if isinstance(node, ast.Name)}


def _value(value: Any, file: str) -> Any:
    """What a name stands for, to Numba: a function of the text becomes a device function."""
    if isinstance(value, Reference):
        return _named(value.path)
    if not isinstance(value, Kernel):
        return value
    from numba import cuda

    return cuda.jit(device=True)(_function(value, file))


def _named(path: str) -> Any:
    """The module or function of this dotted name."""
    home = next((name for name in MODULES if f"{path}.".startswith(f"{name}.")), None)
    if home is None:
        raise NotCounted(f"{path} can't be passed to the compiler; only {', '.join(MODULES)} can.")
    parts = path.removeprefix(home).strip(".").split(".")
    found = importlib.import_module(home)
    if home == "numba":
        importlib.import_module("numba.cuda")
    return functools.reduce(getattr, filter(None, parts), found)
