"""Draw counts: what each line of a kernel costs, and which instructions a hot loop is made of."""

import ast
import contextlib
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from course_lib.figures import style
from course_lib.figures.interactive import Scene
from course_lib.figures.interactive.still import draw_scene
from course_lib.figures.picture import Picture
from course_lib.wording.words import shortened

_TITLES = {
    "global_load_requests": "load\nrequests",
    "global_load_sectors": "load\nsectors",
    "global_load_bytes": "load\nbytes",
    "global_store_requests": "store\nrequests",
    "global_store_sectors": "store\nsectors",
    "global_store_bytes": "store\nbytes",
    "shared_load_wavefronts": "shared load\nwavefronts",
    "shared_store_wavefronts": "shared store\nwavefronts",
    "shared_load_bank_conflicts": "shared load\nconflicts",
    "shared_store_bank_conflicts": "shared store\nconflicts",
    "flops": "FLOP",
    "barriers": "barriers",
}
_COLUMN_CSS = ("d-soft", "c-soft", "a-soft", "b-soft")
_MOST_LINES = 45
_PITCH, _COLUMN = 19.0, 98.0


def line_counters(
    profile: Any, counters: Sequence[str] = ("global_load_sectors", "flops")
) -> Picture:
    """A kernel's source with a bar for each line and counter, which show where the cost is.

    Raises ValueError if there are more than four counters.
    """
    if not 1 <= len(counters) <= len(_COLUMN_CSS):
        raise ValueError(f"One to {len(_COLUMN_CSS)} counters fit beside the source.")
    source = list(_source_lines(profile))
    values = {
        name: {
            number: getattr(profile.lines[number], name)
            for number, _ in source
            if number in profile.lines
        }
        for name in counters
    }
    scene = Scene(720, 46 + _PITCH * len(source))
    first = 715 - _COLUMN * len(counters)
    room = int((first - 60) / 7.27)
    for place, (number, text) in enumerate(source):
        y = 50 + _PITCH * place
        if place % 2:
            scene.rect(8, y - 14, 706, _PITCH, "wash bare")
        scene.text(44, y, str(number), "small mono muted", "end")
        scene.text(54, y, shortened(text, room), "small mono")
    for place, name in enumerate(counters):
        alike = [values[counter] for counter in counters if _unit(counter) == _unit(name)]
        most = max([1, *(value for counts in alike for value in counts.values())])
        x = first + place * _COLUMN
        title = _TITLES.get(name) or textwrap.fill(name.replace("_", " "), 12)
        scene.lines(x + 4, 12, title.split("\n"), "small bold", 15)
        for line, (number, _) in enumerate(source):
            value = values[name].get(number, 0)
            if value:
                y, wide = 50 + _PITCH * line, (_COLUMN - 14) * value / most
                scene.rect(x + 4, y - 12, wide, 15, _COLUMN_CSS[place], f"{name}, line {number}")
                scene.text(x + 9, y, style.short_number(value), "small")
    return draw_scene(
        scene,
        f"{profile.kernel_name}, line by line",
        _line_words(profile, counters, values),
        "Counted in one launch; bars of the same unit are drawn to the same scale",
    )


def _source_lines(profile: Any) -> Sequence[tuple[int, str]]:
    """(line number, text) of the kernel, without its docstring and empty lines."""
    kernel, docstring = _spans(profile.source, profile.kernel_name)
    lines = textwrap.dedent(profile.source).expandtabs(4).split("\n")
    kept = [
        (profile.first_line + place, text)
        for place, text in enumerate(lines)
        if text.strip() and place in kernel and place not in docstring
    ]
    return kept[:_MOST_LINES]


def _spans(source: str, name: str) -> tuple[range, range]:
    """The lines of a kernel in the cell or file that holds it, and those of its docstring.

    Lines are counted from 0. Where the source cannot be parsed, all of it is the kernel.
    """
    everything = range(source.count("\n") + 1)
    with contextlib.suppress(SyntaxError):
        for node in ast.walk(ast.parse(textwrap.dedent(source))):
            if isinstance(node, ast.FunctionDef) and node.name == name:
                above = [decorator.lineno for decorator in node.decorator_list]
                first = min([node.lineno, *above]) - 1
                last = node.end_lineno or len(everything)
                if ast.get_docstring(node) is None:
                    return range(first, last), range(0)
                words = node.body[0]
                return range(first, last), range(words.lineno - 1, words.end_lineno or 0)
    return everything, range(0)


def _unit(counter: str) -> str:
    """What a counter counts: "bytes" for loads as for stores."""
    return counter.rsplit("_", 1)[-1]


def _line_words(
    profile: Any, counters: Sequence[str], values: Mapping[str, Mapping[int, float]]
) -> str:
    told = []
    for name in counters:
        total = sum(values[name].values())
        costly = sorted(values[name].items(), key=lambda cost: (-cost[1], cost[0]))[:3]
        lines = ", ".join(
            f"line {line} {style.short_number(value)}" for line, value in costly if value
        )
        told.append(
            f"{name.replace('_', ' ')}, {style.short_number(total)} in all: {lines or 'none'}"
        )
    return f"The source of {profile.kernel_name} with counters for each line. {'; '.join(told)}."


# --- Instructions of a hot loop for each multiply-add ---------------------------------------------


# Kinds of `machine_code.report.KINDS`, gathered; what is not named here is "the rest".
_WORK, _REST = "multiply-adds", "the rest"
_GROUPS: dict[str, tuple[tuple[str, ...], str]] = {  # the kinds, and a class
    _WORK: (("FFMA", "HMMA"), "c-soft"),
    "shared loads": (("shared load", "LDSM"), "hatch-b"),
    "global loads, shared stores": (("global load", "shared store", "LDGSTS"), "dots"),
    "local memory (spills)": (("local",), "hatch-trouble"),
    "integers: indices, mostly": (("integer",), "hatch"),
    _REST: ((), "wash"),
}


def instruction_mix(loops: Mapping[str, Mapping[str, int]], *, title: str = "") -> Picture:
    """A bar for each hot loop, as long as its instructions for one multiply-add.

    Args:
        loops: name -> instructions by kind, as `compile_report(…).mix.kinds` has them.

    Raises:
        ValueError: if a loop has no multiply-add.
    """
    parts = {name: _per_multiply_add(name, kinds) for name, kinds in loops.items()}
    used = [group for group in _GROUPS if any(part.get(group) for part in parts.values())]
    left = 24 + 7.8 * max(len(name) for name in parts)
    unit = (550 - left) / max(sum(part.values()) for part in parts.values())
    bottom = 12.0 + 42 * len(parts)
    scene = Scene(720, bottom + 12 + 26 * -(-len(used) // 3))
    for place, (name, part) in enumerate(parts.items()):
        x, y, total = left, 28 + 42 * place, sum(part.values())
        scene.text(left - 10, y + 4, name, "small", "end")
        for group, count in part.items():
            scene.rect(x, y - 12, count * unit, 23, _GROUPS[group][1], f"{name}: {group}")
            x += count * unit
        scene.text(x + 8, y + 4, f"{total:.3g}, {part[_WORK] / total:.0%} is work", "small bold")
    scene.line(left + unit, 4, left + unit, bottom, "ink dashed")
    for place, group in enumerate(used):
        at = 12 + 236 * (place % 3), bottom + 18 + 26 * (place // 3)
        scene.key(*at, [(_GROUPS[group][1], group)])
    return draw_scene(
        scene,
        title or "What a warp issues for each multiply-add",
        _words(parts),
        "Instructions of the hot loop, counted in machine code; a bar of 1 would be all work",
    )


def _per_multiply_add(name: str, kinds: Mapping[str, int]) -> dict[str, float]:
    """Instructions by group for one multiply-add, in the order of drawing."""
    work = sum(kinds.get(kind, 0) for kind in _GROUPS[_WORK][0])
    if not work:
        raise ValueError(f"The loop of {name} has no multiply-add to compare with.")
    counted = {
        group: sum(kinds.get(kind, 0) for kind in members)
        for group, (members, _) in _GROUPS.items()
    }
    counted[_REST] = sum(kinds.values()) - sum(counted.values())
    return {group: count / work for group, count in counted.items() if count}


def _words(parts: Mapping[str, Mapping[str, float]]) -> str:
    told = []
    for name, part in parts.items():
        total = sum(part.values())
        others = ", ".join(
            f"{counter} {count:.2g}" for counter, count in part.items() if counter != _WORK
        )
        told.append(
            f"{name}: {total:.3g} instructions, "
            f"{part[_WORK] / total:.0%} of them multiply-adds; {others}"
        )
    return f"Instructions that a warp issues for each multiply-add. {'. '.join(told)}."
