"""Run the kernels of public projects on the emulator, which nobody here wrote.

    python benchmarks/language/public_projects.py --fix-list     write the list of kernels anew

The projects' files are downloaded into a folder of their own and stay there: the list
(`kernels_of_public_projects.json`) keeps their names, versions and places and the hashes of the
kernels' texts. It was written, and committed, before the emulator had seen one of them.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from cut_out import found_in

HERE = Path(__file__).resolve().parent
LIST = HERE / "kernels_of_public_projects.json"
FOLDER = Path("/tmp/public_projects")
SEED, CLOSURES = 17, 20


def download(project: str, version: str) -> None:
    """Fetch a project's wheel, and unpack those of its Python files that speak of Numba."""
    folder = FOLDER / "src" / project
    if folder.exists():
        return
    wheels = FOLDER / "dl" / project
    given = ["--no-deps", "--only-binary", ":all:", "--dest", str(wheels), f"{project}=={version}"]
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", *given], check=True)
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as packed:
            for name in packed.namelist():
                if name.endswith(".py") and b"numba" in packed.read(name):
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fix-list", action="store_true", help="write the list of kernels anew")
    options = parser.parse_args()
    listed = json.loads(LIST.read_text(encoding="utf-8"))
    if options.fix_list:
        listed = fix_list(listed["projects"])
        LIST.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
