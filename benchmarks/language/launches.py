"""In a process of its own: run one file of Numba's tests, with the emulator as the simulator."""

from __future__ import annotations

import ast
import builtins
import copy
import hashlib
import importlib.util
import inspect
import json
import linecache
import os
import re
import signal
import sys
import textwrap
import traceback
import types
import unittest
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from numba import cuda
from numba.cuda.core import config
from numba.cuda.simulator import kernel as simulator
from numba.cuda.simulator.args import ArgHint
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray
from witness import watching

from course_lib.emulator import Budget, KernelRejected, emulate

SECONDS_PER_TEST = 25
MOST_THREADS_FOR_THE_SIMULATOR = 20_000
MOST_LAUNCHES_PER_KERNEL = 40

# What the issue leaves out; a kernel that has one of these in its text, or around it, uses it.
REST = {
    "fp16 functions": r"\bfp16\b|\bh(sin|cos|log|exp|sqrt|ceil|floor|rcp|rint|trunc)\w*\(",
    "bfloat16 and fp8": r"bfloat16|bf16|fp8",
    "cooperative groups": r"\bcg\b|this_grid|cooperative",
    "textures": r"texture",
    "foreign functions": r"\bffi\b|declare_device|from_buffer|CFunc",
    "memory that a kernel asks for": (
        r"np\.(empty|zeros|ones|full|array|arange|copy)\w*\(|\.copy\(\)|literal_unroll"
    ),
    "dates": r"datetime|timedelta",
    "addresses": r"\.ctypes\b",
    "extensions of Numba": r"overload|extending|intrinsic\(",
}
# Errors of the driver and of the cache on disk: no launch of an emulator raises them.
NOT_OF_THE_LANGUAGE = ("PicklingError", "CUDAError", "CudaAPIError", "CudaSupportError")
kept: Any = None
launches: list[dict[str, Any]] = []
seen: dict[str, int] = {}


def plain(value: Any) -> Any:
    """An argument as the emulator takes it: what lies behind the simulator's wrappers."""
    while isinstance(value, ArgHint | FakeCUDAArray):
        value = value.value if isinstance(value, ArgHint) else value._ary
    if type(value) is tuple:
        return tuple(plain(each) for each in value)
    if isinstance(value, tuple):
        return type(value)(*(plain(each) for each in value))
    return value


def as_declared(function: Any, arguments: list[Any]) -> list[Any]:
    """Numbers in the types of the kernel's signature, which the simulator forgets."""
    signature = getattr(function, "declared_signature", None)
    if signature is None or len(signature) != len(arguments):
        return arguments
    return [
        getattr(np, str(kind), type(value))(value)
        if isinstance(value, int | float | np.number) and hasattr(np, str(kind))
        else value
        for kind, value in zip(signature, arguments, strict=True)
    ]


def undecorated(value: Any) -> Any:
    """The plain function in a kernel of the simulator's or of the compiler's."""
    return getattr(value, "py_func", None) or getattr(value, "fn", value)


def name_of(function: Any, file: str) -> tuple[str, str]:
    """A kernel's name in the list, and the hash of its source and of what it closes over."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        source = function.__name__
    around = []
    for cell in function.__closure__ or ():
        try:
            value = cell.cell_contents
        except ValueError:
            continue
        inner = undecorated(value)
        if callable(inner) and not isinstance(inner, type):
            # The simulator lacks these, so the list has kernels around them without their names.
            hint = getattr(inner, "__module__", "") == "numba.cuda.cache_hints"
            around.append("" if hint else getattr(inner, "__name__", ""))
    sha = hashlib.sha256((source + "|".join(around)).encode()).hexdigest()[:12]
    return f"{file}::{function.__qualname__}#{sha}", sha


def uses_of(function: Any, depth: int = 3) -> list[str]:
    """Which of the rest stands in a kernel's text, or in that of the functions it calls."""
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        return []
    found = {name for name, pattern in REST.items() if re.search(pattern, text)}
    definition = ast.parse(textwrap.dedent(text)).body[0]
    inside = [node for part in getattr(definition, "body", []) for node in ast.walk(part)]
    names = {node.id for node in inside if isinstance(node, ast.Name)}
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for name in names if depth else ():
        try:
            value = cells[name].cell_contents if name in cells else function.__globals__.get(name)
        except ValueError:
            continue
        if value is not (inner := undecorated(value)) and inspect.isfunction(inner):
            found.update(uses_of(inner, depth - 1))
        elif inspect.isfunction(value) and not value.__module__.startswith("numba."):
            # A plain function in a kernel.
            found.add("extensions of Numba")
    return sorted(found)


def close(left: Any, right: Any) -> bool:
    if isinstance(left, tuple):
        return all(map(close, left, right))
    if not isinstance(left, np.ndarray | np.generic):
        return True
    if left.dtype.names:
        return all(close(left[name], right[name]) for name in left.dtype.names)
    if left.dtype.kind in "fc":
        few = {2: 2e-2, 4: 1e-4}.get(left.dtype.itemsize // (1 + (left.dtype.kind == "c")), 1e-9)
        return bool(np.allclose(left, right, rtol=few, atol=few, equal_nan=True))
    return bool(np.array_equal(left, right))


def on_the_emulator(fake: Any, arguments: list[Any], kernel: Any = None) -> dict[str, Any]:
    """What the emulator says of a launch: of `kernel`, if it is not the simulator's own."""
    grid, block = (tuple(map(int, each)) for each in (fake.grid_dim, fake.block_dim))
    try:
        budget = Budget(steps=300_000)
        profile = emulate(kernel or fake, budget=budget)[grid, block, 0, fake.dynshared_size](
            *arguments
        )
    except KernelRejected as refused:
        first = refused.findings[0]
        return {"emulator": first.code, "said": first.message, "line": first.line, "findings": []}
    except TimeoutError:
        raise
    except Exception:
        said = traceback.format_exc().splitlines()
        return {"emulator": "crashed", "said": " / ".join([*said[-4:]]), "findings": []}
    errors = [each for each in profile.findings if each.severity == "error"]
    said = "; ".join(each.message for each in errors)
    ending = ("raised-exception", "out-of-bounds-read")
    first = next((each for each in errors if each.code in ending and each.threads), None)
    raised = None if first is None else (first.line, first.threads[0], first.code)
    return {"emulator": "ran", "said": said, "findings": [each.code for each in errors],
            "raised": raised}  # fmt: skip


def compare(run: Any, fake: Any, arguments: list[Any], after: list[Any]) -> str:
    """What the simulator makes of the same launch."""
    threads = int(np.prod(fake.grid_dim)) * int(np.prod(fake.block_dim))
    if threads > MOST_THREADS_FOR_THE_SIMULATOR:
        return "too large"
    try:
        with watching() as meets:
            run(fake, *arguments)
    except TimeoutError:
        raise
    except Exception as error:
        return f"{type(error).__name__}"
    finally:
        launches[-1]["threads meet"] = meets()
    return "equal" if all(map(close, arguments, after)) else "other values"


def launch(run: Any, file: str, fake: Any, arguments: tuple[Any, ...]) -> None:
    """Emulate one launch, compare it with the simulator's, and note both."""
    name, sha = name_of(fake.fn, file)
    given = as_declared(fake, [plain(each) for each in arguments])
    seen[name] = seen.get(name, 0) + 1
    if seen[name] > MOST_LAUNCHES_PER_KERNEL:
        run(fake, *arguments)
        return
    before = copy.deepcopy(given)
    os.environ["NUMBA_CUDA_ENABLE_NRT"] = str(int(bool(config.CUDA_ENABLE_NRT)))
    note = {"kernel": name, "sha": sha, "rest": uses_of(fake.fn)} | on_the_emulator(fake, given)
    launches.append(note | {"simulator": "", "test": ""})
    if note["emulator"] != "ran":
        for mine, earlier in zip(given, before, strict=True):
            if isinstance(mine, np.ndarray) and mine.flags.writeable:
                mine[...] = earlier
        run(fake, *arguments)
        return
    launches[-1]["simulator"] = compare(run, fake, before, given)


def put_in_place(file: str) -> None:
    """Let the simulator's launches be the emulator's; let nothing be left out."""
    run = simulator.FakeCUDAKernel.__call__

    def call(self: Any, *arguments: Any) -> Any:
        if self._device or simulator._kernel_context is not None:
            return run(self, *arguments)
        if self.extensions or 0 in (*self.grid_dim, *self.block_dim):  # nothing runs there
            return run(self, *arguments)
        return launch(run, file, self, arguments)

    simulator.FakeCUDAKernel.__call__ = call
    jit = cuda.jit

    def remembering(*given: Any, **named: Any) -> Any:
        made = jit(*given, **named)
        signature = given[0] if given else None
        text = str(signature)
        inner = re.fullmatch(r"(?:void|none)?\s*\(([^()]*)\)(?: -> none)?", text)
        if inner is None or isinstance(made, simulator.FakeCUDAKernel):
            return made

        def decorate(function: Any) -> Any:
            kernel = made(function)
            kernel.declared_signature = [each.strip(" ,") for each in inner.group(1).split(",")]
            return kernel

        return decorate

    cuda.jit = remembering
    keep_executed_texts()
    keep_apart(simulator.FakeCUDAKernel)


def keep_executed_texts() -> None:
    """Let the source of functions be found that a test makes out of a text."""
    execute = builtins.exec

    def remembered(code: Any, names: Any = None, local: Any = None) -> None:
        caller = sys._getframe(1)
        names = caller.f_globals if names is None else names
        local = (
            (caller.f_locals if names is caller.f_globals else names) if local is None else local
        )
        if isinstance(code, str):
            name = f"<harvested {hashlib.sha256(code.encode()).hexdigest()[:12]}>"
            lines = code.splitlines(keepends=True)
            linecache.cache[name] = (len(code), None, lines, name)
            code = compile(code, name, "exec")
        execute(code, names, local)

    builtins.exec = remembered


def keep_apart(kernels: Any) -> None:
    """Let a function that the tests bring not be taken for Numba's own, in kernels of a class."""
    made = kernels.__init__

    def make(self: Any, function: Any, *options: Any, **named: Any) -> None:
        if str(getattr(function, "__module__", "")).startswith("numba.cuda.tests"):
            function.__module__ = "harvested"
        made(self, function, *options, **named)

    kernels.__init__ = make


def stubs(simulator: bool = True) -> None:
    """Packages that some tests want and that no kernel needs; with the simulator run all tests."""
    for name, parts in {
        "filecheck": (), "filecheck.matcher": ("Matcher",), "filecheck.options": ("Options",),
        "filecheck.parser": ("Parser", "pattern_for_opts"), "filecheck.finput": ("FInput",),
    }.items():  # fmt: skip
        module = types.ModuleType(name)
        for part in parts:
            setattr(module, part, None)
        sys.modules.setdefault(name, module)
    if not simulator:
        return
    from numba.cuda import testing

    testing.skip_on_cudasim = lambda reason: lambda test: test
    # What asks for the simulator tests what it lacks; the emulator is in its place here.
    testing.skip_unless_cudasim = lambda reason: of_the_simulator
    for name in ("libdevice",):
        if not hasattr(cuda, name):
            try:
                setattr(cuda, name, importlib.import_module(f"numba.cuda.{name}"))
            except Exception:
                print(f"no cuda.{name} here", file=sys.stderr)


def of_the_simulator(test: Any) -> Any:
    """Mark a test that asserts on the simulator's own refusals."""
    test.of_the_simulator = True
    return test


class _Result(unittest.TestResult):
    """Writes what the launches of a test came to as soon as the test has ended."""

    def startTest(self, test: unittest.TestCase) -> None:
        launches.clear()
        self.ended = "passed"
        signal.alarm(SECONDS_PER_TEST)

    def addError(self, test: unittest.TestCase, error: Any) -> None:
        self.ended = f"{error[0].__name__}: {error[1]}"[:200]

    addFailure = addError

    def addSubTest(self, test: Any, subtest: Any, error: Any) -> None:
        if error is not None:
            self.addError(test, error)

    def stopTest(self, test: unittest.TestCase) -> None:
        signal.alarm(0)
        for each in launches:
            about = {"test": self.ended, "of": test.id()}
            method = getattr(test, test._testMethodName)
            if hasattr(test, "of_the_simulator") or hasattr(method, "of_the_simulator"):
                about["outside"] = "a test of the simulator"
            elif missing := re.search(r"(\w+) not raised", self.ended):
                if missing.group(1) in NOT_OF_THE_LANGUAGE:
                    about["outside"] = f"the test waits for {missing.group(1)}"
            kept.write(json.dumps(each | about) + "\n")
        kept.flush()


def out_of_time(*_: Any) -> None:
    raise TimeoutError


def main(path: str, kept_in: str) -> None:
    stubs()
    put_in_place(Path(path).stem)
    run_tests(path, kept_in)


def run_tests(path: str, kept_in: str) -> None:
    """Run a file of tests, and keep what is known of each launch; ends the process."""
    global kept
    kept = open(kept_in, "w", encoding="utf-8")  # noqa: SIM115  (open until the process ends)
    file = Path(path)
    signal.signal(signal.SIGALRM, out_of_time)
    # Not as a part of numba: whatever comes from there counts as Numba's own.
    spec = importlib.util.spec_from_file_location(f"harvested_{file.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    unittest.defaultTestLoader.loadTestsFromModule(module).run(_Result())
    kept.close()
    # Threads of a simulated block that hangs do not keep the process.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
