"""Short ways to run a kernel that is given as text; and programs on Numba's own simulator."""

import os
import pickle
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from course_lib.emulator import KernelRejected, Profile, emulate, load_program
from course_lib.wording.findings import Finding

HEADER = """\
import math
import numpy as np
from numba import cuda, float32, float64, int32, int64, uint32, uint64

"""


def parts_of(file: str) -> dict[str, str]:
    """Head and text of each part of a file in this folder; a line with `=== ` begins one."""
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    parts = [part.split("\n", 1) for part in text.removeprefix("=== ").split("\n=== ")]
    assert len(parts) == len(dict(parts))
    return dict(parts)


def as_program(body: str, parameters: str = "out", before: str = "") -> str:
    """A whole file with one kernel called `kernel`; its body starts at `first_line_of_body`."""
    before = textwrap.dedent(before).strip("\n")
    body = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    return f"{HEADER}{before}\n@cuda.jit\ndef kernel({parameters}):\n{body}\n"


def line_of(program: str, fragment: str) -> int:
    """The number of the only line of `program` that holds `fragment`."""
    lines = [n for n, line in enumerate(program.splitlines(), 1) if fragment in line]
    assert len(lines) == 1, (fragment, lines)
    return lines[0]


def launch(program: str, grid, block, *arguments, shared_bytes: int = 0, **options) -> Profile:
    """Emulate the kernel called `kernel` of a program; findings are left for the caller."""
    emulation = emulate(load_program(program).kernel("kernel"), **options)
    if shared_bytes:
        return emulation[grid, block, 0, shared_bytes](*arguments)
    return emulation[grid, block](*arguments)


def run(body: str, grid, block, *arguments, parameters: str = "out", before: str = "", **options):
    """Emulate the body of a kernel."""
    return launch(as_program(body, parameters, before), grid, block, *arguments, **options)


def kernel_of(body: str, parameters: str, before: str = "", **names: Any) -> Any:
    """A kernel with this body that may use these objects."""
    kernel = load_program(as_program(body, parameters, before)).kernel("kernel")
    return replace(kernel, namespace={**kernel.namespace, **names})


def run_clean(body: str, grid, block, *arguments, **options) -> Profile:
    """Emulate a body that must have no error."""
    profile = run(body, grid, block, *arguments, **options)
    errors = [f"{each.code}: {each}" for each in profile.findings if each.severity == "error"]
    assert not errors, errors
    return profile


def codes(profile: Profile) -> list[str]:
    """The codes of a profile's errors, in order, each once."""
    return list(dict.fromkeys(each.code for each in profile.findings if each.severity == "error"))


def refusal(kernel: Any, *arguments, grid=1, block=1) -> Finding:
    """The only finding with which a kernel, or that of a program, is refused."""
    kernel = load_program(kernel).kernel("kernel") if isinstance(kernel, str) else kernel
    with pytest.raises(KernelRejected) as refused:
        emulate(kernel)[grid, block](*arguments)
    (found,) = refused.value.findings
    return found


def rejection_codes(program: str, *arguments, grid=1, block=32) -> list[str]:
    """The codes with which a program is refused; empty if it runs."""
    try:
        launch(program, grid, block, *arguments)
    except KernelRejected as refused:
        return [each.code for each in refused.findings]
    return []


# Reads what to launch, and writes all arguments as the launches have left them.
SIMULATED = """
import pickle, sys
import numpy as np
results = []
for text, kernel, grid, block, given in pickle.load(sys.stdin.buffer):
    names = {}
    exec(text, names)
    # one record by itself is written only where it is part of an array
    results.append([np.array([a])[0] if isinstance(a, np.void) else a for a in given])
    names[kernel][grid, block](*results[-1])
sys.stdout.buffer.write(pickle.dumps(results))
"""


def on_numbas_simulator(launches: list[tuple[str, str, Any, Any, Any]]) -> list[Any]:
    """What Numba's simulator leaves in the arguments of launches: text, kernel, grid, block, these.

    All in one process, which starts slowly: an environment variable chooses the simulator. Where
    Numba has none, the test is skipped.
    """
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", SIMULATED], input=pickle.dumps(launches), env=environment,
        capture_output=True, timeout=1500,
    )  # fmt: skip
    if b"No module named 'numba.cuda" in done.stderr:
        pytest.skip("this Numba has no simulator")
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    return pickle.loads(done.stdout)


def some_or_many(some: int, many: int, few: int = 0) -> list[Any]:
    """The values of a test's parameter `count`, with the marks of the sets that they belong to."""
    if os.environ.get("HYPOTHESIS_PROFILE") == "nightly":
        some = many
    marked = [
        pytest.param(some, marks=pytest.mark.slow),
        pytest.param(many, marks=pytest.mark.long),
    ]
    return [few, *marked] if few else marked
