"""Draw counters: bytes from kernel to kernel, and what each line of a kernel costs."""

from __future__ import annotations

import ast
import contextlib
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from course_lib.devices import SECTOR_BYTES
from course_lib.figures import style
from course_lib.figures.picture import Picture


@style.drawn
def bytes_ladder(profiles: Mapping[str, Any], napkin: Mapping[str, float] | None = None) -> Picture:
    """Loads from global memory, kernel by kernel: by napkin, as requested, and in sectors.

    Args:
        profiles: name -> profile of a launch; all of the same problem.
        napkin: name -> bytes worked out by hand, where there are any.
    """
    napkin = dict(napkin or {})
    rows: list[tuple[str, list[tuple[str, float]]]] = []
    for name, profile in profiles.items():
        bars = [("napkin", float(napkin[name]))] if name in napkin else []
        bars += [
            ("requested", float(profile.global_load_bytes)),
            ("sectors", float(profile.global_load_sectors * SECTOR_BYTES)),
        ]
        rows.append((name, bars))
    height = 1.35 + sum(0.27 * len(bars) + 0.2 for _, bars in rows)
    figure = style.card(height, "Bytes loaded from global memory", _launches(profiles))
    axes = style.canvas(figure)
    _draw_bars(axes, rows)
    _draw_legend(axes, bool(napkin))
    return Picture(figure, _byte_words(rows))


_LOOKS = {
    "napkin": (style.GREY, 0.0, "....", "by napkin"),
    "requested": (style.VERMILION, 0.75, None, "requested, counted"),
    "sectors": (style.PURPLE, 0.75, None, f"sectors × {SECTOR_BYTES}, counted"),
}


def _launches(profiles: Mapping[str, Any]) -> str:
    shapes = {
        ", ".join(
            f"{name} {' × '.join(map(str, traffic.shape))}"
            for name, traffic in getattr(profile, "arrays", {}).items()
        )
        for profile in profiles.values()
    }
    arrays = f" with {shapes.pop()}" if len(shapes) == 1 and all(shapes) else ""
    return f"One launch each{arrays}; (÷) compares with the first kernel"


def _draw_bars(axes: Axes, rows: Sequence[tuple[str, Sequence[tuple[str, float]]]]) -> None:
    most = max((amount for _, bars in rows for _, amount in bars), default=1) or 1
    left = 0.35 + 0.085 * max((len(name) for name, _ in rows), default=4)
    full = 7.6 - left - 1.65
    y = 0.78
    first = dict(rows[0][1]) if rows else {}
    for name, bars in rows:
        middle = y + 0.27 * len(bars) / 2
        style.write(
            axes,
            left - 0.12,
            middle,
            name,
            ha="right",
            fontfamily=style.MONO,
            fontsize=style.NORMAL,
        )
        for kind, amount in bars:
            colour, strength, hatch, _ = _LOOKS[kind]
            axes.barh(
                y + 0.135,
                full * amount / most,
                0.22,
                left=left,
                hatch=hatch,
                color=style.tint(colour, strength),
                edgecolor=colour,
                linewidth=1,
            ).set_label(f"{name}: {kind}")
            factor = first.get(kind, 0) / amount if amount else 0
            ratio = f"  (÷ {factor:.3g})" if factor > 1.05 else ""
            style.write(
                axes,
                left + full * amount / most + 0.07,
                y + 0.135,
                style.short_bytes(amount) + ratio,
            )
            y += 0.27
        y += 0.2


def _draw_legend(axes: Axes, with_napkin: bool) -> None:
    handles = [
        Patch(facecolor=style.tint(colour, strength), edgecolor=colour, hatch=hatch, label=label)
        for kind, (colour, strength, hatch, label) in _LOOKS.items()
        if with_napkin or kind != "napkin"
    ]
    axes.legend(
        handles=handles,
        loc="lower left",
        ncols=3,
        bbox_to_anchor=(0.012, 0.0),
        handlelength=1.6,
        columnspacing=1.6,
    )


def _byte_words(rows: Sequence[tuple[str, Sequence[tuple[str, float]]]]) -> str:
    told = "; ".join(
        f"{name}: "
        + ", ".join(
            f"{style.short_bytes(amount)} {'by napkin' if kind == 'napkin' else kind}"
            for kind, amount in bars
        )
        for name, bars in rows
    )
    return f"Bytes loaded from global memory, sectors counted as {SECTOR_BYTES} bytes. {told}."


@style.drawn
def bars(
    values: Mapping[str, float],
    *,
    unit: str,
    reference: tuple[float, str] | None = None,
    title: str = "",
) -> Picture:
    """Plain horizontal bars from 0, one a name, with their numbers.

    Args:
        values: name -> value.
        unit: what is counted: "sectors per request".
        reference: a value with its name, drawn as a dashed line.
    """
    height = 1.0 + 0.26 * len(values) + (0.3 if reference else 0)
    figure = style.card(height, title or unit[:1].upper() + unit[1:])
    axes = style.canvas(figure)
    most = max([*values.values(), reference[0] if reference else 0, 1e-12])
    left = 0.3 + 0.085 * max(len(name) for name in values)
    full = 7.6 - left - 0.9
    top = 0.6 + (0.3 if reference else 0)
    for place, (name, value) in enumerate(values.items()):
        y = top + 0.26 * (place + 0.5)
        style.write(axes, left - 0.1, y, name, ha="right")
        axes.barh(
            y,
            full * value / most,
            0.19,
            left=left,
            color=style.tint(style.BLUE, 0.55),
            edgecolor=style.BLUE,
            linewidth=1,
        ).set_label(name)
        style.write(
            axes,
            left + full * value / most + 0.07,
            y,
            style.short_number(value),
            fontweight="bold",
            zorder=3,
            bbox={"facecolor": style.PAPER, "edgecolor": "none", "pad": 0.5},
        )
    if reference:
        x = left + full * reference[0] / most
        axes.plot(
            [x, x],
            [top - 0.05, top + 0.26 * len(values)],
            color=style.INK,
            linewidth=1.2,
            linestyle=(0, (4, 3)),
            zorder=2,
        )
        right = x > left + 0.6 * full
        style.write(
            axes,
            x,
            top - 0.08,
            f"{style.short_number(reference[0])}: {reference[1]}",
            va="bottom",
            ha="right" if right else "left",
        )
    told = ", ".join(f"{name} {style.short_number(value)}" for name, value in values.items())
    compare = f" For comparison: {reference[1]}, {reference[0]:g}." if reference else ""
    return Picture(figure, f"Bars, {unit}: {told}.{compare}")


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
    """A kernel's source with a bar for each line and counter: where the cost is.

    Raises:
        ValueError: if there are more than four counters.
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
    figure = style.card(
        1.35 + pitch * len(source),
        f"{profile.kernel_name}, line by line",
        "Counted in one launch; bars of the same unit are drawn to the same scale",
    )
    axes = style.canvas(figure)
    column = 1.02
    first = 7.45 - column * len(counters)
    room = int((first - 0.62) / 0.0757)
    for place, (number, text) in enumerate(source):
        y = 1.2 + pitch * place
        if place % 2:
            style.rectangle(
                axes,
                (0.12, y - pitch / 2),
                7.36,
                pitch,
                facecolor=style.WASH,
                edgecolor="none",
                zorder=0,
            )
        style.write(axes, 0.48, y, str(number), ha="right", color=style.GREY, fontfamily=style.MONO)
        style.write(
            axes,
            0.58,
            y,
            text if len(text) <= room else text[: room - 1] + "…",
            fontfamily=style.MONO,
        )
    for place, name in enumerate(counters):
        alike = [values[each] for each in counters if _unit(each) == _unit(name)]
        most = max([1, *(value for each in alike for value in each.values())])
        x, colour = first + place * column, _COLUMN_COLOURS[place]
        _draw_column(axes, x, column, name, values[name], source, colour, most)
    return Picture(figure, _line_words(profile, counters, values))


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
    axes: Axes,
    x: float,
    width: float,
    name: str,
    values: Mapping[int, float],
    source: Sequence[tuple[int, str]],
    colour: str,
    most: float,
) -> None:
    title = _TITLES.get(name) or textwrap.fill(name.replace("_", " "), 12)
    style.write(axes, x + 0.04, 0.88, title, fontweight="bold", linespacing=1.05)
    for place, (number, _) in enumerate(source):
        value = values.get(number, 0)
        if not value:
            continue
        y = 1.2 + 0.2 * place
        axes.barh(
            y,
            (width - 0.14) * value / most,
            0.16,
            left=x + 0.04,
            zorder=2,
            color=style.tint(colour, 0.45),
            edgecolor=colour,
            linewidth=0.8,
        ).set_label(f"{name}, line {number}")
        style.write(axes, x + 0.09, y, style.short_number(value), zorder=3)


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
