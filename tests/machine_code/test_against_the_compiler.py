"""The emulator beside Numba's compiler: what both refuse, and the types of a kernel's variables.

It says `compile-error` only of what the compiler refuses, and runs nothing of it. What the compiler
accepts, the emulator runs, or it says `unsupported` with a line and with what to write instead.
Some hundreds of small kernels are compiled; see language_snippets.py.
"""

import ast
import linecache
import textwrap
import types as python_types
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numba
import numpy as np
import pytest
from language_snippets import BEFORE, PARAMETERS, body_of, snippets
from stored_answers import right_answers

from course_lib.curriculum import EXERCISES
from course_lib.emulator import Budget, KernelRejected, emulate, kernel_from, load_program
from course_lib.emulator.arguments import type_of_argument
from course_lib.emulator.inference.infer import infer
from course_lib.emulator.language import types as kinds
from course_lib.problems.inputs import as_held
from course_lib.problems.table import problems

pytestmark = pytest.mark.slow

GROUPS = snippets()
EVERY = 8  # so many of the kernels that are made by combining are tried by default
# Numba's older versions accept them: 0.22, on Colab, converts the argument.
ACCEPTED_BY_OTHER_VERSIONS = (
    "cuda.shfl_xor_sync(-1, q, 1)", "cuda.shfl_sync(-1, h[0], 1)", "cuda.ballot_sync(-1, x)",
    "cuda.syncthreads_count(q)", "cuda.syncthreads_or(x)",
)  # fmt: skip


@pytest.fixture(scope="module")
def compile_kernel() -> Iterator[Callable[[Any, Sequence[Any]], dict[str, Any]]]:
    """Numba's compiler without a device: from function and types to the types of all variables."""
    pytest.importorskip("numba_cuda", reason="needs the `compiler` extra: numba-cuda")
    import numba.cuda.dispatcher as dispatcher
    from numba.cuda.compiler import compile_cuda

    class NoDevice:
        compute_capability = (7, 5)

    def compiled(function: Any, arguments: Sequence[Any]) -> dict[str, Any]:
        result = compile_cuda(function, numba.types.void, tuple(arguments), cc=(7, 5))
        return dict(result.type_annotation.typemap)

    patch = pytest.MonkeyPatch()
    # Device functions ask the current device for its compute capability when they are compiled.
    patch.setattr(dispatcher, "get_current_device", lambda: NoDevice)
    yield compiled
    patch.undo()


@pytest.fixture(scope="module")
def compiles(compile_kernel: Callable[..., Any]) -> Callable[[Any], bool]:
    """Whether the compiler accepts a function with the parameters of the snippets."""
    signature = [eval(declared, vars(numba.types)) for declared, _ in PARAMETERS.values()]

    def accepted(function: Any) -> bool:
        try:
            compile_kernel(function, signature)
        except Exception:  # it refuses by all kinds of exceptions, its own and Python's
            return False
        return True

    return accepted


def module_from(text: str, name: str, names: dict[str, Any]) -> dict[str, Any]:
    """The names that a text defines; its source can be found, as that of a notebook's cell can."""
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), names)
    return names


@pytest.fixture(scope="module")
def surroundings() -> dict[str, Any]:
    return module_from(BEFORE, "<before the snippets>", {"__name__": "snippets"})


def kernel_of(snippet: str, surroundings: dict[str, Any]) -> Any:
    text = f"@cuda.jit\ndef kernel({', '.join(PARAMETERS)}):\n"
    text += textwrap.indent(body_of(snippet), "    ") + "\n"
    return module_from(text, f"<{snippet}>", dict(surroundings))["kernel"]


def emulators_word(kernel: Any) -> Any:
    """The finding with which the emulator refuses it; None if it runs."""
    arguments = [eval(value, {"np": np}) for _, value in PARAMETERS.values()]
    try:
        emulate(kernel, budget=Budget(steps=3000))[1, 4](*arguments)
    except KernelRejected as refused:
        return refused.findings[0]
    return None


def disagreement(snippet: str, accepted: bool, word: Any) -> str:
    """What is wrong with the emulator's word; "" if nothing is."""
    if not accepted:
        is_known = any(each in snippet for each in ACCEPTED_BY_OTHER_VERSIONS)
        return "" if word or is_known else f"Numba refuses, the emulator runs: {snippet}"
    if word is None or word.code == "not-allowed":
        return ""
    if word.code != "unsupported":
        return f"Numba compiles, the emulator says {word.code}: {snippet}: {word.message}"
    return "" if word.line and word.hint else f"no line, or no mend: {snippet}: {word.message}"


def judge(group: str, step: int, compiles: Callable, surroundings: dict[str, Any]) -> list[str]:
    wrong = []
    for snippet in GROUPS[group][::step]:
        kernel = kernel_of(snippet, surroundings)
        accepted = compiles(kernel.py_func)
        wrong.append(disagreement(snippet, accepted, emulators_word(kernel)))
    return [each for each in wrong if each]


WRITTEN_OUT = [group for group in GROUPS if len(GROUPS[group]) < 160]
COMBINED = [group for group in GROUPS if group not in WRITTEN_OUT]


@pytest.mark.parametrize("group", WRITTEN_OUT)
def test_words_about_single_things(group: str, compiles: Callable, surroundings: dict) -> None:
    assert judge(group, 1, compiles, surroundings) == []


@pytest.mark.parametrize("group", COMBINED)
def test_words_about_combinations(group: str, compiles: Callable, surroundings: dict) -> None:
    assert judge(group, EVERY, compiles, surroundings) == []


@pytest.mark.long
@pytest.mark.parametrize("group", COMBINED)
def test_words_about_every_combination(group: str, compiles: Callable, surroundings: dict) -> None:
    assert judge(group, 1, compiles, surroundings) == []


ARGUMENTS: dict[str, Any] = {
    "None": None, "a text": "x", "bytes": b"x", "a list": [1.0], "a dict": {1: 2}, "a set": {1},
    "a function": len, "a type": np.float32, "a dtype": np.dtype("f4"), "an object": object(),
    "2**70": 2**70, "-2**70": -(2**70), "2**63": 2**63, "1": 1, "1.5": 1.5, "True": True,
    "float16": np.float16(1), "uint8": np.uint8(1), "longdouble": np.longdouble(1), "1j": 1j,
    "complex64": np.complex64(1), "a date": np.datetime64("2026-01-01"),
    "array": np.zeros(2), "0-d": np.zeros(()), "complex array": np.zeros(2, np.complex64),
    "records": np.zeros(2, [("x", "f4")]), "a record": np.zeros(2, [("x", "f4")])[0],
    "objects": np.array([None, 1]), "texts": np.array(["a"]), "dates": np.zeros(2, "M8[s]"),
    "long doubles": np.zeros(2, np.longdouble), "big-endian": np.zeros(2, ">f4"),
    "bools": np.zeros(2, bool), "float16s": np.zeros(2, np.float16), "tuple": (1, 2.5),
    "tuple with None": (1, None), "tuple of arrays": (np.zeros(2), np.zeros(2)),
    "tuple of lists": ([1], [2]),
}  # fmt: skip


@pytest.mark.parametrize("name", ARGUMENTS)
def test_words_about_arguments(name: str) -> None:
    """`invalid-launch` is said of exactly those arguments that Numba hands to no kernel."""
    pytest.importorskip("numba_cuda", reason="needs the `compiler` extra: numba-cuda")
    value = ARGUMENTS[name]
    try:
        type_of_argument("A", value)
        code, message = "", ""
    except KernelRejected as refused:
        code, message = refused.findings[0].code, refused.findings[0].message
        assert refused.findings[0].hint
        assert len(message.split()) > 8
    assert (code == "invalid-launch") == (not taken_by_numba(value)), message


def taken_by_numba(value: Any) -> bool:
    from numba.cuda.dispatcher import _Kernel
    from numba.cuda.typing.typeof import Purpose, typeof

    def taken(kind: Any, value: Any) -> bool:
        if type(kind).__name__ in ("Array", "Record"):
            return kind.is_precise()  # it goes to the device, which is not here
        if hasattr(kind, "types"):
            return all(map(taken, kind.types, value))
        nobody = python_types.SimpleNamespace(extensions=[])
        _Kernel._prepare_args(nobody, kind, value, 0, [], [])
        return True

    try:
        return taken(typeof(value, Purpose.argument), value)
    except Exception:
        return False


KERNELS = {name for name, exercise in EXERCISES.items() if exercise.kind.name == "kernel"}
CORPUS = {key: text for key, text in right_answers().items() if key[0] in KERNELS}
Arrays = Sequence[tuple[str, int]]  # the type of each argument's elements, and its axes or 0
THREE_MATRICES = (("float32", 2),) * 3
SLOW_ONE_IN = 3  # all are under `long`


def name_of(numba_type) -> str | None:
    """Numba's type as the emulator writes it; None for what is no value (a module, a function)."""
    kind = getattr(numba_type, "literal_type", numba_type)
    family = {each.__name__ for each in type(kind).__mro__}
    if "Array" in family:
        return f"array({kind.dtype}, {kind.ndim}d)"
    if "BaseTuple" in family:
        return f"({', '.join(str(name_of(item)) for item in kind.types)})"
    return str(kind) if {"Number", "Boolean"} & family else None


def types_by_numba(compile_kernel: Callable, function: Any, arrays: Arrays) -> dict[str, set[str]]:
    """The types of each variable, over all the versions that Numba's SSA form makes of it."""
    found: dict[str, set[str]] = {}
    elements = [(getattr(numba.types, kind), axes) for kind, axes in arrays]
    given = [numba.types.Array(kind, axes, "C") if axes else kind for kind, axes in elements]
    for version, kind in compile_kernel(function, given).items():
        name = name_of(kind)
        if not version.startswith(("$", "arg.")) and name is not None:
            found.setdefault(version.split(".")[0], set()).add(name)
    return found


def arrays_of(exercise: str) -> Arrays:
    """The arguments of an exercise, the output last."""
    problem = problems(EXERCISES)[exercise]
    inputs = problem.operands(problem.tiny, np.random.default_rng(0))
    expected, _ = problem.answer(*inputs)
    held = [(str(array.dtype), array.ndim) for array in as_held(problem, inputs)]
    return [*held, ("float32", expected.ndim)]


def types_by_emulator(kernel, arrays: Arrays) -> dict[str, set[str]]:
    """The types of each variable, wherever it is set or used."""
    found: dict[str, set[str]] = {}
    elements = [(np.dtype(kind), axes) for kind, axes in arrays]
    given = [kinds.ArrayType(kind, axes) if axes else kind for kind, axes in elements]
    for node, kind in infer(kernel, given).types.items():
        if isinstance(node, ast.Name) and not isinstance(kind, kinds.Static | kinds.RangeType):
            found.setdefault(node.id, set()).add(str(kind))
    return found


def local_names(kernel) -> set[str]:
    """Without those of loops that `unroll` writes out: the compiler never sees them."""
    nodes = list(ast.walk(kernel.tree))
    loops = [node for node in nodes if isinstance(node, ast.For)]
    return {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    } - {ast.unparse(loop.target) for loop in loops if "unroll(" in ast.unparse(loop.iter)}


@pytest.mark.parametrize(("exercise", "text"), [
    pytest.param(exercise, text, id=f"{exercise}/{name}",
                 marks=[pytest.mark.long] if number % SLOW_ONE_IN else [])
    for number, ((exercise, name), text) in enumerate(CORPUS.items())
])  # fmt: skip
def test_every_variable_has_numbas_type(exercise: str, text: str, compile_kernel) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            names = module_from(text, exercise, {})  # our own file, not a student's
        except Exception as error:
            if "driver" in str(error):
                pytest.skip("a declared signature is compiled at once, which needs a driver")
            raise
        kernel = load_program(text).kernel(exercise)
        arrays = arrays_of(exercise)
        numba = types_by_numba(compile_kernel, names[exercise].py_func, arrays)
    ours = types_by_emulator(kernel, arrays)
    for name in sorted(local_names(kernel)):
        assert ours[name] == numba[name], name


def test_the_comparison_can_fail(compile_kernel) -> None:
    def widened(A, B, C):
        total = 0
        for k in range(3):
            total += A[0, k]
        C[0, 0] = total

    numba = types_by_numba(compile_kernel, widened, THREE_MATRICES)
    assert numba["total"] == {"int64", "float64"}
    assert types_by_emulator(kernel_from(widened), THREE_MATRICES)["total"] == {"int64", "float64"}
