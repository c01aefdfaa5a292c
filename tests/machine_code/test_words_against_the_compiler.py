"""The emulator says `compile-error` only of what Numba's compiler refuses, and runs nothing of it.

What the compiler accepts, the emulator runs, or it says `unsupported` with a line and with what to
write instead. Some hundreds of small kernels are compiled; see language_snippets.py.
"""

import linecache
import textwrap
import types as python_types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from language_snippets import BEFORE, PARAMETERS, body_of, snippets

from course_lib.emulator import Budget, KernelRejected, emulate
from course_lib.emulator.arguments import type_of_argument

pytestmark = pytest.mark.slow

GROUPS = snippets()
EVERY = 8  # so many of the kernels that are made by combining are tried by default
# Numba's older versions accept them: 0.22, on Colab, converts the argument.
ACCEPTED_BY_OTHER_VERSIONS = (
    "cuda.shfl_xor_sync(-1, q, 1)", "cuda.shfl_sync(-1, h[0], 1)", "cuda.ballot_sync(-1, x)",
    "cuda.syncthreads_count(q)", "cuda.syncthreads_or(x)",
)  # fmt: skip


@pytest.fixture(scope="module")
def compiles() -> Iterator[Callable[[Any], bool]]:
    """Whether Numba's compiler, without a device, accepts a function."""
    pytest.importorskip("numba_cuda", reason="needs the `compiler` extra: numba-cuda")
    import numba.cuda.dispatcher as dispatcher
    from numba import types
    from numba.cuda.compiler import compile_cuda

    class NoDevice:
        compute_capability = (7, 5)

    signature = tuple(eval(declared, vars(types)) for declared, _ in PARAMETERS.values())

    def accepted(function: Any) -> bool:
        try:
            compile_cuda(function, types.void, signature, cc=(7, 5))
        except Exception:  # it refuses by all kinds of exceptions, its own and Python's
            return False
        return True

    patch = pytest.MonkeyPatch()
    patch.setattr(dispatcher, "get_current_device", lambda: NoDevice)
    yield accepted
    patch.undo()


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
