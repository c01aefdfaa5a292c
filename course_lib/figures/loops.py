"""Draw what hot loops are made of: the instructions that a warp issues for each multiply-add."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.patches import Patch

from course_lib.figures import style
from course_lib.figures.pen import Pen, tinted
from course_lib.figures.picture import Picture

# Kinds of `machine_code.report.KINDS`, gathered; what is not named here is "the rest".
_GROUPS: dict[str, tuple[str, ...]] = {
    "multiply-adds": ("FFMA", "HMMA"),
    "shared loads": ("shared load", "LDSM"),
    "global loads, shared stores": ("global load", "shared store", "LDGSTS"),
    "local memory (spills)": ("local",),
    "integers: indices, mostly": ("integer",),
}
_REST = "the rest"
_LOOKS: dict[str, tuple[str, str]] = {
    "multiply-adds": (style.GREEN, ""),
    "shared loads": (style.ORANGE, "////"),
    "global loads, shared stores": (style.PURPLE, "...."),
    "local memory (spills)": (style.VERMILION, "xxxx"),
    "integers: indices, mostly": (style.GREY, "\\\\\\\\"),
    _REST: (style.FAINT, ""),
}
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
    used = [group for group in _LOOKS if any(part.get(group) for part in parts.values())]
    height = 1.12 + _ROW * len(parts) + 0.24 * -(-len(used) // 3)
    figure = style.card(
        height,
        title or "What a warp issues for each multiply-add",
        "Instructions of the hot loop, counted in machine code; a bar of 1 would be all work",
    )
    pen = Pen.on(figure)
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
    return Picture(figure, _words(parts))


def _per_multiply_add(name: str, kinds: Mapping[str, int]) -> dict[str, float]:
    """Instructions by group for one multiply-add, in the order of drawing."""
    work = sum(kinds.get(kind, 0) for kind in _GROUPS["multiply-adds"])
    if not work:
        raise ValueError(f"The loop of {name} has no multiply-add to compare with.")
    counted = {
        group: sum(kinds.get(kind, 0) for kind in members) for group, members in _GROUPS.items()
    }
    counted[_REST] = sum(kinds.values()) - sum(counted.values())
    return {group: count / work for group, count in counted.items() if count}


def _draw_bar(
    pen: Pen, corner: tuple[float, float], name: str, part: Mapping[str, float], scale: float
) -> None:
    x, y = corner
    for group, count in part.items():
        colour, hatch = _LOOKS[group]
        looks = tinted(colour, 0.45, 1.0)
        pen.bar(x, y, count * scale, _BAR, label=f"{name}: {group}", hatch=hatch, **looks)
        x += count * scale
    total = sum(part.values())
    text = f"{total:.3g}, {part['multiply-adds'] / total:.0%} is work"
    pen.write(x + 0.08, y, text, bold=True)


def _draw_legend(pen: Pen, y: float, used: list[str]) -> None:
    patches = [
        Patch(facecolor=style.tint(colour, 0.45), edgecolor=colour, hatch=hatch, label=group)
        for group in used
        for colour, hatch in [_LOOKS[group]]
    ]
    pen.axes.legend(
        handles=patches, ncols=3, borderaxespad=0,
        loc="upper left", bbox_to_anchor=(0.12, y), bbox_transform=pen.axes.transData,
    )  # fmt: skip


def _words(parts: Mapping[str, Mapping[str, float]]) -> str:
    told = []
    for name, part in parts.items():
        total = sum(part.values())
        others = ", ".join(
            f"{group} {count:.2g}" for group, count in part.items() if group != "multiply-adds"
        )
        told.append(
            f"{name}: {total:.3g} instructions, "
            f"{part['multiply-adds'] / total:.0%} of them multiply-adds; {others}"
        )
    return f"Instructions that a warp issues for each multiply-add. {'. '.join(told)}."
