"""Plain functions: what the walk returns is what Python returns, and no text can harm."""

import math
import textwrap

import pytest
from counted_work import counted_calls
from emulator_helpers import parts_of
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st

from course_lib.emulator import Budget, KernelRejected, Record, load_program
from course_lib.emulator.language.parse import plain_from
from course_lib.emulator.plain.interpreter import call as call_plain
from course_lib.wording.sentences import Line, facts_of


def walked(text: str, *arguments: object, name: str = "f", budget: Budget | None = None) -> object:
    return call_plain(load_program(textwrap.dedent(text)).kernel(name), arguments, budget)


def by_python(text: str, *arguments: object, name: str = "f") -> object:
    """The same text run by Python; only for texts that stand in this file or are drawn here."""
    names: dict[str, object] = {}
    exec(textwrap.dedent(text), names)
    return names[name](*arguments)  # type: ignore[operator]


def refused(text: str, *arguments: object, budget: Budget | None = None):
    with pytest.raises(KernelRejected) as stop:
        walked(text, *arguments, budget=budget)
    [found] = stop.value.findings
    return found


def same(left: object, right: object) -> bool:
    """Equal, of the same type, in every part; NaN is NaN."""
    if type(left) is not type(right):
        return False
    if isinstance(left, (tuple, list)):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right or (isinstance(left, float) and math.isnan(left) and math.isnan(right))


PROGRAMS = parts_of("plain_programs.txt")


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("number", [1, 2, 5, 9])
def test_programs_give_what_python_gives(text, number, capsys):
    assert same(walked(text, number), by_python(text, number))


names = st.sampled_from(["a", "b", "c"])
literals = st.one_of(
    st.integers(-20, 300).map(str), st.sampled_from(["0.5", "2.0", "-1.25", "True", "False", "1e3"])
)
BINARY = ["+", "-", "*", "/", "//", "%", "<<", ">>", "&", "|", "^"]
CALLS = ["abs", "int", "float", "round", "bool", "math.ceil", "math.floor", "math.fabs"]
COMPARE = ["<", "<=", ">", ">=", "==", "!="]


def combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(BINARY), inner),
        st.builds("({} ** {})".format, inner, st.sampled_from(["0", "1", "2", "3", "0.5"])),
        st.builds("({}{})".format, st.sampled_from(["-", "+", "not "]), inner),
        st.builds("({0} {3} {1} {4} {2})".format, inner, inner, inner,
                  st.sampled_from(COMPARE), st.sampled_from(COMPARE)),
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("{}({}, {})".format, st.sampled_from(["min", "max"]), inner, inner),
        st.builds("{}({})".format, st.sampled_from(CALLS), inner),
        st.builds("sum(({}, {}))".format, inner, inner),
        st.builds("({}, {})[{}]".format, inner, inner, st.sampled_from(["0", "1", "-1", "a"])),
    )  # fmt: skip


expressions = st.recursive(st.one_of(names, literals), combined, max_leaves=12)


def inside(body: str) -> str:
    return textwrap.indent(body, "    ")


def nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = inner.map(inside)
    loop = "while c > 0 and a != b:\n    c = c // 2 - 1\n{}"
    return st.one_of(
        st.builds("{}\n{}".format, inner, inner),
        st.builds("if {}:\n{}\nelse:\n{}".format, expressions, body, body),
        st.builds("for {} in range({}):\n{}".format, names, st.integers(0, 4), body),
        st.builds(loop.format, body),
    )


assignments = st.one_of(
    st.builds("{} = {}".format, names, expressions),
    st.builds("{} {}= {}".format, names, st.sampled_from(["+", "-", "*", "//"]), expressions),
    st.builds("{}, {} = {}, {}".format, names, names, expressions, expressions),
)
statements = st.recursive(assignments, nested, max_leaves=6)
numbers = st.one_of(st.integers(-5, 40), st.sampled_from([0.25, 3.5, True]))

# What Python raises, and the finding that says so.
AS_FINDING = {
    ZeroDivisionError: {"wrong-formula"},
    TypeError: {"wrong-formula", "unsupported"},  # a complex number is met here before Python minds
    ValueError: {"wrong-formula"},
    OverflowError: {"numerical-overflow", "not-allowed"},
    IndexError: {"out-of-bounds-read"},
}


def assert_walk_is_python(text: str, arguments: tuple[object, ...]) -> None:
    """The same value, or a finding where Python raises; what grows too far is refused."""
    try:
        found = walked(text, *arguments, budget=Budget(steps=20_000))
    except KernelRejected as stop:
        code = stop.findings[0].code
        if code in ("not-allowed", "unsupported", "timeout"):
            return  # beyond the bounds, or a complex number
        with pytest.raises(tuple(AS_FINDING)) as raised:
            by_python(text, *arguments)
        assert code in AS_FINDING[raised.type]
        return
    assert same(found, by_python(text, *arguments))


@given(expressions, numbers, numbers, numbers)
def test_drawn_expressions_give_what_python_gives(expression, a, b, c):
    assert_walk_is_python(f"import math\ndef f(a, b, c):\n    return {expression}", (a, b, c))


@given(statements, numbers, numbers, numbers)
def test_drawn_programs_give_what_python_gives(body, a, b, c):
    text = "import math\ndef f(a, b, c):\n" + textwrap.indent(body, "    ") + "\n    return a, b, c"
    assert_walk_is_python(text, (a, b, c))


DEVICE = Record("device", {"warps": 48, "name": "A6000"})


def test_a_record_is_a_table_of_names():
    assert walked("def f(d): return d.warps * 2, d.name", DEVICE) == (96, "A6000")
    found = refused("def f(d):\n    return d.warp", DEVICE)
    assert (found.code, found.line) == ("wrong-formula", 2)
    assert facts_of(found.hint) == {"near": "warps"}


@every_case("expression", [
    "d.__class__", "d.values", "d._values", "d.__init__.__globals__", "().__class__",
    "f.__globals__", "f.__code__", "math.__loader__", "'{0.__class__}'.format(d)", "f'{d}'",
    "f'{d.__class__}'", "str(d)", "d.warps.__class__", "type(d)", "vars(d)", "getattr(d, 'warps')",
    "__import__('os')", "open('x')", "eval('1')", "exec('1')", "globals()", "__builtins__",
    "compile('1', '', 'eval')", "(lambda: 0).__closure__", "print.__self__", "min.__self__",
    "[].__class__.__mro__", "input()", "breakpoint()", "course_lib.start()", "device('A6000')",
    "os.getcwd()", "d.warps.real.__class__",
])  # fmt: skip
def test_there_is_no_way_to_an_object(expression):
    head = "import math\nimport course_lib\nfrom course_lib.devices import device\n"
    found = refused(f"{head}def f(d):\n    return {expression}\n", DEVICE)
    assert found.code in ("not-allowed", "unsupported", "wrong-formula", "uninitialised-read")
    if "open" in expression or "__" in expression:
        assert found.code in ("not-allowed", "unsupported")


def test_a_record_holds_plain_values_only():
    with pytest.raises(ValueError, match=r"device\.cls is not a plain number"):
        Record("device", {"cls": int})
    with pytest.raises(ValueError, match="no argument for a plain function"):
        walked("def f(x): return x", object())
    with pytest.raises(ValueError, match="no argument for a plain function"):
        walked("def f(x): return x", [1])


BOMBS = [
    "10 ** 10 ** 10", "(-3) ** 10 ** 9", "pow(7, 10 ** 9)", "1 << 10 ** 10",
    "[n for n in [2 ** 200] for _ in range(3) if n ** 2]", "'x' * 10 ** 10", "10 ** 10 * 'x'",
    "[0] * 10 ** 10", "(0,) * 10 ** 9", "((0,) * 5000,) * 5000", "list(range(10 ** 12))",
    "sorted(range(10 ** 12))", "sum(range(10 ** 12))", "max(range(10 ** 12))",
    "all(range(1, 10 ** 12))", "0.5 in range(10 ** 15)", "round(5, -(10 ** 9))",
    "f'{1:>1000000000}'", "f'{1.0:.999999999}'", "f'{1:{10 ** 9}}'", "'%1000000000d' % 1",
    "[a for a in range(10**4) for b in range(10**4) for c in range(10**4)]",
    "[0 for _ in range(10 ** 18)]", "int('9' * 5000)", "int(1e300)", "f(0)", "g(1)",
    "(lambda x: x(x))(lambda x: x(x))",
]  # fmt: skip


MOST_CALLS = 2_000_000  # 0.9 million at most, in November 2026


@pytest.mark.slow
@every_case("expression", BOMBS)
def test_no_text_can_exhaust_the_machine(expression):
    text = f"def g(n):\n    return f(n) + 1\ndef f(n):\n    return {expression}\n"
    with counted_calls(MOST_CALLS):
        found = refused(text, 0, budget=Budget(steps=100_000))
    assert found.code in ("not-allowed", "unsupported", "timeout", "wrong-formula")
    assert found.line in (2, 4)


LOOPS = [
    "s = set()\nk = 0\nwhile True:\n    s.add(k)\n    k += 1",
    "s = set()\nk = 0\nwhile True:\n    s.add(k * (2**61 - 1))\n    k += 1"
    "\n    if len(s) > 900:\n        s = set()",
    "t = (1,)\nwhile True:\n    t = t + t", "t = ()\nwhile True:\n    t = (t, t)",
    "t = []\nwhile True:\n    t.append(1)", "t = [1]\nfor each in t:\n    t.append(each)",
    "t = []\nt.append(t)", "t = 'x'\nwhile True:\n    t += t", "t = 3\nwhile True:\n    t = t * t",
    "t = tuple(range(9000))\nwhile True:\n    t == t",
    "t = tuple(range(4000))\nwhile True:\n    t + t",
]  # fmt: skip


@pytest.mark.parametrize("call", ['n.startswith("1")', '"1".startswith(n)', '"1".startswith()'])
def test_startswith_is_for_a_text_and_one_beginning(call: str) -> None:
    found = refused(f"def f(n):\n    return {call}\n", 1)
    assert (found.code, found.line) == ("unsupported", 2)


@pytest.mark.parametrize("body", LOOPS)
def test_no_loop_can_exhaust_the_machine(body):
    with counted_calls(MOST_CALLS):
        found = refused("def f():\n" + inside(body), budget=Budget(steps=30_000))
    assert found.code in ("not-allowed", "unsupported", "timeout")


def test_a_loop_without_end_is_named():
    found = refused(
        """
        def f(n):
            total = 0
            while n > 0:
                for i in range(3):
                    total += i
            return total
        """,
        1,
        budget=Budget(steps=10_000),
    )
    assert (found.code, found.line) == ("timeout", 4)
    assert facts_of(found.message)["line"] == Line(4)


def test_the_budget_of_steps_is_the_callers():
    text = "def f(n):\n    while n > 0:\n        n = n - 1\n    return n"
    assert walked(text, 1000) == 0
    assert refused(text, 1000, budget=Budget(steps=500)).code == "timeout"


def test_deep_nesting_of_a_text_is_refused():
    for deep in ("-" * 500 + "1", "(" * 150 + "1" + ",)" * 150, "1 + " * 300 + "1"):
        assert refused(f"def f():\n    return {deep}").code in ("not-allowed", "timeout")


@every_case(
    "line, code",
    [
        ("return 1 // 0", "wrong-formula"), ("return (1, 2)[2]", "out-of-bounds-read"),
        ("return [1, 2]['a']", "wrong-formula"), ("return undefined + 1", "uninitialised-read"),
        ("return math.exp(1000)", "numerical-overflow"), ("return len(3)", "wrong-formula"),
        ("return 'a' + 1", "wrong-formula"), ("return 3(4)", "wrong-formula"),
        ("return g(1, 2)", "wrong-formula"), ("return min(3)", "wrong-formula"),
        ("a, b = (1, 2, 3)", "wrong-formula"), ("raise ValueError", "wrong-formula"),
        ("assert False", "wrong-formula"), ("later = later + 1", "uninitialised-read"),
        ("n.warps = 3", "not-allowed"), ("import os", "not-allowed"),
        ("return {1: 2}", "unsupported"), ("return {1} | {2}", "unsupported"),
        ("return {(1, 2)}", "unsupported"),
        ("a = []; a.pop()", "out-of-bounds-read"), ("return (1, 2).pop()", "unsupported"),
        ("a = []; a.append(a)", "unsupported"), ("a = [0]; a[0] = (a,)", "unsupported"),
        ("return [[[1]]]", "unsupported"),
        ("s = {1}; a = [s.add(k + 1) for k in s]", "wrong-formula"), ("return 1j", "unsupported"),
        ("return b'x'", "unsupported"), ("return (-8) ** 0.5", "unsupported"),
        ("return np.tan(0.5)", "unsupported"), ("return LIST[0]", "unsupported"),
        ("return max([1], key=abs)", "unsupported"), ("return 'a'.upper()", "unsupported"),
        ("global x", "unsupported"), ("with n: pass", "unsupported"),
        ("try: pass\n    except ValueError: pass", "unsupported"), ("yield 1", "unsupported"),
        ("del n", "unsupported"), ("class A: pass", "unsupported"),
        ("return (x := 3)", "unsupported"), ("return max(*[1, 2])", "unsupported"),
    ],
)  # fmt: skip
def test_a_mistake_is_found_at_its_line(line, code):
    text = "import math\nimport numpy as np\nLIST = [1, 2]\ndef g(x):\n    return x\n"
    found = refused(f"{text}def f(n):\n    {line}\n", 1)
    assert (found.code, found.line) == (code, 7)
    assert found.severity == "error"


SCALE = 3


def helper(number: int) -> int:
    return number * SCALE


def uses_its_surroundings(number: int) -> int:
    return helper(number) + math.ceil(number / 2)


def test_a_live_function_is_read_with_its_helpers():
    assert call_plain(plain_from(uses_its_surroundings), [5]) == uses_its_surroundings(5) == 18
