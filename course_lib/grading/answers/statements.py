"""The statements of a cell: what they bind, and what they need. Nothing is executed."""

import ast
import builtins
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from course_lib.emulator import says_nothing
from course_lib.emulator.language.bindings import ANY, Binding, bindings_of, bound_by_calls
from course_lib.emulator.language.kernel import names_with
from course_lib.emulator.language.names import FORBIDDEN_BUILTINS

StatementKind = Literal["function", "constant", "import", "other"]

_PIECES_FROM = ("numba", "numpy", "math", "course_lib.intrinsics", "operator")
_BUILTINS = frozenset(dir(builtins))
_PLAIN = (
    ast.Constant | ast.Name | ast.Attribute | ast.Tuple | ast.List | ast.UnaryOp | ast.BinOp
    | ast.Call | ast.keyword | ast.operator | ast.unaryop | ast.expr_context | ast.Subscript
)  # fmt: skip


@dataclass(frozen=True)
class Statement:
    """One statement at the top level of a cell."""

    kind: StatementKind
    first: int  # its lines, decorators included
    last: int
    binds: frozenset[str]  # the names that it defines
    uses: frozenset[str] = frozenset()  # the names from elsewhere that it needs
    is_stub: bool = False  # it is a function without anything to do
    is_alone: bool = True  # no other statement stands on its lines
    shape: str = ""  # a hash of its syntax tree, whatever its comments and blank lines
    # for an import, the statement that imports one name alone
    imports: dict[str, str] = field(default_factory=dict)
    parameters: int = 0  # how many a function takes
    # it gives a name what a call returns, or what another name stands for: perhaps a function, as
    # in `k = cuda.jit(f)`
    makes: bool = False
    # how it binds each of its names, and whatever else it may bind
    bindings: tuple[Binding, ...] = ()
    by_calls: tuple[Binding, ...] = ()  # what its functions bind at the top level once called


def statements_of(tree: ast.Module) -> Iterator[Statement]:
    """The statements at the top level, in their order."""
    last = 0
    nodes = tree.body
    begins = [*map(_first_line, nodes), float("inf")]
    for node, begin, following in zip(nodes, begins, begins[1:], strict=False):
        end = node.end_lineno or node.lineno
        alone = last < begin and end < following
        last = end
        yield _statement(node, end, alone)


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    result: int = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return result


def _statement(node: ast.stmt, last: int, alone: bool) -> Statement:
    found = tuple(bindings_of(node))
    statement = Statement(
        "other",
        _first_line(node),
        last,
        frozenset(binding.name for binding in found) - {ANY},
        is_alone=alone,
        shape=_shape(node),
        bindings=found,
        by_calls=tuple(bound_by_calls(node)),
    )
    match node:
        case ast.FunctionDef():
            return replace(
                statement,
                kind="function",
                uses=_used_by_function(node),
                is_stub=says_nothing(node.body),
                parameters=len(node.args.posonlyargs) + len(node.args.args),
            )
        case ast.Import() | ast.ImportFrom():
            return replace(statement, kind="import", imports=_imports(node))
        case ast.Assign() | ast.AnnAssign():
            kind: StatementKind = "constant" if _is_plain_assignment(node) else "other"
            uses = _loaded(node)
            makes = isinstance(node.value, ast.Call | ast.Name) and not statement.binds & uses
            return replace(statement, kind=kind, uses=uses, makes=makes)
    return replace(statement, uses=_loaded(node))


def _shape(node: ast.stmt) -> str:
    return hashlib.sha256(ast.dump(node).encode("utf-8", "replace")).hexdigest()


def _used_by_function(function: ast.FunctionDef) -> frozenset[str]:
    """The names that it needs from outside; annotations are never looked at."""
    arguments = function.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    parameters += [argument for argument in (arguments.vararg, arguments.kwarg) if argument]
    inside: set[str] = {parameter.arg for parameter in parameters}
    loaded: set[str] = set()
    for node in _walk_without_annotations(function.body):
        if isinstance(node, ast.Name):
            (loaded if isinstance(node.ctx, ast.Load) else inside).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.Lambda):
            inside |= {
                parameter.arg for parameter in ast.walk(node.args) if isinstance(parameter, ast.arg)
            }
            inside |= {node.name} if isinstance(node, ast.FunctionDef) else set()
    outside = [*function.decorator_list, *arguments.defaults]
    outside += [default for default in arguments.kw_defaults if default]
    needed = loaded - inside
    for node in outside:
        needed |= _loaded(node)
    return frozenset(needed - _BUILTINS)


def _walk_without_annotations(nodes: list[ast.stmt]) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = list(nodes)
    while waiting:
        node = waiting.pop()
        yield node
        skipped = getattr(node, "annotation", None), getattr(node, "returns", None)
        waiting += [child for child in ast.iter_child_nodes(node) if child not in skipped]


def _loaded(tree: ast.AST) -> frozenset[str]:
    return frozenset(names_with(ast.walk(tree), ast.Load)) - _BUILTINS


def _is_plain_assignment(node: ast.Assign | ast.AnnAssign) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    plain_targets = all(isinstance(target, ast.Name | ast.Tuple | ast.List) for target in targets)
    value = node.value
    return (
        value is not None
        and plain_targets
        and all(isinstance(part, _PLAIN) for part in ast.walk(value))
        and not _is_forbidden(value)
    )


def _is_forbidden(tree: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id in FORBIDDEN_BUILTINS for node in ast.walk(tree)
    )


def _imports(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """What imports each name alone."""
    single: dict[str, str] = {}
    for alias in node.names:
        module = alias.name if isinstance(node, ast.Import) else node.module or ""
        name = alias.asname or alias.name.split(".")[0]
        renamed = f" as {alias.asname}" if alias.asname else ""
        if isinstance(node, ast.Import):
            single[name] = f"import {alias.name}{renamed}"
        else:
            single[name] = f"from {module} import {alias.name}{renamed}"
    return single


def may_be_taken(import_text: str) -> bool:
    """Whether an import that stands in another cell may be put before an answer."""
    module = import_text.split()[1]
    return any(module == package or module.startswith(f"{package}.") for package in _PIECES_FROM)
