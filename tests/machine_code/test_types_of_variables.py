"""Every local variable of a corpus of kernels has the type that Numba's own compiler infers."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

import numpy as np
import pytest

from course_lib.emulator import kernel_from, load_program
from course_lib.emulator import types as kinds
from course_lib.emulator.infer import infer

pytestmark = pytest.mark.slow

ANSWERS = Path(__file__).resolve().parents[1] / "styles" / "answers"
CORPUS = sorted(ANSWERS.glob("*/*.py"))
MATRIX = kinds.ArrayType(np.dtype(np.float32), 2)


@pytest.fixture(scope="module")
def compile_kernel():
    """Numba's compiler without a device: from function and types to the types of all variables."""
    pytest.importorskip("numba_cuda", reason="needs the `compiler` extra: numba-cuda")
    import numba.cuda.dispatcher as dispatcher
    from numba import types
    from numba.cuda.compiler import compile_cuda

    class NoDevice:
        compute_capability = (7, 5)

    def compiled(function, matrices: int) -> dict[str, object]:
        arguments = (types.float32[:, ::1],) * matrices
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


def types_by_emulator(kernel, matrices: int) -> dict[str, set[str]]:
    """The types of each variable, wherever it is set or used."""
    found: dict[str, set[str]] = {}
    for node, kind in infer(kernel, [MATRIX] * matrices).types.items():
        if isinstance(node, ast.Name) and not isinstance(kind, kinds.Static | kinds.RangeType):
            found.setdefault(node.id, set()).add(str(kind))
    return found


def local_names(kernel) -> set[str]:
    return {
        node.id
        for node in ast.walk(kernel.tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_variable_has_numbas_type(path: Path, compile_kernel) -> None:
    text = path.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(text, str(path), "exec"), names)  # our own file, not a student's
        except Exception as error:
            if "driver" in str(error):
                pytest.skip("a declared signature is compiled at once, which needs a driver")
            raise
        kernel = load_program(text).kernel(path.parent.name)
        count = len(kernel.parameters)
        numba = types_by_numba(compile_kernel(names[kernel.name].py_func, count))
    ours = types_by_emulator(kernel, count)
    for name in sorted(local_names(kernel)):
        assert ours[name] == numba[name], name


def test_the_comparison_can_fail(compile_kernel) -> None:
    def widened(A, B, C):
        total = 0
        for k in range(3):
            total += A[0, k]
        C[0, 0] = total

    numba = types_by_numba(compile_kernel(widened, 3))
    assert numba["total"] == {"int64", "float64"}
    assert types_by_emulator(kernel_from(widened), 3)["total"] == {"int64", "float64"}
