"""A read of what nobody wrote is an error where a result depends on it, and else a warning."""

import numpy as np
import pytest
from emulator_helpers import run
from every_case import every_case

START = """\
s = cuda.shared.array(4, {kind})
i = cuda.threadIdx.x
if i < 3:
    s[i] = i
cuda.syncthreads()
"""
HARMLESS = {
    "not stored": "x = s[i] * 2\nif i < 3:\n    out[i] = x",
    "summed, not stored": "x = s[i]\nx += s[i]\nif i < 3:\n    out[i] = x",
    "stored in another lane's local array": (
        "l = cuda.local.array(2, float32)\nl[0] = s[i]\nl[1] = 1\nif i < 3:\n    out[i] = l[0]"
    ),
    "not chosen": "x = s[i]\nout[i] = x if i < 3 else 0",
    "a variable": "if i < 3:\n    x = 1\ny = x + 1\nif i < 3:\n    out[i] = y",
    "written over": "x = s[i]\nx = 3\nout[i] = x",
}
REACHING = {
    "stored": "out[i] = s[i]",
    "summed": "x = s[i] + 1\nout[i] = x",
    "of another lane": "out[i] = s[(i + 1) % 4]",
    "decides": "if s[i] > 100:\n    out[i] = 1",
    "decides downwards": "if s[i] < -100:\n    out[i] = 1",
    "is a maximum": "out[i] = max(s[i], 1)",
    "is a minimum": "out[i] = min(s[i], 1)",
    "is not": "out[i] = not s[i]",
    "counts a loop": "for j in range(s[i] % 7):\n    out[i] = j",
    "is an index": "out[int(s[i]) % 4] = i + 5",
    "through memory": (
        "t = cuda.shared.array(4, float32)\nt[i] = s[i]\ncuda.syncthreads()\nout[i] = t[3]"
    ),
    "by an atomic": "cuda.atomic.add(s, i, 1)\nout[i] = s[i]",
    "a variable": "if i < 3:\n    x = 1\nout[i] = x",
    "is printed": "print(s[i])",
}  # fmt: skip


def severities(body: str, kind: str) -> set[str]:
    out = np.zeros(4, np.float32)
    profile = run(START.format(kind=kind) + body, 1, 4, out)
    return {each.severity for each in profile.findings if each.code == "uninitialised-read"}


@every_case("kind", ["float32", "int64", "uint32"])
@every_case("name", HARMLESS)
def test_what_reaches_no_result_is_a_warning(name: str, kind: str) -> None:
    assert severities(HARMLESS[name], kind) <= {"warning"}
    if name not in ("a variable", "not chosen"):
        assert severities(HARMLESS[name], kind) == {"warning"}


@pytest.mark.parametrize("kind", ["float32", "int32"])
@pytest.mark.parametrize("name", REACHING)
def test_what_reaches_a_result_is_an_error(name: str, kind: str) -> None:
    if (name, kind) == ("counts a loop", "float32"):
        pytest.skip("range takes no float")
    assert severities(REACHING[name], kind) == {"error"}


def test_each_line_is_judged_by_itself() -> None:
    body = START.format(kind="float32") + "x = s[i]\ny = s[i]\nout[i] = y"
    profile = run(body, 1, 4, np.zeros(4, np.float32))
    found = {each.line: each.severity for each in profile.findings}
    first = min(found)
    assert found == {first: "warning", first + 1: "error"}


@pytest.mark.parametrize("schedule", ["lockstep", "warps", "shuffled"])
def test_under_every_schedule(schedule: str) -> None:
    body = (START.format(kind="float32") + HARMLESS["not stored"]).replace("< 3", "< 40")
    profile = run(
        body.replace("array(4", "array(64"), 1, 64, np.zeros(64, np.float32), schedule=schedule
    )
    assert {each.severity for each in profile.findings} == {"warning"}
