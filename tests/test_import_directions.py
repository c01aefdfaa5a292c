"""Dependencies point one way: which part of course_lib may import which (DESIGN §2)."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path

from every_case import every_case

LIBRARY = Path(__file__).resolve().parent.parent / "course_lib"

# A part is a module or a package of course_lib. What is not listed may not be imported.
ALLOWED: dict[str, set[str]] = {
    "findings": set(),
    "occupancy": set(),
    "devices": {"occupancy"},
    "entries": set(),
    "number_formats": set(),
    "kinds": {"entries"},
    "exercise": {"entries", "kinds"},
    "exercises": {"exercise", "kinds"},
    "tasks": {"exercise", "kinds"},
    "curriculum": {"entries", "exercise", "exercises", "tasks"},
    "callers": {"curriculum", "emulator", "findings", "sentences"},
    "errors": {"findings"},
    "sentences": set(),
    "front_end": set(),
    "progress": {"front_end"},
    "emulator": {"findings", "sentences"},
    "device_array": {"errors"},
    "arguments": {"device_array", "errors", "findings", "sentences"},
    "host_api": {"device_array", "errors"},
    "probe": {"errors"},
    "stand_in": {"errors"},
    "runtime": {
        "arguments", "device_array", "emulator", "errors", "findings", "host_api", "probe",
        "progress", "sentences", "stand_in",
    },
    "machine_code": {"errors", "findings", "probe", "runtime"},
    "timing": {"devices", "errors", "runtime"},
    "two_copies": {"emulator", "errors", "runtime", "timing"},
    "memory_levels": {"devices", "emulator"},
    "ceilings": {"devices", "emulator", "machine_code"},
    "roofline": {"ceilings", "devices"},
    "web": set(),
    "intrinsics": set(),
    "kernels": {
        "device_array", "errors", "findings", "intrinsics", "measurements", "number_formats",
        "runtime",
    },
    "figures": {
        "callers", "curriculum", "devices", "emulator", "entries", "errors", "exercise", "findings",
        "measurements",
        "memory_levels", "number_formats", "occupancy", "own_ladder", "roofline", "web",
    },
    "diagnosis": {
        "callers", "curriculum", "devices", "emulator", "entries", "exercise", "findings", "kinds",
        "number_formats", "occupancy", "sentences",
    },
    "own_ladder": {
        "curriculum", "diagnosis", "emulator", "errors", "progress", "runtime", "timing",
    },
    "verdicts": {
        "curriculum", "diagnosis", "emulator", "figures", "findings", "front_end", "own_ladder",
        "progress", "sentences", "web",
    },
    "compiled_answer": {
        "curriculum", "diagnosis", "entries", "findings", "machine_code", "sentences",
    },
    "checking": {
        "callers", "compiled_answer", "curriculum", "diagnosis", "emulator", "entries", "errors",
        "findings", "front_end", "kinds", "runtime", "sentences", "verdicts",
    },
    "helping": {
        "checking", "curriculum", "errors", "findings", "progress", "runtime", "verdicts",
    },
    "tab": {
        "callers", "checking", "curriculum", "diagnosis", "emulator", "entries", "errors",
        "exercise", "figures", "findings", "helping", "own_ladder", "progress", "sentences",
        "verdicts", "web",
    },
    "measurements": set(),
    "ncu": {"arguments", "emulator", "errors", "measurements", "runtime"},
    "questions": {
        "checking", "curriculum", "devices", "emulator", "figures", "findings", "measurements",
        "number_formats", "roofline", "sentences", "web",
    },
    "quiz": {"questions"},
    "predictions": {"questions"},
    "building": {"checking", "curriculum", "findings", "questions", "sentences"},
    "book": {"building", "curriculum", "measurements", "questions", "tab", "web"},
    "bench": {
        "ceilings", "curriculum", "devices", "errors", "kernels", "machine_code", "measurements",
        "roofline", "runtime", "timing",
    },
    "grading": {
        "building", "checking", "curriculum", "devices", "diagnosis", "emulator", "entries",
        "errors", "findings", "sentences", "web",
    },
    "commands": {
        "bench", "book", "building", "curriculum", "devices", "errors", "figures", "grading",
        "kernels", "measurements", "probe", "runtime",
    },
    "build": {"building", "commands", "curriculum", "figures"},
}  # fmt: skip

# The emulator reads kernels as text and must outlive Numba's versions: NumPy and nothing else.
OUTSIDE_OF_EMULATOR = {"numpy"}


def imports_of(path: Path) -> set[str]:
    """The dotted names that a file imports, wherever in the file."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "course_lib":
            names |= {f"course_lib.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


@cache
def files() -> dict[str, list[Path]]:
    """The files of each part."""
    parts: dict[str, list[Path]] = {}
    for path in sorted(LIBRARY.rglob("*.py")):
        part = path.relative_to(LIBRARY).parts[0].removesuffix(".py")
        parts.setdefault(part, []).append(path)
    return parts


@every_case("part", sorted(set(files()) - {"__init__", "cli"}))
def test_a_part_imports_only_what_lies_below_it(part: str) -> None:
    assert part in ALLOWED, f"say in ALLOWED what {part} may import"
    for path in files()[part]:
        ours = {
            name.split(".")[1] for name in imports_of(path) if name.startswith("course_lib.")
        } & set(files())
        assert ours <= ALLOWED[part] | {part}, f"{path.name} imports {ours - ALLOWED[part]}"


def test_the_allowed_directions_have_no_circle() -> None:
    order: list[str] = []
    left = {part: set(below) for part, below in ALLOWED.items()}
    while left:
        free = [part for part, below in left.items() if below <= set(order)]
        assert free, f"a circle among {sorted(left)}"
        order += free
        left = {part: below for part, below in left.items() if part not in free}


def test_the_emulator_needs_numpy_only() -> None:
    for path in files()["emulator"]:
        outside = {name.split(".")[0] for name in imports_of(path)} - {"course_lib"}
        assert outside - set(sys.stdlib_module_names) <= OUTSIDE_OF_EMULATOR, path.name
