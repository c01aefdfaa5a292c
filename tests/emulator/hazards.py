"""A catalogue of races and broken barriers, hazards.txt, each with its repaired twin, by families.

Both stand in one text, so that nothing but the mistake sets them apart:

    === barriers / a neighbour's cell is read / SHARED / block=64
    s[i] = x[i]                #: the other access
    #+ cuda.syncthreads()
    out[i] = s[63 - i]         #! RAW

A head names the family, the hazard, what its body starts with (a part above, or nothing: -) and
how it is launched; below `--- before it` stand device functions. A line that begins with `#+` is
there in the twin only, one that ends with `#-` in the hazard only. `#!` names the codes that must
be found on a line; `#:` marks the other line of a race. No error may be found on any other line.
Every kernel has the same parameters, see `arguments`.
"""

import re
import textwrap
from ast import literal_eval
from dataclasses import dataclass
from typing import Any

import numpy as np
from emulator_helpers import parts_of

from course_lib.emulator import Profile, emulate, load_program
from course_lib.wording.sentences import facts_of

CODES = {
    "RAW": "race-read-after-write", "WAR": "race-write-after-read", "WAW": "race-write-after-write",
    "DIVERGES": "barrier-divergence", "UNWRITTEN": "uninitialised-read",
}  # fmt: skip
HEADER = """\
import math
import numpy as np
from numba import cuda, float32, int32

"""
# Every hazard must be named, and every twin be clean, under all of these.
SCHEDULES = (("lockstep", 0), ("warps", 0), ("shuffled", 1), ("shuffled", 2))


@dataclass(frozen=True)
class Hazard:
    """A kernel body with a mistake, and how it is launched.

    Attributes:
        name: what goes wrong, in a few words.
        body: the kernel's body, with the marks that the module's text explains.
        before: what stands before the kernel: device functions, constants.
    """

    name: str
    body: str
    grid: Any = 2
    block: Any = 64
    shared_bytes: int = 0
    before: str = ""

    @property
    def source(self) -> str:
        """The hazard as a program."""
        return self._program(_lines(self.body, twin=False), _lines(self.before, twin=False))

    @property
    def twin(self) -> str:
        """The repaired program."""
        return self._program(_lines(self.body, twin=True), _lines(self.before, twin=True))

    def _program(self, body: list[str], before: list[str]) -> str:
        head = "\n".join([*before, "", "@cuda.jit", "def kernel(out, x, count):"])
        return HEADER + head + "\n" + textwrap.indent("\n".join(body), "    ") + "\n"

    @property
    def expected(self) -> set[tuple[str, int]]:
        """Code and line of everything that must be found."""
        return {
            (CODES[short], number)
            for number, line in enumerate(self.source.splitlines(), 1)
            if (mark := re.search(r"#! ([A-Z ]+)", line))
            for short in mark[1].split()
        }

    @property
    def marked(self) -> set[int]:
        """The lines that a race may name."""
        lines = enumerate(self.source.splitlines(), 1)
        return {number for number, line in lines if "#:" in line or "#!" in line}


def _lines(text: str, twin: bool) -> list[str]:
    lines = textwrap.dedent(text).strip("\n").splitlines()
    if not twin:
        return [line for line in lines if not line.lstrip().startswith("#+")]
    kept = [line for line in lines if not line.rstrip().endswith("#-")]
    return [re.sub(r"^(\s*)#\+ ?", r"\1", line) for line in kept]


def catalogue() -> dict[str, Hazard]:
    """All hazards by family and name."""
    starts, found = {"-": ""}, {}
    for head, lines in parts_of("hazards.txt").items():
        family, *rest = head.split(" / ")
        if not rest:
            starts[family] = lines + "\n"
            continue
        name, start, options = rest + ["-", ""][len(rest) - 1 :]
        body, _, before = lines.partition("\n--- before it\n")
        launch = {key: literal_eval(n) for key, n in (each.split("=") for each in options.split())}
        found[f"{family}-{name}"] = Hazard(name, starts[start] + body, before=before, **launch)
    return found


def arguments() -> tuple[np.ndarray, ...]:
    """out (zeros), x (1, 2, 3, …) and count (whole numbers, zeros)."""
    return (
        np.zeros(1024, np.float32),
        np.arange(1, 1025, dtype=np.float32),
        np.zeros(64, np.int32),
    )


def run(hazard: Hazard, program: str, schedule: str, seed: int) -> tuple[Profile, np.ndarray]:
    """Emulate a program of this hazard; the profile, and all that it wrote."""
    emulation = emulate(load_program(program).kernel("kernel"), schedule=schedule, seed=seed)
    arrays = arguments()
    profile = emulation[hazard.grid, hazard.block, 0, hazard.shared_bytes](*arrays)
    return profile, np.concatenate([np.ravel(array).astype(np.float64) for array in arrays])


def faults_of(hazard: Hazard) -> list[str]:
    """In which way the hazard is not named rightly; empty if it is."""
    faults = []
    for schedule, seed in SCHEDULES:
        profile, _ = run(hazard, hazard.source, schedule, seed)
        errors = [each for each in profile.findings if each.severity == "error"]
        found = {(each.code, each.line) for each in errors}
        together = (facts_of(each.message).get("ended_by_it", ()) for each in errors)
        found |= {(code, line) for races in together for code, _, line in races}
        where = f"{schedule} {seed}"
        faults += [f"{where}: not found: {code} in line {line}" for code, line in
                   sorted(hazard.expected - found)]  # fmt: skip
        faults += [f"{where}: not there: {code} in line {line}" for code, line in
                   sorted(found - hazard.expected)]  # fmt: skip
        faults += [
            f"{where}: the other line is not {each.other_line}"
            for each in errors
            if each.other_line is not None and each.other_line not in hazard.marked
        ]
    return faults


def faults_of_twin(hazard: Hazard) -> list[str]:
    """What is wrong with the repaired twin; empty if nothing is."""
    faults, results = [], []
    for schedule, seed in SCHEDULES:
        profile, result = run(hazard, hazard.twin, schedule, seed)
        results.append(result)
        faults += [
            f"{schedule} {seed}: {each.code} in line {each.line}: {each.message}"
            for each in profile.findings
            if each.severity == "error"
        ]
        if not np.array_equal(result, results[0]):
            faults.append(f"{schedule} {seed}: another result than in lockstep")
    untouched = np.concatenate([np.ravel(array) for array in arguments()])
    if np.array_equal(results[0], untouched):
        faults.append("nothing was written")
    return faults
