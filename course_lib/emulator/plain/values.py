"""Values of a plain Python function, and operators on them that cannot run away.

The table of operators is the one that kernels have, and it does Python's own work on exactly
Python's own types; so the results are Python's. The rest differs: a kernel's values have Numba's
types, thousands of lanes and no bounds, and what it may not do is found out before it runs. What
makes that safe is in this file alone: how long a number, a text or a sequence may grow is checked
before the operator runs, and its result is checked again.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from course_lib.emulator.budget import MAX_INTEGER_BITS
from course_lib.emulator.language.operators import BINARY, COMPARE, UNARY
from course_lib.wording.sentences import say

# Sequences are charged for their length, so that a long one is not a cheap way to be slow.
ITEMS_PER_STEP = 4
MAX_ITEMS = 10_000  # of a sequence, counting what lies in it, too
MAX_IN_A_SET = 1_000  # few, as numbers may be chosen so that a set is slow
MAX_CHARACTERS = 10_000
MAX_SEQUENCE_DEPTH = 10
MAX_ROUNDING = 30  # digits

Number = (bool, int, float)
Sequence = (tuple, list, str, range)

# The format of a number in an f-string: width and precision of at most two digits.
_FORMAT = re.compile(r"[<>^]?[+ ]?0?\d{0,2}[,_]?(\.\d{1,2})?[deEfgGnsxXb%]?")


# What Python's own errors are told as, with a hint; the first that fits.
PYTHON_STOPS: tuple[tuple[type[Exception], str, str], ...] = (
    (OverflowError, "numerical-overflow", ""),
    (
        LookupError,
        "out-of-bounds-read",
        "What exists at that moment, and which part of it is asked for?",
    ),
    (
        TypeError,
        "wrong-formula",
        "What type has each value in this line? A / always gives a float.",
    ),
    (Exception, "wrong-formula", ""),
)


class Stop(Exception):
    """The function cannot go on; whoever catches this knows the line."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


@dataclass(frozen=True, eq=False)
class Record:
    """What a function is given to read: names, each with a number or a text, and nothing else.

    `device.warps_per_sm` in an answer is looked up in `values`. No attribute of a Python object is
    ever asked for, so there is no way from here to anything that is not in the table.
    """

    name: str
    values: Mapping[str, Any]

    def __post_init__(self) -> None:
        for key, value in self.values.items():
            if type(value) not in (bool, int, float, str):
                raise ValueError(f"{self.name}.{key} is not a plain number or text")


class Items:
    """What `zip`, `enumerate`, `reversed` and a generator expression give: items, once."""

    def __init__(self, iterator: Iterator[Any]) -> None:
        self.iterator = iterator


def is_plain(value: Any) -> bool:
    """Is a value a number, a text, None, or a tuple of these, which need no object?"""
    if type(value) is tuple:
        return all(map(is_plain, value))
    return type(value) in (bool, int, float, str, type(None))


def count(value: Any, depth: int = 0) -> int:
    """How many values a value is made of.

    Raises Stop if they are too many, or lie in each other too deeply.
    """
    if type(value) not in (tuple, list):
        return 1
    if depth == MAX_SEQUENCE_DEPTH:
        raise Stop("not-allowed", "Sequences are nested too deeply here.")
    total = 1
    for member in value:
        total += count(member, depth + 1)
        if total > MAX_ITEMS + 1:
            raise _too_long()
    return total


def size(value: Any) -> int:
    """How much work it is to go through a value: its characters, or the values that it is made of.

    Raises Stop as `count`.
    """
    if type(value) is str:
        return len(value)
    if type(value) is set:
        return len(value)
    return count(value) if type(value) in (tuple, list) else 0


def checked(value: Any) -> Any:
    """The value, if it is one that a plain function may hold."""
    kind = type(value)
    if kind is int and value.bit_length() > MAX_INTEGER_BITS:
        raise _too_big()
    if kind is str and len(value) > MAX_CHARACTERS:
        message = say("A text of more than {most} characters is too long.", most=MAX_CHARACTERS)
        raise Stop("not-allowed", message)
    if kind is complex:
        raise Stop("unsupported", "This gives a complex number.")
    if kind in (tuple, list):
        count(value)
    if kind is list:
        for member in value:
            _item(member)
    return value


def _too_long() -> Stop:
    message = say("A sequence of more than {most} items is too long.", most=MAX_ITEMS)
    return Stop("not-allowed", message)


def _too_big() -> Stop:
    message = say("A whole number of more than {most} bits is too big.", most=MAX_INTEGER_BITS)
    return Stop("not-allowed", message)


# --- Operators, elements, texts, sets ----------------------------------------------------------


def binary(op: ast.operator, left: Any, right: Any) -> Any:
    """`left op right`, as Python has it."""
    if type(op) not in BINARY:
        raise Stop("unsupported", "This operator is not supported here.")
    if isinstance(left, set) or isinstance(right, set):
        raise Stop("unsupported", "Operators of sets are not supported here.")
    if isinstance(left, Number) and isinstance(right, Number):
        _refuse_explosion(op, left, right)
    elif isinstance(left, Sequence) or isinstance(right, Sequence):
        _refuse_long(op, left, right)
    else:
        refuse_strangers(left, right)
    return checked(BINARY[type(op)](left, right))


def _refuse_explosion(op: ast.operator, left: Any, right: Any) -> None:
    """Before a power or a shift makes a number that fills the memory."""
    if isinstance(left, float) or isinstance(right, float):
        return
    if isinstance(op, ast.LShift):
        too_big = left != 0 and right > MAX_INTEGER_BITS
    elif isinstance(op, ast.Pow):
        too_big = abs(left) > 1 and left.bit_length() * right > 2 * MAX_INTEGER_BITS
    else:
        too_big = False
    if too_big:
        raise _too_big()


def _refuse_long(op: ast.operator, left: Any, right: Any) -> None:
    """Before a repetition makes a sequence that fills the memory, or a `%` formats one."""
    if isinstance(op, ast.Mod) and isinstance(left, str):
        raise Stop("unsupported", "Formatting with % is not supported here, but f-strings are.")
    if isinstance(op, ast.Mult):
        items, times = (left, right) if isinstance(left, Sequence) else (right, left)
        if isinstance(times, int) and isinstance(items, (tuple, list, str)):
            size = len(items) if isinstance(items, str) else count(items)
            if size * max(times, 0) > MAX_ITEMS:
                raise _too_long()


def refuse_strangers(*values: Any) -> None:
    """Only plain values have operators here; None and what is no value get Python's answer."""
    for value in values:
        if value is not None and not isinstance(value, (*Number, *Sequence)):
            raise Stop("wrong-formula", "This is not a number to compute with.")


def unary(op: ast.unaryop, operand: Any) -> Any:
    """`op operand`, as Python has it."""
    if isinstance(op, ast.Not):
        return not truth(operand)
    refuse_strangers(operand)
    return checked(UNARY[type(op)](operand))


def truth(value: Any) -> bool:
    """Whether `if value:` is taken."""
    if value is None or isinstance(value, (*Number, *Sequence, set)):
        return bool(value)
    return True


def compare(op: ast.cmpop, left: Any, right: Any) -> bool:
    """`left op right` for one comparison of a chain."""
    if isinstance(op, (ast.Is, ast.IsNot)):
        if left is not None and right is not None:
            raise Stop("unsupported", "Here, `is` is only for None. Compare numbers with ==.")
        return (left is right) == isinstance(op, ast.Is)
    if isinstance(op, (ast.In, ast.NotIn)):
        return _contains(right, left) == isinstance(op, ast.In)
    if not isinstance(op, (ast.Eq, ast.NotEq)):
        if isinstance(left, set) or isinstance(right, set):
            raise Stop(
                "unsupported", "Testing whether one set contains another is not supported here."
            )
        refuse_strangers(left, right)
    return bool(COMPARE[type(op)](left, right))


def _contains(items: Any, item: Any) -> bool:
    if isinstance(items, set):
        return _in_a_set(item) in items
    if not isinstance(items, Sequence):
        raise Stop("unsupported", "`in` looks into tuples, lists, ranges and texts here.")
    if isinstance(items, range) and not isinstance(item, int):
        raise Stop("unsupported", "Here, `in` can look only for a whole number in a range.")
    return item in items


def element(items: Any, index: Any) -> Any:
    """`items[index]`."""
    if not isinstance(items, Sequence):
        raise Stop("wrong-formula", "Only a tuple, a list, a range or a text has elements.")
    return items[index]


def set_element(items: Any, index: Any, value: Any) -> None:
    """`items[index] = value`."""
    if not isinstance(items, list):
        raise Stop("wrong-formula", "Only an element of a list can be changed.")
    if isinstance(index, slice):
        raise Stop("unsupported", "Several elements at once cannot be changed here.")
    items[index] = _item(value, items)


def add_item(items: list[Any], value: Any) -> None:
    """`items.append(value)`."""
    items.append(_item(value, items))
    checked(items)


def _item(value: Any, items: list[Any] | None = None) -> Any:
    """What a list may hold: also lists, but no list can come to lie in itself."""
    if value is items or _holds_lists(value):
        raise Stop("unsupported", "Lists inside lists inside lists are not supported here.")
    return value


def _holds_lists(value: Any) -> bool:
    if type(value) not in (tuple, list):
        return False
    return any(type(member) is list or _holds_lists(member) for member in value)


def formatted(value: Any, specification: str) -> str:
    """A value in an f-string."""
    if not _has_text(value):
        raise Stop("unsupported", "This cannot be put into a text here.")
    if not _FORMAT.fullmatch(specification):
        raise Stop(
            "unsupported",
            say(
                "The format {specification} is not supported here.",
                specification=repr(specification),
            ),
        )
    result: str = checked(format(value, specification))
    return result


def _has_text(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(_has_text, value))
    return value is None or isinstance(value, (*Number, str))


def collect(items: Iterator[Any]) -> list[Any]:
    """The items as a list, if they are not too many."""
    found: list[Any] = []
    for item in items:
        found.append(item)
        if len(found) > MAX_ITEMS:
            raise _too_long()
    return found


def unpacked(items: Iterator[Any]) -> tuple[Any, ...]:
    """The items to be given to several names."""
    return tuple(collect(items))


def gather(items: Iterator[Any]) -> set[Any]:
    """The items as a set."""
    found: set[Any] = set()
    for item in items:
        add_to_set(found, item)
    return found


def add_to_set(items: set[Any], item: Any) -> None:
    """`items.add(item)`."""
    items.add(_in_a_set(item))
    if len(items) > MAX_IN_A_SET:
        raise Stop(
            "not-allowed", say("A set of more than {most} numbers is too large.", most=MAX_IN_A_SET)
        )


def _in_a_set(item: Any) -> Any:
    """An item as a set may hold it: numbers only, whose order in a set is always the same."""
    if not isinstance(item, Number):
        message = say(
            "Only sets of numbers are supported here, but this is {kind}.", kind=kind_of(item)
        )
        raise Stop("unsupported", message)
    return item


def remove_item(items: list[Any], index: int = -1) -> Any:
    """`items.pop()` or `items.pop(index)`."""
    return items.pop(index)


def kind_of(value: Any) -> str:
    """What a value is, in words."""
    if value is None:
        return "None"
    names = {bool: "a truth value", int: "a whole number", float: "a fraction", str: "a text"}
    names |= {set: "a set", tuple: "a tuple", list: "a list", range: "a range", Record: "a record"}
    return names.get(type(value), "a function")


STARTS_WITH = "startswith is supported only for a text and one beginning."


def starts_with(text: str, beginning: Any) -> bool:
    """`text.startswith(beginning)`."""
    if type(beginning) is not str:
        raise Stop("unsupported", STARTS_WITH)
    return text.startswith(beginning)


@dataclass(frozen=True)
class PlainMethod:
    """A method that a plain function may call: whose, what it does, and with how many arguments."""

    owner: type
    does: Callable[..., Any]
    sentence: str  # where it is called in another way
    counts: tuple[int, ...] = (1,)


METHODS: Mapping[str, PlainMethod] = {
    "append": PlainMethod(list, add_item, "append is supported only for a list and one item."),
    "add": PlainMethod(set, add_to_set, "add is supported only for a set and one item."),
    "pop": PlainMethod(list, remove_item, "pop is supported only for a list.", (0, 1)),
    "startswith": PlainMethod(str, starts_with, STARTS_WITH),
}
