"""Facts before sentences: each reader is told what is meant, and nothing is read back."""

import ast
import copy
import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import findings_page
import pytest
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st
from library_trees import LIBRARY, nodes_of, trees
from templates_of_sentences import CALLS, Followed, followed

from course_lib.wording import words
from course_lib.wording.errors import PlainError
from course_lib.wording.findings import CODES
from course_lib.wording.sentences import Index, in_words, say, told, whole, with_values


def test_each_reader_is_told_what_is_meant_for_them():
    index = Index(70_000, last=9)
    inner = say("A at {index}", index=index)
    said = say("it reads {seen}, {right}.", graded="it reads {seen}.", seen=inner, right="not 3")
    assert said == told(said, "instructor") == "it reads A at index 70000, not 3."
    assert told(said, "graded student") == "it reads A at an index far outside."
    assert told("plain", "graded student") == "plain"
    said = with_values("the sum is wrong.", "C[0] is 7.")
    assert said == told(said, "instructor") == "the sum is wrong. C[0] is 7."
    assert told(said, "graded student") == "the sum is wrong."
    assert with_values("the sum is wrong.", "") == "the sum is wrong."
    assert whole("thread 3 waits.", "student") == "Thread 3 waits."
    assert whole(say("{cell} is read.", cell="sA[3]"), "instructor") == "sA[3] is read."


@pytest.mark.parametrize(("index", "far"), [
    (Index(1044, last=9), False),  # two arrays and a block
    (Index(1045, last=9), True),
    (Index(-1045, last=9), True),
    (Index(100_000), False),
    (Index(100_001), True),
])  # fmt: skip
def test_only_an_index_far_outside_is_withheld(index: Index, far: bool) -> None:
    assert index.told("student") == f"index {index.number}"
    assert (index.told("graded student") == "an index far outside") == far
    assert Index(10**7, name="flat index").told("graded student") == "a flat index far outside"


@given(st.text())
def test_text_of_an_answer_is_no_template(text: str) -> None:
    said = say("It calls {name}.", name=text)
    assert said == f"It calls {text}." == told(said, "graded student")
    assert in_words([text, f"{text}!", text]).told("graded student") == f"{text}!"


def test_a_sentence_can_be_copied_and_sent() -> None:
    said = say("at {index}", index=Index(10**6, last=9), graded="far from {index}")
    for again in (copy.deepcopy(said), pickle.loads(pickle.dumps(said))):
        assert (again, again.told("graded student")) == (said, said.told("graded student"))


def test_no_sentence_ends_where_its_line_does() -> None:
    """A string below another statement, meant to go on with its sentence, would be lost."""
    for path in trees():
        lost = [node.lineno for node in lost_strings(nodes_of(path))]
        assert not lost, f"{path.name}, line {lost[0]}: put the parts of this sentence in brackets"


def lost_strings(nodes: Iterable[ast.AST]) -> Iterator[ast.Expr]:
    """The strings that stand alone and are no docstrings."""
    for node in nodes:
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            for statement in block[1:] if isinstance(block, list) else ():
                is_alone = isinstance(statement, ast.Expr)
                if is_alone and isinstance(getattr(statement.value, "value", None), str):
                    yield statement


@every_case(("made", "wanted"), [
    (lambda: words.counted(1, "row"), "1 row"),
    (lambda: words.counted(1024, "pass"), "1,024 passes"),
    (lambda: words.joined(["A"]), "A"),
    (lambda: words.joined("AB"), "A and B"),
    (lambda: words.joined("ABC"), "A, B and C"),
    (lambda: words.span("step", [3]), "step 3"),
    (lambda: words.span("step", [3, 4, 5]), "steps 3 to 5"),
    (lambda: words.at_end("last", 1, "row"), "the last row"),
    (lambda: words.at_end("first", 3, "step"), "the first 3 steps"),
    (lambda: words.element("C", [2, 3]), "C[2, 3]"),
    (lambda: words.element("", [4]), "[4]"),
])  # fmt: skip
def test_it_reads_like_this(made: Callable[[], str], wanted: str) -> None:
    assert made() == wanted


def test_a_notebook_shows_the_sentence_and_no_traceback(capsys, monkeypatch, tmp_path, new_shell):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = new_shell()
    shell.user_ns["error"] = PlainError("Only this sentence.")
    shell.run_cell("raise error")
    shown = capsys.readouterr()
    assert "Only this sentence." in shown.out + shown.err
    assert "Traceback" not in shown.out + shown.err


SPEAKS = re.compile(r"\b(message|hint|say)\b")
SOURCES = [path for path in trees() if SPEAKS.search(path.read_text(encoding="utf-8"))]
WORDS = {"message", "hint"}
READS_TEXT = {"search", "match", "fullmatch", "findall", "finditer", "split", "sub"}
# Questions and their hints are no findings; what is written of one at the rim is read by people.
NO_FINDINGS = ("questions/", "quiz.py")


def local(path: Path) -> str:
    return path.relative_to(LIBRARY).as_posix()


def flattened(path: Path) -> Iterator[int]:
    """The lines of f-strings that stand as a message or a hint, at once or by way of a name."""
    here = followed(path)
    for node in here.nodes:
        name = getattr(node.func, "id", getattr(node.func, "attr", "")) if _is_call(node) else ""
        if name not in CALLS:
            continue
        call = CALLS[name]
        places = [place for place in (call.message, call.hint) if 0 <= place < len(node.args)]
        given = [node.args[place] for place in places]
        given += [each.value for each in node.keywords if each.arg in {*WORDS, call.named}]
        for each in given:
            yield from (part.lineno for part in _parts(each, here) if _is_flat(part))


def _is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call)


def _parts(node: ast.AST, here: Followed) -> Iterator[ast.AST]:
    if isinstance(node, ast.IfExp):
        yield from _parts(node.body, here)
        yield from _parts(node.orelse, here)
    elif isinstance(node, ast.Name):
        for each in ast.walk(here.function_around(node)):
            if isinstance(each, (ast.Assign, ast.AugAssign)):
                targets = each.targets if isinstance(each, ast.Assign) else [each.target]
                if any(getattr(target, "id", "") == node.id for target in targets):
                    yield each.value
                    yield from [each] if isinstance(each, ast.AugAssign) else []
    else:
        yield node


def _is_flat(node: ast.AST) -> bool:
    adds = isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod))
    return isinstance(node, (ast.JoinedStr, ast.AugAssign)) or adds


def read_back(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """The lines at which the message or the hint of something is looked into."""
    for node in nodes:
        looked_into: list[ast.AST] = []
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            looked_into = [node.value]
        elif isinstance(node, ast.Compare):
            looked_into = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in READS_TEXT:
            looked_into = [*node.args]
        for each in looked_into:
            if isinstance(each, ast.Attribute) and each.attr in WORDS:
                yield node.lineno


def test_no_message_and_no_hint_is_an_f_string() -> None:
    found = {local(path): list(flattened(path)) for path in SOURCES}
    assert not {path: lines for path, lines in found.items() if lines}


def test_no_message_and_no_hint_is_read_back() -> None:
    sources = [path for path in SOURCES if not local(path).startswith(NO_FINDINGS)]
    found = {local(path): list(read_back(nodes_of(path))) for path in sources}
    assert not {path: lines for path, lines in found.items() if lines}


def test_every_name_in_a_sentence_is_a_fact() -> None:
    """`say` would raise, but only once somebody makes this mistake."""
    wrong = [f"{local(path)}, line {line}" for path in SOURCES for line in without_fact(path)]
    assert not wrong


# Where a call has its template, and the facts that it adds by itself.
SAYS: dict[str, tuple[int, set[str]]] = {
    "say": (0, set()),
    "finding_of": (1, set()),
    "rejection": (1, set()),
    "tell": (2, {"who"}),
}


def without_fact(path: Path) -> Iterator[int]:
    """The lines of sentences with a {name} that is none of their facts."""
    reader = followed(path)
    for node in reader.nodes:
        name = _called(node)
        if not isinstance(node, ast.Call) or name not in SAYS or len(node.args) <= SAYS[name][0]:
            continue
        place, own = SAYS[name]
        facts = {each.arg for each in node.keywords} | own
        if "elsewhere" in facts or (name == "finding_of" and len(node.args) > 5):
            facts.add("other_line")  # so is that line named in the message
        if None in facts or (name == "rejection" and not facts):  # its message has its facts
            continue
        graded = [each.value for each in node.keywords if each.arg == "graded"]
        written = [node.args[place], *graded]
        texts = {part for each in written for part in _constants(each)}
        texts |= {said for each in written for said, _ in reader.values(each)}
        if any(not set(re.findall(r"\{(\w+)\}", text)) <= facts for text in texts):
            yield node.lineno


def _called(node: ast.AST) -> str:
    function = getattr(node, "func", None)
    return getattr(function, "id", "") or getattr(function, "attr", "")


def _constants(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def test_these_tests_find_what_they_look_for(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text(
        "def judge(self, n):\n"
        "    message = 'It takes {n} turns of {m}.'\n"
        "    self.tell(0, 'timeout', '{who} takes {n}.', 1, '', n=n)\n"
        "    self.tell(0, 'timeout', '{who} takes {m}.', 1, '', n=n)\n"
        "    say(message, n=n, m=1)\n"
        "    raise rejection('timeout', message, None, n=n)\n",
        encoding="utf-8",
    )
    assert list(without_fact(bad)) == [4, 6]
    bad = tmp_path / "worse.py"
    bad.write_text(
        "def judge(each, n):\n"
        "    message = f'{n} turns'\n"
        "    if 'thread' in each.message or each.hint.startswith('W'):\n"
        "        return finding('timeout', message)\n"
        "    return replace(each, hint=each.hint + ' More.')\n",
        encoding="utf-8",
    )
    assert set(flattened(bad)) == {2, 5}
    assert set(read_back(nodes_of(bad))) == {3}


@pytest.mark.slow
def test_the_page_of_findings_is_what_would_be_made() -> None:
    """Else: `python tests/findings_page.py`, and read what has changed."""
    made = findings_page.page(LIBRARY.parent)
    assert made == (LIBRARY.parent / findings_page.PAGE).read_text(encoding="utf-8")
    assert made.count("\nSaid:\n") == len(CODES) + 1  # every code is said by something


GOLDEN = findings_page.stored_examples(LIBRARY.parent)


WITHOUT_EXAMPLE = {
    "no-effect",  # told of kernels of one's own; an exercise's judge says what follows from it
    "rounded-inputs",  # told of Triton, in which no exercise is answered
}


def test_every_code_has_an_example() -> None:
    assert CODES.keys() - WITHOUT_EXAMPLE == GOLDEN.keys()
    for code, example in GOLDEN.items():
        assert findings_page.from_text(findings_page.as_text(example)) == example, code


@pytest.mark.slow
@every_case("code", GOLDEN)
def test_each_reader_is_told_the_golden_words(code: str) -> None:
    """Else: `python tests/findings_page.py --examples`, and read what has changed."""
    assert findings_page.example_from(GOLDEN[code]["answer"], code) == GOLDEN[code]
