"""Turns a kernel's source, or a text that holds one, into syntax trees, and executes nothing.

A text that is no Python is explained in the words of this course; Python's own are for those who
know it.
"""

import ast
import contextlib
import enum
import inspect
import linecache
import re
import sys
import textwrap
import unicodedata
import warnings
from collections.abc import Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from course_lib.emulator.budget import MAX_NESTING, MAX_SOURCE_CHARACTERS, MAX_STATEMENTS
from course_lib.emulator.errors import KernelRejected, rejection
from course_lib.emulator.language.definitions import (
    is_inlined,
    parameters_of,
    read_statement,
    stranger,
)
from course_lib.emulator.language.kernel import Kernel, LineOfFile, Program, note_file
from course_lib.emulator.language.names import (
    KNOWN_MODULES,
    DeviceArray,
    OwnModule,
    Reference,
    Unusable,
    canonical_path,
    describe,
    frozen,
    plain_function,
)
from course_lib.wording.sentences import Sentence, say

Said = Sentence | str

_VAGUE = ("invalid syntax", "expected")  # what Python says where it has no better idea
# How a line begins, or what stands in it, that comes from elsewhere: what it is, and what to do.
_FROM_ELSEWHERE: tuple[tuple[str, str, str], ...] = (
    (r"\s*%%?\w", "a command of Jupyter stands here", "The answer itself is Python only."),
    (r"\s*!\s*\w", "a command of the shell stands here", "The answer itself is Python only."),
    (r"\s*```", "``` belongs to the text around a program", "Where does the program begin?"),
    (r"\s*(>>>|\.\.\.) ", "this is a console's prompt", "The Python code begins after it."),
    (r"(In|Out) ?\[\d*\]", "this is a notebook's label of a cell", "The program begins after it."),
    (r"\s*\d+[ :.|]+[@a-zA-Z]", "a number stands before the line", "Python has no line numbers."),
    (r"\s*else\s+if\b", "`else if` is one word in Python", "What is Python's short form?"),
    (r".*&&", "&& is C", "Which word joins two conditions in Python?"),
    (r".*\|\|", "|| is C", "Which word joins two conditions in Python if one of them is enough?"),
    (r".*(\w(\+\+|--)|(\+\+|--)\w)", "++ and -- are C", "`+=` adds the number that follows it."),
    (r"\s*(float|int|double|unsigned|const|__shared__)\s+\w+",
     "a type stands before the name, as in C",
     "In Python, a variable gets its type from its value."),
)  # fmt: skip
# What Python says, and what that means.
_IN_OTHER_WORDS: tuple[tuple[str, str, str], ...] = (
    ("unindent does not match", "this line's indentation matches none of the blocks around it",
     "Which line should it line up with?"),
    ("inconsistent use of tabs", "tabs and spaces are mixed before this line",
     "Four spaces for each level are usual."),
    ("unexpected indent", "this line is indented further, but nothing before it opens a block",
     "Which line should it line up with?"),
    ("expected an indented block", "a colon opens a block here, but there is nothing in it",
     "Indent the lines that belong to it by four spaces."),
    ("expected ':'", "a colon is missing in this line", "A line that opens a block ends in a "
    "colon."),
    ("was never closed", "{} is opened here but never closed", "Where should it end?"),
    ("unmatched", "{} closes something that was never opened", "Where should it begin?"),
    ("unterminated", "a text begins here, but no quote closes it", "Where should it end?"),
    ("leading zeros", "a number begins with 0 here", "Write it without the 0."),
    ("instead of '='", "= stores a value, but nothing can be stored here", "`==` compares."),
    ("Missing parentheses in call to 'print'", "print is called with brackets", ""),
    ("null bytes", "it contains a null character", ""),
)  # fmt: skip
_LOOKS_LIKE = {
    **dict.fromkeys("“”„‟«»", '"'), **dict.fromkeys("‘’‚‛´", "'"), **dict.fromkeys("−–—‐‑", "-"),
    "×": "*", "∗": "*", "⋅": "*", "÷": "/", "‹": "<", "›": ">", "≤": "<=", "≥": ">=", "≠": "!=",
}  # fmt: skip


def why_unreadable(error: SyntaxError, text: str) -> tuple[Said, Said]:
    """What is wrong with a text, as a part of a sentence, and what to look at."""
    lines = text.splitlines()
    number = error.lineno or 0
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    if error.msg.startswith("cannot assign to function call"):  # and it advises `==`
        return (
            "nothing can be stored in a call",
            "Square brackets select an element of an array.",
        )
    strange = next(
        (character for character in line if not character.isascii() and not character.isalnum()), ""
    )
    if strange and "invalid" in error.msg and "character" in error.msg:
        return _character(strange)
    for pattern, said, hint in _FROM_ELSEWHERE:
        if re.match(pattern, line) and error.msg.startswith(_VAGUE):
            return said, hint
    for words, said, hint in _IN_OTHER_WORDS:
        if words in error.msg:
            sign = re.search(r"'(.)'", error.msg)
            return say(said.replace("{}", "{sign}"), sign=sign[1] if sign else ""), hint
    end = error.end_offset or 0
    stops = line[(error.offset or 1) - 1 : end - 1] if error.end_lineno == number else ""
    if error.msg.startswith("invalid syntax") and stops.strip():
        return say("it cannot be read from {stops} on", stops=stops.strip()), ""
    return error.msg.rstrip(".?"), ""


def _character(strange: str) -> tuple[Said, Said]:
    """What to say of a character that no program contains, but perhaps a text that was copied."""
    code = f"U+{ord(strange):04X}"
    if strange.isspace() or unicodedata.category(strange) in ("Cf", "Cc"):
        name = unicodedata.name(strange, "a character without a name").lower()
        said = say("there is an invisible character here, a {name} ({code})", name=name, code=code)
        return said, "Delete the spaces in this line and type them again."
    meant = _LOOKS_LIKE.get(strange, unicodedata.normalize("NFKC", strange))
    if meant == strange:
        return say(
            "{sign} ({code}) is not a character that Python uses", sign=strange, code=code
        ), ""
    said = say("{sign} ({code}) only looks like {meant}", sign=strange, code=code, meant=meant)
    return said, "Type it again."


# --- From a text or a function to a Kernel --------------------------------------------------------


def load_program(text: str, surroundings: dict[str, Any] | None = None) -> Program:
    """Read a whole small file: imports, constants, functions. Nothing is executed.

    Args:
        text: the file.
        surroundings: names that the text may use, see `names_around`; the text's own names join
            them, as all cells of a notebook share one set of names.

    Raises:
        KernelRejected: for text that is no Python, is too large or too deeply nested, or
            imports what an answer may not.
    """
    text = text.removeprefix("\ufeff")  # as Python reads a file
    tree = parse_text(text, "<answer>")
    program = Program(text, names={} if surroundings is None else surroundings)
    for statement in tree.body:
        read_statement(statement, program)
    return program


def kernel_from(source: object) -> Kernel:
    """The Kernel behind a `@cuda.jit` function, a plain function, or a Kernel.

    Plain functions that it calls are out of reach, as they are for Numba; see `plain_from`. Raises
    KernelRejected if the source text cannot be found.
    """
    if isinstance(source, Kernel):
        return source
    function = getattr(source, "py_func", source)
    if not isinstance(function, FunctionType):
        message = say("{source} is not a kernel.", source=repr(source))
        hint = "Pass a function that is decorated with @cuda.jit."
        raise rejection("unsupported", message, None, hint)
    if function is not source and hasattr(source, "__dict__"):
        if _REMEMBERED not in source.__dict__:
            kernel = source.__dict__[_REMEMBERED] = _read(function, source)
            object.__setattr__(kernel, "compiled", {})
        result: Kernel = source.__dict__[_REMEMBERED]
        return result
    return _read(function, source)


def freeze(source: object) -> None:
    """Make a decorated function keep what the names outside it stand for now.

    One whose text cannot be read is refused when it is launched.
    """
    with contextlib.suppress(KernelRejected):
        kernel = frozen(kernel_from(source))
        object.__setattr__(kernel, "compiled", {})
        vars(source)[_REMEMBERED] = kernel


# Where a decorated function keeps its Kernel, and a session without a GPU its signatures.
_REMEMBERED = "_course_kernel"
_SIGNATURES = "_course_signatures"


def _read(function: FunctionType, source: object) -> Kernel:
    # @unrolled keeps the function as it is written, with all the names that occur there.
    function = getattr(function, "written_as", function)
    return _kernel_of_function(function, source, _LiveNames(function))


def plain_from(source: object) -> Kernel:
    """The Kernel made of a plain function, which is no kernel, for `plain.interpreter.call`.

    Raises KernelRejected if the source text cannot be found.
    """
    if isinstance(source, Kernel):
        return source
    function = getattr(source, "py_func", source)
    if not isinstance(function, FunctionType):
        raise rejection(
            "missing-answer", say("{source} is not a function.", source=repr(source)), None
        )
    return _kernel_of_function(function, source, _PlainNames(function))


def _kernel_of_function(
    function: FunctionType, decorated: object, names: Mapping[str, Any]
) -> Kernel:
    definition, source, first_line = _definition_of(function)
    note_file(definition, file := function.__code__.co_filename)
    options = getattr(decorated, "targetoptions", {}) or {}
    return Kernel(
        name=function.__name__,
        parameters=parameters_of(definition.args, definition),
        tree=definition,
        source=source,
        first_line=LineOfFile(first_line, file),
        namespace=names,
        is_device=bool(options.get("device", False)),
        is_inlined=_is_written_out(definition) or options.get("inline") in (True, "always"),
        is_decorated=hasattr(decorated, "py_func"),
        is_for_cpu=type(decorated).__module__.startswith("numba.core"),
        is_debugged=bool(options.get("debug", False)),
        is_fast=bool(options.get("fastmath", False)),
        is_unrolled=hasattr(getattr(decorated, "py_func", decorated), "written_as"),
        declared=_declared(decorated),
        file=file,
    )


def _is_written_out(definition: ast.FunctionDef | ast.Lambda) -> bool:
    return isinstance(definition, ast.FunctionDef) and is_inlined(definition)


def _definition_of(function: FunctionType) -> tuple[ast.FunctionDef | ast.Lambda, str, int]:
    """A function's syntax tree, the text around it, and the number of that text's first line.

    Raises KernelRejected if there is no such text, or several lambdas may be meant.
    """
    try:
        if function.__name__ == "<lambda>":
            return _lambda_of(function)
        lines, first_line = inspect.getsourcelines(function)
    except (OSError, TypeError, SyntaxError):
        message = "The source text of {function} cannot be found, so it cannot be emulated."
        hint = "Define the kernel in a notebook cell or in a file."
        raise rejection("unsupported", message, None, hint, function=function.__name__) from None
    source = textwrap.dedent("".join(lines))
    tree = parse_text(source, function.__code__.co_filename)
    ast.increment_lineno(tree, first_line - 1)
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise rejection("unsupported", "A kernel is written with `def`.", first_line)
    return definition, source, first_line


def _lambda_of(function: FunctionType) -> tuple[ast.Lambda, str, int]:
    """The same for a lambda, which may be anywhere in a line."""
    code = function.__code__
    lines, _ = inspect.findsource(function)
    places = {(line, column) for line, _, column, _ in code.co_positions()}
    found = [
        node
        for node in ast.walk(ast.parse("".join(lines)))
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno
    ]
    if len(found) > 1:
        found = [
            candidate
            for candidate in found
            if (candidate.body.lineno, candidate.body.col_offset) in places
        ]
    if len(found) != 1:  # Python was told to keep no columns
        message = (
            "There are several functions in this line, and the emulator cannot tell which "
            "one is meant."
        )
        raise rejection("unsupported", message, code.co_firstlineno, "Give each its own `def`.")
    (node,) = found
    last = node.end_lineno or node.lineno
    return node, "".join(lines[node.lineno - 1 : last]), node.lineno


def _declared(decorated: object) -> list[tuple[Any, Any]] | None:
    """The types in the signatures that Numba was given with a function; None if it has none.

    With a GPU it has compiled the function for them, and for no others from then on. Without one,
    a session of the course keeps them (`host_api`); Numba's simulator forgets them.
    """
    kept: list[tuple[Any, Any]] | None = getattr(decorated, "__dict__", {}).get(_SIGNATURES)
    if kept is None and getattr(decorated, "_can_compile", True) is False:
        compiled = getattr(decorated, "nopython_signatures", ())
        kept = [(signature.args, signature.return_type) for signature in compiled]
    return kept


# Modules that come with Python; what math and operator have is known by name.
_OF_PYTHON = sys.stdlib_module_names - {"builtins", "math", "operator", "_operator", "__main__"}


def _why_unusable(name: str, value: object) -> tuple[str, str, str]:
    """Why a kernel cannot use an object from outside: the reason, its code, and what to do."""
    what = f"{name} is of type {type(value).__name__}"
    if isinstance(value, list | dict | set | bytes):
        hint = "Use a tuple, or pass in a NumPy array."
        return say("{what}, which a kernel cannot read.", what=what), "compile-error", hint
    if hasattr(type(value), "__cuda_array_interface__"):
        return (
            say("{what}: the emulator takes it only as an argument.", what=what),
            "unsupported",
            "Pass it in.",
        )
    if type(value).__name__ == "ExternFunction":  # of cuda.declare_device
        return (
            say("{name} is declared here, and written in another language.", name=name),
            "unsupported",
            "Write it in Python, as a function with @cuda.jit(device=True).",
        )
    if isinstance(value, type) and hasattr(value, "_fields"):
        hint = "Use a plain tuple, whose items are selected by index."
        return (
            say("{name} makes named tuples, which the emulator can only read.", name=name),
            "unsupported",
            hint,
        )
    hint = "Use numbers, tuples of numbers and NumPy arrays from outside."
    return (
        say("{what}, which the emulator does not support in a kernel.", what=what),
        "unsupported",
        hint,
    )


def is_overloaded(name: str, file: str) -> bool:
    """Whether a file or a notebook's cell contains `@overload(name)`."""
    pattern = rf"\boverload\(\s*{re.escape(name)}\b"
    return any(re.search(pattern, line) for line in linecache.getlines(file))


class _LiveNames(Mapping[str, Any]):
    """The global and closure names of a Python function, looked up when a kernel uses them."""

    def __init__(self, function: FunctionType) -> None:
        self._globals = function.__globals__
        self._file = function.__code__.co_filename
        self._cells = dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        )
        self._kernels: dict[str, tuple[object, Kernel]] = {}

    def __getitem__(self, name: str) -> Any:
        value = self._raw(name)
        if hasattr(value, "py_func") and str(value.py_func.__module__).startswith("numba"):
            # Numba's own device functions, such as its random generators, are known by name.
            function = value.py_func
            return Reference(canonical_path(f"{function.__module__}.{function.__name__}"))
        if hasattr(value, "py_func"):
            known = self._kernels.get(name)
            if known is None or known[0] is not value:
                known = self._kernels[name] = (value, kernel_from(value))
            return known[1]
        described = describe(value)
        if self._is_stranger(value, described):
            if isinstance(value, ModuleType) and value.__name__.split(".")[0] not in _OF_PYTHON:
                return OwnModule(name, _NamesOfModule(value))
            return stranger(name)
        if isinstance(described, FunctionType):
            texts = {described.__code__.co_filename, self._file}
            return plain_function(name, any(is_overloaded(name, text) for text in texts))
        if all(
            hasattr(value, attribute) for attribute in ("copy_to_host", "copy_to_device", "dtype")
        ):
            return DeviceArray(value)
        plain = (int, float, complex, str, tuple)
        usable = (*plain, Reference, Kernel, np.generic, np.ndarray, np.dtype)
        if isinstance(described, enum.EnumMeta | enum.Enum):
            return described
        if described is None or isinstance(described, usable):
            return described
        return Unusable(*_why_unusable(name, value))

    def _is_stranger(self, value: object, described: object) -> bool:
        """Does it come from a module that no answer may use?"""
        if isinstance(described, Reference):
            return described.path.split(".")[0] not in (*KNOWN_MODULES, "builtins", "exception")
        home = getattr(value, "__module__", None)
        home = home or type(getattr(value, "__self__", None)).__module__  # of a bound method
        return callable(value) and home.split(".")[0] in _OF_PYTHON

    def _raw(self, name: str) -> object:
        if name in self._cells:
            try:
                return self._cells[name].cell_contents
            except ValueError:
                raise KeyError(name) from None
        return self._globals[name]

    def __contains__(self, name: object) -> bool:
        """Whether it has a value: of a function that gives it one later, none yet."""
        try:
            self._raw(str(name))
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return filter(self.__contains__, {**self._globals, **self._cells})

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _NamesOfModule(_LiveNames):
    """The names in a module of one's own, as a kernel finds them behind its dot."""

    def __init__(self, module: ModuleType) -> None:
        self._globals = vars(module)
        self._file = getattr(module, "__file__", None) or ""
        self._cells = {}
        self._kernels = {}


class _PlainNames(_LiveNames):
    """The same for a function that calls plain functions, and may read whatever is plain."""

    def __getitem__(self, name: str) -> Any:
        value = self._raw(name)
        if isinstance(describe(value), FunctionType) and not hasattr(value, "__wrapped__"):
            return plain_from(value)
        return value if isinstance(value, list) else super().__getitem__(name)


def parse_text(text: str, filename: str) -> ast.Module:
    """The syntax tree of a text.

    Raises KernelRejected for text that is no Python, is too large or too deeply nested.
    """
    if len(text) > MAX_SOURCE_CHARACTERS:
        message = say("The text has more than {most} characters.", most=MAX_SOURCE_CHARACTERS)
        raise rejection("not-allowed", message, None)
    if "\0" in text:  # no SyntaxError before Python 3.11.4
        raise rejection("compile-error", "This is not valid Python: it contains null bytes.", None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in strings, which mean nothing here
            tree = ast.parse(text, filename)
    except SyntaxError as error:
        said, hint = why_unreadable(error, text)
        message = say("This is not valid Python: {said}.", said=said)
        raise rejection("compile-error", message, error.lineno, hint) from None
    except (ValueError, MemoryError, RecursionError) as error:
        reason = str(error) or "it is nested too deeply"
        raise rejection(
            "not-allowed", say("The text cannot be read: {reason}.", reason=reason), None
        ) from None
    _refuse_much(tree)
    return tree


def _refuse_much(tree: ast.Module) -> None:
    """Refuse texts that are nested too deeply or have too many statements."""
    level: list[ast.AST] = [tree]
    statements = 0
    for _ in range(2 * MAX_NESTING):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        statements += sum(isinstance(node, ast.stmt) for node in level)
        if statements > MAX_STATEMENTS:
            message = say("The text has more than {most} statements.", most=MAX_STATEMENTS)
            raise rejection("not-allowed", message, None, "A loop does the same in fewer lines.")
        if not level:
            return
    line = next((node.lineno for node in level if hasattr(node, "lineno")), None)
    raise rejection("not-allowed", "Expressions or blocks are nested too deeply here.", line)
