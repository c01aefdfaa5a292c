"""Outlines in SVG's path language: boxes, grids, and sets of cells as one path."""

from __future__ import annotations

from collections.abc import Collection

Cell = tuple[int, int]  # row and column


def box(x: float, y: float, wide: float, high: float) -> str:
    """A rectangle from its upper left corner."""
    return f"M{_tidy(x)} {_tidy(y)}h{_tidy(wide)}v{_tidy(high)}h{_tidy(-wide)}z"


def lattice(x: float, y: float, shape: Cell, wide: float, high: float) -> str:
    """The lines between the cells of a matrix of `shape` = (rows, columns)."""
    rows, columns = shape
    right, low = _tidy(wide * columns), _tidy(high * rows)
    down = [f"M{_tidy(x + wide * column)} {_tidy(y)}v{low}" for column in range(1, columns)]
    across = [f"M{_tidy(x)} {_tidy(y + high * row)}h{right}" for row in range(1, rows)]
    return "".join([*down, *across])


def grid(x: float, y: float, shape: Cell, wide: float, high: float) -> str:
    """A matrix: its outline, and the lines between its cells."""
    rows, columns = shape
    return box(x, y, wide * columns, high * rows) + lattice(x, y, shape, wide, high)


def squares(cells: Collection[Cell], x: float, y: float, size: float) -> str:
    """Cells of a matrix; neighbours in a row are one rectangle."""
    known = set(cells)
    if known and fills_its_box(known):
        return border(known, x, y, size)
    rows: dict[int, list[int]] = {}
    for row, column in sorted(known):
        rows.setdefault(row, []).append(column)
    parts = []
    for row, columns in rows.items():
        start = 0
        for at in range(1, len(columns) + 1):
            if at == len(columns) or columns[at] != columns[at - 1] + 1:
                wide = (columns[at - 1] - columns[start] + 1) * size
                parts.append(box(x + columns[start] * size, y + row * size, wide, size))
                start = at
    return "".join(parts)


def border(cells: Collection[Cell], x: float, y: float, size: float) -> str:
    """The outline of a set of cells: every edge with a cell on one side only."""
    inside = set(cells)
    if inside and fills_its_box(inside):
        (row, column), (low, right) = min(inside), max(inside)
        wide, high = (right - column + 1) * size, (low - row + 1) * size
        return box(x + column * size, y + row * size, wide, high)
    parts = []
    for row, column in sorted(inside):
        left, top = x + column * size, y + row * size
        edges = (
            ((row - 1, column), left, top, "h"),
            ((row + 1, column), left, top + size, "h"),
            ((row, column - 1), left, top, "v"),
            ((row, column + 1), left + size, top, "v"),
        )
        for beside, from_x, from_y, way in edges:
            if beside not in inside:
                parts.append(f"M{_tidy(from_x)} {_tidy(from_y)}{way}{_tidy(size)}")
    return "".join(parts)


def fills_its_box(cells: Collection[Cell]) -> bool:
    """Do the cells make a rectangle without holes?"""
    rows, columns = {row for row, _ in cells}, {column for _, column in cells}
    return len(cells) == (max(rows) - min(rows) + 1) * (max(columns) - min(columns) + 1)


def _tidy(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
