"""Find the kernels in a file of a public project, and cut one out with what it needs.

No module of the project is imported: a kernel, the functions it calls and the constants it names
are taken out of the syntax tree, from its own file and from the project's other files that it
imports names from. Whatever else the file wants (CuPy, PyTorch, a GPU) is left behind.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

# Decorators that make a kernel: Numba's, and those that projects have written around it.
DECORATORS = re.compile(r"(?:\w+\.)*cuda\.jit\b|nb_cuda\.jit\b|compile_cupy\b")
COMPILERS_OPTIONS = ("max_registers", "opt", "lineinfo", "cache")
PACKAGES = ("numba", "numpy", "math", "cmath", "operator", "enum", "collections", "typing")
Function = ast.FunctionDef


@dataclass(frozen=True)
class Found:
    """One kernel: its place, the hash of its text, and the names it takes from around it."""

    file: str
    kernel: str
    sha: str
    closes_over: tuple[str, ...]


def is_kernel(function: ast.AST) -> bool:
    """Whether a function is decorated as a kernel, and returns nothing."""
    if not isinstance(function, Function):
        return False
    texts = [ast.unparse(each) for each in function.decorator_list]
    if not any(DECORATORS.match(text) and "device=True" not in text for text in texts):
        return False
    returns = (each for each in own_nodes(function) if isinstance(each, ast.Return))
    return not any(each.value for each in returns)


def sha_of(text: str, function: ast.AST) -> str:
    """The hash of a function's text, without its decorators."""
    source = ast.get_source_segment(text, function) or ""
    return hashlib.sha256(source.encode()).hexdigest()[:12]


def own_nodes(function: ast.AST) -> list[ast.AST]:
    """The nodes of a function, without those of functions inside it."""
    found: list[ast.AST] = []
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not isinstance(node, Function | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))
    return found


def names_of(node: ast.AST) -> set[str]:
    """The names in a part of a file, but for those in notes on types."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Name):
            found.add(each.id)
        for name, value in ast.iter_fields(each):
            if name not in ("annotation", "returns"):
                parts = value if isinstance(value, list) else [value]
                waiting.extend(part for part in parts if isinstance(part, ast.AST))
    return found


def bound_in(function: ast.AST) -> set[str]:
    """The names that a function binds: parameters, targets, imports, functions."""
    found: set[str] = set()
    if isinstance(function, Function):
        found.update(each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg))
    for node in own_nodes(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, Function | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update(each.asname or each.name.split(".")[0] for each in node.names)
    return found


def found_in(text: str, file: str) -> list[Found]:
    """The kernels of a file, in the order of the text."""
    found: list[tuple[int, Found]] = []

    def visit(node: ast.AST, path: tuple[str, ...], around: frozenset[str]) -> None:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, Function | ast.ClassDef):
                visit(child, path, around)
                continue
            if is_kernel(child):
                sha = sha_of(text, child)
                free = (names_of(child) - bound_in(child)) & around
                name = ".".join([*path, child.name])
                found.append((child.lineno, Found(file, name, sha, tuple(sorted(free)))))
            inside = around | bound_in(child) if isinstance(child, Function) else around
            visit(child, (*path, child.name), frozenset(inside))

    visit(ast.parse(text), (), frozenset())
    return [each for _, each in sorted(found, key=lambda pair: pair[0])]


class Style(Enum):
    """For whom a kernel is cut out."""

    WRITTEN = "as it is written"
    SIMULATOR = "with `cuda` in the place of `numba.cuda`, of which the simulator knows nothing"
    PLAIN = "the kernel undecorated, no signatures: for the compiler, where there is no GPU"


class _Shorter(ast.NodeTransformer):
    """`nb.cuda.grid` as `cuda.grid`."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if ast.unparse(node) in ("nb.cuda", "numba.cuda"):
            return ast.Name("cuda", node.ctx)
        return self.generic_visit(node)


class Missing(Exception):
    """A kernel needs a name that neither its project's files nor its recipe explain."""


@dataclass(frozen=True)
class Cut:
    """A kernel's text with all that it needs, to be run as a module of its own."""

    text: str
    kernel: str


class Cutter:
    """Takes what one kernel needs out of a project's files, in the order in which it is needed."""

    def __init__(self, root: Path, given: set[str], style: Style) -> None:
        self.root = root
        self.given = given
        self.style = style
        self.parts: list[str] = []
        self.taken: set[tuple[str, str]] = set()
        self.modules: dict[str, str] = {}

    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """A module's statements; of `if` and `try` what the first branch holds."""
        found: list[ast.stmt] = []
        for each in body:
            if isinstance(each, ast.If | ast.Try):
                inside = self.statements(each.body)
                rest = [*each.orelse]
                for handler in getattr(each, "handlers", []):
                    rest += handler.body
                bound = {name for part in inside for name in self.bound(part)}
                others = (part for part in self.statements(rest) if not self.bound(part) & bound)
                found += [*inside, *others]
            else:
                found.append(each)
        return found

    @staticmethod
    def bound(statement: ast.stmt) -> set[str]:
        match statement:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                return {name}
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                return {each.asname or each.name.split(".")[0] for each in names}
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                stores = (each for each in ast.walk(statement) if isinstance(each, ast.Name))
                return {each.id for each in stores if isinstance(each.ctx, ast.Store)}
        return set()

    def take(self, name: str, file: str, scopes: list[list[ast.stmt]]) -> None:
        """Put what binds a name before what uses it."""
        if name in self.given or hasattr(builtins, name) or (file, name) in self.taken:
            return
        self.taken.add((file, name))
        for scope in scopes:
            binding = [each for each in scope if name in self.bound(each)]
            if binding:
                for each in binding:
                    self.put(each, name, file, scopes)
                return
        raise Missing(f"{name} in {file}")

    def put(self, part: ast.stmt, name: str, file: str, scopes: list[list[ast.stmt]]) -> None:
        if isinstance(part, ast.Import | ast.ImportFrom):
            self.put_import(part, name, file)
            return
        needed = part if not isinstance(part, Function) else self.lean(part)
        self.visit(needed, file, scopes)
        text = ast.unparse(needed)
        if text not in self.parts:
            self.parts.append(text)

    def put_import(self, part: ast.Import | ast.ImportFrom, name: str, file: str) -> None:
        [alias] = [each for each in part.names if (each.asname or each.name.split(".")[0]) == name]
        if isinstance(part, ast.Import) and alias.name.split(".")[0] in PACKAGES:
            self.parts.append(ast.unparse(ast.Import(names=[alias])))
        elif isinstance(part, ast.ImportFrom) and not part.level and self.known(part.module):
            module = ast.ImportFrom(module=part.module, names=[alias], level=0)
            self.parts.append(ast.unparse(module))
        elif isinstance(part, ast.ImportFrom) and (other := self.module_of(part, alias.name, file)):
            self.put_module(name, other)
        elif isinstance(part, ast.ImportFrom) and (other := self.file_of(part, file)):
            tree = ast.parse((self.root / other).read_text(encoding="utf-8"))
            self.take(alias.name, other, [self.statements(tree.body)])
            if alias.asname:
                self.parts.append(f"{alias.asname} = {alias.name}")
        else:
            raise Missing(f"{name} in {file}, from {ast.unparse(part)}")

    def put_module(self, name: str, other: str) -> None:
        """A module of the project: what is used of it is put in by `visit`."""
        self.modules[name] = other
        self.parts.append(f"{name} = __import__('types').ModuleType('{name}')")

    def visit(self, node: ast.AST, file: str, scopes: list[list[ast.stmt]]) -> None:
        """Take what a part of a file names, and what it uses of the project's modules."""
        own = bound_in(node) if isinstance(node, Function) else set()
        for other in sorted(names_of(node) - own):
            self.take(other, file, scopes)
        for each in ast.walk(node):
            if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
                self.take_of_module(each.value.id, each.attr)

    def take_of_module(self, module: str, name: str) -> None:
        if module in self.modules:
            other = self.modules[module]
            tree = ast.parse((self.root / other).read_text(encoding="utf-8"))
            self.take(name, other, [self.statements(tree.body)])
            self.parts.append(f"vars({module}).update({name}={name})")

    def module_of(self, part: ast.ImportFrom, name: str, file: str) -> str | None:
        module = ast.ImportFrom(module=f"{part.module or ''}.{name}".strip("."), level=part.level)
        return self.file_of(module, file)

    @staticmethod
    def known(module: str | None) -> bool:
        return (module or "").split(".")[0] in PACKAGES

    def file_of(self, part: ast.ImportFrom, file: str) -> str | None:
        """The project's file that an import names."""
        above = Path(file).parent
        for _ in range(part.level - 1):
            above = above.parent
        module = (part.module or "").replace(".", "/")
        base = above / module if part.level else Path(module)
        for path in (base.with_suffix(".py"), base / "__init__.py"):
            if (self.root / path).exists():
                return str(path)
        return None

    def lean(self, function: ast.FunctionDef) -> ast.FunctionDef:
        """A function without what a launch has no need of: notes on types, a wrapper's name."""
        copied = ast.parse(ast.unparse(function)).body[0]
        assert isinstance(copied, Function)
        copied.returns = None
        if self.style is Style.SIMULATOR:
            _Shorter().visit(copied)
        for each in ast.walk(copied.args):
            if isinstance(each, ast.arg):
                each.annotation = None
        kept = [each for each in copied.decorator_list if ast.unparse(each) != "staticmethod"]
        copied.decorator_list = [self.decorator(each) for each in kept]
        return copied

    def decorator(self, given: ast.expr) -> ast.expr:
        """`compile_cupy` is Numba's `jit` with another launch; without a GPU no signature."""
        text = ast.unparse(given)
        if text == "compile_cupy":
            return ast.parse("__import__('numba.cuda').cuda.jit", mode="eval").body
        if isinstance(given, ast.Call):  # options that the simulator's `jit` does not know
            given.keywords = [each for each in given.keywords if each.arg not in COMPILERS_OPTIONS]
        if self.style is Style.PLAIN and isinstance(given, ast.Call) and "device=True" in text:
            given.args = []
        return given


def cut_out(root: Path, file: str, kernel: str, sha: str, given: set[str], style: Style) -> Cut:
    """One kernel with what it calls and names; `given` are names that the recipe explains.

    `sha` says which, where a file has several of one name. Raises `Missing` when a name is
    explained nowhere.
    """
    text = (root / file).read_text(encoding="utf-8")
    tree = ast.parse(text)
    started = {"cuda"} if style is Style.SIMULATOR else set()
    cutter = Cutter(root, given | started, style)
    node: ast.AST = tree
    scopes = [cutter.statements(tree.body)]
    *outer, last = kernel.split(".")
    for name in outer:
        [node, *_] = [each for each in own_nodes(node) if getattr(each, "name", "") == name]
        if isinstance(node, Function):
            scopes.insert(0, cutter.statements(node.body))
    same = [each for each in own_nodes(node) if getattr(each, "name", "") == last]
    [node] = [each for each in same if sha == sha_of(text, each)]
    assert isinstance(node, Function)
    function = cutter.lean(node)
    cutter.visit(function, file, scopes)
    if style is Style.PLAIN:
        function.decorator_list = []
    start = ["from numba import cuda"] if style is Style.SIMULATOR else []
    return Cut("\n\n".join([*start, *cutter.parts, ast.unparse(function)]), function.name)
