"""Every way in which a statement at the top level binds a name, found in its text; nothing is run.

What a notebook holds at its end can often be read off: a `def`, an import and an assignment bind
their names whenever they are reached. Under an `if`, in a loop or a `try`, inside an expression, by
`exec`, or by a function that says `global`, it takes a run to tell; such a binding says its way.
"""

import ast
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from course_lib.emulator.language.names import KNOWN_MODULES, names_of_module

ANY = "*"  # in place of a name: whatever name may be bound there

# Who can bind a name of the module without writing it down.
_DYNAMIC = frozenset("exec eval globals locals vars setattr delattr".split())
_NAMESPACES = frozenset(("globals", "locals", "vars"))  # at the top level, all three are one
_READING = frozenset("get keys items values copy __contains__ __getitem__".split())
# Of what an exported script asks IPython for, these run other code in the notebook's names.
_OF_IPYTHON = frozenset(
    "run_cell run_cell_async ex push user_ns user_global_ns safe_execfile".split()
)


@dataclass(frozen=True)
class Binding:
    """A name that a statement may bind, unbind or change."""

    name: str  # the name, or ANY
    line: int  # where
    # how, a phrase such as "inside `if`"; empty if it is bound whenever the statement is reached,
    # so that the text alone tells what it holds
    way: str = ""


def bindings_of(statement: ast.stmt) -> list[Binding]:
    """What a statement at the top level binds when it is reached, in the order of its text."""
    return list(_bound(statement, ""))


def bound_by_calls(statement: ast.stmt) -> list[Binding]:
    """What the functions and classes in a statement bind at the top level once they are called."""
    found: list[Binding] = []
    for node in ast.walk(statement):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            shared = _declared_global(node.body)
            inner = (binding for part in node.body for binding in _bound(part, ""))
            found += (binding for binding in inner if binding.name in shared)
            found += _dynamic(node)
        elif isinstance(node, ast.Lambda):
            found += _dynamic(node)
    return found


# --- Statements --------------------------------------------------------------------------------


def _bound(node: ast.AST, way: str) -> Iterator[Binding]:
    """The bindings below a node; `way` says how they come about where only a run can tell."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield from _each([*node.decorator_list, *_defaults(node.args)], way)
            yield Binding(name, node.lineno, way)
        case ast.Lambda(args=arguments):
            yield from _each(_defaults(arguments), way)
        case ast.ClassDef(name=name, body=body):
            yield from _each([*node.decorator_list, *node.bases, *node.keywords], way)
            inside = (binding for part in body for binding in _bound(part, "inside `class`"))
            shared = {*_declared_global(body), ANY}
            yield from (binding for binding in inside if binding.name in shared)
            yield Binding(name, node.lineno, way)
        case ast.Import() | ast.ImportFrom():
            yield from _imported(node, way)
        case ast.AnnAssign(value=None):
            return  # an annotation alone binds nothing
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            yield from _dynamic_here(node)
            yield from _each(ast.iter_child_nodes(node), way or _made_by_text(value))
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield Binding(name, node.lineno, way)
        case ast.Starred(value=ast.Name(id=name, ctx=ast.Store())):
            yield Binding(name, node.lineno, way or "by `*`")
        case ast.AugAssign(target=ast.Name(id=name), value=value):
            yield from _bound(value, way)
            yield Binding(name, node.lineno, way or "by an assignment that changes it")
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            yield from _bound(value, way)
            yield Binding(name, node.lineno, way or "by `:=`")
        case ast.comprehension(iter=iterable, ifs=tests):
            yield from _each([iterable, *tests], way)  # its targets are its own
        case ast.ExceptHandler():
            yield from _named_here(node, "by `except`")
            yield from _each(ast.iter_child_nodes(node), "by `except`")
        case _:
            yield from _dynamic_here(node)
            yield from _named_here(node, way)
            yield from _each(ast.iter_child_nodes(node), way or _WAYS.get(type(node), ""))


def _made_by_text(value: ast.expr) -> str:
    """The way of a value that is computed from a text."""
    called = [node.id for node in ast.walk(value) if isinstance(node, ast.Name)]
    return next((f"by `{name}`" for name in called if name in ("eval", "__import__")), "")


_WAYS: dict[type[ast.AST], str] = {
    ast.If: "inside `if`",
    ast.IfExp: "inside `if`",
    ast.BoolOp: "inside `and` or `or`",
    ast.For: "in a loop",
    ast.AsyncFor: "in a loop",
    ast.While: "in a loop",
    ast.Try: "inside `try`",
    ast.TryStar: "inside `try`",
    ast.With: "inside `with`",
    ast.AsyncWith: "inside `with`",
    ast.Match: "inside `match`",
}


def _each(nodes: Iterable[ast.AST], way: str) -> Iterator[Binding]:
    for node in nodes:
        yield from _bound(node, way)


def _named_here(node: ast.AST, way: str) -> Iterator[Binding]:
    """The names that a node has as text: `except … as e`, and what a pattern captures."""
    match node:
        case ast.ExceptHandler(name=str(name)):
            yield Binding(name, node.lineno, way or "by `except`")
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield Binding(name, node.lineno, way)
        case ast.MatchMapping(rest=str(name)):
            yield Binding(name, node.lineno, way)


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *(default for default in arguments.kw_defaults if default)]


def _declared_global(body: Collection[ast.stmt]) -> set[str]:
    """The names that a body says belong to the module; those of functions in it are their own."""
    return {
        name for node in _own_nodes(body) if isinstance(node, ast.Global) for name in node.names
    }


def _own_nodes(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes of a body but those in the functions and classes that it defines."""
    for node in body:
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield from _own_nodes(ast.iter_child_nodes(node))


def _imported(node: ast.Import | ast.ImportFrom, way: str) -> Iterator[Binding]:
    for alias in node.names:
        if alias.name != "*":
            is_module = isinstance(node, ast.Import)
            name = alias.asname or (alias.name.split(".")[0] if is_module else alias.name)
            module = alias.name if is_module else _module_of(node)
            yield Binding(name, node.lineno, way or _way_of(module))
            if alias.name == "__main__":
                yield Binding(ANY, node.lineno, "through `__main__`")
            continue
        module = _module_of(node)
        for known in names_of_module(module):
            yield Binding(known, node.lineno, way)
        if _way_of(module):
            yield Binding(ANY, node.lineno, f"by an import of everything from {module}")


def _module_of(node: ast.Import | ast.ImportFrom) -> str:
    return (node.module if isinstance(node, ast.ImportFrom) else None) or "."


def _way_of(module: str) -> str:
    """The way of an import from a module whose names are unknown."""
    root = module.split(".")[0]
    is_known = root in KNOWN_MODULES or root in sys.stdlib_module_names
    return "" if is_known else f"by an import from {module}"


# --- Names bound by `exec`, `globals()` and texts ----------------------------------------------


def _dynamic(tree: ast.AST) -> Iterator[Binding]:
    """What is bound by `exec`, `globals()` and similar calls anywhere in a tree."""
    for node in ast.walk(tree):
        yield from _dynamic_here(node)


def _dynamic_here(node: ast.AST) -> Iterator[Binding]:
    """What one node binds through `exec`, `globals()` and their like."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Call(
                func=ast.Name(id="exec" | "eval" as how), args=[ast.Constant(str(text)), *_]
            ):
                yield from _of_text(text, child.lineno, f"by `{how}`")
            case ast.Call(func=ast.Name(id=name), args=[]) if name in _NAMESPACES:
                yield from _through_namespace(node, name, child.lineno)
            case ast.Name(id=name, ctx=ast.Load()) if name in _DYNAMIC:
                if not _is_seen_to(node, name):
                    yield Binding(ANY, child.lineno, f"by `{name}`")
            case ast.Attribute(attr=name) if name in _OF_IPYTHON:
                yield Binding(ANY, child.lineno, f"by `{name}`")
            case ast.Attribute(value=ast.Name(id="sys"), attr="modules"):
                yield Binding(ANY, child.lineno, "through `sys.modules`")


def _is_seen_to(parent: ast.AST, name: str) -> bool:
    """Whether a call of one of these has a text that tells what it binds; its parent is looked at
    too.
    """
    if not isinstance(parent, ast.Call) or not isinstance(parent.func, ast.Name):
        return False
    if parent.func.id != name:
        return False
    if name in ("exec", "eval"):
        return bool(parent.args) and isinstance(parent.args[0], ast.Constant)
    # globals() is looked at with what stands around it; vars(x) and setattr(x, …) are about x, and
    # a module is only reached by what is named above.
    return True


def _through_namespace(parent: ast.AST, how: str, line: int) -> Iterator[Binding]:
    """What an expression around `globals()` binds."""
    way = f"through `{how}()`"
    match parent:
        case ast.Subscript(slice=ast.Constant(str(name)), ctx=ast.Store() | ast.Del()):
            yield Binding(name, line, way)
        case ast.Subscript(ctx=ast.Load()) | ast.Compare():
            return
        case ast.Attribute(attr=name) if name in _READING:
            return
        case _:
            yield Binding(ANY, line, way)


def _of_text(text: str, line: int, way: str) -> Iterator[Binding]:
    """What a text binds that is executed in place."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return  # it raises, and binds nothing
    for statement in tree.body:
        for binding in [*bindings_of(statement), *bound_by_calls(statement)]:
            yield replace(binding, line=line, way=way)
