"""Races that do no harm are no errors, and what looks like them and does harm is one."""

import numpy as np
import pytest
from emulator_helpers import HEADER, launch
from every_case import every_case
from sampling import few

N = 64  # threads of a block

GUIDE = """
def k(out, x):
    i = cuda.grid(1)
    old = out[0]
    while True:
        assumed = old
        old = cuda.atomic.cas(out, 0, assumed, assumed + x[i])
        if old == assumed:
            break
"""
COMPARED = """
def k(out, x):
    i = cuda.grid(1)
    done = False
    while not done:
        old = out[0]
        done = cuda.atomic.compare_and_swap(out, old, old + x[i]) == old
"""
MAXIMUM = """
def k(out, x):
    i = cuda.grid(1)
    old = out[0]
    while x[i] > old:
        seen = cuda.atomic.cas(out, 0, old, x[i])
        if seen == old:
            break
        old = seen
"""
IN_A_FUNCTION = """
@cuda.jit(device=True)
def add(a, k, v):
    was = a[k]
    now = was + v
    got = cuda.atomic.cas(a, k, was, now)
    while got != was:
        was = got
        now = was + v
        got = cuda.atomic.cas(a, k, was, now)

def k(out, x):
    add(out, 0, x[cuda.grid(1)])
"""
PLACE = """
def k(out, x):
    i = cuda.grid(1)
    old = out[0]
    while old < 32:
        seen = cuda.atomic.cas(out, 0, old, old + 1)
        if seen == old:
            x[old] = i
            break
        old = seen
"""
TESTED_FIRST = """
def k(out, x):
    i = cuda.grid(1) % 8
    if out[i] == 0:
        if cuda.atomic.cas(out, i, 0, 7) == 0:
            x[i + 8] = 1
"""
IN_SHARED = """
def k(out, x):
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    old = s[0]
    while True:
        seen = cuda.atomic.cas(s, 0, old, old + x[t])
        if seen == old:
            break
        old = seen
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(out, 0, s[0])
"""
CHECKED = (GUIDE, COMPARED, MAXIMUM, IN_A_FUNCTION, PLACE, TESTED_FIRST, IN_SHARED)
UNCHECKED = {
    "nobody asks what the swap found": """
def k(out, x):
    i = cuda.grid(1)
    old = out[0]
    cuda.atomic.cas(out, 0, old, old + x[i])
""",
    "it is stored before": GUIDE.replace("    while", "    x[i] = old\n    while"),
    "it decides before": GUIDE.replace("    while",
        "    if old == 5:\n        x[i] = 0\n    while"),
    "what is made of it is stored before": GUIDE.replace("    while",
        "    y = old * 2\n    x[i] = y\n    while"),
    "another value is expected": PLACE.replace("0, old, old + 1", "0, 5, old + 1"),
    "it is no swap": MAXIMUM.replace("cas(out, 0, old, ", "add(out, 0, "),
}  # fmt: skip


def found(text: str, blocks: int, *arguments, schedule: str = "lockstep"):
    program = HEADER + text.replace("def k(", "@cuda.jit\ndef kernel(")
    return launch(program, blocks, N, *arguments, schedule=schedule).findings


def numbers() -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(8, np.int32), np.arange(1, 129, dtype=np.int32)


@pytest.mark.parametrize("text", CHECKED)
@pytest.mark.parametrize(("blocks", "schedule"), few([(2, "shuffled"), (1, "lockstep")]))
def test_a_plain_read_that_a_swap_checks_is_clean(text: str, blocks: int, schedule: str) -> None:
    assert [str(each) for each in found(text, blocks, *numbers(), schedule=schedule)] == []


@pytest.mark.parametrize("name", UNCHECKED)
def test_a_plain_read_that_nothing_checks_is_an_error(name: str) -> None:
    codes = [(each.code[:5], each.severity) for each in found(UNCHECKED[name], 2, *numbers())]
    assert ("race-", "error") in codes


LEVELS = """
def k(dist, begin, to, level, changed, other):
    v = cuda.grid(1)
    if v < dist.size and dist[v] == level:
        for e in range(begin[v], begin[v + 1]):
            u = to[e]
            if dist[u] == -1:
                dist[u] = level + 1
                changed[0] = 1
"""
NEXT = LEVELS.replace("dist[u] = level + 1", "dist[u] = dist[v] + 1")
RETURNS = """
def k(dist, begin, to, level, changed, other):
    v = cuda.grid(1)
    if v >= dist.size or dist[v] != level:
        return
    behind = level + 1
    for e in range(begin[v], begin[v + 1]):
        u = to[e]
        d = dist[u]
        if d >= 0:
            continue
        dist[u] = behind
        cuda.atomic.max(changed, 0, 1)
"""
FAR = NEXT.replace("dist[u] == -1", "dist[u] < 0").replace("dist[v] == level", "level == dist[v]")
BOTTOM_UP = """
def k(dist, begin, to, level, changed, other):
    v = cuda.grid(1)
    if v < dist.size and dist[v] == -1:
        for e in range(begin[v], begin[v + 1]):
            if dist[to[e]] == level:
                dist[v] = level + 1
                changed[0] = 1
                break
"""
MARKS = (LEVELS, NEXT, RETURNS, FAR, BOTTOM_UP)
NO_MARKS = {
    "no test before it": LEVELS.replace("if dist[u] == -1:", "if to[e] >= 0:"),
    "it is the level itself": LEVELS.replace("dist[u] = level + 1", "dist[u] = level"),
    "each finder is marked": LEVELS.replace("changed[0] = 1", "other[v] = 1"),
    "the first one ends it": LEVELS + "                break\n",
    "what is not reached is looked for": LEVELS.replace("dist[v] == level:", "dist[v] == -1:"),
    "levels in between": LEVELS.replace("dist[v] == level:", "dist[v] >= level:"),
    "it is counted": LEVELS.replace("changed[0] = 1", "cuda.atomic.add(changed, 0, 1)"),
    "the others are counted": LEVELS + "            else:\n                other[e] = 1\n",
    "each its own": LEVELS.replace("dist[u] = level + 1", "dist[u] = level + 1 + v"),
    "it is read as a number": LEVELS + "    if v < 64:\n        other[v] = dist[63 - v]\n",
    "a flag": """
def k(dist, begin, to, level, changed, other):
    v = cuda.grid(1)
    if v == 0 and dist[0] == -1:
        dist[0] = 1
    if dist[0] == 1:
        other[v] = 1
""",
}


def graph(level: int) -> list:
    """60 nodes with 4 edges each; every other one is at this level."""
    begin = np.arange(0, 4 * 60 + 1, 4).astype(np.int32)
    to = np.random.default_rng(1).integers(0, 60, 4 * 60).astype(np.int32)
    dist = np.where(np.arange(60) % 2, level, -1).astype(np.int32)
    return [dist, begin, to, level, np.zeros(1, np.int32), np.zeros(240, np.int32)]


@pytest.mark.parametrize("text", MARKS)
@pytest.mark.parametrize("level", [0, 3])
def test_a_search_by_levels_has_warnings_at_most(text: str, level: int) -> None:
    races = [each for each in found(text, 1, *graph(level)) if each.code.startswith("race-")]
    assert races and {each.severity for each in races} == {"warning"}, races


@pytest.mark.parametrize("name", NO_MARKS)
def test_what_is_no_search_by_levels_is_an_error(name: str) -> None:
    arguments = graph(0)
    if name == "a flag":
        arguments[0][:] = -1
    races = [each for each in found(NO_MARKS[name], 1, *arguments) if each.code[:5] == "race-"]
    assert "error" in {each.severity for each in races}, races


SAME_VALUE = {
    "an argument": "out[0] = n",
    "an element of another array": "out[0] = x[n]",
    "by a variable": "j = n\n    out[0] = x[j]",
    "by a variable, and the argument is another one later": (
        "j = n\n    for k in range(2):\n        out[0] = x[j]\n        n = i + k\n"
        "    out[1 + i % 7] = 0"
    ),
    "before the argument is another one": "out[0] = n + 1\n    n = i",
}
OTHER_VALUE = {
    "the argument is another one already": "n = i\n    j = n\n    out[0] = x[j]",
    "in a later turn": "for k in range(2):\n        j = n\n        out[0] = x[j]\n        n = i",
    "a variable that is set twice": "j = n\n    j = i\n    out[0] = x[j]",
    "what another thread may have stored": "out[0] = out[1] + n\n    n = i\n    out[1] = 4",
    "a sum of two lines": "out[0] = n\n    out[0] = n + 1",
}


@every_case(("body", "severity"), [
    *((body, "warning") for body in SAME_VALUE.values()),
    *((body, "error") for body in OTHER_VALUE.values()),
], ids=[*SAME_VALUE, *OTHER_VALUE])  # fmt: skip
def test_writes_of_one_value_are_a_warning(body: str, severity: str) -> None:
    text = f"def k(out, x, n):\n    i = cuda.grid(1)\n    {body}\n"
    out, x = np.zeros(8, np.int32), np.arange(128, dtype=np.int32)
    races = [each for each in found(text, 1, out, x, 5) if each.cell == "out[0]"]
    assert races and (severity in {each.severity for each in races}), races
    assert severity == "error" or len({each.severity for each in races}) == 1
