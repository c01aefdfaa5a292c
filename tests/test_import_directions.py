"""Dependencies point one way: which part of course_lib may import which (DESIGN §2)."""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from every_case import every_case
from library_trees import LIBRARY, nodes_of, tree_of, trees

PACKAGES = sorted(path.parent.name for path in LIBRARY.glob("*/__init__.py"))
SECTION = re.compile(r"^(Owns|May import|Start with): ((?:.+\n?)+?)(?=\w[\w ]*: |\n|\Z)", re.M)


def said_by(package: str) -> dict[str, str]:
    """The sections of a package's docstring."""
    docstring = ast.get_docstring(tree_of(LIBRARY / package / "__init__.py"))
    return dict(SECTION.findall(docstring or ""))


# A part is a module or a package of course_lib; a package says itself what it may import. What is
# not listed may not be imported.
ALLOWED: dict[str, set[str]] = {
    package: set(re.findall(r"`(\w+)`", said_by(package)["May import"])) for package in PACKAGES
}
MODULES = {
    "curriculum": "exercises registry tasks",
    "pytest_plugin": "host wording",
    "timing": "devices host wording",
    "own_ladder": "curriculum devices diagnosis emulator host problems student timing wording",
    "checking": "answer_text compiled_counts curriculum diagnosis emulator host problems "
    "registry student tiles verdicts wording",
    "quiz": "questions",
    "shown_answers": "checking curriculum host registry student tiles verdicts wording",
}  # fmt: skip
ALLOWED |= {part: set(names.split()) for part, names in MODULES.items()}

# Inside a package no module imports itself by way of others, imports for type checkers and inside
# functions included. What still closes a circle is named here, with the reason.
CLOSING: dict[tuple[str, str], str] = {
    ("emulator.profile.annotate", "emulator.profile.profile"):
        "Profile.show() is promised, and the table that it shows is drawn from a profile",
    ("emulator.profile.as_compiled", "emulator.profile.profile"):
        "counts as compiled stand beside those of the profile that they belong to; only the "
        "annotation of a field closes the circle",
    ("bench.libraries", "bench.matrices"): "part of bench, where the rungs are being measured",
}  # fmt: skip

# The emulator reads kernels as text and must outlive Numba's versions: NumPy and nothing else.
OUTSIDE_OF_EMULATOR = {"numpy"}


def in_a_circle(below: dict[str, set[str]]) -> list[str]:
    """What lies below itself, or above what does."""
    left = dict(below)
    while free := {name for name, others in left.items() if not others & set(left)}:
        left = {name: others for name, others in left.items() if name not in free}
    return sorted(left)


def test_a_part_imports_only_what_lies_below_it_and_there_is_no_circle() -> None:
    for module, below in imports().items():
        part = module.split(".")[0]
        if part not in ("__init__", "cli"):
            assert part in ALLOWED, f"say in ALLOWED what {part} may import"
            more = {each.split(".")[0] for each in below} - ALLOWED[part] - {part, "__init__"}
            assert not more, f"{module} imports {more}"
    assert in_a_circle(ALLOWED) == []


def test_the_emulator_needs_numpy_only() -> None:
    for path in (LIBRARY / "emulator").rglob("*.py"):
        nodes = nodes_of(path)
        names = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
        names |= {a.name for node in nodes if isinstance(node, ast.Import) for a in node.names}
        outside = {name.split(".")[0] for name in names} - {"course_lib"}
        assert outside - set(sys.stdlib_module_names) <= OUTSIDE_OF_EMULATOR, path.name


@cache
def modules() -> dict[str, Path]:
    """Every module of the library by its name, without `course_lib.`."""
    return {
        ".".join(path.relative_to(LIBRARY).with_suffix("").parts).removesuffix(".__init__"): path
        for path in LIBRARY.rglob("*.py")
    }


def imported_by(module: str) -> set[str]:
    """The modules of ours that a module imports, wherever in its file."""
    found: set[str] = set()
    for node in nodes_of(modules()[module]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            inner = {name for name in names if name.removeprefix("course_lib.") in modules()}
            found |= inner if len(inner) == len(names) else inner | {node.module}
    return {name.removeprefix("course_lib.") for name in found} & set(modules()) - {module}


@cache
def imports() -> dict[str, set[str]]:
    return {module: imported_by(module) for module in modules()}


def test_no_module_imports_itself_by_way_of_others_but_those_named() -> None:
    left = {module: set(below) for module, below in imports().items()}
    for closing, closed in CLOSING:
        left[closing] -= {closed}
    assert in_a_circle(left) == []
    assert all(closed in imports()[closing] for closing, closed in CLOSING)


STAGED = ("diagnosis.", "emulator.", "grading.")
FOLDERS = [name for name, path in sorted(modules().items()) if path.name == "__init__.py"]
FOLDERS = [name for name in FOLDERS if name.startswith(STAGED)]


@every_case("folder", FOLDERS)
def test_a_stage_imports_only_what_it_says(folder: str) -> None:
    """Its docstring names what it may import of its package: folders and modules at the top."""
    package, _, stage = folder.partition(".")
    said = re.search(r"^May import: (.*(?:\n.+)*?)\n(?=[A-Z])", docstring_of(folder), re.MULTILINE)
    assert said, f"{folder} does not say what it may import"
    beside = {
        each.split(".")[1]
        for module, below in imports().items()
        if module.startswith(f"{folder}.")
        for each in below
        if each.startswith(f"{package}.") and (module, each) not in CLOSING
    } - {stage}
    assert beside == set(re.findall(r"`(\w+)`", said[1]))
    starts = re.findall(r"`(\w+)`", docstring_of(folder).partition("Start with:")[2])
    assert starts and all(f"{folder}.{name}" in modules() for name in starts)


def docstring_of(module: str) -> str:
    return ast.get_docstring(tree_of(modules()[module])) or ""


def test_stages_have_no_circle() -> None:
    """Neither among the folders of a package nor between a folder and a module beside it."""
    for package in ("diagnosis", "emulator", "grading"):
        below: dict[str, set[str]] = {}
        for module, others in imports().items():
            if module.startswith(f"{package}."):
                stage = module.split(".")[1]
                open_ones = {each for each in others if (module, each) not in CLOSING}
                below.setdefault(stage, set()).update(
                    each.split(".")[1] for each in open_ones if each.startswith(f"{package}.")
                )
        assert in_a_circle({stage: others - {stage} for stage, others in below.items()}) == []


def test_a_public_class_name_means_one_thing() -> None:
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for path, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(path.relative_to(LIBRARY).as_posix())
    shared = {name: files for name, files in homes.items() if len(files) > 1}
    assert not shared, shared


ROOT = LIBRARY.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| \[`(\w+)/`\]\(\.\./course_lib/(\w+)\) \|", PAGE, re.MULTILINE)


def test_every_package_has_one_row_below_what_it_may_import() -> None:
    order = [name for name, _ in ROWS]
    assert sorted(order) == PACKAGES
    assert all(name == folder for name, folder in ROWS)
    for place, name in enumerate(order):
        assert ALLOWED[name] & set(PACKAGES) <= set(order[:place]), name


@every_case("package", PACKAGES)
def test_a_package_says_what_it_owns_what_it_may_import_and_where_to_start(package: str) -> None:
    said = said_by(package)
    assert list(said) == ["Owns", "May import", "Start with"]
    folder = LIBRARY / package
    starts = re.findall(r"`(\w+)`", said["Start with"])
    assert starts or package in ("measurements", "commands", "web")
    assert all((folder / f"{name}.py").exists() for name in starts)


def test_what_the_page_names_is_there_and_readers_find_it():
    linked = set(re.findall(r"\]\((?!https?:)([^)#]+)", PAGE))
    assert linked and all((ROOT / "docs" / name).exists() for name in linked)
    for name in set(re.findall(r"`((?:course_lib|tests|docs)/[\w/.]+)`", PAGE)):
        assert (ROOT / name).exists(), name
    for name in ("README.md", "CONTRIBUTING.md"):
        assert "(docs/architecture.md)" in (ROOT / name).read_text(encoding="utf-8")


def names_bound_in(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Each variable, parameter and function with its line; the fields of a class are none."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    inside = [statement for node in classes for statement in node.body]
    fields = {each.target for each in inside if isinstance(each, ast.AnnAssign)}
    for node in ast.walk(tree):
        match node:
            case ast.Name(name, ast.Store()) if node not in fields:
                yield name, node.lineno
            case ast.arg(name) | ast.FunctionDef(name):
                yield name, node.lineno


def test_a_variable_has_the_noun_of_what_it_is() -> None:
    """`for finding in findings`: `each` says nothing of what one goes through."""
    text = "def one(each): return [each for each in f(lambda each: each)]\nclass A:\n    each: int"
    assert [line for name, line in names_bound_in(ast.parse(text)) if name == "each"] == [1, 1, 1]
    bound = ((path, *each) for path, tree in trees().items() for each in names_bound_in(tree))
    found = [f"{path.relative_to(LIBRARY)}:{line}" for path, name, line in bound if name == "each"]
    assert not found, found
