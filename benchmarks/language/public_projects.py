"""Run the kernels of public projects on the emulator, which nobody here wrote.

    python benchmarks/language/public_projects.py --python PYTHON          all, about half an hour
    python benchmarks/language/public_projects.py --python PYTHON fbpic    one project's kernels
    python benchmarks/language/public_projects.py --fix-list               write the list anew

PYTHON is one that has numba-cuda and its compiler; no GPU is needed. Each kernel is cut out of its
project (`cut_out.py`), given arguments by its recipe (`recipes/`, in our own words), and launched
on the emulator and on Numba's simulator, which must leave the same arrays; Numba's compiler says
whether it takes the kernel at all (`public_launch.py`).

The projects' files are downloaded into a folder of their own and stay there: the list
(`kernels_of_public_projects.json`) keeps their names, versions and places and the hashes of the
kernels' texts. It was written, and committed, before the emulator had seen one of them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import zipfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from cut_out import found_in

HERE = Path(__file__).resolve().parent
LIST = HERE / "kernels_of_public_projects.json"
FOLDER = Path("/tmp/public_projects")
RESULTS = HERE / "results_of_public_projects.json"
READ = HERE / "read_by_hand.json"  # what a person found in a kernel that no program decides
SEED, CLOSURES = 17, 20
SECONDS_PER_KERNEL, KERNELS_TOGETHER = 240, 10

# What a kernel came to, best first.
OUTCOMES = (
    "right",
    "right: a fault of the kernel is named",
    "refused, and Numba refuses it, too",
    "unsupported",
    "not launched",
    "to be looked at: an error is named",
    "to be looked at: no equal",
    "to be looked at: nothing changes",
    "to be looked at: Numba refuses it",
    "to be looked at: Numba compiles it",
    "crashed",
)


def download(project: str, version: str) -> None:
    """Fetch a project's wheel, and unpack its Python files."""
    folder = FOLDER / "src" / project
    if folder.exists():
        return
    wheels = FOLDER / "dl" / project
    given = ["--no-deps", "--only-binary", ":all:", "--dest", str(wheels), f"{project}=={version}"]
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", *given], check=True)
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as packed:
            for name in packed.namelist():
                if name.endswith(".py"):
                    packed.extract(name, folder)


def root_of(project: str) -> Path:
    """Where a project's files lie; those of a repository were read and written down by hand."""
    return FOLDER / ("read" if "/" in project else "src") / project


def kernels_of(project: str) -> list[dict[str, Any]]:
    """Every kernel of a project."""
    root = root_of(project)
    found = []
    for file in sorted(root.rglob("*.py")):
        text = file.read_text(encoding="utf-8", errors="replace")
        try:
            kernels = found_in(text, str(file.relative_to(root)))
        except SyntaxError:
            continue
        found += [{"project": project, **vars(each)} for each in kernels]
    return found


def fix_list(projects: dict[str, str]) -> dict[str, Any]:
    """All kernels, each text once; of those made inside functions, a sample is measured.

    A kernel that closes over what its function computes needs that function's work redone by
    hand, so of these `CLOSURES` are drawn; all the others are measured.
    """
    once: dict[str, dict[str, Any]] = {}
    for project, version in projects.items():
        if "/" not in project:
            download(project, version)
        for each in kernels_of(project):
            once.setdefault(each["sha"], each)
    kernels = list(once.values())
    closures = [each["sha"] for each in kernels if each["closes_over"]]
    drawn = set(random.Random(SEED).sample(closures, CLOSURES))
    for each in kernels:
        each["measured"] = not each["closes_over"] or each["sha"] in drawn
    return {"projects": projects, "seed": SEED, "kernels": kernels}


def ask(python: str, what: str, kernels: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What is found of a project's kernels, `run` or `compile`, in a process of its own."""
    environment = os.environ | ({"NUMBA_ENABLE_CUDASIM": "1"} if what == "run" else {})
    root = root_of(kernels[0]["project"])
    command = [python, str(HERE / "public_launch.py"), what, str(root), json.dumps(kernels)]
    limit = SECONDS_PER_KERNEL * len(kernels)
    try:
        ended = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=limit, check=False
        )
        said, why = ended.stdout, ended.stderr[-500:]
    except subprocess.TimeoutExpired as late:
        said, why = (late.stdout or b"").decode(), "out of time"
    notes = [json.loads(line) for line in said.splitlines() if line.startswith('{"sha"')]
    found: dict[str, dict[str, Any]] = {note.pop("sha"): note for note in notes}
    for each in kernels:
        if each["sha"] not in found and len(kernels) > 1:
            found |= ask(python, what, [each])
        found.setdefault(each["sha"], {"trouble": why})
    return found


def outcome_of(note: dict[str, Any]) -> str:
    """What the emulator's, the simulator's and the compiler's answers come to together."""
    compiles = note.get("compiler") == "compiled"
    match note.get("emulator"):
        case None:
            return "not launched"
        case "crashed" | "unsupported" as said:
            return str(said)
        case "ran":
            if not compiles:
                return "to be looked at: Numba refuses it"
            if note["findings"]:
                return "to be looked at: an error is named"
            if not note.get("equal"):
                return "to be looked at: no equal"
            return "right" if note["changed"] else "to be looked at: nothing changes"
    if compiles:
        return "to be looked at: Numba compiles it"
    return "refused, and Numba refuses it, too"


def measured(python: str, kernels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The results of several kernels of one project."""
    ran, compiled = (ask(python, what, kernels) for what in ("run", "compile"))
    keep = "emulator findings said line equal simulator compiler missing trouble".split()
    results = []
    for kernel in kernels:
        note = ran[kernel["sha"]] | compiled[kernel["sha"]]
        kept = {key: note[key] for key in keep if note.get(key)}
        place = {key: kernel[key] for key in ("project", "file", "kernel", "sha")}
        results.append({**place, "outcome": outcome_of(note), **kept})
        print(f"{outcome_of(note):40}{kernel['project']} {kernel['kernel']}", file=sys.stderr)
    return results


def with_what_was_read(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Results, with a person's reading of those that no program decides."""
    read = json.loads(READ.read_text(encoding="utf-8")) if READ.exists() else {}
    for each in results:
        found = read.get(each["sha"])
        if found and found["of"] == each["outcome"]:
            each |= {"outcome": found["outcome"], "read": found["read"]}
    return results


def table(results: list[dict[str, Any]]) -> str:
    """Results by project, as Markdown."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for each in results:
        counts[each["project"]][each["outcome"].split(":")[0]] += 1
    heads = list(dict.fromkeys(each.split(":")[0] for each in OUTCOMES))
    lines = [["project", "kernels", *heads], ["---"] * (len(heads) + 2)]
    for project, found in [*sorted(counts.items()), ("all", sum(counts.values(), Counter()))]:
        lines.append([project, str(found.total()), *(str(found[head]) for head in heads)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("projects", nargs="*", help="names of projects, such as fbpic")
    parser.add_argument("--python", default=sys.executable, help="one that has numba-cuda")
    parser.add_argument("--store", action="store_true", help="keep the results")
    parser.add_argument("--fix-list", action="store_true", help="write the list of kernels anew")
    options = parser.parse_args()
    listed = json.loads(LIST.read_text(encoding="utf-8"))
    if options.fix_list:
        listed = fix_list(listed["projects"])
        LIST.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
        return
    for project, version in listed["projects"].items():
        if "/" not in project:
            download(project, version)
    chosen = [
        each
        for each in listed["kernels"]
        if each["measured"] and (not options.projects or each["project"] in options.projects)
    ]
    of_project: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for each in chosen:
        of_project[each["project"]].append(each)
    together = [
        kernels[first : first + KERNELS_TOGETHER]
        for kernels in of_project.values()
        for first in range(0, len(kernels), KERNELS_TOGETHER)
    ]
    with ThreadPoolExecutor(2) as workers:
        found = list(workers.map(lambda each: measured(options.python, each), together))
    results = with_what_was_read([each for part in found for each in part])
    for each in results:
        if each["outcome"] not in OUTCOMES[:3]:
            said = each.get("said") or each.get("missing") or each.get("trouble") or ""
            print(
                f"{each['project']} {each['file']} {each['kernel']}\n    {each['outcome']}: {said}"
            )
    print(table(results))
    if options.store:
        stored = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
        of = {each["sha"]: each for each in [*stored, *results]}
        RESULTS.write_text(json.dumps(list(of.values()), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
