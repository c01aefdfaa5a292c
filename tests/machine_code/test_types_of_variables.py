"""Every local variable of a corpus of kernels has the type that Numba's own compiler infers."""

import ast
import linecache
import warnings
from collections.abc import Sequence

import numpy as np
import pytest
from stored_answers import right_answers

from course_lib.curriculum import EXERCISES
from course_lib.emulator import kernel_from, load_program
from course_lib.emulator.inference.infer import infer
from course_lib.emulator.language import types as kinds
from course_lib.problems.inputs import as_held
from course_lib.problems.table import problems

pytestmark = pytest.mark.slow

KERNELS = {name for name, exercise in EXERCISES.items() if exercise.kind.name == "kernel"}
CORPUS = {key: text for key, text in right_answers().items() if key[0] in KERNELS}
Arrays = Sequence[tuple[str, int]]  # the type of each argument's elements, and its axes or 0
THREE_MATRICES = (("float32", 2),) * 3
SLOW_ONE_IN = 3  # all are under `long`


@pytest.fixture(scope="module")
def compile_kernel():
    """Numba's compiler without a device: from function and types to the types of all variables."""
    pytest.importorskip("numba_cuda", reason="needs the `compiler` extra: numba-cuda")
    import numba.cuda.dispatcher as dispatcher
    from numba import types
    from numba.cuda.compiler import compile_cuda

    class NoDevice:
        compute_capability = (7, 5)

    def compiled(function, arrays: Arrays) -> dict[str, object]:
        elements = [(getattr(types, kind), axes) for kind, axes in arrays]
        arguments = tuple(types.Array(kind, axes, "C") if axes else kind for kind, axes in elements)
        result = compile_cuda(function, types.void, arguments, cc=(7, 5))
        return dict(result.type_annotation.typemap)

    patch = pytest.MonkeyPatch()
    # Device functions ask the current device for its compute capability when they are compiled.
    patch.setattr(dispatcher, "get_current_device", lambda: NoDevice)
    yield compiled
    patch.undo()


def name_of(numba_type) -> str | None:
    """Numba's type as the emulator writes it; None for what is no value (a module, a function)."""
    kind = getattr(numba_type, "literal_type", numba_type)
    family = {each.__name__ for each in type(kind).__mro__}
    if "Array" in family:
        return f"array({kind.dtype}, {kind.ndim}d)"
    if "BaseTuple" in family:
        return f"({', '.join(str(name_of(item)) for item in kind.types)})"
    return str(kind) if {"Number", "Boolean"} & family else None


def types_by_numba(typemap: dict[str, object]) -> dict[str, set[str]]:
    """The types of each variable, over all the versions that Numba's SSA form makes of it."""
    found: dict[str, set[str]] = {}
    for version, kind in typemap.items():
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


@pytest.mark.parametrize(
    ("exercise", "text"),
    [
        pytest.param(
            exercise,
            text,
            id=f"{exercise}/{name}",
            marks=[pytest.mark.long] if number % SLOW_ONE_IN else [],
        )
        for number, ((exercise, name), text) in enumerate(CORPUS.items())
    ],
)
def test_every_variable_has_numbas_type(exercise: str, text: str, compile_kernel) -> None:
    names: dict[str, object] = {}
    linecache.cache[exercise] = (len(text), None, text.splitlines(True), exercise)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(text, exercise, "exec"), names)  # our own file, not a student's
        except Exception as error:
            if "driver" in str(error):
                pytest.skip("a declared signature is compiled at once, which needs a driver")
            raise
        kernel = load_program(text).kernel(exercise)
        arrays = arrays_of(exercise)
        numba = types_by_numba(compile_kernel(names[exercise].py_func, arrays))
    ours = types_by_emulator(kernel, arrays)
    for name in sorted(local_names(kernel)):
        assert ours[name] == numba[name], name


def test_the_comparison_can_fail(compile_kernel) -> None:
    def widened(A, B, C):
        total = 0
        for k in range(3):
            total += A[0, k]
        C[0, 0] = total

    numba = types_by_numba(compile_kernel(widened, THREE_MATRICES))
    assert numba["total"] == {"int64", "float64"}
    assert types_by_emulator(kernel_from(widened), THREE_MATRICES)["total"] == {"int64", "float64"}
