"""What the emulator warns of in kernels of public projects, which nobody here wrote.

    python benchmarks/language/public_costs.py             all, some minutes
    python benchmarks/language/public_costs.py --store     keep what was found
    python benchmarks/language/public_costs.py --draw      write the list anew

The sixty kernels (`costs_of_public_kernels.json`) were drawn, and committed, before any of them had
run with costs: from those that `public_projects.py` found right, at most eight of a project. Each
is launched from its recipe, and once more with a grid, arrays and whole numbers several times as
large, if it still runs without an error. Of every finding `read` says whether it is true, and
`why`: where accesses and threads decide, beside the kernel's text; where float64 does, by the
instructions of Numba's PTX, or by the types where a device function has no lines there. What was
never read counts as neither.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import random
import signal
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # else a kernel with a signature asks for a driver

from cut_out import Style
from public_launch import module_of
from public_projects import LIST, RESULTS, download, root_of
from recipes import Recipe, recipe_for
from recipes.recipe import Array

from course_lib.emulator import Budget, Profile
from course_lib.host import runtime

COSTS = Path(__file__).with_name("costs_of_public_kernels.json")
SEED, KERNELS, OF_A_PROJECT = 37, 60, 8
TIMES, SMALL = 4, 8  # how much larger, and from which size on a number is one
SECONDS = 60
# The recipes' blocks are small ones, to find faults. Of these projects it is the block of theirs.
BLOCKS = {"fbpic": (1, 128), "xarray-spatial": (16, 16)}


def draw() -> list[dict[str, Any]]:
    """Kernels of projects on PyPI that ran right, each a place and the hash of its text."""
    right = {each["sha"] for each in json.loads(RESULTS.read_text()) if each["outcome"] == "right"}
    listed = json.loads(LIST.read_text())
    projects = listed["projects"]
    found = [each for each in listed["kernels"] if each["sha"] in right]
    found = [each for each in found if "/" not in each["project"] and projects[each["project"]]]
    random.Random(SEED).shuffle(found)
    drawn: list[dict[str, Any]] = []
    for each in found:
        if sum(other["project"] == each["project"] for other in drawn) < OF_A_PROJECT:
            drawn.append({key: each[key] for key in ("project", "file", "kernel", "sha")})
    return sorted(drawn[:KERNELS], key=lambda each: (each["project"], each["file"], each["kernel"]))


def larger(recipe: Recipe) -> Recipe:
    """The same launch, several times as large along each axis."""

    def grown(value: Any) -> Any:
        if isinstance(value, Array):
            return Array(lambda random: grown(value.draw(random)))
        if isinstance(value, np.ndarray):
            return np.tile(value, [TIMES if size >= SMALL else 1 for size in value.shape])
        if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= SMALL:
            return type(value)(value * TIMES)
        return tuple(map(grown, value)) if isinstance(value, tuple) else value

    grid = recipe.grid if isinstance(recipe.grid, tuple) else (recipe.grid,)
    names = {name: grown(value) for name, value in recipe.names.items()}
    return replace(recipe, grid=tuple(size * TIMES for size in grid), names=names)


def in_its_block(recipe: Recipe, project: str) -> Recipe:
    """The same launch in the blocks that the project launches."""
    block = BLOCKS.get(project)
    if block is None or np.size(recipe.block) != 2:
        return recipe
    grid = (
        -(-count * size // wanted)
        for count, size, wanted in zip(recipe.grid, recipe.block, block, strict=True)
    )
    return replace(recipe, grid=tuple(grid), block=block)


def launched(kernel: Any, recipe: Recipe) -> Profile:
    emulation = runtime.emulate(kernel, budget=Budget(steps=20_000_000))
    launch = (recipe.grid, recipe.block, 0, recipe.shared)
    return emulation[launch](*recipe.arguments(kernel.fn))


def warnings_of(place: dict[str, Any]) -> dict[str, Any]:
    """What is said of one kernel, in its launch and in the larger one."""
    download(place["project"], json.loads(LIST.read_text())["projects"][place["project"]])
    recipe = recipe_for(place["project"], place["file"], place["kernel"])
    recipe = in_its_block(recipe, place["project"])
    at = place["file"], place["kernel"], place["sha"]
    kernel = module_of(root_of(place["project"]), *at, recipe, Style.WRITTEN)
    text = Path(inspect.getfile(kernel.fn)).read_text().splitlines()
    found: dict[tuple[str, str], dict[str, Any]] = {}
    notes: dict[str, Any] = {"launches": 0}
    for each in (recipe, larger(recipe)):
        signal.alarm(SECONDS)
        try:
            profile = launched(kernel, each)
        except Exception as problem:
            notes["larger" if each is not recipe else "trouble"] = f"{type(problem).__name__}"
            continue
        finally:
            signal.alarm(0)
        if each is not recipe and profile.errors:
            notes["larger"] = profile.errors[0].code
            continue
        notes["launches"] += 1
        for said in profile.findings:
            line = text[said.line - 1].strip() if said.line and said.line <= len(text) else ""
            told = {"code": said.code, "line": line, "says": str(said.message)}
            found.setdefault((said.code, line), told)
    return notes | {"findings": list(found.values())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="kernels, if not all")
    parser.add_argument("--store", action="store_true", help="keep what was found")
    parser.add_argument("--draw", action="store_true", help="write the list anew")
    options = parser.parse_args()
    if options.draw:
        COSTS.write_text(json.dumps(draw(), indent=1) + "\n", encoding="utf-8")
    signal.signal(signal.SIGALRM, _late)
    counts: Counter[str] = Counter()
    kernels = json.loads(COSTS.read_text())
    for kernel in kernels:
        if options.names and kernel["kernel"] not in options.names:
            continue
        read = {(f["code"], f["line"]): f for f in kernel.get("findings", ())}
        kernel |= warnings_of(kernel)
        print(f"{kernel['project']} {kernel['kernel']}: {kernel['launches']} launches")
        for found in kernel["findings"]:
            before = read.get((found["code"], found["line"]), {})
            found |= {key: before[key] for key in ("read", "why") if key in before}
            verdict = found.get("read", "not read")
            print(f"   {verdict}: {found['code']} | {found['line']} | {found['says']}")
            counts[verdict] += 1
    print(dict(counts))
    if options.store:
        COSTS.write_text(json.dumps(kernels, indent=1) + "\n", encoding="utf-8")


def _late(*_: object) -> None:
    raise TimeoutError


if __name__ == "__main__":
    main()
