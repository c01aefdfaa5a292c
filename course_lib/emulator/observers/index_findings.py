"""Says in sentences what is wrong with an index: outside its array, negative, misaligned."""

from __future__ import annotations

from course_lib.emulator.observers.thread_names import Place
from course_lib.emulator.state.indices import Fault
from course_lib.emulator.state.memory import Allocation
from course_lib.findings import Finding, finding
from course_lib.sentences import Index, Line, Sentence, say


def index_finding(
    fault: Fault, allocation: Allocation, kind: str, line: int, who: str, thread: Place
) -> Finding:
    """What is wrong with an index that `who` uses for a "load", a "store" or an "atomic"."""
    if fault.elements:
        return _wide(fault, allocation, kind, line, who, thread)
    if fault.kind == "from-end":
        return _from_end(fault, allocation, line)
    if fault.kind == "negative":
        return _negative(fault, allocation, line, who, thread)
    return _outside(fault, allocation, kind, line, who, thread)


def _negative(fault: Fault, allocation: Allocation, line: int, who: str, thread: Place) -> Finding:
    return finding(
        "wrong-index",
        say(
            "{who} uses the index {number}{axis} of {array}: a negative index counts from "
            "the end, so the element {meant} is meant.",
            who=who,
            number=fault.index,
            axis=_along(allocation, fault),
            array=allocation.name,
            meant=fault.index + fault.length,
        ),
        line,
        "Work out this index by hand for this thread.",
        threads=(thread,),
        cell=allocation.name,
    )


def _from_end(fault: Fault, allocation: Allocation, line: int) -> Finding:
    return finding(
        "wrong-index",
        say(
            "The index {number}{axis} of {array} counts from the end: the element {meant} "
            "is meant.",
            number=fault.index,
            axis=_along(allocation, fault),
            array=allocation.name,
            meant=fault.index + fault.length,
        ),
        line,
        "Is the last element the one that is wanted?",
        severity="warning",
        cell=allocation.name,
    )


def _outside(
    fault: Fault, allocation: Allocation, kind: str, line: int, who: str, thread: Place
) -> Finding:
    axis, last = _along(allocation, fault), fault.length - 1
    reach = (
        say("the indices{axis} end at {last}", axis=axis, last=last)
        if fault.length
        else "the array is empty"
    )
    return finding(
        "out-of-bounds-read" if kind == "load" else "out-of-bounds-write",
        say(
            "{who} {verb} {array} at {index}{axis}, but {reach}.",
            who=who,
            verb={"load": "reads", "store": "writes", "atomic": "changes"}[kind],
            array=allocation.name,
            index=Index(fault.index, last),
            axis=axis,
            reach=reach,
            place=(fault.axis if len(allocation.shape) > 1 else 0, fault.index),
        ),
        line,
        _hint_outside(allocation, fault),
        threads=(thread,),
        cell=allocation.name,
    )


def _hint_outside(allocation: Allocation, fault: Fault) -> str:
    """What to look at: the kernel's own arrays have the size that it gave them."""
    if allocation.space not in ("shared", "local"):
        return "Which test should stop this thread here, where the element does not exist?"
    made = say(" in {line}", line=Line(allocation.line)) if allocation.line else ""
    axis = f" along axis {fault.axis}" if len(allocation.shape) > 1 else ""
    return say(
        "{array} is made{made} with {elements} elements{axis}: how many does this index need? Is "
        "the array too small, or does the index run too far?",
        array=allocation.name,
        made=made,
        elements=fault.length,
        axis=axis,
    )


def _along(allocation: Allocation, fault: Fault) -> str:
    """Along which axis an index is wrong; nothing where there is but one."""
    many = len(allocation.shape) > 1
    return say(" along axis {axis}", axis=fault.axis) if many else ""


def _wide(
    fault: Fault, allocation: Allocation, kind: str, line: int, who: str, thread: Place
) -> Finding:
    """Of an access of 16 bytes: elements outside the array, or an address that is not even."""
    verb = "reads" if kind == "load" else "writes"
    name, several = allocation.name, fault.elements
    size = several * allocation.dtype.itemsize
    accessed = (
        say("{several} elements of {name} at once, from", several=several, name=name)
        if several > 1
        else say("{name} at", name=name)
    )
    outside = fault.kind == "outside"
    what = say(
        "{who} {verb} {accessed} {index}",
        who=who,
        verb=verb,
        accessed=accessed,
        index=Index(fault.index, fault.length - 1 if outside else None, "flat index"),
    )
    code = "wrong-index"
    if outside:
        code = "out-of-bounds-read" if kind == "load" else "out-of-bounds-write"
        message = say("{what}, but its elements end at {last}.", what=what, last=fault.length - 1)
        hint: Sentence | str = "Which test should stop this thread here, or fill in zeros?"
        if allocation.space == "shared":
            hint = say("Is {array} too small, or does this index reach too far?", array=name)
    elif fault.kind == "unaligned":
        message = say(
            "{what}. That needs an address that is a multiple of {size} bytes, and nothing "
            "promises that {array} begins at one.",
            what=what,
            size=size,
            array=name,
        )
        hint = say("cuda.shared.array and cuda.local.array take alignment={size}.", size=size)
    else:
        message = say(
            "{what}. {size} bytes at once need an index that is a multiple of {several}, or a "
            'GPU stops with "misaligned address".',
            what=what,
            size=size,
            several=several,
        )
        hint = _hint_misaligned(allocation, fault)
    return finding(code, message, line, hint, threads=(thread,), cell=name)


def _hint_misaligned(allocation: Allocation, fault: Fault) -> Sentence:
    several = fault.elements
    whole_rows = len(allocation.shape) < 2 or allocation.shape[-1] % several == 0
    if whole_rows or fault.index < allocation.shape[-1]:  # in the first row
        return say(
            "If one thread takes {several} neighbours, where does the next one begin?",
            several=several,
        )
    return say("Is the length of a row a multiple of {several}?", several=several)
