"""What Jupyter would hold at the end is what is judged, or a person is asked to look."""

import contextlib
import random
import sys

import pytest
from every_case import every_case
from notebook_texts import code, handed_in
from sampling import few

from course_lib.grading.answers.search import find_answers
from course_lib.grading.records import FoundAnswer

ASKED = "blocks_per_sm"
# {name} is bound to a function, or to a number: {value} is an expression for it.
WAYS = r"""
{name} = {value}
{name}: object = {value}
{name}: object
unused, {name} = 0, {value}
unused, *{name} = 0, {value}
({name} := {value})
[({name} := each) for each in [{value}]]
[{name} for {name} in [{value}]]
if flag: {name} = {value}
if not flag: {name} = {value}
if True: {name} = {value}
for {name} in [{value}]: pass
for {name} in []: pass
for unused in [1]: {name} = {value}
while flag: {name} = {value}; break
try: {name} = {value}\nexcept Exception: pass
try: nowhere\nexcept NameError: {name} = {value}
try: nowhere\nexcept NameError as {name}: pass
with nothing({value}) as {name}: pass
match {value}:\n    case {name}: pass
match {{"a": {value}}}:\n    case {{"a": {name}}}: pass
match {{"a": {value}}}:\n    case {{**{name}}}: pass
match [{value}]:\n    case [*{name}]: pass
exec("{name} = {value}")
exec(f"{name} = {{"{value}"}}")
run = exec\nrun("{name} = {value}")
eval("({name} := {value})")
globals()["{name}"] = {value}
globals().update({name}={value})
vars()["{name}"] = {value}
globals().pop("{name}", None)
names = globals()\nnames["{name}"] = {value}
setattr(sys.modules[__name__], "{name}", {value})
def change():\n    global {name}\n    {name} = {value}
def change():\n    global {name}\n    {name} = {value}\nchange()
def change():\n    global {name}\n    def {name}(*all): return -1\ndef again(): change()\nagain()
class Change:\n    global {name}\n    {name} = {value}
class Change:\n    {name} = {value}
class {name}: pass
def other(default=({name} := {value})): pass
async def {name}(): pass
import math as {name}
from math import pi as {name}
del {name}
(lambda: exec("{name} = {value}", globals()))()
print("{name}" in globals(), globals().get("{name}"))
"""


def ways() -> list[str]:
    return [line.replace("\\n", "\n") for line in WAYS.strip().split("\n")]


def bound(way: str, name: str, version: int) -> str:
    value = str(version) if name == "LIMIT" else f"(lambda *all: {version})"
    return way.format(name=name, value=value)


def find(*texts: str) -> FoundAnswer:
    (answer,) = find_answers(handed_in([code(each) for each in texts]), [ASKED])
    return answer


class nothing:
    def __init__(self, value: object) -> None:
        self.value = value

    def __enter__(self) -> object:
        return self.value

    def __exit__(self, *_: object) -> None:
        return None


def at_the_end(cells: list[str]) -> object:
    """What calling the answer gives once all cells have run; a cell that raises ends early."""
    held: dict[str, object] = {"__name__": "a_notebook", "nothing": nothing, "sys": sys, "flag": 1}
    module = type(sys)("a_notebook")
    module.__dict__.update(held)
    sys.modules["a_notebook"] = module
    for text in cells:
        with contextlib.suppress(Exception):
            exec(compile(text, "cell", "exec"), module.__dict__)
    try:
        return module.__dict__[ASKED](None, 0, 0, 0)
    except Exception as error:
        return type(error).__name__


ANSWER = f"""
def {ASKED}(device, threads, registers, shared_bytes):
    return 100 * LIMIT + helper()
"""
SETUP = "LIMIT = 1\ndef helper(*all):\n    return 2"


def check(cells: list[str]) -> bool:
    """Whether a notebook is judged; it has to be as Python would have it at the end."""
    answer = find(*cells)
    if answer.needs_review:
        assert answer.problem and "cell " in answer.problem.lower()
        return False
    assert answer.problem is None
    assert at_the_end([answer.text]) == at_the_end(cells), answer.text
    return True


@every_case("name", [ASKED, "helper", "LIMIT"])
@every_case("place", [0, 1, 2, 3])
def test_one_more_binding_anywhere(name, place):
    for way in ways():
        cells = [SETUP, ANSWER, "print(1)"]
        cells.insert(place, bound(way, name, 7))
        check(cells)


@pytest.mark.parametrize("seed", few(range(30), 3))
def test_several_bindings(seed):
    draw = random.Random(seed)
    judged = 0
    for _ in range(40):
        cells = [SETUP, ANSWER]
        for version in range(draw.randint(1, 4)):
            name = draw.choice([ASKED, "helper", "LIMIT"])
            cells.insert(draw.randint(0, len(cells)), bound(draw.choice(ways()), name, version))
        judged += check(cells)
    assert judged  # not everything is a person's to look at


@every_case("texts", [
    [SETUP, ANSWER, "print(LIMIT, helper())"],
    [SETUP, ANSWER, "for number in range(3): print(number)"],
    [SETUP, ANSWER, SETUP],  # run again
    ["exec(open('own.py').read())", SETUP, ANSWER],  # what follows settles it
    ["import numpy as np", SETUP, ANSWER, "import numpy as np\nfrom math import floor"],
    [SETUP, ANSWER, "'helper' in globals(), vars(print)"],
    [SETUP, ANSWER, "!pip install cupy\n%timeit helper()\nfiles = !ls"],
], ids=str)  # fmt: skip
def test_what_changes_nothing_is_judged(texts):
    answer = find(*texts)
    assert answer.problem is None and answer.text


@every_case(("texts", "says"), [
    ([SETUP, ANSWER, "LIMIT = 3"], "LIMIT, which the answer uses, gets another meaning below"),
    ([SETUP, ANSWER, "%run other.py"], "cell 3, line 1, by `%run`"),
    ([SETUP, ANSWER, "\nfor LIMIT in range(3): pass"], "cell 3, line 2, in a loop"),
    ([SETUP, ANSWER, "helper = !ls"], "helper, which the answer uses, gets another meaning"),
    (["%%writefile own.py\n" + ANSWER, "from own import *"], "below a cell magic"),
    (["%%writefile own.py\n" + ANSWER, f"from own import {ASKED}"], "by an import from own"),
    ([f"exec('''{ANSWER}''')"], "line 1, by `exec`"),
    ([f"text = '''{ANSWER}'''", "exec(text)"], f"{ASKED} may be bound in cell 2, line 1, by"),
    (["LIMIT = 1\nif True:\n    def helper(): return 2", ANSWER], "inside `if`"),
    ([f"{ASKED} = eval('lambda *all: 1')"], "eval"),
], ids=str)  # fmt: skip
def test_what_a_person_is_asked_to_look_at(texts, says):
    answer = find(*texts)
    assert answer.needs_review and says in answer.problem
    assert find("# EXERCISE blocks_per_sm\n" + texts[0], *texts[1:]).needs_review
