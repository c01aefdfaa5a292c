"""Draw counts: what each line of a kernel costs, and which instructions a hot loop is made of."""

import ast
import contextlib
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.patches import Patch

from course_lib.figures import style
from course_lib.figures.pen import Pen, tinted
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
_COLUMN_COLOURS = (style.PURPLE, style.GREEN, style.SKY, style.ORANGE)
_MOST_LINES = 45


@style.drawn
def line_counters(
    profile: Any, counters: Sequence[str] = ("global_load_sectors", "flops")
) -> Picture:
    """A kernel's source with a bar for each line and counter, which show where the cost is.

    Raises ValueError if there are more than four counters.
    """
    if not 1 <= len(counters) <= len(_COLUMN_COLOURS):
        raise ValueError(f"One to {len(_COLUMN_COLOURS)} counters fit beside the source.")
    source = list(_source_lines(profile))
    values = {
        name: {
            number: getattr(profile.lines[number], name)
            for number, _ in source
            if number in profile.lines
        }
        for name in counters
    }
    pitch = 0.2
    pen = Pen.card(
        1.35 + pitch * len(source),
        f"{profile.kernel_name}, line by line",
        "Counted in one launch; bars of the same unit are drawn to the same scale",
    )
    column = 1.02
    first = 7.45 - column * len(counters)
    room = int((first - 0.62) / 0.0757)
    for place, (number, text) in enumerate(source):
        y = 1.2 + pitch * place
        if place % 2:
            pen.rectangle(0.12, y - pitch / 2, 7.36, pitch, face=style.WASH, edge="none", z=0)
        pen.write(0.48, y, str(number), ha="right", colour=style.GREY, mono=True)
        pen.write(0.58, y, shortened(text, room), mono=True)
    for place, name in enumerate(counters):
        alike = [values[counter] for counter in counters if _unit(counter) == _unit(name)]
        most = max([1, *(value for each in alike for value in each.values())])
        x, colour = first + place * column, _COLUMN_COLOURS[place]
        _draw_column(pen, x, column, name, values[name], source, colour, most)
    return pen.picture(_line_words(profile, counters, values))


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
                above = [each.lineno for each in node.decorator_list]
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


def _draw_column(
    pen: Pen,
    x: float,
    width: float,
    name: str,
    values: Mapping[int, float],
    source: Sequence[tuple[int, str]],
    colour: str,
    most: float,
) -> None:
    title = _TITLES.get(name) or textwrap.fill(name.replace("_", " "), 12)
    pen.write(x + 0.04, 0.88, title, bold=True, linespacing=1.05)
    for place, (number, _) in enumerate(source):
        value = values.get(number, 0)
        if not value:
            continue
        y = 1.2 + 0.2 * place
        length, label = (width - 0.14) * value / most, f"{name}, line {number}"
        pen.bar(x + 0.04, y, length, 0.16, label=label, **tinted(colour, 0.45))
        pen.write(x + 0.09, y, style.short_number(value), z=3)


def _line_words(
    profile: Any, counters: Sequence[str], values: Mapping[str, Mapping[int, float]]
) -> str:
    told = []
    for name in counters:
        total = sum(values[name].values())
        costly = sorted(values[name].items(), key=lambda each: (-each[1], each[0]))[:3]
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
_GROUPS: dict[str, tuple[tuple[str, ...], str, str]] = {  # the kinds, a colour and a hatch
    _WORK: (("FFMA", "HMMA"), style.GREEN, ""),
    "shared loads": (("shared load", "LDSM"), style.ORANGE, "////"),
    "global loads, shared stores": (
        ("global load", "shared store", "LDGSTS"), style.PURPLE, "....",
    ),
    "local memory (spills)": (("local",), style.VERMILION, "xxxx"),
    "integers: indices, mostly": (("integer",), style.GREY, "\\\\\\\\"),
    _REST: ((), style.FAINT, ""),
}  # fmt: skip
_ROW, _BAR = 0.44, 0.24


@style.drawn
def instruction_mix(loops: Mapping[str, Mapping[str, int]], *, title: str = "") -> Picture:
    """A bar for each hot loop, as long as its instructions for one multiply-add.

    Args:
        loops: name -> instructions by kind, as `compile_report(…).mix.kinds` has them.

    Raises:
        ValueError: if a loop has no multiply-add.
    """
    parts = {name: _per_multiply_add(name, kinds) for name, kinds in loops.items()}
    used = [group for group in _GROUPS if any(part.get(group) for part in parts.values())]
    height = 1.12 + _ROW * len(parts) + 0.24 * -(-len(used) // 3)
    pen = Pen.card(
        height,
        title or "What a warp issues for each multiply-add",
        "Instructions of the hot loop, counted in machine code; a bar of 1 would be all work",
    )
    left = 0.3 + 0.085 * max(len(name) for name in parts)
    scale = (style.WIDTH - left - 1.75) / max(sum(part.values()) for part in parts.values())
    for place, (name, part) in enumerate(parts.items()):
        y = 0.98 + _ROW * place
        pen.write(left - 0.1, y, name, ha="right")
        _draw_bar(pen, (left, y), name, part, scale)
    bottom = 0.98 + _ROW * len(parts) - 0.06
    ends = (left + scale, 0.74), (left + scale, bottom)
    pen.line(*ends, colour=style.INK, line=1, linestyle=(0, (4, 3)))
    _draw_legend(pen, bottom + 0.1, used)
    return pen.picture(_words(parts))


def _per_multiply_add(name: str, kinds: Mapping[str, int]) -> dict[str, float]:
    """Instructions by group for one multiply-add, in the order of drawing."""
    work = sum(kinds.get(kind, 0) for kind in _GROUPS[_WORK][0])
    if not work:
        raise ValueError(f"The loop of {name} has no multiply-add to compare with.")
    counted = {
        group: sum(kinds.get(kind, 0) for kind in members)
        for group, (members, _, _) in _GROUPS.items()
    }
    counted[_REST] = sum(kinds.values()) - sum(counted.values())
    return {group: count / work for group, count in counted.items() if count}


def _draw_bar(
    pen: Pen, corner: tuple[float, float], name: str, part: Mapping[str, float], scale: float
) -> None:
    x, y = corner
    for group, count in part.items():
        _, colour, hatch = _GROUPS[group]
        looks = tinted(colour, 0.45, 1.0)
        pen.bar(x, y, count * scale, _BAR, label=f"{name}: {group}", hatch=hatch, **looks)
        x += count * scale
    total = sum(part.values())
    text = f"{total:.3g}, {part[_WORK] / total:.0%} is work"
    pen.write(x + 0.08, y, text, bold=True)


def _draw_legend(pen: Pen, y: float, used: list[str]) -> None:
    patches = [
        Patch(facecolor=style.tint(colour, 0.45), edgecolor=colour, hatch=hatch, label=group)
        for group in used
        for _, colour, hatch in [_GROUPS[group]]
    ]
    pen.axes.legend(
        handles=patches, ncols=3, borderaxespad=0,
        loc="upper left", bbox_to_anchor=(0.12, y), bbox_transform=pen.axes.transData,
    )  # fmt: skip


def _words(parts: Mapping[str, Mapping[str, float]]) -> str:
    told = []
    for name, part in parts.items():
        total = sum(part.values())
        others = ", ".join(f"{each} {count:.2g}" for each, count in part.items() if each != _WORK)
        told.append(
            f"{name}: {total:.3g} instructions, "
            f"{part[_WORK] / total:.0%} of them multiply-adds; {others}"
        )
    return f"Instructions that a warp issues for each multiply-add. {'. '.join(told)}."
