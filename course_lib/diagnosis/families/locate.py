"""From a slip to the line it is on: the accesses that ran first, the syntax tree second."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import replace

from course_lib.diagnosis.families.attention.lines import exponential_lines, step_line
from course_lib.diagnosis.families.product.register_lines import (
    adding_loop_line,
    depends_on,
    is_number,
    owner_line,
    part_line,
    same_tile_line,
    staged_line,
    steps_loop_line,
    thread_test_line,
    tiles_loop_line,
)
from course_lib.diagnosis.families.product.step_lines import (
    all_read_to_be_added,
    changing_line,
    choosing_test,
    common_step_line,
    double_step,
    early_end,
    first_product_line,
    in_loops,
    loop_line,
    never_reached,
    rest_place,
    stride_between_tiles,
    unused_sum_line,
)
from course_lib.diagnosis.families.scan.lines import (
    adding_test_line,
    combining_line,
    copying_line,
    exclusive_line,
    last_addition_line,
    reading_line,
    shuffle_line,
    stride_change_line,
    stride_line,
    strides_gone_through,
    tile_to_output_line,
    total_line,
    tree_line,
)
from course_lib.diagnosis.launches.trail import Trail
from course_lib.diagnosis.slip import Place, Slip
from course_lib.diagnosis.source import (
    BLOCK,
    THREAD,
    Source,
    bound_line,
    indices_of,
    loop_names,
    names_in,
    outside,
    part_of,
    root_name,
)
from course_lib.sentences import say

INTEGERS = {"int", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "intp"}


def locate(
    slip: Slip,
    source: Source,
    trail: Trail,
    names: Sequence[str],
    letters: Sequence[str] = "ABC",
) -> Place:
    """The line to blame for a slip; `names` are the kernel's own for the exercise's letters.

    The letter "A" in a slip's place always stands for the first input.
    """
    kind, *details = slip.place or ("",)
    translate = {"A": names[0], **dict(zip(letters, names, strict=False))}
    finders = {
        "load": _load,
        "store": _store,
        "call": _call,
        "scale": _scale,
        "steps": _steps,
        "sum": _sum,
        "start": _start,
        "shared": _shared,
        "guard": _guard,
        "integer": _integer,
        "padding": _padding,
        "moved": _moved,
        "stride": _stride,
        "adds": _adds,
        "tree": _tree,
        "exclusive": _exclusive,
        "copied": _copied,
        "overwritten": _overwritten,
        "owner": _owner,
        "staged": _staged,
        "part": _part,
        "tiles": _tiles,
        "attention": _attention,
        "zero": _zero,
        "pitch": _pitch,
        "exponential": _exponential,
        "chosen": _chosen,
        "loop": _loop,
    }
    if kind not in finders:
        return Place(None)
    return finders[kind](
        slip, [translate.get(each, each) for each in details], source, trail, names
    )


def _load(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """Where an operand is read, or where the index it is read with is worked out."""
    array = details[0] if details else names[0]
    slots = [{"row": 0, "column": 1}[each] for each in details[1:] if each in ("row", "column")]
    accesses = source.accesses(array, store=False)
    if "both" in details:
        line = staged_line(source, trail, array) or common_step_line(source, names)
        if line:
            return Place(line)
        accesses = in_loops(source, array)
    if "within" in details:
        line = staged_line(source, trail, array)
        if line:
            return Place(line)
        if source.handed_over(array) and not accesses and source.additions():
            return Place(source.additions()[0].lineno)  # the tile is filled by a device function
    for access in accesses[-1:] if "last" in details else accesses:
        if len(slots) == 1:
            right = {*names[:-1]} - {array} if "alone" in details else set()
            line = index_line(source, access, slots[0], names[-1], right)
            if line:
                return Place(line)
        return Place(access.lineno)
    handed = source.handed_over(array)
    if handed:
        return Place(handed[-1 if "last" in details else 0].lineno)
    lines = trail.load_lines.get(array, ()) or trail.store_lines.get(array, ())
    return Place(lines[0] if lines else None)


def index_line(
    source: Source, access: ast.Subscript, slot: int, output: str, right: Collection[str] = ()
) -> int | None:
    """The line that works out one index of an access, if that is another line.

    An index that also serves to store the output, or to load the elements of an input of which
    the `right` ones are known to be loaded, is right there, so it is its use here that is to blame.
    """
    slots = indices_of(access)
    if slot >= len(slots):
        return None
    if not isinstance(slots[slot], ast.Name):
        return _fixed_part(source, access, slots[slot])
    name = slots[slot].id  # type: ignore[attr-defined]
    used = set().union(
        *(names_in(store.slice) for store in source.accesses(output, store=True)),
        *(names_in(load.slice) for each in right for load in source.accesses(each, store=False)),
    )
    value = source.value_of(name)
    if name in used or value is None:
        return None
    if not isinstance(value, ast.BinOp):
        return _fixed_part(source, access, slots[slot])
    return source.assignments(name)[0].lineno


def _fixed_part(source: Source, access: ast.Subscript, index: ast.expr) -> int | None:
    """Where a part of an index is set anew in each round of a loop, yet to the same value."""
    around = source.loops_around(access)
    changing = source.loop_variables(access)
    if source.origins(index) & changing:
        return None
    for name in sorted(names_in(index)):
        for statement in source.assignments(name):
            if around and source.loops_around(statement) == around:
                return statement.lineno
    return None


def _store(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """Where the output is written, or where the index it is written with is worked out."""
    stores = source.accesses(names[-1], store=True)
    if not stores:
        lines = trail.store_lines.get(names[-1], ())
        return Place(lines[0] if lines else source.kernel.lineno)
    store = stores[-1]
    if "edge" in details:
        return _edge(store, details, source)
    if "missing" in details:
        for test, line in source.conditions(store):
            checks = source.tests_a_size(test) and _orders(test, source)
            return Place(line, "wrong-bounds-check" if checks else "")
    axis = 1 if "column" in details else 0
    if "missing offset" in details:
        return Place(missing_offset_line(source, store, axis, names))
    if "index" in details:
        return Place(_own_index_line(source, store, axis, names[0]))
    if "mapping" in details:
        return Place(mapping_line(source, store, axis, names))
    return Place(store.lineno)


def _overwritten(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """Where an element was written that should have stayed; details: its number."""
    lines = [line for line, cells in sorted(trail.cells.items()) if int(details[0]) in cells]
    return Place(lines[0]) if lines else _store(slip, [], source, trail, names)


def _edge(store: ast.Subscript, details: list[str], source: Source) -> Place:
    """What keeps the last rows (or columns) from being stored: a test of that index, or its loop.

    A test of the other index is innocent.
    """
    slots = indices_of(store)
    nouns = [noun for noun in ("row", "column") if noun in details]
    axes = [{"row": 0, "column": 1}[noun] for noun in nouns] if len(slots) > 1 else [0]
    for axis in axes:
        for test, line in source.guards_of(store, axis):
            return Place(line, "wrong-bounds-check" if _orders(test, source) else "")
    for axis in axes:
        for loop in reversed(source.loops_around(store)):
            slot = slots[axis]
            if isinstance(slot, ast.Name) and slot.id in loop_names(loop):
                hint = say(
                    "For which {name} does this loop run last, and for which should it?",
                    name=slot.id,
                )
                return Place(bound_line(source, loop), "wrong-loop-bound", hint)
    return Place(store.lineno)


def _orders(test: ast.expr, source: Source) -> bool:
    """Does a test ask which of two numbers is the larger one? Equality checks no bounds."""
    if isinstance(test, ast.Name):
        before = source.last_assignment(test)
        return before is None or _orders(before.value, source)
    operators = [op for part in ast.walk(test) for op in getattr(part, "ops", ())]
    return not all(isinstance(op, (ast.Eq, ast.NotEq)) for op in operators)


def _own_index_line(source: Source, store: ast.Subscript, axis: int, loaded: str) -> int:
    """Where one index of a store is worked out, if the loads do not use it as well."""
    slots = indices_of(store)
    name = slots[axis].id if len(slots) > axis and isinstance(slots[axis], ast.Name) else ""  # type: ignore[attr-defined]
    shared = any(name in names_in(load.slice) for load in source.accesses(loaded, store=False))
    assigned = source.assignments(name)
    return store.lineno if shared or len(assigned) != 1 else assigned[0].lineno


def _zero(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """Where an element decides by being zero or not: in a test, in `and` and `or`; else its use."""
    arrays = {*names[:-1], *source.own_arrays()}
    tests = [
        node.test for node in source.walk() if isinstance(node, (ast.If, ast.IfExp, ast.While))
    ]
    chosen = [
        value for node in source.walk() if isinstance(node, ast.BoolOp) for value in node.values
    ]
    for test in sorted((*tests, *chosen), key=lambda each: each.lineno):
        if {part.id for part in outside(test) if isinstance(part, ast.Name)} & arrays or (
            not source.tests_a_size(test) and source.everything_behind(test) & arrays
        ):
            return Place(test.lineno)
    return (
        _sum(slip, [], source, trail, names)
        if source.additions()
        else _store(slip, [], source, trail, names)
    )


def _scale(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """Where the result gets its factor: at the store, if that computes; else where it is summed."""
    for store in source.accesses(names[-1], store=True):
        statement = source.statement(store)
        if isinstance(statement, (ast.Assign, ast.AugAssign)) and _scales(statement.value):
            hint = "What should be stored, and what is done to the sum in this line?"
            return Place(statement.lineno, "wrong-formula", hint if "sum" in details else "")
    if not source.additions():
        return _store(slip, [], source, trail, names)
    place = _sum(slip, [], source, trail, names)
    return place if "sum" in details else replace(place, hint="What does the formula say here?")


def _scales(value: ast.expr) -> bool:
    """Does an expression multiply, divide or negate, or add a thing to itself?"""
    if isinstance(value, ast.BinOp):
        same = ast.dump(value.left) == ast.dump(value.right)
        return same or isinstance(value.op, (ast.Mult, ast.Div)) or _scales(value.left)
    return isinstance(value, ast.UnaryOp)


def missing_offset_line(
    source: Source, store: ast.Subscript, axis: int, names: Sequence[str]
) -> int:
    """Where an index that has nothing of the block's number is worked out.

    That is where a variable that should hold the offset is set to a number, or the line of the
    index variable that loads use as well. Where the loads know their block, the store does not.
    """
    slots = indices_of(store)
    index = slots[min(axis, len(slots) - 1)]
    if depends_on(source, index, BLOCK):
        number = _numbering(source, index)
        if isinstance(number, ast.Name) and number is not index:
            return source.assignments(number.id)[0].lineno
        own = _own_index_line(source, store, axis, names[0])
        return own if own != store.lineno else mapping_line(source, store, axis, names)
    for name in sorted(names_in(index)):
        assigned = source.assignments(name)
        value = part_of(assigned[0], name) if len(assigned) == 1 else None
        if isinstance(value, ast.Constant):
            return assigned[0].lineno
    if not isinstance(index, ast.Name) or len(source.assignments(index.id)) != 1:
        return store.lineno
    made = source.assignments(index.id)[0]
    loads = [load for name in names[:-1] for load in source.accesses(name, store=False)]
    direct = any(
        isinstance(slot, ast.Name) and slot.id == index.id
        for load in loads
        for slot in indices_of(load)
    )
    known = any(depends_on(source, load.slice, BLOCK) for load in loads)
    value = part_of(made, index.id)
    if direct or not known or value is None or not is_number(value):
        return made.lineno
    return store.lineno


def _numbering(source: Source, index: ast.expr) -> ast.expr:
    """The variable behind an index in which a thread of the grid has its number, if there is one.

    For `row = i // N` with `i = cuda.grid(1)` that is i.
    """
    value = index
    while isinstance(value, ast.Name) and len(assigned := source.assignments(value.id)) == 1:
        inner = part_of(assigned[0], value.id)
        if inner is None or names_in(inner) & (BLOCK | THREAD):
            return value
        behind = [
            part
            for part in ast.walk(inner)
            if isinstance(part, ast.Name) and depends_on(source, part, BLOCK)
        ]
        if len(behind) != 1:
            return index
        value = behind[0]
    return index


def mapping_line(source: Source, store: ast.Subscript, axis: int, names: Sequence[str]) -> int:
    """Where the row or column that a thread writes is worked out.

    That is the line of the index variable, if the loads use it too; otherwise the store is alone
    in using it, and is to blame.
    """
    slots = indices_of(store)
    if len(slots) <= axis or not isinstance(slots[axis], ast.Name):
        return store.lineno
    name = slots[axis].id  # type: ignore[attr-defined]
    loads = [access for array in names[:-1] for access in source.accesses(array, store=False)]
    used = [part for access in loads for part in indices_of(access) if name in names_in(part)]
    direct = [part for part in used if isinstance(part, ast.Name)]
    value_lines = source.assignments(name)
    if value_lines and (direct or not loads):
        return value_lines[0].lineno
    return store.lineno


def _steps(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """Missing steps: of a loop that ends early, or of a load whose test is too strict."""
    if "often" in details:
        line = first_product_line(source)
        if line:
            hint = "Which products are in the sum before the loop, and which does the loop add?"
            return Place(line, "accumulator-error", hint)
    if "rest" in details:
        place = rest_place(source, names)
        if place is not None:
            return place
    if "stride" in details:
        return stride_between_tiles(source, names)
    if "left out" in details and all_read_to_be_added(source, trail, names):
        hint = "All steps are read: where do the products of the others go?"
        return Place(unused_sum_line(source, names), "accumulator-error", hint)
    test = choosing_test(source) if "left out" in details else None
    if test and names_in(test) & source.loop_variables(test):
        return Place(test.lineno, "accumulator-error", "For which steps of k is this test true?")
    if "left out" in details or "tiles" in details:
        place = early_end(source, trail) or double_step(source)
        if place:
            return place
    steps = list(slip.steps)
    a, b = trail.loaded.get(names[0]), trail.loaded.get(names[1])
    if a is not None and b is not None and steps and max(steps) < a.shape[1]:
        no_a, no_b = not a[:, steps].any(), not b[steps].any()
        if no_a != no_b:
            guard = _guard(slip, [names[0] if no_a else names[1]], source, trail, names)
            if guard.line:
                return guard
        if not no_a and not no_b:
            return Place(loop_line(source, inner=True, names=names))
    return Place(loop_line(source, inner="inner" in details, names=names))


def _sum(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    additions = source.additions()
    if not additions:
        return Place(None)
    if "nothing" in details and not any(each.lineno in trail.lines for each in additions):
        return never_reached(source, additions[0], trail)
    changed = changing_line(source) if "between" in details else None
    if changed:
        return Place(changed)
    chosen = choosing_test(source) if "chosen" in details else None
    if chosen:
        return Place(chosen.lineno)
    for statement in additions:  # each product replaces the sum, or the sum is set anew before it
        if isinstance(statement, ast.AugAssign) and "replaced" in details:
            name = root_name(statement.target)
            around = source.loops_around(statement)
            starts = source.starts(name) if name else []
            again = [start for start in starts if source.loops_around(start) == around and around]
            if again:
                return Place(again[0].lineno)
    return Place(additions[0].lineno)


def _start(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """Where the sum is set to its first value ("anew": in each turn), or ("again") replaced by the
    sum of one tile."""
    again = "again" in details
    sums = source.sums()
    if again:
        for statement in source.walk():
            copies = isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name)
            if copies and statement.value.id in sums and source.loops_around(statement):  # type: ignore[attr-defined]
                return Place(statement.lineno)  # type: ignore[attr-defined]
    replaced = _replaced_line(source, names) if again else None
    if replaced:
        return Place(replaced)
    for name in sums:
        starts = source.starts(name)
        if starts:
            deepest = max(starts, key=lambda node: len(source.loops_around(node)))
            return Place((deepest if again or "anew" in details else starts[0]).lineno)
    return Place(None)


def _replaced_line(source: Source, names: Sequence[str]) -> int | None:
    """Where, in a loop, what is stored in the end is set to what a device function returns."""
    for store in source.accesses(names[-1], store=True):
        statement = source.statement(store)
        for name in sorted(names_in(statement.value)) if isinstance(statement, ast.Assign) else ():
            for each in source.assignments(name):
                calls = isinstance(each.value, ast.Call) and name not in names_in(each.value)
                if calls and source.loops_around(each) and isinstance(each, ast.Assign):
                    return each.lineno
    return None


def _call(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """The last call of a function that a slip names."""
    calls = source.calls_by_name(details[0])
    return Place(calls[-1].lineno) if calls else _store(slip, [], source, trail, names)


def _shared(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """The store into a tile, or the read from it, whichever has its indices exchanged."""
    for tile in sorted(source.staged(details[0])):
        for access in source.accesses(tile, store=True):
            first = source.origins(indices_of(access)[0])
            if first & THREAD and "x" in first and "y" not in first:
                return Place(access.lineno)
        for access in source.accesses(tile, store=False):
            return Place(access.lineno)
    return _store(slip, [], source, trail, names)


def _moved(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """Where elements go astray: at the load, at the store, or on the way through the tile."""
    array, *slots = details
    for each in source.parameters_and_tiles():
        for access in source.accesses(each, store=False) + source.accesses(each, store=True):
            if "next" in slots and any(map(_is_next, indices_of(access))):
                return Place(access.lineno)
    slots = [each for each in slots if each != "next"]
    if not trail.loaded[array].all():
        return _load(slip, [array, *slots], source, trail, names)
    if not trail.writes.all():
        slot = "column" if slots == ["row"] else "row"  # the row of A is the column of B
        return _store(slip, ["index", slot], source, trail, names)
    return _shared(slip, details, source, trail, names)


def _is_next(index: ast.expr) -> bool:
    """Is it an index plus or minus one?"""
    return (
        isinstance(index, ast.BinOp)
        and isinstance(index.right, ast.Constant)
        and index.right.value == 1
        and isinstance(index.op, (ast.Add, ast.Sub))
    )


def _stride(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """What counts the strides; but where all of them are gone through, the store of old sums."""
    line = stride_change_line(source) if "change" in details else None
    later = strides_gone_through(source, trail) - set(slip.steps) if slip.steps else set()
    if later and (stored := tile_to_output_line(source, names[-1])):
        message = say(
            "The strides go on up to {last}, but what is stored are the sums of an earlier step, "
            "with the stride {stride}: each has at most {needed} elements.",
            last=max(later),
            stride=max(slip.steps),
            needed=2 * max(slip.steps),
        )
        hint = "Where do the sums of the last stride lie, and which ones does this line read?"
        return Place(stored, "stale-shared-read", hint, message)
    return Place(line or stride_line(source))


def _adds(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """Where elements are read to be added, or added ("how"), or the test that decides who adds."""
    if "read" in details:
        return Place(reading_line(source) or _sum(slip, details, source, trail, names).line)
    if "last" in details:
        return Place(last_addition_line(source))
    if "shuffle" in details:
        return Place(shuffle_line(source))
    if "total" in details:
        return Place(total_line(source))
    if "how" in details:
        return Place(combining_line(source))
    line = adding_test_line(source)
    return Place(line) if line else Place(stride_line(source), "wrong-loop-bound")


def _tree(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    return Place(tree_line(source, details[0]))


def _copied(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    return Place(copying_line(source, names[0], names[-1]))


def _exclusive(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    return Place(exclusive_line(source, names[0], names[-1]))


def _owner(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    return Place(owner_line(source, details[0], details[1], names))


def _staged(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """Where an operand goes astray: where it is loaded, or on the way through the tile."""
    line = staged_line(source, trail, details[0])
    return Place(line) if line else _load(slip, details, source, trail, names)


def _pitch(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """Where a tile is filled, or read, in rows of the wrong length."""
    operand, which = details
    if which == "read":
        return Place(staged_line(source, trail, operand))
    for load in in_loops(source, operand):
        around = source.loops_around(load)
        for name in sorted(names_in(load.slice)):
            for statement in source.assignments(name):
                if around and source.loops_around(statement) == around:
                    return Place(statement.lineno)
        return Place(load.lineno)
    return Place(None)


def _part(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    if "threads" in details:
        return Place(thread_test_line(source, names, "column" in details))
    if "twice" in details:
        return Place(same_tile_line(source, details[-1]))
    operand = names[1] if "column" in details else names[0]
    if {"read", "either"} & set(details) and not trail.loaded[operand].all():
        return _load(slip, [operand], source, trail, names)
    return Place(part_line(source, details, names))


def _tiles(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """The loop over tiles, over the steps of a tile, or over the sums of a thread."""
    rest = rest_place(source, names) if "rest" in details else None
    if rest:
        return rest
    if "steps" in details:
        return Place(steps_loop_line(source, names))
    if "sums" in details:
        return Place(adding_loop_line(source))
    return Place(tiles_loop_line(source, names))


def _guard(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """The test that decides whether an operand is read."""
    for access in source.accesses(details[0], store=False):
        for _, line in source.guards(access):
            return Place(line, "wrong-bounds-check")
    return Place(None)


def _padding(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """Where a tile gets a value that is not an element: the cells past the edge."""
    operands = set(names[:-1])
    for tile in sorted(source.shared_names()):
        for access in source.accesses(tile, store=True):
            statement = source.statement(access)
            if not isinstance(statement, ast.Assign):
                continue
            value = statement.value
            chooses = isinstance(value, ast.IfExp)
            if chooses or not source.origins(value) & operands:
                return Place(statement.lineno)
    return _load(slip, [names[0]], source, trail, names)


def _integer(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """Where an integer type, or a division that cuts off, comes in."""
    for node in source.walk():
        if isinstance(node, ast.Call):
            called = names_in(node.func) if not isinstance(node.func, ast.Call) else set()
            typed = {name for keyword in node.keywords for name in names_in(keyword.value)}
            arguments = {name for each in node.args for name in names_in(each)}
            arrays = bool(called & {"array"}) and bool((typed | arguments) & INTEGERS)
            if called & INTEGERS or arrays:
                return Place(node.lineno)
    for statement in source.additions():
        if any(isinstance(part, ast.FloorDiv) for part in ast.walk(statement)):
            return Place(statement.lineno)
    for node in source.walk():
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
            if any(_is_element(part, names) for part in ast.walk(node)):
                return Place(node.lineno)
    return _start(slip, details, source, trail, names)


def _is_element(node: ast.AST, names: Sequence[str]) -> bool:
    """Is it an element of one of the arrays, and no entry of a shape?"""
    return isinstance(node, ast.Subscript) and getattr(node.value, "id", "") in names


def _exponential(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """The last exponential, or the "first"; where there is none, the sum."""
    lines = exponential_lines(source)
    line = (min if "first" in details else max)(lines, default=None)
    return Place(line) if line else _sum(slip, details, source, trail, names)


def _chosen(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """The last test within a loop that chooses a number or who stores one; else the store."""
    tests = [node for node in source.walk() if isinstance(node, (ast.If, ast.IfExp))]
    lines = [node.test.lineno for node in tests if source.loops_around(node)]
    return Place(max(lines)) if lines else _store(slip, [], source, trail, names)


def _loop(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """The first loop; else the store."""
    lines = [node.lineno for node in source.walk() if isinstance(node, (ast.For, ast.While))]
    return Place(min(lines)) if lines else _store(slip, [], source, trail, names)


def _attention(
    slip: Slip, details: list[str], source: Source, trail: Trail, names: Sequence[str]
) -> Place:
    """A step between the two products of attention."""
    if details[0] == "loop":
        load = _load_that_stays(source, names[1])
        if load:
            return Place(load, "wrong-index")
    return Place(step_line(source, details[0], names))


def _load_that_stays(source: Source, array: str) -> int | None:
    """A load within the loop over tiles whose row is the same in every round of that loop."""
    for access in source.accesses(array, store=False):
        loops = source.loops_around(access)
        if loops and not source.origins(indices_of(access)[0]) & _changing(source, loops[0]):
            return access.lineno
    return None


def _changing(source: Source, loop: ast.For | ast.While) -> set[str]:
    """The variables that a loop sets or changes, its own among them."""
    names = set(loop_names(loop))
    for node in ast.walk(loop):
        if isinstance(node, (ast.Name)) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    inner = {
        name
        for node in ast.walk(loop)
        if isinstance(node, ast.For) and node is not loop
        for name in loop_names(node)
    }
    return names - inner
